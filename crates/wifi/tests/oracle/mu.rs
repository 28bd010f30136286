//! Downlink OFDMA from the text of IEEE Std 802.11ax-2021: an access point that contends alone and
//! sends to several stations in each PPDU, with the three sequences of acknowledgements (clause
//! 26.4.4). Channels have 20 or 40 MHz, MPDUs wait from the begin on, and those whose BlockAck is
//! missing are sent again. The scheduler is the rule of ns-3, `round_robin`, which no standard has.
//! How long an access point waits for the last answer is as before OFDMA, as in the cell.

use crate::function::{Function, Hindrance};
use crate::record::OnAir;
use crate::timing::Times;
use crate::workload::{Arrival, Workload};
use kernel::{Bytes, Duration, Instant, Rng, Seed};
use proptest::prelude::*;
use std::cmp::Reverse;
use std::collections::BTreeSet;
use wifi::mac::{Acknowledgement, Aggregation, Categories, Eifs, MissedBlockAck, Mu, SlotGrid};
use wifi::phy::{DOT11AX, Edition, TxVector, Width};
use wifi::{Link, MacConfig};
use wire::{FrameKind, TrafficClass};

/// Best effort among the functions of a node.
const BEST_EFFORT: usize = 1;
/// MAC header with `QoS` Control, LLC and FCS.
const AROUND_MSDU: u64 = 24 + 2 + 8 + 4;
const DELIMITER: u64 = 4;
/// A BlockAck with a bitmap of 256 bits (clause 9.3.1.8.3), and a BlockAckReq.
const BLOCK_ACK: u64 = 56;
const REQUEST: u64 = 24;
/// Users of equal resource units of which none is empty, and the data tones of each (27.3.2.2), in
/// channels of 20 and of 40 MHz.
const UNITS: [&[(u64, u64)]; 2] =
    [&[(9, 24), (4, 48), (2, 102)], &[(18, 24), (8, 48), (4, 102), (2, 234)]];

/// Data bits of a tone and a symbol, in twelfths (tables 27-63 and on), from MCS 4 to 9.
const fn twelfths(mcs: u8) -> u64 {
    [36, 48, 54, 60, 72, 80][mcs as usize - 4]
}

fn tenths_of_us(tenths: u64) -> Duration {
    Duration::from_nanos(100 * tenths)
}

/// A control frame at 24 Mb/s: 96 bits a symbol (clause 17.3.2).
fn control(bytes: u64) -> Duration {
    Duration::from_micros(20 + 4 * (16 + 8 * bytes + 6).div_ceil(96))
}

/// A MU-BAR for so many users (clause 9.3.1.22.4).
const fn mu_bar(users: u64) -> u64 {
    16 + 8 + 4 + 9 * users
}

/// An HE MU PPDU with a guard interval of 0.8 µs and 2x HE-LTF, whose longest A-MPDU has so many
/// bytes (clauses 27.3.4, 27.3.11.8).
fn data_lasts(units: &Units, longest: u64) -> Duration {
    const SIG_B: [u64; 6] = [26, 52, 78, 104, 156, 208];
    // Two content channels of 20 MHz have half of the users each. A common field, then pairs of
    // users, each with CRC and tail.
    let users = units.users / units.channels;
    let sig_b = 18 + 52 * (users / 2) + 31 * (users % 2);
    let sig_b = sig_b.div_ceil(SIG_B[usize::from(units.mcs.min(5))]);
    let symbols = (16 + 8 * longest + 6).div_ceil(units.bits(units.mcs));
    tenths_of_us(360 + 40 * sig_b + 72 + 136 * symbols)
}

/// BlockAcks in HE TB PPDUs with a guard interval of 1.6 µs, up to their own end, and up to that
/// which L-SIG announces.
fn answers_last(units: &Units) -> [Duration; 2] {
    let bits = 16 + 8 * (BLOCK_ACK + DELIMITER) + 6;
    let lasts = 480 + 144 * bits.div_ceil(units.bits(units.mcs.min(5)));
    [lasts, 200 + (lasts - 200).next_multiple_of(40)].map(tenths_of_us)
}

/// The resource units of a PPDU, all of one size.
#[derive(Clone, Copy)]
struct Units {
    users: u64,
    tones: u64,
    mcs: u8,
    /// Channels of 20 MHz.
    channels: u64,
}

impl Units {
    /// Whole bits of a symbol.
    fn bits(&self, mcs: u8) -> u64 {
        self.tones * twelfths(mcs) / 12
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
    /// The users of each PPDU.
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
}

/// How an exchange has ended: when, who was heard, and whether the last answer came.
struct Ended {
    at: Instant,
    heard: Vec<bool>,
    is_complete: bool,
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
        match self.how {
            Acknowledgement::BarChain => self.chain(sent, users, any, out),
            Acknowledgement::MuBar => {
                let lasts = control(mu_bar(users.len() as u64));
                let asked = out.add(0, FrameKind::Trigger, sent + self.times.sifs(), lasts);
                self.triggered(asked, users, out)
            }
            Acknowledgement::AggregatedMuBar => self.triggered(sent, users, out),
        }
    }

    /// The first answers its data; each other is asked, a PIFS after a gap (clause 10.23.2.8).
    fn chain(
        &mut self,
        sent: Instant,
        users: &mut [Receiver],
        any: &[bool],
        out: &mut Derived,
    ) -> Ended {
        let (sifs, pifs) = (self.times.sifs(), self.times.sifs() + self.times.slot);
        let (mut at, mut space, mut heard) = (sent, sifs, Vec::new());
        for (nth, user) in users.iter_mut().enumerate() {
            let is_asked = if nth == 0 {
                any[0]
            } else {
                at = out.add(0, FrameKind::BlockAckRequest, at + space, control(REQUEST));
                !user.noise.chance(user.link.ack_loss)
            };
            let mut is_heard = false;
            if is_asked {
                let start = at + if nth == 0 { space } else { sifs };
                at = out.add(user.node, FrameKind::BlockAck, start, control(BLOCK_ACK));
                is_heard = !self.noise.chance(user.link.ack_loss);
            }
            heard.push(is_heard);
            space = if is_heard { sifs } else { pifs };
        }
        let is_complete = heard.last() == Some(&true);
        Ended { at, heard, is_complete }
    }

    /// All who have heard the MU-BAR answer at once.
    fn triggered(&mut self, asked: Instant, users: &mut [Receiver], out: &mut Derived) -> Ended {
        let start = asked + self.times.sifs();
        let (mut at, mut heard) = (asked, Vec::new());
        for user in users {
            let is_asked = !user.noise.chance(user.link.ack_loss);
            if is_asked {
                let [lasts, announced] = answers_last(&self.units);
                out.add(user.node, FrameKind::BlockAck, start, lasts);
                at = start + announced;
            }
            heard.push(is_asked && !self.noise.chance(user.link.ack_loss));
        }
        let is_complete = heard.contains(&true);
        Ended { at, heard, is_complete }
    }
}

/// Runs the workload until fewer than two stations have packets.
pub(crate) fn run(workload: &Workload) -> Derived {
    let times = Times::of(&workload.config.timing);
    let how = workload.config.mu.as_ref().expect("OFDMA").acknowledgement;
    let frames = workload.config.aggregation.expect("A-MPDUs").frames as usize;
    let mode = workload.links[0].mode;
    let mut all = receivers(workload);
    let mut noise = workload.seed.stream("radio.noise", 0);
    let mut function = Function::all(workload, 0).swap_remove(BEST_EFFORT);
    function.queue.push_back(dummy());
    let (mut out, mut idle) = (Derived::default(), Instant::ZERO);
    let mut now = Instant(1);
    let mut hindrance = Hindrance { busy_until: idle, not_before: Instant::ZERO };
    loop {
        // Slot by slot.
        function.await_boundary(now, &times, hindrance);
        now = function.boundary.expect("it has packets");
        if !function.pass_boundary(times.slot) {
            continue;
        }
        function.freeze(true, now.since(idle), &times);
        // Of equal credits, who was before others stays so.
        all.sort_by_key(|station| (Reverse(station.credits), station.place));
        all.iter_mut().zip(0..).for_each(|(station, place)| station.place = place);
        let have = all.iter().filter(|station| !station.waiting.is_empty()).count() as u64;
        let channels = u64::from(mode.width.mhz()) / 20;
        let sizes = UNITS[channels as usize - 1];
        let Some(&(number, tones)) = sizes.iter().find(|(number, _)| *number <= have) else {
            out.until = now;
            return out;
        };
        let units = Units { users: number, tones, mcs: mode.mcs, channels };
        let (mut users, mut rest): (Vec<Receiver>, Vec<Receiver>) = (Vec::new(), Vec::new());
        for station in all {
            let joins = (users.len() as u64) < number && !station.waiting.is_empty();
            if joins { users.push(station) } else { rest.push(station) }
        }
        let (sent, any, lasts) = send(now, how, frames, &units, &mut users, &mut out);
        let mut exchange = Exchange { how, times: &times, noise: &mut noise, units };
        let ended = exchange.acknowledge(sent, &mut users, &any, &mut out);
        let count = (users.len() + rest.len()) as i64;
        let each = lasts.0 as i64 / count;
        for (user, &heard) in users.iter_mut().zip(&ended.heard) {
            if heard {
                let Receiver { waiting, has, .. } = user;
                waiting.retain(|(packet, _)| !has.contains(packet));
            }
            user.credits -= lasts.0 as i64 / number as i64;
        }
        all = users;
        all.extend(rest);
        for station in &mut all {
            station.credits += each;
        }
        if ended.heard.contains(&true) {
            function.reset_window();
        } else {
            function.window = (2 * function.window + 1).min(function.parameters.cw_max);
        }
        function.back_off();
        idle = ended.at;
        let timeout = times.response_timeout(&mode);
        now = if ended.is_complete { ended.at } else { ended.at + timeout };
        hindrance = Hindrance { busy_until: idle, not_before: now };
    }
}

/// Puts the data of these users on the air; returns when it ends, whether each has received
/// anything, and how long it lasts.
fn send(
    now: Instant,
    how: Acknowledgement,
    frames: usize,
    units: &Units,
    users: &mut [Receiver],
    out: &mut Derived,
) -> (Instant, Vec<bool>, Duration) {
    let of = |user: &Receiver| -> u64 {
        let sizes = user.waiting.iter().take(frames).map(|(_, mpdu)| DELIMITER + mpdu);
        let psdu = sizes.fold(0_u64, |all, one| all.next_multiple_of(4) + one);
        match how {
            Acknowledgement::AggregatedMuBar => psdu.next_multiple_of(4) + DELIMITER + mu_bar(1),
            _ => psdu,
        }
    };
    let longest = users.iter().map(of).max().unwrap_or(0);
    let lasts = data_lasts(units, longest);
    let (mut any, mut end) = (Vec::new(), now);
    for user in users {
        end = out.add(0, FrameKind::Data, now, lasts);
        let mut has_any = false;
        for &(packet, _) in user.waiting.iter().take(frames) {
            if !user.noise.chance(user.link.data_loss) {
                user.has.insert(packet);
                has_any = true;
            }
        }
        any.push(has_any);
        while let Some(first) = user.order.first().filter(|first| user.has.contains(first)) {
            out.delivered.push((end, user.node, *first));
            user.order.remove(0);
        }
    }
    (end, any, lasts)
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

/// Cells in which only the access point has packets, all from the begin on.
pub(crate) fn workloads() -> impl Strategy<Value = Workload> {
    use Acknowledgement::{AggregatedMuBar, BarChain, MuBar};
    let how = prop::sample::select(vec![BarChain, MuBar, AggregatedMuBar]);
    let noise = prop_oneof![Just((0.0, 0.0)), (0.01..0.5, 0.01..0.4)];
    let widths = prop::sample::select(vec![Width::Mhz20, Width::Mhz40]);
    let packets = (2_u32..24).prop_flat_map(|stations| {
        let packet = (1..=stations, 60_u64..1400);
        (Just(stations), prop::collection::vec(packet, 2..160))
    });
    (how, noise, packets, (4_u8..10, widths), 1_u16..3, any::<u64>()).prop_map(
        |(
            acknowledgement,
            (data_loss, ack_loss),
            (stations, packets),
            (mcs, width),
            frames,
            root,
        )| {
            let vector = TxVector { mcs, width, ..DOT11AX.tx_vector().expect("HE has MCS") };
            let mode = vector.mode().expect("a mode");
            let mut edca = Categories::of(&DOT11AX, Edition::Ieee2016);
            for edca in edca.access_point.iter_mut().chain(&mut edca.stations) {
                edca.txop_limit = Duration::ZERO;
            }
            let mut config = MacConfig { edca: Some(edca), ..MacConfig::of(&DOT11AX) };
            config.timing.eifs = Eifs::Standard;
            config.timing.slot_grid = SlotGrid::Standard;
            config.short_retry_limit = 100;
            config.mu = Some(Mu { acknowledgement, ..Mu::default() });
            let missed = MissedBlockAck::Retransmit;
            let lifetime = Duration::from_millis(100_000);
            let limits = Aggregation::of(mode.class).expect("HE has A-MPDUs");
            config.aggregation = Some(Aggregation { frames, missed, lifetime, ..limits });
            let (at, node, class) = (Instant(1), 0, TrafficClass::BestEffort);
            let arrival = |(to, size): (u32, u64)| Arrival {
                at,
                node,
                to: Some(to),
                class,
                size: Bytes(size),
            };
            let links = vec![Link { mode, data_loss, ack_loss }; stations as usize];
            let seed = Seed { root, replication: 0 };
            Workload { config, links, seed, packets: packets.into_iter().map(arrival).collect() }
        },
    )
}
