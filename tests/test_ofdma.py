"""Downlink OFDMA in cells: agreement with ns-3 and a model, laws, schedulers, and refusals."""

from __future__ import annotations

import re

import pytest

import simoom as sm
from simoom import plots
from simoom.show import sections as show

TOLERANCE = 0.03
"""Bands of simulated points, written before the runs."""
NS3_WLAN = {"width_mhz": 20, "ppdu_timing": "ns3", "edca_defaults": "ns3"}
AGGREGATED, BY_TRIGGER, CHAIN = "aggregated_mu_bar", "mu_bar", "bar_chain"


def cell(stations: int | dict, wlan: dict, payload_bytes: int, **keys) -> sm.Scenario:
    """Return a cell whose access point always has datagrams for each station."""
    down = {"from": "ap", "to": "sta*", "traffic": {"saturated": {"payload_bytes": payload_bytes}}}
    return sm.Scenario(
        standard="11ax",
        stations=stations,
        duration_s=keys.pop("duration_s", 2.0),
        warmup_s=0.3,
        wlan=NS3_WLAN | wlan,
        ap={"queue": {"drop_tail": {"limit_packets": 50_000}}} | keys.pop("ap", {}),
        flows=keys.pop("flows", [down]),
    )


def goodput(scenario: sm.Scenario) -> float:
    return float(sm.run(scenario, check=True).summary["total.goodput_mbps"])


def mu(acknowledgement: str, **keys) -> dict:
    return {"mu": {"acknowledgement": acknowledgement, "min_users": 1, **keys}}


@pytest.mark.parametrize(
    ("stations", "wlan", "expected"),
    [
        (2, {}, 78.79),
        (4, {}, 78.85),
        (8, {}, 78.86),
        (2, mu(AGGREGATED), 67.98),
        (4, mu(AGGREGATED), 63.52),
        (8, mu(AGGREGATED), 63.52),
    ],
)
def test_saturated_downlinks_are_those_of_ns3(stations, wlan, expected):
    # ns-3 with datagrams of 1472 bytes at MCS 7; the closed form of 4 users: 7 MPDUs each in a PPDU
    # of 4971.2 us, an HE TB PPDU of 92 us, SIFS, AIFS and 7.5 slots.
    found = goodput(cell(stations, {"mcs": 7} | wlan, 1472))
    assert found == pytest.approx(expected, rel=TOLERANCE)


MODEL = {
    1: (61.15, 59.28, 59.95),
    2: (51.81, 51.28, 52.17),
    4: (46.67, 48.04, 48.84),
    9: (45.89, 52.54, 53.25),
}
"""Mb/s of Magrin et al. (2023), MCS 5, TXOPs of 4.8 ms, by the number of stations."""


@pytest.mark.parametrize("stations", MODEL)
@pytest.mark.parametrize(("nth", "how"), list(enumerate((CHAIN, BY_TRIGGER, AGGREGATED))))
def test_saturated_downlinks_are_those_of_the_model(stations, nth, how):
    txop = {"cw_min": 15, "cw_max": 1023, "aifsn": 2, "txop_limit_us": 4800}
    wlan = {"mcs": 5, "edca": {"best_effort": txop}} | mu(how)
    scenario = cell(stations, wlan, 1000, ap={"edca": {"best_effort": txop}})
    assert goodput(scenario) == pytest.approx(MODEL[stations][nth], rel=TOLERANCE)


def test_an_mu_rts_costs_its_own_time():
    # Four stations, 7 MPDUs of 1472 bytes each in a cycle of 5189.7 us (above); MU-RTS and CTS with
    # their SIFSs add 116 us. Band 0.5 %, as of closed forms; written before the run.
    found = goodput(cell(4, {"mcs": 7} | mu(AGGREGATED, protection="mu_rts"), 1472))
    assert found == pytest.approx(4 * 7 * 1472 * 8 / (5189.7 + 116), rel=0.005)


def test_an_mu_rts_takes_the_place_of_data_in_collisions():
    """Eight stations with small packets beside a saturated downlink (bands set after the figures:
    goodput 41.7 and 45.8 Mb/s, collisions 16 and 2.8 % of the airtime)."""
    down = {"from": "ap", "to": "sta*", "traffic": "saturated"}
    calls = {"cbr": {"rate_mbps": 0.5, "payload_bytes": 200}}
    up = [{"from": f"sta{n}", "to": "ap", "traffic": calls} for n in range(8)]
    plain = cell(10, {"mcs": 7, "mu": {"min_users": 1}}, 1472, flows=[down, *up], duration_s=3.0)
    plain = plain.unset("wlan.ppdu_timing").unset("wlan.edca_defaults")
    [without, protected] = (
        sm.run(scenario, check=True).summary
        for scenario in (plain, plain.set("wlan.mu.protection", "mu_rts"))
    )
    assert protected["airtime.collision_fraction"] < 0.3 * without["airtime.collision_fraction"]
    assert protected["total.goodput_mbps"] > 1.05 * without["total.goodput_mbps"]
    assert protected["airtime.rts_cts_fraction"] > 0.01


def test_a_wrong_sequence_leaves_the_band():
    # What tells the sequences apart is more than the band: the agreement above can fail.
    wlan = {"mcs": 5}
    chain, trigger = (goodput(cell(9, wlan | mu(how), 1000)) for how in (CHAIN, BY_TRIGGER))
    assert trigger > (1 + TOLERANCE) * chain


SCHEDULERS = [
    "round_robin",
    "head_of_line",
    "backlog",
    {"backlog": {"single_above_us": 500.0}},
    "shortest_first",
]


@pytest.mark.parametrize("scheduler", SCHEDULERS)
@pytest.mark.parametrize("how", [CHAIN, BY_TRIGGER, AGGREGATED])
def test_all_packets_are_accounted_for_under_losses(scheduler, how):
    # The checker holds conservation, windows, resource units and the common end.
    both = [
        {"from": "ap", "to": "sta*", "traffic": {"cbr": {"rate_mbps": 3.0, "payload_bytes": 700}}},
        {"from": "sta*", "to": "ap", "traffic": {"cbr": {"rate_mbps": 0.5, "payload_bytes": 90}}},
    ]
    lossy = {"count": 5, "data_loss": 0.2, "ack_loss": 0.1}
    wlan = {"mcs": 7, "edca_defaults": "2016"} | mu(how, scheduler=scheduler, min_users=2)
    summary = sm.run(cell(lossy, wlan, 1, flows=both), check=True).summary
    assert summary["ap.repeated_mpdus"] > 100
    assert summary["total.collision_probability"] > 0
    assert summary["total.jain_index"] > 0
    uses = [value for name, value in summary.items() if name.startswith("airtime.")]
    assert sum(uses) == pytest.approx(1.0)


def test_access_categories_have_streams_of_their_own():
    # Each has its own originators; the checker holds the window of each.
    flows = [
        {"from": "ap", "to": "sta*", "class": name, "traffic": {"cbr": cbr}}
        for name, cbr in (
            ("voice", {"rate_mbps": 0.5, "payload_bytes": 160}),
            ("best_effort", {"rate_mbps": 5.0, "payload_bytes": 1000}),
        )
    ]
    found = sm.run(cell(5, {"mcs": 7} | mu(BY_TRIGGER), 1, flows=flows), check=True).summary
    assert found["total.goodput_mbps"] == pytest.approx(27.5, rel=0.02)
    assert found["ap.internal_collisions"] > 0


def test_padding_is_that_of_unequal_users():
    def padding(*sizes: int) -> float:
        flows = [
            {
                "from": "ap",
                "to": f"sta{n}",
                "traffic": {"cbr": {"rate_mbps": 2, "payload_bytes": b}},
            }
            for n, b in enumerate(sizes)
        ]
        found = sm.run(cell(2, {"mcs": 7} | mu(BY_TRIGGER), 1, flows=flows)).summary
        return float(found["airtime.padding_fraction"])

    assert padding(1400, 100) > 3 * padding(1400, 1400)


P95 = 0.15
"""Band of the 95th percentile of delays of one run, written before the runs."""


@pytest.mark.parametrize(
    ("stations", "wlan", "expected_ms"),
    [
        (2, {}, 0.289),
        (4, {}, 0.451),
        (8, {}, 1.143),
        (2, mu(AGGREGATED), 0.318),
        (4, mu(AGGREGATED), 0.384),
        (8, mu(AGGREGATED), 0.629),
    ],
)
def test_delays_at_a_light_load_are_those_of_ns3(stations, wlan, expected_ms):
    # ns-3 with datagrams of 200 bytes at random times, 1 Mb/s to each station.
    flow = {"from": "ap", "to": "sta*", "traffic": {"poisson": {"payload_bytes": 200}}}
    scenario = cell(stations, {"mcs": 7} | wlan, 1, flows=[flow], duration_s=20.0)
    p95_ms = 1e3 * float(sm.run(scenario, check=True).summary["total.delay_s.p95"])
    assert p95_ms == pytest.approx(expected_ms, rel=P95)


def test_ofdma_shortens_delays_of_small_packets():
    def p95(wlan: dict) -> float:
        small = {"cbr": {"rate_mbps": 1.0, "payload_bytes": 200}}
        flows = [{"from": "ap", "to": "sta*", "traffic": small}]
        return float(
            sm.run(cell(12, {"mcs": 7} | wlan, 1, flows=flows)).summary["total.delay_s.p95"]
        )

    assert p95(mu(AGGREGATED, min_users=2)) < 0.9 * p95({})


def mixed(scheduler: str | dict) -> dict:
    """Return the results of a cell with a bulk download and short packets for seven others."""
    flows = [
        {"from": "ap", "to": "sta0", "traffic": {"saturated": {"payload_bytes": 1472}}},
        {"from": "ap", "to": "sta1-7", "traffic": {"cbr": {"rate_mbps": 1, "payload_bytes": 200}}},
    ]
    wlan = {"mcs": 7} | (mu(AGGREGATED, scheduler=scheduler, min_users=2) if scheduler else {})
    return dict(sm.run(cell(8, wlan, 1, flows=flows), check=True).summary)


def test_by_backlog_who_has_more_gets_a_wider_resource_unit():
    found = mixed("backlog")
    assert found["stations[0].mu.tones"] > 1.5 * found["stations[3].mu.tones"]
    equal = mixed("head_of_line")
    assert equal["stations[0].mu.tones"] == pytest.approx(equal["stations[3].mu.tones"], rel=0.1)
    assert found["flows[0].goodput_mbps"] > 1.05 * equal["flows[0].goodput_mbps"]


def test_by_backlog_who_fills_a_ppdu_is_served_alone():
    found, equal = mixed({"backlog": {"single_above_us": 500.0}}), mixed("round_robin")
    assert found["stations[0].mu.ppdus"] == 0
    assert found["stations[3].mu.ppdus"] > 300
    # Short packets pad nothing up to the end of a long A-MPDU.
    assert found["airtime.padding_fraction"] < 0.25 * equal["airtime.padding_fraction"]
    assert found["flows[0].goodput_mbps"] > 2 * equal["flows[0].goodput_mbps"]


def test_shortest_first_serves_short_packets_before_long_queues():
    first, fair = mixed("shortest_first"), mixed("head_of_line")
    assert first["flows[1].delay_s.p95"] < fair["flows[1].delay_s.p95"]
    assert first["stations[0].mu.ppdus"] == 0


@pytest.mark.parametrize(
    ("keys", "path", "message"),
    [
        ({"standard": "11ac"}, "wlan.mu", "OFDMA is of 802.11ax, and the standard is 802.11ac"),
        ({"standard": "11be"}, "wlan.mu", "modelled for 802.11ax only"),
        ({"interferers": [{"source": "sco"}]}, "wlan.mu", "interferers"),
        ({"wlan": {"aggregation": {"frames": 1}}}, "wlan.mu", "one frame in a PPDU"),
        ({"wlan": {"qos": False}}, "wlan.qos", "802.11ax are QoS stations"),
        (
            {"wlan": {"full_duplex": {}, "rts_threshold_bytes": 0}},
            "wlan.mu",
            "with wlan.full_duplex is not supported; remove either",
        ),
        (
            {"wlan": {"aggregation": {"delivery": "mpdu"}}},
            "wlan.mu",
            'take wlan.aggregation.delivery = "ppdu"',
        ),
        ({"wlan": {"mu": {"max_users": 10}}}, "wlan.mu.max_users", "more than the 9 resource"),
        (
            {"wlan": {"mu": {"max_users": 2, "min_users": 3}}},
            "wlan.mu.min_users",
            "3 are more than a PPDU has, at most 2",
        ),
        ({"stations": 2008}, "stations", "more than the 2007 association identifiers"),
        ({"wlan": {"he_ltf": "1x"}}, "wlan.he_ltf", "does not go with a guard interval of 800"),
    ],
)
def test_what_does_not_fit_gets_one_message(keys, path, message):
    base = {
        "standard": "11ax",
        "stations": 3,
        "wlan": {"mu": {}},
        "flows": [{"from": "ap", "to": "sta*"}],
    }
    wlan = base["wlan"] | keys.pop("wlan", {})
    with pytest.raises(sm.ScenarioError) as refused:
        sm.Scenario(**(base | keys | {"wlan": wlan})).check()
    about = [issue for issue in refused.value.issues if issue.path == path]
    assert [message in str(issue) for issue in about] == [True], refused.value


def test_a_ppdu_to_several_stations_is_on_the_air_once(tmp_path):
    scenario = cell(9, {"mcs": 5} | mu(BY_TRIGGER), 1000, duration_s=0.4)
    page = tmp_path / "air.html"
    sm.run(scenario, trace=page)
    shares = re.findall(r"<td>([0-9.]+) %</td>", page.read_text(encoding="utf-8"))
    assert 50 < float(shares[0]) < 100


def test_a_ppdu_to_several_stations_is_counted_once():
    found = sm.run(cell(9, {"mcs": 5} | mu(BY_TRIGGER), 1000), check=True).summary
    stations = [found[f"stations[{n}].mu.ppdus"] for n in range(9)]
    assert found["ap.ppdus"] == found["ap.mu.ppdus"] == found["ap.attempts"]
    assert sum(stations) == pytest.approx(found["ap.mu.users_per_ppdu"] * found["ap.mu.ppdus"])
    assert found["ap.mu.users_per_ppdu"] == pytest.approx(9.0)
    assert found["ap.mu.tones"] == found["stations[3].mu.tones"] == 26.0
    # The mean of the users: MCS 5 on 26 tones.
    assert found["ap.data_rate_mbps"] == pytest.approx(24 * 4 / 13.6)
    assert found["ap.mpdus_per_ppdu"] == pytest.approx(9 * found["ap.mu.mpdus_per_user"])


def test_reports_have_a_section_on_ofdma_where_it_is_on():
    shown = [
        [table.title for table in show.shown(sm.run(cell(3, {"mcs": 5} | wlan, 1000)))]
        for wlan in (mu(BY_TRIGGER), {})
    ]
    assert ["OFDMA" in titles for titles in shown] == [True, False]


def test_traces_name_the_resource_unit_and_the_user_of_each_frame():
    frames = sm.run(cell(3, {"mcs": 7} | mu(BY_TRIGGER), 1000, duration_s=0.4), trace=True)
    rows = frames.trace.frames.to_dicts()
    users = [row for row in rows if row["ru_tones"] is not None]
    assert {(row["ru_tones"], row["ru_index"], row["user"]) for row in users} == {
        (106, 0, 0),
        (106, 1, 1),
    }
    assert {row["kind"] for row in users} == {"Data", "BlockAck"}
    alone = sm.run(cell(3, {"mcs": 7}, 1000, duration_s=0.4), trace=True).trace.frames
    assert alone["ru_tones"].null_count() == alone["user"].null_count() == len(alone)


def test_pictures_of_the_air_have_a_part_for_each_user():
    run = sm.run(cell(4, {"mcs": 7} | mu(BY_TRIGGER), 1000, duration_s=0.45), trace=True)
    texts = plots.air(run, 0.4, 0.406).figure.axes[0].texts
    found = [(text.get_text(), text.get_position()[1]) for text in texts]
    users = {text: height for text, height in found if "tones" in text}
    assert set(users) == {f"→ sta{n}, 52 tones, MCS 7" for n in range(4)}
    assert len(set(users.values())) == 4
