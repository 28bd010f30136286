"""``simoom tcp-script``: run a script against a TCP sender or receiver."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer

from simoom import _core

FAILED = 1
"""The exit code of a script that fails."""


def tcp_script(
    file: Annotated[Path, typer.Argument(help="The script; docs/tcp-script.md has the grammar.")],
    as_json: Annotated[
        bool, typer.Option("--json", help="Print one JSON object, nothing else.")
    ] = False,
) -> None:
    """Run a script against a TCP sender or receiver; print the exchange and the verdict."""
    lines, failure = _core.tcp_script(file.read_text(encoding="utf-8", errors="replace"))
    if as_json:
        keys = ("time_s", "kind", "text", "line")
        document = {
            "file": str(file),
            "verdict": "passed" if failure is None else "failed",
            "failure": failure and {"line": failure[0], "message": failure[1]},
            "exchange": [dict(zip(keys, line, strict=True)) for line in lines],
        }
        print(json.dumps(document, indent=2, ensure_ascii=False))
    else:
        signs = {"injected": "<", "sent": ">", "unasked": "> (unasked)"}
        for time_s, kind, text, _ in lines:
            print(f"{time_s:12.6f}  {signs.get(kind, '')} {text}".replace("   ", "  ", 1))
        print("passed" if failure is None else f"failed: {file}:{failure[0]}: {failure[1]}")
    if failure is not None:
        raise typer.Exit(FAILED)
