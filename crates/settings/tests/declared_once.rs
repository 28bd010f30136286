//! Properties that follow from one declaration of each key.

use kernel::{Bytes, Duration};
use serde_json::json;
use settings::{Check, Choice, Faults, Node, Path, Range, Root, Setting, Settings, Unit};

/// A limit.
#[derive(Clone, Debug, PartialEq, Settings)]
struct Limit {
    /// Limit in packets.
    #[setting(key = "limit_packets", range = 1..=1000, too_low = ["0 would drop every packet", ""])]
    packets: Option<u32>,
}

/// A queue that drops at its head.
#[derive(Clone, Debug, PartialEq, Settings)]
#[settings(name = "Codel", check = related)]
struct CoDelConfig {
    /// The acceptable standing queue delay.
    #[setting(key = "target_ms", default = 5.0, range = 0.0..=60_000.0)]
    target: Duration,
    /// How long the sojourn time must exceed the target.
    #[setting(key = "interval_ms", default = 100.0, range = 0.001..=60_000.0)]
    interval: Duration,
    #[setting(flatten)]
    limit: Limit,
    /// No key sets this.
    #[setting(skip, default = 7)]
    drawn: u64,
}

fn related(queue: &CoDelConfig, at: &Path, faults: &mut Faults) {
    if queue.target > queue.interval {
        faults.fault(at.key("target_ms"), "is above interval_ms");
    }
}

/// A queue without settings.
#[derive(Clone, Debug, PartialEq, Settings)]
struct Plain {}

/// The queue discipline.
#[derive(Clone, Debug, PartialEq, Choice)]
enum Queue {
    Plain(Plain),
    CoDel(CoDelConfig),
    /// Neither.
    #[setting(name = "none")]
    Nothing,
}

/// A link.
#[derive(Clone, Debug, PartialEq, Settings)]
struct Link {
    /// Framing.
    #[setting(key = "overhead_bytes", default = 38, range = 0..=100, alias = "framing_bytes")]
    overhead: Bytes,
    /// Probability of a loss.
    #[setting(range = Range::PROBABILITY, required = "as 0.01")]
    loss: f64,
    /// The queue from which it sends.
    #[setting(default = Queue::Nothing)]
    queue: Queue,
    /// Weights.
    #[setting(range = 0.0..=1.0)]
    weights: Vec<f64>,
}

impl Root for Link {
    const SHORT_FORMS: &'static [(&'static str, &'static str)] = &[];
}

fn tree(text: &str) -> Node {
    Node::from_toml(text).unwrap()
}

fn read(text: &str) -> Result<Link, String> {
    settings::read(&tree(text)).map_err(|issues| issues[0].with_line())
}

/// The faults of a text's numbers and relations.
fn faults(text: &str) -> Vec<String> {
    let (tree, mut faults) = (tree(text), Faults::default());
    Link::check(&tree, Check::new(&Path::default(), &mut faults));
    settings::read::<Link>(&tree).unwrap().relate(&Path::default(), &mut faults);
    faults.0.iter().map(ToString::to_string).collect()
}

#[test]
fn a_literal_default_is_in_the_unit_of_the_key() {
    let queue = CoDelConfig::default();
    assert_eq!(queue.target, Duration::from_millis(5));
    assert_eq!((queue.limit.packets, queue.drawn), (None, 7));
    assert_eq!(Link::default().overhead, Bytes(38));
}

#[test]
fn keys_are_read_in_their_units() {
    let link = read("loss = 0.1\nframing_bytes = 20\nqueue.co_del.target_ms = 2.5").unwrap();
    let Queue::CoDel(queue) = link.queue else { panic!("{link:?}") };
    assert_eq!((queue.target, link.overhead), (Duration::from_micros(2500), Bytes(20)));
    assert_eq!(read("queue = \"plain\"").unwrap().queue, Queue::Plain(Plain {}));
}

#[test]
fn a_fault_of_shape_has_its_path_and_line() {
    let message = "queue.co_del.targt_ms (line 2): unknown key; did you mean target_ms?";
    assert_eq!(read("loss = 0.1\nqueue.co_del.targt_ms = 1.0").unwrap_err(), message);
    let message = "queue (line 1): must be one of \"plain\", \"co_del\", \"none\", is \"codel\"; \
                   did you mean \"co_del\"?";
    assert_eq!(read("queue = \"codel\"").unwrap_err(), message);
    let message = "limit_packets (line 1): unknown key; it belongs at queue.co_del.limit_packets; \
                   the keys here are overhead_bytes, loss, queue, weights";
    assert_eq!(read("limit_packets = 3").unwrap_err(), message);
    let message = "queue.co_del.limit_packets (line 1): must be at least 0, is -1";
    assert_eq!(read("queue.co_del.limit_packets = -1").unwrap_err(), message);
}

#[test]
fn every_number_out_of_range_is_told_at_its_path() {
    let text = "overhead_bytes = 101\nqueue.co_del.limit_packets = 0\nweights = [0.5, nan]\n\
                queue.co_del.target_ms = 200.0";
    assert_eq!(
        faults(text),
        [
            "overhead_bytes: must be from 0 to 100 bytes, is 101",
            "loss: missing; as 0.01",
            "queue.co_del.limit_packets: 0 would drop every packet",
            "weights[1]: must be from 0 to 1, is NaN",
            "queue.co_del.target_ms: is above interval_ms",
        ]
    );
}

#[test]
fn what_is_written_can_be_read_again() {
    let link = read("loss = 0.1\nqueue.co_del.limit_packets = 3").unwrap();
    let json = link.write(Unit::NONE);
    let codel = json!({ "target_ms": 5.0, "interval_ms": 100.0, "limit_packets": 3 });
    assert_eq!(json["queue"], json!({ "co_del": codel }));
    assert_eq!(Queue::Plain(Plain {}).write(Unit::NONE), json!("plain"));
    let node: Node = serde_json::from_value(json).unwrap();
    assert_eq!(settings::read::<Link>(&node).unwrap(), link);
}

#[test]
fn the_schema_has_bounds_defaults_and_sentences() {
    let schema = settings::schema::<Link>();
    let overhead = json!({
        "type": "integer", "minimum": 0, "maximum": 100, "default": 38, "description": "Framing."
    });
    assert_eq!(schema["properties"]["overhead_bytes"], overhead);
    assert_eq!(schema["required"], json!(["loss"]));
    assert_eq!(schema["properties"]["loss"]["exclusiveMaximum"], json!(1.0));
    assert_eq!(schema["properties"]["queue"]["default"], json!("none"));
    let codel = &schema["$defs"]["Codel"]["properties"];
    assert_eq!(codel["limit_packets"]["description"], "Limit in packets.");
    assert_eq!(codel["target_ms"]["default"], json!(5.0));
    let variants = &schema["$defs"]["Queue"]["oneOf"];
    assert_eq!(
        variants[0],
        json!({
            "description": "A queue without settings.", "type": "string", "const": "plain"
        })
    );
    assert_eq!(variants[3]["enum"], json!(["co_del"]));
}

#[test]
fn a_choice_that_was_made_otherwise_is_replaced() {
    let (path, value) = (Path::parse("queue.co_del.target_ms").unwrap(), tree("x = 1"));
    let settings::Value::Table(entries) = &value.value else { panic!() };
    let (tree, link) =
        settings::set::<Link>(&tree("queue = \"none\""), &path, &entries[0].1).unwrap();
    assert_eq!(link.queue.name(), "co_del");
    assert_eq!(tree.to_toml(), "[queue]\nco_del.target_ms = 1\n");
    assert_eq!(<Queue as settings::Defined>::schema_name(), "Queue");
}

#[test]
fn everything_at_fault_is_told_and_the_rest_is_read() {
    let text = "overhead_bytes = 101\nqueue = \"codel\"\nloss = 0.1\nlos = 1";
    let (link, faults) = settings::read_sound::<Link>(&tree(text));
    let paths: Vec<&str> = faults.0.iter().map(|issue| &issue.path[..]).collect();
    assert_eq!(paths, ["queue", "los", "overhead_bytes"]);
    assert_eq!((link.loss, link.overhead, link.queue), (0.1, Bytes(38), Queue::Nothing));
    let (_, faults) = settings::read_sound::<Link>(&tree("loss = \"much\""));
    assert_eq!(faults.0.len(), 1, "it is not missing as well: {faults:?}");
}

/// A bandwidth.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Width {
    Narrow,
    Wide,
}

settings::numbered! { Width, "integer": 20 => Self::Narrow, 40 => Self::Wide }

/// How a channel is used.
#[derive(Clone, Debug, PartialEq, Choice)]
#[settings(name = "Use")]
enum UseSettings {
    /// Not at all.
    Idle,
}

/// A channel.
#[derive(Clone, Debug, PartialEq, Settings)]
struct Channel {
    /// The width.
    #[setting(key = "width_mhz", default = Width::Narrow)]
    width: Width,
    #[setting(flatten)]
    limit: Limit,
    /// The use.
    #[setting(default = UseSettings::Idle)]
    used: UseSettings,
}

#[test]
fn a_choice_among_numbers_is_written_as_a_number() {
    let read = |text: &str| settings::read::<Channel>(&tree(text));
    assert_eq!(read("width_mhz = 40.0").unwrap().width, Width::Wide);
    let fault = read("width_mhz = 30").unwrap_err()[0].with_line();
    assert_eq!(fault, "width_mhz (line 1): is 20 or 40, not 30");
    let schema = settings::schema::<Channel>();
    let width = json!({
        "type": "integer", "enum": [20, 40], "default": 20, "description": "The width."
    });
    assert_eq!(schema["properties"]["width_mhz"], width);
    assert_eq!(schema["$defs"]["Use"]["oneOf"][0]["const"], "idle");
    assert_eq!(Channel::keys(), ["width_mhz", "limit_packets", "used"], "as declared");
}
