"""OFDMA beside frames to all and stations that sleep: nobody waits for an idle access point."""

from __future__ import annotations

import pytest

import simoom as sm

TU_S = 1024e-6
INTERVAL_S, PERIOD_S = 20.48e-3, 5.12e-3
TWT = {"twt": {"interval_ms": 1e3 * INTERVAL_S, "duration_ms": 1e3 * PERIOD_S}}
SATURATED = {"from": "ap", "to": "sta0-3", "traffic": {"saturated": {"payload_bytes": 1472}}}
SPARSE = {"cbr": {"rate_mbps": 0.02, "payload_bytes": 200}}
SPARSE_DOWN = {"from": "ap", "to": "sta0", "traffic": SPARSE}


def results(flows: list[dict], stations: dict | int = 8, **wlan) -> dict:
    """Return the results of a cell with OFDMA and beacons, checked against the standard."""
    scenario = sm.Scenario(
        standard="11ax",
        stations=stations,
        duration_s=12.0,
        warmup_s=2.0,
        wlan={"mcs": 7, "mu": {}, "beacons": {}} | wlan,
        ap={"queue": {"drr": {"per": "station", "limit_packets": 2000}}},
        flows=flows,
    )
    return dict(sm.run(scenario, check=True).summary)


@pytest.mark.parametrize("qos", [{}, {"edca": {}}])
def test_a_saturated_access_point_sends_each_beacon(qos):
    found = results([SATURATED], **qos)
    assert found["ap.beacons"] == pytest.approx(10 / (100 * TU_S), abs=1)
    assert found["ap.beacons_skipped"] == 0
    assert found["ap.mu.users_per_ppdu"] > 3


def test_packets_to_all_take_turns_with_those_to_stations():
    to_all = {"from": "ap", "to": "broadcast", "traffic": {"cbr": {"rate_mbps": 0.1}}}
    found = results([SATURATED, to_all])
    assert found["flows[4].goodput_mbps"] == pytest.approx(0.1, rel=0.01)
    assert found["flows[4].delay_s.p99"] < 0.02
    # Whoever has nothing but packets to all to send leaves the others half of the accesses.
    found = results([SATURATED, to_all | {"traffic": {"saturated": {"payload_bytes": 200}}}])
    assert found["ap.mu.ppdus"] == pytest.approx(found["flows[4].packets_sent"], rel=0.02)


def waits(power_save: str | dict, **wlan) -> dict:
    """Return the results of sparse packets to two sleeping stations beside a saturated queue."""
    stations = [{"count": 4}, {"count": 2, "power_save": power_save}]
    return results([SATURATED, {"from": "ap", "to": "sta4-5", "traffic": SPARSE}], stations, **wlan)


def test_stations_that_sleep_get_their_packets_from_a_busy_access_point():
    # Packets come at all phases. They wait for the PPDU on the air, and (I - D)^2 / 2I for service
    # periods of a length D from which that is taken. 250 packets: 3 standard errors are 12 %.
    def delay_s(found: dict) -> float:
        return (found["flows[4].delay_s.mean"] + found["flows[5].delay_s.mean"]) / 2

    for_air_s = delay_s(results([SATURATED, {"from": "ap", "to": "sta4-5", "traffic": SPARSE}]))
    asleep_s = (INTERVAL_S - PERIOD_S + for_air_s) ** 2 / (2 * INTERVAL_S)
    assert delay_s(waits(TWT)) - for_air_s == pytest.approx(asleep_s, rel=0.12)


@pytest.mark.parametrize(
    "power_save",
    [{"legacy": {"timeout_ms": 20}}, {"legacy": {"retrieval": "ps_poll"}}, "u_apsd", TWT],
)
def test_every_way_to_save_power_works_beside_a_saturated_queue(power_save):
    found = waits(power_save)
    for flow in ("flows[4]", "flows[5]"):
        assert found[f"{flow}.goodput_mbps"] == pytest.approx(0.02, rel=0.03)
        assert found[f"{flow}.lost"] == 0
    assert found["stations[4].power_save.awake_fraction"] < 0.6
    assert found["ap.beacons_skipped"] == 0


def test_stations_that_sleep_are_not_triggered():
    stations = [{"count": 2}, {"count": 2, "power_save": TWT}]
    up = {"from": "sta*", "to": "ap", "traffic": {"cbr": {"rate_mbps": 0.5}}}
    mu = {"uplink": {"access_interval_us": 500.0}}
    found = results([up], stations, mu=mu)
    share = found["stations[2].mu.triggers"] / found["stations[0].mu.triggers"]
    assert share == pytest.approx(PERIOD_S / INTERVAL_S, rel=0.2)
    for flow in range(4):
        assert found[f"flows[{flow}].goodput_mbps"] == pytest.approx(0.5, rel=0.02)


def both_ways(rate_mbps: float, power_save: str | dict | None, who: str = "sta*") -> dict:
    """Return the results of packets to eight stations and from some of them, who are polled."""
    traffic = {"cbr": {"rate_mbps": rate_mbps, "payload_bytes": 200}}
    flows = [
        {"from": who, "to": "ap", "traffic": traffic},
        {"from": "ap", "to": "sta*", "traffic": traffic},
    ]
    stations = {"count": 8} | ({"power_save": power_save} if power_save else {})
    return results(flows, stations, mu={"uplink": {"access_interval_us": 1000.0}})


TRIGGERED = {"twt": TWT["twt"] | {"triggered": True}}


def test_stations_of_a_trigger_enabled_twt_do_not_contend():
    own, asked = both_ways(0.5, TWT), both_ways(0.5, TRIGGERED)
    # All begin at once; who contends takes the accesses that carry packets to all of them.
    assert own["total.collision_probability"] > 0.3
    assert asked["total.collision_probability"] == 0
    assert asked["flows[8].delay_s.mean"] < 0.6 * own["flows[8].delay_s.mean"]
    # Nobody stays awake to send what is left.
    for station in range(8):
        awake = asked[f"stations[{station}].power_save.awake_fraction"]
        assert awake == pytest.approx(PERIOD_S / INTERVAL_S, rel=0.01)
        assert asked[f"flows[{station}].goodput_mbps"] == pytest.approx(0.5, rel=0.01)


@pytest.mark.parametrize("who", ["sta0-3", "sta4-7"])
def test_all_stations_are_polled_in_turn(who):
    # Four have packets, and four are asked at once, of eight that never contend.
    found = both_ways(0.1, TRIGGERED, who)
    triggers = [found[f"stations[{station}].mu.triggers"] for station in range(8)]
    assert min(triggers) > 0.7 * max(triggers)
    for flow in range(4):
        assert found[f"flows[{flow}].goodput_mbps"] == pytest.approx(0.1, rel=0.01)


@pytest.mark.parametrize(
    ("keys", "path", "message"),
    [
        ({"mu": {}}, "stations.power_save.twt.triggered", "nobody triggers the station"),
        ({"mu": {"uplink": {}}}, "stations.power_save.twt.triggered", "access_interval_us = 1000"),
        (
            {"mu": {"uplink": {"access_interval_us": 1000.0, "bsrp": False}}},
            "stations.power_save.twt.triggered",
            "leave bsrp at true",
        ),
    ],
)
def test_who_waits_for_triggers_needs_an_access_point_that_sends_them(keys, path, message):
    with pytest.raises(sm.ScenarioError) as refused:
        results([SPARSE_DOWN], {"count": 2, "power_save": TRIGGERED}, **keys)
    assert [(issue.path, message in str(issue)) for issue in refused.value.issues] == [(path, True)]


def test_agreements_with_triggers_are_not_announced():
    twt = TRIGGERED["twt"] | {"announced": True}
    with pytest.raises(sm.ScenarioError, match="remove announced or triggered"):
        results([SPARSE_DOWN], {"count": 2, "power_save": {"twt": twt}})
