//! Uplink OFDMA from the text of IEEE Std 802.11ax-2021: an access point without packets asks for
//! the medium at intervals, and sends Basic Trigger frames to the stations whose queues are not
//! empty as far as it knows (clauses 26.4.4.5 and 26.5.2). What stations do by themselves is not
//! here: their AIFS is longer than the access point ever waits. Channels have 20 MHz.

use super::durations::{
    CTS, DELIMITER, RX_START_DELAY, control, mu_rts_lasts, tenths_of_us, twelfths,
};
use super::{BEST_EFFORT, Derived, UNITS, dummy};
use crate::function::{Function, Hindrance};
use crate::timing::Times;
use crate::workload::Workload;
use kernel::{Duration, Instant, Rng};
use std::cmp::Reverse;
use std::collections::BTreeSet;
use wifi::Link;
use wifi::mac::MuProtection;
use wire::FrameKind;

/// MAC header with `QoS` Control and FCS.
const NULL_MPDU: u64 = 24 + 2 + 4;
/// The same and LLC.
const AROUND_MSDU: u64 = NULL_MPDU + 8;
/// Data tones of a resource unit, and those of a quarter of a symbol (table 27-28).
const QUARTERS: [(u64, u64); 4] = [(24, 6), (48, 12), (102, 24), (234, 60)];

/// A resource unit of an HE TB PPDU with a guard interval of 1.6 µs and 2x HE-LTF.
#[derive(Clone, Copy)]
struct Unit {
    tones: u64,
    mcs: u8,
}

/// The symbols of a PPDU, and how many quarters of the last its data fills.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct End {
    symbols: u64,
    quarters: u64,
}

impl Unit {
    /// Bits of a symbol, and of a quarter (clause 27.3.12.5).
    fn bits(self) -> (u64, u64) {
        let quarter = QUARTERS.iter().find(|(tones, _)| *tones == self.tones).expect("a size").1;
        let bits = |tones: u64| tones * twelfths(self.mcs) / 12;
        (bits(self.tones), bits(quarter))
    }

    /// Where the data of a PSDU ends.
    fn end(self, psdu: u64) -> End {
        let (symbol, quarter) = self.bits();
        let bits = 16 + 8 * psdu + 6;
        let quarters = match bits % symbol {
            0 => 4,
            rest => rest.div_ceil(quarter).min(4),
        };
        End { symbols: bits.div_ceil(symbol), quarters }
    }

    /// The bytes of a PSDU and its padding up to there.
    fn room(self, end: End) -> u64 {
        let (symbol, quarter) = self.bits();
        let bits = match end.quarters {
            4 => end.symbols * symbol,
            quarters => (end.symbols - 1) * symbol + quarters * quarter,
        };
        bits.saturating_sub(16 + 6) / 8
    }

    /// Where the longest PPDU that is announced to last no longer ends.
    fn last(longest: Duration) -> Option<End> {
        let symbols = (longest.0 / 100).checked_sub(480)? / 144;
        let end = End { symbols, quarters: 4 };
        let fits = announced(end) <= longest;
        let end = End { symbols: if fits { symbols } else { symbols.checked_sub(1)? }, ..end };
        (end.symbols > 0).then_some(end)
    }
}

/// HE TB PPDUs.
fn lasts(end: End) -> Duration {
    tenths_of_us(480 + 144 * end.symbols)
}

/// The same up to the end that L-SIG announces.
fn announced(end: End) -> Duration {
    tenths_of_us(200 + (480 + 144 * end.symbols - 200).next_multiple_of(40))
}

/// A Basic Trigger frame for so many stations, with padding for so many µs at 24 Mb/s (clauses
/// 9.3.1.22.2 and 26.5.2.2.3).
fn trigger(users: u64, padding_us: u64) -> Duration {
    control(28 + 6 * users + 12 * padding_us.div_ceil(4))
}

/// A Multi-STA BlockAck, with a bitmap of 256 bits to those who have sent several MPDUs (clause
/// 9.3.1.8.7).
fn multi_sta(mpdus: impl Iterator<Item = usize>) -> Duration {
    control(22 + mpdus.map(|mpdus| if mpdus == 1 { 2 } else { 36 }).sum::<u64>())
}

/// The Queue Size of `QoS` Control: rounded up (clause 9.2.4.5.6).
fn queue_size(bytes: u64) -> u64 {
    let scales = [(0, 16), (1024, 256), (17_408, 2048), (148_480, 32_768)];
    let fits = |&&(least, unit): &&(u64, u64)| bytes.saturating_sub(least).div_ceil(unit) <= 63;
    let &(least, unit) = scales.iter().find(fits).expect("queues are short");
    least + bytes.saturating_sub(least).div_ceil(unit) * unit
}

struct Station {
    node: u32,
    /// Number and bytes of the MPDU of those that are not acknowledged.
    waiting: Vec<(u64, u64)>,
    /// All of its packets that have not been passed up.
    order: Vec<u64>,
    /// What the access point has of them.
    arrived: BTreeSet<u64>,
    /// What the access point knows of its queue.
    known: Option<u64>,
    credits: i64,
    place: usize,
    noise: Rng,
    link: Link,
}

impl Station {
    /// The bytes of those that are not among its first MPDUs.
    fn beside(&self, first: usize) -> u64 {
        self.waiting[first..].iter().map(|(_, mpdu)| mpdu + DELIMITER).sum()
    }
}

/// What a station sends: so many MPDUs, or a `QoS` Null.
#[derive(Clone, Copy)]
struct Answer {
    mpdus: usize,
    arrives: bool,
}

struct Cell<'a> {
    times: &'a Times,
    protection: MuProtection,
    /// What the access point supposes of a queue that it does not know.
    unknown: u64,
    /// The longest HE TB PPDUs.
    longest: Duration,
    padding_us: u64,
    frames: usize,
    mcs: u8,
    noise: Rng,
    stations: Vec<Station>,
}

/// A Trigger frame to the first so many stations.
struct Asked {
    users: usize,
    unit: Unit,
    end: End,
    opens: bool,
}

/// How an exchange has ended.
struct Ended {
    at: Instant,
    is_answered: bool,
    resumes: Hindrance,
}

/// Runs the workload until the access point knows of no packets.
pub(crate) fn run(workload: &Workload) -> Derived {
    let times = Times::of(&workload.config.timing);
    let mu = workload.config.mu.as_ref().expect("OFDMA");
    let uplink = mu.uplink.as_ref().expect("triggers");
    let mut cell = Cell {
        times: &times,
        protection: mu.protection,
        unknown: uplink.reports.unknown.0,
        longest: uplink.duration,
        padding_us: uplink.trigger_padding.lasts().0 / 1000,
        frames: workload.config.aggregation.expect("A-MPDUs").frames as usize,
        mcs: workload.links[0].mode.mcs,
        noise: workload.seed.stream("radio.noise", 0),
        stations: stations(workload),
    };
    let mut function = Function::all(workload, 0).swap_remove(BEST_EFFORT);
    let limit = function.parameters.txop_limit;
    let mut out = Derived::default();
    let (mut now, mut due) = (Instant(1), Instant(1) + uplink.access_interval);
    let mut hindrance = Hindrance { busy_until: Instant::ZERO, not_before: Instant::ZERO };
    loop {
        if !cell.knows_any() {
            out.until = now;
            return out;
        }
        // It asks for the medium when it is time, and then counts slot by slot.
        loop {
            if function.queue.is_empty() && now >= due {
                function.queue.push_back(dummy());
            }
            function.await_boundary(now.max(hindrance.not_before), &times, hindrance);
            let asks = Some(due).filter(|_| function.queue.is_empty());
            let next = [asks, function.boundary].into_iter().flatten().min();
            now = next.expect("it waits for one of both");
            if function.queue.is_empty() && now >= due {
                continue;
            }
            if function.pass_boundary(times.slot) {
                break;
            }
        }
        function.freeze(true, now.since(hindrance.busy_until), &times);
        function.queue.clear();
        due = now + uplink.access_interval;
        let until = if limit == Duration::ZERO { Instant(u64::MAX) } else { now + limit };
        let mut protected = BTreeSet::new();
        while let Some(asked) = cell.ask(now, until, &protected) {
            let ended = cell.trigger(now, &asked, &mut protected, &mut out);
            if ended.is_answered {
                function.reset_window();
            } else {
                function.window = (2 * function.window + 1).min(function.parameters.cw_max);
            }
            hindrance = ended.resumes;
            now = ended.at;
            let next = ended.at + times.sifs();
            if !ended.is_answered || limit == Duration::ZERO || next >= until {
                break;
            }
            now = next;
        }
        function.back_off();
    }
}

impl Cell<'_> {
    /// What the access point supposes of a queue.
    fn supposes(&self, station: &Station) -> u64 {
        station.known.unwrap_or(self.unknown)
    }

    fn knows_any(&self) -> bool {
        self.stations.iter().any(|station| self.supposes(station) > 0)
    }

    /// Whom the access point asks, and for how long; those come first in the list of stations.
    fn ask(&mut self, now: Instant, until: Instant, protected: &BTreeSet<u32>) -> Option<Asked> {
        self.stations.sort_by_key(|station| (Reverse(station.credits), station.place));
        self.stations.iter_mut().zip(0..).for_each(|(station, place)| station.place = place);
        let have: Vec<u32> = self
            .stations
            .iter()
            .filter(|station| self.supposes(station) > 0)
            .map(|station| station.node)
            .collect();
        let mut sizes = UNITS[0].iter().copied().chain([(1, 234)]);
        let (users, tones) = sizes.find(|(number, _)| *number <= have.len() as u64)?;
        let asked = &have[..users as usize];
        self.stations.sort_by_key(|station| {
            asked.iter().position(|&node| node == station.node).unwrap_or(usize::MAX)
        });
        let opens = self.protection == MuProtection::MuRts
            && asked.iter().any(|node| !protected.contains(node));
        let rts = if opens { mu_rts_lasts(self.times, users) } else { Duration::ZERO };
        let sifs = self.times.sifs();
        let ack = multi_sta(asked.iter().map(|_| 2));
        let around = rts + trigger(users, self.padding_us) + sifs + sifs + ack;
        let longest = until.since(now).saturating_sub(around).min(self.longest);
        let last = Unit::last(longest)?;
        let unit = Unit { tones, mcs: self.mcs };
        let null = DELIMITER + NULL_MPDU;
        let needs = self.stations[..users as usize].iter();
        let need = needs.map(|station| self.supposes(station).max(null)).max()?;
        let end = unit.end(need.min(unit.room(last))).min(last);
        (unit.room(end) >= null).then_some(Asked { users: users as usize, unit, end, opens })
    }

    /// A Trigger frame, the answers, and a Multi-STA BlockAck.
    fn trigger(
        &mut self,
        now: Instant,
        asked: &Asked,
        protected: &mut BTreeSet<u32>,
        out: &mut Derived,
    ) -> Ended {
        let (users, sifs) = (asked.users as u64, self.times.sifs());
        let mut start = now;
        if asked.opens {
            let rts = out.add(0, FrameKind::Trigger, now, control(28 + 5 * users));
            for station in &self.stations[..asked.users] {
                start = out.add(station.node, FrameKind::Cts, rts + sifs, CTS) + sifs;
            }
        }
        let sent = out.add(0, FrameKind::Trigger, start, trigger(users, self.padding_us));
        let room = asked.unit.room(asked.end);
        let frames = self.frames;
        let mut answers = Vec::new();
        for station in &mut self.stations[..asked.users] {
            let hears = !station.noise.chance(station.link.ack_loss);
            answers.push(hears.then(|| station.answer(room, frames, &mut self.noise)));
        }
        let begin = sent + sifs;
        let (mut over, mut at) = (begin, sent);
        for (station, answer) in self.stations.iter().zip(&answers) {
            let Some(answer) = answer else { continue };
            let kind = if answer.mpdus > 0 { FrameKind::Data } else { FrameKind::QosNull };
            over = out.add(station.node, kind, begin, lasts(asked.end));
            at = begin + announced(asked.end);
        }
        self.hear(over, &answers, out);
        let told = answers.iter().flatten().filter(|answer| answer.arrives && answer.mpdus > 0);
        let told: Vec<usize> = told.map(|answer| answer.mpdus).collect();
        if !told.is_empty() {
            at = out.add(0, FrameKind::BlockAck, at + sifs, multi_sta(told.into_iter()));
        }
        self.acknowledge(&answers);
        let is_answered = answers.iter().flatten().any(|answer| answer.arrives);
        for (station, answer) in self.stations.iter().zip(&answers) {
            if asked.opens || answer.is_some_and(|answer| answer.arrives) {
                protected.insert(station.node);
            }
        }
        self.note_airtime(lasts(asked.end), asked.users);
        let is_silent = answers.iter().all(Option::is_none);
        let wait = sifs + self.times.slot + RX_START_DELAY;
        let resumes = match (is_silent, is_answered) {
            (true, _) => Hindrance { busy_until: at, not_before: at + wait },
            (false, true) => Hindrance { busy_until: at, not_before: at },
            // Answers of which none can be decoded are followed by an EIFS, of which a DIFS is a
            // part.
            (false, false) => {
                let eifs = self.times.eifs(&self.stations[0].link.mode);
                let extra = eifs.saturating_sub(self.times.difs());
                Hindrance { busy_until: at + extra, not_before: at }
            }
        };
        Ended { at, is_answered, resumes }
    }

    /// The access point receives what noise does not destroy.
    fn hear(&mut self, over: Instant, answers: &[Option<Answer>], out: &mut Derived) {
        for (station, answer) in self.stations.iter_mut().zip(answers) {
            let Some(answer) = answer.filter(|answer| answer.arrives) else { continue };
            station.known = Some(queue_size(station.beside(answer.mpdus)));
            while let Some(first) = station.order.first().filter(|it| station.arrived.contains(it))
            {
                out.delivered.push((over, 0, *first));
                station.order.remove(0);
            }
        }
    }

    /// Who hears the Multi-STA BlockAck knows what has arrived.
    fn acknowledge(&mut self, answers: &[Option<Answer>]) {
        let any = answers.iter().flatten().any(|answer| answer.arrives && answer.mpdus > 0);
        for (station, answer) in self.stations.iter_mut().zip(answers) {
            let Some(answer) = answer.filter(|answer| any && answer.mpdus > 0) else { continue };
            let hears = !station.noise.chance(station.link.ack_loss);
            if hears && answer.arrives {
                let Station { waiting, arrived, .. } = station;
                waiting.retain(|(packet, _)| !arrived.contains(packet));
            }
        }
    }

    /// Those who were asked lose what all get.
    fn note_airtime(&mut self, lasts: Duration, asked: usize) {
        let (lasts, all) = (lasts.0 as i64, self.stations.len() as i64);
        for (nth, station) in self.stations.iter_mut().enumerate() {
            station.credits += lasts / all;
            if nth < asked {
                station.credits -= lasts / asked as i64;
            }
        }
    }
}

impl Station {
    /// What it answers in a resource unit with so much room, and what of it arrives.
    fn answer(&mut self, room: u64, frames: usize, noise: &mut Rng) -> Answer {
        let mut psdu = 0_u64;
        let fits = |&&(_, mpdu): &&(u64, u64)| {
            psdu = psdu.next_multiple_of(4) + DELIMITER + mpdu;
            psdu <= room
        };
        let mpdus = self.waiting.iter().take(frames).take_while(fits).count();
        if mpdus == 0 {
            return Answer { mpdus, arrives: !noise.chance(self.link.ack_loss) };
        }
        let mut arrives = false;
        for &(packet, _) in &self.waiting[..mpdus] {
            if !noise.chance(self.link.data_loss) {
                self.arrived.insert(packet);
                arrives = true;
            }
        }
        Answer { mpdus, arrives }
    }
}

fn stations(workload: &Workload) -> Vec<Station> {
    let station = |(node, link): (u32, &Link)| {
        let own = workload.packets.iter().zip(0..).filter(|(it, _)| it.node == node);
        let waiting: Vec<(u64, u64)> =
            own.map(|(it, number)| (number, it.size.0 + AROUND_MSDU)).collect();
        Station {
            node,
            order: waiting.iter().map(|&(number, _)| number).collect(),
            waiting,
            arrived: BTreeSet::new(),
            known: None,
            credits: 0,
            place: node as usize,
            noise: workload.seed.stream("radio.noise", node),
            link: *link,
        }
    };
    (1..).zip(&workload.links).map(station).collect()
}
