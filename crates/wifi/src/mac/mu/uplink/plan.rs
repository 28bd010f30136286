//! Whom a Trigger frame asks, and for how long.

use super::triggering::{Asked, Triggering, Turn};
use super::{Allowed, TriggeredExchange, TriggeredUser, UplinkShape};
use crate::mac::mu::Member;
use crate::mac::mu::members::Members;
use crate::mac::mu::reports::Reports;
use crate::mac::mu::scheduler::{Backlogs, StationView, View};
use crate::mac::{Step, TriggerKind, mode_for_several};
use crate::phy::Airtime;
use crate::phy::he::{DataEnd, GroupLayout, RuSize};
use kernel::{Bytes, Duration};
use wire::FrameKind;

/// What schedulers see of a queue that is larger than can be told.
const MOST_SEEN: Bytes = Bytes(1 << 22);

/// What the stations have told of their queues, by their places.
struct Told<'a> {
    reports: &'a Reports,
    members: &'a Members,
    turn: &'a Turn<'a>,
}

impl Backlogs for Told<'_> {
    fn of(&self, place: u32) -> StationView {
        let bytes = self.reports.of(self.turn.now, place).min(MOST_SEEN);
        StationView { bytes, rate: self.turn.stations.mode(self.members.at(place)).rate }
    }

    fn all(&self, into: &mut Vec<StationView>) {
        into.extend(self.members.places().map(|place| self.of(place)));
    }
}

impl Triggering {
    /// A Trigger frame; `None` if there is nobody to ask, or no time.
    pub(super) fn trigger(
        &mut self,
        turn: &Turn<'_>,
        kind: TriggerKind,
        asked: Asked,
    ) -> Option<TriggeredExchange> {
        let (found, members) = self.whom(turn, asked, self.settings.random_units(kind));
        let Self { mu, settings, shapes, reports, .. } = self;
        let rules = turn.rules;
        let place = shapes.place(&members, |of| UplinkShape::new(mu, rules, of))?;
        let shape = shapes.at(place);
        let layout = &shape.layout;
        let stations = found.iter().map(|&place| self.members.at(place));
        let opening = match kind {
            TriggerKind::Basic => turn.protected.opening(rules.timing(), &shape.slowest, stations),
            _ => None,
        };
        let before = opening.map_or(Duration::ZERO, |rts| rts.lasts());
        let around = before + shape.around(rules, kind);
        let longest = turn.within.saturating_sub(around).min(settings.duration);
        let longest = longest.min(rules.framing.aggregation?.duration);
        let null = settings.null(rules);
        let in_random =
            settings.random_access.as_ref().map_or(null, |random| random.room.max(null));
        let needs = (0..members.len()).map(|nth| match (asked, found.get(nth)) {
            (Asked::Queues, Some(&place)) => reports.of(turn.now, place).max(null),
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
            let station = found.get(unit).map_or(self.access_point, |&it| self.members.at(it));
            let allowed = Allowed { station, is_random, unit, ru, mcs, rate, mode, room };
            TriggeredUser::silent(&allowed, turn.category as u8)
        });
        let (start, airtime) = (turn.now, Airtime::default());
        Some(TriggeredExchange {
            category: turn.category as u8,
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

    /// The places of the stations that are asked, and the resource units: theirs, and then so many
    /// for random access, with which all are equal.
    fn whom(&mut self, turn: &Turn<'_>, asked: Asked, random: u32) -> (Vec<u32>, Vec<Member>) {
        let Self { mu, scheduler, reports, members: places, .. } = self;
        let stations = turn.stations;
        let channel = turn.edcaf.part_for_several(stations.width(), turn.rules);
        let mode = |place: u32| {
            let mode = stations.mode(places.at(place));
            let is_confined = turn.edcaf.won.is_some();
            if is_confined { mode_for_several(&mode, channel, &turn.rules.config) } else { mode }
        };
        let told = Told { reports, members: places, turn };
        let view = View { now: turn.now, channel, queues: &told };
        let (mut found, mut sizes) = (Vec::new(), Vec::new());
        scheduler.order(&view, &mut found);
        found.retain(|&place| {
            let has_packets = asked == Asked::Nulls || reports.of(turn.now, place) > Bytes::ZERO;
            let station = places.at(place);
            has_packets && stations.can_answer(station) && stations.is_awake(station)
        });
        if asked == Asked::Nulls {
            // All are polled in turn, and not only those who had the least airtime.
            found.sort_by_key(|&place| self.polled[place as usize]);
        }
        // In a part of its channel it has fewer resource units.
        let most = mu.most_users(channel);
        let random = random.min(most);
        found.truncate((most - random) as usize);
        if random > 0 {
            let all = found.len() as u32 + random;
            let size = RuSize::widest_for(channel, all);
            sizes.extend((0..all).filter_map(|_| size));
        } else {
            scheduler.units(&view, &found, &mut sizes);
        }
        if sizes.is_empty() {
            // The first is to have the channel alone.
            sizes.extend(RuSize::widest_for(channel, 1));
        }
        found.truncate(sizes.len());
        let asked = found.iter().zip(&sizes).map(|(&place, &size)| {
            let mode = mode(place);
            Member { mode, size, is_random: false }
        });
        let mut members: Vec<Member> = asked.collect();
        let rest = sizes.iter().skip(found.len()).take(random as usize);
        // Whoever sends in an RA-RU can do so in the mode of the slowest.
        let may_send = |&place: &u32| random > 0 && stations.can_answer(places.at(place));
        let all = places.places().filter(may_send);
        if let Some(mode) = all.map(mode).min_by_key(|mode| mode.rate) {
            members.extend(rest.map(|&size| Member { mode, size, is_random: true }));
        }
        (found, members)
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
