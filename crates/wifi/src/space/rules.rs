//! What all nodes of a space share, and what a node knows of another.

use super::radio::Levels;
use crate::mac::{BusySlot, Countdown, Framing, Persistence, Timing, block_ack};
use crate::phy::{Mode, longest_psdu};
use crate::rate::RateControl;
use crate::{CellConfig, Link};
use kernel::Duration;
use wire::TrafficClass;

/// Parameters of medium access, and receivers.
#[derive(Debug)]
pub(super) struct Rules {
    pub(super) config: CellConfig,
    pub(super) framing: Framing,
    /// Functions of a node: one, or one for each access category.
    pub(super) per_node: usize,
    /// Of the functions of an access point, then of those of a station.
    pub(super) persistence: Vec<Persistence>,
    pub(super) levels: Levels,
    pub(super) nav_reset: bool,
    pub(super) broadcast_mode: Mode,
}

impl Rules {
    pub(super) fn new(config: CellConfig, levels: Levels, nav_reset: bool, common: Mode) -> Self {
        let of = |cw_min, cw_max| Persistence {
            short_limit: config.short_retry_limit,
            long_limit: config.long_retry_limit,
            cw_min,
            cw_max,
            draw: config.backoff_draw,
        };
        let persistence = match &config.edca {
            None => vec![of(config.cw_min, config.cw_max); 2],
            Some(edca) => {
                let all = edca.access_point.iter().chain(&edca.stations);
                all.map(|category| of(category.cw_min, category.cw_max)).collect()
            }
        };
        let framing = Framing {
            overhead: config.overhead,
            aggregation: config.aggregation.filter(|_| config.edca.is_some()),
            attempts: config.short_retry_limit,
        };
        let timing = &config.timing;
        let broadcast_mode = timing.standard.broadcast_mode(&common, &timing.basic_rates);
        let per_node = persistence.len() / 2;
        Self { config, framing, per_node, persistence, levels, nav_reset, broadcast_mode }
    }

    pub(super) fn timing(&self) -> &Timing {
        &self.config.timing
    }

    /// Slots of the interframe space after a SIFS, and the TXOP limit.
    pub(super) fn parameters(&self, is_access_point: bool, category: usize) -> (u32, Duration) {
        self.config.edca.as_ref().map_or((2, Duration::ZERO), |edca| {
            let all = if is_access_point { &edca.access_point } else { &edca.stations };
            (all[category].aifsn, all[category].txop_limit)
        })
    }

    pub(super) fn busy_slot(&self) -> BusySlot {
        match (self.config.countdown, &self.config.edca) {
            (Countdown::Bianchi, _) => BusySlot::Step,
            (Countdown::Standard, Some(_)) => BusySlot::Counted,
            (Countdown::Standard, None) | (Countdown::IdleSlots, _) => BusySlot::Uncounted,
        }
    }

    /// MPDUs that a block ack names.
    pub(super) fn window(&self) -> u16 {
        self.framing.aggregation.map_or(64, |limits| limits.window)
    }

    /// Which function of a node sends packets of a class.
    pub(super) fn function_for(&self, class: TrafficClass) -> usize {
        if self.per_node == 1 { 0 } else { class as usize }
    }

    /// The class of a function; functions of a node stand in the order of their priority.
    pub(super) fn class_of(&self, function: usize) -> TrafficClass {
        use TrafficClass::{Background, BestEffort, Video, Voice};
        if self.per_node == 1 {
            return BestEffort;
        }
        [Background, BestEffort, Video, Voice][function]
    }

    /// What an exchange of aggregates in this mode takes beside their PPDU.
    pub(super) fn around(&self, mode: &Mode) -> Duration {
        let timing = self.timing();
        let answer = timing.airtime(&timing.response_mode(mode), block_ack(self.window())).total();
        // Frames long enough to matter for the limit are longer than any threshold that is set.
        let opening = if self.config.rts_threshold < longest_psdu(mode.class) {
            timing.opening(mode)
        } else {
            Duration::ZERO
        };
        opening + timing.sifs() + answer
    }
}

/// A node with which another exchanges frames.
#[derive(Debug)]
pub(super) struct Peer {
    pub(super) node: u32,
    pub(super) link: Link,
    /// In which frames go to it.
    pub(super) mode: Mode,
    /// None: the mode is fixed.
    pub(super) control: Option<Box<dyn RateControl>>,
    /// What it gets of the node's power on average, in milliwatts.
    pub(super) power: f64,
}
