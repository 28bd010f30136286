"""The command line: ``simoom COMMAND``.

A command is a function in its own module, or a `typer.Typer` with several functions. This module
registers all commands, and converts faults of input (`ScenarioError`, `OSError`, `InputError`) to
messages and exit codes.
"""

from __future__ import annotations

import os
import sys
import traceback
from collections.abc import Sequence
from pathlib import Path

import typer

from simoom.cli import (
    airtime,
    compare,
    hearing,
    model,
    probes,
    rerun,
    routes,
    run,
    scenario,
    search,
    sensitivity,
    serve,
    store,
    study,
    sweep,
    tcp_script,
    why,
)
from simoom.cli.streams import prepare
from simoom.cli.terminal import InputError, origin, say, say_os_error
from simoom.issue import ScenarioError
from simoom.needs import MissingPackageError, remedy_of
from simoom.startup import INTERRUPTED, loaded
from simoom.workers import LostWorkerError

BAD_INPUT = 2
FAILED = 1
"""The exit code of Python after an exception."""
DEFECT = 70
"""EX_SOFTWARE of sysexits."""
CALLERS = (str(Path(__file__).parents[1] / "run.py"), tcp_script.__file__)
"""The files by which Python enters the simulator."""

app = typer.Typer(
    name="simoom",
    help="A packet-level simulator of TCP over IEEE 802.11.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)
app.command("run")(run.run)
app.command("why")(why.why)
app.command("model")(model.model)
app.command("sweep")(sweep.sweep)
app.command("compare")(compare.compare)
app.command("sensitivity")(sensitivity.sensitivity)
app.command("search")(search.search)
app.command("check")(scenario.check)
app.command("scenarios")(scenario.scenarios)
app.command("new")(scenario.new)
app.command("schema")(scenario.schema)
app.command("rerun")(rerun.rerun)
app.command("airtime")(airtime.airtime)
app.command("hearing")(hearing.hearing)
app.command("routes")(routes.routes)
app.command("probes")(probes.probes)
app.command("serve")(serve.serve)
app.add_typer(store.app, name="store")
app.command("study")(study.study)
app.command("tcp-script")(tcp_script.tcp_script)


@app.callback(invoke_without_command=True)
def _main(
    version: bool = typer.Option(False, "--version", help="Print the version and exit."),
) -> None:
    if version:
        from importlib.metadata import version as of

        print(f"simoom {of('simoom')}")
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
    """Print the traceback of a controller's exception from where the run called it."""
    trace = error.__traceback__
    begin = trace
    while trace is not None:
        if trace.tb_frame.f_code.co_filename in CALLERS:
            begin = trace.tb_next or begin
        trace = trace.tb_next
    traceback.print_exception(type(error), error, begin)


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
