//! What the end of an exchange means for its users.

use super::{Downlink, Stations};
use crate::Command;
use crate::mac::mu::{MuExchange, MuUser, shares};
use crate::mac::{Bitmap, Edcaf, Originator, Rules, Settled};
use kernel::{Duration, Instant};

/// How an exchange has ended, as its medium knows it.
pub(crate) struct Ending<'a, S, A> {
    pub(crate) now: Instant,
    pub(crate) rules: &'a Rules,
    pub(crate) stations: &'a mut S,
    /// What the BlockAck of a user, with this place and this originator, acknowledges.
    pub(crate) acked: A,
    /// The packets whose service ends.
    pub(crate) settled: &'a mut Vec<Settled>,
}

impl Downlink {
    /// The attempt of an EDCAF to its users ends: that to each, and its own. It has failed if none
    /// of them has answered.
    pub(crate) fn settle<S, A>(
        &mut self,
        category: u32,
        edcaf: &mut Edcaf,
        group: &MuExchange,
        is_answered: bool,
        Ending { now, rules, stations, acked, settled }: Ending<'_, S, A>,
    ) where
        S: Stations,
        A: Fn(usize, &MuUser, &Originator) -> Option<Bitmap>,
    {
        let drops = edcaf.end_group(rules, is_answered);
        for (nth, user) in group.users.iter().enumerate() {
            let originator = self.of_user_mut(category, edcaf, user);
            let acked = acked(nth, user, originator);
            let answer = user.end(now, rules, originator, acked.as_ref(), settled);
            if group.adapts && stations.rate(user.station).adapts() {
                let snr = stations.snr(user.station);
                user.report(now, answer, snr, stations.rate(user.station));
            }
            if drops {
                originator.on_retry_limit(&rules.framing, settled);
            }
            if originator.leaves() {
                originator.flush(&rules.framing, true, settled);
            }
        }
        if let Some(last) = group.users.last() {
            self.queues[category as usize].turn_to(edcaf, last.place);
            edcaf.psdu = last.psdu;
        }
    }
}

impl MuExchange {
    /// Reports the airtime of each user: its share of the exchange is that of its tones.
    pub(crate) fn report(
        &self,
        node: u32,
        used: Duration,
        arrives: impl Fn(&MuUser) -> bool,
        out: &mut Vec<Command>,
    ) {
        let tones = self.users.iter().map(|user| user.ru.size.tones());
        let report = |(user, used): (&MuUser, Duration)| {
            let (peer, arrived, mpdus) = (Some(user.station), arrives(user), user.told());
            Command::ExchangeSent { node, peer, used, arrived, mpdus }
        };
        out.extend(self.users.iter().zip(shares(used, tones)).map(report));
    }
}
