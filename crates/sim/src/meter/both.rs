//! The airtime of an exchange in which two data frames are on the air at once.

use super::{Meter, Shares, shares};
use crate::measure::AirtimeKind;
use kernel::{Duration, Instant};
use wifi::mac::{Exchange, ExchangeOutcome, Secondary, Step};
use wifi::{Cell, UsedBytes};
use wire::FrameKind;

impl Meter {
    /// A station and a full-duplex access point send at once. The time of both data frames together
    /// has its own kind, and so has the rest of the longer one beside a busy tone. Without a busy
    /// tone, a part of a data frame that is alone on the air counts as if no other frame followed
    /// or preceded it. The two responses count once.
    pub(super) fn on_both(&mut self, exchange: &Exchange, secondary: &Secondary, cell: &Cell) {
        let mut counted_until = exchange.start;
        let opening = |kind| matches!(kind, FrameKind::Rts | FrameKind::Cts | FrameKind::CtsToSelf);
        for step in exchange.steps().filter(|step| opening(step.kind)) {
            self.ledger.add(AirtimeKind::IfsBackoff, counted_until, step.start);
            self.ledger.add(AirtimeKind::RtsCts, step.start, step.end());
            counted_until = step.end();
        }
        let Some(first) = exchange.data() else { return };
        let second = &secondary.data;
        let is_lost = |outcome: ExchangeOutcome, repeated| !outcome.data_arrives() || repeated;
        let first_lost = is_lost(exchange.outcome, exchange.repeated);
        let second_lost = is_lost(secondary.outcome, secondary.repeated);
        let together = first.end().min(second.end());
        let kind =
            if first_lost && second_lost { AirtimeKind::Lost } else { AirtimeKind::TwoFrames };
        self.ledger.add(AirtimeKind::IfsBackoff, counted_until, first.start);
        if second.start > first.start {
            // The header of the primary frame, which the receiver decodes before it sends.
            let kind = if first_lost { AirtimeKind::Lost } else { AirtimeKind::Header };
            self.ledger.add(kind, first.start, second.start);
        }
        self.ledger.add(kind, second.start, together);
        let is_first_longer = first.end() > together;
        let (longer, lost) =
            if is_first_longer { (first, first_lost) } else { (second, second_lost) };
        if let Some(tone) = secondary.tone {
            let kind = if lost { AirtimeKind::Lost } else { AirtimeKind::BusyTone };
            self.ledger.add(kind, tone.start, tone.end);
        } else if lost {
            self.ledger.add(AirtimeKind::Lost, together, longer.end());
        } else if is_first_longer {
            let shares =
                shares(first.airtime.payload, exchange.psdu, &UsedBytes::of(cell.frames_on_air()));
            self.count_rest(first, shares, together);
        } else if second.end() > together {
            let shares = shares(
                second.airtime.payload,
                secondary.psdu,
                &UsedBytes::of(cell.secondary_on_air()),
            );
            self.count_rest(second, shares, together);
        }
        let arrives = |outcome| outcome == ExchangeOutcome::Success;
        let any = arrives(exchange.outcome) || arrives(secondary.outcome);
        let response = if any { AirtimeKind::MacAck } else { AirtimeKind::Lost };
        let own = exchange.steps().filter(|step| step.start > first.start);
        if let Some(start) = own.chain(&secondary.answer).map(|step| step.start).min() {
            self.ledger.add(AirtimeKind::IfsBackoff, longer.end(), start);
            self.ledger.add(response, start, exchange.end);
        }
    }

    /// Adds the part of a data frame after `from`.
    fn count_rest(&mut self, step: &Step, shares: Shares, from: Instant) {
        let bytes = shares.iter().fold(step.end(), |at, &(_, share)| at - share);
        let mut at = from;
        let mut end = bytes;
        for (kind, share) in [(AirtimeKind::Header, Duration::ZERO)].into_iter().chain(shares) {
            end += share;
            if end > at {
                self.ledger.add(kind, at, end);
                at = end;
            }
        }
    }
}
