//! The modes of links: by rate in 802.11b, a and g, by MCS from n on.

use super::check::{Check, number};
use super::mixed;
use super::puncturing::Punctures;
use crate::plan::RatePlan;
use crate::scenario::document::{Document, Station};
use crate::scenario::wlan::Wlan;
use kernel::{BitRate, Duration, Instant};
use settings::{Choice as _, Faults, Path, Said, said};
use std::collections::BTreeSet;
use wifi::MacConfig;
use wifi::phy::{McsKeys, Mode, ModeClass, ModeFault, Standard, TxVector, Width};
use wifi::rate::{LinkModes, RateControlSettings};

/// The possible modes of the links of a cell.
pub(super) struct Modes<'a> {
    standard: &'static Standard,
    wlan: &'a Wlan,
    ap_control: Option<&'a RateControlSettings>,
    /// The lowest basic rate.
    lowest: BitRate,
    end: Instant,
    has_radio: bool,
    /// Whether the current group is of 802.11b in a network of 802.11g.
    non_erp: bool,
    /// The standard of the current group: that of the cell, or an earlier one with MCS.
    own: &'static Standard,
    /// What cells have punctured.
    punctures: Punctures,
    /// The settings of groups without keys of their own.
    general: Option<DirectionModes>,
    /// Paths of shared keys whose faults have been reported, so that each is reported once.
    reported: BTreeSet<String>,
}

/// The mode with which a link begins, and for an MCS the vector that creates similar modes.
#[derive(Clone, Copy)]
struct InitialMode {
    mode: Mode,
    vector: Option<TxVector>,
}

/// A mode in each direction.
#[derive(Clone, Copy)]
struct DirectionModes {
    up: InitialMode,
    down: InitialMode,
}

impl DirectionModes {
    /// One mode in both directions.
    fn both(mode: Mode) -> Self {
        let initial = InitialMode { mode, vector: None };
        Self { up: initial, down: initial }
    }
}

/// The slowest mode of a standard with what all links have in common.
pub(super) fn common(wlan: &Wlan, slowest: TxVector) -> TxVector {
    let given = TxVector {
        coding: wlan.coding,
        ltf: wlan.he_ltf,
        packet_extension_us: wlan.packet_extension_us.unwrap_or(0) as u8,
        timing: wlan.ppdu_timing,
        ..slowest
    };
    given.of_class(slowest.class)
}

/// Takes what every mode can have in place of a faulty parameter, so that the others are judged,
/// too; `false` if there is nothing.
fn is_replaced(parameter: &str, keys: &mut McsKeys, common: &mut TxVector) -> bool {
    match parameter {
        "mcs" if keys.mcs != Some(0) => keys.mcs = Some(0),
        "streams" if keys.streams.is_some() => keys.streams = None,
        "width_mhz" if keys.width.is_some() => keys.width = None,
        "guard_ns" if keys.guard.is_some() => keys.guard = None,
        "coding" if common.coding.is_some() => common.coding = None,
        "ltf" if common.ltf.is_some() => common.ltf = None,
        "packet_extension_us" if common.packet_extension_us != 0 => common.packet_extension_us = 0,
        _ => return false,
    }
    true
}

impl<'a> Modes<'a> {
    pub(super) fn new(
        document: &'a Document,
        mac: &MacConfig,
        duration_s: f64,
        check: &mut Check,
    ) -> Self {
        let wlan = &document.wlan;
        let mut modes = Self {
            standard: mac.timing.standard,
            wlan,
            ap_control: document.ap.rate_control.as_ref(),
            lowest: mac.timing.basic_rates[0],
            // If the duration is faulty, its values are not known.
            end: match duration_s {
                s if s.is_nan() => Instant::NEVER,
                s => Instant::ZERO + Duration::from_secs_f64(s),
            },
            has_radio: document.radio.is_some(),
            non_erp: false,
            own: mac.timing.standard,
            punctures: Punctures::of(document, mac, check),
            general: None,
            reported: BTreeSet::new(),
        };
        if modes.has_mcs() {
            modes.refuse_others(check);
        } else {
            modes.refuse_mcs(check);
            let mode = modes.by_rate("wlan.rate_mbps", wlan.rate_mbps, check);
            modes.general = Some(DirectionModes::both(mode));
        }
        modes
    }

    /// Whether its PPDUs have a choice of training fields, and a packet extension.
    fn has_extension(&self) -> bool {
        self.own.high.and_then(ModeClass::high).is_some_and(|high| high.has_extension)
    }

    fn has_mcs(&self) -> bool {
        self.standard.high.is_some()
    }

    /// The links of a group at `path` to and from the access point.
    pub(super) fn links(
        &mut self,
        path: &str,
        group: &Station,
        check: &mut Check,
    ) -> (RatePlan, RatePlan) {
        self.own = mixed::earlier(self.standard, group).unwrap_or(self.standard);
        let choice = if self.has_mcs() {
            self.by_mcs(path, group, check)
        } else {
            self.refuse_mcs_of(path, group, check);
            self.non_erp = mixed::is_non_erp(self.standard.amendment, group);
            match group.rate_mbps.or(self.non_erp.then_some(self.fastest_of_b())) {
                None => self.general.expect("made at first"),
                given => {
                    let mode = self.by_rate(&format!("{path}.rate_mbps"), given, check);
                    DirectionModes::both(mode)
                }
            }
        };
        self.can_be_answered(path, group, &choice, check);
        let general = ("wlan.rate_control", &self.wlan.rate_control);
        let own_path = format!("{path}.rate_control");
        let own = group.rate_control.as_ref().map_or(general, |control| (&own_path[..], control));
        let ap = self.ap_control.map_or(general, |control| ("ap.rate_control", control));
        let up = self.link(own.0, own.1, choice.up, check);
        let down = self.link(ap.0, ap.1, choice.down, check);
        (up, down)
    }

    /// The rate of a group of 802.11b without a rate of its own.
    fn fastest_of_b(&self) -> f64 {
        let is_dsss = |choice: &DirectionModes| choice.up.mode.class.is_dsss();
        self.general.filter(is_dsss).map_or(11.0, |choice| choice.up.mode.rate.as_mbps())
    }

    /// A link with an initial mode, and the rate control at a path.
    fn link(
        &mut self,
        path: &str,
        control: &RateControlSettings,
        initial: InitialMode,
        check: &mut Check,
    ) -> RatePlan {
        let link = self.link_modes(initial.mode, initial.vector);
        let at = Path::parse(path).unwrap_or_default().key(control.name());
        let mut faults = Faults::default();
        control.get().check(&link, self.end, &at, &mut faults);
        for issue in faults.0 {
            self.tell(issue.path, issue.said, check);
        }
        RatePlan { link, control: control.clone() }
    }

    fn link_modes(&self, mode: Mode, vector: Option<TxVector>) -> LinkModes {
        let &Self { own: standard, lowest, non_erp, has_radio, .. } = self;
        LinkModes { standard, mode, vector, lowest, non_erp, has_radio }
    }

    /// Reports a fault, unless another group has reported it for the same key.
    fn tell(&mut self, path: String, said: Said, check: &mut Check) {
        if self.reported.insert(path.clone()) {
            check.fault(path, said);
        }
    }

    /// The mode of a rate; if there is none, reports a fault and returns the fastest mode.
    fn by_rate(&self, path: &str, mbps: Option<f64>, check: &mut Check) -> Mode {
        let fastest = self.standard.fastest();
        let Some(mbps) = mbps else { return fastest };
        self.link_modes(fastest, None).mode_at(mbps).unwrap_or_else(|message| {
            check.fault(path, message);
            fastest
        })
    }

    fn by_mcs(&mut self, path: &str, group: &Station, check: &mut Check) -> DirectionModes {
        if let Some(mbps) = group.rate_mbps {
            check.fault(format!("{path}.rate_mbps"), self.advise_mcs(mbps, &group.modes));
        }
        let has_own = group.modes != McsKeys::default()
            || own_keys(group).next().is_some()
            || self.own != self.standard
            || self.punctures.has_any();
        if !has_own && let Some(general) = self.general {
            return general;
        }
        let choice = self.choose(path, group).unwrap_or_else(|faults| {
            for (path, said) in faults {
                self.tell(path, said, check);
            }
            let vector = self.slowest();
            let mode = vector.mode().expect("the slowest mode exists");
            let slowest = InitialMode { mode, vector: Some(vector) };
            DirectionModes { up: slowest, down: slowest }
        });
        let mut legacy = |key: &str, mbps: Option<f64>, initial: InitialMode| {
            let Some(mbps) = mbps else { return initial };
            match self.standard.mode_at(mbps) {
                Ok(mode) => InitialMode { mode, vector: None },
                Err(message) => {
                    check.fault(format!("{path}.{key}"), message);
                    initial
                }
            }
        };
        let choice = DirectionModes {
            up: legacy("legacy_rate_mbps", group.legacy_rate_mbps, choice.up),
            down: legacy("ap_legacy_rate_mbps", group.ap_legacy_rate_mbps, choice.down),
        };
        if !has_own {
            self.general = Some(choice);
        }
        choice
    }

    fn slowest(&self) -> TxVector {
        self.own.tx_vector().expect("asked of a standard with MCS")
    }

    /// The keys of the cell, as far as the standard of the group has such modes: beyond that its
    /// highest MCS, most streams, widest channel and usual guard interval.
    fn general_keys(&self, group: &Station) -> McsKeys {
        let mut keys = self.wlan.modes.clone();
        if self.own == self.standard {
            return keys;
        }
        // In 802.11n a number from 8 on would count streams too.
        let counts_streams =
            self.own.high.and_then(ModeClass::high).is_some_and(|it| it.counts_streams);
        keys.mcs = keys.mcs.filter(|&mcs| !counts_streams || mcs < 8);
        while let Err(fault) = group.modes.or(&keys).mode(self.common()) {
            let narrower = keys.width.and_then(Width::narrower);
            match fault.parameter {
                "mcs" if keys.mcs.is_some() => keys.mcs = None,
                "guard_ns" if keys.guard.is_some() => keys.guard = None,
                "width_mhz" if narrower.is_some() => keys.width = narrower,
                "streams" if keys.streams.is_some_and(|streams| streams > 1) => {
                    keys.streams = keys.streams.map(|streams| streams - 1);
                }
                _ => break,
            }
        }
        keys
    }

    /// The modes of a group by its own keys and the common ones; otherwise each faulty key and the
    /// reason.
    fn choose(&self, path: &str, group: &Station) -> Result<DirectionModes, Vec<(String, Said)>> {
        let keys = group.modes.or(&self.general_keys(group));
        let (mut keys, mut common) = self.punctures.fit(group, keys, self.common());
        let place = |fault: ModeFault| {
            let is_own = group.modes.given().any(|key| key == fault.parameter);
            let path = match fault.parameter {
                key if is_own => format!("{path}.{key}"),
                "ltf" => "wlan.he_ltf".to_owned(),
                key => format!("wlan.{key}"),
            };
            (path, fault.said)
        };
        let with_vector = |(mode, vector)| InitialMode { mode, vector: Some(vector) };
        let mut faults = Vec::new();
        let up = loop {
            match keys.mode(common) {
                Ok(up) => break up,
                Err(fault) => {
                    let parameter = fault.parameter;
                    faults.push(place(fault));
                    if !is_replaced(parameter, &mut keys, &mut common) {
                        return Err(faults);
                    }
                }
            }
        };
        let own = McsKeys {
            mcs: group.ap_mcs,
            streams: group.ap_streams,
            guard: group.ap_guard,
            width: None,
        };
        let down = own.or(&keys).mode(common).map_err(|fault| {
            match own.given().find(|key| *key == fault.parameter) {
                Some(key) => (format!("{path}.ap_{key}"), fault.said),
                None => place(fault),
            }
        });
        match down {
            Ok(down) if faults.is_empty() => {
                Ok(DirectionModes { up: with_vector(up), down: with_vector(down) })
            }
            down => {
                faults.extend(down.err());
                Err(faults)
            }
        }
    }

    /// The settings that all links have in common.
    fn common(&self) -> TxVector {
        common(self.wlan, self.slowest())
    }

    /// A response has a basic rate that does not exceed the rate of the frame: the lowest basic
    /// rate must not exceed that of any mode.
    fn can_be_answered(
        &self,
        path: &str,
        group: &Station,
        choice: &DirectionModes,
        check: &mut Check,
    ) {
        let lowest = self.lowest;
        let lowest_mbps = number(lowest.as_mbps());
        let own_mcs = group.modes.mcs;
        let mut reported = false;
        let both = [(choice.up.mode, own_mcs), (choice.down.mode, group.ap_mcs.or(own_mcs))];
        for (mode, own) in both {
            if mode.reference_rate() >= lowest || std::mem::replace(&mut reported, true) {
                continue;
            }
            if self.has_mcs() {
                let path = match (own, group.ap_mcs) {
                    (Some(_), Some(_)) if mode == choice.down.mode => format!("{path}.ap_mcs"),
                    (Some(_), _) => format!("{path}.mcs"),
                    (None, _) => "wlan.mcs".to_owned(),
                };
                let is = number(mode.reference_rate().as_mbps());
                let message = format!(
                    "MCS {} is answered at {is} Mb/s at most, and the lowest of \
                     wlan.basic_rates_mbps is {lowest_mbps}",
                    mode.mcs
                );
                check.fault(path, message);
                continue;
            }
            let path = match group.rate_mbps {
                Some(_) => format!("{path}.rate_mbps"),
                None => "wlan.rate_mbps".to_owned(),
            };
            let is = number(mode.rate.as_mbps());
            let message = said!(
                "{is} is below every basic rate, so no ACK could answer it",
                "the lowest of wlan.basic_rates_mbps is {lowest_mbps}"
            );
            check.fault(path, message);
        }
    }

    /// The remedy if a rate is given.
    fn advise_mcs(&self, mbps: f64, own: &McsKeys) -> Said {
        let keys = McsKeys { mcs: None, ..own.or(&self.wlan.modes) };
        let vector = keys.vector(self.slowest()).unwrap_or(self.slowest());
        let modes: Vec<Mode> =
            (0..12).filter_map(|mcs| TxVector { mcs, ..vector }.mode().ok()).collect();
        let near = |mode: &&Mode| (mode.rate.as_mbps() - mbps).abs() < 0.06;
        let advice = match (modes.iter().find(near), modes.last()) {
            (Some(mode), _) => format!("{} Mb/s is mcs = {} here", number(mbps), mode.mcs),
            (None, Some(last)) => format!(
                "here from {} Mb/s, mcs = 0, to {} Mb/s, mcs = {}",
                tenths(modes[0].rate),
                tenths(last.rate),
                last.mcs
            ),
            (None, None) => "as mcs = 7".to_owned(),
        };
        let name = self.own.name();
        said!(
            "802.{name} has no rates",
            "set modes by mcs, streams, width_mhz and guard_ns; {advice}"
        )
    }

    /// Keys of 802.11ax and be, and a rate, cannot be combined with the MCS of another standard.
    fn refuse_others(&self, check: &mut Check) {
        let wlan = self.wlan;
        if let Some(mbps) = wlan.rate_mbps {
            check.fault("wlan.rate_mbps", self.advise_mcs(mbps, &McsKeys::default()));
        }
        if self.has_extension() {
            return;
        }
        let given = [
            ("he_ltf", wlan.he_ltf.is_some()),
            ("packet_extension_us", wlan.packet_extension_us.is_some()),
        ];
        for (key, _) in given.iter().filter(|(_, given)| *given) {
            let name = self.standard.name();
            let message =
                Said::remove(format!("applies to 802.11ax and be only, not to 802.{name}"));
            check.fault(format!("wlan.{key}"), message);
        }
    }

    /// Keys of an MCS cannot be combined with a standard that has none.
    fn refuse_mcs(&self, check: &mut Check) {
        let wlan = self.wlan;
        let others = [
            ("coding", wlan.coding.is_some()),
            ("he_ltf", wlan.he_ltf.is_some()),
            ("packet_extension_us", wlan.packet_extension_us.is_some()),
        ];
        let others = others.into_iter().filter_map(|(key, given)| given.then_some(key));
        self.refuse("wlan", wlan.modes.given().chain(others), check);
    }

    fn refuse_mcs_of(&self, path: &str, group: &Station, check: &mut Check) {
        self.refuse(path, group.modes.given().chain(own_keys(group)), check);
    }

    fn refuse(&self, path: &str, keys: impl Iterator<Item = &'static str>, check: &mut Check) {
        for key in keys {
            let name = self.standard.name();
            let message = said!(
                "802.{name} has no MCS: its modes are chosen by rate_mbps",
                "or take standard = \"11n\", \"11ac\", \"11ax\" or \"11be\""
            );
            check.fault(format!("{path}.{key}"), message);
        }
    }
}

/// The keys of a group for single directions that it sets.
fn own_keys(group: &Station) -> impl Iterator<Item = &'static str> {
    let given = [
        ("ap_mcs", group.ap_mcs.is_some()),
        ("ap_streams", group.ap_streams.is_some()),
        ("ap_guard_ns", group.ap_guard.is_some()),
        ("legacy_rate_mbps", group.legacy_rate_mbps.is_some()),
        ("ap_legacy_rate_mbps", group.ap_legacy_rate_mbps.is_some()),
    ];
    given.into_iter().filter_map(|(key, given)| given.then_some(key))
}

/// A rate in Mb/s with one digit, as the standard's tables print it.
fn tenths(rate: BitRate) -> String {
    number((rate.as_mbps() * 10.0).round() / 10.0)
}
