//! The values that a key may have.

use crate::check::{Check, Faults};
use crate::fault::Fault;
use crate::path::Path;
use crate::range::Range;
use crate::schema::Definitions;
use crate::table::Table;
use crate::tree::{Node, Value};
use crate::unit::Unit;
use serde_json::{Value as Json, json};

/// Reads a value whose key names no unit.
pub(crate) fn typed<T: Setting>(node: &Node) -> Result<T, Fault> {
    T::read(node, Unit::NONE)
}

/// A value of a key.
pub trait Setting: Sized {
    /// Reads a value that is written in this unit.
    ///
    /// # Errors
    /// All faults of shape.
    fn read(node: &Node, unit: Unit) -> Result<Self, Fault>;

    /// Writes it in this unit; null if there is no value.
    fn write(&self, unit: Unit) -> Json;

    /// The schema of such values.
    fn schema(unit: Unit, range: &Range, definitions: &mut Definitions) -> Json;

    /// Finds every number out of range in the document.
    fn check(_node: &Node, _check: Check<'_>) {}

    /// Finds violations of rules that relate several keys.
    fn relate(&self, _at: &Path, _faults: &mut Faults) {}

    /// A default as the schema shows it; `None` for a table, whose keys have defaults of their own.
    fn shown(&self, unit: Unit) -> Option<Json> {
        Some(self.write(unit)).filter(|json| !json.is_null())
    }

    /// Whether it is a table without a key.
    fn is_empty_table() -> bool {
        false
    }

    /// This value as a table of keys, if it is one.
    fn as_table(&self) -> Option<&dyn Table> {
        None
    }

    /// The same, to change it.
    fn as_table_mut(&mut self) -> Option<&mut dyn Table> {
        None
    }
}

impl Setting for bool {
    fn read(node: &Node, _: Unit) -> Result<Self, Fault> {
        node.boolean()
    }

    fn write(&self, _: Unit) -> Json {
        Json::from(*self)
    }

    fn schema(_: Unit, _: &Range, _: &mut Definitions) -> Json {
        json!({ "type": "boolean" })
    }
}

impl Setting for String {
    fn read(node: &Node, _: Unit) -> Result<Self, Fault> {
        node.text().map(str::to_owned)
    }

    fn write(&self, _: Unit) -> Json {
        Json::from(self.as_str())
    }

    fn schema(_: Unit, _: &Range, _: &mut Definitions) -> Json {
        json!({ "type": "string" })
    }

    fn shown(&self, _: Unit) -> Option<Json> {
        (!self.is_empty()).then(|| Json::from(self.as_str()))
    }
}

impl<T: Setting> Setting for Option<T> {
    fn read(node: &Node, unit: Unit) -> Result<Self, Fault> {
        T::read(node, unit).map(Some)
    }

    fn write(&self, unit: Unit) -> Json {
        self.as_ref().map_or(Json::Null, |value| value.write(unit))
    }

    fn schema(unit: Unit, range: &Range, definitions: &mut Definitions) -> Json {
        T::schema(unit, range, definitions)
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

impl<T: Setting> Setting for Vec<T> {
    fn read(node: &Node, unit: Unit) -> Result<Self, Fault> {
        let (mut read, mut faults) = (Self::new(), Fault::default());
        let items = node.items().map_err(|mut fault| {
            // A table where there should be a list of tables is read as one of them.
            if let (Value::Table(_), Err(inner)) = (&node.value, T::read(node, unit)) {
                fault.extend(inner);
            }
            fault
        })?;
        for (at, item) in items.iter().enumerate() {
            match T::read(item, unit) {
                Ok(value) => read.push(value),
                Err(fault) => faults.extend(fault.in_item(at)),
            }
        }
        faults.or(read)
    }

    fn write(&self, unit: Unit) -> Json {
        self.iter().map(|item| item.write(unit)).collect()
    }

    fn schema(unit: Unit, range: &Range, definitions: &mut Definitions) -> Json {
        let items = T::schema(unit, range, definitions);
        json!({ "type": "array", "items": items })
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
        (!self.is_empty()).then(|| self.write(unit))
    }
}

impl<T: Setting, const N: usize> Setting for [T; N] {
    fn read(node: &Node, unit: Unit) -> Result<Self, Fault> {
        let items: Vec<T> = Setting::read(node, unit)?;
        let n = items.len();
        items.try_into().map_err(|_| Fault::here(format!("takes {N} values, has {n}")))
    }

    fn write(&self, unit: Unit) -> Json {
        self.iter().map(|item| item.write(unit)).collect()
    }

    fn schema(unit: Unit, range: &Range, definitions: &mut Definitions) -> Json {
        let mut schema = Vec::<T>::schema(unit, range, definitions);
        schema["minItems"] = N.into();
        schema["maxItems"] = N.into();
        schema
    }

    fn check(node: &Node, check: Check<'_>) {
        Vec::<T>::check(node, check);
    }
}

impl<T: Setting> Setting for Box<T> {
    fn read(node: &Node, unit: Unit) -> Result<Self, Fault> {
        T::read(node, unit).map(Self::new)
    }

    fn write(&self, unit: Unit) -> Json {
        (**self).write(unit)
    }

    fn schema(unit: Unit, range: &Range, definitions: &mut Definitions) -> Json {
        T::schema(unit, range, definitions)
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
