//! Checks exchanges of an access point with several stations at once.

use super::rule::rule;
use super::timing::Times;
use kernel::{Bytes, Duration, Instant};
use std::collections::BTreeSet;
use wifi::mac::{Acknowledgement, Exchange, Mu, MuExchange, MuStep, Step};
use wifi::phy::he::{GroupFormat, GroupUser, GroupVector, Ru, SigBMode};
use wifi::{ACCESS_POINT, MacConfig};
use wire::FrameKind;

/// The PPDU and the frames that acknowledge it keep the rules.
pub(super) fn check(mac: &MacConfig, times: &Times, exchange: &Exchange, group: &MuExchange) {
    let now = exchange.start;
    let detail = || format!("{exchange:?}: {group:?}");
    let Some(settings) = &mac.mu else {
        return rule(now, false, "only with OFDMA a PPDU has several users", detail);
    };
    let is_own = exchange.sender == ACCESS_POINT;
    rule(now, is_own, "the access point sends to several users", detail);
    let number = group.users.len() as u32;
    let most = settings.max_users.unwrap_or(u32::MAX);
    let allowed = (settings.min_users..=most).contains(&number);
    rule(now, allowed, "a PPDU has as many users as it may", detail);
    check_users(now, group);
    check_ppdu(mac, settings, exchange, group);
    check_steps(now, times, exchange, group);
}

/// Each station is served once, and their resource units do not overlap.
fn check_users(now: Instant, group: &MuExchange) {
    let detail = || format!("{:?}", group.users);
    let stations: BTreeSet<u32> = group.users.iter().map(|user| user.station).collect();
    let is_once = stations.len() == group.users.len() && !stations.contains(&ACCESS_POINT);
    rule(now, is_once, "a PPDU serves a station once", detail);
    let units: Vec<Ru> = group.users.iter().map(|user| user.ru).collect();
    let apart = |nth: usize| units[..nth].iter().all(|ru| !ru.overlaps(units[nth]));
    rule(now, (0..units.len()).all(apart), "resource units do not overlap", detail);
    let width = |user: &wifi::mac::MuUser| user.ru.index < user.ru.size.number_in(user.mode.width);
    rule(now, group.users.iter().all(width), "resource units are in the channel", detail);
}

/// All users end together, at the end of the longest, which the whole PPDU tells again.
fn check_ppdu(mac: &MacConfig, settings: &Mu, exchange: &Exchange, group: &MuExchange) {
    let now = exchange.start;
    let detail = || format!("{exchange:?}: {group:?}");
    let users: Vec<GroupUser> = group
        .users
        .iter()
        .map(|user| GroupUser {
            size: user.ru.size,
            mcs: user.mcs,
            streams: user.mode.streams,
            coding: settings.coding,
            psdu: user.on_air,
        })
        .collect();
    let Some(first) = group.users.first() else { return };
    let slowest = users.iter().map(|user| user.mcs).min().unwrap_or(0);
    let vector = GroupVector {
        format: GroupFormat::Mu(SigBMode::for_slowest(slowest)),
        band: mac.timing.standard.band,
        width: first.mode.width,
        guard: first.mode.guard,
        ltf: settings.ltf,
        padding: settings.padding,
        small_1024_qam: settings.small_1024_qam,
        timing: settings.timing,
    };
    let Ok(whole) = vector.ppdu(&users) else {
        return rule(now, false, "there is such a PPDU", detail);
    };
    let lasts = exchange.data().map_or(Duration::ZERO, |data| data.airtime.total());
    let same = whole.fields == group.fields && lasts == whole.fields.total();
    rule(now, same, "a PPDU lasts as long as its longest user", detail);
    for (user, part) in group.users.iter().zip(&whole.users) {
        let padding = Bytes(user.room.0.saturating_sub(user.on_air.0));
        let pads = part.padding == padding && user.on_air <= user.room;
        rule(now, pads, "a user pads up to the common end", detail);
    }
}

/// Frames follow each other a SIFS apart, or a PIFS where a response did not come, and HE TB PPDUs
/// are on the air together.
fn check_steps(now: Instant, times: &Times, exchange: &Exchange, group: &MuExchange) {
    let detail = || format!("{exchange:?}: {group:?}");
    let mut before = exchange.data().copied();
    let mut was_response = false;
    for MuStep { step, .. } in &group.steps {
        let Some(last) = before else { break };
        let gap = step.start.since(last.end());
        let together = step.start == last.start && step.end() == last.end();
        let is_triggered = group.acknowledgement != Acknowledgement::BarChain;
        let joins = together && is_triggered && step.kind == FrameKind::BlockAck && was_response;
        let sifs = gap == times.sifs();
        let pifs = gap == times.aifs(1) && step.kind == FrameKind::BlockAckRequest;
        rule(now, joins || sifs || pifs, "frames are a SIFS or a PIFS apart, or together", detail);
        was_response = step.kind == FrameKind::BlockAck;
        before = Some(*step);
    }
    let over = before.map_or(exchange.end, |last| Step::end(&last));
    // What follows HE TB PPDUs waits for the end that L-SIG announces, in steps of 4 us.
    let wait = exchange.end.since(over);
    let in_time = exchange.end >= over && wait < Duration::from_micros(4);
    rule(now, in_time, "an exchange ends with its last frame", detail);
}
