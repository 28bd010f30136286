//! Runs TCP scripts: timed lines that inject segments and state which segments are expected, in a
//! grammar close to that of packetdrill (Cardwell et al., "packetdrill: Scriptable Network Stack
//! Testing, from Sockets to Packets", USENIX ATC 2013). `docs/tcp-script.md` describes it.

mod asserted;
mod bounded;
mod grammar;
mod play;
mod settings;

use crate::control::{External, NoExternal};
use kernel::Instant;

/// The kind of a transcript line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A segment that the script injected.
    Injected,
    /// A segment that the endpoint sent and the script expected.
    Sent,
    /// A segment that the endpoint sent and the script did not expect.
    Unasked,
    /// A call of the application.
    Call,
    /// An assertion that holds.
    Assertion,
}

impl Kind {
    /// The name of the kind.
    pub fn name(self) -> &'static str {
        match self {
            Self::Injected => "injected",
            Self::Sent => "sent",
            Self::Unasked => "unasked",
            Self::Call => "call",
            Self::Assertion => "assertion",
        }
    }
}

/// One event of a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Line {
    /// When it happened.
    pub at: Instant,
    /// Its kind.
    pub kind: Kind,
    /// The event in the grammar of scripts.
    pub text: String,
    /// The line of the script that caused it, counted from 1.
    pub line: Option<usize>,
}

/// Why a script failed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failure {
    /// The script's line, counted from 1.
    pub line: usize,
    /// The observation and the violated rule.
    pub message: String,
}

/// The result of running a script.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Transcript {
    /// The events, in order.
    pub lines: Vec<Line>,
    /// Why the script failed; `None` if it passed.
    pub failure: Option<Failure>,
}

/// Reads a script and does not run it; the error is why the text is no script.
pub fn check(text: &str) -> Result<(), Failure> {
    grammar::parse(text).map(drop)
}

/// Reads a script and runs it against a sender or a receiver.
pub fn run(text: &str) -> Transcript {
    run_with(text, &NoExternal)
}

/// Like [`run`], with a factory for user-defined congestion controls.
pub fn run_with(text: &str, external: &dyn External) -> Transcript {
    match grammar::parse(text) {
        Ok(script) => play::play(&script, external),
        Err(failure) => Transcript { lines: Vec::new(), failure: Some(failure) },
    }
}
