//! Scripts in time: what is injected, what is expected, in a grammar close to packetdrill's
//! (Cardwell et al., "packetdrill: Scriptable Network Stack Testing, from Sockets to Packets",
//! USENIX ATC 2013). `docs/tcp-script.md` describes it.

mod bounded;
mod grammar;
mod play;
mod settings;

use kernel::Instant;

/// What a line of a transcript shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A segment that the script injected.
    Injected,
    /// A segment that the machine sent and the script expected.
    Sent,
    /// A segment that the machine sent and the script did not ask for.
    Unasked,
    /// A call of the application.
    Call,
    /// An assertion that holds.
    Assertion,
}

impl Kind {
    /// Its name.
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

/// One thing that happened.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Line {
    /// When.
    pub at: Instant,
    /// What it is.
    pub kind: Kind,
    /// The thing, as the grammar writes it.
    pub text: String,
    /// The script's line that asked for it, counted from 1.
    pub line: Option<usize>,
}

/// Why a script failed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failure {
    /// The script's line, counted from 1.
    pub line: usize,
    /// What was found, and what the rule is.
    pub message: String,
}

/// What came of a script.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Transcript {
    /// What happened, in order.
    pub lines: Vec<Line>,
    /// Why it failed; `None` is a pass.
    pub failure: Option<Failure>,
}

/// Reads a script and plays it against a sender or a receiver.
pub fn run(text: &str) -> Transcript {
    match grammar::parse(text) {
        Ok(script) => play::play(&script),
        Err(failure) => Transcript { lines: Vec::new(), failure: Some(failure) },
    }
}
