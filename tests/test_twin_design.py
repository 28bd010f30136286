"""Sensitivity and design on the twin: `vary`, `optimise`, `simoom model`."""

import json
import math
from types import SimpleNamespace

import polars as pl
import pytest
from scipy.optimize import brentq

import simoom as sm
from simoom.twin import vary

WINDOWS = [2**k - 1 for k in range(3, 11)]


def saturated(stations, **wlan):
    flows = [{"from": "sta*", "to": "ap", "traffic": "saturated"}]
    return sm.Scenario(standard="11b", stations=stations, flows=flows, wlan=wlan)


# --- optimise -------------------------------------------------------------------------------------


def test_the_best_window_grows_with_the_stations():
    best = [
        sm.optimise(saturated(n), over={"wlan.cw_min": WINDOWS}).at["wlan.cw_min"]
        for n in (2, 5, 10, 20, 40, 80)
    ]
    assert best == sorted(best)
    assert best[0] < best[2] < best[-1]


def test_the_best_window_is_that_of_bianchi():
    """Equation (28) of Bianchi (2000): tau = 1 / (n sqrt(Tc / 2)), Tc in slots; W = 2 / tau."""
    n = 20
    optimum = sm.optimise(saturated(n, cw_max=1023), over={"wlan.cw_min": WINDOWS})
    collision_slots = (1310 + 364) / 20  # PPDU of 1536 bytes at 11 Mb/s, and EIFS
    window = 2 * n * math.sqrt(collision_slots / 2)
    nearest = min(WINDOWS, key=lambda w: abs(math.log((w + 1) / window)))
    assert optimum.at == {"wlan.cw_min": nearest}
    assert len(optimum.tried) == len(WINDOWS)
    assert optimum.value == max(row["value"] for row in optimum.tried)
    assert optimum.scenario.get("wlan.cw_min") == nearest
    assert optimum.frame().columns == ["wlan.cw_min", "value"]


def test_the_best_delayed_ack_is_the_largest():
    tcp = {"window_segments": 45, "delayed_ack": {"fixed": {}}}
    flows = [{"from": "server", "to": "sta*", "tcp": tcp}]
    cell = sm.Scenario(standard="11g", stations=8, flows=flows)
    path = "flows[0].tcp.delayed_ack.fixed.segments"
    assert sm.optimise(cell, over={path: range(1, 9)}).at == {path: 8}
    assert sm.optimise(cell, over={path: range(1, 9)}, maximise=False).at == {path: 1}


def test_a_range_is_searched():
    """The think time for which a file takes 0.2 s is found by Brent's method."""
    web = {"web": {"size": {"exponential": {"mean_bytes": 30000}}}}
    tcp = {"window_segments": 1, "delayed_ack": "none", "mss_bytes": 1000}
    flows = [{"from": "server", "to": "sta*", "traffic": web, "tcp": tcp}]
    cell = sm.Scenario(standard="11b", stations=40, flows=flows)
    path = "flows[0].traffic.web.think_s"

    def excess(think_s):
        return sm.predict(cell.set(path, think_s)).summary["total.session_delay_s.mean"] - 0.2

    def miss(twin):
        return abs(twin.summary["total.session_delay_s.mean"] - 0.2)

    optimum = sm.optimise(cell, over={path: (2.0, 40.0)}, objective=miss, maximise=False)
    assert optimum.at[path] == pytest.approx(brentq(excess, 2.0, 40.0), rel=1e-3)
    assert optimum.objective == "miss"


def bowl(scenario):
    """An objective with a known optimum: delay 30 ms, 7 s of warm-up, and two stations."""
    x, y = scenario.get("wire.delay_ms"), scenario.get("warmup_s")
    n = scenario.get("stations")
    return SimpleNamespace(summary={"cost": (x - 30) ** 2 + 3 * (y - 7) ** 2 + (n - 2) ** 2})


def test_two_ranges_and_a_list_are_searched_together():
    cell = saturated(3).set("wire", {"delay_ms": 1.0})
    over = {"wire.delay_ms": (0.0, 100.0), "stations": [1, 2, 3], "warmup_s": (0.0, 20.0)}
    optimum = sm.optimise(cell, over=over, objective="cost", maximise=False, using=bowl)
    assert optimum.at["stations"] == 2
    assert optimum.at["wire.delay_ms"] == pytest.approx(30, abs=0.01)
    assert optimum.at["warmup_s"] == pytest.approx(7, abs=0.01)
    again = sm.optimise(cell, over=over, objective="cost", maximise=False, using=bowl)
    assert again.tried == optimum.tried


def test_points_outside_the_models_have_no_value():
    flows = [{"from": "server", "to": "sta*", "tcp": {"window_segments": 10}}]
    queue = {"queue": {"drop_tail": {"limit_packets": 50}}}
    cell = sm.Scenario(standard="11g", stations=5, flows=flows, ap=queue)
    over = {"flows[0].tcp.window_segments": [4, 8, 16, 32]}
    optimum = sm.optimise(cell, over=over)
    assert optimum.at["flows[0].tcp.window_segments"] <= 8
    assert [math.isnan(row["value"]) for row in optimum.tried] == [False, False, True, True]
    with pytest.raises(ValueError, match="has a value at none of 1 points"):
        sm.optimise(cell, over={"flows[0].tcp.window_segments": [32]})


def test_a_simulation_can_evaluate_the_objective():
    cell = saturated(10).set("duration_s", 3.0)
    optimum = sm.optimise(cell, over={"wlan.cw_min": [7, 127]}, using=sm.run)
    assert optimum.at == {"wlan.cw_min": 127}


def test_invalid_arguments_are_refused():
    cell = saturated(5)
    with pytest.raises(ValueError, match="over: names no path"):
        sm.optimise(cell, over={})
    with pytest.raises(ValueError, match=r"wlan.cw_min: has no values"):
        sm.optimise(cell, over={"wlan.cw_min": []})
    with pytest.raises(ValueError, match="from a number to a larger one"):
        sm.optimise(cell, over={"duration_s": (5.0, 5.0)})
    with pytest.raises(ValueError, match="more than 100000"):
        vary(cell, {"stations": range(1, 1001), "wlan.cw_min": range(1000)})
    with pytest.raises(sm.ScenarioError, match="cw_mni: unknown key"):
        sm.optimise(cell, over={"wlan.cw_mni": [15]})
    with pytest.raises(sm.ScenarioError, match="cw_min: 30 is not"):
        sm.optimise(cell, over={"wlan.cw_min": [30]})


# --- simoom model ---------------------------------------------------------------------------------


@pytest.fixture
def file(tmp_path):
    (tmp_path / "cell.toml").write_text(saturated(10).to_toml(), encoding="utf-8")
    return "cell.toml"


def test_model_prints_values_and_assumptions(simoom, file):
    done = simoom("model", file)
    assert done.returncode == 0
    assert done.stdout.startswith("saturation, bianchi: one class\n")
    assert "total.goodput_mbps" in done.stdout
    assert "Why other models do not apply" in done.stdout


def test_model_lists_models_that_do_not_concern_the_scenario_on_demand(simoom, file):
    assert "bluetooth" not in simoom("model", file).stdout
    assert "  bluetooth: bluetooth_voice: " in simoom("model", file, "--all").stdout


def test_model_prints_json(simoom, file, tmp_path):
    done = simoom("model", file, "--json", "--out", "results")
    data = json.loads(done.stdout)
    assert data["model"] == "saturation"
    assert data["values"] == sm.predict(saturated(10)).summary
    assert data["assumptions"]["half_duplex"]["persistent_flows"][0] == "broken"
    assert data["assumptions"]["bluetooth"]["bluetooth_voice"][0] == "broken"
    assert json.loads((tmp_path / "results" / "model.json").read_text()) == data
    assert done.stderr == ""


def test_model_varies_two_paths(simoom, file, tmp_path):
    done = simoom(
        "model", file, "--vary", "stations=5:50:4", "--vary", "wlan.cw_min=31,255", "--out", "out"
    )
    assert done.returncode == 0
    table = pl.read_csv(tmp_path / "out" / "vary.csv")
    assert table["stations"].to_list() == [5, 5, 20, 20, 35, 35, 50, 50]
    assert table["wlan.cw_min"].to_list() == [31, 255] * 4
    expected = sm.predict(saturated(20, cw_min=255)).summary["total.goodput_mbps"]
    assert table["total.goodput_mbps"][3] == pytest.approx(expected)
    assert (tmp_path / "out" / "vary.png").read_bytes().startswith(b"\x89PNG")
    assert len([line for line in done.stdout.splitlines() if "saturation" in line]) == 8


def test_model_varies_where_nothing_fits(simoom, file):
    done = simoom(
        "model", file, "--set", "flows[0].traffic.cbr.rate_mbps=0.1", "--vary", "stations=1,2",
        "--json",
    )  # fmt: skip
    assert [row["model"] for row in json.loads(done.stdout)] == ["none", "none"]


NONSENSE = {
    "foo": "--vary foo: write PATH=FROM:TO:N",
    "stations=1:10": "a range has three parts",
    "stations=1:10:x": "N must be a whole number from 2",
    "stations=1:10:1": "N must be a whole number from 2",
    "stations=a:b:3": "FROM and TO must be numbers",
    "stations=0:inf:3": "inf is not a finite number",
    "statoins=1:10:3": "statoins: unknown key; did you mean stations?",
    "stations=1.5:2.5:2": "stations: must be a whole number, is 1.5",
    "wlan.cw_min=30,31": "wlan.cw_min: 30 is not of the form",
    "standard=11b,11z": 'standard: must be one of "11b"',
    "stations=": "write PATH=FROM:TO:N",
}


@pytest.mark.parametrize("axis", NONSENSE)
def test_nonsense_to_vary_is_one_message(axis, simoom, file):
    done = simoom("model", file, "--vary", axis)
    assert (done.returncode, done.stdout) == (2, "")
    assert len(done.stderr.splitlines()) == 1
    assert NONSENSE[axis] in done.stderr


def test_too_many_paths_are_one_message(simoom, file):
    axes = [word for path in "abc" for word in ("--vary", f"{path}=1,2")]
    assert "3 paths; at most two" in simoom("model", file, *axes).stderr
    twice = simoom("model", file, "--vary", "a=1,2", "--vary", "a=1,2")
    assert (twice.returncode, "twice" in twice.stderr) == (2, True)


def test_bad_files_are_one_message(simoom, file, tmp_path):
    (tmp_path / "noise.toml").write_bytes(b"\x90\xff\x00" * 1000)
    for arguments in (
        ["missing.toml"], ["."], ["noise.toml"], [file, "--set", "x"], [file, "--set", "x=1"],
        [file, "--out", "noise.toml"], [file, "--set", "stations=0"],
    ):  # fmt: skip
        done = simoom("model", *arguments)
        assert (done.returncode, done.stdout) == (2, ""), arguments
        assert "Traceback" not in done.stderr


def test_the_report_of_a_run_shows_the_twin(simoom, file, tmp_path):
    done = simoom("run", file, "--set", "duration_s=3", "--out", "out")
    (line,) = (x for x in done.stdout.splitlines() if x.startswith("total.goodput_mbps"))
    twin = sm.predict(saturated(10))
    run = sm.run(saturated(10).set("duration_s", 3.0))
    total = next(e for e in twin.compare(run) if e.path == "total.goodput_mbps")
    words = line.split()
    assert float(words[1]) == pytest.approx(total.measured, rel=1e-3)
    assert float(words[3]) == pytest.approx(total.predicted, rel=1e-3)
    assert float(words[4]) == pytest.approx(total.percent, abs=0.06)
    assert float(words[5]) == pytest.approx(total.half_widths, abs=0.06)
    page = (tmp_path / "out" / "report.html").read_text()
    assert "Analytic twin" in page
    assert f"<td>{words[4]}</td>" in page
