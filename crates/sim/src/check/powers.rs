//! The received powers, which the checker computes independently.

use super::spectrum::{self, Pattern, Shares, spares};
use kernel::{Db, Dbm, Duration, Instant, Seed};
use wifi::interferer::{Arrival, Device};
use wifi::mac::FullDuplex;
use wifi::phy::propagation::{Fading, Path};
use wifi::phy::{Band, Guard, Mode, Width, noise};
use wifi::space::{DESTRUCTIVE, Losses, OngoingFrame, Radio, Site, Users};

/// Two computations of a power agree if their relative difference is less than this.
const PRECISION: f64 = 1e-9;

/// In milliwatts. The medium adds signals in steps of -150 dBm, so that each signal may be wrong by
/// half a step. It ignores a signal of less than half a step.
pub(super) const STEP: f64 = 1e-15;

/// The powers between all nodes, and the thresholds of their receivers, in milliwatts.
#[derive(Debug)]
pub(super) struct Powers {
    losses: Losses,
    sites: Vec<Site>,
    /// The changes of channel: since when a node has which one, in the order of time.
    tuned: Vec<(u32, Instant, u16)>,
    /// What frames in one channel are in others.
    shares: Shares,
    band: Band,
    /// What the network of each node has punctured.
    patterns: Vec<Pattern>,
    /// The lowest power that the medium considers.
    floor: Dbm,
    /// The powers between fixed nodes, by transmitter and receiver; empty for nodes that never
    /// sent.
    known: Vec<Vec<Option<f64>>>,
    fading: Option<(Fading, Seed)>,
    /// What remains of the signals of full-duplex nodes at their own receivers, by node; `None` at
    /// half-duplex nodes.
    residuals: Vec<Option<f64>>,
    /// The transmitters of each interferer.
    interferers: Vec<Vec<Device>>,
    /// Whether signals take time over distances.
    has_delays: bool,
    pub(super) noise: f64,
    pub(super) energy: f64,
    /// After the end of a frame that a node has received.
    pub(super) energy_after_frame: f64,
    pub(super) detect: f64,
    pub(super) detect_ratio: f64,
    pub(super) detect_when_busy: bool,
    pub(super) sensitivity: f64,
}

/// Ten to the power of a tenth.
pub(super) fn plain(decibels: f64) -> f64 {
    libm::pow(10.0, decibels / 10.0)
}

impl Powers {
    pub(super) fn new(radio: Radio, sites: Vec<Site>, band: Band) -> Self {
        let receiver = radio.receiver;
        let noise = noise(Width::Mhz20, receiver.noise_figure);
        Self {
            known: vec![Vec::new(); sites.len()],
            residuals: vec![None; sites.len()],
            losses: radio.losses,
            shares: Shares::new(band, sites.iter().map(|site| site.channel)),
            band,
            patterns: vec![(20, 0); sites.len()],
            sites,
            tuned: Vec::new(),
            floor: noise - receiver.floor,
            fading: radio.fading,
            interferers: Vec::new(),
            has_delays: radio.has_delays,
            noise: plain(noise.0),
            energy: plain(receiver.energy.0),
            energy_after_frame: plain(receiver.energy_after_frame.unwrap_or(receiver.energy).0),
            detect: plain(receiver.detect.0),
            detect_ratio: plain(receiver.detect_snr.0),
            detect_when_busy: receiver.detect_when_busy,
            sensitivity: plain(receiver.sensitivity().0),
        }
    }

    /// A node sends: computes its powers at all fixed receivers.
    pub(super) fn on_begin(&mut self, from: u32) {
        if self.known[from as usize].is_empty() {
            let still =
                |to: u32| ![from, to].iter().any(|&n| self.sites[n as usize].trajectory.moves());
            let known = |to| still(to).then(|| self.mean(from, to, Instant::ZERO));
            self.known[from as usize] = (0..self.sites.len() as u32).map(known).collect();
        }
    }

    /// A node has this channel from now on.
    pub(super) fn tune(&mut self, node: u32, now: Instant, channel: u16) {
        self.tuned.push((node, now, channel));
    }

    /// The channel of a node for a frame that began at an instant.
    fn channel(&self, node: u32, began: Instant) -> u16 {
        let mut changes = self.tuned.iter().rev();
        let last = changes.find(|&&(other, since, _)| other == node && since <= began);
        last.map_or(self.sites[node as usize].channel, |&(_, _, channel)| channel)
    }

    /// The transmit powers of all nodes.
    pub(super) fn sent(&self) -> impl Iterator<Item = Dbm> {
        self.sites.iter().map(|site| site.tx_power)
    }

    /// The same beside interferers with these transmitters.
    pub(super) fn beside(self, interferers: Vec<Vec<Device>>) -> Self {
        Self { interferers, ..self }
    }

    /// The same with what the networks of nodes have punctured, and what frames leave out.
    pub(super) fn punctured(
        self,
        patterns: Vec<Pattern>,
        sent: impl Iterator<Item = Pattern>,
    ) -> Self {
        Self { shares: self.shares.punctured(&patterns, sent.collect()), patterns, ..self }
    }

    /// The same where each frame may leave out another part of its channel.
    pub(super) fn following(self) -> Self {
        Self { shares: self.shares.following(), ..self }
    }

    /// Whether a frame leaves out what its network has punctured.
    pub(super) fn spares(&self, frame: &OngoingFrame) -> bool {
        let own = self.patterns[frame.from as usize];
        let primary = self.channel(frame.from, frame.start);
        own.1 == 0 || spares(self.band, primary, &frame.mode, own)
    }

    /// The same with full-duplex access points, or also full-duplex stations.
    pub(super) fn full_duplex(mut self, settings: Option<&FullDuplex>) -> Self {
        let Some(settings) = settings else { return self };
        for (site, residual) in self.sites.iter().zip(&mut self.residuals) {
            if site.is_access_point || settings.bidirectional {
                let level = settings.cancellation.map(|cancelled| site.tx_power - cancelled);
                *residual = Some(level.map_or(0.0, |level| plain(level.0)));
            }
        }
        self
    }

    /// What remains of the signal of a node at its own receiver, if it is full duplex.
    pub(super) fn residual(&self, node: u32) -> Option<f64> {
        self.residuals[node as usize]
    }

    /// The received power of a burst during a frame that began to arrive at an instant.
    pub(super) fn of_burst(&self, node: u32, arrival: &Arrival, began: Instant) -> f64 {
        let Arrival { interferer, burst, share } = arrival;
        let devices = &self.interferers[*interferer as usize];
        let Some(device) = devices.get(usize::from(burst.device)) else {
            return plain(DESTRUCTIVE.0);
        };
        let Losses::Places(model) = &self.losses else { return 0.0 };
        // Paths to interferers are numbered after those between nodes, two for each.
        let number = self.sites.len() as u32 + 2 * interferer + u32::from(burst.device);
        let here = self.sites[node as usize].trajectory.at(began);
        let distance = here.distance(device.position);
        let loss = model.loss(&Path { distance, ends: (number, node), now: began });
        let mean = plain((device.tx_power - loss).0) * share;
        let power = self.faded(mean, number, node, burst.start);
        if power >= plain(self.floor.0) { power } else { 0.0 }
    }

    /// The mean received power of a frame that begins now.
    fn mean(&self, from: u32, to: u32, now: Instant) -> f64 {
        if let Some(&Some(known)) = self.known[from as usize].get(to as usize) {
            return known;
        }
        let [a, b] = [from, to].map(|node| &self.sites[node as usize]);
        if from == to || !self.shares.touch(self.channel(from, now), self.channel(to, now)) {
            return 0.0;
        }
        let loss = match &self.losses {
            Losses::Matrix(rows) => rows[from as usize][to as usize],
            Losses::Places(model) => {
                let distance = a.trajectory.at(now).distance(b.trajectory.at(now));
                model.loss(&Path { distance, ends: (from, to), now })
            }
        };
        let level = a.tx_power - loss;
        if level >= self.floor { plain(level.0) } else { 0.0 }
    }

    /// When a frame begins and ends at a node.
    pub(super) fn span(&self, node: u32, frame: &OngoingFrame) -> (Instant, Instant) {
        let delay = self.delay(node, frame);
        (frame.start + delay, frame.end + delay)
    }

    /// How long a frame takes to arrive at a node, rounded up to nanoseconds.
    fn delay(&self, node: u32, frame: &OngoingFrame) -> Duration {
        if !self.has_delays {
            return Duration::ZERO;
        }
        let place = |node: u32| self.sites[node as usize].trajectory.at(frame.start);
        let distance = place(frame.from).distance(place(node));
        Duration((distance / 299_792_458.0 * 1e9).ceil() as u64)
    }

    /// The longest delay of a frame.
    pub(super) fn longest_delay(&self, frame: &OngoingFrame) -> Duration {
        if !self.has_delays {
            return Duration::ZERO;
        }
        let nodes = 0..self.sites.len() as u32;
        nodes.map(|node| self.delay(node, frame)).max().unwrap_or_default()
    }

    /// How much later than the first of several answers to one frame the others may arrive, so that
    /// all are received as one: their guard interval.
    pub(super) fn joint_within(&self, frame: &OngoingFrame) -> Duration {
        let guard = match frame.users {
            _ if !self.has_delays => return Duration::ZERO,
            Users::Unit(_) => frame.mode.guard.of_trigger_based(),
            Users::Together => Guard::Ns800,
            _ => return Duration::ZERO,
        };
        Duration(guard.ns())
    }

    /// A frame as a node receives it.
    pub(super) fn arriving(&self, node: u32, frame: &OngoingFrame) -> OngoingFrame {
        let (start, end) = self.span(node, frame);
        OngoingFrame { start, end, ..*frame }
    }

    /// The received power of a frame in the primary channel of a node, or all if the node receives
    /// frames of its width in its channel; at its transmitter, what remains of it.
    pub(super) fn at(&self, node: u32, frame: &OngoingFrame) -> f64 {
        self.within(node, frame, Width::Mhz20)
    }

    /// The same in the node's channel of a width.
    pub(super) fn within(&self, node: u32, frame: &OngoingFrame, width: Width) -> f64 {
        if frame.from == node {
            return self.residual(node).unwrap_or_default();
        }
        self.received(node, frame, || self.share(node, frame, width))
    }

    /// The received power of a frame in a part of its channel that has this share of it.
    fn received(&self, node: u32, frame: &OngoingFrame, share: impl FnOnce() -> f64) -> f64 {
        let mean = self.mean(frame.from, node, frame.start);
        if mean == 0.0 {
            return mean;
        }
        self.faded(mean, frame.from, node, frame.start) * share() * plain(-frame.cut.0)
    }

    /// The same in what another frame occupies of its receiver's channel.
    pub(super) fn in_occupied(&self, node: u32, frame: &OngoingFrame, received: &Mode) -> f64 {
        if received.punctured.is_none() || frame.from == node {
            return self.within(node, frame, received.width);
        }
        let [from, to] = [frame.from, node].map(|node| self.channel(node, frame.start));
        let own = spectrum::pattern(received);
        let share = || self.shares.of(from, to, &frame.mode, own, received.width);
        self.received(node, frame, share)
    }

    /// The received power of a frame in the 20 MHz around a centre.
    pub(super) fn in_20(&self, node: u32, frame: &OngoingFrame, centre_mhz: f64) -> f64 {
        let channel = self.channel(frame.from, frame.start);
        self.received(node, frame, || self.shares.in_20(channel, &frame.mode, centre_mhz))
    }

    /// The centres in MHz of what a frame occupies.
    pub(super) fn occupied(&self, frame: &OngoingFrame) -> Vec<f64> {
        spectrum::occupied(self.band, self.channel(frame.from, frame.start), &frame.mode)
    }

    /// The centres in MHz of the 20 MHz of the widest channel around that of a node, without its
    /// primary one.
    pub(super) fn secondaries(&self, node: u32, now: Instant) -> Vec<f64> {
        let primary = self.channel(node, now);
        let own = spectrum::primary_mhz(self.band, primary);
        let mut all = spectrum::widest(self.band, primary);
        all.retain(|&centre| Some(centre) != own);
        all
    }

    /// Whether these centres have the primary channel of a node.
    pub(super) fn has_primary(&self, node: u32, now: Instant, centres: &[f64]) -> bool {
        let own = spectrum::primary_mhz(self.band, self.channel(node, now));
        own.is_some_and(|own| centres.contains(&own))
    }

    /// Whether a node has had another channel since an instant.
    pub(super) fn is_tuned_since(&self, node: u32, start: Instant) -> bool {
        self.tuned.iter().any(|&(other, since, _)| other == node && since > start)
    }

    /// The part of a frame that is in a node's channel of a width.
    pub(super) fn share(&self, node: u32, frame: &OngoingFrame, width: Width) -> f64 {
        let [from, to] = [frame.from, node].map(|node| self.channel(node, frame.start));
        self.shares.of(from, to, &frame.mode, self.patterns[node as usize], width)
    }

    /// A mean power after fading.
    fn faded(&self, mean: f64, from: u32, to: u32, now: Instant) -> f64 {
        let Some((fading, seed)) = &self.fading else { return mean };
        let Db(loss) = fading.loss(seed, &Path { distance: 0.0, ends: (from, to), now });
        mean * plain(-loss)
    }

    /// The sum of the received powers of these frames.
    pub(super) fn sum<'a>(&self, node: u32, frames: impl Iterator<Item = &'a OngoingFrame>) -> f64 {
        frames.map(|frame| self.at(node, frame)).sum()
    }
}

/// Whether two computations of a power agree.
pub(super) fn agree(a: f64, b: f64) -> bool {
    (a - b).abs() <= PRECISION * a.abs().max(b.abs())
}

/// Whether two computations agree that depend on a sum of this many signals.
pub(super) fn agree_in_sum(a: f64, b: f64, signals: usize) -> bool {
    agree(a, b) || (a - b).abs() <= STEP * signals as f64
}
