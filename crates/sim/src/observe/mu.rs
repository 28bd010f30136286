//! The observables of OFDMA.

use super::observable::Kind::{Counter, MeanTime, Ratio, Share};
use super::observable::{MU, MU_EDCA, Observable, UORA, UPLINK, observables};
use crate::observers::World;
use wifi::mac::{MuCounters, RandomAccessCounters, TriggerCounters, UserCounters};

pub(super) static ACCESS_POINT: &[Observable] = observables! {
    /// PPDUs that the access point sent to several stations at once.
    "mu.ppdus": "PPDUs" as "MU\nPPDUs" if MU =>
        Counter(|world, n| counters(world, n, |all| all.ppdus));
    /// Stations in such a PPDU, on average.
    "mu.users_per_ppdu": "stations" as "stations\nper PPDU" if MU => Ratio(
        |world, n| counters(world, n, |all| all.all().ppdus),
        |world, n| counters(world, n, |all| all.ppdus),
    );
    /// Tones of a station's resource unit, on average.
    "mu.tones": "tones" as "tones of\na station" if MU => Ratio(
        |world, n| counters(world, n, |all| all.all().tones),
        |world, n| counters(world, n, |all| all.all().ppdus),
    );
    /// Data frames for a station in such a PPDU, on average.
    "mu.mpdus_per_user": "frames" as "frames of\na station" if MU => Ratio(
        |world, n| counters(world, n, |all| all.all().mpdus),
        |world, n| counters(world, n, |all| all.all().ppdus),
    );
    /// The fraction of the bytes in resource units that is padding up to the end of the longest
    /// user.
    "mu.padding_fraction": "1" as "padding" if MU => Ratio(
        |world, n| counters(world, n, |all| all.all().padding_bytes),
        |world, n| counters(world, n, |all| all.all().room_bytes),
    );
    /// Resource units for random access (RA-RUs) in Trigger frames.
    "mu.ra_rus": "units" as "RA-RUs" if UORA => Counter(|world, _| random(world).offered);
    /// RA-RUs in which one station sent, or several.
    "mu.ra_rus_used": "units" as "used" if UORA => Counter(|world, _| random(world).used);
    /// RA-RUs in which several stations sent, so that none was received.
    "mu.ra_rus_collided": "units" as "collided" if UORA =>
        Counter(|world, _| random(world).collided);
    /// RA-RUs in which one station sent, and the access point received something.
    "mu.ra_rus_received": "units" as "received" if UORA =>
        Counter(|world, _| random(world).received);
    /// The fraction of the RA-RUs in which the access point received something: at most about 1/e,
    /// 0.368, if many stations send independently of each other.
    "mu.ra_efficiency": "1" as "received\nof RA-RUs" if UORA =>
        Ratio(|world, _| random(world).received, |world, _| random(world).offered);
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
    /// Trigger frames that ask the station for data or for the sizes of its queues.
    "mu.triggers": "frames" as "Trigger\nframes" if UPLINK =>
        Counter(|world, n| triggered(world, n).asked);
    /// RA-RUs in which the station sent.
    "mu.ra_attempts": "attempts" as "sent in\nRA-RUs" if UORA =>
        Counter(|world, n| triggered(world, n).attempts);
    /// The fraction of them in which the access point received something of it.
    "mu.ra_success_fraction": "1" as "of these\nreceived" if UORA =>
        Ratio(|world, n| triggered(world, n).successes, |world, n| triggered(world, n).attempts);
    /// The fraction of the window in which packets wait at the station that MU EDCA keeps from
    /// contending: its timer runs, and AIFSN is 0.
    "mu.muted_fraction": "1" as "muted" if MU_EDCA =>
        Share(|world, n| triggered(world, n).muted.0);
    /// The mean time for which packets of a category wait so, until a Trigger frame comes for them
    /// or the timer ends.
    "mu.muted_s": "s" as "a wait" if MU_EDCA =>
        MeanTime(|world, n| triggered(world, n).waited.0, |world, n| triggered(world, n).waits);
};

/// A counter of the PPDUs of an access point to several users.
pub(super) fn counters(world: &World, node: usize, read: fn(&MuCounters) -> u64) -> u64 {
    world.cell.mu_counters(node as u32).map_or(0, read)
}

fn random(world: &World) -> RandomAccessCounters {
    world
        .cell
        .mu_counters(wifi::ACCESS_POINT)
        .map_or_else(RandomAccessCounters::default, |all| all.random)
}

fn user(world: &World, node: usize) -> UserCounters {
    world.cell.user_counters(node as u32)
}

fn triggered(world: &World, node: usize) -> TriggerCounters {
    world.cell.trigger_counters(world.now, node as u32)
}
