//! Which stations a PPDU serves, and their A-MPDUs.

use super::queue::ALL;
use super::{Downlink, Occasion};
use crate::mac::mu::scheduler::{StationView, View};
use crate::mac::mu::{Member, MuExchange, MuUser, Shape};
use crate::mac::{Bitmap, Edcaf, Originator, PsduLimits};
use crate::phy::he::{DataEnd, GroupFields, RuSize};
use kernel::{Bytes, Duration};

/// The lists of one assembly, which are used again.
#[derive(Debug, Default)]
pub(super) struct Lists {
    order: Vec<u32>,
    sizes: Vec<RuSize>,
    /// The places of the stations with packets.
    found: Vec<u32>,
    /// What the PPDU has for each of the first of them.
    members: Vec<Member>,
    /// Whether the PSDU of each has one MPDU only.
    alone: Vec<bool>,
}

impl Downlink {
    /// Assembles the next PPDU of the EDCAF of an access category, if it is for several users. If
    /// not, the EDCAF serves the station whose turn it is alone.
    pub(crate) fn assemble(
        &mut self,
        category: u32,
        edcaf: &mut Edcaf,
        on: &mut Occasion<'_>,
    ) -> Option<MuExchange> {
        let queue = &mut self.queues[category as usize];
        if edcaf.is_idle() || queue.turn_to_all(edcaf, on.now, on.rules, on.source) {
            return None;
        }
        self.candidates(category, edcaf, on);
        // Whom the EDCAF serves alone if the PPDU is none of several.
        let first = self.lists.found.first().copied();
        self.queues[category as usize].turn_to(edcaf, first.unwrap_or(ALL));
        let has_units = |place| on.stations.has_units(self.members.at(place));
        if goes_alone(&edcaf.originator) || !first.is_some_and(has_units) {
            return None;
        }
        let mut group = self.spare.take().unwrap_or_else(|| self.empty());
        group.category = category as u8;
        while self.choose(category, edcaf, on) {
            match self.fill(category, edcaf, on, &mut group) {
                Ok(place) => {
                    self.prepare(edcaf, place, &mut group, on);
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
    fn prepare(
        &self,
        edcaf: &mut Edcaf,
        place: usize,
        group: &mut MuExchange,
        Occasion { rules, .. }: &Occasion<'_>,
    ) {
        let shape = self.shapes.at(place);
        let bytes = Bytes(group.users.iter().map(|user| user.on_air.0).sum());
        match group.opening {
            Some(rts) => edcaf.prepare_trigger(rules, rts.mode, rts.bytes),
            None => edcaf.prepare_group(rules, shape, bytes),
        }
        group.after = shape.after;
        group.shape = place;
    }

    /// What waits for each station, if the scheduler looks at it.
    fn look(&mut self, category: u32, edcaf: &Edcaf, on: &mut Occasion<'_>) {
        let Self { queues, views, members, .. } = self;
        let queue = &queues[category as usize];
        views.clear();
        if !queue.scheduler.looks() {
            return;
        }
        views.extend((0..queue.served.len() as u32).map(|place| {
            let mut view =
                StationView { served: queue.served[place as usize], ..Default::default() };
            if place != ALL {
                view.rate = on.stations.rate(members.at(place)).mode.rate;
            }
            let in_service = queue.of(edcaf, place).serving();
            view.bytes = in_service.map(|(packet, _)| packet.size).sum();
            if place != ALL {
                view.bytes += on.source.bytes_for(edcaf.node, edcaf.class, members.at(place));
            }
            view
        }));
    }

    /// Finds the stations with packets, in the order of the scheduler and as many as a PPDU may
    /// serve.
    fn candidates(&mut self, category: u32, edcaf: &mut Edcaf, on: &mut Occasion<'_>) {
        self.look(category, edcaf, on);
        let Self { settings, queues, lists, views, members, .. } = self;
        let Lists { order, found, .. } = lists;
        let queue = &mut queues[category as usize];
        order.clear();
        found.clear();
        let (now, width) = (on.now, on.stations.width());
        queue.scheduler.order(&View { now, width, stations: views }, order);
        let (node, class) = (edcaf.node, edcaf.class);
        let most = settings.most_users(width);
        for &place in order.iter() {
            let station = members.at(place);
            let is_single = !on.stations.has_units(station);
            if is_single && !found.is_empty() {
                continue;
            }
            let originator = queue.of_mut(edcaf, place);
            if originator.is_idle() {
                let Some(packet) = on.source.first(node, class, Some(station)) else { continue };
                originator.begin_service(&on.rules.framing, now, packet, Some(station));
            }
            if goes_alone(originator) {
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
    fn choose(&mut self, category: u32, edcaf: &Edcaf, on: &mut Occasion<'_>) -> bool {
        let (now, width) = (on.now, on.stations.width());
        let Self { settings, queues, views, lists, members: stations, .. } = self;
        let Lists { found, sizes, members, alone, .. } = lists;
        let view = View { now, width, stations: views };
        sizes.clear();
        queues[category as usize].scheduler.units(&view, found, sizes);
        if sizes.is_empty() || (sizes.len() as u32) < settings.min_users {
            return false;
        }
        members.clear();
        alone.clear();
        for (&place, &size) in found.iter().zip(sizes.iter()) {
            let station = stations.at(place);
            let (mode, is_alone) = edcaf.mode_to(now, station, on.stations.rate(station), on.out);
            members.push(Member { mode, size, is_random: false });
            alone.push(is_alone);
        }
        true
    }

    /// Assembles the A-MPDUs of the stations; returns the place of their shape, or that of the
    /// station that has no A-MPDU that fits.
    fn fill(
        &mut self,
        category: u32,
        edcaf: &mut Edcaf,
        on: &mut Occasion<'_>,
        group: &mut MuExchange,
    ) -> Result<usize, usize> {
        let Self { settings, queues, shapes, protected, lists, members: numbers, .. } = self;
        let Lists { found, members, alone, .. } = lists;
        let rules = on.rules;
        let shape = |of: &[Member]| Shape::new(settings, rules, of);
        let place = shapes.place(members, shape).ok_or(0_usize)?;
        let (shape, queue) = (shapes.at(place), &mut queues[category as usize]);
        let limits = rules.framing.aggregation.ok_or(0_usize)?;
        let stations = found[..members.len()].iter().map(|&place| numbers.at(place));
        group.opening = protected.opening(rules.timing(), &shape.slowest, stations);
        let around = shape.after + group.opening.map_or(Duration::ZERO, |rts| rts.lasts());
        let longest = on.within.saturating_sub(around).min(limits.duration);
        let last = shape.data.last_end(longest).ok_or(0_usize)?;
        group.users.clear();
        let (node, class) = (edcaf.node, edcaf.class);
        for (nth, (&place, &Member { mode, .. })) in found.iter().zip(members.iter()).enumerate() {
            let station = numbers.at(place);
            let bytes = settings.within(shape.data.room(nth, last).min(limits.bytes));
            let frames = if alone[nth] { 1 } else { limits.frames };
            let room = PsduLimits { frames, bytes };
            let originator = queue.of_mut(edcaf, place);
            let next = |most| on.source.next(node, class, station, most);
            let psdu = Edcaf::assemble_user(originator, on.now, rules, room, &mode, next);
            let psdu = psdu.ok_or(nth)?;
            group.users.push(MuUser {
                station,
                ru: shape.data.plan()[nth],
                mcs: shape.mcs[nth],
                rate: shape.data.rate(nth),
                mode,
                on_air: settings.on_air(psdu.bytes),
                room: Bytes::ZERO,
                psdu,
                lost: Bitmap::default(),
                is_asked: false,
                is_answered: false,
                is_sent: true,
            });
        }
        (group.end, group.fields) = shape.data.ppdu(group.users.iter().map(|user| user.on_air));
        for (nth, user) in group.users.iter_mut().enumerate() {
            user.room = shape.data.room(nth, group.end);
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
            is_complete: false,
        }
    }
}

/// Whether the next frame to a station is a BlockAckReq, or a frame of the MAC.
fn goes_alone(originator: &Originator) -> bool {
    originator.owes_request() || originator.management().is_some()
}
