//! The loop of an emulation.

use crate::arena::Arena;
use crate::gate::Gate;
use crate::glance::Watch;
use crate::lateness::{Lateness, Stall, Stalls};
use crate::offload;
use crate::ports::{BUFFER, Port, PortReport, Refusal};
use kernel::Instant;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use sim::{Emulation, Fate};
use std::io::{self, Read, Write};
use std::os::unix::net::UnixStream;
use std::sync::mpsc::{Sender, channel};
use std::thread::JoinHandle;
use std::time::{Duration, Instant as Clock};
use trace::TapeWriter;
use wire::{Ecn, FlowId, RealPacket};

/// What is due within this time is done together, and a packet is handed over this much early at
/// most: a wake costs about as much.
const TOGETHER: Duration = Duration::from_micros(20);
/// The most packets that are read from a port before others have their turn.
const AT_ONCE: usize = 64;
/// The shortest sleep, so that the loop never spins, and the longest.
const SHORTEST: Duration = Duration::from_micros(1);
/// See `SHORTEST`.
const LONGEST: Duration = Duration::from_millis(50);
/// How long packets in the network may still take after the program has ended.
const DRAIN: Duration = Duration::from_secs(1);
/// The bytes of a tape from which on it keeps only the headers of packets, and at which the
/// emulation ends: half of what a run reads.
const HEADERS_FROM: u64 = 128 << 20;
const LONGEST_TAPE: u64 = 512 << 20;
/// Bytes that a packet takes beside its own.
const BLOCK: u64 = 36;
/// A lateness that makes a run invalid: its network was not the simulated one.
const INVALID: Duration = Duration::from_millis(100);

/// How an emulation ends at the latest, and whether it must keep up.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// The longest time that it may take.
    pub longest: Duration,
    /// The least simulated time of its network: after the programs have ended, it runs on to there
    /// as fast as it can.
    pub least: Duration,
    /// Whether it ends when it is late by so much that its results are invalid.
    pub strict: bool,
}

/// Why an emulation has ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ending {
    /// The program has ended, or the user has interrupted it.
    Asked,
    /// Its time was over.
    TimeOver,
    /// It was too late, and had to keep up.
    TooLate,
    /// Its tape has become as long as a run can read.
    TapeFull,
}

/// What an emulation says of itself.
#[derive(Clone, Debug)]
pub struct Report {
    /// When it ended, in simulated time.
    pub end: Instant,
    /// Why.
    pub ending: Ending,
    /// The fingerprint of its network.
    pub digest: u64,
    /// From when packets were due at a port to when they were handed over.
    pub egress: Lateness,
    /// From when events of the simulation were due to when they were handled.
    pub events: Lateness,
    /// How often the emulation was late by 10 ms or more, and the first of these times.
    pub stalls: (u64, Vec<Stall>),
    /// Whether it was late by so much that its network was not the simulated one.
    pub fell_behind: bool,
    /// Packets of programs that were dropped in the network, and those that were still in it.
    pub dropped: u64,
    /// See `dropped`.
    pub resident: u64,
    /// The ports.
    pub ports: Vec<PortReport>,
}

/// The flow from a port to another.
#[derive(Clone, Copy, Debug)]
struct Way {
    flow: FlowId,
    to: usize,
}

impl Gate {
    /// Runs an emulation. `addresses` has that of each port by its name. The flows of the
    /// simulation from port to port begin at `first_flow`, in the order of the ports: from the
    /// first to each of the others, and so on.
    ///
    /// # Errors
    /// Those of the ports and of the tape, and a port that has not come.
    pub fn run<W: Write + Send + 'static>(
        mut self,
        emulation: Emulation,
        addresses: &[(String, [u8; 4])],
        first_flow: u32,
        tape: Option<(TapeWriter<W>, Keep)>,
        limits: Limits,
        watch: Option<Watch>,
    ) -> io::Result<Report> {
        let mut ports = Vec::new();
        for (name, address) in addresses {
            let found = self.ports.iter().position(|port| port.report.name == *name);
            let found = found.ok_or_else(|| io::Error::other(format!("{name} has no port")))?;
            let port = self.ports.swap_remove(found);
            ports.push(Port { address: *address, ..port });
        }
        let count = ports.len();
        let mut running = Loop {
            emulation,
            ways: ways(count, first_flow),
            arena: Arena::new(count * count.saturating_sub(1)),
            first_flow,
            ports,
            recorder: tape.map(|(tape, keep)| Recorder::new(tape, keep)),
            start: Clock::now(),
            entered: Instant::ZERO,
            egress: Lateness::default(),
            events: Lateness::default(),
            stalls: Stalls::default(),
            dropped: 0,
            watch,
        };
        let (end, ending) = running.run(self.control.as_mut(), limits)?;
        let end = end.max(instant(limits.least));
        running.emulation.run_until(end);
        running.close(end, ending)
    }
}

/// By port: the ways to the other ports.
fn ways(ports: usize, first_flow: u32) -> Vec<Vec<Way>> {
    let mut flow = first_flow;
    let mut next = |to| {
        flow += 1;
        Way { flow: FlowId(flow - 1), to }
    };
    let mut from = |port| (0..ports).filter(|&to| to != port).map(&mut next).collect();
    (0..ports).map(&mut from).collect()
}

fn has_fallen_behind(events: &Lateness) -> bool {
    events.max_s() >= INVALID.as_secs_f64()
}

/// A packet that has arrived at its port.
struct Arrived {
    flow: usize,
    entered: Instant,
    due: Instant,
    bytes: Box<[u8]>,
}

impl Arrived {
    /// How many packets of these, of which it is the first, the kernel takes as one: those that
    /// arrived at the same instant, as the MPDUs of an A-MPDU, and that a driver joins.
    fn joined(&self, packets: &[Self]) -> usize {
        let mut len = self.bytes.len();
        let mut follows = |pair: &[Self]| {
            let [last, next] = pair else { return false };
            let joined = ((next.flow, next.due) == (self.flow, self.due))
                .then(|| offload::joined(&self.bytes, &last.bytes, len, &next.bytes))
                .flatten();
            len = joined.unwrap_or(len);
            joined.is_some()
        };
        1 + packets.windows(2).take_while(|pair| follows(pair)).count()
    }
}

struct Loop {
    emulation: Emulation,
    ports: Vec<Port>,
    ways: Vec<Vec<Way>>,
    first_flow: u32,
    arena: Arena,
    recorder: Option<Recorder>,
    start: Clock,
    /// The instant up to which the network has run, or at which the last packet entered.
    entered: Instant,
    egress: Lateness,
    events: Lateness,
    stalls: Stalls,
    dropped: u64,
    watch: Option<Watch>,
}

impl Loop {
    fn run(
        &mut self,
        mut control: Option<&mut UnixStream>,
        limits: Limits,
    ) -> io::Result<(Instant, Ending)> {
        let mut buffer = vec![0; BUFFER];
        let mut until = limits.longest;
        let mut ending = Ending::TimeOver;
        loop {
            self.sleep(control.as_deref(), until)?;
            let asked = control.as_mut().map_or(0, |control| asked(control));
            let now = self.start.elapsed();
            if asked > 0 && ending == Ending::Asked {
                return Ok((self.advance(now), ending));
            }
            if asked > 0 {
                (ending, until) = (Ending::Asked, until.min(now + DRAIN));
            }
            if self.is_too_late(now) && limits.strict {
                return Ok((self.advance(now), Ending::TooLate));
            }
            if self.recorder.as_ref().is_some_and(Recorder::is_full) {
                return Ok((self.advance(now), Ending::TapeFull));
            }
            if now >= until {
                return Ok((self.advance(until), ending));
            }
            if ending != Ending::Asked {
                self.read(now, &mut buffer)?;
            }
            self.advance(now + TOGETHER);
            self.show(now);
            if ending == Ending::Asked && self.arena.resident() == 0 {
                return Ok((self.advance(self.start.elapsed()), ending));
            }
        }
    }

    /// Sleeps until the next event is due, a packet comes, or the caller asks for the end.
    fn sleep(&mut self, control: Option<&UnixStream>, until: Duration) -> io::Result<()> {
        let due = self.emulation.next_at().map_or(until, |at| duration(at).min(until));
        let left = due.saturating_sub(self.start.elapsed() + TOGETHER).clamp(SHORTEST, LONGEST);
        let timeout = Timespec { tv_sec: 0, tv_nsec: left.as_nanos() as _ };
        let ports = self.ports.iter().map(|port| PollFd::new(&port.tun, PollFlags::IN));
        let control = control.map(|control| PollFd::new(control, PollFlags::IN));
        let mut all: Vec<PollFd<'_>> = ports.chain(control).collect();
        match poll(&mut all, Some(&timeout)) {
            Ok(_) | Err(rustix::io::Errno::INTR) => Ok(()),
            Err(error) => Err(error.into()),
        }
    }

    /// Notes how late the next event is; whether the network is no longer the simulated one.
    fn is_too_late(&mut self, now: Duration) -> bool {
        let Some(due) = self.emulation.next_at().map(duration).filter(|due| *due <= now) else {
            return false;
        };
        let late = now.saturating_sub(due);
        self.events.add(late);
        self.stalls.note(due, late);
        late >= INVALID
    }

    /// Takes the packets that programs have sent.
    fn read(&mut self, now: Duration, buffer: &mut [u8]) -> io::Result<()> {
        for number in 0..self.ports.len() {
            for _ in 0..AT_ONCE {
                let Some(mut burst) = self.ports[number].read(buffer)? else { break };
                while let Some(bytes) = burst.next() {
                    if let Err(why) = self.enter(number, now, bytes) {
                        self.ports[number].refuse(why, bytes);
                    }
                }
            }
        }
        Ok(())
    }

    /// A packet enters the network.
    fn enter(&mut self, number: usize, now: Duration, bytes: &[u8]) -> Result<(), Refusal> {
        let packet = self.ports[number].examine(bytes)?;
        let to = self.ports.iter().position(|port| port.address == packet.to);
        let way = self.ways[number].iter().find(|way| Some(way.to) == to);
        let flow = way.ok_or(Refusal::NoSuchPort)?.flow;
        if !self.arena.has_room(bytes.len()) {
            return Err(Refusal::NoMemory);
        }
        let at = Instant(instant(now).0.max(self.entered.0 + 1));
        // All that is due before happens before.
        self.emulation.run_until(Instant(at.0 - 1));
        self.entered = at;
        self.arena.put((flow.0 - self.first_flow) as usize, at, bytes.into());
        self.emulation.offer(flow, at, packet);
        if let Some(recorder) = &mut self.recorder {
            recorder.keep(flow.0 - self.first_flow, at, bytes);
        }
        self.ports[number].note_sent(bytes.len());
        Ok(())
    }

    /// Runs the network up to this time, and hands over what has arrived. Returns the instant.
    fn advance(&mut self, now: Duration) -> Instant {
        let at = instant(now).max(self.entered);
        self.emulation.run_until(at);
        self.entered = at;
        let arrived = self.arrived();
        let mut rest = &arrived[..];
        while let Some(first) = rest.first() {
            let (together, others) = rest.split_at(first.joined(rest));
            self.hand_over(together);
            rest = others;
        }
        at
    }

    /// What has left the network, without what was dropped there.
    fn arrived(&mut self) -> Vec<Arrived> {
        let mut arrived = Vec::new();
        for left in self.emulation.left() {
            let flow = (left.flow.0 - self.first_flow) as usize;
            let Some((entered, mut bytes)) = self.arena.take(flow, left.number) else { continue };
            let Fate::Arrived(ecn) = left.fate else {
                self.dropped += 1;
                continue;
            };
            if ecn == Ecn::Experienced {
                RealPacket::mark(&mut bytes);
            }
            arrived.push(Arrived { flow, entered, due: left.at, bytes });
        }
        arrived
    }

    /// Hands packets to the kernel, which takes them as one.
    fn hand_over(&mut self, together: &[Arrived]) {
        let flow = together[0].flow;
        let from = flow / (self.ports.len() - 1);
        let to = self.ways[from][flow % (self.ports.len() - 1)].to;
        let packets: Vec<&[u8]> = together.iter().map(|packet| &*packet.bytes).collect();
        self.ports[to].write(&packets);
        let done = self.start.elapsed();
        for packet in together {
            let due = duration(packet.due);
            let late = done.saturating_sub(due);
            self.egress.add(late);
            self.stalls.note(due, late);
            if let Some(watch) = &mut self.watch {
                watch.note([from, to], due.saturating_sub(duration(packet.entered)), late);
            }
        }
    }

    /// Shows how it goes, if somebody looks and it is time.
    fn show(&mut self, now: Duration) {
        let Some(watch) = self.watch.as_mut().filter(|watch| watch.is_due(now)) else { return };
        let on_the_way = |ways: &Vec<Way>| {
            let flow = |way: &Way| (way.flow.0 - self.first_flow) as usize;
            ways.iter().map(|way| self.arena.resident_of(flow(way))).sum()
        };
        let reports = self.ports.iter().map(|port| port.report.clone());
        let ports = reports.zip(self.ways.iter().map(on_the_way));
        let emulation = &self.emulation;
        let fell_behind = has_fallen_behind(&self.events);
        watch.show(now, self.entered, self.dropped, fell_behind, ports, |readings, into| {
            emulation.read(readings, into);
        });
    }

    fn close(self, end: Instant, ending: Ending) -> io::Result<Report> {
        if let Some(recorder) = self.recorder {
            recorder.end(end)?;
        }
        Ok(Report {
            end,
            ending,
            digest: self.emulation.digest(),
            fell_behind: has_fallen_behind(&self.events),
            egress: self.egress,
            events: self.events,
            stalls: (self.stalls.count, self.stalls.first),
            dropped: self.dropped,
            resident: self.arena.resident() as u64,
            ports: self.ports.into_iter().map(|port| port.report).collect(),
        })
    }
}

/// How often the caller has asked for the end since the last look.
fn asked(control: &mut UnixStream) -> usize {
    let mut bytes = [0; 16];
    match control.read(&mut bytes) {
        Ok(count) => count.max(1),
        Err(_) => 0,
    }
}

fn duration(at: Instant) -> Duration {
    Duration::from_nanos(at.0)
}

fn instant(at: Duration) -> Instant {
    Instant(at.as_nanos() as u64)
}

/// What a tape keeps of packets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Keep {
    /// Their headers, which repeat the run.
    Headers,
    /// All bytes, as long as the tape is not large.
    Bytes,
}

/// What is written to a tape.
enum Entry {
    Packet { flow: u32, at: Instant, bytes: Box<[u8]>, most: usize },
    End(Instant),
}

/// Writes the tape in a thread of its own, so that the loop does not wait for a disk.
struct Recorder {
    send: Sender<Entry>,
    thread: JoinHandle<io::Result<()>>,
    keep: Keep,
    written: u64,
}

impl Recorder {
    fn new<W: Write + Send + 'static>(mut tape: TapeWriter<W>, keep: Keep) -> Self {
        let (send, receive) = channel();
        let thread = std::thread::spawn(move || {
            receive.into_iter().try_for_each(|entry| match entry {
                Entry::Packet { flow, at, bytes, most } => tape.packet(flow, at, &bytes, most),
                Entry::End(at) => tape.end(at),
            })
        });
        Self { send, thread, keep, written: 0 }
    }

    fn is_full(&self) -> bool {
        self.written >= LONGEST_TAPE
    }

    fn keep(&mut self, flow: u32, at: Instant, bytes: &[u8]) {
        let all = self.keep == Keep::Bytes && self.written < HEADERS_FROM;
        let most = if all { usize::MAX } else { RealPacket::READ };
        self.written += BLOCK + bytes.len().min(most) as u64;
        // A writer that has failed says so at the end.
        let _ = self.send.send(Entry::Packet { flow, at, bytes: bytes.into(), most });
    }

    fn end(self, at: Instant) -> io::Result<()> {
        let _ = self.send.send(Entry::End(at));
        drop(self.send);
        self.thread.join().map_err(|_| io::Error::other("the tape has failed"))?
    }
}
