//! An error model for the test of extensions: half of all chunks.

use super::{ErrorModel, SinrChunk};
use settings::Settings;

/// Half of all chunks are decoded, at any ratio.
#[derive(Clone, Copy, Debug, PartialEq, Settings)]
pub struct ToyErrorsConfig {}

impl ErrorModel for ToyErrorsConfig {
    fn success(&self, _: &SinrChunk) -> f64 {
        0.5
    }
}
