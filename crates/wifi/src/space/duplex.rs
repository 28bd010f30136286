//! Full duplex in space: an access point sends to one station while it receives from another, and
//! distance decides whether both frames arrive.
//!
//! A full-duplex node receives, while it transmits, a frame that begins together with its own: the
//! RTS of a station beside its own RTS, a data frame beside its data frame, an ACK beside its ACK.
//! What remains of its own signal after cancellation is interference. The two stations interfere
//! with each other as all transmitters do.
//!
//! The receiver of an RTS chooses the secondary frame when it sends the CTS. The CTS announces the
//! end of the longer data frame and of the response to it, and how much later than usual the
//! responses begin; the secondary frame announces the same to its receiver. A data frame without
//! RTS and CTS is joined later (`space/join.rs`).
//!
//! In a flat space (`bears_beside`) the frames of an exchange do not disturb each other.

use super::Space;
use super::node::{Announced, NodeDuplex};
use super::power::FixedPower;
use super::reception::PhyReceiver;
use super::rules::SpaceRules;
use super::signals::Signals;
use crate::mac::{ACK, DuplexCounters, FullDuplex, RtsCts, SecondaryChoice, SecondaryRate, Timing};
use crate::phy::error::{ErrorModel, required_snr};
use crate::phy::{Mode, linear};
use crate::{Command, MsduSource};
use kernel::{Bytes, Duration, Instant, Seed};
use wire::FrameKind;

/// The size of data frames that the rule "sinr" assumes.
const DATA: Bytes = Bytes(1536);

/// The SINR that frames need by the rule "sinr", as ratios.
#[derive(Debug, Default)]
pub(super) struct RequiredSinr {
    /// Of each mode of data frames and responses, for a data frame and for an ACK.
    modes: Vec<(Mode, [f64; 2])>,
}

impl RequiredSinr {
    /// That of frames at the rates of the standard.
    fn new(settings: &FullDuplex, timing: &Timing, error: &dyn ErrorModel) -> Self {
        let mut required = Self::default();
        required.add(settings, timing.standard.modes, error);
        required
    }

    /// Frames may have these modes, too.
    fn add(&mut self, settings: &FullDuplex, modes: &[Mode], error: &dyn ErrorModel) {
        let loss = 1.0 - settings.secondary_success;
        let ratio = |mode: &Mode, psdu| linear(required_snr(error, mode, psdu, loss));
        for mode in modes.iter().filter(|_| settings.is_by_sinr()) {
            if !self.modes.iter().any(|(known, _)| known == mode) {
                self.modes.push((*mode, [DATA, ACK].map(|psdu| ratio(mode, psdu))));
            }
        }
    }

    fn of(&self, mode: &Mode, kind: FrameKind) -> f64 {
        let known = self.modes.iter().find(|(known, _)| known == mode);
        known.map_or(f64::INFINITY, |(_, needed)| needed[usize::from(kind == FrameKind::Ack)])
    }
}

/// The primary frame, beside which a secondary frame is to be sent.
#[derive(Clone, Copy, Debug)]
pub(super) struct PrimaryFrame {
    pub(super) from: u32,
    pub(super) mode: Mode,
    pub(super) data: Duration,
    pub(super) response: Duration,
    /// The secondary frame begins later, without RTS and CTS.
    pub(super) is_joined: bool,
}

/// What decides on the mode of a secondary frame that begins now.
struct Geometry<'a> {
    now: Instant,
    settings: &'a FullDuplex,
    required: &'a RequiredSinr,
    rules: &'a SpaceRules,
    signals: &'a Signals,
}

impl Geometry<'_> {
    /// The mode of a secondary frame to a node to which other frames have the mode `link`; `None`
    /// if it is not sent beside this primary frame.
    fn mode(&self, primary: &PrimaryFrame, from: u32, to: u32, link: Mode) -> Option<Mode> {
        let timing = self.rules.timing();
        if self.settings.is_by_sinr() {
            return self.mode_by_sinr(primary, from, to, link);
        }
        // Between two nodes that send to each other no third one interferes.
        let is_mutual = to == primary.from;
        if is_mutual { Some(link) } else { self.settings.mode(timing, &link) }
    }

    fn mode_by_sinr(&self, primary: &PrimaryFrame, from: u32, to: u32, link: Mode) -> Option<Mode> {
        use FrameKind::{Ack, Data};
        let response = |mode: &Mode| self.rules.timing().response_mode(mode);
        let first = primary.from;
        // A node that receives the primary frame does not detect a later preamble.
        let detect = self.rules.levels.detect;
        if primary.is_joined && to != first && self.power(first, to) >= detect {
            return None;
        }
        let others_arrive = self.arrives(first, from, from, &primary.mode, Data)
            && self.arrives(from, first, to, &response(&primary.mode), Ack);
        let arrives = |mode: &Mode| {
            self.arrives(from, to, first, mode, Data)
                && self.arrives(to, from, from, &response(mode), Ack)
        };
        let candidates = FullDuplex::candidates(self.rules.timing(), link);
        candidates.into_iter().find(arrives).filter(|_| others_arrive)
    }

    /// Whether a frame from one node to another is decoded while `other` transmits too.
    fn arrives(&self, from: u32, to: u32, other: u32, mode: &Mode, kind: FrameKind) -> bool {
        let levels = &self.rules.levels;
        let power = self.power(from, to);
        let interference = FixedPower::of(self.power(other, to));
        let disturbance = interference.milliwatts() + levels.noise(mode.occupied());
        power >= levels.detect
            && power >= levels.sensitivity
            && levels.finds(power, interference)
            && power >= self.required.of(mode, kind) * disturbance
    }

    /// The mean power at a node in milliwatts; of its own signal, what remains.
    fn power(&self, from: u32, to: u32) -> f64 {
        let power = if from == to {
            self.signals.residual(to)
        } else {
            self.signals.mean_power(from, to, self.now)
        };
        power.map_or(0.0, |power| power.milliwatts)
    }
}

impl Space {
    /// Makes access points full duplex, or all nodes. Links have these modes.
    pub(super) fn become_full_duplex(&mut self, settings: FullDuplex, modes: &[Mode], seed: &Seed) {
        let timing = self.rules.timing();
        let rates = settings.rates(timing, modes.iter());
        self.required = RequiredSinr::new(&settings, timing, &*self.signals.radio.error);
        for mode in modes {
            self.expect_mode(*mode);
        }
        let mut able = Vec::new();
        for (node, state) in (0..).zip(&mut self.nodes) {
            let is_access_point = self.signals.sites[node as usize].is_access_point;
            if settings.bidirectional || is_access_point {
                let draws = seed.stream("mac.full_duplex", node);
                let choice = is_access_point.then(|| SecondaryChoice::new(&settings, draws));
                state.make_full_duplex(NodeDuplex::new(settings, choice, &rates));
                able.push(node);
            }
        }
        self.signals.set_full_duplex(&able, settings.cancellation);
        for node in able {
            let residual = self.signals.residual(node).expect("a full-duplex node").fixed;
            self.receivers[node as usize] = PhyReceiver::full_duplex(residual);
        }
    }

    /// A node may send to another in this mode, and a full-duplex node in slower ones.
    pub(super) fn expect_mode(&mut self, mode: Mode) {
        let Some(settings) = &self.rules.mac.config.full_duplex else { return };
        let candidates = FullDuplex::candidates(self.rules.timing(), mode);
        self.required.add(settings, &candidates, &*self.signals.radio.error);
    }

    /// Chooses the secondary frame of a full-duplex node that sends a CTS now, and announces it.
    #[inline(never)]
    pub(super) fn prepare_secondary(
        &mut self,
        now: Instant,
        node: u32,
        source: &mut dyn MsduSource,
        out: &mut Vec<Command>,
    ) {
        let Some((from, edcaf)) = self.nodes[node as usize].answers_rts(now) else { return };
        let Some(settings) = self.rules.mac.config.full_duplex else { return };
        let timing = self.rules.timing();
        let Announced { mode, psdu, answer } = self.nodes[from as usize].announced(edcaf);
        let primary = PrimaryFrame {
            from,
            mode,
            data: timing.data_airtime(&mode, psdu).total(),
            response: self.rules.response_airtime(&mode, answer),
            is_joined: false,
        };
        let chosen = self.choose_secondary(now, node, &settings, &primary, source, out);
        let state = &mut self.nodes[node as usize];
        match chosen {
            Some((index, mode, to)) => state.announce(&self.rules, &primary, index, mode, to),
            None => state.withdraw_rts(now, &self.rules, out),
        }
    }

    /// Brings the packet of the secondary frame into service. Returns the EDCAF, the mode of the
    /// frame and its receiver.
    pub(super) fn choose_secondary(
        &mut self,
        now: Instant,
        node: u32,
        settings: &FullDuplex,
        primary: &PrimaryFrame,
        source: &mut dyn MsduSource,
        out: &mut Vec<Command>,
    ) -> Option<(usize, Mode, u32)> {
        let Self { signals, required, rules, nodes, .. } = self;
        let (rules, signals) = (&*rules, &*signals);
        let geometry = Geometry { now, settings, required, rules, signals };
        let mode = |to: u32, link: Mode| geometry.mode(primary, node, to, link);
        nodes[node as usize].choose_secondary(now, primary.from, mode, rules, source, out)
    }

    /// Whether full-duplex nodes join data frames without RTS and CTS.
    pub(super) fn joins_all(&self) -> bool {
        let settings = self.rules.mac.config.full_duplex;
        settings.is_some_and(|settings| settings.rts_cts == RtsCts::Optional)
    }

    /// Counts the exchanges that full-duplex access points begin now without a station that begins
    /// another with them.
    #[inline(never)]
    pub(super) fn count_alone(&mut self, now: Instant, beginning: &[u32]) {
        for &id in beginning {
            let frame = &self.signals.transmission(id).frame;
            let mut others = beginning.iter().map(|&id| self.signals.transmission(id).frame.to);
            let is_alone = !others.any(|to| to == Some(frame.from));
            self.nodes[frame.from as usize].count_opening(now, frame, is_alone);
        }
    }

    /// Counters of the full-duplex access points together; `None` if there is none.
    pub fn duplex_counters(&self) -> Option<DuplexCounters> {
        let mut all = self.nodes.iter().filter_map(|node| Some(node.duplex()?.counters));
        let first = all.next()?;
        Some(all.fold(first, DuplexCounters::plus))
    }

    /// The secondary frames of the access points together, by ascending rate; none if they are half
    /// duplex.
    pub fn secondary_rates(&self) -> Vec<SecondaryRate> {
        let mut sum: Vec<SecondaryRate> = Vec::new();
        for duplex in self.nodes.iter().filter_map(|node| node.duplex()) {
            for rate in &duplex.rates {
                match sum.binary_search_by_key(&rate.rate, |each| each.rate) {
                    Ok(at) => {
                        sum[at].frames += rate.frames;
                        sum[at].airtime += rate.airtime;
                    }
                    Err(at) => sum.insert(at, *rate),
                }
            }
        }
        sum
    }
}
