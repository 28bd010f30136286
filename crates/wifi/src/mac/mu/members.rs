//! The stations of an access point.

/// The place of broadcasts among the receivers.
pub(in crate::mac::mu) const ALL: u32 = 0;

/// The stations, in ascending order of their numbers: the first has place 1.
#[derive(Debug)]
pub(in crate::mac::mu) struct Members {
    stations: Vec<u32>,
    /// Each has the number of its place, as in a cell.
    are_in_place: bool,
}

impl Members {
    /// These stations.
    pub(in crate::mac::mu) fn of(stations: Vec<u32>) -> Self {
        let are_in_place = (1..).zip(&stations).all(|(place, &station)| place == station);
        Self { stations, are_in_place }
    }

    /// The place of a receiver; `None` is all.
    #[inline]
    pub(in crate::mac::mu) fn place(&self, receiver: Option<u32>) -> u32 {
        let Some(station) = receiver else { return ALL };
        if self.are_in_place {
            return if station as usize <= self.stations.len() { station } else { ALL };
        }
        self.stations.binary_search(&station).map_or(ALL, |at| at as u32 + 1)
    }

    /// The station at a place.
    #[inline]
    pub(in crate::mac::mu) fn at(&self, place: u32) -> u32 {
        if self.are_in_place { place } else { self.stations[place as usize - 1] }
    }

    /// The stations by their places, from the first.
    pub(in crate::mac::mu) fn all(&self) -> &[u32] {
        &self.stations
    }

    /// The places of all stations.
    pub(in crate::mac::mu) fn places(&self) -> std::ops::RangeInclusive<u32> {
        1..=self.stations.len() as u32
    }
}
