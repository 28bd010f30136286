//! The records of the frames on the air.

use super::Space;
use crate::mac::{Bitmap, Originator};
use crate::space::frame::{OnAir, Transmission, Users};
use crate::space::inbox::Transmitter;
use crate::watch::{self, Answering, GroupRecord, TriggeredRecord};
use kernel::{Bytes, Instant};
use wire::{Frame, FrameContent, FrameKind, FrameOutcome};

impl Space {
    /// The records of a frame that begins: one, or one for each user.
    pub(super) fn frames_of(&self, now: Instant, id: u32, initiator: u32) -> Vec<Frame> {
        let Transmission { frame, start, .. } = *self.signals.transmission(id);
        let OnAir { from, to, kind, .. } = frame;
        let owner = &self.nodes[initiator as usize];
        let originator = match to {
            Some(_) if frame.answers_trigger() => {
                &self.nodes[from as usize].edcaf(usize::from(frame.edcaf)).originator
            }
            Some(to) => owner.originator_to(frame.edcaf, if to == initiator { from } else { to }),
            None => &owner.edcaf(usize::from(frame.edcaf)).originator,
        };
        let mut record = self.bare(now, id, initiator, originator);
        let opening = match frame.users {
            Users::Opening => Some(watch::mu_rts(owner.group_width(), owner.users(kind))),
            Users::Together => Some(FrameContent::None),
            _ => None,
        };
        if let Some(content) = opening {
            return vec![Frame { content, flow: None, ..record }];
        }
        if let Some(of) = owner.triggered_record().filter(|_| frame.users != Users::One) {
            return vec![self.record_triggered(record, &frame, &of, originator)];
        }
        let group = owner.group().filter(|_| frame.users != Users::One);
        let Some((group, shape)) = group else {
            if kind == FrameKind::Data {
                let edcaf = owner.edcaf(usize::from(frame.edcaf));
                watch::fill(&mut record, edcaf, |_| false);
            }
            return vec![record];
        };
        let of = |station| owner.originator_to(frame.edcaf, station);
        let all = GroupRecord { group, shape, to: of };
        match (frame.users, kind) {
            (Users::Several, FrameKind::Data) => {
                let one = |nth: usize| {
                    let signal_dbm = self.signal_at(now, id, Some(group.users[nth].station));
                    all.data(Frame { signal_dbm, ..record.clone() }, nth, |_| false)
                };
                return (0..group.users.len()).map(one).collect();
            }
            (Users::Several, _) => {
                record.content = all.mu_bar(0..group.users.len());
                record.flow = None;
            }
            (Users::Unit(nth), _) => {
                // Its LENGTH announces a later end, in steps of 4 us.
                let airtime = shape.triggered.block_acks;
                record.end = start + airtime.total();
                record.mode = all.answer_mode(kind, &airtime, usize::from(nth));
            }
            _ => {}
        }
        vec![record]
    }

    /// What all records of a frame have in common.
    fn bare(&self, now: Instant, id: u32, initiator: u32, originator: &Originator) -> Frame {
        let Transmission { frame, start, airtime, .. } = *self.signals.transmission(id);
        let OnAir { from, to, kind, mode, psdu, reserves, .. } = frame;
        Frame {
            number: 0,
            start,
            payload: start + airtime.preamble + airtime.header,
            end: start + airtime.total(),
            from,
            to,
            kind,
            class: self.rules.mac.class_of(u32::from(frame.edcaf)),
            mode: watch::mode(&mode, &airtime),
            psdu,
            aggregate: false,
            nav: reserves,
            exchange: 0,
            flow: originator.flow(),
            outcome: FrameOutcome::Unknown,
            lost_to: None,
            sig_b: None,
            padding: Bytes::ZERO,
            signal_dbm: self.signal_at(now, id, to),
            mpdus: Vec::new(),
            content: self.content_of(&frame, initiator, originator.start()),
        }
    }

    /// The record of a frame of an exchange that a Trigger frame has begun. `record` has what it
    /// shares with those of other frames.
    fn record_triggered(
        &self,
        mut record: Frame,
        frame: &OnAir,
        of: &TriggeredRecord<'_>,
        originator: &Originator,
    ) -> Frame {
        let access_point = frame.to.unwrap_or(frame.from);
        let owner = &self.nodes[access_point as usize];
        if let Some(user) = owner.triggered_user(frame) {
            let told = self.nodes[frame.from as usize].told();
            record.end = record.start + of.triggered.airtime().total();
            return of.answer(record, &Answering { user, originator, told });
        }
        record.flow = None;
        if frame.kind == FrameKind::Trigger {
            return Frame { content: of.trigger(), ..record };
        }
        let window = self.rules.mac.window();
        let acked = of.triggered.users.iter().filter(|user| user.is_acknowledged());
        let acks = acked.map(|user| {
            let from = Transmitter { node: user.station, edcaf: user.category };
            let own = self.nodes[user.station as usize].edcaf(usize::from(user.category));
            let start = own.originator.start();
            let class = self.rules.mac.class_of(u32::from(user.category));
            user.acknowledgement(class, start, &owner.inbox.block_ack(from, start), window)
        });
        Frame { content: FrameContent::MultiSta(acks.collect()), ..record }
    }

    /// What a frame carries that is no MPDU; `start` is the starting sequence number of BlockAcks.
    fn content_of(&self, frame: &OnAir, initiator: u32, start: u16) -> FrameContent {
        let bitmap = match frame.kind {
            FrameKind::BlockAckRequest => Bitmap::default(),
            FrameKind::BlockAck => {
                let inbox = &self.nodes[frame.from as usize].inbox;
                inbox.block_ack(Transmitter { node: initiator, edcaf: frame.edcaf }, start)
            }
            _ => return FrameContent::None,
        };
        FrameContent::BlockAck(bitmap.record(start, frame.psdu))
    }
}
