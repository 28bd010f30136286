//! The calculator behind `simoom airtime`: how long a PPDU lasts, and the exchange of a group.

mod exchange;
mod frames;
mod group;
mod keys;

use crate::scenario::{Issue, json_tree};
use frames::{Frames, us};
use group::Group;
use kernel::{Bytes, Duration};
use keys::GroupKeys;
use settings::{Faults, Json, Node, Said, Settings, Step, json, said};
use wifi::phy::{
    self, Airtime, Amendment, Band, Coding, Guard, HeLtf, LONGEST_PPDU, McsKeys, Mode, ModeClass,
    PpduTiming, Preamble, Punctured, Standard, TxVector, Width,
};

/// A PPDU.
#[derive(Clone, Debug, PartialEq, Settings)]
#[settings(name = "Airtime")]
struct Query {
    /// The standard.
    #[setting(default = Amendment::G, required = "as \"11g\"")]
    standard: Amendment,
    /// Bytes of the PSDU, MAC header and FCS included; of each MPDU if there are `mpdus`.
    #[setting(range = 1..)]
    psdu_bytes: Option<u64>,
    /// MPDUs in an A-MPDU; default no A-MPDU.
    mpdus: Option<u64>,
    /// Rate in Mb/s of a frame without an MCS: of every frame in 802.11b, a and g (default: the
    /// highest rate), and of control frames in later standards.
    rate_mbps: Option<f64>,
    /// Whether DSSS and CCK frames have the short preamble.
    short_preamble: bool,
    /// Band in GHz. Default: the band for which the standard was first defined.
    #[setting(key = "band_ghz")]
    band: Option<Band>,
    #[setting(flatten)]
    modes: McsKeys,
    /// The 20 MHz subchannels that a PPDU of 802.11be leaves out, or one of 802.11ax to several
    /// users, by their numbers in its channel, of which 1 is the lowest. Default: none.
    #[setting(range = 1..=16)]
    punctured: Option<Vec<u32>>,
    /// Forward error correction. Default: "bcc" if the mode supports it.
    coding: Option<Coding>,
    /// Type of the HE-LTF in 802.11ax and of the EHT-LTF in 802.11be. Default: "2x", and "4x" with
    /// a guard interval of 3200 ns.
    ltf: Option<HeLtf>,
    /// Whether a PPDU of 802.11ax has extended range (HE ER SU).
    extended_range: bool,
    /// Packet extension in 802.11ax and be in microseconds: 0, 4, 8, 12 or 16; 20 in be.
    #[setting(default = 0, range = 0..=20)]
    packet_extension_us: u64,
    /// Durations of PPDUs with an MCS.
    timing: PpduTiming,
    #[setting(flatten)]
    group: GroupKeys,
}

type Parts = Vec<(&'static str, f64)>;

/// The JSON schema of the input of [`airtime`].
pub fn airtime_schema() -> String {
    format!("{:#}\n", settings::schema::<Query>())
}

/// The parts of a PPDU and their durations in microseconds, `total_us` last; with users, the parts
/// of the exchange, what each user has of it, and its total. Options and answer are JSON.
///
/// # Errors
/// All faults of the input.
pub fn airtime(options: &str) -> Result<String, Vec<Issue>> {
    answer(&json_tree(options)?).map(|answer| answer.to_string())
}

fn answer(options: &Node) -> Result<Json, Vec<Issue>> {
    let (query, mut faults) = settings::read_sound::<Query>(options);
    let is_known = !faults.0.iter().any(|issue| issue.path == "standard");
    let for_users = options.part(&Step::Key("users".to_owned())).is_some();
    if for_users {
        if !faults.0.is_empty() {
            return Err(faults.0);
        }
        return query.exchange(&mut faults).ok_or(faults.0);
    }
    let parts = query.ppdu(options, is_known, &mut faults).ok_or(faults.0)?;
    Ok(Json::Object(parts.into_iter().map(|(part, us)| (part.to_owned(), json!(us))).collect()))
}

impl Query {
    /// The parts of a PPDU of one user.
    fn ppdu(&self, options: &Node, is_known: bool, faults: &mut Faults) -> Option<Parts> {
        if options.part(&Step::Key("psdu_bytes".to_owned())).is_none() {
            faults.fault("psdu_bytes", said!("missing", "as 1536, or give users"));
        }
        if !is_known {
            return None;
        }
        for key in self.group.given() {
            faults.fault(
                key,
                said!("applies to the exchange of a group", "add users, or remove the key"),
            );
        }
        let standard = self.standard(faults);
        let mode = self.mode(standard, faults);
        let class = mode.map(|mode| mode.class).or(standard.high).unwrap_or(ModeClass::Ofdm);
        let frames = Frames {
            bytes: Bytes(self.psdu_bytes.unwrap_or(1)),
            header: Bytes::ZERO,
            mpdus: self.mpdus.filter(|_| class.is_high()),
            bytes_at: "psdu_bytes".to_owned(),
            mpdus_at: "mpdus".to_owned(),
        };
        let psdu = frames.psdu(standard, class, faults);
        let (Some(mode), Some(psdu), []) = (mode, psdu, &faults.0[..]) else { return None };
        let preamble = if self.short_preamble { Preamble::Short } else { Preamble::Long };
        let parts = phy::airtime(&mode, preamble, psdu);
        if mode.class.is_high() && parts.total() > LONGEST_PPDU {
            let room = phy::psdu_within(&mode, preamble, LONGEST_PPDU).unwrap_or_default();
            frames.refuse_length(parts.total(), room, faults);
            return None;
        }
        Some(self.parts(&mode, &parts))
    }

    /// The exchange of a group.
    fn exchange(&self, faults: &mut Faults) -> Option<Json> {
        let others = [
            ("short_preamble", self.short_preamble),
            ("extended_range", self.extended_range),
            ("packet_extension_us", self.packet_extension_us != 0),
        ];
        for (key, _) in others.into_iter().filter(|(_, given)| *given) {
            faults.fault(key, said!("applies to PPDUs without users", "remove one of the two"));
        }
        let punctured = self.punctured(faults)?;
        let group = Group {
            punctured,
            standard: self.standard(faults),
            keys: &self.group,
            psdu_bytes: self.psdu_bytes,
            mpdus: self.mpdus,
            modes: &self.modes,
            coding: self.coding,
            ltf: self.ltf,
            timing: self.timing,
            rate_mbps: self.rate_mbps,
        };
        group.answer(faults)
    }

    fn standard(&self, faults: &mut Faults) -> &'static Standard {
        let usual = Standard::of(self.standard);
        let Some(band) = self.band else { return usual };
        Standard::in_band(self.standard, band).unwrap_or_else(|message| {
            faults.fault("band_ghz", message);
            usual
        })
    }

    fn mode(&self, standard: &Standard, faults: &mut Faults) -> Option<Mode> {
        match standard.tx_vector() {
            Some(vector) if self.rate_mbps.is_none() => self.mode_by_mcs(vector, faults),
            high => {
                self.refuse_mcs(standard, high.is_some(), faults);
                let Some(mbps) = self.rate_mbps else { return Some(standard.fastest()) };
                standard.mode_at(mbps).map_err(|message| faults.fault("rate_mbps", message)).ok()
            }
        }
    }

    /// A frame with a rate has no settings that belong to an MCS.
    fn refuse_mcs(&self, standard: &Standard, high: bool, faults: &mut Faults) {
        let McsKeys { mcs, streams, width, guard } = self.modes;
        let given = [
            ("mcs", mcs.is_some()),
            ("streams", streams.is_some()),
            ("width_mhz", width.is_some_and(|width| width != Width::default())),
            ("guard_ns", guard.is_some_and(|guard| guard != Guard::default())),
            ("punctured", self.punctured.is_some()),
            ("coding", self.coding.is_some()),
            ("ltf", self.ltf.is_some()),
            ("extended_range", self.extended_range),
            ("packet_extension_us", self.packet_extension_us != 0),
            ("mpdus", self.mpdus.is_some()),
        ];
        for (path, _) in given.into_iter().filter(|(_, given)| *given) {
            let message = if path == "punctured" {
                Said::remove("only PPDUs of 802.11be have punctured channels")
            } else if high {
                said!(
                    "cannot be combined with a rate, which is for frames without MCS",
                    "remove one"
                )
            } else {
                Said::new(
                    format!("802.{} has none", standard.name()),
                    "take 11n, 11ac, 11ax or 11be",
                )
            };
            faults.fault(path, message);
        }
    }

    fn mode_by_mcs(&self, usual: TxVector, faults: &mut Faults) -> Option<Mode> {
        if self.short_preamble {
            faults.fault("short_preamble", Said::remove("applies to DSSS and CCK frames only"));
        }
        let punctured = self.punctured(faults)?;
        let like = TxVector {
            punctured,
            coding: self.coding,
            ltf: self.ltf,
            extended_range: self.extended_range,
            packet_extension_us: self.packet_extension_us as u8,
            timing: self.timing,
            ..usual
        };
        let mode = self.modes.mode(like);
        mode.map_err(|fault| faults.fault(fault.parameter, fault.said)).ok().map(|(mode, _)| mode)
    }

    fn punctured(&self, faults: &mut Faults) -> Option<Punctured> {
        let width = self.modes.width.unwrap_or_default();
        let numbers = self.punctured.as_deref().unwrap_or_default();
        let punctured = Punctured::of_numbers(width, numbers);
        punctured.map_err(|said| faults.fault("punctured", said)).ok()
    }

    fn parts(&self, mode: &Mode, parts: &Airtime) -> Parts {
        let mut named = vec![
            ("preamble_us", us(parts.preamble)),
            ("header_us", us(parts.header)),
            ("payload_us", us(parts.payload)),
        ];
        let mut extension = parts.extension;
        if mode.class.high().is_some_and(|high| high.has_extension) {
            let asked = match self.timing {
                PpduTiming::Ns3 => 0,
                PpduTiming::Standard => self.packet_extension_us,
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

#[cfg(test)]
mod group_tests;
#[cfg(test)]
mod tests;
