"""``simoom serve``."""

from __future__ import annotations

import errno
import os
import secrets
import socket
import sys
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from simoom import serve as pages
from simoom.base.files import read
from simoom.base.needs import Later
from simoom.cli.terminal import InputError, check_range, directory, origin, say, unread
from simoom.scenario import control, shipped
from simoom.serve.limits import Limits

if TYPE_CHECKING:
    import segno
    import uvicorn
    from starlette.types import ASGIApp

    from simoom.serve import gallery
else:
    gallery = Later("simoom.serve.gallery")
    segno, uvicorn = Later("segno", "a QR code"), Later("uvicorn", "the page")

PORT = 8642
EVERY = {"0.0.0.0": socket.AF_INET, "::": socket.AF_INET6}
"""Addresses that stand for all of this machine; no browser opens them."""
LIBRARY = Path("simoom-runs")
"""The folder of the library, where no other is named."""
LOOPBACK = ("127.0.0.1", "localhost", "[::1]")


def serve(
    file: Annotated[
        Path | None,
        typer.Argument(
            metavar="[FILE]",
            help="A file (TOML) that the page opens, or a name of `simoom scenarios`.",
        ),
    ] = None,
    port: Annotated[int, typer.Option(metavar="N", help="The port; 0 chooses a free one.")] = PORT,
    host: Annotated[
        str,
        typer.Option(
            metavar="NAME",
            help="The address to listen on. Others than this machine reach the page only with "
            "another one, and have then, with the token, the same rights.",
        ),
    ] = "127.0.0.1",
    library: Annotated[
        Path,
        typer.Option(
            metavar="DIR", parser=directory, help="The folder in which completed runs are kept."
        ),
    ] = LIBRARY,
    threads: Annotated[int, typer.Option(metavar="N", help="How many runs at once.")] = 1,
    queue: Annotated[int, typer.Option(metavar="N", help="How many runs may wait.")] = 20,
    run_s: Annotated[
        float, typer.Option(metavar="S", help="After how much time a run is stopped.")
    ] = 600.0,
    run_mib: Annotated[
        int, typer.Option(metavar="N", help="How much memory in MiB a run may take.")
    ] = 4096,
    air_mib: Annotated[
        int, typer.Option(metavar="N", help="The maximum length of a run's timeline in MiB.")
    ] = 1024,
    airs_mib: Annotated[
        int, typer.Option(metavar="N", help="That of all timelines; the oldest are dropped.")
    ] = 2048,
    controllers: Annotated[
        bool,
        typer.Option("--controllers", help="Let scenarios name congestion controllers in Python."),
    ] = False,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Print only the link.")] = False,
) -> None:
    """Open a page in the browser to write scenarios, run them and look at the air."""
    check_range("--port", port, bits=16)
    check_range("--threads", threads, least=1, bits=8)
    if not controllers:
        _run_no_code()
    limits = Limits(queue=queue, run_s=run_s, run_mib=run_mib, air_mib=air_mib, airs_mib=airs_mib)
    _check_limits(limits)
    first = None if file is None else _first(file, limits.scenario_bytes)
    listener = listen(host, port)
    port = listener.getsockname()[1]
    token = secrets.token_urlsafe(24)
    app = pages.application(
        library,
        hosts=frozenset(f"{name}:{port}" for name in (*LOOPBACK, host.lower(), *addresses(host))),
        token=token,
        cookie=f"simoom-{port}",
        desk=pages.Desk(Path.cwd() if file is None else file.resolve().parent, controllers),
        limits=limits,
        first=first,
        threads=threads,
    )
    server = served(app, limits.message_bytes)
    links = [f"http://{name}:{port}/?token={token}" for name in addresses(host)]
    print("\n".join(links), flush=True)
    if not quiet:
        _say(links, host, library)
    server.run(sockets=[listener])


def addresses(host: str) -> list[str]:
    """Return the names by which others reach an address to listen on, for links.

    Those of 0.0.0.0 and :: are the addresses of this machine, first the one of the network that
    leads out.
    """
    if host not in EVERY:
        return [f"[{host.lower()}]" if ":" in host else host.lower()]
    family = EVERY[host]
    found: dict[str, None] = {}
    with suppress(OSError), socket.socket(family, socket.SOCK_DGRAM) as probe:
        # Nothing is sent: a route is looked up, to an address for documentation (RFC 5737, 3849).
        probe.connect(("192.0.2.1" if family == socket.AF_INET else "2001:db8::1", 9))
        found[probe.getsockname()[0]] = None
    with suppress(OSError):
        for *_, address in socket.getaddrinfo(socket.gethostname(), None, family):
            found[str(address[0])] = None
    outer = [each for each in found if not each.startswith(("127.", "::1", "fe80"))]
    names = outer or ["127.0.0.1" if family == socket.AF_INET else "::1"]
    return [f"[{each}]" if ":" in each else each for each in names]


def _say(links: list[str], host: str, library: Path) -> None:
    """Say what to do with links, of which others open the first as a QR code in a terminal."""
    if host not in LOOPBACK and sys.stderr.isatty():
        _say_code(links[0])
    one = "this link" if len(links) == 1 else "one of these links"
    say(f"Open {one}. Runs are kept in {library}/. Ctrl-C ends the server.")


def _say_code(link: str) -> None:
    """Print a link as a QR code, if the package is installed."""
    with suppress(ImportError):
        segno.make(link, error="l").terminal(sys.stderr, compact=True, border=2)


def _check_limits(limits: Limits) -> None:
    """Refuse what limits nothing."""
    check_range("--queue", limits.queue, least=1, bits=16)
    check_range("--run-mib", limits.run_mib, least=1, bits=24)
    check_range("--air-mib", limits.air_mib, least=1, bits=20)
    check_range("--airs-mib", limits.airs_mib, least=1, bits=24)
    if not limits.run_s > 0:
        raise InputError(f"--run-s {limits.run_s:g}: must be more than 0")


def _run_no_code() -> None:
    """Import nothing from the current folder, which may be of others, and no controller at all."""
    control.forbid()
    here = Path.cwd()
    sys.path[:] = [folder for folder in sys.path if Path(folder or ".").resolve() != here]


def _first(file: Path, most: int) -> dict[str, str]:
    """Return name and text of the scenario that the page opens."""
    source = shipped.resolved(file)
    try:
        data = read(source)
    except OSError as error:
        origin.file = str(file)
        raise unread(str(file), error) from None
    if len(data) > most:
        raise OSError(errno.EFBIG, f"has more than {most >> 10:,} KiB", str(file))
    name, text = os.fsencode(file.name).decode(errors="replace"), data.decode(errors="replace")
    if source != file:
        own = gallery.page_text(text.removeprefix(shipped.DIRECTIVE))
        return {"name": name, "text": own, "entry": source.stem}
    return {"name": name, "text": text}


def listen(host: str, port: int) -> socket.socket:
    """Return a socket that listens, or refuse."""
    try:
        family = socket.AF_INET6 if ":" in host else socket.AF_INET
        return socket.create_server((host, port), family=family)
    except OSError as error:
        if error.errno == errno.EADDRINUSE:
            message = f"--port {port}: is in use; choose another one, or 0 for a free one"
        elif error.errno == errno.EACCES:
            message = f"--port {port}: needs more rights; choose one from 1024 on"
        else:
            message = f"--host {host}: {(error.strerror or str(error)).lower()}"
        raise InputError(message) from None


def served(app: ASGIApp, message_bytes: int = 1 << 14) -> uvicorn.Server:
    """Return the server of an application."""
    config = uvicorn.Config(
        app,
        log_config=None,
        access_log=False,
        server_header=False,
        ws="websockets-sansio",
        ws_max_size=message_bytes,
        timeout_graceful_shutdown=1,
    )
    return uvicorn.Server(config)
