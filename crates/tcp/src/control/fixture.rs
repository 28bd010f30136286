//! Acknowledgements and losses for the tests of congestion controls.

use super::{Ack, Cause, Control, Loss};
use crate::Config;
use kernel::{Duration, Instant, Segments};

/// Segments of 1460 bytes.
pub(super) fn config() -> Config {
    Config { timestamps: false, ..Config::default() }
}

/// This many segments are newly acknowledged, with ten more in flight, at the start of the run.
pub(super) fn ack(acked: f64) -> Ack {
    Ack {
        now: Instant::ZERO,
        acked: Segments(acked),
        delivered: Segments(acked),
        lost: Segments(0.0),
        in_flight: Segments(10.0),
        rtt: None,
        srtt: Duration::ZERO,
        rtt_min: Duration::ZERO,
        delivery: None,
        due: Instant::ZERO,
        may_grow: true,
        recovery: false,
        after_timeout: false,
        forward_delay: None,
        ecn_echo: false,
        marked: Segments(0.0),
    }
}

/// The same at a time in seconds, with this round-trip time in milliseconds.
pub(super) fn ack_at(now_s: f64, acked: f64, rtt_ms: f64) -> Ack {
    let rtt = Duration::from_secs_f64(rtt_ms * 1e-3);
    let now = Instant::ZERO + Duration::from_secs_f64(now_s);
    Ack { now, rtt: Some(rtt), srtt: rtt, rtt_min: rtt, ..ack(acked) }
}

pub(super) fn loss(cause: Cause, in_flight: f64) -> Loss {
    let (now, lost) = (Instant::ZERO, Segments(1.0));
    Loss { now, cause, lost, in_flight: Segments(in_flight), repeated: false }
}

/// A round trip: the whole window is acknowledged, one segment at a time, within `rtt_ms` from
/// `now_s` on. Nothing of the previous round is in flight any more.
pub(super) fn round(control: &mut dyn Control, now_s: f64, rtt_ms: f64) {
    let segments = control.window().0.floor() as usize;
    for i in 0..segments {
        let at = now_s + rtt_ms * 1e-3 * (i + 1) as f64 / segments as f64;
        let left = (segments - 1) as f64;
        control.on_ack(&Ack { in_flight: Segments(left), ..ack_at(at, 1.0, rtt_ms) });
    }
}

/// A gauge by name.
pub(super) fn gauge(control: &dyn Control, wanted: &str) -> Option<f64> {
    let mut found = None;
    control.gauges(&mut |name, value| {
        if name == wanted {
            found = Some(value);
        }
    });
    found
}
