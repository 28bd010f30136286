//! Which stations a PPDU serves, and their A-MPDUs.

use super::queue::Queue;
use super::{Downlink, Occasion, Stations};
use crate::MsduSource;
use crate::mac::mu::members::{ALL, Members};
use crate::mac::mu::scheduler::{Backlogs, StationView, View};
use crate::mac::mu::{Member, MuExchange, MuUser, Shape};
use crate::mac::{Edcaf, PsduLimits, Rules, mode_for_several};
use crate::medium::Outlook;
use crate::phy::he::{DataEnd, GroupFields, RuSize};
use crate::phy::{Mode, Puncturing};
use kernel::{Bytes, Duration};

/// The lists of one assembly, which are used again.
#[derive(Debug, Default)]
pub(super) struct Lists {
    order: Vec<u32>,
    sizes: Vec<RuSize>,
    /// The places of the stations with packets.
    found: Vec<u32>,
    /// What the PPDU has for each of the first of them.
    parts: Vec<Part>,
    /// Whether rate control has chosen the mode of any.
    adapts: bool,
    /// Whether the PSDU of each has one MPDU only, a bit each.
    alone: u128,
    /// Those of the last shape, its place, and how often they have changed.
    last: (Vec<Part>, usize, u32),
    members: Vec<Member>,
    /// What is known of the packets that wait.
    outlook: Outlook,
}

/// The number of the mode of a user of a PPDU before its data is known, and the size of its
/// resource unit: one number, so that two PPDUs are compared as a whole.
type Part = u32;

fn part(mode: u16, size: RuSize) -> Part {
    u32::from(mode) << 8 | size as u32
}

/// The number of its mode.
fn mode_of(part: Part) -> u16 {
    (part >> 8) as u16
}

/// What waits for the stations, by their places.
struct Seen<'a, S> {
    queue: &'a Queue,
    edcaf: &'a Edcaf,
    members: &'a Members,
    stations: &'a S,
    source: &'a dyn MsduSource,
}

impl<S: Stations> Backlogs for Seen<'_, S> {
    fn of(&self, place: u32) -> StationView {
        let Self { queue, edcaf, members, stations, source } = *self;
        let (station, own) = (members.at(place), queue.of(edcaf, place));
        let waits = source.bytes_for(edcaf.node, edcaf.class, station);
        StationView { bytes: own.bytes() + waits, rate: stations.bit_rate(station) }
    }

    fn all(&self, into: &mut Vec<StationView>) {
        let Self { queue, edcaf, members, stations, source } = *self;
        let numbers = members.all();
        let idle = |&station| StationView { bytes: Bytes::ZERO, rate: stations.bit_rate(station) };
        into.extend(numbers.iter().map(idle));
        let mut waiting = into.iter_mut();
        source.bytes_for_each(edcaf.node, edcaf.class, numbers, &mut |bytes| {
            if let Some(view) = waiting.next() {
                view.bytes = bytes;
            }
        });
        queue.each_in_service(edcaf, |place, bytes| {
            if place != ALL {
                into[place as usize - 1].bytes += bytes;
            }
        });
    }
}

/// The users of a PPDU become those with these modes, whose data is not known yet.
#[cold]
fn seat<'a>(group: &mut MuExchange, shape: &Shape, modes: impl Iterator<Item = &'a Mode>) {
    let user = |(nth, mode): (usize, &Mode)| MuUser {
        ru: shape.data.plan()[nth],
        mcs: shape.mcs[nth],
        rate: shape.data.rate(nth),
        ..MuUser::of(*mode)
    };
    group.users.clear();
    group.users.extend(modes.enumerate().map(user));
}

impl Downlink {
    /// Assembles the next PPDU of the EDCAF of an access category, if it is for several users. If
    /// not, the EDCAF serves the station whose turn it is alone.
    pub(crate) fn assemble<S: Stations>(
        &mut self,
        category: u32,
        edcaf: &mut Edcaf,
        on: &mut Occasion<'_, S>,
    ) -> Option<Box<MuExchange>> {
        if edcaf.is_idle() {
            return None;
        }
        let queue = &mut self.queues[category as usize];
        self.lists.outlook = on.source.outlook(edcaf.node, edcaf.class);
        let waits = self.lists.outlook.to_all;
        if queue.turn_to_all(edcaf, on.now, on.rules, waits, on.source) {
            return None;
        }
        let channel = edcaf.part_for_several(on.stations.width(), on.rules);
        self.candidates(category, edcaf, on, channel);
        // Whom the EDCAF serves alone if the PPDU is none of several.
        let first = self.lists.found.first().copied();
        self.queues[category as usize].turn_to(edcaf, first.unwrap_or(ALL));
        let has_units = |place| on.stations.has_units(self.members.at(place));
        if !first.is_some_and(has_units) || edcaf.originator.goes_alone() {
            return None;
        }
        let mut group = self.spare.take().unwrap_or_else(|| Box::new(self.empty()));
        group.category = category as u8;
        while self.choose(category, edcaf, on, channel) {
            match self.fill(category, edcaf, on, &mut group) {
                Ok(place) => {
                    self.prepare(edcaf, place, &mut group, on.rules);
                    return Some(group);
                }
                Err(0) => break,
                // Another takes its place; it is served alone when it is the first.
                Err(nth) => {
                    self.lists.found.remove(nth);
                }
            }
        }
        self.spare = Some(group);
        None
    }

    /// The next PPDU of the EDCAF is this one.
    fn prepare(&self, edcaf: &mut Edcaf, place: usize, group: &mut MuExchange, rules: &Rules) {
        let shape = self.shapes.at(place);
        match group.opening {
            Some(rts) => edcaf.prepare_trigger(rules, rts.mode, rts.bytes),
            None => edcaf.prepare_group(rules, shape, group.psdu()),
        }
        group.adapts = self.lists.adapts;
        group.after = shape.after;
        group.shape = place;
    }

    /// Finds the stations with packets, in the order of the scheduler and as many as a PPDU may
    /// serve.
    fn candidates<S: Stations>(
        &mut self,
        category: u32,
        edcaf: &mut Edcaf,
        on: &mut Occasion<'_, S>,
        channel: Puncturing,
    ) {
        let Self { settings, queues, schedulers, lists, members, .. } = self;
        let Lists { order, found, .. } = lists;
        let queue = &mut queues[category as usize];
        order.clear();
        found.clear();
        let now = on.now;
        let seen = Seen { queue, edcaf, members, stations: on.stations, source: &*on.source };
        schedulers[category as usize].order(&View { now, channel, queues: &seen }, order);
        let (node, class) = (edcaf.node, edcaf.class);
        let most = settings.most_users(channel);
        for &place in order.iter() {
            let station = members.at(place);
            let is_single = !on.stations.has_units(station);
            if is_single && !found.is_empty() {
                continue;
            }
            let Some(originator) = queue.busy(edcaf, place, |own| {
                let first = on.source.first(node, class, Some(station));
                let Some(packet) = &first else { return false };
                own.begin_service(&on.rules.framing, now, packet, Some(station));
                true
            }) else {
                continue;
            };
            if originator.goes_alone() {
                // It is sent when it is the first.
                if found.is_empty() {
                    found.push(place);
                    break;
                }
                continue;
            }
            found.push(place);
            if is_single || found.len() as u32 == most {
                break;
            }
        }
    }

    /// Chooses those that the PPDU serves, with their resource units; returns whether there are
    /// enough.
    fn choose<S: Stations>(
        &mut self,
        category: u32,
        edcaf: &Edcaf,
        on: &mut Occasion<'_, S>,
        channel: Puncturing,
    ) -> bool {
        let now = on.now;
        let Self { settings, queues, schedulers, lists, members, modes, .. } = self;
        let Lists { found, sizes, parts, adapts, alone, .. } = lists;
        let queue = &queues[category as usize];
        let seen = Seen { queue, edcaf, members, stations: on.stations, source: &*on.source };
        sizes.clear();
        schedulers[category as usize].units(&View { now, channel, queues: &seen }, found, sizes);
        if sizes.is_empty() || (sizes.len() as u32) < settings.min_users {
            return false;
        }
        parts.clear();
        (*adapts, *alone) = (false, 0);
        let is_confined = edcaf.won.is_some();
        let of_station = |(nth, (&place, &size))| {
            let station = members.at(place);
            let rate = on.stations.rate(station);
            if rate.adapts() {
                *adapts = true;
                let choice = edcaf.select_mode(now, station, rate, false, on.out);
                *alone |= u128::from(choice.is_some_and(|choice| choice.alone)) << nth;
            }
            let number = if is_confined {
                modes.find(&mode_for_several(&rate.mode, channel, &on.rules.config))
            } else {
                modes.number(rate)
            };
            part(number, size)
        };
        parts.extend(found.iter().zip(&*sizes).enumerate().map(of_station));
        true
    }

    /// The place of the shape of the PPDU; `None` if there is no such PPDU.
    #[inline]
    fn place(&mut self, rules: &Rules) -> Option<usize> {
        let (parts, place, _) = &self.lists.last;
        if *parts == self.lists.parts { Some(*place) } else { self.find_place(rules) }
    }

    #[inline(never)]
    fn find_place(&mut self, rules: &Rules) -> Option<usize> {
        let Self { settings, shapes, modes, lists, .. } = self;
        let Lists { parts, sizes, members, last, .. } = lists;
        last.0.clear();
        members.clear();
        let member =
            |(&part, &size)| Member { mode: *modes.at(mode_of(part)), size, is_random: false };
        members.extend(parts.iter().zip(&*sizes).map(member));
        let place = shapes.place(members, |of: &[Member]| Shape::new(settings, rules, of))?;
        last.0.extend_from_slice(parts);
        last.1 = place;
        last.2 = last.2.wrapping_add(1);
        Some(place)
    }

    /// Assembles the A-MPDUs of the stations; returns the place of their shape, or that of the
    /// station that has no A-MPDU that fits.
    fn fill<S: Stations>(
        &mut self,
        category: u32,
        edcaf: &mut Edcaf,
        on: &mut Occasion<'_, S>,
        group: &mut MuExchange,
    ) -> Result<usize, usize> {
        let rules = on.rules;
        let place = self.place(rules).ok_or(0_usize)?;
        let Self { settings, queues, shapes, protected, lists, members, modes, .. } = self;
        let Lists { found, parts, adapts, alone, last: (.., number), outlook, .. } = lists;
        let (shape, queue) = (shapes.at(place), &mut queues[category as usize]);
        let limits = rules.framing.aggregation.ok_or(0_usize)?;
        let stations = found[..parts.len()].iter().map(|&place| members.at(place));
        group.opening = protected.opening(rules.timing(), &shape.slowest, stations);
        let around = shape.after + group.opening.map_or(Duration::ZERO, |rts| rts.lasts());
        let longest = on.within.saturating_sub(around).min(limits.duration);
        let last = shape.data.last_end(longest).ok_or(0_usize)?;
        // What follows from the parts is the same for all PPDUs with these.
        if group.parts != *number || group.users.len() != parts.len() {
            group.parts = *number;
            seat(group, shape, parts.iter().map(|&part| modes.at(mode_of(part))));
        }
        let (node, class) = (edcaf.node, edcaf.class);
        let most = settings.most_mpdus(limits.frames);
        let mut rooms = shape.data.rooms(last);
        for (nth, (user, &place)) in group.users.iter_mut().zip(found.iter()).enumerate() {
            let (station, room) = (members.at(place), rooms.next().unwrap_or(Bytes::ZERO));
            let bytes = settings.within(room.min(limits.bytes));
            let is_alone = *adapts && *alone >> nth & 1 == 1;
            let frames = if is_alone { 1 } else { most };
            let room = PsduLimits { frames, bytes };
            let originator = queue.of_mut(edcaf, place);
            let next = |most| {
                if most < outlook.least { None } else { on.source.next(node, class, station, most) }
            };
            let psdu = Edcaf::assemble_user(originator, on.now, rules, room, &user.mode, next);
            let psdu = psdu.ok_or(nth)?;
            user.load(station, place, psdu);
            user.on_air = settings.on_air(psdu.bytes);
        }
        (group.end, group.fields) = shape.data.ppdu(group.users.iter().map(|user| user.on_air));
        for (user, room) in group.users.iter_mut().zip(shape.data.rooms(group.end)) {
            user.room = room;
        }
        Ok(place)
    }

    fn empty(&self) -> MuExchange {
        MuExchange {
            category: 0,
            acknowledgement: self.settings.acknowledgement,
            opening: None,
            users: Vec::new(),
            fields: GroupFields::default(),
            end: DataEnd { symbols: 0, quarters: 4 },
            steps: Vec::new(),
            after: Duration::ZERO,
            shape: 0,
            parts: 0,
            adapts: false,
            is_complete: false,
        }
    }
}
