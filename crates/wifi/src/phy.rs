//! The physical layer: modes, PPDU durations, standards, error models and propagation.

mod airtime;
mod channel;
mod edca;
pub mod error;
mod he;
mod ht;
mod keys;
mod layout;
mod ldpc;
mod mode;
mod power;
pub mod propagation;
mod standard;
mod tx_vector;
mod vht;

pub use airtime::{Airtime, LONGEST_PPDU, Preamble, airtime, longest_psdu, psdu_within};
pub use channel::{Channel, Primary};
pub use edca::{AccessCategory, Edca, Edition};
pub use keys::McsKeys;
pub use mode::{CodeRate, Guard, Mode, ModeClass, Modulation, Width};
pub use power::{Milliwatts, decibels, linear, noise, sinr};
pub use standard::{
    Amendment, DOT11A, DOT11AC, DOT11AX, DOT11AX_2_4, DOT11B, DOT11G, DOT11N, DOT11N_2_4, Slot,
    Standard,
};
pub use tx_vector::{Band, Coding, HeLtf, ModeFault, PpduTiming, TxVector};

#[cfg(test)]
mod tests;
