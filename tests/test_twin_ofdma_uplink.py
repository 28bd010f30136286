"""The twin of saturated uplink OFDMA, compared with the simulator over a grid."""

from __future__ import annotations

import itertools

import pytest

import simoom as sm

ALONE, BESIDE = 0.005, 0.03
"""What may differ where stations do not contend, and where they do. Written before the first
comparison."""
SHARES = 0.15
"""The same of what one station carries beside others. In 10 s it may be twice its mean, by EDCA
without triggers as well, so that these runs last 200 s."""
COLLISIONS = 0.02
"""What the probability of collisions may differ, of attempts of all. Written before."""
NO_ROOM = {(20, 9, 4)}
"""Width, stations and MCS with which no MPDU fits into 26 tones within a TXOP of 2528 us."""
GRID = tuple(itertools.product((20, 40, 80), (2, 5, 9), (4, 11), (True, False)))
"""Widths, stations, MCSs, and whether BSRPs come first."""
MUTED = {"best_effort": {"aifsn": 0, "timer": 255}}


def cell(
    stations: int = 5, mcs: int = 4, *, width: int = 20, bsrp: bool = True, muted: bool = True
) -> sm.Scenario:
    uplink = {"access_interval_us": 100.0, "bsrp": bsrp}
    return sm.Scenario(
        standard="11ax",
        stations=stations,
        duration_s=4.0 if muted else 202.0,
        warmup_s=2.0,
        wlan={
            "mcs": mcs,
            "width_mhz": width,
            "mu": {"uplink": uplink} | ({"edca": MUTED} if muted else {}),
        },
        flows=[{"from": "sta*", "to": "ap", "traffic": {"saturated": {"payload_bytes": 1472}}}],
    )


def changed(scenario: sm.Scenario, changes: dict) -> sm.Scenario:
    for path, value in changes.items():
        scenario = scenario.set(path, value)
    return scenario


def of_access_point(limit_us: float) -> dict:
    return {"ap.edca.best_effort.txop_limit_us": limit_us}


def of_all(limit_us: float) -> dict:
    return of_access_point(limit_us) | {"wlan.edca.best_effort.txop_limit_us": limit_us}


def payload(size: int) -> dict:
    return {"flows[0].traffic": {"saturated": {"payload_bytes": size}}}


def check(scenario: sm.Scenario, band: float, *, each: float) -> None:
    """Hold the goodput of all and of each station, and the collisions, to what may differ."""
    twin = sm.predict(scenario)
    assert twin.model is not None, twin.report()
    assert twin.model.family == "ofdma_uplink"
    found = {each.path: each for each in twin.compare(sm.run(scenario))}
    assert abs(found["total.goodput_mbps"].percent) < 100 * band
    flows = [each.percent for path, each in found.items() if path.startswith("flows[")]
    assert len(flows) == len([path for path in twin.summary if path.startswith("flows[")])
    assert max(map(abs, flows)) < 100 * each
    collision = found["total.collision_probability"]
    assert abs(collision.predicted - collision.measured) < COLLISIONS


def no_room(scenario: sm.Scenario) -> None:
    """Hold that nothing is predicted where answers have no room for an MPDU."""
    (fit,) = (fit for fit in sm.predict(scenario).fits if fit.family == "ofdma_uplink")
    (broken,) = fit.broken
    assert broken.how == "triggers: no MPDU of 1538 bytes fits into an answer"


@pytest.mark.parametrize("limit_us", [0.0, 2528.0])
@pytest.mark.parametrize(("width", "stations", "mcs", "bsrp"), GRID)
def test_muted_stations_send_what_triggers_ask_for(width, stations, mcs, bsrp, limit_us):
    scenario = cell(stations, mcs, width=width, bsrp=bsrp)
    scenario = changed(scenario, of_access_point(limit_us))
    if limit_us and (width, stations, mcs) in NO_ROOM:
        no_room(scenario)
    else:
        check(scenario, ALONE, each=0.02)


VARIED = {
    "packets of 100 bytes": payload(100),
    "packets of 300 bytes": payload(300),
    "packets of 700 bytes": payload(700),
    "an interval as long as an exchange": {"wlan.mu.uplink.access_interval_us": 5500.0},
    "a longer interval": {"wlan.mu.uplink.access_interval_us": 9000.0},
    "short answers": payload(300) | {"wlan.mu.uplink.duration_us": 1000.0},
    "short PPDUs": {"wlan.aggregation.duration_us": 2000.0},
    "a long TXOP": of_access_point(8160.0),
    "several rounds": of_access_point(8160.0) | {"wlan.mu.uplink.duration_us": 1500.0},
    "few MPDUs": {"wlan.aggregation.frames": 4},
    "short A-MPDUs": {"wlan.aggregation.bytes": 6000},
    "a narrow window": {"wlan.aggregation.window": 64},
    "no padding of Trigger frames": {"wlan.mu.uplink.trigger_padding_us": 0},
    "few users": {"wlan.mu.max_users": 2},
    "a large contention window": {"ap.edca.best_effort.cw_min": 63},
    "1024-QAM everywhere": {"wlan.mcs": 11, "wlan.mu.small_1024_qam": True},
    "long guard intervals": {"wlan.guard_ns": 3200},
    "two streams": {"wlan.streams": 2},
    "units of 256 bytes": {"wlan.mu.uplink.queue_size": "legacy"},
    "one station": {"stations": 1},
    "many stations": {"stations": 30},
}
"""Settings of muted stations."""


@pytest.mark.parametrize("bsrp", [True, False])
@pytest.mark.parametrize("changes", VARIED.values(), ids=VARIED)
def test_other_settings_of_muted_stations(changes, bsrp):
    scenario = changed(cell(4, bsrp=bsrp), of_access_point(0.0))
    check(changed(scenario, changes), ALONE, each=0.05)


@pytest.mark.slow
@pytest.mark.parametrize(("width", "stations", "mcs", "bsrp"), GRID)
def test_triggers_beside_edca(width, stations, mcs, bsrp):
    scenario = cell(stations, mcs, width=width, bsrp=bsrp, muted=False)
    if (width, stations, mcs) in NO_ROOM:
        no_room(scenario)
    else:
        check(scenario, BESIDE, each=SHARES)


CONTENDED = {
    "packets of 300 bytes": payload(300),
    "packets of 700 bytes": payload(700),
    "short TXOPs of the access point": of_access_point(1600.0),
    "no limits": of_all(0.0),
    "long TXOPs": of_all(8160.0),
    "few MPDUs": {"wlan.aggregation.frames": 4},
    "twenty stations": {"stations": 20},
    "large contention windows": {
        "wlan.edca.best_effort.cw_min": 63,
        "ap.edca.best_effort.cw_min": 63,
    },
}
"""Settings of stations that contend."""


@pytest.mark.slow
@pytest.mark.parametrize("bsrp", [True, False])
@pytest.mark.parametrize("changes", CONTENDED.values(), ids=CONTENDED)
def test_other_settings_beside_edca(changes, bsrp):
    check(changed(cell(5, 7, bsrp=bsrp, muted=False), changes), BESIDE, each=SHARES)


@pytest.mark.parametrize(
    ("changes", "name", "how"),
    [
        ({"wlan.mu.uplink.access_interval_us": 0.0}, "triggered", "asks for the medium"),
        ({"wlan.mu.uplink.after_bsrp": "ns3"}, "triggered", "after_bsrp"),
        ({"wlan.mu.uplink.reports.told_in": "nulls"}, "triggered", "told_in"),
        ({"wlan.mu.uplink.reports.unknown_bytes": 500}, "triggered", "unknown_bytes"),
        ({"wlan.mu.uplink.random_access.units": 1}, "triggered", "random_access"),
        ({"wlan.mu.protection": "mu_rts"}, "triggered", "mu_rts"),
        ({"flows[0].from": "sta0"}, "triggered", "4 stations have no flow"),
        (
            {
                "wlan.beacons": {},
                "stations": {"count": 5, "power_save": {"twt": {"triggered": True}}},
                "flows[0].class": "best_effort",
            },
            "triggered",
            "stations that sleep",
        ),
        ({"wlan.mu.scheduler": "backlog"}, "answers", "backlog"),
        ({"wlan.mu.nominal_padding_us": 16}, "answers", "nominal_padding_us is 16"),
        (
            {"stations": {"count": 5, "queue": {"drop_tail": {"limit_packets": 50}}}},
            "known_queues",
            "sta0",
        ),
        ({"wlan.mu.edca.best_effort.timer": 1}, "one_manner", "8.19 ms, triggers after up to"),
        ({"wlan.mu.edca.best_effort.aifsn": 10}, "one_manner", "AIFSN 10"),
        ({"wlan.ppdu_timing": "ns3"}, "usual_exchanges", "ppdu_timing"),
        ({"wlan.rate_control": "minstrel_ht"}, "fixed_mcs", "minstrel"),
        ({"flows[0].from": "ap", "flows[0].to": "sta*"}, "uploads", "no upload"),
        ({"flows[0].traffic": {"cbr": {"rate_mbps": 90.0}}}, "saturated", "cbr"),
    ],
)
def test_what_the_model_does_not_have_is_said(changes, name, how):
    twin = sm.predict(changed(cell(5), of_access_point(0.0) | changes))
    (fit,) = (fit for fit in twin.fits if fit.family == "ofdma_uplink")
    assert not fit.fits
    assert any(check.name == name and how in check.how for check in fit.broken), fit.checks


def test_an_access_point_that_does_not_always_ask_is_not_predicted_beside_edca():
    scenario = cell(5, muted=False).set("wlan.mu.uplink.access_interval_us", 9000.0)
    (fit,) = (fit for fit in sm.predict(scenario).fits if fit.family == "ofdma_uplink")
    (broken,) = fit.broken
    assert broken.name == "one_manner"
    assert "asks 9000 us after its last access, and collisions last" in broken.how


def test_a_cell_without_triggers_is_not_one_of_uplink_ofdma():
    for scenario in (cell().unset("wlan.mu"), cell().set("wlan.mu", {})):
        twin = sm.predict(scenario)
        (fit,) = (fit for fit in twin.fits if fit.family == "ofdma_uplink")
        assert [check.name for check in fit.broken] == ["triggered"]
        assert not fit.relevant
