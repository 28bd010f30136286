"""Uplink OFDMA in cells: agreement with ns-3 and closed forms, laws, and refusals."""

from __future__ import annotations

import pytest

import simoom as sm

TOLERANCE = 0.03
"""Bands of simulated points, written before the runs."""
NS3 = {
    "width_mhz": 20,
    "mcs": 7,
    "ppdu_timing": "ns3",
    "edca_defaults": "ns3",
    "aggregation": {"missed_block_ack": "retransmit"},
}
"""As in ns-3's run of four saturated uplinks with datagrams of 1472 bytes."""
POLLS = {"access_interval_us": 100, "trigger_padding_us": 0, "queue_size": "legacy"}
NO_BSRP = POLLS | {"bsrp": False}
TXOP = {"edca": {"best_effort": {"cw_min": 15, "cw_max": 1023, "aifsn": 3, "txop_limit_us": 8160}}}
"""Of the access point only."""


def cell(stations: int | dict, wlan: dict, **keys) -> sm.Scenario:
    """Return a cell whose stations always have datagrams for the access point."""
    up = {"from": "sta*", "to": "ap", "traffic": {"saturated": {"payload_bytes": 1472}}}
    return sm.Scenario(
        standard="11ax",
        stations=stations,
        duration_s=keys.pop("duration_s", 4.0),
        warmup_s=0.3,
        wlan=wlan,
        ap=keys.pop("ap", {}),
        flows=keys.pop("flows", [up]),
    )


def goodput(scenario: sm.Scenario, seed: int = 1) -> float:
    return float(sm.run(scenario, seed=seed, check=True).summary["total.goodput_mbps"])


def mean_of_three(scenario: sm.Scenario) -> float:
    return sum(goodput(scenario, seed) for seed in (1, 2, 3)) / 3


def test_saturated_uplinks_by_edca_are_those_of_ns3():
    assert mean_of_three(cell(4, NS3, duration_s=10.0)) == pytest.approx(69.51, rel=TOLERANCE)


@pytest.mark.parametrize(("polls", "mpdus"), [(NO_BSRP, 28 + 12), (POLLS, 28 + 8)])
def test_triggers_beside_edca_give_what_both_have(polls, mpdus):
    # The access point has 1 of 5 accesses, of 8.16 ms: 4 stations have 7 MPDUs of 11776 bits in
    # PPDUs of 5.48 ms, and in the rest 3 or, with BSRPs, 2. Each of the others has 37 MPDUs in 5.53
    # ms. Collisions cost as much time as among five stations.
    five = mean_of_three(cell(5, NS3, duration_s=10.0))
    lost = 5 * 5530 * (37 * 11776 / 5530 / five - 1)
    expected = (4 * 37 + mpdus) * 11776 / (4 * 5530 + 8160 + lost)
    scenario = cell(4, NS3 | {"mu": {"uplink": polls}}, ap=TXOP, duration_s=10.0)
    assert mean_of_three(scenario) == pytest.approx(expected, rel=TOLERANCE)


MUTED = {"best_effort": {"aifsn": 0, "timer": 1}}


@pytest.mark.parametrize("stations", [4, 8])
def test_muted_stations_send_by_triggers_only(stations):
    # ns-3 has 51.53 Mb/s, and 6.42 to 6.46 of each of eight stations. The closed form: 28 + 8 MPDUs
    # in 8.16 ms, AIFS and 7.5 slots.
    scenario = cell(stations, NS3 | {"mu": {"uplink": POLLS, "edca": MUTED}}, ap=TXOP)
    summary = sm.run(scenario, check=True).summary
    found = summary["total.goodput_mbps"]
    assert found == pytest.approx((28 + 8) * 11776 / (8160 + 110.5), rel=TOLERANCE)
    assert found == pytest.approx(51.53, rel=TOLERANCE)
    each = [summary[f"flows[{n}].goodput_mbps"] for n in range(stations)]
    assert max(each) - min(each) < 0.02 * max(each)
    assert summary["airtime.collision_fraction"] == 0
    if stations == 4:
        # Packets always wait, for the next of two Basic Trigger frames in 8.27 ms.
        waits = {summary[f"stations[{n}].mu.muted_fraction"] for n in range(stations)}
        assert waits == {1.0}
        each = [summary[f"stations[{n}].mu.muted_s"] for n in range(stations)]
        assert each == pytest.approx([8.27e-3 / 2] * stations, rel=0.01)


def test_where_sizes_of_queues_are_not_known_answers_are_short():
    # ns-3's rules: data tells nothing, so that each Basic Trigger frame asks for one MPDU. In 8.16
    # ms eight of them, of 96 us at 6 Mb/s, and answers of 796 us fit, then AIFS and 7.5 slots.
    unknown = {"told_in": "nulls", "lifetime_ms": 20, "unknown_bytes": 1538}
    mu = {"uplink": NO_BSRP | {"reports": unknown}, "edca": MUTED}
    found = goodput(cell(4, NS3 | {"mu": mu}, ap=TXOP))
    assert found == pytest.approx(8 * 4 * 11776 / (8160 - 380 + 110.5), rel=0.01)
    # Where data tells it, they last as long as the limit allows.
    told = {**mu, "uplink": NO_BSRP}
    assert goodput(cell(4, NS3 | {"mu": told}, ap=TXOP)) > 1.05 * found


def test_a_station_that_contends_by_mu_edca_is_not_muted():
    slow = {"best_effort": {"aifsn": 10, "timer": 255}}
    scenario = cell(4, NS3 | {"mu": {"uplink": POLLS, "edca": slow}}, ap=TXOP, duration_s=2.0)
    summary = sm.run(scenario, check=True).summary
    assert summary["stations[0].mu.triggers"] > 100
    assert summary["stations[0].mu.muted_fraction"] == 0
    assert summary["stations[0].mu.muted_s"] is None


def delay_s(**keys) -> float:
    """Return the 95th percentile of the delay under timers of 2.089 s."""
    edca = {"best_effort": {"aifsn": 0, "timer": 255}}
    mu = {"uplink": {"access_interval_us": 1000} | keys, "edca": edca, "min_users": 1}
    up = {"from": "sta*", "to": "ap", "traffic": {"cbr": {"rate_mbps": 8.0}}}
    down = {"from": "ap", "to": "sta*", "traffic": {"cbr": {"rate_mbps": 1.0}}}
    scenario = cell(4, {"mcs": 7, "mu": mu}, flows=[up, down], duration_s=10.0)
    return float(sm.run(scenario, check=True).summary["total.delay_s.p95"])


def test_long_timers_need_polls():
    assert delay_s() < 0.01
    assert delay_s(bsrp=False) > 0.1


def test_ns3_needs_a_txop_limit_to_come_from_reports_to_data():
    def triggered(**keys) -> float:
        scenario = cell(4, NS3 | {"mu": {"uplink": POLLS | keys}}, duration_s=1.0)
        return float(sm.run(scenario, check=True).summary["airtime.padding_fraction"])

    # Only HE TB PPDUs with data pad by whole MPDUs.
    assert triggered() > 10 * triggered(after_bsrp="ns3")


@pytest.mark.parametrize("scheduler", ["round_robin", "head_of_line"])
def test_all_packets_are_accounted_for_under_losses(scheduler):
    # The checker holds conservation, windows, resource units, the common end, and the order.
    both = [
        {"from": "ap", "to": "sta*", "traffic": {"cbr": {"rate_mbps": 1.0, "payload_bytes": 700}}},
        {"from": "sta*", "to": "ap", "traffic": {"cbr": {"rate_mbps": 2.0, "payload_bytes": 300}}},
    ]
    lossy = {"count": 5, "data_loss": 0.2, "ack_loss": 0.1}
    uplink = {"access_interval_us": 500, "queue_size": "legacy"}
    wlan = {"mcs": 7, "mu": {"scheduler": scheduler, "uplink": uplink}}
    summary = sm.run(cell(lossy, wlan, flows=both), check=True).summary
    assert summary["airtime.trigger_fraction"] > 0.003
    assert summary["stations[0].repeated_mpdus"] > 100
    assert summary["total.collision_probability"] > 0
    uses = [value for name, value in summary.items() if name.startswith("airtime.")]
    assert sum(uses) == pytest.approx(1.0)


def test_voice_goes_with_triggers_of_best_effort():
    flows = [
        {"from": "sta*", "to": "ap", "class": name, "traffic": {"cbr": cbr}}
        for name, cbr in (
            ("voice", {"rate_mbps": 0.5, "payload_bytes": 160}),
            ("best_effort", {"rate_mbps": 8.0, "payload_bytes": 1000}),
        )
    ]
    wlan = {"mcs": 7, "mu": {"uplink": {"access_interval_us": 1000, "bsrp": False}}}
    found = sm.run(cell(4, wlan, flows=flows), check=True).summary
    assert found["total.goodput_mbps"] == pytest.approx(34.0, rel=0.02)
    assert found["airtime.trigger_fraction"] > 0


def test_without_an_interval_triggers_follow_downlink_ppdus_only():
    wlan = {"mcs": 7, "mu": {"uplink": {}}}
    up = {"from": "sta*", "to": "ap", "traffic": {"cbr": {"rate_mbps": 10.0}}}
    down = {"from": "ap", "to": "sta*", "traffic": {"cbr": {"rate_mbps": 1.0}}}

    def triggers(*flows: dict) -> float:
        summary = sm.run(cell(4, wlan, flows=list(flows)), check=True).summary
        return float(summary["airtime.trigger_fraction"])

    assert triggers(up) == 0
    assert triggers(up, down) > 0


def test_reports_find_what_waits():
    # A packet now and then: reports in data frames never tell of one, polls do.
    def triggers(**keys) -> float:
        wlan = {"mcs": 7, "mu": {"uplink": {"access_interval_us": 500, **keys}}}
        up = {"from": "sta*", "to": "ap", "traffic": {"cbr": {"rate_mbps": 1.0}}}
        summary = sm.run(cell(4, wlan, flows=[up]), check=True).summary
        return float(summary["airtime.trigger_fraction"])

    assert triggers(bsrp=False) == 0
    assert triggers() > 0.1


def test_tcp_acknowledgements_come_by_triggers():
    wlan = {"mcs": 7, "mu": {"uplink": {"access_interval_us": 2000}}}
    down = {"from": "ap", "to": "sta*", "traffic": "bulk"}
    found = sm.run(cell(4, wlan, flows=[down]), check=True).summary
    assert found["total.goodput_mbps"] > 30
    assert found["airtime.tcp_ack_fraction"] > 0


@pytest.mark.parametrize(
    ("keys", "path", "message"),
    [
        ({"standard": "11ac"}, "wlan.mu", "OFDMA is of 802.11ax, and the standard is 802.11ac"),
        ({"wlan": {"mu": {"uplink": {"access_interval_us": -1}}}}, "access_interval_us", "0"),
        (
            {"wlan": {"mu": {"uplink": {"duration_us": 100}}, "mcs": 0}},
            "wlan.mu.uplink.duration_us",
            "the shortest answer to a Trigger frame, lasts",
        ),
        ({"wlan": {"mu": {"uplink": {"trigger_padding_us": 4}}}}, "trigger_padding_us", "16"),
        ({"wlan": {"mu": {"uplink": {}, "max_users": 10}}}, "wlan.mu.max_users", "9 resource"),
        ({"wlan": {"mu": {"edca": MUTED}}}, "wlan.mu.edca", "nobody triggers"),
        (
            {"wlan": {"mu": {"uplink": {}, "edca": {"voice": {"aifsn": 1}}}}},
            "wlan.mu.edca.voice.aifsn",
            "0 or at least 2",
        ),
        (
            {"wlan": {"mu": {"uplink": {}, "edca": {"voice": {"cw_min": 31, "cw_max": 15}}}}},
            "wlan.mu.edca.voice.cw_min",
            "31 is more than cw_max, 15",
        ),
        (
            {"wlan": {"mu": {"uplink": {}, "edca": {"voice": {"timer": 256}}}}},
            "wlan.mu.edca.voice.timer",
            "255",
        ),
    ],
)
def test_what_does_not_fit_gets_one_message(keys, path, message):
    base = {
        "standard": "11ax",
        "stations": 9,
        "wlan": {"mu": {"uplink": {}}},
        "flows": [{"from": "sta*", "to": "ap"}],
    }
    wlan = base["wlan"] | keys.pop("wlan", {})
    with pytest.raises(sm.ScenarioError) as refused:
        sm.Scenario(**(base | keys | {"wlan": wlan})).check()
    about = [issue for issue in refused.value.issues if issue.path.endswith(path)]
    assert [message in str(issue) for issue in about] == [True], refused.value


@pytest.mark.parametrize("mcs", [0, 5, 11])
def test_answers_with_ldpc_keep_the_end_that_the_trigger_frame_says(mcs):
    wlan = {"mcs": mcs, "coding": "ldpc", "mu": {"uplink": {"access_interval_us": 1000.0}}}
    bulk = [{"from": "sta*", "to": "ap"}]
    assert goodput(cell(4, wlan, flows=bulk, duration_s=1.0)) > 0.0


def test_stations_of_all_rates_are_triggered_in_txops():
    # More sets of users and modes than are kept; a TXOP may end when those of its last exchange
    # are gone.
    stations = [{"count": 2, "mcs": mcs} for mcs in range(12)]
    made = sm.Scenario(
        standard="11ax",
        duration_s=4.0,
        stations=stations,
        wlan={"edca": {}, "mu": {"uplink": {"access_interval_us": 300.0}}},
        ap={"edca": {"best_effort": {"txop_limit_us": 3008.0}}},
        flows=[
            {
                "from": "sta*",
                "to": "ap",
                "traffic": {"poisson": {"rate_mbps": 0.2, "payload_bytes": 300}},
            }
        ],
    )
    assert goodput(made) == pytest.approx(24 * 0.2, rel=0.03)
