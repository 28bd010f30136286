//! A wired simplex link: a queue, a transmitter and a wire.

use crate::command::{Command, LinkTimer};
use crate::driver::{Driver, DriverSettings};
use crate::loss::LossSettings;
use crate::queue::{Marks, OutputLink, Queue, QueueSettings, Signal};
use crate::reorder::ReorderSettings;
use kernel::{BitRate, Bytes, Duration, Instant, Rng, append};
use settings::{Range, Settings};
use std::collections::VecDeque;
use wire::Packet;

/// The settings of a link direction.
#[derive(Clone, Debug, PartialEq, Settings)]
pub struct LinkSettings {
    /// Rate; infinitely fast if not given.
    #[setting(key = "rate_mbps", range = Self::RATES_MBPS)]
    pub rate: Option<BitRate>,
    /// Propagation delay in this direction.
    #[setting(key = "delay_ms", range = Self::DELAYS_MS)]
    pub delay: Duration,
    /// The queue from which the near end sends.
    pub queue: QueueSettings,
    /// The transmit ring of the driver below that queue. Default: none, so that each packet stays
    /// in the queue until its transmission begins.
    pub driver: Option<DriverSettings>,
    /// Framing around each IP packet, 38 bytes for Ethernet with preamble and gap (IEEE 802.3
    /// clauses 3.1.1 and 4.4.2: preamble 8, header 14, FCS 4, gap 12).
    #[setting(key = "overhead_bytes", range = Self::OVERHEADS)]
    pub overhead: Bytes,
    /// The losses on the link. Default: none.
    pub loss: Option<LossSettings>,
    /// Reordering behind the link. Default: none.
    pub reorder: Option<ReorderSettings>,
}

impl LinkSettings {
    /// Rates in Mb/s.
    pub const RATES_MBPS: Range = Range::closed(0.001, 1e6);
    /// Propagation delay in milliseconds, up to a minute, which is a hundred times that of a
    /// satellite link.
    pub const DELAYS_MS: Range = Range::closed(0.0, 60_000.0);
    /// Framing in bytes; the maximum exceeds that of any technology, including tunnels.
    pub const OVERHEADS: Range = Range::closed(0.0, 1000.0);

    /// The output link of its queue.
    pub fn output_link(&self) -> OutputLink {
        OutputLink::Wire(self.rate, self.delay)
    }
}

/// The counters of a link since the start of the run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counters {
    /// Packets given to the link.
    pub offered: u64,
    /// Packets that its queue dropped.
    pub dropped: u64,
    /// Packets that its queue marked.
    pub marked: Marks,
    /// Packets delivered.
    pub packets: u64,
    /// Bytes delivered, without the link's overhead.
    pub bytes: Bytes,
}

/// A wired simplex link.
///
/// Packets on the link stay in order. Therefore only the first arrival is in the event queue, and
/// the end of a transmission only if another packet waits for it. A packet on an idle link costs
/// one event.
#[derive(Debug)]
pub struct Link {
    rate: Option<BitRate>,
    delay: Duration,
    overhead: Bytes,
    queue: Box<dyn Queue>,
    driver: Option<Box<Driver>>,
    /// The rate of the queue's shaper.
    shaper: Option<BitRate>,
    /// The end of the current transmission, and its packet. If the end has passed, the transmission
    /// remains here until the next call (`settle`).
    transmitting: Option<(Instant, Packet)>,
    /// Packets on the wire, with the arrival times of their last bits.
    wire: VecDeque<(Instant, Packet)>,
    /// Whether a `Ready` event is pending.
    ready_pending: bool,
    /// Whether a `Completion` event is pending.
    completion_pending: bool,
    /// Whether the link reports the end of each transmission, which then is an event.
    tells_departures: bool,
    /// Whether the link reports the begin of each transmission.
    is_watched: bool,
    signals: Vec<Signal>,
    counters: Counters,
    /// The total time of all transmissions that have begun, up to the end of the last.
    busy: Duration,
}

impl Link {
    /// An idle link without losses.
    pub fn new(settings: &LinkSettings, rng: Rng) -> Self {
        let LinkSettings { rate, delay, overhead, .. } = *settings;
        debug_assert!(rate != Some(BitRate(0)), "a link without a rate never sends");
        Self {
            rate,
            delay,
            overhead,
            queue: settings.queue.get().build(settings.output_link(), rng),
            driver: settings.driver.as_ref().map(|driver| Box::new(Driver::new(driver))),
            shaper: settings.queue.get().traits().shaper,
            transmitting: None,
            wire: VecDeque::new(),
            ready_pending: false,
            completion_pending: false,
            tells_departures: false,
            is_watched: false,
            signals: Vec::new(),
            counters: Counters::default(),
            busy: Duration::ZERO,
        }
    }

    /// The same link, which reports the end of each transmission, for a source that then has the
    /// next packet ready.
    #[must_use]
    pub fn reporting_departures(mut self) -> Self {
        self.tells_departures = true;
        self
    }

    /// From now on the link reports the begin of each transmission.
    pub fn watch(&mut self) {
        self.is_watched = true;
    }

    /// The propagation delay.
    pub fn delay(&self) -> Duration {
        self.delay
    }

    /// Accepts a packet at the near end. The packet is never delivered in this call, not even
    /// without rate and delay.
    pub fn on_packet(&mut self, now: Instant, packet: &Packet, out: &mut Vec<Command>) {
        self.settle(now, out);
        self.counters.offered += 1;
        self.queue.push(now, packet, &mut self.signals);
        self.fill(now);
        self.report(out);
        self.proceed(now, out);
    }

    /// A timer of the link expired.
    pub fn on_timer(&mut self, now: Instant, timer: LinkTimer, out: &mut Vec<Command>) {
        match timer {
            LinkTimer::Arrival => self.arrive(now, out),
            LinkTimer::Ready => {
                self.ready_pending = false;
                self.settle(now, out);
                self.proceed(now, out);
            }
            // The link itself keeps packets in order.
            LinkTimer::Held => {}
            LinkTimer::Completion => {
                self.completion_pending = false;
                self.settle(now, out);
                self.complete(now, out);
                self.proceed(now, out);
            }
        }
    }

    /// The queue of the link.
    pub fn queue(&self) -> &dyn Queue {
        &*self.queue
    }

    /// The driver below the queue.
    pub fn driver(&self) -> Option<&Driver> {
        self.driver.as_deref()
    }

    /// Packets that wait for their transmission, in the queue and in the driver's ring.
    #[inline]
    pub fn waiting(&self) -> usize {
        self.queue.len() + self.driver.as_ref().map_or(0, |driver| driver.len())
    }

    /// Their bytes.
    pub fn backlog(&self) -> Bytes {
        let held = self.driver.as_ref().map_or(Bytes::ZERO, |driver| driver.backlog());
        self.queue.backlog() + held
    }

    /// Packets between the queue and the far end: in transmission or on the wire.
    pub fn in_flight(&self) -> usize {
        self.wire.len()
    }

    /// Calls `visit` for each packet between the two ends, for checking.
    pub fn each(&self, visit: &mut dyn FnMut(&Packet)) {
        self.queue.each(visit);
        self.driver.iter().for_each(|driver| driver.each(visit));
        self.wire.iter().for_each(|(_, packet)| visit(packet));
    }

    /// The counters.
    pub fn counters(&self) -> &Counters {
        &self.counters
    }

    /// For how long the link has transmitted, up to `now`.
    pub fn busy(&self, now: Instant) -> Duration {
        let ahead = self.transmitting.map_or(Duration::ZERO, |(end, _)| end.since(now));
        self.busy.saturating_sub(ahead)
    }

    /// Completes a transmission whose end has passed, which frees the packet's room in the buffer.
    #[inline]
    fn settle(&mut self, now: Instant, out: &mut Vec<Command>) {
        let Some((end, packet)) = &self.transmitting else { return };
        let end = *end;
        if end > now {
            return;
        }
        if self.driver.is_some() {
            return self.end_in_ring(now, end, out);
        }
        self.queue.release(end, packet, &mut self.signals);
        let departs = self.tells_departures.then_some(*packet);
        self.transmitting = None;
        self.report(out);
        out.extend(departs.map(Command::Departed));
    }

    /// The transmission of a packet of the driver's ring ended at this time.
    #[cold]
    fn end_in_ring(&mut self, now: Instant, end: Instant, out: &mut Vec<Command>) {
        let (Some(driver), Some((_, packet))) = (&mut self.driver, self.transmitting.take()) else {
            return;
        };
        driver.done.push(packet);
        let at = driver.learns(end);
        if self.completion_pending {
            return;
        }
        if at <= now {
            return self.complete(at, out);
        }
        self.completion_pending = true;
        out.push(Command::Set(LinkTimer::Completion, at));
    }

    /// The driver learns which transmissions have ended, which makes room in its ring.
    fn complete(&mut self, now: Instant, out: &mut Vec<Command>) {
        let Some(driver) = &mut self.driver else { return };
        driver.complete(now);
        let told = if self.tells_departures { usize::MAX } else { 0 };
        out.extend(driver.done.drain(..).take(told).map(Command::Departed));
        self.fill(now);
        self.report(out);
    }

    /// The driver takes packets from the queue.
    #[inline]
    fn fill(&mut self, now: Instant) {
        if self.driver.is_some() {
            self.fill_ring(now);
        }
    }

    #[cold]
    fn fill_ring(&mut self, now: Instant) {
        if let Some(driver) = &mut self.driver {
            driver.fill(now, &mut *self.queue, &mut self.signals);
        }
    }

    /// Whether no packet waits for its transmission.
    #[inline]
    fn is_empty(&self) -> bool {
        self.queue.is_empty() && self.driver.as_ref().is_none_or(|driver| driver.is_empty())
    }

    /// The next packet of the driver's ring.
    #[cold]
    fn take_from_ring(&mut self, now: Instant) -> Option<Packet> {
        self.driver.as_mut()?.take(now)
    }

    /// Passes on the drops and marks of the queue.
    #[inline]
    fn report(&mut self, out: &mut Vec<Command>) {
        if !self.signals.is_empty() {
            self.report_signals(out);
        }
    }

    fn report_signals(&mut self, out: &mut Vec<Command>) {
        for signal in self.signals.drain(..) {
            match signal {
                Signal::Drop(_) => self.counters.dropped += 1,
                Signal::Mark(_, before) => self.counters.marked.count(before),
            }
            out.push(Command::Signal(signal));
        }
    }

    /// Begins the next transmission, or schedules the event that will. If a packet arrives at the
    /// instant of a pending `Ready` event, that event begins the transmission.
    fn proceed(&mut self, now: Instant, out: &mut Vec<Command>) {
        while !self.ready_pending {
            if let Some((end, _)) = self.transmitting
                && (self.tells_departures || !self.is_empty())
            {
                self.ready_pending = true;
                out.push(Command::Set(LinkTimer::Ready, end));
                return;
            }
            if self.is_empty() {
                return;
            }
            let popped = if self.driver.is_none() {
                self.queue.pop(now, &mut self.signals)
            } else {
                self.take_from_ring(now)
            };
            self.report(out);
            let Some(packet) = popped else { return };
            self.transmit(now, &packet, out);
            self.settle(now, out);
        }
    }

    fn transmit(&mut self, now: Instant, packet: &Packet, out: &mut Vec<Command>) {
        let amount = packet.size + self.overhead;
        let length = self.rate.map_or(Duration::ZERO, |rate| rate.time_for(amount));
        let end = now + length;
        self.busy += length;
        // A shaper holds back the next packet.
        let spacing = self.shaper.map_or(length, |rate| rate.time_for(packet.size).max(length));
        self.transmitting = Some((now + spacing, *packet));
        let arrival = end + self.delay;
        if self.is_watched {
            out.push(Command::Began(*packet));
        }
        if self.wire.is_empty() {
            out.push(Command::Set(LinkTimer::Arrival, arrival));
        }
        self.wire.push_back((arrival, *packet));
    }

    /// Delivers the packets that arrive now, and schedules the next arrival.
    fn arrive(&mut self, now: Instant, out: &mut Vec<Command>) {
        // A packet is copied once: it is removed where it is.
        while let Some((at, packet)) = self.wire.front()
            && *at <= now
        {
            self.counters.packets += 1;
            self.counters.bytes += packet.size;
            append(out, || Command::Deliver(*packet));
            self.wire.pop_front();
        }
        if let Some(&(at, _)) = self.wire.front() {
            out.push(Command::Set(LinkTimer::Arrival, at));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::queue::tests::{number, packet, rng};
    use crate::{DropTailConfig, Limit};
    use proptest::prelude::*;

    const GIGABIT: Option<BitRate> = Some(BitRate(1_000_000_000));

    fn link(rate: Option<BitRate>, delay: Duration, limit: Limit) -> Link {
        let queue = QueueSettings::DropTail(DropTailConfig { limit });
        Link::new(&LinkSettings { rate, delay, queue, ..LinkSettings::default() }, rng())
    }

    /// A link with an event queue of its own.
    struct Bench {
        link: Link,
        arrival: Option<Instant>,
        ready: Option<Instant>,
        completion: Option<Instant>,
        events: u32,
        delivered: Vec<(Instant, u64)>,
        dropped: Vec<(Instant, u64)>,
        departed: Vec<(Instant, u64)>,
        began: Vec<(Instant, u64)>,
    }

    impl Bench {
        fn new(link: Link) -> Self {
            let (delivered, dropped, departed) = (Vec::new(), Vec::new(), Vec::new());
            let (arrival, ready, completion, began) = (None, None, None, Vec::new());
            Self {
                link,
                arrival,
                ready,
                completion,
                events: 0,
                delivered,
                dropped,
                departed,
                began,
            }
        }

        /// Schedules the events that the link requests; at most one of each timer may be pending.
        fn execute(&mut self, now: Instant, out: Vec<Command>) {
            for command in out {
                let (pending, at) = match command {
                    Command::Deliver(packet) => {
                        self.delivered.push((now, number(&packet)));
                        continue;
                    }
                    Command::Signal(Signal::Drop(packet)) => {
                        self.dropped.push((now, number(&packet)));
                        continue;
                    }
                    Command::Signal(Signal::Mark(..)) => continue,
                    Command::Lost(_) => panic!("a link alone loses nothing"),
                    Command::Began(packet) => {
                        self.began.push((now, number(&packet)));
                        continue;
                    }
                    Command::Departed(packet) => {
                        self.departed.push((now, number(&packet)));
                        continue;
                    }
                    Command::Set(LinkTimer::Arrival, at) => (&mut self.arrival, at),
                    Command::Set(LinkTimer::Ready, at) => (&mut self.ready, at),
                    Command::Set(LinkTimer::Completion, at) => (&mut self.completion, at),
                    Command::Set(LinkTimer::Held, _) => panic!("a link keeps packets in order"),
                };
                assert!(at >= now, "asked for an event in the past");
                assert_eq!(pending.replace(at), None, "a second event of the same timer");
                self.events += 1;
            }
        }

        /// Dispatches the events before `until`, or also those at `until` if `inclusive`.
        fn advance(&mut self, until: Instant, inclusive: bool) {
            loop {
                let [arrival, ready, completion] = [self.arrival, self.ready, self.completion]
                    .map(|at| at.unwrap_or(Instant::NEVER));
                let now = arrival.min(ready).min(completion);
                if now > until || (now == until && !inclusive) || now == Instant::NEVER {
                    return;
                }
                let timer = if arrival <= ready.min(completion) {
                    self.arrival = None;
                    LinkTimer::Arrival
                } else if ready <= completion {
                    self.ready = None;
                    LinkTimer::Ready
                } else {
                    self.completion = None;
                    LinkTimer::Completion
                };
                let (before, mut out) = (self.delivered.len(), Vec::new());
                self.link.on_timer(now, timer, &mut out);
                assert!(!out.is_empty() || timer != LinkTimer::Arrival, "a stale arrival");
                self.execute(now, out);
                assert!(timer != LinkTimer::Arrival || self.delivered.len() > before);
            }
        }

        /// Offers a packet; returns whether the link accepts it.
        fn offer(&mut self, now: Instant, packet: Packet) -> bool {
            let mut out = Vec::new();
            self.link.on_packet(now, &packet, &mut out);
            self.execute(now, out);
            self.dropped.last() != Some(&(now, number(&packet)))
        }
    }

    #[test]
    fn a_watched_link_tells_when_each_transmission_begins() {
        let mut bench = Bench::new(link(GIGABIT, Duration::from_micros(10), Limit::NONE));
        bench.link.watch();
        for number in 0..3 {
            bench.offer(Instant(1000), packet(0, number, 1500));
        }
        bench.advance(Instant::NEVER, true);
        assert_eq!(
            bench.began,
            [1000, 13_000, 25_000].map(Instant).into_iter().zip(0..).collect::<Vec<_>>()
        );
        assert_eq!(bench.events, 5, "no more than for three packets that nobody watches");
    }

    #[test]
    fn an_idle_link_costs_one_event_and_takes_transmission_plus_delay() {
        let mut bench = Bench::new(link(GIGABIT, Duration::from_micros(10), Limit::NONE));
        bench.offer(Instant(1000), packet(0, 0, 1500));
        assert_eq!((bench.arrival, bench.ready), (Some(Instant(1000 + 12_000 + 10_000)), None));
        bench.advance(Instant::NEVER, true);
        assert_eq!(bench.delivered, [(Instant(23_000), 0)]);
        assert_eq!(bench.events, 1);
    }

    #[test]
    fn overhead_takes_time_but_does_not_count_as_delivered() {
        let settings =
            LinkSettings { rate: GIGABIT, overhead: Bytes(38), ..LinkSettings::default() };
        let mut bench = Bench::new(Link::new(&settings, rng()));
        bench.offer(Instant(0), packet(0, 0, 1500));
        bench.advance(Instant::NEVER, true);
        assert_eq!(bench.delivered, [(Instant(12_304), 0)]);
        assert_eq!(bench.link.counters().bytes, Bytes(1500));
        assert_eq!(bench.link.busy(Instant(12_304)), Duration(12_304));
    }

    #[test]
    fn packets_that_wait_leave_back_to_back() {
        let mut bench = Bench::new(link(GIGABIT, Duration::from_millis(1), Limit::NONE));
        for number in 0..3 {
            bench.offer(Instant(0), packet(0, number, 1500));
        }
        assert_eq!((bench.link.queue().len(), bench.link.in_flight()), (2, 1));
        bench.advance(Instant(12_000), true);
        assert_eq!((bench.link.queue().len(), bench.link.in_flight()), (1, 2));
        bench.advance(Instant::NEVER, true);
        let at = |ns: u64| Instant(1_000_000 + ns);
        assert_eq!(bench.delivered, [(at(12_000), 0), (at(24_000), 1), (at(36_000), 2)]);
        assert_eq!(bench.events, 3 + 2, "three arrivals, two ends of transmission");
    }

    #[test]
    fn the_packet_in_transmission_holds_its_room_to_the_end() {
        let mut bench = Bench::new(link(GIGABIT, Duration::from_millis(1), Limit::packets(1)));
        assert!(bench.offer(Instant(0), packet(0, 0, 1500)));
        assert!(!bench.offer(Instant(11_999), packet(0, 1, 1500)));
        assert!(bench.offer(Instant(12_000), packet(0, 2, 1500)));
        bench.advance(Instant::NEVER, true);
        let counters = Counters {
            offered: 3,
            dropped: 1,
            marked: Marks::default(),
            packets: 2,
            bytes: Bytes(3000),
        };
        assert_eq!(bench.link.counters(), &counters);
    }

    #[test]
    fn a_packet_at_the_very_end_of_a_transmission_goes_behind_those_that_wait() {
        let mut bench = Bench::new(link(GIGABIT, Duration::ZERO, Limit::packets(2)));
        bench.offer(Instant(0), packet(0, 0, 1500));
        bench.offer(Instant(0), packet(0, 1, 1500));
        assert!(bench.offer(Instant(12_000), packet(0, 2, 1500)));
        bench.advance(Instant::NEVER, true);
        let order: Vec<_> = bench.delivered.iter().map(|&(at, number)| (at.0, number)).collect();
        assert_eq!(order, [(12_000, 0), (24_000, 1), (36_000, 2)]);
    }

    #[test]
    fn without_rate_and_delay_a_burst_arrives_in_its_instant_by_one_event() {
        let mut bench = Bench::new(link(None, Duration::ZERO, Limit::packets(1)));
        for number in 0..4 {
            assert!(bench.offer(Instant(7), packet(0, number, 1500)));
        }
        assert!(bench.delivered.is_empty(), "delivery is an event of its own");
        bench.advance(Instant(7), true);
        assert_eq!(bench.delivered.len(), 4);
        assert_eq!(bench.events, 1);
    }

    #[test]
    fn a_departure_is_reported_when_the_last_bit_has_left() {
        let link =
            link(GIGABIT, Duration::from_millis(1), Limit::packets(2)).reporting_departures();
        let mut bench = Bench::new(link);
        for number in 0..3 {
            bench.offer(Instant(0), packet(0, number, 1500));
        }
        bench.advance(Instant(24_000), true);
        assert_eq!(bench.departed, [(Instant(12_000), 0), (Instant(24_000), 1)]);
        assert_eq!(bench.dropped, [(Instant(0), 2)]);
        assert!(bench.delivered.is_empty());
    }

    /// A link at 1 Gb/s with a driver, which reports departures.
    fn with_driver(driver: DriverSettings, limit: Limit) -> Bench {
        let queue = QueueSettings::DropTail(DropTailConfig { limit });
        let (rate, driver) = (GIGABIT, Some(driver));
        let settings = LinkSettings { rate, queue, driver, ..LinkSettings::default() };
        Bench::new(Link::new(&settings, rng()).reporting_departures())
    }

    #[test]
    fn a_ring_takes_what_the_queue_then_has_room_for() {
        let driver = DriverSettings { ring_packets: 2, bql: false, ..DriverSettings::default() };
        let mut bench = with_driver(driver, Limit::packets(1));
        for number in 0..4 {
            bench.offer(Instant(0), packet(0, number, 1500));
        }
        assert_eq!(bench.dropped, [(Instant(0), 3)]);
        assert_eq!((bench.link.waiting(), bench.link.queue().len()), (2, 1));
        let mut resident = 0;
        bench.link.each(&mut |_| resident += 1);
        assert_eq!(resident, 3);
        bench.advance(Instant::NEVER, true);
        assert_eq!(
            bench.departed.iter().map(|(at, _)| at.0).collect::<Vec<_>>(),
            [12_000, 24_000, 36_000]
        );
        assert_eq!(bench.link.driver().unwrap().waited(Instant(50_000)), 12_000 + 12_000);
    }

    #[test]
    fn a_ring_of_which_the_driver_learns_late_runs_dry() {
        // Two packets of 12 µs, of which the driver learns 30 µs after the end of the first.
        let coalescing = Duration::from_micros(30);
        let driver =
            DriverSettings { ring_packets: 2, bql: false, coalescing, ..DriverSettings::default() };
        let mut bench = with_driver(driver, Limit::NONE);
        for number in 0..5 {
            bench.offer(Instant(0), packet(0, number, 1500));
        }
        bench.advance(Instant::NEVER, true);
        let of = |list: &[(Instant, u64)]| list.iter().map(|(at, _)| at.0).collect::<Vec<_>>();
        let later = 12_000 + 30_000;
        let again = later + 12_000 + 30_000;
        let sent = [12_000, 24_000, later + 12_000, later + 24_000, again + 12_000];
        assert_eq!(of(&bench.delivered), sent);
        assert_eq!(of(&bench.departed), [later, later, again, again, again + 42_000]);
    }

    #[test]
    fn byte_limits_find_the_least_ring_that_keeps_the_link_busy() {
        // 100 packets of 1500 bytes last 1.2 ms; reports are 120 µs apart, ten packets.
        let coalescing = Duration::from_micros(120);
        let driver = DriverSettings { coalescing, ..DriverSettings::default() };
        let mut bench = with_driver(driver, Limit::NONE);
        let packets = 200_000;
        for number in 0..packets {
            bench.offer(Instant(0), packet(0, number, 1500));
        }
        bench.advance(Instant(1_500_000_000), true);
        let before = bench.link.counters().packets;
        bench.advance(Instant(2_100_000_000), true);
        assert_eq!(bench.link.counters().packets - before, 50_000, "always busy");
        let limit = bench.link.driver().unwrap().limit().unwrap();
        assert!((15_000..=33_000).contains(&limit.0), "{limit}");
    }

    #[test]
    fn busy_time_counts_to_the_nanosecond() {
        let mut bench = Bench::new(link(GIGABIT, Duration::ZERO, Limit::NONE));
        bench.offer(Instant(1000), packet(0, 0, 1500));
        assert_eq!(bench.link.busy(Instant(1000)), Duration(0));
        assert_eq!(bench.link.busy(Instant(5000)), Duration(4000));
        assert_eq!(bench.link.busy(Instant(99_000)), Duration(12_000));
    }

    proptest! {
        /// Lindley's recursion: a packet starts when it has arrived and the previous one is sent.
        #[test]
        fn agrees_with_lindley(
            gaps_sizes in prop::collection::vec((0u64..30_000, 28u64..1600), 1..100),
            mbps in prop::option::of(100.0..2000.0),
            delay in 0u64..100_000,
            most in prop::option::of(0u32..8),
            ties_first in any::<bool>(),
        ) {
            let rate = mbps.map(BitRate::from_mbps);
            let limit = Limit { packets: most, bytes: None };
            let mut bench = Bench::new(link(rate, Duration(delay), limit));
            let (mut now, mut ends, mut expected) = (0, Vec::<u64>::new(), Vec::new());
            for (i, &(gap, size)) in gaps_sizes.iter().enumerate() {
                now += gap;
                bench.advance(Instant(now), ties_first);
                let held = ends.iter().filter(|&&end| end > now).count();
                let fits = most.is_none_or(|most| held < most as usize);
                let taken = bench.offer(Instant(now), packet(0, i as u64, size));
                prop_assert_eq!(taken, fits);
                if fits {
                    let start = ends.last().map_or(now, |&end| end.max(now));
                    let end = start + rate.map_or(0, |rate| rate.time_for(Bytes(size)).0);
                    ends.push(end);
                    expected.push((Instant(end + delay), i as u64));
                }
                let counters = *bench.link.counters();
                let inside = bench.link.queue().len() + bench.link.in_flight();
                prop_assert_eq!(
                    counters.offered,
                    counters.dropped + counters.packets + inside as u64
                );
            }
            bench.advance(Instant::NEVER, true);
            prop_assert_eq!(bench.delivered, expected);
        }
    }
}
