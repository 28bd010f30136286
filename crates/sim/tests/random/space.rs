//! Scenarios in space: positions, several cells, ad-hoc networks, every model of propagation.

use super::Draw;
use std::fmt::Write as _;

impl Draw {
    /// A scenario with a radio.
    pub(crate) fn spatial(&mut self) -> String {
        let modern = self.flip(0.6);
        let old = ["11b", "11a", "11g"];
        let standard = if modern { self.modern_standard() } else { self.one(&old) };
        let stations = self.whole(1, 7);
        let ad_hoc = stations > 1 && self.flip(0.25);
        let cells = if ad_hoc { 0 } else { self.whole(0, 2) };
        let mut text =
            format!("standard = \"{standard}\"\nduration_s = 0.{}\nwarmup_s = 0.05\n", {
                self.whole(7, 9)
            });
        self.radio(stations, ad_hoc, cells, &mut text);
        if modern {
            self.modern_wlan(standard, &mut text);
        } else {
            self.wlan(standard, &mut text);
        }
        if !ad_hoc {
            writeln!(text, "[ap]\nqueue = {}", self.queue()).unwrap();
            if modern {
                self.modern_ap(standard, &mut text);
            }
        }
        let is_low = ["11b", "11g"].contains(&standard) || text.contains("band_ghz = 2.4");
        let channels = if is_low { ["1", "1", "3", "13"] } else { ["36", "40", "44", "149"] };
        for _ in 0..cells {
            writeln!(text, "[[cells]]\nchannel = {}", self.one(&channels)).unwrap();
            if !text.contains("losses_db") {
                let position = self.position();
                writeln!(text, "position_m = {position}").unwrap();
            }
        }
        for _ in 0..stations {
            let cell = if cells > 0 { self.whole(0, cells) } else { 0 };
            writeln!(text, "[[stations]]\nqueue = {}\ncell = {cell}", self.queue()).unwrap();
            if !text.contains("losses_db") {
                self.place(&mut text);
            }
            if modern && !ad_hoc {
                self.modern_stations(standard, &mut text);
            }
        }
        for _ in 0..self.whole(1, 4) {
            self.spatial_flow(stations, ad_hoc, &mut text);
        }
        // Slots with a common beginning, and delivery of frames one by one, require a cell.
        let text = text.replace("slot_grid = \"shared\"", "slot_grid = \"free\"");
        let text = text.replace("slot_grid = \"difs\"", "slot_grid = \"free\"");
        // An EIFS that is a NAV requires a radio.
        let text = text.replace("eifs = \"none\"", "eifs = \"ns2\"");
        text.replace("stop_s = 0.95", "stop_s = 0.39")
    }

    fn position(&mut self) -> String {
        format!("[{}.5, {}.0]", self.whole(0, 60), self.whole(0, 60))
    }

    fn place(&mut self, text: &mut String) {
        let position = self.position();
        if self.flip(0.2) {
            let there = self.position();
            writeln!(
                text,
                "waypoints = [{{ at_s = 0.1, position_m = {position} }}, \
                 {{ at_s = 0.2, position_m = {there} }}]"
            )
            .unwrap();
        } else {
            writeln!(text, "position_m = {position}").unwrap();
        }
    }

    fn radio(&mut self, stations: u32, ad_hoc: bool, cells: u32, text: &mut String) {
        writeln!(text, "[radio]\nad_hoc = {ad_hoc}\nnav_reset = {}", self.flip(0.5)).unwrap();
        if self.flip(0.3) {
            let nodes = 1 + stations + cells;
            let loss = |draw: &mut Self| draw.one(&["50", "60", "85", "95", "105", "300"]);
            let row = |draw: &mut Self| {
                let row: Vec<_> = (0..nodes).map(|_| loss(draw)).collect();
                format!("[{}]", row.join(", "))
            };
            let rows: Vec<_> = (0..nodes).map(|_| row(self)).collect();
            writeln!(text, "losses_db = [{}]", rows.join(", ")).unwrap();
        } else {
            let exponent = self.one(&["2.0", "3.0", "4.5"]);
            let log_distance = format!("{{ log_distance = {{ exponent = {exponent} }} }}");
            let all = ["\"two_ray\"", "{ friis = {} }", &log_distance, &log_distance];
            writeln!(text, "propagation = {}", self.one(&all)).unwrap();
            writeln!(text, "shadowing_db = {}", self.one(&["0", "0", "6"])).unwrap();
        }
        if self.flip(0.3) {
            let m = self.one(&["0.5", "1", "3"]);
            writeln!(text, "fading = {{ m = {m}, coherence_ms = {} }}", self.whole(1, 30)).unwrap();
        }
        if self.flip(0.4) {
            let (margin, window) = (self.whole(0, 12), self.whole(0, 200));
            writeln!(text, "capture = {{ margin_db = {margin}, window_us = {window} }}").unwrap();
        }
        if self.flip(0.3) {
            writeln!(text, "sensitivity_dbm = -{}", self.whole(60, 95)).unwrap();
        }
        writeln!(text, "energy_dbm = -{}", self.whole(60, 90)).unwrap();
        writeln!(text, "detect_dbm = -{}", self.whole(70, 95)).unwrap();
        writeln!(text, "detect_snr_db = {}", self.one(&["-100", "0", "4"])).unwrap();
        let errors = ["\"table\"", "\"nist\"", "\"yans\"", "{ threshold = { sinr_db = 8 } }"];
        writeln!(text, "error_model = {}", self.one(&errors)).unwrap();
    }

    fn spatial_flow(&mut self, stations: u32, ad_hoc: bool, text: &mut String) {
        let station = self.whole(0, stations - 1);
        let other = if ad_hoc || stations > 1 && self.flip(0.2) {
            format!("sta{}", (station + self.whole(1, stations - 1)) % stations)
        } else {
            "server".to_owned()
        };
        let mut ends = [format!("sta{station}"), other];
        if self.flip(0.5) {
            ends.swap(0, 1);
        }
        let udp = self.flip(0.6);
        let saturated = udp && self.flip(0.7);
        self.between(&ends, udp, saturated, text);
        // A flow that starts at time 0 has enough time.
        let late = text.rfind("start_s =").expect("a flow has a start");
        let flow = text.split_off(late).replacen("start_s = 0.", "start_s = 0.0", 1);
        text.push_str(&flow.replacen("start_spread_s = 0.", "start_spread_s = 0.0", 1));
    }
}
