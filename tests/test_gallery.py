"""The controllers of the gallery send the same segments as the built-in ones."""

from __future__ import annotations

import importlib.util
import math
from pathlib import Path

import numpy as np
import pytest

import simoom as sm
from simoom import gallery
from simoom.scenario.control import cbrt

PAIRS = {
    "new_reno": gallery.Reno,
    "cubic": gallery.Cubic,
    "westwood": gallery.Westwood,
    "vegas": gallery.Vegas,
    "few": gallery.Few,
}

BASE = """
standard = "11g"
stations = 2
duration_s = 20.0
[ap]
queue.drop_tail.limit_packets = 40
[wire]
rate_mbps = 20.0
delay_ms = 10.0
[[flows]]
from = "server"
to = "sta0"
tcp.window_segments = 1000
[[flows]]
from = "sta1"
to = "server"
start_s = 0.137
tcp.window_segments = 1000
"""

MARKS = {"codel": {"target_ms": 5.0, "interval_ms": 100.0, "ecn": True}}
BURSTS = {"gilbert_elliott": {"good_ms": 1000.0, "bad_ms": 30.0}}
WEB = {"web": {"size": {"exponential": {"mean_bytes": 60000.0}}, "think_s": 0.3}}

SCENARIOS = {
    "drops": {"wire.queue": {"drop_tail": {"limit_packets": 30}}},
    "lossy": {"wire.loss": {"uniform": {"probability": 0.01}}},
    "marks": {"wire.queue": MARKS, "wire.rate_mbps": 8.0, "flows[*].tcp.ecn": "classic"},
    "delayed": {
        "wire.loss": {"uniform": {"probability": 0.003}},
        "flows[*].tcp.delayed_ack": {"dynamic": {"timer_ms": 200.0}},
    },
    "timeouts": {"wire.loss": {"uniform": {"probability": 0.12}}},
    "bursts": {"wire.loss": BURSTS, "flows[*].tcp.recovery": "new_reno"},
    "web": {"wire.loss": {"uniform": {"probability": 0.02}}, "flows[*].traffic": WEB},
    # Spurious timeouts, which are undone: the minimum timeout is far below the round-trip time.
    "undone": {
        "wire.rate_mbps": 4.0,
        "wire.loss": {"gilbert_elliott": {"good_ms": 300.0, "bad_ms": 10.0}},
        "flows[*].tcp.rto_min_ms": 1.0,
        "flows[*].tcp.rto_rule": "linux",
    },
}

PROBES = ("flows[*].control.window_segments", "flows[*].control.ssthresh_segments")


def scenario(name: str) -> sm.Scenario:
    made = sm.Scenario.parse(BASE)
    for path, value in SCENARIOS[name].items():
        made = made.set(path, value)
    return made


def total(run: sm.Run, counter: str) -> float:
    return sum(float(flow[counter]) for flow in run.flows)


@pytest.mark.parametrize("case", SCENARIOS)
@pytest.mark.parametrize("name", PAIRS)
def test_it_is_equal_to_the_built_in_one(name: str, case: str) -> None:
    base = scenario(case)
    built_in = sm.run(base.set("flows[*].control", name), seed=3, probes=PROBES, check=True)
    own = sm.run(base.set("flows[*].control", PAIRS[name]), seed=3, probes=PROBES, check=True)
    assert own.digest == built_in.digest
    assert own.summary == built_in.summary or differing(own, built_in) == []
    assert total(own, "segments_sent") > 500
    for path in built_in.probes:
        time_s, window = built_in.samples(path)
        assert np.array_equal(own.samples(path)[0], time_s)
        assert np.array_equal(own.samples(path)[1], window, equal_nan=True), path


def differing(one: sm.Run, other: sm.Run) -> list[str]:
    """Return the paths whose values differ; NaN equals NaN."""
    same = {key: value for key, value in one.summary.items() if value == value}
    return [key for key, value in same.items() if other.summary[key] != value]


def test_the_scenarios_are_what_they_are_called() -> None:
    runs = {name: sm.run(scenario(name), seed=3) for name in SCENARIOS}
    assert total(runs["drops"], "fast_retransmits") > 5
    assert total(runs["lossy"], "fast_retransmits") > 50
    assert total(runs["marks"], "ecn_marks") > 20
    assert total(runs["timeouts"], "timeouts") > 10
    assert total(runs["bursts"], "timeouts") > 5


class Undone(gallery.Reno):
    """Counts the calls of `on_undo`."""

    count = 0

    def on_undo(self) -> None:
        type(self).count += 1
        super().on_undo()


def test_the_scenario_of_spurious_timeouts_has_undone_losses() -> None:
    Undone.count = 0
    sm.run(scenario("undone").set("flows[*].control", Undone), seed=3)
    assert Undone.count >= 3


@pytest.mark.parametrize("name", PAIRS)
def test_it_differs_from_the_others(name: str) -> None:
    base = scenario("lossy")
    digests = {other: sm.run(base.set("flows[*].control", other), seed=3).digest for other in PAIRS}
    own = sm.run(base.set("flows[*].control", PAIRS[name]), seed=3).digest
    assert [other for other, digest in digests.items() if digest == own] == [name]


@pytest.mark.parametrize("gauge", ["w_max_segments", "k_s", "reno_window_segments"])
def test_the_curve_of_cubic_is_the_same(gauge: str) -> None:
    base, probe = scenario("drops"), f"flows[0].control.{gauge}"
    built_in = sm.run(base.set("flows[*].control", "cubic"), seed=3, probes=[probe])
    own = sm.run(base.set("flows[*].control", gallery.Cubic), seed=3, probes=[probe])
    values = built_in.samples(probe)[1]
    assert np.isfinite(values).sum() > 20
    assert np.array_equal(own.samples(probe)[1], values, equal_nan=True)


def test_a_controller_is_named_on_the_command_line(simoom, cell_file) -> None:
    path = 'flows[0].control.python.path="simoom.gallery:Reno"'
    own = simoom("run", cell_file, "--json", "--set", path)
    assert own.returncode == 0, own.stderr
    assert own.stdout == simoom("run", cell_file, "--json").stdout


def test_the_cube_root_is_that_of_the_simulator() -> None:
    assert cbrt(27.0) == 3.0
    assert cbrt(-0.125) == -0.5
    for x in (1e-9, 0.3, 0.7, 2.0, 1234.5):
        assert math.isclose(cbrt(x), math.exp(math.log(x) / 3), rel_tol=1e-14)


def test_a_controller_in_python_keeps_most_of_the_speed() -> None:
    # Both in one process, alternating. 0.7 is measured on a quiet machine (benches/README.md);
    # the limit leaves room for a loaded one.
    file = Path(__file__).parents[1] / "benches" / "controllers.py"
    spec = importlib.util.spec_from_file_location("controllers", file)
    assert spec is not None
    assert spec.loader is not None
    benches = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(benches)
    assert benches.relative_speed(benches.cell("11g", 10.0), "new_reno", 9) > 0.45
