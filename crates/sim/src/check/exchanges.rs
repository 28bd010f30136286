//! The frames that a node has sent and decoded in exchanges.

use kernel::{Duration, Instant};
use wifi::space::{OngoingFrame, Users};
use wire::FrameKind;

/// The frames that a node has sent and decoded, as far as its next frame depends on them.
#[derive(Debug, Default, Clone)]
pub(super) struct Exchanges {
    pub(super) sent: Option<OngoingFrame>,
    /// The last frame for this node that it has decoded.
    pub(super) understood: Option<OngoingFrame>,
    /// The frames for this node that it has decoded and may still respond to. A response that is
    /// delayed beside a longer frame may follow other frames for this node.
    pub(super) asked: Vec<OngoingFrame>,
    /// When the last of the HE TB PPDUs has ended that the node has received.
    pub(super) units_until: Instant,
    /// The EDCAF that has obtained the medium, and when.
    pub(super) won: Option<(u8, Instant)>,
}

impl Exchanges {
    /// The node has decoded a frame for it. Frames to which it would have responded are forgotten.
    pub(super) fn on_understood(
        &mut self,
        frame: OngoingFrame,
        due: impl Fn(&OngoingFrame) -> Instant,
    ) {
        use FrameKind::{BlockAckRequest, Data, Rts, Trigger};
        self.understood = Some(frame);
        self.asked.retain(|asked| due(asked) >= frame.end);
        if matches!(frame.kind, Rts | Data | BlockAckRequest | Trigger) {
            self.asked.push(frame);
        }
    }

    /// Whether reports that the node has asked for have ended exactly a SIFS ago.
    pub(super) fn has_reports(&self, now: Instant, sifs: Duration) -> bool {
        let Self { sent: Some(sent), understood, .. } = self else { return false };
        let is_report = |it: &OngoingFrame| it.kind == FrameKind::QosNull && it.users.is_unit();
        let report = understood.filter(is_report);
        sent.kind == FrameKind::Trigger && report.is_some() && self.units_until + sifs == now
    }

    /// When all have ended that arrive with an answer.
    fn over(&self, answer: &OngoingFrame) -> Instant {
        if answer.users.is_unit() { self.units_until } else { answer.end }
    }

    /// Whether the node's own exchange succeeded exactly a SIFS ago.
    pub(super) fn has_succeeded(&self, now: Instant, sifs: Duration, slowest: Duration) -> bool {
        let Self { sent: Some(sent), understood, .. } = self else { return false };
        // What nobody answers ends its exchange when it has arrived everywhere.
        let is_multi_sta = sent.users == Users::Several && is_answer(sent);
        if is_multi_sta || sent.users != Users::Several && sent.to.is_none() {
            return sent.end + sifs <= now && now <= sent.end + slowest + sifs;
        }
        if sent.users == Users::Several {
            let answer = understood.filter(|it| it.users != Users::One && is_answer(it));
            return answer.is_some_and(|answer| self.over(&answer) + sifs == now);
        }
        let answer = understood.filter(|answer| Some(answer.from) == sent.to && is_answer(answer));
        answer.is_some_and(|answer| answer.end + sifs == now)
    }
}

/// Whether a frame answers another.
pub(super) fn is_answer(frame: &OngoingFrame) -> bool {
    matches!(frame.kind, FrameKind::Cts | FrameKind::Ack | FrameKind::BlockAck)
}
