//! For observers: the carrier sense of nodes, and the frames that they received.

use super::Space;
use super::frame::Transmission;
use super::interference::Chunk;
#[cfg(test)]
use super::{OngoingFrame, Users};
use crate::interferer::Arrival;
use crate::mac::MuExchange;
#[cfg(test)]
use crate::mac::Originator;
use kernel::{Bytes, Instant};
use wire::FrameKind;

/// A frame that a node has received to its end.
#[derive(Clone, Debug, PartialEq)]
pub struct ReceivedFrame {
    /// The node.
    pub node: u32,
    /// The transmitter.
    pub from: u32,
    /// The receiver to which it was addressed; `None` for a broadcast.
    pub to: Option<u32>,
    /// Type of the frame.
    pub kind: FrameKind,
    /// When its PPDU began.
    pub start: Instant,
    /// When it ended.
    pub end: Instant,
    /// Received power in milliwatts.
    pub power: f64,
    /// Interference during the frame, as the simulator computed it: start, end, power in
    /// milliwatts.
    pub interference: Vec<(Instant, Instant, f64)>,
    /// The bursts of interferers that were on the air with the frame.
    pub bursts: Vec<Arrival>,
    /// Whether the node decoded the frame; of an A-MPDU, at least one MPDU.
    pub understood: bool,
    /// A user that has decoded nothing of a PPDU to several has decoded its HE-SIG-A.
    pub hears_signal: bool,
}

impl ReceivedFrame {
    pub(super) fn of(
        transmission: &Transmission,
        node: u32,
        chunks: &[Chunk],
        power: f64,
        bursts: &[Arrival],
        decoded: bool,
    ) -> Self {
        let Transmission { frame, start, .. } = *transmission;
        let parts = chunks.iter().map(|chunk| (chunk.begin, chunk.end, chunk.interference));
        let (interference, bursts) = (parts.collect(), bursts.to_vec());
        let (from, to, kind, end) = (frame.from, frame.to, frame.kind, transmission.end());
        Self {
            node,
            from,
            to,
            kind,
            start,
            end,
            power,
            interference,
            bursts,
            understood: decoded,
            hears_signal: false,
        }
    }
}

/// The carrier sense of a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Senses {
    /// Whether physical carrier sense is busy.
    pub busy: bool,
    /// Transmitter and start of the frame that the node is receiving.
    pub follows: Option<(u32, Instant)>,
}

impl Space {
    /// Starts to record the frames that nodes receive.
    pub fn listen(&mut self) {
        self.watch.get_or_insert_default().heard.get_or_insert_default();
    }

    /// Removes and returns the frames that were recorded since the last call.
    #[inline]
    pub fn take_heard(&mut self) -> Vec<ReceivedFrame> {
        let heard = self.watch.as_mut().and_then(|watch| watch.heard.as_mut());
        heard.map(std::mem::take).unwrap_or_default()
    }

    /// The carrier sense of a node now.
    pub fn senses(&self, node: u32) -> Senses {
        let receiver = &self.receivers[node as usize];
        let receiving = receiver.received_transmission().map(|id| {
            let transmission = self.signals.transmission(id);
            (transmission.frame.from, transmission.start)
        });
        Senses { busy: receiver.is_busy(), follows: receiving }
    }

    /// Sequence numbers and bytes of the MPDUs that an EDCAF of a node assembled last; none for a
    /// BlockAckReq.
    pub fn mpdus(&self, node: u32, edcaf: u8) -> impl Iterator<Item = (u16, Bytes)> {
        let edcaf = self.nodes[node as usize].edcaf(usize::from(edcaf));
        edcaf.originator.on_air().map(|(sequence, mpdu)| (sequence, mpdu.bytes))
    }

    /// The same of the MPDUs for a user of several.
    pub fn mpdus_to(&self, node: u32, edcaf: u8, user: u32) -> impl Iterator<Item = (u16, Bytes)> {
        let originator = self.nodes[node as usize].originator_to(edcaf, user);
        originator.on_air().map(|(sequence, mpdu)| (sequence, mpdu.bytes))
    }

    /// The exchange with several users of an access point, while it is on the air.
    pub fn group_of(&self, node: u32) -> Option<&MuExchange> {
        self.nodes[node as usize].group().map(|(group, _)| group)
    }

    /// The originator of the PSDU that an EDCAF of a node assembled last, or of that for a user of
    /// several.
    #[cfg(test)]
    pub(crate) fn originator(&self, node: u32, edcaf: u8, user: Option<u32>) -> &Originator {
        let node = &self.nodes[node as usize];
        let own = || &node.edcaf(usize::from(edcaf)).originator;
        user.map_or_else(own, |user| node.originator_to(edcaf, user))
    }

    /// When a frame ends, which may be before the end that the LENGTH of an HE TB PPDU announces.
    #[cfg(test)]
    pub(crate) fn end_of(&self, frame: &OngoingFrame) -> Instant {
        let (Users::Unit(_), Some(to)) = (frame.users, frame.to) else { return frame.end };
        let (airtime, _) = self.nodes[to as usize].answers().expect("it is answered");
        frame.start + airtime.total()
    }

    /// Whether an EDCAF of a node sends a frame of the MAC itself, and no packet.
    pub fn sends_management(&self, node: u32, edcaf: u8) -> bool {
        self.nodes[node as usize].edcaf(usize::from(edcaf)).originator.management().is_some()
    }

    /// The starting sequence number of the next BlockAck to an EDCAF of a node.
    pub fn starting_sequence(&self, node: u32, edcaf: u8) -> u16 {
        self.nodes[node as usize].edcaf(usize::from(edcaf)).originator.start()
    }
}
