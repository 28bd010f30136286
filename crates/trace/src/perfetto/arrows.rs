//! Arrows from the frame that carries data of a TCP connection to the frame that carries the first
//! ACK for the last byte of these data.

use crate::{Frame, FrameKind};
use kernel::IdVec;
use std::collections::VecDeque;
use wire::{Body, Flags, FlowId, Segment};

/// Arrows of a flow that may wait for their ACK. Where a filter omits the frames with ACKs, the
/// oldest arrows are given up.
const PENDING: usize = 4096;

/// The arrows that begin and end at one frame.
#[derive(Debug, Default)]
pub(super) struct Arrows {
    /// By flow, in the order of (connection, last byte).
    pending: IdVec<FlowId, VecDeque<Pending>>,
    count: u64,
    data: Vec<Arrow>,
    begin: Vec<u64>,
    end: Vec<u64>,
}

/// The data of a connection in a frame: one arrow, which their last byte decides.
#[derive(Clone, Copy, Debug)]
struct Arrow {
    flow: FlowId,
    connection: u32,
    until: u64,
}

/// An arrow that has begun.
#[derive(Clone, Copy, Debug)]
struct Pending {
    connection: u32,
    /// The ACK that has at least this number ends it.
    until: u64,
    id: u64,
}

impl Arrows {
    pub(super) fn new(flows: usize) -> Self {
        Self { pending: IdVec::filled(flows, VecDeque::new()), ..Self::default() }
    }

    /// The numbers of the arrows that begin and of those that end at a frame.
    pub(super) fn on_frame(&mut self, frame: &Frame) -> (&[u64], &[u64]) {
        self.begin.clear();
        self.end.clear();
        if frame.kind != FrameKind::Data {
            return (&[], &[]);
        }
        for mpdu in frame.mpdus.iter().filter(|mpdu| mpdu.received) {
            let Body::Segment(segment) = &mpdu.packet.body else { continue };
            if segment.forward {
                self.on_data(segment);
            } else {
                self.on_ack(segment);
            }
        }
        while let Some(Arrow { flow, connection, until }) = self.data.pop() {
            self.count += 1;
            self.begin.push(self.count);
            let pending = &mut self.pending[flow];
            if pending.len() == PENDING {
                pending.pop_front();
            }
            let at = pending.partition_point(|a| (a.connection, a.until) <= (connection, until));
            pending.insert(at, Pending { connection, until, id: self.count });
        }
        (&self.begin, &self.end)
    }

    fn on_data(&mut self, segment: &Segment) {
        let is_parity = segment.coded.is_some_and(|unit| unit.is_parity());
        if segment.len == 0 || is_parity {
            return;
        }
        let Segment { flow, connection, .. } = *segment;
        let until = segment.seq + u64::from(segment.len);
        let is_same = |arrow: &&mut Arrow| (arrow.flow, arrow.connection) == (flow, connection);
        match self.data.iter_mut().find(is_same) {
            Some(arrow) => arrow.until = arrow.until.max(until),
            None => self.data.push(Arrow { flow, connection, until }),
        }
    }

    fn on_ack(&mut self, segment: &Segment) {
        if !segment.flags.has(Flags::ACK) {
            return;
        }
        let pending = &mut self.pending[segment.flow];
        while let Some(arrow) = pending.front() {
            if arrow.connection > segment.connection
                || arrow.connection == segment.connection && arrow.until > segment.ack
            {
                return;
            }
            if arrow.connection == segment.connection {
                self.end.push(arrow.id);
            }
            pending.pop_front();
        }
    }
}
