//! The frames on the air, for observers.

use super::Space;
use super::frame::{OnAir, Users};
use crate::phy::Mode;
use kernel::{Bytes, Db, Duration, Instant};
use wire::FrameKind;

/// A frame on the air, as observers see it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct OngoingFrame {
    /// The transmitter.
    pub from: u32,
    /// The receiver; `None` for a broadcast. A CTS-to-self is addressed to its transmitter.
    pub to: Option<u32>,
    /// Type of the frame.
    pub kind: FrameKind,
    /// The EDCAF to whose exchange it belongs, at the node that began the exchange.
    pub edcaf: u8,
    /// Its mode.
    pub mode: Mode,
    /// Bytes of its PSDU.
    pub psdu: Bytes,
    /// When its PPDU began.
    pub start: Instant,
    /// When it ends.
    pub end: Instant,
    /// Its Duration field: how long after its end the medium is reserved.
    pub reserves: Duration,
    /// Of a CTS that announces a secondary frame, and of the frames after it: how much later than a
    /// SIFS after the data frame its response begins.
    pub beside: Option<Duration>,
    /// How much less than its transmit power its transmitter sends it with.
    pub cut: Db,
    /// For whom it is in an exchange with several users.
    pub users: Users,
}

impl Space {
    /// Frames on the air, in the order in which they began.
    pub fn on_air(&self) -> impl Iterator<Item = OngoingFrame> {
        self.signals.ongoing().map(|transmission| {
            let OnAir { from, to, kind, edcaf, mode, psdu, reserves, beside, users, .. } =
                transmission.frame;
            let (start, end) = (transmission.start, transmission.end());
            let cut = transmission.cut;
            OngoingFrame {
                from,
                to,
                kind,
                edcaf,
                mode,
                psdu,
                start,
                end,
                reserves,
                beside,
                cut,
                users,
            }
        })
    }
}
