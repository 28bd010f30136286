"""Multi-hop networks with DSR: simulated seconds per CPU second, beside ns-2 in the same run.

The scenarios are those of the validation, with all options of ns-2: a chain of seven hops, and 50
nodes of a movement file with 30 flows. The time of ns-2 is that of its process without a trace,
that of Simoom is the CPU time of the run in Python. Both run in turn, each as often.
"""

from __future__ import annotations

import resource
import shutil
import statistics
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path

import simoom as sm

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from validation import chains, mobile  # noqa: E402  it is not installed
from validation.case import Option  # noqa: E402
from validation.peers.ns2_adhoc import MOVEMENT, PROGRAM, Setting  # noqa: E402


@dataclass(frozen=True)
class Case:
    """A network, and how many times faster than ns-2 it should run."""

    name: str
    setting: Setting
    simulated_s: float
    wanted: float

    def scenario(self) -> sm.Scenario:
        """The scenario with the options of ns-2."""
        setting = self.setting
        if setting.movement:
            network = mobile.network(setting.movement, setting.flows, setting.alpha)
            options: tuple[Option, ...] = mobile.OPTIONS
        else:
            network = chains.chain(setting.hops, chains.window(1000))
            network["routing"] = {"protocol": "dsr"}
            options = (*chains.OPTIONS, chains.PRESET)
        scenario = sm.Scenario(**{**network, "duration_s": self.simulated_s})
        for option in options:
            scenario = scenario.set(option.path, option.value)
        return scenario

    def command(self, seed: int) -> list[str]:
        """The command that runs it in ns-2."""
        setting = self.setting
        words = {
            "nodes": setting.nodes,
            "movement": str(MOVEMENT / f"{setting.movement}.tcl") if setting.movement else "",
            "flows": " ".join(f"{a}:{b}:{start}" for a, b, start in setting.ends()),
            "alpha": setting.alpha,
            "seed": seed,
            "begin": 10,
            "end": self.simulated_s,
            "trace": "",
        }
        return ["ns", str(PROGRAM), *(str(word) for pair in words.items() for word in pair)]


CASES = (
    Case("chain of 7 hops", Setting("", 7, 1, 1.0), 310.0, 4.5),
    Case("50 mobile nodes, 30 flows", Setting("waypoint_1", 0, 30, 1.0), 200.0, 9.0),
)


def own_s(scenario: sm.Scenario, seed: int) -> float:
    """The CPU time of a run in this process."""
    begin = time.process_time()
    sm.run(scenario, seed=seed)
    return time.process_time() - begin


def ns2_s(command: list[str]) -> float:
    """The CPU time of a run of ns-2."""

    def spent() -> float:
        usage = resource.getrusage(resource.RUSAGE_CHILDREN)
        return usage.ru_utime + usage.ru_stime

    begin = spent()
    subprocess.run(command, capture_output=True, check=True)
    return spent() - begin


def main(repetitions: int = 3) -> None:
    """Measure and print the table."""
    print("DSR as in ns-2, simulated s per CPU s, medians; ns-2 without a trace\n")
    columns = ("Simoom", "ns-2", "ratio", "wanted")
    print(f"{'network':<27}" + "".join(f"{column:>10}" for column in columns))
    has_ns2 = shutil.which("ns") is not None
    for case in CASES:
        scenario = case.scenario()
        own, other = [], []
        for seed in range(1, repetitions + 1):
            own.append(own_s(scenario, seed))
            if has_ns2:
                other.append(ns2_s(case.command(seed)))
        speed = case.simulated_s / statistics.median(own)
        ns2 = case.simulated_s / statistics.median(other) if other else None
        cells = (
            f"{speed:.0f}",
            "-" if ns2 is None else f"{ns2:.0f}",
            "-" if ns2 is None else f"{speed / ns2:.1f}",
            f"{case.wanted:g}",
        )
        print(f"{case.name:<27}" + "".join(f"{cell:>10}" for cell in cells), flush=True)


if __name__ == "__main__":
    main()
