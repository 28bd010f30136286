//! The tables and their columns.

/// A column: its name, and the type of its values. `name:KIND` is a code of 32 bits for one of the
/// names of this kind. A `?` marks a column in which the greatest value of its type, NaN or an
/// empty text means that there is none.
pub(super) type Column = (&'static str, &'static str);

/// A table: its name, and its columns.
pub(super) type Table = (&'static str, &'static [Column]);

/// All tables.
pub const TABLES: [Table; 6] = [
    ("frames", FRAMES),
    ("mpdus", MPDUS),
    ("waits", WAITS),
    ("packets", PACKETS),
    ("segments", SEGMENTS),
    ("routes", ROUTES),
];

/// PPDUs.
pub const FRAMES: &[Column] = &[
    ("number", "u64"),
    ("start_s", "f64"),
    ("end_s", "f64"),
    ("payload_s", "f64"),
    ("transmitter", "name:radio"),
    ("receiver", "name:radio?"),
    ("kind", "name:kind"),
    ("access_category", "name:access_category"),
    ("format", "name:format"),
    ("rate_mbps", "f64"),
    ("mcs", "u8?"),
    ("streams", "u8"),
    ("width_mhz", "u16"),
    ("punctured", "text?"),
    ("ru_tones", "u16?"),
    ("ru_index", "u16?"),
    ("user", "u16?"),
    ("psdu_bytes", "u64"),
    ("padding_bytes", "u32?"),
    ("trigger", "name:trigger?"),
    ("stations", "text?"),
    ("mpdus", "u16"),
    ("mpdus_retried", "u16"),
    ("mpdus_received", "u16"),
    ("nav_us", "f64"),
    ("exchange", "u64"),
    ("outcome", "name:outcome"),
    ("lost_to", "name:radio?"),
    ("signal_dbm", "f64?"),
];

/// Packets in PPDUs.
pub const MPDUS: &[Column] = &[
    ("frame", "u64"),
    ("packet", "u64"),
    ("flow", "name:flow?"),
    ("sequence", "u16"),
    ("retry", "bool"),
    ("bytes", "u32"),
    ("received", "bool"),
];

/// Intervals in which EDCAFs and nodes wait.
pub const WAITS: &[Column] = &[
    ("start_s", "f64"),
    ("end_s", "f64"),
    ("node", "name:radio"),
    ("access_category", "name:access_category"),
    ("kind", "name:wait"),
    ("slots_before", "u32?"),
    ("slots_after", "u32?"),
];

/// Steps of packets.
pub const PACKETS: &[Column] = &[
    ("time_s", "f64"),
    ("packet", "u64"),
    ("flow", "name:flow?"),
    ("direction", "name:direction"),
    ("node", "name:node"),
    ("place", "name:place"),
    ("step", "name:step"),
    ("cause", "name:cause?"),
    ("waiting", "u32?"),
    ("size_bytes", "u32"),
    ("ecn", "name:ecn"),
];

/// Segments at the ends of their connections.
pub const SEGMENTS: &[Column] = &[
    ("time_s", "f64"),
    ("packet", "u64"),
    ("flow", "name:flow"),
    ("event", "name:event"),
    ("direction", "name:direction"),
    ("connection", "u32"),
    ("seq", "u64"),
    ("length_bytes", "u32"),
    ("ack", "u64"),
    ("window_bytes", "u64"),
    ("flags", "text"),
    ("sack", "text?"),
    ("accurate_ecn", "text?"),
    ("ecn", "name:ecn"),
    ("retransmission", "bool"),
    ("cwnd_bytes", "f64?"),
    ("ssthresh_bytes", "f64?"),
    ("in_flight_bytes", "u64"),
    ("srtt_ms", "f64?"),
    ("rtt_ms", "f64?"),
    ("rto_ms", "f64?"),
    ("state", "text?"),
];

/// Events of the routers of an ad-hoc network. The destination of a failed link is the neighbour;
/// the failure is false if the neighbour was in range.
pub const ROUTES: &[Column] = &[
    ("time_s", "f64"),
    ("node", "name:node"),
    ("event", "name:route"),
    ("destination", "name:node"),
    ("hops", "u32?"),
    ("is_false", "bool"),
];
