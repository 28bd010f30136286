//! Records of an exchange that a Trigger frame begins.

use super::{fill_from, in_response, in_unit};
use crate::mac::mu::{Response, TriggeredExchange, TriggeredUser, Uplink, UplinkShape};
use crate::mac::{BLOCK_ACK_REQUEST, Bitmap, Originator};
use crate::phy::Width;
use crate::phy::he::{bandwidth_code, width_code};
use kernel::Bytes;
use wire::{
    BlockAck, CommonInfo, Frame, FrameContent, QueueReport, StationAck, TrafficClass, Trigger,
    TriggerKind, UserInfo,
};

/// A Trigger frame, and what belongs to it.
#[derive(Clone, Copy)]
pub(crate) struct TriggeredRecord<'a> {
    pub(crate) settings: &'a Uplink,
    pub(crate) triggered: &'a TriggeredExchange,
    pub(crate) shape: &'a UplinkShape,
}

/// The station that answers.
pub(crate) struct Answering<'a> {
    pub(crate) user: &'a TriggeredUser,
    /// Of the category of its data.
    pub(crate) originator: &'a Originator,
    /// By category, what it tells of its queues.
    pub(crate) told: &'a [Option<Bytes>],
}

impl TriggeredUser {
    /// What the Multi-STA BlockAck says to the station, whose next MPDU in order is `start`, with
    /// a bitmap for a window of `window` MPDUs.
    pub(crate) fn acknowledgement(
        &self,
        class: TrafficClass,
        start: u16,
        acked: &Bitmap,
        window: u16,
    ) -> StationAck {
        let bits = self.bits(window);
        let acked = acked.record(start, BLOCK_ACK_REQUEST);
        let block_ack = (bits > 0).then_some(BlockAck { bits, ..acked });
        StationAck { aid: self.station as u16, class, block_ack }
    }
}

impl Uplink {
    /// What data says of the queue of its category, if anything is told.
    pub(crate) fn queue_report(&self, told: Option<Bytes>) -> QueueReport {
        QueueReport { size: self.queue_size.field(told), all: None }
    }
}

/// What an MU-RTS asks these stations for: CTSs on a channel of this width.
pub(crate) fn mu_rts(width: Width, stations: impl Iterator<Item = u32>) -> FrameContent {
    let user =
        |station| UserInfo { aid: station as u16, ru: width_code(width), ..UserInfo::default() };
    let common = CommonInfo { bandwidth: bandwidth_code(width), ..CommonInfo::default() };
    let (kind, users) = (TriggerKind::MuRts, stations.map(user).collect());
    FrameContent::Trigger(Box::new(Trigger { kind, common, users }))
}

impl TriggeredRecord<'_> {
    /// The contents of the Trigger frame.
    pub(crate) fn trigger(&self) -> FrameContent {
        let Self { triggered, shape, .. } = *self;
        let layout = &shape.layout;
        let info = |unit: &[TriggeredUser]| {
            let user = &unit[0];
            let aid = if user.is_random { 0 } else { user.station };
            layout.user_info(user.unit, aid, user.mcs, user.mode.streams)
        };
        let mut users: Vec<UserInfo> = triggered.units().map(info).collect();
        // One User Info is for all RA-RUs.
        let random = users.iter().filter(|user| user.aid == 0).count();
        users.truncate(users.len() + 1 - random.max(1));
        users.iter_mut().filter(|user| user.aid == 0).for_each(|user| user.random = random as u8);
        let (kind, common) = (triggered.kind, layout.common_info(triggered.end));
        FrameContent::Trigger(Box::new(Trigger { kind, common, users }))
    }

    /// The HE TB PPDU of a station. `bare` has what records of all of them have.
    pub(crate) fn answer(&self, bare: Frame, of: &Answering<'_>) -> Frame {
        let Self { settings, triggered, .. } = *self;
        let Answering { user, originator, told } = *of;
        let mode = in_response(&user.mode, &triggered.airtime(), user.rate, user.mcs);
        let mut frame = Frame {
            mode: in_unit(mode, user.ru, user.unit),
            psdu: user.on_air,
            padding: Bytes(user.room.0.saturating_sub(user.on_air.0)),
            flow: originator.flow(),
            ..bare
        };
        let own = settings.queue_report(told[usize::from(user.category)]);
        match user.response {
            Response::Nothing => {}
            Response::Data => {
                frame.content = FrameContent::Queue(own);
                fill_from(&mut frame, originator, |index| !user.is_lost(index));
            }
            Response::Request => {
                let asked = Bitmap::default().record(originator.start(), BLOCK_ACK_REQUEST);
                frame.content = FrameContent::BlockAck(asked);
            }
            Response::Null => {
                frame.content = FrameContent::Queue(QueueReport { all: user.status, ..own });
            }
        }
        frame.aggregate = true;
        frame
    }
}
