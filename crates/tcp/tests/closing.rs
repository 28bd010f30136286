//! Either end closes or aborts at any time, over a pipe that loses, delays, duplicates and
//! reorders: what both ends closed has arrived, and no connection stays open.

use crate::pipe::{Act, Path, Pipe};
use crate::plain::plain;
use kernel::{Bytes, Duration};
use proptest::prelude::*;
use tcp::control::NewReno;
use tcp::{Config, Nagle, Recovery, Sack};

const END: Duration = Duration::from_secs(100_000);

fn config(sack: bool, nagle: Nagle, window: u64) -> Config {
    let recovery = if sack { Recovery::Sack(Sack::default()) } else { Recovery::NewReno };
    let rto_min = Some(Duration::from_millis(200));
    let (mss, window) = (Some(Bytes(1000)), Some(Bytes(window)));
    Config { mss, window, recovery, nagle, rto_min, closes: true, ..plain() }
}

fn path(loss: f64, jitter_ms: u64, duplication: f64) -> Path {
    let jitter = Duration::from_millis(jitter_ms);
    Path { jitter, loss, duplication, ..Path::clean(Duration::from_millis(20)) }
}

fn pipe(config: &Config, path: &Path, seed: u64) -> Pipe {
    let control = Box::new(NewReno::from(config));
    Pipe::seeded(config, control, path.clone(), path.clone(), seed)
}

fn nagle() -> impl Strategy<Value = Nagle> {
    prop_oneof![Just(Nagle::Off), Just(Nagle::Nagle), Just(Nagle::Minshall)]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, ..ProptestConfig::default() })]

    /// Small writes, corked or not, with any rule for small segments and any window.
    #[test]
    fn what_is_written_arrives_whichever_end_closes_first(
        sack in any::<bool>(),
        nagle in nagle(),
        window in 1_000..20_000u64,
        loss in 0.0..0.2f64,
        jitter in 0..30u64,
        duplication in 0.0..0.2f64,
        writes in prop::collection::vec((0..3_000u64, 1..2_500u64, any::<bool>()), 1..30),
        ends in (0..4_000u64, 0..4_000u64),
        seed in any::<u64>(),
    ) {
        let mut pipe = pipe(&config(sack, nagle, window), &path(loss, jitter, duplication), seed);
        let ms = Duration::from_millis;
        pipe.act(ms(0), Act::Open);
        let mut written = 0;
        for (at, amount, corked) in writes {
            pipe.act(ms(at), Act::Cork(corked));
            pipe.act(ms(at), Act::Write(amount));
            written += if at < 3_000 + ends.0 { amount } else { 0 };
        }
        pipe.act(ms(3_000 + ends.0), Act::Close);
        pipe.act(ms(1 + ends.1), Act::CloseReceiver);
        pipe.run(END);
        prop_assert_eq!(pipe.outcome.delivered, written);
        prop_assert!(pipe.outcome.acknowledged.is_some());
        prop_assert!(pipe.outcome.sender_closed.is_some(), "{:?}", pipe.sender);
        prop_assert!(pipe.outcome.receiver_closed.is_some(), "{:?}", pipe.receiver);
    }

    /// An abort ends both ends, and neither sends for ever.
    #[test]
    fn an_abort_ends_both_ends(
        sack in any::<bool>(),
        jitter in 0..30u64,
        amount in 1..200_000u64,
        by_sender in any::<bool>(),
        at in 100..1_000u64,
        seed in any::<u64>(),
    ) {
        let mut pipe = pipe(&config(sack, Nagle::Off, 20_000), &path(0.0, jitter, 0.0), seed);
        pipe.act(Duration::ZERO, Act::Open);
        pipe.act(Duration::ZERO, Act::Write(amount));
        let abort = if by_sender { Act::Abort } else { Act::AbortReceiver };
        pipe.act(Duration::from_millis(at), abort);
        pipe.run(END);
        prop_assert!(pipe.outcome.sender_closed.is_some(), "{:?}", pipe.sender);
        prop_assert!(pipe.outcome.receiver_closed.is_some(), "{:?}", pipe.receiver);
        prop_assert!(pipe.outcome.delivered <= amount);
    }
}
