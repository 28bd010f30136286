"""The page of ``simoom serve`` beside an emulation."""

from __future__ import annotations

import secrets
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from simoom import serve
from simoom.cli.serve import LOOPBACK, listen, served
from simoom.cli.terminal import check_range, say

if TYPE_CHECKING:
    from simoom.emulate.emulation import Emulation
    from simoom.scenario.scenario import Scenario


class Beside:
    """A page that shows an emulation, and then its run in the library."""

    def __init__(self, emulating: serve.Emulating, title: str) -> None:
        self._emulating = emulating
        self._title = title

    def watch(self, told: dict[str, Any]) -> None:
        """Show how the emulation goes."""
        self._emulating.told = {"state": "running", "title": self._title, **told}

    def end(self, done: Emulation) -> None:
        """Show how it has ended, and wait for Ctrl-C."""
        before = self._emulating.told or {"ports": []}
        late = done.live["egress_late"]
        self._emulating.told = {
            **before,
            "state": "ended",
            "title": self._title,
            "verdict": done.verdict,
            "run": done.key,
            "at_s": done.live["end_s"],
            "max_s": late["max_s"],
        }
        say("The page stays until Ctrl-C.")
        with suppress(KeyboardInterrupt):
            while True:
                time.sleep(1.0)


@contextmanager
def beside(port: int, folder: Path, scenario: Scenario) -> Iterator[Beside]:
    """Serve the page in a thread."""
    check_range("--page", port, bits=16)
    emulating = serve.Emulating()
    listener = listen("127.0.0.1", port)
    port = listener.getsockname()[1]
    token = secrets.token_urlsafe(24)
    hosts = frozenset(f"{name}:{port}" for name in LOOPBACK)
    app = serve.application(
        folder,
        hosts=hosts,
        token=token,
        cookie=f"simoom-{port}",
        desk=serve.Desk(Path.cwd()),
        emulation=emulating,
    )
    server = served(app)
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]}, daemon=True)
    thread.start()
    say(f"http://127.0.0.1:{port}/?token={token}")
    try:
        yield Beside(emulating, str(scenario.get("title") or "A network without a title"))
    finally:
        server.should_exit = True
        thread.join(2.0)
