//! Exchanges with several stations begin, in either direction.

use super::super::own::{Exchange, Own};
use super::super::uplink::Access;
use super::{Node, NodeGroups, OfNode};
use crate::mac::mu::{MuExchange, Occasion};
use crate::mac::{ElicitedResponse, Txop};
use crate::space::frame::{OnAir, Users};
use crate::space::rules::SpaceRules;
use crate::{Command, MsduSource};
use kernel::{Duration, Instant};
use wire::FrameKind;

impl Node {
    /// Begins an exchange with several stations, or triggers them, if it is their turn and ends
    /// within the TXOP.
    pub(in crate::space::node) fn begin_several(
        &mut self,
        now: Instant,
        index: usize,
        access: Access,
        rules: &SpaceRules,
        source: &mut dyn MsduSource,
        out: &mut Vec<Command>,
    ) -> Option<OnAir> {
        let Access { txop, is_first } = access;
        if let Some(groups) = self.groups.as_mut().filter(|_| is_first) {
            groups.downlink.protected.begin_access();
        }
        let next = self.begin_triggered(now, index, access, rules, source, out);
        if next.is_some() || txop.is_some_and(|txop| txop.is_for_answers()) {
            return next;
        }
        self.begin_group(now, index, txop, rules, source, out)
    }

    /// Begins an exchange with several users, in a TXOP if it is limited, if it is their turn.
    fn begin_group(
        &mut self,
        now: Instant,
        index: usize,
        txop: Option<Txop>,
        rules: &SpaceRules,
        source: &mut dyn MsduSource,
        out: &mut Vec<Command>,
    ) -> Option<OnAir> {
        let groups = self.groups.as_mut()?;
        let within = txop.map_or(Duration(u64::MAX), |txop| txop.left(now));
        let (width, levels) = (groups.width, &rules.levels);
        let stations = &mut OfNode { width, peers: &mut self.peers, levels };
        let mut on = Occasion { now, within, rules: &rules.mac, stations, source, out };
        let edcaf = &mut self.contenders[index].edcaf;
        let group = groups.downlink.assemble(index as u32, edcaf, &mut on)?;
        Some(self.open_group(now, index, group, txop, rules))
    }

    /// Begins an exchange with several users and returns its first frame.
    fn open_group(
        &mut self,
        now: Instant,
        index: usize,
        group: Box<MuExchange>,
        txop: Option<Txop>,
        rules: &SpaceRules,
    ) -> OnAir {
        self.own = Own::Sending(Exchange { edcaf: index, opened: now, txop });
        self.counters.exchanges.begin();
        let groups = self.groups.as_mut().expect("a group has groups");
        groups.acked.clear();
        groups.acked.resize(group.users.len(), None);
        groups.until = txop.map_or(Instant::NEVER, |txop| now + txop.left(now));
        (groups.nth, groups.recovers, groups.has_arrived) = (0, false, false);
        let (opening, lasts) = (group.opening, group.airtime().total() + group.after);
        groups.current = Some(group);
        match opening {
            Some(rts) => self.open_by(index, &rts, lasts, rules),
            None => self.group_data(index, rules).expect("it has a group"),
        }
    }

    /// The HE MU PPDU of the exchange, which begins.
    pub(in crate::space::node) fn group_data(
        &mut self,
        index: usize,
        rules: &SpaceRules,
    ) -> Option<OnAir> {
        let NodeGroups { downlink, width, current, triggers, .. } = &mut **self.groups.as_mut()?;
        let group = current.as_mut()?;
        if let Some(triggers) = triggers {
            triggers.triggering.note_down();
        }
        downlink.on_sent(group, &mut self.counters.frames);
        let edcaf = &mut self.contenders[index].edcaf;
        if group.opening.is_some() {
            edcaf.prepare_group(&rules.mac, downlink.shape(group), group.psdu());
        }
        if edcaf.won.is_some() {
            edcaf.count_confined_group(*width, &mut self.counters.frames);
        }
        Some(OnAir {
            kind: FrameKind::Data,
            from: self.id,
            to: None,
            edcaf: index as u8,
            mode: edcaf.mode,
            psdu: edcaf.psdu.bytes,
            reserves: rules.timing().reservation(group.after),
            answer: ElicitedResponse::BlockAck,
            beside: None,
            users: Users::Several,
        })
    }
}
