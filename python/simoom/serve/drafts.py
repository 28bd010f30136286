"""Scenarios that a user writes: their faults with places, edits by path, and the map."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from simoom.base.issue import Issue, ScenarioError
from simoom.results.tables import visible
from simoom.runs.axis_text import split
from simoom.scenario.hearing import hearing
from simoom.scenario.routes import routes
from simoom.scenario.scenario import Scenario, toml_value

MOST_NODES = 200
"""Nodes whose pairs are shown: a line for each pair of more would hide everything."""


@dataclass(frozen=True)
class Desk:
    """How drafts are read.

    Attributes
    ----------
    folder : Path
        Names of files in a scenario are relative to this folder and may not leave it.
    controllers : bool
        Whether scenarios may name controllers in Python, which may do anything that the user may.
    """

    folder: Path
    controllers: bool = False
    tapes: Path | None = None
    """A folder beside it of which files are admitted, too: that of the tapes of a library."""

    def read(self, text: str) -> Scenario:
        """Read a scenario.

        Raises
        ------
        ScenarioError
            It has faults, or names what this server does not open.
        """
        scenario = Scenario.parse(text)
        self.admit(scenario)
        if scenario.core.files():
            scenario = Scenario._of(scenario.core.in_folder(self.folder))  # noqa: SLF001
        scenario.check()
        return scenario

    def admit(self, scenario: Scenario) -> None:
        """Refuse a scenario that names what this server does not open, before anything reads it.

        Each scenario passes here: what is posted, the points of sweeps, and records of the library.

        Raises
        ------
        ScenarioError
            It names code in Python, or a file outside the folder.
        """
        if issues := [*self._foreign_code(scenario), *self._foreign_files(scenario)]:
            raise ScenarioError(issues)

    def _foreign_code(self, scenario: Scenario) -> Iterable[Issue]:
        if self.controllers:
            return
        for path in _controllers(scenario.to_dict()):
            message = "is code in Python, which runs only if the server has --controllers"
            yield Issue(path, message)

    def _foreign_files(self, scenario: Scenario) -> Iterable[Issue]:
        folder = self.folder.resolve()
        folders = [folder] if self.tapes is None else [folder, self.tapes.resolve()]
        for name in scenario.core.files():
            if "\0" in name:
                yield Issue("", f"{visible(name)}: is no name of a file: it has a NUL character")
            elif not any((folder / name).resolve().is_relative_to(each) for each in folders):
                yield Issue("", f"{name}: is outside the folder of this server")


def _controllers(value: Any, path: str = "") -> Iterable[str]:
    """Yield the paths of controllers in Python anywhere in a scenario."""
    if isinstance(value, Mapping):
        for key, item in value.items():
            own = f"{path}.{key}" if path else str(key)
            if key == "python" and isinstance(item, Mapping) and "path" in item:
                yield own
            else:
                yield from _controllers(item, own)
    elif isinstance(value, list):
        for number, item in enumerate(value):
            yield from _controllers(item, f"{path}[{number}]")


@dataclass(frozen=True)
class Draft:
    """A text, and what it says if it is a scenario."""

    text: str
    desk: Desk

    @cached_property
    def _read(self) -> Scenario | ScenarioError:
        try:
            return self.desk.read(self.text)
        except ScenarioError as error:
            return error

    @property
    def scenario(self) -> Scenario:
        """The scenario; raises if the text has faults."""
        if isinstance(self._read, ScenarioError):
            raise self._read
        return self._read

    def state(self) -> dict[str, Any]:
        """Return faults with their places; and keys, probes and map if there are none."""
        if isinstance(self._read, ScenarioError):
            return {"issues": issues_of(self._read, self.text), "keys": self._keys(), "map": None}
        keys = self._read.to_dict()
        probes = [probe._asdict() for probe in self._read.probes()]
        return {"issues": [], "keys": keys, "probes": probes, "map": map_of(self._read, keys)}

    def _keys(self) -> dict[str, Any] | None:
        try:
            return Scenario.parse(self.text).to_dict()
        except ScenarioError:
            return None

    def changed(self, path: str, value: Any) -> str:
        """Return the text with another value at a path.

        Raises
        ------
        ScenarioError
            The scenario can have no such value there.
        TypeError
            No scenario can have such a value.
        """
        return _with(self.text, path, toml_value(value))

    def varied(self, settings: Iterable[str], unset: Iterable[str] = ()) -> str:
        """Return the text without some keys and with settings, each as ``--set`` takes it.

        Raises
        ------
        ScenarioError
            The scenario can have no such value there.
        """
        text = self.text
        for path in unset:
            text = Scenario.parse(text).unset(path.strip()).core.below(text)
        for setting in settings:
            path = next(split(setting, "="))
            text = _with(text, path.strip(), setting[len(path) + 1 :].strip())
        return text


def _with(text: str, path: str, written: str) -> str:
    """Return a text with a value, which is written as in TOML, at a path."""
    return Scenario.parse(text).set_text(path, written).core.over(text, path, written)


def issues_of(error: ScenarioError, text: str) -> list[dict[str, Any]]:
    """Return faults with the offsets at which an editor shows them."""
    found, data = [], text.encode(errors="replace")
    for issue in error.issues:
        begin, end = (0, 0) if issue.place is None else issue.place.whole
        line = 1 if issue.place is None else issue.place.line
        found.append({
            "path": issue.path, "message": issue.text, "from": _units(data[:begin]),
            "to": _units(data[:end] if end else data.partition(b"\n")[0]), "line": line,
        })  # fmt: skip
    return found


def _units(text: bytes) -> int:
    """Return the length of a text in UTF-16 code units, in which browsers count."""
    return len(text.decode(errors="replace").encode("utf-16-le")) // 2


def map_of(scenario: Scenario, keys: Mapping[str, Any]) -> dict[str, Any] | None:
    """Return the nodes of a scenario with a radio and positions, and who detects whom."""
    if keys.get("radio") is None or nodes_of(scenario) > MOST_NODES:
        return None

    positions = written_positions(keys)
    try:
        if keys["radio"].get("ad_hoc"):
            found = routes(scenario, times_s=[0.0])
            at = found.positions_m[0].tolist()
            placed = {name: {"at": at[n]} for n, name in enumerate(found.nodes)}
            positions = {**placed, **positions}
        heard = hearing(scenario)
    except (ScenarioError, ValueError):
        return None
    nodes = [{"name": name, **positions[name]} for name in heard.nodes if name in positions]
    if not nodes:
        return None
    links = [
        {"from": pair.source, "to": pair.sink, "signal_dbm": pair.signal_dbm,
         "detected": pair.detected, "rate_mbps": pair.rate_mbps, "success": pair.success}
        for pair in heard.pairs if pair.source in positions and pair.sink in positions
    ]  # fmt: skip
    return {"nodes": nodes, "links": links, "hidden": heard.hidden}


def nodes_of(scenario: Scenario) -> int:
    """Return how many nodes have a radio."""
    return len(dict(scenario.core.trace_names())["radio"])


def written_positions(keys: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
    """Return position and path of each node whose position is in the scenario."""
    found: dict[str, dict[str, Any]] = {}
    ap = keys.get("ap") or {}
    if isinstance(ap.get("position_m"), list):
        found["ap"] = {"at": ap["position_m"], "path": "ap.position_m"}
    for number, cell in enumerate(keys.get("cells") or ()):
        if isinstance(cell.get("position_m"), list):
            own = {"at": cell["position_m"], "path": f"cells[{number}].position_m"}
            found[f"cells[{number}]"] = own
    groups = keys.get("stations")
    station = 0
    for number, group in enumerate(groups if isinstance(groups, list) else ()):
        count = group.get("count", 1) if isinstance(group, dict) else group
        if isinstance(group, dict) and isinstance(group.get("position_m"), list):
            for each in range(station, station + min(count, MOST_NODES)):
                own = {"at": group["position_m"], "path": f"stations[{number}].position_m"}
                found[f"sta{each}"] = own
        station += count
    return found
