//! Checks of the service of packets at radios: each packet that a MAC takes is sent, discarded, or
//! still in service, and the counters of MAC and meter say so.

use super::rule::rule;
use crate::medium::Medium;
use crate::meter::{Meter, Served};
use crate::topology::RadioId;
use kernel::{IdVec, Instant};
use wifi::MsduOutcome;
use wire::{FlowId, Packet};

/// The packets that MACs have taken.
#[derive(Debug, Default)]
pub(super) struct Service {
    radios: IdVec<RadioId, Account>,
    flows: IdVec<FlowId, Account>,
    /// Whether the MACs send frames of their own, which their counters include.
    has_management: bool,
}

/// The packets of a radio or of a flow.
#[derive(Clone, Copy, Debug, Default)]
struct Account {
    taken: u64,
    served: Served,
    /// At the end of the run.
    in_service: u64,
}

impl Service {
    pub(super) fn new(radios: usize, flows: usize, has_management: bool) -> Self {
        let account = Account::default();
        let (radios, flows) = (IdVec::filled(radios, account), IdVec::filled(flows, account));
        Self { radios, flows, has_management }
    }

    fn each(&mut self, by: RadioId, packet: &Packet, count: impl Fn(&mut Account)) {
        count(&mut self.radios[by]);
        if let Some(flow) = packet.flow() {
            count(&mut self.flows[flow]);
        }
    }

    pub(super) fn on_taken(&mut self, by: RadioId, packet: &Packet) {
        self.each(by, packet, |all| all.taken += 1);
    }

    pub(super) fn on_served(&mut self, by: RadioId, packet: &Packet, outcome: MsduOutcome) {
        self.each(by, packet, |all| all.served.count(outcome));
    }

    pub(super) fn on_serving(&mut self, by: RadioId, packet: &Packet) {
        self.each(by, packet, |all| all.in_service += 1);
    }

    /// At the end of the run.
    pub(super) fn check(&self, now: Instant, meter: &Meter, medium: &Medium) {
        let radios = self.radios.iter().zip(meter.nodes.iter().map(|node| node.served));
        let flows = self.flows.iter().zip(meter.flows.iter().map(|flow| flow.served));
        let radios = (0u32..).zip(radios).map(|(number, pair)| ("radio", number, pair));
        let flows = (0u32..).zip(flows).map(|(number, pair)| ("flow", number, pair));
        for (of, number, (&Account { taken, served, in_service }, metered)) in radios.chain(flows) {
            let settled = taken == served.total() + in_service;
            rule(now, settled, "served = sent + discarded + in service", || {
                format!("{of} {number}: {taken} taken, {served:?}, {in_service} in service")
            });
            rule(now, served == metered, "the meter counts what MACs have served", || {
                format!("{of} {number}: {metered:?}, and not {served:?}")
            });
        }
        for (radio, of) in (0..).zip(&self.radios) {
            let counters = medium.counters(radio);
            let lifetime_drops = medium.frame_counters(radio).lifetime_drops;
            // No result of the MAC counts what was flushed.
            let own = Served {
                sent: counters.sent,
                retry_drops: counters.retry_drops,
                lifetime_drops,
                flushed: of.served.flushed,
            };
            let more = [own.sent, own.retry_drops, own.lifetime_drops];
            let packets = [of.served.sent, of.served.retry_drops, of.served.lifetime_drops];
            let holds = own == of.served
                || self.has_management && more.iter().zip(packets).all(|(&own, of)| own >= of);
            rule(now, holds, "a MAC counts what it has served", || {
                format!("radio {radio}: {own:?}, and not {:?}", of.served)
            });
        }
    }
}
