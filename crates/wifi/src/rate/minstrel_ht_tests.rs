//! The rules of Minstrel-HT, and its throughput on channels with A-MPDUs.

use super::*;
use crate::phy::{Band, DOT11AC, ModeClass, TxVector};
use kernel::Seed;

/// VHT at 20 MHz with a short guard interval: nine MCS with one and with two streams.
fn modes() -> Vec<Mode> {
    let base = TxVector { guard: Guard::Ns400, ..TxVector::of(ModeClass::Vht, Band::Ghz5) };
    (1..=2)
        .flat_map(|streams| (0..=8).map(move |mcs| (mcs, streams)))
        .map(|(mcs, streams)| TxVector { mcs, streams, ..base }.mode().unwrap())
        .collect()
}

fn machine() -> MinstrelHt {
    let rng = Seed { root: 2, replication: 0 }.stream("rate.sample", 0);
    MinstrelHt::new(&Ladder::new(&DOT11AC, modes()), rng)
}

/// Sets the success probability of each mode, those with one stream first.
fn known(probability: impl Fn(&Mode) -> f64) -> MinstrelHt {
    let mut machine = machine();
    for entry in &mut machine.entries {
        entry.stats.count(1000, (probability(&entry.rung.mode) * 1000.0) as u32);
    }
    machine.update(Instant::ZERO);
    machine
}

fn report(mode: Mode, sent: u32, acked: u32) -> TxReport {
    TxReport { mode, rts: false, sent, answer: Answer::Acked(acked), snr: None }
}

#[test]
fn groups_are_of_equal_streams_width_and_guard() {
    let machine = machine();
    assert_eq!(machine.groups.iter().map(|group| group.first).collect::<Vec<_>>(), [0, 9]);
    assert!(machine.entries[..9].iter().all(|entry| entry.rung.mode.streams == 1));
}

#[test]
fn above_ninety_percent_only_the_rate_counts() {
    let machine = known(|mode| if mode.mcs == 8 && mode.streams == 2 { 0.91 } else { 1.0 });
    assert_eq!(machine.best.throughput, 17);
    assert_eq!(machine.best.probability, 17, "safe from 75 % on");
    let machine = known(|mode| if mode.mcs == 8 && mode.streams == 2 { 0.7 } else { 1.0 });
    assert_eq!(machine.best.throughput, 16);
}

#[test]
fn aggregation_makes_fast_modes_faster() {
    let mut machine = known(|_| 1.0);
    let gain = |machine: &MinstrelHt| {
        machine.throughput(&machine.entries[17]) / machine.throughput(&machine.entries[0])
    };
    let alone = gain(&machine);
    machine.mean_mpdus = 32.0;
    let together = gain(&machine);
    // The rates differ by 173.3/7.2 = 24. With single MPDUs, the overhead of an access hides most
    // of this.
    assert!(alone < 10.0 && together > 18.0, "{alone} {together}");
}

#[test]
fn samples_are_few_and_never_slow() {
    let mut machine = known(|mode| if mode.streams == 1 { 1.0 } else { 0.5 });
    let best = machine.best.throughput;
    let mut samples = 0;
    for _ in 0..10_000 {
        let mode = machine.select(Instant::ZERO, 0).mode;
        let place = machine.entries.iter().position(|e| e.rung.mode == mode).unwrap();
        if place != best {
            samples += 1;
            assert!(machine.time(&machine.entries[place]) < machine.time(&machine.entries[best]));
            let next = machine.select(Instant::ZERO, 1).mode;
            assert_eq!(next, machine.entries[best].rung.mode, "one attempt, then the best");
        }
        machine.on_report(Instant::ZERO, &report(mode, 1, 1));
    }
    // A sample in each 18 frames; of the sampled modes, the faster ones are used.
    assert!(samples > 0 && samples <= 10_000 / 18, "{samples}");
}

#[test]
fn a_sample_is_not_aggregated_and_its_repetition_is() {
    let mut machine = known(|mode| if mode.streams == 1 { 1.0 } else { 0.5 });
    let best = machine.entries[machine.best.throughput].rung.mode;
    let mut samples = 0;
    for _ in 0..1000 {
        let choice = machine.select(Instant::ZERO, 0);
        assert_eq!(choice.alone, choice.mode != best);
        samples += u32::from(choice.alone);
        assert!(!machine.select(Instant::ZERO, 1).alone);
        machine.on_report(Instant::ZERO, &report(choice.mode, 1, 1));
    }
    assert!(samples > 0);
}

#[test]
fn a_sample_waits_for_an_attempt() {
    let mut machine = known(|mode| if mode.streams == 1 { 1.0 } else { 0.5 });
    let best = machine.entries[machine.best.throughput].rung.mode;
    let mut samples = 0;
    for _ in 0..10_000 {
        let mode = machine.select(Instant::ZERO, 0).mode;
        // As if the rest of a TXOP was too short.
        assert_eq!(machine.select(Instant::ZERO, 0).mode, mode);
        samples += u32::from(mode != best);
        machine.on_report(Instant::ZERO, &report(mode, 1, 1));
    }
    assert!(samples > 0);
}

#[test]
fn slow_modes_are_sampled_after_twenty_updates() {
    let mut machine = known(|mode| if mode.mcs == 3 { 0.9 } else { 0.0 });
    let best = machine.best.throughput;
    let slow = (0..18).find(|&n| n != best && !machine.is_best(n)).unwrap();
    let used = |machine: &mut MinstrelHt| {
        let mode = machine.entries[slow].rung.mode;
        (0..2000).any(|_| {
            let chosen = machine.select(Instant::ZERO, 0).mode;
            machine.on_report(Instant::ZERO, &report(chosen, 40, 40));
            chosen == mode
        })
    };
    assert!(!used(&mut machine));
    for entry in &mut machine.entries {
        entry.stats.idle = SLOW_AFTER;
    }
    assert!(used(&mut machine));
}

impl MinstrelHt {
    fn is_best(&self, place: usize) -> bool {
        let Best { throughput, second, probability } = self.best;
        [throughput, second, probability].contains(&place)
    }
}

#[test]
fn a_sudden_failure_reduces_the_streams() {
    let mut machine = known(|_| 1.0);
    let two = machine.entries[machine.best.throughput].rung.mode;
    assert_eq!(two.streams, 2);
    machine.on_report(Instant::ZERO, &report(two, 30, 0));
    assert_eq!(machine.best.throughput, 17, "thirty are not enough to tell");
    machine.on_report(Instant::ZERO, &report(two, 1, 0));
    let now = machine.entries[machine.best.throughput].rung.mode;
    assert_eq!((now.streams, now.mcs), (1, 8));
}

#[test]
fn the_mean_length_is_smoothed() {
    let mut machine = machine();
    let mode = machine.entries[0].rung.mode;
    machine.on_report(Instant::ZERO, &report(mode, 21, 21));
    machine.update(Instant::ZERO);
    assert_eq!(machine.mean_mpdus, 6.0);
    machine.update(Instant::ZERO);
    assert_eq!(machine.mean_mpdus, 6.0, "nothing sent");
}

/// Throughput as a share of that of the best mode, and the index of that mode. PPDUs have 32 MPDUs
/// with independent losses.
fn share_of_best(success: impl Fn(&Mode) -> f64) -> f64 {
    let mut machine = machine();
    let mut rng = Seed { root: 8, replication: 0 }.stream("test", 0);
    let time = |entry: &Entry, mpdus: u64| {
        let overhead = entry.rung.time.saturating_sub(entry.data);
        overhead + entry.data * mpdus
    };
    let best = machine
        .entries
        .iter()
        .map(|entry| 32.0 * success(&entry.rung.mode) / time(entry, 32).as_secs_f64())
        .fold(0.0, f64::max);
    let mut now = Instant::ZERO;
    let mut delivered = 0;
    let (warm, end) = (Instant(3_000_000_000), Instant(8_000_000_000));
    while now < end {
        let AttemptParameters { mode, alone, .. } = machine.select(now, 0);
        let mpdus = if alone { 1 } else { 32 };
        let entry = machine.entries.iter().find(|entry| entry.rung.mode == mode).unwrap();
        now += time(entry, u64::from(mpdus));
        let acked = (0..mpdus).filter(|_| rng.chance(success(&mode))).count() as u32;
        let answer = if acked == 0 { Answer::None } else { Answer::Acked(acked) };
        machine.on_report(now, &TxReport { answer, ..report(mode, mpdus, acked) });
        delivered += if now >= warm { acked } else { 0 };
    }
    f64::from(delivered) / end.since(warm).as_secs_f64() / best
}

#[test]
fn it_finds_the_best_of_many_modes() {
    // A cliff by rate, a cliff by streams, and losses that grow with the rate.
    let by_rate = share_of_best(|mode| f64::from(u8::from(mode.rate.as_mbps() < 80.0)));
    let by_streams = share_of_best(|mode| if mode.streams == 1 { 0.98 } else { 0.02 });
    let gentle = share_of_best(|mode| 1.0 / (1.0 + mode.rate.as_mbps() / 300.0));
    for share in [by_rate, by_streams, gentle] {
        assert!((0.9..=1.01).contains(&share), "{by_rate} {by_streams} {gentle}");
    }
}

const LINUX_6: MinstrelHtSettings =
    MinstrelHtSettings { sampling: Sampling::Linux6, fewer_streams_last: true };

#[test]
fn the_slowest_mode_of_the_chain_has_fewer_streams() {
    // All modes succeed, those of one stream up to MCS 4.
    let works = |mode: &Mode| mode.streams == 2 || mode.mcs <= 4;
    let last = |settings: &MinstrelHtSettings| {
        let mut machine = known(|mode| f64::from(u8::from(works(mode)))).with(settings);
        machine.update(Instant::ZERO);
        let chosen = machine.select(Instant::ZERO + Duration::from_millis(1), 0);
        assert!(!chosen.alone && chosen.mode.mcs == 8 && chosen.mode.streams == 2);
        (chosen.slowest.streams, chosen.slowest.mcs)
    };
    let linux_5 = MinstrelHtSettings { sampling: Sampling::Linux5, ..LINUX_6 };
    assert_eq!(last(&MinstrelHtSettings::default()), (2, 7), "the second best");
    assert_eq!(last(&linux_5), (1, 4));
}

#[test]
fn linux_6_samples_the_next_faster_mode_and_never_more_than_fifty_a_second() {
    // Modes up to MCS 4 succeed.
    let works = |mode: &Mode| mode.streams == 1 && mode.rate.0 < 45_000_000;
    let mut machine = known(|mode| f64::from(u8::from(works(mode)))).with(&LINUX_6);
    machine.update(Instant::ZERO);
    let best = machine.entries[machine.best.throughput].rung.mode.rate;
    let mut samples = Vec::new();
    for ms in 0..1000 {
        let now = Instant::ZERO + Duration::from_millis(ms);
        let chosen = machine.select(now, 0);
        if chosen.alone {
            samples.push((ms, chosen.mode.rate));
        }
        let acked = u32::from(chosen.mode.rate <= best);
        machine.on_report(now, &report(chosen.mode, 1, acked));
    }
    assert!((30..=50).contains(&samples.len()), "{}", samples.len());
    assert!(samples.windows(2).all(|pair| pair[1].0 - pair[0].0 >= 20));
    let next = machine.entries.iter().map(|entry| entry.rung.mode.rate).filter(|&rate| rate > best);
    assert_eq!(samples[0].1, next.min().expect("there are faster modes"), "the first of each six");
    assert!(samples.iter().all(|&(_, rate)| rate != best));
}
