//! For those who look on: what nodes sense, and what they have made of what they heard.

use super::Space;
use super::frame::Transmission;
use super::interference::Chunk;
use crate::mac::StepKind;
use kernel::{Bytes, Instant};

/// What a node has made of a frame that it has followed to its end.
#[derive(Clone, Debug, PartialEq)]
pub struct Heard {
    /// The node.
    pub node: u32,
    /// Who has sent the frame.
    pub from: u32,
    /// Whom it was for; `None` for all.
    pub to: Option<u32>,
    /// Which frame.
    pub kind: StepKind,
    /// When its PPDU began.
    pub start: Instant,
    /// When it ended.
    pub end: Instant,
    /// What arrived of its power, in milliwatts.
    pub power: f64,
    /// Interference meanwhile, as the node has reckoned: from when, until when, in milliwatts.
    pub interference: Vec<(Instant, Instant, f64)>,
    /// Whether the node has understood it; of an A-MPDU, one frame at least.
    pub understood: bool,
}

impl Heard {
    pub(super) fn of(
        transmission: &Transmission,
        node: u32,
        (chunks, power): (&[Chunk], f64),
        understood: bool,
    ) -> Self {
        let Transmission { frame, start, .. } = *transmission;
        let parts = chunks.iter().map(|chunk| (chunk.begin, chunk.end, chunk.interference));
        let interference = parts.collect();
        let (from, to, kind, end) = (frame.from, frame.to, frame.kind, transmission.end());
        Self { node, from, to, kind, start, end, power, interference, understood }
    }
}

/// What a node senses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Senses {
    /// Physical carrier sense holds.
    pub busy: bool,
    /// Whose frame it follows, and when that began.
    pub follows: Option<(u32, Instant)>,
}

impl Space {
    /// From now on takes note of what nodes make of what they hear.
    pub fn watch(&mut self) {
        self.heard.get_or_insert_default();
    }

    /// What has been noted since the last time.
    pub fn take_heard(&mut self) -> impl Iterator<Item = Heard> {
        self.heard.iter_mut().flat_map(|heard| heard.drain(..))
    }

    /// What a node senses now.
    pub fn senses(&self, node: u32) -> Senses {
        let receiver = &self.receivers[node as usize];
        let follows = receiver.follows().map(|id| {
            let transmission = self.signals.transmission(id);
            (transmission.frame.from, transmission.start)
        });
        Senses { busy: receiver.is_busy(), follows }
    }

    /// Sequence numbers and bytes of the data frames that an EDCAF of a node has put together
    /// last, and may have on the air; none in a block-ack request.
    pub fn mpdus(&self, node: u32, edcaf: u8) -> impl Iterator<Item = (u16, Bytes)> {
        let edcaf = self.nodes[node as usize].edcaf(usize::from(edcaf));
        edcaf.originator.on_air().map(|(sequence, mpdu)| (sequence, mpdu.bytes))
    }

    /// The sequence number from which on an EDCAF of a node asks for block acks.
    pub fn starting_sequence(&self, node: u32, edcaf: u8) -> u16 {
        self.nodes[node as usize].edcaf(usize::from(edcaf)).originator.start()
    }
}
