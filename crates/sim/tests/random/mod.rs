//! Random scenarios.

#![allow(dead_code, reason = "each test uses a part")]

use kernel::Rng;
use std::fmt::Write as _;

mod mesh;
mod modern;
mod roaming;
mod space;

/// Draws TOML text of a valid scenario.
pub(crate) struct Draw(pub(crate) Rng);

impl Draw {
    fn one<'a>(&mut self, of: &[&'a str]) -> &'a str {
        of[self.0.up_to(of.len() as u32 - 1) as usize]
    }

    fn whole(&mut self, from: u32, to: u32) -> u32 {
        from + self.0.up_to(to - from)
    }

    fn flip(&mut self, probability: f64) -> bool {
        self.0.chance(probability)
    }

    fn queue(&mut self) -> String {
        let ecn = self.flip(0.5);
        match self.whole(0, 8) {
            8 => format!(
                "{{ sfq = {{ buckets = {}, limit_packets = {} }} }}",
                self.whole(1, 20),
                self.whole(1, 60)
            ),
            0 => "{ drop_tail = {} }".to_owned(),
            1 => format!("{{ drop_tail = {{ limit_packets = {} }} }}", self.whole(1, 60)),
            2 => format!("{{ drop_tail = {{ limit_bytes = {} }} }}", self.whole(2500, 90_000)),
            3 => format!(
                "{{ drr = {{ per = \"{}\", quantum_bytes = {}, limit_packets = {} }} }}",
                self.one(&["flow", "station"]),
                self.whole(200, 3000),
                self.whole(1, 30)
            ),
            4 => format!(
                "{{ red = {{ min_packets = {}, max_packets = {}, max_p = {}, weight = {}, gentle = \
                 {}, wait = {}, by_size = {}, adaptive = {}, ecn = {ecn}, limit_packets = {} }} }}",
                self.whole(0, 9),
                self.whole(10, 40),
                self.one(&["0.02", "0.1", "1.0"]),
                self.one(&["0.002", "0.1", "1.0"]),
                self.flip(0.5),
                self.flip(0.5),
                self.flip(0.5),
                self.flip(0.3),
                self.whole(1, 60)
            ),
            5 => format!("{{ codel = {{ {}, ecn = {ecn} }} }}", self.control_law()),
            6 => self.fq_codel(),
            _ => format!(
                "{{ pie = {{ target_ms = {}, update_ms = {}, max_burst_ms = {}, ecn = {ecn}, \
                 derandomize = {}, limit_packets = {} }} }}",
                self.whole(1, 30),
                self.whole(1, 30),
                self.whole(0, 150),
                self.flip(0.5),
                self.whole(1, 200)
            ),
        }
    }

    fn control_law(&mut self) -> String {
        let (target, more) = (self.whole(0, 20), self.whole(1, 100));
        let limit = self.whole(1, 100);
        format!("target_ms = {target}, interval_ms = {}, limit_packets = {limit}", target + more)
    }

    fn fq_codel(&mut self) -> String {
        let buckets = if self.flip(0.5) { ", buckets = 4" } else { "" };
        format!(
            "{{ fq_codel = {{ {}, quantum_bytes = {}, drop_batch_packets = {}{buckets} }} }}",
            self.control_law(),
            self.whole(200, 3000),
            self.whole(1, 64)
        )
    }

    fn ap_queue(&mut self) -> String {
        if self.flip(0.75) {
            return self.queue();
        }
        let station = match self.whole(0, 2) {
            0 => "{ drop_tail = {} }".to_owned(),
            1 => format!("{{ codel = {{ {} }} }}", self.control_law()),
            _ => self.fq_codel(),
        };
        format!(
            "{{ airtime_fair = {{ quantum_us = {}, count_received = {}, limit_packets = {}, \
             station = {station} }} }}",
            self.whole(1, 5000),
            self.flip(0.5),
            self.whole(1, 200)
        )
    }

    /// The keys of a wire that describe its losses.
    fn loss(&mut self) -> String {
        let loss = match self.whole(0, 5) {
            0 => "uniform = { probability = 0.05 }".to_owned(),
            1 => format!(
                "gilbert_elliott = {{ good_ms = {}, bad_ms = {}, good_loss = 0.01 }}",
                self.whole(5, 300),
                self.whole(1, 50)
            ),
            2 => "gilbert_elliott_packets = { to_bad = 0.02, to_good = 0.3 }".to_owned(),
            3 => format!("periodic = {{ every = {} }}", self.whole(2, 300)),
            4 => "list = { packets = [1, 2, 5, 6, 40, 100] }".to_owned(),
            _ => "trace = { times_s = [0.1, 0.15], probabilities = [1.0, 0.02], period_s = 0.7 }"
                .to_owned(),
        };
        format!("loss = {{ {loss} }}")
    }

    /// Links that connect these nodes and some further ones to one network, in which several paths
    /// may exist. Returns all nodes.
    fn links(&mut self, from: &[&str], text: &mut String) -> Vec<String> {
        let mut nodes: Vec<String> = from.iter().map(|&node| node.to_owned()).collect();
        nodes.extend((0..self.whole(2, 6)).map(|n| format!("h{n}")));
        let mut pairs = Vec::new();
        for (n, _) in nodes.iter().enumerate().skip(1) {
            pairs.push((self.whole(0, n as u32 - 1) as usize, n));
        }
        for _ in 0..self.whole(0, 3) {
            let (a, b) =
                (self.whole(0, nodes.len() as u32 - 1), self.whole(0, nodes.len() as u32 - 1));
            let pair = (a.min(b) as usize, a.max(b) as usize);
            if a != b && !pairs.contains(&pair) {
                pairs.push(pair);
            }
        }
        for (a, b) in pairs {
            let (a, b) = if self.flip(0.5) { (a, b) } else { (b, a) };
            let rate = self.one(&["0.5", "2", "10", "100"]);
            let (delay, queue) = (self.whole(0, 40), self.queue());
            writeln!(
                text,
                "[[links]]\nfrom = \"{}\"\nto = \"{}\"\nrate_mbps = {rate}\ndelay_ms = {delay}\n\
                 queue = {queue}\noverhead_bytes = {}",
                nodes[a],
                nodes[b],
                self.whole(0, 38)
            )
            .unwrap();
            if self.flip(0.3) {
                writeln!(text, "{}", self.loss()).unwrap();
            }
            if self.flip(0.4) {
                let (rate, queue) = (self.one(&["0.3", "5", "1000"]), self.queue());
                let loss = if self.flip(0.3) {
                    format!("\nreverse.{}", self.loss())
                } else {
                    String::new()
                };
                writeln!(text, "reverse.rate_mbps = {rate}\nreverse.queue = {queue}{loss}")
                    .unwrap();
            }
        }
        nodes
    }

    /// A network of links alone.
    pub(crate) fn wired(&mut self) -> String {
        let mut text =
            format!("duration_s = {}.0\nwarmup_s = 0.{}\n", self.whole(1, 4), self.whole(0, 9));
        let nodes = self.links(&[], &mut text);
        for _ in 0..self.whole(1, 5) {
            let from = self.whole(0, nodes.len() as u32 - 1) as usize;
            let to = (from + self.whole(1, nodes.len() as u32 - 1) as usize) % nodes.len();
            let udp = self.flip(0.3);
            let saturated = udp && self.flip(0.5);
            self.between(&[nodes[from].clone(), nodes[to].clone()], udp, saturated, &mut text);
        }
        text
    }

    pub(crate) fn scenario(&mut self, modern: bool) -> String {
        let old = ["11b", "11a", "11g"];
        let standard = if modern { self.modern_standard() } else { self.one(&old) };
        let stations = self.whole(1, 12);
        let mut text = format!("standard = \"{standard}\"\nduration_s = {}.0\n", self.whole(1, 4));
        writeln!(text, "warmup_s = 0.{}", self.whole(0, 9)).unwrap();
        writeln!(text, "[stations]\ncount = {stations}\nqueue = {}", self.queue()).unwrap();
        if self.flip(0.4) {
            let (data, ack) = (self.whole(0, 60), self.whole(0, 40));
            writeln!(text, "data_loss = 0.{data:02}\nack_loss = 0.{ack:02}").unwrap();
        }
        if modern {
            self.modern_stations(standard, &mut text);
            self.modern_wlan(standard, &mut text);
        } else {
            self.wlan(standard, &mut text);
        }
        writeln!(text, "[ap]\nqueue = {}", self.ap_queue()).unwrap();
        if modern {
            self.modern_ap(standard, &mut text);
        }
        let wired = self.flip(0.6);
        if wired {
            let rate = self.one(&["1.5", "10", "100", "1000"]);
            let delay = self.whole(0, 60);
            let queue = self.queue();
            writeln!(text, "[wire]\nrate_mbps = {rate}\ndelay_ms = {delay}\nqueue = {queue}")
                .unwrap();
            if self.flip(0.4) {
                let direction = self.one(&["both", "down", "up"]);
                writeln!(text, "{}\nloss_direction = \"{direction}\"", self.loss()).unwrap();
            }
        }
        let mut flows = String::new();
        for _ in 0..self.whole(1, 4) {
            self.flow(stations, wired, &mut flows);
        }
        if self.flip(0.3) {
            let nodes = self.links(&["ap"], &mut text);
            for _ in 0..self.whole(1, 3) {
                let host = nodes[self.whole(1, nodes.len() as u32 - 1) as usize].clone();
                let mut ends = [host, format!("sta{}", self.whole(0, stations - 1))];
                if self.flip(0.5) {
                    ends.swap(0, 1);
                }
                let udp = self.flip(0.3);
                let saturated = udp && self.flip(0.5);
                self.between(&ends, udp, saturated, &mut flows);
            }
        }
        if self.flip(0.2) {
            let router = format!("sta{}", self.whole(0, stations - 1));
            writeln!(text, "[[links]]\nfrom = \"{router}\"\nto = \"lan\"\nrate_mbps = 100")
                .unwrap();
            for _ in 0..self.whole(1, 2) {
                let far = self.one(&["server", "sta0", "ap"]).to_owned();
                let mut ends = ["lan".to_owned(), far];
                if self.flip(0.5) {
                    ends.swap(0, 1);
                }
                let udp = self.flip(0.3);
                self.between(&ends, udp, false, &mut flows);
            }
        }
        text + &flows
    }

    fn wlan(&mut self, standard: &str, text: &mut String) {
        writeln!(text, "[wlan]").unwrap();
        writeln!(text, "rts_threshold_bytes = {}", self.one(&["0", "500", "2347"])).unwrap();
        writeln!(text, "short_retry_limit = {}", self.whole(1, 9)).unwrap();
        writeln!(text, "long_retry_limit = {}", self.whole(1, 9)).unwrap();
        let cw = ["1", "7", "15", "31"];
        writeln!(text, "cw_min = {}\ncw_max = {}", self.one(&cw), self.one(&["31", "1023"]))
            .unwrap();
        writeln!(text, "eifs = \"{}\"", self.one(&["standard", "estimated", "none"])).unwrap();
        writeln!(text, "slot_grid = \"{}\"", self.one(&["standard", "shared", "difs", "free"]))
            .unwrap();
        writeln!(text, "countdown = \"{}\"", self.one(&["standard", "bianchi"])).unwrap();
        if standard != "11a" {
            writeln!(text, "preamble = \"{}\"", self.one(&["long", "short"])).unwrap();
        }
    }

    fn flow(&mut self, stations: u32, wired: bool, text: &mut String) {
        let station = |draw: &mut Self| format!("sta{}", draw.whole(0, stations - 1));
        let fixed = if wired { self.one(&["server", "ap"]) } else { "server" };
        let mut ends = [fixed.to_owned(), station(self)];
        if self.flip(0.3) {
            "sta*".clone_into(&mut ends[1]);
        }
        if self.flip(0.15) && stations > 1 {
            ends = ["sta0".to_owned(), "sta1".to_owned()];
        }
        let mut udp = self.flip(0.3);
        let broadcast = udp && self.flip(0.2) && ends[0] == fixed;
        if broadcast {
            "broadcast".clone_into(&mut ends[1]);
        } else if self.flip(0.5) {
            ends.swap(0, 1);
        }
        let saturated = udp && self.flip(0.4);
        udp |= broadcast;
        self.between(&ends, udp, saturated, text);
    }

    fn between(&mut self, ends: &[String; 2], udp: bool, saturated: bool, text: &mut String) {
        writeln!(text, "[[flows]]\nfrom = \"{}\"\nto = \"{}\"", ends[0], ends[1]).unwrap();
        writeln!(text, "start_s = 0.{}\nstart_spread_s = 0.{}", self.whole(0, 4), self.whole(0, 4))
            .unwrap();
        if self.flip(0.2) {
            writeln!(text, "stop_s = 0.95").unwrap();
        }
        if self.flip(0.4) {
            let class = self.one(&["background", "best_effort", "video", "voice"]);
            writeln!(text, "class = \"{class}\"").unwrap();
        }
        let payload = self.whole(20, 1900);
        let traffic = match (udp, saturated) {
            (true, true) => format!("saturated = {{ payload_bytes = {payload} }}"),
            (true, false) => {
                let rate = self.one(&["0.05", "0.5", "5", "40"]);
                format!("cbr = {{ rate_mbps = {rate}, payload_bytes = {payload} }}")
            }
            _ => self.tcp_traffic(),
        };
        writeln!(text, "traffic = {{ {traffic} }}").unwrap();
        if !udp {
            self.tcp(text);
        }
    }

    fn tcp_traffic(&mut self) -> String {
        match self.whole(0, 2) {
            0 => "bulk = {}".to_owned(),
            1 => format!("bulk = {{ size_bytes = {} }}", self.whole(1, 400_000)),
            _ => {
                let size = match self.whole(0, 2) {
                    0 => "{ pareto = { mean_bytes = 20000, shape = 1.3 } }",
                    1 => "{ exponential = { mean_bytes = 9000 } }",
                    _ => "{ constant = { bytes = 700 } }",
                };
                let first = self.one(&["think", "file"]);
                let end = self.one(&["delivered", "acknowledged"]);
                let think = self.one(&["0.001", "0.05", "0.5"]);
                format!(
                    "web = {{ size = {size}, think_s = {think}, first = \"{first}\", \
                     delay = \"{end}\" }}"
                )
            }
        }
    }

    fn tcp(&mut self, text: &mut String) {
        let mss = self.whole(100, 1900);
        writeln!(text, "[flows.tcp]\nmss_bytes = {mss}").unwrap();
        writeln!(text, "window_segments = {}", self.one(&["1", "2", "5", "40", "1000"])).unwrap();
        writeln!(text, "initial_window_segments = {}", self.whole(1, 10)).unwrap();
        writeln!(text, "timestamps = {}", self.flip(0.5)).unwrap();
        writeln!(text, "limited_transmit = {}", self.flip(0.5)).unwrap();
        writeln!(text, "pad_last_segment = {}", self.flip(0.2)).unwrap();
        writeln!(text, "rto_min_ms = {}", self.one(&["1", "200", "1000"])).unwrap();
        writeln!(text, "close = \"{}\"", self.one(&["fin", "none"])).unwrap();
        let acks = match self.whole(0, 2) {
            0 => "\"none\"".to_owned(),
            1 => format!("{{ fixed = {{ segments = {}, timer_ms = 40 }} }}", self.whole(1, 9)),
            _ => "{ dynamic = { thresholds = [2, 5, 9], timer_ms = 40 } }".to_owned(),
        };
        writeln!(text, "delayed_ack = {acks}").unwrap();
        if self.flip(0.25) {
            let (verify, reactive) = (self.flip(0.2), self.flip(0.8));
            let parity = self.one(&["none", "normal", "binomial"]);
            writeln!(
                text,
                "fec = {{ parity = '{parity}', verify = {verify}, reactive = {reactive}, \
                 unit_min_bytes = 100 }}"
            )
            .unwrap();
            writeln!(text, "ecn = \"{}\"", self.one(&["off", "classic", "each_mark", "accurate"]))
                .unwrap();
        }
    }
}
