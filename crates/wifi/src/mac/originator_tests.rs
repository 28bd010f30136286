use super::*;
use crate::mac::recipient::Recipient;
use proptest::prelude::*;
use wire::{Body, Datagram, FlowId, NodeId, QosNull};

const NOW: Instant = Instant(0);

pub(crate) fn packet(number: u64, size: u64) -> Packet {
    Packet::new(
        NodeId(1),
        Some(NodeId(0)),
        Bytes(size),
        NOW,
        Body::Datagram(Datagram { flow: FlowId(0), number, len: 0, stream: 0 }),
    )
}

pub(crate) fn number(packet: &Packet) -> u64 {
    let Body::Datagram(datagram) = packet.body else { panic!("tests send datagrams") };
    datagram.number
}

fn aggregation() -> Aggregation {
    Aggregation::of(ModeClass::Ht).unwrap()
}

/// `QoS` data, LLC and FCS: 26 + 8 + 4.
fn framing(aggregation: Aggregation) -> Framing {
    Framing { overhead: Bytes(38), llc: Bytes(8), aggregation: Some(aggregation), attempts: 3 }
}

const LIMITS: PsduLimits = PsduLimits { frames: 64, bytes: Bytes(65_535) };

/// An originator and the packets that wait for it.
struct Bench {
    originator: Originator,
    framing: Framing,
    waiting: VecDeque<Packet>,
    now: Instant,
    settled: Vec<Settled>,
}

impl Bench {
    /// This number of packets, the first of them in service.
    fn new(framing: Framing, sizes: &[u64]) -> Self {
        let mut originator = Originator::new(false);
        let mut waiting: VecDeque<_> =
            (0..).zip(sizes).map(|(number, &size)| packet(number, size)).collect();
        originator.begin_service(&framing, NOW, &waiting.pop_front().unwrap(), Some(0));
        Self { originator, framing, waiting, now: NOW, settled: Vec::new() }
    }

    fn assemble(&mut self, room: PsduLimits) -> Psdu {
        let Self { originator, framing, waiting, now, .. } = self;
        originator.assemble(framing, ModeClass::Ht, room, *now, |most| {
            waiting.pop_front_if(|packet| packet.size <= most)
        })
    }

    /// Sequence numbers of the last PSDU.
    fn on_air(&self) -> Vec<u16> {
        self.originator.on_air().map(|(sequence, _)| sequence).collect()
    }

    /// Packets whose service has ended since the last call.
    fn settled(&mut self) -> Vec<(u64, MsduOutcome)> {
        self.settled.drain(..).map(|settled| (number(&settled.packet), settled.outcome)).collect()
    }

    fn block_ack(&mut self, bits: &[u16]) -> u32 {
        let mut bitmap = Bitmap::default();
        for &bit in bits {
            bitmap.set(bit);
        }
        self.originator.on_block_ack(&self.framing, self.now, &bitmap, &mut self.settled)
    }

    fn no_answer(&mut self) {
        self.originator.on_no_answer(&self.framing, self.now, &mut self.settled);
    }
}

#[test]
fn without_aggregation_each_psdu_has_one_mpdu() {
    let framing = Framing { overhead: Bytes(36), llc: Bytes(8), aggregation: None, attempts: 7 };
    let mut bench = Bench::new(framing, &[1500, 1500]);
    let psdu = bench.assemble(LIMITS);
    assert_eq!(
        psdu,
        Psdu { bytes: Bytes(1536), mpdus: 1, repeated: 0, answer: ElicitedResponse::Ack }
    );
    bench.no_answer();
    assert!(!bench.originator.is_idle());
    assert_eq!(bench.assemble(PsduLimits::SINGLE).bytes, Bytes(1536));
    bench.originator.on_ack(&mut bench.settled);
    assert_eq!(bench.settled(), [(0, MsduOutcome::Sent)]);
    assert!(bench.originator.is_idle());
}

#[test]
fn a_broadcast_is_a_single_mpdu_and_elicits_no_response() {
    let mut originator = Originator::new(false);
    let framing = framing(aggregation());
    originator.begin_service(&framing, NOW, &packet(0, 100), None);
    let psdu = originator.assemble(&framing, ModeClass::Ht, LIMITS, NOW, |_| Some(packet(1, 100)));
    assert_eq!(
        psdu,
        Psdu { bytes: Bytes(138), mpdus: 1, repeated: 0, answer: ElicitedResponse::None }
    );
}

#[test]
fn waiting_packets_share_an_a_mpdu() {
    let mut bench = Bench::new(framing(aggregation()), &[1500, 100, 1500]);
    let psdu = bench.assemble(LIMITS);
    // 4 + 1538 + 2, 4 + 138 + 2, 4 + 1538.
    assert_eq!(
        psdu,
        Psdu {
            bytes: Bytes(1544 + 144 + 1542),
            mpdus: 3,
            repeated: 0,
            answer: ElicitedResponse::BlockAck
        }
    );
    assert_eq!(bench.block_ack(&[0, 1, 2]), 3);
    let sent = |number| (number, MsduOutcome::Sent);
    assert_eq!(bench.settled(), [sent(0), sent(1), sent(2)]);
    assert!(bench.originator.is_idle());
}

#[test]
fn limits_in_frames_and_bytes_hold() {
    let mut bench = Bench::new(framing(aggregation()), &[1500; 100]);
    assert_eq!(bench.assemble(PsduLimits { frames: 10, bytes: LIMITS.bytes }).mpdus, 10);
    let mut bench = Bench::new(framing(aggregation()), &[1500; 100]);
    let psdu = bench.assemble(LIMITS);
    assert_eq!((psdu.mpdus, psdu.bytes), (42, Bytes(41 * 1544 + 1542)));
    assert_eq!(bench.waiting.len(), 58, "what does not fit stays where it is");
    let mut bench = Bench::new(framing(aggregation()), &[1500; 2]);
    let psdu = bench.assemble(PsduLimits { frames: 64, bytes: Bytes(1000) });
    assert_eq!((psdu.mpdus, psdu.bytes), (1, Bytes(1538)), "one goes whatever its size");
}

#[test]
fn all_at_once_end_as_one_after_the_other() {
    // Three MPDUs, the first two with two packets each.
    let amsdus = Aggregation { amsdu: Bytes(500), ..aggregation() };
    let (sizes, room) = ([200, 200, 200, 200, 400, 400], PsduLimits { frames: 3, ..LIMITS });
    let mut at_once = Bench::new(framing(amsdus), &sizes);
    assert_eq!(at_once.assemble(room).mpdus, 3);
    at_once.originator.note_received(1);
    assert_eq!(at_once.block_ack(&[0, 1, 2]), 3);
    let received: Vec<bool> = at_once.settled.iter().map(|settled| settled.received).collect();
    assert_eq!(received, [false, false, true, true, false]);
    let mut in_turn = Bench::new(framing(amsdus), &sizes);
    in_turn.assemble(room);
    assert_eq!(in_turn.block_ack(&[1, 2]), 2);
    in_turn.assemble(PsduLimits { frames: 1, ..LIMITS });
    assert_eq!(in_turn.block_ack(&[0, 1, 2]), 1);
    let [all, mut parts] = [&mut at_once, &mut in_turn].map(Bench::settled);
    parts.sort_by_key(|&(number, _)| number);
    assert_eq!((all.len(), &all), (5, &parts));
    for mut bench in [at_once, in_turn] {
        assert!(bench.originator.is_idle() && bench.originator.serving().next().is_none());
        assert_eq!((bench.originator.start(), bench.originator.passed), (3, 5));
        let packet = bench.waiting.pop_front().unwrap();
        bench.originator.begin_service(&bench.framing, NOW, &packet, Some(0));
        assert_eq!(bench.assemble(room).mpdus, 1);
        assert_eq!(bench.on_air(), [3]);
    }
}

#[test]
fn a_packet_that_does_not_fit_is_sent_next() {
    let mut bench = Bench::new(framing(aggregation()), &[1500]);
    let room = PsduLimits { frames: 64, bytes: Bytes(2000) };
    let mut large = Some(packet(7, 1500));
    let Bench { originator, framing, .. } = &mut bench;
    let psdu = originator.assemble(framing, ModeClass::Ht, room, NOW, |_| large.take());
    assert_eq!((psdu.mpdus, psdu.answer), (1, ElicitedResponse::Ack));
    bench.originator.on_ack(&mut bench.settled);
    assert_eq!(bench.assemble(room).mpdus, 1);
    assert_eq!(bench.on_air(), [1]);
}

#[test]
fn lost_mpdus_are_sent_first_and_hold_the_window() {
    let mut bench = Bench::new(framing(aggregation()), &[100; 100]);
    let psdu = bench.assemble(LIMITS);
    assert_eq!(psdu.mpdus, 64);
    let all_but_three: Vec<u16> = (0..64).filter(|&bit| bit != 3).collect();
    assert_eq!(bench.block_ack(&all_but_three), 63);
    assert_eq!(bench.settled().len(), 63);
    assert_eq!(bench.assemble(LIMITS).mpdus, 1 + 3, "numbers 64 to 66 are within the window");
    assert_eq!(bench.on_air(), [3, 64, 65, 66]);
    assert_eq!(bench.block_ack(&[61, 62]), 2);
    assert_eq!(bench.assemble(LIMITS).mpdus, 2, "the window has not moved");
    assert_eq!(bench.on_air(), [3, 66]);
    assert_eq!(bench.block_ack(&[0, 63]), 2);
    assert_eq!(bench.originator.start(), 67);
}

#[test]
fn after_a_missed_block_ack_a_request_goes_first() {
    let mut bench = Bench::new(framing(aggregation()), &[100; 3]);
    bench.assemble(LIMITS);
    bench.no_answer();
    let request =
        Psdu { bytes: Bytes(24), mpdus: 0, repeated: 0, answer: ElicitedResponse::BlockAck };
    assert_eq!(bench.assemble(LIMITS), request);
    bench.no_answer();
    assert_eq!(bench.assemble(LIMITS), request, "until it is answered");
    bench.block_ack(&[0, 2]);
    assert_eq!(bench.settled(), [(0, MsduOutcome::Sent), (2, MsduOutcome::Sent)]);
    bench.assemble(LIMITS);
    assert_eq!(bench.on_air(), [1]);
    bench.no_answer();
    assert_eq!(bench.assemble(LIMITS).mpdus, 1, "a single frame is not asked about");
}

#[test]
fn or_all_is_sent_again() {
    let limits = Aggregation { missed: MissedBlockAck::Retransmit, ..aggregation() };
    let mut bench = Bench::new(framing(limits), &[100; 3]);
    bench.assemble(LIMITS);
    bench.no_answer();
    assert_eq!(bench.assemble(LIMITS).mpdus, 3);
}

#[test]
fn after_the_end_of_a_lifetime_a_block_ack_request_moves_the_window() {
    let mut bench = Bench::new(framing(aggregation()), &[100; 3]);
    bench.assemble(LIMITS);
    bench.now = NOW + Duration::from_millis(499);
    bench.block_ack(&[0, 2]);
    bench.settled();
    bench.assemble(LIMITS);
    bench.now = NOW + Duration::from_millis(500);
    bench.no_answer();
    assert_eq!(bench.originator.start(), 3);
    for _ in 0..2 {
        assert_eq!(bench.assemble(LIMITS).mpdus, 0, "a request moves the receiver's window");
        assert_eq!(bench.settled(), [], "the next packet would have no place yet");
        bench.no_answer();
    }
    bench.block_ack(&[]);
    assert_eq!(bench.settled(), [(1, MsduOutcome::Lifetime)]);
    assert!(bench.originator.is_idle());
}

#[test]
fn a_block_ack_request_without_response_is_postponed_until_there_is_data() {
    let mut bench = Bench::new(framing(aggregation()), &[100; 2]);
    bench.assemble(LIMITS);
    bench.no_answer();
    bench.originator.on_retry_limit(&bench.framing, &mut bench.settled);
    assert_eq!(bench.assemble(LIMITS).mpdus, 0, "while data is left it is asked for");
    bench.now = NOW + Duration::from_millis(500);
    bench.no_answer();
    assert_eq!(bench.settled(), [(0, MsduOutcome::Lifetime)]);
    bench.originator.on_retry_limit(&bench.framing, &mut bench.settled);
    assert_eq!(bench.settled(), [(1, MsduOutcome::Lifetime)]);
    assert!(bench.originator.is_idle(), "others have their turn");
    bench.originator.begin_service(&bench.framing, bench.now, &packet(7, 100), Some(0));
    assert_eq!(bench.assemble(LIMITS).mpdus, 0, "the receiver may wait for what was given up");
    bench.no_answer();
    bench.originator.on_retry_limit(&bench.framing, &mut bench.settled);
    assert_eq!(bench.settled(), [(7, MsduOutcome::RetryLimit)], "it has not answered twice");
    assert!(bench.originator.is_idle());
    bench.originator.begin_service(&bench.framing, bench.now, &packet(8, 100), Some(0));
    assert_eq!(bench.assemble(LIMITS).mpdus, 0);
    bench.block_ack(&[]);
    assert_eq!(bench.assemble(LIMITS).mpdus, 1);
    assert_eq!(bench.originator.start(), 2, "what was never sent has left its number");
}

#[test]
fn what_is_in_service_for_a_receiver_that_has_left_is_flushed() {
    let mut bench = Bench::new(framing(aggregation()), &[100; 3]);
    bench.assemble(PsduLimits { frames: 2, ..LIMITS });
    bench.originator.flush(&bench.framing, false, &mut bench.settled);
    assert_eq!((bench.settled(), bench.originator.leaves()), (vec![], true), "it is on the air");
    bench.block_ack(&[1]);
    bench.originator.flush(&bench.framing, true, &mut bench.settled);
    assert_eq!(bench.settled(), [(1, MsduOutcome::Sent), (0, MsduOutcome::Flushed)]);
    assert!(bench.originator.is_idle() && !bench.originator.leaves());
    // The receiver waits for the first, and comes back.
    bench.originator.begin_service(&bench.framing, bench.now, &packet(7, 100), Some(0));
    assert_eq!(bench.assemble(LIMITS).mpdus, 0, "a BlockAckReq");
    assert_eq!(bench.originator.start(), 2);
}

#[test]
fn a_receiver_out_of_range_can_receive_when_it_returns() {
    let mut bench = Bench::new(framing(aggregation()), &[100; 2]);
    bench.assemble(LIMITS);
    bench.no_answer();
    bench.now = NOW + Duration::from_millis(500);
    bench.no_answer();
    for number in 0..3000 {
        bench.originator.on_retry_limit(&bench.framing, &mut bench.settled);
        assert!(bench.originator.is_idle());
        bench.originator.begin_service(&bench.framing, bench.now, &packet(number, 100), Some(0));
        assert_eq!(bench.assemble(LIMITS).mpdus, 0, "it is asked first");
        bench.no_answer();
    }
    // The recipient takes numbers more than half the sequence number space ahead for old ones.
    assert_eq!(bench.originator.start(), 2);
}

#[test]
fn an_mpdu_that_was_never_sent_frees_its_sequence_number() {
    let mut bench = Bench::new(framing(aggregation()), &[100; 3]);
    bench.assemble(PsduLimits { frames: 1, ..LIMITS });
    bench.no_answer();
    // The second MPDU arrives with the first, and neither is acknowledged.
    bench.assemble(PsduLimits { frames: 2, ..LIMITS });
    bench.now = NOW + Duration::from_millis(500);
    bench.originator.on_delay(&bench.framing, bench.now, &mut bench.settled);
    assert_eq!(bench.settled(), [(0, MsduOutcome::Lifetime)], "the last waits for the request");
    assert_eq!(bench.originator.start(), 1);
    assert_eq!(bench.assemble(LIMITS).mpdus, 0, "the receiver may wait for the first");
    bench.block_ack(&[]);
    assert_eq!(bench.settled(), [(1, MsduOutcome::Lifetime)]);
    bench.originator.begin_service(&bench.framing, bench.now, &packet(7, 100), Some(0));
    bench.assemble(LIMITS);
    assert_eq!(bench.originator.on_air().next().map(|(number, _)| number), Some(1));
}

#[test]
fn attempts_may_be_counted() {
    let limits = Aggregation { retry_rule: RetryRule::Counted, ..aggregation() };
    let mut bench = Bench::new(framing(limits), &[100; 2]);
    for arrives in 1..=2 {
        bench.assemble(LIMITS);
        assert_eq!(bench.block_ack(&[arrives]), 1);
        bench.waiting.push_back(packet(9, 100));
    }
    assert_eq!(bench.settled(), [(1, MsduOutcome::Sent), (9, MsduOutcome::Sent)]);
    bench.assemble(LIMITS);
    bench.block_ack(&[]);
    assert_eq!(bench.settled()[0], (0, MsduOutcome::RetryLimit), "three attempts are allowed");
}

#[test]
fn small_packets_share_a_frame() {
    let limits = Aggregation { amsdu: Bytes(300), ..aggregation() };
    let mut bench = Bench::new(framing(limits), &[52, 52, 52, 52, 52, 1500, 52]);
    let psdu = bench.assemble(LIMITS);
    // Subframes of 14 + 60 bytes, padded to 76: 3 * 76 + 74 = 302 is too much, 226 is not.
    let acks = 30 + 2 * 76 + 74;
    let two = 30 + 76 + 74;
    let mpdus: Vec<(u32, u64)> =
        bench.originator.on_air().map(|(_, mpdu)| (mpdu.packets, mpdu.bytes.0)).collect();
    assert_eq!(mpdus, [(3, acks), (2, two), (1, 1538), (1, 90)]);
    assert_eq!(psdu.mpdus, 4);
    bench.block_ack(&[0, 1, 3]);
    let sent: Vec<u64> = bench.settled().iter().map(|settled| settled.0).collect();
    assert_eq!(sent, [0, 1, 2, 3, 4, 6]);
    let open: Vec<u64> = bench.originator.unreceived().map(number).collect();
    assert_eq!(open, [5]);
}

#[test]
fn a_frame_of_the_mac_is_alone() {
    // 30 bytes, which is less than the header of a QoS data frame.
    let null = Body::Management(wire::Management::QosNull(QosNull { ends_period: true }));
    let null = Packet { body: null, ..packet(0, 30) };
    for amsdu in [0, 300] {
        let framing = framing(Aggregation { amsdu: Bytes(amsdu), ..aggregation() });
        let mut originator = Originator::new(false);
        originator.begin_service(&framing, NOW, &null, Some(0));
        let psdu =
            originator.assemble(&framing, ModeClass::Ht, LIMITS, NOW, |_| Some(packet(1, 52)));
        assert_eq!(
            psdu,
            Psdu { bytes: Bytes(30), mpdus: 1, repeated: 0, answer: ElicitedResponse::Ack }
        );
    }
}

#[test]
fn sequence_numbers_are_each_receivers_own() {
    let framing = framing(aggregation());
    let mut originator = Originator::new(true);
    let mut send = |to| {
        originator.begin_service(&framing, NOW, &packet(0, 100), Some(to));
        originator.assemble(&framing, ModeClass::Ht, LIMITS, NOW, |_| None);
        let sequence = originator.start();
        originator.on_ack(&mut Vec::new());
        sequence
    };
    assert_eq!([2, 2, 1, 2, 1, 7].map(&mut send), [0, 1, 0, 2, 1, 0]);
}

#[test]
fn a_number_is_not_used_twice_while_frames_step_aside() {
    let framing = Framing { overhead: Bytes(36), llc: Bytes(8), aggregation: None, attempts: 7 };
    let mut originator = Originator::new(false);
    let begin = |originator: &mut Originator, to| {
        originator.begin_service(&framing, NOW, &packet(0, 100), Some(to));
        originator.assemble(&framing, ModeClass::Ofdm, PsduLimits::SINGLE, NOW, |_| None);
        originator.start()
    };
    assert_eq!(begin(&mut originator, 0), 0);
    originator.swap_aside();
    assert_eq!(begin(&mut originator, 1), 1);
    originator.on_ack(&mut Vec::new());
    originator.swap_aside();
    // No CTS came: the first frame was never transmitted, and its number stays unused.
    originator.on_retry_limit(&framing, &mut Vec::new());
    assert_eq!(begin(&mut originator, 1), 2);
}

#[test]
fn sequence_numbers_have_twelve_bits() {
    let framing = Framing { overhead: Bytes(36), llc: Bytes(8), aggregation: None, attempts: 7 };
    let mut originator = Originator::new(false);
    let mut sequence = || {
        originator.begin_service(&framing, NOW, &packet(0, 100), Some(0));
        originator.assemble(&framing, ModeClass::Ofdm, PsduLimits::SINGLE, NOW, |_| None);
        let sequence = originator.on_air().next().map(|(sequence, _)| sequence);
        originator.on_ack(&mut Vec::new());
        sequence
    };
    let last = (0..4096).filter_map(|_| sequence()).last();
    assert_eq!((last, sequence()), (Some(4095), Some(0)));
}

#[derive(Clone, Copy, Debug)]
enum AttemptOutcome {
    /// These MPDUs are lost; the BlockAck arrives.
    Answered(u64),
    /// These MPDUs and the BlockAck are lost.
    Unanswered(u64),
    /// Other EDCAFs transmit first, for so many milliseconds.
    Delayed(u64),
}

fn attempts() -> impl Strategy<Value = Vec<AttemptOutcome>> {
    let attempt = prop_oneof![
        4 => any::<u64>().prop_map(AttemptOutcome::Answered),
        2 => Just(AttemptOutcome::Answered(0)),
        2 => any::<u64>().prop_map(AttemptOutcome::Unanswered),
        1 => (1u64..400).prop_map(AttemptOutcome::Delayed),
    ];
    prop::collection::vec(attempt, 1..120)
}

fn limits() -> impl Strategy<Value = (Aggregation, u64)> {
    let window = prop_oneof![Just(64u16), Just(256)];
    (window, 1u16..80, any::<bool>(), any::<bool>(), 0u64..2000, 2000u64..70_000).prop_map(
        |(window, frames, counted, request, amsdu, bytes)| {
            let retry_rule = if counted { RetryRule::Counted } else { RetryRule::Lifetime };
            let missed = if request { MissedBlockAck::Request } else { MissedBlockAck::Retransmit };
            let amsdu = Bytes(amsdu);
            let limits = Aggregation { window, frames, amsdu, retry_rule, missed, ..aggregation() };
            (limits, bytes)
        },
    )
}

/// Each packet is in exactly one place, and the packets that arrived are in order.
fn account_for(
    bench: &Bench,
    recipient: &Recipient,
    up: &[Packet],
    packets: usize,
) -> Result<(), TestCaseError> {
    let numbers: Vec<u64> = up.iter().map(number).collect();
    prop_assert!(numbers.is_sorted_by(|a, b| a < b), "{numbers:?}");
    let held: Vec<u64> = recipient.held().map(number).collect();
    let settled_twice = {
        let mut all: Vec<u64> = bench.settled.iter().map(|s| number(&s.packet)).collect();
        all.sort_unstable();
        all.windows(2).any(|pair| pair[0] == pair[1])
    };
    prop_assert!(!settled_twice);
    for settled in &bench.settled {
        let number = number(&settled.packet);
        let arrived = numbers.binary_search(&number).is_ok() || held.contains(&number);
        prop_assert_eq!(arrived, settled.received);
        prop_assert!(arrived || settled.outcome != MsduOutcome::Sent);
    }
    // A packet that is in service, whose service has not ended and which has not arrived.
    let open = bench.originator.unreceived().count();
    let taken = packets - bench.waiting.len();
    let gone = bench.settled.iter().filter(|s| !s.received).count();
    prop_assert_eq!(numbers.len() + held.len() + open + gone, taken);
    Ok(())
}

proptest! {
    /// With any losses between an originator and a recipient: each packet is delivered at most once
    /// and in order, each packet that ends as sent has arrived, and the limits and the window hold.
    #[test]
    fn both_ends_agree((limits, bytes) in limits(), attempts in attempts()) {
        let framing = framing(limits);
        let sizes: Vec<u64> = (0..4000u64).map(|i| [1500, 52, 700, 52][i as usize % 4]).collect();
        let mut bench = Bench::new(framing, &sizes);
        let mut recipient = Recipient::new(limits.window);
        let room = PsduLimits { frames: limits.frames, bytes: Bytes(bytes) };
        let mut up = Vec::new();
        for attempt in attempts {
            let (lost, answered) = match attempt {
                AttemptOutcome::Answered(lost) => (lost, true),
                AttemptOutcome::Unanswered(lost) => (lost, false),
                AttemptOutcome::Delayed(ms) => {
                    bench.now += Duration::from_millis(ms);
                    bench.originator.on_delay(&framing, bench.now, &mut bench.settled);
                    (u64::MAX, false)
                }
            };
            if bench.originator.is_idle() {
                let Some(packet) = bench.waiting.pop_front() else { break };
                bench.originator.begin_service(&framing, bench.now, &packet, Some(0));
            }
            let psdu = bench.assemble(room);
            prop_assert!(psdu.mpdus <= room.frames);
            prop_assert!(psdu.mpdus <= 1 || psdu.bytes <= room.bytes);
            let start = bench.originator.start();
            let on_air: Vec<(u16, Vec<Packet>)> = bench
                .originator
                .on_air()
                .map(|(seq, mpdu)| (seq, bench.originator.packets_of(mpdu).copied().collect()))
                .collect();
            let mut heard = psdu.mpdus == 0 && lost & 1 == 0;
            for (i, (sequence, packets)) in on_air.iter().enumerate() {
                prop_assert!(distance(start, *sequence) < limits.window);
                if lost >> (i % 64) & 1 == 0 {
                    heard = true;
                    bench.originator.note_received(i);
                    recipient.on_mpdu(*sequence, packets.iter(), |packet| up.push(*packet));
                }
            }
            if heard && psdu.mpdus == 0 {
                recipient.on_request(start, |packet| up.push(*packet));
            }
            let Bench { originator, settled, now, .. } = &mut bench;
            match psdu.answer {
                ElicitedResponse::BlockAck if heard && answered => {
                    originator.on_block_ack(&framing, *now, &recipient.block_ack(start), settled);
                }
                ElicitedResponse::Ack if heard && answered => originator.on_ack(settled),
                _ => originator.on_no_answer(&framing, *now, settled),
            }
        }
        account_for(&bench, &recipient, &up, sizes.len())?;
    }
}
