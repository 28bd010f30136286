"""Instruction counts of fixed runs, compared with a record.

Times on a shared machine are noisy; the number of instructions of a deterministic run is not.
`python benches/instructions.py` counts instructions with callgrind and fails if a run needs 1 %
more than recorded: the runs have none of the features that are optional, which must not cost those
who do not use them. `--limit` sets another limit. To accept a growth, add a line that is marked
SPEED and names the run to "Unreleased" in CHANGELOG.md, and run with `--record`.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
RECORD = ROOT / "benches" / "instructions.json"
RUNS: dict[str, tuple[str, ...]] = {
    "cell_11b_10": ("benches/cell_11b_10.toml",),
    "cell_11g_50": ("benches/cell_11g_50.toml",),
    "web_11b_20": ("benches/web_11b_20.toml",),
    "cell_11ax_10": ("benches/cell_11ax_10.toml",),
    "cell_11ax_mu_50": ("benches/cell_11ax_mu_50.toml", "duration_s=6"),
    "ten_cells": ("benches/ten_cells.toml", "duration_s=0.5", "warmup_s=0.1"),
    "dumbbell": ("scenarios/dumbbell.toml", "duration_s=60"),
}
"""The scenario of each run, with settings that make it take only seconds under callgrind."""
LIMIT = 1.0
"""The largest growth that is allowed, in per cent."""
DUPLEX_LIMIT = 1.3
"""The most instructions per delivered byte with full duplex, of those with half duplex."""
VOICE_LIMIT = 1.5
"""The most instructions of a download beside a voice link HV1, of those without the link."""
MAC80211_LIMIT = 1.25
"""The most instructions of a cell under `mac80211`, of those under `fq_codel`."""

MU_LIMIT = 1.3
"""The most instructions per delivered packet with OFDMA, of those without."""
SPACE_LIMIT = 2.1
"""The most instructions of a cell with a radio, of those without. The target is 2, which was met
until the cell without a radio became 12 % cheaper and the other 5 % (benches/README.md)."""


def build() -> Path:
    """Build the runner that needs no Python and return its path."""
    command = ["cargo", "build", "--release", "--locked", "--quiet", "-p", "simoom-sim"]
    subprocess.run([*command, "--example", "run"], cwd=ROOT, check=True)
    target = Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target"))
    return target / "release" / "examples" / "run"


def count(runner: Path, name: str) -> int:
    """Instructions of one run, as callgrind counts them."""
    scenario, *sets = RUNS[name]
    return count_run(runner, ROOT / scenario, *sets)[0]


def count_run(runner: Path, scenario: Path, *sets: str, seed: int = 1) -> tuple[int, str]:
    """Instructions of a run of any scenario, and its output."""
    with tempfile.TemporaryDirectory() as scratch:
        command = ["valgrind", "--tool=callgrind", f"--callgrind-out-file={scratch}/out"]
        done = subprocess.run(
            [*command, str(runner), str(scenario), str(seed), *sets],
            capture_output=True,
            text=True,
            check=True,
        )
    found = re.search(r"Collected : (\d+)", done.stderr)
    if found is None:
        raise RuntimeError(f"callgrind printed no count:\n{done.stderr}")
    return int(found[1]), done.stdout


def count_text(runner: Path, text: str, *sets: str) -> tuple[int, str]:
    """Instructions of a run of a scenario in TOML, and its output."""
    with tempfile.TemporaryDirectory() as scratch:
        scenario = Path(scratch) / "scenario.toml"
        scenario.write_text(text, encoding="utf-8")
        return count_run(runner, scenario, *sets)


def with_and_without(name: str, table: str) -> tuple[str, str]:
    """The text of a shipped scenario, and the same without a table."""
    text = (ROOT / "scenarios" / f"{name}.toml").read_text(encoding="utf-8")
    lines = re.compile(rf"^{re.escape(table)}\n(?:\w.*\n)*", re.MULTILINE)
    without, number = lines.subn("", text)
    if number != 1:
        raise RuntimeError(f"{name}.toml has {number} tables {table}")
    return text, without


def duplex_cost(runner: Path) -> float:
    """Instructions per delivered byte with a full-duplex access point, of those with half duplex.

    Both cells are that of `scenarios/full_duplex.toml`, with 80 stations.
    """
    costs = []
    for cell in with_and_without("full_duplex", "[wlan.full_duplex]"):
        counted, output = count_text(runner, cell, "duration_s=5", "warmup_s=0")
        goodput = re.search(r"total\.goodput_mbps = Number\((\S+)\)", output)
        if goodput is None:
            raise RuntimeError(f"the runner printed no goodput:\n{output}")
        costs.append(counted / float(goodput[1]))
    return costs[0] / costs[1]


def voice_cost(runner: Path) -> float:
    """Instructions of `scenarios/bluetooth.toml` beside HV1, of those without the link."""
    text, alone = with_and_without("bluetooth", "[[interferers]]")
    seconds = ("duration_s=10", "warmup_s=0")
    hv1 = 'interferers[0].source.sco.format="HV1"'
    return count_text(runner, text, *seconds, hv1)[0] / count_text(runner, alone, *seconds)[0]


def mac80211_cost(runner: Path) -> float:
    """Instructions of ten downloads in 802.11g under `mac80211`, of those under `fq_codel`.

    The larger of two ratios: that of TCP, and that of UDP beyond the capacity, whose packets pass a
    driver's FIFO under airtime queue limits.
    """
    tcp = ("duration_s=5", "warmup_s=1", "stations=10")
    datagrams = ("flows[0].traffic.cbr.rate_mbps=6", "flows[*].start_spread_s=0")
    udp = (*tcp, *datagrams, "ap.ring_packets=1000")
    text = (ROOT / "benches" / "cell_11g_50.toml").read_text(encoding="utf-8")
    no_tcp = text.replace("tcp.window_bytes = 65535\n", "")

    def cost(cell: str, sets: tuple[str, ...], mac80211: str) -> float:
        queues = (mac80211, "ap.queue=fq_codel")
        linux, plain = (count_text(runner, cell, *sets, queue)[0] for queue in queues)
        return linux / plain

    return max(
        cost(text, tcp, "ap.queue=mac80211"),
        cost(no_tcp, udp, "ap.queue.mac80211.aql={}"),
    )


def space_costs(runner: Path) -> dict[str, float]:
    """Instructions of cells in space whose nodes all hear each other, of those of the fast cell.

    The stations stand 5 m around the access point. They download in 802.11b and g, 10 and 50.
    """
    text = (ROOT / "benches" / "cell_11g_50.toml").read_text(encoding="utf-8")
    seconds = {"11b": ("duration_s=20", "warmup_s=1"), "11g": ("duration_s=5", "warmup_s=1")}

    def cost(standard: str, stations: int) -> float:
        cell = text.replace('standard = "11g"', f'standard = "{standard}"')
        cell = cell.replace("stations = 50\n", f"stations = {stations}\n")
        space = cell.replace(f"stations = {stations}\n", "")
        space = space.replace("[ap]\n", "[radio]\n\n[ap]\nposition_m = [0.0, 0.0]\n")
        space += f"\n[[stations]]\ncount = {stations}\nring_m = 5.0\n"
        sets = seconds[standard]
        return count_text(runner, space, *sets)[0] / count_text(runner, cell, *sets)[0]

    return {f"{name}, {n} stations": cost(name, n) for name in seconds for n in (10, 50)}


def mu_costs(runner: Path) -> dict[str, float]:
    """Instructions per delivered packet with OFDMA, of those without, in saturated cells.

    802.11ax at 20 MHz, MCS 7, 10 and 50 stations: downlink, with two schedulers, and both ways with
    Trigger frames.
    """
    flow = '[[flows]]\nfrom = "{}"\nto = "{}"\ntraffic.saturated.payload_bytes = 1472\n'
    down, up = flow.format("ap", "sta*"), flow.format("sta*", "ap")
    cells = {
        "down": (down, ""),
        "down by backlog": (down, "scheduler.backlog = {}\n"),
        "both": (down + up, "[wlan.mu.uplink]\n"),
    }

    def per_packet(stations: int, mu: str, flows: str) -> float:
        head = 'standard = "11ax"\nduration_s = 3.0\nwarmup_s = 0.0\n'
        wlan = f"[wlan]\nwidth_mhz = 20\nmcs = 7\n{mu}[stations]\ncount = {stations}\n"
        queue = "[ap]\nqueue.drop_tail.limit_packets = 50000\n"
        runs = (f"duration_s={seconds}" for seconds in (1, 3))
        found = [count_text(runner, head + wlan + queue + flows, run) for run in runs]
        sent = []
        for (_, output), seconds in zip(found, (1, 3), strict=True):
            goodput = re.search(r"total\.goodput_mbps = Number\((\S+)\)", output)
            if goodput is None:
                raise RuntimeError(f"the runner printed no goodput:\n{output}")
            sent.append(float(goodput[1]) * seconds)
        return (found[1][0] - found[0][0]) / (sent[1] - sent[0])

    def cost(name: str, stations: int) -> float:
        flows, more = cells[name]
        mu = f"[wlan.mu]\nmax_users = 9\n{more}"
        return per_packet(stations, mu, flows) / per_packet(stations, "", flows)

    return {f"{name}, {n} stations": cost(name, n) for name in cells for n in (10, 50)}


def is_explained(name: str) -> bool:
    """Whether CHANGELOG.md's unreleased part has a SPEED line that names this run."""
    text = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    unreleased = re.split(r"^## ", text, flags=re.MULTILINE)[1]
    return any("SPEED" in line and name in line for line in unreleased.splitlines())


def exceeding(counts: dict[str, int], record: dict[str, int], limit: float = LIMIT) -> list[str]:
    """Name the runs that have grown by more than the limit, in per cent."""
    # A new run has no record.
    known = [name for name in counts if name in record]
    return [name for name in known if counts[name] > (1 + limit / 100) * record[name]]


def compare(counts: dict[str, int], record: dict[str, int], limit: float = LIMIT) -> list[str]:
    """Return messages about the runs that exceed the limit."""
    return [
        f"{name}: {counts[name]:,} instructions, {counts[name] / record[name] - 1:+.1%} against "
        f"the record of {record[name]:,}; the limit is {limit:g} %. Make it faster, or add "
        f"a SPEED line that names {name} to CHANGELOG.md and run benches/instructions.py --record"
        for name in exceeding(counts, record, limit)
    ]


def main() -> int:
    """Count, print and compare."""
    parser = argparse.ArgumentParser(description="Count the instructions of the fixed runs.")
    parser.add_argument("--record", action="store_true", help="store these counts as the record")
    parser.add_argument("--limit", type=float, default=LIMIT, help="growth allowed, in per cent")
    options = parser.parse_args()
    if shutil.which("valgrind") is None:
        print("instructions: valgrind is not installed, so nothing is counted")
        return 1 if os.environ.get("CI") else 0
    runner = build()
    counts = {name: count(runner, name) for name in RUNS}
    record = json.loads(RECORD.read_text(encoding="utf-8")) if RECORD.exists() else {}
    for name, instructions in counts.items():
        change = f"{instructions / record[name] - 1:+.2%}" if name in record else "new"
        print(f"{name:<14} {instructions:>15,} instructions  {change} from the record")
    duplex = duplex_cost(runner)
    print(f"full duplex    {duplex:.2f} of half duplex per byte; the limit is {DUPLEX_LIMIT:g}")
    voice = voice_cost(runner)
    print(f"beside HV1     {voice:.2f} of the run without it; the limit is {VOICE_LIMIT:g}")
    mac80211 = mac80211_cost(runner)
    print(f"mac80211       {mac80211:.2f} of fq_codel; the limit is {MAC80211_LIMIT:g}")
    spaces = space_costs(runner)
    for name, space in spaces.items():
        print(f"space          {space:.2f} of the cell: {name}; the limit is {SPACE_LIMIT:g}")
    multi_user = mu_costs(runner)
    for name, mu in multi_user.items():
        print(f"OFDMA          {mu:.2f} of single users: {name}; the limit is {MU_LIMIT:g}")
    if options.record:
        unexplained = [name for name in exceeding(counts, record) if not is_explained(name)]
        if unexplained:
            print(f"not recorded: CHANGELOG.md has no SPEED line for {', '.join(unexplained)}")
            return 1
        RECORD.write_text(json.dumps(counts, indent=2) + "\n", encoding="utf-8")
        return 0
    faults = compare(counts, record, options.limit)
    if duplex > DUPLEX_LIMIT:
        faults.append(f"full duplex costs {duplex:.2f} of half duplex; the limit is {DUPLEX_LIMIT}")
    if voice > VOICE_LIMIT:
        faults.append(f"HV1 costs {voice:.2f} of the run without it; the limit is {VOICE_LIMIT}")
    if mac80211 > MAC80211_LIMIT:
        faults.append(f"mac80211 costs {mac80211:.2f} of fq_codel; the limit is {MAC80211_LIMIT}")
    for name, space in spaces.items():
        if space > SPACE_LIMIT:
            faults.append(f"space costs {space:.2f} of the cell, {name}; limit {SPACE_LIMIT}")
    for name, mu in multi_user.items():
        if mu > MU_LIMIT:
            faults.append(f"OFDMA costs {mu:.2f} of single users, {name}; limit {MU_LIMIT:g}")
    for fault in faults:
        print(fault)
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
