//! Checks frames in space: who sends and receives which frame, and when each may begin.

mod bandwidth;
mod protection;
mod units;

use super::bandwidth::Bandwidth;
use super::blocks::{Blocks, DataPsdu};
use super::earlier::Known;
use super::exchanges::is_answer;
use super::overlap::{self, Overlap};
use super::powers::{Powers, agree_in_sum};
use super::random_access::Backoffs;
use super::reception::{self, ReceiverState};
use super::rule::rule;
use super::spatial_reuse::SpatialReuse;
use super::timing::Times;
use super::triggered::Timers;
use super::units::Groups;
use crate::notice::StationNote;
use crate::plan::SpacePlan;
use kernel::{Bytes, Duration, Instant};
use wifi::MacConfig;
use wifi::mac::Durations;
use wifi::space::{OngoingFrame, ReceivedFrame, Senses, Space, Users};
use wire::FrameKind;

/// The records of all frames on the air, and of what each node has received.
#[derive(Debug)]
pub(super) struct Watch {
    now: Instant,
    mac: MacConfig,
    times: Times,
    /// Which nodes contend with the parameters of an access point.
    access_points: Vec<bool>,
    nav_reset: bool,
    /// Whether Duration fields are exact.
    exact: bool,
    powers: Powers,
    receivers: Vec<ReceiverState>,
    /// Frames on the air, and those that have ended while one of these was on the air.
    frames: Vec<OngoingFrame>,
    /// The longest time that a frame took to arrive.
    slowest: Duration,
    blocks: Blocks,
    known: Known,
    overlap: Overlap,
    /// The power of bursts that carrier sense of each node hears now, in milliwatts, if there are
    /// interferers.
    bursts: Vec<f64>,
    reuse: Option<SpatialReuse>,
    groups: Groups,
    timers: Timers,
    random: Backoffs,
    bandwidth: Bandwidth,
}

impl Watch {
    pub(super) fn new(
        space: &SpacePlan,
        mac: MacConfig,
        powers: Powers,
        access_points: Vec<bool>,
    ) -> Self {
        let sifs = Times::of(&mac.timing).sifs();
        let follows = mac.bandwidth_operation.is_dynamic();
        let powers = if follows { powers.following() } else { powers };
        let reuse = SpatialReuse::new(&mac, &powers);
        let overlap = Overlap::new(mac.full_duplex, access_points.clone(), sifs);
        Self {
            now: Instant::ZERO,
            blocks: Blocks::new(mac.aggregation, overlap.reordering(), Known::of(&mac)),
            known: Known::of(&mac),
            overlap,
            exact: mac.timing.durations == Durations::Standard,
            times: Times::of(&mac.timing),
            mac,
            nav_reset: space.radio.nav_reset,
            powers,
            receivers: vec![ReceiverState::default(); access_points.len()],
            access_points,
            frames: Vec::new(),
            slowest: Duration::ZERO,
            bursts: Vec::new(),
            reuse,
            groups: Groups::default(),
            timers: Timers::default(),
            random: Backoffs::default(),
            bandwidth: Bandwidth::default(),
        }
    }

    /// A node may have another channel, or another access point.
    pub(super) fn on_roaming(&mut self, now: Instant, note: &StationNote<'_>) {
        match *note {
            StationNote::Tuned { radio, channel } => self.powers.tune(radio.0, now, channel),
            StationNote::Left { station, towards } => {
                self.timers.on_left(station.0);
                self.groups.on_left(station.0, towards.0);
            }
            StationNote::Associated { station, .. } => {
                self.random.on_associated(now, station.0);
            }
            _ => {}
        }
    }

    /// The space has changed.
    pub(super) fn after(&mut self, now: Instant, space: &Space, heard: &[ReceivedFrame]) {
        let new = |air: &OngoingFrame| air.start == now && !self.frames.contains(air);
        let mpdus = |air: &OngoingFrame| match air.kind {
            // The EDCAF is that of the node which has started the exchange.
            FrameKind::Cts | FrameKind::Ack | FrameKind::BlockAck => Vec::new(),
            _ if !(air.users == Users::One || air.users.is_unit()) => Vec::new(),
            FrameKind::BlockAckRequest => {
                vec![(space.starting_sequence(air.from, air.edcaf), Bytes::ZERO)]
            }
            _ => space.mpdus(air.from, air.edcaf).collect(),
        };
        self.groups.follow(space);
        for air in space.on_air().filter(new) {
            if let Some(over) = self.groups.on_begin(&air, space) {
                self.random.on_over(&self.mac, &over);
            }
        }
        let new = |air: &OngoingFrame| air.start == now && !self.frames.contains(air);
        let began = space.on_air().filter(new).map(|air| (air, mpdus(&air))).collect();
        if space.interferers().is_some() {
            let nodes = 0..self.receivers.len() as u32;
            self.bursts = nodes.map(|node| space.sensed_bursts(node)).collect();
        }
        self.settle(now, heard, began, |node| space.senses(node));
    }

    /// Frames have been received, others begin, and nodes have this carrier sense now.
    fn settle(
        &mut self,
        now: Instant,
        heard: &[ReceivedFrame],
        began: Vec<(OngoingFrame, Vec<(u16, Bytes)>)>,
        senses: impl Fn(u32) -> Senses,
    ) {
        self.now = now;
        for heard in heard {
            self.on_heard(heard);
        }
        let frames: Vec<OngoingFrame> = began.iter().map(|(frame, _)| *frame).collect();
        let sent = |node: u32| self.receivers[node as usize].exchanges.sent;
        self.overlap.check_pairs(now, &frames, sent);
        for (frame, mpdus) in began {
            self.on_begin(&frame, mpdus);
        }
        self.frames.extend(frames);
        for node in 0..self.receivers.len() as u32 {
            self.sense(node, senses(node));
        }
        let is_over = |frame: &&OngoingFrame, at: Instant| frame.end + self.slowest <= at;
        let on_air = self.frames.iter().filter(|frame| !is_over(frame, now));
        let oldest = on_air.map(|frame| frame.start).min().unwrap_or(now);
        self.frames.retain(|frame| !is_over(&frame, oldest));
    }

    /// A frame begins.
    fn on_begin(&mut self, frame: &OngoingFrame, mpdus: Vec<(u16, Bytes)>) {
        let now = self.now;
        self.powers.on_begin(frame.from);
        self.slowest = self.slowest.max(self.powers.longest_delay(frame));
        let mut others = self.frames.iter();
        let twice = others.any(|other| other.from == frame.from && other.end > now);
        rule(now, !twice, "one transmission per radio", || format!("{frame:?}"));
        if frame.users == Users::Several && is_answer(frame) {
            self.check_multi_sta(frame);
        } else if is_answer(frame) {
            self.check_answer(frame);
        } else if frame.users != Users::One {
            self.check_in_group(frame);
        } else if !self.follows_cts(frame) && !self.is_secondary(frame, mpdus.len()) {
            rule(now, frame.beside.is_none(), "a CTS announces two frames", || {
                format!("{frame:?}")
            });
            self.check_opening(frame, mpdus.len());
        }
        if let Some(reuse) = &self.reuse {
            reuse.on_begin(frame, is_answer(frame) || frame.users.is_unit());
        }
        let asks = matches!(frame.kind, FrameKind::Rts | FrameKind::BlockAckRequest);
        let is_of_one = frame.users == Users::One || frame.users.is_unit();
        if asks && is_of_one {
            self.blocks.on_numbers(now, frame.from, frame.edcaf, frame.to, &mpdus);
        }
        rule(now, self.powers.spares(frame), "no frame is in a punctured channel", || {
            format!("{frame:?}")
        });
        self.check_bandwidth(frame);
        if frame.kind == FrameKind::Data && is_of_one {
            self.known.check_format(now, frame.from, frame.to, frame.mode.class);
            self.blocks.on_psdu(
                now,
                &DataPsdu {
                    from: frame.from,
                    function: frame.edcaf,
                    to: frame.to,
                    bytes: frame.psdu,
                    lasting: frame.end - frame.start,
                    mpdus,
                },
            );
        }
        self.receivers[frame.from as usize].exchanges.sent = Some(*frame);
    }

    /// CTS, ACK and BlockAck begin a SIFS after a decoded frame that elicits them, and reserve the
    /// medium for as long as that frame does.
    fn check_answer(&self, frame: &OngoingFrame) {
        use FrameKind::{Ack, BlockAck, BlockAckRequest, Cts, Data, Rts, Trigger};
        let mut asked = self.receivers[frame.from as usize].exchanges.asked.iter();
        let asked = asked.find(|asked| {
            let fits = matches!(
                (asked.kind, frame.kind),
                (Rts | Trigger, Cts) | (Data, Ack) | (Data | BlockAckRequest | Trigger, BlockAck)
            );
            let in_time = due(asked, self.times.sifs()) == frame.start;
            fits && in_time && Some(asked.from) == frame.to && asked.edcaf == frame.edcaf
        });
        rule(self.now, asked.is_some(), "a response begins a SIFS after its frame", || {
            format!("{frame:?}")
        });
        let Some(asked) = asked else { return };
        self.check_user(asked, frame);
        self.check_reservation(asked, frame);
        let is_chained = frame.users == Users::Chained;
        let last = frame.kind == Cts || frame.reserves == Duration::ZERO || is_chained;
        rule(
            self.now,
            last || !self.exact,
            "the last frame of an exchange reserves nothing",
            || format!("{frame:?}"),
        );
    }

    /// All frames of an exchange reserve the medium until its end.
    fn check_reservation(&self, before: &OngoingFrame, after: &OngoingFrame) {
        let ends = [before, after].map(|frame| frame.end + frame.reserves);
        let agree = match (after.kind, after.beside) {
            // A CTS may announce a longer frame than its RTS, and two responses a longer one.
            (FrameKind::Cts, Some(_)) => ends[0] <= ends[1],
            (FrameKind::Ack | FrameKind::BlockAck, Some(_)) => ends[0] >= ends[1],
            _ => ends[0] == ends[1],
        };
        rule(self.now, agree || !self.exact, "Duration fields end with the exchange", || {
            format!("{} after {before:?}, {} after {after:?}", ends[0], ends[1])
        });
    }

    /// Whether the frame is a secondary frame, which its transmitter has announced in a CTS.
    fn is_secondary(&self, frame: &OngoingFrame, mpdus: usize) -> bool {
        let sent = self.receivers[frame.from as usize].exchanges.sent;
        let cts = self.overlap.secondary(self.now, frame, sent);
        if let Some(cts) = &cts {
            self.check_reservation(cts, frame);
            let (_, limit) = self.parameters(frame.from, frame.edcaf);
            let lasting = frame.end - frame.start;
            let keeps = mpdus < 2 || limit == Duration::ZERO || lasting <= limit;
            rule(self.now, keeps, "an A-MPDU keeps the TXOP limit of its category", || {
                format!("{limit}: {frame:?}")
            });
        }
        cts.is_some()
    }

    /// Whether a node may receive a frame while it sends this one of its own.
    fn may_overlap(&self, own: &OngoingFrame, received: &OngoingFrame) -> bool {
        self.powers.residual(own.from).is_some() && own.start == received.start
    }

    /// The interframe space of a node's EDCAF, and its TXOP limit.
    fn parameters(&self, node: u32, function: u8) -> (Duration, Duration) {
        let is_access_point = self.access_points[node as usize];
        let (aifsn, limit) = self.mac.edca.as_ref().map_or((2, Duration::ZERO), |edca| {
            let all = if is_access_point { &edca.access_point } else { &edca.stations };
            let own = &all[usize::from(function)];
            (own.aifsn, own.txop_limit)
        });
        let triggered = self.timers.parameters(self.now, node, function);
        (self.times.aifs(triggered.map_or(aifsn, |own| own.aifsn)), limit)
    }

    /// Whether a frame follows the last exchange of its node, in its TXOP or after reports.
    fn goes_on(&self, frame: &OngoingFrame) -> bool {
        let exchanges = &self.receivers[frame.from as usize].exchanges;
        self.txop_of(frame).is_some() || exchanges.has_reports(self.now, self.times.sifs())
    }

    /// The TXOP that goes on with a frame, and when it was won.
    fn txop_of(&self, frame: &OngoingFrame) -> Option<(u8, Instant)> {
        let (_, limit) = self.parameters(frame.from, frame.edcaf);
        let exchanges = &self.receivers[frame.from as usize].exchanges;
        exchanges.won.filter(|&(function, _)| {
            limit > Duration::ZERO
                && function == frame.edcaf
                && exchanges.has_succeeded(self.now, self.times.sifs(), self.slowest)
        })
    }

    /// A node starts an exchange: within a TXOP, or when its carrier sense permits.
    fn check_opening(&mut self, frame: &OngoingFrame, mpdus: usize) {
        let now = self.now;
        let (space, limit) = self.parameters(frame.from, frame.edcaf);
        let receiver = &self.receivers[frame.from as usize];
        if receiver.exchanges.has_reports(now, self.times.sifs()) {
            // A Trigger frame for data follows the reports, and does not need a TXOP with a limit.
            return;
        }
        let free = receiver.free_at().map(|free| free + space);
        let waited = free.is_some_and(|free| free <= now);
        // After a signal that has taken time to arrive, this may be later than an interframe space.
        let won = self.txop_of(frame).filter(|_| !waited);
        // The Duration field covers the exchange.
        let planned = frame.end + frame.reserves;
        let slack = if self.exact { Duration::ZERO } else { Duration::from_micros(1) };
        if let Some((_, since)) = won {
            rule(now, planned <= since + limit + slack, "a TXOP keeps its limit", || {
                format!("won at {since}, {limit} long: {frame:?}")
            });
            return;
        }
        self.timers.on_win(now, frame.from, frame.edcaf);
        let long = limit > Duration::ZERO && mpdus > 1 && planned > now + limit + slack;
        rule(now, !long, "only a single frame may be longer than its TXOP", || {
            format!("{mpdus} frames, {limit}: {frame:?}")
        });
        rule(now, waited, "access waits for an idle medium and an interframe space", || {
            format!("free at {free:?}: {frame:?}")
        });
        self.on_win(frame);
        self.receivers[frame.from as usize].exchanges.won = Some((frame.edcaf, now));
        if let Some(reuse) = &mut self.reuse {
            reuse.on_win(frame.from);
        }
    }

    /// A node has received a frame to its end.
    fn on_heard(&mut self, heard: &ReceivedFrame) {
        let now = self.now;
        let mut known = self.frames.iter();
        let start = |air: &OngoingFrame| self.powers.span(heard.node, air).0;
        let sent = known.find(|air| (air.from, start(air)) == (heard.from, heard.start)).copied();
        let frame = sent.map(|sent| self.powers.arriving(heard.node, &sent));
        rule(now, frame.is_some_and(|frame| frame.end == now), "a received frame was sent", || {
            format!("{heard:?}")
        });
        let (Some(sent), Some(frame)) = (sent, frame) else { return };
        let mut own = self
            .frames
            .iter()
            .filter(|own| own.from == heard.node && own.start < frame.end && own.end > frame.start);
        let is_beside = own.clone().next().is_some();
        let may_overlap = own.all(|own| self.may_overlap(own, &frame));
        rule(now, may_overlap, "a node that sends receives nothing", || format!("{heard:?}"));
        let power = self.power_of(&sent, heard.node);
        let factor = self.groups.concentration(&sent, heard.node);
        reception::check(now, &self.powers, &self.frames, &sent, power, factor, heard);
        let frame = OngoingFrame { to: self.groups.receiver(&sent, heard.node), ..frame };
        let units_until = self.over(&sent, heard.node);
        let receiver = &mut self.receivers[heard.node as usize];
        let is_unit = frame.users.is_unit() && frame.to == Some(heard.node);
        let together = self.powers.joint_within(&frame);
        let is_beside_unit = is_unit && frame.end.since(receiver.heard_until) <= together;
        if is_unit && !is_beside_unit {
            receiver.exchanges.units_until = units_until;
        }
        // Answers may be found with a later one of them.
        let apart = receiver.heard_until <= frame.start + together || is_beside_unit;
        rule(now, apart, "one reception per radio", || format!("{heard:?}"));
        (receiver.heard_until, receiver.after_frame) = (frame.end, true);
        let times = &self.times;
        if !heard.understood && is_beside && frame.kind == FrameKind::Rts {
            // A collision with its own RTS.
            return;
        }
        if !heard.understood && is_unit && now.since(receiver.decoded_unit_at) <= together {
            return;
        }
        if !heard.understood {
            return receiver.on_undecoded(now, heard, &frame, times);
        }
        receiver.extra = Duration::ZERO;
        if is_unit {
            receiver.decoded_unit_at = now;
            let is_alone = self.groups.on_decoded(heard.node, heard.from);
            rule(now, is_alone, "one answer in a resource unit is received", || {
                format!("{heard:?}")
            });
        }
        self.known.check_format(now, heard.node, None, frame.mode.class);
        match frame.to {
            None => {}
            Some(to) if to == heard.node => {
                if let Some((kind, user)) = self.groups.on_told(&frame, heard.node) {
                    self.timers.on_told(&self.mac, now, kind, &user);
                }
                receiver.exchanges.on_understood(frame, |asked| due(asked, times.sifs()));
            }
            Some(_) => {
                let is_rts = frame.kind == FrameKind::Rts || frame.users == Users::Opening;
                let followed_by = (self.nav_reset && is_rts).then(|| now + self.after_rts(&frame));
                let receiver = &mut self.receivers[heard.node as usize];
                receiver.reserve(now + frame.reserves, followed_by);
            }
        }
    }

    /// Compares a node's carrier sense with the frames on the air.
    fn sense(&mut self, node: u32, senses: Senses) {
        let now = self.now;
        let span = |frame: &OngoingFrame| self.powers.span(node, frame);
        let arrives = |(start, end): (Instant, Instant)| start <= now && end > now;
        let flying = || self.frames.iter().filter(|frame| arrives(span(frame)));
        let own = flying().find(|frame| frame.from == node);
        let sends = own.is_some();
        let bursts = self.bursts.get(node as usize).copied().unwrap_or_default();
        let sum = self.powers.sum(node, flying()) + bursts;
        let signals = flying().count() + usize::from(bursts > 0.0);
        let followed = senses.follows.map(|(from, start)| {
            flying().find(|frame| (frame.from, span(frame).0) == (from, start)).copied()
        });
        rule(now, followed != Some(None), "a frame in reception is on the air", || {
            format!("node {node}: {senses:?}")
        });
        let followed = followed.flatten();
        let overlaps = own.zip(followed.as_ref());
        let is_able = overlaps.is_none_or(|(own, followed)| self.may_overlap(own, followed));
        rule(now, is_able, "a node that sends receives nothing", || {
            format!("node {node}: {senses:?}")
        });
        let after_frame = &mut self.receivers[node as usize].after_frame;
        *after_frame &= !sends;
        let least = if *after_frame { self.powers.energy_after_frame } else { self.powers.energy };
        *after_frame &= senses.busy;
        let expected = sends || followed.is_some() || sum >= least;
        let is_close = agree_in_sum(sum, least, signals);
        // What arrives now begins after what ends now.
        let is_late = |frame: &OngoingFrame| frame.start < now && span(frame).0 == now;
        let may_begin = self.frames.iter().any(is_late);
        rule(
            now,
            senses.busy == expected || is_close || may_begin,
            "carrier sense agrees with the frames on the air",
            || format!("node {node} senses {senses:?}: sends {sends}, {sum:e} mW"),
        );
        if let Some(frame) = followed.filter(|frame| span(frame).0 == now) {
            let power = self.power_together(&frame, node);
            reception::check_detection(now, &self.powers, node, &frame, power, sum, signals);
            let usual = self.times.rx_start_delay(&frame.mode);
            let detected = now + self.groups.detected_after(&frame).unwrap_or(usual);
            self.receivers[node as usize].on_detected(detected);
        }
        self.receivers[node as usize].sense(now, senses.busy);
        let received = self.reuse.as_ref().and_then(|reuse| reuse.received_by(node));
        let power = received.map_or(0.0, |frame| self.power_together(&frame, node));
        if let Some(reuse) = &mut self.reuse {
            reuse.sense(now, node, senses, &self.powers, &self.frames, power);
        }
    }
}

/// When the response to a frame begins.
fn due(asked: &OngoingFrame, sifs: Duration) -> Instant {
    asked.end + overlap::delay(asked) + sifs
}

#[cfg(test)]
mod tests;
