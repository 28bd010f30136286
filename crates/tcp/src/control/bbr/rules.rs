//! The settings of BBR: which rules hold, those of the draft or those of Linux.

use crate::Linux;
use crate::endpoint::Kernel;
use kernel::{BitRate, Bytes, Duration, Instant};
use settings::{Choice, Settings};

/// BBR, version 1 (Cardwell and others 2016). The last keys are the rules of Linux that the draft
/// does not have; without a value they follow `tcp.endpoint`.
#[derive(Clone, Copy, Debug, PartialEq, Settings)]
#[settings(name = "Bbr")]
pub struct BbrConfig {
    /// Whether the window allows for aggregated acknowledgements, as behind aggregated frames.
    /// Default: yes, and no with the endpoint of Linux 4.9.
    pub extra_acked: Option<bool>,
    /// Whether fast recovery begins with a round trip in which only as much is sent as is delivered
    /// (section 4.2.3.4 of the draft, and `bbr_set_cwnd_to_recover_or_restore` of Linux). If there
    /// are losses in each round trip, Startup then ends early, and with 5 % of losses 0.87 of the
    /// capacity is left instead of 0.9. Default: only with the endpoint of Linux.
    pub conservation: Option<bool>,
    /// The size of a send quantum, of which the window has three in excess. Default: a segment, and
    /// by the rate with the endpoint of Linux.
    #[setting(skip)]
    pub send_quantum: Option<SendQuantum>,
    /// Whether the amounts in flight that end the phases of a cycle and Drain have three send
    /// quanta in excess too (`BBRInflight` of the draft, `bbr_inflight` of Linux), so that some
    /// segments stay in the queue. Default: only with the endpoint of Linux.
    pub inflight_quanta: Option<bool>,
    /// Whether products of rate and delay are whole numbers of segments, and windows even ones, two
    /// more while the rate is probed (`bbr_bdp` and `bbr_quantization_budget` of Linux). Default:
    /// only with the endpoint of Linux.
    pub even_windows: Option<bool>,
    /// Whether the phases end by what will be in the network when the next packet leaves at the
    /// pacing rate (`bbr_packets_in_net_at_edt`, from Linux 5.0 on), and not by what is in flight.
    /// Default: only with the endpoint of Linux.
    pub departure_time: Option<bool>,
    /// Whether the pacing rate begins with the gain of Startup, and does not fall before the pipe
    /// is full (`BBRSetPacingRateWithGain` of the draft, `bbr_set_pacing_rate` of Linux). Default:
    /// only with the endpoint of Linux.
    pub rising_start: Option<bool>,
    /// Whether the minimum round-trip time of the handshake counts, a sample that equals the
    /// minimum does not renew it, and rates sampled while it is measured are application-limited
    /// (`bbr_update_min_rtt` of Linux). Default: only with the endpoint of Linux.
    pub strict_rtt: Option<bool>,
    /// Whether the rate is the mean rate after two intervals of 4 to 16 round trips that have lost
    /// a fifth of the data at equal rates, as behind a policer (`bbr_lt_bw_sampling` of Linux).
    /// Default: only with the endpoint of Linux.
    pub policer: Option<bool>,
}

impl BbrConfig {
    /// The settings with the rules of Linux where they have no value.
    #[must_use]
    pub(in crate::control) fn with_endpoint(self, linux: Linux) -> Self {
        let is_recent = linux.version != Kernel::V4_9;
        Self {
            extra_acked: self.extra_acked.or(Some(is_recent)),
            conservation: self.conservation.or(Some(true)),
            send_quantum: self.send_quantum.or(Some(SendQuantum::Rate)),
            inflight_quanta: self.inflight_quanta.or(Some(true)),
            even_windows: self.even_windows.or(Some(true)),
            departure_time: self.departure_time.or(Some(is_recent)),
            rising_start: self.rising_start.or(Some(true)),
            strict_rtt: self.strict_rtt.or(Some(true)),
            policer: self.policer.or(Some(true)),
        }
    }
}

/// The rules that hold: those of the draft where a setting has no value.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Rules {
    pub(super) extra_acked: bool,
    pub(super) conservation: bool,
    pub(super) send_quantum: SendQuantum,
    pub(super) inflight_quanta: bool,
    pub(super) even_windows: bool,
    pub(super) departure_time: bool,
    pub(super) rising_start: bool,
    pub(super) strict_rtt: bool,
    pub(super) policer: bool,
    /// The endpoint of Linux, whose clock ticks.
    pub(super) linux: Option<Linux>,
}

impl Rules {
    pub(super) fn new(settings: &BbrConfig, linux: Option<Linux>) -> Self {
        Self {
            extra_acked: settings.extra_acked.unwrap_or(true),
            conservation: settings.conservation.unwrap_or(false),
            send_quantum: settings.send_quantum.unwrap_or_default(),
            inflight_quanta: settings.inflight_quanta.unwrap_or(false),
            even_windows: settings.even_windows.unwrap_or(false),
            departure_time: settings.departure_time.unwrap_or(false),
            rising_start: settings.rising_start.unwrap_or(false),
            strict_rtt: settings.strict_rtt.unwrap_or(false),
            policer: settings.policer.unwrap_or(false),
            linux,
        }
    }

    /// Whether more than this time has passed.
    pub(super) fn is_past(&self, now: Instant, since: Instant, time: Duration) -> bool {
        match self.linux {
            None => now > since + time,
            Some(linux) => linux.last_tick(now) > linux.last_tick(since) + linux.in_ticks(time),
        }
    }

    /// Whether this time has passed; in Linux, a tick more.
    pub(super) fn has_passed(&self, now: Instant, since: Instant, time: Duration) -> bool {
        match self.linux {
            None => now >= since + time,
            Some(_) => self.is_past(now, since, time),
        }
    }
}

/// The data that a host hands to its network device at once.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Choice)]
pub enum SendQuantum {
    /// A segment: the host sends segments one by one, as here without TSO.
    #[default]
    Segment,
    /// By the pacing rate (section 4.2.2 of the draft, and Linux): one segment below 1.2 Mb/s, two
    /// below 24 Mb/s, and from there on the data of a millisecond, at most 64 KB.
    Rate,
}

/// The send quantum at a pacing rate, in segments of this size (§4.2.2).
pub(super) fn send_quantum(pacing: BitRate, mss: Bytes) -> f64 {
    match pacing.0 {
        0..1_200_000 => 1.0,
        1_200_000..24_000_000 => 2.0,
        rate => (rate as f64 / 8000.0).min(65_536.0) / mss.0 as f64,
    }
}
