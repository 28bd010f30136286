//! Stations that change their access points often: rings and aggregates that are formed ahead,
//! packets that are passed on, datagrams between stations of several cells.

use super::Draw;
use std::fmt::Write as _;

impl Draw {
    /// A scenario in which stations roam.
    pub(crate) fn roaming(&mut self) -> String {
        let standard = self.one(&["11b", "11a", "11g", "11n", "11ac", "11ax"]);
        let mut text = format!(
            "standard = \"{standard}\"\nduration_s = {}.0\nwarmup_s = 0.1\nwlan.beacons = {{}}\n\
             radio = {{}}\nwlan.short_retry_limit = {}\n",
            self.whole(2, 4),
            self.one(&["1", "4", "7"])
        );
        if self.flip(0.3) {
            let control = self.one(&["ideal", "minstrel"]);
            writeln!(text, "wlan.rate_control = \"{control}\"").unwrap();
        }
        let (first, channels) = if matches!(standard, "11b" | "11g") {
            (self.whole(1, 2) * 5 - 4, ["1", "6", "11"])
        } else {
            (36, ["36", "40", "44"])
        };
        let device = self.device();
        writeln!(text, "ap = {{ position_m = [0.0, 0.0], channel = {first}{device} }}").unwrap();
        let cells = self.whole(1, 2);
        let cell = |draw: &mut Self, place: u32| {
            let (x, channel) = (draw.whole(10, 60) * (place + 1), draw.one(&channels));
            format!("{{ position_m = [{x}.0, 0.0], channel = {channel}{} }}", draw.device())
        };
        let list: Vec<_> = (0..cells).map(|place| cell(self, place)).collect();
        writeln!(text, "cells = [{}]", list.join(", ")).unwrap();
        let stations = self.whole(1, 4);
        for _ in 0..stations {
            self.client(cells, &mut text);
        }
        for _ in 0..self.whole(1, 4) {
            self.flow_of_client(stations, &mut text);
        }
        text
    }

    /// What the device of an access point takes ahead, and its queue.
    fn device(&mut self) -> String {
        let device = match self.whole(0, 2) {
            0 => format!(", hardware_aggregates = {}", self.whole(1, 3)),
            1 => format!(", ring_packets = {}", self.whole(1, 120)),
            _ => String::new(),
        };
        let queues = ["mac80211", "fq_codel", "airtime_fair", "drr", "pfifo_fast", "drop_tail"];
        format!("{device}, queue = \"{}\"", self.one(&queues))
    }

    fn client(&mut self, cells: u32, text: &mut String) {
        writeln!(text, "[[stations]]").unwrap();
        if self.flip(0.2) {
            return writeln!(text, "position_m = [{}.0, 1.0]", self.whole(0, 50)).unwrap();
        }
        write!(
            text,
            "roaming = {{ short_interval_s = {}, long_interval_s = {}, hysteresis_db = {}, \
             forward = {}, announce = {}, channel_time_ms = {}, authentication_ms = {} }}\n\
             waypoints = [",
            self.one(&["0.05", "0.2", "1.0"]),
            self.one(&["0.05", "0.3", "2.0"]),
            self.one(&["0.0", "1.0", "8.0"]),
            self.flip(0.5),
            self.flip(0.7),
            self.one(&["1.0", "5.0", "30.0"]),
            self.one(&["0.0", "1.0", "50.0"])
        )
        .unwrap();
        for point in 0..self.whole(2, 5) {
            let x = self.whole(0, 60 * (cells + 1));
            write!(text, "{{ at_s = {point}.{point}, position_m = [{x}.0, 2.0] }}, ").unwrap();
        }
        writeln!(text, "]").unwrap();
    }

    fn flow_of_client(&mut self, stations: u32, text: &mut String) {
        let client = format!("sta{}", self.whole(0, stations - 1));
        let other = format!("sta{}", self.whole(0, stations - 1));
        let other = if other == client { "server".to_owned() } else { other };
        let (from, to) = if self.flip(0.6) { (other, client) } else { (client, other) };
        let traffic = self.one(&[
            "",
            "",
            "traffic = \"saturated\"",
            "traffic = \"on_off\"",
            "traffic.cbr = { rate_mbps = 3.0 }",
            "traffic.ping = { interval_ms = 10.0 }",
        ]);
        writeln!(text, "[[flows]]\nfrom = \"{from}\"\nto = \"{to}\"\n{traffic}").unwrap();
    }
}
