"""The ports of an emulation: where programs are attached to a scenario, and the tape of a run."""

from __future__ import annotations

import hashlib
import json
import os
import tomllib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from simoom import _core
from simoom.base.issue import ArgumentError
from simoom.scenario.observables import nearest
from simoom.scenario.scenario import Scenario

MOST_PORTS = 16
KEYS = ("at", "name", "command", "serves")


@dataclass(frozen=True)
class Port:
    """A place where the programs of one network namespace enter the scenario.

    Parameters
    ----------
    at : str
        A node of the scenario: ``sta3``, ``server``.
    name : str
        The name by which programs reach it.
    command : tuple of str
        The program that runs there; none is a port at which nothing runs.
    serves : bool
        Whether the emulation ends although this program runs.
    """

    at: str
    name: str
    command: tuple[str, ...] = ()
    serves: bool = False


def read_ports(path: Path) -> tuple[Port, ...]:
    """Read ports from a TOML file with a table ``[[ports]]`` for each.

    Raises
    ------
    ArgumentError
        A fault of the file, with its table and key.
    OSError
        The file cannot be read.
    """
    try:
        tables = tomllib.loads(path.read_text(encoding="utf-8")).get("ports")
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise ArgumentError("ports", f"{path} is not TOML: {error}") from None
    if not isinstance(tables, list) or not tables:
        raise ArgumentError("ports", f"{path} has no table [[ports]]")
    return tuple(_port(path, number, table) for number, table in enumerate(tables))


def _port(path: Path, number: int, table: Any) -> Port:
    where = f"{path}: ports[{number}]"
    for key in table:
        if key not in KEYS:
            hint = nearest(key, KEYS) or f"; the keys are {', '.join(KEYS)}"
            raise ArgumentError("ports", f"{where} has no key {key!r}{hint}")
    if not isinstance(table.get("at"), str):
        raise ArgumentError("ports", f'{where}.at is missing: the name of a node, as at = "sta0"')
    command = table.get("command", [])
    if isinstance(command, str) or not all(isinstance(word, str) for word in command):
        raise ArgumentError("ports", f'{where}.command must be a list, as ["iperf3", "-s"]')
    name = table.get("name", table["at"])
    return Port(table["at"], str(name), tuple(command), bool(table.get("serves", False)))


def with_ports(
    scenario: Scenario, ports: Sequence[Port], duration_s: float, tape: str = ""
) -> tuple[Scenario, int]:
    """Return a scenario with a flow from each port to each other, and the number of the first.

    Parameters
    ----------
    scenario : Scenario
        What is emulated. All is measured, so that it has no warm-up.
    ports : sequence of Port
        The ports.
    duration_s : float
        How long the run takes.
    tape : str, optional
        The tape with the packets; none is for packets of running programs.
    """
    _check(scenario, ports)
    changed = scenario.set("duration_s", duration_s).set("warmup_s", 0.0)
    for number, flow in enumerate(changed.to_dict().get("flows", [])):
        # A stop that the run does not reach has no effect, and a run must not end before one.
        if (flow.get("stop_s") or 0.0) > duration_s:
            changed = changed.unset(f"flows[{number}].stop_s")
    first = len(dict(scenario.core.trace_names())["flow"])
    pairs = [(a, b) for a in ports for b in ports if a is not b]
    for number, (source, sink) in enumerate(pairs):
        packets = {"file": tape, "interface": number} if tape else {}
        name = f"{source.name} to {sink.name}"
        flow = {"name": name, "from": source.at, "to": sink.at, "traffic": {"port": packets}}
        changed = changed.set("flows[+]", flow)
    return changed, first


def least_s(scenario: Scenario) -> float:
    """Return the least time of a run in which all flows begin as in a longer one."""
    starts = [flow["latest_start_s"] for flow in json.loads(scenario.core.flows())]
    return float(max(starts, default=0.0)) + 1e-3


def addresses(scenario: Scenario, ports: Sequence[Port]) -> dict[str, tuple[int, ...]]:
    """Return the address of each port by its name: that of its node in captures."""
    known = dict(scenario.core.addresses())
    return {port.name: tuple(known[port.at]) for port in ports}


def _check(scenario: Scenario, ports: Sequence[Port]) -> None:
    known = [name for name, _ in scenario.core.addresses()]
    if not 2 <= len(ports) <= MOST_PORTS:
        raise ArgumentError("ports", f"must be 2 to {MOST_PORTS}, are {len(ports)}")
    for number, port in enumerate(ports):
        if port.at not in known:
            hint = nearest(port.at, known) or f"; it has {', '.join(known[:8])}"
            raise ArgumentError("at", f"the scenario has no node {port.at!r}{hint}")
        for other in ports[:number]:
            if other.at == port.at:
                said = f"{other.name} and {port.name} are both at {port.at}; a node has one port"
                raise ArgumentError("at", said)
            if other.name == port.name:
                raise ArgumentError("ports", f"two ports have the name {port.name}")


@dataclass(frozen=True)
class Tape:
    """What a tape says of its emulation.

    Parameters
    ----------
    ports : tuple of Port
        The ports, in their order.
    scenario : str
        The fingerprint of the scenario.
    seed, replication : int
        Those of the run.
    end_s : float
        When it ended.
    """

    ports: tuple[Port, ...]
    scenario: str
    seed: int
    replication: int
    end_s: float

    @classmethod
    def read(cls, path: str | os.PathLike[str]) -> Tape:
        """Read what a tape says.

        Raises
        ------
        OSError
            The file cannot be read, or is not a tape.
        """
        comment, end_s, _ = _core.read_tape(path)
        return cls.of(comment, end_s or 0.0, os.fspath(path))

    @classmethod
    def of(cls, comment: str, end_s: float, path: str) -> Tape:
        """Return what a comment says, which `comment_of` has written.

        Raises
        ------
        OSError
            It says nothing of an emulation.
        """
        try:
            said = json.loads(comment)
            ports = tuple(Port(port["at"], port["name"]) for port in said["ports"])
            return cls(ports, said["scenario"], said["seed"], said["replication"], end_s)
        except (ValueError, KeyError, TypeError):
            raise OSError(f"{path} is a capture, but not a tape of Simoom") from None

    def scenario_of(self, scenario: Scenario, path: str | os.PathLike[str]) -> Scenario:
        """Return the scenario that repeats the emulation.

        Raises
        ------
        ArgumentError
            The tape is of another scenario.
        """
        if fingerprint(scenario) != self.scenario:
            raise ArgumentError(
                "tape",
                f"{os.fspath(path)} is of another scenario; the emulation repeats with the same "
                "file and the same --set",
            )
        file = str(Path(path).resolve())
        return with_ports(scenario, self.ports, self.end_s, file)[0]


def comment_of(scenario: Scenario, ports: Sequence[Port], seed: int, replication: int) -> str:
    """Return what a tape says of its emulation, as JSON."""
    return json.dumps(
        {
            "scenario": fingerprint(scenario),
            "seed": seed,
            "replication": replication,
            "ports": [{"at": port.at, "name": port.name} for port in ports],
        }
    )


def fingerprint(scenario: Scenario) -> str:
    """Return what tells scenarios apart: a hash of all keys with their values."""
    keys = json.loads(scenario.core.to_full_json())
    for key in ("duration_s", "warmup_s"):
        keys.pop(key, None)
    return hashlib.sha256(json.dumps(keys, sort_keys=True).encode()).hexdigest()
