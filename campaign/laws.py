"""Laws of runs: what only looks at one changes nothing, and what follows exactly from another."""

from __future__ import annotations

import copy
import math
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

import simoom as sm

Look = Callable[[float], None]
PER_STREAM = {"11n": {20: 72.2, 40: 150.0},
              "11ac": {20: 96.3, 40: 200.0, 80: 433.4, 160: 866.7},
              "11ax": {20: 143.4, 40: 286.8, 80: 600.5, 160: 1201.0},
              "11be": {20: 172.1, 40: 344.2, 80: 720.6, 160: 1441.2}}  # fmt: skip
"""The highest data rates of one stream, in Mb/s, by the width of the channel in MHz."""
LOW = {"11b": 11.0, "11a": 54.0, "11g": 54.0}
COUNTED = ("total.attempts", "total.queue_drops", "total.retry_drops", "total.wire_losses",
           "total.ecn_marks")  # fmt: skip
"""Results that count, and so do not fall while a run goes on."""


def broken(built: sm.Scenario, made: dict[str, Any], first: sm.Run, look: Look) -> str:
    """Return the law that a scenario breaks, if it breaks one."""
    for name, change in _unchanged(built, made):
        try:
            digest = change().digest
        except sm.ScenarioError as error:
            return f"{name} is refused: {error}"
        if digest != first.digest:
            return f"{name} changes the run"
    return _goes_on(built, look) or _permuted(built, made) or _out_of_range(built)


def _unchanged(
    built: sm.Scenario, made: dict[str, Any]
) -> Iterator[tuple[str, Callable[[], sm.Run]]]:
    """Yield runs with the same events."""
    yield "the same seed", lambda: sm.run(built)
    yield "the checker", lambda: sm.run(built, check=True)
    yield "a trace", lambda: sm.run(built, trace=True)
    yield "a probe", lambda: sm.run(built, probes=["total.goodput_mbps"])
    yield "its own text", lambda: sm.run(sm.Scenario.parse(built.to_toml()))
    yield "every default", lambda: sm.run(_without_nones(built))
    yield "another title", lambda: sm.run(built.set("title", "another"))
    if made["flows"]:
        # Between the ends of a flow that is there: others may have no path.
        first = made["flows"][0]
        off = {key: first[key] for key in ("from", "to", "traffic") if key in first} | {"count": 0}
        flows = [*made["flows"], off]
        yield "a flow that is switched off", lambda: sm.run(sm.Scenario(**{**made, "flows": flows}))
    named = [{**flow, "name": f"n{number}"} for number, flow in enumerate(made["flows"])]
    yield "another name of each flow", lambda: sm.run(sm.Scenario(**{**made, "flows": named}))
    yield "another order of keys", lambda: sm.run(sm.Scenario(**_reversed(made)))
    if apart := _apart(made):
        yield "a table for each station", lambda: sm.run(sm.Scenario(**apart))


def _reversed(value: Any) -> Any:
    """Return the same tables with their keys in the other order."""
    if isinstance(value, dict):
        return {key: _reversed(value[key]) for key in reversed(value)}
    return [_reversed(each) for each in value] if isinstance(value, list) else value


def _apart(made: dict[str, Any]) -> dict[str, Any]:
    """Return a scenario with a table for each station; none if they stand by one table."""
    stations = made.get("stations")
    tables = [{"count": stations}] if isinstance(stations, int) else stations
    tables = [tables] if isinstance(tables, dict) else tables
    together = ("ring_m", "placement", "movement")
    if not tables or any(key in each for each in tables for key in together):
        return {}
    apart = [
        {**copy.deepcopy(each), "count": 1} for each in tables for _ in range(each.get("count", 1))
    ]
    return {**made, "stations": apart} if 0 < len(apart) <= 60 else {}


def _goes_on(built: sm.Scenario, look: Look) -> str:
    """A run that is twice as long begins as the run, and counts at least as much."""
    path = "total.goodput_mbps"
    keys = {"warmup_s": built.warmup_s, "measure.interval_s": 0.01}
    short = built
    for key, value in keys.items():
        short = short.set(key, value)
    long = short.set("duration_s", 2 * built.get("duration_s"))
    try:
        long.check()
        short.check()
    except sm.ScenarioError:
        return ""  # memory or the number of samples has a limit
    one, two = (sm.run(each, probes=[path], progress=look) for each in (short, long))
    (times, values), (_, more) = one.samples(path), two.samples(path)
    count = max(len(times) - 1, 0)
    if not np.array_equal(values[:count], more[:count]):
        return "a longer run begins otherwise"
    for name in COUNTED:
        before, after = one.summary.get(name), two.summary.get(name)
        if isinstance(before, int) and isinstance(after, int) and after < before:
            return f"{name} falls from {before} to {after} in a longer run"
    return ""


def _permuted(built: sm.Scenario, made: dict[str, Any]) -> str:
    """Stations in another order hear the same, under other names."""
    radio, stations = made.get("radio"), made.get("stations")
    if radio is None or not isinstance(stations, list) or len(stations) < 2:
        return ""
    if any(each.get("count", 1) != 1 for each in stations):
        return ""
    drawn = ("placement", "movement", "ring_m")
    if any(key in each for each in stations for key in drawn) or not all(
        "position_m" in each or "waypoints" in each for each in stations
    ):
        return ""
    if isinstance(radio, dict) and (radio.get("shadowing_db") or radio.get("losses_db")):
        return ""
    last = len(stations) - 1
    others = dict.fromkeys(("interferers", "links", "routing", "cells", "flows"))
    flows = [{"from": "sta*", "to": "ap", "traffic": "saturated"}]
    if built.get("radio.ad_hoc"):
        flows = [{"from": "sta0", "to": f"sta{last}"}]
    kept = {key: value for key, value in made.items() if key not in others} | {"flows": flows}
    back = {**kept, "stations": stations[::-1]}
    if built.get("radio.ad_hoc"):
        back["flows"] = [{"from": f"sta{last}", "to": "sta0"}]
    try:
        one, two = (sm.hearing(sm.Scenario(**each)) for each in (kept, back))
    except sm.ScenarioError:
        return ""  # a station is of a cell that was left out

    def name(node: str) -> str:
        return f"sta{last - int(node[3:])}" if node.startswith("sta") else node

    found = {(pair.source, pair.sink): (pair.signal_dbm, pair.detected) for pair in one.pairs}
    again = {
        (name(pair.source), name(pair.sink)): (pair.signal_dbm, pair.detected) for pair in two.pairs
    }
    return "" if found == again else "stations in another order hear otherwise"


def _without_nones(built: sm.Scenario) -> sm.Scenario:
    """Return a scenario with every default written out."""

    def plain(value: Any) -> Any:
        if isinstance(value, dict):
            return {key: plain(each) for key, each in value.items() if each is not None}
        return [plain(each) for each in value] if isinstance(value, list) else value

    full = plain(built.to_dict())
    return sm.Scenario(**{key: value for key, value in full.items() if value not in ({}, [], "")})


def _out_of_range(built: sm.Scenario) -> str:
    """A number out of its range is one fault, at its path, with the number as it was written."""
    for path in ("duration_s", "flows[0].start_s", "flows[0].tcp.rto_min_ms", "flows[0].count"):
        try:
            built.set(path, -7).check()
        except sm.ScenarioError as error:
            (issue, *more) = error.issues
            if more or issue.path != path or "-7" not in issue.message:
                return f"{path} = -7 gives {'; '.join(map(str, error.issues))}"
        else:
            return f"{path} = -7 is taken"
    return ""


def limits(built: sm.Scenario, run: sm.Run) -> str:
    """Return a result beyond what the air, the wire or time allow."""
    for path, value in run.summary.items():
        is_time = path.endswith(("delay_s.max", "delay_s.mean", "rtt_s.max"))
        if is_time and isinstance(value, float) and value > run.simulated_s * (1 + 1e-9):
            return f"{path} is {value}, longer than the run of {run.simulated_s} s"
    measured_s = run.summary.get("run.measured_s")
    if not isinstance(measured_s, float) or measured_s <= 0:
        return ""
    # Data that wait for a retransmission are delivered later than they are received.
    longer = run.simulated_s / measured_s
    flows = run.flows
    bound = _air_mbps(built) * longer
    crossing = [flow for flow in flows if _crosses(flow["from"], flow["to"])]
    total = math.fsum(flow["goodput_mbps"] or 0.0 for flow in crossing)
    if total > bound * (1 + 1e-9):
        return f"{total} Mb/s over an air of {bound} Mb/s"
    wire = built.get("wire")
    if wire is not None and wire["rate_mbps"] is not None and not built.get("links"):
        down = math.fsum(flow["goodput_mbps"] or 0.0 for flow in flows if flow["from"] == "server")
        if down > wire["rate_mbps"] * longer * (1 + 1e-9):
            return f"{down} Mb/s from the server over a wire of {wire['rate_mbps']} Mb/s"
    return ""


def _crosses(source: str, sink: str) -> bool:
    """Whether a flow goes over the air, and none of its ends is a host behind a link."""
    ends = {source, sink}
    return (
        len(ends) == 2
        and any(end.startswith("sta") for end in ends)
        and all(end in ("server", "ap") or end.startswith("sta") for end in ends)
    )


def _air_mbps(built: sm.Scenario) -> float:
    """Return the most that a cell carries in which one node sends at a time; else infinity."""
    keys = built.to_dict()
    wlan = keys.get("wlan") or {}
    shared = keys.get("radio") is None and wlan.get("full_duplex") is None
    if not shared or not keys.get("stations") or wlan.get("collisions") == "none":
        return math.inf
    standard = keys["standard"]
    if standard in LOW:
        return LOW[standard]
    # Stations of an earlier standard are no faster in as many streams.
    stations = keys["stations"]
    own = [group.get("standard") for group in stations] if isinstance(stations, list) else []
    inside = [wlan, keys["stations"], keys.get("ap")]
    streams = max(1, *_numbers(inside, ("streams", "ap_streams")))
    if "11n" in (standard, *own):
        # Its MCS implies the number of streams.
        streams = max(streams, int(max(0, *_numbers(inside, ("mcs", "ap_mcs")))) // 8 + 1)
    width = max(20, *_numbers(inside, ("width_mhz",)))
    return PER_STREAM[standard][width] * streams


def _numbers(value: Any, names: tuple[str, ...]) -> list[int]:
    """Return all numbers of these keys, and 0."""
    found = [0]
    pairs = value.items() if isinstance(value, dict) else ()
    found += [each for key, each in pairs if key in names and isinstance(each, int)]
    inner = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    for each in inner:
        found += _numbers(each, names)
    return found
