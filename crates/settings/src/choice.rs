//! Choices: one of several variants, by its name alone or with a table.
//!
//! `registry!` makes the choice among files of one kind, controllers or queue disciplines, a line
//! each: schema, messages, scripts and pages list what the registry lists. The cargo feature `toy`
//! adds one of each kind, and `tests/test_toy.py` finds each in all these places.

use crate::check::{Faults, VariantCheck};
use crate::fault::Fault;
use crate::number::number;
use crate::path::Path;
use crate::schema::Definitions;
use crate::setting::Setting;
use crate::tree::Node;
use crate::unit::Unit;
use serde_json::{Map, Value as Json, json};

/// One of several variants.
pub trait Choice: Sized {
    /// Its name in the schema.
    const TITLE: &'static str;
    /// Its description.
    const MEANING: &'static str;
    /// The names of the variants.
    const NAMES: &'static [&'static str];

    /// The names that may be written: all, except in a choice among some variants of another
    /// choice.
    fn names() -> &'static [&'static str] {
        Self::NAMES
    }

    /// The name of this variant.
    fn name(&self) -> &'static str;

    /// Reads the variant that is named.
    ///
    /// # Errors
    /// All faults of shape in its table.
    fn pick(named: &Named<'_>) -> Result<Self, Fault>;

    /// Writes this variant, with its table.
    fn give(&self) -> Json;

    /// Describes every variant.
    fn describe(variants: &mut Variants, definitions: &mut Definitions);

    /// Checks the numbers in a variant's table.
    fn check_variant(variant: VariantCheck<'_>);

    /// Checks rules that relate the keys of this variant's table.
    fn relate_variant(&self, at: &Path, faults: &mut Faults);
}

/// Derives from [`Choice`]: reading, writing, schema and checks.
#[macro_export]
macro_rules! setting_by_choice {
    ($Enum:ty) => {
        $crate::defined_in_schema!(
            $Enum,
            <Self as $crate::Choice>::TITLE,
            $crate::describe_choice::<Self>
        );

        impl $crate::Setting for $Enum {
            fn read(
                node: &$crate::Node,
                _: $crate::Unit,
            ) -> ::core::result::Result<Self, $crate::Fault> {
                <Self as $crate::Choice>::pick(&node.named(<Self as $crate::Choice>::names())?)
            }

            fn write(&self, _: $crate::Unit) -> $crate::Json {
                $crate::Choice::give(self)
            }

            $crate::refers_to_definition!();

            fn shown(&self, _: $crate::Unit) -> ::core::option::Option<$crate::Json> {
                Some($crate::Json::from($crate::Choice::name(self)))
            }

            fn check(node: &$crate::Node, check: $crate::Check<'_>) {
                if let Some(variant) = check.variant(node) {
                    <Self as $crate::Choice>::check_variant(variant);
                }
            }

            fn relate(&self, at: &$crate::Path, faults: &mut $crate::Faults) {
                $crate::Choice::relate_variant(self, at, faults);
            }
        }
    };
}

/// A variant by its name, with its table if one is given.
#[derive(Debug)]
pub struct Named<'a> {
    /// Its name, which is one of the choice's.
    pub name: &'a str,
    pub(crate) table: Option<&'a Node>,
}

impl Named<'_> {
    /// Reads a variant that is a plain name.
    ///
    /// # Errors
    /// A fault if there is a table with keys.
    pub fn alone(&self) -> Result<(), Fault> {
        match self.table {
            Some(node) if node.value != Node::EMPTY.value => {
                let message = format!("has no settings, but here {}", node.described());
                Err(Fault::here(message).in_key(self.name))
            }
            _ => Ok(()),
        }
    }

    /// Reads a variant's table.
    ///
    /// # Errors
    /// All faults of shape in it.
    pub fn read<T: Setting>(&self) -> Result<T, Fault> {
        match self.table {
            Some(node) => T::read(node, Unit::NONE).map_err(|fault| fault.in_key(self.name)),
            None => T::read(&Node::EMPTY, Unit::NONE),
        }
    }
}

/// Writes a variant with its table, or only its name if the table has no keys.
pub fn write_variant<T: Setting>(name: &'static str, table: &T) -> Json {
    if T::is_empty_table() {
        return Json::from(name);
    }
    Json::Object(Map::from_iter([(name.to_owned(), table.write(Unit::NONE))]))
}

/// The schema of a choice.
pub fn describe_choice<T: Choice>(definitions: &mut Definitions) -> Json {
    let mut variants = Variants::default();
    T::describe(&mut variants, definitions);
    variants.schema(T::MEANING)
}

/// The descriptions of a choice's variants.
#[derive(Debug, Default)]
pub struct Variants {
    /// By name.
    schemas: Vec<(&'static str, Json)>,
    /// Those that may also be written by their name alone, with all defaults.
    tables: Vec<&'static str>,
}

impl Variants {
    /// A variant that is a plain name.
    pub fn name(&mut self, name: &'static str, meaning: &str) {
        let schema = json!({ "description": meaning, "type": "string", "const": name });
        self.schemas.push((name, schema));
    }

    /// Keeps only those with these names.
    pub fn retain(&mut self, names: &[&str]) {
        self.schemas.retain(|(name, _)| names.contains(name));
        self.tables.retain(|name| names.contains(name));
    }

    /// A variant with a table.
    pub fn table<T: Setting>(
        &mut self,
        name: &'static str,
        meaning: &str,
        definitions: &mut Definitions,
    ) {
        let table = T::schema(Unit::NONE, &crate::Range::ANY, definitions);
        let meaning = match meaning {
            "" => definitions.description(&table).unwrap_or_default(),
            meaning => meaning,
        };
        self.describe(name, meaning, &table, T::is_empty_table());
    }

    fn describe(&mut self, name: &'static str, meaning: &str, table: &Json, is_empty: bool) {
        if is_empty {
            return self.name(name, meaning);
        }
        self.tables.push(name);
        let schema = json!({
            "description": meaning,
            "type": "object",
            "properties": { name: table },
            "required": [name],
            "additionalProperties": false,
        });
        self.schemas.push((name, schema));
    }

    fn schema(self, meaning: &str) -> Json {
        let mut schemas: Vec<_> = self.schemas.into_iter().map(|(_, schema)| schema).collect();
        if !self.tables.is_empty() {
            schemas.push(json!({
                "description": "The name alone, with all defaults.",
                "type": "string",
                "enum": self.tables,
            }));
        }
        json!({ "description": meaning, "oneOf": schemas })
    }
}

/// A choice among some numbers, each of which stands for a value of the type.
///
/// ```ignore
/// settings::numbered! { Width, "integer": 20 => Self::Mhz20, 40 => Self::Mhz40 }
/// ```
#[macro_export]
macro_rules! numbered {
    ($Type:ty, $kind:literal: $($number:literal => $value:expr),* $(,)?) => {
        impl $crate::Setting for $Type {
            fn read(
                node: &$crate::Node,
                _: $crate::Unit,
            ) -> ::core::result::Result<Self, $crate::Fault> {
                let given = node.number()?;
                $(if given == f64::from($number) {
                    return Ok($value);
                })*
                Err($crate::not_among(&[$(f64::from($number)),*], given))
            }

            fn write(&self, _: $crate::Unit) -> $crate::Json {
                $(if *self == $value {
                    return $crate::Json::from($number);
                })*
                $crate::Json::Null
            }

            fn schema(
                _: $crate::Unit,
                _: &$crate::Range,
                _: &mut $crate::Definitions,
            ) -> $crate::Json {
                $crate::describe_numbers($kind, &[$($crate::Json::from($number)),*])
            }
        }
    };
}

/// The schema of a choice among some numbers.
#[doc(hidden)]
pub fn describe_numbers(kind: &str, numbers: &[Json]) -> Json {
    json!({ "type": kind, "enum": numbers })
}

/// Why a number is not one of these.
#[doc(hidden)]
pub fn not_among(numbers: &[f64], given: f64) -> Fault {
    let numbers: Vec<String> = numbers.iter().map(|one| number(*one)).collect();
    let (last, first) = numbers.split_last().map_or(("", &[][..]), |(last, rest)| (last, rest));
    Fault::here(format!("is {} or {last}, not {}", first.join(", "), number(given)))
}

/// An enum whose variants are files: each line has a file, the variant, and the settings that the
/// file declares. `get` returns the settings as their common trait, and `all` one value of each
/// variant.
///
/// ```ignore
/// settings::registry! {
///     /// Congestion control.
///     #[settings(name = "Control")]
///     pub enum ControlSettings: Controller = NewReno;
///     cubic: Cubic(CubicConfig),
///     new_reno: NewReno(NewRenoConfig),
/// }
/// ```
///
/// The name of a variant in a scenario is its own in snake case, which is the name of its file. Its
/// description is the comment of its settings.
#[macro_export]
macro_rules! registry {
    (
        $(#[$meta:meta])*
        pub enum $Name:ident: $Trait:path = $Default:ident;
        $($(#[$line:meta])* $file:ident: $Variant:ident($Settings:ident)),* $(,)?
    ) => {
        $($(#[$line])* mod $file; $(#[$line])* pub use $file::*;)*

        #[derive(Clone, Debug, PartialEq, $crate::Choice)]
        $(#[$meta])*
        #[allow(missing_docs, dead_code)]
        pub enum $Name {
            $($(#[$line])* $Variant($Settings)),*
        }

        impl Default for $Name {
            fn default() -> Self {
                Self::$Default(Default::default())
            }
        }

        #[allow(dead_code)]
        impl $Name {
            /// One of each variant, with its defaults.
            pub fn all() -> Vec<Self> {
                vec![$($(#[$line])* Self::$Variant(Default::default())),*]
            }

            /// The settings as their common trait.
            pub fn get(&self) -> &dyn $Trait {
                match self {
                    $($(#[$line])* Self::$Variant(settings) => settings),*
                }
            }

            /// The same without a file's own trait implementation, if the settings are the whole
            /// implementation.
            pub fn boxed(&self) -> ::std::boxed::Box<dyn $Trait> {
                match self {
                    $($(#[$line])* Self::$Variant(settings) => {
                        ::std::boxed::Box::new(settings.clone())
                    })*
                }
            }
        }
    };
}
