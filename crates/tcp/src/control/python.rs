//! Congestion controls that are defined outside the crate: the interface for bindings.

use super::{Connection, Control, Controller, NewReno};
use crate::Config;
use settings::{Faults, Free, Path, Said, Settings, said};
use std::fmt::Debug;

/// A user-defined control in Python: a subclass of `simoom.Control`. Keys other than `path` are
/// parameters of the class.
#[derive(Clone, Debug, PartialEq, Settings)]
#[settings(name = "Python", check = is_import_path)]
pub struct PythonConfig {
    /// The import path of the class: "module:Class", as "mylab.aimd:Aimd".
    pub path: String,
    /// The parameters of the class.
    #[setting(flatten)]
    pub parameters: Free,
}

fn is_import_path(python: &PythonConfig, at: &Path, faults: &mut Faults) {
    let path = &python.path;
    if path.split_once(':').is_none_or(|(module, class)| module.is_empty() || class.is_empty()) {
        let message =
            said!("{path:?} is no import path", "write \"module:Class\", as \"mylab.aimd:Aimd\"");
        faults.fault(at.key("path"), message);
    }
}

impl Controller for PythonConfig {
    fn build(&self, connection: &Connection<'_>) -> Box<dyn Control> {
        connection.external.control(self, connection.flow.0, connection.config)
    }

    fn external(&self) -> Option<&PythonConfig> {
        Some(self)
    }
}

/// Builds the congestion controls that are defined outside the crate.
pub trait External: Debug + Send + Sync {
    /// Finds the faults of the table at this path: there is no such congestion control, or it does
    /// not have a parameter.
    fn check(&self, python: &PythonConfig, at: &Path, faults: &mut Faults);

    /// A control for one connection of a flow. If it cannot be built, the binding reports the
    /// error; the run continues with any other control until the binding ends it.
    fn control(&self, python: &PythonConfig, flow: u32, config: &Config) -> Box<dyn Control>;
}

/// For environments without user-defined controls.
#[derive(Debug, Default)]
pub struct NoExternal;

impl External for NoExternal {
    fn check(&self, python: &PythonConfig, at: &Path, faults: &mut Faults) {
        let message = Said::new(
            format!("{:?} is written in Python", python.path),
            "run it through the Python package",
        );
        faults.fault(at.key("path"), message);
    }

    fn control(&self, _: &PythonConfig, _: u32, config: &Config) -> Box<dyn Control> {
        Box::new(NewReno::from(config))
    }
}
