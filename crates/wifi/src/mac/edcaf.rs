//! An enhanced distributed channel access function (EDCAF, clause 10.23.2): one access category of
//! a node, or the DCF of a node. It holds the MSDUs in service and decides how the next PPDU is
//! sent.
//!
//! An EDCAF counts no slots and has no carrier sense. The medium reports that the EDCAF has won the
//! contention, and the outcome of each attempt. The EDCAF returns the frames to send, the back-off
//! to count, and the MSDUs whose service has ended. Both media use it. They differ in how they
//! count slots and in how they decide on a reception.

mod confined;
mod group;
mod peer_rate;
mod ppdu;

pub(crate) use peer_rate::PeerRate;
pub(crate) use ppdu::Response;

use super::aggregation::DurationIn;
use super::block_ack::Bitmap;
use super::exchange::{Exchange, ExchangeOutcome, Request};
use super::originator::{Originator, Psdu, Settled};
use super::station::{Access, Backoff, ContentionParameters, Failure};
use super::{MacConfig, Opening, PsduLimits, Rules, Timing, Won, block_ack};
use crate::medium::{Command, FrameCounters, Mpdus, MsduSource, NodeCounters};
use crate::phy::Mode;
use crate::rate::{self, AttemptParameters, TxReport};
use kernel::{BitRate, Bytes, Db, Duration, Instant};
use ppdu::Ppdu;
use wire::{FrameKind, Packet, TrafficClass};

/// A TXOP with a limit: the right to begin several frame exchanges (clause 10.23.2.8).
#[derive(Clone, Copy, Debug)]
pub(crate) struct Txop {
    /// The EDCAF that holds the TXOP, by its number in the medium.
    pub(crate) holder: u32,
    until: Instant,
    /// When the next exchange may begin: a SIFS after one that succeeded.
    pub(crate) next: Option<Instant>,
}

impl Txop {
    /// Whether this EDCAF begins another exchange a SIFS after its last one.
    pub(crate) fn goes_on(&self, edcaf: u32) -> bool {
        self.next.is_some() && self.holder == edcaf
    }

    /// The rest of the TXOP when an exchange succeeds now; `None` if no more than a SIFS is left.
    pub(crate) fn after_success(self, now: Instant, sifs: Duration) -> Option<Self> {
        let next = now + sifs;
        (next < self.until).then_some(Self { next: Some(next), ..self })
    }

    /// The TXOP when its next exchange begins.
    pub(crate) fn resumed(self) -> Self {
        Self { next: None, ..self }
    }
}

#[derive(Debug)]
pub(crate) struct Edcaf {
    pub(crate) node: u32,
    pub(crate) class: TrafficClass,
    access: Access,
    /// The index of its contention parameters in [`Rules`].
    contention_parameters: u8,
    txop_limit: Duration,
    /// The MSDUs in service.
    pub(crate) originator: Originator,
    /// Mode of the present or next PSDU.
    pub(crate) mode: Mode,
    /// What it has won for its TXOP, if a part of its channel was busy.
    pub(crate) won: Option<Won>,
    /// The mode that was chosen for the PSDU, if it is sent in another one because of that.
    chosen: Option<Mode>,
    /// The response that this mode elicits.
    pub(crate) response: Response,
    pub(crate) opening: Opening,
    pub(crate) psdu: Psdu,
    /// The last PPDU with one user in this mode.
    ppdu: Ppdu,
}

impl Edcaf {
    /// Creates the EDCAF of a node for an access category. If `apart`, it numbers the MPDUs of each
    /// receiver separately, else those of all receivers together.
    pub(crate) fn new(
        rules: &Rules,
        node: u32,
        is_access_point: bool,
        category: u32,
        apart: bool,
        backoff: Backoff,
    ) -> Self {
        let contention_parameters = rules.parameter_set(node, is_access_point, category);
        let (_, txop_limit) = rules.parameters(is_access_point, category);
        let mode = rules.broadcast_mode;
        Self {
            node,
            class: rules.class_of(category),
            access: rules.access(contention_parameters, backoff),
            contention_parameters,
            txop_limit,
            originator: Originator::new(apart),
            mode,
            won: None,
            chosen: None,
            response: Response::to(rules.timing(), &mode),
            opening: Opening::None,
            psdu: Psdu::NONE,
            ppdu: Ppdu::NONE,
        }
    }

    /// Whether no MSDU is in service.
    pub(crate) fn is_idle(&self) -> bool {
        self.originator.is_idle()
    }

    /// The receiver of the MSDUs in service; `None` is broadcast.
    pub(crate) fn to(&self) -> Option<u32> {
        self.originator.to()
    }

    /// The length of a BlockAck between the two nodes.
    pub(crate) fn block_ack(&self, rules: &Rules) -> Bytes {
        block_ack(rules.window_between(self.node, self.to().unwrap_or(self.node)))
    }

    /// The contention window.
    pub(crate) fn window(&self) -> u32 {
        self.access.window()
    }

    /// The contention parameters of all EDCAFs change.
    fn adopt(&mut self, old: &[ContentionParameters], new: &[ContentionParameters]) {
        let set = usize::from(self.contention_parameters);
        self.access.adopt(&old[set], &new[set]);
    }

    /// Takes an MSDU into service. The EDCAF must be idle.
    pub(crate) fn begin_service(
        &mut self,
        now: Instant,
        packet: &Packet,
        to: Option<u32>,
        rules: &Rules,
    ) {
        self.originator.begin_service(&rules.framing, now, packet, to);
    }

    /// From now on, these functions and their rules follow another configuration, as far as
    /// [`Rules::adopt`] says. `edcafs` are all that follow the rules.
    pub(crate) fn adopt_all<'a>(
        edcafs: impl Iterator<Item = &'a mut Self>,
        rules: &mut Rules,
        config: &MacConfig,
    ) {
        let (before, now) = rules.adopt(config);
        edcafs.for_each(|edcaf| edcaf.adopt(&before, now));
    }

    /// Invokes the back-off procedure and returns the slots to count (clause 10.23.2.2).
    pub(crate) fn back_off(&mut self, rules: &Rules) -> u32 {
        self.access.draw(rules.contention_parameters(self.contention_parameters))
    }

    // What goes on the air.

    /// The TXOP of this EDCAF, which wins the contention now; `None` if it has no TXOP limit.
    pub(crate) fn txop(&self, now: Instant, holder: u32) -> Option<Txop> {
        let until = now + self.txop_limit;
        (self.txop_limit > Duration::ZERO).then_some(Txop { holder, until, next: None })
    }

    /// Assembles the PSDU that the EDCAF sends when it has won the contention. Without a TXOP
    /// limit, the exchange may last any time.
    pub(crate) fn begin(
        &mut self,
        now: Instant,
        rules: &Rules,
        rate: Option<&mut PeerRate>,
        source: &mut dyn MsduSource,
        out: &mut Vec<Command>,
    ) {
        self.assemble(now, self.longest(), rules, rate, source, out);
    }

    /// Assembles the next PSDU of the TXOP. Returns whether there is one and its exchange ends
    /// within the TXOP.
    pub(crate) fn go_on(
        &mut self,
        now: Instant,
        txop: &Txop,
        rules: &Rules,
        rate: Option<&mut PeerRate>,
        source: &mut dyn MsduSource,
        out: &mut Vec<Command>,
    ) -> bool {
        if self.is_idle() {
            return false;
        }
        self.assemble(now, txop.until - now, rules, rate, source, out);
        now + self.exchange(rules, now, ExchangeOutcome::Success).planned() <= txop.until
    }

    /// Assembles the next PSDU. The PPDU and its response must end `within` this time.
    fn assemble(
        &mut self,
        now: Instant,
        within: Duration,
        rules: &Rules,
        mut rate: Option<&mut PeerRate>,
        source: &mut dyn MsduSource,
        out: &mut Vec<Command>,
    ) {
        let is_fixed = rules.framing.aggregation.is_none();
        if is_fixed
            && self.originator.is_assembled()
            && !self.is_confined()
            && !rate.as_ref().is_some_and(|rate| rate.adapts())
        {
            return;
        }
        let (node, class, to) = (self.node, self.class, self.to());
        let limits = rules.framing.aggregation.as_ref();
        let heeds_chain = limits.is_some_and(|limits| limits.duration_in == DurationIn::Chain);
        let choice = match (to, rate.as_deref_mut()) {
            (Some(peer), Some(rate)) if rate.adapts() => {
                self.select_mode(now, peer, rate, heeds_chain, out)
            }
            _ => None,
        };
        let mut with_rts = choice.is_some_and(|choice| choice.rts);
        let alone = choice.is_some_and(|choice| choice.alone);
        let mode = match rate {
            Some(rate) => rate.mode,
            None if self.originator.management().is_some() => rules.beacon_mode,
            None => rules.broadcast_mode,
        };
        let timing = rules.timing();
        let mode = match self.originator.kind() {
            Some(FrameKind::PsPoll) => timing.rts_mode(&mode),
            Some(kind) if kind.associates() => rules.beacon_mode,
            _ => mode,
        };
        let mode = if self.is_confined() { self.confine(mode, rules) } else { mode };
        let room = match (limits, to) {
            (Some(limits), Some(_)) => {
                let within = within.saturating_sub(rules.around(&mode, with_rts));
                let slowest = choice.map_or(mode, |choice| choice.slowest);
                let slowest = self.won.map_or(slowest, |won| won.fit(&slowest, &rules.config));
                let room = limits.room_in_chain(&mode, &slowest, timing, within);
                if alone { PsduLimits { frames: 1, ..room } } else { room }
            }
            _ => PsduLimits::SINGLE,
        };
        let psdu = self.originator.assemble(&rules.framing, mode.class, room, now, |most| {
            to.and_then(|to| source.next(node, class, to, most))
        });
        debug_assert!(psdu.mpdus <= 1 || psdu.mpdus <= room.frames && psdu.bytes <= room.bytes);
        let is_request = psdu.mpdus == 0;
        with_rts |= psdu.bytes > rules.config.rts_threshold;
        self.opening = if to.is_some() && !is_request {
            timing.opening_of(&mode, with_rts)
        } else {
            Opening::None
        };
        self.set_psdu(timing, if is_request { timing.rts_mode(&mode) } else { mode }, psdu);
    }

    /// Asks rate control, if there is one, for the mode of the next attempt to a peer. Reports a
    /// mode that changes, and a slowest one if that is heeded.
    pub(crate) fn select_mode(
        &self,
        now: Instant,
        peer: u32,
        rate: &mut PeerRate,
        heeds_chain: bool,
        out: &mut Vec<Command>,
    ) -> Option<AttemptParameters> {
        let control = rate.control.as_mut()?;
        let choice = control.select(now, self.access.failures());
        let AttemptParameters { mode, slowest, .. } = choice;
        if mode != rate.mode || heeds_chain && slowest != rate.slowest {
            out.push(Command::Mode { node: self.node, peer, mode, slowest });
        }
        rate.follow(mode, slowest);
        Some(choice)
    }

    /// The next PSDU with one user, and its mode. Mostly its PPDU lasts as long as the one before.
    fn set_psdu(&mut self, timing: &Timing, mode: Mode, psdu: Psdu) {
        self.set_mode(timing, mode);
        if !self.ppdu.is_of(&psdu) {
            self.ppdu = Ppdu::of(timing, &mode, &psdu);
        }
        self.psdu = psdu;
    }

    fn set_mode(&mut self, timing: &Timing, mode: Mode) {
        if self.mode != mode {
            (self.mode, self.response) = (mode, Response::to(timing, &mode));
            self.ppdu = Ppdu::NONE;
        }
    }

    /// The exchange of the assembled PSDU, if it begins now.
    pub(crate) fn exchange(
        &self,
        rules: &Rules,
        now: Instant,
        outcome: ExchangeOutcome,
    ) -> Exchange {
        let request = Request {
            sender: self.node,
            mode: &self.mode,
            response: &self.response,
            psdu: self.psdu.bytes,
            airtime: self.ppdu.airtime,
            opening: self.opening,
            mpdus: self.psdu.mpdus,
            answer: self.psdu.answer,
            block_ack: self.block_ack(rules),
            repeated: self.originator.all_received(),
        };
        Exchange::of(rules.timing(), &request, now, outcome)
    }

    /// Counts an attempt that begins.
    pub(crate) fn count(&self, counters: &mut NodeCounters) {
        counters.exchanges.begin();
        self.count_psdu(self.mode.rate, &mut counters.frames);
    }

    /// Counts the PSDU of an attempt, which is sent at this rate.
    pub(crate) fn count_psdu(&self, rate: BitRate, frames: &mut FrameCounters) {
        if self.psdu.mpdus == 0 {
            frames.block_ack_requests += 1;
        } else {
            frames.count_data(rate, self.psdu.mpdus, self.originator.repeated());
            if self.chosen.is_some() {
                self.count_confined(frames);
            }
        }
    }

    /// The MPDUs of the PSDU; a BlockAckReq has none.
    pub(crate) fn mpdus(&self) -> Mpdus {
        Mpdus::of(self.psdu.mpdus, self.originator.repeated())
    }

    /// Whether RTS and CTS precede the PSDU.
    pub(crate) fn with_rts(&self) -> bool {
        self.opening == Opening::Rts
    }

    /// Mode of the first frame of the exchange.
    #[inline]
    pub(crate) fn first_mode(&self, timing: &Timing) -> Mode {
        if self.opening == Opening::None { self.mode } else { timing.rts_mode(&self.mode) }
    }

    /// Mode of the last frame that the EDCAF sends before a missing response can stop it.
    pub(crate) fn exposed_mode(&self, timing: &Timing) -> Mode {
        if self.with_rts() { timing.rts_mode(&self.mode) } else { self.mode }
    }

    /// The response that this frame elicits.
    pub(crate) fn exposed_response(&self, timing: &Timing) -> Response {
        if self.with_rts() {
            Response::to(timing, &self.exposed_mode(timing))
        } else {
            self.response
        }
    }

    // Outcomes.

    /// An attempt received its response, or needed none. `arrived` is the bitmap of a BlockAck.
    /// Rate control learns the result and, where it is known, the `snr` at the receiver.
    pub(crate) fn succeed(
        &mut self,
        now: Instant,
        rules: &Rules,
        arrived: Option<&Bitmap>,
        rate: Option<&mut PeerRate>,
        snr: impl FnOnce(&Mode) -> Option<Db>,
        settled: &mut Vec<Settled>,
    ) {
        self.access.succeed(rules.contention_parameters(self.contention_parameters));
        let acked = if let Some(arrived) = arrived {
            self.originator.on_block_ack(&rules.framing, now, arrived, settled)
        } else {
            self.originator.on_ack(settled);
            1
        };
        self.finish_flush(rules, settled);
        self.report(now, rate, rate::Answer::Acked(acked), snr);
    }

    /// After a success: the contention window is twice as large as it was before.
    pub(crate) fn double_window(&mut self, rules: &Rules, before: u32) {
        self.access.double(rules.contention_parameters(self.contention_parameters), before);
    }

    /// An attempt received no response. `data_sent` says whether its data frames were transmitted.
    pub(crate) fn miss(
        &mut self,
        now: Instant,
        rules: &Rules,
        data_sent: bool,
        rate: Option<&mut PeerRate>,
        settled: &mut Vec<Settled>,
    ) {
        let answer = if data_sent { rate::Answer::None } else { rate::Answer::NoCts };
        self.report(now, rate, answer, |_| None);
        let after_cts = data_sent && self.with_rts();
        let failure =
            self.access.fail(rules.contention_parameters(self.contention_parameters), after_cts);
        if data_sent {
            self.originator.on_no_answer(&rules.framing, now, settled);
        } else {
            self.originator.on_delay(&rules.framing, now, settled);
        }
        if failure == Failure::Drop {
            self.originator.on_retry_limit(&rules.framing, settled);
        }
        self.finish_flush(rules, settled);
    }

    /// A receiver has left: what is in service for it is flushed. `is_on_air`: when the exchange in
    /// progress ends. A frame of the MAC fails by itself.
    pub(crate) fn flush(
        &mut self,
        rules: &Rules,
        to: u32,
        is_on_air: bool,
        settled: &mut Vec<Settled>,
    ) {
        let is_concerned = self.to() == Some(to) && self.originator.management().is_none();
        if is_concerned && !self.is_idle() {
            self.originator.flush(&rules.framing, !is_on_air, settled);
            if !is_on_air {
                self.access.succeed(rules.contention_parameters(self.contention_parameters));
            }
        }
    }

    /// An attempt has ended during which the receiver has left.
    fn finish_flush(&mut self, rules: &Rules, settled: &mut Vec<Settled>) {
        if self.originator.leaves() {
            self.originator.flush(&rules.framing, true, settled);
            self.access.succeed(rules.contention_parameters(self.contention_parameters));
        }
    }

    /// The EDCAF loses an internal collision to one of higher priority. This counts as a collision,
    /// but rate control does not learn of it, because nothing was transmitted (clause 10.23.2.4).
    pub(crate) fn yield_to_higher(
        &mut self,
        now: Instant,
        rules: &Rules,
        NodeCounters { frames, .. }: &mut NodeCounters,
        settled: &mut Vec<Settled>,
    ) {
        frames.internal_collisions += 1;
        self.miss(now, rules, false, None, settled);
    }

    /// Reports the result of an attempt with data to rate control.
    fn report(
        &self,
        now: Instant,
        rate: Option<&mut PeerRate>,
        answer: rate::Answer,
        snr: impl FnOnce(&Mode) -> Option<Db>,
    ) {
        let Some(control) = rate.and_then(|rate| rate.control.as_mut()) else { return };
        if self.psdu.mpdus > 0 {
            let mode = self.chosen.unwrap_or(self.mode);
            let (rts, sent) = (self.with_rts(), u32::from(self.psdu.mpdus));
            control.on_report(now, &TxReport { mode, rts, sent, answer, snr: snr(&mode) });
        }
    }
}
