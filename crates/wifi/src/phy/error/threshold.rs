//! Reception by an SINR threshold, as in ns-2.

use super::{ErrorModel, SinrChunk};
use kernel::Db;
use settings::Settings;

/// All bits are decoded from this ratio on, and none below it, as in ns-2.
#[derive(Clone, Copy, Debug, PartialEq, Settings)]
pub struct Threshold {
    /// The least ratio in decibels; in ns-2 the capture threshold (`CPThresh_`).
    #[setting(key = "sinr_db", default = 10.0, range = -20.0..=60.0)]
    pub sinr: Db,
}

impl ErrorModel for Threshold {
    fn success(&self, chunk: &SinrChunk) -> f64 {
        if chunk.bits == 0 || chunk.sinr >= self.sinr { 1.0 } else { 0.0 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::phy::DOT11B;

    #[test]
    fn it_is_a_step() {
        let (mode, threshold) = (DOT11B.fastest(), Threshold::default());
        let success =
            |sinr| threshold.success(&SinrChunk { mode: &mode, sinr: Db(sinr), bits: 12_000 });
        assert_eq!((success(9.999), success(10.0)), (0.0, 1.0));
    }
}
