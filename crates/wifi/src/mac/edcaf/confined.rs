//! An EDCAF that has won a part of its channel only.

use super::Edcaf;
use crate::mac::Rules;
use crate::medium::FrameCounters;
use crate::phy::Mode;

impl Edcaf {
    /// Whether it has won a part of its channel only, now or for the last PSDU.
    #[inline]
    pub(super) fn is_confined(&self) -> bool {
        self.won.is_some() || self.chosen.is_some()
    }

    /// The mode of the next PSDU in what has been won of its channel.
    #[cold]
    #[inline(never)]
    pub(super) fn confine(&mut self, mode: Mode, rules: &Rules) -> Mode {
        let fit = self.won.map_or(mode, |won| won.fit(&mode, &rules.config));
        self.chosen = (fit != mode).then_some(mode);
        fit
    }

    /// Counts a data PSDU that is sent in a part of the channel of its mode.
    #[cold]
    #[inline(never)]
    pub(super) fn count_confined(&self, frames: &mut FrameCounters) {
        if self.mode.punctured.is_none() {
            frames.narrower += 1;
        } else {
            frames.punctured += 1;
        }
    }
}
