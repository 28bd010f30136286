//! Coded data: what is sent in blocks with parity, and what is done about holes (`LT-TCP`; Tickoo,
//! Subramanian, Kalyanaraman and Ramakrishnan, `IWQoS` 2005, where it leaves no choice).
//!
//! Every transmission, of data or of parity, has a number; acknowledgements report these, and what
//! is lost follows from them as in RFC 9002. A window is a block of N units, K of data and P of
//! parity. Holes that what is on its way will not fill are filled with more parity. Whether a loss
//! is congestion is the controller's business.

use super::{Expiry, Sender, State};
use crate::blocks::{Blocks, Losses, News, Turn};
use crate::fec::{Fec, MOST_FIRST};
use crate::rack::Rack;
use crate::{Ack, Cause, Close, Command, Loss};
use kernel::{Duration, Instant, Segments};
use wire::{Flags, Segment};

/// The least time after which a unit may be lost (RFC 9002 §6.1.2).
const GRANULARITY: Duration = Duration(1_000_000);

/// The coded data of a connection.
#[derive(Clone, Debug)]
pub(super) struct Coding {
    settings: Fec,
    pub(super) blocks: Blocks,
    /// Bytes of a full segment.
    mss: u64,
    /// Bytes of the next block's units.
    unit: u64,
    estimate: LossEstimate,
    /// One past the units of the window whose losses the controller was told last, and of that
    /// which it has reduced last.
    noticed: u64,
    reduced: u64,
    /// The same of the window that has answered a mark; and the unit that tells so, until it is
    /// known to have arrived.
    marked: u64,
    told: Option<u64>,
    /// The unit that probes, if one is out; the next when the timer expired.
    probe: Option<u64>,
    expired: u64,
}

/// The probability that a unit is lost: equation (1), once for each window.
#[derive(Clone, Copy, Debug)]
struct LossEstimate {
    value: f64,
    weight: f64,
    /// Units of a window at least; blocks that are smaller for want of data count together.
    window: u64,
    units: u32,
    lost: u32,
}

impl LossEstimate {
    fn count(&mut self, units: u32, lost: u32) {
        self.units += units;
        self.lost += lost;
        if u64::from(self.units) >= self.window {
            let sample = f64::from(self.lost) / f64::from(self.units);
            self.value += self.weight * (sample - self.value);
            (self.units, self.lost) = (0, 0);
        }
    }
}

impl Coding {
    pub(super) fn new(settings: &Fec, mss: u64) -> Self {
        let mut settings = *settings;
        settings.granularity.smallest = settings.granularity.smallest.min(mss);
        Self {
            settings,
            blocks: Blocks::default(),
            mss,
            unit: mss,
            estimate: LossEstimate {
                value: 0.0,
                weight: settings.weight,
                window: settings.granularity.units,
                units: 0,
                lost: 0,
            },
            noticed: 0,
            reduced: 0,
            marked: 0,
            told: None,
            probe: None,
            expired: 0,
        }
    }

    pub(super) fn estimate(&self) -> f64 {
        self.estimate.value
    }

    pub(super) fn unit(&self) -> u64 {
        self.unit
    }

    /// The units of the next block, data and parity, in a window of so many bytes.
    fn cut_window(&mut self, window: u64) -> (u32, u32) {
        let granularity = self.settings.granularity;
        self.unit = granularity.unit(window, self.unit, self.mss);
        loop {
            let units = (window / self.unit).clamp(2, u64::from(MOST_FIRST)) as u32;
            let parity = self.settings.parity.of(units, self.estimate.value);
            let few = u64::from(units - parity) < granularity.units / 2;
            // Smaller units make room for parity beside some data.
            if !few || self.unit <= granularity.smallest || units == MOST_FIRST {
                return (units - parity, parity);
            }
            self.unit = self.unit.saturating_sub(granularity.step).max(granularity.smallest);
        }
    }
}

impl Sender {
    /// An acknowledgement of coded data.
    pub(super) fn on_coded_ack(&mut self, now: Instant, segment: &Segment, out: &mut Vec<Command>) {
        let Some(mut coding) = self.coding.take() else { return };
        let flight = coding.blocks.in_flight();
        let acked = segment.ack.saturating_sub(self.una);
        let known = coding.blocks.top();
        let news = coding.blocks.report(&segment.sack);
        if segment.ack >= self.una {
            self.una = segment.ack;
            self.set_peer_window(segment.window);
            coding.blocks.acknowledge(self.una);
        }
        let newest = news.newest.filter(|&(number, _)| number >= known);
        let rtt = newest.map(|(_, departure)| now.since(departure.at));
        if let Some(rtt) = rtt {
            // RFC 7323 Appendix G: a sample for every second segment of a round trip.
            self.rtt.sample(rtt, flight.div_ceil(2 * self.mss).max(1));
            out.push(Command::Rtt(rtt));
        }
        if let Some((number, _)) = newest {
            self.on_unit(&mut coding, number);
        }
        let losses = self.find_lost_units(now, &mut coding, rtt, flight);
        let echo = self.on_coded_echo(now, segment, flight, &mut coding);
        self.settle_blocks(now, &mut coding);
        if news.delivered > 0 {
            self.inform_of_units(now, &coding, &news, losses.bytes, flight, (rtt, echo));
        }
        if news.delivered > 0 || acked > 0 {
            (self.deadline, self.probe_at) = (None, None);
        }
        self.coding = Some(coding);
        self.transmit(now, out);
        if self.una >= self.end {
            self.report_end(out);
        }
    }

    /// The unit of this number is the highest yet to arrive: what that says of probe, timeout and
    /// answered mark.
    fn on_unit(&mut self, coding: &mut Coding, number: u64) {
        coding.probe = coding.probe.filter(|&probe| number < probe);
        coding.told = coding.told.filter(|&told| number < told);
        if self.state == State::Loss {
            // Numbers tell at once whether something arrived that had left before (RFC 3522).
            let needless = number < coding.expired;
            if needless && self.config.sack().is_some_and(|sack| sack.f_rto) {
                self.counters.undone += 1;
                self.rtt.end_back_off();
                self.control.on_undo();
            }
            self.state = State::Open;
            self.refresh_window();
        }
    }

    /// RFC 9002 §6.1: what is lost; and tells the controller.
    fn find_lost_units(
        &mut self,
        now: Instant,
        coding: &mut Coding,
        rtt: Option<Duration>,
        flight: u64,
    ) -> Losses {
        let longest = self.rtt.srtt().max(rtt).unwrap_or(self.config.rto_initial);
        let late = (longest + longest / 8).max(GRANULARITY);
        let losses = coding.blocks.find_losses(now, late);
        self.reorder_at = losses.next;
        self.meter.on_lost(losses.bytes);
        let Some(last) = losses.last else { return losses };
        if coding.told.is_some_and(|told| last >= told) {
            // What told of the reduced window may be among the lost: it is told again.
            (coding.told, self.cwr) = (None, self.ecn);
        }
        // Once per window of data (RFC 5681 §4.3).
        if last >= coding.noticed.max(coding.reduced) && self.state == State::Open {
            let before = self.window;
            coding.noticed = coding.blocks.next_unit();
            self.counters.fast_retransmits += 1;
            self.tell(now, Cause::FastRetransmit, losses.bytes, flight, false);
            // A controller to whom a loss is no congestion has no window to recover.
            if self.window < before {
                coding.reduced = coding.blocks.next_unit();
                self.answered(coding);
            }
        }
        losses
    }

    fn tell(&mut self, now: Instant, cause: Cause, lost: u64, flight: u64, repeated: bool) {
        let (lost, in_flight) = (self.segments(lost), self.segments(flight));
        self.control.on_loss(&Loss { now, cause, lost, in_flight, repeated });
        self.refresh_window();
    }

    /// The window was reduced: the next unit tells it, and what was marked before asks no more.
    fn answered(&mut self, coding: &mut Coding) {
        if self.ecn {
            (self.cwr, coding.told) = (true, None);
            coding.marked = coding.blocks.next_unit();
        }
    }

    /// RFC 3168 §6.1.2, once per window of units. While it is not known that the receiver was told,
    /// what it echoes may be the old mark.
    fn on_coded_echo(
        &mut self,
        now: Instant,
        segment: &Segment,
        flight: u64,
        coding: &mut Coding,
    ) -> bool {
        let echo = self.ecn && segment.flags.has(Flags::ECE);
        let heard = !self.cwr && coding.told.is_none();
        if echo && self.state == State::Open && heard && coding.blocks.top() > coding.marked {
            self.counters.marks_answered += 1;
            self.tell(now, Cause::Ecn, 0, flight, false);
            coding.reduced = coding.blocks.next_unit();
            coding.unit = coding.settings.granularity.after_mark(coding.unit);
            self.answered(coding);
        }
        echo
    }

    /// Counts the losses of blocks that have been sent, and asks for what others lack.
    fn settle_blocks(&mut self, now: Instant, coding: &mut Coding) {
        let Coding { blocks, estimate, .. } = coding;
        blocks.settle(|units, lost| estimate.count(units, lost));
        blocks.ask(now, self.rtt.srtt().unwrap_or_default(), estimate.value);
    }

    /// Tells the controller what has arrived: units are what its window holds.
    fn inform_of_units(
        &mut self,
        now: Instant,
        coding: &Coding,
        news: &News,
        lost: u64,
        flight: u64,
        (rtt, echo): (Option<Duration>, bool),
    ) {
        let mss = self.mss;
        let rtt_min = self.rtt.least();
        let newest = news.newest.map(|(_, departure)| departure);
        let delivery = self.meter.sample(now, news.delivered, newest.as_ref(), rtt_min, mss);
        let delivered = self.segments(news.delivered);
        let used = flight + mss > self.window;
        if let Some(ramp) = &mut self.ramp
            && used
        {
            ramp.on_ack(delivered.0);
        }
        let recovery = coding.blocks.top() <= coding.reduced && coding.reduced > 0;
        self.control.on_ack(&Ack {
            now,
            acked: delivered,
            delivered,
            lost: self.segments(lost),
            in_flight: self.segments(coding.blocks.in_flight()),
            rtt,
            srtt: self.rtt.srtt().unwrap_or_default(),
            rtt_min: rtt_min.unwrap_or_default(),
            delivery,
            may_grow: used && !echo && !recovery && self.ramp.is_none(),
            // What `recovery` means to controllers, that a window is being steered down, it is not.
            recovery: false,
            ecn_echo: echo,
            marked: if echo { delivered } else { Segments(0.0) },
        });
        self.refresh_window();
    }

    // ---- sending ----

    pub(super) fn transmit_coded(&mut self, now: Instant, out: &mut Vec<Command>) {
        let Some(mut coding) = self.coding.take() else { return };
        while self.send_unit(now, &mut coding, out) {}
        let flight = coding.blocks.in_flight();
        if self.nxt >= self.end && flight < self.window {
            self.meter.on_idle(flight);
        }
        self.set_coded_timer(now, &mut coding, out);
        self.coding = Some(coding);
    }

    /// Sends one unit, if one may leave now.
    fn send_unit(&mut self, now: Instant, coding: &mut Coding, out: &mut Vec<Command>) -> bool {
        let pipe = coding.blocks.in_flight();
        let parity = coding.settings.reactive;
        let turn = if let Some(turn) = coding.blocks.turn(parity) {
            turn
        } else {
            // A block is cut when its first unit may leave, for the window of then.
            if pipe > 0 && pipe + coding.unit > self.window || !self.cut_block(coding) {
                return false;
            }
            coding.blocks.turn(parity).expect("a new block has units")
        };
        let fits = pipe == 0 || pipe + u64::from(turn.len) <= self.window;
        let leaves = fits && self.may_leave(now, out);
        if leaves {
            self.put_unit(now, coding, &turn, out);
        }
        leaves
    }

    /// Cuts the next block from what waits, as far as the receiver's window allows; whether there
    /// is one. From here on its data counts as sent.
    fn cut_block(&mut self, coding: &mut Coding) -> bool {
        let waiting = self.end.saturating_sub(self.nxt);
        if waiting == 0 {
            let fin = self.closed && self.config.close == Close::Fin && self.nxt == self.end;
            if fin {
                coding.blocks.push(self.nxt, 1, 1, 1, true);
                self.nxt += 1;
                self.max = self.nxt;
            }
            return fin;
        }
        let outstanding = self.max - self.una;
        let amount = waiting.min(self.peer_window.saturating_sub(outstanding));
        let (data, parity) = coding.cut_window(self.window);
        let whole = u64::from(data) * coding.unit;
        // No silly windows (RFC 9293 §3.8.6.2.1), as in `cut`.
        if amount == 0 || amount < waiting.min(coding.unit) && outstanding > 0 {
            return false;
        }
        let span = amount.min(whole);
        // Units of the same size, but for rounding: the fewest that carry the span.
        let size = span.div_ceil(span.div_ceil(coding.unit));
        let units = span.div_ceil(size) as u32;
        let first = if span == whole {
            data + parity
        } else {
            coding.settings.parity.around(units, coding.estimate.value)
        };
        coding.blocks.push(self.nxt, span, units as u8, first, false);
        self.nxt += span;
        self.max = self.nxt;
        true
    }

    /// Hands a unit down. All are transmissions of their own: each asks for an ECN-capable packet.
    fn put_unit(&mut self, now: Instant, coding: &mut Coding, turn: &Turn, out: &mut Vec<Command>) {
        let len = u64::from(turn.len);
        let departure = self.meter.on_send(now, coding.blocks.in_flight(), len);
        let coded = coding.blocks.send(turn, departure);
        let mut flags = if turn.fin { Flags::ACK.and(Flags::FIN) } else { Flags::ACK };
        if len > 0 {
            let parity = coded.is_parity();
            self.counters.segments += 1;
            self.counters.bytes += len;
            self.counters.retransmissions += u64::from(!parity && !turn.first);
            self.counters.proactive += u64::from(parity && turn.first);
            self.counters.reactive += u64::from(parity && !turn.first);
            self.counters.parity_bytes += if parity { len } else { 0 };
            if self.ecn {
                flags = flags.and(Flags::ECT);
                if std::mem::take(&mut self.cwr) {
                    flags = flags.and(Flags::CWR);
                    coding.told = Some(coded.unit);
                }
            }
        }
        self.last_sent = now;
        self.pace(now, len);
        let segment = self.segment(now, turn.seq, turn.len, flags);
        out.push(Command::Send(Segment { coded: Some(coded), ..segment }));
    }

    // ---- the timer ----

    fn set_coded_timer(&mut self, now: Instant, coding: &mut Coding, out: &mut Vec<Command>) {
        if self.una >= self.max && coding.blocks.in_flight() == 0 {
            (self.deadline, self.probe_at) = (None, None);
            self.set_persist(now, out);
            return;
        }
        let deadline = match self.deadline.filter(|&at| at > now) {
            Some(deadline) => deadline,
            None => now + self.rtt.rto(),
        };
        self.deadline = Some(deadline);
        let rack = self.config.sack().is_some_and(|sack| sack.rack);
        let may_probe = rack && self.state == State::Open && coding.probe.is_none();
        let wanted = if let Some(at) = self.reorder_at {
            (Expiry::Reorder, at.min(deadline))
        } else if may_probe && coding.blocks.is_waiting() && self.rtt.srtt().is_some() {
            let at = self.probe_at.filter(|&at| at > now).unwrap_or_else(|| {
                // A lone segment's acknowledgement may be delayed.
                let alone = coding.blocks.in_flight() <= self.mss;
                now + Rack::probe_delay(self.rtt.srtt(), alone)
            });
            self.probe_at = Some(at);
            (Expiry::Probe, at.min(deadline))
        } else {
            (Expiry::Resend, deadline)
        };
        self.set(wanted, out);
    }

    /// The timer expired, for whatever it was set.
    pub(super) fn on_coded_timer(&mut self, now: Instant, expiry: Expiry, out: &mut Vec<Command>) {
        let Some(mut coding) = self.coding.take() else { return };
        let over = self.deadline.is_some_and(|at| at <= now);
        match expiry {
            _ if over => self.on_coded_timeout(now, &mut coding),
            Expiry::Probe => {
                // RFC 8985 §7.3: more of the last block, beyond the window if need be.
                self.counters.probes += 1;
                coding.probe = Some(coding.blocks.next_unit());
                if let Some(turn) = coding.blocks.probe(coding.settings.reactive) {
                    self.put_unit(now, &mut coding, &turn, out);
                }
                (self.probe_at, self.deadline) = (None, None);
            }
            Expiry::Reorder => {
                let flight = coding.blocks.in_flight();
                self.find_lost_units(now, &mut coding, None, flight);
                self.settle_blocks(now, &mut coding);
            }
            Expiry::Resend | Expiry::Persist => self.on_coded_timeout(now, &mut coding),
        }
        self.coding = Some(coding);
        self.transmit(now, out);
    }

    /// RFC 6298 (5.4) to (5.6): the last resort.
    fn on_coded_timeout(&mut self, now: Instant, coding: &mut Coding) {
        let flight = coding.blocks.in_flight();
        let losses = coding.blocks.lose_all();
        self.meter.on_lost(losses.bytes);
        // Parity that nobody waits for is no reason to slow down.
        if self.una < self.max {
            self.counters.timeouts += 1;
            self.rtt.back_off();
            let repeated = self.timed_out_at == Some(self.una);
            self.tell(now, Cause::Timeout, losses.bytes, flight, repeated);
            self.timed_out_at = Some(self.una);
            self.state = State::Loss;
            coding.expired = coding.blocks.next_unit();
            coding.reduced = coding.expired;
            self.answered(coding);
        }
        self.settle_blocks(now, coding);
        coding.probe = None;
        (self.deadline, self.probe_at, self.reorder_at) = (None, None, None);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::control::{Lt, LtConfig};
    use crate::fec::{Granularity, Normal, Parity};
    use crate::script::{Driven, config, ms, segment};
    use crate::{Config, Ecn};
    use wire::{SackBlock, SackBlocks};

    /// Ten segments of 100 bytes in the first window, in units of 50 to 100.
    fn coded(parity: Parity) -> Config {
        let granularity = Granularity { units: 5, smallest: 50, step: 20 };
        Config {
            initial_window: Segments(10.0),
            initial_ssthresh: Some(Segments(10.0)),
            recovery: crate::Recovery::Sack(crate::Sack::default()),
            fec: Some(Fec { parity, granularity, ..Fec::default() }),
            ..config()
        }
    }

    fn connected(config: &Config, lossy: bool, amount: u64) -> (Driven, String) {
        let lt = || Box::new(Lt::new(config, LtConfig::default()));
        let mut tcp = if lossy { Driven::with(config, lt()) } else { Driven::new(config) };
        tcp.open(0);
        tcp.write(0, amount);
        let first = tcp.syn_ack(100);
        (tcp, first)
    }

    /// What is acknowledged, and which units have arrived.
    fn ack(tcp: &mut Driven, at: u64, ack: u64, runs: &[(u64, u64)]) -> String {
        flagged(tcp, at, ack, runs, Flags::ACK)
    }

    fn flagged(tcp: &mut Driven, at: u64, ack: u64, runs: &[(u64, u64)], flags: Flags) -> String {
        let mut sack = SackBlocks::NONE;
        for &(start, end) in runs {
            sack.push(SackBlock { start, end });
        }
        tcp.segment(at, &Segment { sack, ..segment(false, 1, 0, ack, flags) })
    }

    #[test]
    fn a_window_is_a_block_and_what_waits_less_is_one_too() {
        let (mut tcp, first) = connected(&coded(Parity::None), true, 250);
        assert_eq!(first, "rtt 100, connected, 1:85, 85:169, 169:251, rto@300");
        assert_eq!(ack(&mut tcp, 200, 251, &[(0, 3)]), "rtt 100, rto off");
        assert_eq!(tcp.sender.in_flight_bytes(), 0);
        assert_eq!(tcp.sender.acknowledged_bytes(), 250);
        assert_eq!(tcp.write(210, 5), "251:256, rto@485");
    }

    #[test]
    fn a_loss_is_answered_with_parity_and_lt_keeps_its_window() {
        let (mut tcp, _) = connected(&coded(Parity::None), true, 100_000);
        // The first of ten is lost: as many are in flight again, one of them parity of block 1.
        assert_eq!(
            ack(&mut tcp, 200, 1, &[(1, 4)]),
            "rtt 100, 1:101, 1001:1101, 1101:1201, \
                                                      1201:1301, rto@400"
        );
        assert_eq!(tcp.sender.counters().reactive, 1);
        assert!(tcp.sender.window_segments() >= 10.0);
        let (mut tcp, _) = connected(&coded(Parity::None), false, 100_000);
        assert_eq!(ack(&mut tcp, 200, 1, &[(1, 4)]), "rtt 100, rto@400", "NewReno halves it");
        assert_eq!(tcp.sender.window_segments(), 5.0);
        assert_eq!(ack(&mut tcp, 210, 1, &[(1, 6)]), "rtt 110, 1:101, rto@410");
    }

    #[test]
    fn the_estimate_makes_the_parity_of_the_next_block() {
        let (mut tcp, _) = connected(&coded(Parity::Normal(Normal { margin: 0.0 })), true, 100_000);
        ack(&mut tcp, 200, 201, &[(0, 2), (7, 10)]);
        assert_eq!(tcp.sender.loss_estimate(), 0.25, "half of 5 of 10");
        let before = tcp.sender.counters();
        for number in 10..40 {
            ack(&mut tcp, 300 + number, 201, &[(7, number + 1)]);
        }
        let counters = tcp.sender.counters();
        assert!(counters.proactive > before.proactive, "a fourth of the next blocks is parity");
    }

    #[test]
    fn a_mark_halves_window_and_units_once_a_round() {
        let config = Config { ecn: Ecn::Classic, ..coded(Parity::None) };
        let mut tcp = Driven::with(&config, Box::new(Lt::new(&config, LtConfig::default())));
        tcp.open(0);
        tcp.write(0, 100_000);
        let flags = Flags::SYN.and(Flags::ACK).and(Flags::ECE);
        tcp.segment(100, &segment(false, 0, 0, 1, flags));
        let echo = Flags::ACK.and(Flags::ECE);
        flagged(&mut tcp, 200, 101, &[(0, 1)], echo);
        assert_eq!((tcp.sender.window_segments(), tcp.sender.unit_bytes()), (5.0, 50));
        for number in 2..9 {
            flagged(&mut tcp, 200 + number, 100 * number + 1, &[(0, number)], echo);
        }
        assert_eq!(tcp.sender.counters().marks_answered, 1, "the same window of units");
        // Unit 10 tells that the window was reduced. Until it has arrived, an echo is old.
        flagged(&mut tcp, 300, 1001, &[(0, 10)], echo);
        assert_eq!(tcp.sender.counters().marks_answered, 1);
        flagged(&mut tcp, 310, 1051, &[(0, 12)], echo);
        assert_eq!(tcp.sender.counters().marks_answered, 2, "a new mark");
    }

    #[test]
    fn a_timeout_that_was_needless_is_taken_back() {
        let (mut tcp, _) = connected(&coded(Parity::None), true, 100_000);
        assert!(tcp.timer(300).contains("1:101"), "a probe: parity of the block");
        assert_eq!(tcp.sender.counters().probes, 1);
        let timeout = tcp.timer(600);
        assert!(timeout.starts_with("1:101, rto@"), "{timeout}");
        assert_eq!((tcp.sender.counters().timeouts, tcp.sender.state()), (1, State::Loss));
        assert_eq!(tcp.sender.window_segments(), 1.0);
        // The first units arrive after all: they had left before.
        ack(&mut tcp, 650, 301, &[(0, 3)]);
        assert_eq!((tcp.sender.counters().undone, tcp.sender.state()), (1, State::Open));
        assert!(tcp.sender.window_segments() >= 10.0);
    }

    #[test]
    fn small_windows_are_cut_into_smaller_units() {
        let mut coding =
            Coding::new(&coded(Parity::Normal(Normal { margin: 1.0 })).fec.unwrap(), 100);
        assert_eq!(coding.cut_window(1000), (10, 0));
        assert_eq!((coding.cut_window(300), coding.unit()), ((5, 0), 60));
        assert_eq!((coding.cut_window(300), coding.unit()), ((5, 0), 60));
        coding.estimate.value = 0.5;
        let (data, parity) = coding.cut_window(1000);
        assert_eq!((coding.unit(), data + parity), (80, 12), "a step larger");
        assert_eq!(parity, 8, "6 and 1.73");
        coding.estimate.value = 0.9;
        let (data, parity) = coding.cut_window(1000);
        assert_eq!((coding.unit(), data, parity), (50, 1, 19), "smaller, for the sake of parity");
    }

    #[test]
    fn timers_of_an_idle_connection_do_nothing() {
        let (mut tcp, _) = connected(&coded(Parity::None), true, 100);
        ack(&mut tcp, 200, 101, &[(0, 1)]);
        assert_eq!(tcp.timer(5000), "");
        assert_eq!(tcp.sender.counters().timeouts, 0);
        let mut out = Vec::new();
        tcp.sender.on_coded_timer(ms(5000), Expiry::Probe, &mut out);
        assert_eq!(out, []);
    }
}
