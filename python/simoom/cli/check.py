"""``simoom check``: all faults of scenario files, and the repair of those with one remedy."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from simoom.base.files import read, write_text
from simoom.base.issue import Issue, ScenarioError
from simoom.base.needs import Later
from simoom.cli.streams import print_json
from simoom.cli.terminal import InputError, Settings, Unset, load, origin, say
from simoom.results.tables import visible
from simoom.scenario.scenario import Scenario

if TYPE_CHECKING:
    from simoom.scenario import repair
else:
    repair = Later("simoom.scenario.repair")

EXAMPLES = (
    "simoom check mine.toml",
    "simoom check mine.toml --fix",
    "simoom check cafe --set stations=20 --json",
)

Files = Annotated[
    list[str],
    typer.Argument(
        metavar="FILE...",
        help="Scenario files (TOML), or names of `simoom scenarios`; - reads standard input.",
    ),
]


def check(
    files: Files,
    settings: Settings = [],  # noqa: B006  typer copies it
    unset: Unset = [],  # noqa: B006
    full: Annotated[
        bool, typer.Option("--full", help="Print every key with its value or default, as JSON.")
    ] = False,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print a list of all faults as JSON, [] without any.")
    ] = False,
    fix: Annotated[
        bool,
        typer.Option(
            "--fix", help="Repair in the files what has exactly one remedy, and show each change."
        ),
    ] = False,
) -> None:
    """Check scenarios and print all their faults, each with its line and its path."""
    if fix and (settings or unset):
        raise InputError("--fix: repairs the text of a file, and takes no --set and no --unset")
    if fix and as_json:
        raise InputError("--fix: shows its changes as text; take --json in a call of its own")
    told: list[dict[str, Any]] = []
    are_sound = True
    for file in files:
        if fix:
            _repair(file)
        origin.changed.clear()
        try:
            scenario = load(file, settings, unset=unset)
            scenario.check()
        except ScenarioError as error:
            are_sound = False
            told += (_row(file, issue) for issue in error.issues)
            if not as_json:
                _say_all(error.issues)
            continue
        if full:
            print_json(scenario.to_dict())
        elif not as_json:
            _print_sound(file, scenario)
    if as_json:
        print_json(told)
    if not are_sound:
        raise typer.Exit(2)


def _say_all(issues: Iterable[Issue]) -> None:
    for issue in issues:
        say(origin.describe(issue))


def _row(file: str, issue: Issue) -> dict[str, Any]:
    """Return a fault for other programs; positions are null where no text has the value."""
    place = issue.place
    return {
        "file": file,
        "path": issue.path,
        "line": None if place is None else place.line,
        "column": None if place is None else place.column,
        "bytes": None if place is None else place.whole,
        "message": issue.message,
        "remedy": issue.remedy,
        "repairs": [{"kind": kind, "value": value} for kind, value in issue.repairs],
    }


def _repair(file: str) -> None:
    """Repair a file, and show what has changed."""
    path = Path(file)
    if not path.is_file():
        raise InputError(f"{file}: --fix changes files, and this is none")
    try:
        text = read(path).decode()
    except UnicodeDecodeError:
        return  # What is no text is told by the check.
    mark = "\ufeff" if text.startswith("\ufeff") else ""
    changed, changes, _ = repair.repaired(text.removeprefix(mark), path.resolve().parent)
    if not changes:
        return
    write_text(path, mark + changed)
    for line, before, after in changes:
        print(visible(f"{file}:{line}: {before.strip()} -> {after.strip() or 'removed'}"))


def _print_sound(file: str, scenario: Scenario) -> None:
    print(visible(f"{file}: sound: {_outline(scenario)}"))
    for sentence in scenario.caveats():
        say(sentence)
    for line in _set_by_presets(scenario):
        print(line)


def _outline(scenario: Scenario) -> str:
    """Return what a scenario has: ``802.11g, 12 stations, 16 flows, 60 s``."""
    keys = scenario.to_dict()
    tables = keys["stations"] if isinstance(keys["stations"], list) else [keys["stations"]]
    counts = {
        "station": sum(each["count"] if isinstance(each, dict) else each for each in tables),
        "link": len(keys["links"]),
        "flow": len(dict(scenario.core.trace_names())["flow"]),
    }
    standard = [f"802.{keys['standard']}"] if counts["station"] else []
    parts = [f"{n} {what}{'s' * (n > 1)}" for what, n in counts.items() if n]
    return ", ".join([*standard, *parts, f"{keys['duration_s']:g} s"])


def _set_by_presets(scenario: Scenario) -> Iterator[str]:
    """Yield what presets set, once for all tables in which they set the same."""
    tables: dict[tuple[str, ...], list[str]] = {}
    for by, values in scenario.presets().items():
        table = by.split(".")[0]
        lines = (
            f"    {path.removeprefix(table + '.')} = {json.dumps(value)}"
            for path, value in values.items()
        )
        tables.setdefault((by.removeprefix(table + "."), *lines), []).append(table)
    for key, names in tables.items():
        yield f"{key[0]} of {', '.join(names)} sets"
        yield from key[1:]
