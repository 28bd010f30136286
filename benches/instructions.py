"""Instruction counts of three fixed runs, held against a record.

Times on a shared machine are noise; the number of instructions of a deterministic run is not.
`python benches/instructions.py` counts them with callgrind and fails where a run has grown by more
than 5 %. A growth that buys something is recorded with `--record`, once CHANGELOG.md has a line
under "Unreleased" that is marked SPEED and names the run.
"""

from __future__ import annotations

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
RUNS = ("cell_11b_10", "cell_11g_50", "web_11b_20")
GROWTH = 1.05


def build() -> Path:
    """Build the runner that needs no Python and return its path."""
    command = ["cargo", "build", "--release", "--locked", "--quiet", "-p", "simoom-sim"]
    subprocess.run([*command, "--example", "run"], cwd=ROOT, check=True)
    target = Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target"))
    return target / "release" / "examples" / "run"


def count(runner: Path, name: str) -> int:
    """Instructions of one run, as callgrind counts them."""
    return counted(runner, ROOT / "benches" / f"{name}.toml")[0]


def counted(runner: Path, scenario: Path, *sets: str) -> tuple[int, str]:
    """Instructions of a run of any scenario, and what it printed."""
    with tempfile.TemporaryDirectory() as scratch:
        command = ["valgrind", "--tool=callgrind", f"--callgrind-out-file={scratch}/out"]
        done = subprocess.run(
            [*command, str(runner), str(scenario), "1", *sets],
            capture_output=True,
            text=True,
            check=True,
        )
    found = re.search(r"Collected : (\d+)", done.stderr)
    if found is None:
        raise RuntimeError(f"callgrind printed no count:\n{done.stderr}")
    return int(found[1]), done.stdout


def explained(name: str) -> bool:
    """Whether CHANGELOG.md's unreleased part has a SPEED line that names this run."""
    text = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    unreleased = re.split(r"^## ", text, flags=re.MULTILINE)[1]
    return any("SPEED" in line and name in line for line in unreleased.splitlines())


def compare(counts: dict[str, int], record: dict[str, int]) -> list[str]:
    """Say which runs have grown too much."""
    return [
        f"{name}: {counts[name]:,} instructions, {counts[name] / record[name] - 1:+.1%} against "
        f"the record of {record[name]:,}; the limit is {GROWTH - 1:.0%}. Make it faster, or add "
        f"a SPEED line that names {name} to CHANGELOG.md and run benches/instructions.py --record"
        for name in counts
        if counts[name] > GROWTH * record[name]
    ]


def main() -> int:
    """Count, print and compare."""
    if shutil.which("valgrind") is None:
        print("instructions: valgrind is not installed, so nothing is counted")
        return 1 if os.environ.get("CI") else 0
    runner = build()
    counts = {name: count(runner, name) for name in RUNS}
    record = json.loads(RECORD.read_text(encoding="utf-8")) if RECORD.exists() else counts
    for name, instructions in counts.items():
        change = instructions / record[name] - 1
        print(f"{name:<14} {instructions:>15,} instructions  {change:+.2%} against the record")
    faults = compare(counts, record)
    if "--record" in sys.argv[1:]:
        unexplained = [name for name in RUNS if counts[name] > GROWTH * record[name]]
        unexplained = [name for name in unexplained if not explained(name)]
        if unexplained:
            print(f"not recorded: CHANGELOG.md has no SPEED line for {', '.join(unexplained)}")
            return 1
        RECORD.write_text(json.dumps(counts, indent=2) + "\n", encoding="utf-8")
        return 0
    for fault in faults:
        print(fault)
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
