"""Stations of 802.11n and ac in networks of later standards, with OFDMA and without."""

from __future__ import annotations

import math

import pytest

import simoom as sm

UP_AND_DOWN = [
    {"from": "ap", "to": "sta*", "traffic": "saturated"},
    {"from": "sta*", "to": "ap", "traffic": "saturated"},
]
STATIONS = [
    {"count": 3, "name": "new"},
    {"count": 2, "name": "ac", "standard": "11ac"},
    {"count": 1, "name": "n", "standard": "11n"},
]
NEW, AC, N = {"sta0", "sta1", "sta2"}, {"sta3", "sta4"}, {"sta5"}
FORMATS = dict.fromkeys(NEW, "he") | dict.fromkeys(AC, "vht") | dict.fromkeys(N, "ht")


def cell(**keys) -> sm.Scenario:
    """Return a cell of all three standards."""
    defaults = {"standard": "11ax", "stations": STATIONS, "flows": UP_AND_DOWN}
    return sm.Scenario(**({"duration_s": 0.3, "warmup_s": 0.05} | defaults | keys))


OFDMA = {"uplink": {"access_interval_us": 2000}, "protection": "mu_rts"}
EACH = [
    {"mu": OFDMA},
    {"mu": {"min_users": 1, "acknowledgement": "bar_chain"}, "coding": "ldpc"},
    {"mu": OFDMA | {"scheduler": "backlog"}, "rate_control": "minstrel_ht"},
    {"mu": {"edca": {"best_effort": {"aifsn": 0, "timer": 1}}, "uplink": {}}, "width_mhz": 80},
    {"mu": {"uplink": {"access_interval_us": 500, "random_access": {"units": 7}}}},
    {"rts_threshold_bytes": 0},
    {"aggregation": {"window": 256, "frames": 256, "amsdu_bytes": 11_398}},
]


def data_frames(scenario: sm.Scenario) -> list[dict]:
    """Return the data frames of a run that keeps the checker's rules, each with its station."""
    rows = sm.run(scenario, check=True, trace=True).trace.frames.to_dicts()
    rows = [row for row in rows if row["kind"] == "Data"]
    for row in rows:
        row["station"] = row["receiver"] if row["transmitter"] == "ap" else row["transmitter"]
    return rows


@pytest.mark.parametrize("wlan", EACH)
def test_each_station_has_frames_of_its_standard_and_only_new_ones_have_resource_units(wlan):
    rows = data_frames(cell(wlan=wlan))
    assert {row["station"] for row in rows} == NEW | AC | N
    for row in rows:
        starts = row["format"].lower()
        assert starts.startswith(FORMATS[row["station"]]), row
        is_user = row["ru_tones"] is not None
        assert not is_user or row["station"] in NEW, row
    assert any(row["ru_tones"] for row in rows) == ("mu" in wlan)


@pytest.mark.parametrize(("station", "most"), [("sta0", 256), ("sta3", 64), ("sta5", 64)])
def test_an_a_mpdu_has_as_many_frames_as_a_block_ack_of_its_standard_names(station, most):
    """Datagrams of 100 bytes, so that nothing else limits."""
    small = {"saturated": {"payload_bytes": 100}}
    flows, wlan = [{"from": "ap", "to": station, "traffic": small}], {"edca_defaults": "ns3"}
    scenario = cell(flows=flows, wlan=wlan)
    longest = max(row["mpdus"] for row in data_frames(scenario))
    assert longest == most


def test_an_a_mpdu_to_a_station_of_802_11n_has_no_more_than_65535_bytes():
    """Four streams at 40 MHz carry more in 5.484 ms."""
    wide = [{"standard": "11n", "streams": 4, "width_mhz": 40}]
    down = [{"from": "ap", "to": "sta0", "traffic": "saturated"}]
    rows = data_frames(cell(stations=wide, flows=down, wlan={"edca_defaults": "ns3"}))
    # 42 MPDUs of 1544 bytes with their delimiters; a 43rd would not fit.
    assert {(row["mpdus"], row["psdu_bytes"] <= 65_535) for row in rows[1:-1]} == {(42, True)}


def test_what_the_network_has_in_common_is_at_most_what_the_standard_has():
    common = {"mcs": 11, "streams": 4, "width_mhz": 80, "guard_ns": 1600}
    modes = {
        row["station"]: (row["mcs"], row["streams"], row["width_mhz"])
        for row in data_frames(cell(wlan=common))
    }
    # In 802.11n the number of an MCS counts streams, too: 31 is MCS 7 in each of four.
    assert (modes["sta0"], modes["sta3"], modes["sta5"]) == ((11, 4, 80), (9, 4, 80), (31, 4, 40))


def test_a_cell_of_one_earlier_standard_carries_what_that_standard_does():
    """The windows of block acks and the durations are those of 802.11ac, whatever the network."""
    down = [{"from": "ap", "to": "sta0", "traffic": "saturated"}]
    own = cell(standard="11ac", stations=1, flows=down, duration_s=1.0)
    mixed = cell(stations=[{"standard": "11ac"}], flows=down, duration_s=1.0)
    found = [sm.run(each, check=True).summary["total.goodput_mbps"] for each in (own, mixed)]
    assert found[0] == found[1]


def test_stations_of_earlier_standards_have_their_turn():
    """Under the scheduler of round robin each station gets an equal part of the airtime of data, of
    which users of equal resource units have halves. Band 15 %, set before the run."""
    down = [{"from": "ap", "to": "sta*", "traffic": "saturated"}]
    stations = [{"count": 2}, {"count": 2, "standard": "11ac"}]
    share = dict.fromkeys(("sta0", "sta1", "sta2", "sta3"), 0.0)
    for row in data_frames(cell(stations=stations, flows=down, wlan={"mu": {}}, duration_s=2.0)):
        part = 0.5 if row["ru_tones"] else 1.0
        share[row["station"]] += part * (row["end_s"] - row["start_s"])
    assert max(share.values()) < 1.15 * min(share.values())


@pytest.mark.parametrize("channels", ["one", "two"])
def test_radios_decode_what_they_know(channels):
    """Two cells of radios, with spatial reuse, keep the rules of the checker, among which is that
    nobody decodes a format of a later standard."""
    reuse = {"obss_pd_dbm": -70} if channels == "one" else None
    wlan = {"spatial_reuse": reuse} if reuse else {}
    cells = {"ap": {"position_m": [0, 0]}, "cells": [{"position_m": [60, 0]}]}
    places = [{**group, "position_m": [5 * n, 4]} for n, group in enumerate(STATIONS)]
    far = {"count": 2, "position_m": [58, 3], "cell": 1}
    scenario = cell(wlan=wlan, radio={}, stations=[*places, far], duration_s=0.2, **cells)
    formats = {(row["station"], row["format"].lower()) for row in data_frames(scenario)}
    assert {("sta0", "he"), ("sta3", "vht"), ("sta5", "ht")} <= formats


AT_2_4_GHZ = {"band_ghz": 2.4}
ASLEEP = {"standard": "11ac", "power_save": {"twt": {}}}
TWO_RADIOS = [{"position_m": [0, 0]}, {"position_m": [9, 0], "standard": "11ac"}]
BETWEEN = [{"from": "sta0", "to": "sta1", "traffic": "saturated"}]
WAKE_TIMES = "target wake times are of 802.11ax and later"
REFUSALS = [
    (
        {"stations": [{"standard": "11be"}]},
        "stations[0].standard: stations of 802.11be in a network of 802.11ax are not modelled",
        "those of 802.11b in one of 802.11g are, and those of 802.11n and later in a later one",
    ),
    (
        {"stations": [{"standard": "11ac"}], "wlan": AT_2_4_GHZ},
        "stations[0].standard: 802.11ac is at 5 GHz only",
        "remove the key",
    ),
    (
        {"stations": [{"standard": "11ac"}], "wlan": {"mu": {}}},
        "wlan.mu: no station has PPDUs of 802.11ax",
        "let some be of it, or remove the table",
    ),
    (
        {"stations": [ASLEEP], "wlan": {"beacons": {}}},
        f"stations[0].power_save: {WAKE_TIMES}, and the standard is 802.11ac",
        'take standard = "11ax", or power_save = "u_apsd"',
    ),
    (
        {"wlan": {"full_duplex": {}, "rts_threshold_bytes": 0}},
        "wlan.full_duplex: full duplex with stations of an earlier standard is not supported",
        "give all one standard",
    ),
    (
        {"radio": {"ad_hoc": True}, "stations": TWO_RADIOS, "flows": BETWEEN},
        "radio.ad_hoc: stations of an earlier standard in an ad-hoc network are not supported",
        "give all one standard",
    ),
]


@pytest.mark.parametrize(("keys", "what", "remedy"), REFUSALS)
def test_what_does_not_fit_is_refused_by_one_message(keys, what, remedy):
    with pytest.raises(sm.ScenarioError) as caught:
        cell(**keys).check()
    assert str(caught.value) == f"{what}; {remedy}"


def test_an_mcs_that_the_standard_lacks_is_refused():
    with pytest.raises(sm.ScenarioError) as caught:
        cell(stations=[{"standard": "11ac", "mcs": 11}]).check()
    assert str(caught.value) == (
        "stations[0].mcs: must be from 0 to 9 in VHT, is 11 [802.11-2020 21.5]"
    )


def test_goodput_beside_an_idle_earlier_station_is_that_without_it():
    """Unlike a station of 802.11b in 802.11g, one that is silent costs nothing: its preambles are
    known to all."""
    down = [{"from": "ap", "to": "sta0", "traffic": "saturated"}]
    alone, beside = (
        sm.run(cell(stations=stations, flows=down, duration_s=1.0)).summary["total.goodput_mbps"]
        for stations in ([{}], [{}, {"standard": "11n"}])
    )
    assert math.isclose(alone, beside)
