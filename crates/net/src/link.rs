//! A wired simplex link: a queue, a transmitter and a wire.

mod ahead;

use crate::command::{Command, LinkTimer};
use crate::driver::{Driver, DriverSettings};
use crate::loss::LossSettings;
use crate::queue::{Marks, OutputLink, Queue, QueueSettings, Signal};
use crate::reorder::ReorderSettings;
use ahead::Ahead;
use kernel::{BitRate, Bytes, Duration, Instant, Rng};
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

/// A packet on the wire.
#[derive(Debug)]
struct Wired {
    /// When its transmission begins.
    begin: Instant,
    /// When its last bit arrives.
    arrival: Instant,
    packet: Packet,
}

/// A wired simplex link.
///
/// Packets on the link stay in order. Therefore only the first arrival is in the event queue. If
/// the queue drops only what does not fit, as drop-tail does, a packet costs no other event: when
/// its transmission begins is known at its arrival. Otherwise the end of a transmission is an event
/// if another packet waits for it.
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
    /// Packets on the wire, and those that wait if their transmissions are known ahead.
    wire: VecDeque<Wired>,
    /// The transmitter in place of queue and transmission, if transmissions are known ahead.
    ahead: Option<Ahead>,
    /// Whether an `Arrival` event is pending, or the packets are being taken that have arrived.
    arrival_pending: bool,
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
        let traits = settings.queue.get().traits();
        // Without a delay a packet would arrive at the instant at which the next one begins.
        let apart = rate.is_none() || delay > Duration::ZERO;
        let drop_tail = traits.drop_tail.filter(|_| apart && settings.driver.is_none());
        Self {
            rate,
            delay,
            overhead,
            queue: settings.queue.get().build(settings.output_link(), rng),
            driver: settings.driver.as_ref().map(|driver| Box::new(Driver::new(driver))),
            shaper: traits.shaper,
            transmitting: None,
            wire: VecDeque::new(),
            ahead: drop_tail.map(Ahead::new),
            arrival_pending: false,
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
        // Each end is an event.
        self.ahead = None;
        self
    }

    /// From now on the link reports the begin of each transmission: by [`Command::Began`], or at
    /// the call of [`Link::next_begun`] at that instant.
    pub fn watch(&mut self) {
        self.is_watched = true;
    }

    /// Whether the begin of each transmission is reported.
    pub fn is_watched(&self) -> bool {
        self.is_watched
    }

    /// Whether the link needs no `Ready` event, but for the reports of a watched link.
    pub fn knows_ahead(&self) -> bool {
        self.ahead.is_some()
    }

    /// If transmissions are known ahead: the next packet whose transmission has begun up to `now`
    /// and that was not returned before, the instant of its begin, and how many packets then wait.
    /// To be called before each packet and each timer of the link, until it returns `None`, and
    /// after each packet of a watched link. A packet that does not wait is returned by a watched
    /// link only.
    #[inline]
    pub fn next_begun(&mut self, now: Instant) -> Option<(Instant, &Packet, usize)> {
        let (next, waiting) = self.ahead.as_mut()?.next_begun(now, &self.wire)?;
        Some((next.begin, &next.packet, waiting))
    }

    /// The propagation delay.
    pub fn delay(&self) -> Duration {
        self.delay
    }

    /// Accepts a packet at the near end. The packet is never delivered in this call, not even
    /// without rate and delay.
    pub fn on_packet(&mut self, now: Instant, packet: &Packet, out: &mut Vec<Command>) {
        self.counters.offered += 1;
        if self.ahead.is_some() {
            return self.transmit_ahead(now, packet, out);
        }
        self.settle(now, out);
        self.queue.push(now, packet, &mut self.signals);
        self.fill(now);
        self.report(out);
        self.proceed(now, out);
    }

    /// When the timer [`LinkTimer::Arrival`] has expired: the first packet that has reached the far
    /// end. It is removed by [`Link::remove_arrived`]. After the last one [`Link::on_timer`] is
    /// called.
    #[inline]
    pub fn first_arrived(&self, now: Instant) -> Option<&Packet> {
        self.wire.front().filter(|first| first.arrival <= now).map(|first| &first.packet)
    }

    /// Removes the first packet, which has reached the far end.
    #[inline]
    pub fn remove_arrived(&mut self) {
        let Some(Wired { packet, .. }) = self.wire.front() else { return };
        self.counters.packets += 1;
        self.counters.bytes += packet.size;
        if let Some(ahead) = &mut self.ahead {
            ahead.on_arrival(packet);
        }
        self.wire.pop_front();
    }

    /// A timer of the link has expired.
    #[inline]
    pub fn on_timer(&mut self, now: Instant, timer: LinkTimer, out: &mut Vec<Command>) {
        match timer {
            LinkTimer::Arrival => {
                let next = self.wire.front().map(|next| next.arrival);
                self.arrival_pending = next.is_some();
                out.extend(next.map(|at| Command::Set(LinkTimer::Arrival, at)));
            }
            LinkTimer::Ready if self.ahead.is_some() => {
                self.ready_pending = false;
                self.report_next(out);
            }
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

    /// Packets that wait for their transmission, in the queue and in the driver's ring; if
    /// transmissions are known ahead, at the last call of [`Link::next_begun`].
    #[inline]
    pub fn waiting(&self) -> usize {
        match &self.ahead {
            Some(ahead) => self.wire.len() - ahead.begun(),
            None => self.queue.len() + self.driver.as_ref().map_or(0, |driver| driver.len()),
        }
    }

    /// Their bytes.
    pub fn backlog(&self) -> Bytes {
        if let Some(ahead) = &self.ahead {
            return self.wire.range(ahead.begun()..).map(|wired| wired.packet.size).sum();
        }
        let held = self.driver.as_ref().map_or(Bytes::ZERO, |driver| driver.backlog());
        self.queue.backlog() + held
    }

    /// Packets between the queue and the far end: in transmission or on the wire.
    pub fn in_flight(&self) -> usize {
        self.ahead.as_ref().map_or(self.wire.len(), Ahead::begun)
    }

    /// Calls `visit` for each packet between the two ends, for checking.
    pub fn each(&self, visit: &mut dyn FnMut(&Packet)) {
        self.queue.each(visit);
        self.driver.iter().for_each(|driver| driver.each(visit));
        self.wire.iter().for_each(|wired| visit(&wired.packet));
    }

    /// The counters.
    pub fn counters(&self) -> &Counters {
        &self.counters
    }

    /// For how long the link has transmitted, up to `now`.
    pub fn busy(&self, now: Instant) -> Duration {
        let left = match (&self.ahead, &self.transmitting) {
            (Some(ahead), _) => ahead.left(now),
            (None, Some((end, _))) => end.since(now),
            (None, None) => Duration::ZERO,
        };
        self.busy.saturating_sub(left)
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
        self.expect(arrival, out);
        self.wire.push_back(Wired { begin: now, arrival, packet: *packet });
    }

    /// A packet will reach the far end: sets the timer `Arrival` if it is the first.
    #[inline]
    fn expect(&mut self, arrival: Instant, out: &mut Vec<Command>) {
        if !self.arrival_pending {
            self.arrival_pending = true;
            out.push(Command::Set(LinkTimer::Arrival, arrival));
        }
    }

    /// A packet arrives whose transmission is known ahead.
    #[inline]
    fn transmit_ahead(&mut self, now: Instant, packet: &Packet, out: &mut Vec<Command>) {
        let Some(ahead) = &mut self.ahead else { return };
        let amount = packet.size + self.overhead;
        let length = self.rate.map_or(Duration::ZERO, |rate| rate.time_for(amount));
        let taken = ahead.take(now, packet, length, self.delay, &self.wire);
        let Some((begin, end)) = taken else {
            self.counters.dropped += 1;
            return out.push(Command::Signal(Signal::Drop(*packet)));
        };
        self.busy += length;
        let arrival = end + self.delay;
        self.expect(arrival, out);
        self.wire.push_back(Wired { begin, arrival, packet: *packet });
        if begin == now {
            // It is told of only where it is watched: nothing waits, before and after.
            if let Some(ahead) = self.ahead.as_mut().filter(|_| !self.is_watched) {
                ahead.skip_to(self.wire.len());
            }
        } else if self.is_watched && !self.ready_pending {
            self.report_next(out);
        }
    }

    /// The next begin of a transmission becomes an event, because it is watched.
    #[cold]
    fn report_next(&mut self, out: &mut Vec<Command>) {
        let Some(begin) = self.ahead.as_ref().and_then(|ahead| ahead.next_begin(&self.wire)) else {
            return;
        };
        self.ready_pending = true;
        out.push(Command::Set(LinkTimer::Ready, begin));
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
        /// How many packets waited when transmissions that are known ahead began.
        waited: Vec<usize>,
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
                waited: Vec::new(),
            }
        }

        /// Notes which transmissions have begun, if they are known ahead.
        fn note_begun(&mut self, now: Instant) {
            while let Some((begin, packet, waiting)) = self.link.next_begun(now) {
                self.began.push((begin, number(packet)));
                self.waited.push(waiting);
            }
        }

        /// Schedules the events that the link requests; at most one of each timer may be pending.
        fn execute(&mut self, now: Instant, out: Vec<Command>) {
            for command in out {
                let (pending, at) = match command {
                    Command::Signal(Signal::Drop(packet)) => {
                        self.dropped.push((now, number(&packet)));
                        continue;
                    }
                    Command::Signal(Signal::Mark(..)) => continue,
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
                self.note_begun(now);
                let (before, mut out) = (self.delivered.len(), Vec::new());
                while timer == LinkTimer::Arrival
                    && let Some(packet) = self.link.first_arrived(now)
                {
                    self.delivered.push((now, number(packet)));
                    self.link.remove_arrived();
                }
                self.link.on_timer(now, timer, &mut out);
                self.execute(now, out);
                let is_stale = timer == LinkTimer::Arrival && self.delivered.len() == before;
                assert!(!is_stale, "a stale arrival");
            }
        }

        /// Offers a packet; returns whether the link accepts it.
        fn offer(&mut self, now: Instant, packet: Packet) -> bool {
            let mut out = Vec::new();
            self.note_begun(now);
            self.link.on_packet(now, &packet, &mut out);
            self.note_begun(now);
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
        assert_eq!(bench.events, 3 + 2, "three arrivals, and two begins at other times");
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
        assert_eq!((bench.link.waiting(), bench.link.in_flight()), (2, 1));
        bench.note_begun(Instant(12_000));
        assert_eq!((bench.link.waiting(), bench.link.in_flight()), (1, 2));
        bench.advance(Instant::NEVER, true);
        let at = |ns: u64| Instant(1_000_000 + ns);
        assert_eq!(bench.delivered, [(at(12_000), 0), (at(24_000), 1), (at(36_000), 2)]);
        assert_eq!(bench.events, 3, "three arrivals; transmissions are known ahead");
        let mut bench =
            Bench::new(link(GIGABIT, Duration::from_millis(1), Limit::NONE).reporting_departures());
        for number in 0..3 {
            bench.offer(Instant(0), packet(0, number, 1500));
        }
        bench.advance(Instant::NEVER, true);
        assert_eq!(bench.delivered, [(at(12_000), 0), (at(24_000), 1), (at(36_000), 2)]);
        assert_eq!(bench.events, 3 + 3, "and three ends of transmissions");
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
            ahead in any::<bool>(),
            watched in any::<bool>(),
        ) {
            let rate = mbps.map(BitRate::from_mbps);
            let limit = Limit { packets: most, bytes: None };
            let link = link(rate, Duration(delay), limit);
            let link = if ahead { link } else { link.reporting_departures() };
            prop_assert_eq!(link.knows_ahead(), ahead && (delay > 0 || rate.is_none()));
            let mut bench = Bench::new(link);
            if watched {
                bench.link.watch();
            }
            let (mut now, mut ends, mut expected) = (0, Vec::<u64>::new(), Vec::new());
            let (mut begins, mut arrivals) = (Vec::new(), Vec::new());
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
                    begins.push((Instant(start), i as u64));
                    arrivals.push(Instant(now));
                    expected.push((Instant(end + delay), i as u64));
                }
                let counters = *bench.link.counters();
                let inside = bench.link.waiting() + bench.link.in_flight();
                prop_assert_eq!(
                    counters.offered,
                    counters.dropped + counters.packets + inside as u64
                );
            }
            bench.advance(Instant::NEVER, true);
            prop_assert_eq!(bench.delivered, expected);
            if bench.link.knows_ahead() {
                let told = (0..begins.len()).filter(|&i| watched || begins[i].0 > arrivals[i]);
                let told: Vec<usize> = told.collect();
                let expected: Vec<_> = told.iter().map(|&i| begins[i]).collect();
                prop_assert_eq!(&bench.began, &expected);
                for (&i, found) in told.iter().zip(&bench.waited) {
                    let before = arrivals.partition_point(|&arrival| arrival < begins[i].0);
                    let until = arrivals.partition_point(|&arrival| arrival <= begins[i].0);
                    // What arrives at this instant comes before the begin or after it.
                    let waiting = before.saturating_sub(i + 1)..=until - i - 1;
                    prop_assert!(waiting.contains(found));
                }
            }
            let total: u64 = ends.iter().zip(&begins).map(|(end, begin)| end - begin.0.0).sum();
            prop_assert_eq!(bench.link.busy(Instant::NEVER), Duration(total));
        }
    }
}
