//! Saturated cells under EDCA with aggregation, held against theory and ns-3.

use kernel::{Bytes, EventQueue, Instant, Ranked, Seed};
use wifi::mac::{Aggregation, Countdown, Eifs, SlotGrid, Timing};
use wifi::phy::{DOT11N, Edition, Mode, PpduTiming, Standard, TxVector};
use wifi::{ACCESS_POINT, Categories, Cell, Command, Link, MacConfig, MsduSource};
use wire::{Body, Datagram, FlowId, NodeId, Packet, TrafficClass};

/// ns-3's cell: slots off the common grid after a timeout, whole idle slots counted.
fn ns3(standard: &'static Standard, mode: &Mode) -> MacConfig {
    let edca = Categories::of(standard, Edition::Ns3);
    let (eifs, slot_grid) = (Eifs::Estimated, SlotGrid::Free);
    MacConfig {
        timing: Timing { eifs, slot_grid, ..Timing::of(standard) },
        countdown: Countdown::IdleSlots,
        rts_threshold: Bytes(1 << 30),
        edca: Some(edca),
        aggregation: Aggregation::of(mode.class),
        ..MacConfig::of(standard)
    }
}

/// Stations that always have another datagram for the access point.
struct Endless {
    payload: u64,
    next: Vec<u64>,
}

impl Endless {
    fn packet(&mut self, node: u32) -> Packet {
        let number = self.next[node as usize];
        self.next[node as usize] += 1;
        Packet::new(
            NodeId(node),
            Some(NodeId(ACCESS_POINT)),
            Bytes(self.payload + 28),
            Instant::ZERO,
            Body::Datagram(Datagram {
                flow: FlowId(node),
                number,
                len: self.payload as u32,
                stream: 0,
            }),
        )
    }
}

impl MsduSource for Endless {
    fn next(&mut self, node: u32, _: TrafficClass, _: u32, most: Bytes) -> Option<Packet> {
        (Bytes(self.payload + 28) <= most).then(|| self.packet(node))
    }

    fn next_other(&mut self, _: u32, _: TrafficClass, _: u32) -> Option<(Packet, u32)> {
        None
    }

    fn each(&self, _: u32, _: TrafficClass, _: &mut dyn FnMut(u32, &Packet)) {}
}

enum Event {
    Step,
    Access(u32),
}

impl Ranked for Event {
    fn rank(&self) -> u8 {
        u8::from(matches!(self, Self::Access(_)))
    }
}

/// Goodput of all stations together in Mb/s over so many seconds; each one's datagrams arrive in
/// order and once.
fn saturate(config: MacConfig, links: Vec<Link>, payload: u64, seconds: f64) -> (f64, Cell) {
    let seed = Seed { root: 1, replication: 0 };
    let stations = links.len() as u32;
    let mut cell = Cell::new(config, links, &seed);
    let mut source = Endless { payload, next: vec![0; stations as usize + 1] };
    let (mut events, mut out) = (EventQueue::new(), Vec::new());
    let mut last = vec![None; stations as usize + 1];
    let mut arrived = 0;
    for node in 1..=stations {
        let packet = source.packet(node);
        cell.on_packet(Instant::ZERO, node, &packet, Some(ACCESS_POINT), &mut out);
    }
    let mut now = Instant::ZERO;
    loop {
        let mut i = 0;
        while let Some(&command) = out.get(i) {
            i += 1;
            match command {
                Command::Access(ticket) => events.at(ticket.at, Event::Access(ticket.generation)),
                Command::Step(at) => events.at(at, Event::Step),
                Command::Deliver { packet, .. } => {
                    let Body::Datagram(datagram) = packet.body else { continue };
                    let last = &mut last[packet.from.0 as usize];
                    assert!(*last < Some(datagram.number), "in order and once");
                    *last = Some(datagram.number);
                    arrived += 1;
                }
                Command::Done { node, packet, .. } => {
                    if cell.is_free_for(node, packet.class) {
                        let packet = source.packet(node);
                        cell.on_packet(now, node, &packet, Some(ACCESS_POINT), &mut out);
                    }
                }
                Command::Began
                | Command::Ended
                | Command::ExchangeSent { .. }
                | Command::Overheard { .. }
                | Command::Mode { .. } => {}
            }
        }
        out.clear();
        let Some((at, event)) = events.next() else { break };
        now = at;
        if now.since(Instant::ZERO).as_secs_f64() > seconds {
            break;
        }
        match event {
            Event::Step => cell.on_step(now, &mut source, &mut out),
            Event::Access(generation) => cell.on_access(now, generation, &mut source, &mut out),
        }
    }
    ((arrived * payload * 8) as f64 / seconds / 1e6, cell)
}

/// One station at 20 MHz with a long guard interval and datagrams of 1472 bytes: ns-3's UDP goodput
/// of 802.11n by MCS.
#[test]
fn saturation_of_80211n_by_mcs() {
    let ns3_mbps = [5.81, 11.83, 17.79, 23.80, 35.73, 47.62, 53.61, 59.55];
    for (mcs, expected) in (0..).zip(ns3_mbps) {
        let vector = TxVector { mcs, timing: PpduTiming::Ns3, ..DOT11N.tx_vector().unwrap() };
        let mode = vector.mode().unwrap();
        let (goodput, _) = saturate(
            ns3(&DOT11N, &mode),
            vec![Link { mode, data_loss: 0.0, ack_loss: 0.0 }],
            1472,
            10.0,
        );
        let difference = goodput / expected - 1.0;
        println!("MCS {mcs}: {goodput:.3} Mb/s, ns-3 {expected}: {:+.2} %", difference * 100.0);
        assert!(difference.abs() < 0.015, "MCS {mcs}: {goodput} against {expected}");
    }
}

/// Noise on every frame and every answer, four stations, both rules of missed block acks: whatever
/// happens, datagrams come in order and once (asserted during the run), and much arrives.
#[test]
fn noise_disturbs_no_order() {
    let mode = DOT11N.tx_vector().unwrap().fastest().unwrap();
    for missed in [wifi::mac::MissedBlockAck::Request, wifi::mac::MissedBlockAck::Retransmit] {
        let mut config = ns3(&DOT11N, &mode);
        config.aggregation.as_mut().unwrap().missed = missed;
        let noisy = Link { mode, data_loss: 0.2, ack_loss: 0.2 };
        let (goodput, cell) = saturate(config, vec![noisy; 4], 1472, 3.0);
        let counters = (1..=4).map(|node| *cell.frame_counters(node));
        let (sent, again): (u64, u64) =
            counters.fold((0, 0), |(a, b), c| (a + c.mpdus, b + c.repeated_mpdus));
        assert!(goodput > 20.0, "{missed:?}: {goodput}");
        assert!(again * 10 > sent, "{missed:?}: {again} of {sent} were sent again");
    }
}
