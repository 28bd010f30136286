//! A rule or a constant that the oracle and a medium do not share is found.

use crate::record::compare;
use crate::timing::Characteristics;
use crate::workload::{Arrival, Workload};
use crate::{air, dcf, duplex, edca, in_cell, one_by_one, some};
use kernel::{Bytes, Duration, Instant, Seed};
use wifi::mac::{
    BackoffDraw, Countdown, Eifs, FullDuplex, OwnRts, RtsCts, Serve, SlotGrid, Timing,
};
use wifi::phy::{
    DOT11A, DOT11AC, DOT11AX, DOT11AX_2_4, DOT11B, DOT11G, DOT11N, DOT11N_2_4, Edca, Mode, Standard,
};
use wifi::{Link, MacConfig};
use wire::TrafficClass;

type Alter = fn(&mut MacConfig);

/// In how many of the workloads the cell differs from an oracle with altered rules.
fn differences(workloads: &[Workload], alter: Alter) -> usize {
    let differs = |workload: &&Workload| {
        let mut altered = (*workload).clone();
        alter(&mut altered.config);
        compare(["cell", "oracle"], &in_cell(workload), &air::run(&altered)).is_err()
    };
    workloads.iter().filter(differs).count()
}

fn alter_categories(config: &mut MacConfig, alter: fn(&mut Edca)) {
    let edca = config.edca.as_mut().expect("there is EDCA");
    edca.access_point.iter_mut().chain(&mut edca.stations).for_each(alter);
}

fn alter_duplex(config: &mut MacConfig, alter: fn(&mut FullDuplex)) {
    alter(config.full_duplex.as_mut().expect("there is full duplex"));
}

#[test]
fn an_altered_rule_is_found() {
    let of_both: [(&str, Alter); 6] = [
        ("none", |_| {}),
        ("back-off draw", |config| {
            config.backoff_draw = match config.backoff_draw {
                BackoffDraw::Standard => BackoffDraw::Ns2,
                BackoffDraw::Ns2 => BackoffDraw::Standard,
            }
        }),
        ("retry limit", |config| config.short_retry_limit += 1),
        ("RTS", |config| config.rts_threshold = Bytes(700)),
        ("EIFS", |config| {
            config.timing.eifs = match config.timing.eifs {
                Eifs::None => Eifs::Standard,
                _ => Eifs::None,
            }
        }),
        ("slot grid", |config| {
            config.timing.slot_grid = match config.timing.slot_grid {
                SlotGrid::Free => SlotGrid::Standard,
                _ => SlotGrid::Free,
            }
        }),
    ];
    let of_dcf: [(&str, Alter); 2] = [
        ("countdown", |config| {
            config.countdown = match config.countdown {
                Countdown::Bianchi => Countdown::Standard,
                _ => Countdown::Bianchi,
            }
        }),
        ("window", |config| (config.cw_min, config.cw_max) = (config.cw_min + 1, 1023)),
    ];
    let of_edca: [(&str, Alter); 4] = [
        ("countdown", |config| {
            config.countdown = match config.countdown {
                Countdown::IdleSlots => Countdown::Standard,
                _ => Countdown::IdleSlots,
            }
        }),
        ("AIFSN", |config| alter_categories(config, |edca| edca.aifsn += 1)),
        ("window", |config| alter_categories(config, |edca| edca.cw_min += 1)),
        ("TXOP", |config| {
            alter_categories(config, |edca| {
                edca.txop_limit = edca.txop_limit.saturating_sub(Duration::from_micros(1500));
            });
        }),
    ];
    let all = some(edca::workloads(), 40).into_iter().map(one_by_one).collect::<Vec<_>>();
    for (workloads, rules) in [(some(dcf::workloads(), 40), &of_dcf[..]), (all, &of_edca[..])] {
        for (name, alter) in of_both.iter().chain(rules) {
            let count = differences(&workloads, *alter);
            println!("{name}: {count} of 40");
            assert_eq!(count > 0, *name != "none", "{name}");
        }
    }
}

#[test]
fn an_altered_rule_of_full_duplex_is_found() {
    let of_duplex: [(&str, Alter); 5] = [
        ("bidirectional", |config| {
            alter_duplex(config, |settings| settings.bidirectional = !settings.bidirectional);
        }),
        ("whom to serve", |config| {
            alter_duplex(config, |settings| {
                settings.serve = match settings.serve {
                    Serve::First => Serve::HeadOfLine,
                    _ => Serve::First,
                }
            });
        }),
        ("own RTS", |config| {
            alter_duplex(config, |settings| {
                settings.own_rts = match settings.own_rts {
                    OwnRts::Reset => OwnRts::Double,
                    OwnRts::Double => OwnRts::Reset,
                }
            });
        }),
        ("RTS and CTS", |config| {
            alter_duplex(config, |settings| {
                settings.rts_cts = match settings.rts_cts {
                    RtsCts::Required => RtsCts::Optional,
                    RtsCts::Optional => RtsCts::Required,
                }
            });
        }),
        ("half duplex", |config| config.full_duplex = None),
    ];
    for (name, alter) in of_duplex {
        assert!(differences(&some(duplex::workloads(), 40), alter) > 0, "{name}");
    }
}

/// A network with another standard than the table's. Its times are those of `alter`.
fn altered(standard: &'static Standard, alter: impl Fn(&mut Standard)) -> Timing {
    let mut other = *standard;
    alter(&mut other);
    Timing::of(Box::leak(Box::new(other)))
}

/// Two stations that have something to send, more than once, and the access point answers.
fn exchange(timing: Timing) -> Workload {
    let link = |mode| Link { mode, data_loss: 0.0, ack_loss: 0.0 };
    let links = vec![link(timing.standard.fastest()); 2];
    let arrival = |n: u64| Arrival {
        at: Instant::ZERO + Duration::from_micros(100 * n),
        node: 1 + n as u32 % 2,
        to: Some(0),
        class: TrafficClass::default(),
        size: Bytes(1000),
    };
    let packets = (0..20).map(arrival).collect();
    let config = MacConfig { timing, ..MacConfig::default() };
    Workload { config, links, seed: Seed { root: 1, replication: 0 }, packets }
}

#[test]
fn a_wrong_constant_is_found() {
    let agrees = |timing: Timing| {
        let workload = exchange(timing);
        compare(["cell", "oracle"], &in_cell(&workload), &air::run(&workload)).is_ok()
    };
    let us = Duration::from_micros;
    for standard in [&DOT11A, &DOT11B, &DOT11G] {
        assert!(agrees(Timing::of(standard)), "{}", standard.name());
        for wrong in [1, 9, 11, 17] {
            let timing = altered(standard, |other| other.sifs = us(wrong));
            assert!(!agrees(timing), "{}: a SIFS of {wrong} us", standard.name());
        }
        for wrong in [8, 10, 19, 21] {
            let timing = altered(standard, |other| other.slot = us(wrong));
            assert!(!agrees(timing), "{}: a slot of {wrong} us", standard.name());
        }
    }
    // Answers at 12 Mb/s instead of 24, as if 24 Mb/s were no rate of OFDM.
    let few: Vec<Mode> =
        DOT11A.modes.iter().filter(|mode| mode.rate.0 < 24_000_000).copied().collect();
    let few = few.leak();
    let mut slow = exchange(altered(&DOT11A, |other| other.modes = few));
    for link in &mut slow.links {
        link.mode = DOT11A.fastest();
    }
    let cell = in_cell(&slow);
    slow.config.timing = Timing::of(&DOT11A);
    assert!(compare(["cell", "oracle"], &cell, &air::run(&slow)).is_err(), "a wrong rate of ACKs");
}

#[test]
fn standards_have_the_characteristics_of_the_tables() {
    for standard in
        [&DOT11A, &DOT11B, &DOT11G, &DOT11N, &DOT11N_2_4, &DOT11AC, &DOT11AX, &DOT11AX_2_4]
    {
        let Characteristics { sifs_us, slot_us, cw_min, cw_max, .. } =
            Characteristics::of(standard);
        let us = |duration: Duration| duration.0 / 1000;
        let own = (us(standard.sifs), us(standard.slot), standard.cw_min, standard.cw_max);
        assert_eq!(own, (sifs_us, slot_us, cw_min, cw_max), "{standard:?}");
    }
}
