//! The frames that a node has sent and decoded in exchanges.

use kernel::Instant;
use wifi::space::OngoingFrame;

/// The frames that a node has sent and decoded, as far as its next frame depends on them.
#[derive(Debug, Default, Clone)]
pub(super) struct Exchanges {
    pub(super) sent: Option<OngoingFrame>,
    /// The last frame for this node that it has decoded.
    pub(super) understood: Option<OngoingFrame>,
    /// The EDCAF that has obtained the medium, and when.
    pub(super) won: Option<(u8, Instant)>,
}
