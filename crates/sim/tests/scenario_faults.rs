//! The exact messages for mistakes in scenarios, since they are the user interface.

use sim::{Issue, Scenario};

/// Three lines and an empty one, so that the lines of a test begin in line 5.
const HEAD: &str = "standard = '11g'\nstations = 10\nduration_s = 30\n\n";
const FLOW: &str = "[[flows]]\nfrom = 'server'\nto = 'sta*'\n";

/// The one fault of shape of a text, with its line; beside it so short a text lacks what every
/// scenario has.
#[track_caller]
fn malformed(text: &str, expected: &str) {
    let lacks =
        |issue: &Issue| issue.said.message == "missing" || issue.said.message.contains("are none");
    let issues = Scenario::parse(text).unwrap_err();
    let told = issues.iter().filter(|issue| !lacks(issue)).map(Issue::with_line);
    assert_eq!(told.collect::<Vec<_>>(), [expected]);
}

/// The one fault of shape of a minimal scenario with these lines in a flow, from line 8.
#[track_caller]
fn malformed_flow(lines: &str, expected: &str) {
    malformed(&format!("{HEAD}{FLOW}{lines}\n"), expected);
}

/// All semantic faults of a text.
#[track_caller]
fn wrong(text: &str, expected: &[&str]) {
    let issues = Scenario::parse(text).unwrap().resolve().unwrap_err();
    assert_eq!(issues.iter().map(ToString::to_string).collect::<Vec<_>>(), expected);
}

/// The one semantic fault of a minimal scenario with these lines before its flow.
#[track_caller]
fn wrong_with(lines: &str, expected: &str) {
    wrong(&format!("{HEAD}{lines}\n{FLOW}"), &[expected]);
}

/// All semantic faults of a minimal scenario with these lines before its flow.
#[track_caller]
fn all_wrong_with(lines: &str, expected: &[&str]) {
    wrong(&format!("{HEAD}{lines}\n{FLOW}"), expected);
}

/// The one semantic fault of a minimal scenario with these lines in its flow.
#[track_caller]
fn wrong_flow(lines: &str, expected: &str) {
    wrong(&format!("{HEAD}{FLOW}{lines}\n"), &[expected]);
}

#[test]
fn an_empty_text_gets_an_example() {
    for empty in ["", "\n\n", "# nothing\n", "{}", "\u{feff}"] {
        let issues = Scenario::parse(empty).unwrap_err();
        let (message, example) = issues[0].said.remedy.split_once("\n\n").unwrap();
        assert_eq!((&*issues[0].path, &*issues[0].said.message), ("", "the scenario is empty"));
        assert_eq!(message, "the smallest one reads");
        assert!(Scenario::parse(example).unwrap().resolve().is_ok());
    }
}

#[test]
fn texts_that_are_no_toml() {
    malformed(
        "standard = 11g",
        "line 1: not TOML: string values must be quoted; for text write standard = \"11g\"; it \
         reads: standard = 11g",
    );
    malformed(
        "title = 'x'\nduration_s =\n",
        "line 2: not TOML: string values must be quoted; duration_s has no value; it reads: \
         duration_s =",
    );
    malformed(
        "stations: 10",
        "line 1: not TOML: key with no value, expected `=`; write key = value; it reads: \
         stations: 10",
    );
    malformed(
        "wlan.rate_mbps = 54,",
        "line 1: not TOML: unexpected key or value, expected newline, `#`; a line ends without \
         a comma; it reads: wlan.rate_mbps = 54,",
    );
    malformed(
        "title = 'a'\ntitle = 1",
        "line 2: not TOML: duplicate key; write each table or key once, and [[flows]] \
         for each flow; it reads: title = 1",
    );
    malformed(
        "\u{1b}[31m",
        "line 1: not TOML: key with no value, expected `=`; it reads: \\u{1b}[31m",
    );
    malformed("{\"a\": 1,", "not JSON: EOF while parsing a value at line 1 column 8");
    malformed(
        "{\"stations\": 1, \"stations\": 2}",
        "not JSON: the key \"stations\" is given twice at line 1 column 30",
    );
}

#[test]
fn bytes_that_are_no_text() {
    let message = |bytes: &[u8]| Scenario::parse_bytes(bytes).unwrap_err()[0].to_string();
    assert_eq!(
        message(b"title = 'x'\ntitle = '\xe9t\xe9'"),
        "not UTF-8 text: byte 0xe9; a scenario is a TOML file saved as UTF-8"
    );
    assert_eq!(
        message(&vec![b'x'; 10_000_000]),
        "10000000 bytes are too much for a scenario, which has at most 1048576; is this the right \
         file?"
    );
}

#[test]
fn unknown_keys_find_their_neighbours_and_their_places() {
    malformed("staions = 10", "staions (line 1): unknown key; did you mean stations?");
    malformed(
        "wlan.rate = 54",
        "wlan.rate (line 1): unknown key; did you mean rate_mbps or rate_control or \
         rts_rate_mbps?",
    );
    malformed("wire.delay_s = 1", "wire.delay_s (line 1): unknown key; did you mean delay_ms?");
    malformed(
        "slot = 'long'",
        "slot (line 1): unknown key; it belongs at wlan.slot; the keys here are title, \
         description, standard, stations, duration_s, warmup_s, wlan, ap, radio, cells, \
         routing, interferers, wire, links, flows, measure",
    );
    malformed(
        "[ap]\nlimit_packets = 7",
        "ap.limit_packets (line 2): unknown key; it belongs at \
         ap.queue.drop_tail.limit_packets or ap.queue.priority.limit_packets or \
         ap.queue.drr.limit_packets or ap.queue.sfq.limit_packets or …",
    );
    malformed(
        "[measure]\nduration_s = 7",
        "measure.duration_s (line 2): unknown key; it belongs at the top, above the first \
         [table]; the keys here are batches, interval_s, hops",
    );
    malformed_flow(
        "window_segments = 3",
        "flows[0].window_segments (line 8): unknown key; it belongs at \
         flows[*].control.fixed.window_segments or flows[*].tcp.window_segments",
    );
    malformed_flow(
        "traffic.cbr.packet_bytes = 3",
        "flows[0].traffic.cbr.packet_bytes (line 8): unknown key; the keys here are \
         rate_mbps, payload_bytes, header_bytes, deadline_ms",
    );
    malformed_flow(
        "traffic.web.sizes = 3",
        "flows[0].traffic.web.sizes (line 8): unknown key; did you mean size?",
    );
    malformed(
        "\"a b\\n\" = 1",
        "\"a b\\n\" (line 1): unknown key; the keys here are title, description, standard, \
         stations, duration_s, warmup_s, wlan, ap, radio, cells, routing, interferers, wire, \
         links, flows, measure",
    );
}

#[test]
fn choices_list_what_there_is() {
    malformed(
        "standard = '11bn'",
        "standard (line 1): must be one of \"11b\", \"11a\", \"11g\", \"11n\", \"11ac\", \
         \"11ax\", \"11be\", is \"11bn\"",
    );
    malformed(
        "standard = '802.11g'",
        "standard (line 1): must be one of \"11b\", \"11a\", \"11g\", \"11n\", \"11ac\", \
         \"11ax\", \"11be\", is \"802.11g\"; did you mean \"11g\"?",
    );
    malformed(
        "standard = 11",
        "standard (line 1): must be one of \"11b\", \"11a\", \"11g\", \"11n\", \"11ac\", \
         \"11ax\", \"11be\", is 11",
    );
    malformed_flow(
        "traffic.blk = {}",
        "flows[0].traffic.blk (line 8): unknown key; did you mean bulk?",
    );
    malformed_flow(
        "traffic = {}",
        "flows[0].traffic (line 8): must be one of \"bulk\", \"web\", \"requests\", \
         \"writes\", \"video\", \"cbr\", \"poisson\", \"on_off\", \"call\", \"conference\", \
         \"game\", \"ping\", \"csv\", \"port\", \"saturated\", is an empty table",
    );
    malformed_flow(
        "traffic.web = {}\ntraffic.cbr = {}",
        "flows[0].traffic (line 8): takes one of bulk, web, requests, writes, video, cbr, \
         poisson, on_off, call, conference, game, ping, csv, port, saturated, not both web and cbr",
    );
    malformed_flow(
        "traffic.web.size.parto = {}",
        "flows[0].traffic.web.size.parto (line 8): unknown key; did you mean pareto?",
    );
    malformed_flow(
        "control = 'qubic'",
        "flows[0].control (line 8): must be one of \"new_reno\", \"cubic\", \"westwood\", \
         \"vegas\", \"few\", \"afw\", \"lt\", \"bbr\", \"bbr3\", \"dctcp\", \"prague\", \
         \"cross_layer\", \"fixed\", \"python\", is \"qubic\"; did you mean \"cubic\"?",
    );
    malformed_flow(
        "control.new_reno.beta = 1",
        "flows[0].control.new_reno.beta (line 8): unknown key; did you mean beta_ecn?",
    );
}

#[test]
fn wrong_types_say_both_types() {
    malformed(
        "wlan.rate_mbps = '54'",
        "wlan.rate_mbps (line 1): must be a number, is \"54\"; write it without quotes: 54",
    );
    malformed(
        "wlan.rate_mbps = '54 Mb/s'",
        "wlan.rate_mbps (line 1): must be a number, is \"54 Mb/s\"; write only the number: \
         the key names the unit",
    );
    malformed(
        "wlan.rate_mbps = [1, 2]",
        "wlan.rate_mbps (line 1): must be a number, is a list of 2 values",
    );
    malformed("title = 5", "title (line 1): must be text, is 5; put it in quotes");
    malformed(
        "title = 2024-01-01",
        "title (line 1): must be text, is the date 2024-01-01; put it in quotes",
    );
    malformed(
        "wlan = 5",
        "wlan (line 1): must be a table with the keys band_ghz, rate_mbps, mcs, streams, \
         width_mhz, guard_ns, coding, he_ltf, packet_extension_us, ppdu_timing, rate_control, \
         preamble, basic_rates_mbps, rts_rate_mbps, slot, protection, cw_min, cw_max, \
         rts_threshold_bytes, short_retry_limit, long_retry_limit, mac_header_bytes, \
         llc_bytes, cipher, coverage_class, eifs, slot_grid, idle_access, durations, \
         model_header_us, countdown, backoff_draw, collisions, full_duplex, mu, spatial_reuse, \
         bandwidth_operation, beacons, qos, edca_defaults, edca, aggregation, is 5",
    );
    malformed(
        "wlan.basic_rates_mbps = 2",
        "wlan.basic_rates_mbps (line 1): must be a list, is 2; a list is written in brackets, \
         as [1, 2]",
    );
    malformed(
        "wlan.basic_rates_mbps = [1,\n'2']",
        "wlan.basic_rates_mbps[1] (line 2): must be a number, is \"2\"; write it without \
         quotes: 2",
    );
    malformed(
        "[flows]\nfrom = 'ap'",
        "flows (line 1): must be a list, is a table with the key from; a list of tables has \
         two brackets in each of its headers, as [[flows]]",
    );
    malformed("wlan.cw_max = 1.5", "wlan.cw_max (line 1): must be a whole number from 0, is 1.5");
    malformed(
        "wlan.cw_max = -1",
        "wlan.cw_max (line 1): -1 is not of the form 2^k - 1; the least is 1",
    );
    malformed(
        "wlan.cw_max = 99999999999999999999",
        "wlan.cw_max (line 1): must be a whole number, is 1e20; that is too large",
    );
    malformed_flow(
        "tcp.timestamps = 'yes'",
        "flows[0].tcp.timestamps (line 8): must be true or false, is \"yes\"; both are \
         written without quotes",
    );
    malformed(
        "stations = 'ten'",
        "stations (line 1): must be a number of stations, a table [stations] or an array of \
         tables [[stations]], is \"ten\"",
    );
    malformed("stations = 2.5", "stations (line 1): must be a whole number, is 2.5");
    malformed("stations = -2", "stations (line 1): must be from 1 to 10000, is -2");
}

#[test]
fn a_wrong_station_is_shown_the_keys() {
    malformed(
        "stations = [1]",
        "stations[0] (line 1): must be a table with the keys count, name, standard, \
         rate_mbps, mcs, streams, width_mhz, guard_ns, ap_mcs, ap_streams, ap_guard_ns, \
         legacy_rate_mbps, ap_legacy_rate_mbps, rate_control, queue, ring_packets, \
         hardware_aggregates, airtime_weight, power_save, roaming, data_loss, ack_loss, \
         position_m, ring_m, placement, movement, waypoints, tx_power_dbm, cell, is 1",
    );
}

#[test]
fn all_faults_of_meaning_at_once() {
    let text = "standard = '11g'\nstations = 10\nduration_s = nan\nwarmup_s = -1\n\
        measure.batches = 1\nmeasure.interval_s = inf\nwire = { rate_mbps = 0, delay_ms = 1e300 }\n\
        wlan = { rate_mbps = 13, basic_rates_mbps = [], cw_min = 20, cw_max = 15 }\n\
        ap.queue.drop_tail.limit_packets = 0\n\
        [[flows]]\nfrom = 'sever'\nto = 'sta10'\nstop_s = 40\n";
    wrong(
        text,
        &[
            "duration_s: must be from 1e-6 to 1000000 s, is NaN",
            "warmup_s: must be from 0 to 1000000 s, is -1",
            "measure.batches: must be from 2 to 1000, is 1",
            "measure.interval_s: must be from 1e-9 to 1000000 s, is inf",
            "wire.rate_mbps: must be from 0.001 to 1000000 Mb/s, is 0",
            "wire.delay_ms: must be from 0 to 60000 ms, is 1e300",
            "wlan.rate_mbps: 13 is not a rate of 802.11g (1, 2, 5.5, 6, 9, 11, 12, 18, 24, 36, \
             48, 54); the nearest are 12 and 18",
            "wlan.basic_rates_mbps: an empty list; control frames need at least one rate, as \
             [1.0, 2.0]",
            "wlan.cw_min: 20 is not of the form 2^k - 1; the nearest are 15 and 31",
            "ap.queue.drop_tail.limit_packets: 0 would drop every packet: the limit counts the \
             one in service too; 1 is the least, and without the key there is no limit",
            "flows[0].from: \"sever\" is no end of a flow; did you mean \"server\"? An end is \
             \"server\", \"ap\", a station \"sta3\", all stations \"sta*\", or some \"sta0-4\"; a \
             flow may go to \"broadcast\"",
            "flows[0].to: there is no sta10: there are 10 stations, sta0 to sta9",
        ],
    );
}

#[test]
fn a_value_too_large_for_the_key_that_a_misspelt_one_means() {
    malformed_flow(
        "tcp.tcp_header_bytes = 1500\ntcp.window_segments = 1000",
        "flows[0].tcp.tcp_header_bytes (line 8): unknown key; did you mean header_bytes?",
    );
}

#[test]
fn what_must_be_given() {
    wrong(
        "title = 'x'",
        &[
            "standard: missing; one of \"11b\", \"11a\", \"11g\", \"11n\", \"11ac\", \"11ax\", \
             \"11be\"",
            "stations: there are none; a cell needs at least one, as stations = 10",
            "flows: there are none, so nothing would be sent; add [[flows]] with from = \
             \"server\" and to = \"sta*\"",
        ],
    );
    wrong(
        &format!("{HEAD}[[flows]]\nto = 'sta0'\n"),
        &["flows[0].from: missing; an end of a flow is \"server\", \"ap\", a station as \
             \"sta0\", or all of them, \"sta*\""],
    );
}

#[test]
fn times_lie_within_the_run() {
    wrong_with(
        "warmup_s = 30",
        "warmup_s: 30 leaves nothing of a run of 30 s; it is below \
        duration_s",
    );
    wrong_with(
        "measure.interval_s = 1e-6",
        "measure.interval_s: 1e-6 gives 30000000 samples a \
        probe, and at most 1000000 are kept; take at least 3e-5",
    );
    wrong_flow("start_s = 30", "flows[0].start_s: 30 is not before the end of the run, 30 s");
    wrong_flow(
        "start_s = 20\nstart_spread_s = 15",
        "flows[0].start_spread_s: flows would start \
        up to 35 s, after the end of the run, 30 s; at most 10",
    );
    wrong_flow("start_s = 2\nstop_s = 2", "flows[0].stop_s: 2 is not after the latest start, 2 s");
    wrong_flow(
        "stop_s = 31",
        "flows[0].stop_s: 31 is after the end of the run, 30 s; without the \
        key a flow lasts as long as the run",
    );
}

#[test]
fn rates_are_those_of_the_standard() {
    wrong_with(
        "wlan.rate_mbps = 54000000",
        "wlan.rate_mbps: 54000000 is not a rate of 802.11g \
        (1, 2, 5.5, 6, 9, 11, 12, 18, 24, 36, 48, 54); the unit is Mb/s, so perhaps 54",
    );
    let b = |lines: &str| format!("standard = '11b'\nstations = 3\n{lines}\n{FLOW}");
    wrong(
        &b("wlan.rate_mbps = 54"),
        &["wlan.rate_mbps: 54 is not a rate of 802.11b (1, 2, 5.5, \
        11); the highest is 11"],
    );
    wrong(
        &b("wlan.rate_mbps = -1"),
        &["wlan.rate_mbps: -1 is not a rate of 802.11b (1, 2, 5.5, \
        11); the lowest is 1"],
    );
    wrong(
        &b("wlan.basic_rates_mbps = [1, 6]"),
        &["wlan.basic_rates_mbps[1]: 6 is not a rate of \
        802.11b (1, 2, 5.5, 11); the nearest are 5.5 and 11"],
    );
    wrong(
        &b("wlan = { rate_mbps = 1, basic_rates_mbps = [2] }"),
        &["wlan.rate_mbps: 1 is below \
        every basic rate, so no ACK could answer it; the lowest of wlan.basic_rates_mbps is 2"],
    );
    let groups = "standard = '11b'\n[[stations]]\n[[stations]]\nrate_mbps = 6\n";
    wrong(
        &format!("{groups}{FLOW}"),
        &["stations[1].rate_mbps: 6 is not a rate of 802.11b (1, 2, \
        5.5, 11); the nearest are 5.5 and 11"],
    );
}

#[test]
fn features_belong_to_their_standard() {
    let with = |standard: &str, line: &str| {
        format!("standard = '{standard}'\nstations = 3\nwlan.{line}\n{FLOW}")
    };
    wrong(
        &with("11a", "preamble = 'long'"),
        &["wlan.preamble: 802.11a has no DSSS preamble; \
        remove the key"],
    );
    wrong(
        &with("11a", "slot = 'long'"),
        &["wlan.slot: 802.11a has the short slot (9 us) only; \
        remove the key"],
    );
    wrong(
        &with("11b", "slot = 'short'"),
        &["wlan.slot: 802.11b has the long slot (20 us) only; \
        remove the key"],
    );
}

#[test]
fn limits_of_the_mac() {
    wrong_with(
        "wlan.short_retry_limit = 0",
        "wlan.short_retry_limit: 0 would never send; it \
        counts all attempts, so 1 is the least",
    );
    wrong_with(
        "wlan.long_retry_limit = 256",
        "wlan.long_retry_limit: must be from 1 to 255, is \
        256",
    );
    wrong_with(
        "wlan.cw_min = 16",
        "wlan.cw_min: 16 is not of the form 2^k - 1; the nearest is \
        15",
    );
    wrong_with("wlan.cw_min = 0", "wlan.cw_min: 0 is not of the form 2^k - 1; the least is 1");
    wrong_with(
        "wlan.cw_max = 65535",
        "wlan.cw_max: 65535 is not of the form 2^k - 1; the most is \
        32767",
    );
    wrong_with("wlan.cw_max = 7", "wlan.cw_max: 7 is below cw_min, 15 (the default)");
    wrong_with(
        "wlan.mac_header_bytes = 101",
        "wlan.mac_header_bytes: must be from 0 to 100 \
        bytes, is 101",
    );
}

#[test]
fn stations_are_sane() {
    let stations = |lines: &str| format!("standard = '11g'\n{lines}\n{FLOW}");
    wrong(&stations("stations = 10001"), &["stations: 10001 are too many; at most 10000"]);
    wrong(
        &stations("stations.count = 9223372036854775807"),
        &["stations: 9223372036854775807 are \
        too many; at most 10000"],
    );
    wrong(
        &stations("stations.data_loss = 5"),
        &["stations.data_loss: a probability is from 0 to \
        below 1, is 5; 5 % is 0.05"],
    );
    wrong(
        &stations("stations.ack_loss = 1"),
        &["stations.ack_loss: a probability is from 0 to \
        below 1, is 1"],
    );
    wrong(
        &stations("stations.data_loss = nan"),
        &["stations.data_loss: a probability is from 0 \
        to below 1, is NaN"],
    );
    wrong(
        &stations("stations = []"),
        &["stations: there are none; a cell needs at least one, as \
        stations = 10"],
    );
}

#[test]
fn ends_make_a_flow() {
    let flow = |lines: &str| format!("{HEAD}[[flows]]\n{lines}\n");
    wrong(
        &flow("from = 'sta3'\nto = 'sta3'"),
        &["flows[0].to: from and to are both \"sta3\"; a \
        flow has two ends"],
    );
    wrong(
        &flow("from = 'server'\nto = 'ap'"),
        &["flows[0].to: a flow between server and ap never \
        crosses the cell"],
    );
    wrong(
        &flow("from = 'server'\nto = 'broadcast'"),
        &["flows[0].to: TCP cannot go to \"broadcast\", which acknowledges nothing; take \
        traffic.cbr, traffic.poisson, traffic.on_off, traffic.call, traffic.game, traffic.csv, \
        traffic.port or traffic.saturated"],
    );
    wrong(
        &flow("from = 'sta0'\nto = 'broadcast'\ntraffic = 'cbr'"),
        &["flows[0].to: only server \
        and ap send to \"broadcast\""],
    );
    wrong(
        &flow("from = 'broadcast'\nto = 'ap'"),
        &["flows[0].from: \"broadcast\" is where a flow \
        goes to; nothing comes from it"],
    );
    wrong(
        &flow("from = 'sta4-2'\nto = 'ap'"),
        &["flows[0].from: \"sta4-2\" counts backwards; \
        write \"sta2-4\""],
    );
    wrong(
        &flow("from = 'server'\nto = 'sta0'\ntraffic = 'saturated'\n[wire]"),
        &["flows[0].to: a \
        saturated source behind an infinitely fast wire would flood the access point in no time; \
        give wire.rate_mbps, or take from = \"ap\""],
    );
    wrong(
        &flow("from = 'ap'\nto = 'sta*'\ncount = 0"),
        &["flows[0].count: 0, and no other flows are switched on, so that nothing would be sent"],
    );
    wrong(
        &flow("from = 'ap'\nto = 'sta*'\ncount = 10001"),
        &["flows[0].count: 10 pairs of ends \
        with 10001 each make 100010 flows in all; at most 20000"],
    );
}

#[test]
fn packets_fit_the_air_and_the_queues() {
    wrong_flow(
        "tcp.mss_bytes = 2300",
        "flows[0].tcp.mss_bytes: 2300 bytes of segment, 52 of \
        headers and 8 of LLC exceed the largest MSDU, 2304 bytes [802.11-2020 clause 9.2.4.8]; the \
        most is 2244",
    );
    wrong_flow("tcp.mss_bytes = 0", "flows[0].tcp.mss_bytes: must be from 1 to 65535 bytes, is 0");
    wrong_flow(
        "traffic.cbr.payload_bytes = 0",
        "flows[0].traffic.cbr.payload_bytes: must be from \
        1 to 1000000 bytes, is 0",
    );
    wrong_flow(
        "traffic.saturated.payload_bytes = 2269",
        "flows[0].traffic.saturated.\
        payload_bytes: 2269 bytes of payload, 28 of headers and 8 of LLC exceed the largest MSDU, \
        2304 bytes [802.11-2020 clause 9.2.4.8]; the most is 2268",
    );
    wrong_with(
        "ap.queue.drop_tail.limit_bytes = 1499",
        "ap.queue.drop_tail.limit_bytes: 1499 \
        bytes do not hold one packet of 1500 bytes, the largest of all flows",
    );
    wrong_with(
        "ap.queue.drr.quantum_bytes = 0",
        "ap.queue.drr.quantum_bytes: must be from 1 to \
        1000000 bytes, is 0",
    );
}

#[test]
fn a_receive_window_is_sane() {
    wrong_flow(
        "tcp.window_bytes = 1000",
        "flows[0].tcp.window_bytes: 1000 would never let a full \
        segment of 1448 bytes pass",
    );
    wrong_flow(
        "tcp.window_bytes = 9000\ntcp.window_segments = 6",
        "flows[0].tcp.window_segments: \
        6 segments, and window_bytes 9000 too: they are the same; keep one",
    );
    wrong_flow(
        "tcp.window_max_bytes = 1000",
        "flows[0].tcp.window_max_bytes: 1000 would never let a full \
        segment of 1448 bytes pass",
    );
    wrong_flow(
        "tcp.window_max_bytes = 2000000000",
        "flows[0].tcp.window_max_bytes: must be from 1 to 1073741824 bytes, is 2000000000",
    );
    for (fixed, value) in [("window_bytes", 9000), ("window_segments", 6)] {
        wrong_flow(
            &format!("tcp.window_max_bytes = 90000\ntcp.{fixed} = {value}"),
            &format!(
                "flows[0].tcp.window_max_bytes: 90000 limits a window that grows, and {fixed} \
                {value} fixes it; keep one"
            ),
        );
    }
    wrong_flow(
        "tcp.window_segments = 0",
        "flows[0].tcp.window_segments: must be from 1 to \
        1073741824 segments, is 0",
    );
    wrong_flow(
        "tcp.window_segments = 741535",
        "flows[0].tcp.window_segments: must be from 1 to 741534 segments of 1448 bytes, is 741535",
    );
}

#[test]
fn tcp_is_sane() {
    wrong_flow(
        "tcp.initial_window_segments = 0",
        "flows[0].tcp.initial_window_segments: must be \
        from 1 to 1000000 segments, is 0",
    );
    wrong_flow(
        "tcp.rto_min_ms = 2000",
        "flows[0].tcp.rto_initial_ms: 1000 is not between \
        rto_min_ms, 2000, and rto_max_ms, 60000",
    );
    wrong_flow(
        "tcp.rto_min_ms = 2000\ntcp.rto_initial_ms = 0",
        "flows[0].tcp.rto_initial_ms: must be from 0.001 to 3600000 ms, is 0",
    );
    wrong_flow(
        "tcp.rto_min_ms = 200\ntcp.rto_max_ms = 100",
        "flows[0].tcp.rto_min_ms: 200 is \
        above rto_max_ms, 100",
    );
    wrong_flow(
        "tcp.rto_min_ms = -inf",
        "flows[0].tcp.rto_min_ms: must be from 0.001 to 3600000 \
        ms, is -inf",
    );
    wrong_flow(
        "tcp.delayed_ack.fixed.segments = 0",
        "flows[0].tcp.delayed_ack.fixed.segments: \
        must be from 1 to 1000000, is 0",
    );
    malformed_flow(
        "tcp.delayed_ack.dynamic.thresholds = [2, 5]",
        "flows[0].tcp.delayed_ack.dynamic.thresholds (line 8): takes 3 values, has 2",
    );
    wrong_flow(
        "tcp.delayed_ack.dynamic.thresholds = [9, 5, 2]",
        "flows[0].tcp.delayed_ack.dynamic.\
        thresholds: must ascend, as [2, 5, 9], is [9, 5, 2]",
    );
}

#[test]
fn traffic_is_sane() {
    wrong_flow(
        "traffic.cbr.rate_mbps = 0",
        "flows[0].traffic.cbr.rate_mbps: must be from 1e-6 to \
        1000000 Mb/s, is 0",
    );
    wrong_flow(
        "traffic.cbr = { rate_mbps = 100, payload_bytes = 1 }",
        "flows[0].traffic.cbr.\
        rate_mbps: 100 Mb/s in datagrams of 1 bytes are 12500000 a second; at most 1000000",
    );
    wrong_flow(
        "traffic.bulk.size_bytes = 0",
        "flows[0].traffic.bulk.size_bytes: must be from 1 to \
        1e15 bytes, is 0",
    );
    wrong_flow(
        "traffic.web.files = 0",
        "flows[0].traffic.web.files: 0 files are no session; the \
         minimum is 1",
    );
    wrong_flow(
        "traffic.web.think_s = -1",
        "flows[0].traffic.web.think_s: must be from 0 to \
        1000000 s, is -1",
    );
    wrong_flow(
        "traffic.web.size.pareto.shape = 1",
        "flows[0].traffic.web.size.pareto.shape: must \
        be above 1, or the mean is infinite, is 1",
    );
    wrong_flow(
        "traffic.web.size.empirical = {}",
        "flows[0].traffic.web.size.empirical.bytes: 0 \
        sizes; a list has from 1 to 100000, as bytes = [1000, 5000]",
    );
    wrong_flow(
        "traffic.web.size.empirical = { bytes = [1], weights = [1, 2] }",
        "flows[0].traffic.\
        web.size.empirical.weights: 2 weights for 1 sizes; each size has one",
    );
    wrong_flow(
        "traffic.web.size.empirical = { bytes = [1], weights = [0] }",
        "flows[0].traffic.\
        web.size.empirical.weights: all are 0; at least one size must occur",
    );
    wrong_flow(
        "traffic.web.size.empirical = { bytes = [1], weights = [-1] }",
        "flows[0].traffic.\
        web.size.empirical.weights[0]: must be from 0 to 1e15, is -1",
    );
}

#[test]
fn absurd_runs_are_refused() {
    let text = |lines: &str| format!("standard = '11g'\nstations = 1000\n{lines}\n");
    wrong(
        &text(
            "duration_s = 1e6\nmeasure.interval_s = 1000\nap.queue.drop_tail.limit_packets = 9\n\
             [[flows]]\nfrom = 'ap'\nto = 'sta*'\ntraffic.cbr.rate_mbps = 1",
        ),
        &["duration_s: 1000000 s would take about 1.35e11 steps (10000 a second in the cell, \
           125000 of datagram sources), and at most 1e11 are run; shorten it or lower the rates"],
    );
    wrong(
        &text("duration_s = 1000\n[[flows]]\nfrom = 'ap'\nto = 'sta*'\ntraffic.cbr.rate_mbps = 1"),
        &["flows[0].traffic: up to 125000000 datagrams could wait in a queue without limit, and \
           memory is kept for 10000000; limit the queues on the path, as \
           ap.queue.drop_tail.limit_packets"],
    );
}

/// Jumbo frames are usual on wires; only a cell has MSDUs.
#[test]
fn segments_fit_a_packet_where_there_are_only_wires() {
    let faults = |mss: u32| {
        let text = format!(
            "duration_s = 1\n[[links]]\nfrom = 'a'\nto = 'b'\nrate_mbps = 100\n\
             [[flows]]\nfrom = 'a'\nto = 'b'\ntcp.mss_bytes = {mss}\n"
        );
        let found = Scenario::parse(&text).unwrap().resolve().err().unwrap_or_default();
        found.iter().map(ToString::to_string).collect::<Vec<_>>()
    };
    assert_eq!(faults(8948), [""; 0]);
    let message = "flows[0].tcp.mss_bytes: 65535 bytes of segment and 52 of headers exceed the \
                   largest IP packet, 65535 bytes [RFC 791 section 3.1]; the most is 65483";
    assert_eq!(faults(65_535), [message]);
}

#[test]
fn links_that_would_hold_too_many_packets_are_refused() {
    let refused = |link: &str, flow: &str| {
        let text = format!(
            "standard = '11g'\nstations = 1\nduration_s = 20\n[[links]]\nfrom = 'sta0'\n\
             to = 'h0'\nqueue.drop_tail.limit_packets = 9\n{link}\n\
             [[flows]]\nfrom = 'sta0'\nto = 'h0'\n{flow}\n"
        );
        let found = Scenario::parse(&text).unwrap().resolve().err().unwrap_or_default();
        let all = found.iter().map(ToString::to_string);
        all.filter(|fault| fault.starts_with("links")).collect::<Vec<_>>()
    };
    let (fast, long) = ("rate_mbps = 1e4\n", "delay_ms = 60000");
    let whole = format!("{fast}{long}");
    // 1e10 b/s for 20 s, in packets of 500 bytes.
    let message = "links[0].delay_ms: up to 50000000 packets could be in flight on sta0-h0, whose \
                   delay is 60000 ms, and memory is kept for 10000000; lower its rate or its delay";
    let small = "payload_bytes = 472";
    let saturated = format!("traffic.saturated.{small}");
    assert_eq!(refused(&whole, &saturated), [message]);
    assert_eq!(refused(&whole, &format!("traffic.cbr = {{ rate_mbps = 9e3, {small} }}")).len(), 1);
    assert!(refused(&format!("{fast}delay_ms = 1000"), &saturated).is_empty(), "1 s of it");
    assert!(refused(&format!("rate_mbps = 100\n{long}"), &saturated).is_empty());
    assert!(refused(&whole, "traffic.cbr = { rate_mbps = 100 }").is_empty(), "the source is slow");
    assert!(refused(&whole, "").is_empty(), "a receive window limits TCP");
    let wide = "tcp = { window_bytes = 1000000000, mss_bytes = 20 }";
    assert_eq!(refused(&whole, wide).len(), 1);
}

/// The fault of setting a path of a minimal scenario.
#[track_caller]
fn unsettable(path: &str, value: &str, expected: &str) {
    let scenario = Scenario::parse(&format!("{HEAD}{FLOW}")).unwrap();
    assert_eq!(scenario.set(path, value).unwrap_err()[0].to_string(), expected);
}

#[test]
fn faults_of_setting_name_the_path() {
    unsettable(
        "wlan.rate_mpbs",
        "5",
        "wlan.rate_mpbs: unknown key; did you mean rate_mbps or rate_control?",
    );
    unsettable("wlann.rate_mbps", "5", "wlann: unknown key; did you mean wlan?");
    unsettable("wlan.rate_mbps", "fast", "wlan.rate_mbps: must be a number, is \"fast\"");
    unsettable(
        "flows[*].traffic.cbx.rate_mbps",
        "5",
        "flows[0].traffic.cbx: unknown key; did you mean cbr?",
    );
    unsettable("flows[3].from", "ap", "flows[3]: there is only [0]");
    unsettable(
        "flows.from",
        "ap",
        "flows: is an array of 1 table: write flows[*].from, or \
        flows[0] of 1",
    );
    unsettable("wlan[0].slot", "long", "wlan: the document has no list here");
    unsettable("title[0]", "x", "title: the document has no list here");
    unsettable("standard[0]", "x", "standard: is not a list but \"11g\"");
    unsettable(
        "standard.x",
        "x",
        "standard.x: unknown key; the keys here are 11b, 11a, 11g, 11n, 11ac, 11ax, 11be",
    );
    unsettable("duration_s.x", "x", "duration_s: must be a number, is a table with the key x");
    unsettable(
        "title",
        "\"x",
        "title: \"x is not a TOML value: invalid basic string, expected \
        `\"`",
    );
    unsettable("title", "", "title: a value is missing: write path=value");
    unsettable(
        "",
        "5",
        "not a path: a key between dots is missing or is not a plain word; a \
        path reads as flows[0].tcp.mss_bytes",
    );
    unsettable("flows[a].from", "5", "flows[a].from: no name is 'a'; there are server->sta*");
}

#[test]
fn faults_of_getting_name_the_path() {
    let scenario = Scenario::parse(&format!("{HEAD}{FLOW}")).unwrap();
    let message = |path| scenario.get(path).unwrap_err()[0].to_string();
    assert_eq!(message("wlan.slott"), "wlan.slott: unknown key; did you mean slot?");
    assert_eq!(message("flows[1]"), "flows[1]: there is only [0]");
    assert_eq!(message("flows.to"), "flows.to: flows is a list of 1 value: write flows[*]");
    assert_eq!(
        message("duration_s.x"),
        "duration_s.x: duration_s is a single value and has no parts"
    );
    assert_eq!(
        message("flows[*].traffic.cbr"),
        "flows[0].traffic.cbr: unknown key; the keys here are bulk"
    );
}

#[test]
fn the_queues_of_linux_are_possible_and_stand_where_they_work() {
    wrong_with(
        "wire.queue = 'mac80211'",
        "wire.queue.mac80211: this is the queue of Linux's Wi-Fi stack, for ap.queue and \
         stations.queue; fq_codel is its like for a wire",
    );
    wrong_with(
        "ap.queue.mac80211.limit_packets = 0",
        "ap.queue.mac80211.limit_packets: 0 would drop every packet: the limit counts the one in \
         service too; 1 is the least, and without the key there is no limit",
    );
    wrong_with(
        "ap.queue.mac80211.memory_limit_bytes = 2303",
        "ap.queue.mac80211.memory_limit_bytes: Linux counts 2304 bytes for a packet of 1500: fewer \
         hold no packet",
    );
    wrong_with(
        "ap.queue.mac80211.aql.low_us = 12001",
        "ap.queue.mac80211.aql.low_us: 12001 is above high_us, 12000; the low limit is the \
         stricter one",
    );
    wrong_with(
        "ap.queue.mac80211 = { target_ms = 200 }",
        "ap.queue.mac80211.target_ms: 200 is above interval_ms, 100; it is 5 % to 10 % of it (RFC \
         8289 section 3.2)",
    );
    wrong_with("ap.hardware_aggregates = 0", "ap.hardware_aggregates: must be from 1 to 64, is 0");
    wrong(
        &format!("standard = '11g'\nstations.airtime_weight = 0\n{FLOW}"),
        &["stations.airtime_weight: must be from 1 to 65535, is 0"],
    );
    wrong(
        "standard = '11g'\nradio.ad_hoc = true\n[stations]\ncount = 2\n\
         hardware_aggregates = 2\nqueue = 'mac80211'\nring_m = 10\n\
         [[flows]]\nfrom = 'sta0'\nto = 'sta1'\n",
        &[
            "stations.hardware_aggregates: is for cells with an access point, not for an ad-hoc \
             network; remove it",
            "stations.queue.mac80211: is for cells with an access point, not for an ad-hoc \
             network; remove it",
        ],
    );
}

#[test]
fn queues_are_possible_and_stand_where_they_work() {
    wrong_with(
        "ap.queue.red = { min_packets = 20, max_packets = 20 }",
        "ap.queue.red.max_packets: 20 is not above min_packets, 20",
    );
    all_wrong_with(
        "ap.queue.red = { min_packets = 5, max_bytes = 9000 }",
        &[
            "ap.queue.red: thresholds are in packets or in bytes; give one pair of them",
            "ap.queue.red.min_bytes: missing; with max_bytes both thresholds are in bytes",
        ],
    );
    wrong_with("ap.queue.red.max_p = 0", "ap.queue.red.max_p: must be above 0 and at most 1, is 0");
    wrong_with(
        "ap.queue.codel.target_ms = 200",
        "ap.queue.codel.target_ms: 200 is above interval_ms, 100; it is 5 % to 10 % of it \
         (RFC 8289 section 3.2)",
    );
    wrong_with(
        "ap.queue.fq_codel.buckets = 0",
        "ap.queue.fq_codel.buckets: must be from 1 to 1048576, is 0",
    );
    wrong_with(
        "ap.queue.fq_codel.limit_packets = 0",
        "ap.queue.fq_codel.limit_packets: 0 would drop every packet: the limit counts the one in \
         service too; 1 is the least, and without the key there is no limit",
    );
    wrong_with(
        "ap.queue.pie.update_ms = 0",
        "ap.queue.pie.update_ms: must be from 1 to 60000 ms, is 0",
    );
    wrong_with(
        "wire.queue = 'airtime_fair'",
        "wire.queue.airtime_fair: no airtime is used on a wire; this is a queue for ap.queue, and \
         fq_codel or drr share a wire",
    );
    wrong(
        &format!("standard = '11g'\nstations.queue = 'airtime_fair'\n{FLOW}"),
        &["stations.queue.airtime_fair: a station sends to the access point only, which needs no \
           share; this is a queue for ap.queue"],
    );
    wrong_with(
        "ap.queue.airtime_fair.station.drop_tail.limit_bytes = 1499",
        "ap.queue.airtime_fair.station.drop_tail.limit_bytes: 1499 bytes do not hold one packet of \
         1500 bytes, the largest of all flows",
    );
    wrong_with(
        "ap.queue.pie.limit_bytes = 1499",
        "ap.queue.pie.limit_bytes: 1499 bytes do not hold one packet of 1500 bytes, the largest of \
         all flows",
    );
}

#[test]
fn losses_of_a_wire_say_what_they_need() {
    wrong_with(
        "wire.loss = 'uniform'",
        "wire.loss.uniform.probability: missing; as 0.01 for one in a hundred",
    );
    wrong_with(
        "wire.loss.uniform.probability = 5",
        "wire.loss.uniform.probability: a probability is from 0 to below 1, is 5; 5 % is 0.05",
    );
    all_wrong_with(
        "wire.loss.gilbert_elliott = { good_ms = 10, bad_loss = 1.5 }",
        &[
            "wire.loss.gilbert_elliott.bad_ms: missing; mean length in milliseconds, as 100",
            "wire.loss.gilbert_elliott.bad_loss: must be from 0 to 1, is 1.5",
        ],
    );
    wrong_with(
        "wire.loss.gilbert_elliott_packets = { to_bad = 0.1, to_good = 0 }",
        "wire.loss.gilbert_elliott_packets.to_good: 0 would leave the channel bad forever; above \
         0 to 1",
    );
    wrong_with(
        "wire.loss = 'periodic'",
        "wire.loss.periodic.every: missing; as 100 for each hundredth packet",
    );
    wrong_with(
        "wire.loss = 'list'",
        "wire.loss.list.packets: missing; the numbers of lost packets, as [10, 11, 20]",
    );
    wrong_with(
        "wire.loss = 'trace'",
        "wire.loss.trace.times_s: missing; the times of the changes, as [10.0, 12.0]",
    );
    all_wrong_with(
        "wire.loss.list.packets = [0, 7, 7]",
        &[
            "wire.loss.list.packets: there is no packet 0: packets are counted from 1",
            "wire.loss.list.packets: must ascend, each number once",
        ],
    );
    all_wrong_with(
        "wire.loss.trace = { times_s = [2, 1], probabilities = [0.5], period_s = 1 }",
        &[
            "wire.loss.trace.times_s: must ascend, each time once",
            "wire.loss.trace.probabilities: 1 for 2 times; one for each of times_s",
            "wire.loss.trace.period_s: 1 is not after the last of times_s, 1 s",
        ],
    );
    malformed(
        "wire.loss.bernoulli = 0.1",
        "wire.loss.bernoulli (line 1): unknown key; the keys here are uniform, \
         gilbert_elliott, gilbert_elliott_packets, periodic, list, trace",
    );
    let changing = "duration_s = 1e6\nmeasure.interval_s = 1000\n\
                    wire.loss.gilbert_elliott = { good_ms = 0.01, bad_ms = 0.01 }\n";
    wrong(
        &format!("standard = '11g'\nstations = 10\n{changing}{FLOW}"),
        &["duration_s: 1000000 s would take about 2.1e11 steps (10000 a second in the cell, 0 of \
           datagram sources, 200000 of links' channels), and at most 1e11 are run; shorten it or \
           lower the rates"],
    );
}

const LINK: &str = "[[links]]\nfrom = 'a'\nto = 'b'\nrate_mbps = 10\n";

/// All semantic faults of a link between a and b with these additions.
#[track_caller]
fn wrong_link(more: &str, expected: &[&str]) {
    wrong(&format!("{LINK}{more}\n[[flows]]\nfrom = 'a'\nto = 'b'\n"), expected);
}

/// The one semantic fault of the ends of a flow, with a link between a and b.
#[track_caller]
fn wrong_ends(from: &str, to: &str, expected: &str) {
    wrong(&format!("{LINK}[[flows]]\nfrom = '{from}'\nto = '{to}'\n"), &[expected]);
}

/// The one semantic fault of links in a cell of two stations, with a flow from the last link's end.
#[track_caller]
fn wrong_lan(more: &str, links: &[[&str; 2]], expected: &str) {
    let link = |[from, to]: &[&str; 2]| format!("[[links]]\nfrom = '{from}'\nto = '{to}'\n");
    let links: String = links.iter().map(link).collect();
    let head = "standard = '11g'\nduration_s = 2\n";
    wrong(&format!("{head}{more}\n{links}[[flows]]\nfrom = 'lan'\nto = 'server'\n"), &[expected]);
}

#[test]
fn links_of_stations() {
    let two = "stations = 2";
    wrong_lan(
        two,
        &[["sta2", "lan"]],
        "links[0].from: there is no sta2: there are 2 stations, sta0 to sta1",
    );
    for name in ["sta*", "sta0-1", "sta00", "sta99999999999"] {
        let message = "is not one station; a link ends at one, as \"sta0\"";
        wrong_lan(two, &[[name, "lan"]], &format!("links[0].from: \"{name}\" {message}"));
    }
    let one_way = "what is wired reaches the air by one of them only";
    wrong_lan(
        two,
        &[["sta0", "lan"], ["lan", "ap"]],
        &format!("links[1].to: wires now lead from sta0 to ap; {one_way}"),
    );
    wrong_lan(
        two,
        &[["sta0", "lan"], ["r", "sta1"], ["lan", "r"]],
        &format!("links[2].to: wires now lead from sta0 to sta1; {one_way}"),
    );
    wrong_lan(
        "stations = 2\nwire.delay_ms = 1",
        &[["server", "lan"], ["lan", "sta1"]],
        &format!("links[1].to: wires now lead from ap to sta1; {one_way}"),
    );
    wrong_lan(
        "stations = { count = 2, power_save = { legacy = {} } }\nwlan.beacons = {}",
        &[["sta1", "lan"]],
        "links[0].from: \"sta1\" saves power, and a router with wires is always awake",
    );
    let ad_hoc = "radio.ad_hoc = true\nstations = { count = 2, ring_m = 10 }";
    let roams = "ap = { position_m = [1, 0] }\ncells = [{ position_m = [50, 0] }]\nradio = {}\n\
                 wlan.beacons = {}\nstations = { roaming = {}, waypoints = [\
                 { at_s = 0, position_m = [0, 0] }, { at_s = 1, position_m = [9, 0] }] }";
    wrong_lan(
        roams,
        &[["sta0", "lan"]],
        "links[0].from: \"sta0\" roams, and a router with wires stays with its access point",
    );
    wrong_lan(
        ad_hoc,
        &[["sta1", "lan"]],
        "links[0].from: \"sta1\" is a node of an ad-hoc network, whose wires lead from its \
         gateway: give \"ap\"",
    );
    wrong(
        "standard = '11g'\nduration_s = 2\nstations = 2\n[[links]]\nfrom = 'sta1'\nto = 'server'\n\
         delay_ms = 1\n[[flows]]\nfrom = 'server'\nto = 'broadcast'\ntraffic.cbr.rate_mbps = 1\n",
        &["flows[0].to: server is behind a station, and what is broadcast comes from the access \
           point's side"],
    );
    wrong(
        "standard = '11g'\nduration_s = 2\nstations = 2\n[[links]]\nfrom = 'sta1'\nto = 'lan'\n\
         [[flows]]\nfrom = 'sta*'\nto = 'lan'\n",
        &["flows[0].to: no link from sta1 to lan has a rate or a delay, so that everything would \
           happen in one instant; give links[0].rate_mbps"],
    );
}

#[test]
fn ends_of_links() {
    let second = |from: &str, to: &str| format!("[[links]]\nfrom = '{from}'\nto = '{to}'");
    wrong_link(
        &second("", "sta3"),
        &[
            "links[1].from: missing; \"server\", \"ap\", or a name for a host or router, as \"r1\"",
            "links[1].to: there is no sta3: the cell has no stations",
        ],
    );
    wrong_link(
        &second("ap", "broadcast"),
        &[
            "links[1].from: there is no access point: without `standard` and `stations` there is \
             no cell",
            "links[1].to: \"broadcast\" is all stations of the cell and not a node",
        ],
    );
    wrong_link(
        &second("b", "c 1"),
        &["links[1].to: \"c 1\" is no name of a node: it has up to 40 letters, digits, \
           underscores and hyphens"],
    );
    wrong_link(
        &second("b", "b"),
        &["links[1].to: from and to are both \"b\"; a link has two ends"],
    );
    wrong_link(
        &second("b", "a"),
        &["links[1].to: b and a are linked by links[0] already; a link has two directions, \
           and its `reverse` says how the reverse one differs"],
    );
    wrong_link(
        &format!("{}\nname = 'a-b'", second("b", "c")),
        &["links[1].name: links[0] is called \"a-b\" too; each link needs its own name"],
    );
    wrong_with(
        "wire = {}\n[[links]]\nfrom = 'ap'\nto = 'server'",
        "links[0].to: ap and server are linked by wire already; a link has two directions, \
         and its `reverse` says how the reverse one differs",
    );
}

#[test]
fn flows_over_links() {
    wrong_ends("a", "bb", "flows[0].to: \"bb\" is no node of a link; there are a, b");
    wrong_ends("server", "b", "flows[0].from: \"server\" is no node of a link; there are a, b");
    wrong_ends("a", "", "flows[0].to: missing; an end of a flow is a node of a link: a, b");
    wrong_ends("a", "a", "flows[0].to: from and to are both \"a\"; a flow has two ends");
    wrong(
        "[[links]]\nfrom = 'left'\nto = 'right'\nrate_mbps = 1\n\
         [[flows]]\nfrom = 'left'\nto = 'rihgt'\n",
        &["flows[0].to: \"rihgt\" is no node of a link; did you mean \"right\"? \
             There are left, right"],
    );
    let apart = "[[links]]\nfrom = 'c'\nto = 'd'\n[[flows]]\nfrom = 'a'\nto = 'd'\n";
    wrong(&format!("{LINK}{apart}"), &["flows[0].to: no links lead from a to d; a reaches b"]);
    wrong(
        &format!("{HEAD}{LINK}[[flows]]\nfrom = 'a'\nto = 'sta*'\n"),
        &["flows[0].to: no links lead from a to sta0; a reaches b"],
    );
    wrong(
        &format!("{HEAD}{LINK}[[flows]]\nfrom = 'A'\nto = 'sta0'\n"),
        &["flows[0].from: \"A\" is no end of a flow; did you mean \"a\"? An end is \"server\", \
           \"ap\", a station \"sta3\", all stations \"sta*\", or some \"sta0-4\", or a node of a \
           link; a flow may go to \"broadcast\""],
    );
    wrong(
        &format!("{HEAD}{LINK}[[flows]]\nfrom = 'server'\nto = 'ap'\n"),
        &["flows[0].to: server is at ap: no link ends at \"server\", and no packet crosses any"],
    );
    let instant = "[[links]]\nfrom = 'a'\nto = 'b'\n[[flows]]\nfrom = 'a'\nto = 'b'\n";
    wrong(
        instant,
        &["flows[0].to: no link from a to b has a rate or a delay, so that everything would \
             happen \
           in one instant; give links[0].rate_mbps"],
    );
    let endless = instant.replace("'b'\n[[flows]]", "'b'\ndelay_ms = 1\n[[flows]]");
    wrong(
        &format!("{endless}traffic = 'saturated'\n"),
        &["flows[0].to: a saturated source before an infinitely fast link would never end; give \
           links[0].rate_mbps"],
    );
}

#[test]
fn values_of_links() {
    wrong_link(
        "delay_ms = -1\nqueue.drop_tail.limit_bytes = 100\nreverse = { rate_mbps = 0 }",
        &[
            "links[0].delay_ms: must be from 0 to 60000 ms, is -1",
            "links[0].queue.drop_tail.limit_bytes: 100 bytes do not hold one packet of 1500 bytes, \
             the largest of all flows",
            "links[0].reverse.rate_mbps: must be from 0.001 to 1000000 Mb/s, is 0",
        ],
    );
    wrong_link(
        "reverse.queue = 'airtime_fair'",
        &["links[0].reverse.queue.airtime_fair: no airtime is used on a wire; this is a queue \
             for \
           ap.queue, and fq_codel or drr share a wire"],
    );
    malformed(
        "[[links]]\nrate = 3",
        "links[0].rate (line 2): unknown key; did you mean rate_mbps?",
    );
    malformed(
        "[[links]]\nreverse.from = 'a'",
        "links[0].reverse.from (line 2): unknown key; it belongs at links[*].from or \
         flows[*].from; the keys here are rate_mbps, delay_ms, queue, driver, overhead_bytes, \
         loss, reorder",
    );
    let fast =
        "[[links]]\nfrom = 'a'\nto = 'b'\nrate_mbps = 1e6\n[[flows]]\nfrom = 'a'\nto = 'b'\n";
    wrong(
        &format!("duration_s = 1e5\nmeasure.interval_s = 1\n{fast}tcp.window_bytes = 1000000000\n"),
        &["duration_s: 100000 s would take about 1.66667e13 steps (0 a second in the cell, 0 of \
           datagram sources, 166666666.666667 of TCP over links), and at most 1e11 are run; \
           shorten \
           it or lower the rates"],
    );
}

#[test]
fn without_a_cell_nothing_is_said_of_one() {
    let cell = "[wire]\n[ap]\nqueue = 'codel'\n[wlan]\ncw_min = 7\n";
    wrong(
        &format!("{cell}{LINK}[[flows]]\nfrom = 'a'\nto = 'b'\n"),
        &[
            "wire: it ends at the access point, and without `standard` and `stations` there is no \
             cell; take [[links]]",
            "ap: there is no cell without `standard` and `stations`; remove the key, or give both",
            "wlan: there is no cell without `standard` and `stations`; remove the key, or give \
             both",
        ],
    );
    wrong(
        &format!("standard = '11g'\n{LINK}[[flows]]\nfrom = 'a'\nto = 'b'\n"),
        &["stations: there are none; a cell needs at least one, as stations = 10"],
    );
    wrong(
        &format!("stations = 2\n{LINK}[[flows]]\nfrom = 'a'\nto = 'b'\n"),
        &["standard: missing; one of \"11b\", \"11a\", \"11g\", \"11n\", \"11ac\", \"11ax\", \
             \"11be\""],
    );
}

#[test]
fn a_ring_must_be_able_to_fill() {
    wrong_with(
        "wire.driver.ring_packets = 64",
        "wire.driver: the ring before an infinitely fast link is empty; give wire.rate_mbps",
    );
    wrong_with(
        "wire.rate_mbps = 100\nwire.queue.cake.bandwidth_mbps = 20\nwire.driver.bql = true",
        "wire.driver: the queue cake limits the rate itself, below which the ring is empty; remove \
         it, or the rate of cake",
    );
    wrong_with(
        "wire.rate_mbps = 100\nwire.driver = { bql_min_bytes = 3000, bql_max_bytes = 2000 }",
        "wire.driver.bql_max_bytes: 2000 is below bql_min_bytes, 3000",
    );
    let link = "[[links]]\nfrom = 'server'\nto = 'ap'\n";
    wrong_with(
        &format!(
            "{link}rate_mbps = 9\nreverse = {{ queue.cake.bandwidth_mbps = 5, driver = {{}} }}"
        ),
        "links[0].reverse.driver: the queue cake limits the rate itself, below which the ring is \
         empty; remove it, or the rate of cake",
    );
    wrong_with(
        &format!("{link}driver.ring_packets = 64"),
        "links[0].driver: the ring before an infinitely fast link is empty; give \
         links[0].rate_mbps",
    );
    let ring = Scenario::parse(&format!("{HEAD}wire.driver.ring = 64\n{FLOW}")).unwrap_err();
    assert_eq!(
        ring.iter().map(ToString::to_string).collect::<Vec<_>>(),
        [
            "wire.driver: the ring before an infinitely fast link is empty; give wire.rate_mbps",
            "wire.driver.ring: unknown key; did you mean ring_packets?",
        ]
    );
}
