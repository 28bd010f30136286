//! Congestion controls that are defined outside the crate: the interface for bindings.

use super::{Connection, Control, Controller, NewReno};
use crate::Config;
use settings::{Faults, Path, Settings};
use std::fmt::Debug;

/// A user-defined control in Python: a subclass of `simoom.Control`.
#[derive(Clone, Debug, PartialEq, Settings)]
#[settings(name = "Python", check = is_import_path)]
pub struct PythonConfig {
    /// The import path of the class: "module:Class", as "mylab.aimd:Aimd".
    pub path: String,
}

fn is_import_path(python: &PythonConfig, at: &Path, faults: &mut Faults) {
    let path = &python.path;
    if path.split_once(':').is_none_or(|(module, class)| module.is_empty() || class.is_empty()) {
        let message =
            format!("{path:?} is no import path; write \"module:Class\", as \"mylab.aimd:Aimd\"");
        faults.fault(at.key("path"), message);
    }
}

impl Controller for PythonConfig {
    fn build(&self, connection: &Connection<'_>) -> Box<dyn Control> {
        connection.external.control(&self.path, connection.flow.0, connection.config)
    }

    fn import_path(&self) -> Option<&str> {
        Some(&self.path)
    }
}

/// Builds the congestion controls that an import path names.
pub trait External: Debug + Send + Sync {
    /// Checks whether the path names a congestion control; the message gives the reason if not.
    fn check(&self, path: &str) -> Result<(), String>;

    /// A control for one connection of a flow. If it cannot be built, the binding reports the
    /// error; the run continues with any other control until the binding ends it.
    fn control(&self, path: &str, flow: u32, config: &Config) -> Box<dyn Control>;
}

/// For environments without user-defined controls.
#[derive(Debug, Default)]
pub struct NoExternal;

impl External for NoExternal {
    fn check(&self, path: &str) -> Result<(), String> {
        Err(format!("{path:?} is written in Python; run it through the Python package"))
    }

    fn control(&self, _: &str, _: u32, config: &Config) -> Box<dyn Control> {
        Box::new(NewReno::from(config))
    }
}
