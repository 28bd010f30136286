"""Run the settings of `validation.ns3_cells` in ns-3.37 and store the results.

``python -m validation.peers.ns3_runs [--seeds 5] [TEXT]`` compiles ``ns3_cell.cc``, runs the
settings that have no results (or whose name contains TEXT, even if they have) and writes
``data/ns3_cells.csv``. It needs ns-3.37 with its headers; no test needs it.
"""

from __future__ import annotations

import argparse
import csv
import os
import subprocess
import sys
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from simoom.runs.runner import cores
from simoom.runs.stats import mean_ci
from validation.ns3_cells import parts, setups
from validation.ns3_setup import Setup
from validation.references import DATA

HERE = Path(__file__).parent
PROGRAM = HERE.parent.parent / "target" / "peers" / "ns3_cell"
RESULTS = DATA / "ns3_cells.csv"
COLUMNS = ("case", "quantity", "seeds", "value", "value_ci95")
MODULES = (
    "core",
    "network",
    "internet",
    "applications",
    "point-to-point",
    "mobility",
    "propagation",
    "wifi",
    "traffic-control",
)


def build() -> None:
    """Compile the program if its source is newer."""
    source = HERE / "ns3_cell.cc"
    if PROGRAM.exists() and PROGRAM.stat().st_mtime > source.stat().st_mtime:
        return
    PROGRAM.parent.mkdir(parents=True, exist_ok=True)
    libraries = [f"-lns3-{module}" for module in MODULES]
    command = ["g++", "-O2", "-std=c++17", "-o", str(PROGRAM), str(source), *libraries]
    subprocess.run(command, check=True)


def run(setup: Setup, seed: int) -> list[float] | None:
    """The goodput of each flow; None if ns-3 crashed."""
    command = [str(PROGRAM), f"--RngRun={seed}", *setup.command()]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0 or done.stderr:
        print(f"{setup.name}, seed {seed}: {done.returncode} {done.stderr}", file=sys.stderr)
        return None
    lines = [line.split() for line in done.stdout.splitlines()]
    return [float(value) for name, value in lines if name == "goodput_mbps"]


def rows(setup: Setup, goodputs: Iterable[list[float]]) -> list[dict[str, object]]:
    """The stored values of the runs of a setting."""
    found = list(goodputs)
    results = []
    everyone = tuple(range(len(setup.flows)))
    for name, flows in {"total": everyone, **parts(setup)}.items():
        value = mean_ci([sum(run[i] for i in flows) for run in found])
        results.append(
            {
                "case": setup.name,
                "quantity": name,
                "seeds": len(found),
                "value": f"{value.mean:.4f}",
                "value_ci95": f"{value.half_width:.4f}",
            }
        )
    return results


def write(results: dict[str, list[dict[str, object]]]) -> None:
    """Write all results in the order of the table."""
    with RESULTS.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, COLUMNS, lineterminator="\n")
        writer.writeheader()
        for setup in setups():
            writer.writerows(results.get(setup.name, []))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("text", nargs="?", help="run settings whose name contains this again")
    parser.add_argument("--seeds", type=int, default=5)
    arguments = parser.parse_args()
    build()
    os.nice(5)
    results: dict[str, list[dict[str, object]]] = {}
    if RESULTS.exists():
        with RESULTS.open(encoding="utf-8", newline="") as file:
            for row in csv.DictReader(file):
                results.setdefault(row["case"], []).append(dict(row))
    wanted = [
        setup
        for setup in setups()
        if (arguments.text in setup.name if arguments.text else setup.name not in results)
    ]
    with ThreadPoolExecutor(cores()) as pool:
        runs = {
            setup.name: [pool.submit(run, setup, seed + 1) for seed in range(arguments.seeds)]
            for setup in wanted
        }
        for setup in wanted:
            goodputs = [found for one in runs[setup.name] if (found := one.result()) is not None]
            results[setup.name] = rows(setup, goodputs)
            for row in results[setup.name]:
                print(*row.values(), sep="\t", flush=True)
            write(results)


if __name__ == "__main__":
    main()
