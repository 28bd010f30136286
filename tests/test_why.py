"""`simoom why`: ten textbook cases, each with one cause built in, which is the first one named."""

from __future__ import annotations

import json
from typing import Any

import pytest

import simoom as sm
from simoom.base.issue import ScenarioError
from simoom.cli import main
from simoom.results import tables
from simoom.runs.stats import Estimate
from simoom.twin.inputs import choice
from simoom.why import draft, measured, roaming
from simoom.why.air import hidden_nodes
from simoom.why.case import Case
from simoom.why.counterfactual import Change, Key
from simoom.why.explain import rank
from simoom.why.path import queue_of
from simoom.why.puncturing import medium, punctured
from simoom.why.result import Effect, Verdict

DOWN = {"from": "server", "to": "sta0"}

MUTED: dict[str, Any] = {
    "standard": "11ax", "stations": 1, "duration_s": 20.0, "warmup_s": 4.0,
    "wlan": {"mu": {"min_users": 1, "uplink": {"bsrp": False},
                    "edca": {"best_effort": {"aifsn": 0, "timer": 255}}}},
    "wire": {"rate_mbps": 1000.0, "delay_ms": 5.0}, "ap": {"queue": "mac80211"},
    "flows": [{"from": "server", "to": "sta0"},
              {"from": "sta0", "to": "server", "traffic": {"requests": {
                  "size": {"exponential": {"mean_bytes": 100_000}}, "think_s": 1.0}}}],
}  # fmt: skip
"""A download, and uploads of 100 kB, under the MU EDCA parameters of hostapd's example."""

CASES: dict[str, tuple[str, dict[str, Any], str | None]] = {
    # Heusse et al. 2003: a station at 1 Mb/s reduces all to its rate.
    "performance anomaly": ("slow_stations", {
        "standard": "11b", "duration_s": 4.0,
        "stations": [{"count": 2, "rate_mbps": 11.0}, {"count": 1, "rate_mbps": 1.0}],
        "flows": [{"from": "sta*", "to": "ap", "traffic": "saturated"}],
    }, "sta0->ap"),
    # Two stations that do not detect each other, and frames that do not survive an overlap.
    "hidden nodes": ("hidden_nodes", {
        "standard": "11b", "stations": 2, "duration_s": 3.0,
        "radio": {"error_model": "threshold",
                  "losses_db": [[0, 50, 50], [50, 0, 300], [50, 300, 0]]},
        "flows": [{"from": "sta*", "to": "ap", "traffic": "saturated"}],
    }, None),
    # 64 KiB over a round trip of 50 ms: 10 Mb/s.
    "small window": ("receive_window", {
        "standard": "11n", "stations": 1, "duration_s": 3.0, "wire": {"delay_ms": 25.0},
        "flows": [{**DOWN, "tcp": {"window_bytes": 65535}}],
    }, None),
    # ACKs of 52 bytes leave at 64 kb/s: 150 a second, for two segments each.
    "slow reverse path": ("reverse_wire", {
        "standard": "11g", "stations": 1, "duration_s": 6.0,
        "links": [{"from": "server", "to": "ap", "rate_mbps": 20.0, "delay_ms": 5.0,
                   "reverse": {"rate_mbps": 0.064}}],
        "flows": [{**DOWN, "tcp": {"window_bytes": 65535}}],
    }, None),
    # A call behind a download in a queue of 1000 packets.
    "bufferbloat": ("fq_codel", {
        "standard": "11g", "stations": 2, "duration_s": 4.0,
        "ap": {"queue": {"drop_tail": {"limit_packets": 1000}}},
        "wire": {"rate_mbps": 1000.0, "delay_ms": 5.0},
        "flows": [DOWN, {"name": "call", "from": "server", "to": "sta1",
                         "traffic": {"cbr": {"rate_mbps": 0.0688, "payload_bytes": 172}}}],
    }, "call"),
    # A station that sends all it has as voice, with the smallest contention window.
    "airtime hog": ("greediest", {
        "standard": "11n", "stations": 3, "duration_s": 3.0,
        "flows": [
            {**DOWN, "name": "mine"},
            {"name": "small", "from": "sta1", "to": "ap", "traffic": {"cbr": {"rate_mbps": 0.1}}},
            {"name": "hog", "from": "sta2", "to": "ap", "class": "voice",
             "traffic": {"saturated": {"payload_bytes": 1460}}},
        ],
    }, "mine"),
    # RTS and CTS at 1 Mb/s before frames of 200 bytes at 11 Mb/s.
    "RTS overhead": ("rts", {
        "standard": "11b", "stations": 1, "duration_s": 2.0,
        "wlan": {"rts_threshold_bytes": 0, "basic_rates_mbps": [1.0]},
        "flows": [{"from": "sta0", "to": "ap",
                   "traffic": {"saturated": {"payload_bytes": 200}}}],
    }, None),
    # Rayleigh fading with a mean signal that alone would do.
    "deep fade": ("fading", {
        "standard": "11g", "duration_s": 4.0, "wlan": {"rate_mbps": 24.0},
        "radio": {"fading": {"m": 1.0, "coherence_ms": 50.0},
                  "losses_db": [[0, 91], [91, 0]]},
        "stations": 1,
        "flows": [{"from": "sta0", "to": "ap", "traffic": "saturated"}],
    }, None),
    # A station beside the access point that sends at 6 Mb/s.
    "wrong MCS": ("own_mode", {
        "standard": "11a", "duration_s": 2.0, "radio": {},
        "stations": [{"position_m": [2.0, 0.0], "rate_mbps": 6.0}],
        "flows": [{"from": "sta0", "to": "ap", "traffic": "saturated"}],
    }, None),
    # Half of the MAC ACKs are lost: data that has arrived is sent again.
    "ACK loss": ("ack_loss", {
        "standard": "11g", "duration_s": 2.0, "stations": [{"ack_loss": 0.5, "data_loss": 0.02}],
        "flows": [{"from": "sta0", "to": "ap", "traffic": "saturated"}],
    }, None),
    # Packets wait for the aggregate before longer than the step.
    "step below an aggregate": ("marking", {
        "standard": "11ac", "stations": 1, "duration_s": 6.0,
        "ap": {"queue": {"dualpi2": {"step_us": 500.0}}}, "wire": {"delay_ms": 5.0},
        "flows": [{**DOWN, "control": "prague", "tcp": {"ecn": "accurate"}}],
    }, None),
    # Short packets of seven stations pad up to the end of a long A-MPDU.
    "padding": ("padding", {
        "standard": "11ax", "stations": 8, "duration_s": 2.0, "wlan": {"mcs": 7, "mu": {}},
        "ap": {"queue": "mac80211"},
        "flows": [
            {"name": "bulk", "from": "ap", "to": "sta0", "traffic": "saturated"},
            {"from": "ap", "to": "sta1-7",
             "traffic": {"cbr": {"rate_mbps": 1.0, "payload_bytes": 200}}},
        ],
    }, "bulk"),
    # Four full queues share each PPDU: 192 of 234 tones carry data.
    "small resource unit": ("small_unit", {
        "standard": "11ax", "stations": 4, "duration_s": 2.0, "wlan": {"mcs": 7, "mu": {}},
        "flows": [{"from": "ap", "to": "sta*", "traffic": "saturated"}],
    }, "ap->sta0"),
    # After each upload the station is mute for 2.089 s, and nobody asks for its TCP ACKs.
    "muted by MU EDCA": ("muted", MUTED, "server->sta0"),
}  # fmt: skip


@pytest.mark.parametrize("name", CASES)
def test_the_first_cause_is_the_one_that_was_built_in(name: str) -> None:
    cause, keys, flow = CASES[name]
    found = sm.why(keys, flow=flow, replications=3, most_replications=12)
    assert [effect.name for effect in found.causes][:1] == [cause], found.report()


CURED: dict[str, tuple[str, Any]] = {
    "performance anomaly": ("stations[1].rate_mbps", 11.0),
    "hidden nodes": ("radio.losses_db", [[0, 50, 50], [50, 0, 50], [50, 50, 0]]),
    "small window": ("flows[0].tcp.window_bytes", 16 << 20),
    "slow reverse path": ("links[0].reverse.rate_mbps", 20.0),
    "bufferbloat": ("ap.queue", "fq_codel"),
    "airtime hog": ("flows[2].traffic", {"cbr": {"rate_mbps": 0.1}}),
    "RTS overhead": ("wlan.rts_threshold_bytes", 3000),
    "deep fade": ("radio.fading.m", 50.0),
    "wrong MCS": ("stations[0].rate_mbps", 54.0),
    "ACK loss": ("stations[0].ack_loss", 0.0),
    "step below an aggregate": ("ap.queue.dualpi2.step_us", 20_000.0),
    "small resource unit": ("wlan.mu.scheduler", {"backlog": {"single_above_us": 1000.0}}),
    "padding": ("wlan.mu.scheduler", {"backlog": {"single_above_us": 1000.0}}),
    "muted by MU EDCA": ("wlan.mu.edca.best_effort.timer", 0),
}
"""The key without which a case does not have its cause."""


@pytest.mark.parametrize("name", CASES)
def test_a_cause_that_is_not_built_in_is_not_named(name: str) -> None:
    cause, keys, flow = CASES[name]
    cured = sm.Scenario(**keys).set(*CURED[name])
    found = sm.why(cured, flow=flow, replications=3, most_replications=12)
    assert cause not in [effect.name for effect in found.causes], found.report()


def test_a_trigger_that_does_not_come_is_a_cause_until_the_access_point_polls() -> None:
    def gains(**uplink: Any) -> dict[str, float]:
        cell = sm.Scenario(**MUTED).set("wlan.mu.uplink", uplink)
        found = sm.why(cell, flow="server->sta0", replications=4, most_replications=8)
        return {effect.name: effect.difference.mean / found.value.mean for effect in found.causes}

    never = gains(bsrp=False)
    assert never["muted"] > 0.5
    assert never["no_trigger"] > 0.5
    # What MU EDCA costs beside polls is their airtime.
    polled = gains(access_interval_us=5000.0)
    assert polled.get("muted", 0.0) < 0.15
    assert "no_trigger" not in polled


def test_short_windows_of_random_access_are_a_cause_until_they_are_longer() -> None:
    random_access = "wlan.mu.uplink.random_access"
    busy = sm.Scenario.load("uora").set("duration_s", 6.0).set("warmup_s", 2.0)
    busy = busy.set("flows[*].traffic.poisson.rate_mbps", 0.2).set(f"{random_access}.units", 9)

    def gains(cell: sm.Scenario) -> dict[str, float]:
        found = sm.why(cell, flow="sta0->ap", replications=4, most_replications=8)
        return {effect.name: effect.difference.mean / found.value.mean for effect in found.causes}

    assert gains(busy)["unit_collisions"] < -0.9
    assert "unit_collisions" not in gains(busy.set(f"{random_access}.eocw_min", 5))


UP = {"from": "sta0", "to": "ap", "traffic": "saturated"}
HOUSE: dict[str, Any] = {
    "standard": "11n", "duration_s": 5.0, "warmup_s": 1.0, "ap": {"position_m": [0, 0]},
    "wlan": {"rate_control": "minstrel_ht"}, "radio": {},
    "stations": [{"position_m": [4, 0]}, {"position_m": [45, 0]}],
    "wire": {"rate_mbps": 100.0, "delay_ms": 10.0},
    "flows": [{"name": "call", "from": "server", "to": "sta0", "traffic": "call"},
              {"name": "download", "from": "server", "to": "sta0"},
              {"name": "backup", "from": "sta1", "to": "server"}],
}  # fmt: skip
"""A laptop 45 m away whose backup holds the air, as an engineer meets it."""

MORE: dict[str, tuple[str, dict[str, Any], str | None]] = {
    # Uploads of a near laptop, and of a distant one with a mode for its distance.
    "distant laptop": ("slow_stations", {
        "standard": "11g", "duration_s": 3.0, "warmup_s": 1.0, "ap": {"position_m": [0, 0]},
        "radio": {},
        "stations": [{"position_m": [4, 0]}, {"position_m": [40, 0], "rate_mbps": 6.0}],
        "flows": [{"name": "mine", "from": "sta0", "to": "ap", "traffic": "saturated"},
                  {"name": "backup", "from": "sta1", "to": "ap", "traffic": "saturated"}],
    }, "mine"),
    # Two stations 100 m apart, with the access point between them.
    "hidden by distance": ("hidden_nodes", {
        "standard": "11b", "duration_s": 1.0, "ap": {"position_m": [0, 0]},
        "radio": {"error_model": "threshold"},
        "stations": [{"position_m": [50, 0]}, {"position_m": [-50, 0]}],
        "flows": [{"from": "sta*", "to": "ap", "traffic": "saturated"}],
    }, None),
    # Noise decides, at a place given in metres.
    "weak signal": ("signal", {
        "standard": "11a", "duration_s": 1.0, "ap": {"position_m": [0, 0]}, "radio": {},
        "wlan": {"rate_mbps": 54.0}, "stations": [{"position_m": [34, 0]}], "flows": [UP],
    }, None),
    # A line of 2 Mb/s before a Wi-Fi of 54 Mb/s.
    "slow line": ("wire", {
        "standard": "11g", "stations": 1, "duration_s": 3.0,
        "wire": {"rate_mbps": 2.0, "delay_ms": 5.0}, "flows": [DOWN],
    }, None),
    # A loss of 2 % at 40 ms: NewReno has 1.2/sqrt(0.02) segments a round trip.
    "lossy line": ("wire_loss", {
        "standard": "11g", "stations": 1, "duration_s": 6.0,
        "wire": {"rate_mbps": 100.0, "delay_ms": 20.0,
                 "loss": {"uniform": {"probability": 0.02}}},
        "flows": [{**DOWN, "control": "new_reno"}],
    }, None),
    # Four packets of buffer before a line whose window is thirty.
    "tiny buffer": ("buffer", {
        "standard": "11n", "stations": 1, "duration_s": 8.0, "warmup_s": 2.0,
        "links": [{"from": "server", "to": "ap", "rate_mbps": 10.0, "delay_ms": 20.0,
                   "queue": {"drop_tail": {"limit_packets": 4}}}],
        "flows": [{**DOWN, "control": "new_reno", "tcp": {"window_bytes": 150000}}],
    }, None),
    # The receiver reads 1 Mb/s.
    "slow reader": ("reader", {
        "standard": "11g", "stations": 1, "duration_s": 4.0,
        "flows": [{**DOWN, "tcp": {"read_rate_mbps": 1.0}}],
    }, None),
    # A third of the data frames is destroyed.
    "noise": ("noise", {
        "standard": "11g", "duration_s": 1.0, "stations": [{"data_loss": 0.35}], "flows": [UP],
    }, None),
    # An oven that is on for half of the time.
    "microwave oven": ("interferers", {
        "standard": "11g", "stations": 1, "duration_s": 2.0, "wlan": {"rate_mbps": 54.0},
        "interferers": [{"source": "microwave", "corrupts": True}], "flows": [UP],
    }, None),
    # The only other station holds the air at 1 Mb/s.
    "one slow neighbour": ("slow_stations", {
        "standard": "11b", "duration_s": 3.0, "stations": [{"rate_mbps": 11.0}, {"rate_mbps": 1.0}],
        "flows": [{"from": "sta*", "to": "ap", "traffic": "saturated"}],
    }, "sta0->ap"),
}  # fmt: skip


@pytest.mark.thorough
@pytest.mark.parametrize("name", MORE)
def test_the_first_cause_of_further_cases_is_the_one_that_was_built_in(name: str) -> None:
    cause, keys, flow = MORE[name]
    found = sm.why(keys, flow=flow, replications=3, most_replications=12)
    assert [effect.name for effect in found.causes][:1] == [cause], found.report()


@pytest.mark.thorough
def test_causes_are_the_same_for_any_number_of_runs_and_the_slow_laptop_is_named() -> None:
    found = [sm.why(HOUSE, flow="call", replications=n) for n in (2, 5, 12)]
    names = [{effect.name for effect in each.causes} for each in found]
    assert names[0] == names[1] == names[2], [each.report() for each in found]
    for each in found:
        assert each.causes[0].name == "fq_codel"
        assert "sta1" in each.report()
        assert "radio.losses_db" not in each.report()
        assert {"cake", "airtime_fairness"} <= {cure.name for cure in each.cures if cure.helps}


def run(**keys: Any) -> sm.Run:
    """A short run of 802.11b with delays by hop."""
    base = {"standard": "11b", "stations": 1, "duration_s": 4.0, "measure": {"hops": True}}
    return sm.run(sm.Scenario(**{**base, **keys}), check=True)


def test_a_neighbour_in_a_subchannel_is_a_cause_until_it_is_punctured() -> None:
    beside = sm.Scenario.load("punctured").set("duration_s", 4.0)
    # In channel 44, the highest 40 MHz of 36 to 48, which no pattern leaves out.
    wide = beside.set("ap.punctured", []).set("stations[1].width_mhz", 40)
    shared = sm.why(beside.set("ap.punctured", []), flow="to the wide one sta0", replications=3,
                    most_replications=3)  # fmt: skip
    found = {effect.name: effect for effect in shared.effects}["punctured"]
    assert found.gain > 1.05
    assert found.change.key.set == ("ap.punctured=[4]",)
    assert shared.not_applicable["unpunctured"] == "the flow's network has nothing punctured"
    alone = sm.why(beside, flow="to the wide one sta0", replications=3, most_replications=3)
    effects = {effect.name: effect for effect in alone.effects}
    assert effects["unpunctured"].gain < 0.95
    assert "punctured" not in effects
    for scenario, message in [
        (wide, "the standard has no pattern that leaves out the subchannels 3, 4 alone"),
        (beside.set("ap.punctured", []).set("cells[0].channel", 36),
         "another network is in the primary channel, which cannot be punctured"),
        (beside.set("ap.punctured", []).set("cells[0].channel", 52),
         "no other network is in the flow's channel"),
        (beside.set("ap.punctured", []).set("wlan.bandwidth_operation", "punctured"),
         "transmitters leave out what is busy (wlan.bandwidth_operation)"),
    ]:  # fmt: skip
        assert punctured(Case(scenario, draft.with_single_flows(scenario), 0, {}, 1)) == message


def test_a_neighbour_in_a_secondary_channel_is_left_out_when_it_is_there() -> None:
    beside = sm.Scenario.load("punctured").set("duration_s", 4.0).set("ap.punctured", [])
    shared = sm.why(beside, flow="to the wide one sta0", replications=3, most_replications=3)
    found = {effect.name: effect for effect in shared.effects}["medium"]
    assert found.gain > 1.05
    assert found.change.key.set == ("wlan.bandwidth_operation=punctured",)

    def of(scenario: sm.Scenario) -> Any:
        return medium(Case(scenario, draft.with_single_flows(scenario), 0, {}, 1))

    six = beside.set("standard", "11ax")
    for scenario, value in [(six, "dynamic"), (six.set("wlan.mu", {}), "punctured")]:
        assert [edit.value for edit in of(scenario).edits] == [value]
    elsewhere = "no other network is in secondary channels of the flow's network"
    alone = "stations that sense each 20 MHz by itself are modelled for 802.11ax and be, not for "
    alone += "802.11ac"
    at_6 = beside.set("wlan.band_ghz", 6).set("ap.channel", 149).set("cells[0].channel", 157)
    assert of(at_6).edits
    for scenario, message in [
        (beside.set("cells[0].channel", 36), elsewhere),
        (beside.set("cells[0].channel", 52), elsewhere),
        (at_6.set("cells[0].channel", 161), elsewhere),
        (
            beside.set("ap.punctured", [3]),
            "not supported together with punctured channels of a network",
        ),
        (beside.set("standard", "11ac"), alone),
        (
            beside.set("wlan.bandwidth_operation", "dynamic"),
            "transmitters leave out what is busy (wlan.bandwidth_operation)",
        ),
    ]:
        assert of(scenario) == message


def walking(**rules: object) -> sm.Scenario:
    """A call with a station that walks between two access points, and scans every half second."""
    often = {"threshold_dbm": -40.0, "short_interval_s": 0.5, **rules}
    return sm.Scenario(
        standard="11n",
        duration_s=4.0,
        warmup_s=0.2,
        wlan={"beacons": {}, "rate_control": "ideal"},
        radio={},
        ap={"position_m": [0.0, 0.0], "channel": 36},
        cells=[{"position_m": [40.0, 0.0], "channel": 52}],
        stations=[
            {
                "roaming": often,
                "waypoints": [
                    {"at_s": 0.0, "position_m": [5.0, 2.0]},
                    {"at_s": 4.0, "position_m": [36.0, 2.0]},
                ],
            },
            {"position_m": [2.0, 2.0]},
        ],
        flows=[
            {"from": "server", "to": "sta0", "traffic": {"cbr": {"rate_mbps": 1.0}}},
            {"from": "server", "to": "sta1", "traffic": {"cbr": {"rate_mbps": 1.0}}},
        ],
    )


def test_scans_of_a_station_that_roams_are_a_cause_of_delay() -> None:
    """Two channels of 30 ms each time, more often than every twentieth packet."""
    why = sm.why(walking(), flow="server->sta0", replications=3, most_replications=3)
    first = why.causes[0]
    assert first.name == "scans"
    assert why.value.mean > 0.03
    # Without them 95 % of the packets come within 3 ms.
    assert why.value.mean + first.difference.mean < 0.003
    assert first.change.key.set[0] == "stations[0].roaming.threshold_dbm=-120"
    absent = why.not_applicable
    assert absent["announced"] == "the station tells its access point when it scans"
    assert absent["authentication"] == "a change of access point takes no time for keys"
    unknown = "routes or access points change, so that the hops of flows are not known"
    assert {name for name, reason in absent.items() if reason == unknown} >= {
        "buffer", "fq_codel", "wire", "greediest", "limit", "airtime_fairness",
    }  # fmt: skip
    assert "buffer, fq_codel, marking, wire" in why.report()
    assert why.measured.hops == ()


def test_who_stays_beside_a_station_that_roams_has_no_scans() -> None:
    why = sm.why(walking(), flow="server->sta1", replications=2, most_replications=2)
    reason = "the flow's stations stay with their access points"
    assert why.not_applicable["scans"] == why.not_applicable["forwarded"] == reason


def test_keys_of_roaming_are_varied_where_they_are_not_the_best() -> None:
    scenario = walking(announce=False, authentication_ms=300.0)
    single = draft.with_single_flows(scenario)
    case = Case(scenario, single, 0, {}, 1)
    changes = [roaming.announced(case), roaming.forwarded(case), roaming.authentication(case)]
    keys = [change.key.set if not isinstance(change, str) else change for change in changes]
    assert keys == [
        ("stations[0].roaming.announce=true",),
        ("stations[0].roaming.forward=true",),
        ("stations[0].roaming.authentication_ms=0",),
    ]
    for change in changes:
        assert not isinstance(change, str)
        draft.apply(single, change.edits)


def test_the_delays_of_hops_add_up_to_the_delay_of_packets() -> None:
    for radio in ({}, {"radio": {"losses_db": [[0, 50, 50], [50, 0, 50], [50, 50, 0]]}}):
        done = run(
            stations=2,
            **radio,
            wire={"rate_mbps": 2.0, "delay_ms": 7.0},
            flows=[
                {"name": "call", "from": "server", "to": "sta0",
                 "traffic": {"cbr": {"rate_mbps": 0.5, "payload_bytes": 500}}},
                {"from": "sta1", "to": "ap", "traffic": {"cbr": {"rate_mbps": 3.0}}},
            ],
        )  # fmt: skip
        found = measured.measured(done.summary, 0)
        total = sum(hop.delay_s for hop in found.hops)
        assert total == pytest.approx(done.summary["flows[0].delay_s.mean"], rel=0.002)


def test_a_packet_alone_is_on_the_air_for_its_frame() -> None:
    traffic = {"cbr": {"rate_mbps": 0.1, "payload_bytes": 1472, "header_bytes": 28}}
    done = run(flows=[{"from": "sta0", "to": "ap", "traffic": traffic}])
    (hop,) = measured.measured(done.summary, 0).hops
    # 802.11-2020 table 16-2: 192 us of preamble and header, then 1500 + 36 bytes at 11 Mb/s. A
    # frame that arrives at an idle medium is sent at once.
    assert hop.parts["transmission_s"] == pytest.approx(192e-6 + 1536 * 8 / 11e6, abs=1e-6)
    assert hop.parts["queueing_s"] == hop.parts["retries_s"] == 0.0
    assert hop.parts["contention_s"] == pytest.approx(0.0, abs=1e-9)


def test_a_link_splits_into_transmission_and_propagation() -> None:
    traffic = {"cbr": {"rate_mbps": 0.1, "payload_bytes": 1222, "header_bytes": 28}}
    wire = {"rate_mbps": 1.0, "delay_ms": 3.0}
    done = run(wire=wire, flows=[{"from": "server", "to": "sta0", "traffic": traffic}])
    first = measured.measured(done.summary, 0).hops[0]
    assert first.at == "wire.down"
    assert first.parts["transmission_s"] == pytest.approx(0.01)
    assert first.parts["propagation_s"] == pytest.approx(0.003)
    assert first.parts["queueing_s"] == pytest.approx(0.0, abs=1e-9)


def test_lost_frames_are_retries() -> None:
    traffic = {"cbr": {"rate_mbps": 0.1, "payload_bytes": 1472}}
    flows = [{"from": "sta0", "to": "ap", "traffic": traffic}]
    (clear,) = measured.measured(run(flows=flows).summary, 0).hops
    (noisy,) = measured.measured(run(flows=flows, stations={"data_loss": 0.5}).summary, 0).hops
    assert clear.parts["retries_s"] == 0.0
    # On average one attempt fails before the one that succeeds.
    sent = noisy.parts["transmission_s"]
    assert 0.7 * sent < noisy.parts["retries_s"] < 1.4 * sent


SIFS_AND_ACK_S = 10e-6 + 192e-6 + 14 * 8 / 11e6
"""802.11b at 11 Mb/s, long preamble (802.11-2020 clause 16): after the frame has arrived."""


@pytest.mark.parametrize("radio", [{}, {"radio": {"losses_db": [[0, 50, 50], [50, 0, 50],
                                                               [50, 50, 0]]}}])  # fmt: skip
def test_delays_of_nodes_are_those_of_their_hops(radio: dict[str, Any]) -> None:
    traffic = {"cbr": {"rate_mbps": 2.0}}
    done = run(
        stations=2, **radio, wire={"rate_mbps": 2.4, "delay_ms": 7.0},
        wlan={"basic_rates_mbps": [11.0]},
        flows=[{"from": "server", "to": "sta0", "traffic": traffic},
               {"from": "sta1", "to": "ap", "traffic": traffic}],
    )  # fmt: skip
    delays = {row["name"]: row for row in tables.delays(done.summary)}
    hops = {str(row["at"]): row for row in tables.rows(done.summary, "hops")}
    for at, name in (("wire.down", "wire.down"), ("ap", "access point"), ("sta1", "sta1")):
        for part in ("queueing_s", "contention_s", "retries_s"):
            expected = pytest.approx(hops[at][part], rel=0.02, abs=12e-6)
            assert (delays[name].get(part) or 0.0) == expected, (name, part)
    # A hop ends when the packet arrives, and service at a node when its MAC ACK has arrived.
    for at, name in (("ap", "access point"), ("sta1", "sta1")):
        assert delays[name]["transmission_s"] == pytest.approx(
            hops[at]["transmission_s"] + SIFS_AND_ACK_S, rel=0.02
        )
    assert delays["wire.down"]["transmission_s"] == pytest.approx(
        hops["wire.down"]["transmission_s"]
    )
    assert delays["wire.down"]["propagation_s"] == 0.007


def test_packets_of_an_a_mpdu_are_on_the_air_for_its_exchange() -> None:
    flows = [{"from": "sta0", "to": "ap", "traffic": "saturated"}]
    summary = run(standard="11ax", flows=flows).summary
    exchanges = summary["stations[0].sent"] / summary["stations[0].mpdus_per_ppdu"]
    # 802.11-2020 table 9-155, AC_BE: AIFSN 3 and CWmin 15, with a SIFS of 16 us and slots of 9 us.
    access_s = 16e-6 + 3 * 9e-6 + 7.5 * 9e-6
    expected = summary["run.measured_s"] / exchanges - access_s
    assert summary["stations[0].transmission_s"] == pytest.approx(expected, rel=0.002)
    assert summary["stations[0].retries_s"] == 0.0


def test_a_network_with_routing_has_delays_of_its_nodes() -> None:
    keys = {
        "standard": "11b", "duration_s": 3.0, "routing": {"protocol": "static"},
        "radio": {"preset": "ns2", "ad_hoc": True},
        "stations": {"count": 3, "placement": {"chain": {"spacing_m": 200.0}}},
        "flows": [{"from": "sta0", "to": "sta2"}],
    }  # fmt: skip
    found = sm.why(keys, replications=2)
    assert not found.measured.hops
    assert {place.at for place in found.measured.places} == {"sta0", "sta1", "sta2"}
    assert "all flows" in found.report(80)


def test_without_measure_hops_results_are_the_same_and_have_no_hops() -> None:
    scenario = sm.Scenario(standard="11b", stations=2, duration_s=2.0, flows=[DOWN])
    plain, split = sm.run(scenario), sm.run(scenario.set("measure.hops", True))
    assert plain.digest == split.digest
    assert not any(path.startswith("hops") for path in plain.summary)
    assert dict(plain.summary) == {k: v for k, v in split.summary.items() if "hops[" not in k}


def test_the_shares_of_time_add_up_to_one() -> None:
    bulk = {**DOWN, "traffic": {"bulk": {"size_bytes": 100_000}}}
    limits = measured.measured(run(flows=[bulk]).summary, 0).limits
    assert sum(limits.values()) == pytest.approx(1.0)
    assert limits["done"] > 0.5


def test_no_two_nodes_collide_without_collisions() -> None:
    flows = [{"from": "sta*", "to": "ap", "traffic": "saturated"}]
    usual = run(stations=10, flows=flows).summary
    none = run(stations=10, flows=flows, wlan={"collisions": "none"}).summary
    assert usual["total.collision_probability"] > 0.2
    assert none["total.collision_probability"] == 0.0
    assert none["total.goodput_mbps"] > 1.1 * usual["total.goodput_mbps"]
    assert none["total.jain_index"] > 0.97


def effect(name: str, gain: float, fair: float = 1.0) -> Effect:
    one = Estimate(gain, gain - 0.1, gain + 0.1, 3)
    change = Change([], "", "", Key(), (2, 1) if fair > 1 else None)
    return Effect(name, change, one, one, gain, 0.0, Verdict.CAUSE, fair)


def test_removing_flows_ranks_by_its_gain_beyond_equal_shares() -> None:
    keys, gone = effect("rts", 1.9), effect("alone", 4.0, fair=4.0)
    assert [each.name for each in rank([gone, keys])] == ["rts", "alone"]
    hog = effect("greediest", 6.0, fair=2.0)
    assert [each.name for each in rank([keys, gone, hog])] == ["greediest", "rts", "alone"]


def test_other_flows_keep_their_random_numbers_when_one_is_off() -> None:
    web = {"web": {"size": {"pareto": {"mean_bytes": 20000, "shape": 1.5}}, "think_s": 0.1}}
    flows = [{"from": "server", "to": "sta*", "traffic": web}]
    keys = {"standard": "11g", "stations": 3, "duration_s": 3.0, "flows": flows}
    single = draft.with_single_flows(sm.Scenario(**keys))
    assert sm.run(single).summary["flows[2].goodput_mbps"] == pytest.approx(
        sm.run(keys).summary["flows[2].goodput_mbps"]
    )
    edits = [draft.Edit(f"flows[{n}].{k}", v) for n in (0, 1) for k, v in draft.OFF.items()]
    alone = sm.run(draft.apply(single, edits)).summary
    assert alone["flows[0].goodput_mbps"] == alone["flows[1].goodput_mbps"] == 0.0
    assert alone["flows[2].goodput_mbps"] > 0.0


def test_marks_are_those_of_the_queues_that_set_them() -> None:
    case = CASES["step below an aggregate"][1]
    found = measured.measured((summary := sm.run(sm.Scenario(**case)).summary), 0)
    (marks,) = found.marks
    assert (marks.at, marks.packets) == ("ap", summary["ap.ecn_marks"])
    assert found.marked == marks.packets > 0
    assert marks.queueing_s == summary["ap.l_queue.queueing_s"]
    unmarked = sm.run(sm.Scenario(**case).set("flows[0].control", "cubic").set("flows[0].tcp", {}))
    assert measured.measured(unmarked.summary, 0).marks == ()


def test_two_scenarios_differ_by_the_key_that_explains_most() -> None:
    slow = {"standard": "11g", "stations": [{"rate_mbps": 6.0}], "duration_s": 1.0,
            "wlan": {"cw_min": 31}, "flows": [DOWN]}  # fmt: skip
    fast = {**slow, "stations": [{"rate_mbps": 54.0}], "wlan": {"cw_min": 15}}
    found = sm.why(slow, fast, replications=3)
    assert [move.key for move in found.moves] == ["stations[0].rate_mbps", "wlan.cw_min"]
    assert found.moves[-1].value.mean == pytest.approx(found.second.mean)
    assert sm.why(slow, slow, replications=2).moves == ()


def test_what_does_not_apply_is_said() -> None:
    keys = {"standard": "11g", "stations": 1, "duration_s": 0.5, "flows": [DOWN]}
    found = sm.why(keys, replications=2)
    assert "there is no table [radio]" in " ".join(found.report(40).split())
    shown = {each.name for each in (*found.effects, *found.cures)} | set(found.not_applicable)
    from simoom.why.table import COUNTERFACTUALS

    assert shown == {each.name for each in COUNTERFACTUALS}


def test_an_unknown_flow_is_one_message(capsys: pytest.CaptureFixture[str], tmp_path: Any) -> None:
    file = tmp_path / "cell.toml"
    file.write_text(
        'standard = "11g"\nstations = 1\nduration_s = 1\n'
        '[[flows]]\nname = "call"\nfrom = "server"\nto = "sta0"\n'
    )
    assert main(["why", str(file), "--flow", "cal"]) == 2
    message = f"{file}: flow: there is no flow 'cal'; the nearest is call\n"
    assert capsys.readouterr().err == message
    assert main(["why", str(file), "-n", "2", "--json", "-q"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["flow"] == "call"
    assert {"limits", "hops", "effects", "not_applicable"} <= set(found)


def test_a_scenario_without_flows_is_one_message() -> None:
    with pytest.raises(ScenarioError, match="flows: there are none"):
        sm.why({"standard": "11g", "stations": 1})


@pytest.mark.parametrize("width", [40, 80])
def test_a_report_keeps_to_its_width(width: int) -> None:
    keys = {"standard": "11g", "stations": 2, "duration_s": 0.5, "wire": {"delay_ms": 2.0},
            "flows": [{"from": "server", "to": "sta*"}]}  # fmt: skip
    lines = sm.why(keys, replications=2).report(width).splitlines()
    assert max(map(len, lines)) <= width


def test_the_core_tells_what_each_interface_is() -> None:
    """A host whose name begins as a station's is none, and a link's way back is its own kind."""
    scenario = sm.Scenario(
        standard="11g",
        duration_s=2.0,
        stations=[{"count": 1}, {"count": 2}],
        wire={"rate_mbps": 100.0},
        links=[{"from": "stage", "to": "server", "reverse": {"queue": "fq_codel"}}],
        flows=[{"from": "stage", "to": "sta2"}],
    )
    case = Case(scenario, scenario, 0, {}, 1)
    assert case.own_stations == [2]
    assert case.flow.direction == "down"
    queues = {name: queue_of(case, at) or ("", None) for name, at in case.interfaces.items()}
    assert {name: path for name, (path, _) in queues.items()} == {
        "ap": "ap.queue", "sta0": "stations[0].queue", "sta1": "stations[1].queue",
        "sta2": "stations[1].queue", "wire.down": "wire.queue", "wire.up": "wire.queue",
        "links[0]": "links[0].queue", "links[0].reverse": "links[0].reverse.queue",
    }  # fmt: skip
    assert choice(queues["links[0].reverse"][1])[0] == "fq_codel"


def test_losses_go_by_the_powers_that_nodes_have() -> None:
    keys = MORE["hidden by distance"][1]
    stations = [{"position_m": [50, 0], "tx_power_dbm": 10.0}, {"position_m": [-50, 0]}]
    own = sm.Scenario(**keys).set("ap.tx_power_dbm", 20.0).set("stations", stations)

    def losses(scenario: sm.Scenario) -> list[list[float]]:
        change = hidden_nodes(Case(scenario, scenario, 0, {}, 1))
        return next(edit.value for edit in change.edits if edit.path == "radio.losses_db")

    assert losses(own) == losses(sm.Scenario(**keys))
