//! The keys of TCP.

use settings::{Choice, Settings};
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

/// Of which radio links a controller is told the rate.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Choice)]
pub enum LinkRate {
    /// Those by which the sender's own node sends its data.
    #[default]
    Own,
    /// The slowest that its data crosses, as if the network told it.
    Path,
}
