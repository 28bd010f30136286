"""Writes the manual pages of the commands: python tools/manual.py FOLDER."""

from __future__ import annotations

import re
import sys
from importlib.metadata import version
from pathlib import Path
from typing import Any

import typer

from simoom.cli import app


def pages() -> dict[str, str]:
    """Return the manual pages by the names of their files."""
    main = typer.main.get_command(app)
    context = main.make_context("simoom", [], resilient_parsing=True)
    commands = {name: main.get_command(context, name) for name in main.list_commands(context)}
    listed = "".join(
        f".TP\n\\fBsimoom\\-{roff(name)}\\fR(1)\n{roff(summary(command))}\n"
        for name, command in commands.items()
    )
    made = {"simoom.1": page("simoom", main, f".SH COMMANDS\n{listed}")}
    for name, command in commands.items():
        made[f"simoom-{name}.1"] = page(f"simoom {name}", command, "")
    return made


def page(name: str, command: Any, more: str) -> str:
    """Return the manual page of a command."""
    context = command.make_context(name, [], resilient_parsing=True)
    command = context.command
    dashed, usage = name.replace(" ", "-"), " ".join(command.collect_usage_pieces(context))
    records = [each.get_help_record(context) for each in command.get_params(context)]
    options = "".join(
        f".TP\n\\fB{roff(names)}\\fR\n{roff(text)}\n" for names, text in filter(None, records)
    )
    return (
        f'.TH "{dashed.upper()}" 1 "" "Simoom {version("simoom")}" "Simoom"\n'
        f".SH NAME\n{roff(dashed)} \\- {roff(summary(command))}\n"
        f".SH SYNOPSIS\n\\fB{roff(name)}\\fR {roff(usage)}\n"
        f".SH DESCRIPTION\n{roff(command.help or '')}\n"
        f".SH OPTIONS\n{options}{more}"
        ".SH EXIT STATUS\n0: done. 1: a controller in Python or a worker failed. 2: bad input. "
        "130: interrupted.\n"
    )


def summary(command: Any) -> str:
    """Return the first sentence of the help of a command."""
    return re.split(r"(?<=\.)\s", " ".join((command.help or "").split()))[0]


def roff(text: str) -> str:
    """Return a text with what troff would interpret escaped."""
    escaped = " ".join(text.split()).replace("\\", "\\e").replace("-", "\\-")
    return f"\\&{escaped}" if escaped.startswith((".", "'")) else escaped


def main() -> None:
    """Write the pages into the folder of the command line."""
    folder = Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in pages().items():
        (folder / name).write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
