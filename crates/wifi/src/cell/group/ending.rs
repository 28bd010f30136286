//! What the end of a PPDU to several users, and of its exchange, means for them.

use super::{Groups, OfCell};
use crate::Command;
use crate::cell::several::Several;
use crate::cell::{Cell, CellNode};
use crate::mac::Originator;
use crate::mac::mu::{Ending, MuExchange, MuUser};
use kernel::{Duration, Instant};
use wire::Packet;

impl Cell {
    /// Each user receives its MPDUs, without those that noise destroys.
    pub(in crate::cell) fn receive_group(
        &mut self,
        f: u32,
        group: &MuExchange,
        out: &mut Vec<Command>,
    ) {
        // The EDCAFs of the access point are the first.
        let inbox = f as usize;
        let Some(Groups { downlink, .. }) = self.groups.as_deref_mut() else { return };
        let edcaf = &mut self.edcafs[f as usize];
        let from = edcaf.node;
        for user in group.users.iter().filter(|user| user.arrives()) {
            let originator = downlink.of_user_mut(f, edcaf, user);
            let CellNode { recipients, counters, .. } = &mut self.nodes[user.station as usize];
            let (recipient, node) = (&mut recipients[inbox], user.station);
            let mut deliver =
                |packet: &Packet| out.push(Command::Deliver { node, from, packet: *packet });
            // As `Cell::receive`, which is measurably slower in one function with this.
            for index in 0..user.mpdus() {
                if user.is_lost(index) {
                    continue;
                }
                let (sequence, mpdu) = originator.receive(usize::from(index));
                if !recipient.on_mpdu(sequence, originator.packets_of(&mpdu), &mut deliver) {
                    counters.exchanges.duplicates += 1;
                }
            }
        }
    }

    /// The attempt to each user ends, and then that of the EDCAF.
    pub(in crate::cell) fn settle_group(
        &mut self,
        now: Instant,
        f: u32,
        group: &MuExchange,
        is_answered: bool,
        out: &mut Vec<Command>,
    ) {
        let width = self.group_width();
        let Self { groups, edcafs, rates, rules, nodes, settled, .. } = self;
        let Some(Groups { downlink, .. }) = groups.as_deref_mut() else { return };
        // The EDCAFs of the access point are the first.
        let acked = |_, user: &MuUser, originator: &Originator| {
            let recipient = &nodes[user.station as usize].recipients[f as usize];
            user.is_answered.then(|| recipient.block_ack(originator.start()))
        };
        let stations = &mut OfCell { width, rates };
        let ending = Ending { now, rules, stations, acked, settled };
        downlink.settle(f, &mut edcafs[f as usize], group, is_answered, ending);
        self.settle(f, out);
    }

    /// Reports the airtime that each user has of a collision. Returns whether it has users.
    #[cold]
    #[inline(never)]
    pub(in crate::cell) fn report_collided_group(
        &self,
        f: u32,
        used: Duration,
        out: &mut Vec<Command>,
    ) -> bool {
        let Some(Several::Group(group)) = self.several_of(f) else { return false };
        group.report(self.node_of(f), used, |_| false, out);
        true
    }
}
