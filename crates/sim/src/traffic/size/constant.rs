use super::{Draw, MUCH, SizeLaw};
use kernel::Bytes;
use settings::Settings;

/// All sizes are equal.
#[derive(Clone, Debug, PartialEq, Settings)]
pub struct Constant {
    /// Size in bytes.
    #[setting(key = "bytes", default = 30_000, range = 1..=MUCH)]
    pub size: Bytes,
}

impl SizeLaw for Constant {
    fn draw(&self) -> Draw {
        let size = self.size;
        Draw::new(move |_| size)
    }
}
