//! What packets, segments and frames have in common: who sends, and the marks of the IP header.

use settings::Choice;

kernel::id! {
    /// A node of the scenario: server, access point or station, numbered by the plan.
    pub NodeId
}

kernel::id! {
    /// A flow, numbered by the plan.
    pub FlowId
}

/// The ECN field of the IP header (RFC 3168 section 5, RFC 8311).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Ecn {
    /// Not ECN-capable.
    #[default]
    NotCapable,
    /// ECN-capable transport, ECT(0).
    Ect0,
    /// ECN-capable transport, ECT(1): the sender reacts to marks as L4S does (RFC 9331).
    Ect1,
    /// Congestion experienced.
    Experienced,
}

/// Access category, lowest first (802.11-2020 clause 10.2.3.2).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Choice)]
pub enum TrafficClass {
    /// `AC_BK`.
    Background,
    /// `AC_BE`.
    #[default]
    BestEffort,
    /// `AC_VI`.
    Video,
    /// `AC_VO`.
    Voice,
}

impl TrafficClass {
    /// All, lowest first.
    pub const ALL: [Self; 4] = [Self::Background, Self::BestEffort, Self::Video, Self::Voice];
}
