//! Trigger frames (802.11ax-2021 clause 9.3.1.22): their types, their lengths and what they say.

use kernel::Bytes;

/// Frame Control, Duration, RA, TA.
const HEADER: Bytes = Bytes(2 + 2 + 6 + 6);
/// Common Info.
const COMMON_INFO: Bytes = Bytes(8);
/// User Info without what depends on the type.
const USER_INFO: u64 = 5;
/// The frame check sequence at the end of each frame (802.11-2020 clause 9.2.4.8).
pub const FCS: Bytes = Bytes(4);

/// The type of a Trigger frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TriggerKind {
    /// Asks for data.
    Basic,
    /// Beamforming Report Poll.
    Bfrp,
    /// Asks several stations for a BlockAck.
    MuBar,
    /// Asks several stations for a CTS.
    MuRts,
    /// Buffer Status Report Poll.
    Bsrp,
    /// Group-cast with retries: asks for BlockAcks of group-addressed frames.
    GcrMuBar,
    /// Bandwidth Query Report Poll.
    Bqrp,
    /// NDP Feedback Report Poll, which addresses a range of stations.
    Nfrp,
}

impl TriggerKind {
    /// All of them, in the order of their codes.
    pub const ALL: [Self; 8] = [
        Self::Basic,
        Self::Bfrp,
        Self::MuBar,
        Self::MuRts,
        Self::Bsrp,
        Self::GcrMuBar,
        Self::Bqrp,
        Self::Nfrp,
    ];

    /// The value of the Trigger Type subfield.
    pub const fn code(self) -> u8 {
        self as u8
    }

    /// Its name in the standard.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Basic => "Basic",
            Self::Bfrp => "BFRP",
            Self::MuBar => "MU-BAR",
            Self::MuRts => "MU-RTS",
            Self::Bsrp => "BSRP",
            Self::GcrMuBar => "GCR MU-BAR",
            Self::Bqrp => "BQRP",
            Self::Nfrp => "NFRP",
        }
    }

    /// Bytes of each User Info that depend on the type.
    const fn dependent(self) -> u64 {
        match self {
            // Spacing, TIDs, preferred AC.
            Self::Basic | Self::Bfrp => 1,
            // BAR Control and BAR Information.
            Self::MuBar => 4,
            _ => 0,
        }
    }

    /// The length of the frame to so many stations, without padding, FCS included; an NFRP has one
    /// User Info for all.
    pub const fn bytes(self, stations: u64) -> Bytes {
        let common = if matches!(self, Self::GcrMuBar) { 4 } else { 0 };
        let infos = if matches!(self, Self::Nfrp) { 1 } else { stations };
        let user = USER_INFO + self.dependent();
        Bytes(HEADER.0 + COMMON_INFO.0 + common + user * infos + FCS.0)
    }
}

/// What a Trigger frame says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Trigger {
    /// Its type.
    pub kind: TriggerKind,
    /// What the answers of all stations have in common.
    pub common: CommonInfo,
    /// The stations.
    pub users: Vec<UserInfo>,
}

/// What the answers of all stations have in common, in the codes of the Common Info field.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CommonInfo {
    /// UL Length: the LENGTH of the answers.
    pub length: u16,
    /// UL BW.
    pub bandwidth: u8,
    /// GI And HE-LTF Type.
    pub guard_ltf: u8,
    /// Number Of HE-LTF Symbols.
    pub ltfs: u8,
    /// LDPC Extra Symbol Segment.
    pub ldpc_extra: bool,
    /// Pre-FEC Padding Factor.
    pub pre_fec: u8,
    /// PE Disambiguity.
    pub pe_disambiguity: bool,
}

impl CommonInfo {
    /// The field.
    pub fn bits(&self, kind: TriggerKind) -> u64 {
        /// CS Required: stations answer only if they find the medium idle (clause 26.5.2.5).
        const CS_REQUIRED: u64 = 1 << 17;
        /// UL HE-SIG-A2 Reserved.
        const SIG_A2: u64 = 0x1ff << 54;
        u64::from(kind.code())
            | u64::from(self.length) << 4
            | CS_REQUIRED
            | u64::from(self.bandwidth) << 18
            | u64::from(self.guard_ltf) << 20
            | u64::from(self.ltfs) << 23
            | u64::from(self.ldpc_extra) << 27
            | u64::from(self.pre_fec) << 34
            | u64::from(self.pe_disambiguity) << 36
            | SIG_A2
    }
}

/// What a Trigger frame says to a station, in the codes of the User Info field.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct UserInfo {
    /// AID12: the number of its radio. 0 is for all: resource units for random access (RA-RUs).
    pub aid: u16,
    /// RU Allocation.
    pub ru: u8,
    /// UL FEC Coding Type: LDPC.
    pub ldpc: bool,
    /// UL HE-MCS.
    pub mcs: u8,
    /// Its spatial streams.
    pub streams: u8,
    /// With AID12 0: how many RA-RUs of this size there are, from that of RU Allocation upwards.
    pub random: u8,
    /// In a MU-BAR: the first sequence number that it asks for.
    pub start: u16,
}

impl UserInfo {
    /// The part that does not depend on the type, in five bytes.
    pub fn bits(&self) -> u64 {
        /// UL Target RSSI: as strong as the station can. A cell knows no powers.
        const FULL_POWER: u64 = 127;
        // SS Allocation, or RA-RU Information: the number less one, and none in later frames.
        let allocated = match self.aid {
            0 => u64::from(self.random.saturating_sub(1)) << 26,
            _ => u64::from(self.streams.saturating_sub(1)) << 29,
        };
        u64::from(self.aid)
            | u64::from(self.ru) << 12
            | u64::from(self.ldpc) << 20
            | u64::from(self.mcs) << 21
            | allocated
            | FULL_POWER << 32
    }
}
