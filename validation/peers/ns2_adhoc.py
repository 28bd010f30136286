"""Run chains and mobile nodes with DSR in ns-2.35 and store the results.

``python -m validation.peers.ns2_adhoc [--seeds 5] [--only chains]`` runs ``ns2_adhoc.tcl`` for the
settings of which ``data/ns2_adhoc.csv`` has fewer runs: goodput, hops of delivered data packets,
and DSR's packets and bytes. It needs ns-2; no test needs it. The movement files of
``data/movement`` are from Debian's ``setdest -v 1 -n 50 -p 2 -M 10 -t 200 -x 1000 -y 1000``, the
flows beside them by :func:`random_flows`.
"""

from __future__ import annotations

import argparse
import csv
import os
import random
import subprocess
from collections import Counter
from collections.abc import Iterable
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from itertools import product
from pathlib import Path

from simoom.runs.runner import cores
from simoom.runs.stats import mean_ci
from validation.references import DATA

PROGRAM = Path(__file__).with_name("ns2_adhoc.tcl")
MOVEMENT = DATA / "movement"
OUTPUT = DATA / "ns2_adhoc.csv"
COLUMNS = ("goodput_mbps", "hops", "routing_packets_s", "routing_kbps", "loss_end_to_end")
CHAIN_S, MOBILE_S = (10, 160), (10, 200)
"""When a run is measured."""


@dataclass(frozen=True)
class Setting:
    """A chain of so many hops, or a movement file and so many flows."""

    movement: str
    hops: int
    flows: int
    alpha: float

    @property
    def nodes(self) -> int:
        """How many nodes there are."""
        return 50 if self.movement else self.hops + 1

    @property
    def window(self) -> tuple[int, int]:
        """The interval of measurement, seconds."""
        return MOBILE_S if self.movement else CHAIN_S

    @classmethod
    def of(cls, row: dict[str, str]) -> Setting:
        """Return what a row of the table is about."""
        hops, flows = int(row["hops_of_chain"]), int(row["flows"])
        return cls(row["movement"], hops, flows, float(row["alpha"]))

    def row(self, found: list[dict[str, float]]) -> dict[str, str]:
        """Return the row of the table with the results of runs."""
        about = (self.movement, self.hops, self.flows, self.alpha, len(found))
        names = ("movement", "hops_of_chain", "flows", "alpha", "runs")
        row = dict(zip(names, map(str, about), strict=True))
        for column in COLUMNS:
            mean = mean_ci([each[column] for each in found])
            row[column] = f"{mean.mean:.5g}"
            row[f"{column}_ci95"] = f"{mean.half_width:.5g}"
        return row

    def ends(self) -> list[tuple[int, int, float]]:
        """Source, destination and start of each flow."""
        if not self.movement:
            return [(0, self.hops, 1.0)]
        with (MOVEMENT / f"{self.movement}_flows.csv").open(encoding="utf-8", newline="") as file:
            rows = list(csv.DictReader(file))
        return [
            (int(row["source"]), int(row["destination"]), float(row["start_s"]))
            for row in rows[: self.flows]
        ]


def settings() -> list[Setting]:
    """Chains of 1 to 10 hops, and each movement file with 10 and 50 flows."""
    alphas = (1.0, 0.01)
    found = [Setting("", hops, 1, alpha) for hops, alpha in product(range(1, 11), alphas)]
    files = sorted(path.stem for path in MOVEMENT.glob("*.tcl"))
    found += [Setting(*each) for each in product(files, (0,), (10, 50), alphas)]
    return found


def random_flows(seed: int, count: int = 50, nodes: int = 50) -> list[tuple[int, int, float]]:
    """Flow f from node f to another node, with a start between 1 and 6 s."""
    draw = random.Random(seed)
    others = [draw.choice([to for to in range(nodes) if to != f % nodes]) for f in range(count)]
    return [(f % nodes, to, round(draw.uniform(1, 6), 6)) for f, to in enumerate(others)]


def measure(lines: Iterable[str], begin: float, end: float) -> dict[str, float]:
    """Hops, overhead and loss of the trace's packets between two instants.

    A packet of DSR counts each time that a node's routing layer sends or forwards it.
    """
    sent, routing, size, forwards, hops, arrived = 0, 0, 0, Counter[str](), 0, 0
    for line in lines:
        word = line.split(" ", 10)
        if len(word) < 9 or word[0] not in "srf":
            continue
        event, at, layer, number, kind = word[0], float(word[1]), word[3], word[6], word[7]
        if event == "f" and kind == "tcp":
            forwards[number] += 1
        if not begin <= at < end:
            continue
        if layer == "RTR" and kind == "DSR" and event in "sf":
            routing += 1
            size += int(word[8])
        elif layer == "AGT" and kind == "tcp" and event == "s":
            sent += 1
        elif layer == "AGT" and kind == "tcp" and event == "r":
            arrived += 1
            hops += forwards.pop(number, 0) + 1
    return {
        "hops": hops / max(arrived, 1),
        "routing_packets_s": routing / (end - begin),
        "routing_kbps": size * 8 / 1000 / (end - begin),
        "loss_end_to_end": 1 - arrived / max(sent, 1),
    }


def run(setting: Setting, seed: int) -> dict[str, float] | None:
    """The results of a run; none if ns-2 crashes, as with one seed in a hundred."""
    begin, end = setting.window
    flows = " ".join(f"{source}:{to}:{start}" for source, to, start in setting.ends())
    movement = str(MOVEMENT / f"{setting.movement}.tcl") if setting.movement else ""
    read, write = os.pipe()
    options = {
        "nodes": setting.nodes,
        "movement": movement,
        "flows": flows,
        "alpha": setting.alpha,
        "seed": seed,
        "begin": begin,
        "end": end,
        "trace": f"/dev/fd/{write}",
    }
    words = [str(word) for option in options.items() for word in option]
    command = ["ns", str(PROGRAM), *words]
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, pass_fds=[write]
    ) as process:
        os.close(write)
        with os.fdopen(read, encoding="ascii", errors="replace") as lines:
            found = measure(lines, begin, end)
        assert process.stdout is not None
        goodputs = [line.split() for line in process.stdout if line.startswith("goodput_bps")]
    if process.returncode != 0 or len(goodputs) != setting.flows:
        return None
    found["goodput_mbps"] = sum(float(each[1]) for each in goodputs) / 1e6
    return found


def write(table: dict[Setting, dict[str, str]]) -> None:
    """Write the table in the order of the settings."""
    with OUTPUT.open("w", encoding="utf-8", newline="") as file:
        rows = [table[each] for each in settings() if each in table]
        writer = csv.DictWriter(file, rows[0], lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--only", choices=("chains", "mobile"))
    arguments = parser.parse_args()
    wanted = arguments.seeds
    with OUTPUT.open(encoding="utf-8", newline="") as file:
        reader = csv.DictReader(file)
        table = {Setting.of(row): row for row in reader}
    missing = [
        each
        for each in settings()
        if int(table.get(each, {"runs": "0"})["runs"]) < wanted
        and arguments.only in (None, "mobile" if each.movement else "chains")
    ]
    os.nice(5)
    with ProcessPoolExecutor(cores()) as pool:
        # A seed with which ns-2 crashes gives way to the next.
        seeds = range(1, wanted + 3)
        jobs = {each: [pool.submit(run, each, seed) for seed in seeds] for each in missing}
        for setting, runs in jobs.items():
            found = [each for each in (job.result() for job in runs) if each][:wanted]
            table[setting] = setting.row(found)
            write(table)


if __name__ == "__main__":
    main()
