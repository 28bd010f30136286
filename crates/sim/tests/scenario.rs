//! Reading, changing and resolving scenarios.

use kernel::{BitRate, Bytes, Duration, Segments};
use net::{DropTailConfig, DrrConfig, Limit, Per, QueueSettings};
use serde_json::json;
use sim::Scenario;
use sim::plan::{Endpoint, Plan};
use sim::traffic::{
    Bulk, Cbr, Constant, DatagramSize, DelayEnd, Empirical, Exponential, First, Pareto, Saturated,
    Size, Traffic, Web,
};
use tcp::{DelayedAck, DynamicAck, FixedAck};
use wifi::mac::{BackoffDraw, Eifs, SlotGrid};
use wifi::phy::{DOT11G, Preamble, Slot};
use wire::TrafficClass;

const MINIMAL: &str = "standard = '11g'\nstations = 10\n[[flows]]\nfrom = 'server'\nto = 'sta*'\n";

fn parse(text: &str) -> Scenario {
    Scenario::parse(text).unwrap()
}

fn plan(text: &str) -> Plan {
    parse(text).resolve().unwrap()
}

fn mbps(rates: &[f64]) -> Vec<BitRate> {
    rates.iter().map(|rate| BitRate::from_mbps(*rate)).collect()
}

#[test]
fn a_minimal_scenario_gets_every_default() {
    let plan = plan(MINIMAL);
    assert_eq!(plan.title, "");
    assert_eq!(plan.duration, Duration::from_secs(30));
    assert_eq!(plan.warmup, Duration::from_secs(3));
    let timing = &plan.wlan.timing;
    assert_eq!(timing.standard, &DOT11G);
    assert_eq!(timing.preamble, Preamble::Long);
    assert_eq!(timing.basic_rates, mbps(&[1.0, 2.0, 5.5, 6.0, 11.0, 12.0, 24.0]));
    assert_eq!(plan.wlan.rts_threshold, Bytes(2347));
    assert_eq!((plan.wlan.short_retry_limit, plan.wlan.long_retry_limit), (7, 4));
    assert_eq!((plan.wlan.cw_min, plan.wlan.cw_max), (15, 1023));
    assert_eq!(timing.slot, Slot::Short.lasts());
    assert_eq!((plan.wlan.mac_header, plan.wlan.llc), (Bytes(24), Bytes(8)));
    assert_eq!(timing.eifs, Eifs::Standard);
    assert_eq!(timing.slot_grid, SlotGrid::Standard);
    assert_eq!(plan.wlan.backoff_draw, BackoffDraw::Standard);
    let unlimited = QueueSettings::DropTail(DropTailConfig { limit: Limit::NONE });
    assert_eq!(plan.ap.queue, unlimited);
    assert!(plan.links.is_empty());
    assert_eq!(plan.stations.len(), 10);
    let last = &plan.stations[9];
    assert_eq!((&last.name[..], last.up.mode().rate), ("sta9", BitRate::from_mbps(54.0)));
    assert_eq!((last.data_loss, last.ack_loss, last.queue.clone()), (0.0, 0.0, unlimited));
    assert_eq!(plan.measure.batches, 20);
    assert_eq!(plan.measure.interval, Duration::from_millis(30));
    assert_eq!(plan.flows.len(), 10);
    let flow = &plan.flows[3];
    assert_eq!((&flow.name[..], flow.group), ("server->sta3", 0));
    assert_eq!((flow.from, flow.to), (Endpoint::Server, Endpoint::Station(3)));
    let said = &flow.settings;
    assert_eq!((said.start, flow.start_spread, said.stop), (Duration(0), Duration(0), None));
    assert_eq!(said.class, TrafficClass::BestEffort);
    assert_eq!(said.traffic, Traffic::Bulk(Bulk { size: None }));
    let tcp = flow.tcp.as_ref().unwrap().config;
    assert_eq!((tcp.mss(), tcp.header(), tcp.window()), (Bytes(1448), Bytes(52), Bytes(65_160)));
    assert_eq!((tcp.fixed_window(), tcp.window_max()), (None, Bytes(1 << 24)));
    assert_eq!((tcp.initial_window(), tcp.initial_ssthresh), (Segments(10.0), None));
    assert!(tcp.timestamps && tcp.limited_transmit && tcp.restart_after_idle);
    assert!(!tcp.pad_last);
    let timer = Duration::from_millis(40);
    assert_eq!(tcp.delayed_ack, DelayedAck::Fixed(FixedAck { segments: 2, timer }));
    let timeouts = (tcp.rto_initial, tcp.rto_min(), tcp.rto_max);
    let seconds = Duration::from_secs;
    assert_eq!(timeouts, (seconds(1), seconds(1), seconds(60)));
}

#[test]
fn each_standard_has_its_own_defaults() {
    let of = |standard| plan(&MINIMAL.replace("11g", standard)).wlan;
    let b = of("11b");
    assert_eq!((b.cw_min, b.timing.slot), (31, Slot::Long.lasts()));
    assert_eq!(b.timing.basic_rates, mbps(&[1.0, 2.0]));
    let a = of("11a");
    assert_eq!((a.cw_min, a.timing.slot), (15, Slot::Short.lasts()));
    assert_eq!(a.timing.basic_rates, mbps(&[6.0, 12.0, 24.0]));
    let n = plan(&MINIMAL.replace("11g'", "11n'\nwlan.band_ghz = 2.4")).wlan;
    assert_eq!(n.timing.basic_rates, mbps(&[6.0, 12.0, 24.0]));
    let rate = |standard| plan(&MINIMAL.replace("11g", standard)).stations[0].up.mode().rate;
    assert_eq!(rate("11b"), BitRate::from_mbps(11.0));
    assert_eq!(rate("11a"), BitRate::from_mbps(54.0));
}

#[test]
fn groups_of_stations_are_numbered_in_their_order() {
    let text = "standard = '11b'\nwlan.rate_mbps = 5.5\n\
        [[stations]]\ncount = 2\nrate_mbps = 11\nqueue.drop_tail.limit_packets = 7\n\
        [[stations]]\ncount = 0\n[[stations]]\ndata_loss = 0.25\nack_loss = 0.125\n\
        [[flows]]\nfrom = 'sta*'\nto = 'ap'\n";
    let plan = plan(text);
    let names: Vec<_> = plan.stations.iter().map(|station| &station.name[..]).collect();
    assert_eq!(names, ["sta0", "sta1", "sta2"]);
    let rates: Vec<_> = plan.stations.iter().map(|station| station.up.mode().rate).collect();
    assert_eq!(rates, mbps(&[11.0, 11.0, 5.5]));
    let limit = QueueSettings::DropTail(DropTailConfig { limit: Limit::packets(7) });
    assert_eq!(plan.stations[1].queue, limit);
    assert_eq!((plan.stations[2].data_loss, plan.stations[2].ack_loss), (0.25, 0.125));
}

#[test]
fn patterns_expand_to_every_pair() {
    let flows = |text: &str| {
        let text = format!("standard = '11b'\nstations = 4\n[[flows]]\n{text}");
        let flows = plan(&text).flows;
        flows.iter().map(|flow| flow.name.clone()).collect::<Vec<_>>()
    };
    assert_eq!(flows("from='sta1-2'\nto='server'"), ["sta1->server", "sta2->server"]);
    assert_eq!(flows("from='sta0'\nto='sta1'\nname='copy'"), ["copy"]);
    assert_eq!(flows("from='ap'\nto='sta2-3'\nname='x'"), ["x sta2", "x sta3"]);
    assert_eq!(flows("from='ap'\nto='sta0'\ncount=2\nname='x'"), ["x #1", "x #2"]);
    assert_eq!(flows("from='sta*'\nto='sta*'").len(), 12);
    assert_eq!(flows("from='sta0-1'\nto='sta1-2'\nname='x'").len(), 3);
    let broadcast = "from='server'\nto='broadcast'\ntraffic='cbr'";
    assert_eq!(flows(broadcast), ["server->broadcast"]);
}

#[test]
fn every_kind_of_traffic_resolves() {
    let traffic = |text: &str| {
        let flow = plan(&format!("{MINIMAL}traffic.{text}\n")).flows.remove(0);
        assert_eq!(flow.tcp.is_some(), text.starts_with("bulk") || text.starts_with("web"));
        flow.settings.traffic.clone()
    };
    let bulk = Bulk { size: Some(Bytes(1_000_000)) };
    assert_eq!(traffic("bulk.size_bytes = 1e6"), Traffic::Bulk(bulk));
    let size = |payload| DatagramSize { payload: Bytes(payload), ..Default::default() };
    let cbr = Cbr { rate: BitRate(2_500_000), size: size(1000) };
    assert_eq!(traffic("cbr.rate_mbps = 2.5"), Traffic::Cbr(cbr));
    let saturated = Saturated { size: size(1472) };
    assert_eq!(traffic("saturated = {}"), Traffic::Saturated(saturated));
    let Traffic::Web(Web { size, think, files, first, delay, .. }) = traffic(
        "web = { size = 'exponential', think_s = 0.5, files = 3, first = 'file', delay = \
         'acknowledged' }",
    ) else {
        panic!()
    };
    let mean = Bytes(30_000);
    assert_eq!(size, Size::Exponential(Exponential { mean }));
    assert_eq!((think, files), (Duration::from_millis(500), Some(3)));
    assert_eq!((first, delay), (First::File, DelayEnd::Acknowledged));
    let size = |text: &str| match traffic(&format!("web.size.{text}")) {
        Traffic::Web(web) => web.size,
        other => panic!("{other:?}"),
    };
    assert_eq!(size("constant.bytes = 5"), Size::Constant(Constant { size: Bytes(5) }));
    assert_eq!(size("pareto.shape = 2"), Size::Pareto(Pareto { mean, shape: 2.0 }));
    let empirical = |sizes: &[u64], weights: Option<Vec<f64>>| {
        let sizes = sizes.iter().map(|size| Bytes(*size)).collect();
        Size::Empirical(Empirical { sizes, weights })
    };
    assert_eq!(size("empirical.bytes = [1, 2]"), empirical(&[1, 2], None));
    assert_eq!(
        size("empirical = { bytes = [1, 2, 3, 4], weights = [1, 0, 3, 0] }"),
        empirical(&[1, 2, 3, 4], Some(vec![1.0, 0.0, 3.0, 0.0]))
    );
}

#[test]
fn tcp_sizes_follow_from_each_other() {
    let tcp = |text: &str| {
        plan(&format!("{MINIMAL}tcp = {{ {text} }}")).flows.remove(0).tcp.unwrap().config
    };
    let sizes = |text: &str| {
        let tcp = tcp(text);
        (tcp.mss().0, tcp.header().0, tcp.window().0)
    };
    assert_eq!(sizes("timestamps = false"), (1460, 40, 64_240));
    assert_eq!(sizes("header_bytes = 60"), (1440, 60, 64_800));
    assert_eq!(sizes("mss_bytes = 1000, window_segments = 3"), (1000, 52, 3000));
    let timer = Duration::from_millis(40);
    assert_eq!(
        tcp("delayed_ack = 'dynamic'").delayed_ack,
        DelayedAck::Dynamic(DynamicAck { thresholds: [2, 5, 9], timer })
    );
    assert_eq!(tcp("delayed_ack = 'none'").delayed_ack, DelayedAck::None);
}

#[test]
fn wire_and_queues_resolve() {
    let plan = plan(&format!(
        "{MINIMAL}[wire]\ndelay_ms = 2.5\noverhead_bytes = 38\n[ap]\nqueue.drr = {{ per = \
         'station', limit_bytes = 3000 }}\n"
    ));
    let [wire, _] = &plan.links[0].directions;
    assert_eq!((wire.rate, wire.overhead), (None, Bytes(38)));
    assert_eq!(wire.delay, Duration::from_micros(2500));
    let quantum = Bytes(1514);
    let limit = Limit { packets: None, bytes: Some(Bytes(3000)) };
    let drr = QueueSettings::Drr(DrrConfig { per: Per::Station, quantum, limit });
    assert_eq!(plan.ap.queue, drr);
}

#[test]
fn json_and_toml_mean_the_same() {
    let json = json!({
        "standard": "11g", "stations": 10, "title": null,
        "flows": [{ "from": "server", "to": "sta*" }],
    });
    let from_json = Scenario::from_json(&json.to_string()).unwrap();
    assert_eq!(from_json, parse(MINIMAL));
    assert_eq!(parse(&json.to_string()), parse(MINIMAL));
    assert_eq!(Scenario::parse_bytes(format!("\u{feff}{MINIMAL}").as_bytes()), Ok(parse(MINIMAL)));
}

#[test]
fn a_choice_by_name_is_a_choice_with_defaults() {
    let with = |text: &str| parse(&format!("{MINIMAL}{text}\n"));
    assert_eq!(with("traffic = 'web'"), with("traffic.web = {}"));
    assert_eq!(with("control = 'new_reno'"), with("control.new_reno = {}"));
    assert_eq!(with("traffic = 'bulk'"), parse(MINIMAL));
}

#[test]
fn written_again_it_is_the_same() {
    let text = "title = \"A \\\"café\\\"\"\nstandard = \"11b\"\n\n[[stations]]\ncount = 3\n\n\
        [[flows]]\nfrom = \"sta*\"\nto = \"ap\"\ntraffic.web.size.pareto.shape = 1.25\n\
        tcp.delayed_ack = \"none\"\n";
    let scenario = parse(text);
    assert_eq!(scenario.to_toml().replace('\'', "\""), text.replace("\\\"", "\""));
    assert_eq!(parse(&scenario.to_toml()), scenario);
    assert_eq!(Scenario::from_json(&scenario.to_json()), Ok(scenario.clone()));
    assert_eq!(Scenario::from_json(&scenario.to_full_json()), Ok(scenario));
}

#[test]
fn set_changes_a_copy() {
    let before = parse(MINIMAL);
    let after = before.set("duration_s", "12.5").unwrap();
    assert_eq!(before.document().duration_s, 30.0);
    assert_eq!(after.document().duration_s, 12.5);
    assert_eq!(after.set("duration_s", "30").unwrap(), before);
}

#[test]
fn set_takes_toml_and_bare_words() {
    let set = |path, value| parse(MINIMAL).set(path, value).unwrap().get(path).unwrap();
    assert_eq!(set("standard", "11b"), json!("11b"));
    assert_eq!(set("standard", "\"11b\""), json!("11b"));
    assert_eq!(set("title", "Tuesday, a café"), json!("Tuesday, a café"));
    assert_eq!(set("title", "2024-02-03"), json!("2024-02-03"));
    assert_eq!(set("flows[0].to", "sta0-4"), json!("sta0-4"));
    assert_eq!(set("flows[*].tcp.delayed_ack", "none"), json!(["none"]));
    assert_eq!(
        set("flows[*].control", "new_reno"),
        json!([{ "new_reno": { "hystart": false, "beta_ecn": 0.5 } }])
    );
    assert_eq!(set("wlan.basic_rates_mbps", "[1, 2]"), json!([1.0, 2.0]));
    assert_eq!(set("flows[0].traffic.bulk.size_bytes", "1e6"), json!(1_000_000));
    assert_eq!(set("wire.rate_mbps", "100"), json!(100.0));
    assert_eq!(set("flows", "[{ from = 'ap', to = 'sta0' }]")[0]["from"], json!("ap"));
}

#[test]
fn setting_a_variant_replaces_the_other() {
    let more = "[[flows]]\nfrom = 'ap'\nto = 'sta0'\ntraffic = 'web'\n";
    let bulk = parse(&format!("{MINIMAL}traffic.bulk.size_bytes = 5\n{more}"));
    let cbr = bulk.set("flows[*].traffic.cbr.rate_mbps", "2").unwrap();
    let cbr_value = json!({ "cbr": {
        "rate_mbps": 2.0, "payload_bytes": 1000, "header_bytes": 28, "deadline_ms": 150.0,
    } });
    assert_eq!(cbr.get("flows[*].traffic").unwrap(), json!([cbr_value, cbr_value]));
    let deep = bulk.set("flows[0].traffic.web.size.constant.bytes", "7").unwrap();
    let deeper = deep.set("flows[0].traffic.web.size.pareto.shape", "3").unwrap();
    assert_eq!(deeper.get("flows[0].traffic.web.size.pareto.shape").unwrap(), json!(3.0));
    assert_eq!(deeper.get("flows[1].traffic.web.size.pareto.shape").unwrap(), json!(1.5));
    // The output has one variant, too.
    assert_eq!(parse(&deeper.to_toml()), deeper);
}

#[test]
fn setting_a_part_of_a_short_form_spells_it_out() {
    let scenario = parse(MINIMAL).set("stations.rate_mbps", "11").unwrap();
    assert_eq!(scenario.get("stations.count").unwrap(), json!(10));
    let scenario = parse(MINIMAL).set("stations[0].rate_mbps", "11").unwrap();
    assert_eq!(scenario.get("stations[*].count").unwrap(), json!([10]));
    let scenario = scenario.set("stations", "3").unwrap();
    assert_eq!(scenario.get("stations").unwrap(), json!(3));
}

#[test]
fn get_knows_the_defaults() {
    let get = |path| parse(MINIMAL).get(path).unwrap();
    assert_eq!(get("flows[0].start_s"), json!(0.0));
    // What depends on the endpoint has no default of its own.
    assert_eq!(get("flows[0].tcp.rto_min_ms"), json!(null));
    assert_eq!(get("flows[*].from"), json!(["server"]));
    assert_eq!(get("flows[0].traffic.bulk"), json!({ "size_bytes": null }));
    assert_eq!(get("wlan.cw_min"), json!(null));
    assert_eq!(get("stations"), json!(10));
}

#[test]
fn tcp_keys_of_datagram_flows_are_passed_over() {
    let text = format!("{MINIMAL}[[flows]]\nfrom = 'ap'\nto = 'sta0'\ntraffic = 'cbr'\n");
    let scenario = parse(&text).set("flows[*].tcp.window_segments", "4").unwrap();
    let plan = scenario.resolve().unwrap();
    assert_eq!(plan.flows[0].tcp.as_ref().unwrap().config.window(), Bytes(4 * 1448));
    assert_eq!(plan.flows[10].tcp, None);
}
