"""The cost of controllers in Python: CPU time relative to the built-in one of the same source.

Both run the same scenario with the same seed, alternating in one process, so that other load
affects both equally. Each controller of the gallery sends the same segments as the built-in one, so
that the ratio of CPU times is the whole cost of Python. A result is the ratio of the least CPU time
of each, because other load can only add to the time.
"""

from __future__ import annotations

import argparse
import time

import simoom as sm
from simoom import gallery

PAIRS: dict[str, type[sm.Control]] = {
    "new_reno": gallery.Reno,
    "cubic": gallery.Cubic,
    "westwood": gallery.Westwood,
    "vegas": gallery.Vegas,
    "few": gallery.Few,
}
WANTED = 0.6
"""The target for the relative speed in the cell of ten stations."""


def cell(standard: str, simulated_s: float) -> sm.Scenario:
    """Ten stations that all download, as in benches/speed.py."""
    return sm.Scenario(
        standard=standard,
        stations=10,
        duration_s=simulated_s,
        warmup_s=1.0,
        ap={"queue": {"drop_tail": {"limit_packets": 100}}},
        wire={"rate_mbps": 1000.0, "delay_ms": 2.0},
        flows=[{"from": "server", "to": "sta*", "tcp": {"window_bytes": 65_535}}],
    )


def cpu_s(scenario: sm.Scenario) -> tuple[float, str]:
    """Run once; return the CPU time and the digest."""
    begin = time.process_time()
    digest = sm.run(scenario).digest
    return time.process_time() - begin, digest


def relative_speed(scenario: sm.Scenario, name: str, repetitions: int) -> float:
    """Return the speed with the controller in Python relative to the built-in one."""
    both = [scenario.set("flows[*].control", control) for control in (name, PAIRS[name])]
    runs = [[cpu_s(each) for each in both] for _ in range(repetitions)]
    if len({digest for pair in runs for _, digest in pair}) > 1:
        raise SystemExit(f"{name}: the two controllers gave different digests")
    built_in, own = (min(cpu for cpu, _ in column) for column in zip(*runs, strict=True))
    return float(built_in / own)


def main() -> None:
    """Measure and print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repetitions", type=int, default=15)
    arguments = parser.parse_args()
    print(f"relative speed, least of {arguments.repetitions} CPU times each (target {WANTED})\n")
    print(f"{'controller':<12}{'802.11b':>10}{'802.11g':>10}")
    for name in PAIRS:
        cells = (cell("11b", 120.0), cell("11g", 30.0))
        speeds = [relative_speed(each, name, arguments.repetitions) for each in cells]
        print(f"{name:<12}" + "".join(f"{speed:>10.2f}" for speed in speeds), flush=True)


if __name__ == "__main__":
    main()
