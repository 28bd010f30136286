//! `CoDel`, controlled delay (RFC 8289): drops at the head of the queue by sojourn time.

use super::fifo::Fifo;
use super::line::{Line, Policy};
use super::{
    Codepoints, Destination, Discipline, Limit, OutputLink, Queue, Signal, Traits, mark_or_drop,
};
use kernel::{Bytes, Duration, Instant, Rng};
use settings::{Faults, Path, Settings, number, said};
use wire::Packet;

/// `CoDel`, controlled delay (RFC 8289): drops at the head of the queue while the sojourn time is
/// too long.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Settings)]
pub struct CoDelConfig {
    /// The control law.
    #[setting(flatten)]
    pub law: ControlLaw,
    /// The limits.
    #[setting(flatten)]
    pub limit: Limit,
}

/// The parameters of the control law.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Settings)]
#[settings(check = target_is_within_interval)]
pub struct ControlLaw {
    /// The acceptable standing queue delay (TARGET).
    #[setting(key = "target_ms", default = 5.0, range = 0.0..=60_000.0)]
    pub target: Duration,
    /// How long the sojourn time must exceed the target, about a round-trip time (INTERVAL).
    #[setting(key = "interval_ms", default = 100.0, range = 0.001..=60_000.0)]
    pub interval: Duration,
    /// Whether packets of ECN-capable flows are marked instead of dropped.
    pub ecn: bool,
    /// A backlog of at most this size is never too long: one packet (RFC 8289 section 4.2).
    #[setting(key = "mtu_bytes", default = 1500, range = 0..=1_000_000)]
    pub mtu: Bytes,
    /// A sojourn time beyond which a packet is marked in any case, whatever the state of the law
    /// and `ecn`. Default: none. Linux has this for data centres and, with ECT(1), for L4S.
    #[setting(key = "ce_threshold_us", range = 0.0..=60e6)]
    pub ce_threshold: Option<Duration>,
    /// The packets that `ce_threshold_us` marks.
    #[setting(default = Codepoints::AnyEct)]
    pub ce_threshold_for: Codepoints,
}

fn target_is_within_interval(law: &ControlLaw, at: &Path, faults: &mut Faults) {
    if law.target <= law.interval {
        return;
    }
    let [target, interval] = [law.target, law.interval].map(|time| number(time.0 as f64 / 1e6));
    faults.fault(
        at.key("target_ms"),
        said!(
            "{target} is above interval_ms, {interval}",
            "it is 5 % to 10 % of it (RFC 8289 section 3.2)"
        ),
    );
}

impl Discipline for CoDelConfig {
    fn build(&self, _: OutputLink, _: Rng) -> Box<dyn Queue> {
        Box::new(CoDel::queue(*self))
    }

    fn limit(&self) -> Limit {
        self.limit
    }

    fn traits(&self) -> Traits<'_> {
        Traits { tells_l4s_apart: self.law.ce_threshold.is_some(), ..Traits::default() }
    }
}

/// The state of the control law, names and steps as in RFC 8289 section 5.
#[derive(Debug, Default)]
pub(super) struct Control {
    /// When the sojourn time will have been above target for an interval.
    first_above: Option<Instant>,
    drop_next: Instant,
    /// Drops since the drop state was entered, or the initial count that the previous drop state
    /// suggests.
    count: u32,
    /// The value of `count` when the drop state was last entered.
    last_count: u32,
    dropping: bool,
}

impl Control {
    /// Takes the next packet that is not dropped, of all or for one destination. There is one if
    /// any of these waits, because a single packet is never too long a queue.
    pub(super) fn pop(
        &mut self,
        law: &ControlLaw,
        now: Instant,
        waiting: &mut Fifo,
        to: Destination,
        out: &mut Vec<Signal>,
    ) -> Option<Packet> {
        let (since, packet) = self.select(law, now, waiting, to, out)?;
        let is_late = law.ce_threshold.is_some_and(|threshold| now.since(since) > threshold);
        if is_late && law.ce_threshold_for.has(packet.ecn) {
            return mark_or_drop(true, packet, out);
        }
        Some(packet)
    }

    /// The next packet that the law does not drop, and since when it has waited.
    fn select(
        &mut self,
        law: &ControlLaw,
        now: Instant,
        waiting: &mut Fifo,
        to: Destination,
        out: &mut Vec<Signal>,
    ) -> Option<(Instant, Packet)> {
        let ((mut since, mut packet), mut ok_to_drop) = self.take(law, now, waiting, to)?;
        if self.dropping {
            self.dropping = ok_to_drop;
            while self.dropping && now >= self.drop_next {
                self.count += 1;
                if let Some(marked) = mark_or_drop(law.ecn, packet, out) {
                    self.drop_next = law.next_drop(self.drop_next, self.count);
                    return Some((since, marked));
                }
                ((since, packet), ok_to_drop) = self.take(law, now, waiting, to)?;
                self.dropping = ok_to_drop;
                if ok_to_drop {
                    self.drop_next = law.next_drop(self.drop_next, self.count);
                }
            }
        } else if ok_to_drop {
            if let Some(marked) = mark_or_drop(law.ecn, packet, out) {
                packet = marked;
            } else {
                ((since, packet), _) = self.take(law, now, waiting, to)?;
            }
            self.enter(law, now);
        }
        Some((since, packet))
    }

    /// Enters the drop state. Soon after the previous drop state, it continues at that one's drop
    /// rate.
    fn enter(&mut self, law: &ControlLaw, now: Instant) {
        let delta = self.count.saturating_sub(self.last_count);
        let is_recent = now.since(self.drop_next) < law.interval * 16;
        self.dropping = true;
        self.count = if delta > 1 && is_recent { delta } else { 1 };
        self.drop_next = law.next_drop(now, self.count);
        self.last_count = self.count;
    }

    /// The first packet, since when it has waited, and whether it may be dropped for that
    /// (`dodequeue`).
    fn take(
        &mut self,
        law: &ControlLaw,
        now: Instant,
        waiting: &mut Fifo,
        to: Destination,
    ) -> Option<((Instant, Packet), bool)> {
        let Some((since, packet)) = waiting.take_for(to) else {
            self.first_above = None;
            return None;
        };
        if now.since(since) < law.target || waiting.backlog() <= law.mtu {
            self.first_above = None;
            return Some(((since, packet), false));
        }
        let first_above = *self.first_above.get_or_insert(now + law.interval);
        Some(((since, packet), now >= first_above))
    }
}

impl ControlLaw {
    /// The control law: the drop rate increases with the square root of the number of drops.
    fn next_drop(&self, last: Instant, count: u32) -> Instant {
        last + Duration((self.interval.0 as f64 / libm::sqrt(f64::from(count))) as u64)
    }
}

/// The control law and its state.
#[derive(Debug)]
struct CoDel {
    law: ControlLaw,
    control: Control,
}

impl CoDel {
    /// An empty queue.
    fn queue(CoDelConfig { law, limit }: CoDelConfig) -> Line<Self> {
        Line::new(Self { law, control: Control::default() }, limit)
    }
}

impl Policy for CoDel {
    fn dequeue(
        &mut self,
        now: Instant,
        waiting: &mut Fifo,
        to: Destination,
        out: &mut Vec<Signal>,
    ) -> Option<Packet> {
        self.control.pop(&self.law, now, waiting, to, out)
    }
}

#[cfg(test)]
mod tests {
    use super::super::load::responsive;
    use super::super::tests::{accepts, capable, drop_tail, number, packet};
    use super::*;
    use wire::Ecn;

    /// The defaults of RFC 8289.
    const LAW: ControlLaw = ControlLaw {
        target: Duration::from_millis(5),
        interval: Duration::from_millis(100),
        mtu: Bytes(1500),
        ecn: false,
        ce_threshold: None,
        ce_threshold_for: Codepoints::AnyEct,
    };

    fn ms(ms: u64) -> Instant {
        Instant::ZERO + Duration::from_millis(ms)
    }

    fn queue(law: ControlLaw) -> Line<CoDel> {
        CoDel::queue(CoDelConfig { law, limit: Limit::NONE })
    }

    /// From `from` on, a packet leaves each ms, and arrivals keep `depth` packets waiting, so that
    /// each waits `depth` ms. Returns the signals with their times in ms.
    fn hold(queue: &mut Line<CoDel>, depth: u64, from: u64, until: u64) -> Vec<(u64, Signal)> {
        let mut signals = Vec::new();
        while queue.waiting.pop().is_some() {}
        for now in from..until {
            let mut out = Vec::new();
            while queue.len() <= depth as usize {
                // A packet that arrived at this time, whatever was dropped.
                let since = (now + queue.len() as u64).saturating_sub(depth);
                queue.waiting.push(ms(since), &capable(0, now, 1500));
                queue.buffer.take(Bytes(1500));
            }
            let popped = queue.pop(ms(now), &mut out).expect("packets wait");
            queue.release(ms(now), &popped, &mut Vec::new());
            signals.extend(out.into_iter().map(|signal| (now, signal)));
        }
        signals
    }

    fn times(signals: &[(u64, Signal)]) -> Vec<u64> {
        signals.iter().map(|&(at, _)| at).collect()
    }

    /// The control law in whole ms: drops `interval / sqrt(count)` apart.
    fn law_times(first: u64, mut count: u32, drops: usize) -> Vec<u64> {
        let mut at = first as f64;
        let mut times = vec![first];
        while times.len() < drops {
            at += 100.0 / f64::from(count).sqrt();
            count += 1;
            times.push(at.ceil() as u64);
        }
        times
    }

    #[test]
    fn a_delay_below_target_is_no_reason_to_drop() {
        assert_eq!(hold(&mut queue(LAW), 4, 10, 2000), []);
    }

    #[test]
    fn drops_begin_after_an_interval_and_come_closer_with_the_square_root() {
        let mut queue = queue(LAW);
        let signals = hold(&mut queue, 20, 20, 1020);
        assert!(signals.iter().all(|(_, signal)| matches!(signal, Signal::Drop(_))));
        // The sojourn time exceeds the target from 20 ms on. The first drop is at 120 ms, the next
        // 100 ms later, then after 71, 58, … ms.
        let expected = law_times(120, 1, signals.len());
        assert_eq!(times(&signals), expected);
        assert_eq!(&expected[..5], [120, 220, 291, 349, 399]);
        assert!(signals.len() > 20);
    }

    #[test]
    fn a_dip_below_target_begins_the_interval_anew() {
        let mut queue = queue(LAW);
        assert_eq!(hold(&mut queue, 20, 20, 119), []);
        assert_eq!(hold(&mut queue, 3, 119, 120), []);
        assert_eq!(times(&hold(&mut queue, 20, 120, 230)), [220]);
    }

    #[test]
    fn soon_after_a_drop_state_the_next_goes_on_at_its_rate() {
        let drop_out = |queue: &mut Line<CoDel>, at| {
            assert_eq!(hold(queue, 3, at, at + 50), []);
        };
        let mut soon = queue(LAW);
        // Five drops in the first drop state: count is 5, and it began at 1.
        assert_eq!(times(&hold(&mut soon, 20, 20, 440)), law_times(120, 1, 5));
        drop_out(&mut soon, 440);
        let again = hold(&mut soon, 20, 490, 900);
        assert_eq!(times(&again), law_times(590, 4, again.len()));
        let mut late = queue(LAW);
        assert_eq!(times(&hold(&mut late, 20, 20, 440)), law_times(120, 1, 5));
        drop_out(&mut late, 440);
        // More than 16 intervals after the next drop was due.
        let again = hold(&mut late, 20, 2200, 2600);
        assert_eq!(times(&again), law_times(2300, 1, again.len()));
    }

    #[test]
    fn a_queue_of_one_packet_is_never_too_long() {
        // The packet that is taken leaves one MTU of backlog: it passes, however long it waited.
        assert_eq!(hold(&mut queue(LAW), 1, 1000, 3000), []);
        let slow = ControlLaw { target: Duration::ZERO, mtu: Bytes(40_000), ..LAW };
        assert_eq!(hold(&mut queue(slow), 20, 20, 2000), []);
    }

    #[test]
    fn with_ecn_packets_are_marked_at_the_same_times() {
        let mut queue = queue(ControlLaw { ecn: true, ..LAW });
        let signals = hold(&mut queue, 20, 20, 1020);
        assert!(signals.iter().all(|(_, signal)| {
            matches!(signal, Signal::Mark(packet, Ecn::Ect0) if packet.ecn == Ecn::Experienced)
        }));
        assert_eq!(times(&signals), law_times(120, 1, signals.len()));
        assert!(signals.len() > 20);
    }

    #[test]
    fn with_ecn_a_packet_that_cannot_be_marked_is_dropped() {
        let mut queue = queue(ControlLaw { ecn: true, ..LAW });
        for number in 0..200 {
            assert!(accepts(&mut queue, ms(0), packet(0, number, 1500)));
        }
        let mut out = Vec::new();
        assert_eq!(queue.pop(ms(10), &mut out).map(|p| number(&p)), Some(0));
        assert_eq!(out, []);
        assert_eq!(queue.pop(ms(110), &mut out).map(|p| number(&p)), Some(2));
        assert_eq!(out, [Signal::Drop(packet(0, 1, 1500))]);
    }

    #[test]
    fn the_threshold_marks_selected_packets_that_waited_longer_and_no_others() {
        let threshold = ControlLaw { ce_threshold: Some(Duration::from_millis(1)), ..LAW };
        let selected = |ce_threshold_for, sojourn: Duration| {
            let mut queue = queue(ControlLaw { ce_threshold_for, ..threshold });
            let codepoints = [Ecn::NotCapable, Ecn::Ect0, Ecn::Ect1, Ecn::Experienced];
            for (number, ecn) in (0..).zip(codepoints) {
                let packet = Packet { ecn, ..packet(0, number, 1500) };
                assert!(accepts(&mut queue, ms(0), packet));
            }
            let mut out = Vec::new();
            while queue.pop(ms(0) + sojourn, &mut out).is_some() {}
            let before = out.into_iter().map(|signal| match signal {
                Signal::Mark(_, before) => before,
                Signal::Drop(_) => panic!("{signal:?}"),
            });
            before.collect::<Vec<_>>()
        };
        let (at, after) = (Duration::from_millis(1), Duration::from_nanos(1_000_001));
        assert_eq!(selected(Codepoints::AnyEct, at), []);
        assert_eq!(selected(Codepoints::AnyEct, after), [Ecn::Ect0, Ecn::Ect1]);
        assert_eq!(selected(Codepoints::Ect1, after), [Ecn::Ect1]);
    }

    #[test]
    fn the_threshold_leaves_the_law_as_it_is() {
        let threshold = Some(Duration::from_millis(10));
        let law = ControlLaw { ce_threshold: threshold, ecn: true, ..LAW };
        let signals = hold(&mut queue(law), 20, 20, 1020);
        // Each packet is marked once: by the law or by the threshold.
        assert_eq!(times(&signals), (20..1020).collect::<Vec<_>>());
        let only_ect1 = ControlLaw { ce_threshold_for: Codepoints::Ect1, ..law };
        let signals = hold(&mut queue(only_ect1), 20, 20, 1020);
        assert_eq!(times(&signals), law_times(120, 1, signals.len()));
        let drops = hold(&mut queue(ControlLaw { ecn: false, ..law }), 20, 20, 1020);
        let at: Vec<_> =
            drops.iter().filter(|(_, s)| matches!(s, Signal::Drop(_))).map(|d| d.0).collect();
        assert_eq!(at, law_times(120, 1, at.len()));
    }

    #[test]
    fn the_limit_holds_at_the_tail() {
        let mut queue = CoDel::queue(CoDelConfig { law: LAW, limit: Limit::packets(2) });
        assert!(accepts(&mut queue, ms(0), packet(0, 0, 1500)));
        assert!(accepts(&mut queue, ms(0), packet(0, 1, 1500)));
        assert!(!accepts(&mut queue, ms(0), packet(0, 2, 1500)));
    }

    #[test]
    fn holds_the_standing_delay_near_target_and_the_link_in_use() {
        let (from, end) = (ms(20_000), ms(120_000));
        let mut drop_tail = drop_tail(Limit::packets(250));
        let long = responsive(&mut *drop_tail, 4, false, end).mean_ms(from);
        assert!(long > 150.0, "drop-tail: {long} ms");
        for ecn in [false, true] {
            let outcome = responsive(&mut queue(ControlLaw { ecn, ..LAW }), 4, ecn, end);
            let (mean, used) = (outcome.mean_ms(from), outcome.use_of(from, end));
            assert!((2.5..10.0).contains(&mean), "ecn {ecn}: {mean} ms");
            assert!(used > 0.97, "ecn {ecn}: {used}");
            assert_eq!((outcome.marks > 100, outcome.drops > 100), (ecn, !ecn));
        }
    }
}
