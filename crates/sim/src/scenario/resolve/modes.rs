//! The modes of links: by rate in 802.11b, a and g, by MCS in n, ac and ax.

use super::check::{Check, number};
use super::{mixed, rate};
use crate::plan::{Mode, RateControlPlan, RatePlan, Standard, WlanPlan};
use crate::scenario::document::{Document, Station};
use crate::scenario::rate::RateControl;
use crate::scenario::wlan::{Coding, HeLtf, PpduTiming, Wlan};
use kernel::BitRate;
use std::collections::BTreeSet;
use wifi::phy::{self, Guard, TxVector, Width};

/// What the links of a cell can be.
pub(super) struct Modes<'a> {
    pub(super) standard: Standard,
    pub(super) phy: &'static phy::Standard,
    wlan: &'a Wlan,
    ap_control: Option<&'a RateControl>,
    basic_rates: &'a [BitRate],
    pub(super) duration_s: f64,
    has_radio: bool,
    /// The group at hand is of 802.11b in a network of 802.11g.
    non_erp: bool,
    /// What groups without keys of their own have.
    general: Option<Choice>,
    /// Faults of keys that groups share, each of which is told once.
    told: BTreeSet<String>,
}

/// A mode in each direction, and for an MCS how to make others like it.
#[derive(Clone, Copy)]
struct Choice {
    up: Mode,
    down: Mode,
    vector: Option<TxVector>,
}

/// A key of a group, or of all where the group has none.
struct Key<T> {
    path: String,
    value: Option<T>,
}

impl<'a> Modes<'a> {
    pub(super) fn new(
        document: &'a Document,
        plan: &'a WlanPlan,
        duration_s: f64,
        check: &mut Check,
    ) -> Self {
        let wlan = &document.wlan;
        let WlanPlan { standard, band, ref basic_rates, .. } = *plan;
        let mut modes = Self {
            standard,
            phy: super::cell::phy(standard, band),
            wlan,
            ap_control: document.ap.rate_control.as_ref(),
            basic_rates,
            duration_s,
            has_radio: document.radio.is_some(),
            non_erp: false,
            general: None,
            told: BTreeSet::new(),
        };
        if standard.has_mcs() {
            modes.refuse_others(check);
        } else {
            modes.refuse_mcs(check);
            let mode = modes.by_rate("wlan.rate_mbps", wlan.rate_mbps, check);
            modes.general = Some(Choice { up: mode, down: mode, vector: None });
        }
        modes
    }

    /// Whether signals have a strength.
    pub(super) fn has_radio(&self) -> bool {
        self.has_radio
    }

    /// How a group at `path` and the access point send to each other.
    pub(super) fn links(
        &mut self,
        path: &str,
        group: &Station,
        check: &mut Check,
    ) -> (RatePlan, RatePlan) {
        let choice = if self.standard.has_mcs() {
            self.by_mcs(path, group, check)
        } else {
            self.refuse_mcs_of(path, group, check);
            self.non_erp = mixed::is_non_erp(self.standard, group);
            match group.rate_mbps.or(self.non_erp.then_some(self.fastest_of_b())) {
                None => self.general.expect("made at first"),
                given => {
                    let mode = self.by_rate(&format!("{path}.rate_mbps"), given, check);
                    Choice { up: mode, down: mode, vector: None }
                }
            }
        };
        self.can_be_answered(path, group, &choice, check);
        let general = ("wlan.rate_control", &self.wlan.rate_control);
        let own_path = format!("{path}.rate_control");
        let own = group.rate_control.as_ref().map_or(general, |control| (&own_path[..], control));
        let ap = self.ap_control.map_or(general, |control| ("ap.rate_control", control));
        let up = self.link(own, choice.up, choice.vector, check);
        let down = self.link(ap, choice.down, choice.vector, check);
        (up, down)
    }

    /// What a group of 802.11b has without a rate of its own.
    fn fastest_of_b(&self) -> f64 {
        let is_dsss = |choice: &Choice| choice.up.class.is_dsss();
        self.general.filter(is_dsss).map_or(11.0, |choice| choice.up.rate.as_mbps())
    }

    fn link(
        &mut self,
        (path, control): (&str, &RateControl),
        mode: Mode,
        vector: Option<TxVector>,
        check: &mut Check,
    ) -> RatePlan {
        let control = match rate::control(path, control, mode, vector, self) {
            Ok(control) => control,
            Err(faults) => {
                for fault in faults {
                    self.tell(fault, check);
                }
                RateControlPlan::Fixed
            }
        };
        RatePlan { mode, control }
    }

    /// Tells of a fault, unless another group has told of the same key.
    fn tell(&mut self, (path, message): (String, String), check: &mut Check) {
        if self.told.insert(path.clone()) {
            check.fault(path, message);
        }
    }

    /// Modes up to `fastest`, among which rate control may choose: of the same streams, or of no
    /// more.
    pub(super) fn ladder(
        &self,
        fastest: &Mode,
        vector: Option<TxVector>,
        fewer_streams: bool,
    ) -> Vec<Mode> {
        let Some(vector) = vector else {
            let lowest = self.basic_rates[0];
            let knows = |mode: &Mode| !self.non_erp || mode.class.is_dsss();
            let fits =
                |mode: &&Mode| mode.rate >= lowest && mode.rate <= fastest.rate && knows(mode);
            return self.phy.modes.iter().filter(fits).copied().collect();
        };
        let least = if fewer_streams { 1 } else { vector.streams };
        let mut modes = Vec::new();
        for streams in least..=vector.streams {
            let mode = |mcs| TxVector { mcs, streams, ..vector }.mode().ok();
            modes.extend((0..=fastest.mcs).filter_map(mode));
        }
        modes
    }

    /// The mode of a rate; the fastest, and perhaps a fault, if there is none.
    fn by_rate(&self, path: &str, mbps: Option<f64>, check: &mut Check) -> Mode {
        let Some(mbps) = mbps else { return self.phy.fastest() };
        self.mode_of_rate(mbps).unwrap_or_else(|message| {
            check.fault(path, message);
            self.phy.fastest()
        })
    }

    /// The mode of a rate, or what is wrong with it.
    pub(super) fn mode_of_rate(&self, mbps: f64) -> Result<Mode, String> {
        let standard = if self.non_erp { Standard::B } else { self.standard };
        let rate = super::cell::rate(mbps, standard, self.phy.band)?;
        Ok(self.phy.mode(rate).expect("the standard has the rate"))
    }

    fn by_mcs(&mut self, path: &str, group: &Station, check: &mut Check) -> Choice {
        if let Some(mbps) = group.rate_mbps {
            check.fault(format!("{path}.rate_mbps"), self.advise_mcs(mbps, group));
        }
        let own = [group.mcs, group.ap_mcs, group.streams, group.width_mhz, group.guard_ns];
        let has_own = own.iter().any(Option::is_some);
        if !has_own && let Some(general) = self.general {
            return general;
        }
        let choice = self.vector(path, group).unwrap_or_else(|fault| {
            self.tell(fault, check);
            let vector = self.slowest();
            let mode = vector.mode().expect("the slowest mode exists");
            Choice { up: mode, down: mode, vector: Some(vector) }
        });
        if !has_own {
            self.general = Some(choice);
        }
        choice
    }

    fn slowest(&self) -> TxVector {
        self.phy.tx_vector().expect("asked of a standard with MCS")
    }

    /// The modes of a group by its keys and the general ones; else the key at fault and why.
    fn vector(&self, path: &str, group: &Station) -> Result<Choice, (String, String)> {
        let wlan = self.wlan;
        let key = |name: &str, own: Option<u64>, general: Option<u64>| Key {
            path: if own.is_some() { format!("{path}.{name}") } else { format!("wlan.{name}") },
            value: own.or(general),
        };
        let mcs = key("mcs", group.mcs, wlan.mcs);
        let streams = key("streams", group.streams, wlan.streams);
        let width = key("width_mhz", group.width_mhz, wlan.width_mhz);
        let guard = key("guard_ns", group.guard_ns, wlan.guard_ns);
        let ap_mcs = Key { path: format!("{path}.ap_mcs"), value: group.ap_mcs };
        let mut vector = TxVector {
            width: look_up(&width, Width::Mhz20, Width::of_mhz, "20, 40, 80 or 160")?,
            guard: look_up(&guard, Guard::Ns800, guard_of, "400, 800, 1600 or 3200")?,
            ..self.common()
        };
        (vector.mcs, vector.streams) = self.mcs_and_streams(&mcs, &streams)?;
        let place = |fault: phy::ModeFault, mcs: &Key<u64>| {
            let path = match fault.parameter {
                "mcs" => mcs.path.clone(),
                "streams" => streams.path.clone(),
                "width_mhz" => width.path.clone(),
                "guard_ns" => guard.path.clone(),
                "ltf" => "wlan.he_ltf".to_owned(),
                other => format!("wlan.{other}"),
            };
            (path, fault.message)
        };
        let of = |vector: TxVector, given: bool| {
            if given { vector.mode() } else { vector.fastest() }
        };
        let up = of(vector, mcs.value.is_some()).map_err(|fault| place(fault, &mcs))?;
        vector.mcs = up.mcs;
        let down = if ap_mcs.value.is_some() {
            let (mcs, _) = self.mcs_and_streams(&ap_mcs, &streams)?;
            let vector = TxVector { mcs, ..vector };
            vector.mode().map_err(|fault| place(fault, &ap_mcs))?
        } else {
            up
        };
        Ok(Choice { up, down, vector: Some(vector) })
    }

    /// What all links have in common.
    fn common(&self) -> TxVector {
        let wlan = self.wlan;
        let he = self.standard == Standard::Ax;
        let extension = wlan.packet_extension_us.and_then(|us| u8::try_from(us).ok());
        TxVector {
            coding: wlan.coding.map(|coding| match coding {
                Coding::Bcc => phy::Coding::Bcc,
                Coding::Ldpc => phy::Coding::Ldpc,
            }),
            ltf: wlan.he_ltf.filter(|_| he).map(|ltf| match ltf {
                HeLtf::X1 => phy::HeLtf::X1,
                HeLtf::X2 => phy::HeLtf::X2,
                HeLtf::X4 => phy::HeLtf::X4,
            }),
            packet_extension_us: extension.filter(|us| he && *us <= 16).unwrap_or(0) & !3,
            timing: match wlan.ppdu_timing {
                PpduTiming::Standard => phy::PpduTiming::Standard,
                PpduTiming::Ns3 => phy::PpduTiming::Ns3,
            },
            ..self.slowest()
        }
    }

    /// MCS within a stream and streams: an MCS of 802.11n may stand for both (clause 19.5).
    fn mcs_and_streams(
        &self,
        mcs: &Key<u64>,
        streams: &Key<u64>,
    ) -> Result<(u8, u8), (String, String)> {
        let given = narrow(streams, 8)?;
        let Some(index) = narrow(mcs, 31)? else { return Ok((0, given.unwrap_or(1))) };
        if self.standard != Standard::N || !(8..32).contains(&index) {
            return Ok((index, given.unwrap_or(1)));
        }
        let implied = index / 8 + 1;
        if given.is_some_and(|given| given != implied) {
            let message = format!(
                "{index} has {implied} streams in 802.11n [802.11-2020 19.5]; leave streams out, \
                 or count the MCS of each from 0 to 7"
            );
            return Err((mcs.path.clone(), message));
        }
        Ok((index % 8, implied))
    }

    /// Each basic rate answers modes that are no slower: the slowest has to answer every mode.
    fn can_be_answered(&self, path: &str, group: &Station, choice: &Choice, check: &mut Check) {
        let lowest = self.basic_rates[0];
        let lowest_mbps = number(lowest.as_mbps());
        let mut told = false;
        for (mode, own) in [(choice.up, group.mcs), (choice.down, group.ap_mcs.or(group.mcs))] {
            if mode.reference_rate() >= lowest || std::mem::replace(&mut told, true) {
                continue;
            }
            if self.standard.has_mcs() {
                let path = match (own, group.ap_mcs) {
                    (Some(_), Some(_)) if mode == choice.down => format!("{path}.ap_mcs"),
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
            let message = format!(
                "{is} is below every basic rate, so no ACK could answer it; the lowest of \
                 wlan.basic_rates_mbps is {lowest_mbps}"
            );
            check.fault(path, message);
        }
    }

    /// What to write instead of a rate.
    fn advise_mcs(&self, mbps: f64, group: &Station) -> String {
        let wlan = self.wlan;
        let (streams, width) = (group.streams.or(wlan.streams), group.width_mhz.or(wlan.width_mhz));
        let width = width.and_then(|n| u32::try_from(n).ok()).and_then(Width::of_mhz);
        let vector = TxVector {
            streams: streams.and_then(|n| u8::try_from(n).ok()).unwrap_or(1),
            width: width.unwrap_or_default(),
            guard: group.guard_ns.or(wlan.guard_ns).and_then(Guard::of_ns).unwrap_or_default(),
            ..self.slowest()
        };
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
        let name = self.standard.name();
        format!(
            "802.{name} has no rates but modes, by mcs, streams, width_mhz and guard_ns; {advice}"
        )
    }

    /// Keys of 802.11ax alone, and a rate, do not go with the MCS of another standard.
    fn refuse_others(&self, check: &mut Check) {
        let wlan = self.wlan;
        if let Some(mbps) = wlan.rate_mbps {
            check.fault("wlan.rate_mbps", self.advise_mcs(mbps, &Station::default()));
        }
        if self.standard == Standard::Ax {
            let known = |us: &u64| matches!(us, 0 | 4 | 8 | 12 | 16);
            if let Some(us) = wlan.packet_extension_us.filter(|us| !known(us)) {
                let message = format!("is 0, 4, 8, 12 or 16, not {us} [802.11ax-2021 27.3.13]");
                check.fault("wlan.packet_extension_us", message);
            }
            return;
        }
        let given = [
            ("he_ltf", wlan.he_ltf.is_some()),
            ("packet_extension_us", wlan.packet_extension_us.is_some()),
        ];
        for (key, _) in given.iter().filter(|(_, given)| *given) {
            let name = self.standard.name();
            let message = format!("is of 802.11ax only, not of 802.{name}; remove the key");
            check.fault(format!("wlan.{key}"), message);
        }
    }

    /// Keys of an MCS do not go with a standard that has none.
    fn refuse_mcs(&self, check: &mut Check) {
        let wlan = self.wlan;
        let given = [
            ("mcs", wlan.mcs.is_some()),
            ("streams", wlan.streams.is_some()),
            ("width_mhz", wlan.width_mhz.is_some()),
            ("guard_ns", wlan.guard_ns.is_some()),
            ("coding", wlan.coding.is_some()),
            ("he_ltf", wlan.he_ltf.is_some()),
            ("packet_extension_us", wlan.packet_extension_us.is_some()),
        ];
        self.refuse("wlan", &given, check);
    }

    fn refuse_mcs_of(&self, path: &str, group: &Station, check: &mut Check) {
        let given = [
            ("mcs", group.mcs.is_some()),
            ("ap_mcs", group.ap_mcs.is_some()),
            ("streams", group.streams.is_some()),
            ("width_mhz", group.width_mhz.is_some()),
            ("guard_ns", group.guard_ns.is_some()),
        ];
        self.refuse(path, &given, check);
    }

    fn refuse(&self, path: &str, keys: &[(&str, bool)], check: &mut Check) {
        for (key, _) in keys.iter().filter(|(_, given)| *given) {
            let name = self.standard.name();
            let message = format!(
                "802.{name} has no MCS: its modes are chosen by rate_mbps; or take standard = \
                 \"11n\", \"11ac\" or \"11ax\""
            );
            check.fault(format!("{path}.{key}"), message);
        }
    }
}

fn look_up<T>(
    key: &Key<u64>,
    usual: T,
    find: impl Fn(u32) -> Option<T>,
    choices: &str,
) -> Result<T, (String, String)> {
    let Some(value) = key.value else { return Ok(usual) };
    let found = u32::try_from(value).ok().and_then(find);
    found.ok_or_else(|| (key.path.clone(), format!("is one of {choices}, not {value}")))
}

/// A number that is one in some standard.
fn narrow(key: &Key<u64>, most: u8) -> Result<Option<u8>, (String, String)> {
    let Some(value) = key.value else { return Ok(None) };
    match u8::try_from(value) {
        Ok(narrow) if narrow <= most => Ok(Some(narrow)),
        _ => {
            let message = format!("must be from 0 to {most} in any standard, is {value}");
            Err((key.path.clone(), message))
        }
    }
}

fn guard_of(ns: u32) -> Option<Guard> {
    Guard::of_ns(u64::from(ns))
}

/// A rate in Mb/s with one digit, as the standard's tables print it.
fn tenths(rate: BitRate) -> String {
    number((rate.as_mbps() * 10.0).round() / 10.0)
}
