import itertools
import math
import os
import signal
import threading
import time
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from multiprocessing import get_context

import polars as pl
import pytest

import simoom as sm
from simoom import _core


class EnoughError(Exception):
    """Raised to end a run."""


def test_a_run_gives_values_by_path(cell):
    run = sm.run(cell)
    assert run.summary["flows[0].goodput_mbps"] > 1
    assert run.summary["flows[1].name"] == "up"
    assert isinstance(run.summary["total.attempts"], int)
    total = sum(run.summary[f"flows[{i}].goodput_mbps"] for i in range(3))
    assert run.summary["total.goodput_mbps"] == pytest.approx(total)
    assert run.simulated_s == 4.0
    assert run.events > 1000
    assert run.digest in repr(run)
    assert [flow["name"] for flow in run.flows] == ["down", "up", "web"]


def test_the_airtime_ledger_sums_to_one(cell):
    summary = sm.run(cell).summary
    parts = [value for path, value in summary.items() if path.startswith("airtime.")]
    assert len(parts) == 9
    assert math.fsum(parts) == pytest.approx(1, abs=1e-12)


def test_a_wrong_path_is_reported_with_similar_ones(cell):
    run = sm.run(cell)
    with pytest.raises(KeyError, match=r"flows\[0\].goodput_mbps"):
        run.summary["flows[0].goodput"]
    with pytest.raises(KeyError, match="probes="):
        run.series("total.goodput_mbps")


def test_frames_are_tidy(cell):
    frame = sm.run(cell, seed=5).frame()
    assert frame.height == 1
    assert frame["seed"].to_list() == [5]
    frame = sm.replicate(cell, replications=3).frame()
    assert frame["replication"].to_list() == [0, 1, 2]
    assert frame["total.goodput_mbps"].dtype == pl.Float64


def test_probes_give_series_and_change_nothing(cell):
    run = sm.run(cell, probes=["total.goodput_mbps", "flows[*].control.window_segments"])
    assert run.probes[0] == "total.goodput_mbps"
    assert len(run.probes) == 4
    series = run.series("total.goodput_mbps")
    assert series.columns == ["time_s", "value"]
    assert series["time_s"].is_sorted()
    assert 0 < series["time_s"][0] < series["time_s"][-1] <= 4.0
    assert series["value"].max() > 1
    plain = sm.run(cell)
    assert (plain.digest, plain.events) == (run.digest, run.events)
    assert run.summary["run.events"] > plain.summary["run.events"]


def test_wrong_probes_are_faults_all_at_once(cell):
    with pytest.raises(sm.ScenarioError) as caught:
        sm.run(cell, probes=["nonsense", "flows[7].goodput_mbps"])
    assert [issue.path for issue in caught.value.issues] == ["nonsense", "flows[7].goodput_mbps"]


def test_a_scenario_with_faults_does_not_run(cell):
    with pytest.raises(sm.ScenarioError, match="duration_s"):
        sm.run(cell.set("duration_s", -1.0))


@pytest.mark.parametrize("seed", [-1, 2**64])
def test_a_seed_has_64_bits(cell, seed):
    with pytest.raises(ValueError, match="seed"):
        sm.run(cell, seed=seed)


def test_a_seed_is_a_whole_number(cell):
    with pytest.raises(TypeError, match="seed"):
        sm.run(cell, seed=1.5)


def test_equal_seeds_give_equal_runs_and_others_do_not(cell):
    first, second = sm.run(cell, seed=3), sm.run(cell, seed=3)
    assert first.digest == second.digest
    assert first.summary == second.summary
    assert sm.run(cell, seed=4).digest != first.digest
    assert sm.run(cell, seed=3, replication=1).digest != first.digest


def test_replications_do_not_depend_on_where_they_run(cell):
    here = [sm.run(cell, replication=r).digest for r in range(4)]
    assert len(set(here)) == 4
    assert [run.digest for run in sm.replicate(cell, replications=4)] == here
    with ThreadPoolExecutor(3) as threads:
        runs = sm.replicate(cell, replications=4, executor=threads)
        assert [run.digest for run in runs] == here
    with ProcessPoolExecutor(2, mp_context=get_context("spawn")) as processes:
        runs = sm.replicate(cell, replications=4, executor=processes)
        assert [run.digest for run in runs] == here
        assert runs[2].summary == sm.run(cell, replication=2).summary


def test_replications_estimate_a_mean(cell):
    runs = sm.replicate(cell, replications=5)
    estimate = runs.mean("total.goodput_mbps")
    assert estimate.n == len(runs) == 5
    assert estimate.ci_low < estimate.mean < estimate.ci_high
    with pytest.raises(TypeError, match="text"):
        runs.mean("flows[0].name")
    with pytest.raises(KeyError, match="nearest"):
        runs.mean("total.goodput")


def test_replications_need_a_sound_scenario_and_a_number(cell):
    with pytest.raises(sm.ScenarioError):
        sm.replicate(cell.set("duration_s", -1.0))
    with pytest.raises(ValueError, match="replications"):
        sm.replicate(cell, replications=0)


def test_a_fault_ends_all_replications(endless):
    with pytest.raises(sm.ScenarioError):
        sm.replicate(endless, replications=3, probes=["nonsense"])


def test_an_interrupt_ends_all_replications(endless):
    others = set(threading.enumerate())
    interrupt = threading.Timer(0.3, os.kill, (os.getpid(), signal.SIGINT))
    interrupt.start()
    begun = time.monotonic()
    with pytest.raises(KeyboardInterrupt):
        sm.replicate(endless, replications=8)
    assert time.monotonic() - begun < 3
    left = set(threading.enumerate()) - others
    for thread in left:
        thread.join(30)
    assert not any(thread.is_alive() for thread in left)


def test_an_interrupt_ends_a_run(endless):
    sent = []

    def send():
        sent.append(time.monotonic())
        os.kill(os.getpid(), signal.SIGINT)

    threading.Timer(0.3, send).start()
    with pytest.raises(KeyboardInterrupt):
        sm.run(endless)
    assert time.monotonic() - sent[0] < 0.3


def test_progress_is_reported_and_may_end_the_run(endless):
    calls = []

    def progress(done):
        calls.append((time.monotonic(), done))
        if len(calls) == 5:
            raise EnoughError

    with pytest.raises(EnoughError):
        sm.run(endless, progress=progress)
    times, fractions = zip(*calls, strict=True)
    assert list(fractions) == sorted(fractions)
    assert 0 < fractions[0] < 1
    assert all(b - a > 0.05 for a, b in itertools.pairwise(times))


def test_other_threads_continue_during_a_run(endless):
    """Two endless runs in threads, and this thread, all make progress at the same time."""
    fractions = {0: [], 1: []}
    stop = threading.Event()

    def go(number):
        def progress(done):
            fractions[number].append(done)
            if stop.is_set():
                raise EnoughError

        with pytest.raises(EnoughError):
            sm.run(endless, seed=number, progress=progress)

    threads = [threading.Thread(target=go, args=(number,)) for number in fractions]
    for thread in threads:
        thread.start()
    ticks = 0
    deadline = time.monotonic() + 20
    while min(map(len, fractions.values())) < 3 and time.monotonic() < deadline:
        time.sleep(0.001)
        ticks += 1
    stop.set()
    for thread in threads:
        thread.join()
    assert min(map(len, fractions.values())) >= 3
    # Were the interpreter locked during a slice of 50 ms, there would be some ten.
    assert ticks > 25


def test_the_checker_passes(cell):
    assert sm.run(cell, check=True).digest == sm.run(cell).digest


def test_airtime_has_parts_and_a_total():
    parts = sm.airtime("11b", psdu_bytes=1536, rate_mbps=11)
    # 17.3.2: preamble 144 us, header 48 us; 8 * 1536 bits at 11 Mb/s, rounded up to whole us.
    assert parts["total_us"] == 144 + 48 + 1118
    with pytest.raises(sm.ScenarioError, match="rate_mbps"):
        sm.airtime("11b", psdu_bytes=1536, rate_mbps=54)


def test_results_are_the_same_whatever_results_gave_their_paths():
    def done(stations, seed):
        flows = [{"from": "server", "to": "sta*"}]
        s = sm.Scenario(standard="11g", stations=stations, duration_s=0.1, flows=flows)
        return _core.run(s.core, seed, 0, [])

    one, other, larger = done(2, 1), done(2, 2), done(3, 1)
    plain = other.summary()
    assert plain != one.summary()
    assert plain.keys() != larger.summary().keys()
    backwards = dict(reversed(list(one.summary().items())))
    numbered = dict(enumerate(plain))
    renamed = {f"{path[:-1]}x": value for path, value in plain.items()}
    for like in (one, larger):
        summary = like.summary()
        before = dict(summary)
        found = other.summary(summary)
        # As text, in which NaN equals NaN.
        assert repr(found) == repr(plain)
        assert repr(summary) == repr(before), "those of the other run stay"
    for like in ({}, backwards, numbered, renamed, before | {"a": 1}):
        assert repr(other.summary(like)) == repr(plain)
