//! Checks frames of exchanges with several users among radios.

use super::super::blocks::DataPsdu;
use super::super::group;
use super::super::reception::is_joint;
use super::super::rule::rule;
use super::super::triggered;
use super::super::units::{GroupSent, TriggerSent};
use super::Watch;
use kernel::Instant;
use wifi::mac::{Acknowledgement, TriggerKind, multi_sta_block_ack};
use wifi::space::{OngoingFrame, Users};
use wire::FrameKind;

impl Watch {
    /// The power at which a frame arrives at a node. HE TB PPDUs have one preamble, but the access
    /// point receives each in its resource unit.
    pub(super) fn power_of(&self, frame: &OngoingFrame, node: u32) -> f64 {
        if frame.users.is_unit() && frame.to == Some(node) {
            return self.powers.at(node, frame) * self.groups.concentration(frame, node);
        }
        self.power_together(frame, node)
    }

    /// The power of a preamble, as far as it has arrived.
    pub(super) fn power_together(&self, frame: &OngoingFrame, node: u32) -> f64 {
        let all = self.together(frame, node).into_iter();
        let arrived = all.filter(|other| self.powers.span(node, other).0 <= self.now);
        arrived.map(|other| self.powers.at(node, other)).sum()
    }

    /// When the last of the frames has arrived that a node receives as one with this one.
    pub(super) fn over(&self, frame: &OngoingFrame, node: u32) -> Instant {
        let ends = self.together(frame, node).into_iter();
        ends.map(|other| self.powers.span(node, other).1).max().unwrap_or(frame.end)
    }

    /// The frames that a node receives as one with this one: HE TB PPDUs and CTSs that begin within
    /// the guard interval after the first of them.
    fn together(&self, frame: &OngoingFrame, node: u32) -> Vec<&OngoingFrame> {
        let is_it = |other: &&OngoingFrame| (other.from, other.start) == (frame.from, frame.start);
        let begin = |other: &OngoingFrame| self.powers.span(node, other).0;
        let alike = |other: &&OngoingFrame| {
            let both = is_joint(frame) && is_joint(other) && other.to == frame.to;
            is_it(other) || both && other.from != node && self.powers.at(node, other) > 0.0
        };
        let mut all: Vec<&OngoingFrame> = self.frames.iter().filter(alike).collect();
        all.sort_by_key(|other| begin(other));
        let within = self.powers.joint_within(frame);
        while let Some(&first) = all.first() {
            let later = |other: &&OngoingFrame| begin(other) > begin(first) + within;
            let rest = all.split_off(all.iter().position(later).unwrap_or(all.len()));
            if all.iter().any(&is_it) {
                return all;
            }
            all = rest;
        }
        all
    }

    /// A frame to users of an exchange, or to one of them, begins.
    pub(super) fn check_in_group(&mut self, frame: &OngoingFrame) {
        let now = self.now;
        if frame.users == Users::Opening {
            return self.check_mu_rts(frame);
        }
        if let Some(own) = self.groups.trigger_of(frame.to.unwrap_or(frame.from)) {
            return match frame.kind {
                FrameKind::Trigger => self.check_trigger(frame),
                _ => self.check_triggered(frame, own),
            };
        }
        let group = self.groups.of(frame.from);
        rule(now, group.is_some(), "a frame to users is of an exchange with several", || {
            format!("{frame:?}")
        });
        let Some(group) = group else { return };
        match frame.kind {
            FrameKind::Data => self.check_group_data(frame),
            FrameKind::Trigger => {
                let is_next = group.end + self.times.sifs() == now
                    && group.exchange.acknowledgement == Acknowledgement::MuBar;
                rule(now, is_next, "a MU-BAR follows a SIFS after its PPDU", || {
                    format!("{frame:?}")
                });
            }
            _ => self.check_chained(frame, group),
        }
    }

    /// An access point triggers stations.
    fn check_trigger(&mut self, frame: &OngoingFrame) {
        let now = self.now;
        let Some(TriggerSent { exchange, .. }) = self.groups.trigger_of(frame.from) else { return };
        let is_own = self.access_points[frame.from as usize];
        triggered::check_trigger(&self.mac, now, is_own, exchange);
        let stations: Vec<u32> = exchange.users.iter().map(|user| user.station).collect();
        self.known.check_users(now, stations.iter().copied());
        // A BSRP needs no protection.
        let asked = exchange.users.iter().filter(|user| !user.is_random).count();
        let stations = if exchange.kind == TriggerKind::Basic { asked } else { 0 };
        // It may be longer than its TXOP where nothing fits: it then asks for QoS Nulls.
        self.check_protected(frame, 1, stations);
    }

    /// What a station answers to a Trigger frame begins a SIFS after it, is in its resource unit,
    /// and fits.
    fn check_triggered(&self, frame: &OngoingFrame, own: &TriggerSent) {
        let now = self.now;
        let detail = || format!("{frame:?}: {own:?}");
        let mut asked = self.receivers[frame.from as usize].exchanges.asked.iter();
        let asked = asked.find(|asked| {
            (asked.kind, asked.from) == (FrameKind::Trigger, own.frame.from)
                && asked.end + self.times.sifs() == now
        });
        rule(now, asked.is_some(), "an HE TB PPDU begins a SIFS after its Trigger frame", detail);
        let mut users = own.exchange.users.iter();
        let user = users.find(|user| user.station == frame.from);
        let in_place = user.is_some_and(|user| frame.users == Users::Unit(user.unit as u8));
        rule(now, in_place, "a user answers in its place", detail);
        triggered::check_answers(&self.mac, now, &own.exchange);
        let lasts = own.exchange.announced == frame.end - frame.start;
        rule(now, lasts, "answers last as long as the Trigger frame says", detail);
        self.check_reservation(asked.unwrap_or(&own.frame), frame);
    }

    /// A Multi-STA BlockAck acknowledges what the access point has decoded, a SIFS after the
    /// answers.
    pub(super) fn check_multi_sta(&self, frame: &OngoingFrame) {
        let now = self.now;
        let own = self.groups.trigger_of(frame.from);
        rule(now, own.is_some(), "a Multi-STA BlockAck is of a triggered exchange", || {
            format!("{frame:?}")
        });
        let Some(own) = own else { return };
        let detail = || format!("{frame:?}: {own:?}");
        let answers = own.frame.end + self.times.sifs();
        let together = answers + own.exchange.announced;
        let last = self.receivers[frame.from as usize].exchanges.units_until;
        let in_time = last >= together && last + self.times.sifs() == now;
        rule(now, in_time, "a BlockAck follows a SIFS after the answers", detail);
        let told = own.exchange.users.iter().filter(|user| user.is_acknowledged());
        let is_decoded = told.clone().all(|user| own.decoded.contains(&user.station));
        let all = own.exchange.users.iter().filter(|user| user.sends());
        let decoded = all.filter(|user| own.decoded.contains(&user.station));
        let is_all = decoded.clone().count() == told.clone().count();
        rule(now, is_decoded && is_all, "a BlockAck tells what was decoded", detail);
        let size = multi_sta_block_ack(told.map(|user| triggered::bitmap(&self.mac, user)));
        let is_long = frame.psdu == size;
        rule(now, is_long, "a Multi-STA BlockAck has a bitmap for each A-MPDU", detail);
        let most = own.frame.end + own.frame.reserves + self.slowest * 2;
        rule(
            now,
            frame.end <= most || !self.exact,
            "Duration fields end with the exchange",
            detail,
        );
    }

    fn check_group_data(&mut self, frame: &OngoingFrame) {
        let now = self.now;
        let Some(group) = self.groups.of(frame.from) else { return };
        let (total, stations) = (group.total(), group.mpdus.len());
        let Some(settings) = &self.mac.mu else {
            return rule(now, false, "only with OFDMA a PPDU has several users", || {
                format!("{frame:?}")
            });
        };
        let is_own = self.access_points[frame.from as usize];
        rule(now, is_own, "the access point sends to several users", || format!("{frame:?}"));
        group::check_data(&self.mac, settings, now, frame.end - frame.start, &group.exchange);
        self.known.check_users(now, group.exchange.users.iter().map(|user| user.station));
        for (user, mpdus) in group.exchange.users.iter().zip(&group.mpdus) {
            let psdu = DataPsdu {
                from: frame.from,
                function: frame.edcaf,
                to: Some(user.station),
                bytes: user.on_air,
                lasting: frame.end - frame.start,
                mpdus: mpdus.clone(),
            };
            self.blocks.on_psdu(now, &psdu);
        }
        self.check_protected(frame, total, stations);
    }

    /// A BlockAckReq of a chain follows a SIFS after the BlockAck of a user, or a PIFS after the
    /// last frame while the medium is idle.
    fn check_chained(&self, frame: &OngoingFrame, group: &GroupSent) {
        let now = self.now;
        let mut users = group.exchange.users.iter().map(|user| user.station);
        let is_user = frame.to.is_some_and(|to| users.any(|user| user == to));
        let by_chain = group.exchange.acknowledgement == Acknowledgement::BarChain;
        rule(now, is_user && by_chain, "a BlockAckReq of a chain is for a user", || {
            format!("{frame:?}")
        });
        let receiver = &self.receivers[frame.from as usize];
        let heard = receiver.exchanges.understood.filter(|it| it.kind == FrameKind::BlockAck);
        let answered = heard.filter(|heard| heard.end + self.times.sifs() == now);
        let sent = receiver.exchanges.sent.map_or(Instant::ZERO, |sent| sent.end);
        let last = sent.max(receiver.heard_until);
        let recovers = last + self.times.aifs(1) == now && receiver.free_at().is_some();
        rule(now, answered.is_some() || recovers, "a BlockAckReq of a chain is in time", || {
            format!("{frame:?} after {heard:?}, last {last}")
        });
        if let Some(heard) = answered {
            self.check_reservation(&heard, frame);
        }
    }

    /// A BlockAck in an exchange with several users is that of a user, in its place.
    pub(super) fn check_user(&self, asked: &OngoingFrame, frame: &OngoingFrame) {
        if (asked.users, frame.users) == (Users::One, Users::One) {
            return;
        }
        if asked.users == Users::Opening || frame.users == Users::Together {
            return self.check_cts(asked, frame);
        }
        let Some(group) = self.groups.of(asked.from) else { return };
        let place = group.exchange.users.iter().position(|user| user.station == frame.from);
        let fits = match (frame.users, asked.users, asked.kind) {
            (Users::Unit(nth), Users::Several, _) => {
                let by_units = group.exchange.acknowledgement != Acknowledgement::BarChain;
                place == Some(usize::from(nth)) && by_units
            }
            (Users::Chained, Users::Several, FrameKind::Data) => place == Some(0),
            (Users::Chained, Users::Chained, _) => true,
            _ => false,
        };
        rule(self.now, fits, "a user answers in its place", || format!("{frame:?} to {asked:?}"));
    }
}
