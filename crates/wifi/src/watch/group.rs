//! Records of an exchange with several users.

use super::{fill_from, in_response, in_unit, mode};
use crate::mac::mu::{MuExchange, Shape, Triggered};
use crate::mac::{Acknowledgement, Originator};
use crate::phy::Airtime;
use kernel::Bytes;
use std::ops::Range;
use wire::{Frame, FrameContent, FrameKind, FrameMode, Trigger, TriggerKind, UserInfo};

/// An HE MU PPDU, and how to find what waits for its users.
#[derive(Clone, Copy)]
pub(crate) struct GroupRecord<'a, F> {
    pub(crate) group: &'a MuExchange,
    pub(crate) shape: &'a Shape,
    /// The originator for a station.
    pub(crate) to: F,
}

impl<'a, F: Fn(u32) -> &'a Originator> GroupRecord<'a, F> {
    /// The data of one user: a record of the PPDU with its resource unit. `bare` has what records
    /// of all users have.
    pub(crate) fn data(&self, bare: Frame, nth: usize, is_received: impl Fn(u16) -> bool) -> Frame {
        let Self { group, shape, .. } = *self;
        let user = &group.users[nth];
        let own = FrameMode {
            rate: user.rate,
            mcs: Some(user.mcs),
            ..mode(&user.mode, &group.airtime())
        };
        let is_asked = group.acknowledgement == Acknowledgement::AggregatedMuBar;
        let originator = (self.to)(user.station);
        let mut frame = Frame {
            to: Some(user.station),
            mode: in_unit(own, user.ru, nth),
            psdu: user.on_air,
            padding: Bytes(user.room.0.saturating_sub(user.on_air.0)),
            content: if is_asked { self.mu_bar(nth..nth + 1) } else { FrameContent::None },
            sig_b: shape.data.sig_b(),
            flow: originator.flow(),
            ..bare
        };
        fill_from(&mut frame, originator, is_received);
        frame.aggregate = true;
        frame
    }

    /// The MU-BAR for these users.
    pub(crate) fn mu_bar(&self, users: Range<usize>) -> FrameContent {
        let Triggered { layout, mcs, end, .. } = &self.shape.triggered;
        let user = |nth: usize| {
            let station = self.group.users[nth].station;
            let start = (self.to)(station).start();
            UserInfo { start, ..layout.user_info(nth, station, mcs[nth], 1) }
        };
        let (kind, common) = (TriggerKind::MuBar, layout.common_info(*end));
        let users = users.map(user).collect();
        FrameContent::Trigger(Box::new(Trigger { kind, common, users }))
    }

    /// The mode of a frame for a user, or of its answer.
    pub(crate) fn answer_mode(&self, kind: FrameKind, airtime: &Airtime, nth: usize) -> FrameMode {
        let Self { group, shape, .. } = *self;
        let user = &group.users[nth];
        let by_triggers = group.acknowledgement != Acknowledgement::BarChain;
        let answer = &shape.answers[nth];
        match kind {
            FrameKind::BlockAck if by_triggers => {
                let (rate, mcs) = (shape.triggered.layout.rate(nth), shape.triggered.mcs[nth]);
                let own = in_response(&user.mode, airtime, rate, mcs);
                in_unit(FrameMode { streams: 1, ..own }, user.ru, nth)
            }
            FrameKind::BlockAckRequest => mode(&answer.request_mode, airtime),
            _ => mode(&answer.mode, airtime),
        }
    }
}
