//! A connection that sends without limit over a path that only delays: the cost of TCP alone. `bulk
//! SEGMENTS RECOVERY CONTROL [LOST [MARKED]]`: RECOVERY is one of `new_reno`, `sack`, `rack`;
//! CONTROL is one of `new_reno`, `cubic`, and `prague` with accurate ECN. With LOST, one in so many
//! segments is lost; with MARKED, one in so many is marked if it is ECN-capable. The difference of
//! callgrind's counts for two lengths gives the cost of a delivered segment.

use kernel::{Bytes, Duration, Instant, Segments};
use std::collections::VecDeque;
use tcp::control::{Cubic, CubicConfig, NewReno, Prague, PragueConfig};
use tcp::{AccurateEcn, Command, Config, Control, Ecn, Receiver, Recovery, Sack, Sender, TimerId};
use wire::{Flags, FlowId, Segment};

/// The one-way delay; a segment leaves each step, so that about twenty are in flight.
const DELAY: Duration = Duration::from_millis(1);
const STEP: Duration = Duration::from_micros(100);

struct Ends {
    sender: Sender,
    receiver: Receiver,
    timers: [[Option<Instant>; TimerId::ALL.len()]; 2],
    lanes: [VecDeque<(Instant, Segment)>; 2],
    free: Instant,
    sent: u64,
    lost: u64,
    marked: u64,
    delivered: u64,
}

impl Ends {
    fn obey(&mut self, now: Instant, out: &mut Vec<Command>, at_sender: bool) {
        for command in out.drain(..) {
            match command {
                Command::Send(mut segment) if at_sender => {
                    self.sent += 1;
                    if self.lost > 0 && self.sent.is_multiple_of(self.lost) {
                        continue;
                    }
                    let capable = segment.flags.has(Flags::ECT);
                    if capable && self.marked > 0 && self.sent.is_multiple_of(self.marked) {
                        segment.flags = segment.flags.and(Flags::CE);
                    }
                    self.free = self.free.max(now) + STEP;
                    self.lanes[0].push_back((self.free + DELAY, segment));
                }
                Command::Send(segment) => self.lanes[1].push_back((now + DELAY, segment)),
                Command::Set(timer, at) => {
                    self.timers[usize::from(at_sender)][timer as usize] = Some(at);
                }
                Command::Cancel(timer) => {
                    self.timers[usize::from(at_sender)][timer as usize] = None;
                }
                Command::Deliver(bytes) => self.delivered += bytes.0,
                _ => {}
            }
        }
    }

    /// The next event: a segment's arrival or a timer.
    fn step(&mut self, out: &mut Vec<Command>) {
        let lane = |i: usize| self.lanes[i].front().map(|(at, _)| *at);
        let (data, ack) = (lane(0), lane(1));
        let mut next: Option<(Instant, usize, usize)> = None;
        for (side, timers) in self.timers.iter().enumerate() {
            for (timer, at) in timers.iter().enumerate() {
                if let Some(at) = *at
                    && next.is_none_or(|(least, ..)| at < least)
                {
                    next = Some((at, side, timer));
                }
            }
        }
        let never = Instant(u64::MAX);
        let arrives = data.unwrap_or(never).min(ack.unwrap_or(never));
        if let Some((at, side, timer)) = next.filter(|(at, ..)| *at < arrives) {
            self.timers[side][timer] = None;
            let timer = TimerId::ALL[timer];
            if side == 1 {
                self.sender.on_timer(at, timer, out);
            } else {
                self.receiver.on_timer(at, timer, out);
            }
            self.obey(at, out, side == 1);
        } else if data.is_some_and(|at| at == arrives) {
            let (at, segment) = self.lanes[0].pop_front().expect("it is there");
            self.receiver.on_segment(at, &segment, out);
            self.obey(at, out, false);
        } else {
            let (at, segment) = self.lanes[1].pop_front().expect("it is there");
            self.sender.on_segment(at, &segment, out);
            self.obey(at, out, true);
        }
    }
}

/// Transfers this many segments; one in `lost` is lost and one in `marked` marked, or none if it is
/// 0. Returns the sender.
pub(crate) fn transfer(
    segments: u64,
    recovery: &str,
    control: &str,
    lost: u64,
    marked: u64,
) -> Sender {
    let recovery = match recovery {
        "new_reno" => Recovery::NewReno,
        "sack" => Recovery::Sack(Sack { rack: false, ..Sack::default() }),
        _ => Recovery::Sack(Sack::default()),
    };
    let (mss, window) = (Some(Bytes(1460)), Some(Bytes(20 * 1460)));
    let initial_ssthresh = Some(Segments(10.0));
    let ecn = match control {
        "prague" => Ecn::Accurate(AccurateEcn::default()),
        _ => Ecn::default(),
    };
    let config = Config { mss, recovery, window, initial_ssthresh, ecn, ..Config::default() };
    let control: Box<dyn Control> = match control {
        "cubic" => Box::new(Cubic::new(&config, CubicConfig::default())),
        "prague" => Box::new(Prague::new(&config, PragueConfig::default())),
        _ => Box::new(NewReno::from(&config)),
    };
    let mut out = Vec::new();
    let mut ends = Ends {
        sender: Sender::new(FlowId(0), 0, &config, control),
        receiver: Receiver::new(FlowId(0), 0, &config),
        timers: [[None; TimerId::ALL.len()]; 2],
        lanes: [VecDeque::new(), VecDeque::new()],
        free: Instant::ZERO,
        sent: 0,
        lost,
        marked,
        delivered: 0,
    };
    ends.sender.on_open(Instant::ZERO, &mut out);
    ends.sender.on_data(Instant::ZERO, Bytes(u64::MAX), &mut out);
    ends.obey(Instant::ZERO, &mut out, true);
    while ends.delivered < segments * 1460 {
        ends.step(&mut out);
    }
    ends.sender
}

fn main() {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let word = |i: usize| words.get(i).map_or("", String::as_str);
    let number = |i| word(i).parse::<u64>().ok();
    let segments = number(0).unwrap_or(100_000);
    let [lost, marked] = [3, 4].map(|i| number(i).unwrap_or(0));
    let counters = transfer(segments, word(1), word(2), lost, marked).counters();
    println!("{} sent, {} resent", counters.segments, counters.retransmissions);
}
