//! An EDCAF that has won a part of its channel only.

use super::Edcaf;
use crate::mac::Rules;
use crate::medium::FrameCounters;
use crate::phy::{Mode, Puncturing, Width};

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

    /// The part of a channel of this width that it has won for a PPDU to several users, or for what
    /// answers a Trigger frame.
    #[inline]
    pub(crate) fn part_for_several(&self, width: Width, rules: &Rules) -> Puncturing {
        self.won.map_or(width.into(), |won| won.part_for_several(width, &rules.config))
    }

    /// Counts a PPDU to several users, if it is in a part of their channel of this width.
    #[cold]
    #[inline(never)]
    pub(crate) fn count_confined_group(&self, width: Width, frames: &mut FrameCounters) {
        if self.mode.channel() != width.into() {
            self.count_confined(frames);
        }
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
