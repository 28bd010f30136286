//! Stations of an earlier standard than that of their cell.
//!
//! They know the preamble of later PPDUs and not what follows: after one they defer for an EIFS, as
//! after any frame that they could not decode, unless they decode another before it is over
//! (clause 10.3.2.3.7). A response in OFDM is such a frame. It follows all PPDUs but those that are
//! lost, and those that are acknowledged in HE TB PPDUs.

use super::several::Several;
use super::{Cell, directions_of};
use crate::mac::Acknowledgement::{AggregatedMuBar, BarChain, MuBar};
use crate::mac::mu::MuUser;
use crate::mac::{Earlier, PeerRate};
use crate::phy::{ModeClass, Width};
use kernel::Instant;

impl Several {
    /// Whether its last PPDU is of several users: a response in OFDM ends other exchanges.
    fn ends_in_group(&self) -> bool {
        match self {
            Self::Group(group) => match group.acknowledgement {
                BarChain => false,
                MuBar => group.users.iter().any(MuUser::responds),
                AggregatedMuBar => {
                    group.opening.is_none() || group.users.iter().any(MuUser::responds)
                }
            },
            Self::Triggered(triggered) => triggered.ack.is_none() && triggered.answers.is_some(),
        }
    }
}

/// Whether the modes from and to a station have resource units.
pub(super) fn has_units(rates: &[PeerRate], station: u32) -> bool {
    let [up, down] = directions_of(station);
    rates[down].mode.has_units() && rates[up].mode.has_units()
}

impl Cell {
    /// Whether a station takes part in PPDUs of several users: its frames and those to it have
    /// resource units.
    pub(super) fn has_units(&self, station: u32) -> bool {
        has_units(&self.rates, station)
    }

    /// The width of PPDUs of several users: all stations that take part have the same.
    pub(super) fn group_width(&self) -> Width {
        let modes = || self.links.iter().map(|link| &link.mode);
        modes()
            .find(|mode| mode.has_units())
            .or_else(|| modes().next())
            .map_or(Width::Mhz20, |it| it.width)
    }

    /// An exchange of an EDCAF has ended with its PPDU, which is lost.
    pub(super) fn resume_earlier_after_loss(&mut self, f: u32, end: Instant) {
        if !self.rules.earlier().is_empty() {
            let class = self.edcaf(f).first_mode(self.rules.timing()).class;
            self.resume_earlier(f, class, end);
        }
    }

    /// An exchange with several stations has ended, and perhaps not the TXOP.
    pub(super) fn note_end(&mut self, several: &Several) {
        if let Some(groups) = &mut self.groups {
            groups.ended_in_group = several.ends_in_group();
        }
    }

    /// The medium is idle since `end`, perhaps after a PPDU of several users.
    pub(super) fn resume_earlier_after_group(&mut self, f: u32, end: Instant) {
        if self.groups.as_ref().is_some_and(|groups| groups.ended_in_group) {
            self.resume_earlier(f, ModeClass::He, end);
        }
    }

    /// Those that do not know PPDUs of this class defer for an EIFS since `end`.
    fn resume_earlier(&mut self, f: u32, class: ModeClass, end: Instant) {
        let eifs = self.rules.timing().eifs(&self.edcaf(f).mode);
        for place in 0..self.rules.earlier().len() {
            let Earlier { node, latest } = self.rules.earlier()[place];
            if class > latest {
                self.count_separately(node, end + eifs);
            }
        }
    }
}
