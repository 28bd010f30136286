//! What may stand under a key.

use crate::check::{Check, Faults};
use crate::path::Path;
use crate::range::Range;
use crate::tree::{Node, Value};
use crate::unit::Unit;
use schemars::{Schema, SchemaGenerator, json_schema};
use serde::de::{DeserializeSeed, Error, SeqAccess, Visitor};
use serde::ser::SerializeSeq;
use serde::{Deserializer, Serialize, Serializer};
use serde_json::Value as Json;
use std::fmt;
use std::marker::PhantomData;

/// A value under a key.
pub trait Setting: Sized {
    /// Reads a value that is written in this unit.
    fn read<'de, D: Deserializer<'de>>(unit: Unit, from: D) -> Result<Self, D::Error>;

    /// Writes it in this unit.
    fn write<S: Serializer>(&self, unit: Unit, to: S) -> Result<S::Ok, S::Error>;

    /// The schema of such values.
    fn schema(unit: Unit, range: &Range, generator: &mut SchemaGenerator) -> Schema;

    /// Finds every number out of range in what was written.
    fn check(_node: &Node, _check: Check<'_>) {}

    /// Finds what is wrong between several keys.
    fn relate(&self, _at: &Path, _faults: &mut Faults) {}

    /// A default as a schema shows it; `None` for what stands below it key by key.
    fn shown(&self, unit: Unit) -> Option<Json> {
        serde_json::to_value(Written(self, unit)).ok().filter(|json| !json.is_null())
    }

    /// Whether it is a table without a key.
    fn is_empty_table() -> bool {
        false
    }
}

/// A value with the unit that it is written in.
#[derive(Debug)]
pub struct Written<'a, T>(pub &'a T, pub Unit);

impl<T: Setting> Serialize for Written<'_, T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.0.write(self.1, serializer)
    }
}

/// Reads a value in a unit.
#[derive(Debug)]
pub struct Seed<T>(Unit, PhantomData<T>);

impl<T> Seed<T> {
    /// Reads values that are written in this unit.
    pub fn new(unit: Unit) -> Self {
        Self(unit, PhantomData)
    }
}

impl<'de, T: Setting> DeserializeSeed<'de> for Seed<T> {
    type Value = T;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<T, D::Error> {
        T::read(self.0, deserializer)
    }
}

/// The part of [`Setting`] that serde and schemars know already.
#[macro_export]
macro_rules! by_serde {
    () => {
        fn read<'de, D: $crate::serde::Deserializer<'de>>(
            _: $crate::Unit,
            from: D,
        ) -> ::core::result::Result<Self, D::Error> {
            $crate::serde::Deserialize::deserialize(from)
        }

        fn write<S: $crate::serde::Serializer>(
            &self,
            _: $crate::Unit,
            to: S,
        ) -> ::core::result::Result<S::Ok, S::Error> {
            $crate::serde::Serialize::serialize(self, to)
        }

        fn schema(
            _: $crate::Unit,
            _: &$crate::Range,
            generator: &mut $crate::schemars::SchemaGenerator,
        ) -> $crate::schemars::Schema {
            generator.subschema_for::<Self>()
        }
    };
}

/// A table under a key.
#[macro_export]
macro_rules! setting_by_serde {
    ($Table:ty) => {
        impl $crate::Setting for $Table {
            $crate::by_serde!();

            fn check(node: &$crate::Node, check: $crate::Check<'_>) {
                <Self as $crate::Settings>::check_keys(&mut check.table(node));
            }

            fn relate(&self, at: &$crate::Path, faults: &mut $crate::Faults) {
                $crate::Settings::relate_keys(self, at, faults);
            }

            fn shown(&self, _: $crate::Unit) -> ::core::option::Option<$crate::Json> {
                None
            }

            fn is_empty_table() -> bool {
                <Self as $crate::Settings>::keys().is_empty()
            }
        }
    };
}

impl Setting for bool {
    by_serde!();
}

impl Setting for String {
    by_serde!();

    fn shown(&self, _: Unit) -> Option<Json> {
        (!self.is_empty()).then(|| Json::from(self.as_str()))
    }
}

impl<T: Setting> Setting for Option<T> {
    fn read<'de, D: Deserializer<'de>>(unit: Unit, from: D) -> Result<Self, D::Error> {
        struct Maybe<T>(Unit, PhantomData<T>);

        impl<'de, T: Setting> Visitor<'de> for Maybe<T> {
            type Value = Option<T>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a value")
            }
            fn visit_none<E>(self) -> Result<Option<T>, E> {
                Ok(None)
            }
            fn visit_some<D: Deserializer<'de>>(self, from: D) -> Result<Option<T>, D::Error> {
                T::read(self.0, from).map(Some)
            }
        }
        from.deserialize_option(Maybe(unit, PhantomData))
    }

    fn write<S: Serializer>(&self, unit: Unit, to: S) -> Result<S::Ok, S::Error> {
        match self {
            Some(value) => value.write(unit, to),
            None => to.serialize_none(),
        }
    }

    fn schema(unit: Unit, range: &Range, generator: &mut SchemaGenerator) -> Schema {
        T::schema(unit, range, generator)
    }

    fn check(node: &Node, check: Check<'_>) {
        T::check(node, check);
    }

    fn relate(&self, at: &Path, faults: &mut Faults) {
        if let Some(value) = self {
            value.relate(at, faults);
        }
    }

    fn shown(&self, unit: Unit) -> Option<Json> {
        self.as_ref().and_then(|value| value.shown(unit))
    }
}

fn write_list<T: Setting, S: Serializer>(list: &[T], unit: Unit, to: S) -> Result<S::Ok, S::Error> {
    let mut written = to.serialize_seq(Some(list.len()))?;
    for item in list {
        written.serialize_element(&Written(item, unit))?;
    }
    written.end()
}

impl<T: Setting> Setting for Vec<T> {
    fn read<'de, D: Deserializer<'de>>(unit: Unit, from: D) -> Result<Self, D::Error> {
        struct Items<T>(Unit, PhantomData<T>);

        impl<'de, T: Setting> Visitor<'de> for Items<T> {
            type Value = Vec<T>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a list")
            }
            fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Vec<T>, A::Error> {
                let mut list = Vec::new();
                while let Some(item) = items.next_element_seed(Seed::new(self.0))? {
                    list.push(item);
                }
                Ok(list)
            }
        }
        from.deserialize_seq(Items(unit, PhantomData))
    }

    fn write<S: Serializer>(&self, unit: Unit, to: S) -> Result<S::Ok, S::Error> {
        write_list(self, unit, to)
    }

    fn schema(unit: Unit, range: &Range, generator: &mut SchemaGenerator) -> Schema {
        let items = T::schema(unit, range, generator);
        json_schema!({ "type": "array", "items": items })
    }

    fn check(node: &Node, check: Check<'_>) {
        let Value::List(items) = &node.value else { return };
        for (index, item) in items.iter().enumerate() {
            let at = check.at.index(index);
            T::check(item, Check { at: &at, faults: &mut *check.faults, ..check });
        }
    }

    fn relate(&self, at: &Path, faults: &mut Faults) {
        for (index, item) in self.iter().enumerate() {
            item.relate(&at.index(index), faults);
        }
    }

    fn shown(&self, unit: Unit) -> Option<Json> {
        let json = serde_json::to_value(Written(self, unit)).ok();
        json.filter(|_| !self.is_empty())
    }
}

impl<T: Setting, const N: usize> Setting for [T; N] {
    fn read<'de, D: Deserializer<'de>>(unit: Unit, from: D) -> Result<Self, D::Error> {
        let items: Vec<T> = Setting::read(unit, from)?;
        let n = items.len();
        let wrong = || D::Error::custom(format!("takes {N} values, has {n}"));
        items.try_into().map_err(|_| wrong())
    }

    fn write<S: Serializer>(&self, unit: Unit, to: S) -> Result<S::Ok, S::Error> {
        write_list(self, unit, to)
    }

    fn schema(unit: Unit, range: &Range, generator: &mut SchemaGenerator) -> Schema {
        let mut schema = Vec::<T>::schema(unit, range, generator);
        schema.insert("minItems".to_owned(), N.into());
        schema.insert("maxItems".to_owned(), N.into());
        schema
    }

    fn check(node: &Node, check: Check<'_>) {
        Vec::<T>::check(node, check);
    }
}

impl<T: Setting> Setting for Box<T> {
    fn read<'de, D: Deserializer<'de>>(unit: Unit, from: D) -> Result<Self, D::Error> {
        T::read(unit, from).map(Self::new)
    }

    fn write<S: Serializer>(&self, unit: Unit, to: S) -> Result<S::Ok, S::Error> {
        (**self).write(unit, to)
    }

    fn schema(unit: Unit, range: &Range, generator: &mut SchemaGenerator) -> Schema {
        T::schema(unit, range, generator)
    }

    fn check(node: &Node, check: Check<'_>) {
        T::check(node, check);
    }

    fn relate(&self, at: &Path, faults: &mut Faults) {
        (**self).relate(at, faults);
    }

    fn shown(&self, unit: Unit) -> Option<Json> {
        (**self).shown(unit)
    }
}
