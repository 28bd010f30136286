//! Choices: one of several variants, by its name alone or with a table.
//!
//! `registry!` makes the choice among files of one kind, controllers or queue disciplines, a line
//! each: schema, messages, scripts and pages list what the registry lists. The cargo feature `toy`
//! adds one of each kind, and `tests/test_toy.py` finds each in all these places.

use crate::any::AnySetting;
use crate::check::Check;
use crate::fault::Fault;
use crate::number::number;
use crate::range::Range;
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
    /// The variants, as declared.
    const VARIANTS: &'static [Variant];
    /// The names of the variants.
    const NAMES: &'static [&'static str];

    /// The names that may be written: all, except in a choice among some variants of another
    /// choice.
    fn names() -> &'static [&'static str] {
        Self::NAMES
    }

    /// The name of this variant.
    fn name(&self) -> &'static str;

    /// Its table, if it has one.
    fn inner(&self) -> Option<&dyn AnySetting>;

    /// Reads the variant that is named.
    ///
    /// # Errors
    /// All faults of shape in its table.
    fn pick(named: &Named<'_>) -> Result<Self, Fault>;
}

/// What is declared of a variant.
#[derive(Debug)]
pub struct Variant {
    /// Its name.
    pub name: &'static str,
    /// Its description; if it is empty, that of its table.
    pub meaning: &'static str,
    /// Its table, if it has one.
    pub table: Option<VariantTable>,
}

/// What is declared of a variant's table.
#[derive(Debug)]
pub struct VariantTable {
    /// `Setting::schema` of its type.
    pub schema: fn(Unit, &Range, &mut Definitions) -> Json,
    /// `Setting::check` of its type.
    pub check: fn(&Node, Check<'_>),
    /// `Setting::is_empty_table` of its type.
    pub is_empty: fn() -> bool,
}

/// Derives from [`Choice`]: reading, writing, schema and checks.
#[macro_export]
macro_rules! setting_by_choice {
    ($Enum:ty) => {
        $crate::defined_in_schema!($Enum, <Self as $crate::Choice>::TITLE, |definitions| {
            $crate::describe_choice(
                <Self as $crate::Choice>::VARIANTS,
                <Self as $crate::Choice>::names(),
                <Self as $crate::Choice>::MEANING,
                definitions,
            )
        });

        impl $crate::Setting for $Enum {
            fn read(
                node: &$crate::Node,
                _: $crate::Unit,
            ) -> ::core::result::Result<Self, $crate::Fault> {
                <Self as $crate::Choice>::pick(&node.named(<Self as $crate::Choice>::names())?)
            }

            fn write(&self, _: $crate::Unit) -> $crate::Json {
                $crate::write_variant($crate::Choice::name(self), $crate::Choice::inner(self))
            }

            $crate::refers_to_definition!();

            fn shown(&self, _: $crate::Unit) -> ::core::option::Option<$crate::Json> {
                Some($crate::Json::from($crate::Choice::name(self)))
            }

            fn check(node: &$crate::Node, mut check: $crate::Check<'_>) {
                check.choice(<Self as $crate::Choice>::VARIANTS, node);
            }

            fn relate(&self, at: &$crate::Path, faults: &mut $crate::Faults) {
                if let Some(table) = $crate::Choice::inner(self) {
                    table.relate(&at.key($crate::Choice::name(self)), faults);
                }
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
        const EMPTY: &Node = &Node::EMPTY;
        let table = self.table.unwrap_or(EMPTY);
        T::read(table, Unit::NONE).map_err(|fault| match self.table {
            Some(_) => fault.in_key(self.name),
            None => fault,
        })
    }
}

/// Writes a variant with its table, or only its name if the table has no keys.
pub fn write_variant(name: &'static str, table: Option<&dyn AnySetting>) -> Json {
    match table.map(|table| table.write(Unit::NONE)) {
        Some(Json::Object(keys)) if keys.is_empty() => Json::from(name),
        Some(table) => Json::Object(Map::from_iter([(name.to_owned(), table)])),
        None => Json::from(name),
    }
}

/// The schema of a choice among those variants that have one of these names.
pub fn describe_choice(
    variants: &[Variant],
    names: &[&str],
    meaning: &str,
    definitions: &mut Definitions,
) -> Json {
    let (mut schemas, mut tables) = (Vec::new(), Vec::new());
    for variant in variants.iter().filter(|variant| names.contains(&variant.name)) {
        schemas.push(variant.schema(definitions));
        if variant.filled().is_some() {
            tables.push(variant.name);
        }
    }
    if !tables.is_empty() {
        schemas.push(json!({
            "description": "The name alone, with all defaults.",
            "type": "string",
            "enum": tables,
        }));
    }
    json!({ "description": meaning, "oneOf": schemas })
}

impl Variant {
    /// Its table, if that has keys.
    fn filled(&self) -> Option<&VariantTable> {
        self.table.as_ref().filter(|table| !(table.is_empty)())
    }

    fn schema(&self, definitions: &mut Definitions) -> Json {
        let name = self.name;
        let refer = |table: &VariantTable| (table.schema)(Unit::NONE, &Range::ANY, definitions);
        let table = self.table.as_ref().map(refer);
        let meaning = match (self.meaning, &table) {
            ("", Some(table)) => definitions.description(table).unwrap_or_default(),
            (meaning, _) => meaning,
        };
        match table.filter(|_| self.filled().is_some()) {
            None => json!({ "description": meaning, "type": "string", "const": name }),
            Some(table) => json!({
                "description": meaning,
                "type": "object",
                "properties": { name: table },
                "required": [name],
                "additionalProperties": false,
            }),
        }
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
