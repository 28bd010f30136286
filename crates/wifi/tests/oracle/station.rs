//! One station: it senses the medium, opens exchanges for its access functions, waits for answers
//! and answers (IEEE Std 802.11-2020, clauses 10.3 and 10.23.2).

use crate::frame::{Frame, Framing, Msdu};
use crate::function::{Function, Hindrance};
use crate::timing::Times;
use crate::workload::{Arrival, Workload};
use kernel::{Duration, Instant, Rng};
use std::collections::BTreeMap;
use wifi::{Counters, FrameCounters, MsduOutcome};
use wire::{FrameKind, TrafficClass};

/// A CTS or an ACK that shall come.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Awaited {
    pub(crate) kind: FrameKind,
    /// When the station gives up; never, once a frame has been detected in time.
    pub(crate) until: Option<Instant>,
}

/// A transmission opportunity (clause 10.23.2.8).
#[derive(Clone, Copy, Debug)]
pub(crate) struct Txop {
    function: usize,
    until: Instant,
    /// When the next exchange may begin, a SIFS after the last.
    next: Option<Instant>,
}

pub(crate) struct Station<'a> {
    pub(crate) node: u32,
    times: &'a Times,
    pub(crate) framing: Framing<'a>,
    pub(crate) functions: Vec<Function>,
    noise: Rng,
    /// Since when the PHY reports the medium idle.
    idle_since: Option<Instant>,
    /// By what an EIFS is longer than a DIFS, after a frame that could not be decoded.
    extra: Duration,
    nav: Instant,
    /// Slots do not begin before this moment: the end of a timeout.
    not_before: Instant,
    /// The function whose exchange is in progress.
    pub(crate) active: Option<usize>,
    pub(crate) txop: Option<Txop>,
    pub(crate) awaited: Option<Awaited>,
    /// What is sent a SIFS after the frame just received.
    pub(crate) answer: Option<(Instant, Frame)>,
    /// The frame that a full-duplex access point sends while it receives data.
    pub(crate) secondary: Option<Frame>,
    /// Its own RTS went on the air together with that of a station.
    pub(crate) own_rts: bool,
    /// Its own data frame went on the air together with that of a station, and whether its receiver
    /// decodes it.
    pub(crate) own_data: Option<bool>,
    /// The rate and the Retry bit of the data of its last own attempt.
    pub(crate) opened: (u64, bool),
    /// The sequence number of the last frame of each sender's function.
    last_heard: BTreeMap<(u32, usize), u16>,
    pub(crate) counters: Counters,
    pub(crate) frames: FrameCounters,
    pub(crate) delivered: Vec<(Instant, u32, u64)>,
    pub(crate) done: Vec<(u64, MsduOutcome, bool)>,
}

impl<'a> Station<'a> {
    pub(crate) fn new(workload: &'a Workload, times: &'a Times, node: u32) -> Self {
        let Workload { config, links, seed, .. } = workload;
        Self {
            node,
            times,
            framing: Framing { node, config, times, links },
            functions: Function::all(workload, node),
            noise: seed.stream("radio.noise", node),
            idle_since: Some(Instant::ZERO),
            extra: Duration::ZERO,
            nav: Instant::ZERO,
            not_before: Instant::ZERO,
            active: None,
            txop: None,
            awaited: None,
            answer: None,
            secondary: None,
            own_rts: false,
            own_data: None,
            opened: (0, false),
            last_heard: BTreeMap::new(),
            counters: Counters::default(),
            frames: FrameCounters::default(),
            delivered: Vec::new(),
            done: Vec::new(),
        }
    }

    /// The function that sends packets of a class.
    fn function_for(&self, class: TrafficClass) -> usize {
        if self.functions.len() == 1 { 0 } else { class as usize }
    }

    pub(crate) fn window_for(&self, class: TrafficClass) -> u32 {
        self.functions[self.function_for(class)].window
    }

    // Carrier sense and slot boundaries: clauses 10.3.2.1, 10.3.2.3, 10.3.4.2 and 10.3.4.3.

    /// The PHY finds the medium busy; it will recognise a PPDU at `detected`.
    pub(crate) fn sense_busy(&mut self, now: Instant, detected: Instant) {
        if let Some(Awaited { until: until @ Some(_), .. }) = &mut self.awaited
            && Some(detected) <= *until
        {
            *until = None;
        }
        self.freeze(now);
    }

    /// The medium is busy, perhaps by the station itself: there are no slot boundaries. All those
    /// up to now have been passed.
    pub(crate) fn freeze(&mut self, now: Instant) {
        let Some(idle_since) = self.idle_since.take() else { return };
        self.extra = Duration::ZERO;
        for (index, function) in self.functions.iter_mut().enumerate() {
            function.freeze(self.active == Some(index), now.since(idle_since), self.times);
        }
    }

    /// The PHY finds the medium idle.
    pub(crate) fn sense_idle(&mut self, now: Instant) {
        self.idle_since.get_or_insert(now);
        self.await_boundaries(now);
    }

    fn await_boundaries(&mut self, now: Instant) {
        let is_between = self.txop.is_some_and(|txop| txop.next.is_some());
        if self.active.is_some() || self.answer.is_some() || is_between {
            return;
        }
        let Some(idle_since) = self.idle_since else { return };
        let busy_until = (idle_since + self.extra).max(self.nav);
        let hindrance = Hindrance { busy_until, not_before: self.not_before };
        for function in &mut self.functions {
            function.await_boundary(now, self.times, hindrance);
        }
    }

    /// A packet comes from above.
    pub(crate) fn offer(&mut self, now: Instant, packet: u64, arrival: &Arrival) {
        let (to, size, sequence, retry, received) = (arrival.to, arrival.size, 0, false, false);
        let is_busy = self.idle_since.is_none() || now < self.nav;
        let index = self.function_for(arrival.class);
        let function = &mut self.functions[index];
        let (numbered, aside) = (false, false);
        let msdu = Msdu { packet, to, size, sequence, retry, received, numbered, aside };
        function.queue.push_back(msdu);
        if function.queue.len() > 1 {
            return;
        }
        function.number();
        if self.txop.is_some_and(|txop| txop.function == index && txop.next.is_some()) {
            return;
        }
        // The queue was empty, the medium is busy and no back-off is pending (clause 10.23.2.2).
        if is_busy && function.backoff.is_none() {
            function.back_off();
        }
        self.await_boundaries(now);
    }

    // What the station does on its own.

    pub(crate) fn next(&self) -> Option<Instant> {
        let timeout = self.awaited.and_then(|awaited| awaited.until);
        let answer = self.answer.map(|(at, _)| at);
        let txop = self.txop.and_then(|txop| txop.next);
        let boundary = self.functions.iter().filter_map(|function| function.boundary).min();
        [timeout, answer, txop, boundary].into_iter().flatten().min()
    }

    /// Ends what ends now; returns the frame that it begins to send.
    pub(crate) fn act(&mut self, now: Instant) -> Option<Frame> {
        if let Some(awaited) = self.awaited.filter(|awaited| awaited.until == Some(now)) {
            self.fail(now, awaited.kind);
            self.await_boundaries(now);
        }
        if let Some((_, frame)) = self.answer.take_if(|(at, _)| *at == now) {
            return Some(frame);
        }
        if let Some(txop) = self.txop.filter(|txop| txop.next == Some(now)) {
            return self.continue_txop(now, txop);
        }
        let slot = self.times.slot;
        let all = self.functions.iter_mut().enumerate();
        let due = all.filter(|(_, function)| function.boundary == Some(now));
        let mut ready: Vec<usize> =
            due.filter_map(|(i, function)| function.pass_boundary(slot).then_some(i)).collect();
        // The highest sends; for the others it is as if they had collided (clause 10.23.2.4), but
        // that no Retry bit is set.
        let winner = ready.pop()?;
        for &loser in &ready {
            self.frames.internal_collisions += 1;
            self.count_failure(loser, false);
        }
        let limit = self.functions[winner].parameters.txop_limit;
        let txop = Txop { function: winner, until: now + limit, next: None };
        self.txop = (limit > Duration::ZERO).then_some(txop);
        Some(self.open(winner))
    }

    /// A SIFS after an exchange of its TXOP: the next, if it fits in, or the end (clause
    /// 10.23.2.9).
    fn continue_txop(&mut self, now: Instant, txop: Txop) -> Option<Frame> {
        if let Some(msdu) = self.functions[txop.function].queue.front() {
            let first = self.framing.first(txop.function, msdu);
            if now + self.framing.exchange_time(&first) <= txop.until {
                self.txop = Some(Txop { next: None, ..txop });
                return Some(self.open(txop.function));
            }
        }
        self.txop = None;
        self.functions[txop.function].back_off();
        self.await_boundaries(now);
        None
    }

    fn open(&mut self, index: usize) -> Frame {
        self.active = Some(index);
        let msdu = self.functions[index].queue.front().expect("it has something to send");
        let data = self.framing.data(index, msdu);
        self.counters.attempts += 1;
        self.frames.data_attempts += 1;
        self.frames.data_rates += data.mode.rate.0;
        self.frames.mpdus += 1;
        self.frames.repeated_mpdus += u64::from(msdu.retry);
        self.opened = (data.mode.rate.0, msdu.retry);
        self.framing.first(index, msdu)
    }

    /// Its PPDU has ended (clauses 10.3.2.9, 10.3.2.11).
    pub(crate) fn sent(&mut self, now: Instant, frame: &Frame) {
        let kind = match frame.kind {
            FrameKind::Rts => FrameKind::Cts,
            FrameKind::Data if frame.to.is_some() => FrameKind::Ack,
            FrameKind::Data => return self.succeed(now),
            FrameKind::Cts => {
                // The access point sends its data frame together with the station.
                return if let Some(data) = self.secondary {
                    self.begin_secondary(data);
                    self.respond(now, data);
                };
            }
            _ => return,
        };
        let until = Some(now + self.times.response_timeout(&frame.mode));
        self.awaited = Some(Awaited { kind, until });
    }

    // Reception.

    /// Whether noise destroys a frame that is meant for this station.
    pub(crate) fn is_lost(&mut self, frame: &Frame) -> bool {
        let link = self.framing.link(frame.from);
        match frame.kind {
            FrameKind::Data => self.noise.chance(link.data_loss),
            FrameKind::Ack => self.noise.chance(link.ack_loss),
            _ => false,
        }
    }

    /// A frame ends that cannot be decoded (clause 10.3.2.3.7).
    pub(crate) fn receive_error(&mut self, now: Instant, eifs: Duration) {
        self.extra = eifs.saturating_sub(self.times.difs());
        self.miss(now);
    }

    /// Bianchi's chain, in which one that collided knows it at once, and waits as all do.
    pub(crate) fn give_up_waiting(&mut self, now: Instant, eifs: Duration) {
        if let Some(awaited) = self.awaited {
            self.fail(now, awaited.kind);
        }
        self.not_before = now;
        self.extra = eifs.saturating_sub(self.times.difs());
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

    /// A frame for this station is decoded; returns whether it carried a packet.
    pub(crate) fn receive(&mut self, now: Instant, frame: &Frame) -> bool {
        let awaited = self.awaited.filter(|awaited| awaited.kind == frame.kind);
        match frame.kind {
            FrameKind::Rts => {
                self.miss(now);
                // Clause 10.3.2.9: no CTS while the NAV stands.
                assert!(self.nav <= now, "{now}: an RTS comes within the NAV");
                let mut cts = self.framing.answer(frame, FrameKind::Cts);
                if let Some(secondary) = &self.secondary {
                    let lasts = self.framing.both_reserve(frame, secondary);
                    let own = self.times.sifs() + self.times.airtime(&cts.mode, cts.psdu).total();
                    cts.reserves = lasts - own;
                }
                self.respond(now, cts);
            }
            FrameKind::Data => {
                self.miss(now);
                if frame.to.is_some() {
                    self.respond(now, self.framing.answer(frame, FrameKind::Ack));
                }
                self.deliver(now, frame);
            }
            FrameKind::Cts if awaited.is_some() => {
                self.awaited = None;
                let index = self.active.expect("an exchange is in progress");
                self.functions[index].short_retries = 0;
                let msdu = self.functions[index].queue.front().expect("it has data");
                self.respond(now, self.framing.data(index, msdu));
            }
            FrameKind::Ack if awaited.is_some() => self.succeed(now),
            _ => panic!("{now}: an answer that nobody waits for"),
        }
        frame.kind == FrameKind::Data
    }

    fn respond(&mut self, now: Instant, frame: Frame) {
        self.answer = Some((now + self.times.sifs(), frame));
    }

    /// Passes a packet up unless it has been received before: a retry with the sequence number of
    /// the last frame from there (clause 10.3.2.14).
    fn deliver(&mut self, now: Instant, frame: &Frame) {
        if frame.to.is_some() {
            let last = self.last_heard.insert((frame.from, frame.function), frame.sequence);
            if frame.retry && last == Some(frame.sequence) {
                self.counters.duplicates += 1;
                return;
            }
        }
        self.delivered.push((now, self.node, frame.packet));
    }

    /// The receiver has it: known to the record, not to the protocol.
    pub(crate) fn note_received(&mut self, frame: &Frame) {
        let in_service = self.functions[frame.function].queue.front_mut();
        if let Some(msdu) = in_service.filter(|msdu| msdu.packet == frame.packet) {
            msdu.received = true;
        } else {
            let done = self.done.last_mut().filter(|done| done.0 == frame.packet);
            done.expect("a broadcast is done when it ends").2 = true;
        }
    }

    // Recovery: clauses 10.3.3, 10.3.4.4, 10.23.2.2 and 10.23.2.12.

    fn succeed(&mut self, now: Instant) {
        self.awaited = None;
        let index = self.active.take().expect("an exchange is in progress");
        let next = now + self.times.sifs();
        self.txop = self.txop.filter(|txop| next < txop.until);
        let window = self.functions[index].window;
        self.functions[index].reset_window();
        self.double_again(index, window);
        if let Some(txop) = &mut self.txop {
            txop.next = Some(next);
        } else {
            self.functions[index].back_off();
        }
        self.end_service(index, MsduOutcome::Sent);
    }

    /// No answer has come.
    pub(crate) fn fail(&mut self, now: Instant, missing: FrameKind) {
        self.secondary = None;
        (self.awaited, self.txop, self.not_before) = (None, None, now);
        let index = self.active.take().expect("an exchange is in progress");
        let no_ack = missing == FrameKind::Ack;
        let msdu = self.functions[index].queue.front_mut().expect("a frame is in service");
        msdu.retry |= no_ack;
        let data = self.framing.data(index, msdu);
        self.count_failure(index, no_ack && self.framing.needs_rts(&data));
    }

    /// The window doubles up to its largest, and at a retry limit the frame is dropped and the
    /// window reset; a back-off follows.
    pub(crate) fn count_failure(&mut self, index: usize, after_cts: bool) {
        let config = self.framing.config;
        let function = &mut self.functions[index];
        let (count, limit) = if after_cts {
            (&mut function.long_retries, config.long_retry_limit)
        } else {
            (&mut function.short_retries, config.short_retry_limit)
        };
        *count += 1;
        let is_over = *count == limit;
        if is_over {
            function.reset_window();
        } else {
            function.window = (2 * function.window + 1).min(function.parameters.cw_max);
        }
        function.back_off();
        if is_over {
            self.end_service(index, MsduOutcome::RetryLimit);
        }
    }

    fn end_service(&mut self, index: usize, outcome: MsduOutcome) {
        let function = &mut self.functions[index];
        let msdu = function.queue.pop_front().expect("a frame is in service");
        function.number();
        match outcome {
            MsduOutcome::Sent => self.counters.sent += 1,
            _ => self.counters.retry_drops += 1,
        }
        self.done.push((msdu.packet, outcome, msdu.received));
    }
}
