//! Whom a Trigger frame asks, and for how long.

use super::{Last, Triggers};
use crate::MsduSource;
use crate::cell::{ACCESS_POINT, Cell, link_direction};
use crate::mac::mu::scheduler::{StationView, View};
use crate::mac::mu::{
    AROUND_NULL, Allowed, HT_CONTROL, Member, TriggeredExchange, TriggeredUser, Uplink, UplinkShape,
};
use crate::mac::{Step, TriggerKind};
use crate::phy::Airtime;
use crate::phy::he::{DataEnd, GroupLayout, RuSize};
use kernel::{Bytes, Duration, Instant};
use wire::FrameKind;

/// What schedulers see of a queue that is larger than can be told.
const MOST_SEEN: Bytes = Bytes(1 << 22);

/// An EDCAF may send now, for so long.
#[derive(Clone, Copy)]
pub(super) struct Turn<'a> {
    pub(super) now: Instant,
    pub(super) f: u32,
    pub(super) within: Duration,
    /// It is the first PPDU of an access.
    pub(super) is_first: bool,
    /// It has won the medium to trigger, and has nothing else to send.
    pub(super) must: bool,
    /// Knows which stations are awake.
    pub(super) source: &'a dyn MsduSource,
}

/// What a Trigger frame asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Asked {
    /// What waits at stations whose queues are not empty.
    Queues,
    /// A `QoS` Null, of any station.
    Nulls,
}

impl Cell {
    /// Which Trigger frame the access point sends, if any: after data, or without data to send, a
    /// BSRP, and then a Basic one. Who answers no BSRP is not asked for data. (The order is that of
    /// ns-3's `RrMultiUserScheduler`.)
    pub(super) fn plan(
        &self,
        triggers: &mut Triggers,
        turn: &Turn<'_>,
    ) -> Option<TriggeredExchange> {
        use TriggerKind::{Basic, Bsrp};
        let edcaf = self.edcaf(turn.f);
        if edcaf.originator.management().is_some() {
            return None;
        }
        let has_data = !edcaf.is_idle();
        let (last, asks) = (triggers.last, triggers.settings.bsrp);
        let is_anew = turn.is_first || last != Last::Trigger(Bsrp);
        let is_bsrp = asks && (last == Last::Down || is_anew && !has_data);
        let is_basic = last == Last::Down || last == Last::Trigger(Bsrp) || !has_data;
        let found = match () {
            () if is_bsrp => self.trigger(triggers, turn, Bsrp, Asked::Nulls),
            () if is_basic => self.trigger(triggers, turn, Basic, Asked::Queues),
            () => None,
        };
        // The queues may have become empty since the access point asked for the medium.
        let unlimited = Turn { within: Duration(u64::MAX), ..*turn };
        let other = || self.trigger(triggers, &unlimited, Basic, Asked::Nulls);
        if turn.must { found.or_else(other) } else { found }
    }

    /// A Trigger frame; `None` if there is nobody to ask, or no time.
    fn trigger(
        &self,
        triggers: &mut Triggers,
        turn: &Turn<'_>,
        kind: TriggerKind,
        asked: Asked,
    ) -> Option<TriggeredExchange> {
        let random = triggers.settings.random_units(kind);
        let (found, members) = self.whom(triggers, turn, asked, random);
        let Triggers { mu, settings, shapes, reports, .. } = triggers;
        let shape = |of: &[Member]| UplinkShape::new(mu, &self.rules, of);
        let place = shapes.place(&members, shape)?;
        let shape = shapes.at(place);
        let layout = &shape.layout;
        let stations = found.iter().copied();
        let opening = match kind {
            TriggerKind::Basic => {
                let protected = &self.groups.as_ref()?.downlink.protected;
                protected.opening(self.rules.timing(), &shape.slowest, stations)
            }
            _ => None,
        };
        let before = opening.map_or(Duration::ZERO, |rts| rts.lasts());
        let around = before + shape.around(&self.rules, kind);
        let longest = turn.within.saturating_sub(around).min(settings.duration);
        let longest = longest.min(self.rules.framing.aggregation?.duration);
        let null = self.null(settings, kind);
        let in_random =
            settings.random_access.as_ref().map_or(null, |random| random.room.max(null));
        let needs = (0..members.len()).map(|nth| match (asked, found.get(nth)) {
            (Asked::Queues, Some(&station)) => reports.of(turn.now, station).max(null),
            (_, None) if kind == TriggerKind::Basic => in_random,
            _ => null,
        });
        let end = end(layout, longest, needs)?;
        let rooms = (0..members.len()).map(|nth| layout.room_before_extra(nth, end));
        let least = if asked == Asked::Queues { settings.reports.unknown } else { null };
        if rooms.clone().any(|room| room < null) || rooms.max().is_none_or(|most| most < least) {
            return None;
        }
        let fields = layout.fields(end);
        let users = members.iter().enumerate().map(|(unit, &Member { mode, is_random, .. })| {
            let room = layout.room_before_extra(unit, end);
            let (ru, mcs, rate) = (layout.plan()[unit], shape.mcs[unit], layout.rate(unit));
            let station = found.get(unit).copied().unwrap_or(ACCESS_POINT);
            let allowed = Allowed { station, is_random, unit, ru, mcs, rate, mode, room };
            TriggeredUser::silent(&allowed, turn.f as u8)
        });
        let (start, airtime) = (turn.now, Airtime::default());
        Some(TriggeredExchange {
            category: turn.f as u8,
            kind,
            opening,
            users: users.collect(),
            contenders: Vec::new(),
            trigger: Step { kind: FrameKind::Trigger, start, airtime },
            trigger_bytes: Bytes::ZERO,
            fields,
            end,
            announced: layout.announced(fields.total()),
            answers: None,
            ack: None,
            shape: place,
        })
    }

    /// The stations that are asked, and the resource units: theirs, and then so many for random
    /// access, with which all are equal.
    fn whom(
        &self,
        triggers: &Triggers,
        turn: &Turn<'_>,
        asked: Asked,
        random: u32,
    ) -> (Vec<u32>, Vec<Member>) {
        let Triggers { mu, scheduler, reports, .. } = triggers;
        let width = self.group_width();
        let mode = |station| self.rates[link_direction(station, ACCESS_POINT)].mode;
        let view = |station: u32| StationView {
            bytes: reports.of(turn.now, station).min(MOST_SEEN),
            rate: mode(station.max(1)).rate,
            ..StationView::default()
        };
        let views: Vec<StationView> = (0..self.nodes.len() as u32).map(view).collect();
        let view = View { now: turn.now, width, stations: &views };
        let (mut found, mut sizes) = (Vec::new(), Vec::new());
        scheduler.order(&view, &mut found);
        found.retain(|&it| {
            let has_packets = asked == Asked::Nulls || reports.of(turn.now, it) > Bytes::ZERO;
            has_packets && self.has_units(it) && turn.source.is_awake(ACCESS_POINT, it)
        });
        if asked == Asked::Nulls {
            // All are polled in turn, and not only those who had the least airtime.
            found.sort_by_key(|&it| triggers.polled[it as usize]);
        }
        found.truncate(mu.most_users(width).saturating_sub(random) as usize);
        if random > 0 {
            let all = found.len() as u32 + random;
            let size = RuSize::widest_for(width, all);
            sizes.extend((0..all).filter_map(|_| size));
        } else {
            scheduler.units(&view, &found, &mut sizes);
        }
        if sizes.is_empty() {
            // The first is to have the channel alone.
            sizes.extend(RuSize::widest_for(width, 1));
        }
        found.truncate(sizes.len());
        let asked = found.iter().zip(&sizes).map(|(&station, &size)| {
            let mode = mode(station);
            Member { mode, size, is_random: false }
        });
        let mut members: Vec<Member> = asked.collect();
        let rest = sizes.iter().skip(found.len()).take(random as usize);
        // Whoever sends in an RA-RU can do so in the mode of the slowest.
        let all = if random > 0 { 1..self.nodes.len() as u32 } else { 0..0 };
        let all = all.filter(|&station| self.has_units(station));
        if let Some(mode) = all.map(mode).min_by_key(|mode| mode.rate) {
            members.extend(rest.map(|&size| Member { mode, size, is_random: true }));
        }
        (found, members)
    }

    /// A `QoS` Null in an A-MPDU: in answer to a BSRP with a report of all queues in its HT
    /// Control, but for legacy reports.
    pub(super) fn null(&self, settings: &Uplink, kind: TriggerKind) -> Bytes {
        let report = if settings.reports_all(kind) { HT_CONTROL } else { Bytes::ZERO };
        self.rules.config.data_header() + AROUND_NULL + report
    }
}

/// Where the data ends if the PPDUs last no longer than this and each user needs so much.
fn end(
    layout: &GroupLayout,
    longest: Duration,
    needs: impl Iterator<Item = Bytes>,
) -> Option<DataEnd> {
    let mut last = layout.last_end(longest)?;
    // The end of the PPDUs is announced in steps of 4 us.
    if layout.announced(layout.fields(last).total()) > longest {
        last.symbols = last.symbols.checked_sub(1).filter(|&left| left > 0)?;
    }
    // Nobody sends more than fits into the longest PPDU.
    let capped = needs.enumerate().map(|(nth, need)| need.min(layout.room(nth, last)));
    Some(layout.ppdu(capped).0.min(last))
}
