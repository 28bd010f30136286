//! Uplink OFDMA random access, UORA (802.11ax-2021 clause 26.5.4): resource units of a Trigger
//! frame that are for no station in particular (RA-RUs), and which stations send in them.
//!
//! A station has one OFDMA contention window (OCW) and one OFDMA back-off (OBO) counter for all its
//! access categories. The counter counts RA-RUs and not slots, so that it needs no clock. RA-RUs
//! for stations that are not associated (AID 2045) are not modelled.

use kernel::{Bytes, Rng};
use settings::{Choice, Faults, Path, Settings};
use wire::TriggerKind;

/// UORA: stations that a Trigger frame does not ask, and that have packets, send in one of its
/// RA-RUs, chosen at random.
///
/// All resource units of such a Trigger frame are equally wide, as wide as they can be. The slowest
/// station can send in an RA-RU. Of several that choose the same one none is received, but for one
/// that is much stronger among radios.
#[derive(Clone, Debug, PartialEq, Settings)]
#[settings(name = "RandomAccess", check = windows)]
pub struct RandomAccess {
    /// RA-RUs in a Trigger frame. They count among `wlan.mu.max_users`: so many stations fewer are
    /// asked.
    #[setting(default = 1, range = 1..=74)]
    pub units: u32,
    /// Which Trigger frames have RA-RUs.
    pub triggers: RandomAccessTriggers,
    /// k of the smallest OFDMA contention window, 2^k - 1, which is also the first one and that
    /// after a success (`EOCWmin` of clause 9.4.2.250; 3 is the standard's default).
    #[setting(default = 3, range = 0..=7)]
    pub eocw_min: u32,
    /// k of the largest one (`EOCWmax`; 5 is the standard's default).
    #[setting(default = 5, range = 0..=7)]
    pub eocw_max: u32,
    /// What a Basic Trigger frame leaves room for in an RA-RU, in bytes: nobody knows who will send
    /// in it, and how much. The default has room for a packet of 1500 bytes.
    #[setting(key = "room_bytes", default = Bytes(1542), range = 64.0..=65_535.0)]
    pub room: Bytes,
}

/// Which Trigger frames have RA-RUs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Choice)]
pub enum RandomAccessTriggers {
    /// BSRP and Basic Trigger frames.
    #[default]
    All,
    /// BSRP Trigger frames: a station tells the sizes of its queues.
    Bsrp,
    /// Basic Trigger frames: a station sends data.
    Basic,
}

fn windows(settings: &RandomAccess, at: &Path, faults: &mut Faults) {
    let RandomAccess { eocw_min, eocw_max, .. } = *settings;
    if eocw_min > eocw_max {
        let message = format!("{eocw_min} is more than eocw_max, {eocw_max}");
        faults.fault(at.key("eocw_min"), message);
    }
}

impl RandomAccess {
    /// The RA-RUs of a Trigger frame of this type.
    pub fn units_in(&self, kind: TriggerKind) -> u32 {
        use RandomAccessTriggers::{All, Basic, Bsrp};
        match (kind, self.triggers) {
            (TriggerKind::Basic, All | Basic) | (TriggerKind::Bsrp, All | Bsrp) => self.units,
            _ => 0,
        }
    }

    fn window(exponent: u32) -> u32 {
        (1 << exponent) - 1
    }
}

/// A station that has something to send and is not asked by a Trigger frame with RA-RUs, as it was
/// before.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Contender {
    /// The station, by its node number.
    pub station: u32,
    /// It hears the Trigger frame, and so counts its RA-RUs.
    pub hears: bool,
    /// Its OFDMA contention window.
    pub ocw: u32,
    /// Its OFDMA back-off counter.
    pub obo: u32,
}

/// The random access of a station.
#[derive(Debug)]
pub(crate) struct OfdmaBackoff {
    ocw: u32,
    obo: u32,
    draws: Rng,
}

impl OfdmaBackoff {
    pub(crate) fn new(settings: &RandomAccess, draws: Rng) -> Self {
        let mut own = Self { ocw: 0, obo: 0, draws };
        own.on_sent(settings, true);
        own
    }

    /// The station with what it has now.
    pub(crate) fn of(&self, station: u32, hears: bool) -> Contender {
        Contender { station, hears, ocw: self.ocw, obo: self.obo }
    }

    /// A Trigger frame has so many RA-RUs, at least one, and the station has something to send. If
    /// it sends, in which of them (clause 26.5.4.3).
    pub(crate) fn on_trigger(&mut self, units: u32) -> Option<u32> {
        if self.obo > units {
            self.obo -= units;
            return None;
        }
        self.obo = 0;
        Some(self.draws.up_to(units - 1))
    }

    /// The medium is busy when it is to send. It draws a counter from the same window.
    pub(crate) fn put_off(&mut self) {
        self.obo = self.draws.up_to(self.ocw);
    }

    /// What it sent has been acknowledged, or asked for no acknowledgement; or else it has not
    /// (clause 26.5.4.4). It draws a counter.
    pub(crate) fn on_sent(&mut self, settings: &RandomAccess, is_success: bool) {
        let least = RandomAccess::window(settings.eocw_min);
        let most = RandomAccess::window(settings.eocw_max);
        self.ocw = if is_success { least } else { (2 * self.ocw + 1).min(most) };
        self.obo = self.draws.up_to(self.ocw);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use kernel::Seed;

    fn access(settings: &RandomAccess, station: u32) -> OfdmaBackoff {
        let seed = Seed { root: 7, replication: 0 };
        OfdmaBackoff::new(settings, seed.stream("mac.random_access", station))
    }

    /// An access with this counter.
    fn with(obo: u32) -> OfdmaBackoff {
        let mut access = access(&RandomAccess::default(), 1);
        access.obo = obo;
        access
    }

    #[test]
    fn a_counter_counts_units_down() {
        let mut access = with(7);
        assert_eq!([access.on_trigger(3), access.on_trigger(3)], [None; 2]);
        assert_eq!(access.obo, 1);
        assert!(access.on_trigger(3).is_some_and(|unit| unit < 3));
        assert_eq!(access.obo, 0);
    }

    /// Not greater is enough.
    #[test]
    fn as_many_units_as_the_counter_are_enough() {
        for (obo, units, sends) in [(3, 3, true), (4, 3, false), (1, 1, true), (0, 1, true)] {
            assert_eq!(with(obo).on_trigger(units).is_some(), sends, "{obo} of {units}");
        }
    }

    #[test]
    fn failures_double_the_window_and_a_success_resets_it() {
        let settings = RandomAccess::default();
        let mut access = access(&settings, 1);
        let mut after = |is_success| {
            access.on_sent(&settings, is_success);
            assert!(access.obo <= access.ocw);
            access.ocw
        };
        assert_eq!([after(false), after(false), after(false)], [15, 31, 31]);
        assert_eq!([after(true), after(true)], [7, 7]);
    }

    /// A window between the bounds that the doubling jumps over.
    #[test]
    fn a_window_has_bounds() {
        let settings = RandomAccess { eocw_min: 0, eocw_max: 1, ..RandomAccess::default() };
        let mut access = access(&settings, 1);
        assert_eq!((access.ocw, access.obo), (0, 0));
        access.on_sent(&settings, false);
        access.on_sent(&settings, false);
        assert_eq!(access.ocw, 1);
    }

    /// Counters are uniform in 0 to OCW, and so is the choice: 8000 draws of eight values each,
    /// within five standard deviations of 1000.
    #[test]
    fn draws_are_uniform() {
        let settings = RandomAccess::default();
        let mut access = access(&settings, 1);
        let (mut counters, mut units) = ([0_i32; 8], [0_i32; 8]);
        for _ in 0..8000 {
            access.on_sent(&settings, true);
            counters[access.obo as usize] += 1;
            units[access.on_trigger(8).expect("OBO is at most 7") as usize] += 1;
        }
        for count in counters.into_iter().chain(units) {
            assert!((count - 1000).abs() < 5 * 30, "{counters:?}, {units:?}");
        }
    }

    #[test]
    fn stations_draw_from_streams_of_their_own() {
        let settings = RandomAccess { eocw_min: 7, eocw_max: 7, ..RandomAccess::default() };
        let first = |station| access(&settings, station).obo;
        assert_eq!(first(1), first(1));
        assert!((2..9).any(|station| first(station) != first(1)));
    }

    #[test]
    fn trigger_frames_have_units_by_their_type() {
        use RandomAccessTriggers::{All, Basic, Bsrp};
        use TriggerKind::MuBar;
        let units = |triggers| {
            let settings = RandomAccess { units: 3, triggers, ..RandomAccess::default() };
            [TriggerKind::Bsrp, TriggerKind::Basic, MuBar].map(|kind| settings.units_in(kind))
        };
        assert_eq!([All, Bsrp, Basic].map(units), [[3, 3, 0], [3, 0, 0], [0, 3, 0]]);
    }
}
