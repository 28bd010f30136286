//! Interferers in a cell without radios: a burst in the channel destroys each frame that it
//! overlaps, at every node, and is destroyed by it.
//!
//! The frames of an exchange are known when it begins, and so are the bursts. If an RTS or CTS is
//! lost, all others defer for an EIFS after it; a NAV that the RTS has set is reset, as clause
//! 10.3.2.4 permits. If a CTS-to-self is lost, the data follows it nevertheless.

use super::Cell;
use crate::interferer::{Arrival, Interferers};
use crate::mac::{ExchangeOutcome, Step};
use crate::phy::Mode;
use kernel::{Bytes, Duration, Instant, Span};
use wire::FrameKind;

/// The interferers of a cell, and what they do to the exchange on the air.
#[derive(Debug)]
pub(super) struct CellInterference {
    interferers: Interferers,
    arrivals: Vec<Arrival>,
    /// An interferer, and not noise, decides the outcome of the exchange on the air.
    decides: bool,
}

impl Cell {
    /// Sets the interferers of the run.
    pub fn set_interferers(&mut self, interferers: Interferers) {
        let (arrivals, decides) = (Vec::new(), false);
        self.interference = Some(Box::new(CellInterference { interferers, arrivals, decides }));
    }

    /// The interferers of the run, if there are any.
    pub fn interferers(&self) -> Option<&Interferers> {
        self.interference.as_deref().map(|interference| &interference.interferers)
    }

    /// The outcome of an exchange that begins now, whose outcome by noise was `drawn`.
    pub(super) fn interfere(
        &mut self,
        now: Instant,
        f: u32,
        drawn: ExchangeOutcome,
    ) -> ExchangeOutcome {
        let Some(mut interference) = self.interference.take() else { return drawn };
        let planned = self.edcaf(f).exchange(&self.rules, now, ExchangeOutcome::Success);
        interference.decides = false;
        let mut outcome = drawn;
        for step in planned.steps() {
            let is_broken = self.expose(&mut interference, f, step, outcome);
            let before = outcome;
            outcome = match step.kind {
                FrameKind::Rts if is_broken => ExchangeOutcome::RtsLost,
                FrameKind::Cts if is_broken => ExchangeOutcome::CtsLost,
                FrameKind::Data | FrameKind::BlockAckRequest if is_broken => {
                    ExchangeOutcome::DataLost
                }
                FrameKind::Ack | FrameKind::BlockAck if is_broken => ExchangeOutcome::AckLost,
                _ => outcome,
            };
            interference.decides |= outcome != before;
            // What would follow is not sent.
            let is_data = matches!(step.kind, FrameKind::Data | FrameKind::BlockAckRequest);
            let is_over = !outcome.has_data() || is_data && outcome == ExchangeOutcome::DataLost;
            if is_over {
                break;
            }
        }
        if self.edcaf(f).to().is_none() && outcome == ExchangeOutcome::DataLost {
            // The transmitter of a broadcast does not notice.
            outcome = ExchangeOutcome::Success;
        }
        self.interference = Some(interference);
        outcome
    }

    /// Frames that collide are on the air as well.
    pub(super) fn interfere_with_collision(&mut self, now: Instant) {
        let Some(mut interference) = self.interference.take() else { return };
        interference.decides = false;
        for &(f, end) in &self.colliders {
            let mode = self.edcaf(f).exposed_mode(self.rules.timing());
            interference.expose(Span { start: now, end }, &mode);
        }
        self.interference = Some(interference);
    }

    /// One frame of an exchange is on the air. Returns whether interferers destroy it, or all its
    /// MPDUs.
    fn expose(
        &mut self,
        interference: &mut CellInterference,
        f: u32,
        step: &Step,
        outcome: ExchangeOutcome,
    ) -> bool {
        let edcaf = &self.edcafs[f as usize];
        let timing = self.rules.timing();
        let opening = || timing.rts_mode(&edcaf.mode);
        let mode = match step.kind {
            FrameKind::Rts | FrameKind::CtsToSelf => opening(),
            FrameKind::Cts => timing.response_mode(&opening()),
            FrameKind::Ack | FrameKind::BlockAck => edcaf.response.mode,
            _ => edcaf.mode,
        };
        let span = Span { start: step.start, end: step.end() - step.airtime.extension };
        interference.expose(span, &mode);
        match step.kind {
            FrameKind::CtsToSelf => false,
            FrameKind::BlockAckRequest => {
                outcome != ExchangeOutcome::DataLost && interference.lose_control()
            }
            FrameKind::Ack | FrameKind::BlockAck => {
                outcome != ExchangeOutcome::AckLost && interference.lose_control()
            }
            FrameKind::Rts | FrameKind::Cts => interference.lose_control(),
            _ => outcome != ExchangeOutcome::DataLost && self.lose_mpdus(interference, f, step),
        }
    }

    /// Which MPDUs of a PSDU are lost; returns whether all are.
    fn lose_mpdus(&mut self, interference: &mut CellInterference, f: u32, step: &Step) -> bool {
        let edcaf = &self.edcafs[f as usize];
        let (mode, mpdus) = (edcaf.mode, edcaf.psdu.mpdus);
        let at = |bytes| step.start + step.airtime.until(bytes, edcaf.psdu.bytes);
        let header = (step.start, at(Bytes::ZERO));
        let mut left = 0;
        for (index, (from, to)) in edcaf.originator.spans(&edcaf.psdu).enumerate() {
            if mpdus > 1 && self.lost.has(index as u16) {
                continue;
            }
            let (_, mpdu) = edcaf.originator.frame_on_air(index);
            let bits = edcaf.originator.packets_of(&mpdu).map(|packet| packet.size.bits()).sum();
            if !interference.lose_mpdu(&[header, (at(from), at(to))], bits, &mode, step.start) {
                left += 1;
            } else if mpdus > 1 {
                self.lost.set(index as u16);
            }
        }
        left == 0
    }
}

impl CellInterference {
    /// Whether an interferer, and not noise, decides the outcome of the exchange on the air.
    pub(super) fn decides(&self) -> bool {
        self.decides
    }

    /// A frame is on the air: looks for the bursts that overlap it in its channel.
    fn expose(&mut self, span: Span, mode: &Mode) {
        let channel = self.interferers.channel(mode.width);
        self.arrivals.clear();
        self.interferers.on_exposed(span, channel, &mut self.arrivals);
    }

    /// Whether a control frame is lost, to any burst.
    fn lose_control(&mut self) -> bool {
        let Self { interferers, arrivals, .. } = self;
        for of_one in arrivals.chunk_by(|a, b| a.interferer == b.interferer) {
            interferers.note_loss(of_one[0].interferer, false);
        }
        !arrivals.is_empty()
    }

    /// Whether an MPDU is lost: to a burst that overlaps one of its spans, or by the whole slots
    /// that its bits last.
    fn lose_mpdu(
        &mut self,
        spans: &[(Instant, Instant)],
        bits: u64,
        mode: &Mode,
        now: Instant,
    ) -> bool {
        let Self { interferers, arrivals, .. } = self;
        let mut is_lost = false;
        for of_one in arrivals.chunk_by(|a, b| a.interferer == b.interferer) {
            let overlaps = |&(start, end)| of_one.iter().any(|burst| burst.overlaps(start, end));
            if spans.iter().any(overlaps) {
                interferers.note_loss(of_one[0].interferer, true);
                is_lost = true;
            }
        }
        let length = Duration(bits * 1_000_000_000 / mode.rate.0.max(1));
        if let Some(interferer) = interferers.by_whole_slots(now, length, mode.width.mhz()) {
            interferers.note_loss(interferer, true);
            is_lost = true;
        }
        is_lost
    }
}
