//! Half of everything.

use settings::Settings;
use wifi::phy::error::{Chunk, ErrorModel};

/// Half of all chunks are understood, whatever the ratio.
#[derive(Clone, Copy, Debug, PartialEq, Settings)]
pub struct Coin {}

impl ErrorModel for Coin {
    fn success(&self, _: &Chunk) -> f64 {
        0.5
    }
}
