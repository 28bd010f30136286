//! How long packets are in service at a radio, and for how long of it they are on the air.
//!
//! The mean time of packets in a place is the time integral of their number there, divided by the
//! number that left it (J. D. C. Little, "A proof for the queuing formula L = λW", 1961).
//!
//! The sums exist already or are one addition for each packet, so that every run has them.

use kernel::{Duration, Instant};
use wifi::{Mpdus, MsduOutcome};

/// How the service of packets at radios has ended. Frames of the MAC itself do not count.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Served {
    /// Packets that were acknowledged, or broadcast.
    pub(crate) sent: u64,
    /// Packets that were discarded at a retry limit, also those that the receiver has.
    pub(crate) retry_drops: u64,
    /// Packets that were discarded at the end of their lifetime, likewise.
    pub(crate) lifetime_drops: u64,
    /// Packets that were flushed because their receiver has left, likewise.
    pub(crate) flushed: u64,
}

impl Served {
    pub(crate) fn count(&mut self, outcome: MsduOutcome) {
        *match outcome {
            MsduOutcome::Sent => &mut self.sent,
            MsduOutcome::RetryLimit => &mut self.retry_drops,
            MsduOutcome::Lifetime => &mut self.lifetime_drops,
            MsduOutcome::Flushed => &mut self.flushed,
        } += 1;
    }

    pub(crate) fn total(self) -> u64 {
        self.sent + self.retry_drops + self.lifetime_drops + self.flushed
    }
}

/// The service of packets at a radio since the start of the run. All times are in nanoseconds,
/// times packets or MPDUs.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Service {
    packets: u64,
    /// The instants at which packets left, less those at which they entered: modulo 2^64.
    left: u64,
    /// On the air for the first time.
    pub(crate) transmission: u64,
    /// On the air again.
    pub(crate) retries: u64,
}

impl Service {
    pub(super) fn enter(&mut self, now: Instant) {
        self.packets += 1;
        self.left = self.left.wrapping_sub(now.0);
    }

    pub(super) fn leave(&mut self, now: Instant) {
        self.packets -= 1;
        self.left = self.left.wrapping_add(now.0);
    }

    /// An exchange takes this time.
    pub(super) fn send(&mut self, used: Duration, mpdus: Mpdus) {
        self.transmission += used.0 * u64::from(mpdus.first);
        self.retries += used.0 * u64::from(mpdus.repeated);
    }

    /// The integral of the number of packets in service up to now.
    pub(crate) fn time(&self, now: Instant) -> u64 {
        self.left.wrapping_add(self.packets.wrapping_mul(now.0))
    }

    /// The part of it in which they are not on the air.
    pub(crate) fn contention(&self, now: Instant) -> u64 {
        self.time(now).saturating_sub(self.transmission + self.retries)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn service_is_contention_and_time_on_the_air() {
        let mut service = Service::default();
        service.enter(Instant(100));
        service.enter(Instant(200));
        assert_eq!(service.time(Instant(250)), 150 + 50);
        service.send(Duration(30), Mpdus { first: 2, repeated: 0 });
        service.leave(Instant(300));
        service.send(Duration(20), Mpdus { first: 0, repeated: 1 });
        service.leave(Instant(400));
        assert_eq!(service.time(Instant(1000)), 200 + 200);
        assert_eq!((service.transmission, service.retries), (60, 20));
        assert_eq!(service.contention(Instant(1000)), 400 - 80);
    }

    #[test]
    fn an_exchange_that_goes_on_is_no_contention() {
        let mut service = Service::default();
        service.enter(Instant(100));
        service.send(Duration(50), Mpdus { first: 1, repeated: 0 });
        assert_eq!(service.contention(Instant(120)), 0);
    }
}
