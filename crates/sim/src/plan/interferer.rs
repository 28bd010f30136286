//! Interferers.

use wifi::interferer::InterfererConfig;

/// A transmitter near the network that is not 802.11.
#[derive(Debug, Clone, PartialEq)]
pub struct InterfererPlan {
    /// The name in reports.
    pub name: String,
    /// What it sends, when, and where.
    pub config: InterfererConfig,
}

impl InterfererPlan {
    /// Whether it is a Bluetooth link, whose packets the network may destroy.
    pub(crate) fn is_link(&self) -> bool {
        self.config.source.get().is_link()
    }
}
