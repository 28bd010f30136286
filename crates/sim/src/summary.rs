//! The results of a run, each under its path.

use crate::flow::TcpFlow;
use crate::measure::{self, Air, DelayStats, Estimate, Level};
use crate::meter::{DropCause, FlowMeter, NodeMeter};
use crate::plan::Plan;
use crate::world::World;
use kernel::Duration;
use wifi::space::Airtimes;
use wifi::{Counters, FrameCounters};

/// A result.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    /// A measured quantity.
    Number(f64),
    /// A count.
    Count(u64),
    /// A name.
    Text(String),
    /// Nothing was there to measure.
    None,
}

impl From<f64> for Value {
    fn from(value: f64) -> Self {
        if value.is_finite() { Self::Number(value) } else { Self::None }
    }
}

impl From<u64> for Value {
    fn from(value: u64) -> Self {
        Self::Count(value)
    }
}

impl From<String> for Value {
    fn from(value: String) -> Self {
        Self::Text(value)
    }
}

/// Collects results under a common prefix.
struct Sheet {
    rows: Vec<(String, Value)>,
    prefix: String,
}

impl Sheet {
    fn under(&mut self, prefix: String) -> &mut Self {
        self.prefix = prefix;
        self
    }

    fn put(&mut self, name: &str, value: impl Into<Value>) {
        self.rows.push((format!("{}.{name}", self.prefix), value.into()));
    }

    fn put_rate(&mut self, estimate: Option<Estimate>) {
        let mbps = |per_second: f64| per_second * 8e-6;
        self.put("goodput_mbps", estimate.map_or(f64::NAN, |e| mbps(e.mean)));
        self.put("goodput_ci95_mbps", estimate.map_or(f64::NAN, |e| mbps(e.half_width)));
    }

    fn put_delay(&mut self, name: &str, delay: &DelayStats) {
        self.put(&format!("{name}.count"), delay.count());
        self.put(&format!("{name}.mean"), delay.mean());
        self.put(&format!("{name}.sd"), delay.sd());
        for (label, q) in [("p50", 0.5), ("p90", 0.9), ("p95", 0.95), ("p99", 0.99)] {
            self.put(&format!("{name}.{label}"), delay.quantile(q));
        }
        self.put(&format!("{name}.max"), delay.max());
    }
}

/// Reads all results of a world whose accounts are settled.
pub(crate) fn summarise(plan: &Plan, world: &World) -> Vec<(String, Value)> {
    let mut sheet = Sheet { rows: Vec::new(), prefix: String::new() };
    put_total(sheet.under("total".into()), plan, world);
    let has_cell = !plan.stations.is_empty();
    if has_cell && plan.space.is_none() {
        put_airtime(sheet.under("airtime".into()), world);
    }
    if has_cell {
        put_contending(sheet.under("contending".into()), &world.meter.contending, world);
    }
    for i in 0..plan.flows.len() {
        put_flow(sheet.under(format!("flows[{i}]")), plan, world, i);
    }
    let stations = plan.stations.len();
    let nodes = if has_cell { world.queues.len() } else { 0 };
    for n in 0..nodes {
        let prefix = match n {
            0 => "ap".into(),
            _ if n <= stations => format!("stations[{}]", n - 1),
            _ => format!("cells[{}]", n - stations - 1),
        };
        let sheet = sheet.under(prefix);
        if let Some(station) = n.checked_sub(1).and_then(|i| plan.stations.get(i)) {
            sheet.put("name", station.name.clone());
        }
        let now = world.cell.counters(n as u32);
        let meter = &world.meter.nodes[n];
        put_node(sheet, meter, now);
        put_rate(sheet, &meter.frames_before, world.cell.frame_counters(n as u32));
        if let Some(airtimes) = world.cell.airtimes(n as u32) {
            put_airtimes(sheet, &meter.airtimes_before, airtimes, world.meter.window());
        }
        if plan.wlan.qos.is_some() {
            put_frames(sheet, &meter.frames_before, world.cell.frame_counters(n as u32));
        }
    }
    put_wires(&mut sheet, plan, world);
    sheet.under("run".into());
    sheet.put("simulated_s", world.end.as_secs_f64());
    sheet.put("measured_s", world.meter.window().as_secs_f64());
    sheet.put("events", world.events);
    sheet.rows
}

fn put_total(sheet: &mut Sheet, plan: &Plan, world: &World) {
    let flows = &world.meter.flows;
    sheet.put_rate(world.meter.byte_rate(flows));
    let rate = |flow| world.meter.byte_rate(std::slice::from_ref(flow));
    let shares = flows.iter().filter_map(rate).map(|e| e.mean);
    sheet.put("jain_index", measure::jain(shares));
    let drops = |cause: DropCause| flows.iter().map(|flow| flow.drops[cause as usize]).sum::<u64>();
    sheet.put("queue_drops", drops(DropCause::Queue) + drops(DropCause::WireQueue));
    if !plan.stations.is_empty() {
        sheet.put("retry_drops", drops(DropCause::RetryLimit));
    }
    if plan.wlan.qos.is_some() {
        sheet.put("lifetime_drops", drops(DropCause::Lifetime));
    }
    sheet.put("wire_losses", drops(DropCause::WireLoss));
    sheet.put("ecn_marks", flows.iter().map(|flow| flow.ecn_marks).sum::<u64>());
    if !plan.stations.is_empty() {
        put_collisions(sheet, world);
    }
    let mut sessions = DelayStats::fine();
    let mut delays = DelayStats::coarse();
    for flow in flows {
        sessions.merge(&flow.session);
        delays.merge(&flow.delay);
    }
    sheet.put_delay("delay_s", &delays);
    if sessions.count() > 0 {
        sheet.put_delay("session_delay_s", &sessions);
    }
}

fn put_collisions(sheet: &mut Sheet, world: &World) {
    let mut attempts = 0;
    let mut collisions = 0;
    for (node, n) in world.meter.nodes.iter().zip(0..) {
        let now = world.cell.counters(n);
        attempts += now.attempts - node.before.attempts;
        collisions += now.collisions - node.before.collisions;
    }
    sheet.put("attempts", attempts);
    sheet.put("collision_probability", collisions as f64 / attempts as f64);
}

fn put_airtime(sheet: &mut Sheet, world: &World) {
    for kind in Air::ALL {
        let fraction = world.meter.ledger.fraction(kind);
        sheet.put(&format!("{}_fraction", kind.name()), fraction);
    }
}

fn put_contending(sheet: &mut Sheet, stations: &Level, world: &World) {
    sheet.put("stations_mean", stations.mean());
    for (k, fraction) in stations.fractions().into_iter().enumerate() {
        sheet.put(&format!("stations_fraction[{k}]"), fraction);
    }
    sheet.put("ap_fraction", world.meter.contending_ap.fraction(1));
}

fn put_flow(sheet: &mut Sheet, plan: &Plan, world: &World, i: usize) {
    let meter: &FlowMeter = &world.meter.flows[i];
    let flow = &plan.flows[i];
    sheet.put("name", flow.name.clone());
    sheet.put("from", plan.network.name(flow.from));
    sheet.put("to", plan.network.name(flow.to));
    sheet.put_rate(world.meter.byte_rate(std::slice::from_ref(meter)));
    sheet.put("packets_sent", meter.sent);
    if let Some(tcp) = world.flows[i].tcp() {
        let (now, before) = (tcp.counters(), meter.before);
        sheet.put("segments_sent", now.segments - before.segments);
        sheet.put("retransmissions", now.retransmissions - before.retransmissions);
        sheet.put("timeouts", now.timeouts - before.timeouts);
        sheet.put("fast_retransmits", now.fast_retransmits - before.fast_retransmits);
        if tcp.config.fec.is_some() {
            put_fec(sheet, tcp, meter);
        }
    }
    sheet.put("queue_drops", meter.drops[0] + meter.drops[1]);
    if !plan.stations.is_empty() {
        sheet.put("retry_drops", meter.drops[DropCause::RetryLimit as usize]);
        if plan.wlan.qos.is_some() {
            sheet.put("lifetime_drops", meter.drops[DropCause::Lifetime as usize]);
        }
        sheet.put("broadcast_losses", meter.drops[DropCause::Broadcast as usize]);
    }
    sheet.put("wire_losses", meter.drops[DropCause::WireLoss as usize]);
    sheet.put("ecn_marks", meter.ecn_marks);
    sheet.put_delay("delay_s", &meter.delay);
    if world.flows[i].tcp().is_some() {
        sheet.put_delay("rtt_s", &meter.rtt);
    }
    if matches!(flow.traffic, crate::plan::TrafficPlan::Web { .. }) {
        sheet.put_delay("session_delay_s", &meter.session);
    }
}

/// What a code cost, and what it gave.
fn put_fec(sheet: &mut Sheet, tcp: &TcpFlow, meter: &FlowMeter) {
    let (now, before) = (tcp.counters(), meter.before);
    let parity = now.parity_bytes - before.parity_bytes;
    let data = now.bytes - before.bytes - parity;
    sheet.put("fec.proactive_segments", now.proactive - before.proactive);
    sheet.put("fec.reactive_segments", now.reactive - before.reactive);
    sheet.put("fec.overhead_fraction", parity as f64 / data as f64);
    let (now, before) = (tcp.received(), meter.received_before);
    sheet.put("fec.decoded_blocks", now.decoded - before.decoded);
    sheet.put("fec.recovered_segments", now.recovered - before.recovered);
    sheet.put("fec.verified_blocks", now.verified - before.verified);
    sheet.put("fec.loss_estimate", tcp.sender.loss_estimate());
}

/// Which part of the time a node has sent what.
fn put_airtimes(sheet: &mut Sheet, before: &Airtimes, now: &Airtimes, window: Duration) {
    let kinds = [
        ("rts", now.rts - before.rts),
        ("cts", now.cts - before.cts),
        ("data", now.data - before.data),
        ("ack", now.ack - before.ack),
        ("request", now.request - before.request),
    ];
    for (kind, sent) in kinds {
        let fraction = sent.as_secs_f64() / window.as_secs_f64();
        sheet.put(&format!("airtime.{kind}_fraction"), fraction);
    }
}

fn put_node(sheet: &mut Sheet, meter: &NodeMeter, now: &Counters) {
    let before = &meter.before;
    let attempts = now.attempts - before.attempts;
    let collisions = now.collisions - before.collisions;
    sheet.put("attempts", attempts);
    sheet.put("sent", now.sent - before.sent);
    sheet.put("collisions", collisions);
    sheet.put("collision_probability", collisions as f64 / attempts as f64);
    sheet.put("noise_losses", now.noise_losses - before.noise_losses);
    sheet.put("duplicates", now.duplicates - before.duplicates);
    sheet.put("retry_drops", meter.drops[DropCause::RetryLimit as usize]);
    sheet.put("broadcast_losses", meter.drops[DropCause::Broadcast as usize]);
    sheet.put("queue_drops", meter.drops[DropCause::Queue as usize]);
    sheet.put("ecn_marks", meter.ecn_marks);
    sheet.put("queue_packets.mean", meter.queue.mean());
    sheet.put("queue_packets.max", meter.queue.max() as u64);
}

/// In which modes data frames were sent: the mean of their rates.
fn put_rate(sheet: &mut Sheet, before: &FrameCounters, now: &FrameCounters) {
    let (rates, attempts) =
        (now.data_rates - before.data_rates, now.data_attempts - before.data_attempts);
    sheet.put("data_rate_mbps", rates as f64 * 1e-6 / attempts as f64);
}

/// What categories and aggregation did.
fn put_frames(sheet: &mut Sheet, before: &FrameCounters, now: &FrameCounters) {
    let ppdus = now.data_attempts - before.data_attempts;
    let mpdus = now.mpdus - before.mpdus;
    let repeated = now.repeated_mpdus - before.repeated_mpdus;
    sheet.put("ppdus", ppdus);
    sheet.put("mpdus", mpdus);
    sheet.put("mpdus_per_ppdu", mpdus as f64 / ppdus as f64);
    sheet.put("repeated_mpdus", repeated);
    sheet.put("repeats_per_mpdu", repeated as f64 / (mpdus - repeated) as f64);
    sheet.put("block_ack_requests", now.block_ack_requests - before.block_ack_requests);
    sheet.put("internal_collisions", now.internal_collisions - before.internal_collisions);
    sheet.put("lifetime_drops", now.lifetime_drops - before.lifetime_drops);
}

fn put_wires(sheet: &mut Sheet, plan: &Plan, world: &World) {
    for (number, wire) in world.wires.iter().enumerate() {
        let (link, direction) = plan.network.direction(number);
        sheet.under(link.path(direction));
        if link.number.is_some() {
            put_link(sheet, plan, world, number);
        } else {
            let counters = wire.link().counters();
            sheet.put("packets", counters.packets - wire.lost());
            sheet.put("drops", counters.dropped);
            sheet.put("losses", wire.lost());
            sheet.put("ecn_marks", counters.marked);
            let busy = wire.link().busy(world.end).as_secs_f64() / world.end.as_secs_f64();
            sheet.put("busy_fraction", busy);
        }
        let queue = &world.meter.wires[number].queue;
        sheet.put("queue_packets.mean", queue.mean());
        sheet.put("queue_packets.max", queue.max() as u64);
    }
}

/// What one direction of a link did in the window.
fn put_link(sheet: &mut Sheet, plan: &Plan, world: &World, number: usize) {
    let wire = &world.wires[number];
    let (link, direction) = plan.network.direction(number);
    if direction == 0 {
        sheet.put("name", link.name.clone());
    }
    sheet.put("from", plan.network.name(link.ends[direction]));
    sheet.put("to", plan.network.name(link.ends[1 - direction]));
    let (now, lost) = (wire.link().counters(), wire.lost());
    let (before, lost_before, busy_before) = world.meter.wires[number].before;
    let lost = lost - lost_before;
    sheet.put("packets", now.packets - before.packets - lost);
    sheet.put("drops", now.dropped - before.dropped);
    sheet.put("losses", lost);
    sheet.put("ecn_marks", now.marked - before.marked);
    let busy = wire.link().busy(world.end) - busy_before;
    sheet.put("utilisation", busy.as_secs_f64() / world.meter.window().as_secs_f64());
}
