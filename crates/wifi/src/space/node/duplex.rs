//! A full-duplex node: the frame that it sends while it receives.

mod join;

pub(in crate::space) use join::Joinable;

use super::Node;
use super::own::{Awaited, Exchange, Own};
use crate::mac::{
    DuplexCounters, Edcaf, ElicitedResponse, FullDuplex, OwnRts, PeerRate, SecondaryChoice,
    SecondaryRate,
};
use crate::medium::NodeCounters;
use crate::phy::Mode;
use crate::space::duplex::PrimaryFrame;
use crate::space::frame::{OnAir, Transmission, Users};
use crate::space::rules::{SpaceRules, place_of};
use crate::{Command, MsduSource};
use kernel::{BitRate, Bytes, Duration, Instant};
use wire::FrameKind;

/// The state of a full-duplex node.
#[derive(Debug)]
pub(in crate::space) struct NodeDuplex {
    settings: FullDuplex,
    /// Chooses the packet that an access point sends; `None` for a station.
    choice: Option<SecondaryChoice>,
    /// The secondary frame that follows the CTS.
    secondary: Option<OnAir>,
    /// The exchange in which the node sends a data frame while it receives one.
    mutual: Option<Beside>,
    /// The data frame that the last RTS of the node announced.
    announced: Option<Announced>,
    /// The RTS of the access point in this exchange.
    rts: Option<SentRts>,
    /// The access point answers an RTS that began together with its own.
    own_rts: bool,
    /// When the node won the contention last.
    won: Option<Instant>,
    /// The data frame that the node receives and may join.
    joinable: Option<Joinable>,
    /// When the node joined one last.
    joined: Option<Instant>,
    pub(in crate::space) counters: DuplexCounters,
    /// The secondary frames of an access point, by ascending rate.
    pub(in crate::space) rates: Vec<SecondaryRate>,
}

/// An exchange in which a node sends a data frame while it receives one.
#[derive(Clone, Copy, Debug)]
struct Beside {
    /// The transmitter of the frame that the node receives.
    from: u32,
    /// The node sends the secondary frame.
    is_secondary: bool,
    /// That frame is no BlockAckReq.
    is_data: bool,
    /// It is an attempt of the node.
    is_attempt: bool,
}

/// The data frame after an RTS, and the response to it.
#[derive(Clone, Copy, Debug)]
pub(in crate::space) struct Announced {
    pub(in crate::space) mode: Mode,
    pub(in crate::space) psdu: Bytes,
    pub(in crate::space) answer: ElicitedResponse,
}

impl Announced {
    fn of(Edcaf { mode, psdu, .. }: &Edcaf) -> Self {
        Self { mode: *mode, psdu: psdu.bytes, answer: psdu.answer }
    }
}

/// An RTS: when it begins and ends, and what was counted before it.
#[derive(Debug)]
struct SentRts {
    start: Instant,
    end: Instant,
    before: NodeCounters,
}

impl NodeDuplex {
    pub(in crate::space) fn new(
        settings: FullDuplex,
        choice: Option<SecondaryChoice>,
        rates: &[BitRate],
    ) -> Self {
        let unused = |&rate| SecondaryRate { rate, frames: 0, airtime: Duration::ZERO };
        let rates = if choice.is_some() { rates.iter().map(unused).collect() } else { Vec::new() };
        Self {
            settings,
            choice,
            secondary: None,
            mutual: None,
            announced: None,
            rts: None,
            own_rts: false,
            won: None,
            joinable: None,
            joined: None,
            counters: DuplexCounters::default(),
            rates,
        }
    }

    /// Whether the frame of the node joins an exchange of another node, so that it is no attempt of
    /// its own.
    pub(in crate::space) fn joins_only(&self) -> bool {
        !self.own_rts && self.mutual.is_some_and(|beside| beside.is_secondary && !beside.is_attempt)
    }

    /// An access point may send a secondary frame, perhaps beside an RTS of its own.
    fn count_primary(&mut self, with_rts: bool) {
        if self.choice.is_some() {
            self.counters.primary += 1;
            self.counters.joint += u64::from(with_rts);
        }
    }

    /// The node sends a secondary data frame of this rate and duration.
    fn count_secondary(&mut self, rate: BitRate, data: Duration, primary: &PrimaryFrame, to: u32) {
        let counters = &mut self.counters;
        counters.together += data.min(primary.data);
        counters.bidirectional += u64::from(to == primary.from);
        if self.choice.is_none() {
            counters.station_secondary += 1;
            return;
        }
        counters.secondary += 1;
        counters.secondary_rates += rate.0;
        if let Ok(at) = self.rates.binary_search_by_key(&rate, |each| each.rate) {
            self.rates[at].frames += 1;
            self.rates[at].airtime += data;
        }
    }

    /// The exchange is over.
    fn finish(&mut self) {
        (self.secondary, self.mutual, self.rts, self.own_rts) = (None, None, None, false);
    }
}

impl Node {
    pub(in crate::space) fn make_full_duplex(&mut self, duplex: NodeDuplex) {
        self.duplex = Some(Box::new(duplex));
    }

    pub(in crate::space) fn duplex(&self) -> Option<&NodeDuplex> {
        self.duplex.as_deref()
    }

    /// The transmitter of the RTS that a full-duplex node answers now, and its EDCAF.
    pub(in crate::space) fn answers_rts(&self, now: Instant) -> Option<(u32, u8)> {
        let (at, frame) = self.answer.as_ref().filter(|_| self.duplex.is_some())?;
        let from = frame.to.filter(|_| frame.kind == FrameKind::Cts && *at <= now)?;
        Some((from, frame.edcaf))
    }

    /// Whether a full-duplex node takes notice of a frame although it has transmitted since the
    /// frame began.
    pub(in crate::space) fn expects(&self, now: Instant, heard: &Transmission) -> bool {
        let frame = &heard.frame;
        let Some(duplex) = self.duplex().filter(|_| frame.to == Some(self.id)) else {
            return false;
        };
        match frame.kind {
            // An RTS may begin with another frame of the exchange, too.
            FrameKind::Rts => {
                duplex.rts.as_ref().is_some_and(|rts| rts.start == heard.start && rts.end <= now)
            }
            FrameKind::Data | FrameKind::BlockAckRequest => {
                duplex.mutual.is_some_and(|beside| beside.from == frame.from)
            }
            FrameKind::Ack | FrameKind::BlockAck => {
                self.own.awaited().is_some_and(|awaited| awaited.kind == frame.kind)
            }
            _ => false,
        }
    }

    /// A frame of the node ends at this instant. It does not send a response that is due before:
    /// the transmitter of the frame that it has received does not know how long its own one lasts.
    /// Returns whether there was one.
    pub(in crate::space) fn answer_after(&mut self, end: Instant) -> bool {
        self.answer.take_if(|(at, _)| *at < end).is_some()
    }

    /// An RTS is decoded. An access point whose own RTS began with it answers it in place of
    /// waiting for a CTS.
    pub(in crate::space) fn give_way(&mut self) {
        if let Some(duplex) = self.duplex.as_mut().filter(|_| self.own.exchange().is_some()) {
            duplex.own_rts = true;
            self.own.stop_waiting();
        }
    }

    /// Whether the node answers an RTS that began with its own.
    pub(super) fn gives_way(&self) -> bool {
        self.duplex().is_some_and(|duplex| duplex.own_rts)
    }

    /// Brings the packet of the secondary frame into service and assembles it: that of the highest
    /// access category that has one. Returns its EDCAF, the mode of the frame and its receiver, if
    /// there is one. `mode` gives that to a station.
    pub(in crate::space) fn choose_secondary(
        &mut self,
        now: Instant,
        primary: u32,
        mode: impl Fn(u32, Mode) -> Option<Mode>,
        rules: &SpaceRules,
        source: &mut dyn MsduSource,
        out: &mut Vec<Command>,
    ) -> Option<(usize, Mode, u32)> {
        let in_exchange = self.own.edcaf();
        let Self { id, contenders, peers, duplex, .. } = self;
        let duplex = duplex.as_mut()?;
        let mode_to = |to: u32| {
            let at = place_of(peers, to)?;
            mode(to, peers[at].rate.mode)
        };
        duplex.count_primary(duplex.own_rts);
        // No frame in its queue is for the access point itself: any station may be served.
        let than = if duplex.settings.bidirectional { *id } else { primary };
        let rate = |to| mode_to(to).map(|mode| mode.rate);
        let mut is_ready = |edcaf: &mut Edcaf| match &mut duplex.choice {
            _ if edcaf.is_idle() => false,
            Some(choice) => choice.bring_into_service(now, edcaf, &rules.mac, than, rate, source),
            None => edcaf.to() == Some(primary),
        };
        // Beside an RTS of its own, the access point sends a packet of the same category.
        let own = in_exchange.filter(|_| duplex.own_rts);
        let mut all = own.map_or(0..contenders.len(), |own| own..own + 1).rev();
        let index = all.find(|&index| is_ready(&mut contenders[index].edcaf))?;
        let edcaf = &mut contenders[index].edcaf;
        let to = edcaf.to()?;
        let mode = mode_to(to)?;
        // An aggregate is assembled for the mode of the secondary frame.
        let mut aside = rules.mac.framing.aggregation.map(|_| PeerRate::fixed(mode));
        let rate = match &mut aside {
            Some(aside) => Some(aside),
            None => super::rate(peers, Some(to)),
        };
        edcaf.begin(now, &rules.mac, rate, source, out);
        let is_request = edcaf.psdu.mpdus == 0;
        Some((index, if is_request { edcaf.mode } else { mode }, to))
    }

    /// Announces the secondary frame of an EDCAF in the CTS, and counts it.
    pub(in crate::space) fn announce(
        &mut self,
        rules: &SpaceRules,
        primary: &PrimaryFrame,
        index: usize,
        mode: Mode,
        to: u32,
    ) {
        let (frame, longer, responses) = self.secondary(rules, primary, index, mode, to);
        let timing = rules.timing();
        if let Some((_, cts)) = &mut self.answer {
            cts.beside = Some(longer - primary.data);
            cts.reserves = timing.reservation(timing.sifs() + longer + responses);
        }
        if let Some(duplex) = &mut self.duplex {
            duplex.secondary = Some(frame);
        }
    }

    /// The secondary frame of an EDCAF, which is counted, how long the longer of both frames lasts,
    /// and how long the responses take.
    fn secondary(
        &mut self,
        rules: &SpaceRules,
        primary: &PrimaryFrame,
        index: usize,
        mode: Mode,
        to: u32,
    ) -> (OnAir, Duration, Duration) {
        let timing = rules.timing();
        let Edcaf { psdu, .. } = &self.contenders[index].edcaf;
        let is_data = psdu.mpdus > 0;
        let kind = if is_data { FrameKind::Data } else { FrameKind::BlockAckRequest };
        let data = timing.frame_airtime(kind, &mode, psdu.bytes).total();
        let response = rules.response_airtime(&mode, psdu.answer);
        let longer = data.max(primary.data);
        let responses = timing.sifs() + response.max(primary.response);
        let frame = OnAir {
            kind,
            from: self.id,
            to: Some(to),
            edcaf: index as u8,
            mode,
            psdu: psdu.bytes,
            reserves: timing.reservation(longer - data + responses),
            answer: psdu.answer,
            beside: Some(longer - data),
            users: Users::One,
        };
        let Some(duplex) = &mut self.duplex else { return (frame, longer, responses) };
        let (from, is_secondary, is_attempt) = (primary.from, true, false);
        duplex.mutual = Some(Beside { from, is_secondary, is_data, is_attempt });
        // A TXOP ends with two frames at once.
        self.own.end_txop();
        if let Some(rts) = duplex.rts.as_ref().filter(|_| duplex.own_rts) {
            // The secondary frame takes the place of the attempt that began with the RTS.
            let exchanges = &mut self.counters.exchanges;
            exchanges.outcomes = rts.before.exchanges.attempts;
            exchanges.collisions = rts.before.exchanges.collisions;
            exchanges.noise_losses = rts.before.exchanges.noise_losses;
            exchanges.interference_losses = rts.before.exchanges.interference_losses;
            self.counters.frames = rts.before.frames;
        }
        self.contenders[index].edcaf.count_psdu(mode.rate, &mut self.counters.frames);
        if is_data {
            duplex.count_secondary(mode.rate, data, primary, to);
        }
        (frame, longer, responses)
    }

    /// A TXOP ends with two data frames at once.
    pub(in crate::space) fn end_txop(&mut self) {
        self.own.end_txop();
    }

    /// Whether that node sends to this one while it receives.
    pub(in crate::space) fn expects_beside(&self, from: u32) -> bool {
        let mutual = self.duplex().and_then(|duplex| duplex.mutual);
        mutual.is_some_and(|beside| beside.from == from)
    }

    /// A node sends to this one while it receives.
    pub(in crate::space) fn expect_beside(&mut self, from: u32) {
        if let Some(duplex) = &mut self.duplex {
            let (is_secondary, is_data, is_attempt) = (false, true, true);
            duplex.mutual = Some(Beside { from, is_secondary, is_data, is_attempt });
        }
    }

    /// There is no secondary frame. If the RTS of the access point began with that of the station,
    /// its attempt has failed.
    pub(in crate::space) fn withdraw_rts(
        &mut self,
        now: Instant,
        rules: &SpaceRules,
        out: &mut Vec<Command>,
    ) {
        if !self.gives_way() {
            return;
        }
        let (kind, receiving) = (FrameKind::Cts, false);
        let recovers = None;
        self.own.wait_for(Awaited { kind, since: now, due: now, recovers, until: now, receiving });
        self.give_up_waiting(now, rules, out);
    }

    /// The CTS has ended: the secondary frame follows.
    pub(super) fn follow_cts(&mut self, now: Instant, rules: &SpaceRules) {
        let Some(frame) = self.duplex.as_mut().and_then(|duplex| duplex.secondary.take()) else {
            return;
        };
        let begins = now + rules.timing().sifs();
        let edcaf = usize::from(frame.edcaf);
        self.own = Own::Sending(Exchange { edcaf, opened: begins, txop: None });
        self.reply(now, frame, rules);
    }

    /// A CTS may announce a secondary frame, with which a TXOP ends. A full-duplex node receives
    /// it.
    pub(super) fn expect_secondary(&mut self, cts: &OnAir) {
        if cts.beside.is_none() {
            return;
        }
        self.end_txop();
        self.expect_beside(cts.from);
    }

    /// The node wins the contention.
    pub(super) fn note_win(&mut self, now: Instant) {
        if let Some(duplex) = &mut self.duplex {
            (duplex.won, duplex.mutual) = (Some(now), None);
        }
    }

    /// A frame begins to be transmitted that may open an exchange.
    pub(in crate::space) fn count_opening(&mut self, now: Instant, frame: &OnAir, is_alone: bool) {
        let opened = self.own.exchange().is_some_and(|exchange| exchange.opened == now);
        let opens = opened && frame.beside.is_none();
        let Some(duplex) = self.duplex.as_mut() else { return };
        let wins = duplex.choice.is_some() && duplex.won == Some(now);
        duplex.counters.alone += u64::from(opens && wins && is_alone);
    }

    /// The data frame that the RTS of this EDCAF of the node has announced. A full-duplex node may
    /// have assembled another since, because it answers the RTS of another node.
    pub(in crate::space) fn announced(&self, edcaf: u8) -> Announced {
        let kept = self.duplex().and_then(|duplex| duplex.announced);
        kept.unwrap_or_else(|| Announced::of(self.edcaf(usize::from(edcaf))))
    }

    /// An EDCAF of a full-duplex node sends an RTS. An access point notes what was counted before.
    pub(super) fn note_rts(&mut self, now: Instant, index: usize, before: NodeCounters) {
        let Self { duplex: Some(duplex), contenders, .. } = self else { return };
        duplex.announced = Some(Announced::of(&contenders[index].edcaf));
        if duplex.choice.is_some() {
            duplex.rts = Some(SentRts { start: now, end: Instant(u64::MAX), before });
        }
    }

    /// An RTS ends at this instant.
    pub(super) fn note_end_of_rts(&mut self, end: Instant) {
        if let Some(rts) = self.duplex.as_mut().and_then(|duplex| duplex.rts.as_mut()) {
            rts.end = end;
        }
    }

    /// The packet that stepped aside returns to service if there is no other.
    pub(super) fn resume_aside(&mut self) {
        if self.duplex.is_none() {
            return;
        }
        for contender in &mut self.contenders {
            let edcaf = &mut contender.edcaf;
            if edcaf.originator.has_aside() && edcaf.is_idle() {
                edcaf.originator.swap_aside();
            }
        }
    }

    /// The exchange of the node is over, by its success or without it. Returns whether its
    /// contention window doubles although it succeeded.
    pub(super) fn finish_beside(&mut self, is_success: bool) -> bool {
        let Some(duplex) = self.duplex.as_mut() else { return false };
        let secondary = duplex.mutual.filter(|beside| beside.is_secondary);
        let is_secondary = secondary.is_some();
        let is_data = secondary.is_some_and(|beside| beside.is_data);
        let is_sent = is_success && is_data && duplex.choice.is_some();
        duplex.counters.secondary_sent += u64::from(is_sent);
        let doubles = is_secondary && duplex.own_rts && duplex.settings.own_rts == OwnRts::Double;
        duplex.finish();
        doubles
    }
}
