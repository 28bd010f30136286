"""The command line: ``simoom COMMAND``.

A command is a function in its own module, or a `typer.Typer` with several functions. This module
lists all commands, and converts faults of input (`ScenarioError`, `OSError`, `InputError`) to
messages and exit codes.
"""

from __future__ import annotations

import importlib
import os
import sys
import traceback
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from simoom.base.issue import LostWorkerError, ScenarioError
from simoom.base.needs import Later, MissingPackageError, remedy_of
from simoom.base.startup import INTERRUPTED, loaded
from simoom.cli.group import lazy_group
from simoom.cli.streams import prepare
from simoom.cli.terminal import InputError, origin, say, say_os_error

if TYPE_CHECKING:
    from importlib import metadata
else:
    metadata = Later("importlib.metadata")

BAD_INPUT = 2
FAILED = 1
"""The exit code of Python after an exception."""
DEFECT = 70
"""EX_SOFTWARE of sysexits."""
PACKAGE = Path(__file__).parents[1]
CALLERS = [str(PACKAGE / part) for part in ("results/run.py", "cli/tcp_script.py")]
"""The files by which Python enters the simulator."""

COMMANDS = {
    "run": "run",
    "why": "why",
    "emulate": "emulate",
    "model": "model",
    "sweep": "sweep",
    "compare": "compare",
    "sensitivity": "sensitivity",
    "search": "search",
    "check": "check",
    "scenarios": "scenario",
    "new": "scenario",
    "schema": "scenario",
    "rerun": "rerun",
    "airtime": "airtime",
    "hearing": "hearing",
    "routes": "routes",
    "probes": "probes",
    "serve": "serve",
    "store": "store",
    "study": "study",
    "tcp-script": "tcp_script",
}
"""The module of each command, which is imported when the command is used."""

SETTINGS: dict[str, Any] = {"pretty_exceptions_enable": False, "rich_markup_mode": None}
"""Of the program and of each command."""

app = typer.Typer(
    name="simoom",
    cls=lazy_group(__name__, COMMANDS, SETTINGS),
    help="A packet-level simulator of TCP over IEEE 802.11.",
    no_args_is_help=True,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    **SETTINGS,
)


@app.callback(invoke_without_command=True)
def _main(
    version: bool = typer.Option(False, "--version", help="Print the version and exit."),
) -> None:
    if version:
        print(f"simoom {metadata.version('simoom')}")
        raise typer.Exit


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command and return its exit code."""
    origin.file = ""
    origin.changed.clear()
    try:
        try:
            app(arguments, prog_name="simoom")
        finally:
            sys.stdout.flush()
    except BaseException as error:  # noqa: BLE001  the exception of a panic has no other base class
        return _report_failure(error)
    return 0


def _report_failure(error: BaseException) -> int:
    """Print why the command failed, and return its exit code."""
    if _is_from_controller(error):
        _print_controller_traceback(error)
        return FAILED
    match error:
        case SystemExit():
            code = error.code if isinstance(error.code, int) else 1
            if code == INTERRUPTED:
                say("interrupted")
            return code
        case KeyboardInterrupt():
            say("interrupted")
            return INTERRUPTED
        case ScenarioError():
            for issue in error.issues:
                say(origin.describe(issue))
        case InputError() | MissingPackageError():
            say(str(error))
        case ModuleNotFoundError() if remedy := remedy_of(error):
            say(f"this {remedy}")
        case OSError():
            say_os_error(error)
        case LostWorkerError():
            say(str(error))
            return FAILED
        case _ if type(error).__name__ == "PanicException":
            say(f"a defect of Simoom, please report it with the scenario: {error}")
            return DEFECT
        case _:
            raise error
    return BAD_INPUT


def _is_from_controller(error: BaseException) -> bool:
    """Whether a controller written in Python raised it: the exception then has a note."""
    notes: list[str] = getattr(error, "__notes__", [])
    own = any(note.startswith(("in flows[", "in the control of the script")) for note in notes)
    return own and not isinstance(error, KeyboardInterrupt)


def _print_controller_traceback(error: BaseException) -> None:
    """Print the traceback of a controller's exception with the frames of its own modules."""
    shown = traceback.TracebackException.from_exception(error)
    calls = [at for at, frame in enumerate(shown.stack, 1) if frame.filename in CALLERS]
    within = shown.stack[max(calls, default=0) :]
    own = [frame for frame in within if not _is_machinery(frame.filename)]
    shown.stack = traceback.StackSummary.from_list(own)
    lines = shown.format() if own else shown.format_exception_only()
    print("".join(lines), end="", file=sys.stderr)


def _is_machinery(file: str) -> bool:
    """Whether a file is Simoom's own, but no controller that comes with it, or imports modules."""
    if Path(file).is_relative_to(PACKAGE):
        return not Path(file).is_relative_to(PACKAGE / "gallery")
    return file.startswith("<frozen importlib") or Path(file) == Path(importlib.__file__)


def entry() -> None:
    """Run the command line of the process."""
    loaded()
    prepare()
    # Users keep controllers in the current directory; installed modules take precedence.
    sys.path.append(str(Path.cwd()))
    code = main()
    if code == INTERRUPTED:
        # Python would wait for the threads of runs, which end at their next look at the stop flag.
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)
    sys.exit(code)
