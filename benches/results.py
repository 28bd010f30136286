"""Every result of many runs, compared with a record to the last bit.

    python benches/results.py                    compare this build with the record
    python benches/results.py --record           make this build's results the record
    python benches/results.py 'random/00*' dumbbell    some runs only

A change of the code's structure must not change results. The runs are all scenario files, the fixed
runs of instructions.py and the scenarios of random_scenarios.py. The results are the digest, every
value of the summary (the output of `simoom run --json`) and every probe series. For a scenario that
is refused, only the paths of its issues are compared, not the messages. `benches/results.txt` has a
line for each run: name, digest, and a hash of the values and of the series.

A hash does not show which values differ. To see them, store all values of the build before the
change with `--values FILE`, and compare with `--before FILE`.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import re
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterable, Iterator
from fnmatch import fnmatch
from pathlib import Path
from typing import Any

import instructions
import random_scenarios

ROOT = Path(__file__).resolve().parent.parent
RECORD = ROOT / "benches" / "results.txt"
SHOWN = 5
"""The number of differences that are printed for each run."""

RENAMED: dict[str, str | None] = {}
"""Paths that were renamed after the record was made: old and new, with `[*]` for each index. A
value with the new name None has changed its meaning, as CHANGELOG.md says, and is not compared."""

Result = dict[str, Any]
"""Digest, values and series of a run, each value and series by its path."""


def build(profile: str) -> Path:
    """Build the runner and return its path."""
    command = ["cargo", "build", "--profile", profile, "--locked", "--quiet", "-p", "simoom-sim"]
    subprocess.run([*command, "--example", "results"], cwd=ROOT, check=True)
    target = Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target"))
    return target / {"dev": "debug"}.get(profile, profile) / "examples" / "results"


def runner_inputs(folder: Path) -> dict[str, str]:
    """Return the input of the runner for each run, by name; writes random scenarios to a folder."""
    found: dict[str, list[str | Path]] = {
        f"scenarios/{path.stem}": [path] for path in sorted(ROOT.glob("scenarios/*.toml"))
    }
    for name, (scenario, *sets) in instructions.RUNS.items():
        found[f"fixed/{name}"] = [ROOT / scenario, *sets]
    for path in random_scenarios.write(folder):
        found[f"random/{path.stem}"] = [path]
    return {name: "\t".join(map(str, parts)) for name, parts in found.items()}


def run(runner: Path, wanted: dict[str, str]) -> Iterator[tuple[str, Result]]:
    """Execute the runs and return the results in the same order."""
    with tempfile.TemporaryFile("w+", encoding="utf-8") as inputs:
        inputs.write("\n".join(wanted.values()) + "\n")
        inputs.seek(0)
        with subprocess.Popen([runner], stdin=inputs, stdout=subprocess.PIPE, text=True) as process:
            assert process.stdout is not None
            for name, line in zip(wanted, process.stdout, strict=True):
                yield name, result(json.loads(line))
        if process.returncode:
            raise subprocess.CalledProcessError(process.returncode, runner)


def result(printed: dict[str, Any]) -> Result:
    """Parse the runner's output for a run; the values of a refused run are its issues by path."""
    if "issues" in printed:
        paths = Counter(path for path, _ in printed["issues"])
        return {"digest": "refused", "values": paths, "series": {}}
    if "panic" in printed:
        return {"digest": "panic", "values": {"panic": printed["panic"]}, "series": {}}
    return {key: printed[key] for key in ("digest", "values", "series")}


def compared(values: dict[str, Any]) -> dict[str, str]:
    """Return the compared values by their present paths."""
    renamed = ((present(path), str(value)) for path, value in values.items())
    return {path: value for path, value in renamed if path is not None}


def general(path: str) -> str:
    """The path with `[*]` for every index."""
    return re.sub(r"\[\d+\]", "[*]", path)


def present(path: str) -> str | None:
    """Return the present name of a path; None if its value is not compared."""
    name = RENAMED.get(general(path), path)
    if name is None:
        return None
    indices = iter(re.findall(r"\[\d+\]", path))
    return re.sub(r"\[\*\]", lambda _: next(indices), name)


def fingerprint(values: dict[str, Any]) -> str:
    """Return a hash of values and their paths that does not depend on their order."""
    text = "\n".join(sorted(f"{path}={value}" for path, value in compared(values).items()))
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def row(found: Result) -> tuple[str, ...]:
    """Return the line of the record for a run."""
    return found["digest"], fingerprint(found["values"]), fingerprint(found["series"])


def differences(before: Result, after: Result) -> list[str]:
    """Return the differences between the results of a run, by path."""
    found = []
    for kind in ("values", "series"):
        was, now = compared(before[kind]), compared(after[kind])
        for path in dict.fromkeys([*was, *now]):
            if was.get(path) != now.get(path):
                here, there = now.get(path, "missing"), was.get(path, "missing")
                of = "series " if kind == "series" else ""
                found.append(f"{of}{path}: {here}, was {there}")
    return found


def compare(name: str, before: tuple[str, ...], after: Result, detail: Result | None) -> list[str]:
    """Return lines about the differences of a run from the record; empty if there are none."""
    parts = ("digest", "values", "series")
    differing = [
        part for part, was, now in zip(parts, before, row(after), strict=True) if was != now
    ]
    if not differing:
        return []
    lines = [f"{name}: {', '.join(differing)}"]
    if detail is not None:
        found = differences(detail, after)
        lines += [f"    {line}" for line in found[:SHOWN]]
        if len(found) > SHOWN:
            lines.append(f"    and {len(found) - SHOWN} more")
    return lines


def read_record() -> dict[str, tuple[str, ...]]:
    """Return the record by the names of the runs."""
    if not RECORD.exists():
        return {}
    rows = (line.split() for line in RECORD.read_text(encoding="utf-8").splitlines())
    return {name: tuple(parts) for name, *parts in rows}


def read_values(path: Path, names: Iterable[str]) -> dict[str, Result]:
    """Return the results of these runs from a file that `--values` has written."""
    names = set(names)
    with path.open(encoding="utf-8") as file:
        results = (json.loads(line) for line in file)
        return {found["name"]: found for found in results if found["name"] in names}


def arguments() -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(description="Compare the results of many runs with a record.")
    parser.add_argument("names", nargs="*", help="names of runs, with wildcards; default all")
    parser.add_argument("--record", action="store_true", help="make the results the record")
    parser.add_argument("--values", type=Path, help="write all values to this file")
    parser.add_argument(
        "--before", type=Path, help="values of another build, to show the differences"
    )
    parser.add_argument("--profile", default="fast", help="cargo's profile; default fast")
    parser.add_argument("--runner", type=Path, help="a runner that is already built")
    return parser.parse_args()


def main() -> int:
    """Run, and compare or record."""
    options = arguments()
    runner = options.runner or build(options.profile)
    with tempfile.TemporaryDirectory() as folder:
        wanted = runner_inputs(Path(folder))
        if options.names:
            kept = [f"*{pattern}" for pattern in options.names]
            wanted = {n: line for n, line in wanted.items() if any(fnmatch(n, k) for k in kept)}
        results = dict(run(runner, wanted))
    if options.values:
        with options.values.open("w", encoding="utf-8") as file:
            file.writelines(json.dumps({"name": n} | found) + "\n" for n, found in results.items())
    record = read_record()
    if options.record:
        rows = {name: row(found) for name, found in results.items()}
        rows = record | rows if options.names else rows
        text = "".join(f"{name} {' '.join(parts)}\n" for name, parts in rows.items())
        RECORD.write_text(text, encoding="utf-8")
        print(f"recorded: {len(results)} runs")
        return 0
    details = read_values(options.before, results) if options.before else {}
    lines = []
    for name, found in results.items():
        lines += compare(name, record.get(name, ("-", "-", "-")), found, details.get(name))
    differing = sum(not line.startswith(" ") for line in lines)
    print("\n".join([*lines, f"{len(results)} runs, {differing} differ from the record"]))
    return 1 if differing else 0


if __name__ == "__main__":
    sys.exit(main())
