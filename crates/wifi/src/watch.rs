//! What a medium records for observers while it is watched: its frames, and what its nodes wait
//! for.

use crate::mac::{Bitmap, BusySlot, Edcaf};
use crate::phy::{Airtime, Mode};
use kernel::{Bytes, Db, Duration, Instant};
use wire::{Body, FlowId, FrameKind, FrameOutcome, Packet, TrafficClass, Wait, WaitKind};

/// One record.
#[derive(Clone, Debug, PartialEq)]
pub enum WatchRecord {
    /// A PPDU has ended.
    Frame(FrameRecord),
    /// A wait has ended, or its end is known.
    Wait(Wait),
}

/// A PPDU.
#[derive(Clone, Debug, PartialEq)]
pub struct FrameRecord {
    /// The transmitter.
    pub from: u32,
    /// The receiver; `None` for a broadcast. A CTS-to-self is addressed to its transmitter.
    pub to: Option<u32>,
    /// Type of the frame.
    pub kind: FrameKind,
    /// The access category of its exchange.
    pub class: TrafficClass,
    /// Its mode.
    pub mode: Mode,
    /// Bytes of its PSDU.
    pub psdu: Bytes,
    /// Whether its PSDU is an A-MPDU, of one MPDU or more.
    pub aggregate: bool,
    /// When its PPDU began.
    pub start: Instant,
    /// Durations of its parts.
    pub airtime: Airtime,
    /// Its Duration field: how long after its end the medium is reserved.
    pub reserves: Duration,
    /// Number of its exchange, in the order in which exchanges began.
    pub exchange: u64,
    /// The flow of the first packet that its transmitter, or the node to which it responds, has in
    /// service.
    pub flow: Option<FlowId>,
    /// Its outcome at the receiver.
    pub outcome: FrameOutcome,
    /// A node whose transmission caused the loss.
    pub lost_to: Option<u32>,
    /// The power that the receiver received, if nodes have positions.
    pub signal: Option<Db>,
    /// The packets of a data frame in order, each with its MPDU.
    pub mpdus: Vec<MpduRecord>,
    /// The starting sequence number of a BlockAck or BlockAckReq, and the bitmap of a BlockAck.
    pub block_ack: Option<(u16, Bitmap)>,
}

impl FrameRecord {
    /// When its PPDU ends.
    pub fn end(&self) -> Instant {
        self.start + self.airtime.total()
    }

    /// The MPDUs of the PSDU that an EDCAF has assembled, and what kind of frame they make it.
    pub(crate) fn fill(&mut self, edcaf: &Edcaf, is_received: impl Fn(u16) -> bool) {
        let mut bytes = Bytes::ZERO;
        for ((sequence, mpdu), index) in edcaf.originator.on_air().zip(0..) {
            bytes = mpdu.bytes;
            let packets = edcaf.originator.packets_of(mpdu);
            let is_amsdu = edcaf.originator.packets_of(mpdu).nth(1).is_some();
            let records = packets.zip(0..).map(|(&packet, place)| MpduRecord {
                packet,
                sequence,
                retry: mpdu.attempts > 0,
                bytes,
                received: is_received(index),
                subframe: is_amsdu.then_some(place),
            });
            self.mpdus.extend(records);
        }
        self.aggregate = self.psdu != bytes;
        if let [MpduRecord { packet: Packet { body: Body::Management(frame), .. }, .. }] =
            &self.mpdus[..]
        {
            self.kind = frame.kind();
        }
    }
}

/// A packet in a PPDU, and the MPDU that carries it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MpduRecord {
    /// The packet.
    pub packet: Packet,
    /// The sequence number of the MPDU.
    pub sequence: u16,
    /// Whether the MPDU is a retransmission.
    pub retry: bool,
    /// Bytes of the MPDU with header and FCS.
    pub bytes: Bytes,
    /// Whether the receiver received the MPDU; of a broadcast, whether at least one node did.
    pub received: bool,
    /// The place of the packet in an A-MSDU; `None` if it is alone in the MPDU.
    pub subframe: Option<u16>,
}

/// Slots that an EDCAF counts in the present idle time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Counting {
    /// When its first slot begins; for a frame that needs no back-off, when it is sent.
    pub(crate) start: Instant,
    /// Slots left at `start`.
    pub(crate) slots: u64,
}

/// Since when an EDCAF waits for what has no record yet.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct OpenWait {
    /// Since when it defers, if it has a frame.
    deferring: Instant,
    /// Up to where its slots have a record.
    counted: Instant,
}

/// An EDCAF that waits.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Waiting {
    pub(crate) node: u32,
    pub(crate) class: TrafficClass,
    /// Whether it has a frame.
    pub(crate) has_frame: bool,
    /// The slots that it counts; `None` while the medium is busy.
    pub(crate) counting: Option<Counting>,
    pub(crate) slot: Duration,
}

impl OpenWait {
    /// The EDCAF begins to wait for the medium.
    pub(crate) fn begin(&mut self, now: Instant) {
        self.deferring = now;
    }

    /// Records the slots that the EDCAF has counted, and how long it deferred before. `busy` says
    /// that the medium becomes busy now, and how a slot counts in which it does. Returns since when
    /// the EDCAF waits for what has no record yet.
    pub(crate) fn record(
        &mut self,
        now: Instant,
        waiting: &Waiting,
        busy: Option<BusySlot>,
        records: &mut Vec<WatchRecord>,
    ) -> Instant {
        let Waiting { node, class, has_frame, counting, slot } = *waiting;
        let Some(Counting { start, slots }) = counting.filter(|own| own.start <= now) else {
            return if has_frame { self.deferring } else { now };
        };
        let mut add = |start, end, kind| {
            records.push(WatchRecord::Wait(Wait { radio: node, class, start, end, kind }));
        };
        if has_frame && self.deferring < start {
            add(self.deferring, start, WaitKind::Defer);
        }
        self.deferring = now;
        let slots_until = |at: Instant| (at.since(start) / slot).min(slots);
        let counted = slots_until(now);
        let begin = start.max(self.counted);
        let end = if busy.is_some() && counted < slots { now } else { start + slot * counted };
        if begin < end {
            let is_broken = matches!(busy, Some(BusySlot::Counted | BusySlot::Step));
            let before = (slots - slots_until(begin)) as u32;
            let after = (slots - counted).saturating_sub(u64::from(is_broken)) as u32;
            add(begin, end, WaitKind::Backoff { before, after });
            self.counted = end;
        }
        if counted < slots { end.max(start) } else { now }
    }

    /// Since when the EDCAF waits for what has no record yet.
    pub(crate) fn since(&self, now: Instant, waiting: &Waiting) -> Instant {
        let counted = match waiting.counting {
            Some(Counting { start, slots }) if start <= now && slots > 0 => start.max(self.counted),
            _ => now,
        };
        if waiting.has_frame { counted.min(self.deferring) } else { counted }
    }

    /// Records also what goes on.
    pub(crate) fn cut(&mut self, now: Instant, waiting: &Waiting, records: &mut Vec<WatchRecord>) {
        self.record(now, waiting, None, records);
        let Waiting { node, class, has_frame, .. } = *waiting;
        if has_frame && self.deferring < now {
            let (start, end, kind) = (self.deferring, now, WaitKind::Defer);
            records.push(WatchRecord::Wait(Wait { radio: node, class, start, end, kind }));
            self.deferring = now;
        }
    }
}
