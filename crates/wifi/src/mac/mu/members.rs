//! The stations of an access point.

/// The place of broadcasts among the receivers.
pub(in crate::mac::mu) const ALL: u32 = 0;

/// The stations, in ascending order of their numbers: the first has place 1.
#[derive(Debug)]
pub(in crate::mac::mu) struct Members(pub(in crate::mac::mu) Vec<u32>);

impl Members {
    /// The place of a receiver; `None` is all.
    #[inline]
    pub(in crate::mac::mu) fn place(&self, receiver: Option<u32>) -> u32 {
        let Some(station) = receiver else { return ALL };
        // In a cell, stations have the numbers from 1 on.
        if self.0.get((station as usize).wrapping_sub(1)) == Some(&station) {
            return station;
        }
        self.0.binary_search(&station).map_or(ALL, |at| at as u32 + 1)
    }

    /// The station at a place.
    #[inline]
    pub(in crate::mac::mu) fn at(&self, place: u32) -> u32 {
        self.0[place as usize - 1]
    }

    /// The places of all stations.
    pub(in crate::mac::mu) fn places(&self) -> std::ops::RangeInclusive<u32> {
        1..=self.0.len() as u32
    }
}
