//! The physical layer: modes, PPDU durations, standards, error models and propagation.

mod airtime;
mod channel;
mod class;
mod edca;
pub mod error;
mod generation;
mod keys;
mod layout;
mod ldpc;
mod mode;
mod ofdm_airtime;
mod power;
pub mod propagation;
mod puncture;
mod standard;
mod standards;
mod tx_vector;

pub use airtime::{Airtime, LONGEST_PPDU, Preamble, airtime, longest_psdu, psdu_within};
pub use channel::{Channel, Primary};
pub use class::ModeClass;
pub use edca::{AccessCategory, Edca, Edition};
pub use generation::{
    DOT11A, DOT11AC, DOT11AX, DOT11AX_2_4, DOT11AX_6, DOT11B, DOT11BE, DOT11BE_2_4, DOT11BE_6,
    DOT11G, DOT11N, DOT11N_2_4, Generation, High, he,
};
pub use keys::McsKeys;
pub use mode::{CodeRate, Coding, Guard, Mode, Modulation, Occupied, Width};
pub use power::{Milliwatts, decibels, linear, noise, sinr};
pub use puncture::{Punctured, Puncturing, subchannels};
pub use standard::{Amendment, Slot, Standard};
pub use tx_vector::{Band, HeLtf, ModeFault, PpduTiming, TxVector};

#[cfg(test)]
mod tests;
