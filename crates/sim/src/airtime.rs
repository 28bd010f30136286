//! The PPDU-duration calculator behind `simoom airtime`.

use crate::scenario::Issue;
use kernel::{BitRate, Bytes, Duration};
use wifi::phy::{
    self, Airtime, Band, Coding, Guard, HeLtf, LONGEST_PPDU, Mode, ModeClass, PpduTiming, Preamble,
    Standard, TxVector, Width,
};

/// What to calculate.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct AirtimeQuery {
    /// `11b`, `11a`, `11g`, `11n`, `11ac` or `11ax`.
    pub standard: String,
    /// Bytes of the PSDU, FCS included; of each MPDU if there are `mpdus`.
    pub psdu_bytes: u64,
    /// MPDUs in an A-MPDU; absent: the PSDU is what `psdu_bytes` says.
    pub mpdus: Option<u64>,
    /// Rate in Mb/s of a frame without MCS; in 11b, 11a and 11g the highest if absent.
    pub rate_mbps: Option<f64>,
    /// Whether DSSS and CCK frames have the short preamble.
    pub short_preamble: bool,
    /// 2.4 or 5; the standard's usual band if absent.
    pub band_ghz: Option<f64>,
    /// MCS index within a stream, or 11n's from 8 to 31; the highest if absent.
    pub mcs: Option<u64>,
    /// Spatial streams; 1 if absent and not implied by 11n's MCS.
    pub streams: Option<u64>,
    /// Bandwidth; 20 if absent.
    pub width_mhz: Option<u64>,
    /// Guard interval; 800 if absent.
    pub guard_ns: Option<u64>,
    /// `bcc` or `ldpc`; `bcc` where the mode has it if absent.
    pub coding: Option<String>,
    /// HE-LTF type, `1x`, `2x` or `4x`; `2x`, and `4x` with 3200 ns, if absent.
    pub ltf: Option<String>,
    /// Whether an HE PPDU has extended range.
    pub extended_range: bool,
    /// Packet extension of an HE PPDU; 0 if absent.
    pub packet_extension_us: Option<u64>,
    /// `standard`, or `ns3` for its durations where they depart from the standard's.
    pub timing: Option<String>,
}

/// Bytes of the delimiter before each MPDU of an A-MPDU (clause 9.7.1).
const DELIMITER: u64 = 4;

type Parts = Vec<(&'static str, f64)>;

/// The parts of a PPDU and their durations in microseconds, `total` last; all faults at once.
pub fn airtime(query: &AirtimeQuery) -> Result<Parts, Vec<Issue>> {
    let mut faults = Faults::default();
    let Some(standard) = query.standard(&mut faults) else { return Err(faults.0) };
    let mode = query.mode(standard, &mut faults);
    let psdu = query.psdu(standard, mode.as_ref(), &mut faults);
    let (Some(mode), Some(psdu), []) = (mode, psdu, &faults.0[..]) else { return Err(faults.0) };
    let preamble = if query.short_preamble { Preamble::Short } else { Preamble::Long };
    let parts = phy::airtime(&mode, preamble, psdu);
    if mode.class.is_high() && parts.total() > LONGEST_PPDU {
        query.refuse_long_ppdu(&mode, preamble, &parts, &mut faults);
        return Err(faults.0);
    }
    Ok(query.parts(&mode, &parts))
}

/// Faults as they are found.
#[derive(Default)]
struct Faults(Vec<Issue>);

impl Faults {
    fn add(&mut self, path: &str, message: impl Into<String>) {
        self.0.push(Issue { path: path.into(), message: message.into() });
    }

    /// The number, if it is one that any standard has; else a fault, and the highest.
    fn narrow(&mut self, path: &str, number: u64, highest: u8) -> u8 {
        if number > u64::from(highest) {
            self.add(path, format!("must be from 0 to {highest} in any standard, is {number}"));
        }
        u8::try_from(number).unwrap_or(highest).min(highest)
    }

    /// The value that `given` stands for among `choices`; `None`, and a fault, if for none.
    fn choose<T: Copy>(
        &mut self,
        path: &str,
        given: &str,
        choices: &[(&'static str, T)],
    ) -> Option<T> {
        let found = choices.iter().find(|(name, _)| *name == given);
        if found.is_none() {
            let names: Vec<&str> = choices.iter().map(|(name, _)| *name).collect();
            self.add(path, format!("is one of {}, not {given:?}", names.join(", ")));
        }
        found.map(|(_, value)| *value)
    }
}

impl AirtimeQuery {
    fn standard(&self, faults: &mut Faults) -> Option<&'static Standard> {
        let Some(usual) = Standard::named(&self.standard) else {
            let names: Vec<&str> = Standard::names().collect();
            let names = names.join(", ");
            faults.add("standard", format!("{:?} is not known; there are {names}", self.standard));
            if self.psdu_bytes == 0 {
                faults.add("psdu_bytes", "must be at least 1, is 0");
            }
            return None;
        };
        let band = match self.band_ghz {
            None => return Some(usual),
            Some(2.4) => Band::Ghz2_4,
            Some(5.0) => Band::Ghz5,
            Some(ghz) => {
                faults.add("band_ghz", format!("is 2.4 or 5, not {ghz}"));
                return Some(usual);
            }
        };
        let found = Standard::in_band(&self.standard, band);
        if found.is_none() {
            let other = if band == Band::Ghz5 { 2.4 } else { 5.0 };
            let message = format!("802.{} is of the {other} GHz band; leave it out", usual.name);
            faults.add("band_ghz", message);
        }
        found.or(Some(usual))
    }

    fn mode(&self, standard: &Standard, faults: &mut Faults) -> Option<Mode> {
        match standard.tx_vector() {
            Some(vector) if self.rate_mbps.is_none() => self.mode_by_mcs(vector, faults),
            high => {
                self.refuse_mcs(standard, high.is_some(), faults);
                self.mode_by_rate(standard, faults)
            }
        }
    }

    fn mode_by_rate(&self, standard: &Standard, faults: &mut Faults) -> Option<Mode> {
        let Some(rate) = self.rate_mbps else { return Some(standard.fastest()) };
        let positive = rate.is_finite() && rate > 0.0;
        let mode = positive.then(|| standard.mode(BitRate::from_mbps(rate))).flatten();
        if mode.is_none() {
            let rates: Vec<String> =
                standard.modes.iter().map(|mode| mode.rate.as_mbps().to_string()).collect();
            let kind = if standard.high.is_some() { "control frames of " } else { "" };
            let rates = rates.join(", ");
            let message = format!("{rate} is not a rate of {kind}802.{}: {rates}", standard.name);
            faults.add("rate_mbps", message);
        }
        mode
    }

    /// A frame with a rate has nothing that belongs to an MCS.
    fn refuse_mcs(&self, standard: &Standard, high: bool, faults: &mut Faults) {
        let given = [
            ("mcs", self.mcs.is_some()),
            ("streams", self.streams.is_some()),
            ("width_mhz", self.width_mhz.is_some_and(|mhz| mhz != 20)),
            ("guard_ns", self.guard_ns.is_some_and(|ns| ns != 800)),
            ("coding", self.coding.is_some()),
            ("ltf", self.ltf.is_some()),
            ("extended_range", self.extended_range),
            ("packet_extension_us", self.packet_extension_us.is_some_and(|us| us != 0)),
            ("mpdus", self.mpdus.is_some()),
        ];
        for (path, _) in given.into_iter().filter(|(_, given)| *given) {
            let message = if high {
                "does not go with rate_mbps, which is for frames without MCS; leave one out".into()
            } else {
                format!("802.{} has none; take 11n, 11ac or 11ax", standard.name)
            };
            faults.add(path, message);
        }
    }

    fn mode_by_mcs(&self, usual: TxVector, faults: &mut Faults) -> Option<Mode> {
        let before = faults.0.len();
        if self.short_preamble {
            faults.add("short_preamble", "is of DSSS and CCK frames only; leave it out");
        }
        let mut vector = TxVector { extended_range: self.extended_range, ..usual };
        self.set_numbers(&mut vector, faults);
        let (mcs, streams) = self.mcs_and_streams(usual.class, faults);
        vector.streams = streams;
        if let Some(coding) = &self.coding {
            let choices = [("bcc", Coding::Bcc), ("ldpc", Coding::Ldpc)];
            vector.coding = faults.choose("coding", coding, &choices);
        }
        if let Some(ltf) = &self.ltf {
            let choices = [("1x", HeLtf::X1), ("2x", HeLtf::X2), ("4x", HeLtf::X4)];
            vector.ltf = faults.choose("ltf", ltf, &choices);
        }
        if let Some(timing) = &self.timing {
            let choices = [("standard", PpduTiming::Standard), ("ns3", PpduTiming::Ns3)];
            vector.timing = faults.choose("timing", timing, &choices).unwrap_or_default();
        }
        if faults.0.len() > before {
            return None;
        }
        let mode = match mcs {
            Some(mcs) => TxVector { mcs, ..vector }.mode(),
            None => vector.fastest(),
        };
        mode.map_err(|fault| faults.add(fault.parameter, fault.message)).ok()
    }

    fn set_numbers(&self, vector: &mut TxVector, faults: &mut Faults) {
        if let Some(mhz) = self.width_mhz {
            match u32::try_from(mhz).ok().and_then(Width::of_mhz) {
                Some(width) => vector.width = width,
                None => faults.add("width_mhz", format!("is 20, 40, 80 or 160, not {mhz}")),
            }
        }
        if let Some(ns) = self.guard_ns {
            match Guard::of_ns(ns) {
                Some(guard) => vector.guard = guard,
                None => faults.add("guard_ns", format!("is 400, 800, 1600 or 3200, not {ns}")),
            }
        }
        if let Some(us) = self.packet_extension_us {
            vector.packet_extension_us = faults.narrow("packet_extension_us", us, 16);
        }
    }

    /// MCS within a stream and streams: an MCS of 11n may stand for both (clause 19.5).
    fn mcs_and_streams(&self, class: ModeClass, faults: &mut Faults) -> (Option<u8>, u8) {
        let streams = faults.narrow("streams", self.streams.unwrap_or(1), 8);
        let Some(mcs) = self.mcs else { return (None, streams) };
        let mcs = faults.narrow("mcs", mcs, 31);
        if class != ModeClass::Ht || mcs <= 7 {
            return (Some(mcs), streams);
        }
        let implied = mcs / 8 + 1;
        if self.streams.is_some_and(|streams| streams != u64::from(implied)) {
            let message = format!(
                "{mcs} has {implied} streams in 802.11n [802.11-2020 19.5]; leave streams out, or \
                 count the MCS of each from 0 to 7"
            );
            faults.add("mcs", message);
        }
        (Some(mcs % 8), implied)
    }

    /// The PSDU, of one piece or of MPDUs with delimiter and padding (clause 9.7.1).
    fn psdu(&self, standard: &Standard, mode: Option<&Mode>, faults: &mut Faults) -> Option<Bytes> {
        let class = mode.map(|mode| mode.class).or(standard.high).unwrap_or(ModeClass::Ofdm);
        let longest = phy::longest_psdu(class).0;
        let mpdus = self.mpdus.filter(|_| class.is_high());
        let (least, most) = match (mpdus, class) {
            (None, _) => (1, longest),
            // Table 9-25: the delimiter of HT counts to 4095.
            (Some(_), ModeClass::Ht) => (1, 4095),
            (Some(_), _) => (1, 11_454),
        };
        if !(least..=most).contains(&self.psdu_bytes) {
            let message = format!("must be from {least} to {most}, is {}", self.psdu_bytes);
            faults.add("psdu_bytes", message);
            return None;
        }
        let Some(mpdus) = mpdus else { return Some(Bytes(self.psdu_bytes)) };
        let window = class.block_ack_window().unwrap_or(1);
        if !(1..=window).contains(&mpdus) {
            let message = format!(
                "must be from 1 to {window}, as many as a block ack can name, is {mpdus} \
                 [802.11-2020 9.3.1.8]"
            );
            faults.add("mpdus", message);
            return None;
        }
        let subframe = DELIMITER + self.psdu_bytes;
        let psdu = (mpdus - 1) * subframe.next_multiple_of(4) + subframe;
        if psdu > longest {
            let fit = 1 + (longest - subframe) / subframe.next_multiple_of(4);
            let message = format!(
                "{mpdus} make a PSDU of {psdu} bytes, more than the {longest} of 802.{}; at most \
                 {fit}",
                standard.name
            );
            faults.add("mpdus", message);
            return None;
        }
        Some(Bytes(psdu))
    }

    fn refuse_long_ppdu(
        &self,
        mode: &Mode,
        preamble: Preamble,
        parts: &Airtime,
        faults: &mut Faults,
    ) {
        let room = phy::psdu_within(mode, preamble, LONGEST_PPDU).map_or(0, |psdu| psdu.0);
        let subframe = DELIMITER + self.psdu_bytes;
        let lasts = format!(
            "the PPDU would last {} us, more than aPPDUMaxTime, {} us",
            us(parts.total()),
            us(LONGEST_PPDU)
        );
        match self.mpdus {
            Some(mpdus) if mpdus > 1 && subframe <= room => {
                let fit = 1 + (room - subframe) / subframe.next_multiple_of(4);
                faults.add("mpdus", format!("{lasts}; at most {fit}"));
            }
            Some(_) => faults.add("psdu_bytes", format!("{lasts}; at most {}", room - DELIMITER)),
            None => faults.add("psdu_bytes", format!("{lasts}; at most {room}")),
        }
    }

    fn parts(&self, mode: &Mode, parts: &Airtime) -> Parts {
        let mut named = vec![
            ("preamble_us", us(parts.preamble)),
            ("header_us", us(parts.header)),
            ("payload_us", us(parts.payload)),
        ];
        let mut extension = parts.extension;
        if mode.class == ModeClass::He {
            let asked = match self.timing.as_deref() {
                Some("ns3") => 0,
                _ => self.packet_extension_us.unwrap_or(0),
            };
            let packet = Duration::from_micros(asked);
            extension -= packet;
            named.push(("packet_extension_us", us(packet)));
        }
        named.push(("signal_extension_us", us(extension)));
        named.push(("total_us", us(parts.total())));
        named
    }
}

fn us(duration: Duration) -> f64 {
    duration.as_micros_f64()
}

#[cfg(test)]
#[path = "airtime_tests.rs"]
mod tests;
