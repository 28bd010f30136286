//! Cipher suites, by the bytes that they add to a frame.

use kernel::Bytes;
use settings::Choice;

/// The pairwise and group cipher suite of data frames (802.11-2020 clause 9.4.2.24.2).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Choice)]
pub enum Cipher {
    /// Frames are not encrypted.
    #[default]
    None,
    /// CCMP-128, as of WPA2: a header of 8 bytes and a MIC of 8 in each MPDU with data (clause
    /// 12.5.3.2).
    Ccmp,
}

impl Cipher {
    /// Bytes that it adds to an MPDU with data.
    pub fn overhead(self) -> Bytes {
        match self {
            Self::None => Bytes::ZERO,
            Self::Ccmp => Bytes(8 + 8),
        }
    }
}
