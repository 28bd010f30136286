//! The end of an exchange with several users.

use super::super::own::{Exchange, Own};
use super::super::peer_mut;
use super::{Node, NodeGroups};
use crate::mac::Edcaf;
use crate::mac::mu::{Downlink, MuExchange, shares};
use crate::space::rules::SpaceRules;
use crate::{Command, Mpdus};
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
        let ended = if is_complete { now } else { last };
        self.report_users(&groups.downlink, &group, &exchange, ended, out);
        self.counters.exchanges.decide();
        if !is_answered && groups.has_arrived {
            self.counters.exchanges.noise_losses += 1;
        }
        self.settle_users(now, &mut groups, &group, exchange.edcaf, rules);
        groups.downlink.keep_spare(group);
        self.groups = Some(groups);
        if !goes_on {
            self.activate(exchange.edcaf).back_off(&rules.mac);
        }
        self.settle(out);
    }

    /// The attempt to each user ends, and then that of the EDCAF.
    fn settle_users(
        &mut self,
        now: Instant,
        groups: &mut NodeGroups,
        group: &MuExchange,
        index: usize,
        rules: &SpaceRules,
    ) {
        let edcaf = &mut self.contenders[index].edcaf;
        let (f, mac, settled) = (index as u32, &rules.mac, &mut self.settled);
        let drops = edcaf.end_group(mac, group.is_answered());
        for (user, acked) in group.users.iter().zip(&groups.acked) {
            let originator = groups.downlink.originator_mut(f, edcaf, user.station);
            let Some(peer) = peer_mut(&mut self.peers, user.station) else { continue };
            user.end(now, mac, originator, acked.as_ref(), &mut peer.rate, settled);
            if drops {
                originator.on_retry_limit(&mac.framing, settled);
            }
        }
        if let Some(last) = group.users.last() {
            groups.downlink.turn_to(f, edcaf, Some(last.station));
            edcaf.psdu = last.psdu;
        }
    }

    /// Reports the airtime of each user: its share of the exchange is that of its tones.
    fn report_users(
        &self,
        downlink: &Downlink,
        group: &MuExchange,
        exchange: &Exchange,
        ended: Instant,
        out: &mut Vec<Command>,
    ) {
        let tones = group.users.iter().map(|user| user.ru.size.tones());
        let edcaf: &Edcaf = self.edcaf(exchange.edcaf);
        for (user, used) in group.users.iter().zip(shares(ended - exchange.opened, tones)) {
            let originator = downlink.originator(exchange.edcaf as u32, edcaf, user.station);
            let mpdus = Mpdus::of(user.mpdus(), originator.repeated());
            let (node, peer, arrived) = (self.id, Some(user.station), user.is_answered());
            out.push(Command::ExchangeSent { node, peer, used, arrived, mpdus });
        }
    }
}
