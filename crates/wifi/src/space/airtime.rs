//! For observers of a flat space, in which one frame after the other uses the medium: what each of
//! them uses it for.

use super::Space;
use super::frame::{OnAir, Transmission};
use crate::UsedBytes;
use crate::mac::Bitmap;
use kernel::{Bytes, Duration, Instant, Span};
use wire::{FrameKind, Management};

/// A frame that has the medium for itself.
#[derive(Clone, Copy, Debug)]
pub struct FrameUse {
    /// Its type.
    pub kind: FrameKind,
    /// The frame of the MAC itself that it carries, if it carries no packet.
    pub management: Option<Management>,
    /// When it is on the air.
    pub span: Span,
    /// The time of its PSDU.
    pub payload: Duration,
    /// Bytes of its PSDU.
    pub psdu: Bytes,
    /// What its MPDUs carry; all are wasted if no receiver decodes the frame.
    pub bytes: UsedBytes,
    /// No receiver decodes it.
    pub is_lost: bool,
}

/// The use of the medium.
#[derive(Clone, Copy, Debug)]
pub enum AirUse {
    /// A frame begins, which is as this one if it is received.
    Begun(FrameUse),
    /// A frame has ended that had the medium for itself.
    Ended(FrameUse),
    /// The last of several frames has ended that were on the air together since the first of them
    /// began.
    Collided(Span),
}

/// What of it an observer has still to be told, and the frames on the air.
#[derive(Debug, Default)]
pub(super) struct UsedAirtime {
    made: Vec<AirUse>,
    on_air: Vec<Reception>,
    /// Since when the medium is busy, if frames were on the air together.
    clash: Option<Instant>,
}

/// The reception of a frame on the air.
#[derive(Debug)]
struct Reception {
    /// The number of its transmission.
    id: u32,
    start: Instant,
    /// The MPDUs that its receiver has already.
    repeated: Bitmap,
    /// The MPDUs that no receiver has decoded; `None` if none has decoded anything.
    lost: Option<Bitmap>,
}

impl UsedAirtime {
    /// A node to which a frame is addressed has received it to its end, and decoded it but for the
    /// MPDUs of `lost`.
    pub(super) fn note_reception(&mut self, id: u32, lost: Option<&Bitmap>) {
        let own = self.on_air.iter_mut().find(|own| own.id == id);
        if let (Some(own), Some(lost)) = (own, lost) {
            own.lost = Some(*lost);
        }
    }
}

impl Space {
    /// From now on, the use of the medium is recorded. The space must be flat.
    pub fn record_airtime(&mut self) {
        self.airtime = Some(Box::default());
    }

    /// Whether the use of the medium is recorded.
    #[inline]
    pub fn records_airtime(&self) -> bool {
        self.airtime.is_some()
    }

    /// Removes and returns what was recorded since the last call, in the order of time.
    pub fn used_airtime(&mut self) -> impl Iterator<Item = AirUse> {
        self.airtime.iter_mut().flat_map(|airtime| airtime.made.drain(..))
    }

    /// A frame begins.
    #[inline(never)]
    pub(super) fn use_airtime(&mut self, id: u32) {
        let Transmission { frame, start, .. } = *self.signals.transmission(id);
        let mut repeated = Bitmap::default();
        if frame.kind == FrameKind::Data {
            let on_air = self.nodes[frame.from as usize].edcaf(usize::from(frame.edcaf));
            for ((_, mpdu), index) in on_air.originator.on_air().zip(0..) {
                if mpdu.received {
                    repeated.set(index);
                }
            }
        }
        let begun = self.frame_use(id, &repeated, Some(&Bitmap::default()));
        let Some(airtime) = &mut self.airtime else { return };
        if let Some(first) = airtime.on_air.first() {
            airtime.clash.get_or_insert(first.start);
        }
        airtime.made.push(AirUse::Begun(begun));
        airtime.on_air.push(Reception { id, start, repeated, lost: None });
    }

    /// A frame ends, and it is known who has decoded it.
    #[inline(never)]
    pub(super) fn free_airtime(&mut self, id: u32) {
        let Some(airtime) = &mut self.airtime else { return };
        let Some(place) = airtime.on_air.iter().position(|own| own.id == id) else { return };
        let Reception { repeated, lost, .. } = airtime.on_air.remove(place);
        let is_last = airtime.on_air.is_empty();
        let end = self.signals.transmission(id).end();
        if let Some(start) = airtime.clash {
            if is_last {
                airtime.clash = None;
                airtime.made.push(AirUse::Collided(Span { start, end }));
            }
            return;
        }
        let ended = self.frame_use(id, &repeated, lost.as_ref());
        if let Some(airtime) = &mut self.airtime {
            airtime.made.push(AirUse::Ended(ended));
        }
    }

    /// What a frame uses the medium for.
    fn frame_use(&self, id: u32, repeated: &Bitmap, lost: Option<&Bitmap>) -> FrameUse {
        let transmission = self.signals.transmission(id);
        let OnAir { kind, from, to, edcaf, psdu, .. } = transmission.frame;
        let span = Span { start: transmission.start, end: transmission.end() };
        // Nobody decodes a CTS-to-self in place of others.
        let is_lost = lost.is_none() && to != Some(from);
        let payload = transmission.airtime.payload;
        let (mut bytes, mut management) = (UsedBytes::default(), None);
        if kind == FrameKind::Data {
            let originator = &self.nodes[from as usize].edcaf(usize::from(edcaf)).originator;
            management = originator.management();
            for ((_, mpdu), index) in originator.on_air().zip(0..) {
                if repeated.has(index) || lost.is_none_or(|lost| lost.has(index)) {
                    bytes.wasted += mpdu.bytes;
                    continue;
                }
                originator.packets_of(mpdu).for_each(|packet| bytes.add(packet));
            }
        }
        FrameUse { kind, management, span, payload, psdu, bytes, is_lost }
    }
}
