//! The end of an exchange with several users.

use super::super::own::Own;
use super::{Node, OfNode};
use crate::Command;
use crate::mac::Originator;
use crate::mac::mu::{Ending, MuUser};
use crate::space::rules::SpaceRules;
use kernel::Instant;

impl Node {
    /// The exchange with several users is over. `is_complete`: the last response that was expected
    /// has come.
    pub(super) fn end_group(
        &mut self,
        now: Instant,
        is_complete: bool,
        rules: &SpaceRules,
        out: &mut Vec<Command>,
    ) {
        let Some(&exchange) = self.own.exchange() else { return };
        let Some(mut groups) = self.groups.take() else { return };
        let Some(group) = groups.current.take() else { return self.groups = Some(groups) };
        let last = self.own.awaited().map_or(now, |awaited| awaited.since);
        self.exchanges = self.exchanges.wrapping_add(1);
        let is_answered = group.is_answered();
        let sifs = rules.timing().sifs();
        let goes_on = is_complete && self.own.end_exchange(exchange.txop, now, sifs);
        if !is_complete {
            self.own = Own::Idle;
            for contender in &mut self.contenders {
                contender.slots.wait_until(now);
            }
        }
        let used = if is_complete { now } else { last } - exchange.opened;
        let (f, edcaf) = (exchange.edcaf as u32, &mut self.contenders[exchange.edcaf].edcaf);
        group.report(edcaf.node, used, MuUser::is_answered, out);
        self.counters.exchanges.decide();
        if !is_answered && groups.has_arrived {
            self.counters.exchanges.noise_losses += 1;
        }
        let stations = &mut OfNode { width: groups.width, peers: &mut self.peers };
        let acked = |nth: usize, _: &MuUser, _: &Originator| groups.acked[nth];
        let (mac, settled) = (&rules.mac, &mut self.settled);
        let ending = Ending { now, rules: mac, stations, acked, settled };
        groups.downlink.settle(f, edcaf, &group, is_answered, ending);
        groups.downlink.keep_spare(group);
        self.groups = Some(groups);
        if !goes_on {
            self.activate(exchange.edcaf).back_off(&rules.mac);
        }
        self.settle(out);
    }
}
