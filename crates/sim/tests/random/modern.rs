//! Scenarios of 802.11n, ac and ax, and of 802.11b, a and g with access categories.

use super::Draw;
use std::fmt::Write as _;

impl Draw {
    pub(super) fn modern_standard(&mut self) -> &'static str {
        ["11n", "11ac", "11ax", "11n", "11ac", "11ax", "11b", "11a", "11g"]
            [self.whole(0, 8) as usize]
    }

    /// Keys of stations, within their table.
    pub(super) fn modern_stations(&mut self, standard: &str, text: &mut String) {
        if has_mcs(standard) && self.flip(0.3) {
            writeln!(text, "ap_mcs = {}", self.whole(0, 7)).unwrap();
        }
        if self.flip(0.3) {
            writeln!(text, "rate_control = {}", self.rate_control(standard)).unwrap();
        }
    }

    /// Keys of the access point, within its table.
    pub(super) fn modern_ap(&mut self, standard: &str, text: &mut String) {
        if self.flip(0.3) {
            writeln!(text, "rate_control = {}", self.rate_control(standard)).unwrap();
        }
        if self.flip(0.3) {
            writeln!(text, "edca.best_effort = {}", self.category(1)).unwrap();
        }
    }

    pub(super) fn modern_wlan(&mut self, standard: &str, text: &mut String) {
        writeln!(text, "[wlan]\nqos = true").unwrap();
        writeln!(text, "rts_threshold_bytes = {}", self.one(&["0", "500", "4000", "2347"]))
            .unwrap();
        writeln!(text, "short_retry_limit = {}", self.whole(1, 9)).unwrap();
        writeln!(text, "long_retry_limit = {}", self.whole(1, 9)).unwrap();
        writeln!(text, "eifs = \"{}\"", self.one(&["standard", "estimated", "none"])).unwrap();
        writeln!(text, "slot_grid = \"{}\"", self.one(&["standard", "shared", "free"])).unwrap();
        let countdown = self.one(&["standard", "idle_slots", "bianchi"]);
        writeln!(text, "countdown = \"{countdown}\"").unwrap();
        let edition = self.one(&["2016", "2012", "ns3"]);
        writeln!(text, "edca_defaults = \"{edition}\"").unwrap();
        for category in ["background", "best_effort", "video", "voice"] {
            if self.flip(0.2) {
                writeln!(text, "edca.{category} = {}", self.category(2)).unwrap();
            }
        }
        if self.flip(0.3) {
            writeln!(text, "rate_control = {}", self.rate_control(standard)).unwrap();
        }
        if has_mcs(standard) {
            self.modes(standard, text);
            self.aggregation(standard, text);
        }
    }

    fn modes(&mut self, standard: &str, text: &mut String) {
        let (guards, widths, mcs): (&[&str], &[&str], u32) = match standard {
            "11n" => (&["400", "800"], &["20", "40"], 7),
            "11ac" => (&["400", "800"], &["20", "40", "80", "160"], 8),
            _ => (&["800", "1600", "3200"], &["20", "40", "80", "160"], 11),
        };
        if self.flip(0.7) {
            writeln!(text, "guard_ns = {}\nwidth_mhz = {}", self.one(guards), self.one(widths))
                .unwrap();
            // VHT lacks MCS 6 at 80 MHz with 3 streams.
            writeln!(text, "streams = {}", self.whole(1, 2)).unwrap();
        }
        if self.flip(0.7) {
            writeln!(text, "mcs = {}", self.whole(0, mcs)).unwrap();
        }
        writeln!(text, "ppdu_timing = \"{}\"", self.one(&["standard", "ns3"])).unwrap();
        if standard == "11ax" && self.flip(0.5) {
            writeln!(text, "packet_extension_us = {}", 4 * self.whole(0, 4)).unwrap();
        }
    }

    fn aggregation(&mut self, standard: &str, text: &mut String) {
        let most = if standard == "11ax" { 256 } else { 64 };
        let window = if self.flip(0.5) { most } else { self.whole(1, most) };
        let frames = if self.flip(0.5) { window } else { self.whole(1, window) };
        writeln!(text, "aggregation.window = {window}\naggregation.frames = {frames}").unwrap();
        if self.flip(0.4) {
            writeln!(text, "aggregation.bytes = {}", self.whole(1, 65_535)).unwrap();
        }
        if self.flip(0.3) {
            writeln!(text, "aggregation.duration_us = {}", self.whole(100, 5484)).unwrap();
        }
        if self.flip(0.4) {
            writeln!(text, "aggregation.amsdu_bytes = {}", self.whole(100, 7935)).unwrap();
        }
        if self.flip(0.4) {
            writeln!(text, "aggregation.lifetime_ms = {}", self.whole(1, 500)).unwrap();
        }
        let retries = self.one(&["lifetime", "counted"]);
        let missed = self.one(&["bar", "retransmit"]);
        writeln!(text, "aggregation.retries = \"{retries}\"").unwrap();
        writeln!(text, "aggregation.missed_block_ack = \"{missed}\"").unwrap();
    }

    fn category(&mut self, least_aifsn: u32) -> String {
        format!(
            "{{ cw_min = {}, cw_max = {}, aifsn = {}, txop_limit_us = {} }}",
            self.one(&["1", "3", "15"]),
            self.one(&["15", "1023"]),
            self.whole(least_aifsn, 9),
            32 * self.whole(0, 200)
        )
    }

    fn rate_control(&mut self, standard: &str) -> String {
        let steps = if has_mcs(standard) {
            "{ at_s = 0.3, mcs = 0 }, { at_s = 0.6, mcs = 7 }"
        } else if standard == "11b" {
            "{ at_s = 0.3, rate_mbps = 1 }, { at_s = 0.6, rate_mbps = 5.5 }"
        } else {
            "{ at_s = 0.3, rate_mbps = 6 }, { at_s = 0.6, rate_mbps = 36 }"
        };
        match self.whole(0, 7) {
            0 => format!("{{ schedule = {{ steps = [{steps}] }} }}"),
            1 => "{ arf = { patience_ms = 60 } }".to_owned(),
            2 => "{ aarf = { most_successes = 50 } }".to_owned(),
            3 => "\"cara\"".to_owned(),
            4 => "\"rraa\"".to_owned(),
            5 => "\"minstrel\"".to_owned(),
            6 if has_mcs(standard) => "\"minstrel_ht\"".to_owned(),
            _ => "\"fixed\"".to_owned(),
        }
    }
}

fn has_mcs(standard: &str) -> bool {
    matches!(standard, "11n" | "11ac" | "11ax")
}
