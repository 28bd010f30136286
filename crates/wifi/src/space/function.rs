//! What contends at a node: its DCF, or one access category of it.

use super::rules::{Peer, Rules};
use super::sense::Slots;
use crate::mac::{
    Access, Backoff, Bitmap, Exchange, Failure, Fate, Opening, Originator, Psdu, Request, Room,
    Settled, block_ack,
};
use crate::phy::Mode;
use crate::rate::{self, TxReport};
use crate::{Command, Supply};
use kernel::{Db, Duration, Instant};
use wire::TrafficClass;

#[derive(Debug)]
pub(super) struct Function {
    access: Access,
    pub(super) load: Originator,
    pub(super) slots: Slots,
    /// How the present or next attempt is sent.
    pub(super) mode: Mode,
    pub(super) opening: Opening,
    pub(super) psdu: Psdu,
    pub(super) txop_limit: Duration,
    /// Which of the windows of [`mac::Rules::persistence`](crate::mac::Rules::persistence).
    persistence: u8,
}

/// Who asks a function, and what it may take.
pub(super) struct Asker<'a> {
    pub(super) node: u32,
    pub(super) class: TrafficClass,
    pub(super) rules: &'a Rules,
    pub(super) supply: &'a mut dyn Supply,
    pub(super) out: &'a mut Vec<Command>,
}

impl Function {
    /// A function of `node`, which exchanges frames with nodes of numbers below `receivers`.
    pub(super) fn new(
        rules: &Rules,
        (node, is_access_point): (u32, bool),
        category: u32,
        receivers: usize,
        backoff: Backoff,
    ) -> Self {
        let set = rules.mac.set_of(node, is_access_point, category);
        let (spacing, txop_limit) = rules.mac.parameters(is_access_point, category);
        Self {
            access: rules.mac.access(set, backoff),
            load: Originator::new(receivers),
            slots: Slots::new(rules.timing(), spacing, rules.mac.busy_slot()),
            mode: rules.mac.broadcast_mode,
            opening: Opening::None,
            psdu: Psdu::NONE,
            txop_limit,
            persistence: set,
        }
    }

    pub(super) fn window(&self) -> u32 {
        self.access.window()
    }

    pub(super) fn back_off(&mut self, rules: &Rules) {
        let slots = self.access.draw(rules.mac.persistence(self.persistence));
        self.slots.back_off(slots);
    }

    /// Puts together what is sent next; its PPDU and answer shall end `within` a time.
    pub(super) fn assemble(
        &mut self,
        now: Instant,
        within: Duration,
        peers: &mut [Peer],
        asker: &mut Asker,
    ) {
        let Asker { node, class, rules, ref mut supply, ref mut out } = *asker;
        let (to, mut with_rts) = (self.load.to(), false);
        let mode = match to {
            Some(to) => {
                let at = peers.binary_search_by_key(&to, |peer| peer.node);
                let peer = &mut peers[at.expect("packets go along links")];
                if let Some(control) = &mut peer.control {
                    let choice = control.select(now, self.access.failures());
                    with_rts = choice.rts;
                    if choice.mode != peer.mode {
                        peer.mode = choice.mode;
                        out.push(Command::Mode { node, peer: to, mode: choice.mode });
                    }
                }
                peer.mode
            }
            None => rules.mac.broadcast_mode,
        };
        let timing = rules.timing();
        let room = match (&rules.mac.framing.aggregation, to) {
            (Some(limits), Some(_)) => {
                let within = within.saturating_sub(rules.mac.around(&mode, with_rts));
                limits.room(&mode, timing.preamble, within)
            }
            _ => Room::SINGLE,
        };
        let psdu = self.load.assemble(&rules.mac.framing, mode.class, room, now, |most| {
            to.and_then(|to| supply.next(node, class, to, most))
        });
        let is_request = psdu.mpdus == 0;
        with_rts |= psdu.bytes > rules.mac.config.rts_threshold;
        self.opening = if to.is_some() && !is_request {
            timing.opening_of(&mode, with_rts)
        } else {
            Opening::None
        };
        self.mode = if is_request { timing.rts_mode(&mode) } else { mode };
        self.psdu = psdu;
    }

    /// Whether RTS and CTS go before its PSDU.
    pub(super) fn with_rts(&self) -> bool {
        self.opening == Opening::Rts
    }

    /// How long the exchange takes that has been put together, if all goes well.
    pub(super) fn planned(&self, node: u32, rules: &Rules) -> Duration {
        let request = Request {
            sender: node,
            mode: self.mode,
            psdu: self.psdu.bytes,
            opening: self.opening,
            mpdus: self.psdu.mpdus,
            answer: self.psdu.answer,
            block_ack: block_ack(rules.mac.window()),
            repeated: false,
        };
        Exchange::of(rules.timing(), &request, Instant::ZERO, Fate::Success).planned()
    }

    /// An attempt got its answer, or needed none; a block ack says what has arrived.
    pub(super) fn succeed(
        &mut self,
        now: Instant,
        rules: &Rules,
        arrived: Option<&Bitmap>,
        settled: &mut Vec<Settled>,
    ) -> rate::Answer {
        self.access.succeed(rules.mac.persistence(self.persistence));
        rate::Answer::Acked(if let Some(arrived) = arrived {
            self.load.on_block_ack(&rules.mac.framing, now, arrived, settled)
        } else {
            self.load.on_ack(settled);
            1
        })
    }

    /// An attempt got no answer: `aired` tells that its data frames were on the air.
    pub(super) fn miss(
        &mut self,
        now: Instant,
        rules: &Rules,
        aired: bool,
        settled: &mut Vec<Settled>,
    ) {
        let exhausted = self.fail(rules, aired && self.with_rts());
        if aired {
            self.load.on_no_answer(&rules.mac.framing, now, settled);
        } else {
            self.load.on_delay(&rules.mac.framing, now, settled);
        }
        if exhausted {
            self.load.on_retry_limit(&rules.mac.framing, settled);
        }
    }

    /// Another function of the node goes first: as after a collision, but that nothing was on the
    /// air (clause 10.23.2.4).
    pub(super) fn yield_to_higher(
        &mut self,
        now: Instant,
        rules: &Rules,
        settled: &mut Vec<Settled>,
    ) {
        self.slots.clear();
        let exhausted = self.fail(rules, false);
        self.load.on_delay(&rules.mac.framing, now, settled);
        if exhausted {
            self.load.on_retry_limit(&rules.mac.framing, settled);
        }
    }

    /// Widens the window, which starts anew at a retry limit (clause 10.23.2.2); whether one is
    /// reached.
    fn fail(&mut self, rules: &Rules, after_cts: bool) -> bool {
        let persistence = rules.mac.persistence(self.persistence);
        self.access.fail(persistence, after_cts) == Failure::Drop
    }

    /// Tells rate control what became of an attempt with data.
    pub(super) fn report(
        &self,
        now: Instant,
        peers: &mut [Peer],
        answer: rate::Answer,
        snr: Option<Db>,
    ) {
        let (Some(to), true) = (self.load.to(), self.psdu.mpdus > 0) else { return };
        let Ok(at) = peers.binary_search_by_key(&to, |peer| peer.node) else { return };
        let Some(control) = &mut peers[at].control else { return };
        let (mode, rts, sent) = (self.mode, self.with_rts(), u32::from(self.psdu.mpdus));
        control.on_report(now, &TxReport { mode, rts, sent, answer, snr });
    }
}
