"""A run's memory does not grow with its simulated time."""

from __future__ import annotations

import subprocess
import sys

PROGRAM = """
import resource, sys
import simoom as sm

scenario = sm.Scenario(
    standard="11g",
    stations={"count": 10, "queue": {"drop_tail": {"limit_packets": 100}}},
    duration_s=float(sys.argv[1]),
    ap={"queue": {"drop_tail": {"limit_packets": 100}}},
    flows=[
        {"from": "server", "to": "sta*"},
        {"from": "server", "to": "sta0", "traffic": {"web": {"think_s": 0.05}}},
        {"from": "sta1", "to": "server", "traffic": {"cbr": {"rate_mbps": 50.0}}},
    ],
)
sm.run(scenario, seed=1)
print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)
"""


def peak_kib(simulated_s: int) -> int:
    command = [sys.executable, "-c", PROGRAM, str(simulated_s)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    return int(done.stdout)


def test_twenty_times_the_simulated_time_takes_no_more_memory() -> None:
    # The remaining difference is noise of the allocator.
    assert peak_kib(200) < peak_kib(10) + 4096
