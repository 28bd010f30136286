"""The campaign.

    python -m campaign --minutes 30                     each part for so many minutes
    python -m campaign --scenarios 20000 --mutated 100000 --laws 500 --interrupts 20 --stores 20
    python -m campaign --try scenario 4711              one trial again

`make campaign` builds a simulator with overflow checks and debug assertions, and runs it.
"""

from __future__ import annotations

import argparse
import itertools
import json
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from campaign import inputs, interrupts
from campaign.minimise import minimised
from campaign.pool import Worker, carry_out, try_one

ROOT = Path(__file__).parents[1]
CORE = ROOT / "target" / "campaign" / "lib_core.so"
FINDINGS = ROOT / "build" / "campaign" / "findings.txt"
KINDS = ("scenario", "mutated", "law")


def package() -> str:
    """Make a package of this source with the simulator of the campaign; return its folder."""
    there = ROOT / "build" / "campaign" / "path"
    own = there / "simoom"
    own.mkdir(parents=True, exist_ok=True)
    for old in own.iterdir():
        old.unlink()
    for each in (ROOT / "python" / "simoom").iterdir():
        if each.suffix != ".so" and each.name != "__pycache__":
            (own / each.name).symlink_to(each)
    (own / "_core.abi3.so").symlink_to(CORE)
    return str(there)


def tell(kind: str, request: dict[str, Any], found: str, worker: Worker) -> None:
    """Print a finding and write it to the file of findings, with its smallest scenario."""
    lines = [f"--- {kind} {request.get('number')}: {found}"]
    if kind in ("scenario", "law"):
        made = inputs.scenario(request["number"])
        same = found[:30]

        def fails(smaller: dict[str, Any]) -> bool:
            return try_one({"kind": kind, "input": smaller}, worker)[:30] == same

        lines.append(json.dumps(minimised(made, fails), indent=1))
    print("\n".join(lines), flush=True)
    with FINDINGS.open("a", encoding="utf-8") as file:
        file.write("\n".join(lines) + "\n")


def trials(kind: str, numbers: Iterator[int], end: float, workers: list[Worker]) -> tuple[int, int]:
    """Carry out trials until the numbers or the time ends; return how many, and the findings."""
    due = itertools.takewhile(lambda _: time.monotonic() < end, numbers)
    count = findings = 0
    begun = told = time.monotonic()
    for request, found in carry_out(({"kind": kind, "number": n} for n in due), workers):
        count += 1
        if found:
            findings += 1
            tell(kind, request, found, workers[0])
        if time.monotonic() - told > 60:
            told = time.monotonic()
            print(f"{kind}: {count} in {told - begun:.0f} s, {findings} findings", flush=True)
    print(f"{kind}: {count} tried, {findings} findings", flush=True)
    return count, findings


def interrupted(count: int, end: float, path: str) -> int:
    """Interrupt each command; return the findings."""
    findings, slowest = 0, 0.0
    names = itertools.islice(itertools.cycle(interrupts.COMMANDS), count)
    tried = 0
    for number, name in enumerate(names):
        if time.monotonic() > end:
            break
        found, took = interrupts.ctrl_c(name, number, path)
        tried, slowest = tried + 1, max(slowest, took)
        if not found and took > interrupts.MOST_S:
            found = f"takes {took:.2f} s"
        if found:
            findings += 1
            print(f"--- Ctrl-C in {name}, {number}: {found}", flush=True)
    print(f"Ctrl-C: {tried} tried, {findings} findings, slowest {slowest:.2f} s", flush=True)
    return findings


def stores(count: int, end: float, path: str) -> int:
    """Damage stores; return the findings."""
    findings = tried = 0
    for number in range(count):
        if time.monotonic() > end:
            break
        tried += 1
        if found := interrupts.store(number, path):
            findings += 1
            print(f"--- store {number}: {found}", flush=True)
    print(f"stores: {tried} tried, {findings} findings", flush=True)
    return findings


def main() -> int:
    """Run the campaign; the exit code is 1 if it finds something."""
    options = argparse.ArgumentParser(prog="campaign")
    options.add_argument("--minutes", type=float, default=24 * 60.0, help="for each part")
    for part, count in (("scenarios", 20_000), ("mutated", 100_000), ("laws", 500),
                        ("interrupts", 40), ("stores", 20)):  # fmt: skip
        options.add_argument(f"--{part}", type=int, default=count, metavar="N")
    options.add_argument("--first", type=int, default=0, metavar="N", help="the first number")
    options.add_argument("--processes", type=int, default=2, metavar="N")
    options.add_argument("--try", dest="one", nargs=2, metavar=("KIND", "NUMBER"))
    chosen = options.parse_args()
    if not CORE.exists():
        print("the simulator of the campaign is missing: make campaign", file=sys.stderr)
        return 2
    path = package()
    FINDINGS.parent.mkdir(parents=True, exist_ok=True)
    workers = [Worker(path) for _ in range(chosen.processes)]
    try:
        if chosen.one:
            kind, number = chosen.one[0], int(chosen.one[1])
            found = try_one({"kind": kind, "number": number}, workers[0])
            print(found or "nothing found")
            return bool(found)
        findings = 0
        counts = {"mutated": chosen.mutated, "law": chosen.laws, "scenario": chosen.scenarios}
        for kind, count in counts.items():
            numbers = iter(range(chosen.first, chosen.first + count))
            end = time.monotonic() + 60 * chosen.minutes
            findings += trials(kind, numbers, end, workers)[1]
    finally:
        for worker in workers:
            worker.close()
    findings += interrupted(chosen.interrupts, time.monotonic() + 60 * chosen.minutes, path)
    findings += stores(chosen.stores, time.monotonic() + 60 * chosen.minutes, path)
    print(f"{findings} findings", flush=True)
    return bool(findings)


sys.exit(main())
