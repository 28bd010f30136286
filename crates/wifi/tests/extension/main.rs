//! A rate control and an error model of one's own are a file and a line each.

// A registry exports what its files declare; in a test nobody else sees it.
#![allow(unreachable_pub)]

use kernel::{Bytes, Db, Instant, Seed};
use settings::{Choice, Faults, Issue, Path, Settings};
use wifi::phy::DOT11A;
use wifi::phy::error::{ErrorModel, required_snr};
use wifi::rate::LinkModes;

mod error {
    settings::registry! {
        /// Which bits are understood.
        pub enum Errors: wifi::phy::error::ErrorModel = Coin;
        coin: Coin(Coin),
    }
}

mod rate {
    settings::registry! {
        /// How a link chooses its modes.
        pub enum Rates: wifi::rate::Rule = Turns;
        turns: Turns(TurnsSettings),
    }
}

use error::Errors;
use rate::Rates;

/// A cell of one's own.
#[derive(Clone, Debug, PartialEq, Settings)]
struct Cell {
    /// The rule.
    rate_control: Rates,
    /// The model.
    error_model: Errors,
}

fn read(text: &str) -> (Cell, Vec<String>) {
    let tree = settings::Node::from_toml(text).unwrap();
    let (cell, faults) = settings::read_sound(&tree);
    (cell, faults.0.iter().map(ToString::to_string).collect())
}

fn link(has_radio: bool) -> LinkModes {
    LinkModes {
        standard: &DOT11A,
        mode: DOT11A.fastest(),
        vector: None,
        lowest: DOT11A.modes[0].rate,
        non_erp: false,
        has_radio,
    }
}

#[test]
fn both_are_in_the_schema_and_in_messages() {
    let schema = settings::schema::<Cell>();
    let every = &schema["$defs"]["Turns"]["properties"]["every"];
    assert_eq!((&every["minimum"], &every["default"]), (&1.into(), &2.into()));
    assert_eq!(schema["$defs"]["Rates"]["oneOf"][0]["description"], "Another mode in turn.");
    assert_eq!(schema["$defs"]["Errors"]["oneOf"][0]["const"], "coin");
    assert_eq!((Rates::NAMES, Errors::NAMES), (&["turns"][..], &["coin"][..]));
    let (cell, faults) = read("rate_control.turns.every = 0\nerror_model = \"coins\"");
    assert_eq!(
        faults,
        [
            "error_model: must be \"coin\", is \"coins\"; did you mean \"coin\"? (line 2)",
            "rate_control.turns.every: must be at least 1, is 0",
        ]
    );
    assert_eq!(cell.rate_control.name(), "turns");
}

#[test]
fn a_rule_says_what_it_needs_of_a_link_and_makes_a_machine_for_it() {
    let (cell, faults) = read("rate_control.turns.every = 1");
    assert_eq!(faults, [""; 0]);
    let (rule, at) = (cell.rate_control.get(), Path::parse("wlan.rate_control.turns").unwrap());
    let told = |has_radio| {
        let mut faults = Faults::default();
        rule.check(&link(has_radio), Instant::NEVER, &at, &mut faults);
        faults.0
    };
    let (path, message) = (at.to_string(), "takes turns where there is no radio".to_owned());
    assert_eq!((told(false), told(true)), (vec![], vec![Issue { path, message }]));
    let rng = Seed { root: 1, replication: 0 }.stream("test", 0);
    let mut machine = rule.build(&link(false), cell.error_model.get(), rng).expect("a machine");
    let rates: Vec<f64> =
        (0..3).map(|_| machine.select(Instant::ZERO, 0).mode.rate.as_mbps()).collect();
    assert_eq!(rates, [6.0, 9.0, 12.0]);
}

#[test]
fn an_error_model_is_its_settings() {
    let (cell, _) = read("");
    let model: Box<dyn ErrorModel> = cell.error_model.boxed();
    let snr = |loss| required_snr(&*model, &DOT11A.fastest(), Bytes(100), loss);
    assert!(snr(0.6) < Db(-19.0) && snr(0.4) > Db(79.0));
}
