"""What a controller in Python costs: CPU time beside the built-in one of the same source.

Both run the same scenario with the same seed, alternating in one process, so that what else the
machine does touches both alike. Each gallery controller is equal to its built-in one to the
segment; so both do the same work and the ratio of CPU times is the whole cost. A figure is the
ratio of the least CPU time of each, as other load can only add to it.
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
"""Of the built-in's speed, at least, in the cell of ten stations."""


def cell(standard: str, simulated_s: float) -> sm.Scenario:
    """Ten stations that all download, as in benches/speed.py."""
    return sm.Scenario(
        standard=standard,
        stations=10,
        duration_s=simulated_s,
        warmup_s=1.0,
        ap={"queue": {"drop_tail": {"limit_packets": 100}}},
        wire={"rate_mbps": 1000.0, "delay_ms": 2.0},
        flows=[{"from": "server", "to": "sta*"}],
    )


def cpu_s(scenario: sm.Scenario) -> tuple[float, str]:
    """Run once; return the CPU time and the digest of what happened."""
    begin = time.process_time()
    digest = sm.run(scenario).digest
    return time.process_time() - begin, digest


def kept(scenario: sm.Scenario, name: str, repetitions: int) -> float:
    """Return what of the built-in's speed the controller in Python keeps."""
    both = [scenario.set("flows[*].control", control) for control in (name, PAIRS[name])]
    runs = [[cpu_s(each) for each in both] for _ in range(repetitions)]
    if len({digest for pair in runs for _, digest in pair}) > 1:
        raise SystemExit(f"{name}: both controllers are to do the same")
    built_in, own = (min(cpu for cpu, _ in column) for column in zip(*runs, strict=True))
    return built_in / own


def main() -> None:
    """Measure and print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repetitions", type=int, default=15)
    arguments = parser.parse_args()
    print(f"speed kept, least of {arguments.repetitions} CPU times each (wanted {WANTED})\n")
    print(f"{'controller':<12}{'802.11b':>10}{'802.11g':>10}")
    for name in PAIRS:
        cells = (cell("11b", 120.0), cell("11g", 30.0))
        shares = [kept(each, name, arguments.repetitions) for each in cells]
        print(f"{name:<12}" + "".join(f"{share:>10.2f}" for share in shares), flush=True)


if __name__ == "__main__":
    main()
