//! Downlink OFDMA from the text of IEEE Std 802.11ax-2021: an access point that contends alone and
//! sends to several stations in each PPDU, with the three sequences of acknowledgements (clause
//! 26.4.4), after an MU-RTS or without (26.2.6), in TXOPs with a limit or without (10.23.2.8).
//! Channels have 20 to 160 MHz, codes are BCC or LDPC, MPDUs wait from the begin on, and those
//! whose BlockAck is missing are sent again. The scheduler is the rule of ns-3, `round_robin`,
//! which no standard has; where the rest of a TXOP is too short for several stations, the first of
//! them gets a PPDU of its own.

mod durations;
mod exchange;
mod fill;
mod others;
mod single;
pub(crate) mod uplink;
mod workloads;

pub(crate) use workloads::{downlink_beside, mixed_workloads, uplink_workloads, workloads};

use crate::function::{Function, Hindrance};
use crate::record::OnAir;
use crate::timing::Times;
use crate::workload::Workload;
use durations::{
    CTS, DELIMITER, Units, after, control, data_lasts, mu_bar, mu_rts_lasts, room, timeout,
};
use exchange::{Ended, Exchange, extra};
use fill::Unit;
use kernel::{Bytes, Duration, Instant, Rng};
use others::Others;
use std::cmp::Reverse;
use std::collections::BTreeSet;
use wifi::Link;
use wifi::mac::{Acknowledgement, MuProtection};
use wifi::phy::{Coding, Mode};
use wire::FrameKind;

/// Best effort among the functions of a node.
const BEST_EFFORT: usize = 1;
/// MAC header with `QoS` Control, LLC and FCS.
const AROUND_MSDU: u64 = 24 + 2 + 8 + 4;

/// Users of equal resource units of which none is empty, and the data tones of each (27.3.2.2), in
/// channels of so many times 20 MHz.
fn units_of(channels: u64) -> &'static [(u64, u64)] {
    match channels {
        1 => &[(9, 24), (4, 48), (2, 102), (1, 234)],
        2 => &[(18, 24), (8, 48), (4, 102), (2, 234), (1, 468)],
        4 => &[(37, 24), (16, 48), (8, 102), (4, 234), (2, 468), (1, 980)],
        _ => &[(74, 24), (32, 48), (16, 102), (8, 234), (4, 468), (2, 980), (1, 1960)],
    }
}

/// A station: what waits for it, what it has, and its credits.
struct Receiver {
    node: u32,
    /// Number and bytes of the MPDU of those that are not acknowledged.
    waiting: Vec<(u64, u64)>,
    /// All of its packets that have not been passed up.
    order: Vec<u64>,
    has: BTreeSet<u64>,
    credits: i64,
    place: usize,
    noise: Rng,
    link: Link,
}

/// What the text says up to the instant at which fewer than two stations have packets.
#[derive(Default)]
pub(crate) struct Derived {
    pub(crate) frames: Vec<OnAir>,
    pub(crate) delivered: Vec<(Instant, u32, u64)>,
    pub(crate) until: Instant,
}

impl Derived {
    /// The users of each PPDU, 1 of one of a single user.
    pub(crate) fn users(&self) -> impl Iterator<Item = usize> {
        let data = self.frames.chunk_by(|one, other| one.start() == other.start());
        let data = data.filter(|frames| frames[0].kind() == Some(FrameKind::Data));
        data.map(<[OnAir]>::len)
    }

    fn add(&mut self, node: u32, kind: FrameKind, start: Instant, lasts: Duration) -> Instant {
        let end = start + lasts;
        self.frames.push(OnAir::Frame { node, kind, start, end });
        end
    }
}

/// An access point and its stations.
struct Cell<'a> {
    how: Acknowledgement,
    protection: MuProtection,
    /// The most MPDUs of an A-MPDU.
    frames: usize,
    times: &'a Times,
    noise: Rng,
    mode: Mode,
    prefers_ldpc: bool,
    /// A station alone gets PPDUs of its own.
    serves_one: bool,
    stations: Vec<Receiver>,
}

/// A TXOP (clause 10.23.2.8).
struct Txop {
    until: Instant,
    /// Those who have answered in it.
    protected: BTreeSet<u32>,
}

impl Txop {
    fn of(now: Instant, limit: Duration) -> Self {
        let until = if limit == Duration::ZERO { Instant(u64::MAX) } else { now + limit };
        Self { until, protected: BTreeSet::new() }
    }
}

/// What the access point sends next.
enum Next {
    /// To several stations, to each the first so many MPDUs.
    Group(Units, Vec<(usize, usize)>),
    /// To this station alone.
    Single(usize),
    /// Fewer than two stations have packets, or none if one alone is served.
    Over,
}

/// A TXOP that is over.
struct Held {
    /// When its last exchange ended.
    at: Instant,
    /// When the access point may count slots again.
    resumes: Hindrance,
    others: Others,
    /// It has ended because fewer than two stations have packets, or none if each is served.
    is_last: bool,
}

/// Runs the workload until fewer than two stations have packets.
pub(crate) fn run(workload: &Workload) -> Derived {
    let times = Times::of(&workload.config.timing);
    let mut cell = Cell::of(workload, &times, false);
    let mut function = Function::all(workload, 0).swap_remove(BEST_EFFORT);
    function.queue.push_back(dummy());
    let mut out = Derived::default();
    let mut now = Instant(1);
    let mut hindrance = Hindrance { busy_until: Instant::ZERO, not_before: Instant::ZERO };
    loop {
        // Slot by slot.
        function.await_boundary(now, &times, hindrance);
        now = function.boundary.expect("it has packets");
        if !function.pass_boundary(times.slot) {
            continue;
        }
        function.freeze(true, now.since(hindrance.busy_until), &times);
        let held = cell.hold(now, &mut function, &mut out);
        if held.as_ref().is_none_or(|held| held.is_last) {
            out.until = held.map_or(now, |held| held.at + times.sifs());
            return out;
        }
        hindrance = held.map_or(hindrance, |held| held.resumes);
        function.back_off();
        now = now.max(hindrance.not_before);
    }
}

impl<'a> Cell<'a> {
    fn of(workload: &Workload, times: &'a Times, serves_one: bool) -> Self {
        let mu = workload.config.mu.as_ref().expect("OFDMA");
        Self {
            how: mu.acknowledgement,
            protection: mu.protection,
            frames: workload.config.aggregation.expect("A-MPDUs").frames as usize,
            times,
            noise: workload.seed.stream("radio.noise", 0),
            mode: workload.links[0].mode,
            prefers_ldpc: mu.coding == Some(Coding::Ldpc),
            serves_one,
            stations: receivers(workload),
        }
    }

    fn has_packets(&self) -> bool {
        self.stations.iter().any(|station| !station.waiting.is_empty())
    }

    /// How long the first frame of a TXOP lasts, which collides, and how long an answer to it is
    /// awaited. Data costs credits as if it had arrived.
    fn first(&mut self, now: Instant, limit: Duration) -> (Duration, Duration) {
        let txop = Txop::of(now, limit);
        let legacy = self.times.response_timeout(&self.mode);
        match self.next(now, &txop) {
            Next::Over => unreachable!("it has packets"),
            Next::Single(to) => {
                let lasts = self.alone(now, to, txop.until).1;
                self.note_airtime(lasts, &[self.stations[to].node]);
                (lasts, legacy)
            }
            Next::Group(units, users) => {
                let places: Vec<usize> = users.iter().map(|&(nth, _)| nth).collect();
                if self.opens(&txop, &places) {
                    return (control(28 + 5 * units.users), legacy);
                }
                let on_air =
                    users.iter().map(|&(nth, count)| self.stations[nth].on_air(self.how, count));
                let longest = on_air.max().unwrap_or(0);
                let lasts = data_lasts(&units, longest);
                let nodes: Vec<u32> = places.iter().map(|&nth| self.stations[nth].node).collect();
                self.note_airtime(lasts, &nodes);
                (lasts, timeout(self.how, self.times, &self.mode))
            }
        }
    }

    /// The exchanges of a TXOP, of which the function is of the access point; `None` if there are
    /// none.
    fn hold(&mut self, now: Instant, function: &mut Function, out: &mut Derived) -> Option<Held> {
        let limit = function.parameters.txop_limit;
        let mut txop = Txop::of(now, limit);
        let mut held: Option<Held> = None;
        let mut start = now;
        loop {
            let next = match self.next(start, &txop) {
                Next::Over => {
                    return held.map(|held| Held { is_last: true, ..held });
                }
                Next::Group(units, users) => {
                    Some(self.send_to_several(start, units, &users, &mut txop, out))
                }
                Next::Single(to) => self.send_to_one(start, to, txop.until, held.is_none(), out),
            };
            // The medium has been idle since the last exchange.
            let Some(ended) = next else { return held };
            if ended.heard.contains(&true) {
                function.reset_window();
            } else {
                function.window = (2 * function.window + 1).min(function.parameters.cw_max);
            }
            let Ended { at, resumes, is_complete, .. } = ended;
            // A NAV outlasts what has set it.
            let others = held.map(|held| held.others).unwrap_or_default().and(ended.others);
            held = Some(Held { at, resumes, others, is_last: false });
            start = at + self.times.sifs();
            if limit == Duration::ZERO || !is_complete || start >= txop.until {
                return held;
            }
        }
    }
}

impl Cell<'_> {
    /// Whom the access point serves: several stations if that ends within the TXOP.
    fn next(&mut self, now: Instant, txop: &Txop) -> Next {
        // Of equal credits, who was before others stays so.
        self.stations.sort_by_key(|station| (Reverse(station.credits), station.place));
        self.stations.iter_mut().zip(0..).for_each(|(station, place)| station.place = place);
        let channels = u64::from(self.mode.width.mhz()) / 20;
        let sizes = units_of(channels);
        let have = |nth: &usize| !self.stations[*nth].waiting.is_empty();
        let mut found: Vec<usize> =
            (0..self.stations.len()).filter(have).take(sizes[0].0 as usize).collect();
        if found.len() < if self.serves_one { 1 } else { 2 } {
            return Next::Over;
        }
        let alone = found[0];
        while let Some(&(users, tones)) =
            sizes.iter().find(|(number, _)| *number > 1 && *number <= found.len() as u64)
        {
            let unit = Unit::of(tones, self.mode.mcs, self.prefers_ldpc);
            let units = Units { users, unit, channels };
            let served = &found[..users as usize];
            let opens = self.opens(txop, served);
            let rts = if opens { mu_rts_lasts(self.times, users) } else { Duration::ZERO };
            let within =
                txop.until.since(now).saturating_sub(rts + after(self.how, self.times, &units));
            let longest = within.min(Duration::from_micros(5484));
            let counts: Vec<usize> =
                served.iter().map(|&nth| self.fitting(nth, room(&units, longest))).collect();
            match counts.iter().position(|&count| count == 0) {
                None => return Next::Group(units, served.iter().copied().zip(counts).collect()),
                Some(0) => break,
                // Another takes its place.
                Some(nth) => _ = found.remove(nth),
            }
        }
        Next::Single(alone)
    }

    /// Whether an MU-RTS precedes a PPDU to these.
    fn opens(&self, txop: &Txop, users: &[usize]) -> bool {
        let is_new = |&nth: &usize| !txop.protected.contains(&self.stations[nth].node);
        self.protection == MuProtection::MuRts && users.iter().any(is_new)
    }

    /// How many MPDUs to a station fit into so many bytes.
    fn fitting(&self, nth: usize, room: u64) -> usize {
        let room = match self.how {
            Acknowledgement::AggregatedMuBar => room.saturating_sub(DELIMITER + mu_bar(1)) / 4 * 4,
            _ => room,
        };
        let mut psdu = 0_u64;
        let sizes = self.stations[nth].waiting.iter().take(self.frames);
        let fits = |&&(_, mpdu): &&(u64, u64)| {
            psdu = psdu.next_multiple_of(4) + DELIMITER + mpdu;
            psdu <= room
        };
        sizes.take_while(fits).count()
    }

    /// One exchange with several stations.
    fn send_to_several(
        &mut self,
        now: Instant,
        units: Units,
        served: &[(usize, usize)],
        txop: &mut Txop,
        out: &mut Derived,
    ) -> Ended {
        let places: Vec<usize> = served.iter().map(|&(nth, _)| nth).collect();
        let opens = self.opens(txop, &places);
        let (mut users, mut rest) = (Vec::new(), Vec::new());
        for (nth, station) in std::mem::take(&mut self.stations).into_iter().enumerate() {
            if places.contains(&nth) { users.push(station) } else { rest.push(station) }
        }
        let sifs = self.times.sifs();
        let mut start = now;
        if opens {
            let asked = out.add(0, FrameKind::Trigger, now, control(28 + 5 * units.users));
            for user in &users {
                start = out.add(user.node, FrameKind::Cts, asked + sifs, CTS) + sifs;
            }
        }
        let counts: Vec<usize> = served.iter().map(|&(_, count)| count).collect();
        let (sent, any, lasts) = send(start, self.how, &counts, &units, &mut users, out);
        let (how, times, noise) = (self.how, self.times, &mut self.noise);
        let mut exchange = Exchange { how, times, noise, units, until: txop.until };
        let ended = exchange.acknowledge(sent, &mut users, &any, out);
        for (user, &heard) in users.iter_mut().zip(&ended.heard) {
            if heard {
                let Receiver { waiting, has, .. } = user;
                waiting.retain(|(packet, _)| !has.contains(packet));
            }
            if heard || opens {
                txop.protected.insert(user.node);
            }
        }
        let nodes: Vec<u32> = users.iter().map(|user| user.node).collect();
        self.stations = users.into_iter().chain(rest).collect();
        self.note_airtime(lasts, &nodes);
        ended
    }

    /// Those who were served lose what all get.
    fn note_airtime(&mut self, lasts: Duration, served: &[u32]) {
        let (lasts, all) = (lasts.0 as i64, self.stations.len() as i64);
        for station in &mut self.stations {
            station.credits += lasts / all;
            if served.contains(&station.node) {
                station.credits -= lasts / served.len() as i64;
            }
        }
    }
}

/// Puts the data of these users on the air, of each the first so many MPDUs; returns when it ends,
/// whether each has received anything, and how long it lasts.
fn send(
    now: Instant,
    how: Acknowledgement,
    counts: &[usize],
    units: &Units,
    users: &mut [Receiver],
    out: &mut Derived,
) -> (Instant, Vec<bool>, Duration) {
    let of = |(user, &count): (&Receiver, &usize)| user.on_air(how, count);
    let longest = users.iter().zip(counts).map(of).max().unwrap_or(0);
    let lasts = data_lasts(units, longest);
    let (mut any, mut end) = (Vec::new(), now);
    for (user, &count) in users.iter_mut().zip(counts) {
        end = out.add(0, FrameKind::Data, now, lasts);
        any.push(user.receive(count, end, out) > 0);
    }
    (end, any, lasts)
}

impl Receiver {
    /// The bytes of an A-MPDU of its first MPDUs.
    fn psdu(&self, count: usize) -> u64 {
        let sizes = self.waiting.iter().take(count).map(|(_, mpdu)| DELIMITER + mpdu);
        sizes.fold(0_u64, |all, one| all.next_multiple_of(4) + one)
    }

    /// The same with the MU-BAR that it may have.
    fn on_air(&self, how: Acknowledgement, count: usize) -> u64 {
        let psdu = self.psdu(count);
        match how {
            Acknowledgement::AggregatedMuBar => psdu.next_multiple_of(4) + DELIMITER + mu_bar(1),
            _ => psdu,
        }
    }

    /// So many MPDUs end, of which noise destroys some; returns how many arrive.
    fn receive(&mut self, count: usize, end: Instant, out: &mut Derived) -> usize {
        let mut arrived = 0;
        for &(packet, _) in self.waiting.iter().take(count) {
            if !self.noise.chance(self.link.data_loss) {
                self.has.insert(packet);
                arrived += 1;
            }
        }
        while let Some(first) = self.order.first().filter(|first| self.has.contains(first)) {
            out.delivered.push((end, self.node, *first));
            self.order.remove(0);
        }
        arrived
    }
}

fn receivers(workload: &Workload) -> Vec<Receiver> {
    let station = |(node, link): (u32, &Link)| {
        let own = workload.packets.iter().zip(0..).filter(|(it, _)| it.to == Some(node));
        let waiting: Vec<(u64, u64)> =
            own.map(|(it, number)| (number, it.size.0 + AROUND_MSDU)).collect();
        let order = waiting.iter().map(|&(number, _)| number).collect();
        let noise = workload.seed.stream("radio.noise", node);
        Receiver {
            node,
            waiting,
            order,
            has: BTreeSet::new(),
            credits: 0,
            place: node as usize,
            noise,
            link: *link,
        }
    };
    (1..).zip(&workload.links).map(station).collect()
}

fn dummy() -> crate::frame::Msdu {
    let (to, size, sequence) = (None, Bytes(0), 0);
    let (retry, received, numbered, aside) = (false, false, false, false);
    crate::frame::Msdu { packet: 0, to, size, sequence, retry, received, numbered, aside }
}
