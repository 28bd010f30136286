//! The originator: the MSDUs in service of one access category of one node, for one receiver at a
//! time, and their progress.
//!
//! The originator does not access the medium. Its caller decides when a PSDU is assembled and
//! reports the outcome. The originator returns the MSDUs whose service has ended.

mod aside;
mod discard;
mod finished;
mod observed;
mod psdu;
mod triggered;

use super::aggregation::{
    Aggregation, BLOCK_ACK_REQUEST, DELIMITER, MissedBlockAck, PsduLimits, RetryRule,
    SUBFRAME_HEADER, ampdu, amsdu, single,
};
use super::block_ack::{Bitmap, SEQUENCES, after, distance};
use super::exchange::ElicitedResponse;
use super::streams::Streams;
use crate::phy::ModeClass;
use aside::Aside;
pub(crate) use finished::Settled;
use kernel::{Bytes, Duration, Instant};
pub(crate) use psdu::Psdu;
use std::collections::VecDeque;
use wire::{Body, DropCause, Packet};

/// How the service of an MSDU ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MsduOutcome {
    /// The MSDU was acknowledged, or needed no acknowledgement.
    Sent,
    /// The retry limit was reached.
    RetryLimit,
    /// The lifetime ended.
    Lifetime,
    /// The receiver has left, and the MSDU was flushed.
    Flushed,
}

impl MsduOutcome {
    /// Why an MSDU is lost that no receiver has.
    pub fn cause(self) -> DropCause {
        match self {
            Self::Sent => DropCause::Broadcast,
            Self::RetryLimit => DropCause::RetryLimit,
            Self::Lifetime => DropCause::Lifetime,
            Self::Flushed => DropCause::Roaming,
        }
    }
}

/// How MSDUs become MPDUs, and when MPDUs are discarded.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Framing {
    /// Bytes that MAC and LLC add to a packet, FCS included.
    pub(crate) overhead: Bytes,
    /// The part of `overhead` that is the LLC and SNAP header, of which each MSDU has its own.
    pub(crate) llc: Bytes,
    /// Limits and rules of aggregation; `None` is one MPDU per PPDU.
    pub(crate) aggregation: Option<Aggregation>,
    /// Attempts of an MPDU under [`RetryRule::Counted`].
    pub(crate) attempts: u32,
}

impl Framing {
    /// Header and FCS of an MPDU, without the LLC header, which belongs to each MSDU.
    fn frame(&self) -> Bytes {
        Bytes(self.overhead.0.saturating_sub(self.llc.0))
    }

    /// The number of MPDUs that may be outstanding in PPDUs of this class.
    pub(crate) fn window_in(&self, class: ModeClass) -> u16 {
        self.aggregation.map_or(1, |limits| limits.window_in(class))
    }
}

/// An MPDU in service.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Mpdu {
    /// The number of its first packet among all packets that the originator ever took.
    first: u64,
    /// The number of its packets: several in an A-MSDU.
    packets: u32,
    /// Length with header and FCS.
    pub(crate) bytes: Bytes,
    /// How often it was transmitted. Above 0 its Retry bit is set (clause 9.2.4.1.6).
    pub(crate) attempts: u32,
    expires: Instant,
    /// The receiver has it.
    pub(crate) received: bool,
    /// Its service has ended, and an earlier MPDU is still in service.
    settled: bool,
    /// Its service ended without an acknowledgement.
    given_up: bool,
}

/// The MSDUs in service of one access category of one node, all for one receiver.
#[derive(Debug)]
pub(crate) struct Originator {
    to: Option<u32>,
    /// What is in service is a frame of the MAC itself, which goes alone.
    is_own_frame: bool,
    /// Sequence number of the first MPDU: the start of the transmit window (`WinStartO`).
    start: u16,
    mpdus: VecDeque<Mpdu>,
    packets: VecDeque<Packet>,
    /// The number of packets that are no longer in service.
    passed: u64,
    streams: Streams,
    /// The receiver did not respond to the last BlockAckReq and has not responded since.
    doubted: bool,
    /// The MPDUs of the last PSDU, as indices into `mpdus`.
    psdu: Vec<u16>,
    /// A BlockAckReq is due before any data.
    request: bool,
    /// The receiver has left: what is in service is flushed when the attempt on the air ends.
    leaves: bool,
    /// The last packet in service, if only that BlockAckReq is left: its service ends with the
    /// BlockAckReq.
    last: Option<Box<Settled>>,
    /// The MSDU in service that stepped aside for another, if there ever was one.
    aside: Option<Box<Aside>>,
}

impl Originator {
    /// Creates an idle originator. If `apart`, it numbers the MPDUs of each receiver separately,
    /// else those of all receivers together (clause 10.3.2.14.2).
    pub(crate) fn new(apart: bool) -> Self {
        Self {
            to: None,
            is_own_frame: false,
            start: 0,
            mpdus: VecDeque::new(),
            packets: VecDeque::new(),
            passed: 0,
            streams: Streams::new(apart),
            doubted: false,
            psdu: Vec::new(),
            request: false,
            leaves: false,
            last: None,
            aside: None,
        }
    }

    /// Whether nothing is in service.
    pub(crate) fn is_idle(&self) -> bool {
        self.mpdus.is_empty() && !self.request
    }

    /// Whether a BlockAckReq is due before any data.
    pub(crate) fn owes_request(&self) -> bool {
        self.request
    }

    /// Whether the next frame is sent alone: a BlockAckReq, or a frame of the MAC. The originator
    /// must not be idle.
    pub(crate) fn goes_alone(&self) -> bool {
        self.request || self.is_own_frame
    }

    /// The receiver of the MSDUs in service; `None` is broadcast.
    pub(crate) fn to(&self) -> Option<u32> {
        self.to
    }

    /// Takes a packet into service. The originator must be idle.
    pub(crate) fn begin_service(
        &mut self,
        framing: &Framing,
        now: Instant,
        packet: &Packet,
        to: Option<u32>,
    ) {
        debug_assert!(self.is_idle(), "one receiver at a time");
        (self.to, self.leaves) = (to, false);
        self.is_own_frame = matches!(packet.body, Body::Management(_));
        // Broadcasts have a stream of their own.
        let stream = self.streams.turn_to(to.unwrap_or(u32::MAX));
        self.doubted = to.is_some() && std::mem::take(&mut stream.owed);
        self.request = self.doubted;
        self.start = stream.next;
        self.append(framing, now, packet);
    }

    fn append(&mut self, framing: &Framing, now: Instant, packet: &Packet) {
        let next = &mut self.streams.present().next;
        *next = (*next + 1) % SEQUENCES;
        let lifetime = framing.aggregation.map_or(Duration::ZERO, |limits| limits.lifetime);
        self.mpdus.push_back(Mpdu {
            first: self.passed + self.packets.len() as u64,
            packets: 1,
            bytes: packet.mpdu(framing.overhead),
            attempts: 0,
            expires: now + lifetime,
            received: false,
            settled: false,
            given_up: false,
        });
        self.packets.push_back(*packet);
    }

    /// Assembles the next PSDU: a BlockAckReq if one is due, else MPDUs that were transmitted
    /// before, then new ones. `source` returns the next packet for this receiver if it is no larger
    /// than its argument.
    pub(crate) fn assemble(
        &mut self,
        framing: &Framing,
        class: ModeClass,
        room: PsduLimits,
        now: Instant,
        mut source: impl FnMut(Bytes) -> Option<Packet>,
    ) -> Psdu {
        self.psdu.clear();
        if self.request {
            return Psdu::REQUEST;
        }
        // Without aggregation, the general case would do the same. A frame of the MAC goes alone.
        let Some(limits) = framing.aggregation.filter(|_| !self.is_own_frame) else {
            self.psdu.push(0);
            let Mpdu { bytes, attempts, .. } = self.mpdus[0];
            return self.describe(class, ampdu(Bytes::ZERO, bytes), u16::from(attempts > 0));
        };
        let joins = limits.amsdu > Bytes::ZERO;
        let frames = if self.to.is_some() { usize::from(room.frames) } else { 1 };
        let (mut bytes, mut repeated, mut place) = (Bytes::ZERO, 0, 0);
        let window = usize::from(framing.window_in(class));
        while self.psdu.len() < frames && place < window {
            if place == self.mpdus.len() {
                let most = ampdu(bytes, framing.overhead);
                let Some(most) = room.bytes.0.checked_sub(most.0) else { break };
                let Some(packet) = &source(Bytes(most)) else { break };
                self.append(framing, now, packet);
            }
            let Mpdu { settled, attempts, bytes: mut own, .. } = self.mpdus[place];
            if settled {
                place += 1;
                continue;
            }
            if joins && place + 1 == self.mpdus.len() {
                self.fill(framing, class, room.bytes, bytes, &mut source);
                own = self.mpdus[place].bytes;
            }
            let longer = ampdu(bytes, own);
            // A single MPDU may have any size. A further one that does not fit waits for the next
            // PSDU.
            if !self.psdu.is_empty() && longer > room.bytes {
                break;
            }
            bytes = longer;
            repeated += u16::from(attempts > 0);
            self.psdu.push(place as u16);
            place += 1;
        }
        self.describe(class, bytes, repeated)
    }

    /// The last PSDU, whose MPDUs are an A-MPDU of so many bytes unless there is only one.
    fn describe(&self, class: ModeClass, bytes: Bytes, repeated: u16) -> Psdu {
        let mpdus = self.psdu.len() as u16;
        let (bytes, answer) = match self.to {
            _ if mpdus != 1 => (bytes, ElicitedResponse::BlockAck),
            Some(_) => (single(class, bytes - DELIMITER), ElicitedResponse::Ack),
            None => (single(class, bytes - DELIMITER), ElicitedResponse::None),
        };
        Psdu { bytes, mpdus, repeated, answer }
    }

    /// Adds packets to the last MPDU if A-MSDUs are on and it has not been transmitted.
    fn fill(
        &mut self,
        framing: &Framing,
        class: ModeClass,
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
        // An A-MSDU adds a subframe header to the packet that the MPDU has.
        let alone = if mpdu.packets == 1 { SUBFRAME_HEADER } else { Bytes::ZERO };
        let mut body = mpdu.bytes - frame + alone;
        let longest = limits.amsdu_in(class);
        let most = longest.0.min(room.0.saturating_sub(ampdu(before, frame).0));
        while let Some(left) = most.checked_sub(amsdu(body, framing.llc).0)
            && let Some(packet) = source(Bytes(left))
        {
            body = amsdu(body, framing.llc + packet.size);
            mpdu.packets += 1;
            mpdu.bytes = frame + body;
            self.packets.push_back(packet);
        }
    }

    /// The MPDUs of the last PSDU in order, each with its sequence number.
    pub(crate) fn on_air(&self) -> impl Iterator<Item = (u16, &Mpdu)> {
        let frame = |&place: &u16| (after(self.start, place), &self.mpdus[usize::from(place)]);
        self.psdu.iter().map(frame)
    }

    /// One MPDU of the last PSDU, with its sequence number.
    #[inline]
    pub(crate) fn frame_on_air(&self, index: usize) -> (u16, Mpdu) {
        let place = self.psdu[index];
        (after(self.start, place), self.mpdus[usize::from(place)])
    }

    /// The offsets in the last PSDU at which its MPDUs begin and end, delimiters included.
    pub(crate) fn spans(&self, psdu: &Psdu) -> impl Iterator<Item = (Bytes, Bytes)> {
        let (whole, alone) = (psdu.bytes, psdu.mpdus <= 1);
        let mut before = Bytes::ZERO;
        self.on_air().map(move |(_, mpdu)| {
            let after = if alone { whole } else { ampdu(before, mpdu.bytes) };
            (std::mem::replace(&mut before, after), after)
        })
    }

    /// The number of MPDUs of the last PSDU that are retransmissions.
    pub(crate) fn repeated(&self) -> u64 {
        let attempts = |&place: &u16| self.mpdus[usize::from(place)].attempts;
        self.psdu.iter().map(|place| u64::from(attempts(place) > 0)).sum()
    }

    /// Whether the assembled PSDU must still be sent, for the first time or again.
    pub(crate) fn is_assembled(&self) -> bool {
        !self.psdu.is_empty()
    }

    /// Whether the last PSDU has MPDUs and the receiver has all of them.
    pub(crate) fn all_received(&self) -> bool {
        let received = |&place: &u16| self.mpdus[usize::from(place)].received;
        !self.psdu.is_empty() && self.psdu.iter().all(received)
    }

    /// The packets of an MPDU.
    pub(crate) fn packets_of(&self, mpdu: &Mpdu) -> impl Iterator<Item = &Packet> + use<'_> {
        let first = (mpdu.first - self.passed) as usize;
        // Most MPDUs have one packet: a range of the ring costs more.
        (first..first + mpdu.packets as usize).map(|place| &self.packets[place])
    }

    /// The receiver has received this MPDU of the last PSDU.
    pub(crate) fn note_received(&mut self, index: usize) {
        let place = self.psdu[index];
        self.mpdus[usize::from(place)].received = true;
    }

    /// The same; returns the MPDU with its sequence number.
    #[inline]
    pub(crate) fn receive(&mut self, index: usize) -> (u16, Mpdu) {
        let place = self.psdu[index];
        let mpdu = &mut self.mpdus[usize::from(place)];
        mpdu.received = true;
        (after(self.start, place), *mpdu)
    }

    /// Sequence number of the first MPDU in service: the starting sequence number of BlockAcks.
    pub(crate) fn start(&self) -> u16 {
        self.start
    }

    /// Whether a sequence number lies in a window of this size that starts at the first MPDU in
    /// service.
    pub(crate) fn keeps_window(&self, sequence: u16, window: u16) -> bool {
        distance(self.start, sequence) < window
    }

    /// An Ack acknowledges the whole last PSDU, or the PSDU needed no acknowledgement.
    pub(crate) fn on_ack(&mut self, settled: &mut Vec<Settled>) {
        if self.sent_only() {
            return self.finish_only(settled);
        }
        for i in 0..self.psdu.len() {
            let place = usize::from(self.psdu[i]);
            self.mpdus[place].attempts += 1;
            self.settle(place, MsduOutcome::Sent, settled);
        }
        self.trim(settled);
    }

    /// A BlockAck has arrived whose first bit acknowledges the MPDU [`Originator::start`]. Returns
    /// how many MPDUs of the last PSDU the receiver has.
    pub(crate) fn on_block_ack(
        &mut self,
        framing: &Framing,
        now: Instant,
        arrived: &Bitmap,
        settled: &mut Vec<Settled>,
    ) -> u32 {
        (self.request, self.doubted) = (false, false);
        if arrived.has(0) && self.sent_only() {
            self.finish_only(settled);
            return 1;
        }
        let mut count = 0;
        for &place in &self.psdu {
            self.mpdus[usize::from(place)].attempts += 1;
            count += u32::from(arrived.has(place));
        }
        if count > 0 && count as usize == self.mpdus.len() {
            self.finish_all(settled);
            return count;
        }
        for place in 0..self.mpdus.len() {
            if !self.mpdus[place].settled && arrived.has(place as u16) {
                self.settle(place, MsduOutcome::Sent, settled);
            }
        }
        self.give_up(framing, now, settled);
        self.trim(settled);
        count
    }

    /// The last PSDU was transmitted, and no response came.
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
        // A single MPDU elicits an Ack, so no BlockAckReq follows it.
        self.request |= limits.missed == MissedBlockAck::Request && self.psdu.len() > 1;
        self.on_delay(framing, now, settled);
    }

    /// Time has passed without a transmission: no CTS came, or the EDCAF lost an internal
    /// collision.
    pub(crate) fn on_delay(&mut self, framing: &Framing, now: Instant, settled: &mut Vec<Settled>) {
        if framing.aggregation.is_some() {
            self.give_up(framing, now, settled);
            self.trim(settled);
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

    /// Moves the window up to the first MPDU in service. If the receiver may wait for an MPDU that
    /// was discarded, a BlockAckReq must move its window (clause 10.25.6.5). An MPDU that was
    /// discarded before its first transmission frees its sequence number for the next one, because
    /// a recipient cannot follow a jump of more than half the sequence number space. It keeps its
    /// number if an MPDU that was in service while it stepped aside has a later one.
    fn trim(&mut self, settled: &mut Vec<Settled>) {
        self.psdu.clear();
        let end = after(self.start, self.mpdus.len() as u16);
        self.mpdus.retain(|mpdu| !mpdu.settled || mpdu.attempts > 0);
        let next = &mut self.streams.present().next;
        if *next == end {
            *next = after(self.start, self.mpdus.len() as u16);
        }
        while let Some(mpdu) = self.mpdus.pop_front_if(|mpdu| mpdu.settled) {
            self.request |= mpdu.given_up;
            self.start = after(self.start, 1);
        }
        let taken = self.passed + self.packets.len() as u64;
        let next = self.mpdus.front().map_or(taken, |mpdu| mpdu.first);
        self.packets.drain(..(next - self.passed) as usize);
        self.passed = next;
        // The end of a packet's service makes the node fetch the next packet, which has no place
        // before the BlockAckReq has succeeded.
        if !self.request {
            settled.extend(self.last.take().map(|last| *last));
        } else if self.mpdus.is_empty() {
            self.last = self.last.take().or_else(|| settled.pop().map(Box::new));
        }
    }
}

#[cfg(test)]
#[path = "originator_tests.rs"]
pub(crate) mod tests;
