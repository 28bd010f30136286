"""`simoom.emulate`: real programs in a simulated network, in real time."""

from __future__ import annotations

import os
import shutil
import signal
import socket
import sys
import tempfile
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from weakref import finalize

from simoom import _core
from simoom.base.arguments import whole
from simoom.base.issue import ArgumentError
from simoom.emulate.glance import Glances
from simoom.emulate.namespace import ANSWER_S, EmulationError, Namespace, check_machine
from simoom.emulate.ports import Port, Tape, addresses, comment_of, least_s, with_ports
from simoom.emulate.report import MOSTLY, text, verdict_of
from simoom.emulate.shelf import shelf_in
from simoom.results.run import Run, run
from simoom.scenario.scenario import Scenario, ScenarioLike

LONGEST_S = 3600.0
PRIORITY = 50
LOOK_S = 0.2
"""The time between two looks at how it goes."""


@dataclass(frozen=True)
class Emulation:
    """An emulation: how late it was, and the run of its network.

    Attributes
    ----------
    run : Run
        The results of the network, from the tape.
    live : dict
        What the emulation says of itself: times in seconds, counts, ``ports``.
    exit_code : int or None
        That of the program; None if it had not ended.
    tape : str or None
        The tape, if it was asked for.
    key : str or None
        Its key in the library, if it was asked for.
    """

    run: Run
    live: dict[str, Any]
    exit_code: int | None
    tape: str | None
    key: str | None = None

    @property
    def verdict(self) -> str:
        """Whether its network was the simulated one: ``kept up``, ``late`` or ``invalid``."""
        return verdict(self.live)

    def to_dict(self) -> dict[str, Any]:
        """Return all of it, for JSON.

        Returns
        -------
        dict
            What `live` has, the verdict, the exit code and the summary.
        """
        return {
            "verdict": self.verdict,
            "exit_code": self.exit_code,
            **self.live,
            "summary": dict(self.run.summary),
        }

    def report(self, width: int = 100) -> str:
        """Return what the emulation says of itself, as text.

        Parameters
        ----------
        width : int, optional
            The width of its lines.

        Returns
        -------
        str
            Lines with the verdict, how late it was, and what each port carried.
        """
        return text(self, width)


def verdict(live: dict[str, Any]) -> str:
    """Return the verdict on what an emulation says of itself."""
    late = live["egress_late"]
    lost = sum(port["not_written"] + port["kernel_dropped"] for port in live["ports"])
    is_invalid = bool(lost) or live["fell_behind"] or not live["repeats"]
    return verdict_of(late["above_1ms_fraction"] <= MOSTLY, late["max_s"], is_invalid=is_invalid)


def emulate(
    scenario: ScenarioLike,
    *,
    ports: Sequence[Port],
    seed: int = 1,
    replication: int = 0,
    longest_s: float = LONGEST_S,
    tape: str | os.PathLike[str] | None = None,
    strict: bool = False,
    library: str | os.PathLike[str] | None = None,
    watch: Callable[[dict[str, Any]], object] | None = None,
) -> Emulation:
    """Run real programs in a simulated network, in real time.

    Each port is a network namespace of its own with one interface, behind a node of the scenario.
    The network is the scenario with a flow from each port to each other. It ends when all programs
    have ended but those that serve. Linux only; no privileges are needed.

    Parameters
    ----------
    scenario : Scenario, path or mapping
        The scenario, as for `simoom.run`. Its duration and warm-up are those of the emulation.
    ports : sequence of Port
        The ports, 2 to 16.
    seed : int, optional
        The root of the random streams.
    replication : int, optional
        The number of the replication with this seed.
    longest_s : float, optional
        The longest time that it may take.
    tape : path, optional
        The file that keeps each packet with its time: `simoom.run` of the tape is the same run.
    strict : bool, optional
        Whether to end when it is late by 100 ms, with exit code 3.
    library : path, optional
        The run library that keeps the run with its tape; `simoom serve` shows it.
    watch : callable, optional
        Called twice a second with how it goes, from another thread.

    Returns
    -------
    Emulation
        How late it was, the results of the network, and the exit code of the program.

    Raises
    ------
    OSError
        This machine cannot make the ports, or a program is missing.
    ScenarioError
        The scenario has faults.
    """
    original = Scenario.of(scenario)
    whole("seed", seed, bits=64)
    whole("replication", replication, bits=32)
    if not 0 < longest_s <= LONGEST_S:
        raise ArgumentError("longest_s", f"must be more than 0 and at most {LONGEST_S:g}")
    changed, first = with_ports(original, ports, longest_s)
    changed.check()
    check_machine(ports)
    shelf = None if library is None else shelf_in(Path(library))
    folder = Path(tempfile.mkdtemp(prefix="simoom-"))
    with ExitStack() as undo:
        undo.callback(shutil.rmtree, folder, ignore_errors=True)
        file = folder / "run.tape.pcapng" if tape is None else Path(tape)
        comment = comment_of(original, ports, seed, replication)
        named = addresses(original, ports)
        times = longest_s, least_s(changed)
        kept = file, comment, tape is not None or shelf is not None
        live, code = _live(
            changed, (seed, replication), named, first, kept, ports, folder, times,
            strict=strict, watch=watch,
        )  # fmt: skip
        key = None
        if shelf is not None:
            key, done = shelf.keep(original, file, ports)
        else:
            again = Tape.read(file).scenario_of(original, file)
            done = run(again, seed=seed, replication=replication)
        live["repeats"] = done.digest == live["digest"]
        emulation = Emulation(done, live, code, None if tape is None else os.fspath(tape), key)
        # The scenario of the results names the tape, which is there as long as they are.
        finalize(emulation, undo.pop_all().close)
    return emulation


def _live(
    scenario: Scenario,
    root: tuple[int, int],
    named: dict[str, tuple[int, ...]],
    first_flow: int,
    tape: tuple[Path, str, bool],
    ports: Sequence[Port],
    folder: Path,
    times: tuple[float, float],
    *,
    strict: bool,
    watch: Callable[[dict[str, Any]], object] | None,
) -> tuple[dict[str, Any], int | None]:
    """Make the ports, run the loop, and return what it says and the program's exit code."""
    with ExitStack() as stack:
        gate = _core.PortGate(folder / "gate")
        control = stack.enter_context(socket.socket(socket.AF_UNIX))
        control.connect(str(folder / "gate"))
        control.sendall(b"control")
        _expect(gate)
        spaces = _spaces(ports, named, folder, gate, stack)
        servers = [space for space in spaces if space.port.serves and space.port.command]
        for space in servers:
            space.begin()
            space.answer()
        for space in spaces:
            space.watch()
        others = [space for space in spaces if space not in servers]
        awaited = [space for space in others if space.port.command]
        _end_with(awaited, control)

        def begin() -> None:
            for space in others:
                space.begin()

        watched = None
        if watch is not None:
            glances = Glances(ports, scenario, watch)
            watched = glances.paths
            stack.enter_context(_glances(gate, glances.take))
        with _interrupts(control), _real_time() as scheduling:
            live = gate.run(scenario.core, *root, list(named.items()), first_flow, tape, *times,
                            strict, begin, watched)  # fmt: skip
        ends = {space.port.name: space.stop() for space in spaces}
        for port in live["ports"]:
            port["kernel_dropped"] = ends[port["name"]].get("dropped", 0)
            port["exit_code"] = ends[port["name"]].get("code")
        live["scheduling"] = scheduling
        live["digest"] = f"{live['digest']:016x}"
        code = ends[awaited[0].port.name].get("code") if awaited else None
        return live, code


def _expect(gate: _core.PortGate) -> None:
    if not gate.accept(ANSWER_S):
        raise EmulationError("a namespace does not send its interface")


def _spaces(
    ports: Sequence[Port],
    named: dict[str, tuple[int, ...]],
    folder: Path,
    gate: _core.PortGate,
    stack: ExitStack,
) -> list[Namespace]:
    texts = {name: ".".join(map(str, parts)) for name, parts in named.items()}
    hosts = "".join(f"{text} {name}\n" for name, text in texts.items())
    (folder / "hosts").write_text(f"127.0.0.1 localhost\n{hosts}", encoding="ascii")
    (folder / "resolver").write_text("", encoding="ascii")
    is_first = True
    spaces = []
    for port in ports:
        is_main = is_first and bool(port.command) and not port.serves
        is_first = is_first and not is_main
        space = Namespace(port, texts[port.name], folder, is_main=is_main)
        stack.callback(space.close)
        spaces.append(space)
    for space in spaces:
        space.answer()
        _expect(gate)
    return spaces


def _end_with(awaited: Sequence[Namespace], control: socket.socket) -> None:
    """Ask the loop to end when the last of these programs has ended."""

    def wait() -> None:
        for space in awaited:
            space.wait()
        with suppress(OSError):  # The loop has ended before them.
            control.send(b"e")

    if awaited:
        threading.Thread(target=wait, daemon=True).start()


@contextmanager
def _glances(gate: _core.PortGate, told: Callable[[dict[str, Any]], object]) -> Iterator[None]:
    """Tell each glance in a thread."""
    end = threading.Event()

    def look() -> None:
        last = -1.0
        while not end.wait(LOOK_S):
            glance = gate.glance()
            if glance is not None and glance["at_s"] > last:
                last = glance["at_s"]
                told(glance)

    thread = threading.Thread(target=look, daemon=True)
    thread.start()
    try:
        yield
    finally:
        end.set()
        thread.join()


@contextmanager
def _interrupts(control: socket.socket) -> Iterator[None]:
    """Send interrupts to the loop: the first asks for the end, the second leaves at once."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    control.setblocking(False)
    before = [(number, signal.signal(number, lambda *_: None))
              for number in (signal.SIGINT, signal.SIGTERM)]  # fmt: skip
    wakes = signal.set_wakeup_fd(control.fileno(), warn_on_full_buffer=False)
    try:
        yield
    finally:
        signal.set_wakeup_fd(wakes)
        for number, handler in before:
            signal.signal(number, handler)


@contextmanager
def _real_time() -> Iterator[str]:
    """Give this thread real-time priority, where that is allowed; yield its scheduling class."""
    if not hasattr(os, "sched_setscheduler"):
        yield "SCHED_OTHER"
        return
    before = os.sched_getscheduler(0), os.sched_getparam(0)
    try:
        # Programs that are started meanwhile do not inherit it.
        policy = os.SCHED_FIFO | os.SCHED_RESET_ON_FORK
        os.sched_setscheduler(0, policy, os.sched_param(PRIORITY))
    except OSError:
        yield "SCHED_OTHER"
        return
    try:
        yield "SCHED_FIFO"
    finally:
        os.sched_setscheduler(0, *before)


def server_command() -> tuple[str, ...]:
    """Return the web server that serves the present folder, at port 80."""
    return (sys.executable, "-I", str(Path(__file__).with_name("web.py")))
