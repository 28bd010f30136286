//! The receiver: which data has arrived, and when to acknowledge it.

mod accurate;
pub(crate) mod autotuning;
mod connection;
mod decoding;
mod linux;
mod reading;
mod timestamps;
mod window;

pub(crate) use accurate::FIRST_MARKED;

use crate::accurate::agree;
use crate::challenge::Challenges;
use crate::config::in_header;
use crate::{
    Command, Config, DelayedAck, DynamicAck, Ecn, Feedback, FixedAck, Reassembly, Recovery,
    RttEstimator, TimerId,
};
use accurate::Accurate;
use connection::Ending;
use decoding::Decoder;
use kernel::{Bytes, Duration, Instant};
use linux::Acknowledger;
use window::ReceiveWindow;
use wire::{Flags, FlowId, SackBlock, SackBlocks, Segment, Timestamps};

/// The counters of a receiver.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ReceiverCounters {
    /// Segments with data.
    pub segments: u64,
    /// Those of them without new data.
    pub duplicates: u64,
    /// Those of them that arrived out of order, above a hole.
    pub out_of_order: u64,
    /// Segments sent: acknowledgements, SYN-ACKs and FINs.
    pub acks_sent: u64,
    /// Those of them that are challenge ACKs (RFC 5961).
    pub challenges: u64,
    /// Those of them whose header had no room for the option of accurate ECN beside timestamps and
    /// SACK blocks, although there was news to tell.
    pub without_option: u64,
    /// Blocks of coded data that were decoded because data was missing, the data units recovered by
    /// this, and how many of these blocks were compared with the data sent.
    pub decoded: u64,
    /// See `decoded`.
    pub recovered: u64,
    /// See `decoded`.
    pub verified: u64,
}

impl std::ops::AddAssign for ReceiverCounters {
    fn add_assign(&mut self, other: Self) {
        self.segments += other.segments;
        self.duplicates += other.duplicates;
        self.out_of_order += other.out_of_order;
        self.acks_sent += other.acks_sent;
        self.challenges += other.challenges;
        self.without_option += other.without_option;
        self.decoded += other.decoded;
        self.recovered += other.recovered;
        self.verified += other.verified;
    }
}

/// The end of a connection that receives data.
#[derive(Debug)]
pub struct Receiver {
    flow: FlowId,
    connection: u32,
    config: Config,
    /// Bytes of a full segment.
    mss: u64,
    wnd: ReceiveWindow,
    /// The scale of the window field.
    shift: u8,
    rtt: RttEstimator,
    /// Next sequence number expected; 0 before the SYN.
    next: u64,
    store: Reassembly,
    /// Blocks of coded data that wait for more units, if data is coded.
    decoder: Option<Box<Decoder>>,
    /// The ranges that last arrived above a hole, most recent first, by their first byte; zeros at
    /// the end.
    recent_blocks: [u64; 4],
    /// The range that the next acknowledgement reports as a duplicate (RFC 2883).
    duplicate: Option<SackBlock>,
    /// For an application that reads slowly: in-order data that it has not read, until when it has
    /// read, and whether the timer for free space runs.
    unread: u64,
    read_at: Instant,
    reading: bool,
    /// One past the highest sequence number that the advertised window ever allowed.
    edge: u64,
    /// The congestion feedback that both ends agreed on; whether marks are being echoed, and the
    /// counters of accurate feedback.
    feedback: Feedback,
    echo: bool,
    accurate: Option<Box<Accurate>>,
    /// The FIN's sequence number, once seen.
    fin: Option<u64>,
    /// The acknowledgement number last sent.
    last_ack: u64,
    /// In-order bytes that arrived after the last acknowledgement.
    pending: u64,
    /// Whether the delayed-acknowledgement timer runs.
    delaying: bool,

    /// With the endpoint of Linux.
    linux: Option<Box<Acknowledger>>,

    /// This end's own sequence numbers: SYN 0, FIN 1.
    own_next: u64,
    own_una: u64,
    /// When this end's SYN left; `None` once it was retransmitted (Karn's algorithm) or
    /// acknowledged.
    own_sent: Option<Instant>,
    ending: Ending,
    challenges: Challenges,

    /// Whether timestamps were negotiated.
    timestamps: bool,
    /// RFC 7323's `TS.Recent`.
    recent: Instant,
    counters: ReceiverCounters,
}

impl Receiver {
    /// A receiver for one connection of a flow.
    pub fn new(flow: FlowId, connection: u32, config: &Config) -> Self {
        Self {
            flow,
            connection,
            config: Config { ecn: config.ecn_receiver.unwrap_or(config.ecn), ..*config },
            mss: config.mss().0,
            wnd: ReceiveWindow::new(config),
            shift: config.window_shift(),
            rtt: RttEstimator::new(config),
            next: 0,
            store: Reassembly::default(),
            decoder: config.fec.map(|fec| Box::new(Decoder::new(&fec))),
            recent_blocks: [0; 4],
            duplicate: None,
            unread: 0,
            read_at: Instant::ZERO,
            reading: false,
            edge: config.window().0,
            feedback: Feedback::None,
            echo: false,
            accurate: None,
            fin: None,
            last_ack: 0,
            pending: 0,
            delaying: false,
            linux: config.linux().map(|rules| Box::new(Acknowledger::new(rules, config.mss().0))),
            own_next: 0,
            own_una: 0,
            own_sent: None,
            ending: Ending::default(),
            challenges: Challenges::default(),
            timestamps: false,
            recent: Instant::ZERO,
            counters: ReceiverCounters::default(),
        }
    }

    /// A segment arrived from the sender.
    pub fn on_segment(&mut self, now: Instant, segment: &Segment, out: &mut Vec<Command>) {
        let ours = segment.connection == self.connection && segment.flow == self.flow;
        if !ours || !segment.forward {
            return;
        }
        let special = segment.flags.has_any(Flags::SYN.and(Flags::RST));
        if (special || !self.is_synchronised()) && self.on_control(now, segment, out) {
            return;
        }
        if self.is_old(segment) {
            return self.refuse(now, segment, out);
        }
        let news = segment.ack != self.own_una || self.own_una == 0;
        if news && !self.on_ack(now, segment, out) {
            return;
        }
        self.note_timestamp(segment);
        if let Some(accurate) = &mut self.accurate {
            accurate.on_segment(segment);
        }
        if segment.len > 0 {
            self.wnd.on_segment(now, segment, self.next);
            self.on_arrival(now, segment, out);
        }
        if segment.len > 0 || segment.flags.has(Flags::FIN) {
            self.on_mark(now, segment, out);
            match &segment.coded {
                Some(coded) if self.decoder.is_some() => self.on_unit(now, segment, coded, out),
                _ => self.on_data(now, segment, out),
            }
        } else if segment.seq < self.next && !self.finished() {
            // A segment below the window: a zero-window probe (RFC 9293 §3.10.7.4).
            self.acknowledge(now, out);
        }
    }

    /// A timer expired.
    pub fn on_timer(&mut self, now: Instant, timer: TimerId, out: &mut Vec<Command>) {
        match timer {
            TimerId::DelayedAck if self.delaying => {
                self.delaying = false;
                if self.is_due(now, out) {
                    self.acknowledge(now, out);
                }
            }
            TimerId::Pacing if self.reading => self.on_room(now, out),
            TimerId::Retransmit if self.own_una < self.own_next => {
                self.rtt.back_off();
                self.own_sent = None;
                self.send_own(now, out);
            }
            _ => {}
        }
    }

    fn on_syn(&mut self, now: Instant, segment: &Segment, out: &mut Vec<Command>) {
        if self.next == 0 {
            self.next = 1;
            self.own_next = 1;
            self.edge = in_header(self.wnd.open(), self.shift, true).saturating_add(1);
            self.timestamps = self.config.timestamps && segment.timestamps.is_some();
            if !segment.sack.are_permitted() {
                // RFC 2018 §2: no SACK blocks without the SACK-permitted option.
                self.config.recovery = Recovery::NewReno;
            }
            self.feedback = agree(self.config.ecn, segment.flags);
            if let (Feedback::Accurate, Ecn::Accurate(settings)) = (self.feedback, self.config.ecn)
            {
                self.accurate = Some(Box::new(Accurate::new(settings, segment.flags.arrived())));
            }
            self.own_sent = Some(now);
        } else {
            self.own_sent = None;
        }
        self.recent = segment.timestamps.map_or(Instant::ZERO, |t| t.value);
        self.send_own(now, out);
    }

    /// RFC 3168 §6.1.3: a mark is echoed until the sender answers it. RFC 8257 §3.2: each
    /// acknowledgement covers either marked or unmarked data.
    fn on_mark(&mut self, now: Instant, segment: &Segment, out: &mut Vec<Command>) {
        if self.feedback != Feedback::Classic {
            return;
        }
        let marked = segment.flags.has(Flags::CE);
        if self.config.ecn == Ecn::EachMark {
            if marked != self.echo && self.pending > 0 {
                self.acknowledge(now, out);
            }
            self.echo = marked;
        } else {
            self.echo = marked || self.echo && !segment.flags.has(Flags::CWR);
        }
    }

    fn on_data(&mut self, now: Instant, segment: &Segment, out: &mut Vec<Command>) {
        self.counters.segments += u64::from(segment.len > 0);
        // Data beyond the window is not accepted (RFC 9293 §3.10.7.4), which also bounds the store.
        let limit = self.limit();
        let (start, end) = (segment.seq, segment.seq.saturating_add(u64::from(segment.len)));
        if end > limit || self.finished() {
            self.note_duplicate(start, end);
            self.counters.duplicates += u64::from(segment.len > 0 && end <= self.next);
            self.hurry();
            self.acknowledge(now, out);
            return;
        }
        if segment.flags.has(Flags::FIN) && self.fin.is_none() && end >= self.next {
            self.fin = Some(end);
        }
        if start > self.next {
            self.counters.out_of_order += u64::from(segment.len > 0);
            self.note_duplicate(start, end);
            let new = self.store.insert(start, end);
            self.note_recent(start);
            self.counters.duplicates += u64::from(segment.len > 0 && !new);
            self.answer_hole(now, out);
        } else if segment.seq_end() <= self.next {
            self.note_duplicate(start, end);
            self.counters.duplicates += u64::from(segment.len > 0);
            self.hurry();
            self.acknowledge(now, out);
        } else {
            self.note_duplicate(start, end);
            self.on_in_order(now, end, out);
        }
    }

    fn on_in_order(&mut self, now: Instant, end: u64, out: &mut Vec<Command>) {
        let hole = !self.store.is_empty();
        let open = self.wnd.open();
        let before = self.next;
        self.next = if hole { self.store.take_from(end.max(before)) } else { end.max(before) };
        let fresh = self.next - before;
        if self.reads() {
            self.read_on(now);
            self.unread += fresh;
        }
        if fresh > 0 {
            self.tune(now, fresh);
            out.push(Command::Deliver(Bytes(fresh)));
        }
        self.pending += fresh;
        if self.fin == Some(self.next) {
            self.next += 1;
            self.on_fin(now, out);
        } else if self.linux.is_some() {
            self.answer(now, hole, self.wnd.open() > open, out);
        } else if hole || self.pending >= self.enough() || self.is_hurried() {
            self.acknowledge(now, out);
        } else {
            self.delay(now, out);
        }
    }

    /// Whether marks let an acknowledgement leave at once.
    fn is_hurried(&self) -> bool {
        self.accurate.as_ref().is_some_and(|accurate| accurate.hurried)
    }

    fn delay(&mut self, now: Instant, out: &mut Vec<Command>) {
        if !self.delaying {
            self.delaying = true;
            out.push(Command::Set(TimerId::DelayedAck, self.latest(now)));
        }
    }

    /// How many in-order bytes one acknowledgement covers. The unit is bytes and not segments, so
    /// that small segments are not acknowledged too often (RFC 5681 §4.2).
    fn enough(&self) -> u64 {
        let mss = self.mss;
        let segments = match self.config.delayed_ack {
            DelayedAck::None => 1,
            DelayedAck::Fixed(FixedAck { segments, .. }) => u64::from(segments),
            DelayedAck::Dynamic(DynamicAck { thresholds, .. }) => {
                // The number of the last segment in order, counted from 1.
                let number = (self.next - 1).div_ceil(mss);
                1 + thresholds.iter().filter(|&&threshold| number >= threshold).count() as u64
            }
        };
        if segments <= 1 { 0 } else { segments * mss }
    }

    /// The latest time at which the delayed acknowledgement of a segment that arrives now leaves.
    fn latest(&self, now: Instant) -> Instant {
        let timer = match self.config.delayed_ack {
            DelayedAck::None => Duration::ZERO,
            DelayedAck::Fixed(FixedAck { timer, .. })
            | DelayedAck::Dynamic(DynamicAck { timer, .. }) => timer,
        };
        if self.config.ack_heartbeat && timer > Duration::ZERO {
            Instant::ZERO + timer * (now.since(Instant::ZERO) / timer + 1)
        } else {
            now + timer
        }
    }

    fn acknowledge(&mut self, now: Instant, out: &mut Vec<Command>) {
        self.send(now, self.own_next, Flags::ACK, out);
    }

    fn send(&mut self, now: Instant, seq: u64, flags: Flags, out: &mut Vec<Command>) {
        self.counters.acks_sent += 1;
        self.pending = 0;
        self.last_ack = self.next;
        if let Some(linux) = &mut self.linux {
            linux.on_sent();
        }
        if self.delaying {
            self.delaying = false;
            out.push(Command::Cancel(TimerId::DelayedAck));
        }
        let echo = Timestamps { value: now, echo: self.recent };
        let flags = if self.echo { flags.and(Flags::ECE) } else { flags };
        let permits = flags.has(Flags::SYN) && self.config.sack().is_some();
        let mut sack = if permits { SackBlocks::PERMITTED } else { self.blocks() };
        let flags = match &mut self.accurate {
            None => flags,
            Some(accurate) => {
                let flags = accurate.flags(flags);
                let is_syn = flags.has(Flags::SYN);
                let lacks_room = accurate.add_option(is_syn, self.timestamps, &mut sack);
                self.counters.without_option += u64::from(lacks_room);
                flags
            }
        };
        self.read_on(now);
        let window = in_header(self.free(), self.shift, flags.has(Flags::SYN));
        self.edge = self.edge.max(self.next.saturating_add(window));
        out.push(Command::Send(Segment {
            flow: self.flow,
            connection: self.connection,
            forward: false,
            seq,
            len: 0,
            ack: self.next,
            window,
            flags,
            timestamps: self.timestamps.then_some(echo),
            sack,
            coded: None,
        }));
        self.wait_for_room(now, out);
    }

    // ---- selective acknowledgements ----

    /// Data arrived above a hole: its block is reported first (RFC 2018 §4).
    fn note_recent(&mut self, start: u64) {
        self.recent_blocks.copy_within(0..3, 1);
        self.recent_blocks[0] = start;
    }

    /// Records the part of `start..end` that had arrived before, if any (RFC 2883 §4).
    fn note_duplicate(&mut self, start: u64, end: u64) {
        if self.config.sack().is_none() || start >= self.next && self.store.is_empty() {
            return;
        }
        let below = (start, end.min(self.next));
        let inside = self.store.overlap(start, end);
        let (start, end) = if below.0 < below.1 { below } else { inside };
        if start < end {
            self.duplicate = Some(SackBlock { start, end });
        }
    }

    /// The SACK blocks of an acknowledgement: a duplicate first, then the data that arrived last,
    /// then earlier data. At most three with timestamps, four without.
    fn blocks(&mut self) -> SackBlocks {
        let most = if self.timestamps { 3 } else { 4 };
        if let Some(decoder) = &self.decoder {
            return decoder.report(most);
        }
        let mut blocks = SackBlocks::NONE;
        if self.duplicate.is_none() && self.store.is_empty() || self.config.sack().is_none() {
            return blocks;
        }
        if let Some(duplicate) = self.duplicate.take() {
            blocks.push(duplicate);
        }
        let first = blocks.as_slice().len();
        let others = self.store.runs().map(|(start, _)| start);
        for start in self.recent_blocks.into_iter().chain(others) {
            let (start, end) = self.store.run_at(start);
            // The FIN that follows this data has arrived, too.
            let end = if self.fin == Some(end) { end + 1 } else { end };
            let block = SackBlock { start, end };
            let known = blocks.as_slice()[first..].contains(&block);
            if start < end && !known && blocks.as_slice().len() < most {
                blocks.push(block);
            }
        }
        blocks
    }

    // ---- gauges ----

    /// The connection's number within its flow.
    pub fn connection(&self) -> u32 {
        self.connection
    }

    /// Whether the connection is established and not closed yet.
    pub fn is_connected(&self) -> bool {
        self.own_una > 0 && self.is_synchronised()
    }

    /// Bytes delivered to the application so far.
    pub fn delivered_bytes(&self) -> u64 {
        self.next.saturating_sub(1 + u64::from(self.finished()))
    }

    /// Bytes that wait above a hole.
    pub fn waiting_bytes(&self) -> u64 {
        self.store.len()
    }

    /// The counters.
    pub fn counters(&self) -> ReceiverCounters {
        self.counters
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::harness::{Listening, config, ms, segment};

    fn delayed(segments: u32) -> Config {
        let timer = Duration::from_millis(100);
        Config { delayed_ack: DelayedAck::Fixed(FixedAck { segments, timer }), ..config() }
    }

    #[test]
    fn a_syn_is_answered_and_answered_again() {
        let mut tcp = Listening::new(&config());
        assert_eq!(tcp.data(0, 1, 100), "R", "nothing is taken before the SYN");
        assert_eq!(tcp.syn(10), "S ack 1, rto@1010");
        assert_eq!(tcp.syn(500), "S ack 1, rto@1500");
        assert_eq!(tcp.timer(1500, TimerId::Retransmit), "S ack 1, rto@3500");
        assert_eq!(tcp.timer(3500, TimerId::Retransmit), "S ack 1, rto@7500");
        assert_eq!(tcp.data(3600, 1, 100), "rto off, deliver 100, ack 101");
        assert_eq!(tcp.timer(7500, TimerId::Retransmit), "", "stale");
        assert_eq!(tcp.syn(8000), "ack 101", "an old duplicate");
        // Karn's algorithm: no sample, so that the back-off stays (RFC 6298 §5).
        assert_eq!(tcp.fin(9000, 101, 0), "F ack 102, rto@13000");
    }

    #[test]
    fn a_repeated_syn_ack_is_not_measured() {
        let mut tcp = Listening::new(&config());
        tcp.syn(10);
        tcp.syn(500);
        assert_eq!(tcp.segment(600, &segment(true, 1, 0, 1, Flags::ACK)), "rto off");
        assert_eq!(tcp.fin(700, 1, 0), "F ack 2, rto@1700", "the initial timeout");
        let mut tcp = Listening::new(&config());
        tcp.syn(10);
        assert_eq!(tcp.segment(110, &segment(true, 1, 0, 1, Flags::ACK)), "rto off");
        assert_eq!(tcp.fin(700, 1, 0), "F ack 2, rto@1000", "100 ms and 4·50 ms");
    }

    #[test]
    fn on_a_heartbeat_acknowledgements_leave_at_multiples_of_the_timer() {
        let mut tcp = Listening::connected(&Config { ack_heartbeat: true, ..delayed(2) });
        assert_eq!(tcp.data(110, 1, 100), "deliver 100, delay@200");
        assert_eq!(tcp.timer(200, TimerId::DelayedAck), "ack 101");
        assert_eq!(tcp.data(200, 101, 100), "deliver 100, delay@300", "after, not at once");
        assert_eq!(tcp.data(210, 201, 100), "deliver 100, delay off, ack 301");
    }

    #[test]
    fn every_second_full_segment_is_acknowledged() {
        let mut tcp = Listening::connected(&delayed(2));
        assert_eq!(tcp.data(10, 1, 100), "deliver 100, delay@110");
        assert_eq!(tcp.data(20, 101, 100), "deliver 100, delay off, ack 201");
        assert_eq!(tcp.data(30, 201, 100), "deliver 100, delay@130");
        assert_eq!(tcp.timer(130, TimerId::DelayedAck), "ack 301");
        assert_eq!(tcp.timer(131, TimerId::DelayedAck), "", "stale");
    }

    #[test]
    fn small_segments_count_by_their_bytes() {
        let mut tcp = Listening::connected(&delayed(2));
        assert_eq!(tcp.data(10, 1, 60), "deliver 60, delay@110");
        assert_eq!(tcp.data(20, 61, 60), "deliver 60");
        assert_eq!(tcp.data(30, 121, 60), "deliver 60");
        assert_eq!(tcp.data(40, 181, 60), "deliver 60, delay off, ack 241");
    }

    #[test]
    fn without_delay_each_segment_is_acknowledged() {
        for config in [config(), delayed(1)] {
            let mut tcp = Listening::connected(&config);
            assert_eq!(tcp.data(10, 1, 30), "deliver 30, ack 31");
            assert_eq!(tcp.data(20, 31, 100), "deliver 100, ack 131");
        }
    }

    #[test]
    fn the_dynamic_scheme_grows_d_with_the_segments_number() {
        let timer = Duration::from_millis(100);
        let delayed_ack = DelayedAck::Dynamic(DynamicAck { thresholds: [2, 5, 9], timer });
        let mut tcp = Listening::connected(&Config { delayed_ack, ..config() });
        let acknowledged: Vec<u64> = (1..=22)
            .filter(|number| tcp.data(*number, 100 * number - 99, 100).contains("ack"))
            .collect();
        assert_eq!(acknowledged, [1, 3, 6, 10, 14, 18, 22]);
    }

    #[test]
    fn data_beyond_a_hole_is_acknowledged_at_once() {
        let mut tcp = Listening::connected(&delayed(2));
        assert_eq!(tcp.data(10, 1, 100), "deliver 100, delay@110");
        assert_eq!(tcp.data(20, 201, 100), "delay off, ack 101");
        assert_eq!(tcp.data(30, 401, 100), "ack 101");
        assert_eq!(tcp.receiver.waiting_bytes(), 200);
        // RFC 5681 §4.2 applies also to data that fills part of a gap.
        assert_eq!(tcp.data(40, 101, 100), "deliver 200, ack 301");
        assert_eq!(tcp.data(50, 301, 100), "deliver 200, ack 501");
        assert_eq!(tcp.data(60, 501, 100), "deliver 100, delay@160", "no hole is left");
        let counters = tcp.receiver.counters();
        assert_eq!((counters.segments, counters.out_of_order, counters.duplicates), (6, 2, 0));
        assert_eq!(counters.acks_sent, 5, "the SYN-ACK is one");
    }

    #[test]
    fn duplicates_are_acknowledged_at_once_and_delivered_never() {
        let mut tcp = Listening::connected(&delayed(2));
        tcp.data(10, 1, 100);
        assert_eq!(tcp.data(20, 1, 100), "delay off, ack 101");
        tcp.data(30, 301, 100);
        assert_eq!(tcp.data(40, 301, 100), "ack 101");
        assert_eq!(tcp.data(50, 51, 100), "deliver 50, ack 151", "half of it is new");
        assert_eq!(tcp.receiver.counters().duplicates, 2);
        assert_eq!(tcp.receiver.delivered_bytes(), 150);
    }

    #[test]
    fn nothing_beyond_the_window_is_taken() {
        let mut tcp = Listening::connected(&config());
        assert_eq!(tcp.data(10, 10_001, 100), "ack 1");
        assert_eq!(tcp.receiver.waiting_bytes(), 0);
        assert_eq!(tcp.data(20, 9_901, 100), "ack 1");
        assert_eq!(tcp.receiver.waiting_bytes(), 100);
    }

    #[test]
    fn a_fin_is_answered_by_a_fin_when_all_data_is_there() {
        let mut tcp = Listening::connected(&delayed(2));
        assert_eq!(tcp.fin(10, 101, 50), "ack 1", "it came too early");
        assert_eq!(tcp.data(20, 1, 100), "deliver 150, F ack 152, rto@220");
        assert_eq!(tcp.receiver.delivered_bytes(), 150);
        assert_eq!(tcp.fin(30, 101, 50), "ack 152");
        assert_eq!(tcp.data(40, 152, 100), "ack 152", "nothing follows a FIN");
        assert_eq!(tcp.timer(220, TimerId::Retransmit), "F ack 152, rto@620");
        assert_eq!(tcp.segment(300, &segment(true, 152, 0, 2, Flags::ACK)), "rto off, closed");
        assert_eq!(tcp.segment(310, &segment(true, 152, 0, 2, Flags::ACK)), "R", "it is closed");
    }

    #[test]
    fn a_bare_fin_is_taken() {
        let mut tcp = Listening::connected(&delayed(2));
        assert_eq!(tcp.data(10, 1, 100), "deliver 100, delay@110");
        assert_eq!(tcp.fin(20, 101, 0), "delay off, F ack 102, rto@220");
        assert_eq!(tcp.fin(30, 101, 0), "ack 102");
    }

    #[test]
    fn segments_of_others_are_ignored() {
        let mut tcp = Listening::connected(&config());
        let data = segment(true, 1, 100, 1, Flags::ACK);
        assert_eq!(tcp.segment(10, &Segment { connection: 6, ..data }), "");
        assert_eq!(tcp.segment(10, &Segment { flow: FlowId(9), ..data }), "");
        assert_eq!(tcp.segment(10, &Segment { forward: false, ..data }), "");
        assert_eq!(tcp.segment(10, &data), "deliver 100, ack 101");
    }

    /// The timestamp that the acknowledgement of this segment echoes, if the segment is
    /// acknowledged.
    fn echo(tcp: &mut Listening, at: u64, seq: u64, sent: u64) -> Option<u64> {
        let timestamps = Some(Timestamps { value: ms(sent), echo: Instant::ZERO });
        let data = Segment { timestamps, ..segment(true, seq, 100, 1, Flags::ACK) };
        tcp.out.clear();
        tcp.receiver.on_segment(ms(at), &data, &mut tcp.out);
        tcp.out.iter().find_map(|command| match command {
            Command::Send(reply) => Some(reply.timestamps.unwrap().echo.0 / 1_000_000),
            _ => None,
        })
    }

    #[test]
    fn the_echo_is_the_earliest_segment_not_yet_acknowledged() {
        let mut tcp = Listening::new(&Config { timestamps: true, ..delayed(2) });
        let timestamps = Some(Timestamps::default());
        let syn = Segment { timestamps, ..segment(true, 0, 0, 0, Flags::SYN) };
        assert_eq!(tcp.segment(0, &syn), "S ack 1, rto@1000");
        // RFC 7323 §4.3 (A): delayed acknowledgements.
        assert_eq!(echo(&mut tcp, 15, 1, 10), None);
        assert_eq!(echo(&mut tcp, 25, 101, 20), Some(10));
        // (B): a hole. Each acknowledgement echoes the last segment that advanced the window.
        assert_eq!(echo(&mut tcp, 45, 301, 40), Some(10));
        assert_eq!(echo(&mut tcp, 55, 401, 50), Some(10));
        // (C): the segment that fills the hole.
        assert_eq!(echo(&mut tcp, 65, 201, 60), Some(60));
        assert_eq!(echo(&mut tcp, 75, 101, 20), Some(60), "a late duplicate is older");
    }

    #[test]
    fn timestamps_are_used_only_if_the_syn_has_them() {
        let mut tcp = Listening::new(&Config { timestamps: true, ..config() });
        tcp.receiver.on_segment(ms(0), &segment(true, 0, 0, 0, Flags::SYN), &mut tcp.out);
        let Command::Send(reply) = tcp.out[0] else { panic!() };
        assert_eq!(reply.timestamps, None);
        assert_eq!((reply.window, reply.connection, reply.forward), (10_000, 5, false));
    }
}
