//! Ad-hoc networks whose nodes forward, with routes that fail and packets that are salvaged.

use super::Draw;
use std::fmt::Write as _;

impl Draw {
    /// A scenario in which nodes forward.
    pub(crate) fn mesh(&mut self) -> String {
        let standard = self.one(&["11b", "11a", "11g", "11n", "11ac"]);
        let mut text = format!(
            "standard = \"{standard}\"\nduration_s = {}.0\nwarmup_s = 0.5\nradio.ad_hoc = true\n\
             wlan.short_retry_limit = {}\n[routing]\ngateway = true\narp = \"{}\"\n",
            self.whole(4, 9),
            self.one(&["1", "2", "7"]),
            self.one(&["off", "rfc826", "ns2"])
        );
        if self.flip(0.6) {
            writeln!(text, "protocol.dsr.salvage_requests = {}", self.flip(0.7)).unwrap();
        } else {
            let time = self.one(&["0.01", "1.0", "40.0"]);
            writeln!(text, "protocol.aodv.node_traversal_time_ms = {time}").unwrap();
        }
        let mut nodes = 0;
        for _ in 0..self.whole(1, 2) {
            let count = self.whole(2, 5);
            nodes += count;
            let (x, y) = (self.whole(60, 300), self.whole(40, 200));
            writeln!(text, "[[stations]]\ncount = {count}").unwrap();
            let kind = self.one(&["random_walk", "random_waypoint", "gauss_markov"]);
            writeln!(text, "movement.{kind}.area_m = [{x}.0, {y}.0]").unwrap();
        }
        for _ in 0..self.whole(1, 3) {
            let (from, to) = (self.whole(0, nodes - 1), self.whole(0, nodes - 1));
            let to = if from == to { "ap".to_owned() } else { format!("sta{to}") };
            let traffic = self.one(&[
                "",
                "",
                "traffic = \"saturated\"",
                "traffic.cbr = { rate_mbps = 0.2 }",
                "traffic.ping = { interval_ms = 50.0 }",
            ]);
            writeln!(text, "[[flows]]\nfrom = \"sta{from}\"\nto = \"{to}\"\n{traffic}").unwrap();
        }
        text
    }
}
