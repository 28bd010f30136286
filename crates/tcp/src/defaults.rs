//! The settings of a connection whose defaults depend on its endpoint.

use crate::config::SsthreshFrom;
use crate::{Config, Device, Endpoint, Linux, RtoRule};
use kernel::Duration;

/// RFC 6298 (2.4), and `TCP_RTO_MIN`.
const RTO_MIN: Duration = Duration::from_secs(1);
const RTO_MIN_LINUX: Duration = Duration::from_millis(200);

impl Config {
    /// The settings with those of the endpoint, where keys have no value.
    #[must_use]
    pub fn with_endpoint(mut self) -> Self {
        if let Endpoint::Linux(linux) = self.endpoint {
            self.rto_rule = Some(self.rto_rule());
            self.rto_min = Some(self.rto_min());
            self.ssthresh_from = Some(self.ssthresh_from());
            self.paws = Some(self.paws());
            self.endpoint = Endpoint::Linux(linux.with_version());
        }
        self
    }

    /// How the retransmission timeout is computed.
    pub fn rto_rule(&self) -> RtoRule {
        self.rto_rule.unwrap_or(self.by_endpoint(RtoRule::default(), RtoRule::Linux))
    }

    /// The minimum retransmission timeout.
    pub fn rto_min(&self) -> Duration {
        self.rto_min.unwrap_or(self.by_endpoint(RTO_MIN, RTO_MIN_LINUX))
    }

    /// From what a loss computes the slow start threshold.
    pub fn ssthresh_from(&self) -> SsthreshFrom {
        self.ssthresh_from
            .unwrap_or(self.by_endpoint(SsthreshFrom::default(), SsthreshFrom::Window))
    }

    /// Whether the receiver drops data with old timestamps.
    pub fn paws(&self) -> bool {
        self.paws.unwrap_or(self.by_endpoint(false, true))
    }

    fn by_endpoint<T>(&self, rfc: T, linux: T) -> T {
        if self.linux().is_some() { linux } else { rfc }
    }

    /// The settings of a connection whose sender is paced by the queue of its node (`sch_fq`).
    #[must_use]
    pub fn paced_by_queue(mut self) -> Self {
        self.pacing |= self.linux().is_some();
        self
    }

    /// The settings of a connection whose sender sends over this device.
    #[must_use]
    pub fn sent_over(mut self, device: Device) -> Self {
        if let Endpoint::Linux(linux) = &mut self.endpoint {
            *linux = linux.at(device);
        }
        self
    }

    /// The rules of Linux, if the endpoint follows them.
    pub fn linux(&self) -> Option<Linux> {
        match self.endpoint {
            Endpoint::Rfc => None,
            Endpoint::Linux(linux) => Some(linux),
        }
    }
}
