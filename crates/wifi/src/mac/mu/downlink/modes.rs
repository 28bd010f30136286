//! The modes of the stations, by small numbers, so that two PPDUs are compared without comparing
//! modes.

use crate::mac::PeerRate;
use crate::phy::Mode;

/// All modes that stations have had.
#[derive(Debug, Default)]
pub(super) struct Modes {
    all: Vec<Mode>,
}

impl Modes {
    /// The number of the mode in which a station is sent to.
    #[inline]
    pub(super) fn number(&mut self, rate: &mut PeerRate) -> u16 {
        match rate.number {
            Some(number) => number,
            None => *rate.number.insert(self.find(&rate.mode)),
        }
    }

    /// The number of a mode.
    #[cold]
    pub(super) fn find(&mut self, mode: &Mode) -> u16 {
        let found = self.all.iter().position(|known| known == mode);
        let number = found.unwrap_or_else(|| {
            self.all.push(*mode);
            self.all.len() - 1
        });
        number as u16
    }

    /// The mode with a number.
    #[inline]
    pub(super) fn at(&self, number: u16) -> &Mode {
        &self.all[usize::from(number)]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::phy::{Band, ModeClass, TxVector};

    fn mode(mcs: u8) -> Mode {
        TxVector { mcs, ..TxVector::of(ModeClass::He, Band::Ghz5) }.mode().unwrap()
    }

    #[test]
    fn a_mode_that_changes_is_looked_up_again() {
        let (mut one, mut other) = (PeerRate::fixed(mode(3)), PeerRate::fixed(mode(5)));
        let mut modes = Modes::default();
        assert_eq!([modes.number(&mut one), modes.number(&mut other)], [0, 1]);
        one.turn_to(mode(5));
        assert_eq!(modes.number(&mut one), 1);
        one.turn_to(mode(3));
        assert_eq!(modes.number(&mut one), 0);
        assert_eq!(*modes.at(1), mode(5));
    }
}
