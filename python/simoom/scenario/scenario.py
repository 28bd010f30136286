"""The scenario as an immutable value."""

from __future__ import annotations

import json
import math
import os
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from simoom import _core
from simoom.base.files import DEEPEST, read
from simoom.base.issue import Issue, ScenarioError
from simoom.base.lazy import door
from simoom.scenario import edit
from simoom.scenario.control import import_path
from simoom.scenario.observables import Probe
from simoom.scenario.shipped import resolved


class Scenario:
    """An 802.11 cell and the traffic in it.

    A scenario is immutable: `set` returns a new one. Its keys are those of the TOML file and are
    documented in ``docs/scenario.md``. A value has a path, ``flows[0].tcp.mss_bytes``.

    Parameters
    ----------
    **keys
        The top-level keys, for example ``standard``, ``stations``, ``duration_s`` and ``flows``.

    Raises
    ------
    ScenarioError
        A key is unknown or a value has the wrong type.

    Examples
    --------
    >>> import simoom as sm
    >>> s = sm.Scenario(standard="11g", stations=10, flows=[{"from": "server", "to": "sta*"}])
    >>> s
    Scenario(standard='11g', 10 stations, 1 flow tables, 30 s)
    >>> s.set("stations", 20).get("stations")
    20
    >>> s.set("statoins", 20)
    Traceback (most recent call last):
    simoom.base.issue.ScenarioError: statoins: ...
    """

    __slots__ = ("_hash", "core")
    core: _core.Scenario
    _hash: int

    def __init__(self, **keys: Any) -> None:
        if fault := _unwritable("", keys):
            raise ScenarioError([fault])
        self.core = _core.Scenario.from_json(json.dumps(keys, default=_plain))

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Scenario:
        """Read a scenario from a TOML file.

        Names of other files in it are relative to its folder, or to the current folder if the
        scenario is read from a pipe.

        Parameters
        ----------
        path : path
            The file, or the name of a scenario that comes with Simoom.

        Returns
        -------
        Scenario

        Raises
        ------
        OSError
            The file cannot be read.
        ScenarioError
            The file is not a scenario.
        """
        file = resolved(path)
        core = _core.Scenario.parse(read(file))
        file_path = file.resolve()
        folder = file_path.parent if file_path.is_file() else Path.cwd()
        return cls._of(core.in_folder(folder))

    @classmethod
    def parse(cls, text: str | bytes) -> Scenario:
        """Read a scenario from the text of a TOML file.

        Returns
        -------
        Scenario
            The scenario.
        """
        data = _utf8("", text) if isinstance(text, str) else text
        return cls._of(_core.Scenario.parse(data))

    @classmethod
    def of(cls, scenario: ScenarioLike) -> Scenario:
        """Return a scenario as it is, or read one from a TOML file or a mapping of its keys.

        Returns
        -------
        Scenario
            The scenario.

        Examples
        --------
        >>> Scenario.of({"standard": "11g", "stations": 2})
        Scenario(standard='11g', 2 stations, 0 flow tables, 30 s)
        """
        if isinstance(scenario, Scenario):
            return scenario
        if isinstance(scenario, Mapping):
            return cls(**{str(key): value for key, value in scenario.items()})
        if isinstance(scenario, (str, os.PathLike)):
            return cls.load(scenario)
        kind = type(scenario).__name__
        raise TypeError(
            f"scenario: must be a Scenario, the path of a TOML file or a mapping, is {kind}"
        )

    @classmethod
    def _of(cls, core: _core.Scenario) -> Scenario:
        scenario = cls.__new__(cls)
        scenario.core = core
        return scenario

    def set(self, path: str, value: Any) -> Scenario:
        """Return a scenario in which one value is changed.

        Parameters
        ----------
        path : str
            The path, for example ``flows[0].control``; ``flows[*].control`` is that of all flows,
            ``flows["download"].control`` that of the flows with a name (`simoom.scenario.address`).
            ``flows[+]`` appends a table.
        value
            A string, number, truth value, list or mapping; for a flow's ``control`` also a
            subclass of `simoom.Control`, which is stored by its import path, or that path:
            ``mylab.aimd:Aimd`` or ``mylab/aimd.py:Aimd``.

        Returns
        -------
        Scenario
            A changed copy.
        """
        if fault := _unwritable(path, value):
            raise ScenarioError([fault])
        return self.set_text(path, toml_value(value))

    def set_text(self, path: str, text: str) -> Scenario:
        """Return a scenario in which one value, written as in TOML, is changed.

        A bare word is a string, so that ``flows[0].control=new_reno`` needs no quotes.

        Returns
        -------
        Scenario
            A changed copy.
        """
        _utf8("", path)
        _utf8(path, text)
        return self._of(self.core.set(path, edit.controller(path, text)))

    def addressed(self, paths: Iterable[str]) -> tuple[Scenario, list[list[str]]]:
        """Return a scenario with a table for each station that is named, and the paths in it.

        Returns
        -------
        Scenario
            An equal scenario.
        list of list of str
            For each path, those with indices for which it stands.

        Examples
        --------
        >>> s = Scenario(standard="11n", stations=3)
        >>> s.addressed(['stations["sta2"].mcs'])[1]
        [['stations[1].mcs']]
        """
        single, found = self.core.addressed(list(paths))
        return self._of(single), found

    def unset(self, path: str) -> Scenario:
        """Return a scenario without a key, or without an element of a list.

        Returns
        -------
        Scenario
            A copy without it.

        Raises
        ------
        ScenarioError
            The key is not set.

        Examples
        --------
        >>> s = Scenario(standard="11g", stations=1, duration_s=5.0)
        >>> s.unset("duration_s").get("duration_s")
        30.0
        """
        _utf8("", path)
        return self._of(self.core.unset(path))

    def get(self, path: str) -> Any:
        """Return the value at a path, as plain Python data.

        Returns
        -------
        object
            The value as it is written or its default; None if the key has neither.
        """
        _utf8("", path)
        return json.loads(self.core.get(path))

    @property
    def warmup_s(self) -> float:
        """The time in seconds that is not measured: by default a tenth of the duration."""
        given = self.get("warmup_s")
        return float(self.get("duration_s") / 10 if given is None else given)

    def check(self) -> None:
        """Raise `ScenarioError` with all faults if there are any."""
        self.core.check()

    def caveats(self, *, seed: int = 1, replication: int = 0) -> list[str]:
        """Return what the results of this scenario are not right about, in one sentence each.

        Parameters
        ----------
        seed, replication : int, optional
            The root of the random streams, from which positions and shadowing are drawn.

        Returns
        -------
        list of str
            Nothing if all that the scenario needs is modelled.

        Raises
        ------
        ScenarioError
            The scenario has faults.
        """
        return _core.caveats(self.core, seed, replication)

    def presets(self) -> dict[str, dict[str, Any]]:
        """Return what presets such as `tcp.endpoint = "linux"` set: keys without a value here.

        Returns
        -------
        dict
            By the path of the preset, each path that it sets, with the value.

        Examples
        --------
        >>> link = {"from": "a", "to": "b", "rate_mbps": 10.0}
        >>> flow = {"from": "a", "to": "b", "control": "cubic", "tcp": {"endpoint": "linux"}}
        >>> found = Scenario(duration_s=10.0, links=[link], flows=[flow]).presets()
        >>> found["flows[0].tcp.endpoint"]["flows[0].tcp.rto_min_ms"]
        200.0
        """
        found: dict[str, dict[str, Any]] = {}
        for by, path, value in self.core.presets():
            found.setdefault(by, {})[path] = json.loads(value)
        return found

    def probes(self) -> tuple[Probe, ...]:
        """Return the probes that `run` can record of this scenario.

        Returns
        -------
        tuple of Probe
            The probes with their units.

        Examples
        --------
        >>> flows = [{"from": "server", "to": "sta*"}]
        >>> s = Scenario(standard="11g", stations=3, flows=flows)
        >>> next(probe for probe in s.probes() if probe.path == "flows[*].srtt_s")
        Probe(path='flows[*].srtt_s', unit='s', meaning='The smoothed ...', series=3)
        """
        return tuple(Probe(*each) for each in self.core.probes())

    def probe_paths(self, path: str) -> list[str]:
        """Return the probes that a path with the name of a flow or of a station stands for.

        Returns
        -------
        list of str
            Paths of probes, with the indices of flows and stations.

        Examples
        --------
        >>> flows = [{"name": "up", "from": "sta*", "to": "server"}]
        >>> Scenario(standard="11g", stations=2, flows=flows).probe_paths('flows["up"].srtt_s')
        ['flows[0].srtt_s', 'flows[1].srtt_s']
        """
        return self.core.probe_paths(path)

    def to_toml(self) -> str:
        """Return the scenario as the text of a TOML file.

        Returns
        -------
        str
            The text of a TOML file.
        """
        return self.core.to_toml()

    def to_dict(self) -> dict[str, Any]:
        """Return every key with its value or default, as plain data; None depends on other keys.

        Returns
        -------
        dict
            Each key with its value or default, as `Scenario` takes them.
        """
        keys: dict[str, Any] = json.loads(self.core.to_full_json())
        return keys

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Scenario) and self.core == other.core

    def __hash__(self) -> int:
        # Cached, because each of many replications needs it.
        if not hasattr(self, "_hash"):
            self._hash = hash(self.core.to_full_json())
        return self._hash

    @door
    def _repr_html_(self) -> str:
        raise NotImplementedError

    def __repr__(self) -> str:
        keys = self.to_dict()
        stations = keys["stations"]
        groups = stations if isinstance(stations, list) else [stations]
        count = sum(group["count"] if isinstance(group, dict) else group for group in groups)
        title = f"{keys['title']!r}, " if keys["title"] else ""
        cell = f"standard={keys['standard']!r}, {count} stations, "
        if keys["links"]:
            cell = (cell if count else "") + f"{len(keys['links'])} links, "
        flows = len(keys["flows"])
        return f"Scenario({title}{cell}{flows} flow tables, {keys['duration_s']:g} s)"

    def __reduce__(self) -> tuple[Any, tuple[str]]:
        return _again, (self.to_toml(),)


def _again(toml: str) -> Scenario:
    """Return a scenario of another process, whose faults are at no place of a text."""
    return Scenario._of(_core.Scenario.parse_again(toml))  # noqa: SLF001  of the same class


ScenarioLike = Scenario | str | os.PathLike[str] | Mapping[str, Any]
"""What `run` and other functions take as a scenario: one, its TOML file, or its keys."""


def _utf8(path: str, text: str) -> bytes:
    """Return a text as UTF-8; raise if it has half of a surrogate pair."""
    try:
        return text.encode()
    except UnicodeEncodeError as error:
        shown = path.encode(errors="backslashreplace").decode()
        raise ScenarioError([Issue(shown, _surrogate(error.object[error.start]))]) from None


def _surrogate(char: str) -> str:
    return f"a text has U+{ord(char):04X}, a lone surrogate, which is no character"


def _unwritable(path: str, value: Any, depth: int = 0) -> Issue | None:
    """Return why a scenario cannot have a value, with the path of the faulty part; None if it can.

    A number that is not finite is left to `Scenario.set_text` where the value is one number: the
    message then names the range.
    """
    if depth > DEEPEST:
        said = f"is nested more than {DEEPEST} deep"
        return Issue(path, said, "a scenario is nested 10 deep")
    if isinstance(value, type) or value is None or isinstance(value, (bool, int)):
        return None
    if isinstance(value, float) and not math.isfinite(value) and (depth or not path):
        return Issue(path, f"must be a finite number, is {float(value)}")
    if isinstance(value, str):
        found = next((char for char in value if "\ud800" <= char <= "\udfff"), None)
        return None if found is None else Issue(path, _surrogate(found))
    if isinstance(value, Mapping):
        dot = "." if path else ""
        parts = [(f"{path}{dot}{key}", item) for key, item in value.items()]
        parts += [(path, str(key)) for key in value]
    elif isinstance(value, Sequence) and not isinstance(value, (bytes, bytearray)):
        parts = [(f"{path}[{index}]", item) for index, item in enumerate(value)]
    elif hasattr(value, "tolist"):
        return _unwritable(path, value.tolist(), depth)
    else:
        return None
    return next((fault for at, item in parts if (fault := _unwritable(at, item, depth + 1))), None)


def _plain(value: Any) -> Any:
    """Convert arrays and scalars of NumPy, and controllers, to values that JSON can represent."""
    if isinstance(value, type):
        return {"python": {"path": import_path(value)}}
    if hasattr(value, "tolist"):
        return value.tolist()
    raise TypeError(f"a scenario cannot hold a {type(value).__name__}: {value!r}")


def toml_value(value: Any) -> str:
    """Write plain data as a TOML value.

    Examples
    --------
    >>> toml_value({"web": {"think_s": 10.0, "size": [1, 2]}})
    '{"web" = {"think_s" = 10.0, "size" = [1, 2]}}'
    """
    if isinstance(value, str):
        return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int):
        return str(int(value))
    if isinstance(value, float):
        return repr(float(value)) if math.isfinite(value) else str(float(value))
    if isinstance(value, Mapping):
        pairs = (f"{toml_value(str(key))} = {toml_value(item)}" for key, item in value.items())
        return f"{{{', '.join(pairs)}}}"
    if isinstance(value, Sequence):
        return f"[{', '.join(map(toml_value, value))}]"
    return toml_value(_plain(value))


def toml_settings(values: Mapping[str, object]) -> list[tuple[str, str]]:
    """Return values by path as the simulator reads them."""
    return [(path, toml_value(value)) for path, value in values.items()]
