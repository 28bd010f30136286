//! Helpers that tests of loss models share.

use super::*;
use crate::queue::tests::packet;
use kernel::{Duration, Seed};

/// The model, with the random streams of this number.
fn build(model: &dyn LossModel, number: u32) -> Box<dyn Channel> {
    let seed = Seed { root: 11, replication: 0 };
    model.build(seed.stream("test.channel", number), seed.stream("test.packets", number))
}

/// Of `count` packets at these instants, the numbers, from 1, of the lost ones.
pub(super) fn lost(model: &dyn LossModel, at: impl Fn(u64) -> Instant, count: u64) -> Vec<u64> {
    let mut channel = build(model, 0);
    (1..=count).filter(|&n| channel.loses(at(n), &packet(0, n, 1000))).collect()
}

/// Whether each of `count` packets, `gap` apart, is lost.
pub(super) fn losses(model: &dyn LossModel, gap: Duration, count: u64) -> Vec<bool> {
    let mut channel = build(model, 0);
    (0..count).map(|n| channel.loses(Instant(gap.0 * n), &packet(0, n, 1000))).collect()
}

/// The fraction that is lost.
pub(super) fn rate(losses: &[bool]) -> f64 {
    losses.iter().filter(|&&lost| lost).count() as f64 / losses.len() as f64
}

/// The fraction of many runs in which the first packet is lost.
pub(super) fn rate_of_first(model: &dyn LossModel) -> f64 {
    let is_lost = |&n: &u32| build(model, n).loses(Instant::ZERO, &packet(0, 1, 1000));
    (0..10_000).filter(is_lost).count() as f64 / 10_000.0
}
