"""``simoom emulate``: real programs in a simulated network."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from contextlib import nullcontext
from pathlib import Path
from typing import Annotated, Any

import typer

from simoom.base.files import finite
from simoom.cli.api import Source, from_api
from simoom.cli.beside import beside
from simoom.cli.serve import LIBRARY
from simoom.cli.streams import print_json
from simoom.cli.terminal import AsJson, InputError, Quiet, console, directory, say
from simoom.emulate.emulation import Emulation, server_command
from simoom.emulate.emulation import emulate as run
from simoom.emulate.ports import Port, read_ports
from simoom.show.report import tables

EXAMPLES = (
    "simoom emulate cafe --at sta3 -- curl -o /dev/null http://server/file",
    "simoom emulate cafe --at sta3 --for 5 --tape call.pcapng -- sleep 3",
)
"""The end of the help."""
TOO_LATE = 3
Page = Annotated[
    int | None,
    typer.Option(
        metavar="PORT",
        help="Serve the page of simoom serve beside it, which shows how it goes, until Ctrl-C; "
        f"0 chooses a free port. The library is {LIBRARY} without --library.",
    ),
]


@from_api("emulate", without="ports tape library watch")
def emulate(
    source: Source,
    command: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[-- COMMAND]",
            help="A program and its arguments, which runs at the port --at.",
            show_default=False,
        ),
    ] = None,
    at: Annotated[
        str | None,
        typer.Option("--at", metavar="NODE", help="The node behind which the program runs."),
    ] = None,
    to: Annotated[
        str,
        typer.Option(
            "--to",
            metavar="NODE",
            help="The other end: a port of this name with a web server of the present folder.",
        ),
    ] = "server",
    server: Annotated[
        str | None,
        typer.Option(
            "--server", metavar="COMMAND", help="What runs at --to, in place of the web server."
        ),
    ] = None,
    ports: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE", help="A file with a table [[ports]] for each port, in place of --at."
        ),
    ] = None,
    tape: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Keep each packet with its time in this capture; simoom run FILE --tape is the "
            "same run again.",
        ),
    ] = None,
    library: Annotated[
        Path | None,
        typer.Option(
            metavar="DIR",
            parser=directory,
            help="Keep the run, with its tape and timeline, in this library of simoom serve.",
        ),
    ] = None,
    page: Page = None,
    as_json: AsJson = False,
    quiet: Quiet = False,
    **given: Any,
) -> None:
    """Run real programs in a simulated network, in real time (Linux).

    Every port is a network namespace of its own; nothing of the machine's network is touched, and
    no privileges are needed. Programs reach the ports by their names.
    """
    wanted = _wanted(ports, at, to, command or [], server)
    scenario = source.load()
    library = library or (None if page is None else LIBRARY)
    with nullcontext() if page is None else beside(page, library or LIBRARY, scenario) as shown:
        if shown is not None:
            given["watch"] = shown.watch
        done = run(scenario, ports=wanted, tape=tape, library=library, **given)
        _tell(done, tape, library, as_json=as_json, quiet=quiet)
        if shown is not None:
            shown.end(done)
    if done.live["ending"] == "late":
        raise typer.Exit(TOO_LATE)
    if done.exit_code:
        raise typer.Exit(done.exit_code)


def _tell(
    done: Emulation, tape: Path | None, library: Path | None, *, as_json: bool, quiet: bool
) -> None:
    if as_json:
        print_json(finite(done.to_dict()))
    if as_json or quiet:
        return
    screen = console()
    screen.print(tables(done.run, width=screen.width))
    print(f"\n{done.report(screen.width)}")
    if tape is not None:
        say(f"wrote {tape}")
    if library is not None:
        say(f"kept in {library}/: simoom serve --library {library}")


def _wanted(
    ports: Path | None, at: str | None, to: str, command: list[str], server: str | None
) -> Sequence[Port]:
    if ports is None:
        return _pair(at, to, command, server)
    if at is not None or command or server is not None:
        raise InputError("--ports: the file has nodes and commands; leave out --at and COMMAND")
    return read_ports(ports)


def _pair(at: str | None, to: str, command: list[str], server: str | None) -> Sequence[Port]:
    """Return the ports of a program and of the server that it talks to."""
    if at is None:
        raise InputError("--at: names the node behind which the program runs, as --at sta0")
    if not command:
        raise InputError("COMMAND: the program that runs there, as -- curl http://server/")
    serving = server_command() if server is None else tuple(shlex.split(server))
    if not serving:
        raise InputError("--server: is empty; name a program")
    return Port(at, at, tuple(command)), Port(to, to, serving, serves=True)
