use super::{Draw, MUCH, SizeLaw, whole};
use kernel::Bytes;
use settings::Settings;

/// Exponential.
#[derive(Clone, Debug, PartialEq, Settings)]
pub struct Exponential {
    /// Mean.
    #[setting(key = "mean_bytes", default = 30_000, range = 1..=MUCH)]
    pub mean: Bytes,
}

impl SizeLaw for Exponential {
    fn draw(&self) -> Draw {
        let mean = self.mean.0 as f64;
        Draw::new(move |rng| whole(rng.exponential(mean)))
    }
}
