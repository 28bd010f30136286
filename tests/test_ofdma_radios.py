"""OFDMA among radios: as in a cell where all hear each other, and what distance does."""

from __future__ import annotations

import itertools
import re
from pathlib import Path

import polars as pl
import pytest

import simoom as sm

SEQUENCES = ["bar_chain", "mu_bar", "aggregated_mu_bar"]
SATURATED = {"saturated": {"payload_bytes": 1000}}
NEAR = {"count": 9, "ring_m": 3.0}


def scenario(stations: dict | list, flows: list[dict], radio: dict | None = None, **tables):
    """Return a network of 802.11ax in 20 MHz, with radios if these are given."""
    wlan = {"mcs": 7, "mu": {}} | tables.pop("wlan", {})
    given = {} if radio is None else {"radio": radio}
    made = {"standard": "11ax", "duration_s": 1.0, "stations": stations, "flows": flows} | tables
    return sm.Scenario(**made, wlan=wlan, **given)


@pytest.mark.parametrize("protection", ["none", "mu_rts"])
@pytest.mark.parametrize("how", SEQUENCES)
def test_where_all_hear_each_other_frames_are_those_of_a_cell(
    how: str, protection: str, tmp_path: Path
):
    flows = [{"from": "ap", "to": "sta0-8", "traffic": {"poisson": {"rate_mbps": 2.0}}}]
    texts = []
    for stations, radio in (({"count": 9}, None), (NEAR, {})):
        mu = {"acknowledgement": how, "protection": protection}
        made = scenario(stations, flows, radio, wlan={"mu": mu})
        path = tmp_path / f"{len(texts)}.txt"
        sm.run(made, check=True, trace=path)
        texts.append(path.read_text())
    assert texts[0].count("1x106t") > 100, "there are PPDUs to several stations"
    assert texts[0] == texts[1]


@pytest.mark.parametrize("radio", [None, {}])
def test_a_ppdu_that_collides_costs_credits(radio: dict | None, tmp_path: Path):
    # After a collision with what stations send, the four others of eight are first.
    traffic = {"saturated": {"payload_bytes": 1472}}
    ends = [("ap", "sta0-7"), ("sta0-3", "ap")]
    flows = [{"from": by, "to": to, "traffic": traffic} for by, to in ends]
    stations = {"count": 8} if radio is None else NEAR | {"count": 8}
    wlan = {"mu": {"max_users": 4}, "aggregation": {"frames": 2}}
    made = scenario(stations, flows, radio, wlan=wlan)
    sm.run(made, check=True, trace=tmp_path / "trace.txt")
    line = re.compile(r"^ *(\S+) +ap > sta(\d) (.*)$", re.MULTILINE)
    served, lost = {}, set()
    for time, station, what in line.findall((tmp_path / "trace.txt").read_text()):
        served.setdefault(time, []).append(station)
        if "Data" in what and ("collision" in what or "receiver transmits" in what):
            lost.add(time)
    after = [pair for pair in itertools.pairwise(served) if pair[0] in lost]
    assert len(after) > 10
    assert all(served[then][0] not in served[time] for time, then in after)


def test_two_access_points_share_a_channel():
    def mbps(**tables) -> float:
        found = sm.run(scenario(flows=[down], radio={}, **tables), check=True).row()
        assert found["ap.mu.users_per_ppdu"] > 7, "nearly all stations have packets"
        return found["total.goodput_mbps"]

    down = {"from": "server", "to": "sta*", "traffic": SATURATED}
    queue = {"drr": {"per": "station", "limit_packets": 2000}}
    alone = mbps(stations=NEAR, ap={"queue": queue})
    both = mbps(
        stations=[NEAR, NEAR | {"cell": 1}],
        ap={"queue": queue},
        cells=[{"position_m": [8.0, 0.0], "queue": queue}],
    )
    # Of two that contend with CWmin 15, one attempt in nine collides, and nothing else is lost.
    assert 0.85 * alone < both < 0.97 * alone


def power_at_least(how: str) -> float:
    """Return the goodput of stations whose OFDM responses are 2 dB above noise."""
    # 20 MHz have noise of -94 dBm. The access point is 30 dB stronger, so that its frames arrive.
    radio = {"losses_db": None, "detect_dbm": -110.0, "tx_power_dbm": 0.0}
    stations = NEAR | {"ring_m": 8.6, "tx_power_dbm": -18.0}
    wlan = {"mcs": 0, "mu": {"acknowledgement": how, "response_mcs": 0}}
    made = scenario(
        stations,
        [{"from": "ap", "to": "sta0-8", "traffic": {"saturated": {"payload_bytes": 100}}}],
        radio,
        wlan=wlan,
        ap={"tx_power_dbm": 16.0},
    )
    return sm.run(made, check=True).row()["total.goodput_mbps"]


def test_a_resource_unit_reaches_further():
    # All the power of a station on 26 of 242 tones: 9.7 dB, and one preamble of nine stations.
    assert power_at_least("mu_bar") > 1.0
    assert power_at_least("bar_chain") < 0.05


@pytest.mark.parametrize(
    ("tables", "path", "said"),
    [
        ({"interferers": [{"position_m": [3.0, 0.0], "source": "sco"}]}, "wlan.mu", "interferers"),
    ],
)
def test_what_is_not_supported_is_said(tables: dict, path: str, said: str):
    given = {"radio": {}, "stations": NEAR} | tables
    made = scenario(flows=[{"from": "ap", "to": "sta*", "traffic": SATURATED}], **given)
    with pytest.raises(sm.ScenarioError) as caught:
        made.check()
    message = next(issue.message for issue in caught.value.issues if issue.path == path)
    assert said in message


UPLINK = {"mu": {"uplink": {"access_interval_us": 500.0}}}


def test_stations_are_triggered_as_in_a_cell():
    def row(stations: dict, radio: dict | None) -> dict:
        flows = [{"from": "sta*", "to": "ap", "traffic": {"poisson": {"rate_mbps": 1.5}}}]
        return sm.run(scenario(stations, flows, radio, wlan=UPLINK), check=True).row()

    cell, radios = row({"count": 9}, None), row(NEAR, {})
    # Collisions differ: a stronger frame may be received beside another, and an access point that
    # finds no preamble in a collision defers for no EIFS after it, so that it triggers more often.
    for key, within in (
        ("total.goodput_mbps", 0.01),
        ("total.attempts", 0.05),
        ("ap.attempts", 0.2),
    ):
        assert radios[key] == pytest.approx(cell[key], rel=within), key
    assert radios["ap.attempts"] > 500, "most packets are triggered"


def triggered(settings: dict, stations: dict | list, radio: dict | None, rate_mbps: float) -> dict:
    """Return the results of stations that send upwards, under these settings of OFDMA."""
    flows = [{"from": "sta*", "to": "ap", "traffic": {"poisson": {"rate_mbps": rate_mbps}}}]
    made = scenario(stations, flows, radio, wlan={"mu": settings})
    return sm.run(made, check=True).row()


MUTED = {"best_effort": {"aifsn": 0, "timer": 12}}


def test_stations_that_were_triggered_contend_by_mu_edca_as_in_a_cell():
    def contends(found: dict) -> float:
        return found["total.attempts"] - found["ap.attempts"]

    def muted(found: dict) -> float:
        return sum(found[f"stations[{n}].mu.muted_fraction"] for n in range(9))

    settings = {"uplink": {"access_interval_us": 2000.0}, "edca": MUTED}
    cell, radios = triggered(settings, {"count": 9}, None, 1.5), triggered(settings, NEAR, {}, 1.5)
    assert radios["total.goodput_mbps"] == pytest.approx(cell["total.goodput_mbps"], rel=0.02)
    assert muted(radios) == pytest.approx(muted(cell), rel=0.1)
    assert muted(radios) > 1
    free = triggered(settings | {"edca": {}}, NEAR, {}, 1.5)
    assert muted(free) == 0
    assert contends(radios) < 0.1 * contends(free), "who was triggered does not contend for 98 ms"


def random_access(**settings: int) -> dict:
    return {"uplink": {"access_interval_us": 1000.0, "random_access": settings}, "edca": MUTED}


def test_stations_send_at_random_as_in_a_cell():
    settings = random_access(units=4)
    cell = triggered(settings, {"count": 20}, None, 1.0)
    radios = triggered(settings, NEAR | {"count": 20}, {}, 1.0)
    for key in ("total.goodput_mbps", "ap.mu.ra_efficiency", "ap.mu.ra_rus_collided"):
        assert radios[key] == pytest.approx(cell[key], rel=0.1), key
    assert sum(radios[f"stations[{n}].mu.ra_attempts"] for n in range(20)) > 500


@pytest.mark.parametrize(("second", "received"), [(-10.0, False), (-40.0, True)])
def test_of_two_stations_in_one_resource_unit_a_much_stronger_one_is_received(second, received):
    # Both always send in the only RA-RU.
    settings = random_access(units=1, eocw_min=0, eocw_max=0) | {"max_users": 1, "min_users": 1}
    stations = [{"tx_power_dbm": power, "ring_m": 3.0} for power in (-10.0, second)]
    found = triggered(settings, stations, {}, 60.0)
    assert min(found[f"stations[{n}].mu.ra_attempts"] for n in (0, 1)) > 100
    shares = [found[f"stations[{n}].mu.ra_success_fraction"] for n in (0, 1)]
    assert shares[0] > 0.9 if received else shares[0] < 0.1
    assert shares[1] < 0.1


def test_of_two_equal_stations_in_one_resource_unit_one_at_most_is_received():
    # A QoS Null at MCS 0 can be decoded beside another of the same power, but not both.
    settings = random_access(units=1, eocw_min=0, eocw_max=0) | {"max_users": 1, "min_users": 1}
    stations = [{"tx_power_dbm": -10.0, "ring_m": 3.0}] * 2
    made = scenario(
        stations,
        [{"from": "sta*", "to": "ap", "traffic": SATURATED}],
        {"error_model": "threshold"},
        wlan={"mu": settings, "mcs": 0},
    )
    found = sm.run(made, check=True).row()
    shares = [found[f"stations[{n}].mu.ra_success_fraction"] for n in (0, 1)]
    assert sum(shares) <= 1


def test_stations_that_sleep_do_not_send_at_random():
    def row(stations: dict, radio: dict | None) -> dict:
        settings = random_access(units=4)
        flows = [{"from": "sta*", "to": "ap", "traffic": {"poisson": {"rate_mbps": 0.1}}}]
        sleepers = stations | {"count": 20, "power_save": "legacy"}
        wlan = {"mu": settings, "beacons": {}}
        return sm.run(scenario(sleepers, flows, radio, wlan=wlan), check=True).row()

    cell, radios = row({}, None), row({"ring_m": 3.0}, {})
    for key in ("total.goodput_mbps", "stations[0].power_save.awake_fraction"):
        assert radios[key] == pytest.approx(cell[key], rel=0.1), key
    assert sum(radios[f"stations[{n}].mu.ra_attempts"] for n in range(20)) > 100


def beside_a_hidden_station(protection: str) -> list[float]:
    # sta2 sends to an access point of its own, and hears the stations of the first one, not itself.
    losses = [
        [0, 50, 50, 140, 140],
        [50, 0, 50, 60, 140],
        [50, 50, 0, 60, 140],
        [140, 60, 60, 0, 50],
        [140, 140, 140, 50, 0],
    ]
    made = scenario(
        [{}, {}, {"cell": 1}],
        [
            {"from": "ap", "to": "sta0-1", "traffic": SATURATED},
            {"from": "sta2", "to": "ap", "traffic": SATURATED},
        ],
        {"losses_db": losses},
        cells=[{}],
        wlan={"mu": {"protection": protection}},
    )
    found = sm.run(made, check=True).row()
    return [found[f"flows[{n}].goodput_mbps"] for n in range(3)]


def test_ctss_keep_a_hidden_station_quiet():
    bare, protected = (beside_a_hidden_station(how) for how in ("none", "mu_rts"))
    assert max(bare[:2]) < 1, "the hidden station has the medium for itself"
    assert min(protected[:2]) > 5
    assert protected[2] < 0.85 * bare[2]


def test_what_a_trace_names_beside_a_lost_answer_is_in_its_resource_unit():
    # Two of nine resource units are for three stations that are not asked.
    settings = random_access(units=2, eocw_min=0, eocw_max=0) | {"max_users": 9}
    stations = NEAR | {"count": 10}
    flows = [{"from": "sta*", "to": "ap", "traffic": SATURATED}]
    made = scenario(stations, flows, {}, wlan={"mu": settings}, duration_s=0.3)
    frames = sm.run(made, trace=True).trace.frames.filter(pl.col("ru_tones").is_not_null())
    lost = frames.filter(pl.col("outcome") == "interference")
    assert lost.height > 20
    beside = frames.select("start_s", "ru_index", lost_to="transmitter")
    named = lost.filter(pl.col("lost_to") != pl.col("transmitter"))
    assert named.join(beside, on=["start_s", "ru_index", "lost_to"]).height == lost.height


def test_stations_with_a_trigger_enabled_twt_do_not_contend():
    twt = {"interval_ms": 51.2, "duration_ms": 10.24, "triggered": True}
    stations = NEAR | {"power_save": {"twt": twt}}
    traffic = {"poisson": {"rate_mbps": 0.2, "payload_bytes": 300}}
    made = scenario(
        stations,
        [{"from": "sta*", "to": "ap", "traffic": traffic}],
        {},
        wlan=UPLINK | {"beacons": {}},
        duration_s=3.0,
    )
    found = sm.run(made, check=True).row()
    for station in range(9):
        assert found[f"stations[{station}].attempts"] == 0
        assert found[f"flows[{station}].goodput_mbps"] == pytest.approx(0.2, rel=0.2)
        awake = found[f"stations[{station}].power_save.awake_fraction"]
        assert awake == pytest.approx(0.2, rel=0.02)


def test_a_station_whose_nav_another_network_has_set_does_not_answer():
    # The access points do not hear each other; sta1 hears both, and what sta0 and sta2 send.
    losses = [
        [0, 50, 70, 140, 140],
        [50, 0, 70, 140, 140],
        [70, 70, 0, 70, 70],
        [140, 140, 70, 0, 50],
        [140, 140, 70, 50, 0],
    ]
    tables = {
        "cells": [{}],
        "stations": [{}, {}, {"cell": 1}],
        "radio": {"losses_db": losses},
        "wlan": UPLINK,
    }
    uplink = {"from": "sta0-1", "to": "ap", "traffic": SATURATED}
    beside = {"from": "sta2", "to": "ap", "traffic": SATURATED}

    def mbps(*flows: dict) -> list[float]:
        found = sm.run(scenario(flows=list(flows), **tables), check=True).row()
        return [found[f"flows[{station}].goodput_mbps"] for station in (0, 1)]

    (other, own), (beside_other, beside_own) = mbps(uplink), mbps(uplink, beside)
    assert own > 0.6 * other, "both are triggered, and sta0 captures"
    assert beside_own < 0.2 * beside_other, "the NAV of the other network holds"
    assert beside_other > 0.5 * other


def test_ideal_rate_control_learns_from_ppdus_to_several_stations():
    alone = sm.Scenario(
        standard="11ax",
        duration_s=1.0,
        radio={},
        wlan={"rate_control": "ideal", "width_mhz": 80},
        stations={"count": 2, "ring_m": 4.0},
        flows=[{"from": "ap", "to": "sta*", "traffic": SATURATED}],
    )
    found, by_units = (sm.run(each, check=True).row() for each in (alone, alone.set("wlan.mu", {})))
    assert by_units["ap.mu.ppdus"] > 100
    # Two resource units have 468 of 980 data subcarriers each.
    rate_mbps = found["ap.data_rate_mbps"] * 468 / 980
    assert by_units["ap.data_rate_mbps"] == pytest.approx(rate_mbps, rel=0.05)
