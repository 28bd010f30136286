"""Sweeps: every combination runs several times, and no run is computed twice."""

from __future__ import annotations

import importlib
import json
import math
import os
import re
import signal
import subprocess
import sys
import time
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import polars as pl
import pytest

import simoom as sm
from simoom.results.record import Record, identity
from simoom.results.tables import digits
from simoom.runs.sweep import Sweep
from simoom.show.sweep_table import text
from simoom.store.store import Store

OVER = {"stations": [1, 2], "flows[0].control": ["new_reno", "cubic"]}
Y = "total.goodput_mbps"


def digests(done: Sweep) -> list[str]:
    return [run.digest for run in done]


class Faulty(sm.Control):
    """Fails where there are two flows; else it is a window of ten."""

    made = 0

    def __init__(self) -> None:
        type(self).made += 1

    def on_loss(self, _loss: object) -> None:
        if os.environ.get("FAULTY"):
            raise RuntimeError("as it was told")


def test_a_row_a_run_and_columns_are_paths(small: sm.Scenario) -> None:
    done = sm.sweep(small, over=OVER, replications=3)
    frame = done.frame()
    assert frame.columns[:5] == [*OVER, "seed", "replication", "total.goodput_mbps"]
    assert frame.height == len(done) == 12
    wanted = [(n, c, r) for n in (1, 2) for c in ("new_reno", "cubic") for r in range(3)]
    assert frame.select(*OVER, "replication").rows() == wanted
    for stations, control, r in wanted:
        alone = small.set("stations", stations).set("flows[0].control", control)
        run = done.at({"stations": stations, "flows[0].control": control})[r]
        assert run.digest == sm.run(alone, replication=r).digest
    # Where there is no second flow it has no goodput.
    second = frame.filter(pl.col("stations") == 1)["flows[1].goodput_mbps"]
    assert second.null_count() == second.len()


def test_means_with_intervals_by_axis(small: sm.Scenario) -> None:
    done = sm.sweep(small, over=OVER, replications=3)
    mean = done.mean(Y)
    assert mean.columns == [*OVER, "mean", "ci_low", "ci_high", "n"]
    for row, point in zip(mean.rows(named=True), done.points, strict=True):
        estimate = point.replications.mean(Y)
        assert (row["mean"], row["ci_low"], row["ci_high"], row["n"]) == (
            estimate.mean, estimate.ci_low, estimate.ci_high, 3,
        )  # fmt: skip
    assert done.mean("flows[1].goodput_mbps")["n"].to_list() == [0, 0, 3, 3]
    assert done.mean("flows[1].goodput_mbps")["mean"].null_count() == 2
    with pytest.raises(KeyError, match=r"nearest (is|are) total\.goodput_mbps"):
        done.mean("total.goodputs_mbps")
    with pytest.raises(TypeError, match="is text"):
        done.mean("flows[0].name")


def test_an_axis_takes_whatever_set_takes(small: sm.Scenario) -> None:
    import numpy as np

    done = sm.sweep(
        small,
        over={
            "flows[*].control": ["few", Faulty, {"cubic": {"beta": 0.5}}],
            "wire.delay_ms": np.array([1.0, 2.5]),
        },
        replications=1,
    )
    assert done.over["flows[*].control"] == (
        "few",
        "Faulty",
        "cubic(beta=0.5)",
    )
    assert done.over["wire.delay_ms"] == (1.0, 2.5)
    assert len(done.at({"flows[*].control": Faulty, "wire.delay_ms": 2.5})) == 1
    with pytest.raises(KeyError, match=r"no point wire\.delay_ms=3"):
        done.at({"wire.delay_ms": 3})


def test_faults_are_reported_before_a_run_starts(small: sm.Scenario, tmp_path: Path) -> None:
    over = {"stations": [1, -2], "flows[*].contrl": ["cubic"]}
    with pytest.raises(sm.ScenarioError) as caught:
        sm.sweep(small, over=over, store=tmp_path / "store")
    messages = {str(issue) for issue in caught.value.issues}
    assert any("contrl: unknown key; did you mean control?" in each for each in messages)
    assert any(each.startswith("stations: ") and "-2" in each for each in messages)
    # A fault of some points only says of which.
    over = {"flows[0].to": ["sta0", "sta1"], "stations": [1, 2]}
    with pytest.raises(sm.ScenarioError, match=r"\(at flows\[0\]\.to=sta1, stations=1\)"):
        sm.sweep(small, over=over, store=tmp_path / "store")
    with pytest.raises(sm.ScenarioError, match="no module 'nowhere'"):
        sm.sweep(small, over={"flows[0].control.python.path": ["nowhere:Mine"]})
    assert len(Store(tmp_path / "store")) == 0


@pytest.mark.parametrize(
    ("over", "error", "message"),
    [
        ({}, ValueError, "at least one path"),
        ({"stations": []}, ValueError, "at least one value"),
        ({"stations": 5}, TypeError, "must be a list of values, is 5"),
        ({"flows[*].control": "cubic"}, TypeError, "must be a list of values, is 'cubic'"),
        ({"stations": [1, 2, 1]}, ValueError, "has 1 twice"),
    ],
)
def test_invalid_axes_are_refused(small: sm.Scenario, over, error, message) -> None:
    with pytest.raises(error, match=message):
        sm.sweep(small, over=over)


@pytest.mark.parametrize("workers", [1, 2])
def test_the_result_does_not_depend_on_the_executor(small: sm.Scenario, workers: int) -> None:
    here = sm.sweep(small, over=OVER, replications=2, seed=5)
    with ProcessPoolExecutor(workers) as pool:
        there = sm.sweep(small, over=OVER, replications=2, seed=5, executor=pool)
    assert digests(there) == digests(here)
    assert there.frame().equals(here.frame())


def test_what_is_in_the_store_is_not_run_again(small: sm.Scenario, tmp_path: Path) -> None:
    class NoExecutor:
        def submit(self, *_: object, **__: object) -> None:
            raise AssertionError("nothing is to be run")

    first = sm.sweep(small, over=OVER, replications=2, store=tmp_path)
    assert len(Store(tmp_path)) == 8
    again = sm.sweep(small, over=OVER, replications=2, store=tmp_path, executor=NoExecutor())
    assert again.frame().equals(first.frame())
    assert again.mean(Y).equals(first.mean(Y))
    # More replications, or another axis, run what is new.
    more = sm.sweep(small, over=OVER, replications=3, store=Store(tmp_path))
    assert len(Store(tmp_path)) == 12
    assert [run.digest for run in more if run.replication < 2] == digests(first)


def test_a_damaged_result_is_computed_again(small: sm.Scenario, tmp_path: Path) -> None:
    first = sm.sweep(small, over={"stations": [1]}, replications=2, store=tmp_path)
    one, other = sorted(tmp_path.glob("??/*.json"))
    one.write_bytes(one.read_bytes()[:100])
    other.write_text("[]", encoding="utf-8")
    with pytest.warns(UserWarning, match="is no complete record of a run; the run is computed"):
        again = sm.sweep(small, over={"stations": [1]}, replications=2, store=tmp_path)
    assert again.frame().equals(first.frame())
    assert json.loads(one.read_bytes())["digest"] in digests(first)


@pytest.mark.parametrize("how", ["altered", "copied", "seed", "empty", "nan"])
def test_a_result_that_is_not_of_its_name_is_not_used(small, tmp_path, how) -> None:
    first = sm.sweep(small, over={"stations": [1]}, replications=2, store=tmp_path)
    one, other = sorted(tmp_path.glob("??/*.json"))
    kept = json.loads(one.read_bytes())
    if how == "altered":
        kept["summary"]["total.goodput_mbps"] *= 2
    elif how == "seed":
        kept["seed"] = 7
    elif how == "nan":
        kept["summary"] = dict.fromkeys(kept["summary"], math.nan)
    text = {"copied": other.read_text(encoding="utf-8"), "empty": ""}.get(how, json.dumps(kept))
    one.write_text(text, encoding="utf-8")
    with pytest.warns(UserWarning, match="computed again"):
        again = sm.sweep(small, over={"stations": [1]}, replications=2, store=tmp_path)
    assert again.frame().equals(first.frame())


def test_runs_that_were_not_checked_are_computed_again_with_check(small, tmp_path) -> None:
    over = {"stations": [1]}
    sm.sweep(small, over=over, replications=1, store=tmp_path)
    (file,) = tmp_path.glob("??/*.json")
    assert not Record.read(file).checked
    sm.sweep(small, over=over, replications=1, store=tmp_path, check=True)
    (file,) = tmp_path.glob("??/*.json")
    assert Record.read(file).checked


def test_files_of_a_store_have_the_mode_of_the_umask(small, tmp_path) -> None:
    before = os.umask(0o027)
    try:
        sm.sweep(small, over={"stations": [1]}, replications=1, store=tmp_path)
    finally:
        os.umask(before)
    (file,) = tmp_path.glob("??/*.json")
    assert file.stat().st_mode & 0o777 == 0o640


def test_a_stored_run_is_run_again_from_its_record(small, tmp_path, simoom) -> None:
    sm.sweep(small, over={"stations": [1]}, replications=1, store=tmp_path / "kept")
    (file,) = tmp_path.glob("kept/??/*.json")
    done = simoom("rerun", file)
    assert (done.returncode, done.stderr) == (0, "")
    assert "the same" in done.stdout
    record = Record.read(file)
    other = sm.run(small, seed=2)
    file.write_text(replace(record, run=replace(other, seed=1)).text(), encoding="utf-8")
    done = simoom("rerun", file)
    assert done.returncode == 1
    assert "digest: was" in done.stdout
    file.write_text("{}", encoding="utf-8")
    assert simoom("rerun", file).returncode == 2


def test_a_compacted_run_is_run_again_by_its_key(small, tmp_path, simoom) -> None:
    store = Store(tmp_path / "kept")
    sm.sweep(small, over={"stations": [1]}, replications=2, store=store)
    store.compact()
    key = min(store.keys())
    done = simoom("rerun", "kept", key[:10])
    assert (done.returncode, done.stderr) == (0, "")
    assert f"kept {key[:12]}: the same" in done.stdout
    for arguments, message in (
        (["kept"], "kept: is a store; name one of its runs"),
        (["kept", "xyz"], "no key of a run begins so"),
    ):
        done = simoom("rerun", *arguments)
        assert (done.returncode, done.stderr.count("\n")) == (2, 1)
        assert message in done.stderr


def test_the_key_of_a_result_covers_everything_that_determines_it(small: sm.Scenario) -> None:
    name = identity(small, seed=1, replication=0)
    assert identity(sm.Scenario.parse(small.to_toml()), seed=1, replication=0) == name
    others = {
        identity(small, seed=2, replication=0),
        identity(small, seed=1, replication=1),
        identity(small.set("stations", 2), seed=1, replication=0),
        identity(small.set("flows[0].control", Faulty), seed=1, replication=0),
    }
    assert len(others | {name}) == 5


def test_the_key_has_the_source_of_the_class_that_runs(small, tmp_path, monkeypatch) -> None:
    text = "import simoom as sm\nclass Mine(sm.Control):\n"
    text += "    def on_ack(self, ack):\n        self.window = {}\n"
    file = tmp_path / "edited.py"
    file.write_text(text.format(2.0), encoding="utf-8")
    monkeypatch.syspath_prepend(tmp_path)
    scenario = small.set("flows[0].control.python.path", "edited:Mine")
    over = {"stations": [1]}
    store = tmp_path / "kept"
    old = sm.sweep(scenario, over=over, replications=1, store=store)
    file.write_text(text.format(20.0), encoding="utf-8")
    with pytest.warns(UserWarning, match="was edited after it was imported"):
        same = sm.sweep(scenario, over=over, replications=1, store=store)
    assert digests(same) == digests(old)
    assert len(Store(store)) == 1
    importlib.reload(sys.modules["edited"])
    new = sm.sweep(scenario, over=over, replications=1, store=store)
    assert len(Store(store)) == 2
    assert digests(new) != digests(old)
    sys.modules.pop("edited")


def test_a_controller_without_source_is_refused_by_stores(small, tmp_path, monkeypatch) -> None:
    module = type(sys)("typed_in")
    monkeypatch.setitem(sys.modules, "typed_in", module)
    module.Mine = type("Mine", (sm.Control,), {"__module__": "typed_in"})
    scenario = small.set("flows[0].control", module.Mine)
    with pytest.raises(sm.ScenarioError, match="has no source file"):
        sm.sweep(scenario, over={"stations": [1]}, store=tmp_path)
    assert len(sm.sweep(scenario, over={"stations": [1]}, replications=1)) == 1


def test_after_a_failure_the_same_sweep_continues(small, tmp_path, monkeypatch) -> None:
    over = {"flows[0].control": ["new_reno", Faulty], "stations": [1, 2]}
    monkeypatch.setenv("FAULTY", "1")
    with (
        ThreadPoolExecutor(1) as one,
        pytest.raises(RuntimeError, match="as it was told") as caught,
    ):
        sm.sweep(small, over=over, replications=2, store=tmp_path, executor=one)
    assert caught.value.__notes__[0].startswith("in flows[0].control at ")
    assert caught.value.__notes__[1].startswith("in replication 0 at flows[0].control=")
    # Two runs of NewReno came before; the executor may end the others before it is told.
    kept = [record.run.scenario.get("flows")[0]["control"] for record in Store(tmp_path).records()]
    assert 2 <= len(kept) <= 4
    assert all("new_reno" in control for control in kept), kept
    monkeypatch.delenv("FAULTY")
    done = sm.sweep(small, over=over, replications=2, store=tmp_path)
    assert len(Store(tmp_path)) == 8
    assert digests(done) == digests(sm.sweep(small, over=over, replications=2))


def test_ctrl_c_keeps_completed_runs(tmp_path: Path, cell_file: Path) -> None:
    command = [
        sys.executable, "-m", "simoom", "sweep", cell_file, "--set", "duration_s=60",
        "--set", "warmup_s=1", "--over", "stations=3,4", "-n", "400", "--store", "kept", "-q",
    ]  # fmt: skip
    process = subprocess.Popen(command, cwd=tmp_path, stderr=subprocess.PIPE, text=True)
    store = tmp_path / "kept"
    deadline = time.monotonic() + 60
    while not list(store.glob("??/*.json")) and time.monotonic() < deadline:
        time.sleep(0.05)
    process.send_signal(signal.SIGINT)
    _, messages = process.communicate(timeout=60)
    assert process.returncode == 130, messages
    assert "the same command continues the sweep" in messages
    assert 1 <= len(list(store.glob("??/*.json"))) < 800
    assert not list(store.glob("??/*.part"))


def test_pictures(small: sm.Scenario) -> None:
    over = {**OVER, "wire.delay_ms": [1.0, 20.0]}
    done = sm.sweep(small, over=over, replications=2)
    hue = "flows[0].control"
    (axes,) = done.plot(x="stations", y=Y, hue=hue).axes
    assert (axes.get_xlabel(), axes.get_ylabel()) == ("stations", "total goodput, Mb/s")
    assert len(axes.containers) == 4
    lines = [container.lines[0] for container in axes.containers]
    assert len({line.get_color() for line in lines}) == 2
    assert len({line.get_linestyle() for line in lines}) == 2
    chosen = (pl.col(hue) == "new_reno") & (pl.col("wire.delay_ms") == 1.0)
    mean = done.mean(Y).filter(chosen)["mean"]
    assert lines[0].get_ydata().tolist() == mean.to_list()
    (axes,) = done.plot(x=hue, y=Y).axes
    assert [label.get_text() for label in axes.get_xticklabels()] == ["new_reno", "cubic"]
    with pytest.raises(ValueError, match="is not an axis"):
        done.plot(x="station", y=Y)


def test_the_command_line(simoom, cell_file, tmp_path) -> None:
    command = ["sweep", cell_file, "--over", "flows[0].control=new_reno,{cubic={beta=0.5}}",
               "--over", "wire.delay_ms=1,20", "-n", 2, "--set", "duration_s=1"]  # fmt: skip
    done = simoom(*command, "--store", "kept", "--out", "out")
    assert done.returncode == 0, done.stderr
    assert "wire.delay_ms" in done.stdout
    assert "±" in done.stdout
    assert len(list((tmp_path / "kept").glob("??/*.json"))) == 8
    frame = pl.read_parquet(tmp_path / "out" / "runs.parquet")
    assert frame.height == 8
    assert pl.read_csv(tmp_path / "out" / "means.csv").height == 4
    assert (tmp_path / "out" / "sweep.total.goodput_mbps.png").stat().st_size > 5000
    in_processes = simoom(*command, "--processes", 2, "--json", "--mean", Y)
    assert in_processes.returncode == 0, in_processes.stderr
    rows = json.loads(in_processes.stdout)[Y]
    assert [row["n"] for row in rows] == [2] * 4
    mean = frame.group_by("flows[0].control", "wire.delay_ms", maintain_order=True)
    assert [row["mean"] for row in rows] == mean.agg(pl.col(Y).mean())[Y].to_list()
    assert all(math.isfinite(row["ci_low"]) for row in rows)


def test_a_terminal_shows_how_many_runs_have_ended(cell_file, tmp_path) -> None:
    pty = pytest.importorskip("pty")
    ours, terminal = pty.openpty()
    command = [sys.executable, "-m", "simoom", "sweep", str(cell_file), "-n", "2",
               "--over", "wire.delay_ms=1,20", "--set", "duration_s=1"]  # fmt: skip
    done = subprocess.run(command, stderr=terminal, capture_output=False, cwd=tmp_path,
                          stdout=subprocess.PIPE, check=True)  # fmt: skip
    shown = os.read(ours, 1 << 16).decode()
    os.close(terminal)
    os.close(ours)
    assert "sweep: 0 of 4 runs" in shown
    assert re.search(r"sweep: 4 of 4 runs, [\d.e-]+ s each, about 0 s left", shown)
    assert b"means of 2 runs" in done.stdout


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--over", "stations"], "write PATH=V1,V2"),
        (["--over", "stations=1,,2"], "a value between two commas is missing"),
        (["--over", "stations=2,2"], "has 2 twice"),
        (["--over", "stations=3", "--over", "stations=4"], "names a path twice"),
        (["--over", "station=3"], "did you mean stations"),
        (["--over", "stations=3,-1"], "stations: must be"),
        (["--over", "stations=3", "-n", "0"], "--replications 0: must be from 1"),
        (["--over", "stations=3", "-n", "1", "--mean", "goodput"], "--mean: there is no"),
        ([], "--over: name at least one value"),
    ],
)
def test_the_command_line_says_what_is_wrong(simoom, cell_file, options, message) -> None:
    done = simoom("sweep", cell_file, "--set", "duration_s=0.5", *options)
    assert done.returncode == 2
    assert message in done.stderr
    assert "Traceback" not in done.stderr


BOTH_WAYS = [{"from": "server", "to": "sta*"}, {"from": "sta*", "to": "server"}]
RESULTS = ("total.goodput_mbps", "flows[0].rtt_s.p95", "total.collision_probability")


@pytest.mark.parametrize("width", [40, 80])
def test_a_table_fits_its_width_and_cuts_nothing(width):
    scenario = sm.Scenario(standard="11g", duration_s=0.2, flows=BOTH_WAYS)
    over = {"stations": [1, 2], "flows[*].control": ["new_reno", "cubic"]}
    done = sm.sweep(scenario, over=over, replications=2)
    means = {path: done.mean(path).to_dicts() for path in RESULTS}
    shown = text(done, means, width, groups=True)
    assert max(map(len, shown.splitlines())) <= width
    assert "…" not in shown
    for path in RESULTS:
        for row in means[path]:
            assert digits(row["mean"], 4) in shown
    # Each block below another begins with the axes again.
    blocks = shown.count("stations")
    assert blocks == shown.count("new_reno") / 2
    assert blocks > 1 if width == 40 else blocks < 4


def test_values_that_are_tables_have_short_labels_where_there_is_little_room():
    over = {"ap.queue": [{"drop_tail": {"limit_packets": n}} for n in (50, 500)]}
    scenario = sm.Scenario(standard="11g", duration_s=0.2, flows=BOTH_WAYS)
    done = sm.sweep(scenario, over={**over, "stations": [1, 2]}, replications=2)
    means = {path: done.mean(path).to_dicts() for path in RESULTS}
    wide, narrow = (text(done, means, width, groups=False) for width in (80, 40))
    assert "drop_tail(limit_packets=500)" in wide
    assert max(map(len, narrow.splitlines())) <= 40
    assert "…" not in narrow
    assert "drop_tail 50 " in narrow
    assert "drop_tail 500 " in narrow


def test_goodputs_by_direction_add_up_to_the_total():
    scenario = sm.Scenario(standard="11g", duration_s=0.2, stations=3, flows=BOTH_WAYS)
    done = sm.sweep(scenario, over={"stations": [3]}, replications=1)
    means = {"total.goodput_mbps": done.mean("total.goodput_mbps").to_dicts()}
    total, down, up = map(float, text(done, means, 80, groups=True).splitlines()[-3].split()[1:])
    assert down + up == pytest.approx(total, rel=1e-3)
    assert "→" not in text(done, means, 80, groups=False)
