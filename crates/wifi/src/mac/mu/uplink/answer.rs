//! What a station answers to a Trigger frame.

use super::{Response, TriggeredUser, Uplink};
use crate::MsduSource;
use crate::mac::aggregation::DELIMITER;
use crate::mac::mu::reports::BufferStatus;
use crate::mac::{Edcaf, Psdu, PsduLimits, Rules};
use kernel::{Bytes, Instant};

impl Uplink {
    /// A `QoS` Null in an A-MPDU.
    pub(crate) fn null(&self, rules: &Rules) -> Bytes {
        rules.config.data_header() + super::AROUND_NULL + self.report()
    }

    /// What an EDCAF tells of what waits beside the PSDU that it has assembled, if anything.
    pub(crate) fn told(&self, queue: Bytes) -> Option<Bytes> {
        self.reports.told(self.queue_size, queue, false)
    }

    /// What a `QoS` Null tells of the queues of the EDCAFs of a station. `QoS` Control has the size
    /// of one, and a BSR Control what it has of all (clauses 9.2.4.5.6 and 26.5.5), in answer to a
    /// Basic Trigger frame, too.
    pub(crate) fn tell_in_null(
        &self,
        user: &mut TriggeredUser,
        queues: &[Bytes],
        told: &mut [Option<Bytes>],
    ) {
        for (told, &queue) in told.iter_mut().zip(queues) {
            *told = self.reports.told(self.queue_size, queue, true);
        }
        if self.report() == Bytes::ZERO {
            return;
        }
        // Without categories all is best effort.
        let (first, nth) = (usize::from(told.len() == 1), usize::from(user.category));
        let mut all = [Bytes::ZERO; 4];
        all[first..first + told.len()].copy_from_slice(&queues[..told.len()]);
        let status = BufferStatus::of(all);
        user.status = Some(status.bits());
        let known = status.told(first + nth, told[nth]);
        for (told, &known) in told.iter_mut().zip(&known[first..]) {
            *told = Some(known);
        }
    }
}

impl TriggeredUser {
    /// The categories whose packets a station may send: that which has won at the access point, or
    /// else the highest that has packets.
    pub(crate) fn categories(&self, per_node: u32) -> impl Iterator<Item = u32> + use<> {
        let preferred = u32::from(self.category);
        let others = (0..per_node).rev().filter(move |&category| category != preferred);
        std::iter::once(preferred).chain(others)
    }

    /// The station answers with a `QoS` Null, if that fits.
    pub(crate) fn answer_null(&mut self, null: Bytes) {
        if self.room >= null {
            (self.response, self.on_air) = (Response::Null, null);
        }
    }

    /// The station answers with a PSDU of this EDCAF, if it has one that fits. Returns whether it
    /// does.
    pub(crate) fn answer(
        &mut self,
        now: Instant,
        category: u32,
        edcaf: &mut Edcaf,
        access_point: u32,
        rules: &Rules,
        source: &mut dyn MsduSource,
    ) -> bool {
        let limits = rules.framing.aggregation.expect("triggers come with A-MPDUs");
        let room = PsduLimits { frames: limits.frames, bytes: self.room.min(limits.bytes) };
        let Edcaf { node, class, originator, .. } = edcaf;
        let has_data = originator.management().is_none() && !originator.is_idle();
        if !has_data || originator.to() != Some(access_point) {
            return false;
        }
        let next = |most| source.next(*node, *class, access_point, most);
        let psdu = Edcaf::assemble_user(originator, now, rules, room, &self.mode, next);
        let request = Some(Psdu::REQUEST)
            .filter(|psdu| originator.owes_request() && DELIMITER + psdu.bytes <= self.room);
        let Some(psdu) = psdu.or(request) else {
            originator.take_back();
            return false;
        };
        (self.psdu, self.category) = (psdu, category as u8);
        (self.response, self.on_air) = match psdu.mpdus {
            0 => (Response::Request, DELIMITER + psdu.bytes),
            _ => (Response::Data, psdu.bytes),
        };
        self.repeated = psdu.repeated.into();
        true
    }
}

impl Edcaf {
    /// What waits beside the PSDU that it has assembled, or, with a `QoS` Null, all that waits: a
    /// PSDU that it has assembled for an access of its own, too. `is_alone`: no other EDCAF of its
    /// node has anything in service, so that all that waits is of its category.
    pub(crate) fn backlog(
        &self,
        rules: &Rules,
        is_null: bool,
        is_alone: bool,
        source: &dyn MsduSource,
    ) -> Bytes {
        // What waits goes into service at once where nothing is.
        if self.is_idle() {
            return Bytes::ZERO;
        }
        let around = rules.framing.overhead + DELIMITER;
        let beside = if is_null { self.originator.in_service() } else { self.originator.beside() };
        if let Some((packets, size)) = source.waiting(self.node).filter(|_| is_alone) {
            return beside + size + Bytes(around.0 * packets);
        }
        let mut bytes = beside;
        source.each(self.node, self.class, &mut |_, packet| bytes += packet.size + around);
        bytes
    }
}
