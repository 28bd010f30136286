//! Packets in service of a node.

use super::{EdcafState, Node, has};
use crate::Command;
use crate::space::rules::SpaceRules;
use kernel::Instant;
use wire::Packet;

impl Node {
    /// Takes a packet into service.
    pub(in crate::space) fn begin_service(
        &mut self,
        now: Instant,
        packet: &Packet,
        to: Option<u32>,
        rules: &SpaceRules,
    ) {
        let index = rules.mac.category_of(packet.class) as usize;
        if self.groups.is_some() {
            self.turn_to(index, to);
        }
        self.activate(index).edcaf.begin_service(now, packet, to, &rules.mac);
        // The holder of a TXOP transmits a SIFS after its last exchange. What does not contend
        // draws no back-off.
        if self.own.goes_on(index) || has(self.muted, index) {
            return;
        }
        let contender = &mut self.contenders[index];
        if contender.slots.wants_backoff(now, &self.carrier) {
            contender.back_off(&rules.mac);
        }
        self.listen(now);
    }

    /// Flushes the packets in service for a node that has left.
    pub(in crate::space) fn flush(&mut self, to: u32, rules: &SpaceRules, out: &mut Vec<Command>) {
        self.quiet = false;
        let Self { contenders, own, groups, settled, .. } = self;
        for (index, EdcafState { edcaf, .. }) in contenders.iter_mut().enumerate() {
            let is_on_air = own.edcaf() == Some(index);
            match groups {
                Some(groups) => groups.flush(index, edcaf, to, is_on_air, rules, settled),
                None => edcaf.flush(&rules.mac, to, is_on_air, settled),
            }
        }
        self.settle(out);
    }
}
