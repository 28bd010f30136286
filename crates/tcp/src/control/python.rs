//! Controllers from outside: what a binding needs to bring its own.

use super::{Connection, Control, Controller, NewReno};
use crate::Config;
use settings::{Faults, Path, Settings};
use std::fmt::Debug;

/// One's own, written in Python: a subclass of `simoom.Control`.
#[derive(Clone, Debug, PartialEq, Settings)]
#[settings(name = "Python", check = is_import_path)]
pub struct PythonConfig {
    /// Where the class is found: "module:Class", as "mylab.aimd:Aimd".
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

/// Makes the controllers that are named by an import path.
pub trait External: Debug + Send + Sync {
    /// Whether the path names a controller; the message says why not.
    fn check(&self, path: &str) -> Result<(), String>;

    /// A controller for one connection of a flow. One that cannot be made is the binding's to
    /// report; the run goes on with any other until the binding ends it.
    fn control(&self, path: &str, flow: u32, config: &Config) -> Box<dyn Control>;
}

/// Where nobody brings controllers of their own.
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
