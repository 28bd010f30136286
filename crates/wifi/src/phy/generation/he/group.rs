//! PPDUs of several users: HE MU and HE TB (802.11ax-2021 clauses 27.3.4 and 27.3.12).
//!
//! **All users end together.** They have symbols, guard interval, HE-LTFs and packet extension in
//! common: the one with the longest data decides, and the others pad. A group is therefore computed
//! as a whole, and not as one PPDU for each user.
//!
//! With `ns3`, an HE-LTF lasts 8 µs whatever its type, there is no packet extension, data has BCC's
//! tail with LDPC too, and an HE TB PPDU ends with its last symbol for all who hear it.

use super::l_sig::{HeFormat, extension};
use super::load::{DataEnd, Load};
use super::ru::{Ru, RuSize};
use super::sig_b::{SigB, SigBMode};
use super::{HE, LIMITS, LtfPairs, SIG_A, SYMBOL, ltf_symbol, pick_coding};
use crate::phy::tx_vector::{check_pattern, fault, training_symbols};
use crate::phy::{
    Band, Coding, Guard, HeLtf, LONGEST_PPDU, ModeFault, PpduTiming, Punctured, Puncturing,
    TxVector, Width,
};
use kernel::{BitRate, Bytes, Duration};
use settings::{Said, said};

/// L-STF, L-LTF, L-SIG and RL-SIG (table 27-12).
const LEGACY: Duration = Duration::from_micros(8 + 8 + 4 + 4);
/// HE-STF of an HE MU PPDU.
const STF: Duration = Duration::from_micros(4);
/// HE-STF of an HE TB PPDU.
const STF_TB: Duration = Duration::from_micros(8);
/// The unit of packet extensions.
const EXTENSION_UNIT: u64 = 4000;
/// Packet extension in µs by the quarters of the last symbol that are filled, for a nominal packet
/// padding of 0, 8 and 16 µs (clause 27.3.13).
const EXTENSION_US: [[u64; 3]; 4] = [[0, 0, 4], [0, 0, 8], [0, 4, 12], [0, 8, 16]];
/// HE-LTF types with guard intervals of HE MU PPDUs (table 27-32).
const OF_MU: LtfPairs = &[
    (HeLtf::X2, Guard::Ns800),
    (HeLtf::X2, Guard::Ns1600),
    (HeLtf::X4, Guard::Ns800),
    (HeLtf::X4, Guard::Ns3200),
];
/// The same of HE TB PPDUs; 1x goes with 1600 ns for MU-MIMO over the whole channel only.
const OF_TB: LtfPairs = &[(HeLtf::X2, Guard::Ns1600), (HeLtf::X4, Guard::Ns3200)];

/// Nominal packet padding of a receiver: how long it may need to decode after the last symbol
/// (clause 27.3.13).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum NominalPadding {
    /// No time.
    #[default]
    Us0,
    /// 8 µs.
    Us8,
    /// 16 µs.
    Us16,
}

settings::numbered! {
    NominalPadding, "integer": 0 => Self::Us0, 8 => Self::Us8, 16 => Self::Us16
}

impl NominalPadding {
    /// The padding.
    pub const fn lasts(self) -> Duration {
        Duration::from_micros(match self {
            Self::Us0 => 0,
            Self::Us8 => 8,
            Self::Us16 => 16,
        })
    }

    /// The packet extension after data that fills so many quarters of its last symbol.
    pub fn extension(self, quarters: u8) -> Duration {
        let row = EXTENSION_US[usize::from(quarters.clamp(1, 4)) - 1];
        Duration::from_micros(row[self as usize])
    }
}

/// Who sends a PPDU of several users.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GroupFormat {
    /// The access point, to all users: an HE MU PPDU, with HE-SIG-B in this mode.
    Mu(SigBMode),
    /// Each user a part of it, at the same time: HE TB PPDUs.
    Tb,
}

/// The TXVECTOR parameters that all users of a PPDU have in common.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GroupVector {
    /// HE MU or HE TB.
    pub format: GroupFormat,
    /// Frequency band.
    pub band: Band,
    /// Bandwidth.
    pub width: Width,
    /// What of it is left out: of an HE MU PPDU, or of the answers to a Trigger frame all together.
    pub punctured: Punctured,
    /// Guard interval of the data; HE TB PPDUs have none of 800 ns.
    pub guard: Guard,
    /// Type of HE-LTF; by default 2x, and 4x with the long guard interval.
    pub ltf: Option<HeLtf>,
    /// Nominal packet padding, the longest of all receivers.
    pub padding: NominalPadding,
    /// Whether transmitters and receivers support 1024-QAM in resource units below 242 tones, which
    /// is optional (clause 9.4.2.248.3).
    pub small_1024_qam: bool,
    /// The source of the durations.
    pub timing: PpduTiming,
}

/// One user of a PPDU.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GroupUser {
    /// Size of its resource unit.
    pub size: RuSize,
    /// MCS index.
    pub mcs: u8,
    /// Spatial streams.
    pub streams: u8,
    /// Forward error correction; by default BCC where the mode has it.
    pub coding: Option<Coding>,
    /// Its PSDU.
    pub psdu: Bytes,
}

/// Why a PPDU of several users does not exist.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum GroupFault {
    /// A parameter is wrong.
    Parameter {
        /// The place of the user in the list; `None` if it is one that all have in common.
        user: Option<usize>,
        /// The parameter and the reason.
        fault: ModeFault,
    },
    /// It would last longer than [`LONGEST_PPDU`].
    TooLong {
        /// How long.
        lasts: Duration,
        /// The place of the user whose data ends last.
        user: usize,
        /// The longest PSDU of that user, and of others with the same mode, with which it does
        /// not, if there is one.
        room: Option<Bytes>,
    },
}

/// Durations of the fields of an HE MU or HE TB PPDU.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct GroupFields {
    /// L-STF, L-LTF, L-SIG and RL-SIG.
    pub legacy: Duration,
    /// HE-SIG-A.
    pub sig_a: Duration,
    /// HE-SIG-B of HE MU PPDUs.
    pub sig_b: Duration,
    /// HE-STF.
    pub stf: Duration,
    /// All HE-LTFs.
    pub ltf: Duration,
    /// Data.
    pub data: Duration,
    /// Packet extension.
    pub packet_extension: Duration,
    /// Signal extension at 2.4 GHz.
    pub signal_extension: Duration,
}

impl GroupFields {
    /// Everything before the data.
    pub fn preamble(&self) -> Duration {
        self.legacy + self.sig_a + self.sig_b + self.stf + self.ltf
    }

    /// The whole PPDU (TXTIME).
    pub fn total(&self) -> Duration {
        self.preamble() + self.data + self.packet_extension + self.signal_extension
    }
}

/// What one user has of a PPDU.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UserPart {
    /// Its resource unit.
    pub ru: Ru,
    /// Its data rate.
    pub rate: BitRate,
    /// Its code.
    pub coding: Coding,
    /// Symbols that its own data fills.
    pub symbols: u64,
    /// How long the PPDU goes on for the data of others.
    pub idle: Duration,
    /// Whole bytes of padding up to the common end.
    pub padding: Bytes,
}

/// A PPDU of several users.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GroupPpdu {
    /// Durations.
    pub fields: GroupFields,
    /// Where the data of all users ends; all quarters of the last symbol in ns-3.
    pub end: DataEnd,
    /// LENGTH of L-SIG; of HE TB PPDUs UL Length of the Trigger frame.
    pub length: u16,
    /// Whether the packet extension and the rounding of LENGTH make up a symbol (clause 27.3.13).
    pub pe_disambiguity: bool,
    /// When the PPDU ends for those who know LENGTH only; with ns-3's timing its own end.
    pub announced: Duration,
    /// HE-SIG-B of HE MU PPDUs.
    pub sig_b: Option<SigB>,
    /// The users, in the order in which they were given.
    pub users: Vec<UserPart>,
}

/// A PPDU before its length is known to be possible.
pub(super) struct Outline {
    pub(super) plan: Vec<Ru>,
    sig_b: Option<SigB>,
    pub(super) loads: Vec<Load>,
    end: DataEnd,
    pub(super) fields: GroupFields,
}

impl GroupVector {
    /// The PPDU of these users, whose resource units are placed from the lowest frequency.
    ///
    /// # Errors
    ///
    /// The parameter that no such PPDU has, or that it is too long.
    pub fn ppdu(&self, users: &[GroupUser]) -> Result<GroupPpdu, GroupFault> {
        let Outline { plan, sig_b, loads, end, fields } = self.outline(users)?;
        let lasts = fields.total();
        if lasts > LONGEST_PPDU {
            let ends = loads.iter().zip(users).map(|(load, user)| self.symbols(load, user.psdu));
            let user =
                ends.enumerate().max_by_key(|(_, symbols)| *symbols).map_or(0, |last| last.0);
            return Err(GroupFault::TooLong { lasts, user, room: self.room_of(users, user)? });
        }
        let length = self.he_format().length(lasts, self.band);
        let told = self.he_format().announced(length, self.band);
        let parts = plan.iter().zip(&loads).zip(users).map(|((ru, load), user)| {
            let symbols = self.symbols(load, user.psdu);
            UserPart {
                ru: *ru,
                rate: load.bit_rate(self.symbol()),
                coding: load.coding,
                symbols,
                idle: self.symbol() * (end.symbols - symbols),
                padding: Bytes(self.room(load, end).0.saturating_sub(user.psdu.0)),
            }
        });
        Ok(GroupPpdu {
            users: parts.collect(),
            end,
            length,
            pe_disambiguity: fields.packet_extension + (told - lasts) >= self.symbol(),
            announced: if self.is_ns3() { lasts } else { told },
            sig_b,
            fields,
        })
    }

    /// The longest PSDU of a user and of those with the same mode with which the PPDU lasts no
    /// longer than [`LONGEST_PPDU`]; `None` if it is too long in any case.
    fn room_of(&self, users: &[GroupUser], user: usize) -> Result<Option<Bytes>, GroupFault> {
        let mode = |each: &GroupUser| GroupUser { psdu: Bytes::ZERO, ..*each };
        let fits = |psdu| {
            let capped = |each: &GroupUser| {
                let most = if mode(each) == mode(&users[user]) { psdu } else { each.psdu.0 };
                GroupUser { psdu: Bytes(each.psdu.0.min(most)), ..*each }
            };
            let mut capped: Vec<GroupUser> = users.iter().map(capped).collect();
            capped[user].psdu = Bytes(psdu);
            self.outline(&capped).map(|outline| outline.fields.total() <= LONGEST_PPDU)
        };
        let (mut low, mut high) = (0, HE.longest_psdu.0);
        while low < high {
            let middle = (low + high).div_ceil(2);
            if fits(middle)? {
                low = middle;
            } else {
                high = middle - 1;
            }
        }
        Ok((low > 0).then_some(Bytes(low)))
    }

    /// What a responder makes of UL Length: symbols and packet extension of its HE TB PPDU with so
    /// many streams (equations 27-11 and 27-114). `None` if the preamble alone lasts longer, or the
    /// parameters are faulty.
    pub fn response(
        &self,
        length: u16,
        pe_disambiguity: bool,
        streams: u8,
    ) -> Option<(u64, Duration)> {
        let ltf = self.training().ok()? * training_symbols(streams);
        let preamble = LEGACY + SIG_A + STF_TB + ltf;
        let announced = HeFormat::Tb.announced(length, self.band) - extension(self.band);
        let room = announced.0.checked_sub(preamble.0)?;
        let symbol = self.symbol().0;
        let symbols = (room / symbol).checked_sub(u64::from(pe_disambiguity))?;
        let rest = room - symbols * symbol;
        let extension = Duration(rest / EXTENSION_UNIT * EXTENSION_UNIT);
        Some((symbols, if self.is_ns3() { Duration::ZERO } else { extension }))
    }

    pub(super) fn outline(&self, users: &[GroupUser]) -> Result<Outline, GroupFault> {
        let common = |fault| GroupFault::Parameter { user: None, fault };
        let ltf = self.training().map_err(common)?;
        // HE-SIG-A can tell more patterns of 160 MHz, with two separate parts left out.
        let whose = ["several users", "802.11ax-2021 table 27-20", "80 or 160"];
        check_pattern(self.channel(), whose).map_err(common)?;
        let plan = self.plan(users)?;
        let sig_b = self.sig_b(&plan).map_err(common)?;
        let loads = self.loads(users)?;
        let end = self.end(&loads, users.iter().map(|user| user.psdu));
        let longest = users.iter().map(|user| training_symbols(user.streams)).max().unwrap_or(0);
        let fields = GroupFields {
            legacy: LEGACY,
            sig_a: SIG_A,
            sig_b: sig_b.as_ref().map_or(Duration::ZERO, SigB::lasts),
            stf: if self.format == GroupFormat::Tb { STF_TB } else { STF },
            ltf: ltf * longest,
            signal_extension: extension(self.band),
            ..GroupFields::default()
        };
        let fields = self.with_data(fields, end);
        Ok(Outline { plan, sig_b, loads, end, fields })
    }

    /// The fields of a PPDU whose data ends here.
    pub(super) fn with_data(&self, fields: GroupFields, end: DataEnd) -> GroupFields {
        let packet_extension = match self.timing {
            PpduTiming::Standard => self.padding.extension(end.quarters),
            PpduTiming::Ns3 => Duration::ZERO,
        };
        GroupFields { data: self.symbol() * end.symbols, packet_extension, ..fields }
    }

    pub(super) fn he_format(&self) -> HeFormat {
        match self.format {
            GroupFormat::Mu(_) => HeFormat::Mu,
            GroupFormat::Tb => HeFormat::Tb,
        }
    }

    fn channel(&self) -> Puncturing {
        Puncturing { width: self.width, punctured: self.punctured }
    }

    pub(super) fn is_ns3(&self) -> bool {
        self.timing == PpduTiming::Ns3
    }

    pub(super) fn symbol(&self) -> Duration {
        SYMBOL + Duration(self.guard.ns())
    }

    /// Duration of one HE-LTF.
    pub(super) fn training(&self) -> Result<Duration, ModeFault> {
        if !LIMITS.widths.contains(&self.width) {
            let given = self.width.mhz();
            return fault("width_mhz", format!("HE is 20, 40, 80 or 160 MHz wide, not {given}"));
        }
        if self.band == Band::Ghz2_4 && self.width > Width::Mhz40 {
            let given = self.width.mhz();
            let message = "no more than 40 MHz fit into the 2.4 GHz band, not";
            return fault("width_mhz", format!("{message} {given} [annex E]"));
        }
        let (pairs, name) = match self.format {
            GroupFormat::Mu(_) => (OF_MU, "HE MU PPDUs"),
            GroupFormat::Tb => (OF_TB, "HE TB PPDUs"),
        };
        ltf_symbol(self.ltf, self.guard, pairs, name, self.is_ns3())
    }

    fn plan(&self, users: &[GroupUser]) -> Result<Vec<Ru>, GroupFault> {
        let sizes: Vec<RuSize> = users.iter().map(|user| user.size).collect();
        Ru::place(self.channel(), &sizes).map_err(|nth| {
            let (tones, mhz) = (sizes[nth].tones(), self.width.mhz());
            let said = match sizes[nth].number_in(self.channel()) {
                0 if !self.punctured.is_none() => said!(
                    "{tones} tones are wider than what is not punctured of {mhz} MHz",
                    "take fewer"
                ),
                0 => format!(
                    "{tones} tones are wider than a channel of {mhz} MHz [802.11ax-2021 27.3.2]"
                )
                .into(),
                fit => said!(
                    "there is no room for {tones} tones beside the others in {mhz} MHz, which has \
                     {fit} of that size [802.11ax-2021 27.3.2]",
                    "take fewer or smaller ones"
                ),
            };
            let fault = ModeFault { parameter: "ru", said };
            GroupFault::Parameter { user: Some(nth), fault }
        })
    }

    pub(super) fn sig_b(&self, plan: &[Ru]) -> Result<Option<SigB>, ModeFault> {
        let GroupFormat::Mu(mode) = self.format else { return Ok(None) };
        if let Some(sig_b) = SigB::of(self.width, plan, mode) {
            return Ok(Some(sig_b));
        }
        let message = format!(
            "must be from 0 to {}, without 2 and 5 for dual carrier modulation, is {} \
             [802.11ax-2021 27.3.11.8]",
            SigBMode::HIGHEST,
            mode.mcs
        );
        fault("sig_b_mcs", message)
    }

    fn loads(&self, users: &[GroupUser]) -> Result<Vec<Load>, GroupFault> {
        let load = |(nth, user): (usize, &GroupUser)| {
            self.load(user).map_err(|fault| GroupFault::Parameter { user: Some(nth), fault })
        };
        users.iter().enumerate().map(load).collect()
    }

    fn load(&self, user: &GroupUser) -> Result<Load, ModeFault> {
        let GroupUser { size, mcs, streams, .. } = *user;
        let vector = TxVector {
            mcs,
            streams,
            width: self.width,
            guard: self.guard,
            ..TxVector::of(crate::phy::ModeClass::He, self.band)
        };
        vector.check(&LIMITS)?;
        if mcs >= 10 && size < RuSize::Tones242 && !self.small_1024_qam {
            let message = Said::new(
                format!(
                    "{mcs} in {} tones takes 1024-QAM below 242 tones, which stations need not \
                     support [802.11ax-2021 9.4.2.248.3]",
                    size.tones()
                ),
                "take MCS 9, or say that they do",
            );
            return fault("mcs", message);
        }
        if !(1..=HE.longest_psdu.0).contains(&user.psdu.0) {
            let (most, given) = (HE.longest_psdu.0, user.psdu.0);
            return fault("psdu_bytes", format!("must be from 1 to {most}, is {given}"));
        }
        let coding = pick_coding(user.coding, size, mcs, streams)?;
        Ok(Load::new(size, mcs, streams, coding))
    }

    /// Symbols of one user's own data, without an extra segment.
    fn symbols(&self, load: &Load, psdu: Bytes) -> u64 {
        if self.is_ns3() { load.fractional_symbols(psdu) } else { load.end(psdu).symbols }
    }

    pub(super) fn room(&self, load: &Load, end: DataEnd) -> Bytes {
        if self.is_ns3() { load.fractional_room(end.symbols) } else { load.room(end) }
    }

    /// The common end: the latest of all, and an extra segment if one with LDPC needs it (equations
    /// 27-75 to 27-78).
    fn end(&self, loads: &[Load], psdus: impl Iterator<Item = Bytes>) -> DataEnd {
        let latest = self.latest(loads, psdus);
        let strained = !self.is_ns3() && loads.iter().any(|load| load.is_strained(latest));
        if strained { latest.next() } else { latest }
    }

    /// The latest end of all, without an extra segment.
    pub(super) fn latest(&self, loads: &[Load], psdus: impl Iterator<Item = Bytes>) -> DataEnd {
        let all = loads.iter().zip(psdus);
        if self.is_ns3() {
            let symbols = all.map(|(load, psdu)| load.fractional_symbols(psdu)).max();
            return DataEnd { symbols: symbols.unwrap_or(0), quarters: 4 };
        }
        let mut latest = None;
        let mut before: Option<(&Load, Bytes)> = None;
        for (load, psdu) in all {
            // No longer than one that is as fast.
            if before.is_none_or(|(same, longest)| psdu > longest || same != load) {
                latest = latest.max(Some(load.end(psdu)));
                before = Some((load, psdu));
            }
        }
        latest.unwrap_or(DataEnd { symbols: 0, quarters: 4 })
    }
}
