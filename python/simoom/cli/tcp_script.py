"""``simoom tcp-script``: run a script against a TCP sender or receiver."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from simoom import _core
from simoom.base.files import read
from simoom.cli.streams import print_json
from simoom.cli.terminal import AsJson, InputError
from simoom.results.tables import visible

FAILED = 1
"""The exit code of a script that fails."""


def tcp_script(
    file: Annotated[Path, typer.Argument(help="The script; docs/tcp-script.md has the grammar.")],
    as_json: AsJson = False,
) -> None:
    """Run a script against a TCP sender or receiver; print the exchange and the verdict."""
    text = read(file).decode(errors="replace")
    if (fault := _core.tcp_script_fault(text)) is not None:
        raise InputError(f"{file}:{fault[0]}: {fault[1]}")
    lines, failure = _core.tcp_script(text)
    if as_json:
        keys = ("time_s", "kind", "text", "line")
        document = {
            "file": str(file),
            "verdict": "passed" if failure is None else "failed",
            "failure": failure and {"line": failure[0], "message": failure[1]},
            "exchange": [dict(zip(keys, line, strict=True)) for line in lines],
        }
        print_json(document)
    else:
        signs = {"injected": "<", "sent": ">", "unasked": "> (unasked)"}
        for time_s, kind, text, _ in lines:
            line = f"{time_s:12.6f}  {signs.get(kind, '')} {text}".replace("   ", "  ", 1)
            print(visible(line))
        verdict = "passed" if failure is None else f"failed: {file}:{failure[0]}: {failure[1]}"
        print(visible(verdict))
    if failure is not None:
        raise typer.Exit(FAILED)
