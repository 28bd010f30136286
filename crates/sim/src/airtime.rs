//! The PPDU-duration calculator behind `simoom airtime`.

use crate::scenario::Issue;
use kernel::{Bytes, Duration};
use settings::{Faults, Node, Settings};
use wifi::mac::{DELIMITER, ampdu_of, mpdus_within};
use wifi::phy::{
    self, Airtime, Amendment, Band, Coding, Guard, HeLtf, LONGEST_PPDU, McsKeys, Mode, ModeClass,
    PpduTiming, Preamble, Standard, TxVector, Width,
};

/// A PPDU.
#[derive(Clone, Debug, PartialEq, Settings)]
#[settings(name = "Airtime")]
struct Query {
    /// The standard.
    #[setting(default = Amendment::G, required = "as \"11g\"")]
    standard: Amendment,
    /// Bytes of the PSDU, MAC header and FCS included; of each MPDU if there are `mpdus`.
    #[setting(required = "as 1536", range = 1..)]
    psdu_bytes: u64,
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
}

type Parts = Vec<(&'static str, f64)>;

/// The JSON schema of the input of [`airtime`].
pub fn airtime_schema() -> String {
    format!("{:#}\n", settings::schema::<Query>())
}

/// The parts of a PPDU and their durations in microseconds, `total` last; or all faults of the
/// input.
pub fn airtime(options: &Node) -> Result<Parts, Vec<Issue>> {
    let (query, mut faults) = settings::read_sound::<Query>(options);
    if faults.0.iter().any(|issue| issue.path == "standard") {
        return Err(faults.0);
    }
    let standard = query.standard(&mut faults);
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

impl Query {
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
            ("coding", self.coding.is_some()),
            ("ltf", self.ltf.is_some()),
            ("extended_range", self.extended_range),
            ("packet_extension_us", self.packet_extension_us != 0),
            ("mpdus", self.mpdus.is_some()),
        ];
        for (path, _) in given.into_iter().filter(|(_, given)| *given) {
            let message = if high {
                "cannot be combined with a rate, which is for frames without MCS; remove one".into()
            } else {
                format!("802.{} has none; take 11n, 11ac, 11ax or 11be", standard.name())
            };
            faults.fault(path, message);
        }
    }

    fn mode_by_mcs(&self, usual: TxVector, faults: &mut Faults) -> Option<Mode> {
        if self.short_preamble {
            faults.fault("short_preamble", "applies to DSSS and CCK frames only; remove the key");
        }
        let like = TxVector {
            coding: self.coding,
            ltf: self.ltf,
            extended_range: self.extended_range,
            packet_extension_us: self.packet_extension_us as u8,
            timing: self.timing,
            ..usual
        };
        let mode = self.modes.mode(like);
        mode.map_err(|fault| faults.fault(fault.parameter, fault.message))
            .ok()
            .map(|(mode, _)| mode)
    }

    /// The PSDU: a single MPDU, or MPDUs with delimiters and padding (clause 9.7.1).
    fn psdu(&self, standard: &Standard, mode: Option<&Mode>, faults: &mut Faults) -> Option<Bytes> {
        let class = mode.map(|mode| mode.class).or(standard.high).unwrap_or(ModeClass::Ofdm);
        let longest = phy::longest_psdu(class);
        let mpdus = self.mpdus.filter(|_| class.is_high());
        let of_ampdu = class.high().filter(|_| mpdus.is_some());
        let most = of_ampdu.map_or(longest, |high| high.longest_mpdu).0;
        if self.psdu_bytes > most {
            let message = format!("must be from 1 to {most}, is {}", self.psdu_bytes);
            faults.fault("psdu_bytes", message);
            return None;
        }
        let mpdu = Bytes(self.psdu_bytes);
        let Some(mpdus) = mpdus else { return Some(mpdu) };
        let window = class.high().map_or(1, |high| u64::from(high.block_ack_window));
        if !(1..=window).contains(&mpdus) {
            let message = format!(
                "must be from 1 to {window}, as many as a block ack can name, is {mpdus} \
                 [802.11-2020 9.3.1.8]"
            );
            faults.fault("mpdus", message);
            return None;
        }
        let psdu = ampdu_of(mpdus, mpdu);
        if psdu > longest {
            let message = format!(
                "{mpdus} make a PSDU of {} bytes, more than the {} of 802.{}; at most {}",
                psdu.0,
                longest.0,
                standard.name(),
                mpdus_within(longest, mpdu)
            );
            faults.fault("mpdus", message);
            return None;
        }
        Some(psdu)
    }

    fn refuse_long_ppdu(
        &self,
        mode: &Mode,
        preamble: Preamble,
        parts: &Airtime,
        faults: &mut Faults,
    ) {
        let room = phy::psdu_within(mode, preamble, LONGEST_PPDU).unwrap_or_default();
        let lasts = format!(
            "the PPDU would last {} us, more than aPPDUMaxTime, {} us",
            us(parts.total()),
            us(LONGEST_PPDU)
        );
        let (path, most) = match (self.mpdus, mpdus_within(room, Bytes(self.psdu_bytes))) {
            (Some(mpdus), fit) if mpdus > 1 && fit > 0 => ("mpdus", fit),
            (Some(_), _) => ("psdu_bytes", (room - DELIMITER).0),
            (None, _) => ("psdu_bytes", room.0),
        };
        faults.fault(path, format!("{lasts}; at most {most}"));
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

fn us(duration: Duration) -> f64 {
    duration.as_micros_f64()
}

#[cfg(test)]
#[path = "airtime_tests.rs"]
mod tests;
