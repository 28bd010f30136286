//! What Trigger frames to the same stations have in common: computed once and kept.

use super::AROUND_NULL;
use crate::mac::mu::{Member, Mu};
use crate::mac::{Rules, TriggerKind, multi_sta_block_ack, trigger_padding};
use crate::phy::he::{GroupLayout, GroupUser, RuSize};
use crate::phy::{Airtime, Mode, PpduTiming};
use kernel::{Bytes, Duration};

/// Shapes that are kept: with rate control there may be very many.
const MOST: usize = 64;

/// Trigger frames to users with these modes, and the HE TB PPDUs that answer.
#[derive(Debug)]
pub(crate) struct UplinkShape {
    members: Vec<Member>,
    /// The HE TB PPDUs.
    pub(crate) layout: GroupLayout,
    /// MCS of each user.
    pub(crate) mcs: Vec<u8>,
    /// The mode of Trigger frames: all users hear it.
    pub(crate) mode: Mode,
    /// The mode of the Multi-STA BlockAck.
    pub(crate) ack_mode: Mode,
    /// The padding of Trigger frames.
    padding: Bytes,
}

/// The shapes that were used.
#[derive(Debug, Default)]
pub(crate) struct UplinkShapes(Vec<UplinkShape>);

impl UplinkShapes {
    /// The place of the shape of these users; `None` if there is no such PPDU.
    pub(crate) fn place(&mut self, settings: &Mu, rules: &Rules, of: &[Member]) -> Option<usize> {
        if let Some(place) = self.0.iter().position(|shape| shape.members == of) {
            return Some(place);
        }
        if self.0.len() == MOST {
            self.0.clear();
        }
        self.0.push(UplinkShape::new(settings, rules, of)?);
        Some(self.0.len() - 1)
    }

    /// The shape at a place.
    pub(crate) fn at(&self, place: usize) -> &UplinkShape {
        &self.0[place]
    }
}

impl UplinkShape {
    fn new(settings: &Mu, rules: &Rules, members: &[Member]) -> Option<Self> {
        let uplink = settings.uplink.as_ref()?;
        let timing = rules.timing();
        let slowest = members.iter().map(|each| each.mode).min_by_key(|mode| mode.rate)?;
        let small = |size| size < RuSize::Tones242 && !settings.small_1024_qam;
        let capped = |each: &Member| each.mode.mcs.min(if small(each.size) { 9 } else { 11 });
        let mcs: Vec<u8> = members.iter().map(capped).collect();
        let vector = settings.answers(timing.standard.band, &slowest);
        let user = |(each, &mcs): (&Member, &u8)| GroupUser {
            size: each.size,
            mcs,
            streams: each.mode.streams,
            coding: settings.coding,
            psdu: AROUND_NULL,
        };
        let users: Vec<GroupUser> = members.iter().zip(&mcs).map(user).collect();
        let layout = vector.layout(&users).ok()?;
        let mode = timing.rts_mode(&slowest);
        // ns-3 takes the rate of the first user.
        let first = members.first().map(|each| each.mode);
        let heard_by = first.filter(|_| settings.timing == PpduTiming::Ns3).unwrap_or(slowest);
        let padding = trigger_padding(&mode, uplink.trigger_padding.lasts());
        let (members, ack_mode) = (members.to_vec(), timing.response_mode(&heard_by));
        Some(Self { members, layout, mcs, mode, ack_mode, padding })
    }

    /// The bytes of a Trigger frame of this type, padding included.
    pub(crate) fn trigger_bytes(&self, kind: TriggerKind) -> Bytes {
        kind.bytes(self.members.len() as u64) + self.padding
    }

    /// How long it is on the air.
    pub(crate) fn trigger(&self, rules: &Rules, kind: TriggerKind) -> Airtime {
        rules.timing().airtime(&self.mode, self.trigger_bytes(kind))
    }

    /// A Multi-STA BlockAck with these bitmaps.
    pub(crate) fn ack(
        &self,
        rules: &Rules,
        bitmaps: impl Iterator<Item = u16>,
    ) -> (Bytes, Airtime) {
        let bytes = multi_sta_block_ack(bitmaps);
        (bytes, rules.timing().airtime(&self.ack_mode, bytes))
    }

    /// All that is on the air besides the HE TB PPDUs, if each user gets a bitmap.
    pub(crate) fn around(&self, rules: &Rules, kind: TriggerKind) -> Duration {
        let all = self.members.iter().map(|_| rules.window());
        let sifs = rules.timing().sifs();
        let ack = match kind {
            TriggerKind::Basic => sifs + self.ack(rules, all).1.total(),
            _ => Duration::ZERO,
        };
        self.trigger(rules, kind).total() + sifs + ack
    }
}
