"""What docs/reliability.md promises: nothing hangs, nothing is lost, nothing lies."""

from __future__ import annotations

import errno
import json
import math
import os
import re
import signal
import subprocess
import sys
import time
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from pathlib import Path

import pytest

import simoom as sm
from simoom import plots
from simoom.base import files
from simoom.base.issue import LostWorkerError
from simoom.base.patience import interruptible
from simoom.base.workers import JobError, WorkerProcesses
from simoom.runs import stats
from simoom.runs.runner import Runner

FLOW = {"from": "server", "to": "sta*"}
NEAR = {"radio": {}, "ap": {"position_m": [0.0, 0.0]}}


def command(*arguments: object, **options) -> subprocess.Popen[str]:
    texts = [sys.executable, "-m", "simoom", *map(str, arguments)]
    return subprocess.Popen(
        texts, text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE, **options
    )


# --- Nothing hangs --------------------------------------------------------------------------------


def test_the_stop_flag_is_looked_at_between_few_events():
    source = Path(__file__).parents[1] / "crates/py/src/run.rs"
    (events,) = re.findall(r"EVENTS_PER_LOOK: u64 = ([\d_]+);", source.read_text(encoding="utf-8"))
    assert int(events) <= 100


def test_a_call_that_does_not_look_at_the_stop_flag_is_abandoned():
    """Building a scenario of very many radios is such a call."""
    signal.setitimer(signal.ITIMER_REAL, 0.2)
    before = signal.signal(signal.SIGALRM, signal.default_int_handler)
    stopped = []

    def sleeps(stop) -> None:
        time.sleep(30)
        stopped.append(stop.is_set())

    try:
        with pytest.raises(KeyboardInterrupt):
            interruptible(sleeps)
    finally:
        signal.signal(signal.SIGALRM, before)
    assert not stopped


@dataclass(frozen=True)
class Sleep:
    """A job that looks at no flag."""

    number: int

    def __call__(self, _=None):
        time.sleep(3600)


def test_worker_processes_end_whatever_they_compute():
    pool = WorkerProcesses(2)
    with Runner(pool) as runner:
        results = runner.results([Sleep(0), Sleep(1)])
        signal.signal(signal.SIGALRM, signal.default_int_handler)
        signal.setitimer(signal.ITIMER_REAL, 1.0)
        with pytest.raises(KeyboardInterrupt):
            next(results)
        processes = list(pool._processes.values())
        pool.kill()
    for process in processes:
        # A thread of the executor may collect the process first, and `join` then returns at once.
        deadline = time.monotonic() + 60
        while process.exitcode is None and time.monotonic() < deadline:
            time.sleep(0.01)
        assert process.exitcode == -signal.SIGKILL


def test_ctrl_c_ends_a_sweep_in_processes_with_one_line(tmp_path, cell_file):
    """The interrupt reaches all processes, as that of a terminal does; then it comes again."""
    process = command(
        "sweep", cell_file, "--set", "duration_s=100000", "--over", "stations=3,4", "-n", 2,
        "--processes", 2, "-q", cwd=tmp_path, start_new_session=True,
    )  # fmt: skip
    time.sleep(4)
    os.killpg(process.pid, signal.SIGINT)
    out, err = process.communicate(timeout=60)
    lost = "completed runs are lost; --store FOLDER keeps them, and continues the sweep\n"
    assert (process.returncode, out, err) == (130, "", f"{lost}interrupted\n")


def test_ctrl_c_while_the_command_line_is_loaded_is_one_line(tmp_path, cell_file):
    """A package that it loads interrupts the process."""
    text = "import os, signal, time\nos.kill(os.getpid(), signal.SIGINT)\ntime.sleep(60)\n"
    (tmp_path / "typer.py").write_text(text, encoding="utf-8")
    path = os.pathsep.join([str(tmp_path), *os.environ.get("PYTHONPATH", "").split(os.pathsep)])
    process = command("check", cell_file, env=os.environ | {"PYTHONPATH": path})
    out, err = process.communicate(timeout=60)
    assert (process.returncode, out, err) == (130, "", "interrupted\n")


def test_the_package_as_a_library_leaves_ctrl_c_alone():
    code = "import signal, simoom\nprint(signal.getsignal(signal.SIGINT).__name__)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "default_int_handler\n"


# --- Nothing ends in a traceback ------------------------------------------------------------------


@dataclass(frozen=True)
class Die:
    """A job whose process is killed."""

    number: int

    def __call__(self, _=None):
        os.kill(os.getpid(), signal.SIGKILL)


def test_a_killed_worker_blames_no_run():
    pool = ProcessPoolExecutor(1)
    with Runner(pool) as runner, pytest.raises(LostWorkerError, match="was killed") as caught:
        list(runner.results([Die(0)], describe="replication {}".format))
    assert not getattr(caught.value, "__notes__", [])


class Awkward(Exception):  # noqa: N818  a class of a user
    """Cannot be unpickled: its arguments are not those of its constructor."""

    def __init__(self, one, two):
        super().__init__(f"{one} and {two}")


@dataclass(frozen=True)
class Fail:
    """A job that fails."""

    number: int

    def __call__(self, _=None):
        error = Awkward("this", "that")
        error.add_note("in flows[0].control at 1.5 s (flow 0, down)")
        raise error


def test_an_exception_that_cannot_be_sent_keeps_its_text_and_notes():
    with (
        ProcessPoolExecutor(1) as pool,
        Runner(pool) as runner,
        pytest.raises(JobError, match="raised Awkward") as caught,
    ):
        list(runner.results([Fail(0)], describe="replication {}".format))
    assert "this and that" in str(caught.value)
    assert caught.value.__notes__ == [
        "in flows[0].control at 1.5 s (flow 0, down)",
        "in replication 0",
    ]


@pytest.mark.parametrize("arguments", [("run",), ("check",), ("probes",), ("model",)])
def test_output_needs_no_utf8(arguments, cell_file):
    environment = os.environ | {"PYTHONIOENCODING": "ascii", "PYTHONUTF8": "0"}
    process = command(*arguments, cell_file, "--set", "title=Größe → klein", env=environment)
    out, err = process.communicate(timeout=100)
    assert process.returncode == 0, err
    assert out.isascii()


def test_json_is_json_in_every_encoding(cell_file):
    environment = os.environ | {"PYTHONIOENCODING": "ascii", "PYTHONUTF8": "0"}
    process = command("check", cell_file, "--full", "--set", "title=Größe", env=environment)
    assert json.loads(process.communicate(timeout=60)[0])["title"] == "Größe"


def test_a_reader_that_leaves_is_no_failure(cell_file, tmp_path):
    with command("run", cell_file, "--out", tmp_path / "out") as process:
        process.stdout.close()
        process.wait(100)
    assert process.returncode == 0
    assert (tmp_path / "out" / "summary.json").exists()


@pytest.mark.skipif(sys.platform == "win32", reason="descriptors of POSIX")
@pytest.mark.parametrize(
    ("closed", "code", "said"),
    [
        (">&-", 2, "standard output: bad file descriptor\n"),
        ("2>&-", 0, ""),
        ("<&-", 0, ""),
        (">&- 2>&- <&-", 2, ""),
    ],
)
def test_a_closed_descriptor_is_at_most_one_line(cell_file, closed, code, said):
    line = f"{sys.executable} -m simoom run {cell_file} --json {closed}"
    done = subprocess.run(["sh", "-c", line], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (code, said)
    assert bool(done.stdout) == (">&-" not in closed.replace("2>&-", ""))


def test_names_are_no_formulas_and_no_markup(cell, simoom, cell_file, tmp_path):
    named = cell.set("flows[0].name", r"$\frac$").set("title", "[/x] $")
    plots.save(plots.overview(sm.run(named)), tmp_path / "run.png")
    over = 'flows[0].name="[/x]","b"'
    done = simoom("sweep", cell_file, "--over", over, "-n", 1, "--set", "duration_s=1")
    assert (done.returncode, "[/x]" in done.stdout) == (0, True), done.stderr


def test_control_characters_do_not_reach_the_terminal(simoom, tmp_path):
    file = tmp_path / "evil.toml"
    file.write_text('standard = "\\u001b]0;owned\\u0007"\n', encoding="utf-8")
    done = simoom("check", file)
    assert done.returncode == 2
    assert "\x1b" not in done.stderr + done.stdout
    text = 'title = "\\u001b[31m"\nstandard = "11g"\nstations = 1\nduration_s = 1.0\n'
    text += '[[flows]]\nfrom = "server"\nto = "sta0"\nname = "\\u009b31m"\n'
    file.write_text(text, encoding="utf-8")
    shown = simoom("run", file).stdout
    assert r"\x1b[31m" in shown
    assert r"\x9b31m" in shown
    assert all(char.isprintable() or char == "\n" for char in shown)


def test_a_text_that_is_no_script_is_bad_input(simoom, cell_file):
    done = simoom("tcp-script", cell_file)
    assert (done.returncode, done.stdout) == (2, "")
    assert str(cell_file) in done.stderr
    endless = simoom("tcp-script", "/dev/zero")
    assert (endless.returncode, endless.stdout) == (2, "")
    assert "/dev/zero: has more than 64 MiB" in endless.stderr


# --- What is taken and what is refused ------------------------------------------------------------


def test_a_file_and_a_mapping_are_scenarios(cell, cell_file):
    digest = sm.run(cell).digest
    assert sm.run(cell_file).digest == digest
    assert sm.run(str(cell_file)).digest == digest
    flow = {"from": "server", "to": "sta0"}
    keys = {"standard": "11g", "stations": 1, "duration_s": 1.0, "flows": [flow]}
    assert sm.run(keys).digest == sm.run(sm.Scenario(**keys)).digest
    with pytest.raises(TypeError, match="scenario: must be a Scenario, the path"):
        sm.run(7)


def nested(depth: int) -> object:
    value: object = 1
    for _ in range(depth):
        value = [value]
    return value


@pytest.mark.parametrize(
    ("make", "path"),
    [
        (lambda _: sm.Scenario(wire={"rate_mbps": math.nan}), "wire.rate_mbps"),
        (lambda _: sm.Scenario(flows=[{"tcp": {"mss_bytes": math.inf}}]),
         "flows[0].tcp.mss_bytes"),
        (lambda _: sm.Scenario(title="\ud800"), "title"),
        (lambda _: sm.Scenario(stations=nested(100_000)), "stations"),
        (lambda cell: cell.set("title", "\udfff"), "title"),
        (lambda cell: cell.set("wire", nested(100_000)), "wire"),
        (lambda cell: cell.set("a\ud800", 1), ""),
        (lambda cell: cell.set_text("title", "[" * 100_000), "title"),
        (lambda cell: cell.get("a\ud800"), ""),
        (lambda _: sm.Scenario.parse("title = '\ud800'"), ""),
        (lambda _: sm.Scenario.parse("title = " + "[" * 100_000), ""),
    ],
)  # fmt: skip
def test_what_no_scenario_can_hold_is_one_fault_at_its_path(make, path, cell):
    with pytest.raises(sm.ScenarioError) as caught:
        make(cell)
    (issue,) = caught.value.issues
    assert issue.path.startswith(path)


@pytest.mark.parametrize("path", [".bad:X", "../x:Y", "a/b:Y", "a:.b", "a..b:C"])
def test_an_import_path_that_cannot_be_imported_is_a_fault(path, cell):
    with pytest.raises(sm.ScenarioError, match="is no import path"):
        cell.set("flows[0].control.python.path", path).check()


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda _: stats.mean_ci([1.0, math.nan]), ValueError, "finite"),
        (lambda cell: sm.run(cell, progress=True), TypeError, "progress"),
        (lambda cell: sm.replicate(cell, progress=1), TypeError, "progress"),
        (lambda cell: sm.sweep(cell, over={"stations": [3]}, progress=1), TypeError, "progress"),
        (lambda cell: sm.optimise(cell, over={"stations": [3]}, maximise="foo"), TypeError,
         "maximise"),
    ],
)  # fmt: skip
def test_wrong_arguments_are_refused(call, error, message, cell):
    with pytest.raises(error, match=message):
        call(cell)


@pytest.mark.parametrize(
    ("keys", "path"),
    [
        ({"flows": [FLOW | {"count": 1000, "tcp": {"initial_window_segments": 1_000_000}}]},
         "flows[0].tcp.initial_window_segments"),
        ({"flows": [FLOW | {"tcp": dict.fromkeys(("rto_min_ms", "rto_initial_ms", "rto_max_ms"),
                                                 0.001)}]},
         "flows[0].tcp.rto_max_ms"),
    ],
)  # fmt: skip
def test_what_would_exhaust_memory_is_refused_with_the_figure(keys, path):
    with pytest.raises(sm.ScenarioError, match="memory is kept for 10000000") as caught:
        sm.Scenario(standard="11g", stations=2, **keys).check()
    assert [issue.path for issue in caught.value.issues] == [path]


@pytest.mark.parametrize(
    ("path", "value", "rule"),
    [
        ("flows[0].start_s", 1e9, "must be from 0 to 1000000 s, is 1e9"),
        ("flows[0].tcp.rto_initial_ms", -1, "must be from 0.001 to 3600000 ms, is -1"),
        ("flows[0].count", 1_000_000, "must be from 0 to 20000, is 1000000"),
        ("stations", 10**9, "1000000000 are too many; at most 10000"),
    ],
)
def test_a_number_out_of_range_is_one_fault_with_the_number_as_written(path, value, rule, cell):
    """Other rules do not check the number that takes its place."""
    with pytest.raises(sm.ScenarioError) as caught:
        cell.set(path, value).check()
    assert [str(issue) for issue in caught.value.issues] == [f"{path}: {rule}"]


def test_an_interval_that_is_no_number_is_one_fault(simoom, tmp_path):
    file = tmp_path / "bad.toml"
    text = 'standard = "11g"\nstations = 1\nmeasure.interval_s = nan\n'
    file.write_text(text + '[[flows]]\nfrom = "server"\nto = "sta0"\n', encoding="utf-8")
    (line,) = simoom("check", file).stderr.splitlines()
    assert "measure.interval_s: must be from 1e-9 to 1000000 s, is NaN" in line


def test_flows_can_be_switched_off(cell):
    assert len(sm.run(cell.set("flows[1].count", 0)).flows) == 2
    with pytest.raises(sm.ScenarioError, match="nothing would be sent"):
        cell.set("flows[*].count", 0).check()


@pytest.mark.parametrize(
    ("path", "value", "hint"),
    [
        ("flows[0].control", "reno", 'did you mean "new_reno"?'),
        ("flows[0].tpc.mss_bytes", 1000, "did you mean tcp?"),
        ("flows[0].to", "sta0,sta1", "write a table [[flows]] for each"),
    ],
)
def test_suggestions(path, value, hint, cell):
    with pytest.raises(sm.ScenarioError) as caught:
        cell.set(path, value).check()
    assert hint in str(caught.value)


def test_no_suggestion_is_better_than_a_wrong_one(cell):
    with pytest.raises(sm.ScenarioError) as caught:
        cell.set("standard", "wifi7")
    assert "did you mean" not in str(caught.value)


def test_a_fault_names_its_file_or_the_path_of_the_option(simoom, tmp_path):
    file = tmp_path / "bad.toml"
    file.write_text('standard = "11z"\nstations = 0\nflows = []\n', encoding="utf-8")
    lines = simoom("check", file).stderr.splitlines()
    assert lines[0].startswith(f'{file}:1:1: standard: must be one of "11b"')
    file.write_text('standard = "11g"\nstations = 0\nflows = []\n', encoding="utf-8")
    lines = simoom("check", file, "--set", "stations=0").stderr.splitlines()
    assert any(line.startswith(f"{file}:3:1: flows: ") for line in lines)
    assert any(line.startswith("stations: there are none") for line in lines)


def test_airtime_names_its_options(simoom):
    done = simoom("airtime", "--standard", "11n", "--bytes", 100, "--rate", 6, "--mcs", 3)
    assert done.stderr.startswith("--mcs: cannot be combined with a rate")


# --- Figures --------------------------------------------------------------------------------------


def test_fractions_of_a_short_window_are_fractions():
    """A frame that begins in the window and ends after it counts as far as it is in the window."""
    scenario = sm.Scenario(
        standard="11b", duration_s=0.004, warmup_s=0.001, measure={"batches": 2}, **NEAR,
        stations=[{"count": 3, "ring_m": 10.0}], wlan={"rate_mbps": 1.0},
        flows=[{"from": "sta*", "to": "ap", "traffic": "saturated"}],
    )  # fmt: skip
    for seed in range(1, 6):
        summary = sm.run(scenario, seed=seed).summary
        for path, value in summary.items():
            if re.search(r"airtime\.\w+_fraction|collision_probability", path):
                assert value is None or math.isnan(value) or 0 <= value <= 1, (seed, path)


def test_shares_of_nothing_have_no_fairness():
    far = {"stations": [{"position_m": [900.0, 0.0]}], **NEAR}
    summary = sm.run(sm.Scenario(standard="11g", duration_s=1.0, flows=[FLOW], **far)).summary
    assert summary["total.goodput_mbps"] == 0
    index = summary["total.jain_index"]
    assert index is None or math.isnan(index)


def test_access_points_may_be_hidden_from_each_other():
    scenario = sm.Scenario(
        standard="11g",
        radio={},
        ap={"position_m": [0.0, 0.0]},
        cells=[{"position_m": [80.0, 0.0]}],
        stations=[{"position_m": [39.0, 0.0]}, {"position_m": [41.0, 0.0], "cell": 1}],
        flows=[FLOW],
    )
    heard = sm.hearing(scenario)
    assert not heard.detects("ap", "cells[0]")
    assert ("ap", "cells[0]") in heard.hidden


def test_all_lost_packets_are_in_the_headline():
    from simoom.show.sections import headline

    lost = {"total.queue_drops": 1, "total.retry_drops": 2, "total.lifetime_drops": 77}
    assert dict(headline(lost))["packets lost"] == (
        "1 in queues, 2 at the retry limit, 77 at the end of their lifetime"
    )
    # By other causes too; and what the MAC discards may have arrived.
    for count in (312, 0):
        line = dict(headline({**lost, "total.lost": count}))["packets lost"]
        assert line.startswith(
            f"{count} by all causes; discarded: 1 in queues, 2 at the retry limit"
        )


# --- Files ----------------------------------------------------------------------------------------


def test_a_file_is_complete_or_absent_and_named(tmp_path):
    path = tmp_path / "report.png"
    path.write_text("old", encoding="utf-8")

    def fill() -> None:
        with files.complete(path) as draft:
            draft.write_text("half", encoding="utf-8")
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    with pytest.raises(OSError, match="No space left on device") as caught:
        fill()
    assert caught.value.filename == str(path)
    assert [each.read_text(encoding="utf-8") for each in tmp_path.iterdir()] == ["old"]


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="the system has no /dev/full")
@pytest.mark.parametrize("arguments", [("check",), ("check", "--full"), ("run",)])
def test_a_full_disk_behind_standard_output_is_one_line(arguments, cell_file):
    name, *options = arguments
    with Path("/dev/full").open("w", encoding="utf-8") as full:
        texts = [sys.executable, "-m", "simoom", name, str(cell_file), *options]
        done = subprocess.run(texts, stdout=full, stderr=subprocess.PIPE, text=True, check=False)
    assert (done.returncode, done.stderr) == (2, "standard output: no space left on device\n")


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="the system has no /dev/full")
@pytest.mark.parametrize("suffix", [".csv", ".parquet"])
def test_a_table_that_does_not_fit_says_so(suffix, tmp_path, monkeypatch):
    import polars as pl

    draft = tmp_path / f"full{suffix}"
    draft.symlink_to("/dev/full")
    monkeypatch.setattr(Path, "with_name", lambda *_: draft)
    with pytest.raises(OSError, match="No space left on device") as caught:
        files.write_frame(tmp_path / f"runs{suffix}", pl.DataFrame({"x": range(10_000)}))
    assert caught.value.filename == str(tmp_path / f"runs{suffix}")


@pytest.mark.parametrize("option", ["--out", "--store"])
def test_an_empty_name_is_no_directory(option, simoom, cell_file, tmp_path):
    done = simoom("sweep", cell_file, "--over", "stations=3", option, "")
    assert done.returncode == 2
    assert "is empty" in done.stderr
    assert [each.name for each in tmp_path.iterdir()] == ["cell.toml"]
    assert "is empty" in simoom("run", "").stderr
