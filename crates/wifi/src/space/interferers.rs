//! Interferers in space: the power of their bursts at the nodes, carrier sense of those bursts, and
//! the bursts that frames destroy.
//!
//! With fading, a burst keeps the gain of its beginning; cutting long bursts was given up.
//!
//! An interferer without devices has no place and no power: each of its bursts arrives everywhere
//! at [`DESTRUCTIVE`], and each frame in its channel destroys it. The signal extension of a frame,
//! in which nothing is sent, neither destroys a burst nor is disturbed by one.
//!
//! The bursts that overlap a frame are looked up when it ends, and their powers at the nodes that
//! received it. Energy detection needs the instants at which bursts begin and end: they are events
//! only for interferers that carrier sense hears, in a channel of the network, and only while a
//! node has a frame to send, and for [`LINGER`] after it, in which a post-back-off may go on. When
//! a frame arrives later, the last burst before it is made up for.

use super::Space;
use super::power::FixedPower;
use super::radio::{Separation, Site};
use super::signals::Signals;
use crate::Command;
use crate::interferer::{Arrival, Burst, InterfererConfig, Interferers, Spectrum};
use crate::mac::Bitmap;
use crate::phy::propagation::{Path, Trajectory};
use crate::phy::{Band, Milliwatts, Mode, Primary, Width, linear};
use kernel::{Db, Dbm, Duration, Instant, Span};

/// A Bluetooth receiver decodes a packet whose power is above that of the frame in its channel of
/// 1 MHz by this ratio (Bluetooth Core Specification, volume 2, part A, section 4.2: co-channel
/// interference).
const BLUETOOTH_RATIO: Db = Db(11.0);
/// The power at every node of a burst of an interferer without devices, which no frame of a flat
/// space ([`RadioSettings::flat`](super::RadioSettings::flat)) bears.
pub const DESTRUCTIVE: Dbm = Dbm(0.0);
/// Longer than any post-back-off of 31 slots beside a source that is off for a part of the time.
const LINGER: Duration = Duration::from_millis(50);

/// The interferers of a space.
#[derive(Debug)]
pub(super) struct SpaceInterferers {
    interferers: Interferers,
    configs: Vec<InterfererConfig>,
    band: Band,
    /// The gain between each device and each node, by interferer, device and node, as far as the
    /// node stands still; computed when it is first used.
    gains: Vec<Vec<Vec<Option<f64>>>>,
    /// The powers of the two devices of a link at each other, less the ratio, in milliwatts.
    tolerated: Vec<[f64; 2]>,
    /// The weakest power that the simulator takes into account, in milliwatts.
    weakest: f64,
    /// Those that carrier sense hears.
    edges: Vec<Edge>,
    /// The instant of the next edge that was requested; none if nobody has a frame to send.
    next_edge: Option<Instant>,
    /// When a node last had a frame to send.
    contended: Instant,
    arrivals: Vec<Arrival>,
}

/// Where an interferer is that carrier sense hears.
#[derive(Debug)]
struct Edge {
    interferer: u32,
    /// The burst that is on the air or comes next, in a channel of the network.
    burst: Option<Burst>,
    is_on: bool,
    /// Its power at the nodes, while it is on the air.
    powers: Vec<FixedPower>,
    /// When the last burst ended that carrier sense has heard.
    heard_until: Instant,
}

/// The end of a path that is a device of an interferer.
fn device_number(nodes: usize, interferer: u32, device: usize) -> u32 {
    nodes as u32 + 2 * interferer + device as u32
}

impl SpaceInterferers {
    pub(super) fn new(
        interferers: Interferers,
        configs: Vec<InterfererConfig>,
        band: Band,
        signals: &Signals,
    ) -> Self {
        let nodes = signals.sites.len();
        let gains = configs.iter().map(|config| vec![vec![None; nodes]; config.devices.len()]);
        let tolerated = configs.iter().zip(0..).map(|(config, interferer)| {
            let [a, b] = &config.devices[..] else { return [0.0; 2] };
            let numbers = [0, 1].map(|device| device_number(nodes, interferer, device));
            let distance = a.position.distance(b.position);
            let separation = Separation { distance, now: Instant::ZERO };
            let (there, back) = signals.radio.losses.between(numbers[0], numbers[1], separation);
            [(a, there), (b, back)]
                .map(|(from, loss)| Milliwatts::from(from.tx_power - loss - BLUETOOTH_RATIO).0)
        });
        let sensed = configs.iter().zip(0..).filter(|(config, _)| config.sensed);
        let edge = |(_, interferer)| Edge {
            interferer,
            burst: None,
            is_on: false,
            powers: vec![FixedPower::default(); nodes],
            heard_until: Instant::ZERO,
        };
        Self {
            gains: gains.collect(),
            tolerated: tolerated.collect(),
            weakest: Milliwatts::from(signals.radio.receiver.weakest()).0,
            edges: sensed.map(edge).collect(),
            interferers,
            configs,
            band,
            next_edge: None,
            contended: Instant::ZERO,
            arrivals: Vec::new(),
        }
    }

    pub(super) fn interferers(&self) -> &Interferers {
        &self.interferers
    }

    /// The bursts that were looked up.
    pub(super) fn arrivals(&self) -> &[Arrival] {
        &self.arrivals
    }

    /// Whether a burst begins or ends now that carrier sense may hear.
    pub(super) fn is_due(&self, now: Instant) -> bool {
        self.next_edge.is_some_and(|at| at <= now)
    }

    /// The channel of a node for frames of this bandwidth.
    fn channel(&self, site: &Site, width: Width) -> Spectrum {
        Spectrum::of(Primary { band: self.band, number: site.channel }, width)
    }

    /// The gain of the path between a device and a node.
    fn gain(
        &mut self,
        interferer: u32,
        device: usize,
        node: u32,
        now: Instant,
        signals: &Signals,
    ) -> f64 {
        let site = &signals.sites[node as usize];
        let known = &mut self.gains[interferer as usize][device][node as usize];
        if let Some(gain) = *known {
            return gain;
        }
        let position = self.configs[interferer as usize].devices[device].position;
        let there = Trajectory::from(position);
        let distance = site.trajectory.at(now).distance(there.at(now));
        let number = device_number(signals.sites.len(), interferer, device);
        let (loss, _) = signals.radio.losses.between(number, node, Separation { distance, now });
        let gain = linear(Db(0.0) - loss);
        if !site.trajectory.moves() {
            *known = Some(gain);
        }
        gain
    }

    /// A mean gain after fading, on the path between these ends.
    fn faded(gain: f64, a: u32, b: u32, now: Instant, signals: &Signals) -> f64 {
        let Some((fading, seed)) = &signals.radio.fading else { return gain };
        gain / linear(fading.loss(seed, &Path { distance: 0.0, ends: (a, b), now }))
    }

    /// The power of a burst at a node, of which `share` is in the node's channel.
    fn power(
        &mut self,
        interferer: u32,
        burst: &Burst,
        share: f64,
        node: u32,
        now: Instant,
        signals: &Signals,
    ) -> FixedPower {
        let device = usize::from(burst.device);
        let Some(config) = self.configs[interferer as usize].devices.get(device) else {
            return FixedPower::of(Milliwatts::from(DESTRUCTIVE).0);
        };
        let sent = Milliwatts::from(config.tx_power).0 * share;
        let number = device_number(signals.sites.len(), interferer, device);
        let mean = self.gain(interferer, device, node, now, signals);
        let power = sent * Self::faded(mean, number, node, burst.start, signals);
        if power < self.weakest {
            return FixedPower::default();
        }
        FixedPower::of(power)
    }

    /// A node begins to transmit a frame.
    #[inline(never)]
    pub(super) fn on_frame(
        &mut self,
        span: Span,
        from: u32,
        width: Width,
        detect: f64,
        signals: &Signals,
    ) {
        let site = &signals.sites[from as usize];
        let channel = self.channel(site, width);
        let sent = Milliwatts::from(site.tx_power).0;
        let density = sent / f64::from(width.mhz());
        let mut destroys = Vec::with_capacity(self.configs.len());
        let mut reaches = Vec::with_capacity(self.configs.len());
        for interferer in 0..self.configs.len() as u32 {
            if self.configs[interferer as usize].devices.is_empty() {
                reaches.push(true);
                destroys.push([true; 2]);
                continue;
            }
            let number = |device| device_number(signals.sites.len(), interferer, device);
            let gain = |all: &mut Self, device| {
                let mean = all.gain(interferer, device, from, span.start, signals);
                Self::faded(mean, number(device), from, span.start, signals)
            };
            reaches.push(sent * gain(self, 0) >= detect);
            if self.configs[interferer as usize].devices.len() < 2 {
                destroys.push([false; 2]);
                continue;
            }
            let between = Self::faded(1.0, number(0), number(1), span.start, signals);
            let tolerated = self.tolerated[interferer as usize].map(|mean| mean * between);
            // What one device sends, the other receives.
            destroys.push([1, 0].map(|to| density * gain(self, to) > tolerated[1 - to]));
        }
        let reaches = |interferer: u32| reaches[interferer as usize];
        let destroys =
            |interferer: u32, device: u8| destroys[interferer as usize][usize::from(device)];
        self.interferers.on_frame(span, channel, reaches, destroys);
    }

    /// A frame has begun: finds the bursts of sources that react to it, for carrier sense. Returns
    /// when the first of them begins, if it comes before all edges that were requested.
    #[inline(never)]
    pub(super) fn follow_reactions(&mut self, now: Instant, sites: &[Site]) -> Option<Instant> {
        for place in 0..self.edges.len() {
            let Edge { interferer, is_on, heard_until, .. } = self.edges[place];
            if !is_on && self.interferers.reacts(interferer) {
                self.edges[place].burst = self.next_burst(interferer, now.max(heard_until), sites);
            }
        }
        let earliest = self.earliest().filter(|&at| self.next_edge.is_none_or(|next| at < next))?;
        self.next_edge = Some(earliest);
        Some(earliest)
    }

    /// Looks up the bursts that overlap a frame that has ended.
    pub(super) fn look_up(
        &mut self,
        span: Span,
        from: u32,
        width: Width,
        signals: &Signals,
    ) -> &[Arrival] {
        let channel = self.channel(&signals.sites[from as usize], width);
        self.arrivals.clear();
        self.interferers.overlapping(span, channel, &mut self.arrivals);
        &self.arrivals
    }

    /// The powers at a node of the bursts that were looked up.
    pub(super) fn powers(
        &mut self,
        node: u32,
        now: Instant,
        signals: &Signals,
        out: &mut Vec<FixedPower>,
    ) {
        out.clear();
        let arrivals = std::mem::take(&mut self.arrivals);
        out.extend(arrivals.iter().map(|arrival| {
            let Arrival { interferer, burst, share } = arrival;
            self.power(*interferer, burst, *share, node, now, signals)
        }));
        self.arrivals = arrivals;
    }

    /// A frame is lost to the bursts that were looked up and have a power at its receiver.
    #[inline(never)]
    pub(super) fn note_losses(&mut self, powers: &[FixedPower], frames: u32, is_data: bool) {
        let mut last = None;
        for (arrival, power) in self.arrivals.iter().zip(powers) {
            if *power > FixedPower::default() && last != Some(arrival.interferer) {
                last = Some(arrival.interferer);
                (0..frames).for_each(|_| self.interferers.note_loss(arrival.interferer, is_data));
            }
        }
    }

    /// Which of the MPDUs that a node has decoded so far the interferers corrupt by their whole
    /// slots; `bits` has the bits of the packets of each. Returns their number.
    #[inline(never)]
    pub(super) fn corrupt(
        &mut self,
        began: Instant,
        mode: &Mode,
        bits: impl Iterator<Item = u64>,
        lost: &mut Bitmap,
    ) -> u32 {
        let mut corrupted = 0;
        if !self.interferers.have_whole_slots() {
            return corrupted;
        }
        for (bits, index) in bits.zip(0..) {
            let lasting = Duration(bits * 1_000_000_000 / mode.rate.0.max(1));
            let width = mode.width.mhz();
            if !lost.has(index)
                && let Some(by) = self.interferers.by_whole_slots(began, lasting, width)
            {
                lost.set(index);
                self.interferers.note_loss(by, true);
                corrupted += 1;
            }
        }
        corrupted
    }

    /// The next burst of an interferer that ends after an instant, in a channel of the network; a
    /// burst in another channel if there is none for long.
    fn next_burst(&mut self, interferer: u32, at: Instant, sites: &[Site]) -> Option<Burst> {
        let late = at + LINGER;
        let mut at = at;
        loop {
            let burst = self.interferers.ending_after(interferer, at)?;
            let is_inside =
                |site: &Site| burst.spectrum.share_in(self.channel(site, Width::Mhz20)) > 0.0;
            if burst.start > late || sites.iter().any(is_inside) {
                return Some(burst);
            }
            at = burst.end;
        }
    }

    /// The last burst of an interferer that began before an instant, in a channel of the network,
    /// or the next one if there was none within [`LINGER`].
    fn last_burst(&mut self, interferer: u32, now: Instant, sites: &[Site]) -> Option<Burst> {
        let early = Instant(now.0.saturating_sub(LINGER.0));
        let mut last = self.next_burst(interferer, early, sites)?;
        while let Some(next) =
            self.next_burst(interferer, last.end, sites).filter(|next| next.start < now)
        {
            last = next;
        }
        Some(last)
    }

    /// When the next burst begins or ends that carrier sense may hear.
    fn earliest(&self) -> Option<Instant> {
        let at =
            |edge: &Edge| edge.burst.map(|burst| if edge.is_on { burst.end } else { burst.start });
        self.edges.iter().filter_map(at).min()
    }
}

impl Space {
    /// Sets the interferers of the run.
    pub fn set_interferers(&mut self, interferers: Interferers, configs: Vec<InterfererConfig>) {
        let band = self.rules.timing().standard.band;
        let all = SpaceInterferers::new(interferers, configs, band, &self.signals);
        self.interferers = Some(Box::new(all));
        // Their bursts are looked up later than they begin.
        self.timers.keep_awake();
    }

    /// The interferers of the run, if there are any.
    pub fn interferers(&self) -> Option<&Interferers> {
        self.interferers.as_deref().map(SpaceInterferers::interferers)
    }

    /// The power of the bursts that carrier sense of a node hears now, in milliwatts.
    pub fn sensed_bursts(&self, node: u32) -> f64 {
        let edges = self.interferers.iter().flat_map(|all| &all.edges);
        let on = edges.filter(|edge| edge.is_on);
        on.map(|edge| edge.powers[node as usize].milliwatts()).sum()
    }

    /// A node has a frame to send: carrier sense must know the bursts from now on.
    #[inline(never)]
    pub(super) fn hear_interferers(&mut self, now: Instant, out: &mut Vec<Command>) {
        let Some(all) = &mut self.interferers else { return };
        if all.edges.is_empty() || all.next_edge.is_some() {
            return;
        }
        all.contended = now;
        for place in 0..all.edges.len() {
            let Edge { interferer, is_on, heard_until, .. } = all.edges[place];
            if !is_on {
                let sites = &self.signals.sites;
                let last = all.last_burst(interferer, now, sites);
                // A burst is heard once, also if no other one follows it.
                let is_over = last.is_some_and(|burst| burst.end <= heard_until);
                let next =
                    if is_over { all.next_burst(interferer, heard_until, sites) } else { last };
                all.edges[place].burst = next;
            }
        }
        self.pass_edges(now, out);
    }

    /// Bursts begin or end: updates the carrier sense of the nodes.
    #[inline(never)]
    pub(super) fn pass_edges(&mut self, now: Instant, out: &mut Vec<Command>) {
        let Some(mut all) = self.interferers.take() else { return };
        while let Some(at) = all.earliest().filter(|&at| at <= now) {
            for place in 0..all.edges.len() {
                self.pass_edge(&mut all, place, at);
            }
        }
        if self.is_contended() {
            all.contended = now;
        }
        let is_heard = all.edges.iter().any(|edge| edge.is_on);
        let goes_on = is_heard || now.since(all.contended) <= LINGER;
        all.next_edge = all.earliest().filter(|&at| goes_on && at < Instant::NEVER);
        out.extend(all.next_edge.map(Command::Step));
        self.interferers = Some(all);
    }

    /// The burst of one interferer begins or ends now.
    fn pass_edge(&mut self, all: &mut SpaceInterferers, place: usize, now: Instant) {
        let Edge { interferer, burst: Some(burst), is_on, .. } = all.edges[place] else { return };
        if now < if is_on { burst.end } else { burst.start } {
            return;
        }
        for node in 0..self.nodes.len() as u32 {
            let power = if is_on {
                all.edges[place].powers[node as usize]
            } else {
                let channel = all.channel(&self.signals.sites[node as usize], Width::Mhz20);
                let share = burst.spectrum.share_in(channel);
                let power = all.power(interferer, &burst, share, node, now, &self.signals);
                all.edges[place].powers[node as usize] = power;
                power
            };
            if power > FixedPower::default() {
                self.receivers[node as usize].change(power, !is_on);
                // A burst that is made up for counts as far as it outlasts what made the medium
                // busy last.
                let idle_since = self.nodes[node as usize].carrier.idle_since();
                if idle_since.is_none_or(|since| since < burst.end) {
                    let at = idle_since.map_or(now, |since| since.max(now));
                    self.settle_carrier(at, node, false);
                }
            }
        }
        let edge = &mut all.edges[place];
        edge.is_on = !is_on;
        if is_on {
            edge.heard_until = burst.end;
            let sites = &self.signals.sites;
            let next = all.next_burst(interferer, burst.end, sites);
            all.edges[place].burst = next;
        }
    }
}
