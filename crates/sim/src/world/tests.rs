//! Tests of the notices that observers receive.

use super::{Step, World};
use crate::control::NoExternal;
use crate::notice::{Notice, Observer};
use crate::scenario::Scenario;
use crate::topology::{Interface, RadioId, WireId};
use kernel::{Instant, Seed};
use std::sync::Arc;
use wire::Packet;

/// Records notices by this function.
struct Recorder {
    write: fn(&Notice<'_>) -> Option<String>,
    lines: Vec<String>,
}

impl Observer for Recorder {
    fn on(&mut self, _: Instant, notice: &Notice<'_>) {
        self.lines.extend((self.write)(notice));
    }
}

/// The records of a run of a scenario.
fn lines(scenario: &str, write: fn(&Notice<'_>) -> Option<String>) -> Vec<String> {
    let plan = Scenario::parse(scenario).expect("a scenario").resolve().expect("a plan");
    let recorder = Recorder { write, lines: Vec::new() };
    let seed = Seed { root: 1, replication: 0 };
    let mut world = World::new(&plan, &seed, &(Arc::new(NoExternal) as _), recorder);
    while world.step() != Step::End {}
    world.close();
    world.observers.lines
}

/// A line for each step of a packet on its path.
fn path_line(notice: &Notice<'_>) -> Option<String> {
    let name = |at: &Interface| match *at {
        Interface::Wire(WireId(wire)) => format!("wire {wire}"),
        Interface::Radio(RadioId(radio)) => format!("radio {radio}"),
    };
    match notice {
        Notice::Sent { packet: Packet { size, .. }, .. } => Some(format!("sent {}", size.0)),
        Notice::Queued { at, .. } => Some(format!("queued at {}", name(at))),
        Notice::Dequeued { by, to, .. } => Some(format!("from radio {} to {to:?}", by.0)),
        Notice::Crossed { wire, .. } => Some(format!("crossed wire {}", wire.0)),
        Notice::Received { by, .. } => Some(format!("received by radio {}", by.0)),
        Notice::Served { by, outcome, .. } => Some(format!("radio {}: {outcome:?}", by.0)),
        Notice::Dropped { at, cause, .. } => Some(format!("dropped at {}: {cause:?}", name(at))),
        Notice::Resident { at, .. } => Some(format!("left at {:?}", at.as_ref().map(name))),
        Notice::Arrived { .. } => Some("arrived".to_owned()),
        Notice::End => Some("end".to_owned()),
        _ => None,
    }
}

const DATAGRAM: &str = "standard = '11g'\nstations = 2\nduration_s = 0.1\nwarmup_s = 0\n\
    wire.rate_mbps = 100\nwire.delay_ms = 1\n\
    [[flows]]\nfrom = 'server'\nto = 'sta1'\n\
    traffic.cbr = { rate_mbps = 0.1, payload_bytes = 1000 }\nstart_spread_s = 0\n";

#[test]
fn the_path_of_a_packet_is_recorded_hop_by_hop() {
    let lines = lines(DATAGRAM, path_line);
    let expected = [
        "sent 1028",
        "queued at wire 0",
        "crossed wire 0",
        "queued at radio 0",
        "from radio 0 to Some(RadioId(2))",
        "received by radio 2",
        "arrived",
        "radio 0: Sent",
    ];
    assert_eq!(lines[..8], expected);
    assert_eq!(lines[8..16], expected);
    assert_eq!(lines.last().map(String::as_str), Some("end"));
}

#[test]
fn what_a_link_loses_is_dropped_there() {
    let scenario =
        DATAGRAM.replace("[[flows]]", "wire.loss.uniform.probability = 0.999999\n[[flows]]");
    let lines = lines(&scenario, path_line);
    assert_eq!(lines[..3], ["sent 1028", "queued at wire 0", "dropped at wire 0: WireLoss"]);
}

#[test]
fn a_sender_is_shown_after_each_timeout() {
    let scenario = "standard = '11g'\nduration_s = 4.0\nwarmup_s = 0\n\
        stations = { count = 1, data_loss = 0.9999 }\nwlan.short_retry_limit = 1\n\
        [[flows]]\nfrom = 'sta0'\nto = 'ap'\n";
    let lines = lines(scenario, |notice| match notice {
        Notice::Timer { timer, .. } => Some(format!("timer {timer:?}")),
        Notice::Sender { sender, .. } => Some(format!("timeouts {}", sender.counters().timeouts)),
        _ => None,
    });
    // At first the sender receives a hint about the rate of its link.
    let expected = ["timeouts 0", "timer Retransmit", "timeouts 1", "timer Retransmit"];
    assert_eq!(lines[..4], expected);
}

/// A line for what arrives at the queue of the station, for its length, and for each instant.
fn queue_line(notice: &Notice<'_>) -> Option<String> {
    match notice {
        Notice::Queued { at: Interface::Radio(RadioId(1)), .. } => Some("queued".to_owned()),
        Notice::Waiting { at: Interface::Radio(RadioId(1)), .. } => Some("waiting".to_owned()),
        Notice::Time { .. } => Some("later".to_owned()),
        _ => None,
    }
}

#[test]
fn a_packet_counts_as_waiting_from_its_arrival() {
    let scanning = "cells = [{ position_m = [90, 0], channel = 52 }]\n\
                    stations.roaming = { scan = 'passive', threshold_dbm = 0 }\n";
    for function in [scanning, "stations.power_save = 'legacy'\n"] {
        let scenario = format!(
            "standard = '11a'\nduration_s = 12\nwarmup_s = 0\nwlan.beacons = {{}}\nradio = {{}}\n\
             ap.position_m = [0, 0]\nstations.waypoints = [{{ at_s = 0, position_m = [9, 0] }}, \
             {{ at_s = 9, position_m = [30, 0] }}]\n{function}\
             [[flows]]\nfrom = 'sta0'\nto = 'server'\n\
             traffic.cbr = {{ rate_mbps = 0.1, payload_bytes = 500 }}\n"
        );
        let lines = lines(&scenario, queue_line);
        let arrivals = lines.iter().enumerate().filter(|(_, line)| *line == "queued");
        let told = |from: usize| lines[from..].iter().find(|line| *line != "queued");
        assert!(arrivals.clone().count() > 200, "{function}");
        for (at, _) in arrivals {
            assert_eq!(told(at).map(String::as_str), Some("waiting"), "{function}");
        }
    }
}
