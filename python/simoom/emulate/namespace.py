"""The namespaces of ports, from the outside: one process each, which `inside` is the program of."""

from __future__ import annotations

import json
import os
import shutil
import socket
import subprocess
import sys
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from threading import Thread
from typing import Any

from simoom import _core
from simoom.emulate.ports import Port

INSIDE = Path(__file__).with_name("inside.py")
UNSHARE = ("unshare", "--user", "--map-root-user", "--net", "--mount", "--pid", "--fork",
           "--kill-child")  # fmt: skip
ANSWER_S = 10.0
"""How long a namespace may take to be made."""
STOPS_S = 1.0
"""How long a program may take to end when it is asked to."""


class EmulationError(OSError):
    """The machine cannot make the ports; the message says why and what helps."""


class Namespace:
    """A network, mount and process namespace with the interface of one port.

    All that is in it ends with this object, and with the process that has it.

    Parameters
    ----------
    port : Port
        The port.
    address : str
        Its IPv4 address.
    folder : Path
        A folder with the files ``gate``, ``hosts`` and ``resolver``.
    is_main : bool
        Whether its program has the terminal, and its interrupts.
    """

    def __init__(self, port: Port, address: str, folder: Path, *, is_main: bool) -> None:
        self.port = port
        own, other = socket.socketpair()
        given = {
            "name": port.name,
            "address": address,
            "mtu": _core.port_mtu_bytes(),
            "command": port.command,
            "gate": str(folder / "gate"),
            "hosts": str(folder / "hosts"),
            "resolver": str(folder / "resolver"),
            "stream": other.fileno(),
            "serves": port.serves,
        }
        self._process = subprocess.Popen(
            [*UNSHARE, sys.executable, "-I", str(INSIDE), json.dumps(given)],
            pass_fds=[other.fileno()],
            stdin=None if is_main else subprocess.DEVNULL,
            start_new_session=not is_main,
        )
        other.close()
        own.settimeout(ANSWER_S)
        self._stream = own
        self._lines = own.makefile("rb")
        self._ended: dict[str, Any] = {}

    def answer(self) -> dict[str, Any]:
        """Wait for the next message.

        Raises
        ------
        EmulationError
            The namespace cannot be made, or the program is missing.
        """
        try:
            line = self._lines.readline()
        except TimeoutError:
            raise EmulationError(f"the namespace of {self.port.name} does not answer") from None
        if not line:
            raise EmulationError(
                f"no network namespace for {self.port.name}: this machine forbids user namespaces; "
                "allow them (sysctl kernel.unprivileged_userns_clone=1, or "
                "kernel.apparmor_restrict_unprivileged_userns=0), or run as root"
            )
        return self._sound(json.loads(line))

    def _sound(self, message: dict[str, Any]) -> dict[str, Any]:
        """Return a message, unless it says that the port or its program is missing."""
        if "failed" in message:
            raise EmulationError(
                f"no TUN interface for {self.port.name}: {message['failed']}; "
                "/dev/net/tun must be there (module tun), and open to the user (mode 0666)"
            )
        if "missing" in message:
            raise EmulationError(f"{message['missing']}; {self.port.name} runs nothing")
        return message

    def begin(self) -> None:
        """Start the program."""
        self._stream.sendall(b"begin")

    def watch(self) -> None:
        """Watch in a thread until the program has ended."""
        self._stream.settimeout(None)

        def watch() -> None:
            line = self._lines.readline()
            self._ended = json.loads(line) if line else {}

        self._watch = Thread(target=watch, daemon=True)
        self._watch.start()

    def wait(self, timeout_s: float | None = None) -> None:
        """Wait until the program has ended."""
        self._watch.join(timeout_s)

    def stop(self) -> dict[str, Any]:
        """End the program, if it still runs, and return how it has ended.

        Raises
        ------
        EmulationError
            The program could not be started.
        """
        if not self._ended:
            with suppress(OSError):
                self._stream.sendall(b"stop")
                self.wait(STOPS_S)
        return self._sound(self._ended)

    def close(self) -> None:
        """End all that is in the namespace."""
        self._stream.close()
        self._process.kill()
        self._process.wait()


def check_machine(ports: Sequence[Port]) -> None:
    """Raise unless this machine can emulate, and has the programs.

    Raises
    ------
    EmulationError
        What it lacks.
    """
    if not sys.platform.startswith("linux"):
        raise EmulationError("simoom emulate needs Linux: its ports are network namespaces")
    if shutil.which(UNSHARE[0]) is None:
        raise EmulationError("simoom emulate needs the program unshare, of util-linux")
    if not os.path.exists("/dev/net/tun"):  # noqa: PTH110  a device
        raise EmulationError("simoom emulate needs /dev/net/tun; load the module tun")
    for port in ports:
        if port.command and shutil.which(port.command[0]) is None:
            raise EmulationError(f"{port.command[0]}: no such program, for the port {port.name}")
