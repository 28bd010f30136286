//! What Trigger frames to the same stations have in common: computed once and kept.

use crate::mac::mu::shapes::{slowest, users};
use crate::mac::mu::{Member, Mu};
use crate::mac::{Rules, TriggerKind, multi_sta_block_ack, trigger_padding};
use crate::phy::he::GroupLayout;
use crate::phy::{Airtime, Mode, PpduTiming};
use kernel::{Bytes, Duration};

/// Trigger frames to users with these modes, and the HE TB PPDUs that answer.
#[derive(Debug)]
pub(crate) struct UplinkShape {
    /// The HE TB PPDUs.
    pub(crate) layout: GroupLayout,
    /// How long the access point waits for them to begin.
    pub(crate) timeout: Duration,
    /// MCS of each user.
    pub(crate) mcs: Vec<u8>,
    /// The slowest mode of the users.
    pub(crate) slowest: Mode,
    /// The mode of Trigger frames: all users hear it.
    pub(crate) mode: Mode,
    /// The mode of the Multi-STA BlockAck.
    pub(crate) ack_mode: Mode,
    /// The User Infos of Trigger frames: those of all RA-RUs are one.
    infos: u64,
    /// The padding of Trigger frames.
    padding: Bytes,
}

impl UplinkShape {
    pub(crate) fn new(settings: &Mu, rules: &Rules, members: &[Member]) -> Option<Self> {
        let uplink = settings.uplink.as_ref()?;
        let timing = rules.timing();
        let slowest = slowest(members)?;
        let mcs = settings.mcs_of(members);
        let vector = settings.answers(timing.standard.band, &slowest);
        let users = users(members, &mcs, settings.coding);
        let layout = vector.layout(&users).ok()?;
        // ns-3 sends a Trigger frame to several users as a group-addressed frame, and takes the
        // rate of its acknowledgement from the first user.
        let is_ns3 = settings.timing == PpduTiming::Ns3;
        let is_group = is_ns3 && members.len() > 1;
        let mode = if is_group { rules.broadcast_mode } else { timing.rts_mode(&slowest) };
        let first = members.first().map(|each| each.mode);
        let heard_by = first.filter(|_| is_ns3).unwrap_or(slowest);
        let padding = trigger_padding(&mode, uplink.trigger_padding.lasts());
        let ack_mode = timing.response_mode(&heard_by);
        let random = members.iter().filter(|each| each.is_random).count();
        let infos = (members.len() - random.saturating_sub(1)) as u64;
        let timeout = timing.units_timeout(&layout);
        Some(Self { layout, timeout, mcs, slowest, mode, ack_mode, infos, padding })
    }

    /// The bytes of a Trigger frame of this type, padding included.
    pub(crate) fn trigger_bytes(&self, kind: TriggerKind) -> Bytes {
        kind.bytes(self.infos) + self.padding
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
        let all = self.mcs.iter().map(|_| rules.window());
        let sifs = rules.timing().sifs();
        let ack = match kind {
            TriggerKind::Basic => sifs + self.ack(rules, all).1.total(),
            _ => Duration::ZERO,
        };
        self.trigger(rules, kind).total() + sifs + ack
    }
}
