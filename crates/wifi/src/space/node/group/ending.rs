//! The end of an exchange with several users.

use super::super::own::{Exchange, Own};
use super::{Node, OfNode};
use crate::Command;
use crate::mac::Originator;
use crate::mac::mu::{Ending, MuUser};
use crate::space::rules::SpaceRules;
use kernel::{Duration, Instant};

/// An exchange with several stations that is over.
pub(in crate::space::node) struct Closed {
    /// Its EDCAF.
    pub(in crate::space::node) index: usize,
    /// How long it took, up to the last frame of the access point if an answer is missing.
    pub(in crate::space::node) used: Duration,
    /// The TXOP goes on.
    pub(in crate::space::node) goes_on: bool,
}

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
        if self.group().is_none() {
            return;
        }
        let Some(Closed { index, used, goes_on }) = self.close(now, is_complete, rules) else {
            return;
        };
        let Some(mut groups) = self.groups.take() else { return };
        let Some(mut group) = groups.current.take() else { return self.groups = Some(groups) };
        if groups.end_opening() {
            group.users.iter_mut().for_each(|user| user.is_sent = false);
        }
        let is_answered = group.is_answered();
        group.report(self.id, used, MuUser::is_answered, out);
        let edcaf = &mut self.contenders[index].edcaf;
        let (width, levels) = (groups.width, &rules.levels);
        let stations = &mut OfNode { width, peers: &mut self.peers, levels };
        let acked = |nth: usize, _: &MuUser, _: &Originator| groups.acked[nth];
        let (mac, settled) = (&rules.mac, &mut self.settled);
        let ending = Ending { now, rules: mac, stations, acked, settled };
        groups.downlink.settle(index as u32, edcaf, &group, is_answered, ending);
        if goes_on {
            groups.downlink.protected.add(group.protects());
        }
        groups.downlink.keep_spare(group);
        self.groups = Some(groups);
        self.note_failure(!is_answered);
        if !goes_on {
            self.activate(index).back_off(&rules.mac);
        }
        self.settle(out);
    }

    /// An exchange with several stations is over, in either direction.
    pub(in crate::space::node) fn close(
        &mut self,
        now: Instant,
        is_complete: bool,
        rules: &SpaceRules,
    ) -> Option<Closed> {
        let &Exchange { edcaf: index, opened, txop } = self.own.exchange()?;
        let last = self.own.awaited().map_or(now, |awaited| awaited.since);
        self.exchanges = self.exchanges.wrapping_add(1);
        let sifs = rules.timing().sifs();
        let goes_on = is_complete && self.own.end_exchange(txop, now, sifs);
        if !is_complete {
            self.own = Own::Idle;
            for contender in &mut self.contenders {
                contender.slots.wait_until(now);
            }
        }
        self.counters.exchanges.decide();
        let used = if is_complete { now } else { last } - opened;
        Some(Closed { index, used, goes_on })
    }

    /// The attempt has failed: if its first frame has arrived at somebody, by noise. Of an MU-RTS
    /// without a CTS, the loss of the CTSs is told.
    pub(in crate::space::node) fn note_failure(&mut self, is_failure: bool) {
        let has_arrived = self.groups.as_ref().is_some_and(|groups| groups.has_arrived);
        self.counters.exchanges.noise_losses += u64::from(is_failure && has_arrived);
    }
}
