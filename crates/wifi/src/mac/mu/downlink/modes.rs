//! The modes of the stations, by small numbers, so that two PPDUs are compared without comparing
//! modes.

use crate::mac::PeerRate;
use crate::phy::Mode;

/// The mode of a station when it was last looked up.
#[derive(Clone, Copy, Debug)]
struct Known {
    changes: u32,
    number: u16,
}

/// All modes that stations have had, and those of the stations by place.
#[derive(Debug)]
pub(super) struct Modes {
    all: Vec<Mode>,
    known: Vec<Option<Known>>,
}

impl Modes {
    /// Those of so many stations, of which none is known.
    pub(super) fn of(stations: u32) -> Self {
        Self { all: Vec::new(), known: vec![None; stations as usize + 1] }
    }

    /// The number of the mode of the station at a place, which is sent to by this.
    #[inline]
    pub(super) fn number(&mut self, place: u32, rate: &PeerRate) -> u16 {
        match self.known[place as usize] {
            Some(Known { changes, number }) if changes == rate.changes => number,
            _ => self.look_up(place, rate),
        }
    }

    #[cold]
    fn look_up(&mut self, place: u32, rate: &PeerRate) -> u16 {
        let number = self.find(&rate.mode);
        self.known[place as usize] = Some(Known { changes: rate.changes, number });
        number
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
        let (mut one, other) = (PeerRate::fixed(mode(3)), PeerRate::fixed(mode(5)));
        let mut modes = Modes::of(2);
        assert_eq!([modes.number(1, &one), modes.number(2, &other)], [0, 1]);
        one.turn_to(mode(5));
        assert_eq!(modes.number(1, &one), 1);
        one.turn_to(mode(3));
        assert_eq!(modes.number(1, &one), 0);
        assert_eq!(*modes.at(1), mode(5));
    }
}
