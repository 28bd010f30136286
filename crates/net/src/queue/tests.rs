//! Properties of all disciplines, and helpers that tests of queues share.

use super::*;
use kernel::{Id, Rng, Seed};
use proptest::prelude::*;
use std::collections::VecDeque;
use wire::{Body, Datagram, FlowId, TrafficClass};

/// A datagram of `size` bytes, with 28 bytes of headers, to the node of its flow's number.
pub(crate) fn packet(flow: u32, number: u64, size: u64) -> Packet {
    let len = size.saturating_sub(28) as u32;
    let body = Body::Datagram(Datagram { flow: FlowId(flow), number, len, stream: 0 });
    Packet::new(NodeId(0), Some(NodeId(flow)), Bytes(size), Instant::ZERO, body)
}

/// The same, from an ECN-capable flow.
pub(crate) fn capable(flow: u32, number: u64, size: u64) -> Packet {
    Packet { ecn: Ecn::Ect0, ..packet(flow, number, size) }
}

pub(crate) fn number(packet: &Packet) -> u64 {
    let Body::Datagram(datagram) = packet.body else { panic!("not a datagram") };
    datagram.number
}

pub(crate) fn rng() -> Rng {
    Seed { root: 7, replication: 0 }.stream("test.queue", 0)
}

/// A drop-tail queue.
pub(crate) fn drop_tail(limit: Limit) -> Box<dyn Queue> {
    DropTailConfig { limit }.build(OutputLink::Wire(None, Duration::ZERO), rng())
}

/// Offers a packet; returns whether it waits now.
pub(crate) fn accepts(queue: &mut dyn Queue, now: Instant, packet: Packet) -> bool {
    let mut out = Vec::new();
    queue.push(now, &packet, &mut out);
    !out.contains(&Signal::Drop(packet))
}

/// Takes all packets: flow and number of each.
pub(crate) fn drain(queue: &mut dyn Queue, now: Instant) -> Vec<(u32, u64)> {
    let popped = std::iter::from_fn(|| queue.pop(now, &mut Vec::new()));
    popped.map(|p| (p.flow().unwrap().0, number(&p))).collect()
}

fn limit() -> impl Strategy<Value = Limit> {
    (prop::option::of(0u32..20), prop::option::of(0u64..20_000))
        .prop_map(|(packets, bytes)| Limit { packets, bytes: bytes.map(Bytes) })
}

fn law() -> impl Strategy<Value = ControlLaw> {
    (0u64..10, 1u64..50, 0u64..3000, any::<bool>()).prop_map(|(target, interval, mtu, ecn)| {
        ControlLaw {
            target: Duration::from_millis(target),
            interval: Duration::from_millis(interval),
            mtu: Bytes(mtu),
            ecn,
            ..ControlLaw::default()
        }
    })
}

fn red() -> impl Strategy<Value = RedConfig> {
    let flags = [any::<bool>(), any::<bool>(), any::<bool>(), any::<bool>(), any::<bool>()];
    let numbers = (0.0..5.0f64, 0.1..5.0f64, 0.01..1.0f64, 0.01..=1.0f64);
    let marks = prop::option::of(0.0..1.0f64);
    (flags, numbers, marks, limit()).prop_map(
        |([gentle, wait, by_size, adaptive, ecn], numbers, mark_limit, limit)| {
            let (min, more, max_p, weight) = numbers;
            RedConfig {
                min_packets: Some(min),
                max_packets: Some(min + more),
                max_p,
                weight: Some(weight),
                gentle,
                wait,
                by_size,
                adaptive,
                ecn,
                mark_limit,
                limit,
                ..RedConfig::default()
            }
        },
    )
}

fn pie() -> impl Strategy<Value = PieConfig> {
    let times = (0u64..10, 1u64..10, 0u64..20);
    (times, any::<bool>(), any::<bool>(), 0.0..1.0f64, limit()).prop_map(
        |((target, update, burst), ecn, derandomize, mark_limit, limit)| PieConfig {
            target: Duration::from_millis(target),
            update: Duration::from_millis(update),
            alpha: 12.5,
            beta: 125.0,
            max_burst: Duration::from_millis(burst),
            ecn,
            mark_limit,
            derandomize,
            mean_packet: Bytes(100),
            limit,
        },
    )
}

fn dualpi2() -> impl Strategy<Value = DualPi2Config> {
    let flags = [any::<bool>(), any::<bool>(), any::<bool>()];
    let ramp = prop::option::of((1u64..5).prop_map(Duration::from_millis));
    ((0u64..10, 1u64..10, ramp), flags, 1.0..5.0f64, 0u32..3, limit()).prop_map(
        |((target, update, ramp), [drop_overload, rfc, integers], coupling, few, limit)| {
            DualPi2Config {
                target: Duration::from_millis(target),
                update: Duration::from_millis(update),
                alpha: 12.5,
                beta: 125.0,
                ramp,
                step_min_packets: few,
                coupling,
                drop_overload,
                rules: if rfc { Rules::Rfc9332 } else { Rules::Linux },
                integers,
                mtu: Bytes(100),
                limit,
                ..DualPi2Config::default()
            }
        },
    )
}

fn cake() -> impl Strategy<Value = CakeConfig> {
    let rate = prop::option::of(1.0..100.0f64);
    (rate, any::<bool>(), any::<bool>(), any::<bool>(), 1u64..50, limit()).prop_map(
        |(mbps, one, flows, ack_filter, rtt, limit)| CakeConfig {
            bandwidth: mbps.map(BitRate::from_mbps),
            tins: if one { Tins::Besteffort } else { Tins::Diffserv3 },
            isolation: if flows { Isolation::Flows } else { Isolation::Triple },
            rtt: Duration::from_millis(rtt),
            ack_filter,
            mtu: Bytes(1500),
            limit,
        },
    )
}

fn drop_tails() -> impl Strategy<Value = DropTailConfig> {
    limit().prop_map(|limit| DropTailConfig { limit })
}

fn codel() -> impl Strategy<Value = CoDelConfig> {
    (law(), limit()).prop_map(|(law, limit)| CoDelConfig { law, limit })
}

fn fq_codel() -> impl Strategy<Value = FqCoDelConfig> {
    let fq = (law(), 0u64..3000, prop::option::of(1u32..4), 1u32..5, limit());
    fq.prop_map(|(law, quantum, buckets, drop_batch, limit)| {
        let quantum = Bytes(quantum);
        FqCoDelConfig { law, quantum, buckets, drop_batch, limit }
    })
}

fn airtime_fair() -> impl Strategy<Value = AirtimeFairConfig> {
    let station = prop_oneof![
        drop_tails().prop_map(StationQueue::DropTail),
        codel().prop_map(StationQueue::Codel),
        fq_codel().prop_map(StationQueue::FqCodel),
    ];
    (station, 0u64..2000, any::<bool>(), limit()).prop_map(
        |(station, quantum_us, count_received, limit)| {
            let quantum = Duration::from_micros(quantum_us);
            AirtimeFairConfig { quantum, count_received, station, limit }
        },
    )
}

fn mac80211() -> impl Strategy<Value = Mac80211Config> {
    let fair = prop_oneof![Just(AirtimeScheduler::Mac80211), Just(AirtimeScheduler::Ath9k)];
    let flags = [any::<bool>(), any::<bool>(), any::<bool>()];
    let sizes = (1u64..3000, 1u32..6, 1u32..5, 2304u64..50_000);
    (fair, flags, law(), sizes, limit()).prop_map(
        |(scheduler, [airtime_fairness, count_received, slow_stations], law, sizes, limit)| {
            let (quantum, flows, drop_batch, memory) = sizes;
            Mac80211Config {
                airtime_fairness,
                scheduler,
                count_received,
                law: ControlLaw { mtu: law.mtu.max(Bytes(1600)), ..law },
                slow_stations,
                quantum: Bytes(quantum),
                flows,
                drop_batch,
                limit,
                memory: Bytes(memory),
                aql: None,
            }
        },
    )
}

/// Its limits are those of waiting packets.
fn fq() -> impl Strategy<Value = FqConfig> {
    (1u64..3000, 0u64..9000, any::<bool>(), 1u32..9).prop_map(
        |(quantum, initial, bands, flow_limit)| FqConfig {
            quantum: Bytes(quantum),
            initial_quantum: Bytes(initial),
            refill_delay: Duration::from_millis(1),
            bands,
            flow_limit,
            ..FqConfig::default()
        },
    )
}

fn discipline() -> impl Strategy<Value = QueueSettings> {
    let per = prop_oneof![Just(Per::Flow), Just(Per::Station)];
    let drr = (per, (0u64..3000).prop_map(Bytes), limit());
    prop_oneof![
        drop_tails().prop_map(QueueSettings::DropTail),
        drr.prop_map(|(per, quantum, limit)| QueueSettings::Drr(DrrConfig { per, quantum, limit })),
        (1u32..9, limit())
            .prop_map(|(buckets, limit)| QueueSettings::Sfq(SfqConfig { buckets, limit })),
        red().prop_map(QueueSettings::Red),
        codel().prop_map(QueueSettings::Codel),
        fq_codel().prop_map(QueueSettings::FqCodel),
        fq().prop_map(QueueSettings::Fq),
        pie().prop_map(QueueSettings::Pie),
        dualpi2().prop_map(QueueSettings::Dualpi2),
        cake().prop_map(QueueSettings::Cake),
        airtime_fair().prop_map(QueueSettings::AirtimeFair),
        mac80211().prop_map(QueueSettings::Mac80211),
    ]
}

/// A link on which packets of 500 bytes take up to 2 ms, which RED requires.
fn output_link() -> impl Strategy<Value = OutputLink> {
    let rate = prop::option::of(2.0..1000.0f64);
    rate.prop_map(|mbps| OutputLink::Wire(mbps.map(BitRate::from_mbps), Duration::ZERO))
}

#[derive(Clone, Debug)]
enum Operation {
    Push { flow: u32, size: u64, capable: bool },
    Pop,
    PopFor { station: u32, except: bool, most: u64 },
    Release(prop::sample::Index),
    UsedAirtime { station: u32, received: bool, used_us: u64 },
}

fn operation() -> impl Strategy<Value = Operation> {
    // A TCP ACK without headers has no bytes.
    let size = prop_oneof![1 => Just(0), 9 => 28u64..1600];
    let push = (0u32..5, size, any::<bool>());
    let air = (0u32..6, any::<bool>(), 0u64..5000);
    prop_oneof![
        5 => push.prop_map(|(flow, size, capable)| Operation::Push { flow, size, capable }),
        3 => Just(Operation::Pop),
        2 => (0u32..6, any::<bool>(), 28u64..1600)
            .prop_map(|(station, except, most)| Operation::PopFor { station, except, most }),
        2 => any::<prop::sample::Index>().prop_map(Operation::Release),
        1 => air.prop_map(|(station, received, used_us)| {
            Operation::UsedAirtime { station, received, used_us }
        }),
    ]
}

/// The state with which a queue of any discipline must agree.
#[derive(Default)]
struct Record {
    waiting: [VecDeque<Packet>; 5],
    in_service: Vec<Packet>,
}

impl Record {
    fn count(&self) -> usize {
        self.waiting.iter().map(VecDeque::len).sum()
    }

    fn held(&self, flow: Option<u32>) -> (usize, u64) {
        let held = self.waiting.iter().flatten().chain(&self.in_service);
        held.filter(|p| flow.is_none_or(|f| p.flow() == Some(FlowId(f))))
            .fold((0, 0), |(count, bytes), p| (count + 1, bytes + p.size.0))
    }

    /// Whether this packet is within a limit, per flow or in total.
    fn is_within(&self, limit: Limit, flow: Option<u32>) -> bool {
        let (count, bytes) = self.held(flow);
        limit.packets.is_none_or(|most| count <= most as usize)
            && limit.bytes.is_none_or(|most| bytes <= most.0)
    }

    /// What waits, all together.
    fn agrees_with(&self, queue: &dyn Queue) -> Result<(), TestCaseError> {
        let bytes: Bytes = self.waiting.iter().flatten().map(|packet| packet.size).sum();
        prop_assert_eq!(queue.len(), self.count());
        prop_assert_eq!(queue.backlog(), bytes);
        prop_assert_eq!(queue.is_empty(), self.count() == 0);
        Ok(())
    }

    fn agrees_with_counts(&self, queue: &Counted<Box<dyn Queue>>) {
        for (flow, waiting) in (0..).zip(&self.waiting) {
            let (packets, bytes) = (waiting.len() as u64, waiting.iter().map(|p| p.size).sum());
            let all = queue.waits(TrafficClass::BestEffort).unwrap();
            let counted = if flow == 3 { all.to_all } else { all.to(NodeId(flow)) };
            assert_eq!(counted, Waits { packets, bytes }, "flow {flow}");
        }
        let (least, to_all) = queue.outlook(TrafficClass::BestEffort);
        assert!(self.waiting.iter().flatten().all(|packet| packet.size >= least));
        assert_eq!(to_all, !self.waiting[3].is_empty());
    }

    /// Records drops and marks: each must be of a packet that waits.
    fn note(&mut self, signals: &[Signal]) {
        for signal in signals {
            let (Signal::Drop(packet) | Signal::Mark(packet, _)) = signal;
            let line = &mut self.waiting[packet.flow().unwrap().index()];
            let at = line.iter().position(|p| number(p) == number(packet));
            let at = at.unwrap_or_else(|| panic!("{signal:?} of what does not wait"));
            match signal {
                Signal::Drop(packet) => {
                    assert_eq!(line.remove(at).as_ref(), Some(packet));
                }
                Signal::Mark(packet, before) => {
                    assert_eq!(line[at].ecn, *before);
                    assert_ne!(
                        line[at].ecn,
                        Ecn::NotCapable,
                        "a mark on a packet that is not ECN-capable"
                    );
                    line[at].ecn = Ecn::Experienced;
                    assert_eq!(line[at], *packet);
                }
            }
        }
    }
}

/// A dual queue keeps the order of a flow only if all its packets wait in one queue.
fn codepoint(flow: u32, capable: bool) -> Ecn {
    match (flow, capable) {
        (4, _) => Ecn::Ect1,
        (_, true) => Ecn::Ect0,
        (_, false) => Ecn::NotCapable,
    }
}

/// Whether the limit holds for each flow, and whether packets are dropped only if they do not fit.
fn promise(kind: &QueueSettings) -> (bool, bool) {
    match kind {
        QueueSettings::DropTail(_) => (false, true),
        QueueSettings::Drr(_) => (true, true),
        _ => (false, false),
    }
}

/// A packet is requested for a station or for another: the first of those that wait for it, if it
/// is small enough; after drops it may be another.
fn pop_for(
    queue: &mut dyn Queue,
    record: &mut Record,
    now: Instant,
    to: Destination,
    most: Bytes,
) -> Result<(), TestCaseError> {
    let mut out = Vec::new();
    let wanted = Wanted { class: TrafficClass::BestEffort, to, most };
    let popped = queue.pop_for(now, &wanted, &mut out);
    record.note(&out);
    if !out.iter().any(|signal| matches!(signal, Signal::Drop(_))) {
        let firsts = record.waiting.iter().filter_map(VecDeque::front);
        let mut fitting = firsts.filter(|first| to.is_of(first) && first.size <= most);
        prop_assert_eq!(popped.is_some(), fitting.next().is_some());
    }
    if let Some(packet) = popped {
        prop_assert!(to.is_of(&packet));
        let line = &mut record.waiting[packet.flow().unwrap().index()];
        prop_assert_eq!(line.pop_front(), Some(packet), "out of order");
        record.in_service.push(packet);
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1000))]

    /// Pushed = popped + dropped + waiting, also as counted by destination, in order per flow and
    /// within limits. A packet is popped if any waits. Dropped and marked packets are among those
    /// that wait, and marked ones are ECN-capable.
    #[test]
    fn conserves_packets(
        (kind, output_link) in (discipline(), output_link()),
        work in prop::collection::vec((operation(), 0u64..8_000_000), 0..400),
    ) {
        let built = kind.get().build(output_link, rng());
        let mut queue = Counted::new(built, false, &kind.get().traits());
        let (limit, (per_flow, only_for_room)) = (kind.get().limit(), promise(&kind));
        let (mut record, mut now, mut out) = (Record::default(), Instant::ZERO, Vec::new());
        for (i, (operation, gap)) in work.into_iter().enumerate() {
            now += Duration(gap);
            out.clear();
            match operation {
                Operation::Push { flow, size, capable } => {
                    let ecn = codepoint(flow, capable);
                    // Flow 3 is broadcast.
                    let to = (flow != 3).then_some(NodeId(flow));
                    let offered = Packet { ecn, to, ..packet(flow, i as u64, size) };
                    queue.push(now, &offered, &mut out);
                    record.waiting[flow as usize].push_back(offered);
                    let flow = per_flow.then_some(flow);
                    if only_for_room {
                        let dropped =
                            (!record.is_within(limit, flow)).then_some(Signal::Drop(offered));
                        prop_assert_eq!(&out[..], dropped.as_slice());
                    }
                    record.note(&out);
                    let fits = record.is_within(limit, flow) || record.count() == 0;
                    prop_assert!(fits, "more is held than the limit allows");
                }
                Operation::Pop => {
                    let popped = queue.pop(now, &mut out);
                    prop_assert_eq!(popped.is_some(), record.count() > 0);
                    record.note(&out);
                    if let Some(packet) = popped {
                        let first = record.waiting[packet.flow().unwrap().index()].pop_front();
                        prop_assert_eq!(first, Some(packet), "out of order");
                        record.in_service.push(packet);
                    }
                }
                Operation::PopFor { station, except, most } => {
                    let node = station.checked_sub(1).map(NodeId);
                    let (to, most) = match node.filter(|_| except) {
                        Some(node) => (Destination::Except(node), Bytes(u64::MAX)),
                        None => (Destination::Only(node), Bytes(most)),
                    };
                    pop_for(&mut queue, &mut record, now, to, most)?;
                }
                Operation::Release(index) => if !record.in_service.is_empty() {
                    let index = index.index(record.in_service.len());
                    queue.release(now, &record.in_service.swap_remove(index), &mut Vec::new());
                },
                Operation::UsedAirtime { station, received, used_us } => {
                    let station = station.checked_sub(1).map(NodeId);
                    let used = Duration::from_micros(used_us);
                    queue.on_airtime(&UsedAirtime { station, received, used });
                }
            }
            record.agrees_with(&queue)?;
            record.agrees_with(&queue.queue)?;
            record.agrees_with_counts(&queue);
            let mut seen = Vec::new();
            queue.each(&mut |packet| seen.push(number(packet)));
            seen.sort_unstable();
            let mut waiting: Vec<_> = record.waiting.iter().flatten().map(number).collect();
            waiting.sort_unstable();
            prop_assert_eq!(seen, waiting);
        }
    }
}
