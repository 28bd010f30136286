//! The generations of the PHY, each in a file: its modes, PPDU formats, preambles, limits of
//! aggregation, constants and standards. What is not in such a file asks the [`Generation`].
//!
//! A generation is its file, its lines in the list of `class.rs`, and its standards in the list of
//! `standards.rs`. The formats of radiotap, the checker and the tests name what they describe.

mod dsss;
mod eht;
pub mod he;
mod ht;
mod ofdm;
mod vht;

pub use dsss::DOT11B;
pub use eht::{DOT11BE, DOT11BE_2_4, DOT11BE_6};
pub use he::{DOT11AX, DOT11AX_2_4, DOT11AX_6};
pub use ht::{DOT11N, DOT11N_2_4};
pub use ofdm::{DOT11A, DOT11G};
pub use vht::DOT11AC;

use super::class::{ModeClass, classes};
use super::ldpc::Padding;
use super::{Mode, ModeFault, TxVector};
use kernel::{Bytes, Duration};
use wire::Format;

/// What others must know of a generation of the PHY.
#[derive(Debug)]
pub struct Generation {
    /// The format of its PPDUs in records; DSSS has two.
    pub format: Format,
    /// The longest PSDU at any rate (aPSDUMaxLength).
    pub longest_psdu: Bytes,
    /// Duration of an OFDM symbol without its guard interval.
    pub symbol: Duration,
    /// What only HT and later generations have.
    pub high: Option<High>,
}

/// What HT and later generations have: MCS, streams, bandwidths and A-MPDUs.
#[derive(Debug)]
pub struct High {
    /// The mode of a vector, if it exists.
    pub(super) mode: fn(&TxVector) -> Result<Mode, ModeFault>,
    /// How LDPC fills the last symbol of a mode.
    pub(super) padding: fn(&Mode) -> Padding,
    /// The number of MPDUs that one BlockAck can acknowledge, and so the most in an A-MPDU (clause
    /// 9.3.1.8.3).
    pub block_ack_window: u16,
    /// The longest MPDU in an A-MPDU (table 9-25).
    pub longest_mpdu: Bytes,
    /// The longest A-MSDU (table 9-25).
    pub longest_amsdu: Bytes,
    /// Whether an MPDU alone in its PPDU has a delimiter (S-MPDU, clause 10.12.8).
    pub delimits_single: bool,
    /// Whether the number of an MCS counts the streams too, eight for each.
    pub counts_streams: bool,
    /// Whether a receiver detects frames in secondary channels, and not only energy.
    pub detects_secondary: bool,
    /// Whether its PPDUs have an HE-LTF or EHT-LTF of several types, and a packet extension.
    pub has_extension: bool,
    /// How long after the begin of a PPDU its BSS color is known; `None` if it tells none.
    pub color_after: Option<Duration>,
    /// Whether stations may agree on target wake times with their access point.
    pub has_wake_times: bool,
}

macro_rules! generations {
    ($($(#[$doc:meta])+ $class:ident => $of:path,)+) => {
        impl ModeClass {
            /// What others must know of it.
            pub const fn generation(self) -> &'static Generation {
                match self {
                    $(Self::$class => &$of,)+
                }
            }
        }
    };
}

classes!(generations);

impl ModeClass {
    /// Whether the class is HT or later: with MCS, streams, bandwidths and A-MPDUs.
    pub const fn is_high(self) -> bool {
        self.high().is_some()
    }

    /// What only HT and later classes have.
    pub const fn high(self) -> Option<&'static High> {
        self.generation().high.as_ref()
    }
}
