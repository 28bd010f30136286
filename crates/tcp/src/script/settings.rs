//! The settings of a script: the lines that begin with `set`.

use super::Failure;
use super::grammar::{Call, Event, Script, Written};
use crate::Config;
use crate::control::{ControlSettings, External};
use kernel::Bytes;
use settings::{
    Check, Choice, Faults, Issue, Node, Path, Root, Setting, Settings, Step, Value, value_of,
};
use wire::Flags;

/// The settings of a script.
#[derive(Clone, Debug, PartialEq, Settings)]
pub(super) struct ScriptSettings {
    /// The end that the script tests. Default: a sender if the script has `write` or `connect`,
    /// else a receiver.
    pub(super) endpoint: Option<Endpoint>,
    /// The congestion control of a sender.
    pub(super) control: ControlSettings,
    #[setting(flatten)]
    pub(super) config: Config,
}

/// The end of a connection that a script tests.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Choice)]
pub(super) enum Endpoint {
    /// The end that sends data.
    #[default]
    Sender,
    /// The end that receives data.
    Receiver,
}

impl Root for ScriptSettings {
    const SHORT_FORMS: &'static [(&'static str, &'static str)] = &[];
}

/// The MSS of scripts: their segments have no headers that would leave less for data.
const USUAL_MSS: i64 = 1460;

/// Old forms of settings, accepted until 0.3: key and value, and the settings that replace them.
/// `*` is any word, `#` a number.
const ALIASES: [(&str, &str, &str, &str); 16] = [
    ("mss", "*", "mss_bytes", "*"),
    ("window", "*", "window_bytes", "*"),
    ("initial_window", "*", "initial_window_segments", "*"),
    ("initial_ssthresh", "*", "initial_ssthresh_segments", "*"),
    ("delayed_ack", "#", "delayed_ack.fixed.segments", "#"),
    ("delayed_ack_ms", "*", "delayed_ack.fixed.timer_ms", "*"),
    ("rack", "*", "recovery.sack.rack", "*"),
    ("f_rto", "*", "recovery.sack.f_rto", "*"),
    ("undo", "*", "recovery.sack.undo", "*"),
    ("reduction", "*", "recovery.sack.reduction", "*"),
    ("ecn", "on", "ecn", "classic"),
    ("fin", "on", "close", "fin"),
    ("fin", "off", "close", "none"),
    ("control.*.counting", "bytes", "byte_counting", "on"),
    ("control.*.counting", "acks", "byte_counting", "off"),
    ("control.afw.epoch", "#", "control.afw.epoch.rounds.number", "#"),
];

/// The segments that a script expects, or those that it injects.
pub(super) fn packets(script: &Script, expected: bool) -> impl Iterator<Item = &Written> {
    script.events.iter().filter_map(move |(_, _, event)| match event {
        Event::Expect(written) if expected => Some(written),
        Event::Inject(written) if !expected => Some(written),
        _ => None,
    })
}

/// The settings of the script, limited to what the injected SYN permits.
pub(super) fn configure(
    script: &Script,
    external: &dyn External,
) -> Result<ScriptSettings, Failure> {
    let mut written = Document::new();
    for (line, key, value) in &script.settings {
        let failure = |issue: Issue| Failure { line: *line, message: issue.to_string() };
        written.line(*line, key, value).map_err(failure)?;
    }
    let mut machine = written.machine.clone();
    let has = |wanted: fn(&Call) -> bool| {
        script.events.iter().any(|event| matches!(&event.2, Event::Call(call, _) if wanted(call)))
    };
    let sends = has(|call| matches!(call, Call::Connect | Call::Write(_)));
    let usual = if sends { Endpoint::Sender } else { Endpoint::Receiver };
    machine.endpoint = machine.endpoint.or(Some(usual));
    let config = &mut machine.config;
    config.reads = has(|call| matches!(call, Call::Read(_)));
    config.closes = has(|call| *call == Call::Close);
    if let Some(syn) = packets(script, false).find(|written| written.flags.has(Flags::SYN)) {
        let mss = config.mss().0;
        config.mss = Some(Bytes(mss.min(syn.mss.unwrap_or(mss)).max(1)));
        if !syn.any_options {
            // The end that opens the connection offers timestamps first.
            let opens =
                |asked: &&Written| asked.flags.has(Flags::SYN) && !asked.flags.has(Flags::ACK);
            let asked = packets(script, true).find(opens);
            config.timestamps &= asked.unwrap_or(syn).timestamps.is_some();
        }
    }
    written.relate(&machine, external)?;
    Ok(machine)
}

/// The settings so far, as text and as values.
struct Document {
    tree: Node,
    machine: ScriptSettings,
    /// The line that set each path.
    lines: Vec<(usize, String)>,
}

impl Document {
    fn new() -> Self {
        let mss = Node::of(Value::Integer(USUAL_MSS));
        let tree = Node::of(Value::Table(vec![("mss_bytes".to_owned(), mss)]));
        let config = Config { mss: Some(Bytes(USUAL_MSS as u64)), ..Config::default() };
        Self {
            tree,
            machine: ScriptSettings { config, ..ScriptSettings::default() },
            lines: Vec::new(),
        }
    }

    /// `set KEY VALUE`, or `set control NAME KEY=VALUE ...`.
    fn line(&mut self, line: usize, key: &str, value: &str) -> Result<(), Issue> {
        if key != "control" {
            return self.set(line, key, value);
        }
        let mut words = value.split_whitespace();
        let name = words.next().unwrap_or_default();
        self.tree.remove(&Path::parse(key)?.0);
        self.set(line, key, name)?;
        for word in words {
            let Some((key, value)) = word.split_once('=') else {
                let message = format!("{word:?}: write a parameter as beta=0.7");
                return Err(Issue::new(format!("control.{name}"), message));
            };
            self.set(line, &format!("control.{name}.{key}"), value)?;
        }
        Ok(())
    }

    /// Applies one setting and checks that its numbers are in their ranges.
    fn set(&mut self, line: usize, key: &str, value: &str) -> Result<(), Issue> {
        let (key, value) = meant(key, value);
        let path = Path::parse(&key)?;
        let node = value_of(&path, &value)?;
        // Repeating the choice keeps its settings.
        if !names(&self.tree, &path.0, &node) {
            (self.tree, self.machine) = put(&self.tree, &path, &node)?;
        }
        let (root, mut faults) = (Path::default(), Faults::default());
        ScriptSettings::check(&self.tree, Check::new(&root, &mut faults));
        self.lines.push((line, key));
        faults.0.into_iter().next().map_or(Ok(()), Err)
    }

    /// Checks settings against each other.
    fn relate(&self, machine: &ScriptSettings, external: &dyn External) -> Result<(), Failure> {
        let (root, mut faults) = (Path::default(), Faults::default());
        machine.relate(&root, &mut faults);
        if let Some(python) = machine.control.get().external()
            && faults.0.is_empty()
        {
            external.check(python, &root.key("control").key("python"), &mut faults);
        }
        let Some(issue) = faults.0.into_iter().next() else { return Ok(()) };
        let concerned = |(_, key): &&(usize, String)| issue.path.starts_with(&**key);
        let set = self.lines.iter().rev().find(concerned).or(self.lines.last());
        Err(Failure { line: set.map_or(1, |set| set.0), message: issue.to_string() })
    }
}

/// Sets the value at a path. A word for on or off is a name of the path's choice if the choice has
/// such names, else true or false.
fn put(tree: &Node, path: &Path, node: &Node) -> Result<(Node, ScriptSettings), Issue> {
    let on = match &node.value {
        Value::Text(word) => on(word),
        Value::Integer(number) => on(&number.to_string()),
        _ => None,
    };
    let set = |node: &Node| settings::set(tree, path, node);
    set(node).or_else(|mut issues| {
        let issue = issues.swap_remove(0);
        let value = Value::Bool(on.ok_or_else(|| issue.clone())?);
        set(&Node::of(value)).map_err(|_| issue)
    })
}

/// The boolean that a word for on or off stands for.
fn on(word: &str) -> Option<bool> {
    match word {
        "on" | "true" | "1" => Some(true),
        "off" | "false" | "0" => Some(false),
        _ => None,
    }
}

/// Whether the value at the path is the choice of this name.
fn names(tree: &Node, steps: &[Step], name: &Node) -> bool {
    let Value::Table(entries) = &tree.value else { return false };
    match (steps, &name.value) {
        ([], Value::Text(name)) => matches!(&entries[..], [(chosen, _)] if chosen == name),
        ([Step::Key(key), rest @ ..], _) => {
            entries.iter().any(|(known, inner)| known == key && names(inner, rest, name))
        }
        _ => false,
    }
}

/// The setting that an alias stands for.
fn meant(key: &str, value: &str) -> (String, String) {
    let alias = ALIASES.iter().find(|(old, word, ..)| {
        let mut steps = old.split('.').zip(key.split('.'));
        steps.all(|(old, step)| old == "*" || old == step)
            && old.split('.').count() == key.split('.').count()
            && match *word {
                "*" => true,
                "#" => value.parse::<f64>().is_ok(),
                word => word == value || on(word).is_some() && on(word) == on(value),
            }
    });
    match alias {
        Some((_, _, key, "*" | "#")) => ((*key).to_owned(), value.to_owned()),
        Some((_, _, key, value)) => ((*key).to_owned(), (*value).to_owned()),
        None => (key.to_owned(), value.to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::control::{AfwConfig, CleanRounds, CubicConfig, Epoch, NoExternal};
    use crate::{Close, DelayedAck, Ecn, FixedAck, Recovery, Reduction, Sack};
    use kernel::{Duration, Segments};

    fn machine(settings: &[&str]) -> Result<ScriptSettings, Failure> {
        let split = |text: &&str| text.split_once(' ').map(|(k, v)| (k.to_owned(), v.to_owned()));
        let settings = settings.iter().filter_map(split);
        let settings = (1..).zip(settings).map(|(line, (key, value))| (line, key, value));
        configure(&Script { settings: settings.collect(), ..Script::default() }, &NoExternal)
    }

    /// The line number and the message of the failure.
    fn failure_of(settings: &[&str]) -> (usize, String) {
        machine(settings).map_err(|failure| (failure.line, failure.message)).unwrap_err()
    }

    #[test]
    fn the_keys_are_those_of_a_scenario() {
        let machine = machine(&[
            "mss_bytes 1000",
            "recovery.sack.rack off",
            "recovery.sack.reduction at_once",
            "delayed_ack.fixed.timer_ms 100",
            "rtt_tick_ms 10",
            "fec.units 5",
            "control cubic beta=0.5 hystart=off",
            "control.cubic.c 1",
        ]);
        let ScriptSettings { control, config, .. } = machine.unwrap();
        let sack = Sack { rack: false, reduction: Reduction::AtOnce, ..Sack::default() };
        assert_eq!(config.recovery, Recovery::Sack(sack));
        let timer = Duration::from_millis(100);
        assert_eq!(config.delayed_ack, DelayedAck::Fixed(FixedAck { segments: 2, timer }));
        assert_eq!((config.mss(), config.rtt_tick), (Bytes(1000), Duration::from_millis(10)));
        assert_eq!(config.fec.unwrap().granularity.units, 5);
        let cubic = CubicConfig { beta: 0.5, hystart: false, c: 1.0, ..CubicConfig::default() };
        assert_eq!(control, ControlSettings::Cubic(cubic));
    }

    #[test]
    fn scripts_of_before_mean_what_they_meant() {
        let ScriptSettings { control, config, .. } = machine(&[
            "mss 1000",
            "window 20000",
            "initial_window 4",
            "initial_ssthresh 8",
            "delayed_ack_ms 100",
            "delayed_ack 3",
            "rack off",
            "recovery sack",
            "fin off",
            "ecn on",
            "control few counting=acks",
            "control afw epoch=3",
        ])
        .unwrap();
        assert_eq!((config.mss(), config.window()), (Bytes(1000), Bytes(20_000)));
        assert_eq!(config.initial_window(), Segments(4.0));
        assert_eq!(config.initial_ssthresh, Some(Segments(8.0)));
        let timer = Duration::from_millis(100);
        assert_eq!(config.delayed_ack, DelayedAck::Fixed(FixedAck { segments: 3, timer }));
        assert_eq!(config.sack(), Some(Sack { rack: false, ..Sack::default() }));
        assert_eq!((config.close, config.ecn), (Close::None, Ecn::Classic));
        assert!(!config.byte_counting);
        let epoch = Epoch::Rounds(CleanRounds { number: 3 });
        assert_eq!(control, ControlSettings::Afw(AfwConfig { epoch, ..AfwConfig::default() }));
    }

    #[test]
    fn a_fault_has_its_line() {
        let message = "mss_bytes: must be from 1 to 65535 bytes, is 0";
        assert_eq!(failure_of(&["undo off", "mss 0"]), (2, message.to_owned()));
        let message = "timestamps: must be true or false, is \"perhaps\"; both are written without \
                       quotes";
        assert_eq!(failure_of(&["timestamps perhaps"]), (1, message.to_owned()));
        let message = "control.cubic.bta: unknown key; did you mean beta?";
        assert_eq!(failure_of(&["control cubic bta=0.5"]), (1, message.to_owned()));
        let message = "control.cubic: \"beta\": write a parameter as beta=0.7";
        assert_eq!(failure_of(&["control cubic beta"]), (1, message.to_owned()));
        let message = "rto_min_ms: 2000 is above rto_max_ms, 1000";
        assert_eq!(
            failure_of(&["rto_min_ms 2000", "rto_max_ms 1000", "pacing on"]),
            (1, message.to_owned())
        );
        let (line, message) = failure_of(&["control python path=mine:Own"]);
        assert!(line == 1 && message.ends_with("run it through the Python package"), "{message}");
    }

    #[test]
    fn what_may_be_steered_is_what_says_so() {
        let all = ControlSettings::all();
        for control in all {
            let name = Choice::name(&control);
            let steered = machine(&[&format!("control cross_layer inner={name}")]);
            let config = Config::default();
            assert_eq!(steered.is_ok(), control.get().steerable(&config).is_some(), "{name}");
        }
    }
}
