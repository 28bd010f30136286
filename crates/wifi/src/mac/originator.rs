//! The sending end of a stream of frames: what one access category of one node has to send over
//! the air, to one receiver at a time, and how far it has come.
//!
//! It knows nothing of the medium. Whoever does tells it when to put a PSDU together and what
//! became of that; it tells whose service has ended thereby.

use super::aggregation::{
    Aggregation, BLOCK_ACK_REQUEST, MissedBlockAck, RetryRule, Room, SUBFRAME_HEADER, ampdu, amsdu,
    single,
};
use super::block_ack::{Bitmap, SEQUENCES, after, distance};
use super::exchange::ElicitedResponse;
use super::streams::Streams;
use crate::phy::ModeClass;
use kernel::{Bytes, Duration, Instant};
use std::collections::VecDeque;
use wire::Packet;

/// How the service of a packet ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MsduOutcome {
    /// It was acknowledged, or needed no acknowledgement.
    Sent,
    /// A retry limit was reached.
    RetryLimit,
    /// Its lifetime was over.
    Lifetime,
}

/// How packets become MPDUs, and when these are given up.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Framing {
    /// Bytes that MAC and LLC add to a packet, FCS included.
    pub(crate) overhead: Bytes,
    /// Of these those of LLC and SNAP, of which each MSDU has its own.
    pub(crate) llc: Bytes,
    /// Limits and rules of aggregates; without it, frames go one by one.
    pub(crate) aggregation: Option<Aggregation>,
    /// Attempts of an MPDU under [`RetryRule::Counted`].
    pub(crate) attempts: u32,
}

impl Framing {
    /// Header and FCS of a data frame, without the LLC header, which belongs to each MSDU.
    fn frame(&self) -> Bytes {
        Bytes(self.overhead.0.saturating_sub(self.llc.0))
    }

    fn window(&self) -> usize {
        self.aggregation.map_or(1, |aggregation| usize::from(aggregation.window))
    }
}

/// What goes on the air at one access.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Psdu {
    pub(crate) bytes: Bytes,
    /// Data frames in it; none: it is a block-ack request.
    pub(crate) mpdus: u16,
    pub(crate) answer: ElicitedResponse,
}

impl Psdu {
    /// Before anything is put together.
    pub(crate) const NONE: Self =
        Self { bytes: Bytes::ZERO, mpdus: 0, answer: ElicitedResponse::None };
}

/// A packet whose service has ended.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Settled {
    pub(crate) packet: Packet,
    pub(crate) outcome: MsduOutcome,
    /// Whether the receiver has it, whatever the sender knows.
    pub(crate) received: bool,
}

/// A data frame in service.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Mpdu {
    /// Its first packet among all that the originator ever took.
    first: u64,
    /// Packets in it: several in an A-MSDU.
    packets: u32,
    /// With header and FCS.
    pub(crate) bytes: Bytes,
    /// Times it was on the air; above 0 its Retry bit is set (clause 9.2.4.1.6).
    pub(crate) attempts: u32,
    expires: Instant,
    /// The receiver has it.
    pub(crate) received: bool,
    /// Its service has ended, and it waits for those before it.
    settled: bool,
    /// It ended without an acknowledgement.
    given_up: bool,
}

/// What one access category of one node has in service, all for one receiver.
#[derive(Debug)]
pub(crate) struct Originator {
    to: Option<u32>,
    /// Sequence number of the first MPDU: the start of the window (`WinStartO`).
    start: u16,
    mpdus: VecDeque<Mpdu>,
    packets: VecDeque<Packet>,
    /// Packets that have left.
    passed: u64,
    streams: Streams,
    /// The receiver has not answered anything since.
    doubted: bool,
    /// MPDUs of the last PSDU, as places in `mpdus`.
    psdu: Vec<u16>,
    /// A block-ack request goes before all else.
    request: bool,
    /// The last packet in service, if nothing but that request is left: it ends with the request.
    last: Option<Settled>,
}

impl Originator {
    /// One with nothing to send, whose frames are numbered for each receiver apart, or for all
    /// together (clause 10.3.2.14.2).
    pub(crate) fn new(apart: bool) -> Self {
        Self {
            to: None,
            start: 0,
            mpdus: VecDeque::new(),
            packets: VecDeque::new(),
            passed: 0,
            streams: Streams::new(apart),
            doubted: false,
            psdu: Vec::new(),
            request: false,
            last: None,
        }
    }

    /// Whether there is nothing to send.
    pub(crate) fn is_idle(&self) -> bool {
        self.mpdus.is_empty() && !self.request
    }

    /// The receiver of what is in service; `None` is broadcast.
    pub(crate) fn to(&self) -> Option<u32> {
        self.to
    }

    /// An idle one takes a packet into service.
    pub(crate) fn begin_service(
        &mut self,
        framing: &Framing,
        now: Instant,
        packet: Packet,
        to: Option<u32>,
    ) {
        debug_assert!(self.is_idle(), "one receiver at a time");
        self.to = to;
        let stream = self.streams.turn_to(to.unwrap_or(0));
        self.doubted = to.is_some() && std::mem::take(&mut stream.owed);
        self.request = self.doubted;
        self.start = stream.next;
        self.append(framing, now, packet);
    }

    fn append(&mut self, framing: &Framing, now: Instant, packet: Packet) {
        let next = &mut self.streams.present().next;
        *next = (*next + 1) % SEQUENCES;
        let lifetime = framing.aggregation.map_or(Duration::ZERO, |limits| limits.lifetime);
        self.mpdus.push_back(Mpdu {
            first: self.passed + self.packets.len() as u64,
            packets: 1,
            bytes: framing.overhead + packet.size,
            attempts: 0,
            expires: now + lifetime,
            received: false,
            settled: false,
            given_up: false,
        });
        self.packets.push_back(packet);
    }

    /// Puts together what goes on the air now: a block-ack request if one is due; else frames that
    /// were on the air before, then new ones, which `source` gives one by one: the next packet for
    /// this receiver if it is no larger than it says.
    pub(crate) fn assemble(
        &mut self,
        framing: &Framing,
        class: ModeClass,
        room: Room,
        now: Instant,
        mut source: impl FnMut(Bytes) -> Option<Packet>,
    ) -> Psdu {
        self.psdu.clear();
        if self.request {
            return Psdu { bytes: BLOCK_ACK_REQUEST, mpdus: 0, answer: ElicitedResponse::BlockAck };
        }
        // The common case without aggregates, and what it would come to below.
        if framing.aggregation.is_none() {
            self.psdu.push(0);
            return self.describe(class, Bytes::ZERO);
        }
        let frames = if self.to.is_some() { usize::from(room.frames) } else { 1 };
        let (mut bytes, mut place) = (Bytes::ZERO, 0);
        while self.psdu.len() < frames && place < framing.window() {
            if place == self.mpdus.len() {
                let most = ampdu(bytes, framing.overhead);
                let Some(most) = room.bytes.0.checked_sub(most.0) else { break };
                let Some(packet) = source(Bytes(most)) else { break };
                self.append(framing, now, packet);
            }
            if self.mpdus[place].settled {
                place += 1;
                continue;
            }
            if place + 1 == self.mpdus.len() {
                self.fill(framing, room.bytes, bytes, &mut source);
            }
            let mpdu = &self.mpdus[place];
            let longer = ampdu(bytes, mpdu.bytes);
            // One frame may go whatever its size; a larger one than was asked for waits.
            if !self.psdu.is_empty() && longer > room.bytes {
                break;
            }
            bytes = longer;
            self.psdu.push(place as u16);
            place += 1;
        }
        self.describe(class, bytes)
    }

    fn describe(&self, class: ModeClass, bytes: Bytes) -> Psdu {
        match self.psdu[..] {
            [only] => {
                let mpdu = self.mpdus[usize::from(only)].bytes;
                let answer =
                    if self.to.is_some() { ElicitedResponse::Ack } else { ElicitedResponse::None };
                Psdu { bytes: single(class, mpdu), mpdus: 1, answer }
            }
            _ => Psdu { bytes, mpdus: self.psdu.len() as u16, answer: ElicitedResponse::BlockAck },
        }
    }

    /// Adds packets to the last frame, if A-MSDUs are on and it was not on the air yet.
    fn fill(
        &mut self,
        framing: &Framing,
        room: Bytes,
        before: Bytes,
        source: &mut impl FnMut(Bytes) -> Option<Packet>,
    ) {
        let Some(limits) = framing.aggregation.filter(|limits| limits.amsdu > Bytes::ZERO) else {
            return;
        };
        let Some(mpdu) = self.mpdus.back_mut().filter(|mpdu| mpdu.attempts == 0) else { return };
        if self.to.is_none() {
            return;
        }
        let frame = framing.frame();
        // The A-MSDU of a single packet would have a subframe header more.
        let alone = if mpdu.packets == 1 { SUBFRAME_HEADER } else { Bytes::ZERO };
        let mut body = mpdu.bytes - frame + alone;
        let most = limits.amsdu.0.min(room.0.saturating_sub(ampdu(before, frame).0));
        while let Some(left) = most.checked_sub(amsdu(body, framing.llc).0)
            && let Some(packet) = source(Bytes(left))
        {
            body = amsdu(body, framing.llc + packet.size);
            mpdu.packets += 1;
            mpdu.bytes = frame + body;
            self.packets.push_back(packet);
        }
    }

    /// The frames of the last PSDU in order, each with its sequence number.
    pub(crate) fn on_air(&self) -> impl Iterator<Item = (u16, &Mpdu)> {
        let frame = |&place: &u16| (after(self.start, place), &self.mpdus[usize::from(place)]);
        self.psdu.iter().map(frame)
    }

    /// One of them.
    pub(crate) fn frame_on_air(&self, index: usize) -> (u16, Mpdu) {
        let place = self.psdu[index];
        (after(self.start, place), self.mpdus[usize::from(place)])
    }

    /// The bytes of the last PSDU at which its frames begin and end, delimiters included.
    pub(crate) fn spans(&self, psdu: &Psdu) -> impl Iterator<Item = (Bytes, Bytes)> {
        let (whole, alone) = (psdu.bytes, psdu.mpdus <= 1);
        let mut before = Bytes::ZERO;
        self.on_air().map(move |(_, mpdu)| {
            let after = if alone { whole } else { ampdu(before, mpdu.bytes) };
            (std::mem::replace(&mut before, after), after)
        })
    }

    /// Frames of the last PSDU that were on the air before it.
    pub(crate) fn repeated(&self) -> u64 {
        let attempts = |&place: &u16| self.mpdus[usize::from(place)].attempts;
        self.psdu.iter().map(|place| u64::from(attempts(place) > 0)).sum()
    }

    /// Whether the last PSDU is still to be sent, again if it was sent before.
    pub(crate) fn is_assembled(&self) -> bool {
        !self.psdu.is_empty()
    }

    /// Whether the receiver has all frames of the last PSDU, of which there is one at least.
    pub(crate) fn all_received(&self) -> bool {
        let received = |&place: &u16| self.mpdus[usize::from(place)].received;
        !self.psdu.is_empty() && self.psdu.iter().all(received)
    }

    /// The packets of a frame.
    pub(crate) fn packets_of(&self, mpdu: &Mpdu) -> impl Iterator<Item = &Packet> + use<'_> {
        let first = (mpdu.first - self.passed) as usize;
        self.packets.range(first..first + mpdu.packets as usize)
    }

    /// The receiver has this frame of the last PSDU.
    pub(crate) fn note_received(&mut self, index: usize) {
        let place = self.psdu[index];
        self.mpdus[usize::from(place)].received = true;
    }

    /// Sequence number of the first frame in service, where block acks begin.
    pub(crate) fn start(&self) -> u16 {
        self.start
    }

    /// Whether a sequence number lies within so many from the first frame in service.
    pub(crate) fn keeps_window(&self, sequence: u16, window: u16) -> bool {
        distance(self.start, sequence) < window
    }

    /// Packets whose receiver does not have them.
    pub(crate) fn unreceived(&self) -> impl Iterator<Item = &Packet> {
        let open = self.mpdus.iter().filter(|mpdu| !mpdu.received && !mpdu.settled);
        let last = self.last.iter().filter(|last| !last.received).map(|last| &last.packet);
        open.flat_map(|mpdu| self.packets_of(mpdu)).chain(last)
    }

    /// All of the last PSDU needed no acknowledgement, or has got an ACK.
    pub(crate) fn on_ack(&mut self, settled: &mut Vec<Settled>) {
        if let (&[0], 1) = (&self.psdu[..], self.mpdus.len()) {
            return self.finish_only(settled);
        }
        for i in 0..self.psdu.len() {
            let place = usize::from(self.psdu[i]);
            self.mpdus[place].attempts += 1;
            self.settle(place, MsduOutcome::Sent, settled);
        }
        self.trim(settled);
    }

    /// The only frame in service is acknowledged: what [`Self::settle`] and [`Self::trim`] come to
    /// then.
    fn finish_only(&mut self, settled: &mut Vec<Settled>) {
        self.psdu.clear();
        let Some(Mpdu { packets, received, .. }) = self.mpdus.pop_front() else { return };
        self.start = after(self.start, 1);
        self.passed += u64::from(packets);
        for _ in 0..packets {
            let Some(packet) = self.packets.pop_front() else { return };
            settled.push(Settled { packet, outcome: MsduOutcome::Sent, received });
        }
    }

    /// A block ack has come, whose first bit stands for [`Originator::start`]. Returns how many
    /// frames of the last PSDU have arrived.
    pub(crate) fn on_block_ack(
        &mut self,
        framing: &Framing,
        now: Instant,
        arrived: &Bitmap,
        settled: &mut Vec<Settled>,
    ) -> u32 {
        let mut count = 0;
        for &place in &self.psdu {
            self.mpdus[usize::from(place)].attempts += 1;
            count += u32::from(arrived.has(place));
        }
        (self.request, self.doubted) = (false, false);
        for place in 0..self.mpdus.len() {
            if !self.mpdus[place].settled && arrived.has(place as u16) {
                self.settle(place, MsduOutcome::Sent, settled);
            }
        }
        self.give_up(framing, now, settled);
        self.trim(settled);
        count
    }

    /// The last PSDU was on the air, and no answer came.
    pub(crate) fn on_no_answer(
        &mut self,
        framing: &Framing,
        now: Instant,
        settled: &mut Vec<Settled>,
    ) {
        for &place in &self.psdu {
            self.mpdus[usize::from(place)].attempts += 1;
        }
        let Some(limits) = framing.aggregation else { return };
        // Nothing is to be asked about a single frame, which wanted an ACK.
        self.request |= limits.missed == MissedBlockAck::Request && self.psdu.len() > 1;
        self.on_delay(framing, now, settled);
    }

    /// Time has passed without a frame on the air: no CTS came, or another category of the node
    /// went first.
    pub(crate) fn on_delay(&mut self, framing: &Framing, now: Instant, settled: &mut Vec<Settled>) {
        if framing.aggregation.is_some() {
            self.give_up(framing, now, settled);
            self.trim(settled);
        }
    }

    /// A retry limit is reached: without an agreement all is given up, under one nothing (clause
    /// 10.23.2.12.1) but to a receiver that has not answered the last request either: others have
    /// their turn. A request that is left is put off until there is data for its receiver again.
    pub(crate) fn on_retry_limit(&mut self, framing: &Framing, settled: &mut Vec<Settled>) {
        let out_of_reach = self.request && (self.doubted || self.mpdus.is_empty());
        if framing.aggregation.is_none() || self.to.is_none() || out_of_reach {
            for place in 0..self.mpdus.len() {
                if !self.mpdus[place].settled {
                    self.settle(place, MsduOutcome::RetryLimit, settled);
                }
            }
        }
        self.trim(settled);
        if out_of_reach {
            (self.request, self.streams.present().owed) = (false, true);
            settled.extend(self.last.take());
        }
    }

    /// Gives up frames that have had their time or their attempts.
    fn give_up(&mut self, framing: &Framing, now: Instant, settled: &mut Vec<Settled>) {
        let Some(limits) = framing.aggregation else { return };
        for place in 0..self.mpdus.len() {
            let Mpdu { settled: over, expires, attempts, .. } = self.mpdus[place];
            // As long as a request is due, the receiver may have it.
            let counted = limits.retry_rule == RetryRule::Counted && !self.request;
            let outcome = match () {
                () if over => continue,
                () if now >= expires => MsduOutcome::Lifetime,
                () if counted && attempts >= framing.attempts => MsduOutcome::RetryLimit,
                () => continue,
            };
            self.settle(place, outcome, settled);
            self.mpdus[place].given_up = true;
        }
    }

    fn settle(&mut self, place: usize, outcome: MsduOutcome, settled: &mut Vec<Settled>) {
        let mpdu = &mut self.mpdus[place];
        mpdu.settled = true;
        let received = mpdu.received;
        let first = (mpdu.first - self.passed) as usize;
        let packets = self.packets.range(first..first + mpdu.packets as usize);
        settled.extend(packets.map(|&packet| Settled { packet, outcome, received }));
    }

    /// Moves the window up to the first frame in service. Where the receiver may wait for one that
    /// was given up, a request has to tell it (clause 10.25.6.5). Those that never were on the air
    /// leave their numbers to those after them, for a receiver cannot follow more than half a turn.
    fn trim(&mut self, settled: &mut Vec<Settled>) {
        self.psdu.clear();
        let count = self.mpdus.len();
        self.mpdus.retain(|mpdu| !mpdu.settled || mpdu.attempts > 0);
        let unsent = (count - self.mpdus.len()) as u16;
        let next = &mut self.streams.present().next;
        *next = after(*next, SEQUENCES - unsent);
        while let Some(mpdu) = self.mpdus.pop_front_if(|mpdu| mpdu.settled) {
            self.request |= mpdu.given_up;
            self.start = after(self.start, 1);
        }
        let taken = self.passed + self.packets.len() as u64;
        let next = self.mpdus.front().map_or(taken, |mpdu| mpdu.first);
        self.packets.drain(..(next - self.passed) as usize);
        self.passed = next;
        // Where the service of a packet ends the next one is brought, and there is no place for it
        // before the request is over.
        if !self.request {
            settled.extend(self.last.take());
        } else if self.mpdus.is_empty() {
            self.last = self.last.take().or_else(|| settled.pop());
        }
    }
}

#[cfg(test)]
#[path = "originator_tests.rs"]
pub(crate) mod tests;
