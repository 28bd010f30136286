//! The observables of a full-duplex access point, and of the contention in its cell.

use super::observable::Kind::{Counter, MeanRate, Once, Ratio, Share};
use super::observable::{Condition, Observable, SHARED_SLOTS, SPACE, observables};
use crate::observers::World;
use crate::topology::RadioId;
use kernel::Duration;
use wifi::ACCESS_POINT;
use wifi::mac::DuplexCounters;

/// Within a TXOP exchanges follow each other without a step of the back-off.
const BACKOFFS: Condition = Condition {
    says: "without a radio and access categories",
    holds: |plan, _| !plan.has_radio() && plan.wlan.edca.is_none(),
    lacks: |_, _, name| {
        format!(
            "each exchange begins at a common step of the back-off only without a radio and \
                 access categories: there is no {name}"
        )
    },
};

pub(super) static FULL_DUPLEX: &[Observable] = observables! {
    /// Exchanges in which the access point received the RTS of a station, the primary transmitter,
    /// or its data frame if RTS and CTS are optional.
    "primary": "exchanges" => Counter(|world, _| duplex(world).primary);
    /// Exchanges in which the access point sent a data frame at the same time, to another station
    /// or if stations are full duplex to the same one, as the secondary transmitter.
    "secondary": "exchanges" => Counter(|world, _| duplex(world).secondary);
    /// The fraction of primary transmissions with a secondary transmission.
    "secondary_share": "1" as "secondary\nshare" =>
        Ratio(|world, _| duplex(world).secondary, |world, _| duplex(world).primary);
    /// The fraction of the window in which two data frames are on the air, to and from a
    /// full-duplex access point: the mean of the access points.
    "two_frames_fraction": "1" as "two frames\nat once" if SPACE =>
        Share(|world, _| mean_of_access_points(world, duplex(world).together));
    /// Secondary data frames that were acknowledged.
    "secondary_sent": "frames" => Counter(|world, _| duplex(world).secondary_sent);
    /// The mean rate of secondary data frames.
    "secondary_rate_mbps": "Mb/s" as "secondary\nrate" =>
        MeanRate(|world, _| duplex(world).secondary_rates, |world, _| duplex(world).secondary);
    /// Exchanges that the access point and the primary transmitter began at the same instant.
    "joint": "exchanges" => Counter(|world, _| duplex(world).joint);
    /// Exchanges that the access point began alone, in half duplex unless stations are full duplex.
    "alone": "exchanges" => Counter(|world, _| duplex(world).alone);
    /// Exchanges in which a full-duplex station and the access point sent data frames to each
    /// other.
    "bidirectional": "exchanges" => Counter(|world, _| duplex(world).bidirectional);
    /// Exchanges that the access point began alone, and in which the station was the secondary
    /// transmitter.
    "station_secondary": "exchanges" as "stations\nsecondary" =>
        Counter(|world, _| duplex(world).station_secondary);
    /// Steps of the back-off: the instants at which a back-off could end.
    "steps": "steps" if SHARED_SLOTS => Counter(|world, _| steps(world));
    /// The probability that the access point is a secondary transmitter in a step of the back-off
    /// (s_AP in the literature).
    "secondary_probability": "1" as "secondary\nprobability" if BACKOFFS =>
        Ratio(|world, _| duplex(world).secondary, |world, _| steps(world));
    /// The probability that the access point transmits an RTS in a step of the back-off.
    "ap_attempt_probability": "1" as "AP's attempt\nprobability" if BACKOFFS =>
        Ratio(|world, _| world.cell.counters(ACCESS_POINT).attempts, |world, _| steps(world));
    /// The probability that a station transmits an RTS in a step of the back-off.
    "station_attempt_probability": "1" as "stations' attempt\nprobability" if BACKOFFS =>
        Ratio(|world, _| stations(world, |node| node.attempts), |world, _| {
            steps(world) * (world.queues.len() as u64 - 1)
        });
    /// The fraction of the stations' attempts that collided.
    "station_collision_probability": "1" as "stations' collision\nprobability" => Ratio(
        |world, _| stations(world, |node| node.collisions),
        |world, _| stations(world, |node| node.outcomes),
    );
};

/// Of the access point's secondary frames of one rate, in ascending order of the rates.
pub(super) static SECONDARY_RATE: &[Observable] = observables! {
    /// A rate of the access point's secondary frames; rates ascend.
    "rate_mbps": "Mb/s" as "secondary\nrate" =>
        Once(|world, i| world.cell.secondary_rates()[i].rate.as_mbps().into());
    /// Secondary data frames of this rate.
    "frames": "frames" => Counter(|world, i| world.cell.secondary_rates()[i].frames);
    /// The fraction of the window in which the access point sends a secondary frame of this rate:
    /// the mean of the access points.
    "airtime_fraction": "1" as "airtime" =>
        Share(|world, i| mean_of_access_points(world, world.cell.secondary_rates()[i].airtime));
};

fn duplex(world: &World) -> DuplexCounters {
    world.cell.duplex_counters().unwrap_or_default()
}

/// Nanoseconds.
fn mean_of_access_points(world: &World, total: Duration) -> u64 {
    total.0 / world.topology.access_points().len() as u64
}

fn steps(world: &World) -> u64 {
    duplex(world).steps
}

fn stations(world: &World, count: fn(&wifi::Counters) -> u64) -> u64 {
    let radios = (0..world.queues.len() as u32).map(RadioId);
    let stations = radios.filter(|&radio| !world.topology.is_access_point(radio));
    stations.map(|station| count(world.cell.counters(station.0))).sum()
}
