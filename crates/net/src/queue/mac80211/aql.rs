//! Airtime queue limits (AQL): how much airtime the device may hold, by the kernel's estimate
//! (net/mac80211/airtime.c, tx.c).

use kernel::{Bytes, Duration};
use settings::{Faults, Path, Settings, number, said};
use std::collections::VecDeque;
use wire::{Packet, TrafficClass};

/// Airtime queue limits of Linux 5.5 and later: the device gets packets for a station only while
/// the estimated airtime of those that it holds is below a limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Settings)]
#[settings(check = limits_ascend)]
pub struct Aql {
    /// The airtime below which a station always gets packets into the device.
    #[setting(key = "low_us", default = 5000.0, range = 1.0..=1e6)]
    pub low: Duration,
    /// The airtime below which a station gets them while the total is below `total_us`.
    #[setting(key = "high_us", default = 12_000.0, range = 1.0..=1e6)]
    pub high: Duration,
    /// The airtime of all stations from which on `low_us` holds.
    #[setting(key = "total_us", default = 24_000.0, range = 1.0..=1e6)]
    pub total: Duration,
    /// Whether the access category has a limit too, as in Linux 6: `high_us`, and half of `low_us`
    /// for each further station with packets.
    pub per_category: bool,
}

fn limits_ascend(aql: &Aql, at: &Path, faults: &mut Faults) {
    let [low, high] = [aql.low, aql.high].map(|limit| number(limit.0 as f64 / 1e3));
    if aql.low > aql.high {
        let message = said!("{low} is above high_us, {high}", "the low limit is the stricter one");
        faults.fault(at.key("low_us"), message);
    }
}

impl Aql {
    /// Whether a station with this airtime in the device may send another packet, if that of all
    /// stations is `total` microseconds and so many have packets.
    pub(super) fn admits(&self, station: &Pending, total: u64, listed: u64) -> bool {
        // Mostly the airtime of all is below what one station may have.
        if self.per_category && reaches(total, self.high) {
            let [low, high] = [self.low, self.high].map(|limit| limit.0 / 1000);
            if total >= listed.saturating_sub(1) * low / 2 + high {
                return false;
            }
        }
        // Broadcast has no station and no limit.
        let Some(_) = station.estimate else { return true };
        !reaches(station.sum, self.low)
            || (!self.is_scarce(total) && !reaches(station.sum, self.high))
    }

    /// Whether the low limit holds, if the airtime of all stations is `total` microseconds.
    pub(super) fn is_scarce(&self, total: u64) -> bool {
        reaches(total, self.total)
    }
}

/// Whether so many microseconds are at least the limit in whole microseconds, without a division.
fn reaches(airtime_us: u64, limit: Duration) -> bool {
    (airtime_us + 1) * 1000 > limit.0
}

/// How Linux estimates the airtime of a packet from the mode of the last frame to a station
/// (`ieee80211_calc_expected_tx_airtime`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AirtimeEstimate {
    /// Duration of 1024 bytes in units of 1/1024 microseconds.
    pub per_kib: u64,
    /// Duration of the preamble and the interframe space in microseconds.
    pub overhead_us: u64,
    /// Whether the mode has A-MPDUs, whose packets share the overhead.
    pub aggregates: bool,
}

/// Bytes of the Ethernet header of a packet, and of the MAC header and FCS that the estimate adds.
const HEADERS: Bytes = Bytes(14 + 38);

impl AirtimeEstimate {
    /// The estimated airtime of an IP packet in microseconds, as it is stored: a multiple of 4.
    pub fn airtime_us(&self, packet: Bytes, class: TrafficClass) -> u64 {
        let data = self.per_kib * (packet + HEADERS).0 / 1024 / 1024;
        // No A-MPDUs are expected of voice.
        let shift = match self.per_kib / 1024 {
            _ if !self.aggregates || class == TrafficClass::Voice => 0,
            401.. => 1,
            251.. => 2,
            151.. => 3,
            71.. => 4,
            _ => 5,
        };
        (data + (self.overhead_us >> shift)).clamp(4, 4095) / 4 * 4
    }
}

/// The estimated airtime of the packets that the device holds for a station.
#[derive(Debug, Default)]
pub(super) struct Pending {
    pub(super) estimate: Option<AirtimeEstimate>,
    /// The estimates of the packets, oldest first.
    packets: VecDeque<u32>,
    pub(super) sum: u64,
}

impl Pending {
    /// The device takes a packet; returns its estimate.
    pub(super) fn add(&mut self, packet: &Packet) -> u64 {
        let airtime =
            self.estimate.map_or(0, |estimate| estimate.airtime_us(packet.size, packet.class));
        self.packets.push_back(airtime as u32);
        self.sum += airtime;
        airtime
    }

    /// The device has sent or discarded a packet; returns the oldest estimate.
    pub(super) fn remove_first(&mut self) -> u64 {
        let airtime = self.packets.pop_front().unwrap_or(0).into();
        self.sum -= airtime;
        airtime
    }
}
