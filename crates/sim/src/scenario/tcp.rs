//! The keys of TCP.

use crate::plan::LinkRate;
use settings::Settings;
use tcp::Config;

/// TCP at both ends of a flow.
#[derive(Debug, Clone, PartialEq, Settings)]
pub struct Tcp {
    /// Both ends.
    #[setting(flatten)]
    pub config: Config,
    /// Of which radio links the controller is told the rate, at first and at each change.
    pub link_rate: LinkRate,
}
