//! What a medium records for observers while it is watched: its frames, and what its nodes wait
//! for.

mod group;
mod triggered;

pub(crate) use group::GroupRecord;
pub(crate) use triggered::{Answering, TriggeredRecord, mu_rts};

use crate::mac::{BusySlot, Counting, Edcaf, Originator};
use crate::phy::he::Ru;
use crate::phy::{Airtime, Coding, Mode};
use kernel::{BitRate, Bytes, Duration, Instant};
use wire::{
    Body, Format, Frame, FrameMode, Mpdu, Packet, PuncturedChannels, TrafficClass, Wait, WaitKind,
};

/// One record.
#[derive(Clone, Debug, PartialEq)]
pub enum WatchRecord {
    /// A PPDU has ended.
    Frame(Frame),
    /// A wait has ended, or its end is known.
    Wait(Wait),
}

/// The mode of a PPDU that lasts so long, as records have it.
pub(crate) fn mode(of: &Mode, airtime: &Airtime) -> FrameMode {
    /// The short DSSS preamble (clause 16.2.2.3).
    const SHORT: Duration = Duration::from_micros(72);
    let Mode { class, rate, mcs, streams, width, punctured, guard, coding, .. } = *of;
    let format = match class.generation().format {
        Format::Dsss { .. } => Format::Dsss { short_preamble: airtime.preamble == SHORT },
        other => other,
    };
    FrameMode {
        format,
        rate,
        mcs: class
            .high()
            .map(|high| if high.counts_streams { 8 * (streams - 1) + mcs } else { mcs }),
        streams,
        width_mhz: width.mhz() as u16,
        punctured: punctured
            .code(width)
            .filter(|_| !punctured.is_none())
            .map(|information| PuncturedChannels { subchannels: punctured.bits(), information }),
        guard_ns: if class.is_dsss() { 0 } else { guard.ns() as u16 },
        ldpc: coding == Coding::Ldpc,
        tones: None,
        ru_index: None,
        user: None,
    }
}

/// That of a user in a resource unit, at this place among the users.
pub(crate) fn in_unit(mode: FrameMode, ru: Ru, user: usize) -> FrameMode {
    FrameMode {
        tones: Some(ru.size.tones() as u16),
        ru_index: Some(ru.index as u16),
        user: Some(user as u16),
        ..mode
    }
}

/// The mode of an HE TB PPDU of a station with this mode, at this rate and MCS.
pub(crate) fn in_response(of: &Mode, airtime: &Airtime, rate: BitRate, mcs: u8) -> FrameMode {
    let mode = mode(of, airtime);
    FrameMode { rate, mcs: Some(mcs), guard_ns: mode.guard_ns.max(1600), ..mode }
}

/// Fills in the MPDUs of the PSDU that an EDCAF has assembled, and what kind of frame they make it.
pub(crate) fn fill(frame: &mut Frame, edcaf: &Edcaf, is_received: impl Fn(u16) -> bool) {
    fill_from(frame, &edcaf.originator, is_received);
}

/// The same of an originator.
pub(crate) fn fill_from(
    frame: &mut Frame,
    originator: &Originator,
    is_received: impl Fn(u16) -> bool,
) {
    let mut bytes = Bytes::ZERO;
    for ((sequence, mpdu), index) in originator.on_air().zip(0..) {
        bytes = mpdu.bytes;
        let packets = originator.packets_of(mpdu);
        let is_amsdu = originator.packets_of(mpdu).nth(1).is_some();
        let records = packets.zip(0..).map(|(&packet, place)| Mpdu {
            packet_id: u64::MAX,
            packet,
            sequence,
            retry: mpdu.attempts > 0,
            bytes,
            received: is_received(index),
            subframe: is_amsdu.then_some(place),
        });
        frame.mpdus.extend(records);
    }
    frame.aggregate = frame.psdu != bytes;
    if let [Mpdu { packet: Packet { body: Body::Management(of), .. }, .. }] = &frame.mpdus[..] {
        frame.kind = of.kind();
    }
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
