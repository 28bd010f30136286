"""``simoom schema``, ``simoom scenarios`` and ``simoom new``."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path
from textwrap import fill
from typing import Annotated, Any

import typer

from simoom import _core
from simoom.base.files import write_text
from simoom.cli.streams import print_json
from simoom.cli.terminal import InputError, console, say
from simoom.scenario import shipped
from simoom.scenario.observables import nearest


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
