//! The sources against numbers of their specifications and of the literature.

use super::*;
use crate::phy::{Band, Primary, Width};
use kernel::{Duration, Rng, Span};

const SEED: Seed = Seed { root: 1, replication: 0 };

fn us(n: u64) -> Instant {
    Instant(n * 1000)
}

const PRIMARY: Primary = Primary { band: Band::Ghz2_4, number: 6 };

/// The channel of 802.11b.
fn channel() -> Spectrum {
    Spectrum::of(PRIMARY, Width::Mhz22)
}

fn interferer(source: SourceSettings) -> InterfererConfig {
    let (from, until) = (Instant::ZERO, Instant::NEVER);
    InterfererConfig { source, from, until, devices: Vec::new(), sensed: false }
}

fn source(settings: &SourceSettings, index: u32) -> Box<dyn Source> {
    settings.get().build(&Surroundings { seed: SEED, index, channel: channel() })
}

fn sco(format: VoiceFormat) -> SourceSettings {
    SourceSettings::Sco(ScoSettings { format, ..ScoSettings::default() })
}

/// The bursts of a source that end after `from` and begin before `to`, in microseconds.
fn bursts(source: &mut dyn Source, from: u64, to: u64) -> Vec<Burst> {
    let mut all = Vec::new();
    let mut at = us(from);
    while let Some(burst) = source.ending_after(at).filter(|burst| burst.start < us(to)) {
        assert!(burst.end > at && burst.end > burst.start);
        all.push(burst);
        at = burst.end;
    }
    all
}

/// Starts and ends in microseconds.
fn spans(source: &mut dyn Source, from: u64, to: u64) -> Vec<(u64, u64)> {
    let bursts = bursts(source, from, to);
    bursts.iter().map(|burst| (burst.start.0 / 1000, burst.end.0 / 1000)).collect()
}

/// The fraction of frames of this length, sent at random instants, that the bursts of voice links
/// overlap; each of many links has its own phase.
fn loss(format: VoiceFormat, length: Duration) -> f64 {
    let (links, frames) = (200_u32, 500_u32);
    let mut instants: Rng = SEED.stream("test", 0);
    let (mut lost, mut found) = (0, Vec::new());
    for index in 0..links {
        let seed = Seed { root: u64::from(index), ..SEED };
        let mut all = Interferers::new(&[interferer(sco(format))], PRIMARY, Width::Mhz22, &seed);
        for _ in 0..frames {
            let start = Instant(u64::from(instants.up_to(u32::MAX)));
            found.clear();
            all.overlapping(Span { start, end: start + length }, channel(), &mut found);
            lost += u32::from(!found.is_empty());
        }
    }
    f64::from(lost) / f64::from(links * frames)
}

/// 1536 bytes with the long preamble at 1, 2, 5.5 and 11 Mb/s, and a MAC ACK at 11 Mb/s: the
/// arithmetic of bursts of 366 us at a random phase (as `simoom.models.bluetooth`, rule "bursts").
#[test]
fn voice_links_corrupt_frames_as_often_as_their_bursts_overlap_them() {
    let data = [1.0, 2.0, 5.5, 11.0]
        .map(|mbps: f64| Duration::from_micros(192 + libm::ceil(8.0 * 1536.0 / mbps) as u64));
    let ack = Duration::from_micros(203);
    let expected = [
        (VoiceFormat::Hv1, [0.999, 0.970, 0.764, 0.578], 0.253),
        (VoiceFormat::Hv2, [0.965, 0.823, 0.513, 0.341], 0.127),
        (VoiceFormat::Hv3, [0.890, 0.683, 0.370, 0.227], 0.084),
    ];
    for (format, of_data, of_ack) in expected {
        let lengths = data.into_iter().zip(of_data).chain([(ack, of_ack)]);
        for (length, expected) in lengths {
            let lost = loss(format, length);
            // Three and a half standard deviations of 100,000 draws, and the rounding.
            let tolerance = 3.5 * (expected * (1.0 - expected) / 1e5_f64).sqrt() + 0.0006;
            let seen = format!("{format:?}, {length}: {lost} of {expected}");
            assert!((lost - expected).abs() < tolerance, "{seen}");
        }
    }
}

#[test]
fn voice_uses_two_slots_of_each_period_and_takes_turns() {
    let of = |format| {
        let phase = Some(Duration::from_micros(100));
        SourceSettings::Sco(ScoSettings { format, phase, ..ScoSettings::default() })
    };
    let hv1 = [(100, 466), (725, 1091), (1350, 1716), (1975, 2341)];
    assert_eq!(spans(&mut *source(&of(VoiceFormat::Hv1), 0), 90, 2000), hv1);
    let hv3 = [(100, 466), (725, 1091), (3850, 4216), (4475, 4841)];
    let mut voice = source(&of(VoiceFormat::Hv3), 0);
    assert_eq!(spans(&mut *voice, 90, 5000), hv3);
    let devices: Vec<u8> = bursts(&mut *voice, 90, 5000).iter().map(|burst| burst.device).collect();
    assert_eq!(devices, [0, 1, 0, 1]);
    // From 0.1 ms on, 1000 packets in 500 periods of 3.75 ms.
    let packets = voice.packets(Instant(100_000 + 500 * 3_750_000)).unwrap();
    assert_eq!(packets.sent - voice.packets(us(100)).unwrap().sent, 1000);
}

#[test]
fn an_adapted_link_leaves_the_channel_of_the_network() {
    let afh = AfhSettings { classify: Duration::from_secs(2), ..AfhSettings::default() };
    let settings = ScoSettings { afh: Some(afh), ..ScoSettings::default() };
    let mut voice = source(&SourceSettings::Sco(settings), 0);
    let mut inside = |from, to| {
        let all = bursts(&mut *voice, from, to);
        let inside = all.iter().filter(|burst| burst.spectrum.share_in(channel()) > 0.0).count();
        inside as f64 / all.len() as f64
    };
    // Three and a half standard deviations of 3200 draws.
    assert!((inside(0, 2_000_000) - 22.0 / 79.0).abs() < 0.028);
    assert_eq!(inside(2_001_000, 20_000_000), 0.0);
}

/// The map that voice learns in 2 s if `is_bad` says which of its bursts are destroyed: the centres
/// of the channels in use from then on.
fn learned(is_bad: impl Fn(usize, &Burst) -> bool) -> Vec<u32> {
    let classify = Duration::from_secs(2);
    let afh = AfhSettings { classify, learned: true, ..AfhSettings::default() };
    let settings = ScoSettings { afh: Some(afh), ..ScoSettings::default() };
    let mut voice = source(&SourceSettings::Sco(settings), 0);
    let (mut at, mut number) = (us(0), 0);
    while let Some(burst) = voice.ending_after(at).filter(|burst| burst.start < us(2_000_000)) {
        if is_bad(number, &burst) {
            voice.on_destroyed(&burst);
            voice.on_destroyed(&burst);
        }
        (at, number) = (burst.end, number + 1);
    }
    let adapted = bursts(&mut *voice, 2_001_000, 20_000_000);
    let mut centres: Vec<u32> = adapted.iter().map(|b| b.spectrum.centre_mhz()).collect();
    centres.sort_unstable();
    centres.dedup();
    centres
}

#[test]
fn a_link_learns_the_channel_of_the_network_from_its_errors() {
    // Channel 6 of 802.11b, 22 MHz around 2437 MHz.
    let outside: Vec<u32> = (2402..=2480).filter(|mhz| !(2427..=2448).contains(mhz)).collect();
    assert_eq!(learned(|_, burst| burst.spectrum.share_in(channel()) > 0.0), outside);
    assert_eq!(learned(|_, _| false), (2402..=2480).collect::<Vec<_>>(), "nobody disturbs it");
    // One packet in 25 is destroyed, of some 40 of each channel: few channels lose a fifth.
    assert!(learned(|number, _| number % 25 == 0).len() > 70);
}

#[test]
fn a_link_keeps_twenty_channels_even_if_all_are_bad() {
    let kept = learned(|number, burst| burst.spectrum.centre_mhz() > 2410 || number % 2 == 0);
    assert_eq!(kept.len(), 20);
    assert_eq!(kept[..9], (2402..=2410).collect::<Vec<_>>(), "those with the fewest errors");
}

#[test]
fn a_link_with_retransmissions_repeats_what_was_destroyed() {
    let phase = Some(Duration::ZERO);
    let settings =
        EscoSettings { phase, retransmission_slots: 4, period_slots: 8, ..EscoSettings::default() };
    let mut voice = source(&SourceSettings::Esco(settings), 0);
    // 126 us and 8 times 30 + 2 bytes at 1 Mb/s.
    assert_eq!(spans(&mut *voice, 0, 5000), [(0, 382), (625, 1007)]);
    let first = voice.ending_after(us(0)).unwrap();
    voice.on_destroyed(&first);
    assert_eq!(spans(&mut *voice, 0, 5000), [(0, 382), (625, 1007), (1250, 1632)]);
    let second = voice.ending_after(us(1100)).unwrap();
    voice.on_destroyed(&second);
    voice.on_destroyed(&second);
    let all = [(0, 382), (625, 1007), (1250, 1632), (2500, 2882)];
    assert_eq!(spans(&mut *voice, 0, 5000), all);
    let third = voice.ending_after(us(2400)).unwrap();
    voice.on_destroyed(&third);
    assert_eq!(spans(&mut *voice, 0, 5000), all, "the window is over");
    let packets = voice.packets(us(5000)).unwrap();
    assert_eq!((packets.sent, packets.transmissions(), packets.lost()), (2, 4, 1));
}

/// 820 bytes of SBC and 17 of headers in 20 ms are two 2-DH5 packets: one of 679 bytes, which lasts
/// 144 us and 683 bytes at 2 Mb/s, and one of 158 bytes, which lasts 144 us and 162 bytes.
#[test]
fn music_is_a_burst_of_packets_in_each_period() {
    let phase = Some(Duration::ZERO);
    let settings = A2dpSettings { phase, ..A2dpSettings::default() };
    let mut music = source(&SourceSettings::A2dp(settings), 0);
    let burst = [(0, 2876), (3125, 3251), (3750, 4542), (6875, 7001)];
    assert_eq!(spans(&mut *music, 0, 20_000), burst);
    assert_eq!(spans(&mut *music, 4000, 20_000), burst[2..]);
    assert_eq!(spans(&mut *music, 20_000, 24_000)[..1], [(20_000, 22_876)]);
    assert_eq!(music.packets(us(40_000)).unwrap().sent, 8);
    assert_eq!(music.packets(us(23_000)).unwrap().sent, 5);
}

#[test]
fn advertising_uses_three_channels_at_intervals_of_100_to_110_ms() {
    let mut advertising = source(&SourceSettings::Advertising(AdvertisingSettings::default()), 0);
    let all = bursts(&mut *advertising, 0, 100_000_000);
    let starts: Vec<u64> = all.iter().step_by(3).map(|burst| burst.start.0 / 1000).collect();
    let gaps: Vec<u64> = starts.windows(2).map(|pair| pair[1] - pair[0]).collect();
    assert!(gaps.iter().all(|gap| (100_000..=110_000).contains(gap)), "{gaps:?}");
    // Uniform from 0 to 10 ms: the mean of 950 draws has a standard deviation of 94 us.
    let mean = gaps.iter().sum::<u64>() as f64 / gaps.len() as f64;
    assert!((mean - 105_000.0).abs() < 330.0, "{mean}");
    let expected = [2402, 2426, 2480].map(|mhz| Spectrum::narrow(mhz, 2));
    assert_eq!([0, 1, 2].map(|place| all[place].spectrum), expected);
    assert_eq!(all[0].end - all[0].start, Duration::from_micros(376));
    // A look back finds the same bursts.
    let last = all[all.len() - 1];
    assert_eq!(advertising.ending_after(Instant(last.start.0 - 1)).map(|b| b.end), Some(last.end));
}

#[test]
fn a_duty_cycle_and_a_microwave_oven_are_on_in_each_period() {
    let [on, period, phase] = [250, 2000, 500].map(Duration::from_millis);
    let cycle = DutyCycleSettings { on, period, phase: Some(phase) };
    let mut cycle = source(&SourceSettings::DutyCycle(cycle), 0);
    let expected = [(500_000, 750_000), (2_500_000, 2_750_000)];
    assert_eq!(spans(&mut *cycle, 0, 3_000_000), expected);
    assert_eq!(spans(&mut *cycle, 600_000, 1_000_000), expected[..1]);
    let oven = MicrowaveSettings {
        mains_hz: 60.0,
        phase: Some(Duration::ZERO),
        ..MicrowaveSettings::default()
    };
    let mut oven = source(&SourceSettings::Microwave(oven), 0);
    assert_eq!(spans(&mut *oven, 0, 20_000), [(0, 8333), (16_666, 25_000)]);
    // 80 MHz around 2450 MHz: 22 of them in channel 6.
    let share = oven.ending_after(us(0)).unwrap().spectrum.share_in(channel());
    assert_eq!(share, 22.0 / 80.0);
}

#[test]
fn phases_are_random_and_belong_to_the_interferer() {
    let cycle = || SourceSettings::DutyCycle(DutyCycleSettings::default());
    let first = |index| source(&cycle(), index).ending_after(Instant::ZERO).unwrap().end;
    assert_eq!(first(3), first(3));
    let ends: Vec<Instant> = (0..50).map(first).collect();
    assert!(ends.iter().max().unwrap().0 > 9_000_000 && ends.iter().min().unwrap().0 < 1_500_000);
}

#[test]
fn a_list_of_times_says_when_a_source_is_on() {
    let csv = "on,off\n0.5,0.75\n\n0.75, 0.8\n1.5,1.6\n".to_owned();
    let list = |period| OnOffSettings { csv: csv.clone(), period };
    let all = [(500_000, 750_000), (750_000, 800_000), (1_500_000, 1_600_000)];
    let mut once = source(&SourceSettings::OnOff(list(None)), 0);
    assert_eq!(spans(&mut *once, 0, 9_000_000), all);
    let mut again = source(&SourceSettings::OnOff(list(Some(Duration::from_secs(2)))), 0);
    assert_eq!(spans(&mut *again, 1_000_000, 2_600_000), [all[2], (2_500_000, 2_750_000)]);
}

#[test]
fn a_reactive_jammer_hits_frames_that_last_longer_than_its_delay() {
    let mut jammer = source(&SourceSettings::Reactive(ReactiveSettings::default()), 0);
    for (start, end) in [(100, 115), (1000, 1500), (1040, 1500), (2000, 2500)] {
        jammer.on_frame(us(start), us(end));
    }
    assert_eq!(spans(&mut *jammer, 0, 9000), [(1020, 1070), (2020, 2070)]);
}

#[test]
fn an_interferer_is_silent_outside_of_its_time() {
    let jammer = SourceSettings::Jammer(JammerSettings {});
    let config = InterfererConfig { from: us(100), until: us(200), ..interferer(jammer) };
    let mut all = Interferers::new(&[config], PRIMARY, Width::Mhz22, &SEED);
    let mut hits = |from, to| {
        let mut found = Vec::new();
        all.overlapping(Span { start: us(from), end: us(to) }, channel(), &mut found);
        found.iter().map(|arrival| (arrival.burst.start, arrival.burst.end)).collect::<Vec<_>>()
    };
    assert_eq!(hits(0, 100), []);
    assert_eq!(hits(50, 150), [(us(100), us(200))]);
    assert_eq!(hits(200, 300), []);
}

/// Table of paper 003 with its printed numbers: 0.27 for HV1, and 0.081 for HV3.
#[test]
fn whole_slots_corrupt_by_rate_and_size() {
    let of = |utilisation, slot_probability, bits: u64, mbps: f64| {
        let length = Duration::from_secs_f64(bits as f64 / (mbps * 1e6));
        WholeSlots { utilisation, slot_probability }.corruption(length, 22)
    };
    let printed = [(1.0, 0.9975), (2.0, 0.9411), (5.5, 0.6110), (11.0, 0.27)];
    for (mbps, expected) in printed {
        let corruption = of(1.0, Some(0.27), 12_000, mbps);
        assert!((corruption - expected).abs() < 6e-5, "{mbps}: {corruption}");
    }
    assert!((of(1.0 / 3.0, Some(0.081), 12_000, 5.5) - 0.2238).abs() < 6e-5);
    assert!((of(1.0 / 3.0, None, 12_000, 11.0) - 0.0928).abs() < 6e-5);
    assert_eq!(of(1.0, None, 320, 1.0), 0.0, "a TCP ACK lasts for no whole slot");
}
