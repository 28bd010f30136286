//! Uplink OFDMA from the text of IEEE Std 802.11ax-2021: an access point without packets asks for
//! the medium at intervals, and sends Trigger frames (clauses 26.4.4.5 and 26.5.2): Basic ones to
//! the stations whose queues are not empty as far as it knows, and before them BSRPs, if it is to
//! ask for the sizes of the queues (26.5.5). Stations contend meanwhile by the functions of their
//! access categories, with the parameters of MU EDCA as long as its timers run (26.2.7). All
//! packets wait from the begin on. In `run_beside` the access point has packets, and sends to
//! several stations at once.

mod alone;
mod down;
mod station;
mod triggered;
mod units;

use super::Cell as Down;
use super::{BEST_EFFORT, Derived, Txop, dummy};
use crate::function::{Function, Hindrance};
use crate::record::OnAir;
use crate::timing::Times;
use crate::workload::Workload;
use kernel::{Duration, Instant, Rng};
use station::Station;
use wifi::mac::{MuProtection, Uplink};
use wifi::phy::{Coding, Mode};

struct Cell<'a> {
    times: &'a Times,
    protection: MuProtection,
    /// What the access point supposes of a queue that it does not know.
    unknown: u64,
    /// Whether it asks for the sizes of queues.
    polls: bool,
    /// The longest HE TB PPDUs.
    longest: Duration,
    padding_us: u64,
    /// How long after an access the access point asks for the next, and when it does so.
    interval: Duration,
    due: Instant,
    /// The most MPDUs of an A-MPDU.
    frames: usize,
    mode: Mode,
    /// Channels of 20 MHz.
    channels: u64,
    prefers_ldpc: bool,
    /// Of the access point.
    noise: Rng,
    function: Function,
    hindrance: Hindrance,
    stations: Vec<Station>,
    /// What the access point has to send, if it does not trigger.
    down: Option<Down<'a>>,
    out: Derived,
}

/// A function that may send: its node and category.
#[derive(Clone, Copy)]
struct Winner {
    node: u32,
    category: usize,
}

/// Runs the workload until no packets wait.
pub(crate) fn run(workload: &Workload) -> Derived {
    let times = Times::of(&workload.config.timing);
    let mu = workload.config.mu.as_ref().expect("OFDMA");
    let uplink = mu.uplink.as_ref().expect("triggers");
    Cell::new(workload, uplink, &times).run()
}

/// The same of an access point that has packets and does not trigger.
pub(crate) fn run_beside(workload: &Workload) -> Derived {
    let times = Times::of(&workload.config.timing);
    let mut cell = Cell::new(workload, &Uplink::default(), &times);
    let down = Down::of(workload, &times, true);
    cell.function.queue.extend(down.has_packets().then(dummy));
    cell.down = Some(down);
    cell.run()
}

impl<'a> Cell<'a> {
    fn run(mut self) -> Derived {
        self.resume(Instant(1));
        while self.has_packets() {
            let now = self.next();
            self.end_timers(now);
            if self.asks(now) {
                self.function.queue.push_back(dummy());
            }
            self.await_boundaries(now);
            let winners = self.pass_boundaries(now);
            match winners[..] {
                [] => {}
                [Winner { node: 0, .. }] if self.down.is_some() => self.serve_in_txop(now),
                [Winner { node: 0, .. }] => self.trigger_in_txop(now),
                [winner] => self.send_in_txop(now, winner),
                _ => self.collide(now, &winners),
            }
        }
        self.out.until = self.out.frames.iter().map(OnAir::end).max().unwrap_or_default();
        self.out
    }

    fn has_packets(&self) -> bool {
        let down = self.down.as_ref().is_some_and(Down::has_packets);
        down || self.stations.iter().any(Station::has_packets)
    }

    fn new(workload: &Workload, uplink: &Uplink, times: &'a Times) -> Self {
        let mu = workload.config.mu.as_ref().expect("OFDMA");
        Self {
            times,
            protection: mu.protection,
            unknown: uplink.reports.unknown.0,
            polls: uplink.bsrp,
            longest: uplink.duration,
            padding_us: uplink.trigger_padding.lasts().0 / 1000,
            interval: uplink.access_interval,
            due: Instant(1) + uplink.access_interval,
            frames: workload.config.aggregation.expect("A-MPDUs").frames as usize,
            mode: workload.links[0].mode,
            channels: u64::from(workload.links[0].mode.width.mhz()) / 20,
            prefers_ldpc: mu.coding == Some(Coding::Ldpc),
            noise: workload.seed.stream("radio.noise", 0),
            function: Function::all(workload, 0).swap_remove(BEST_EFFORT),
            hindrance: Hindrance { busy_until: Instant::ZERO, not_before: Instant::ZERO },
            stations: Station::all(workload),
            down: None,
            out: Derived::default(),
        }
    }

    fn station(&mut self, node: u32) -> &mut Station {
        self.stations.iter_mut().find(|station| station.node == node).expect("a station")
    }

    fn function_of(&mut self, winner: Winner) -> &mut Function {
        match winner.node {
            0 => &mut self.function,
            node => &mut self.station(node).queues[winner.category].function,
        }
    }

    /// What the access point supposes of the longest queue of a station.
    fn supposes(&self, station: &Station) -> u64 {
        station.known().unwrap_or(self.unknown)
    }

    fn knows_any(&self) -> bool {
        self.stations.iter().any(|station| self.supposes(station) > 0)
    }

    fn may_ask(&self) -> bool {
        let is_free = self.function.queue.is_empty() && self.down.is_none();
        is_free && (self.polls || self.knows_any())
    }

    /// Whether the access point begins to ask for the medium.
    fn asks(&self, now: Instant) -> bool {
        self.may_ask() && now >= self.due
    }

    /// The next instant at which somebody counts a slot, or something else happens.
    fn next(&self) -> Instant {
        let own = [self.function.boundary, self.may_ask().then_some(self.due)];
        let stations = self.stations.iter().filter_map(Station::next);
        own.into_iter().flatten().chain(stations).min().expect("packets wait")
    }

    fn end_timers(&mut self, now: Instant) {
        let stations = self.stations.iter_mut().flat_map(|station| &mut station.queues);
        stations.for_each(|queue| queue.end_timer(now));
    }

    /// Slot by slot; returns who may send. Of several functions of a station, that of the highest
    /// category does, and for the others it is as if they had collided (clause 10.23.2.4).
    fn pass_boundaries(&mut self, now: Instant) -> Vec<Winner> {
        let mut winners = Vec::new();
        let slot = self.times.slot;
        if self.function.boundary == Some(now) && self.function.pass_boundary(slot) {
            winners.push(Winner { node: 0, category: BEST_EFFORT });
        }
        for station in &mut self.stations {
            let all = station.queues.iter_mut().enumerate();
            let due = all.filter(|(_, queue)| queue.function.boundary == Some(now));
            let ready =
                due.filter_map(|(i, queue)| queue.function.pass_boundary(slot).then_some(i));
            let mut ready: Vec<usize> = ready.collect();
            let Some(category) = ready.pop() else { continue };
            for loser in ready {
                fail(&mut station.queues[loser].function);
            }
            winners.push(Winner { node: station.node, category });
        }
        winners.sort_by_key(|winner| winner.node);
        winners
    }

    /// The medium becomes busy.
    fn freeze(&mut self, winners: &[Winner]) {
        let own = |node: u32| winners.iter().find(|winner| winner.node == node);
        self.function.freeze(own(0).is_some(), Duration::ZERO, self.times);
        for station in &mut self.stations {
            station.freeze(own(station.node).map(|winner| winner.category), self.times);
        }
    }

    /// The medium is idle for all, from the end of an exchange or of its NAV on.
    fn free(&mut self, end: Instant, reserved_until: Instant) {
        self.hindrance = Hindrance { busy_until: end, not_before: end };
        for station in &mut self.stations {
            station.hindrance = Hindrance { busy_until: reserved_until, not_before: end };
        }
    }

    /// Somebody could decode nothing, and defers for an EIFS, of which a DIFS is a part.
    fn eifs(&self, end: Instant) -> Hindrance {
        let eifs = self.times.eifs(&self.mode).saturating_sub(self.times.difs());
        Hindrance { busy_until: end + eifs, not_before: end }
    }

    /// The access point has begun to ask while the medium was busy, up to now (clause 10.23.2.2).
    fn note_asking(&mut self, now: Instant) {
        if self.asks(now) {
            self.function.queue.push_back(dummy());
            if self.function.backoff.is_none() {
                self.function.back_off();
            }
        }
    }

    /// All count slots again.
    fn resume(&mut self, now: Instant) {
        self.end_timers(now);
        self.note_asking(now);
        self.await_boundaries(now);
    }

    fn await_boundaries(&mut self, now: Instant) {
        let own = now.max(self.hindrance.not_before);
        self.function.await_boundary(own, self.times, self.hindrance);
        for station in &mut self.stations {
            station.await_boundaries(now, self.times);
        }
    }
}

/// An attempt has failed (clause 10.23.2.2).
fn fail(function: &mut Function) {
    function.window = (2 * function.window + 1).min(function.parameters.cw_max);
    function.back_off();
}
