//! The keys of TCP.

use settings::{Choice, Settings};
use tcp::Config;

/// TCP at both ends of a flow.
#[derive(Debug, Clone, PartialEq, Settings)]
pub struct Tcp {
    /// Both ends.
    #[setting(flatten)]
    pub config: Config,
    /// The radio links whose rate the congestion control learns, at first and at each change.
    pub link_rate: LinkRate,
}

/// The radio links whose rate a congestion control learns.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Choice)]
pub enum LinkRate {
    /// The links on which the sender's own node sends its data.
    #[default]
    Own,
    /// The slowest link that its data crosses, as if the network reported it.
    Path,
}
