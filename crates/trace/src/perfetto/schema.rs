//! Field numbers and values of Perfetto's messages, by message (`protos/perfetto/trace`).

/// `Trace`.
pub(super) mod trace {
    pub(in super::super) const PACKET: u64 = 1;
}

/// `TracePacket`.
pub(super) mod packet {
    pub(in super::super) const CLOCK_SNAPSHOT: u64 = 6;
    pub(in super::super) const TIMESTAMP: u64 = 8;
    pub(in super::super) const TRUSTED_PACKET_SEQUENCE_ID: u64 = 10;
    pub(in super::super) const TRACK_EVENT: u64 = 11;
    pub(in super::super) const INTERNED_DATA: u64 = 12;
    pub(in super::super) const SEQUENCE_FLAGS: u64 = 13;
    pub(in super::super) const TRACE_PACKET_DEFAULTS: u64 = 59;
    pub(in super::super) const TRACK_DESCRIPTOR: u64 = 60;
    pub(in super::super) const FIRST_PACKET_ON_SEQUENCE: u64 = 87;

    pub(in super::super) const INCREMENTAL_STATE_CLEARED: u64 = 1;
    pub(in super::super) const NEEDS_INCREMENTAL_STATE: u64 = 2;
}

/// `ClockSnapshot`, its `Clock`, and `TracePacketDefaults`.
pub(super) mod clock {
    pub(in super::super) const CLOCKS: u64 = 1;

    pub(in super::super) const CLOCK_ID: u64 = 1;
    pub(in super::super) const TIMESTAMP: u64 = 2;
    pub(in super::super) const IS_INCREMENTAL: u64 = 3;

    pub(in super::super) const DEFAULT_CLOCK_ID: u64 = 58;

    /// The clock of a trace, unless it says otherwise.
    pub(in super::super) const BOOTTIME: u64 = 6;
    /// The first id that belongs to a packet sequence.
    pub(in super::super) const OF_SEQUENCE: u64 = 64;
}

/// `InternedData`, and the entries in it.
pub(super) mod interned {
    pub(in super::super) const EVENT_NAMES: u64 = 2;
    pub(in super::super) const ANNOTATION_NAMES: u64 = 3;
    pub(in super::super) const ANNOTATION_STRINGS: u64 = 29;

    pub(in super::super) const IID: u64 = 1;
    pub(in super::super) const TEXT: u64 = 2;
}

/// `TrackDescriptor` and `CounterDescriptor`.
pub(super) mod track {
    pub(in super::super) const UUID: u64 = 1;
    pub(in super::super) const NAME: u64 = 2;
    pub(in super::super) const PARENT_UUID: u64 = 5;
    pub(in super::super) const COUNTER: u64 = 8;
    pub(in super::super) const CHILD_ORDERING: u64 = 11;
    pub(in super::super) const SIBLING_ORDER_RANK: u64 = 12;

    pub(in super::super) const EXPLICIT: u64 = 3;

    pub(in super::super) const UNIT: u64 = 3;

    pub(in super::super) const UNIT_TIME_NS: u64 = 1;
    pub(in super::super) const UNIT_COUNT: u64 = 2;
    pub(in super::super) const UNIT_SIZE_BYTES: u64 = 3;
}

/// `TrackEvent`.
pub(super) mod event {
    pub(in super::super) const DEBUG_ANNOTATIONS: u64 = 4;
    pub(in super::super) const TYPE: u64 = 9;
    pub(in super::super) const NAME_IID: u64 = 10;
    pub(in super::super) const TRACK_UUID: u64 = 11;
    pub(in super::super) const COUNTER_VALUE: u64 = 30;
    pub(in super::super) const DOUBLE_COUNTER_VALUE: u64 = 44;
    pub(in super::super) const FLOW_IDS: u64 = 47;
    pub(in super::super) const TERMINATING_FLOW_IDS: u64 = 48;

    pub(in super::super) const SLICE_BEGIN: u64 = 1;
    pub(in super::super) const SLICE_END: u64 = 2;
    pub(in super::super) const INSTANT: u64 = 3;
    pub(in super::super) const COUNTER: u64 = 4;
}

/// `DebugAnnotation`.
pub(super) mod annotation {
    pub(in super::super) const NAME_IID: u64 = 1;
    pub(in super::super) const UINT: u64 = 3;
    pub(in super::super) const DOUBLE: u64 = 5;
    pub(in super::super) const STRING_IID: u64 = 17;
}
