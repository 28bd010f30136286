//! The settings of a connection, shared by both ends.

use crate::endpoint::Endpoint;
use crate::fec::Fec;
use crate::receiver::autotuning;
use kernel::{BitRate, Bytes, Duration, Segments};
use settings::{Choice, Faults, Path, Range, Settings, number, said};

/// The largest window that TCP can advertise (RFC 7323 section 2.3).
const LARGEST_WINDOW: u64 = 1 << 30;
/// The largest value of the window field, and the largest shift of its scale (RFC 7323 section
/// 2.3).
const LARGEST_FIELD: u64 = 65_535;
const LARGEST_SHIFT: u8 = 14;
/// The initial congestion window of segments between 1460 and 7300 bytes (RFC 6928 §2).
const INITIAL_WINDOW: u64 = 14_600;
/// The options of timestamps with their padding (RFC 7323 appendix A), and of a coded unit.
const TIMESTAMPS: u64 = 12;
const CODED_UNIT: u64 = 12;
/// The default size of an IP packet: the payload of an Ethernet frame.
const USUAL_PACKET: u64 = 1500;

/// TCP at both ends of a flow.
#[derive(Clone, Copy, Debug, PartialEq, Settings)]
#[settings(name = "Tcp", check = relate)]
pub struct Config {
    /// User data of a full segment (SMSS). Default: the user data of an IP packet of 1500 bytes
    /// less `header_bytes`, which is 1448 with timestamps and 1460 without. Data and headers fit
    /// the largest IP packet of 65535 bytes or, with a cell, the largest MSDU of 2304 bytes.
    #[setting(key = "mss_bytes", range = 1..=65_535)]
    pub mss: Option<Bytes>,
    /// A fixed receive window (W* in the literature): the size of the receiver's buffer, and what
    /// the receiver advertises if the application reads at once. Default: the window grows with the
    /// rate at which the application reads (autotuning, as in Linux 6.18).
    #[setting(key = "window_bytes", range = 1..=LARGEST_WINDOW)]
    pub window: Option<Bytes>,
    /// The same in segments; at most one of the two is given.
    #[setting(range = 1..=LARGEST_WINDOW)]
    pub window_segments: Option<u64>,
    /// The largest receive window of autotuning. Default: 16777216 bytes, which is half of the
    /// largest receive buffer of Linux 6.18, because Linux counts the memory of packets.
    #[setting(key = "window_max_bytes", range = 1..=LARGEST_WINDOW)]
    pub window_max: Option<Bytes>,
    /// A fixed initial congestion window. Default: 10 segments, but at most 14600 bytes or 2
    /// segments, whichever is more (RFC 6928 section 2).
    #[setting(key = "initial_window_segments", range = 1..=1_000_000)]
    pub initial_window: Option<Segments>,
    /// The initial slow start threshold. Default: "arbitrarily high" (RFC 5681 section 3.1).
    #[setting(key = "initial_ssthresh_segments", range = 2..=1_000_000_000)]
    pub initial_ssthresh: Option<Segments>,
    /// The rate at which the receiver's application reads. If data arrives faster, the receive
    /// window closes. Default: the application reads data as fast as it arrives.
    #[setting(key = "read_rate_mbps", range = 1e-3..=1e6)]
    pub read_rate: Option<BitRate>,
    /// Whether the receiver's application reads only by calls of `on_read`, so that the receive
    /// window may close; otherwise it reads at once.
    #[setting(skip)]
    pub reads: bool,
    /// Whether the receiver's application closes only by a call of `on_close`, so that the sender
    /// may close long before it; otherwise the receiver answers a FIN at once with its own.
    #[setting(skip)]
    pub closes: bool,
    /// Timestamps (RFC 7323).
    #[setting(default = true)]
    pub timestamps: bool,
    /// TCP and IP headers of each segment; default 52 with timestamps, 40 without.
    #[setting(key = "header_bytes", range = 0..=200)]
    pub header: Option<Bytes>,
    /// What both ends do beside the RFCs.
    pub endpoint: Endpoint,
    /// When the receiver acknowledges data in order.
    pub delayed_ack: DelayedAck,
    /// Whether delayed acknowledgements leave at multiples of the delay since the start of the run,
    /// by one heartbeat for all connections as in 4.4BSD, instead of at the delay after the
    /// segment.
    pub ack_heartbeat: bool,
    /// Retransmission timeout before the first RTT sample (RFC 6298 (2.1)).
    #[setting(key = "rto_initial_ms", default = 1000.0, range = TIMEOUT)]
    pub rto_initial: Duration,
    /// Minimum retransmission timeout. Default: 1000 ms (RFC 6298 (2.4)), and 200 ms with
    /// `endpoint` "linux".
    #[setting(key = "rto_min_ms", range = TIMEOUT)]
    pub rto_min: Option<Duration>,
    /// Maximum retransmission timeout (RFC 6298 (2.5)).
    #[setting(key = "rto_max_ms", default = 60_000.0, range = TIMEOUT)]
    pub rto_max: Duration,
    /// The clock tick: RTT samples are rounded to whole ticks, and to at least one tick. With 0
    /// they are exact. The tick of ns-2 is 10 ms.
    #[setting(key = "rtt_tick_ms", default = 0.0, range = 0.0..=HOUR_MS)]
    pub rtt_tick: Duration,
    /// Whether RTT samples by timestamps are weighted by their number in a round trip, so that they
    /// do not shorten the estimator's memory (RFC 7323 appendix G); otherwise each sample has its
    /// full weight, as in ns-2.
    #[setting(default = true)]
    pub rtt_scaling: bool,
    /// How the retransmission timeout is computed. Default: that of `endpoint`.
    pub rto_rule: Option<RtoRule>,
    /// How losses are detected and repaired.
    pub recovery: Recovery,
    /// Data in blocks with parity, as in LT-TCP; default none. It requires congestion control "lt"
    /// and `ecn`. Selective acknowledgements then report the numbers of transmissions, and losses
    /// are detected by these (RFC 9002), whatever the value of `recovery`.
    pub fec: Option<Fec>,
    /// Explicit congestion notification.
    pub ecn: Ecn,
    /// What the receiver agrees to, if this is not what the sender asks for. Default: as `ecn`.
    pub ecn_receiver: Option<Ecn>,
    /// Whether segments are paced by the congestion window if the congestion control sets no pacing
    /// rate: twice the window per round trip in slow start, 1.2 times the window after it, as in
    /// Linux.
    pub pacing: bool,
    /// Whether the window grows by the amount of data acknowledged (RFC 3465); otherwise each
    /// acknowledgement counts as one segment, as in ns-2. It applies to `new_reno`, `few` and
    /// `afw`.
    #[setting(default = true)]
    pub byte_counting: bool,
    /// What a loss computes ssthresh from. Default: `"flight_size"`, of Linux `"window"`.
    pub ssthresh_from: Option<SsthreshFrom>,
    /// Whether each of the first two duplicate acknowledgements lets a new segment leave (RFC
    /// 3042).
    #[setting(default = true)]
    pub limited_transmit: bool,
    /// Whether the congestion window restarts after the sender was idle for a retransmission
    /// timeout (RFC 5681 section 4.1).
    #[setting(default = true)]
    pub restart_after_idle: bool,
    /// Whether a congestion window that is not used is kept for five minutes and then halved (RFC
    /// 7661), instead of `restart_after_idle`.
    pub validation: bool,
    /// Whether timestamps detect spurious retransmissions (Eifel, RFC 3522), so that the window
    /// reduction is undone (RFC 4015). With selective acknowledgements also `undo` must be true.
    #[setting(default = true)]
    pub eifel: bool,
    /// Whether the receiver drops, and answers, data with a timestamp over 1 ms older than that of
    /// the data in order (PAWS, RFC 7323 section 5), as if a retransmission overtakes data.
    /// Default: true with `endpoint` "linux", else false: sequence numbers never wrap here.
    pub paws: Option<bool>,
    /// Whether a segment that is not full waits for an acknowledgement. RFC 9293 section 3.7.4
    /// recommends Nagle's algorithm and requires that an application can switch it off.
    pub nagle: Nagle,
    /// What the sender does when the routing of its node reports that the route to the receiver has
    /// failed. It needs `[routing]`.
    pub route_failure: RouteFailure,
    /// How a connection ends.
    pub close: Close,
    /// Whether each write of the application is rounded up to full segments, as in ns-2.
    #[setting(key = "pad_last_segment")]
    pub pad_last: bool,
}

/// The largest value that a timer of TCP may have: one hour.
const HOUR_MS: f64 = 3_600_000.0;
const TIMEOUT: Range = Range::closed(1e-3, HOUR_MS);

impl Config {
    /// User data of a full segment.
    pub fn mss(&self) -> Bytes {
        self.mss.unwrap_or_else(|| {
            let code = self.fec.map_or(Bytes::ZERO, |fec| fec.header);
            Bytes(USUAL_PACKET - (self.header() + code).0)
        })
    }

    /// The initial congestion window: min(10 MSS, max(2 MSS, 14600 bytes)) by RFC 6928 §2, in
    /// segments and fractions of a segment, because the limit is one of bytes.
    pub fn initial_window(&self) -> Segments {
        self.initial_window.unwrap_or_else(|| {
            let mss = self.mss().0;
            Segments(INITIAL_WINDOW.max(2 * mss).min(10 * mss) as f64 / mss as f64)
        })
    }

    /// The receive window, if it is fixed.
    pub fn fixed_window(&self) -> Option<Bytes> {
        let in_segments = self.window_segments.map(|segments| Bytes(segments * self.mss().0));
        self.window.or(in_segments)
    }

    /// The receive window at the start of a connection.
    pub fn window(&self) -> Bytes {
        let first = || autotuning::first_window(self.mss().0, self.window_max());
        self.fixed_window().unwrap_or_else(first)
    }

    /// The largest receive window.
    pub fn window_max(&self) -> Bytes {
        self.fixed_window().or(self.window_max).unwrap_or(autotuning::LARGEST)
    }

    /// The scale of the window field: the smallest shift with which the largest receive window fits
    /// (RFC 7323 section 2.3). Both ends announce it.
    pub fn window_shift(&self) -> u8 {
        let most = self.window_max().0;
        (0..LARGEST_SHIFT).find(|shift| most <= LARGEST_FIELD << shift).unwrap_or(LARGEST_SHIFT)
    }

    /// The MSS that both ends announce in their SYN: a full segment and the options of each segment
    /// with data, because a sender subtracts their length (RFC 9293 section 3.7.1).
    pub fn announced_mss(&self) -> u16 {
        let stamps = if self.timestamps { TIMESTAMPS } else { 0 };
        let unit = if self.fec.is_some() { CODED_UNIT } else { 0 };
        (self.mss().0 + stamps + unit).min(u64::from(u16::MAX)) as u16
    }

    /// TCP and IP headers of each segment: 20 bytes each (RFC 9293, RFC 791), and 12 for timestamps
    /// (RFC 7323 appendix A).
    pub fn header(&self) -> Bytes {
        self.header.unwrap_or(Bytes(if self.timestamps { 52 } else { 40 }))
    }

    /// The settings of recovery by selective acknowledgements, if the connection uses it.
    pub fn sack(&self) -> Option<Sack> {
        match self.recovery {
            Recovery::NewReno => None,
            Recovery::Sack(sack) => Some(sack),
        }
    }
}

/// What the window field of a header can say of a receive window. It counts units of 2^`shift`
/// bytes; in a SYN it counts bytes (RFC 7323 section 2.2). A header never shows more than there is.
pub(crate) fn in_header(window: u64, shift: u8, is_syn: bool) -> u64 {
    if is_syn { window.min(LARGEST_FIELD) } else { (window >> shift).min(LARGEST_FIELD) << shift }
}

fn relate(tcp: &Config, at: &Path, faults: &mut Faults) {
    relate_window(tcp, at, faults);
    relate_timeouts(tcp, at, faults);
    let mss = tcp.mss().0;
    let smallest = tcp.fec.map_or(0, |fec| fec.granularity.smallest);
    if smallest > mss {
        let message = format!("{smallest} is more than a full segment holds, {mss}");
        faults.fault(at.key("fec").key("unit_min_bytes"), message);
    }
    if tcp.fec.is_some() && tcp.nagle != Nagle::Off {
        let message = said!("coded data (fec) leaves in blocks", "keep nagle = \"off\"");
        faults.fault(at.key("nagle"), message);
    }
    if tcp.fec.is_some() && tcp.linux().is_some() {
        let message =
            said!("coded data (fec) is acknowledged unit by unit", "keep endpoint = \"rfc\"");
        faults.fault(at.key("endpoint"), message);
    }
}

fn relate_window(tcp: &Config, at: &Path, faults: &mut Faults) {
    let (mss, in_segments) = (tcp.mss().0, at.key("window_segments"));
    match (tcp.window, tcp.window_segments) {
        (Some(Bytes(bytes)), Some(segments)) => {
            let message = said!(
                "{segments} segments, and window_bytes {bytes} too: they are the same",
                "keep one"
            );
            faults.fault(in_segments, message);
        }
        (None, Some(segments)) if segments > LARGEST_WINDOW / mss => {
            let most = LARGEST_WINDOW / mss;
            let message =
                format!("must be from 1 to {most} segments of {mss} bytes, is {segments}");
            faults.fault(in_segments, message);
        }
        (Some(Bytes(bytes)), None) if bytes < mss => {
            faults.fault(at.key("window_bytes"), too_narrow(bytes, mss));
        }
        _ => {}
    }
    let Some(Bytes(most)) = tcp.window_max else { return };
    let key = if tcp.window.is_some() { "window_bytes" } else { "window_segments" };
    let at = at.key("window_max_bytes");
    match tcp.window.map(|window| window.0).or(tcp.window_segments) {
        Some(fixed) => {
            let message =
                said!("{most} limits a window that grows, and {key} {fixed} fixes it", "keep one");
            faults.fault(at, message);
        }
        None if most < mss => faults.fault(at, too_narrow(most, mss)),
        None => {}
    }
}

fn too_narrow(window: u64, mss: u64) -> String {
    format!("{window} would never let a full segment of {mss} bytes pass")
}

fn relate_timeouts(tcp: &Config, at: &Path, faults: &mut Faults) {
    let ms = |timeout: Duration| number(timeout.as_secs_f64() * 1e3);
    let (rto_min, rto_max) = (tcp.rto_min(), tcp.rto_max);
    let (min, max) = (ms(rto_min), ms(rto_max));
    if rto_min > rto_max {
        faults.fault(at.key("rto_min_ms"), format!("{min} is above rto_max_ms, {max}"));
    } else if !(rto_min..=rto_max).contains(&tcp.rto_initial) {
        let message = format!("is not between rto_min_ms, {min}, and rto_max_ms, {max}");
        faults.fault(at.key("rto_initial_ms"), format!("{} {message}", ms(tcp.rto_initial)));
    }
}

/// When a receiver acknowledges data in order. It acknowledges everything else at once: data out of
/// order, data that fills a gap, duplicates, SYN and FIN (RFC 5681 section 4.2).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Choice)]
pub enum DelayedAck {
    /// At once.
    None,
    /// After a fixed number of segments.
    Fixed(FixedAck),
    /// After a number of segments that grows while the connection lasts.
    Dynamic(DynamicAck),
}

impl Default for DelayedAck {
    fn default() -> Self {
        Self::Fixed(FixedAck::default())
    }
}

/// One acknowledgement for a fixed number of segments.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Settings)]
#[settings(name = "FixedAck")]
pub struct FixedAck {
    /// Full segments that one acknowledgement covers (RFC 5681 section 4.2).
    #[setting(default = 2, range = 1..=1_000_000)]
    pub segments: u32,
    /// The maximum delay of an acknowledgement; RFC 1122 section 4.2.3.2 requires less than 500 ms.
    #[setting(key = "timer_ms", default = 40.0, range = LONGEST_WAIT)]
    pub timer: Duration,
}

/// One acknowledgement for 1, 2, 3 and then 4 segments. With thresholds 2, 5 and 9, the first
/// segment of a connection is acknowledged at once, the 2nd to 4th in twos, the 5th to 8th in
/// threes, and all later ones in fours (Altman and Jiménez, "Novel delayed ACK techniques for
/// improving TCP performance in multihop wireless networks", 2003).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Settings)]
#[settings(name = "Dynamic", check = ascends)]
pub struct DynamicAck {
    /// The numbers of the segments, counted from 1, from which on one acknowledgement covers 2, 3
    /// and 4 segments; they ascend.
    #[setting(default = [2, 5, 9], range = 1..)]
    pub thresholds: [u64; 3],
    /// The maximum delay of an acknowledgement.
    #[setting(key = "timer_ms", default = 40.0, range = LONGEST_WAIT)]
    pub timer: Duration,
}

const LONGEST_WAIT: Range = Range::closed(1e-3, 60_000.0);

fn ascends(dynamic: &DynamicAck, at: &Path, faults: &mut Faults) {
    let is = dynamic.thresholds;
    if !is.is_sorted() {
        faults.fault(at.key("thresholds"), format!("must ascend, as [2, 5, 9], is {is:?}"));
    }
}

/// How losses are detected and repaired.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Choice)]
pub enum Recovery {
    /// By cumulative acknowledgements alone, one lost segment per round trip (RFC 6582).
    NewReno,
    /// By selective acknowledgements (RFC 2018), which the receiver then sends.
    Sack(Sack),
}

impl Default for Recovery {
    fn default() -> Self {
        Self::Sack(Sack::default())
    }
}

/// Recovery by selective acknowledgements.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Settings)]
pub struct Sack {
    /// Whether losses are detected by time, with tail loss probes (RFC 8985), and not by the number
    /// of segments that arrived above them (RFC 6675).
    #[setting(default = true)]
    pub rack: bool,
    /// How the window falls during recovery.
    pub reduction: Reduction,
    /// Whether F-RTO (RFC 5682) detects spurious timeouts by the acknowledgements that follow a
    /// timeout.
    #[setting(default = true)]
    pub f_rto: bool,
    /// Whether a window reduction is undone once the receiver has reported all retransmissions as
    /// duplicates (RFC 2883, RFC 3708).
    #[setting(default = true)]
    pub undo: bool,
}

/// How the window falls during recovery.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Choice)]
pub enum Reduction {
    /// At once; nothing is sent until enough data has left the network (RFC 6675).
    AtOnce,
    /// In proportion to the data delivered (RFC 9937).
    #[default]
    Proportional,
    /// In proportion to the data delivered, in the first version: the data in flight at the start
    /// is `FlightSize`, and each acknowledgement below the target adds a segment (RFC 6937).
    #[setting(name = "proportional_rfc6937")]
    Proportional6937,
}

/// From what a loss computes the slow start threshold.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Choice)]
pub enum SsthreshFrom {
    /// From the data in flight (`FlightSize`), and not again when the same segment times out again
    /// (RFC 5681 section 3.1).
    #[default]
    FlightSize,
    /// From the congestion window, at each timeout again, as in ns-2: two timeouts in sequence
    /// lower the threshold to two segments. After a timeout it is a whole number of segments.
    CongestionWindow,
    /// From the congestion window, and not again when the same segment times out again, as in
    /// Linux.
    Window,
}

/// Whether a segment that is not full waits for an acknowledgement. The last segment before the FIN
/// never waits.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Choice)]
pub enum Nagle {
    /// It never waits, as if the application had set `TCP_NODELAY`.
    #[default]
    Off,
    /// It waits while any data is outstanding (RFC 9293 section 3.7.4).
    Nagle,
    /// It waits while an earlier segment that was not full is outstanding (Minshall's variant), as
    /// in Linux.
    Minshall,
}

/// How the retransmission timeout is computed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Choice)]
pub enum RtoRule {
    /// SRTT + max(G, 4·RTTVAR), and at least `rto_min_ms` in total (RFC 6298).
    #[default]
    Rfc6298,
    /// SRTT + max(`rto_min_ms`, 4·RTTVAR), as in Linux, where `rto_min_ms` is 200 ms: the minimum
    /// applies to the variation.
    Linux,
}

/// Explicit congestion notification.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Choice)]
pub enum Ecn {
    /// None.
    #[default]
    Off,
    /// The receiver echoes a mark until the sender has answered it, once per round trip (RFC 3168).
    Classic,
    /// The receiver echoes each mark individually, and a change between marked and unmarked data is
    /// acknowledged at once (RFC 8257 section 3.2). The handshake is that of `classic`.
    EachMark,
    /// The receiver counts marked packets, and each acknowledgement has the counter modulo 8 (RFC
    /// 9768). A peer that offers less gets `classic`, or none.
    Accurate(AccurateEcn),
}

/// Accurate ECN (RFC 9768).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Settings)]
pub struct AccurateEcn {
    /// Whether the receiver also sends its counters of bytes, in an option of the header (section
    /// 3.2.3). Selective acknowledgements have precedence where the header has no room for both.
    #[setting(default = true)]
    pub option: bool,
    /// Whether the sender takes the counter for wrapped where an acknowledgement covers so much
    /// that it may have wrapped, unless the option or thinned acknowledgements tell otherwise
    /// (appendix A.2).
    #[setting(default = true)]
    pub wraps: bool,
}

/// What a sender does when the route to the receiver has failed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Choice)]
pub enum RouteFailure {
    /// Nothing: the retransmission timer expires.
    #[default]
    Ignore,
    /// It sends only probes, one in 2 s, until an answer arrives or the routing reports a route. It
    /// keeps its window and its timeout (explicit link failure notification, Holland and Vaidya,
    /// `MobiCom` 1999).
    StandBy,
}

/// How a connection ends.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Choice)]
pub enum Close {
    /// With FIN segments of both ends.
    #[default]
    Fin,
    /// Without further segments, as the one-way agents of ns-2 do.
    None,
}
