//! The oracle: the air between stations that each count their own slots, as the standard's text
//! tells them to.

use crate::duplex::Together;
use crate::frame::Frame;
use crate::record::{CLASSES, OnAir, Record};
use crate::station::Station;
use crate::timing::Times;
use crate::workload::Workload;
use kernel::Instant;
use wifi::mac::SlotGrid;
use wire::FrameKind;

/// A frame on the air.
pub(crate) struct Transmission {
    pub(crate) frame: Frame,
    pub(crate) end: Instant,
    pub(crate) collides: bool,
    /// When the longer of two data frames that do not collide ends.
    pub(crate) both_over: Option<Instant>,
    /// Another frame joined it, and its header has set the NAV of third parties.
    pub(crate) sets_nav: bool,
}

pub(crate) struct Air<'a> {
    pub(crate) times: &'a Times,
    pub(crate) stations: Vec<Station<'a>>,
    pub(crate) flying: Vec<Transmission>,
    /// Frames of the collision on the air that have ended before its longest.
    ended: Vec<Transmission>,
    record: Record,
}

/// Runs the workload until nothing is left to send.
pub(crate) fn run(workload: &Workload) -> Record {
    let times = Times::of(&workload.config.timing);
    let nodes = workload.links.len() as u32 + 1;
    let stations = (0..nodes).map(|node| Station::new(workload, &times, node)).collect();
    let (flying, ended) = (Vec::new(), Vec::new());
    let mut air = Air { times: &times, stations, flying, ended, record: Record::default() };
    let mut coming = workload.packets.iter().zip(0..).peekable();
    loop {
        let next_packet = coming.peek().map(|(arrival, _)| arrival.at);
        let next_end = air.flying.iter().map(|transmission| transmission.end).min();
        let next_act = air.stations.iter().filter_map(Station::next).min();
        let next = [next_packet, next_end, next_act].into_iter().flatten().min();
        let Some(now) = next else { break };
        air.end_frames(now);
        while let Some((arrival, number)) = coming.next_if(|(arrival, _)| arrival.at == now) {
            air.stations[arrival.node as usize].offer(now, number, arrival);
        }
        air.begin_frames(now);
    }
    let mut record = air.record;
    for station in air.stations {
        record.windows.push(CLASSES.map(|class| station.window_for(class)));
        record.counters.push((station.counters, station.frames));
        record.delivered.extend(station.delivered);
        record.done.push(station.done);
    }
    record.delivered.sort_unstable();
    record
}

impl Air<'_> {
    /// All that begin now do so before anybody can sense it.
    fn begin_frames(&mut self, now: Instant) {
        let frames: Vec<Frame> =
            self.stations.iter_mut().filter_map(|station| station.act(now)).collect();
        if frames.is_empty() {
            return;
        }
        if let (false, [frame]) = (self.flying.is_empty(), &frames[..]) {
            let (node, kind) = (frame.from, frame.kind);
            self.begin_beside(now, *frame);
            let end = self.flying[1].end;
            return self.record.air.push(OnAir::Frame { node, kind, start: now, end });
        }
        assert!(self.flying.is_empty(), "{now}: a frame begins while another is on the air");
        let together = self.together(&frames);
        let own_rts = frames.first().filter(|first| first.kind == FrameKind::Rts).copied();
        let collides = frames.len() > 1 && together.is_none();
        let nodes: Vec<u32> = frames.iter().map(|frame| frame.from).collect();
        for frame in frames {
            let parts = self.times.airtime(&frame.mode, frame.psdu);
            let detected = now + parts.preamble + parts.header;
            let others = self.stations.iter_mut().filter(|other| !nodes.contains(&other.node));
            others.for_each(|other| other.sense_busy(now, detected));
            let sender = &mut self.stations[frame.from as usize];
            sender.counters.collisions += u64::from(collides);
            sender.freeze(now);
            // The access point ends its own RTS to answer another, before or together with it.
            let primary = match together {
                Some(Together::Rts(primary) | Together::Bare(primary)) => Some(primary),
                _ => None,
            };
            let is_heard = primary.is_none_or(|primary| primary == frame.from);
            if is_heard {
                let end = now + parts.total();
                let (both_over, sets_nav) = (None, false);
                self.flying.push(Transmission { frame, end, collides, both_over, sets_nav });
            }
        }
        if let (Some(Together::Rts(primary) | Together::Bare(primary)), [first]) =
            (together, &self.flying[..])
        {
            let receiver = &mut self.stations[first.frame.to.expect("a receiver") as usize];
            let own_rts = own_rts.filter(|_| nodes.len() > 1);
            let over = receiver.header_over(now, &first.frame, own_rts.as_ref());
            let begins = matches!(together, Some(Together::Bare(_))).then_some(over);
            receiver.prepare_secondary(now, primary, own_rts.is_some(), begins);
        }
        let end = self.flying.iter().map(|transmission| transmission.end).max().unwrap_or(now);
        if matches!(together, Some(Together::Data)) {
            self.flying.iter_mut().for_each(|transmission| transmission.both_over = Some(end));
        }
        if matches!(together, Some(Together::OwnData)) {
            self.begin_own_data(end);
        }
        if matches!(together, Some(Together::Acks)) {
            for &node in &nodes {
                self.stations[node as usize].detect_beside();
            }
        }
        if collides {
            return self.record.air.push(OnAir::Collision { nodes, start: now, end });
        }
        self.record.air.extend(self.flying.iter().map(|Transmission { frame, end, .. }| {
            OnAir::Frame { node: frame.from, kind: frame.kind, start: now, end: *end }
        }));
    }

    fn end_frames(&mut self, now: Instant) {
        for transmission in self.flying.extract_if(.., |transmission| transmission.end == now) {
            self.stations[transmission.frame.from as usize].sent(now, &transmission.frame);
            self.ended.push(transmission);
        }
        for i in 0..self.ended.len() {
            if let Some(over) = self.ended[i].both_over.take() {
                let frame = self.ended[i].frame;
                self.end_beside(now, &frame, over);
                if self.ended[i].sets_nav {
                    self.overhear_header(now, &frame);
                }
            }
        }
        if !self.flying.is_empty() {
            return;
        }
        match &std::mem::take(&mut self.ended)[..] {
            [] => {}
            [Transmission { frame, collides: false, .. }] => self.receive(now, frame),
            [Transmission { frame, collides: false, .. }, ..] if frame.kind == FrameKind::Data => {}
            both @ [Transmission { collides: false, .. }, ..] => self.end_acks(now, both),
            collision => self.end_collision(now, collision),
        }
        self.stations.iter_mut().for_each(|station| station.sense_idle(now));
    }

    fn receive(&mut self, now: Instant, frame: &Frame) {
        for node in (0..self.stations.len() as u32).filter(|&node| node != frame.from) {
            let station = &mut self.stations[node as usize];
            if frame.to.is_some_and(|to| to != node) {
                station.overhear(now, frame);
            } else if station.is_lost(frame) {
                station.receive_error(now, self.times.eifs(&frame.mode));
                let counters = &mut self.stations[frame.originator() as usize].counters;
                counters.noise_losses += u64::from(frame.to.is_some());
            } else if station.receive(now, frame) {
                self.stations[frame.from as usize].note_received(frame);
            }
        }
    }

    /// Nobody could decode a frame; who did not send waits an EIFS, the shortest of those that
    /// the frames ask for.
    fn end_collision(&mut self, now: Instant, collision: &[Transmission]) {
        let all_eifs = collision.iter().map(|other| self.times.eifs(&other.frame.mode));
        let eifs = match self.times.slot_grid {
            SlotGrid::Difs => self.times.difs(),
            _ => all_eifs.min().expect("frames collided"),
        };
        for station in &mut self.stations {
            if !collision.iter().any(|other| other.frame.from == station.node) {
                station.receive_error(now, eifs);
            } else if self.times.slot_grid.is_shared() {
                station.give_up_waiting(now, eifs);
            }
        }
    }
}
