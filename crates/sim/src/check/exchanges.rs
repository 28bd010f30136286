//! The frames that a node has sent and decoded in exchanges.

use kernel::Instant;
use wifi::space::OngoingFrame;
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
}
