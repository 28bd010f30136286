//! The medium of a run: a cell in which all hear all, or a space; and which node belongs to which
//! access point.

use crate::plan::Plan;
use kernel::Instant;
use wifi::mac::Exchange;
use wifi::phy::Mode;
use wifi::space::{Airtimes, Space};
use wifi::{Cell, Command, Counters, FrameCounters, FrameOnAir, Supply};
use wire::{NodeId, Packet, TrafficClass};

/// What frames travel through.
#[derive(Debug)]
pub(crate) enum Medium {
    /// All hear all.
    Cell(Box<Cell>),
    /// Nodes hear what arrives at them.
    Space(Box<Space>),
}

/// Calls the same function of either.
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

    /// The mode in which a node sends to another, if there is a link.
    pub(crate) fn mode(&self, from: u32, to: u32) -> Option<&Mode> {
        match self {
            Self::Cell(cell) => Some(cell.mode(from, to)),
            Self::Space(space) => space.mode(from, to),
        }
    }

    /// How long a node has sent what, where that is known of each.
    pub(crate) fn airtimes(&self, node: u32) -> Option<&Airtimes> {
        match self {
            Self::Cell(_) => None,
            Self::Space(space) => Some(space.airtimes(node)),
        }
    }

    fn cell(&self) -> Option<&Cell> {
        match self {
            Self::Cell(cell) => Some(cell),
            Self::Space(_) => None,
        }
    }

    /// The exchange that is the only one on the air; none in space.
    pub(crate) fn exchange(&self) -> Option<&Exchange> {
        self.cell()?.exchange()
    }

    pub(crate) fn frames_on_air(&self) -> impl Iterator<Item = FrameOnAir<'_>> {
        self.cell().into_iter().flat_map(Cell::frames_on_air)
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
        packet: Packet,
        to: Option<u32>,
        out: &mut Vec<Command>,
    ) {
        either!(self, medium => medium.on_packet(now, node, packet, to, out));
    }

    pub(crate) fn on_access(
        &mut self,
        now: Instant,
        generation: u32,
        supply: &mut dyn Supply,
        out: &mut Vec<Command>,
    ) {
        either!(self, medium => medium.on_access(now, generation, supply, out));
    }

    pub(crate) fn on_step(
        &mut self,
        now: Instant,
        supply: &mut dyn Supply,
        out: &mut Vec<Command>,
    ) {
        match self {
            Self::Cell(cell) => cell.on_step(now, supply, out),
            Self::Space(space) => space.on_step(now, out),
        }
    }
}

/// Who belongs to whom. The first access point is node 0, station *i* is node *i* + 1, and further
/// access points stand behind the stations. To the network all access points are one.
#[derive(Clone, Debug)]
pub(crate) struct Bss {
    /// Cell of each station; empty where there is one only.
    cells: Vec<u32>,
    stations: u32,
    /// Access points but the first.
    further: u32,
    ad_hoc: bool,
}

impl Bss {
    pub(crate) fn new(plan: &Plan) -> Self {
        let stations = plan.stations.len() as u32;
        let Some(space) = &plan.space else {
            return Self { cells: Vec::new(), stations, further: 0, ad_hoc: false };
        };
        let cells = space.stations.iter().map(|place| place.cell).collect();
        let further = space.cells.len() as u32 - 1;
        Self { cells, stations, further, ad_hoc: space.ad_hoc }
    }

    /// Nodes of all cells but the first access point.
    pub(crate) fn members(&self) -> usize {
        (self.stations + self.further) as usize
    }

    /// The access point to which a station belongs.
    pub(crate) fn access_point_of(&self, station: u32) -> u32 {
        let cell = station.checked_sub(1).and_then(|i| self.cells.get(i as usize));
        cell.filter(|&&cell| cell > 0).map_or(wifi::ACCESS_POINT, |cell| self.stations + cell)
    }

    pub(crate) fn is_access_point(&self, node: u32) -> bool {
        let further = self.stations + 1..=self.stations + self.further;
        node == wifi::ACCESS_POINT || further.contains(&node)
    }

    /// The node as the network sees it.
    pub(crate) fn joined(&self, node: NodeId) -> NodeId {
        if self.is_access_point(node.0) { NodeId(wifi::ACCESS_POINT) } else { node }
    }

    /// The node from which a packet at `node` goes on the air.
    pub(crate) fn gate(&self, node: NodeId, to: Option<NodeId>) -> NodeId {
        match to {
            Some(to) if node.0 == wifi::ACCESS_POINT => NodeId(self.access_point_of(to.0)),
            _ => node,
        }
    }

    /// The node that shall receive it over the air; `None` for all.
    pub(crate) fn hop(&self, node: u32, to: Option<NodeId>) -> Option<u32> {
        if self.ad_hoc || self.is_access_point(node) {
            return to.map(|to| to.0);
        }
        Some(self.access_point_of(node))
    }

    /// The station for which a node's next packets shall be, if they go to `to`; `None` if they all
    /// go there.
    pub(crate) fn wanted(&self, node: u32, to: u32) -> Option<NodeId> {
        (self.ad_hoc || self.is_access_point(node)).then_some(NodeId(to))
    }
}
