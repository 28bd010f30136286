//! Downlink OFDMA from the text of IEEE Std 802.11ax-2021: an access point that contends alone and
//! sends to several stations in each PPDU, with the three sequences of acknowledgements (clause
//! 26.4.4), after an MU-RTS or without (26.2.6), in TXOPs with a limit or without (10.23.2.8).
//! Channels have 20 or 40 MHz, MPDUs wait from the begin on, and those whose BlockAck is missing
//! are sent again. The scheduler is the rule of ns-3, `round_robin`, which no standard has; where
//! the rest of a TXOP is too short for several stations, the first of them gets a PPDU of its own.

mod durations;
mod single;
pub(crate) mod uplink;
mod workloads;

pub(crate) use workloads::{mixed_workloads, uplink_workloads, workloads};

use crate::function::{Function, Hindrance};
use crate::record::OnAir;
use crate::timing::Times;
use crate::workload::Workload;
use durations::{
    BLOCK_ACK, CTS, DELIMITER, REQUEST, Units, after, answers_last, control, data_lasts, mu_bar,
    mu_rts_lasts, room, timeout,
};
use kernel::{Bytes, Duration, Instant, Rng};
use std::cmp::Reverse;
use std::collections::BTreeSet;
use wifi::Link;
use wifi::mac::{Acknowledgement, MuProtection};
use wifi::phy::Mode;
use wire::FrameKind;

/// Best effort among the functions of a node.
const BEST_EFFORT: usize = 1;
/// MAC header with `QoS` Control, LLC and FCS.
const AROUND_MSDU: u64 = 24 + 2 + 8 + 4;
/// Users of equal resource units of which none is empty, and the data tones of each (27.3.2.2), in
/// channels of 20 and of 40 MHz.
const UNITS: [&[(u64, u64)]; 2] =
    [&[(9, 24), (4, 48), (2, 102)], &[(18, 24), (8, 48), (4, 102), (2, 234)]];

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

/// The exchange of one PPDU.
struct Exchange<'a> {
    how: Acknowledgement,
    times: &'a Times,
    noise: &'a mut Rng,
    units: Units,
    /// When the TXOP ends.
    until: Instant,
}

/// How an exchange has ended: when, who was heard, and whether the last answer came.
struct Ended {
    at: Instant,
    heard: Vec<bool>,
    is_complete: bool,
    /// When the access point may count slots again.
    resumes: Hindrance,
}

impl Exchange<'_> {
    /// What follows the data; `any` says of each user whether it has received an MPDU.
    fn acknowledge(
        &mut self,
        sent: Instant,
        users: &mut [Receiver],
        any: &[bool],
        out: &mut Derived,
    ) -> Ended {
        // Whether each is asked, where no TXOP ends too early, and heard.
        let is_first_asked = self.how == Acknowledgement::BarChain;
        let mut answers = Vec::new();
        for (nth, user) in users.iter_mut().enumerate() {
            let by_data = is_first_asked && nth == 0;
            let is_asked = if by_data { any[0] } else { !user.noise.chance(user.link.ack_loss) };
            answers.push((is_asked, is_asked && !self.noise.chance(user.link.ack_loss)));
        }
        match self.how {
            Acknowledgement::BarChain => self.chain(sent, users, &answers, out),
            Acknowledgement::MuBar => {
                let lasts = control(mu_bar(users.len() as u64));
                let asked = out.add(0, FrameKind::Trigger, sent + self.times.sifs(), lasts);
                self.triggered(asked, users, &answers, out)
            }
            Acknowledgement::AggregatedMuBar => self.triggered(sent, users, &answers, out),
        }
    }

    /// The first answers its data; each other is asked, a PIFS after a gap (clause 10.23.2.8), as
    /// long as the TXOP lasts.
    fn chain(
        &self,
        sent: Instant,
        users: &[Receiver],
        answers: &[(bool, bool)],
        out: &mut Derived,
    ) -> Ended {
        let (sifs, pifs) = (self.times.sifs(), self.times.sifs() + self.times.slot);
        let (mut at, mut space, mut heard) = (sent, sifs, vec![false; users.len()]);
        let mut is_complete = false;
        for (nth, (user, &(is_asked, is_heard))) in users.iter().zip(answers).enumerate() {
            let pair = control(REQUEST) + sifs + control(BLOCK_ACK);
            if nth > 0 && at + space + pair > self.until {
                is_complete = false;
                break;
            }
            if nth > 0 {
                at = out.add(0, FrameKind::BlockAckRequest, at + space, control(REQUEST));
                space = sifs;
            }
            if is_asked {
                at = out.add(user.node, FrameKind::BlockAck, at + space, control(BLOCK_ACK));
            }
            (heard[nth], is_complete) = (is_heard, is_heard);
            space = if is_heard { sifs } else { pifs };
        }
        self.ended(at, heard, is_complete, &users[0].link.mode)
    }

    /// All who have heard the MU-BAR answer at once.
    fn triggered(
        &self,
        asked: Instant,
        users: &[Receiver],
        answers: &[(bool, bool)],
        out: &mut Derived,
    ) -> Ended {
        let start = asked + self.times.sifs();
        let (mut at, mut heard) = (asked, Vec::new());
        for (user, &(is_asked, is_heard)) in users.iter().zip(answers) {
            if is_asked {
                let [lasts, announced] = answers_last(&self.units);
                out.add(user.node, FrameKind::BlockAck, start, lasts);
                at = start + announced;
            }
            heard.push(is_heard);
        }
        let is_complete = heard.contains(&true);
        self.ended(at, heard, is_complete, &users[0].link.mode)
    }

    fn ended(&self, at: Instant, heard: Vec<bool>, is_complete: bool, mode: &Mode) -> Ended {
        let wait = if is_complete { Duration::ZERO } else { timeout(self.how, self.times, mode) };
        let resumes = Hindrance { busy_until: at, not_before: at + wait };
        Ended { at, heard, is_complete, resumes }
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
    stations: Vec<Receiver>,
}

/// A TXOP (clause 10.23.2.8).
struct Txop {
    until: Instant,
    /// Those who have answered in it.
    protected: BTreeSet<u32>,
}

/// What the access point sends next.
enum Next {
    /// To several stations, to each the first so many MPDUs.
    Group(Units, Vec<(usize, usize)>),
    /// To this station alone.
    Single(usize),
    /// Fewer than two stations have packets.
    Over,
}

/// Runs the workload until fewer than two stations have packets.
pub(crate) fn run(workload: &Workload) -> Derived {
    let times = Times::of(&workload.config.timing);
    let mu = workload.config.mu.as_ref().expect("OFDMA");
    let mut cell = Cell {
        how: mu.acknowledgement,
        protection: mu.protection,
        frames: workload.config.aggregation.expect("A-MPDUs").frames as usize,
        times: &times,
        noise: workload.seed.stream("radio.noise", 0),
        mode: workload.links[0].mode,
        stations: receivers(workload),
    };
    let mut function = Function::all(workload, 0).swap_remove(BEST_EFFORT);
    function.queue.push_back(dummy());
    let limit = function.parameters.txop_limit;
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
        let until = if limit == Duration::ZERO { Instant(u64::MAX) } else { now + limit };
        let mut txop = Txop { until, protected: BTreeSet::new() };
        let mut is_first = true;
        hindrance = loop {
            let next = cell.next(now, &txop);
            let ended = match next {
                Next::Over => {
                    out.until = now;
                    return out;
                }
                Next::Group(units, users) => {
                    Some(cell.send_to_several(now, units, &users, &mut txop, &mut out))
                }
                Next::Single(to) => cell.send_to_one(now, to, until, is_first, &mut out),
            };
            // The medium has been idle since the last exchange.
            let Some(ended) = ended else { break hindrance };
            if ended.heard.contains(&true) {
                function.reset_window();
            } else {
                function.window = (2 * function.window + 1).min(function.parameters.cw_max);
            }
            (is_first, hindrance) = (false, ended.resumes);
            let next = ended.at + times.sifs();
            let goes_on = limit > Duration::ZERO && ended.is_complete && next < until;
            if !goes_on {
                break hindrance;
            }
            now = next;
        };
        function.back_off();
        now = now.max(hindrance.not_before);
    }
}

impl Cell<'_> {
    /// Whom the access point serves: several stations if that ends within the TXOP.
    fn next(&mut self, now: Instant, txop: &Txop) -> Next {
        // Of equal credits, who was before others stays so.
        self.stations.sort_by_key(|station| (Reverse(station.credits), station.place));
        self.stations.iter_mut().zip(0..).for_each(|(station, place)| station.place = place);
        let channels = u64::from(self.mode.width.mhz()) / 20;
        let sizes = UNITS[channels as usize - 1];
        let have = |nth: &usize| !self.stations[*nth].waiting.is_empty();
        let mut found: Vec<usize> =
            (0..self.stations.len()).filter(have).take(sizes[0].0 as usize).collect();
        if found.len() < 2 {
            return Next::Over;
        }
        let alone = found[0];
        while let Some(&(users, tones)) =
            sizes.iter().find(|(number, _)| *number <= found.len() as u64)
        {
            let units = Units { users, tones, mcs: self.mode.mcs, channels };
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
    let of = |(user, &count): (&Receiver, &usize)| -> u64 {
        let psdu = user.psdu(count);
        match how {
            Acknowledgement::AggregatedMuBar => psdu.next_multiple_of(4) + DELIMITER + mu_bar(1),
            _ => psdu,
        }
    };
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
