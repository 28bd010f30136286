//! What tests of losses share, and a loss model that is added.
#![allow(unreachable_pub)]

use super::*;
use crate::queue::tests::packet;
use kernel::{Duration, Seed};
use settings::{Check, Choice, Faults, Node, Path, Setting};

/// The model, with streams of this number.
fn build(model: &dyn LossModel, number: u32) -> Box<dyn Channel> {
    let seed = Seed { root: 11, replication: 0 };
    model.build(seed.stream("test.channel", number), seed.stream("test.packets", number))
}

/// Numbers, from 1, of those of `count` packets at these instants that are lost.
pub(super) fn lost(model: &dyn LossModel, at: impl Fn(u64) -> Instant, count: u64) -> Vec<u64> {
    let mut channel = build(model, 0);
    (1..=count).filter(|&n| channel.loses(at(n), &packet(0, n, 1000))).collect()
}

/// Whether each of `count` packets, `gap` apart, is lost.
pub(super) fn losses(model: &dyn LossModel, gap: Duration, count: u64) -> Vec<bool> {
    let mut channel = build(model, 0);
    (0..count).map(|n| channel.loses(Instant(gap.0 * n), &packet(0, n, 1000))).collect()
}

/// The part that is lost.
pub(super) fn rate(losses: &[bool]) -> f64 {
    losses.iter().filter(|&&lost| lost).count() as f64 / losses.len() as f64
}

/// Part of many runs in which the first packet is lost.
pub(super) fn rate_of_first(model: &dyn LossModel) -> f64 {
    let is_lost = |&n: &u32| build(model, n).loses(Instant::ZERO, &packet(0, 1, 1000));
    (0..10_000).filter(is_lost).count() as f64 / 10_000.0
}

settings::registry! {
    /// What is lost.
    pub enum ToySettings: LossModel = Breakage;
    breakage: Breakage(BreakageConfig),
}

#[test]
fn a_loss_model_is_a_file_and_a_line() {
    assert_eq!(ToySettings::NAMES, ["breakage"]);
    let schema = settings::schema::<ToySettings>().to_string();
    assert!(schema.contains("How many packets come through."), "{schema}");
    let written = Node::from_toml("breakage.after = 3").unwrap();
    let model: ToySettings = settings::read(&written).unwrap();
    assert_eq!(lost(model.get(), Instant, 6), [4, 5, 6]);
    let faults = |text: &str| {
        let (written, mut faults) = (Node::from_toml(text).unwrap(), Faults::default());
        ToySettings::check(&written, Check::new(&Path::default(), &mut faults));
        faults.0.iter().map(ToString::to_string).collect::<Vec<_>>()
    };
    assert_eq!(faults("breakage.after = 0"), ["breakage.after: must be from 1 to 1000, is 0"]);
    assert_eq!(faults("breakage = {}"), ["breakage.after: missing; as 10"]);
}
