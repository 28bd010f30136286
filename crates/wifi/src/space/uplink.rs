//! Uplink OFDMA among radios: access points ask for the medium to trigger stations, and stations
//! answer.

use super::Space;
use super::frame::{OnAir, Users};
use super::mute;
use super::node::NodeTriggers;
use crate::mac::mu::{TriggeredExchange, TriggeredUser};
use crate::{Command, MsduSource};
use kernel::{Instant, Seed};
use wire::FrameKind;

impl Space {
    /// Access points send to those with whom they have links, several at once, if the rules say so,
    /// and trigger those whose links are open. Called anew when links have been added.
    pub fn form_groups(&mut self, seed: &Seed) {
        let Self { nodes, signals, rules, .. } = self;
        let is_access_point = |node: u32| signals.sites[node as usize].is_access_point;
        for node in &mut *nodes {
            let mut open = node.peers.iter().filter(|peer| !peer.is_closed).map(|peer| peer.node);
            let own = open.find(|&peer| is_access_point(peer));
            node.form_groups(rules, is_access_point(node.id), own, seed);
        }
        self.follows_others |= nodes.iter().any(|node| node.triggered_by().is_some());
        let triggering = nodes.iter().filter(|node| node.triggers()).map(|node| node.id);
        self.triggering = triggering.collect();
        self.mute = mute::timers(&self.triggering, &self.nodes, &self.rules.mac);
    }

    /// Whether access points trigger stations.
    pub fn triggers(&self) -> bool {
        !self.triggering.is_empty()
    }

    /// The exchange that a Trigger frame of an access point has begun, while it is on the air.
    pub fn triggered_by(&self, access_point: u32) -> Option<&TriggeredExchange> {
        self.nodes[access_point as usize].triggered().map(|(triggered, _)| triggered)
    }

    /// A packet goes into service at a node, for another.
    #[cold]
    #[inline(never)]
    pub(super) fn hear_of_packet(
        &mut self,
        now: Instant,
        node: u32,
        to: Option<u32>,
        out: &mut Vec<Command>,
    ) {
        for own in std::iter::once(node).chain(to) {
            self.nodes[own as usize].hear_of_packet(now, out);
        }
    }

    /// Which stations are awake may have changed: access points ask for the medium to trigger them,
    /// or no longer do.
    pub fn revise_asking(&mut self, now: Instant, source: &dyn MsduSource, out: &mut Vec<Command>) {
        self.ask(now, true, source, out);
        self.schedule(out);
    }

    /// Access points ask for the medium, or withdraw what they have asked for, if they may. It may
    /// be time, or frames have ended.
    #[cold]
    #[inline(never)]
    pub(super) fn ask(
        &mut self,
        now: Instant,
        may_withdraw: bool,
        source: &dyn MsduSource,
        out: &mut Vec<Command>,
    ) {
        for place in 0..self.triggering.len() {
            let node = self.triggering[place];
            if self.nodes[node as usize].revise_asking(now, may_withdraw, &self.rules, source, out)
            {
                self.note_contending(node);
                self.set_timer(node);
            }
        }
    }

    /// An access point may trigger stations next: it knows the modes in which they send.
    #[cold]
    #[inline(never)]
    pub(super) fn tell_modes(&mut self, access_point: u32) {
        let node = &mut self.nodes[access_point as usize];
        if node.answers_others() {
            return;
        }
        let Some(triggers) = node.triggers_mut() else { return };
        let mut stations = std::mem::take(&mut triggers.stations);
        let peers = &self.nodes[access_point as usize].peers;
        for (station, peer) in stations.iter_mut().zip(peers) {
            if let Some(own) = self.nodes[peer.node as usize].peer(access_point) {
                station.mode = own.rate.mode;
            }
        }
        if let Some(triggers) = self.nodes[access_point as usize].triggers_mut() {
            triggers.stations = stations;
        }
    }

    /// Frames end: of Trigger frames, it is known which stations are awake to answer.
    #[cold]
    #[inline(never)]
    pub(super) fn note_awake(&mut self, source: &dyn MsduSource) {
        let Self { signals, nodes, scratch, .. } = self;
        for &id in scratch.ending() {
            let frame = &signals.transmission(id).frame;
            if frame.kind == FrameKind::Trigger && frame.users == Users::Several {
                nodes[frame.from as usize].note_awake(source);
            }
        }
    }

    /// A station is to answer an MU-RTS: it sends no CTS while the medium is busy (clauses 26.2.6.3
    /// and 26.5.2.5).
    #[cold]
    #[inline(never)]
    pub(super) fn answer_mu_rts(&self, now: Instant, frame: OnAir) -> Option<OnAir> {
        Some(frame).filter(|frame| !self.has_energy_beside(now, frame))
    }

    /// Whether a node that begins to answer senses energy, apart from others that answer the same
    /// frame.
    fn has_energy_beside(&self, now: Instant, answer: &OnAir) -> bool {
        let (from, levels) = (answer.from as usize, &self.rules.levels);
        self.receivers[from].has_energy_beside(now, answer.to, answer.joint_within(), levels)
    }

    /// A station begins to answer a Trigger frame: decides what is in its PPDU. `None` if it sends
    /// none, because the medium is busy (clause 26.5.2.5) or nothing fits.
    #[cold]
    #[inline(never)]
    pub(super) fn answer_trigger(
        &mut self,
        now: Instant,
        frame: OnAir,
        source: &mut dyn MsduSource,
    ) -> Option<OnAir> {
        let (from, to) = (frame.from as usize, frame.to? as usize);
        let is_busy = self.has_energy_beside(now, &frame);
        let pair = [from, to];
        let [station, access_point] =
            self.nodes.get_disjoint_mut(pair).expect("a station is no access point");
        let NodeTriggers { triggering, current, .. } = access_point.triggers_mut()?;
        let triggered = current.as_mut()?;
        let (kind, announced) = (triggered.kind, triggered.announced);
        let mut users = triggered.users.iter_mut();
        let place = |user: &TriggeredUser| (Users::Unit(user.unit as u8), user.station);
        let user = users.find(|user| place(user) == (frame.users, frame.from))?;
        if is_busy {
            if user.is_random {
                triggering.put_off(frame.from);
            }
            return None;
        }
        let sent = station.answer_trigger(now, kind, user, &self.rules, source)?;
        let taken = self.rules.timing().sifs() + announced;
        let reserves = frame.reserves.saturating_sub(taken);
        let answer = OnAir { kind: sent, edcaf: user.category, psdu: user.on_air, ..frame };
        if user.is_random {
            triggered.note_collisions();
        }
        Some(OnAir { reserves, ..answer })
    }
}
