//! The value of a key, of whatever type: what tables and choices do with all values alike.

use crate::check::Faults;
use crate::fault::Fault;
use crate::path::Path;
use crate::setting::Setting;
use crate::table::Table;
use crate::tree::Node;
use crate::unit::Unit;
use serde_json::Value as Json;

/// A value of a key, of whatever type.
pub trait AnySetting {
    /// Reads it, written in this unit.
    ///
    /// # Errors
    /// All faults of shape.
    fn set(&mut self, node: &Node, unit: Unit) -> Result<(), Fault>;

    /// [`Setting::write`].
    fn write(&self, unit: Unit) -> Json;

    /// [`Setting::shown`].
    fn shown(&self, unit: Unit) -> Option<Json>;

    /// [`Setting::relate`].
    fn relate(&self, at: &Path, faults: &mut Faults);

    /// [`Setting::as_table`].
    fn table(&self) -> Option<&dyn Table>;

    /// [`Setting::as_table_mut`].
    fn table_mut(&mut self) -> Option<&mut dyn Table>;
}

impl<T: Setting> AnySetting for T {
    fn set(&mut self, node: &Node, unit: Unit) -> Result<(), Fault> {
        *self = T::read(node, unit)?;
        Ok(())
    }

    fn write(&self, unit: Unit) -> Json {
        Setting::write(self, unit)
    }

    fn shown(&self, unit: Unit) -> Option<Json> {
        Setting::shown(self, unit)
    }

    fn relate(&self, at: &Path, faults: &mut Faults) {
        Setting::relate(self, at, faults);
    }

    fn table(&self) -> Option<&dyn Table> {
        self.as_table()
    }

    fn table_mut(&mut self) -> Option<&mut dyn Table> {
        self.as_table_mut()
    }
}
