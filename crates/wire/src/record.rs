//! Records of what is on the air, and of where packets are: media make them, the tracer completes
//! them, and formats write them.

use crate::{
    Body, FlowId, FrameKind, FrameOutcome, NodeId, Packet, PowerBits, TrafficClass, Trigger,
};
use kernel::{BitRate, Bytes, Duration, Instant};

/// Where something happens to a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// At a node: its transport.
    Node(NodeId),
    /// At a radio, by number.
    Radio(u32),
    /// At a link direction, by number.
    Wire(u32),
}

/// The format of a PPDU.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// DSSS or HR/DSSS.
    Dsss {
        /// Whether its preamble is the short one.
        short_preamble: bool,
    },
    /// OFDM (clause 17) or ERP-OFDM (clause 18).
    Ofdm,
    /// HT, mixed format.
    Ht,
    /// VHT, for a single user.
    Vht,
    /// HE, for a single user.
    He,
    /// EHT, for a single user.
    Eht,
}

impl Format {
    /// Its name in the standard.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Dsss { .. } => "DSSS",
            Self::Ofdm => "OFDM",
            Self::Ht => "HT",
            Self::Vht => "VHT",
            Self::He => "HE",
            Self::Eht => "EHT",
        }
    }
}

/// The 20 MHz subchannels that an EHT MU PPDU or an HE MU PPDU leaves out of its channel, or HE TB
/// PPDUs that answer one frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PuncturedChannels {
    /// A bit for each, from the lowest frequency.
    pub subchannels: u16,
    /// Punctured Channel Information of U-SIG (802.11be-2024 table 36-30), which HE does not have.
    pub information: u8,
}

/// The mode of a PPDU.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FrameMode {
    /// Its format.
    pub format: Format,
    /// Its data rate.
    pub rate: BitRate,
    /// The MCS index within the format; for HT 0 to 31, streams included. `None` before HT.
    pub mcs: Option<u8>,
    /// Spatial streams; 1 before HT.
    pub streams: u8,
    /// Bandwidth in MHz.
    pub width_mhz: u16,
    /// What of it is punctured.
    pub punctured: Option<PuncturedChannels>,
    /// Guard interval in nanoseconds; 0 for DSSS.
    pub guard_ns: u16,
    /// Whether it is coded by LDPC and not by a convolutional code.
    pub ldpc: bool,
    /// Tones of its resource unit in a PPDU of several users, of which each user has a record;
    /// `None` in others.
    pub tones: Option<u16>,
    /// The place of that resource unit among those of its size, from the lowest frequency, from 0.
    pub ru_index: Option<u16>,
    /// The place of the user among those of its PPDU or of its Trigger frame, from 0.
    pub user: Option<u16>,
}

/// An MPDU with data: one for each packet of an A-MSDU.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Mpdu {
    /// Number of its packet in the trace, which the tracer knows.
    pub packet_id: u64,
    /// The packet that it carries.
    pub packet: Packet,
    /// 802.11 sequence number, 0 to 4,095.
    pub sequence: u16,
    /// Whether it is a retransmission.
    pub retry: bool,
    /// Bytes with MAC header and FCS.
    pub bytes: Bytes,
    /// Whether the addressed node received it; of a broadcast, whether at least one node did.
    pub received: bool,
    /// The place of the packet in an A-MSDU, whose packets follow each other with the same sequence
    /// number; `None` if the packet is alone in its MPDU.
    pub subframe: Option<u16>,
}

impl Mpdu {
    /// How its MAC header serves power saving.
    pub fn power_bits(&self) -> PowerBits {
        match &self.packet.body {
            Body::Management(frame) => frame.power_bits(),
            _ => self.packet.power,
        }
    }

    /// Whether it is the first packet of its MPDU: to count those is to count MPDUs.
    pub fn is_first(&self) -> bool {
        self.subframe.is_none_or(|place| place == 0)
    }
}

/// The content of a BlockAck.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BlockAck {
    /// Starting sequence number.
    pub start: u16,
    /// Bit n stands for the sequence number `start` + n: bit n % 64 of word n / 64.
    pub bitmap: [u64; 4],
    /// Bits of the bitmap on the air: 64 or 256.
    pub bits: u16,
}

/// What a Multi-STA BlockAck says to a station (802.11ax-2021 clause 9.3.1.8.7).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StationAck {
    /// Its AID: the number of its radio.
    pub aid: u16,
    /// The access category of its MPDUs.
    pub class: TrafficClass,
    /// What is acknowledged; `None` is a single MPDU, or all.
    pub block_ack: Option<BlockAck>,
}

/// What a station tells of its queues, in the codes of its MAC header.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct QueueReport {
    /// Queue Size in `QoS` Control (802.11ax-2021 clause 9.2.4.5.6).
    pub size: u8,
    /// Control Information of a BSR Control in HT Control (clause 9.2.4.6a.4), if the header has
    /// one.
    pub all: Option<u32>,
}

/// What a frame says besides its addresses and its packets.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum FrameContent {
    /// Nothing, or nothing that is known.
    #[default]
    None,
    /// What a BlockAck acknowledges; for a BlockAckReq only `start` has a meaning.
    BlockAck(BlockAck),
    /// What a Multi-STA BlockAck acknowledges.
    MultiSta(Vec<StationAck>),
    /// What a Trigger frame asks for.
    Trigger(Box<Trigger>),
    /// What waits where the data come from.
    Queue(QueueReport),
}

/// What HE-SIG-A and HE-SIG-B of an HE MU PPDU say to all of its users (802.11ax-2021 clauses
/// 27.3.11.7 and 27.3.11.8).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SigB {
    /// MCS of HE-SIG-B.
    pub mcs: u8,
    /// Whether HE-SIG-B has dual carrier modulation.
    pub dual_carrier: bool,
    /// OFDM symbols of HE-SIG-B.
    pub symbols: u8,
    /// RU Allocation of each 20 MHz, from the lowest frequency; `None` with HE-SIG-B compression.
    pub codes: Option<[u8; 8]>,
    /// Whether the 26 tones in the middle of the lower and of the upper 80 MHz have a user.
    pub middle: [bool; 2],
}

/// A PPDU on the air.
#[derive(Clone, Debug, PartialEq)]
pub struct Frame {
    /// Number of the frame in the run, in the order of `start`, which the tracer knows.
    pub number: u64,
    /// When its PPDU begins.
    pub start: Instant,
    /// When its PSDU begins: after preamble and PHY header.
    pub payload: Instant,
    /// When its PPDU ends.
    pub end: Instant,
    /// The radio that transmits.
    pub from: u32,
    /// The radio that it addresses; `None` is broadcast. A CTS-to-self addresses its transmitter.
    pub to: Option<u32>,
    /// Its type.
    pub kind: FrameKind,
    /// The access category of its exchange.
    pub class: TrafficClass,
    /// Its mode.
    pub mode: FrameMode,
    /// Bytes of its PSDU.
    pub psdu: Bytes,
    /// Bytes with which a user of a PPDU of several pads up to the common end.
    pub padding: Bytes,
    /// Whether its PSDU is an A-MPDU.
    pub aggregate: bool,
    /// Its Duration field: how long after its end it reserves the medium.
    pub nav: Duration,
    /// Number of the exchange to which it belongs, in the order of their first frames. Frames that
    /// collide belong to different exchanges.
    pub exchange: u64,
    /// The flow of the first packet that its transmitter, or the node to which it responds, has in
    /// service.
    pub flow: Option<FlowId>,
    /// Its outcome.
    pub outcome: FrameOutcome,
    /// A radio whose transmission caused the loss, where one did.
    pub lost_to: Option<u32>,
    /// Received power at the addressed node, where there are radios with positions.
    pub signal_dbm: Option<f64>,
    /// Its MPDUs with data, in order; empty unless `kind` has some ([`FrameKind::has_mpdus`]).
    pub mpdus: Vec<Mpdu>,
    /// What else it says.
    pub content: FrameContent,
    /// What it says to all its users if it is the data of an HE MU PPDU.
    pub sig_b: Option<SigB>,
}

impl Frame {
    /// How long its PPDU lasts.
    pub fn lasting(&self) -> Duration {
        self.end - self.start
    }
}
