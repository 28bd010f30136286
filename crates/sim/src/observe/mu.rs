//! The observables of downlink OFDMA.

use super::observable::Kind::{Counter, Ratio};
use super::observable::{MU, Observable, observables};
use crate::observers::World;
use wifi::mac::{MuCounters, UserCounters};

pub(super) static ACCESS_POINT: &[Observable] = observables! {
    /// PPDUs that the access point sent to several stations at once.
    "mu.ppdus": "PPDUs" as "MU\nPPDUs" if MU =>
        Counter(|world, _| counters(world, |all| all.ppdus));
    /// Stations in such a PPDU, on average.
    "mu.users_per_ppdu": "stations" as "stations\nper PPDU" if MU => Ratio(
        |world, _| counters(world, |all| all.all().ppdus),
        |world, _| counters(world, |all| all.ppdus),
    );
    /// Tones of a station's resource unit, on average.
    "mu.tones": "tones" as "tones of\na station" if MU => Ratio(
        |world, _| counters(world, |all| all.all().tones),
        |world, _| counters(world, |all| all.all().ppdus),
    );
    /// Data frames for a station in such a PPDU, on average.
    "mu.mpdus_per_user": "frames" as "frames of\na station" if MU => Ratio(
        |world, _| counters(world, |all| all.all().mpdus),
        |world, _| counters(world, |all| all.all().ppdus),
    );
    /// The fraction of the bytes in resource units that is padding up to the end of the longest
    /// user.
    "mu.padding_fraction": "1" as "padding" if MU => Ratio(
        |world, _| counters(world, |all| all.all().padding_bytes),
        |world, _| counters(world, |all| all.all().room_bytes),
    );
};

pub(super) static STATION: &[Observable] = observables! {
    /// PPDUs to several stations with data for this one.
    "mu.ppdus": "PPDUs" as "MU\nPPDUs" if MU => Counter(|world, n| user(world, n).ppdus);
    /// Tones of the station's resource unit in them, on average.
    "mu.tones": "tones" as "tones of\na station" if MU =>
        Ratio(|world, n| user(world, n).tones, |world, n| user(world, n).ppdus);
    /// Data frames for the station in such a PPDU, on average.
    "mu.mpdus_per_user": "frames" as "frames of\na station" if MU =>
        Ratio(|world, n| user(world, n).mpdus, |world, n| user(world, n).ppdus);
    /// The fraction of the bytes in its resource units that is padding up to the end of the longest
    /// user.
    "mu.padding_fraction": "1" as "padding" if MU =>
        Ratio(|world, n| user(world, n).padding_bytes, |world, n| user(world, n).room_bytes);
};

/// A counter of all PPDUs to several users.
pub(super) fn counters(world: &World, read: fn(&MuCounters) -> u64) -> u64 {
    world.cell.mu_counters().map_or(0, read)
}

fn user(world: &World, node: usize) -> UserCounters {
    world.cell.mu_counters().map_or_else(UserCounters::default, |all| all.users[node])
}
