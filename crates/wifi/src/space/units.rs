//! PPDUs whose data is in resource units: HE MU PPDUs of access points, and the HE TB PPDUs that
//! answer them.
//!
//! A user decodes what is in its resource unit. The access point has the same power in each tone,
//! and a station all of its power in its own; noise and interference in a resource unit are in
//! proportion to its tones. Others decode HE-SIG-A, and its TXOP field sets their NAV.
//!
//! HE TB PPDUs that answer one frame begin together with the same preamble, which receivers find
//! as one signal. They interfere with each other only in one resource unit, in which stations have
//! answered by chance.

use super::Space;
use super::frame::{OnAir, Reach, Transmission, Users};
use super::per::PpduParts;
use super::reception::{End, JointSignal, Received, ReceivedSignal};
use crate::Command;
use crate::mac::mu::{MuCounters, UserCounters, mu_bar_in};
use crate::phy::Airtime;
use crate::phy::he::RuSize;
use kernel::{Bytes, Duration, Instant};
use wire::FrameKind;

impl Space {
    /// How long a PPDU lasts whose data is in resource units.
    #[cold]
    #[inline(never)]
    pub(super) fn airtime_in_units(&self, frame: &OnAir) -> Airtime {
        let sender = match frame.users {
            Users::Unit(_) => frame.to.unwrap_or(frame.from),
            _ => frame.from,
        };
        let airtime = self.nodes[sender as usize].airtime_in_units(frame.users);
        airtime.expect("a node sends in units in an exchange with several users")
    }

    /// Whether the access point that a station answers in a resource unit still has its exchange.
    /// Where signals take so long that it has given up, the station is taken to send nothing.
    #[cold]
    #[inline(never)]
    pub(super) fn is_still_asked(&self, frame: &OnAir) -> bool {
        frame.to.is_some_and(|to| self.nodes[to as usize].answers().is_some())
    }

    /// How long a frame lasts that announces this time: an HE TB PPDU may be shorter.
    #[allow(clippy::inline_always, reason = "it runs for each frame")]
    #[inline(always)]
    pub(super) fn lasting(&self, frame: &OnAir, announced: Duration) -> Duration {
        let (Users::Unit(_), Some(to)) = (frame.users, frame.to) else { return announced };
        let answers = self.nodes[to as usize].answers();
        answers.map_or(announced, |(airtime, _)| airtime.total())
    }

    /// Whether HE TB PPDUs begin, or CTSs that answer an MU-RTS.
    pub(super) fn are_joint(&self, beginning: &[u32]) -> bool {
        beginning.iter().any(|&id| self.signals.transmission(id).frame.is_joint())
    }

    /// One of several HE TB PPDUs or CTSs begins at the nodes in range.
    #[cold]
    #[inline(never)]
    pub(super) fn arrive_jointly(&mut self, now: Instant, id: u32) {
        let Self { signals, receivers, rules, scratch, .. } = self;
        let frame = signals.transmission(id).frame;
        let (OnAir { to, mode, .. }, within) = (frame, frame.joint_within());
        let Some(answered) = to else { return };
        signals.each(id, |node, power| {
            let knows = rules.mac.knows_ofdm(node) && rules.mac.knows(node, mode.class);
            let is_decodable = knows && signals.is_in_channel(id, node);
            let one = JointSignal { signal: ReceivedSignal { id, power }, answered, within };
            let receiver = &mut receivers[node as usize];
            if receiver.arrive_jointly(now, one, is_decodable, &rules.levels) {
                scratch.touch(node);
            }
        });
    }

    /// An HE TB PPDU ends at the nodes in range, or a CTS that answers an MU-RTS.
    #[cold]
    #[inline(never)]
    pub(super) fn end_in_units(&mut self, id: u32) {
        let Self { signals, receivers, rules, scratch, .. } = self;
        let &Transmission { frame, deferral, start, .. } = signals.transmission(id);
        let within = frame.joint_within();
        let Some(answered) = frame.to else { return };
        let has_unit = |node: u32| node == answered && frame.users.is_unit();
        signals.each(id, |node, power| {
            let one = JointSignal { signal: ReceivedSignal { id, power }, answered, within };
            let receiver = &mut receivers[node as usize];
            let how = match receiver.depart_jointly(start, one, &rules.levels) {
                End::Unnoticed => return,
                End::Received(how) => Some(how),
                End::Beside(how) => Some(how).filter(|_| has_unit(node)),
                End::Energy => None,
            };
            scratch.touch(node);
            let Some(how) = how else { return };
            let mut own = how;
            if has_unit(node) {
                own.power = power.milliwatts;
                if !receiver.has_joint(start, &one) {
                    scratch.in_units.push((node, deferral));
                }
            }
            scratch.received.push((node, id, own));
        });
    }

    /// The CTSs that answer the same MU-RTS as this one, by the numbers of their transmissions.
    fn ctss(&self, id: u32) -> impl Iterator<Item = u32> {
        let others = self.signals.others(id);
        let others = others.filter(move |other| self.signals.is_in_unit(id, other).is_some());
        others.map(|other| self.signals.source(other.id)).chain(std::iter::once(id))
    }

    /// Who has decoded a CTS that answers an MU-RTS: all are received as one.
    #[cold]
    #[inline(never)]
    pub(super) fn reach_together(&self, id: u32) -> Reach {
        let mut all = self.ctss(id).map(|id| self.signals.transmission(id).reach);
        all.find(|reach| !reach.is_none()).unwrap_or_default()
    }

    /// Whether it counts for all of them.
    #[cold]
    #[inline(never)]
    pub(super) fn is_first_cts(&self, id: u32) -> bool {
        let from = |id: u32| self.signals.transmission(id).frame.from;
        self.ctss(id).all(|other| from(id) <= from(other))
    }

    /// Answers to a Trigger frame, which end together, are looked at in the order of their resource
    /// units.
    #[cold]
    #[inline(never)]
    pub(super) fn sort_units(&self, received: &mut [(u32, u32, Received)]) {
        received.sort_by_key(|&(_, id, _)| {
            let frame = &self.signals.transmission(id).frame;
            match frame.users {
                Users::Unit(unit) if frame.answers_trigger() => u32::from(unit) + 1,
                _ => 0,
            }
        });
    }

    /// Access points know what of the HE TB PPDUs that have ended they have decoded.
    #[cold]
    #[inline(never)]
    pub(super) fn end_units(&mut self, now: Instant, out: &mut Vec<Command>) {
        for (node, deferral) in std::mem::take(&mut self.scratch.in_units) {
            self.nodes[node as usize].end_units(now, deferral, &self.rules, out);
            self.note_contending(node);
            self.scratch.touch(node);
        }
    }

    /// Nodes have received a frame to several users to its end, or an HE TB PPDU: each decodes what
    /// is for it, or overhears the rest.
    #[cold]
    #[inline(never)]
    pub(super) fn receive_by_user(
        &mut self,
        now: Instant,
        received: &[(u32, u32, Received)],
        out: &mut Vec<Command>,
    ) {
        for &(node, id, how) in received {
            let frame = self.signals.transmission(id).frame;
            let own = match frame.users {
                Users::Unit(_) => frame.to.filter(|&to| to == node),
                _ => self.nodes[frame.from as usize].users(frame.kind).find(|&user| user == node),
            };
            let own = own.filter(|_| self.nodes[node as usize].accepts_from(frame.from));
            if own.is_some() && frame.users.is_unit() && !self.is_still_asked(&frame) {
                // It has given up the exchange, and knows of no resource units any more.
                continue;
            }
            if own.is_some() && self.is_overpowered(id, node) {
                self.lose_in_unit(id, node);
                continue;
            }
            // To those who are no users, it is for others.
            let to = own.or(frame.to).unwrap_or(frame.from);
            let mut ppdu = own.and_then(|_| self.unit_of(node, id));
            let concentration = own.map_or(1.0, |_| self.concentration(&frame));
            self.scratch.interference.concentration = concentration;
            let power = how.power * concentration;
            let source = self.signals.source(id);
            let before = self.signals.transmission(source).reach;
            let how = Received { power, ..how };
            self.receive_frame(now, &[(node, id, how)], &mut ppdu, Some(to), out);
            let reach = self.signals.transmission(source).reach.since(&before);
            let is_lost = own.is_some() && reach.decoded == 0 && !reach.is_none();
            if is_lost && frame.sets_nav_by_signal() {
                self.hear_signal(now, node, id, power, out);
            }
            if let Some(watch) = self.watch.as_mut().filter(|_| own.is_some()) {
                watch.note_reach(source, node, &reach);
            }
        }
    }

    /// Whether a node receives another HE TB PPDU in the same resource unit with more power: of
    /// several, it can follow the strongest only.
    fn is_overpowered(&self, id: u32, node: u32) -> bool {
        let rank = |id: u32| {
            let power = self.signals.power_of(id, node).map_or(0.0, |power| power.milliwatts);
            (power, std::cmp::Reverse(self.signals.transmission(id).frame.from))
        };
        let mut others = self.signals.others(id);
        others.any(|other| {
            self.signals.is_in_unit(id, &other) == Some(true) && rank(other.id) > rank(id)
        })
    }

    /// A node does not receive an HE TB PPDU, because of another one in its resource unit.
    fn lose_in_unit(&mut self, id: u32, node: u32) {
        let source = self.signals.source(id);
        self.signals.transmission_mut(source).reach.note_loss(false, true);
        if let Some(watch) = &mut self.watch {
            watch.note_reach(source, node, &Reach { interfered: 1, ..Reach::default() });
        }
    }

    /// What is in the resource unit of a node, or in that of the station that answers it.
    fn unit_of(&mut self, node: u32, id: u32) -> Option<PpduParts> {
        let transmission = self.signals.transmission(id);
        let frame = &transmission.frame;
        let (timing, error) = (self.rules.timing(), &*self.signals.radio.error);
        let per_cache = &mut self.per_cache;
        if frame.users.is_unit() {
            let (mode, psdu) = (&frame.mode, frame.psdu);
            let user = self.nodes[frame.to? as usize].triggered_user(frame);
            let room = user.map_or(psdu, |user| user.room);
            let own = &self.nodes[frame.from as usize];
            let mpdus = user.filter(|user| user.mpdus() > 0).map(|user| {
                let edcaf = own.edcaf(usize::from(user.category));
                edcaf.originator.spans(&user.psdu)
            });
            let whole = mpdus.is_none().then_some((Bytes::ZERO, psdu));
            let spans = mpdus.into_iter().flatten().chain(whole);
            let ppdu =
                PpduParts::of_user(transmission, mode, room, spans, timing, error, per_cache);
            return Some(ppdu);
        }
        if frame.kind != FrameKind::Data {
            return None;
        }
        let sender = &self.nodes[frame.from as usize];
        let (group, _) = sender.group()?;
        let user = group.users.iter().find(|user| user.station == node)?;
        let mode = user.mode.with_mcs(user.mcs);
        let asked = mu_bar_in(group.acknowledgement, user.on_air);
        let spans = sender.originator_to(frame.edcaf, node).spans(&user.psdu).chain(asked);
        let room = user.room;
        Some(PpduParts::of_user(transmission, &mode, room, spans, timing, error, per_cache))
    }

    /// How much more power a station has in a resource unit than it would have on the whole
    /// channel.
    fn concentration(&self, frame: &OnAir) -> f64 {
        let (Users::Unit(_), Some(to)) = (frame.users, frame.to) else { return 1.0 };
        let own = self.nodes[to as usize].unit_size(frame);
        let all = RuSize::tones_in(frame.mode.channel());
        own.map_or(1.0, |own| f64::from(all) / f64::from(own.tones()))
    }

    /// Counters of the PPDUs of an access point to several users; `None` of others, and without
    /// OFDMA.
    pub fn mu_counters(&self, node: u32) -> Option<&MuCounters> {
        self.nodes[node as usize].mu_counters()
    }

    /// What a station has had of the PPDUs to several users of all access points.
    pub fn user_counters(&self, station: u32) -> UserCounters {
        let own = self.nodes.iter().filter_map(|node| node.user_counters(station));
        own.fold(UserCounters::default(), UserCounters::plus)
    }
}
