"""``simoom check``, ``simoom schema``, ``simoom scenarios`` and ``simoom new``."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from textwrap import fill
from typing import Annotated, Any

import typer

from simoom import _core, shipped
from simoom.cli.streams import print_json
from simoom.cli.terminal import (
    File,
    InputError,
    Settings,
    Unset,
    console,
    load,
    say,
)
from simoom.files import write_text
from simoom.observables import nearest
from simoom.scenario import Scenario
from simoom.tables import visible


def check(
    file: File,
    settings: Settings = [],  # noqa: B006  typer copies it
    unset: Unset = [],  # noqa: B006
    full: Annotated[
        bool, typer.Option("--full", help="Print every key with its value or default, as JSON.")
    ] = False,
) -> None:
    """Check a scenario and print all its faults, each with its path."""
    scenario = load(file, settings, unset=unset)
    scenario.check()
    if full:
        print_json(scenario.to_dict())
    else:
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


def schema() -> None:
    """Print the JSON schema of scenario files, for editors."""
    print(_lines(json.loads(_core.schema())))


def _lines(schema: Any, indent: str = "", *, named: bool = False) -> str:
    """Write a schema with a line for each key, each definition and each alternative."""
    inner, tables = indent + " ", {"properties", "$defs", "oneOf", "anyOf"}
    if isinstance(schema, dict) and (named or tables & schema.keys()):
        entries = [
            f"{json.dumps(key)}: {_lines(value, inner, named=not named and key in tables)}"
            for key, value in schema.items()
        ]
        begin, end = "{}"
    elif isinstance(schema, list) and named:
        entries = [_lines(value, inner) for value in schema]
        begin, end = "[]"
    else:
        return json.dumps(schema, ensure_ascii=False)
    if not named:
        return begin + ", ".join(entries) + end
    return f"{begin}\n{inner}" + f",\n{inner}".join(entries) + f"\n{indent}{end}"


def scenarios(
    word: Annotated[
        str,
        typer.Argument(help="Only those with this word in their name or text.", show_default=False),
    ] = "",
    as_json: Annotated[bool, typer.Option("--json", help="Print them as JSON.")] = False,
) -> None:
    """List the scenarios that come with Simoom; their names stand for files."""
    found = [
        each for each in shipped.scenarios() if word.lower() in f"{each.name}\n{each.text}".lower()
    ]
    if as_json:
        print_json([asdict(each) for each in found])
        return
    if not found:
        raise InputError(f"{word}: no scenario has this word; simoom scenarios lists all")
    indent = "    "
    for each in found:
        print(each.name)
        width = console().width
        print(fill(each.about, width, initial_indent=indent, subsequent_indent=indent))


def new(
    name: Annotated[str, typer.Argument(help="A scenario of `simoom scenarios`.")],
    file: Annotated[
        Path | None,
        typer.Argument(help="The new file; the default is NAME.toml.", show_default=False),
    ] = None,
) -> None:
    """Copy a scenario that comes with Simoom into a file of your own."""
    if name not in shipped.names():
        hint = nearest(name, shipped.names()) or "; simoom scenarios lists them"
        raise InputError(f"{name}: no scenario of this name comes with Simoom{hint}")
    target = file or Path(f"{name}.toml")
    if target.exists():
        raise InputError(f"{target}: exists; name another file")
    write_text(target, next(each.text for each in shipped.scenarios() if each.name == name))
    say(f"wrote {target}")
