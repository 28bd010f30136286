//! Scenarios as the user writes them: reading, changing by path, and resolving to a [`Plan`].
//!
//! ```text
//! text ─ tree::Node ─ read ─► Document ─ resolve ─► Plan
//!        (order, lines)       (typed)    (checked)
//! ```
//!
//! Reading goes on after a fault, and reports all of them with paths and lines: those of shape, and
//! those of meaning that do not depend on what is faulty. [`Scenario::resolve`] reports all faults
//! of a scenario that has its shape.

mod device;
mod document;
mod edit;
pub(crate) mod flow;
mod interferer;
mod limits;
mod link;
mod presets;
mod radio;
mod resolve;
mod routing;
mod syntax;
pub(crate) mod tcp;
mod wlan;

pub use device::Device;
pub use document::{Ap, Document, Measure, Station, Stations, Waypoint};
pub use flow::Flow;
pub use interferer::Interferer;
pub use link::{Link, LossDirection, Reverse, Wire};
pub use presets::Implied;
pub use radio::{Bss, Radio};
pub use routing::Routing;
pub use settings::{Issue, Path, Place, Repair, Step, address, repaired};
pub use tcp::{LinkRate, Tcp};
pub use wlan::{Aggregation, Category, Edca, Wlan};

use crate::mobility::movement::Source;
use crate::plan::Plan;
use crate::traffic::Traffic;
use resolve::Aim;
use settings::{Choice, Node, Said, Setting, Survey, Unit, Value, said};
use std::path::Path as FilePath;

/// A text longer than this is rejected.
const LARGEST_TEXT: usize = 1 << 20;

/// The remedy for an empty file.
const MINIMAL: &str = r#"the smallest one reads

standard = "11g"
stations = 10

[[flows]]
from = "server"
to = "sta*""#;

fn whole(said: impl Into<Said>) -> Vec<Issue> {
    vec![Issue::new("", said)]
}

/// A scenario: syntactically correct, but not yet checked for meaning.
#[derive(Debug, Clone)]
pub struct Scenario {
    /// As written, for output and for changes by path.
    written: Node,
    /// The same, typed, with defaults.
    document: Document,
}

impl PartialEq for Scenario {
    /// Scenarios are equal if they have the same meaning, however they are written.
    fn eq(&self, other: &Self) -> bool {
        self.document == other.document
    }
}

impl Scenario {
    /// Reads TOML, or JSON if the text begins with a brace.
    ///
    /// # Errors
    /// All faults of a text that does not have the shape of a scenario.
    pub fn parse(text: &str) -> Result<Self, Vec<Issue>> {
        check_size(text.len())?;
        let text = text.strip_prefix('\u{feff}').unwrap_or(text);
        if text.trim_start().starts_with('{') {
            return Self::read(json_tree(text)?, resolve::all_faults);
        }
        let (written, errors) = Node::from_faulty_toml(text);
        if errors.is_empty() {
            return Self::read(written, resolve::all_faults);
        }
        Err(syntax::faults(text, &errors, &written))
    }

    /// Reads the bytes of a file.
    pub fn parse_bytes(bytes: &[u8]) -> Result<Self, Vec<Issue>> {
        check_size(bytes.len())?;
        let text = std::str::from_utf8(bytes).map_err(|error| {
            let valid = &bytes[..error.valid_up_to()];
            let line = valid.split(|byte| *byte == b'\n').count();
            let byte = bytes[error.valid_up_to()];
            let said = said!(
                "not UTF-8 text: byte 0x{byte:02x}",
                "a scenario is a TOML file saved as UTF-8"
            );
            let at = [error.valid_up_to(), error.valid_up_to() + 1];
            let place = Place { line, column: 1, key: at, value: at };
            vec![Issue { place, ..Issue::new("", said) }]
        })?;
        Self::parse(text)
    }

    /// Reads JSON with the same keys.
    ///
    /// # Errors
    /// All faults of shape and all numbers out of range, if there are faults of shape. Parts of a
    /// scenario may be missing, which [`Self::resolve`] reports.
    pub fn from_json(text: &str) -> Result<Self, Vec<Issue>> {
        check_size(text.len())?;
        Self::read_again(json_tree(text)?)
    }

    fn read_again(written: Node) -> Result<Self, Vec<Issue>> {
        Self::read(written, |written| Survey::of::<Document>(written).issues().collect())
    }

    fn read(written: Node, faults: impl Fn(&Node) -> Vec<Issue>) -> Result<Self, Vec<Issue>> {
        if written.value == Node::EMPTY.value {
            return Err(whole(Said::new("the scenario is empty", MINIMAL)));
        }
        match settings::read(&written) {
            Ok(document) => Ok(Self { written, document }),
            Err(_) => Err(faults(&written)),
        }
    }

    /// The scenario with the files that it names relative to this folder.
    pub fn in_folder(mut self, folder: &FilePath) -> Result<Self, Vec<Issue>> {
        for (path, file) in self.named_files() {
            let name = folder.join(file).to_string_lossy().into_owned();
            let path = Path::parse(&path).map_err(|issue| vec![issue])?;
            let value = Node { value: Value::Text(name), place: self.written.place_of(&path) };
            self = self.put(&path, &value)?;
        }
        Ok(self)
    }

    /// The same scenario, whose faults have no places: those of a text that no user has written.
    #[must_use]
    pub fn without_places(mut self) -> Self {
        self.written.forget_places();
        self
    }

    /// The files that the scenario names, whose content determines the results too.
    pub fn files(&self) -> Vec<String> {
        self.named_files().into_iter().map(|(_, file)| file).collect()
    }

    /// The path of each key that names a file, and the file.
    fn named_files(&self) -> Vec<(String, String)> {
        let groups = self.document.groups();
        let moved = groups.iter().filter_map(|(group, station)| {
            let movement = station.movement.as_ref()?;
            let Source::File(file) = movement.get().source() else { return None };
            Some((format!("{group}.movement.{}.file", movement.name()), file.file().to_owned()))
        });
        let sent = self.document.flows.iter().enumerate().filter_map(|(n, flow)| {
            let file = match &flow.traffic {
                Traffic::Csv(csv) => &csv.file,
                Traffic::Port(port) => &port.file,
                _ => return None,
            };
            Some((format!("flows[{n}].traffic.{}.file", flow.traffic.name()), file.clone()))
        });
        moved.chain(sent).filter(|(_, file)| !file.is_empty()).collect()
    }

    /// The scenario, typed.
    pub fn document(&self) -> &Document {
        &self.document
    }

    /// As TOML: the keys that were given, in their order.
    pub fn to_toml(&self) -> String {
        self.written.to_toml()
    }

    /// As JSON: the keys that were given. NaN and infinity, which JSON lacks, become null.
    pub fn to_json(&self) -> String {
        format!("{:#}", self.written.to_json())
    }

    /// As JSON with every key and its default; null where it depends on other keys.
    pub fn to_full_json(&self) -> String {
        format!("{:#}", self.full())
    }

    fn full(&self) -> serde_json::Value {
        self.document.write(Unit::NONE)
    }

    /// What presets set, such as `tcp.endpoint`: keys without a value here.
    pub fn presets(&self) -> Vec<Implied> {
        presets::of(&self.document)
    }

    /// Checks the whole scenario and fills in every default.
    pub fn resolve(&self) -> Result<Plan, Vec<Issue>> {
        resolve::resolve(&self.written, &self.document, Aim::Run)
    }

    /// Like [`Self::resolve`], but flows may lack a path: for showing a network, not for runs.
    pub fn resolve_network(&self) -> Result<Plan, Vec<Issue>> {
        resolve::resolve(&self.written, &self.document, Aim::Show)
    }
}

/// The JSON schema (draft 2020-12) of a scenario, indented, with a newline at its end.
pub fn schema() -> String {
    let mut schema = settings::schema::<Document>().clone();
    if let Some(keys) = schema.as_object_mut() {
        // The name by which others refer to the schema; nothing need be there.
        let id = concat!(env!("CARGO_PKG_REPOSITORY"), "/schema/scenario.schema.json");
        keys.insert("$id".to_owned(), id.into());
    }
    format!("{schema:#}\n")
}

/// A document in JSON.
pub(crate) fn json_tree(text: &str) -> Result<Node, Vec<Issue>> {
    serde_json::from_str(text).map_err(|error| whole(format!("not JSON: {error}")))
}

fn check_size(length: usize) -> Result<(), Vec<Issue>> {
    if length <= LARGEST_TEXT {
        return Ok(());
    }
    Err(whole(said!(
        "{length} bytes are too much for a scenario, which has at most {LARGEST_TEXT}",
        "is this the right file?"
    )))
}
