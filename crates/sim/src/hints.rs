//! What senders and queues are told of the links on which they depend.

use crate::build::LinkRules;
use crate::flow::{Flow, Transport};
use crate::medium::Medium;
use crate::network::Network;
use crate::notice::{Notice, Observer};
use crate::plan::Plan;
use crate::rate_hints::{LinkDirection, RateHints};
use crate::topology::{RadioId, Topology};
use kernel::{IdVec, Instant};
use tcp::Hint;
use wifi::phy::Mode;
use wire::FlowId;

/// Which senders and queues depend on which links.
#[derive(Debug)]
pub(crate) struct Hints {
    /// Which senders receive hints about the rates of which links.
    rates: RateHints,
    /// How queues learn of links, if any depends on them.
    rules: Option<Box<LinkRules>>,
    /// Whether a queue must know which airtime was used.
    pub(crate) share_airtime: bool,
}

/// The links, the senders and queues that are told of them, and the observers of both.
pub(crate) struct Told<'a, O> {
    pub(crate) now: Instant,
    pub(crate) medium: &'a Medium,
    pub(crate) topology: &'a Topology,
    pub(crate) network: Option<&'a Network>,
    pub(crate) flows: &'a mut IdVec<FlowId, Flow>,
    pub(crate) queues: &'a mut IdVec<RadioId, Box<dyn net::Queue>>,
    pub(crate) observers: &'a mut O,
}

impl Hints {
    /// The hints of a plan.
    pub(crate) fn new(plan: &Plan) -> Self {
        let shares = |radio| plan.queue_of(radio).0.get().traits().shares_airtime;
        Self {
            rates: RateHints::new(plan),
            rules: LinkRules::of(plan).map(Box::new),
            share_airtime: plan.topology.radios().ids().any(shares),
        }
    }

    /// The run begins: tells each sender its rate and its hops, and the queues of all radios the
    /// state of the links between stations and access points.
    pub(crate) fn begin<O: Observer>(&self, stations: usize, told: &mut Told<'_, O>) {
        for flow in told.flows.ids() {
            self.hint_rate(flow, told);
        }
        for station in (0..stations).map(|number| told.topology.station(number)) {
            let access_point = told.topology.access_point_of(station);
            self.tell_of_link(LinkDirection { by: station, to: access_point }, told);
        }
        told.network.into_iter().for_each(|network| hint_hops(network, told.flows));
    }

    /// The mode of a link direction changes. `slowest` is the slowest mode in which the next frame
    /// may have to be sent.
    pub(crate) fn on_mode<O: Observer>(
        &self,
        link: LinkDirection,
        mode: &Mode,
        slowest: &Mode,
        told: &mut Told<'_, O>,
    ) {
        told.observers.on(told.now, &Notice::Mode { by: link.by, to: link.to, mode });
        self.tell_queue(link, Some(slowest), told);
        self.hint_flows(link, told);
    }

    /// A station has moved from one access point to another.
    pub(crate) fn on_moved<O: Observer>(
        &mut self,
        station: RadioId,
        from: RadioId,
        to: RadioId,
        told: &mut Told<'_, O>,
    ) {
        self.rates.move_station(station, from, to);
        let up = LinkDirection { by: station, to };
        self.tell_of_link(up, told);
        self.hint_flows(up, told);
        self.hint_flows(up.reverse(), told);
    }

    /// Passes the lowest rate among its link directions to a flow's sender.
    pub(crate) fn hint_rate<O: Observer>(&self, flow: FlowId, told: &mut Told<'_, O>) {
        let rate = |link: &LinkDirection| Some(told.medium.mode(link.by.0, link.to.0)?.rate);
        let slowest = self.rates.directions(flow).iter().filter_map(rate).min();
        if let (Some(rate), Transport::Tcp(tcp)) = (slowest, &mut told.flows[flow].transport) {
            tcp.sender.on_hint(told.now, Hint::LinkRate(rate));
            told.observers.on(told.now, &Notice::Sender { flow, sender: &tcp.sender });
        }
    }

    /// Passes its lowest rate to each flow that crosses a link direction.
    fn hint_flows<O: Observer>(&self, link: LinkDirection, told: &mut Told<'_, O>) {
        for &flow in self.rates.flows(link) {
            self.hint_rate(flow, told);
        }
    }

    fn tell_of_link<O>(&self, up: LinkDirection, told: &mut Told<'_, O>) {
        self.tell_queue(up, None, told);
        self.tell_queue(up.reverse(), None, told);
    }

    /// Tells the queue of a radio the state of a link, if it depends on it. `slowest` is the
    /// slowest mode in which the next frame may have to be sent, if not that of the link.
    fn tell_queue<O>(&self, link: LinkDirection, slowest: Option<&Mode>, told: &mut Told<'_, O>) {
        if let Some(rules) = self.rules.as_ref().filter(|rules| rules.applies_to(link.by))
            && let Some(mode) = told.medium.mode(link.by.0, link.to.0)
        {
            let node = told.topology.radio(link.to).node;
            told.queues[link.by].on_link(&rules.state(node, mode, slowest.unwrap_or(mode)));
        }
    }
}

/// Tells each sender the number of hops to its receiver, if a route is known before the run.
fn hint_hops(network: &Network, flows: &mut IdVec<FlowId, Flow>) {
    for flow in flows {
        let hops = flow.to.and_then(|to| network.hops(flow.from, to));
        if let (Some(hops), Transport::Tcp(tcp)) = (hops, &mut flow.transport) {
            tcp.sender.on_hint(Instant::ZERO, Hint::RouteHops(hops));
        }
    }
}
