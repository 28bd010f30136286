use super::Sound;

/// A cat.
#[derive(Clone, Copy, Debug, PartialEq, settings::Settings)]
#[settings(name = "Cat")]
pub struct CatConfig {}

impl Sound for CatConfig {
    fn sound(&self) -> String {
        "meow".to_owned()
    }
}
