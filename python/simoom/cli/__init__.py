"""The command line: ``simoom COMMAND``.

A command is a function in a module of its own, or a `typer.Typer` of several; it registers here.
Faults of input are exceptions (`ScenarioError`, `OSError`, `Refusal`) and become messages and exit
codes here, in one place.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence

import typer

from simoom.cli import airtime, model, run, scenario, study, tcp_script
from simoom.cli.terminal import Refusal, say, say_os_error
from simoom.issue import ScenarioError

BAD_INPUT = 2
DEFECT = 70
"""EX_SOFTWARE of sysexits."""
INTERRUPTED = 130
"""128 and the number of SIGINT, as shells have it."""

app = typer.Typer(
    name="simoom",
    help="A laboratory for TCP over IEEE 802.11.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)
app.command("run")(run.run)
app.command("model")(model.model)
app.command("check")(scenario.check)
app.command("schema")(scenario.schema)
app.command("airtime")(airtime.airtime)
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
    try:
        app(arguments, prog_name="simoom")
    except SystemExit as exit_:
        code = exit_.code if isinstance(exit_.code, int) else 1
        if code == INTERRUPTED:
            say("interrupted")
        return code
    except KeyboardInterrupt:
        say("interrupted")
        return INTERRUPTED
    except ScenarioError as error:
        for issue in error.issues:
            say(str(issue))
    except Refusal as refusal:
        say(str(refusal))
    except OSError as error:
        say_os_error(error)
    except BaseException as error:
        if type(error).__name__ != "PanicException":
            raise
        say(f"a defect of Simoom, please report it with the scenario: {error}")
        return DEFECT
    return BAD_INPUT


def entry() -> None:
    """Run the command that the process was started with."""
    sys.exit(main())
