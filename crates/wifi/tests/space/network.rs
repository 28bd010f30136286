//! What networks of tests have in common.

use kernel::Bytes;
use wifi::phy::{Mode, Standard};
use wifi::{Link, MacConfig};

/// The rules of a standard.
pub(crate) fn mac(standard: &'static Standard) -> MacConfig {
    MacConfig { long_retry_limit: 7, rts_threshold: Bytes(4000), ..MacConfig::of(standard) }
}

/// A link that loses nothing.
pub(crate) fn link(mode: Mode) -> Link {
    Link { mode, data_loss: 0.0, ack_loss: 0.0 }
}
