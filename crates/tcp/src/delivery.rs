//! Delivery rate estimation (draft-cheng-iccrg-delivery-rate-estimation-02), for congestion
//! controls with a model of the path.

use crate::sent::Sent;
use crate::{Delivery, Lost};
use kernel::{BitRate, Duration, Instant, Segments};

/// The state that is recorded when a segment leaves.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Departure {
    /// When the segment last left.
    pub(crate) at: Instant,
    /// The amount delivered by then, and when the last of it was acknowledged.
    delivered: u64,
    delivered_at: Instant,
    /// When the first segment of the flight left whose acknowledgement arrived at `delivered_at`.
    first_at: Instant,
    lost: u64,
    in_flight: u64,
    app_limited: bool,
}

/// Counts delivered data. All amounts are bytes.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct DeliveryMeter {
    delivered: u64,
    delivered_at: Instant,
    first_at: Instant,
    lost: u64,
    /// Samples are application-limited until this amount is delivered.
    limited_until: u64,
}

impl DeliveryMeter {
    /// A segment leaves while `in_flight` bytes are in flight (§3.1.1).
    pub(crate) fn on_send(&mut self, now: Instant, in_flight: u64, len: u64) -> Departure {
        if in_flight == 0 {
            (self.first_at, self.delivered_at) = (now, now);
        }
        Departure {
            at: now,
            delivered: self.delivered,
            delivered_at: self.delivered_at,
            first_at: self.first_at,
            lost: self.lost,
            in_flight: in_flight + len,
            app_limited: self.delivered < self.limited_until,
        }
    }

    /// The application has nothing to send although the window has room (§3.2).
    pub(crate) fn on_idle(&mut self, in_flight: u64) {
        self.limited_until = (self.delivered + in_flight).max(1);
    }

    /// This amount is newly considered lost.
    pub(crate) fn on_lost(&mut self, bytes: u64) {
        self.lost += bytes;
    }

    /// This segment is newly considered lost, by an acknowledgement that delivers `delivered`
    /// bytes; `record` is that of its last departure.
    pub(crate) fn on_lost_segment(
        &mut self,
        now: Instant,
        sent: &Sent,
        record: &Departure,
        delivered: u64,
        mss: u64,
    ) -> Lost {
        let size = sent.end - sent.start;
        self.lost += size;
        let segments = |bytes: u64| Segments(bytes as f64 / mss as f64);
        Lost {
            now,
            start: sent.start,
            end: sent.end,
            size: segments(size),
            total: segments(self.delivered + delivered),
            prior: segments(record.delivered),
            in_flight: segments(record.in_flight),
            lost: segments(self.lost - record.lost),
            app_limited: record.app_limited,
        }
    }

    /// This amount is newly delivered; `newest` is the record of the segment among it that left
    /// last (§3.1.2 and §3.3).
    pub(crate) fn sample(
        &mut self,
        now: Instant,
        bytes: u64,
        newest: Option<&Departure>,
        rtt_min: Option<Duration>,
        mss: u64,
    ) -> Option<Delivery> {
        self.delivered += bytes;
        self.delivered_at = now;
        let newest = newest?;
        self.first_at = newest.at;
        let sending = newest.at.since(newest.first_at);
        let acknowledging = now.since(newest.delivered_at);
        let interval = sending.max(acknowledging);
        // An interval shorter than the minimum RTT would overestimate the rate.
        if interval.0 == 0 || rtt_min.is_some_and(|least| interval < least) {
            return None;
        }
        let delivered = self.delivered - newest.delivered;
        let rate = delivered as f64 * 8e9 / interval.0 as f64;
        let each = 1.0 / mss as f64;
        let segments = |bytes: u64| Segments(bytes as f64 * each);
        Some(Delivery {
            rate: BitRate(rate as u64),
            app_limited: newest.app_limited,
            prior: segments(newest.delivered),
            total: segments(self.delivered),
            in_flight: segments(newest.in_flight),
            lost: segments(self.lost - newest.lost),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::harness::ms;

    const MIN: Option<Duration> = Some(Duration(100_000_000));

    #[test]
    fn a_flight_is_measured_by_the_slower_of_sending_and_acknowledging() {
        let mut meter = DeliveryMeter::default();
        // Ten segments leave at once. From 100 ms on, one is acknowledged every 10 ms: 100 bytes in
        // 10 ms.
        let flight: Vec<_> = (0..10).map(|i| meter.on_send(ms(0), 100 * i, 100)).collect();
        let mut last = None;
        for (i, sent) in (0..).zip(&flight) {
            last = meter.sample(ms(100 + 10 * i), 100, Some(sent), MIN, 100);
        }
        let last = last.unwrap();
        // 1000 bytes from 0 to 190 ms, as the first flight began at 0.
        assert_eq!(last.rate, BitRate(1000 * 8 * 1000 / 190));
        assert_eq!((last.prior, last.total), (Segments(0.0), Segments(10.0)));
        assert_eq!(last.in_flight, Segments(10.0));
        // A segment that left at 100 ms, after the first had been delivered: 80 kbit/s.
        let mut meter = DeliveryMeter::default();
        let first = meter.on_send(ms(0), 0, 100);
        meter.sample(ms(100), 100, Some(&first), MIN, 100);
        let later = meter.on_send(ms(100), 900, 100);
        meter.on_lost(300);
        let sample = meter.sample(ms(210), 1000, Some(&later), MIN, 100).unwrap();
        assert_eq!(sample.rate, BitRate(1000 * 8 * 1000 / 110));
        assert_eq!((sample.prior, sample.lost), (Segments(1.0), Segments(3.0)));
    }

    #[test]
    fn an_idle_application_and_a_short_interval_spoil_a_sample() {
        let mut meter = DeliveryMeter::default();
        meter.on_idle(0);
        let first = meter.on_send(ms(0), 0, 100);
        assert!(meter.sample(ms(100), 100, Some(&first), MIN, 100).unwrap().app_limited);
        let second = meter.on_send(ms(100), 0, 100);
        assert!(!meter.sample(ms(200), 100, Some(&second), MIN, 100).unwrap().app_limited);
        let third = meter.on_send(ms(200), 0, 100);
        assert_eq!(meter.sample(ms(250), 100, Some(&third), MIN, 100), None);
    }
}
