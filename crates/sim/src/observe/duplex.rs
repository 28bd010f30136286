//! The observables of a full-duplex access point, and of the contention in its cell.

use super::observable::Kind::{Counter, MeanRate, Ratio};
use super::observable::{Observable, observables};
use crate::observers::World;
use wifi::ACCESS_POINT;
use wifi::mac::DuplexCounters;

pub(super) static FULL_DUPLEX: &[Observable] = observables! {
    /// Exchanges in which the access point received the RTS of a station, the primary transmitter.
    "primary": "exchanges" => Counter(|world, _| duplex(world).primary);
    /// Exchanges in which the access point sent a data frame to another station at the same time,
    /// as the secondary transmitter.
    "secondary": "exchanges" => Counter(|world, _| duplex(world).secondary);
    /// The fraction of primary transmissions with a secondary transmission.
    "secondary_share": "1" as "secondary\nshare" =>
        Ratio(|world, _| duplex(world).secondary, |world, _| duplex(world).primary);
    /// Secondary data frames that were acknowledged.
    "secondary_sent": "frames" => Counter(|world, _| duplex(world).secondary_sent);
    /// The mean rate of secondary data frames.
    "secondary_rate_mbps": "Mb/s" as "secondary\nrate" =>
        MeanRate(|world, _| duplex(world).secondary_rates, |world, _| duplex(world).secondary);
    /// Exchanges in which the access point sent an RTS at the same time as the primary transmitter.
    "joint": "exchanges" => Counter(|world, _| duplex(world).joint);
    /// Exchanges that the access point began alone, in half duplex.
    "alone": "exchanges" => Counter(|world, _| duplex(world).alone);
    /// Steps of the back-off: the instants at which a back-off could end.
    "steps": "steps" => Counter(|world, _| steps(world));
    /// The probability that the access point is a secondary transmitter in a step of the back-off
    /// (s_AP in the literature).
    "secondary_probability": "1" as "secondary\nprobability" =>
        Ratio(|world, _| duplex(world).secondary, |world, _| steps(world));
    /// The probability that the access point transmits an RTS in a step of the back-off.
    "ap_attempt_probability": "1" as "AP's attempt\nprobability" =>
        Ratio(|world, _| world.cell.counters(ACCESS_POINT).attempts, |world, _| steps(world));
    /// The probability that a station transmits an RTS in a step of the back-off.
    "station_attempt_probability": "1" as "stations' attempt\nprobability" =>
        Ratio(|world, _| stations(world, |node| node.attempts), |world, _| {
            steps(world) * (world.queues.len() as u64 - 1)
        });
    /// The fraction of the stations' attempts that collided.
    "station_collision_probability": "1" as "stations' collision\nprobability" => Ratio(
        |world, _| stations(world, |node| node.collisions),
        |world, _| stations(world, |node| node.attempts),
    );
};

fn duplex(world: &World) -> DuplexCounters {
    world.cell.duplex_counters().copied().unwrap_or_default()
}

fn steps(world: &World) -> u64 {
    duplex(world).steps
}

fn stations(world: &World, count: fn(&wifi::Counters) -> u64) -> u64 {
    (1..world.queues.len() as u32).map(|station| count(world.cell.counters(station))).sum()
}
