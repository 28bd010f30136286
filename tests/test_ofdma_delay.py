"""OFDMA where signals take time to arrive: answers are received as one within a guard interval.

802.11-2020 clause 10.3.2.9 (responses), 802.11ax-2021 clauses 26.5.2.5 and 27.3.15.3: stations
answer a Trigger frame a SIFS after it has arrived, and the guard interval has room for the way
there and back.
"""

from __future__ import annotations

import math

import polars as pl
import pytest

import simoom as sm

SIFS_S = 16e-6
SEQUENCES = ["bar_chain", "mu_bar", "aggregated_mu_bar"]
TO_AP = {"from": "sta*", "to": "ap", "traffic": {"saturated": {"payload_bytes": 1000}}}
UPLINK = {"access_interval_us": 500.0}
FROM_AP = {"from": "ap", "to": "sta*", "traffic": {"saturated": {"payload_bytes": 1000}}}


def network(distances_m: list[float], *flows: dict, delay: str = "on", **wlan) -> sm.Scenario:
    """Return stations at these distances from their access point, which hears all of them well."""
    return sm.Scenario(
        standard="11ax",
        duration_s=1.0,
        radio={
            "propagation": {"log_distance": {"exponent": 2.0}},
            "tx_power_dbm": 45.0,
            "propagation_delay": delay,
        },
        wlan={"mcs": 3, "mu": {"uplink": UPLINK}} | wlan,
        stations=[{"position_m": [0.0, distance]} for distance in distances_m],
        flows=list(flows),
    )


def frames(made: sm.Scenario) -> pl.DataFrame:
    """Return the frames of a run whose rules were checked."""
    sm.run(made, check=True)
    return sm.run(made, trace=True).trace.frames


def delay_s(distance_m: float) -> float:
    """Return the propagation delay, rounded up to nanoseconds."""
    return math.ceil(distance_m / 0.299792458) * 1e-9


def test_each_station_answers_a_sifs_after_the_trigger_frame_has_arrived() -> None:
    distances = [10.0, 60.0, 150.0, 230.0]
    sent = frames(network(distances, TO_AP))
    for (_,), exchange in sent.group_by(["exchange"], maintain_order=True):
        trigger = exchange.filter(pl.col("kind") == "Trigger")
        answers = exchange.filter(pl.col("ru_tones").is_not_null())
        if trigger.is_empty() or answers.is_empty():
            continue
        for answer in answers.iter_rows(named=True):
            distance = distances[int(answer["transmitter"].removeprefix("sta"))]
            begins = trigger["end_s"][0] + delay_s(distance) + SIFS_S
            assert answer["start_s"] == pytest.approx(begins, abs=1e-10)
        assert set(answers["outcome"]) <= {"received", "unknown"}, "unknown at the end of the run"
        # The access point answers a SIFS after the last has arrived, whose LENGTH is in steps of 4
        # us.
        last = max(
            answer["end_s"] + delay_s(distances[int(answer["transmitter"].removeprefix("sta"))])
            for answer in answers.iter_rows(named=True)
        )
        for ack in exchange.filter(pl.col("kind") == "BlockAck").iter_rows(named=True):
            assert -1e-10 < ack["start_s"] - last - SIFS_S < 4e-6
    kinds = sent.filter(pl.col("kind") == "BlockAck").height
    assert kinds > 100, "there are triggered data and their acknowledgements"


@pytest.mark.parametrize("protection", ["none", "mu_rts"])
@pytest.mark.parametrize("how", SEQUENCES)
def test_the_way_there_and_back_is_all_that_distance_costs(how: str, protection: str) -> None:
    mu = {"acknowledgement": how, "protection": protection, "uplink": UPLINK}

    def mbps(delay: str) -> float:
        made = network([200.0] * 4, *short, delay=delay, mu=mu, aggregation={"frames": 2})
        return sm.run(made, check=True).row()["total.goodput_mbps"]

    short = [flow | {"traffic": {"saturated": {"payload_bytes": 100}}} for flow in (FROM_AP, TO_AP)]
    # 1.3 us more for each answer, in exchanges of 0.2 to 0.6 ms with two to four answers.
    assert 0.97 < mbps("on") / mbps("off") < 0.997


@pytest.mark.parametrize(("guard_ns", "is_received"), [(1600, False), (3200, True)])
def test_answers_beyond_the_guard_interval_of_the_first_disturb_it(
    guard_ns: int, is_received: bool
) -> None:
    # 300 m there and back are 2.0 us. The first is 38 dB stronger, and is received nevertheless.
    made = network([4.0, 304.0], TO_AP, guard_ns=guard_ns)
    answers = frames(made).filter(pl.col("ru_tones").is_not_null())
    both = answers.group_by("transmitter").agg((pl.col("outcome") == "received").mean())
    received = dict(both.iter_rows())
    assert received["sta0"] > 0.9
    assert (received["sta1"] > 0.9) is is_received
    if not is_received:
        assert received["sta1"] < 0.1


def test_a_station_far_away_makes_signals_take_time() -> None:
    starts = []
    for distance in (299.0, 400.0):
        sent = frames(network([distance] * 2, TO_AP, delay="auto"))
        trigger = sent.filter(pl.col("kind") == "Trigger")["end_s"][0]
        answer = sent.filter(pl.col("ru_tones").is_not_null())["start_s"][0]
        starts.append(answer - trigger)
    assert starts[0] == pytest.approx(SIFS_S, abs=1e-10)
    assert starts[1] == pytest.approx(SIFS_S + delay_s(400.0), abs=1e-10)


@pytest.mark.parametrize("how", ["mu_bar", "aggregated_mu_bar"])
def test_an_access_point_that_has_given_up_gets_no_answer(how: str) -> None:
    # 15 km are 50 us: the PPDU arrives when nobody waits for its BlockAcks any more.
    made = network([15e3] * 3, FROM_AP, mu={"acknowledgement": how})
    found = sm.run(made.set("radio.tx_power_dbm", 60.0).set("warmup_s", 0.0)).row()
    assert found["ap.mu.ppdus"] > 0
    assert found["total.goodput_mbps"] < 0.1, "what arrives once is repeated in vain"
