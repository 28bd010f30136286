//! The units that travel: segments, packets and frames. Data without behaviour.

mod accurate;
mod arp;
mod cause;
mod dscp;
mod echo;
mod field;
mod frame;
pub mod ipv4;
mod management;
mod media;
mod packet;
mod real;
mod record;
mod routing;
mod segment;
mod trigger;

pub use accurate::AccEcn;
pub use arp::{ArpMessage, ArpOperation};
pub use cause::{DropCause, DropFacts, DropGroup};
pub use dscp::Dscp;
pub use echo::{Echo, EchoProtocol};
pub use field::{Ecn, FlowId, NodeId, TrafficClass};
pub use frame::{
    FrameFacts, FrameGroup, FrameKind, FrameLoss, FrameOutcome, LossFacts, Wait, WaitKind,
};
pub use management::*;
pub use media::{Media, MediaKind};
pub use packet::{Body, Datagram, Packet};
pub use real::{RealPacket, Unreadable};
pub use record::{
    BlockAck, Format, Frame, FrameContent, FrameMode, Mpdu, Place, PuncturedChannels, QueueReport,
    SigB, StationAck,
};
pub use routing::{
    AodvErrors, AodvMessage, AodvReply, AodvRequest, DsrMessage, Message, PathId, Paths,
    RouteError, RouteErrors,
};
pub use segment::{Coded, Flags, HeaderFlag, SackBlock, SackBlocks, Segment, Timestamps};
pub use trigger::{CommonInfo, FCS, Trigger, TriggerKind, UserInfo};
