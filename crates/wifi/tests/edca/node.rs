//! One node's four channel access functions, and the frame exchanges that they win.

use crate::qos::{Arrival, Workload};
use crate::timing::Times;
use kernel::{Bytes, Duration, Instant, Rng};
use std::collections::{BTreeMap, VecDeque};
use wifi::mac::{SlotGrid, StepKind};
use wifi::phy::{Edca, Mode};
use wifi::{Counters, FrameCounters, Link, MacConfig, MsduOutcome};

const ACK: Bytes = Bytes(14);
const CTS: Bytes = Bytes(14);
const RTS: Bytes = Bytes(20);
/// Bytes of the delimiter before the only MPDU of a VHT PPDU (clause 9.7.1).
const DELIMITER: Bytes = Bytes(4);

/// What its bits say.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Frame {
    pub(crate) kind: StepKind,
    pub(crate) from: u32,
    pub(crate) to: u32,
    pub(crate) mode: Mode,
    pub(crate) psdu: Bytes,
    /// Duration field: how long after its end the medium is reserved (clause 9.2.5).
    reserves: Duration,
    category: usize,
    sequence: u16,
    retry: bool,
    packet: u64,
}

impl Frame {
    /// Whose exchange it belongs to.
    pub(crate) fn opener(&self) -> u32 {
        match self.kind {
            StepKind::Cts | StepKind::Ack => self.to,
            _ => self.from,
        }
    }
}

/// An MSDU waiting or in service.
#[derive(Clone, Copy, Debug)]
struct Msdu {
    packet: u64,
    to: u32,
    size: Bytes,
    sequence: u16,
    /// Its data frame was on the air before.
    retry: bool,
    received: bool,
}

/// An EDCAF: one access category's contention.
struct Function {
    parameters: Edca,
    draws: Rng,
    /// First the one in service.
    queue: VecDeque<Msdu>,
    window: u32,
    short_retries: u32,
    long_retries: u32,
    /// Back-off slots, while a back-off procedure is under way.
    backoff: Option<u32>,
    /// The next slot boundary, on an idle medium.
    boundary: Option<Instant>,
    /// It has seen a boundary since the medium fell idle and the back-off began.
    looked: bool,
    next_sequence: u16,
}

/// A CTS or an ACK that shall come.
#[derive(Clone, Copy, Debug)]
struct Awaited {
    kind: StepKind,
    /// When the node gives up; never, once a frame has been detected in time.
    until: Option<Instant>,
}

/// A transmission opportunity (clause 10.23.2.8).
#[derive(Clone, Copy, Debug)]
struct Txop {
    until: Instant,
    /// When the next exchange may begin, a SIFS after the last.
    next: Option<Instant>,
}

pub(crate) struct Node<'a> {
    pub(crate) id: u32,
    config: &'a MacConfig,
    times: &'a Times,
    links: &'a [Link],
    functions: Vec<Function>,
    noise: Rng,
    /// Since when the PHY reports the medium idle.
    idle_since: Option<Instant>,
    /// What an EIFS is longer than a DIFS, after a frame that could not be read.
    extra: Duration,
    nav: Instant,
    /// Slots do not begin before this moment: the end of a timeout.
    not_before: Instant,
    /// The category whose exchange is under way.
    holder: Option<usize>,
    txop: Option<(usize, Txop)>,
    awaited: Option<Awaited>,
    /// What is sent a SIFS after the frame just received.
    answer: Option<(Instant, Frame)>,
    last_heard: BTreeMap<(u32, usize), u16>,
    pub(crate) counters: Counters,
    pub(crate) frames: FrameCounters,
    pub(crate) delivered: Vec<(Instant, u32, u64)>,
    pub(crate) done: Vec<(u64, MsduOutcome, bool)>,
}

impl Function {
    /// Invokes the back-off procedure (clause 10.23.2.2). One of no slots is under way as well, up
    /// to the next boundary.
    fn back_off(&mut self) {
        self.backoff = Some(self.draws.up_to(self.window));
        (self.boundary, self.looked) = (None, false);
    }

    /// What it does at a slot boundary; whether it would send (clause 10.23.2.4).
    fn look(&mut self, slot: Duration) -> bool {
        self.looked = true;
        match (self.backoff, self.queue.is_empty()) {
            (Some(slots), _) if slots > 0 => {
                self.backoff = Some(slots - 1);
                self.boundary = self.boundary.map(|at| at + slot);
                false
            }
            (_, false) => true,
            (_, true) => {
                // A back-off after a transmission with nothing to follow is over.
                (self.backoff, self.boundary) = (None, None);
                false
            }
        }
    }
}

impl<'a> Node<'a> {
    pub(crate) fn new(workload: &'a Workload, times: &'a Times, id: u32) -> Self {
        let config = &workload.config;
        let edca = config.edca.as_ref().expect("there is EDCA");
        let all = if id == 0 { &edca.access_point } else { &edca.stations };
        let function = |(parameters, category): (&Edca, u32)| Function {
            parameters: *parameters,
            draws: workload.seed.stream("mac.backoff.edca", id * 4 + category),
            queue: VecDeque::new(),
            window: parameters.cw_min,
            short_retries: 0,
            long_retries: 0,
            backoff: None,
            boundary: None,
            looked: false,
            next_sequence: 0,
        };
        Self {
            id,
            config,
            times,
            links: &workload.links,
            functions: all.iter().zip(0..).map(function).collect(),
            noise: workload.seed.stream("radio.noise", id),
            idle_since: Some(Instant::ZERO),
            extra: Duration::ZERO,
            nav: Instant::ZERO,
            not_before: Instant::ZERO,
            holder: None,
            txop: None,
            awaited: None,
            answer: None,
            last_heard: BTreeMap::new(),
            counters: Counters::default(),
            frames: FrameCounters::default(),
            delivered: Vec::new(),
            done: Vec::new(),
        }
    }

    pub(crate) fn window(&self, category: usize) -> u32 {
        self.functions[category].window
    }

    // Carrier sense and slot boundaries.

    /// The PHY finds the medium busy; it will recognise a PPDU at `detected`.
    pub(crate) fn sense_busy(&mut self, detected: Instant) {
        if let Some(Awaited { until: until @ Some(_), .. }) = &mut self.awaited
            && Some(detected) <= *until
        {
            *until = None;
        }
        self.freeze();
    }

    /// The medium is busy, perhaps by the node itself: there are no slot boundaries. All that were
    /// up to now have been looked at.
    pub(crate) fn freeze(&mut self) {
        if self.idle_since.take().is_none() {
            return;
        }
        self.extra = Duration::ZERO;
        for (category, function) in self.functions.iter_mut().enumerate() {
            function.boundary = None;
            let waits = !function.queue.is_empty() && self.holder != Some(category);
            if !waits && function.backoff == Some(0) && function.looked {
                function.backoff = None;
            }
            // Beaten within its first interframe space, it backs off as a DCF would (clause
            // 10.3.4.2).
            if waits && function.backoff.is_none() {
                function.back_off();
            }
            function.looked = false;
        }
    }

    /// The PHY finds the medium idle.
    pub(crate) fn sense_idle(&mut self, now: Instant) {
        self.idle_since.get_or_insert(now);
        self.listen(now);
    }

    /// Functions that have something to wait for do so for their next slot boundary: AIFS after
    /// the end of EIFS or NAV, and each slot after that.
    fn listen(&mut self, now: Instant) {
        let gap = self.txop.is_some_and(|(_, txop)| txop.next.is_some());
        if self.holder.is_some() || self.answer.is_some() || gap {
            return;
        }
        let Some(idle_since) = self.idle_since else { return };
        let times = self.times;
        for function in &mut self.functions {
            let idle = function.backoff.is_none() && function.queue.is_empty();
            if idle || function.boundary.is_some() {
                continue;
            }
            let aifs = times.aifs(function.parameters.aifsn);
            let mut at = (idle_since + self.extra).max(self.nav) + aifs;
            if times.slot_grid == SlotGrid::Free {
                at = at.max(self.not_before);
            }
            while at < now.max(self.not_before) {
                at += times.slot;
            }
            function.boundary = Some(at);
        }
    }

    /// A packet is handed down.
    pub(crate) fn offer(&mut self, now: Instant, packet: u64, arrival: &Arrival) {
        let (to, size, sequence, retry, received) = (arrival.to, arrival.size, 0, false, false);
        let busy = self.idle_since.is_none() || now < self.nav;
        let function = &mut self.functions[arrival.class];
        function.queue.push_back(Msdu { packet, to, size, sequence, retry, received });
        if function.queue.len() > 1 {
            return;
        }
        function.number();
        let goes_on = self
            .txop
            .is_some_and(|(category, txop)| category == arrival.class && txop.next.is_some());
        if goes_on {
            return;
        }
        // The queue was empty, the medium is busy and no back-off is under way (clause 10.23.2.2).
        if busy && self.functions[arrival.class].backoff.is_none() {
            self.functions[arrival.class].back_off();
        }
        self.listen(now);
    }

    // What the node does on its own.

    pub(crate) fn next(&self) -> Option<Instant> {
        let timeout = self.awaited.and_then(|awaited| awaited.until);
        let answer = self.answer.map(|(at, _)| at);
        let goes_on = self.txop.and_then(|(_, txop)| txop.next);
        let boundary = self.functions.iter().filter_map(|function| function.boundary).min();
        [timeout, answer, goes_on, boundary].into_iter().flatten().min()
    }

    /// Ends what ends now; returns the frame that it begins to send.
    pub(crate) fn act(&mut self, now: Instant) -> Option<Frame> {
        if let Some(awaited) = self.awaited.filter(|awaited| awaited.until == Some(now)) {
            self.fail(now, awaited.kind);
            self.listen(now);
        }
        if let Some((_, frame)) = self.answer.take_if(|(at, _)| *at == now) {
            return Some(frame);
        }
        if let Some((category, txop)) = self.txop.filter(|(_, txop)| txop.next == Some(now)) {
            return self.go_on(now, category, txop);
        }
        let slot = self.times.slot;
        let all = self.functions.iter_mut().enumerate();
        let due = all.filter(|(_, function)| function.boundary == Some(now));
        let mut ready: Vec<usize> = due
            .filter_map(|(category, function)| function.look(slot).then_some(category))
            .collect();
        // The highest sends; to the others it is as if they had collided (clause 10.23.2.4), but
        // that no Retry bit is set.
        let winner = ready.pop()?;
        for &loser in &ready {
            self.frames.internal_collisions += 1;
            self.count_failure(loser, false);
        }
        let function = &mut self.functions[winner];
        (function.backoff, function.boundary) = (None, None);
        let limit = function.parameters.txop_limit;
        let txop = Txop { until: now + limit, next: None };
        self.txop = (limit > Duration::ZERO).then_some((winner, txop));
        Some(self.open(winner))
    }

    /// A SIFS after an exchange of its TXOP: the next, if it fits in, or the end (clause
    /// 10.23.2.9).
    fn go_on(&mut self, now: Instant, category: usize, txop: Txop) -> Option<Frame> {
        if let Some(msdu) = self.functions[category].queue.front() {
            let data = self.data(category, msdu);
            let first = if self.needs_rts(&data) { self.rts(&data) } else { data };
            let end = now + self.airtime(&first.mode, first.psdu) + first.reserves;
            if end <= txop.until {
                self.txop = Some((category, Txop { next: None, ..txop }));
                return Some(self.open(category));
            }
        }
        self.txop = None;
        self.functions[category].back_off();
        self.listen(now);
        None
    }

    fn open(&mut self, category: usize) -> Frame {
        self.holder = Some(category);
        let msdu = self.functions[category].queue.front().expect("it has something to send");
        let data = self.data(category, msdu);
        self.counters.attempts += 1;
        self.frames.data_attempts += 1;
        self.frames.data_rates += data.mode.rate.0;
        self.frames.mpdus += 1;
        self.frames.repeated_mpdus += u64::from(msdu.retry);
        if self.needs_rts(&data) { self.rts(&data) } else { data }
    }

    /// Its PPDU has ended (clauses 10.3.2.9, 10.3.2.11).
    pub(crate) fn sent(&mut self, now: Instant, frame: &Frame) {
        let kind = match frame.kind {
            StepKind::Rts => StepKind::Cts,
            StepKind::Data => StepKind::Ack,
            _ => return,
        };
        let until = Some(now + self.times.response_timeout(&frame.mode));
        self.awaited = Some(Awaited { kind, until });
    }

    // Reception.

    /// Whether noise spoils a frame that is meant for this node.
    pub(crate) fn is_spoiled(&mut self, frame: &Frame) -> bool {
        let link = &self.links[self.id.max(frame.from) as usize - 1];
        match frame.kind {
            StepKind::Data => self.noise.chance(link.data_loss),
            StepKind::Ack => self.noise.chance(link.ack_loss),
            _ => false,
        }
    }

    /// A frame ends that cannot be decoded (clause 10.3.2.3.7).
    pub(crate) fn garbled(&mut self, now: Instant, eifs: Duration) {
        self.extra = eifs.saturating_sub(self.times.difs());
        self.miss(now);
    }

    /// What ends now was not the answer.
    fn miss(&mut self, now: Instant) {
        if let Some(awaited) = self.awaited.filter(|awaited| awaited.until.is_none()) {
            self.fail(now, awaited.kind);
        }
    }

    /// A frame for another reserves the medium.
    pub(crate) fn overhear(&mut self, now: Instant, frame: &Frame) {
        self.miss(now);
        self.nav = self.nav.max(now + frame.reserves);
    }

    /// A frame for this node is decoded; returns the packet that it carried.
    pub(crate) fn hear(&mut self, now: Instant, frame: &Frame) -> Option<(usize, u64)> {
        let awaited = self.awaited.filter(|awaited| awaited.kind == frame.kind);
        match frame.kind {
            StepKind::Rts => {
                self.miss(now);
                assert!(self.nav <= now, "{now}: an RTS comes within the NAV");
                self.reply(now, frame, StepKind::Cts);
                None
            }
            StepKind::Data => {
                self.miss(now);
                self.reply(now, frame, StepKind::Ack);
                let last = self.last_heard.insert((frame.from, frame.category), frame.sequence);
                if frame.retry && last == Some(frame.sequence) {
                    self.counters.duplicates += 1;
                } else {
                    self.delivered.push((now, self.id, frame.packet));
                }
                Some((frame.category, frame.packet))
            }
            StepKind::Cts if awaited.is_some() => {
                self.awaited = None;
                let category = self.holder?;
                let function = &mut self.functions[category];
                function.short_retries = 0;
                let data = self.data(category, self.functions[category].queue.front()?);
                self.answer = Some((now + self.times.sifs(), data));
                None
            }
            StepKind::Ack if awaited.is_some() => {
                self.succeed(now);
                None
            }
            _ => panic!("{now}: an answer that nobody waits for"),
        }
    }

    /// The receiver has it: known to the account, not to the protocol.
    pub(crate) fn note_received(&mut self, category: usize, packet: u64) {
        if let Some(msdu) = self.functions[category].queue.front_mut() {
            assert_eq!(msdu.packet, packet, "what was sent is in service");
            msdu.received = true;
        }
    }

    // What follows: clauses 10.23.2.2 and 10.23.2.12.

    fn succeed(&mut self, now: Instant) {
        self.awaited = None;
        let Some(category) = self.holder.take() else { return };
        let next = now + self.times.sifs();
        self.txop = self.txop.filter(|(_, txop)| next < txop.until);
        self.functions[category].start_anew();
        if let Some((_, txop)) = &mut self.txop {
            txop.next = Some(next);
        } else {
            self.functions[category].back_off();
        }
        self.end_service(category, MsduOutcome::Sent);
    }

    /// No answer has come.
    fn fail(&mut self, now: Instant, missing: StepKind) {
        self.awaited = None;
        self.txop = None;
        self.not_before = now;
        let Some(category) = self.holder.take() else { return };
        let aired = missing == StepKind::Ack;
        let Some(msdu) = self.functions[category].queue.front_mut() else { return };
        msdu.retry |= aired;
        let msdu = *msdu;
        let after_cts = aired && self.needs_rts(&self.data(category, &msdu));
        self.count_failure(category, after_cts);
    }

    /// The window doubles up to its largest, and at a retry limit the frame is given up and the
    /// window starts anew; a back-off follows.
    fn count_failure(&mut self, category: usize, after_cts: bool) {
        let function = &mut self.functions[category];
        let (count, limit) = if after_cts {
            (&mut function.long_retries, self.config.long_retry_limit)
        } else {
            (&mut function.short_retries, self.config.short_retry_limit)
        };
        *count += 1;
        let over = *count == limit;
        if over {
            function.start_anew();
        } else {
            function.window = (2 * function.window + 1).min(function.parameters.cw_max);
        }
        function.back_off();
        if over {
            self.end_service(category, MsduOutcome::RetryLimit);
        }
    }

    fn end_service(&mut self, category: usize, outcome: MsduOutcome) {
        let function = &mut self.functions[category];
        let Some(msdu) = function.queue.pop_front() else { return };
        function.number();
        match outcome {
            MsduOutcome::Sent => self.counters.sent += 1,
            _ => self.counters.retry_drops += 1,
        }
        self.done.push((msdu.packet, outcome, msdu.received));
    }

    // Frames and their Duration fields (clauses 9.2.5, 9.3.1 and 10.6.6).

    fn needs_rts(&self, data: &Frame) -> bool {
        data.psdu > self.config.rts_threshold
    }

    fn airtime(&self, mode: &Mode, psdu: Bytes) -> Duration {
        self.times.airtime(mode, psdu).total()
    }

    fn data(&self, category: usize, msdu: &Msdu) -> Frame {
        let mode = self.links[self.id.max(msdu.to) as usize - 1].mode;
        let times = self.times;
        let mpdu = msdu.size + self.config.overhead();
        let alone = mode.class == wifi::phy::ModeClass::Vht;
        Frame {
            kind: StepKind::Data,
            from: self.id,
            to: msdu.to,
            mode,
            psdu: if alone { mpdu + DELIMITER } else { mpdu },
            reserves: times.sifs() + self.airtime(&times.response_mode(&mode), ACK),
            category,
            sequence: msdu.sequence,
            retry: msdu.retry,
            packet: msdu.packet,
        }
    }

    fn rts(&self, data: &Frame) -> Frame {
        let times = self.times;
        let mode = times.rts_mode(&data.mode);
        let cts = times.sifs() + self.airtime(&times.response_mode(&mode), CTS);
        let whole = times.sifs() + self.airtime(&data.mode, data.psdu) + data.reserves;
        Frame { kind: StepKind::Rts, mode, psdu: RTS, reserves: cts + whole, ..*data }
    }

    fn reply(&mut self, now: Instant, to: &Frame, kind: StepKind) {
        let times = self.times;
        let mode = times.response_mode(&to.mode);
        let reserves = to.reserves - (times.sifs() + self.airtime(&mode, ACK));
        let (from, back) = (self.id, to.from);
        let frame = Frame { kind, from, to: back, mode, psdu: ACK, reserves, ..*to };
        self.answer = Some((now + times.sifs(), frame));
    }
}

impl Function {
    /// The next MSDU comes into service and gets its number.
    fn number(&mut self) {
        if let Some(msdu) = self.queue.front_mut() {
            msdu.sequence = self.next_sequence;
            self.next_sequence = (self.next_sequence + 1) % 4096;
        }
    }

    fn start_anew(&mut self) {
        self.window = self.parameters.cw_min;
        (self.short_retries, self.long_retries) = (0, 0);
    }
}
