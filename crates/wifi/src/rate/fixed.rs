//! One mode for ever.

use super::{Choice, RateControl, TxReport};
use crate::phy::Mode;
use kernel::Instant;

/// One mode for ever.
#[derive(Clone, Copy, Debug)]
pub struct Fixed(pub Mode);

impl RateControl for Fixed {
    fn select(&mut self, _now: Instant, _attempt: u32) -> Choice {
        Choice::plain(self.0)
    }

    fn on_report(&mut self, _now: Instant, _report: &TxReport) {}
}
