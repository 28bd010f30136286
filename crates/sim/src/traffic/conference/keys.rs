//! The keys of a conference.

use super::estimator::Estimator;
use crate::traffic::call::{Call, Codec};
use kernel::{BitRate, Bytes, Duration};
use settings::{Choice, Faults, Path, Said, Settings, number};

/// Audio and video of a conference over RTP and UDP in one direction. The rate follows Google
/// Congestion Control (draft-ietf-rmcat-gcc-02), fed by reports that travel back as packets. Of the
/// audio, Opus at 32 kb/s, the quality is that of a call.
#[derive(Clone, Debug, PartialEq, Settings)]
#[settings(check = rates_ascend)]
pub struct Conference {
    /// The least rate of audio and video, with RTP headers.
    #[setting(key = "min_rate_mbps", default = 0.3, range = 0.06..=1000.0)]
    pub min_rate: BitRate,
    /// The rate at the start. The draft has no probing: from there it grows by 8 % a second.
    #[setting(key = "start_rate_mbps", default = 0.3, range = 0.06..=1000.0)]
    pub start_rate: BitRate,
    /// The most rate.
    #[setting(key = "max_rate_mbps", default = 3.0, range = 0.06..=1000.0)]
    pub max_rate: BitRate,
    /// Video frames per second.
    #[setting(default = 30.0, range = 1.0..=240.0)]
    pub frames_per_s: f64,
    /// The sizes of frames are uniformly distributed up to this part below and above their mean.
    #[setting(default = 0.1, range = 0.0..=1.0)]
    pub frame_spread: f64,
    /// The time between key frames. Default: none but the first, and those that the receiver
    /// requests.
    #[setting(key = "key_frame_interval_s", range = 0.1..=3600.0)]
    pub key_frame_interval: Option<Duration>,
    /// The size of a key frame in other frames. Later frames save what it takes.
    #[setting(default = 4.0, range = 1.0..=100.0)]
    pub key_frame_ratio: f64,
    /// The ratio of the pacing rate to the target rate: the draft has 1, WebRTC 2.5.
    #[setting(default = 1.0, range = 0.5..=100.0)]
    pub pacing_factor: f64,
    /// The estimator of the delay gradient.
    pub estimator: Estimator,
    /// The estimate is compared with the threshold times the number of groups so far, at most this
    /// one. The draft does not have the factor, WebRTC has 60, and so have the evaluations of both.
    #[setting(default = 60, range = 1..=1000)]
    pub gradient_groups: u64,
    /// Where the delay is evaluated, and what the reports say.
    pub feedback: Feedback,
    /// Time between two reports.
    #[setting(key = "feedback_interval_ms", default = 100.0, range = 10.0..=5000.0)]
    pub feedback_interval: Duration,
    /// Whether lost packets of the video are requested and sent again (RFC 4585 section 6.2.1).
    /// If not, the picture stops until the next key frame.
    #[setting(default = true)]
    pub retransmit: bool,
    /// From the capture of a frame, or the sending of an audio packet, to its playing. A frame that
    /// is complete later is shown then, and is late.
    #[setting(key = "deadline_ms", default = 150.0, range = 1.0..=10_000.0)]
    pub deadline: Duration,
    /// The most data in a packet, with the RTP header.
    #[setting(key = "payload_bytes", default = 1200, range = 100..=65_507)]
    pub payload: Bytes,
    /// UDP and IP headers of each packet.
    #[setting(key = "header_bytes", default = 28, range = 0..=200)]
    pub header: Bytes,
}

/// Where the delay is evaluated (draft-ietf-rmcat-gcc-02 section 3).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Choice)]
pub enum Feedback {
    /// At the sender: the receiver reports when each packet arrived
    /// (draft-holmer-rmcat-transport-wide-cc-extensions-01).
    #[default]
    Transport,
    /// At the receiver, which reports its estimate of the rate (draft-alvestrand-rmcat-remb-03).
    Remb,
}

/// Time between two audio packets.
pub(super) const AUDIO_INTERVAL: Duration = Duration::from_millis(20);

fn rates_ascend(conference: &Conference, at: &Path, faults: &mut Faults) {
    let Conference { min_rate, start_rate, max_rate, .. } = *conference;
    let mbps = |rate: BitRate| number(rate.as_mbps());
    if max_rate < min_rate {
        let message = Said::new(
            format!("{} is below `min_rate_mbps`, {}", mbps(max_rate), mbps(min_rate)),
            "the rate adapts between the two",
        );
        faults.fault(at.key("max_rate_mbps"), message);
    } else if start_rate < min_rate || start_rate > max_rate {
        let message = format!(
            "{} is not between `min_rate_mbps`, {}, and `max_rate_mbps`, {}",
            mbps(start_rate),
            mbps(min_rate),
            mbps(max_rate)
        );
        faults.fault(at.key("start_rate_mbps"), message);
    }
}

impl Conference {
    /// Time between two frames.
    pub(super) fn frame_interval(&self) -> Duration {
        Duration::from_secs_f64(1.0 / self.frames_per_s)
    }

    /// The audio beside the video.
    pub(super) fn audio(&self) -> Call {
        let (deadline, header) = (self.deadline, self.header);
        Call { codec: Codec::Opus, interval: AUDIO_INTERVAL, deadline, header }
    }
}
