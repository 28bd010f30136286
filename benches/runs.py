"""Runs in large numbers: what a run costs beside its simulation, memory, and the scheduler.

    python benches/runs.py [--quick]

Prints the overhead of a run in a sweep with a store, the speed of two cores beside one, the memory
of many runs, and the rate of empty jobs. Times are CPU times of this process where one core is
enough; the speed-up is by the clock, so that the load of the machine counts: it is
printed.
"""

from __future__ import annotations

import argparse
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from concurrent.futures import Executor, Future
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import simoom as sm
from simoom.base.workers import Progress
from simoom.cli.sweep import needed
from simoom.results.run import RunJob, Summary
from simoom.runs.runner import Runner
from simoom.store.store import Store

WANTED_OVERHEAD_MS = 1.0
WANTED_OUTSIDE_MS = 0.3
WANTED_SPEEDUP = 1.9


def scenario(duration_s: float) -> sm.Scenario:
    """Return a cell of which runs take little time."""
    return sm.Scenario(
        standard="11b",
        stations=2,
        duration_s=duration_s,
        flows=[{"from": "server", "to": "sta*"}],
    )


class Ready(Executor):
    """An executor that has the result of one run for all: what is left is overhead."""

    def __init__(self, run: sm.Run, *, copies: bool = False) -> None:
        self._run, self._copies = run, copies

    def submit(self, fn: Callable[..., Any], /, *_: Any, **__: Any) -> Future[Any]:
        """Return the run as that of the job; as a copy it takes the memory of a new one."""
        job: RunJob = fn.job  # type: ignore[attr-defined]
        future: Future[Any] = Future()
        found = replace(self._run, scenario=job.scenario, replication=job.replication)
        if self._copies:
            values = ((path, value + 0.0 if isinstance(value, float) else value)
                      for path, value in found.summary.items())  # fmt: skip
            found = replace(found, summary=Summary(values))
        future.set_result(found)
        return future


@dataclass(frozen=True)
class Empty:
    """A job without work."""

    number: int

    def __call__(self, _progress: Progress | None = None) -> int:
        """Return the number."""
        return self.number


def overhead_ms(runs: int, store: Path | None, *, again: bool = False) -> float:
    """Return the CPU time of a run in a sweep in which nothing is simulated."""
    small = scenario(1.0)
    executor = Ready(sm.run(small))

    def sweep() -> float:
        begin = time.process_time()
        sm.sweep(small, over={"wire.delay_ms": [1.0, 2.0]}, replications=runs // 2, store=store,
                 executor=executor)  # fmt: skip
        return (time.process_time() - begin) / runs * 1e3

    return (sweep(), sweep())[again]


def outside_ms(runs: int) -> float:
    """Return the CPU time of a run of 10 ms without that of its events.

    What runs of 10 and of 20 ms have in common: resolving the scenario, building the simulation,
    results and Python.
    """

    def each(duration_s: float) -> float:
        cell = scenario(duration_s)
        begin = time.process_time()
        sm.replicate(cell, replications=runs)
        return (time.process_time() - begin) / runs * 1e3

    return min(2.0 * each(0.01) - each(0.02) for _ in range(5))


def speedup(runs: int) -> float:
    """Return how many times faster a sweep is on two threads than on one, by the clock."""
    from concurrent.futures import ThreadPoolExecutor

    cell = scenario(20.0)
    took: dict[int, float] = {}
    for workers in (1, 2, 1, 2):
        with ThreadPoolExecutor(workers) as pool:
            begin = time.perf_counter()
            sm.replicate(cell, replications=runs, executor=pool)
            took[workers] = min(took.get(workers, 1e9), time.perf_counter() - begin)
    return took[1] / took[2]


def peak_mib(kind: str, count: int) -> tuple[float, float]:
    """Return the peak memory in MiB and the CPU time in s of a process of its own."""
    done = subprocess.run(
        [sys.executable, __file__, "--child", kind, str(count)], check=True, capture_output=True,
        text=True, env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
    )  # fmt: skip
    mib, cpu_s = map(float, done.stdout.split())
    return mib, cpu_s


def child(kind: str, count: int) -> None:
    """Do the work of `peak_mib`."""
    if kind == "jobs":
        from concurrent.futures import ThreadPoolExecutor

        with ThreadPoolExecutor(1) as pool, Runner(pool, shares=False) as runner:
            total = sum(value for _, value in runner.results(map(Empty, range(count))))
        assert total == count * (count - 1) // 2
    else:
        small = scenario(1.0)
        over = {"wire.delay_ms": [1.0, 2.0]}
        keep = {
            "kept": ["total.goodput_mbps"],
            "command": needed(small, over, ["total.goodput_mbps"], groups=True),
        }.get(kind)
        with tempfile.TemporaryDirectory() as folder:
            store = Store(folder) if kind in ("stored", "command") else None
            sm.sweep(small, over=over, replications=count // 2,
                     store=store, keep=keep,
                     executor=Ready(sm.run(small), copies=True))  # fmt: skip
            if kind == "stored" and store is not None:
                store.compact()
                assert len(store) == count
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(peak, time.process_time())


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="A tenth of the numbers.")
    parser.add_argument("--child", nargs=2, metavar=("KIND", "COUNT"), help=argparse.SUPPRESS)
    options = parser.parse_args(arguments)
    if options.child:
        child(options.child[0], int(options.child[1]))
        return
    many, million = (10_000, 100_000) if options.quick else (100_000, 1_000_000)
    print(f"runs; load {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores")
    with tempfile.TemporaryDirectory() as folder:
        plain = overhead_ms(2000, None)
        first = overhead_ms(2000, Path(folder) / "a")
        again = overhead_ms(2000, Path(folder) / "b", again=True)
    print(f"overhead of a run, CPU: {plain:.3f} ms; {first:.3f} ms with a store (wanted below "
          f"{WANTED_OVERHEAD_MS:g}); {again:.3f} ms to read it back")  # fmt: skip
    short = outside_ms(1000)
    print(f"a run of 10 ms outside its events, CPU: {short:.3f} ms; {short + first - plain:.3f} ms "
          f"with a store (wanted below {WANTED_OUTSIDE_MS:g})")  # fmt: skip
    print(f"two cores beside one: {speedup(40):.2f} times (wanted {WANTED_SPEEDUP:g}), "
          f"load {os.getloadavg()[0]:.1f}")  # fmt: skip
    kinds = {
        "kept": "runs, keep=one result",
        "runs": "runs, all results",
        "command": "runs of simoom sweep with --store",
    }
    for kind, name in kinds.items():
        low, high = peak_mib(kind, many // 10), peak_mib(kind, many)
        print(f"{many:,} {name}: {high[0]:.0f} MiB ({low[0]:.0f} MiB for {many // 10:,}), "
              f"{high[1]:.0f} s CPU")  # fmt: skip
    mib, cpu_s = peak_mib("stored", many // 10)
    print(f"{many // 10:,} runs stored and compacted: {mib:.0f} MiB, {cpu_s:.0f} s CPU")
    mib, cpu_s = peak_mib("jobs", million)
    print(f"{million:,} empty jobs: {mib:.0f} MiB, {cpu_s / million * 1e6:.0f} us CPU each")


if __name__ == "__main__":
    main()
