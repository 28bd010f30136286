"""Run uplinks with Basic Trigger frames in ns-3.37, and print the rows of ``ns3_uplink.csv``.

``python -m validation.peers.ns3_uplink_runs [--seeds 5]`` compiles ``ns3_uplink.cc``. It needs
ns-3.37 with its headers; no test needs it.
"""

from __future__ import annotations

import argparse
import subprocess

from simoom.runs.stats import mean_ci
from validation.peers.ns3_runs import HERE, MODULES, PROGRAM

UPLINK = PROGRAM.with_name("ns3_uplink")


def build() -> None:
    """Compile the program."""
    UPLINK.parent.mkdir(parents=True, exist_ok=True)
    libraries = [f"-lns3-{module}" for module in (*MODULES, "spectrum", "antenna")]
    source = str(HERE / "ns3_uplink.cc")
    command = ["g++", "-O2", "-std=c++17", "-w", "-o", str(UPLINK), source, *libraries]
    subprocess.run(command, check=True)


def row(stations: int, seeds: int) -> str:
    """The goodput with its interval, and the TXOPs of access point and stations in all runs."""
    found = []
    for seed in range(1, seeds + 1):
        command = [str(UPLINK), f"--stations={stations}", f"--RngRun={seed}"]
        done = subprocess.run(command, capture_output=True, text=True, check=True)
        found.append([float(text) for text in done.stdout.split()])
    goodput = mean_ci([run[0] for run in found])
    point, others = (sum(int(run[n]) for run in found) for n in (1, 2))
    value = f"{goodput.mean:.3f},{goodput.half_width:.3f}"
    return f"ns-3.37,basic,{stations},{value},{point},{others}"


def main() -> None:
    """Print the rows."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, default=5)
    seeds = parser.parse_args().seeds
    build()
    for stations in (4, 8):
        print(row(stations, seeds))


if __name__ == "__main__":
    main()
