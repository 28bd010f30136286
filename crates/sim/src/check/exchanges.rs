//! What a node has sent and understood in exchanges of frames.

use kernel::Instant;
use wifi::space::OngoingFrame;

/// What a node has sent and understood, as far as the next frame depends on it.
#[derive(Debug, Default, Clone)]
pub(super) struct Exchanges {
    pub(super) sent: Option<OngoingFrame>,
    /// The last frame for this node that it has understood.
    pub(super) understood: Option<OngoingFrame>,
    /// The function that has won the medium, and when.
    pub(super) won: Option<(u8, Instant)>,
}
