//! Congestion controls over a path that loses segments at random, against what their sources
//! predict.

use crate::pipe::{Act, Path, Pipe};
use crate::plain::plain;
use kernel::{Bytes, Duration};
use tcp::control::{Bbr, Bbr3, Bbr3Config, BbrConfig, Cubic, CubicConfig, NewReno};
use tcp::{Config, Control, Recovery, Sack};

/// 100 Mb/s with segments of 1460 bytes (as much as user data), 100 ms round-trip time.
const SPACING: Duration = Duration(116_800);
const RTT: Duration = Duration::from_millis(100);

fn config() -> Config {
    Config {
        window: Some(Bytes(1 << 28)),
        timestamps: true,
        recovery: Recovery::Sack(Sack::default()),
        rto_min: Some(Duration::from_millis(200)),
        ..plain()
    }
}

/// The share of the capacity that one flow has from 5 to 25 s over a path that loses this share of
/// the segments.
fn share(make: impl Fn() -> Box<dyn Control>, loss: f64, seed: u64) -> f64 {
    let [before, after] = [5, 25].map(|end_s| {
        let forward = Path { loss, spacing: SPACING, ..Path::clean(RTT / 2) };
        let mut pipe = Pipe::seeded(&config(), make(), forward, Path::clean(RTT / 2), seed);
        pipe.act(Duration::ZERO, Act::Open);
        pipe.act(Duration::ZERO, Act::Write(1 << 40));
        pipe.run(Duration::from_secs(end_s)).delivered
    });
    (after - before) as f64 * 8.0 / 100e6 / 20.0
}

fn bbr() -> Box<dyn Control> {
    Box::new(Bbr::new(&config(), BbrConfig::default()))
}

fn bbr3() -> Box<dyn Control> {
    Box::new(Bbr3::new(&config(), Bbr3Config::default()))
}

/// BBR does not take losses for congestion, and PRR does not govern its window: it has what the
/// path delivers, less its pacing margin of 1 %, the measurement of the delay and the repair of
/// losses.
#[test]
fn bbr_keeps_the_capacity_under_random_loss() {
    for (loss, least) in [(0.0001, 0.98), (0.001, 0.98), (0.01, 0.96), (0.02, 0.95), (0.05, 0.9)] {
        let share = share(bbr, loss, 1);
        assert!((least..1.0 - loss).contains(&share), "{share} at {loss}");
    }
}

/// BBR version 3 below its threshold of 2 %, by the rules of the draft. For 0.74 of the time it
/// cruises, about N = 20 round trips in a row. The first round trip with losses makes the rate
/// delivered in it the bound (§5.5.10.3). In every second cycle this is the last of `ProbeBW_DOWN`,
/// at a pacing gain of 0.9 less 1 %: the bound is 0.88. In the others it follows the measurement of
/// the delay, which takes place every 5 s: the bound is 0.98. Each further round trip with losses
/// lowers the bound by the loss rate p, so that the mean rate is 0.93·(1 - (1 - p)^N)/(N·p): 0.89
/// at p = 0.5 % and 0.85 at 1 %. For 0.2 of the time it probes and drains the queue at 0.99, and
/// for 0.06 it measures the delay and refills the path, at 0.6. The sum is 0.89 and 0.86. The
/// draft's goal of tolerating 1 % ("Design considerations for choosing constant parameters") is not
/// that share, but that a probe can measure the former rate again: (1 - p)^N·2² > 1.
#[test]
fn bbr3_keeps_what_its_bounds_leave_under_random_loss() {
    let shares =
        [(0.0001, 0.92, 0.97), (0.001, 0.88, 0.94), (0.005, 0.86, 0.91), (0.01, 0.83, 0.89)];
    for (loss, least, most) in shares {
        let share = share(bbr3, loss, 1);
        assert!((least..most).contains(&share), "{share} at {loss}");
    }
}

/// At the threshold most probes end with too many losses, and each such end reduces
/// `inflight_longterm`, to 0.7 times the target at least: the share falls below the half.
#[test]
fn bbr3_yields_at_its_threshold() {
    assert!(share(bbr3, 0.02, 1) < 0.5);
    assert!(share(bbr3, 0.05, 1) < 0.1);
}

/// The mean window of `NewReno` is 1.22/sqrt(p) (RFC 5681's AIMD; Mathis and others 1997), whatever
/// the capacity. CUBIC's is 1.054·(RTT/p)^0.75, and at least that of Reno (RFC 9438 §5.1).
#[test]
fn loss_based_controls_follow_their_laws() {
    let rtt_s = 0.1_f64;
    for loss in [0.001, 0.01] {
        let capacity = 100e6 / 8.0 / 1460.0 * rtt_s;
        let reno = share(|| Box::new(NewReno::from(&config())), loss, 1) * capacity;
        let law = 1.22 / loss.sqrt();
        assert!((0.6..1.2).contains(&(reno / law)), "NewReno: {reno} segments, law {law}");
        let cubic = share(|| Box::new(Cubic::new(&config(), CubicConfig::default())), loss, 1);
        let law = law.max(1.054 * ((rtt_s / loss).sqrt() * (rtt_s / loss).sqrt().sqrt()));
        let cubic = cubic * capacity;
        assert!((0.6..1.4).contains(&(cubic / law)), "CUBIC: {cubic} segments, law {law}");
    }
}
