//! How a MAC header serves power saving.

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
    /// No bit of the header: the access point has kept the packet for a station that slept.
    pub const BUFFERED: Self = Self(8);

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
