//! A voice call in one direction, and how well it sounds.

use super::cbr::Clock;
use super::{DatagramSize, Origin, Pace, Source, TrafficModel, Transport};
use kernel::{Bytes, Duration};
use settings::{Choice, Settings};

/// Voice over RTP and UDP in one direction. The receiver plays each packet a fixed time after it
/// was sent; a packet that arrives later is lost. The quality is that of the E-model (ITU-T G.107).
#[derive(Clone, Debug, PartialEq, Settings)]
pub struct Call {
    /// The codec.
    #[setting(default = Codec::G711)]
    pub codec: Codec,
    /// Speech in each packet.
    #[setting(key = "interval_ms", default = 20.0, range = 10.0..=200.0)]
    pub interval: Duration,
    /// From the sending of a packet to its playing: the network and the jitter buffer together.
    #[setting(key = "deadline_ms", default = 100.0, range = 1.0..=10_000.0)]
    pub deadline: Duration,
    /// UDP and IP headers of each packet.
    #[setting(key = "header_bytes", default = 28, range = 0..=200)]
    pub header: Bytes,
}

/// A codec of voice.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Choice)]
pub enum Codec {
    /// G.711 at 64 kb/s, with packet loss concealment.
    G711,
    /// G.729 A at 8 kb/s.
    G729a,
    /// Opus at 32 kb/s (RFC 6716). ITU-T G.113 has no impairments of it: those of G.711.
    Opus,
}

impl Codec {
    /// Bytes of speech per second.
    fn bytes_per_s(self) -> f64 {
        match self {
            Self::G711 => 8000.0,
            Self::G729a => 1000.0,
            Self::Opus => 4000.0,
        }
    }

    /// Equipment impairment Ie and robustness against losses Bpl (ITU-T G.113 tables I.1 and I.2).
    fn impairment(self) -> (f64, f64) {
        match self {
            Self::G711 | Self::Opus => (0.0, 25.1),
            Self::G729a => (11.0, 19.0),
        }
    }

    /// Time for which the codec looks ahead.
    fn look_ahead(self) -> Duration {
        match self {
            Self::G711 => Duration::ZERO,
            Self::G729a => Duration::from_millis(5),
            // RFC 6716 section 2: 2.5 ms of overlap and 4 ms of delay compensation.
            Self::Opus => Duration::from_micros(6500),
        }
    }
}

/// The RTP header (RFC 3550 section 5.1).
const RTP: u64 = 12;

impl Call {
    /// Bytes of a packet with the RTP header.
    pub(super) fn payload(&self) -> Bytes {
        Bytes((self.codec.bytes_per_s() * self.interval.as_secs_f64() + 0.5) as u64 + RTP)
    }

    /// The rating factor R if this fraction of the packets is late or lost (ITU-T G.107 (06/2015)
    /// equations 7-1, 7-27 and 7-29, all other parameters at their defaults).
    pub fn rating(&self, lost: f64) -> f64 {
        const DEFAULT_R: f64 = 93.2;
        let (ie, bpl) = self.codec.impairment();
        let percent = 100.0 * lost;
        let equipment = ie + (95.0 - ie) * percent / (percent + bpl);
        let delay = self.deadline + self.interval + self.codec.look_ahead();
        DEFAULT_R - delay_impairment(delay) - equipment
    }
}

/// The impairment Idd of a one-way delay from mouth to ear.
fn delay_impairment(delay: Duration) -> f64 {
    let ratio = delay.as_secs_f64() / 0.1;
    if ratio <= 1.0 {
        return 0.0;
    }
    let x = libm::log2(ratio);
    let root = |base: f64| libm::pow(1.0 + libm::pow(base, 6.0), 1.0 / 6.0);
    25.0 * (root(x) - 3.0 * root(x / 3.0) + 2.0)
}

/// The mean opinion score of a rating factor (ITU-T G.107 annex B).
pub fn mean_opinion_score(r: f64) -> f64 {
    if r.is_nan() {
        return r;
    }
    let r = r.clamp(0.0, 100.0);
    (1.0 + 0.035 * r + r * (r - 60.0) * (100.0 - r) * 7e-6).max(1.0)
}

impl TrafficModel for Call {
    fn transport(&self) -> Transport {
        let (payload, header, deadline) = (self.payload(), self.header, self.deadline);
        let size = DatagramSize { payload, header, deadline };
        Transport::Udp(size, Pace::PerSecond(1.0 / self.interval.as_secs_f64()))
    }

    fn source(&self, _: &Origin<'_>) -> Box<dyn Source> {
        Box::new(Clock { payload: self.payload(), interval: self.interval })
    }

    fn interval(&self) -> Option<Duration> {
        Some(self.interval)
    }

    fn call(&self) -> Option<Call> {
        Some(self.clone())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn g_711_without_loss_has_the_default_rating() {
        let call = Call { deadline: Duration::from_millis(50), ..Default::default() };
        assert!((call.rating(0.0) - 93.2).abs() < 1e-9);
        // G.107 annex B: R = 93.2 is a MOS of 4.41.
        assert!((mean_opinion_score(call.rating(0.0)) - 4.41).abs() < 0.005);
        assert_eq!(call.payload(), Bytes(172));
    }

    #[test]
    fn delay_and_loss_impair() {
        // G.107 equation 7-27 by hand: X = log2(4) = 2 at 400 ms.
        let delay = delay_impairment(Duration::from_millis(400));
        assert!((delay - 25.0 * (libm::pow(65.0, 1.0 / 6.0) - 3.0 * 1.014_12 + 2.0)).abs() < 0.01);
        // 25.1 % loss of G.711 is half of 95.
        let call = Call { deadline: Duration::from_millis(50), ..Default::default() };
        assert!((call.rating(0.251) - (93.2 - 47.5)).abs() < 1e-9);
        assert!(mean_opinion_score(call.rating(0.251)) < 2.5);
        assert!((mean_opinion_score(-5.0) - 1.0).abs() < 1e-12);
    }
}
