//! The medium of a run: a cell in which every node hears every other, or a space.

use crate::topology::RadioId;
use kernel::{Dbm, Instant};
use std::borrow::Cow;
use wifi::interferer::Interferers;
use wifi::mac::{DuplexCounters, MuCounters, SecondaryRate, TriggerCounters, UserCounters};
use wifi::phy::Mode;
use wifi::space::{Airtimes, ReuseCounters, Space};
use wifi::station::Surroundings;
use wifi::watch::WatchRecord;
use wifi::{Cell, Command, Counters, FrameCounters, MacConfig, MsduSource};
use wire::{Packet, TrafficClass};

/// The medium through which frames travel.
#[derive(Debug)]
pub(crate) enum Medium {
    /// Every node hears every other.
    Cell(Box<Cell>),
    /// A node hears what arrives at it.
    Space(Box<Space>),
}

/// Calls the same function of either variant.
macro_rules! either {
    ($medium:expr, $inner:ident => $call:expr) => {
        match $medium {
            Medium::Cell($inner) => $call,
            Medium::Space($inner) => $call,
        }
    };
}

impl Medium {
    pub(crate) fn is_free(&self, node: u32) -> bool {
        either!(self, medium => medium.is_free(node))
    }

    pub(crate) fn is_free_for(&self, node: u32, class: TrafficClass) -> bool {
        either!(self, medium => medium.is_free_for(node, class))
    }

    pub(crate) fn has_categories(&self) -> bool {
        either!(self, medium => medium.has_categories())
    }

    pub(crate) fn packets_per_access(&self) -> u32 {
        either!(self, medium => medium.packets_per_access())
    }

    pub(crate) fn counters(&self, node: u32) -> &Counters {
        either!(self, medium => medium.counters(node))
    }

    pub(crate) fn frame_counters(&self, node: u32) -> &FrameCounters {
        either!(self, medium => medium.frame_counters(node))
    }

    pub(crate) fn window(&self, node: u32) -> u32 {
        either!(self, medium => medium.window(node))
    }

    pub(crate) fn contending_stations(&self) -> u32 {
        either!(self, medium => medium.contending_stations())
    }

    pub(crate) fn is_contended(&self) -> bool {
        either!(self, medium => medium.is_contended())
    }

    /// From now on, the contention windows and the RTS threshold are those of this configuration.
    pub(crate) fn adopt(&mut self, config: &MacConfig) {
        either!(self, medium => medium.adopt(config));
    }

    /// Whether access points trigger stations.
    pub(crate) fn triggers(&self) -> bool {
        match self {
            Self::Cell(cell) => cell.triggers(),
            Self::Space(space) => space.triggers(),
        }
    }

    /// Which stations are awake may have changed.
    pub(crate) fn revise_asking(
        &mut self,
        now: Instant,
        source: &dyn MsduSource,
        out: &mut Vec<Command>,
    ) {
        either!(self, medium => medium.revise_asking(now, source, out));
    }

    /// Sets the mode in which a node sends to another.
    pub(crate) fn set_mode(&mut self, from: u32, to: u32, mode: Mode) {
        either!(self, medium => medium.set_mode(from, to, mode));
    }

    /// The mode in which a node sends to another, if there is a link.
    pub(crate) fn mode(&self, from: u32, to: u32) -> Option<&Mode> {
        match self {
            Self::Cell(cell) => Some(cell.mode(from, to)),
            Self::Space(space) => space.mode(from, to),
        }
    }

    /// For how long a node has sent each kind of frame up to now, if the medium records it per
    /// node.
    pub(crate) fn airtimes(&self, node: u32, now: Instant) -> Option<Airtimes> {
        match self {
            Self::Cell(_) => None,
            Self::Space(space) => Some(space.airtimes(node, now)),
        }
    }

    /// Starts to record frames and waits.
    pub(crate) fn watch(&mut self) {
        either!(self, medium => medium.watch());
    }

    /// The records since they were last taken, if the medium is watched, and an instant before
    /// which nothing begins that is still to be recorded.
    pub(crate) fn watched(&mut self, now: Instant) -> Option<(&mut Vec<WatchRecord>, Instant)> {
        either!(self, medium => medium.watched(now))
    }

    /// Records the waits up to now, although they go on.
    pub(crate) fn cut_waits(&mut self, now: Instant) {
        either!(self, medium => medium.cut_waits(now));
    }

    /// The run ends: records what is on the air.
    pub(crate) fn close_watch(&mut self, now: Instant) {
        either!(self, medium => medium.close_watch(now));
    }

    /// Counters of the full-duplex access points, if there are any.
    pub(crate) fn duplex_counters(&self) -> Option<DuplexCounters> {
        match self {
            Self::Cell(cell) => cell.duplex_counters().copied(),
            Self::Space(space) => space.duplex_counters(),
        }
    }

    /// What a node did by spatial reuse; `None` without it.
    pub(crate) fn reuse_counters(&self, node: u32) -> Option<ReuseCounters> {
        match self {
            Self::Cell(_) => None,
            Self::Space(space) => space.reuse_counters(node),
        }
    }

    /// Counters of the PPDUs of an access point to several users; `None` of others, and without
    /// OFDMA.
    pub(crate) fn mu_counters(&self, node: u32) -> Option<&MuCounters> {
        match self {
            Self::Cell(cell) => cell.mu_counters().filter(|_| node == wifi::ACCESS_POINT),
            Self::Space(space) => space.mu_counters(node),
        }
    }

    /// What a station has had of PPDUs to several users.
    pub(crate) fn user_counters(&self, station: u32) -> UserCounters {
        match self {
            Self::Cell(cell) => {
                cell.mu_counters().map(|all| all.users[station as usize]).unwrap_or_default()
            }
            Self::Space(space) => space.user_counters(station),
        }
    }

    /// What Trigger frames and MU EDCA have done to a station up to now.
    pub(crate) fn trigger_counters(&self, now: Instant, station: u32) -> TriggerCounters {
        match self {
            Self::Cell(cell) => cell.trigger_counters(now, station),
            Self::Space(space) => space.trigger_counters(now, station),
        }
    }

    /// The secondary frames of full-duplex access points, by rate.
    pub(crate) fn secondary_rates(&self) -> Cow<'_, [SecondaryRate]> {
        match self {
            Self::Cell(cell) => cell.secondary_rates().into(),
            Self::Space(space) => space.secondary_rates().into(),
        }
    }

    /// The interferers, if there are any.
    pub(crate) fn interferers(&self) -> Option<&Interferers> {
        match self {
            Self::Cell(_) => None,
            Self::Space(space) => space.interferers(),
        }
    }

    /// The received power of a node's frames at another; `None` if they are not detected there.
    pub(crate) fn signal(&self, from: u32, to: u32, now: Instant) -> Option<Dbm> {
        match self {
            Self::Cell(_) => None,
            Self::Space(space) => space.signal(from, to, now),
        }
    }

    /// What a radio finds around itself: whether it is at rest, and the signals of those access
    /// points that it detects in its channel.
    pub(crate) fn surroundings(
        &self,
        radio: u32,
        access_points: &[RadioId],
        now: Instant,
    ) -> Surroundings {
        let Self::Space(space) = self else { return Surroundings::default() };
        let signal = |&RadioId(from): &RadioId| Some((from, space.signal(from, radio, now)?));
        Surroundings {
            is_at_rest: space.is_at_rest(radio, now),
            heard: access_points.iter().filter_map(signal).collect(),
        }
    }

    /// From now on a radio sends and receives in this channel.
    pub(crate) fn tune(&mut self, radio: u32, channel: u16) {
        if let Self::Space(space) = self {
            space.tune(radio, channel);
        }
    }

    /// A station accepts frames from another access point than before. Returns what waits for
    /// earlier frames in the reorder buffers of both, and is lost.
    pub(crate) fn turn(&mut self, now: Instant, station: u32, from: u32, to: u32) -> Vec<Packet> {
        let Self::Space(space) = self else { return Vec::new() };
        space.turn(now, station, from, to)
    }

    /// A station is associated with an access point, after another one or the same.
    pub(crate) fn associate(&mut self, station: u32, from: u32, to: u32) {
        if let Self::Space(space) = self {
            space.associate(station, from, to);
        }
    }

    /// Packets of a node for another that has left are no longer served.
    pub(crate) fn flush(&mut self, from: u32, to: u32, out: &mut Vec<Command>) {
        if let Self::Space(space) = self {
            space.flush(from, to, out);
        }
    }

    /// Calls `visit` for each packet whose service has not ended, with its node.
    pub(crate) fn each_serving(&self, visit: &mut dyn FnMut(u32, &Packet)) {
        let visit = |(node, packet): (u32, &Packet)| visit(node, packet);
        match self {
            Self::Cell(cell) => cell.serving().for_each(visit),
            Self::Space(space) => space.serving().for_each(visit),
        }
    }

    pub(crate) fn each_in_service(&self, visit: &mut dyn FnMut(&Packet)) {
        match self {
            Self::Cell(cell) => cell.packets_in_service().for_each(visit),
            Self::Space(space) => space.packets_in_service().for_each(visit),
        }
    }

    pub(crate) fn on_packet(
        &mut self,
        now: Instant,
        node: u32,
        packet: &Packet,
        to: Option<u32>,
        out: &mut Vec<Command>,
    ) {
        either!(self, medium => medium.on_packet(now, node, packet, to, out));
    }

    pub(crate) fn on_access(
        &mut self,
        now: Instant,
        generation: u32,
        source: &mut dyn MsduSource,
        out: &mut Vec<Command>,
    ) {
        either!(self, medium => medium.on_access(now, generation, source, out));
    }

    pub(crate) fn on_step(
        &mut self,
        now: Instant,
        source: &mut dyn MsduSource,
        out: &mut Vec<Command>,
    ) {
        match self {
            Self::Cell(cell) => cell.on_step(now, source, out),
            Self::Space(space) => space.on_step(now, source, out),
        }
    }
}
