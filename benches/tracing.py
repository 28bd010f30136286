"""Traces: frames per second to each format, and bytes per frame.

A cell of 802.11g with ten downloading stations has exchanges of one packet each, one of 802.11ax
has aggregates. The time is the CPU time of a process that runs the scenario with a trace minus that
of the same run without one; polars works on several cores, so that less time passes. Memory is the
peak of the process. Each format is measured in a process of its own.
"""

from __future__ import annotations

import json
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

from simoom.trace.files import CORE, WRITERS

CELLS = {"11g": 10.0, "11ax": 2.0}
"""The standards of the cells, and how many seconds are simulated."""

PROGRAM = """
import json, resource, sys, time
import polars, simoom as sm

standard, seconds, out = json.loads(sys.argv[1])
scenario = sm.Scenario(
    standard=standard, stations=10, duration_s=seconds, warmup_s=0.0,
    wire={"rate_mbps": 1000.0, "delay_ms": 2.0}, flows=[{"from": "server", "to": "sta*"}],
)
begin = time.process_time()
run = sm.run(scenario, trace=out)
cpu_s = time.process_time() - begin
frames = run.trace.frames.height if run.trace is not None else 0
print(json.dumps([cpu_s, frames, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss]))
"""


def measure(standard: str, out: bool | str) -> tuple[float, int, int]:
    """CPU seconds of a run, its frames if they are data frames, and its peak memory in KiB."""
    arguments = json.dumps([standard, CELLS[standard], out])
    command = [sys.executable, "-c", PROGRAM, arguments]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    cpu_s, frames, peak = json.loads(done.stdout)
    return cpu_s, frames, peak


def main(repetitions: int = 3) -> None:
    """Measure and print the table."""
    header = ("format", "frames", "frames per s", "bytes per frame", "memory, MiB")
    for standard in CELLS:
        print(f"\ntraces, 802.{standard}, 10 stations")
        print("".join(f"{column:>17}" for column in header))
        plain = statistics.median(measure(standard, False)[0] for _ in range(repetitions))
        frames = measure(standard, True)[1]
        # A page holds too few frames for a measurement.
        for name in ["data frames", *sorted({*WRITERS, *CORE} - {"html"})]:
            with tempfile.TemporaryDirectory() as scratch:
                path = Path(scratch) / f"out.{name}"
                out = True if name == "data frames" else str(path)
                costs = [measure(standard, out) for _ in range(repetitions)]
                written = sorted(Path(scratch).iterdir())
                size = sum(file.stat().st_size for file in written)
            cpu_s = statistics.median(cost[0] for cost in costs) - plain
            values = (name, f"{frames:,}", f"{frames / cpu_s:,.0f}", f"{size / frames:.0f}")
            peak = f"{max(cost[2] for cost in costs) / 1024:.0f}"
            print("".join(f"{value:>17}" for value in (*values, peak)), flush=True)


if __name__ == "__main__":
    main()
