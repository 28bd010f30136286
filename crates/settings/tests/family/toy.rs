use super::Sound;

/// A toy.
#[derive(Clone, Copy, Debug, PartialEq, settings::Settings)]
#[settings(name = "Toy")]
pub struct ToyConfig {
    /// How often it is heard.
    #[setting(default = 1, range = 1..=9)]
    pub squeaks: u32,
}

impl Sound for ToyConfig {
    fn sound(&self) -> String {
        vec!["squeak"; self.squeaks as usize].join(" ")
    }
}
