"""Run SACK flows over a lossy link in ns-2.35 and store the results.

``python -m validation.peers.ns2_sack [--seeds 10]`` runs ``ns2_sack.tcl`` and writes
``data/ns2_sack.csv``. It needs ns-2; no test needs it.
"""

from __future__ import annotations

import argparse
import csv
import os
import subprocess
from concurrent.futures import ThreadPoolExecutor
from itertools import product
from pathlib import Path

from simoom.runs.runner import cores
from simoom.runs.stats import mean_ci
from validation.references import DATA

PROGRAM = Path(__file__).with_name("ns2_sack.tcl")
COLUMNS = (
    *("model", "flows", "burst", "rtt_ms", "loss", "runs"),
    *("goodput_mbps", "goodput_mbps_ci95", "switched_mbps", "switched_mbps_ci95"),
)
LONG_S, SHORT_S = 820, 220
"""Length of a run: of a single flow over a long path, and of all others."""


def settings() -> list[tuple[str, int, float, int, float]]:
    """Model, flows, length of a bad period in packets or ms, round-trip time in ms, loss."""
    single = (0.0, 0.001, 0.003, 0.01, 0.02, 0.03, 0.05, 0.1)
    bursts = (0.01, 0.02, 0.05, 0.1)
    found = [("uniform", 1, 0.0, rtt, loss) for rtt, loss in product((10, 200), single)]
    found += [("gilbertpkt", 10, 4.0, rtt, loss) for rtt, loss in product((10, 200), bursts)]
    found += [("gilberttime", 10, 5.0, rtt, loss) for rtt, loss in product((10, 200), bursts)]
    return found


def run(setting: tuple[str, int, float, int, float], seed: int, switched: bool) -> float:
    """The goodput of a run."""
    model, flows, burst, rtt, loss = setting
    options = {
        "model": model,
        "flows": flows,
        "burst": burst / 1000 if model == "gilberttime" else burst,
        "rtt": rtt / 1000,
        "loss": loss,
        "seed": seed,
        "switched": int(switched),
        "duration": LONG_S if flows == 1 and rtt > 100 else SHORT_S,
    }
    words = [str(word) for option in options.items() for word in option]
    done = subprocess.run(["ns", str(PROGRAM), *words], capture_output=True, text=True, check=True)
    return float(done.stdout.split()[-1])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, default=10)
    seeds = range(1, parser.parse_args().seeds + 1)
    os.nice(5)
    with ThreadPoolExecutor(cores()) as pool:
        jobs = {
            setting: [
                [pool.submit(run, setting, seed, switched) for seed in seeds]
                for switched in (False, True)
            ]
            for setting in settings()
        }
        with (DATA / "ns2_sack.csv").open("w", encoding="utf-8", newline="") as file:
            writer = csv.writer(file, lineterminator="\n")
            writer.writerow(COLUMNS)
            for setting, both in jobs.items():
                row: list[object] = [*setting, len(seeds)]
                for runs in both:
                    goodput = mean_ci([one.result() for one in runs])
                    row += [f"{goodput.mean:.5g}", f"{goodput.half_width:.3g}"]
                writer.writerow(row)
                print(*row, sep="\t", flush=True)


if __name__ == "__main__":
    main()
