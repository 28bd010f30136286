"""Random access of uplink OFDMA (UORA): bounds, laws, what it is good for, and refusals.

The Monte Carlo of its rule is in the table of agreement (`validation/random_access.py`).
"""

from __future__ import annotations

import math

import polars as pl
import pytest
from validation.random_access import scenario

import simoom as sm

MUTED = {"best_effort": {"aifsn": 0, "timer": 255}}


def saturated(stations: int, units: int, exponents: tuple[int, int] = (3, 5)) -> sm.Scenario:
    """Return a cell of stations that always have datagrams, of which none is asked."""
    return sm.Scenario(**scenario(stations, units, exponents)).set("duration_s", 4.0)


def sensors(stations: int, rate_mbps: float, **uplink: object) -> sm.Scenario:
    """Return a cell of stations that send now and then, and by Trigger frames mostly."""
    traffic = {"poisson": {"rate_mbps": rate_mbps, "payload_bytes": 200}}
    mu = {"uplink": {"access_interval_us": 1000, **uplink}, "edca": MUTED}
    return sm.Scenario(
        standard="11ax",
        stations=stations,
        duration_s=6.0,
        warmup_s=2.0,
        wlan={"width_mhz": 20, "mcs": 7, "mu": mu},
        flows=[{"from": "sta*", "to": "ap", "traffic": traffic}],
    )


def measured(cell: sm.Scenario, seed: int = 1) -> dict[str, float]:
    summary = sm.run(cell, seed=seed, check=True).summary
    numbers = ((path, value) for path, value in summary.items() if isinstance(value, (int, float)))
    return {path: float(value) for path, value in numbers}


def attempts(values: dict[str, float]) -> float:
    return sum(value for path, value in values.items() if path.endswith("mu.ra_attempts"))


@pytest.mark.parametrize(("stations", "units"), [(5, 1), (10, 1), (10, 3), (40, 9)])
def test_no_more_is_received_than_by_slotted_aloha(stations, units):
    # N stations that send in a slot with probability 1/N each: N (1 - 1/N)^(N - 1) / N, which is
    # 1/e for many.
    values = measured(saturated(stations, units))
    bound = (1 - 1 / stations) ** (stations - 1)
    sigma = math.sqrt(bound * (1 - bound) / values["ap.mu.ra_rus"])
    assert values["ap.mu.ra_efficiency"] < bound + 3 * sigma


def test_at_an_attempt_for_each_unit_it_is_the_bound_of_slotted_aloha():
    values = measured(saturated(9, 1).set("duration_s", 20.0))
    assert attempts(values) / values["ap.mu.ra_rus"] == pytest.approx(1.0, abs=0.03)
    assert values["ap.mu.ra_efficiency"] == pytest.approx((8 / 9) ** 8, rel=0.02)


def test_units_are_counted_once():
    values = measured(saturated(12, 3))
    units = {key: values[f"ap.mu.ra_rus{key}"] for key in ("", "_used", "_collided", "_received")}
    assert units["_used"] == units["_collided"] + units["_received"]
    assert 0 < units["_used"] < units[""]
    own = [
        (values[f"stations[{i}].mu.ra_attempts"], values[f"stations[{i}].mu.ra_success_fraction"])
        for i in range(12)
    ]
    assert sum(round(tried * part) for tried, part in own) == units["_received"]
    # At least two in each collision.
    assert attempts(values) >= units["_received"] + 2 * units["_collided"]


def test_a_window_of_zero_lets_few_send_and_others_wait():
    """Who has succeeded sends again, so that more arrives than by slotted Aloha."""
    greedy, usual = measured(saturated(8, 1, (0, 7))), measured(saturated(8, 1))
    assert greedy["ap.mu.ra_efficiency"] > 0.8 > 2 * usual["ap.mu.ra_efficiency"]
    assert greedy["total.jain_index"] < 0.9 < usual["total.jain_index"]


def test_who_is_asked_does_not_send_at_random():
    """Nine stations, of whom a BSRP asks all that have no unit left."""
    values = measured(sensors(3, 0.1, random_access={"units": 6, "triggers": "bsrp"}))
    assert values["ap.mu.ra_rus"] > 0
    assert attempts(values) == 0


def p95_ms(cell: sm.Scenario) -> float:
    return 1000 * measured(cell)["total.delay_s.p95"]


def test_random_access_reaches_before_polls_do():
    # A BSRP asks nine of fifty stations, few of which have something: polls come round in six.
    polls, random = (
        p95_ms(sensors(50, 0.02, **keys))
        for keys in ({}, {"random_access": {"units": 6, "triggers": "bsrp"}})
    )
    assert random < 0.6 * polls


def test_random_access_does_not_carry_a_load_that_polls_do():
    """A third of the units at most has a packet."""
    basic = {"units": 9, "triggers": "basic", "room_bytes": 300}
    polls = measured(sensors(50, 0.3))
    random = measured(sensors(50, 0.3, bsrp=False, random_access=basic))
    assert polls["total.goodput_mbps"] > 14 > 2 * random["total.goodput_mbps"]


@pytest.mark.parametrize(
    "keys",
    [
        {"coding": "ldpc", "mcs": 11},
        {"coding": "ldpc", "mcs": 0},
        {"aggregation": {"frames": 2}},
        {"aggregation": {"bytes": 2000}},
        {"ppdu_timing": "ns3"},
        {"width_mhz": 40},
        {"guard_ns": 3200},
        {"mu": {"protection": "mu_rts"}},
        {"mu": {"scheduler": "backlog"}},
        {"mu": {"max_users": 4}},
        {"mu": {"uplink": {"trigger_padding_us": 0, "after_bsrp": "ns3"}}},
    ],
)
@pytest.mark.parametrize("triggers", ["all", "bsrp", "basic"])
def test_it_keeps_the_rules_with_what_else_there_is(keys, triggers):
    cell = sensors(20, 0.1, random_access={"units": 3, "triggers": triggers})
    for key, value in keys.items():
        for path, each in flat(f"wlan.{key}", value):
            cell = cell.set(path, each)
    cell = cell.set("duration_s", 1.0).set("warmup_s", 0.2).set("stations.count", 20)
    cell = cell.set("stations.data_loss", 0.05).set("stations.ack_loss", 0.05)
    values = measured(cell)
    assert values["ap.mu.ra_rus_received"] > 0
    assert values["ap.mu.ra_rus_used"] > values["ap.mu.ra_rus_received"]


def flat(path: str, value: object) -> list[tuple[str, object]]:
    if not isinstance(value, dict):
        return [(path, value)]
    return [pair for key, each in value.items() for pair in flat(f"{path}.{key}", each)]


def test_traces_name_the_units(tmp_path):
    cell = sensors(20, 0.1, random_access={"units": 4}).set("duration_s", 0.1).set("warmup_s", 0)
    sm.run(cell, trace=tmp_path / "trace.txt")
    text = (tmp_path / "trace.txt").read_text(encoding="utf-8")
    named = "sta0, sta1, sta2, sta3, sta4, 4 RA-RUs"
    assert f"BSRP: {named}\n" in text
    frames = sm.run(cell, trace=True).trace.frames
    asked = frames.filter(pl.col("trigger") == "BSRP")["stations"]
    assert asked[0] == named
    answered = frames.filter(pl.col("stations").is_not_null() & pl.col("trigger").is_null())
    assert set(map(str, answered["kind"])) <= {"BlockAck"}


@pytest.mark.parametrize(
    ("keys", "path", "message"),
    [
        ({"units": 10}, "units", "10 are more than the 9 resource units of a Trigger frame"),
        ({"eocw_min": 6}, "eocw_min", "6 is more than eocw_max, 5"),
        ({"eocw_max": 8}, "eocw_max", "must be from 0 to 7, is 8"),
        ({"units": 0}, "units", "must be from 1 to 74, is 0"),
        ({"triggers": "mu_bar"}, "triggers", 'must be one of "all", "bsrp", "basic"'),
    ],
)
def test_what_does_not_fit_gets_one_message(keys, path, message):
    with pytest.raises(sm.ScenarioError) as refused:
        sensors(20, 0.1, random_access=keys).check()
    [issue] = refused.value.issues
    assert issue.path == f"wlan.mu.uplink.random_access.{path}"
    assert message in issue.message


def test_without_bsrp_no_bsrp_has_units():
    with pytest.raises(sm.ScenarioError, match="there are no BSRP Trigger frames"):
        sensors(20, 0.1, bsrp=False, random_access={"triggers": "bsrp"}).check()


def test_fewer_users_leave_fewer_units():
    cell = sensors(20, 0.1, random_access={"units": 4}).set("wlan.mu.max_users", 3)
    with pytest.raises(sm.ScenarioError, match="4 are more than the 3 resource units"):
        cell.check()
