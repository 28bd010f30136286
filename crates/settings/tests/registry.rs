//! A family of extensions: one file and one line each.

use serde_json::json;
use settings::{Check, Choice, Defined, Faults, Node, Path, Root, Setting, Settings};

/// What all of the family can do.
pub trait Sound {
    /// What is heard.
    fn sound(&self) -> String;
}

/// Animals, one file each.
pub mod family {
    use super::Sound;

    settings::registry! {
        /// An animal.
        #[settings(name = "Animal")]
        pub enum AnimalSettings: Sound = Cat;
        cat: Cat(CatConfig),
        toy: Toy(ToyConfig),
    }
}

use family::{AnimalSettings, ToyConfig};

/// Where an animal lives.
#[derive(Clone, Debug, PartialEq, Settings)]
struct House {
    /// Who lives there.
    animal: AnimalSettings,
    /// Who visits.
    guest: Guest,
}

impl Root for House {
    const SHORT_FORMS: &'static [(&'static str, &'static str)] = &[];
}

/// An animal that makes no noise by itself.
#[derive(Clone, Debug, Default, PartialEq)]
struct Guest(AnimalSettings);

impl Choice for Guest {
    const TITLE: &'static str = "Guest";
    const MEANING: &'static str = "A quiet animal.";
    const VARIANTS: &'static [settings::Variant] = AnimalSettings::VARIANTS;
    const NAMES: &'static [&'static str] = AnimalSettings::NAMES;

    fn names() -> &'static [&'static str] {
        &["cat"]
    }
    fn name(&self) -> &'static str {
        self.0.name()
    }
    fn pick(named: &settings::Named<'_>) -> Result<Self, settings::Fault> {
        AnimalSettings::pick(named).map(Self)
    }
    fn inner(&self) -> Option<&dyn settings::AnySetting> {
        self.0.inner()
    }
}

settings::setting_by_choice!(Guest);

fn read(text: &str) -> Result<House, String> {
    settings::read(&Node::from_toml(text).unwrap()).map_err(|issues| issues[0].with_line())
}

#[test]
fn a_toy_is_read_with_its_settings_and_makes_its_machine() {
    let house = read("animal.toy.squeaks = 2").unwrap();
    assert_eq!(house.animal, AnimalSettings::Toy(ToyConfig { squeaks: 2 }));
    assert_eq!(house.animal.get().sound(), "squeak squeak");
    let sounds: Vec<_> = AnimalSettings::all().iter().map(|animal| animal.get().sound()).collect();
    assert_eq!(sounds, ["meow", "squeak"]);
}

#[test]
fn a_toy_is_found_in_schema_and_messages() {
    let schema = settings::schema::<House>();
    let toy = json!({ "type": "integer", "minimum": 1, "maximum": 9, "default": 1,
                      "description": "How often it is heard." });
    assert_eq!(schema["$defs"]["Toy"]["properties"]["squeaks"], toy);
    let animals = &schema["$defs"]["Animal"]["oneOf"];
    assert_eq!(animals[1]["description"], "A toy.");
    assert_eq!(
        read("animal = 'toyy'").unwrap_err(),
        "animal (line 1): must be one of \"cat\", \"toy\", is \"toyy\"; did you mean \"toy\"?"
    );
}

#[test]
fn a_toy_is_set_by_its_path_and_checked() {
    let (path, root) = (Path::parse("animal.toy.squeaks").unwrap(), Path::default());
    let value = settings::value_of(&path, "10").unwrap();
    let (tree, _) = settings::set::<House>(&Node::EMPTY, &path, &value).unwrap();
    let mut faults = Faults::default();
    House::check(&tree, Check::new(&root, &mut faults));
    let message = "animal.toy.squeaks: must be from 1 to 9, is 10";
    assert_eq!(faults.0.iter().map(ToString::to_string).collect::<Vec<_>>(), [message]);
}

#[test]
fn a_choice_may_be_among_some_variants_of_another() {
    assert_eq!(read("guest = 'toy'").unwrap_err(), "guest (line 1): must be \"cat\", is \"toy\"");
    let schema = Guest::definition(&mut settings::Definitions::default());
    let variants = schema["oneOf"].as_array().unwrap();
    assert_eq!(variants.len(), 1, "{schema}");
    assert_eq!(variants[0]["const"], "cat");
}

/// Numbers, a fixed count of them.
#[derive(Clone, Copy, Debug, PartialEq, Settings)]
struct Steps {
    /// Where they are.
    #[setting(default = [1, 2], range = 1..=9)]
    at: [u32; 2],
}

#[test]
fn a_list_of_fixed_length_says_so() {
    let read = |text: &str| settings::read::<Steps>(&Node::from_toml(text).unwrap());
    assert_eq!(read("at = [3, 4]").unwrap(), Steps { at: [3, 4] });
    let message = "at (line 1): takes 2 values, has 1";
    assert_eq!(read("at = [3]").unwrap_err()[0].with_line(), message);
    let schema = settings::schema::<Steps>();
    let items = json!({ "type": "integer", "minimum": 1, "maximum": 9 });
    assert_eq!(
        schema["properties"]["at"],
        json!({ "type": "array", "items": items, "minItems": 2, "maxItems": 2,
                "description": "Where they are.", "default": [1, 2] })
    );
}
