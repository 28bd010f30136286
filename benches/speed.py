"""Speed: simulated seconds per CPU second, with ns-2 and ns-3 if they are installed.

Each run has Simoom's default measurements and is started from Python, on one core. A result is the
median of the repetitions. CPU time is that of the process (user and system), so that other load
only adds noise.
"""

from __future__ import annotations

import argparse
import platform
import resource
import statistics
import subprocess
import time
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path

import city
import multihop
import tracing

import simoom as sm

ROOT = Path(__file__).resolve().parent.parent
PEERS = ROOT / "validation" / "peers"


@dataclass(frozen=True)
class Case:
    """A cell in which all stations download over NewReno."""

    standard: str
    stations: int
    #: Simulated seconds per CPU second that a run must reach on the reference machine.
    wanted: float
    simulated_s: float

    @property
    def name(self) -> str:
        return f"802.{self.standard}, {self.stations} stations"

    def scenario(self) -> sm.Scenario:
        return sm.Scenario(
            standard=self.standard,
            stations=self.stations,
            duration_s=self.simulated_s,
            warmup_s=1.0,
            ap={"queue": {"drop_tail": {"limit_packets": 100}}},
            wire={"rate_mbps": 1000.0, "delay_ms": 2.0},
            flows=[{"from": "server", "to": "sta*", "tcp": {"window_bytes": 65_535}}],
        )


CASES = (
    Case("11b", 10, 600, 400.0),
    Case("11b", 50, 500, 400.0),
    Case("11g", 10, 150, 100.0),
    Case("11g", 50, 130, 100.0),
)


@dataclass(frozen=True)
class Cost:
    """The cost of a case."""

    speed: float
    per_segment_us: float
    events_per_s: float


def figure(run: sm.Run, path: str) -> float:
    """Return a value that every run has."""
    value = run.summary[path]
    assert isinstance(value, (int, float))
    return value


def measure(case: Case, repetitions: int) -> Cost:
    """Run a case several times; return medians."""
    scenario = case.scenario()
    speeds, per_segment, rates = [], [], []
    for seed in range(1, repetitions + 1):
        begin = time.process_time()
        run = sm.run(scenario, seed=seed)
        cpu_s = time.process_time() - begin
        goodput_bps = figure(run, "total.goodput_mbps") * 1e6
        segments = goodput_bps * case.simulated_s / 8 / 1448
        speeds.append(case.simulated_s / cpu_s)
        per_segment.append(cpu_s / segments * 1e6)
        rates.append(figure(run, "run.events") / cpu_s)
    return Cost(*(statistics.median(values) for values in (speeds, per_segment, rates)))


def peer(case: Case, program: str, simulated_s: float) -> float | None:
    """Simulated seconds per CPU second of another simulator; None if it is not installed."""
    script = PEERS / f"speed_{program}.sh"
    # Fails if the simulator is not installed; compilation is not measured.
    build = ["bash", str(script), "build"]
    if subprocess.run(build, capture_output=True, check=False).returncode != 0:
        return None
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    command = ["bash", str(script), case.standard, str(case.stations), str(simulated_s)]
    if subprocess.run(command, capture_output=True, check=False).returncode != 0:
        return None
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu_s = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return simulated_s / cpu_s


def ten_cells(repetitions: int) -> float:
    """Median of the simulated seconds per CPU second of ten cells with radios."""
    scenario = sm.Scenario.load(ROOT / "benches" / "ten_cells.toml")
    simulated_s = float(scenario.get("duration_s"))
    speeds = []
    for seed in range(1, repetitions + 1):
        begin = time.process_time()
        sm.run(scenario, seed=seed)
        speeds.append(simulated_s / (time.process_time() - begin))
    return statistics.median(speeds)


def shown(value: float | None) -> str:
    return "-" if value is None else f"{value:.3g}"


def main() -> None:
    """Measure and print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repetitions", type=int, default=5)
    arguments = parser.parse_args()
    versions = f"Python {platform.python_version()}, Simoom {version('simoom')}"
    print(f"{platform.machine()}, {versions};")
    print(f"median of {arguments.repetitions} runs, process CPU time, one core.")
    print("ns-2, ns-3: one run each, where installed; else '-'.\n")
    header = ("simulated s per CPU s", "wanted", "us per segment", "M events/s", "ns-2", "ns-3")
    print(f"{'case':<22}" + "".join(f"{column:>23}" for column in header))
    costs = {}
    for case in CASES:
        cost = costs[case] = measure(case, arguments.repetitions)
        values = (
            shown(cost.speed),
            shown(case.wanted),
            f"{cost.per_segment_us:.2f}",
            f"{cost.events_per_s / 1e6:.2f}",
            shown(peer(case, "ns", 20.0) if case.standard == "11b" else None),
            shown(peer(case, "ns3", 2.0)),
        )
        print(f"{case.name:<22}" + "".join(f"{value:>23}" for value in values), flush=True)
    print()
    for standard in ("11b", "11g"):
        small, large = (c for case, c in costs.items() if case.standard == standard)
        ratio = large.per_segment_us / small.per_segment_us
        print(f"802.{standard}, from 10 to 50 stations: {ratio:.2f} times per segment (limit 1.5)")
    speed = ten_cells(arguments.repetitions)
    print(f"\nten cells of 20 stations, 802.11ac, one channel: {speed:.3g} (target 5)\n")
    city.main()
    print()
    multihop.main()
    print()
    tracing.main()


if __name__ == "__main__":
    main()
