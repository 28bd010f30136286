//! Which stations a PPDU serves, and their A-MPDUs.

use super::{ALL, Groups};
use crate::cell::access::draw_lost;
use crate::cell::several::{Several, shares};
use crate::cell::{ACCESS_POINT, Cell, link_between};
use crate::mac::mu::scheduler::{StationView, View};
use crate::mac::mu::{Member, MuExchange, MuUser, Shape};
use crate::mac::{Bitmap, Edcaf, Originator, PsduLimits};
use crate::phy::Mode;
use crate::phy::he::{DataEnd, GroupFields, RuSize};
use crate::{Command, Mpdus, MsduSource};
use kernel::{Bytes, Duration, Instant};

/// A station that is served.
#[derive(Clone, Copy, Debug)]
struct Chosen {
    station: u32,
    member: Member,
    /// Its PSDU has one MPDU only.
    alone: bool,
}

impl Cell {
    /// Assembles a PPDU to several users, whose exchange lasts no longer than `within`. Returns
    /// whether there is one: if not, the EDCAF serves the station whose turn it is alone.
    #[cold]
    #[inline(never)]
    pub(in crate::cell) fn assemble_group(
        &mut self,
        now: Instant,
        f: u32,
        within: Duration,
        source: &mut dyn MsduSource,
        out: &mut Vec<Command>,
    ) -> bool {
        let Some(mut groups) = self.groups.take() else { return false };
        let is_own = f < self.rules.per_node;
        let assembled = is_own && self.assemble_users(&mut groups, now, f, within, source, out);
        self.groups = Some(groups);
        assembled
    }

    fn assemble_users(
        &mut self,
        groups: &mut Groups,
        now: Instant,
        f: u32,
        within: Duration,
        source: &mut dyn MsduSource,
        out: &mut Vec<Command>,
    ) -> bool {
        let (queue, edcaf) = (&mut groups.queues[f as usize], &mut self.edcafs[f as usize]);
        if edcaf.is_idle() || queue.turn_to_all(edcaf, now, &self.rules, source) {
            return false;
        }
        let mut found = self.candidates(groups, now, f, source);
        let (queue, edcaf) = (&mut groups.queues[f as usize], &mut self.edcafs[f as usize]);
        // Whom the EDCAF serves alone if the PPDU is none of several.
        let first = found.first().copied();
        queue.turn_to(edcaf, first.unwrap_or(ALL));
        if goes_alone(&edcaf.originator) || !first.is_some_and(|first| self.has_units(first)) {
            return false;
        }
        let mut group = groups.spare.take().unwrap_or_else(|| empty(groups));
        group.category = f as u8;
        while let Some(chosen) = self.choose(groups, now, f, &found, out) {
            match self.fill(groups, now, f, within, &chosen, source, &mut group) {
                Ok(place) => {
                    self.prepare(groups, f, place, group);
                    return true;
                }
                Err(0) => break,
                // Another takes its place; it is served alone when it is the first.
                Err(nth) => found.retain(|&station| station != chosen[nth].station),
            }
        }
        groups.spare = Some(group);
        false
    }

    /// The next PPDU of the EDCAF is this one.
    fn prepare(&mut self, groups: &mut Groups, f: u32, place: usize, mut group: MuExchange) {
        let shape = groups.shapes.at(place);
        let bytes = Bytes(group.users.iter().map(|user| user.on_air.0).sum());
        let edcaf = &mut self.edcafs[f as usize];
        match group.opening {
            Some(rts) => edcaf.prepare_trigger(&self.rules, rts.mode, rts.bytes),
            None => edcaf.prepare_group(&self.rules, shape, bytes),
        }
        group.after = shape.after;
        group.shape = place;
        self.several = Some((f, Several::Group(group)));
    }

    /// What waits for each station, if the scheduler looks at it.
    fn look(&self, groups: &mut Groups, f: u32, source: &dyn MsduSource) {
        let Groups { queues, views, .. } = groups;
        let (queue, edcaf) = (&queues[f as usize], &self.edcafs[f as usize]);
        views.clear();
        if !queue.scheduler.looks() {
            return;
        }
        views.extend((0..self.nodes.len() as u32).map(|station| {
            let mut view =
                StationView { served: queue.served[station as usize], ..Default::default() };
            if station != ACCESS_POINT {
                view.rate = self.mode(ACCESS_POINT, station).rate;
            }
            queue.of(edcaf, station).serving().for_each(|(packet, _)| view.add(packet));
            view
        }));
        source.each(edcaf.node, edcaf.class, &mut |to, packet| views[to as usize].add(packet));
    }

    /// The stations with packets, in the order of the scheduler and as many as a PPDU may serve.
    fn candidates(
        &mut self,
        groups: &mut Groups,
        now: Instant,
        f: u32,
        source: &mut dyn MsduSource,
    ) -> Vec<u32> {
        self.look(groups, f, source);
        let Groups { settings, queues, order, views, .. } = groups;
        let queue = &mut queues[f as usize];
        order.clear();
        let width = self.group_width();
        queue.scheduler.order(&View { now, width, stations: views }, order);
        let (node, class) = (self.edcaf(f).node, self.edcaf(f).class);
        let most = settings.most_users(width);
        let mut found: Vec<u32> = Vec::new();
        for &station in order.iter() {
            let is_single = !self.has_units(station);
            if is_single && !found.is_empty() {
                continue;
            }
            let edcaf = &mut self.edcafs[f as usize];
            let originator = queue.of_mut(edcaf, station);
            if originator.is_idle() {
                let Some(packet) = source.first(node, class, Some(station)) else { continue };
                originator.begin_service(&self.rules.framing, now, packet, Some(station));
            }
            if goes_alone(originator) {
                // It is sent when it is the first.
                if found.is_empty() {
                    found.push(station);
                    break;
                }
                continue;
            }
            found.push(station);
            if is_single || found.len() as u32 == most {
                break;
            }
        }
        found
    }

    /// Those that the PPDU serves, with their resource units; `None` if it is for one.
    fn choose(
        &mut self,
        groups: &mut Groups,
        now: Instant,
        f: u32,
        found: &[u32],
        out: &mut Vec<Command>,
    ) -> Option<Vec<Chosen>> {
        let width = self.group_width();
        let Groups { settings, queues, views, sizes, .. } = groups;
        let view = View { now, width, stations: views };
        sizes.clear();
        queues[f as usize].scheduler.units(&view, found, sizes);
        if sizes.is_empty() || (sizes.len() as u32) < settings.min_users {
            return None;
        }
        let edcaf = &self.edcafs[f as usize];
        let choose = |(&station, &size): (&u32, &RuSize)| {
            let rate = Self::rate_to(&mut self.rates, station);
            let (mode, alone) = edcaf.mode_to(now, station, rate, out);
            Chosen { station, member: Member { mode, size, is_random: false }, alone }
        };
        Some(found.iter().zip(sizes.iter()).map(choose).collect())
    }

    /// Assembles the A-MPDUs of the stations; returns the place of their shape, or that of the
    /// station that has no A-MPDU that fits.
    #[expect(clippy::too_many_arguments, reason = "the state of one assembly")]
    fn fill(
        &mut self,
        groups: &mut Groups,
        now: Instant,
        f: u32,
        within: Duration,
        chosen: &[Chosen],
        source: &mut dyn MsduSource,
        group: &mut MuExchange,
    ) -> Result<usize, usize> {
        let Groups { settings, queues, shapes, protected, .. } = groups;
        let members: Vec<Member> = chosen.iter().map(|each| each.member).collect();
        let shape = |of: &[Member]| Shape::new(settings, &self.rules, of);
        let place = shapes.place(&members, shape).ok_or(0_usize)?;
        let (shape, queue) = (shapes.at(place), &mut queues[f as usize]);
        let limits = self.rules.framing.aggregation.ok_or(0_usize)?;
        let stations = chosen.iter().map(|each| each.station);
        group.opening = protected.opening(self.rules.timing(), &shape.slowest, stations);
        let around = shape.after + group.opening.map_or(Duration::ZERO, |rts| rts.lasts());
        let longest = within.saturating_sub(around).min(limits.duration);
        let last = shape.data.last_end(longest).ok_or(0_usize)?;
        group.users.clear();
        let edcaf = &mut self.edcafs[f as usize];
        let (node, class) = (edcaf.node, edcaf.class);
        for (nth, each) in chosen.iter().enumerate() {
            let mode: &Mode = &each.member.mode;
            let bytes = settings.within(shape.data.room(nth, last).min(limits.bytes));
            let frames = if each.alone { 1 } else { limits.frames };
            let room = PsduLimits { frames, bytes };
            let originator = queue.of_mut(edcaf, each.station);
            let next = |most| source.next(node, class, each.station, most);
            let psdu = Edcaf::assemble_user(originator, now, &self.rules, room, mode, next);
            let psdu = psdu.ok_or(nth)?;
            group.users.push(MuUser {
                station: each.station,
                ru: shape.data.plan()[nth],
                mcs: shape.mcs[nth],
                rate: shape.data.rate(nth),
                mode: *mode,
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

    /// Draws what noise destroys of the exchange, and begins it.
    pub(in crate::cell) fn begin_group(
        &mut self,
        now: Instant,
        f: u32,
        mut group: MuExchange,
        out: &mut Vec<Command>,
    ) {
        self.draw_group(&mut group);
        let unlimited = Instant(u64::MAX);
        let until = self.txop.as_ref().map_or(unlimited, |txop| now + txop.left(now));
        let Some(groups) = &mut self.groups else { return };
        groups.note_sent(now, f, &group);
        let (timing, shape) = (self.rules.timing(), groups.shapes.at(group.shape));
        let start = now + group.opening.map_or(Duration::ZERO, |rts| rts.lasts());
        let mut laid = group.lay_out(timing, shape, start, ACCESS_POINT, until);
        if let Some(rts) = &group.opening {
            laid.open(rts.steps(now));
        }
        self.count_group(f, &group);
        self.occupy(laid, f, true);
        out.push(Command::Began);
        self.report_users(f, &group, laid.end - laid.start, false, out);
        out.push(Command::Step(start + group.airtime().total()));
        self.several = Some((f, Several::Group(group)));
        self.note_down();
    }

    /// Draws what each user receives, and what the access point receives of each.
    fn draw_group(&mut self, group: &mut MuExchange) {
        use crate::mac::Acknowledgement::BarChain;
        let how = group.acknowledgement;
        for (nth, user) in group.users.iter_mut().enumerate() {
            let link = &self.links[link_between(ACCESS_POINT, user.station)];
            let noise = &mut self.nodes[user.station as usize].noise;
            draw_lost(noise, link.data_loss, user.mpdus(), &mut user.lost);
            // The first user of a chain is asked by its data.
            let by_data = how == BarChain && nth == 0;
            user.is_asked = if by_data { user.arrives() } else { !noise.chance(link.ack_loss) };
            let noise = &mut self.nodes[ACCESS_POINT as usize].noise;
            user.is_answered = user.is_asked && !noise.chance(link.ack_loss);
        }
    }

    /// Reports the airtime of each user: its share of the exchange is that of its tones. If the
    /// exchange `collides`, nothing arrives.
    pub(super) fn report_users(
        &self,
        f: u32,
        group: &MuExchange,
        used: Duration,
        collides: bool,
        out: &mut Vec<Command>,
    ) {
        let tones = group.users.iter().map(|user| user.ru.size.tones());
        for (user, used) in group.users.iter().zip(shares(used, tones)) {
            let originator = self.originator_to(f, user.station);
            let mpdus = Mpdus::of(user.mpdus(), originator.repeated());
            let (node, peer) = (ACCESS_POINT, Some(user.station));
            let arrived = !collides && user.arrives();
            out.push(Command::ExchangeSent { node, peer, used, arrived, mpdus });
        }
    }
}

/// Whether the next frame to a station is a BlockAckReq, or a frame of the MAC.
fn goes_alone(originator: &Originator) -> bool {
    originator.owes_request() || originator.management().is_some()
}

fn empty(groups: &Groups) -> MuExchange {
    MuExchange {
        category: 0,
        acknowledgement: groups.settings.acknowledgement,
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
