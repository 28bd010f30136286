//! A PPDU to several users is assembled, and begins.

use super::OfCell;
use crate::cell::access::draw_lost;
use crate::cell::several::Several;
use crate::cell::{ACCESS_POINT, Cell, link_between};
use crate::mac::mu::{MuExchange, MuUser, Occasion};
use crate::{Command, MsduSource};
use kernel::{Duration, Instant};

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
        let width = self.group_width();
        let Self { groups, edcafs, rates, rules, .. } = self;
        let Some(groups) = groups.as_mut().filter(|_| f < rules.per_node) else { return false };
        let stations = &mut OfCell { width, rates };
        let mut on = Occasion { now, within, rules, stations, source, out };
        let Some(group) = groups.downlink.assemble(f, &mut edcafs[f as usize], &mut on) else {
            return false;
        };
        self.several = Some((f, Several::Group(group)));
        true
    }

    /// Draws what noise destroys of the exchange, and begins it.
    pub(in crate::cell) fn begin_group(
        &mut self,
        now: Instant,
        f: u32,
        mut group: Box<MuExchange>,
        out: &mut Vec<Command>,
    ) {
        self.draw_group(&mut group);
        let unlimited = Instant(u64::MAX);
        let until = self.txop.as_ref().map_or(unlimited, |txop| now + txop.left(now));
        let Some(groups) = &mut self.groups else { return };
        let (timing, shape) = (self.rules.timing(), groups.downlink.shape(&group));
        let start = now + group.opening.map_or(Duration::ZERO, |rts| rts.lasts());
        let mut laid = group.lay_out(timing, shape, start, ACCESS_POINT, until);
        if let Some(rts) = &group.opening {
            laid.open(rts.steps(now));
        }
        self.count_group(&group);
        let used = laid.end - laid.start;
        self.occupy(laid, f, true);
        out.push(Command::Began);
        group.report(ACCESS_POINT, used, MuUser::arrives, out);
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
            let mpdus = user.mpdus();
            draw_lost(noise, link.data_loss, mpdus, &mut user.lost);
            user.arrives = user.lost.count() < u32::from(mpdus);
            // The first user of a chain is asked by its data.
            let by_data = how == BarChain && nth == 0;
            user.is_asked = if by_data { user.arrives() } else { !noise.chance(link.ack_loss) };
            let noise = &mut self.nodes[ACCESS_POINT as usize].noise;
            user.is_answered = user.is_asked && !noise.chance(link.ack_loss);
        }
    }
}
