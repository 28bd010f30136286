"""What many runs give, compared with a record to the last bit.

    python benches/results.py                    compare this build with the record
    python benches/results.py --record           make this build's results the record
    python benches/results.py 'random/00*' dumbbell    some runs only
    python benches/results.py 'report/*' 'trace/*'     reports and traces only

A change of the code's structure must not change results. The runs are all scenario files, the fixed
runs of instructions.py and the scenarios of random_scenarios.py. The results are the digest, every
value of the summary (the output of `simoom run --json`) and every probe series. For a scenario that
is refused, only the paths of its issues are compared, not the messages.

What users see of runs is compared too: `trace/`, a stretch of the trace of every scenario file and
of 100 random scenarios, in five formats; and `report/`, the report of every scenario file in the
terminal, as page, as JSON and in a notebook (outputs.py).

`benches/results.txt` has a line for each run, or for 50 random runs: a hash of each part. A hash
does not show what differs. Store all values of the build before the change with `--values FILE`,
and compare with `--before FILE`, which names the run and the values. For traces and reports,
`--outputs FOLDER` of both builds, and `diff -r`.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import re
import sys
import tempfile
from collections.abc import Iterable
from fnmatch import fnmatch
from pathlib import Path

import outputs
from outputs import Found, Input

RECORD = outputs.ROOT / "benches" / "results.txt"
GROUP = 50
"""The number of random runs that share a line of the record."""
SHOWN = 5
"""The number of differences that are printed for each run."""

RENAMED: dict[str, str | None] = {}
"""Paths that were renamed after the record was made: old and new, with `[*]` for each index. A
value with the new name None has changed its meaning, as CHANGELOG.md says, and is not compared."""

Row = tuple[str, ...]
"""The hashes of a line of the record."""


def compared(values: dict[str, str]) -> dict[str, str]:
    """Return the compared values by their present paths."""
    renamed = ((present(path), value) for path, value in values.items())
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


def fingerprint(part: str | bytes | dict[str, str]) -> str:
    """Return a hash of a part, which for values does not depend on their order."""
    if isinstance(part, str):
        return part
    if isinstance(part, dict):
        part = "\n".join(sorted(f"{path}={value}" for path, value in compared(part).items()))
        part = part.encode()
    return hashlib.sha256(part).hexdigest()[:16]


def row(name: str, found: Found) -> Row:
    """Return the hash of each part of a run; of one that failed or was refused, that it was so."""
    whole: str = found.get("digest", "")
    parts = outputs.parts(name)
    return tuple(fingerprint(found[part]) if part in found else whole for part in parts)


def line_of(name: str) -> str:
    """Return the name of the line of the record that has a run."""
    random = re.fullmatch(r"(.*random)/(\d+)", name)
    if random is None:
        return name
    first = int(random[2]) // GROUP * GROUP
    return f"{random[1]}/{first:04}-{first + GROUP - 1:04}"


def lines_of(rows: dict[str, Row]) -> dict[str, Row]:
    """Return the lines of the record of complete groups of runs."""
    lines: dict[str, list[Row]] = {}
    for name, hashes in rows.items():
        lines.setdefault(line_of(name), []).append(hashes)
    return {
        line: several[0] if len(several) == 1 else tuple(map(together, zip(*several, strict=True)))
        for line, several in lines.items()
    }


def together(hashes: Iterable[str]) -> str:
    """Return a hash of hashes."""
    return fingerprint("\n".join(hashes).encode())


def differences(before: Found, after: Found) -> list[str]:
    """Return the differences between the results of a run, by path."""
    found = []
    for kind in ("values", "series"):
        was, now = compared(before.get(kind, {})), compared(after.get(kind, {}))
        for path in dict.fromkeys([*was, *now]):
            if was.get(path) != now.get(path):
                here, there = now.get(path, "missing"), was.get(path, "missing")
                of = "series " if kind == "series" else ""
                found.append(f"{of}{path}: {here}, was {there}")
    return found


def compare(line: str, before: Row | None, after: Row) -> str | None:
    """Return what differs of a line of the record."""
    if before is None:
        return f"{line}: not in the record"
    pairs = zip(outputs.parts(line), before, after, strict=True)
    differing = [part for part, was, now in pairs if was != now]
    return f"{line}: {', '.join(differing)}" if differing else None


def compare_run(name: str, before: Found, after: Found) -> list[str]:
    """Return what differs of a run from the same run of another build."""
    if row(name, before) == row(name, after):
        return []
    found = differences(before, after)
    shown = [f"        {line}" for line in found[:SHOWN]]
    if len(found) > SHOWN:
        shown.append(f"        and {len(found) - SHOWN} more")
    return [f"    {name}", *shown]


def read_record() -> dict[str, Row]:
    """Return the lines of the record by their names."""
    if not RECORD.exists():
        return {}
    rows = (line.split() for line in RECORD.read_text(encoding="utf-8").splitlines())
    return {name: tuple(hashes) for name, *hashes in rows}


def read_values(path: Path) -> dict[str, Found]:
    """Return the results of runs from a file that `--values` has written."""
    with path.open(encoding="utf-8") as file:
        return {found.pop("name"): found for found in map(json.loads, file)}


def write_values(path: Path, results: dict[str, Found]) -> None:
    """Write the results of runs, and hashes of traces and reports."""
    with path.open("w", encoding="utf-8") as file:
        for name, found in results.items():
            kept = {k: fingerprint(v) if isinstance(v, bytes) else v for k, v in found.items()}
            file.write(json.dumps({"name": name} | kept) + "\n")


def write_outputs(folder: Path, results: dict[str, Found]) -> None:
    """Write the traces and reports."""
    for name, found in results.items():
        for part, content in found.items():
            if isinstance(content, bytes):
                path = folder / f"{name}.{part}"
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_bytes(content)


def chosen(runs: dict[str, Input], patterns: list[str]) -> dict[str, Input]:
    """Return the runs of the lines that the patterns name or one of whose runs they name."""
    wanted = {
        line_of(name)
        for name in runs
        for pattern in patterns or ["*"]
        if fnmatch(name, f"*{pattern}") or fnmatch(line_of(name), f"*{pattern}")
    }
    return {name: given for name, given in runs.items() if line_of(name) in wanted}


def arguments() -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(description="Compare what many runs give with a record.")
    parser.add_argument("names", nargs="*", help="names of runs, with wildcards; default all")
    parser.add_argument("--record", action="store_true", help="make the results the record")
    parser.add_argument("--values", type=Path, help="write all values to this file")
    parser.add_argument(
        "--before", type=Path, help="values of another build, to show the differences"
    )
    parser.add_argument("--outputs", type=Path, help="write traces and reports to this folder")
    parser.add_argument("--profile", default="fast", help="cargo's profile; default fast")
    parser.add_argument("--core", type=Path, help="an extension that is already built")
    return parser.parse_args()


def main() -> int:
    """Run, and compare or record."""
    options = arguments()
    with tempfile.TemporaryDirectory() as folder:
        wanted = chosen(outputs.inputs(Path(folder)), options.names)
        results = dict(outputs.run_all(wanted, options.core or outputs.build(options.profile)))
    if options.values:
        write_values(options.values, results)
    if options.outputs:
        write_outputs(options.outputs, results)
    record, lines = read_record(), lines_of({name: row(name, f) for name, f in results.items()})
    if options.record:
        rows = record | lines if options.names else lines
        text = "".join(f"{name} {' '.join(hashes)}\n" for name, hashes in rows.items())
        RECORD.write_text(text, encoding="utf-8")
        print(f"recorded: {len(results)} runs in {len(lines)} lines")
        return 0
    before = read_values(options.before) if options.before else {}
    differing = 0
    for line, hashes in lines.items():
        told = compare(line, record.get(line), hashes)
        if told is not None:
            differing += 1
            print(told)
            for name in (n for n in results if line_of(n) == line and n in before):
                for detail in compare_run(name, before[name], results[name]):
                    print(detail)
    print(f"{len(results)} runs in {len(lines)} lines, {differing} lines differ from the record")
    return 1 if differing else 0


if __name__ == "__main__":
    sys.exit(main())
