//! The file formats that are written here, by the extension of the file.
//!
//! A format is a sink and a line here; its options are settings.

use crate::pcapng::{self, Pcapng, PcapngOptions};
use crate::{Air, AirOptions, Network, Perfetto, PerfettoOptions, Sink, Timeline, TimelineOptions};
use settings::{Issue, Node, Path, Root, Settings};
use std::io;

/// Where a format writes; buffered.
pub type Out = Box<dyn io::Write + Send>;

/// Begins the files of a trace.
pub type Open = fn(Network, Vec<Out>, &Options) -> io::Result<Box<dyn Sink>>;

/// A file format.
#[derive(Clone, Copy, Debug)]
pub struct Format {
    /// The extension of its files, without a dot.
    pub extension: &'static str,
    /// What it is, in a few words.
    pub meaning: &'static str,
    /// Its files, by what stands in their names before the extension: a file for each, or for `""`.
    pub files: fn(&Network, &Options) -> Vec<String>,
    /// The keys of its options.
    pub keys: fn() -> &'static [&'static str],
    /// Begins its files.
    pub open: Open,
}

/// How files are written, by the extension of the file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Settings)]
#[settings(name = "Trace")]
pub struct Options {
    /// Indexed traces for the page of `simoom serve`.
    pub air: AirOptions,
    /// Captures for Wireshark.
    pub pcapng: PcapngOptions,
    /// Traces for Perfetto.
    pub pftrace: PerfettoOptions,
    /// Text timelines.
    pub txt: TimelineOptions,
}

impl Root for Options {
    const SHORT_FORMS: &'static [(&'static str, &'static str)] = &[];
}

impl Options {
    /// The options of these paths with their values, as `pcapng.interfaces` and `radios`.
    ///
    /// # Errors
    /// All faults of the paths and values.
    pub fn of(settings: &[(String, String)]) -> Result<Self, Vec<Issue>> {
        let mut tree = Node::EMPTY;
        for (path, value) in settings {
            let parse = || {
                let path = Path::parse(path)?;
                let value = settings::value_of(&path, value)?;
                Ok((path, value))
            };
            let (path, value) = parse().map_err(|issue| vec![issue])?;
            tree = settings::set::<Self>(&tree, &path, &value)?.0;
        }
        let (options, faults) = settings::read_sound(&tree);
        if faults.0.is_empty() { Ok(options) } else { Err(faults.0) }
    }
}

/// The paths of all options: `pcapng.interfaces`.
pub fn option_paths() -> Vec<String> {
    let paths = |extension: &str, keys: &[&str]| -> Vec<String> {
        keys.iter().map(|key| format!("{extension}.{key}")).collect()
    };
    FORMATS.iter().flat_map(|format| paths(format.extension, (format.keys)())).collect()
}

/// All formats: one line each.
pub const FORMATS: &[Format] = &[
    Format {
        extension: "air",
        files: one_file,
        meaning: "an indexed trace for the page of simoom serve",
        keys: AirOptions::keys,
        open: |network, outs, options| Ok(Box::new(Air::new(&network, one(outs), options.air)?)),
    },
    Format {
        extension: "pcapng",
        files: |network, options| pcapng::files(network, options.pcapng),
        meaning: "a capture for Wireshark",
        keys: PcapngOptions::keys,
        open: |network, outs, options| Ok(Box::new(Pcapng::new(network, outs, options.pcapng)?)),
    },
    Format {
        extension: "pftrace",
        files: one_file,
        meaning: "lanes and counters for Perfetto",
        keys: PerfettoOptions::keys,
        open: |network, outs, options| {
            Ok(Box::new(Perfetto::new(network, one(outs), options.pftrace)?))
        },
    },
    Format {
        extension: "txt",
        files: one_file,
        meaning: "a line for each frame exchange",
        keys: TimelineOptions::keys,
        open: |network, outs, options| {
            Ok(Box::new(Timeline::new(network, one(outs), options.txt)?))
        },
    },
];

fn one_file(_network: &Network, _options: &Options) -> Vec<String> {
    vec![String::new()]
}

fn one(mut outs: Vec<Out>) -> Out {
    outs.pop().expect("a format of one file has one")
}

/// The format of an extension.
pub fn format(extension: &str) -> Option<&'static Format> {
    FORMATS.iter().find(|format| format.extension == extension)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pcapng::Interfaces;

    fn options(settings: &[(&str, &str)]) -> Result<Options, String> {
        let settings: Vec<_> =
            settings.iter().map(|(path, value)| ((*path).into(), (*value).into())).collect();
        Options::of(&settings).map_err(|issues| issues[0].to_string())
    }

    #[test]
    fn options_are_set_by_path() {
        let set = options(&[("pcapng.interfaces", "radios"), ("txt.columns", "80")]).unwrap();
        assert_eq!(set.pcapng.interfaces, Interfaces::Radios);
        assert_eq!(set.txt.columns, 80);
        assert!(set.pftrace.annotations, "the default");
        for path in option_paths() {
            assert!(options(&[(&path, "wrong value")]).unwrap_err().starts_with(&path));
        }
    }

    #[test]
    fn a_wrong_option_is_named_with_its_path() {
        let message = |path, value| options(&[(path, value)]).unwrap_err();
        assert!(message("pcapng.interface", "radios").contains("interfaces"), "the nearest key");
        assert!(message("pcapng.interfaces", "nodes").contains("radios"), "the choices");
        assert!(message("txt.columns", "12").contains("from 40 to 1000"));
    }
}
