"""The campaign.

    python -m campaign --minutes 30                     each part for so many minutes
    python -m campaign --scenarios 50000 --mutated 100000 --laws 500 --requests 5000
    python -m campaign --try scenario 4711              one trial again

`make campaign` builds a simulator with overflow checks and debug assertions, and runs it.
"""

from __future__ import annotations

import argparse
import itertools
import json
import re
import signal
import sys
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from campaign import inputs, interrupts
from campaign.minimise import minimised
from campaign.pool import Worker, carry_out, try_one

ROOT = Path(__file__).parents[1]
CORE = ROOT / "target" / "campaign" / "lib_core.so"
FINDINGS = ROOT / "build" / "campaign" / "findings.txt"
MINIMISING_S = 120.0
"""How long the smallest scenario is looked for; it is looked for once for each cause."""


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


def alike(found: str) -> str:
    """Return what findings of one cause have in common: the text without its numbers."""
    return re.sub(r"[\d.e+-]+", "#", found)[:60]


def tell(request: dict[str, Any], found: str) -> None:
    """Print a finding and write it to the file of findings."""
    write(f"--- {request['kind']} {request['number']}: {found}")


def tell_smallest(request: dict[str, Any], found: str, worker: Worker) -> None:
    """Print the smallest scenario with a finding, as far as it is found in the time."""
    end = time.monotonic() + MINIMISING_S

    def fails(smaller: dict[str, Any]) -> bool:
        if time.monotonic() > end:
            return False
        return alike(try_one({"kind": request["kind"], "input": smaller}, worker)) == alike(found)

    made = minimised(inputs.scenario(request["number"]), fails)
    write(f"--- smallest of {request['number']}: {json.dumps(made)}")


def write(text: str) -> None:
    """Print a text and write it to the file of findings."""
    print(text, flush=True)
    with FINDINGS.open("a", encoding="utf-8") as file:
        file.write(text + "\n")


def total(findings: dict[str, list[Any]]) -> int:
    """Return the number of findings of all causes."""
    return sum(map(len, findings.values()))


def trials(kind: str, numbers: Iterator[int], end: float, workers: list[Worker]) -> tuple[int, int]:
    """Carry out trials until the numbers or the time ends; return how many, and the findings."""
    due = itertools.takewhile(lambda _: time.monotonic() < end, numbers)
    count = 0
    for worker in workers:
        worker.outcomes.clear()
    findings: dict[str, list[tuple[dict[str, Any], str]]] = {}
    begun = told = time.monotonic()
    for request, found in carry_out(({"kind": kind, "number": n} for n in due), workers):
        count += 1
        if found:
            tell(request, found)
            findings.setdefault(alike(found), []).append((request, found))
        if time.monotonic() - told > 60:
            told = time.monotonic()
            print(f"{kind}: {count} in {told - begun:.0f} s, {total(findings)} found", flush=True)
    print(f"{kind}: {count} tried, {total(findings)} findings", flush=True)
    ENDS[kind] = sum((worker.outcomes for worker in workers), Counter())
    for first, *_ in findings.values() if kind in ("scenario", "law") else ():
        tell_smallest(*first, workers[0])
    return count, total(findings)


ENDS: dict[str, Counter[str]] = {}
"""How the trials of each part ended: class and outcome."""


def table() -> Iterator[str]:
    """Yield, for each part and class of input, how many trials ran and how many were refused."""
    for kind, ends in ENDS.items():
        classes = sorted({name.rpartition(" ")[0] for name in ends})
        for name in (*classes, ""):
            ran, cut, refused = (
                sum(n for each, n in ends.items() if each.endswith(f"{name} {outcome}"))
                for outcome in ("ran", "cut", "refused")
            )
            share = 100 * (ran + cut) / max(1, ran + cut + refused)
            yield (f"{kind:10} {name or 'all':12} {ran:8,} ran {cut:6,} cut {refused:8,} refused "
                   f"{share:6.1f} % ran")  # fmt: skip


def descriptors(count: int, path: str) -> int:
    """Run commands whose descriptors are closed; return the findings."""
    findings = 0
    for number in range(count):
        if found := interrupts.closed(number, path):
            findings += 1
            print(f"--- closed descriptors {number}: {found}", flush=True)
    print(f"closed descriptors: {count} tried, {findings} findings", flush=True)
    return findings


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
                        ("interrupts", 40), ("stores", 20), ("requests", 5000),
                        ("descriptors", 40)):  # fmt: skip
        options.add_argument(f"--{part}", type=int, default=count, metavar="N")
    options.add_argument("--first", type=int, default=0, metavar="N", help="the first number")
    options.add_argument("--step", type=int, default=1, metavar="N", help="between two numbers")
    options.add_argument("--processes", type=int, default=2, metavar="N")
    options.add_argument("--try", dest="one", nargs=2, metavar=("KIND", "NUMBER"))
    chosen = options.parse_args()
    if not CORE.exists():
        print("the simulator of the campaign is missing: make campaign", file=sys.stderr)
        return 2
    # A shell has background commands ignore SIGINT, and what they start inherits that.
    signal.signal(signal.SIGINT, signal.default_int_handler)
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
        counts = {"mutated": chosen.mutated, "law": chosen.laws, "request": chosen.requests,
                  "scenario": chosen.scenarios}  # fmt: skip
        for kind, count in counts.items():
            numbers = itertools.islice(itertools.count(chosen.first, chosen.step), count)
            end = time.monotonic() + 60 * chosen.minutes
            findings += trials(kind, numbers, end, workers)[1]
    finally:
        for worker in workers:
            worker.close()
    findings += interrupted(chosen.interrupts, time.monotonic() + 60 * chosen.minutes, path)
    findings += stores(chosen.stores, time.monotonic() + 60 * chosen.minutes, path)
    findings += descriptors(chosen.descriptors, path)
    for line in table():
        print(line, flush=True)
    print(f"{findings} findings", flush=True)
    return bool(findings)


if __name__ == "__main__":
    sys.exit(main())
