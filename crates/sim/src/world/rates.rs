//! Hints for senders about the rates of radio links.

use super::World;
use super::rate_hints::RateHints;
use crate::flow::Transport;
use crate::notice::{Notice, Observer};
use crate::plan::Plan;
use crate::topology::RadioId;
use tcp::Hint;
use wifi::phy::Mode;
use wire::FlowId;

impl<O: Observer> World<O> {
    /// Determines which flows receive hints about which link directions, and passes each its
    /// initial rate.
    pub(super) fn hint_rates(&mut self, plan: &Plan) {
        self.rate_hints = RateHints::new(plan);
        for flow in self.flows.ids() {
            self.hint_rate(flow);
        }
    }

    /// The mode in which a radio sends to another, if there is a link.
    pub(crate) fn mode(&self, by: RadioId, to: RadioId) -> Option<&Mode> {
        self.cell.mode(by.0, to.0)
    }

    /// Tells the queues of all radios the state of the links between stations and access points.
    pub(super) fn tell_queues(&mut self, stations: usize) {
        for station in 0..stations {
            let radio = self.topology.station(station);
            self.tell_of_link(radio, self.topology.access_point_of(radio));
        }
    }

    fn tell_of_link(&mut self, station: RadioId, access_point: RadioId) {
        self.tell_queue(station, access_point, None);
        self.tell_queue(access_point, station, None);
    }

    /// Tells queues and senders the state of the link between a station and its new access point.
    pub(super) fn tell_of_station(&mut self, station: RadioId, access_point: RadioId) {
        self.tell_of_link(station, access_point);
        for direction in [(station, access_point), (access_point, station)] {
            for i in 0..self.rate_hints.flows(direction).len() {
                self.hint_rate(self.rate_hints.flows(direction)[i]);
            }
        }
    }

    /// Tells the queue of a radio the state of a link, if it depends on it. `slowest` is the
    /// slowest mode in which the next frame may have to be sent, if not that of the link.
    fn tell_queue(&mut self, by: RadioId, to: RadioId, slowest: Option<&Mode>) {
        let Some(rules) = self.link_rules.as_ref().filter(|rules| rules.applies_to(by)) else {
            return;
        };
        let Some(mode) = self.cell.mode(by.0, to.0) else { return };
        let state = rules.state(self.topology.radio(to).node, mode, slowest.unwrap_or(mode));
        self.queues[by].on_link(&state);
    }

    /// The mode of a link direction changes.
    pub(super) fn on_mode(&mut self, by: RadioId, to: RadioId, mode: &Mode, slowest: &Mode) {
        self.observers.on(self.now, &Notice::Mode { by, to, mode });
        self.tell_queue(by, to, Some(slowest));
        for i in 0..self.rate_hints.flows((by, to)).len() {
            self.hint_rate(self.rate_hints.flows((by, to))[i]);
        }
    }

    /// Passes the lowest rate among its link directions to a flow's sender.
    pub(super) fn hint_rate(&mut self, flow: FlowId) {
        let directions = self.rate_hints.directions(flow).iter();
        let slowest = directions.filter_map(|&(by, to)| Some(self.mode(by, to)?.rate)).min();
        if let (Some(rate), Transport::Tcp(tcp)) = (slowest, &mut self.flows[flow].transport) {
            tcp.sender.on_hint(self.now, Hint::LinkRate(rate));
            self.observers.on(self.now, &Notice::Sender { flow, sender: &tcp.sender });
        }
    }
}
