//! How stations acknowledge an HE MU PPDU.

use settings::Choice;

/// How the stations acknowledge an HE MU PPDU (802.11ax-2021 clause 26.4.4).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Choice)]
pub enum Acknowledgement {
    /// The first station answers with a BlockAck a SIFS after the PPDU; each other one is asked by
    /// a BlockAckReq. After a response that does not come, the next BlockAckReq follows a PIFS
    /// after the last frame.
    BarChain,
    /// A MU-BAR Trigger frame asks all of them, who answer in HE TB PPDUs.
    #[default]
    MuBar,
    /// The same, with a MU-BAR in the A-MPDU of each station.
    AggregatedMuBar,
}
