//! One station's DCF, from the text of IEEE Std 802.11-2020 clause 10.3: it senses, counts its own
//! slots, waits for answers and answers.

use crate::timing::Times;
use crate::workload::Workload;
use kernel::{Bytes, Duration, Instant, Rng};
use std::collections::{BTreeMap, VecDeque};
use wifi::mac::{BackoffDraw, Countdown, Durations, SlotGrid, StepKind};
use wifi::phy::Mode;
use wifi::{Counters, Link, MacConfig, MsduOutcome};

const ACK: Bytes = Bytes(14);
const CTS: Bytes = Bytes(14);
const RTS: Bytes = Bytes(20);

/// What its bits say.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Frame {
    pub(crate) kind: StepKind,
    pub(crate) from: u32,
    pub(crate) to: Option<u32>,
    pub(crate) mode: Mode,
    pub(crate) psdu: Bytes,
    /// Duration field: how long after its end the medium is reserved (clause 9.2.5).
    reserves: Duration,
    sequence: u16,
    retry: bool,
    packet: u64,
}

/// An MSDU waiting or in service.
#[derive(Clone, Copy, Debug)]
struct Msdu {
    packet: u64,
    to: Option<u32>,
    size: Bytes,
    sequence: u16,
    /// Its data frame was on the air before.
    retry: bool,
    short_retries: u32,
    long_retries: u32,
    received: bool,
}

/// A CTS or an ACK that shall come.
#[derive(Clone, Copy, Debug)]
struct Awaited {
    kind: StepKind,
    /// When the station gives up; never, once a frame has been detected in time.
    until: Option<Instant>,
}

pub(crate) struct Station<'a> {
    pub(crate) node: u32,
    config: &'a MacConfig,
    times: &'a Times,
    links: &'a [Link],
    backoffs: Rng,
    noise: Rng,

    /// Since when the PHY reports the medium idle.
    idle_since: Option<Instant>,
    /// Interframe space after the last busy period: a DIFS or an EIFS.
    space: Duration,
    nav: Instant,

    /// Slots left of a back-off procedure in progress.
    backoff: Option<u32>,
    /// Slots are not counted before this moment: the end of a timeout.
    not_before: Instant,
    /// When the interframe space or the slot that is being counted ends.
    tick: Option<Instant>,
    counting_slot: bool,

    waiting: VecDeque<Msdu>,
    msdu: Option<Msdu>,
    awaited: Option<Awaited>,
    /// What is sent a SIFS after the frame just received.
    answer: Option<(Instant, Frame)>,
    window: u32,
    next_sequence: u16,
    last_heard: BTreeMap<u32, u16>,

    pub(crate) counters: Counters,
    pub(crate) delivered: Vec<(Instant, u32, u64)>,
    pub(crate) done: Vec<(u64, MsduOutcome, bool)>,
}

impl<'a> Station<'a> {
    pub(crate) fn new(workload: &'a Workload, times: &'a Times, node: u32) -> Self {
        let config = &workload.config;
        Self {
            node,
            config,
            times,
            links: &workload.links,
            backoffs: workload.seed.stream("mac.backoff", node),
            noise: workload.seed.stream("radio.noise", node),
            idle_since: Some(Instant::ZERO),
            space: times.difs(),
            nav: Instant::ZERO,
            backoff: None,
            not_before: Instant::ZERO,
            tick: None,
            counting_slot: false,
            waiting: VecDeque::new(),
            msdu: None,
            awaited: None,
            answer: None,
            window: config.cw_min,
            next_sequence: 0,
            last_heard: BTreeMap::new(),
            counters: Counters::default(),
            delivered: Vec::new(),
            done: Vec::new(),
        }
    }

    pub(crate) fn window(&self) -> u32 {
        self.window
    }

    // Carrier sense and back-off: clauses 10.3.2.1, 10.3.2.3, 10.3.4.2 and 10.3.4.3.

    /// The PHY finds the medium busy; it will recognise a PPDU at `detected`.
    pub(crate) fn sense_busy(&mut self, now: Instant, detected: Instant) {
        if let Some(Awaited { until: until @ Some(_), .. }) = &mut self.awaited
            && Some(detected) <= *until
        {
            *until = None;
        }
        self.freeze(now);
    }

    /// The medium is busy, perhaps by this station itself: the slot that has begun does not count.
    fn freeze(&mut self, now: Instant) {
        let Some(idle_since) = self.idle_since.take() else { return };
        let spaced = now >= self.first_slot(idle_since);
        self.tick = None;
        // The frames of one exchange are a SIFS apart and one step of Bianchi's chain.
        let step = now.since(idle_since) >= self.times.difs();
        if step && self.config.countdown == Countdown::Bianchi {
            self.backoff = self.backoff.map(|slots| slots.saturating_sub(1));
        }
        if self.msdu.is_none() && self.backoff == Some(0) && spaced {
            self.backoff = None;
        }
        if self.msdu.is_some() && self.awaited.is_none() && self.backoff.is_none() {
            self.back_off();
        }
        self.space = self.times.difs();
    }

    /// The PHY finds the medium idle again.
    pub(crate) fn sense_idle(&mut self, now: Instant) {
        if self.idle_since.is_none() {
            self.idle_since = Some(now);
            self.listen(now);
        }
    }

    /// Waits for the end of the interframe space, if there is something to wait for.
    fn listen(&mut self, now: Instant) {
        let Some(idle_since) = self.idle_since else { return };
        let occupied = self.awaited.is_some() || self.answer.is_some();
        let idle = self.backoff.is_none() && self.msdu.is_none();
        if self.tick.is_none() && !occupied && !idle {
            self.tick = Some(self.first_slot(idle_since).max(now));
            self.counting_slot = false;
        }
    }

    /// When the first slot may begin on a medium idle since `idle_since`.
    fn first_slot(&self, idle_since: Instant) -> Instant {
        let times = self.times;
        // A station may send after the later of its NAV and its EIFS (clause 10.3.2.3.7).
        let space_over = (idle_since + self.space).max(self.nav + times.difs());
        let late = self.not_before.since(space_over);
        match times.slot_grid {
            SlotGrid::Free => space_over + late,
            SlotGrid::Standard | SlotGrid::Shared => {
                space_over + times.slot * late.0.div_ceil(times.slot.0)
            }
        }
    }

    fn back_off(&mut self) {
        let highest = match self.config.backoff_draw {
            BackoffDraw::Standard => self.window,
            BackoffDraw::Ns2 => self.window - 1,
        };
        self.backoff = Some(self.backoffs.up_to(highest));
    }

    /// A packet is handed down.
    pub(crate) fn offer(&mut self, now: Instant, packet: u64, to: Option<u32>, size: Bytes) {
        let (short_retries, long_retries) = (0, 0);
        let (sequence, retry, received) = (0, false, false);
        let msdu =
            Msdu { packet, to, size, sequence, retry, short_retries, long_retries, received };
        self.waiting.push_back(msdu);
        if self.msdu.is_none() {
            self.serve_next();
            let busy = self.idle_since.is_none() || now < self.nav;
            if busy && self.backoff.is_none() {
                self.back_off();
            }
            self.listen(now);
        }
    }

    fn serve_next(&mut self) {
        self.msdu = self.waiting.pop_front();
        if let Some(msdu) = &mut self.msdu {
            msdu.sequence = self.next_sequence;
            self.next_sequence = (self.next_sequence + 1) % 4096;
        }
    }

    // What the station does on its own.

    pub(crate) fn next(&self) -> Option<Instant> {
        let timeout = self.awaited.and_then(|awaited| awaited.until);
        let answer = self.answer.map(|(at, _)| at);
        [timeout, answer, self.tick].into_iter().flatten().min()
    }

    /// Ends what ends now; returns the frame that it begins to send.
    pub(crate) fn act(&mut self, now: Instant) -> Option<Frame> {
        if let Some(awaited) = self.awaited.filter(|awaited| awaited.until == Some(now)) {
            self.not_before = now;
            self.fail(awaited.kind);
            self.listen(now);
        }
        if let Some((_, frame)) = self.answer.take_if(|(at, _)| *at == now) {
            return Some(frame);
        }
        if self.tick != Some(now) {
            return None;
        }
        if self.counting_slot {
            self.backoff = self.backoff.map(|slots| slots - 1);
        }
        if self.backoff.is_some_and(|slots| slots > 0) {
            self.counting_slot = true;
            self.tick = Some(now + self.times.slot);
            return None;
        }
        self.backoff = None;
        self.tick = None;
        self.msdu.map(|msdu| {
            self.counters.attempts += 1;
            if self.needs_rts(&msdu) { self.rts(&msdu) } else { self.data(&msdu) }
        })
    }

    /// Its PPDU begins.
    pub(crate) fn begin(&mut self, now: Instant, kind: StepKind) {
        match kind {
            StepKind::Rts | StepKind::Data => {
                self.idle_since = None;
                self.space = self.times.difs();
            }
            // Its own answer keeps the medium from it as any other frame does.
            StepKind::Cts | StepKind::Ack => self.freeze(now),
            StepKind::CtsToSelf | StepKind::BlockAckRequest | StepKind::BlockAck => {
                unreachable!("not in these workloads")
            }
        }
    }

    /// Its PPDU has ended (clauses 10.3.2.9, 10.3.2.11).
    pub(crate) fn sent(&mut self, now: Instant, frame: &Frame) {
        let kind = match frame.kind {
            StepKind::Rts => StepKind::Cts,
            StepKind::Data if frame.to.is_some() => StepKind::Ack,
            StepKind::Data => return self.finish(MsduOutcome::Sent),
            StepKind::Cts | StepKind::Ack => return,
            StepKind::CtsToSelf | StepKind::BlockAckRequest | StepKind::BlockAck => {
                unreachable!("not in these workloads")
            }
        };
        let until = Some(now + self.times.response_timeout(&frame.mode));
        self.awaited = Some(Awaited { kind, until });
    }

    /// The picture of Bianchi's chain: one that collided knows at once, and waits as all do.
    pub(crate) fn give_up_waiting(&mut self, now: Instant, space: Duration) {
        if let Some(awaited) = self.awaited {
            self.fail(awaited.kind);
        }
        self.not_before = now;
        self.space = space;
    }

    // Reception.

    /// Whether noise spoils a frame that is meant for this station.
    pub(crate) fn spoiled(&mut self, frame: &Frame) -> bool {
        let link = &self.links[self.node.max(frame.from) as usize - 1];
        match frame.kind {
            StepKind::Data => self.noise.chance(link.data_loss),
            StepKind::Ack => self.noise.chance(link.ack_loss),
            StepKind::Rts | StepKind::Cts => false,
            StepKind::CtsToSelf | StepKind::BlockAckRequest | StepKind::BlockAck => {
                unreachable!("not in these workloads")
            }
        }
    }

    /// A frame ends that cannot be decoded (clause 10.3.2.3.7).
    pub(crate) fn garbled(&mut self, now: Instant, eifs: Duration) {
        self.space = eifs;
        self.miss(now);
    }

    /// What ends now was not the answer.
    fn miss(&mut self, now: Instant) {
        if let Some(awaited) = self.awaited.filter(|awaited| awaited.until.is_none()) {
            self.not_before = now;
            self.fail(awaited.kind);
        }
    }

    /// A frame is decoded; returns the packet it carried to this station.
    pub(crate) fn hear(&mut self, now: Instant, frame: &Frame) -> Option<u64> {
        if frame.to.is_some_and(|to| to != self.node) {
            self.miss(now);
            self.nav = self.nav.max(now + frame.reserves);
            return None;
        }
        let awaited = self.awaited.filter(|awaited| awaited.kind == frame.kind);
        match frame.kind {
            StepKind::Rts => {
                self.miss(now);
                // Clause 10.3.2.9: no CTS while the NAV stands.
                assert!(self.nav <= now, "{now}: an RTS comes within the NAV");
                self.reply(now, frame, StepKind::Cts);
                None
            }
            StepKind::Data => {
                self.miss(now);
                if frame.to.is_some() {
                    self.reply(now, frame, StepKind::Ack);
                }
                self.take(now, frame);
                Some(frame.packet)
            }
            StepKind::Cts if awaited.is_some() => {
                self.awaited = None;
                let mut msdu = self.msdu?;
                msdu.short_retries = 0;
                self.msdu = Some(msdu);
                self.answer = Some((now + self.times.sifs(), self.data(&msdu)));
                None
            }
            StepKind::Ack if awaited.is_some() => {
                self.finish(MsduOutcome::Sent);
                None
            }
            StepKind::Cts | StepKind::Ack => panic!("{now}: an answer that nobody waits for"),
            StepKind::CtsToSelf | StepKind::BlockAckRequest | StepKind::BlockAck => {
                unreachable!("not in these workloads")
            }
        }
    }

    /// Filters duplicates: the number of the last frame from there, on a retry (10.3.2.14).
    fn take(&mut self, now: Instant, frame: &Frame) {
        let sequence = (frame.to.is_some(), frame.sequence);
        if sequence.0 {
            if frame.retry && self.last_heard.get(&frame.from) == Some(&frame.sequence) {
                self.counters.duplicates += 1;
                return;
            }
            self.last_heard.insert(frame.from, frame.sequence);
        }
        self.delivered.push((now, self.node, frame.packet));
    }

    /// The receiver of its data frame has it: known to the account, not to the protocol.
    pub(crate) fn note_received(&mut self, packet: u64) {
        if let Some(msdu) = self.msdu.as_mut().filter(|msdu| msdu.packet == packet) {
            msdu.received = true;
        } else if let Some(done) = self.done.last_mut().filter(|done| done.0 == packet) {
            done.2 = true;
        }
    }

    // Recovery: clauses 10.3.3 and 10.3.4.4.

    fn fail(&mut self, missing: StepKind) {
        self.awaited = None;
        let Some(msdu) = &mut self.msdu else { return };
        msdu.retry |= missing == StepKind::Ack;
        let long = missing == StepKind::Ack
            && msdu.size + self.config.overhead() > self.config.rts_threshold;
        let (count, limit) = if long {
            (&mut msdu.long_retries, self.config.long_retry_limit)
        } else {
            (&mut msdu.short_retries, self.config.short_retry_limit)
        };
        *count += 1;
        if *count == limit {
            self.counters.retry_drops += 1;
            self.finish(MsduOutcome::RetryLimit);
        } else {
            self.window = (2 * self.window + 1).min(self.config.cw_max);
            self.back_off();
        }
    }

    /// The service of a packet ends; a back-off follows even if no other waits.
    fn finish(&mut self, outcome: MsduOutcome) {
        self.awaited = None;
        self.counters.sent += u64::from(outcome == MsduOutcome::Sent);
        if let Some(msdu) = self.msdu.take() {
            self.done.push((msdu.packet, outcome, msdu.received));
        }
        self.window = self.config.cw_min;
        self.back_off();
        self.serve_next();
    }

    // Frames and their Duration fields (clauses 9.2.5, 9.3.1 and 10.6.6).

    fn psdu(&self, msdu: &Msdu) -> Bytes {
        msdu.size + self.config.overhead()
    }

    fn needs_rts(&self, msdu: &Msdu) -> bool {
        msdu.to.is_some() && self.psdu(msdu) > self.config.rts_threshold
    }

    fn data_mode(&self, msdu: &Msdu) -> Mode {
        let times = self.times;
        let link = |other: u32| self.links[self.node.max(other) as usize - 1].mode;
        // A broadcast is of the family that all can hear.
        let modes = || self.links.iter().map(|link| link.mode);
        let common = modes().find(|mode| mode.class.is_dsss()).or(modes().next());
        let broadcast = || times.broadcast_mode(&common.expect("a station"));
        msdu.to.map_or_else(broadcast, link)
    }

    fn airtime(&self, mode: &Mode, psdu: Bytes) -> Duration {
        self.times.airtime(mode, psdu).total()
    }

    fn data(&self, msdu: &Msdu) -> Frame {
        let mode = self.data_mode(msdu);
        let times = self.times;
        let ack = times.sifs() + self.airtime(&times.response_mode(&mode), ACK);
        Frame {
            kind: StepKind::Data,
            from: self.node,
            to: msdu.to,
            mode,
            psdu: self.psdu(msdu),
            reserves: msdu.to.map_or(Duration::ZERO, |_| self.duration_field(ack)),
            sequence: msdu.sequence,
            retry: msdu.retry,
            packet: msdu.packet,
        }
    }

    fn rts(&self, msdu: &Msdu) -> Frame {
        let data = self.data(msdu);
        let times = self.times;
        let mode = times.rts_mode(&data.mode);
        let cts = times.sifs() + self.airtime(&times.response_mode(&mode), CTS);
        let whole = times.sifs() + self.airtime(&data.mode, data.psdu) + data.reserves;
        let reserves = self.duration_field(cts + whole);
        Frame { kind: StepKind::Rts, mode, psdu: RTS, reserves, ..data }
    }

    fn duration_field(&self, lasting: Duration) -> Duration {
        match self.times.durations {
            Durations::Standard => lasting,
            Durations::Ns2 => Duration((lasting.0 as f64 * 1e-3).round() as u64 * 1000),
        }
    }

    fn reply(&mut self, now: Instant, to: &Frame, kind: StepKind) {
        let times = self.times;
        let mode = times.response_mode(&to.mode);
        let taken = times.sifs() + self.airtime(&mode, ACK);
        let frame = Frame {
            kind,
            from: self.node,
            to: Some(to.from),
            mode,
            psdu: ACK,
            reserves: to.reserves - taken,
            ..*to
        };
        self.answer = Some((now + times.sifs(), frame));
    }
}
