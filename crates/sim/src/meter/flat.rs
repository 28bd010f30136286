//! The airtime of a flat space: frame by frame, when each has ended.

use super::{Meter, shares};
use crate::measure::AirtimeKind;
use kernel::{Instant, Span};
use wifi::UsedBytes;
use wifi::space::{AirUse, FrameUse};
use wire::{FrameKind, Management};

impl Meter {
    /// A frame begins or has ended, or several that were on the air together.
    pub(super) fn on_air_used(&mut self, used: &AirUse) {
        match used {
            AirUse::Begun(frame) => {
                if !self.on_air {
                    self.end_silence(frame.span.start);
                    self.on_air = true;
                    self.unfinished = Some(*frame);
                }
            }
            AirUse::Ended(frame) => {
                self.count_use(frame);
                self.fall_silent(frame.span.end);
            }
            AirUse::Collided(Span { start, end }) => {
                self.ledger.add(AirtimeKind::Collision, *start, *end);
                self.fall_silent(*end);
            }
        }
    }

    fn fall_silent(&mut self, now: Instant) {
        (self.on_air, self.unfinished) = (false, None);
        self.silence = (now, AirtimeKind::IfsBackoff);
    }

    /// At the end of the run a frame is on the air, or another one that began beside it.
    pub(super) fn count_unfinished(&mut self, end: Instant, frame: &FrameUse) {
        self.count_use(frame);
        if frame.span.end < end {
            self.ledger.add(AirtimeKind::Collision, frame.span.end, end);
        }
    }

    /// Adds a frame that has ended.
    pub(super) fn count_use(&mut self, frame: &FrameUse) {
        let FrameUse { kind, management, span, payload, psdu, bytes, is_lost } = *frame;
        let whole = match (kind, management) {
            _ if is_lost => AirtimeKind::Lost,
            (FrameKind::Rts | FrameKind::Cts | FrameKind::CtsToSelf, _) => AirtimeKind::RtsCts,
            (FrameKind::Data, None) => {
                let UsedBytes { data, acks, wasted } = bytes;
                if wasted > kernel::Bytes::ZERO && data + acks == kernel::Bytes::ZERO {
                    return self.ledger.add(AirtimeKind::Lost, span.start, span.end);
                }
                return self.count_data(span, &shares(payload, psdu, &bytes));
            }
            (FrameKind::Data, Some(Management::Beacon(_))) => AirtimeKind::Beacon,
            (FrameKind::Data, Some(_)) => AirtimeKind::PowerSave,
            _ => AirtimeKind::MacAck,
        };
        self.ledger.add(whole, span.start, span.end);
    }
}
