//! Frames that the MAC sends for itself, without an IP packet.

use crate::FrameKind;

/// A frame of the MAC that carries no IP packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Management {
    /// A beacon of an access point (802.11-2020 clause 9.3.3.2).
    Beacon(Beacon),
    /// A Null frame: its Power Management bit says whether its transmitter saves power (clause
    /// 9.3.2.1.2).
    Null {
        /// That bit.
        saves_power: bool,
    },
    /// A `QoS` Null frame: a trigger frame of a station, or of an access point the end of a service
    /// period.
    QosNull {
        /// Whether it ends a service period.
        ends_period: bool,
    },
    /// A PS-Poll of the station with this AID (clause 9.3.1.5).
    PsPoll(u8),
    /// An Authentication frame with this transaction sequence number: 1 of a station, 2 of the
    /// access point that answers (clause 9.3.3.11).
    Authentication(u8),
    /// A Reassociation Request frame (clause 9.3.3.7).
    ReassociationRequest {
        /// The radio of the access point with which the station is associated.
        current: u32,
    },
    /// A Reassociation Response frame, which accepts the station (clause 9.3.3.8).
    ReassociationResponse,
}

/// What changes from beacon to beacon, or differs between networks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Beacon {
    /// The time between two TBTTs in time units of 1024 us (clause 9.4.1.3).
    pub interval: u16,
    /// After how many further beacons the next DTIM comes; 0: this one is a DTIM (clause 9.4.2.5).
    pub dtim_count: u8,
    /// How many beacon intervals lie between two DTIMs.
    pub dtim_period: u8,
    /// The stations for which the access point buffers frames: bit n stands for the AID n + 1.
    pub tim: u64,
    /// Whether the access point buffers group addressed frames, which follow the DTIM.
    pub has_group: bool,
}

impl Beacon {
    /// How many stations a TIM has room for.
    pub const STATIONS: u32 = 64;

    /// Whether the access point buffers frames for the station with this AID.
    pub const fn announces(&self, aid: u8) -> bool {
        self.tim >> (aid - 1) & 1 == 1
    }
}

impl Management {
    /// The bits by which it serves power saving.
    pub const fn power_bits(&self) -> PowerBits {
        match self {
            Self::Beacon(_)
            | Self::Authentication(_)
            | Self::ReassociationRequest { .. }
            | Self::ReassociationResponse => PowerBits::NONE,
            Self::Null { saves_power } => {
                PowerBits::NONE.and_if(*saves_power, PowerBits::POWER_MANAGEMENT)
            }
            Self::QosNull { ends_period: true } => PowerBits::EOSP,
            Self::QosNull { ends_period: false } | Self::PsPoll(_) => PowerBits::POWER_MANAGEMENT,
        }
    }

    /// The kind of its frame.
    pub const fn kind(&self) -> FrameKind {
        match self {
            Self::Beacon(_) => FrameKind::Beacon,
            Self::Null { .. } => FrameKind::Null,
            Self::QosNull { .. } => FrameKind::QosNull,
            Self::PsPoll(_) => FrameKind::PsPoll,
            Self::Authentication(_) => FrameKind::Authentication,
            Self::ReassociationRequest { .. } => FrameKind::ReassociationRequest,
            Self::ReassociationResponse => FrameKind::ReassociationResponse,
        }
    }
}

/// Bits of a MAC header by which stations save power.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PowerBits(u8);

impl PowerBits {
    /// None of them.
    pub const NONE: Self = Self(0);
    /// Power Management: the transmitter saves power (802.11-2020 clause 9.2.4.1.7).
    pub const POWER_MANAGEMENT: Self = Self(1);
    /// More Data: the access point buffers further frames for the receiver (clause 9.2.4.1.8).
    pub const MORE_DATA: Self = Self(2);
    /// EOSP: the frame ends the service period (clause 9.2.4.5.3).
    pub const EOSP: Self = Self(4);

    /// Whether these bits are set.
    pub const fn has(self, bits: Self) -> bool {
        self.0 & bits.0 == bits.0
    }

    /// These bits, and others where a condition holds.
    #[must_use]
    pub const fn and_if(self, condition: bool, bits: Self) -> Self {
        if condition { Self(self.0 | bits.0) } else { self }
    }
}
