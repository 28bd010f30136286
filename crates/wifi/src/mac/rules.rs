//! The contention and framing rules that follow from a network's configuration.

use super::{
    Access, Backoff, BusySlot, ContentionParameters, Countdown, Earlier, Framing, MacConfig,
    Timing, block_ack,
};
use crate::phy::{AccessCategory, Mode, ModeClass, longest_psdu};
use kernel::Duration;
use wire::TrafficClass;

/// The rules by which all nodes of a medium contend and assemble PSDUs. Under DCF a node has one
/// EDCAF, under EDCA one for each access category, lowest priority first.
#[derive(Debug)]
pub(crate) struct Rules {
    pub(crate) config: MacConfig,
    pub(crate) framing: Framing,
    /// EDCAFs of a node: one, or one for each access category.
    pub(crate) per_node: u32,
    /// The contention parameters of the EDCAFs of an access point, then of a station, then of an
    /// 802.11b node.
    contention_parameters: Vec<ContentionParameters>,
    /// Mode of broadcasts, in the modulation class that all links have in common.
    pub(crate) broadcast_mode: Mode,
    /// Mode of beacons.
    pub(crate) beacon_mode: Mode,
}

impl Rules {
    /// The rules of nodes whose links use these modes.
    pub(crate) fn new(config: MacConfig, mut modes: impl Iterator<Item = Mode> + Clone) -> Self {
        let contention_parameters = contention_parameters(&config);
        let per_node = if config.edca.is_some() { 4 } else { 1 };
        let framing = Framing {
            overhead: config.overhead(),
            llc: config.llc,
            aggregation: config.aggregation.filter(|_| config.edca.is_some()),
            attempts: config.short_retry_limit,
        };
        let timing = &config.timing;
        let dsss = modes.clone().find(|mode| mode.class.is_dsss());
        let common = dsss.or_else(|| modes.next()).unwrap_or(timing.standard.fastest());
        let broadcast_mode = timing.standard.broadcast_mode(&common, &timing.basic_rates);
        let lowest = timing.basic_rates.iter().min();
        let rate = config.beacons.and_then(|beacons| beacons.rate).or(lowest.copied());
        let beacon_mode =
            rate.and_then(|rate| timing.standard.mode(rate)).unwrap_or(broadcast_mode);
        Self { config, framing, per_node, contention_parameters, broadcast_mode, beacon_mode }
    }

    /// From now on, the contention windows and the RTS threshold are those of this configuration;
    /// returns the contention parameters before and now. A frame that was sent before keeps its
    /// RTS.
    pub(crate) fn adopt(
        &mut self,
        config: &MacConfig,
    ) -> (Vec<ContentionParameters>, &[ContentionParameters]) {
        let own = &mut self.config;
        (own.cw_min, own.cw_max) = (config.cw_min, config.cw_max);
        (own.edca, own.rts_threshold) = (config.edca, config.rts_threshold);
        if let (Some(own), Some(new)) = (&mut own.non_erp, &config.non_erp) {
            own.cw_min = new.cw_min;
        }
        let now = contention_parameters(own);
        (std::mem::replace(&mut self.contention_parameters, now), &self.contention_parameters)
    }

    pub(crate) fn timing(&self) -> &Timing {
        &self.config.timing
    }

    /// Nodes that cannot decode OFDM.
    pub(crate) fn non_erp(&self) -> &[u32] {
        self.config.non_erp.as_ref().map_or(&[], |non_erp| &non_erp.nodes)
    }

    /// Whether all nodes can decode OFDM.
    pub(crate) fn all_know_ofdm(&self) -> bool {
        self.non_erp().is_empty()
    }

    /// Whether a node can decode OFDM.
    pub(crate) fn knows_ofdm(&self, node: u32) -> bool {
        self.non_erp().binary_search(&node).is_err()
    }

    /// Nodes of an earlier generation than that of the network.
    pub(crate) fn earlier(&self) -> &[Earlier] {
        &self.config.earlier
    }

    /// The latest class of PPDUs that a node knows, if that is not the one of the network.
    fn latest(&self, node: u32) -> Option<ModeClass> {
        let at = self.earlier().binary_search_by_key(&node, |earlier| earlier.node).ok()?;
        Some(self.earlier()[at].latest)
    }

    /// Whether all nodes that can decode OFDM can decode PPDUs of this class.
    pub(crate) fn all_know(&self, class: ModeClass) -> bool {
        self.earlier().iter().all(|earlier| class <= earlier.latest)
    }

    /// Whether a node that can decode OFDM can decode PPDUs of this class.
    pub(crate) fn knows(&self, node: u32, class: ModeClass) -> bool {
        self.latest(node).is_none_or(|latest| class <= latest)
    }

    /// The index of the contention parameters of a node's EDCAF.
    pub(crate) fn parameter_set(&self, node: u32, is_access_point: bool, category: u32) -> u8 {
        let first = match () {
            () if !self.knows_ofdm(node) => 2 * self.per_node,
            () if is_access_point => 0,
            () => self.per_node,
        };
        (first + category) as u8
    }

    /// The same of stations under MU EDCA.
    pub(crate) fn mu_parameter_set(&self, category: u32) -> u8 {
        let after = AccessCategory::ALL.len() - category as usize;
        (self.contention_parameters.len() - after) as u8
    }

    pub(crate) fn contention_parameters(&self, set: u8) -> &ContentionParameters {
        &self.contention_parameters[usize::from(set)]
    }

    /// The state of an EDCAF before its first transmission.
    pub(crate) fn access(&self, set: u8, backoff: Backoff) -> Access {
        Access::new(self.contention_parameters(set), backoff)
    }

    /// Slots of the interframe space after its SIFS, and the TXOP limit.
    pub(crate) fn parameters(&self, is_access_point: bool, category: u32) -> (u32, Duration) {
        self.config.edca.as_ref().map_or((2, Duration::ZERO), |edca| {
            let all = if is_access_point { &edca.access_point } else { &edca.stations };
            let own = &all[category as usize];
            (own.aifsn, own.txop_limit)
        })
    }

    pub(crate) fn busy_slot(&self) -> BusySlot {
        match (self.config.countdown, &self.config.edca) {
            (Countdown::Bianchi, _) => BusySlot::Step,
            (Countdown::Standard, Some(_)) => BusySlot::Counted,
            (Countdown::Standard, None) | (Countdown::IdleSlots, _) => BusySlot::Uncounted,
        }
    }

    /// The number of MPDUs that a BlockAck can acknowledge between nodes of the network's standard.
    pub(crate) fn window(&self) -> u16 {
        self.framing.aggregation.map_or(64, |limits| limits.window)
    }

    /// The same between two nodes, of which one may be of an earlier standard.
    #[inline]
    pub(crate) fn window_between(&self, a: u32, b: u32) -> u16 {
        if self.earlier().is_empty() {
            return self.window();
        }
        let latest = [a, b].into_iter().filter_map(|node| self.latest(node));
        let most = latest.filter_map(ModeClass::high).map(|high| high.block_ack_window);
        most.fold(self.window(), u16::min)
    }

    /// The most packets in one PSDU.
    pub(crate) fn packets_per_access(&self) -> u32 {
        self.framing.aggregation.map_or(1, |limits| {
            let packets_per_frame = 1 + limits.amsdu.0 as u32 / 1500;
            u32::from(limits.frames.min(limits.window)) * packets_per_frame
        })
    }

    /// The EDCAF of a node that sends packets of a class.
    pub(crate) fn category_of(&self, class: TrafficClass) -> u32 {
        if self.per_node == 1 { 0 } else { class as u32 }
    }

    /// The class of the packets that an EDCAF of a node sends.
    pub(crate) fn class_of(&self, category: u32) -> TrafficClass {
        use TrafficClass::{Background, BestEffort, Video, Voice};
        if self.per_node == 1 {
            return BestEffort;
        }
        [Background, BestEffort, Video, Voice][category as usize]
    }

    /// The duration of an exchange in this mode without its A-MPDU. `with_rts` says whether rate
    /// control wants an RTS.
    pub(crate) fn around(&self, mode: &Mode, with_rts: bool) -> Duration {
        let timing = self.timing();
        let window = self.framing.window_in(mode.class).max(1);
        let answer = timing.airtime(&timing.response_mode(mode), block_ack(window)).total();
        // A PSDU long enough to reach the limit is longer than any threshold in use.
        let opening = if with_rts || self.config.rts_threshold < longest_psdu(mode.class) {
            timing.opening(mode)
        } else {
            Duration::ZERO
        };
        opening + timing.sifs() + answer
    }
}

/// The contention parameters of the EDCAFs of an access point, then of a station, then of an
/// 802.11b node, and last those of MU EDCA.
fn contention_parameters(config: &MacConfig) -> Vec<ContentionParameters> {
    let of = |cw_min, cw_max| ContentionParameters {
        short_limit: config.short_retry_limit,
        long_limit: config.long_retry_limit,
        cw_min,
        cw_max,
        draw: config.backoff_draw,
    };
    let mut all: Vec<_> = match &config.edca {
        None => vec![of(config.cw_min, config.cw_max); 2],
        Some(edca) => {
            let all = edca.access_point.iter().chain(&edca.stations);
            all.map(|category| of(category.cw_min, category.cw_max)).collect()
        }
    };
    all.extend(config.non_erp.iter().map(|nodes| of(nodes.cw_min, config.cw_max)));
    if let Some(mu) = config.mu.as_ref().and_then(|mu| mu.edca.as_ref()) {
        let own = AccessCategory::ALL.map(|category| mu.of(category));
        all.extend(own.map(|own| own.map_or(of(0, 0), |own| of(own.cw_min, own.cw_max))));
    }
    all
}
