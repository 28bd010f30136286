"""Results on disk, so that no run is computed twice.

The key of a result is a hash of everything that determines it: the scenario with every default, the
seed and the replication, the version of Simoom and the bytes of the compiled simulator, and the
source of controllers written in Python. If any of these changes, the key changes.
"""

from __future__ import annotations

import hashlib
import importlib.metadata
import json
import warnings
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from simoom import _core
from simoom.control import Control, find, source_of
from simoom.files import write_text
from simoom.issue import Issue, ScenarioError
from simoom.run import Run, Summary
from simoom.scenario import Scenario
from simoom.tables import Value


def identity(
    scenario: Scenario, *, seed: int, replication: int, known: tuple[str, ...] | None = None
) -> str:
    """Return the key of a run in a store: a hash of everything that determines its result.

    `known` are its `sources`, if they were read before.

    Raises
    ------
    ScenarioError
        A controller has no source file, so that changes of it cannot be detected.
    """
    parts = [_simulator(), scenario.core.to_full_json(), str(seed), str(replication)]
    parts += sources(scenario) if known is None else known
    digest = hashlib.sha256()
    for part in parts:
        data = part.encode()
        digest.update(len(data).to_bytes(8, "big") + data)
    return digest.hexdigest()


def _content(file: str) -> str:
    """Return a hash of a file that the scenario names; empty if there is no such file."""
    try:
        return hashlib.sha256(Path(file).read_bytes()).hexdigest()
    except OSError:
        return ""


@cache
def _simulator() -> str:
    file = Path(str(_core.__file__))
    return f"{importlib.metadata.version('simoom')} {hashlib.sha256(file.read_bytes()).hexdigest()}"


def _controllers(scenario: Scenario) -> Iterator[tuple[str, str]]:
    """Yield the paths that name controllers in Python, and their import paths."""
    for number, flow in enumerate(scenario.to_dict()["flows"]):
        control = flow.get("control")
        if isinstance(control, dict) and "python" in control:
            yield f"flows[{number}].control.python.path", control["python"]["path"]


def sources(scenario: Scenario) -> tuple[str, ...]:
    """Return a hash of each controller in Python and of each file that the scenario names.

    The source of a controller is that which was imported: a file that is edited later changes
    nothing until Python imports it again; a warning says so.

    Raises
    ------
    ScenarioError
        A controller has no source file, so that changes of it cannot be detected.
    """
    controllers = (_source(where, path) for where, path in _controllers(scenario))
    return (*controllers, *map(_content, scenario.core.files()))


def _source(where: str, path: str) -> str:
    """Return a hash of the source of a controller and its base classes."""
    digest = hashlib.sha256()
    for kind in find(path).__mro__:
        if kind is Control:
            break
        if kind is object:
            continue
        now = source_of(kind)
        loaded = vars(kind).get("_source", now)
        if now is None or loaded is None:
            message = (
                f"{path} has no source file, so that a store cannot tell whether it has changed; "
                "write it in a module, or sweep without a store"
            )
            raise ScenarioError([Issue(where, message)])
        if now != loaded:
            warnings.warn(
                f"{path}: the source of {kind.__qualname__} was edited after it was imported; runs "
                "use the class as it was imported until Python is started again",
                stacklevel=2,
            )
        digest.update(loaded.encode())
    return digest.hexdigest()


class DamagedError(ValueError):
    """A file in a store is no complete record of a run, or not of the run of its name."""


@dataclass(frozen=True)
class Record:
    """A stored run.

    Attributes
    ----------
    key : str
        Its name in the store, see `identity`.
    simoom : str
        The version of Simoom that computed it.
    checked : bool
        Whether the laws of conservation were checked during the run.
    run : Run
        The run, without time series.
    """

    key: str
    simoom: str
    checked: bool
    run: Run

    @classmethod
    def read(cls, file: Path) -> Record:
        """Read a file.

        Raises
        ------
        DamagedError
            The file is not what `Record.text` writes.
        """
        try:
            kept = json.loads(file.read_bytes())
            if kept.pop("hash") != _hash(kept):
                raise DamagedError(f"{file}: has been altered")
            run = Run(
                scenario=Scenario.parse(kept["scenario"]),
                seed=kept["seed"],
                replication=kept["replication"],
                summary=Summary(kept["summary"]),
                digest=kept["digest"],
                events=kept["events"],
                simulated_s=kept["simulated_s"],
            )
            return cls(kept["key"], kept["simoom"], kept["checked"], run)
        except DamagedError:
            raise
        except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
            raise DamagedError(f"{file}: is no complete record of a run") from None

    def text(self) -> str:
        """Return the content of its file."""
        run = self.run
        kept: dict[str, Any] = {
            "simoom": self.simoom,
            "key": self.key,
            "seed": run.seed,
            "replication": run.replication,
            "checked": self.checked,
            "digest": run.digest,
            "events": run.events,
            "simulated_s": run.simulated_s,
            "scenario": run.scenario.to_toml(),
            "summary": run.summary,
        }
        return json.dumps({"hash": _hash(kept), **kept}, indent=1, ensure_ascii=False)

    def differences(self, run: Run) -> list[tuple[str, Value, Value]]:
        """Return the path, the stored value and the value of another run where the two differ."""
        kept = {"digest": self.run.digest, "events": self.run.events, **self.run.summary}
        new = {"digest": run.digest, "events": run.events, **run.summary}
        paths = dict.fromkeys((*kept, *new))
        pairs = ((path, kept.get(path), new.get(path)) for path in paths)
        # As text, in which NaN equals NaN.
        return [(path, was, now) for path, was, now in pairs if repr(was) != repr(now)]


def _hash(kept: Mapping[str, Any]) -> str:
    return hashlib.sha256(json.dumps(kept, sort_keys=True).encode()).hexdigest()


class Store:
    """A directory of results, with one JSON file for each run.

    A file appears when it is complete, so that several processes may share a store, and an
    interrupted process leaves no partial results. Each file has the scenario, the seed and a hash
    of its content: a file that was damaged, altered or copied to another name is not used. Stores
    may be merged by copying; any file may be deleted.

    Parameters
    ----------
    directory : path
        The directory; created if it does not exist.
    """

    def __init__(self, directory: Path | str) -> None:
        self.directory = Path(directory)
        self.directory.mkdir(parents=True, exist_ok=True)

    def file(self, name: str) -> Path:
        """Return the path of a result's file, whether it exists or not."""
        return self.directory / name[:2] / f"{name}.json"

    def get(self, name: str, scenario: Scenario, *, checked: bool = False) -> Run | None:
        """Return a stored run of this scenario, if there is one.

        With `checked`, a run that was not checked does not count. A damaged file is no run; a
        warning names it.
        """
        file = self.file(name)
        try:
            record = Record.read(file)
        except FileNotFoundError:
            return None
        except DamagedError as error:
            warnings.warn(f"{error}; the run is computed again", stacklevel=2)
            return None
        if record.key != name or record.run.scenario != scenario:
            warnings.warn(f"{file}: is of another run, which is computed again", stacklevel=2)
            return None
        return record.run if record.checked or not checked else None

    def put(self, name: str, run: Run, *, checked: bool = False) -> None:
        """Store a run without its time series."""
        file = self.file(name)
        file.parent.mkdir(exist_ok=True)
        record = Record(name, importlib.metadata.version("simoom"), checked, run)
        write_text(file, record.text())

    def __len__(self) -> int:
        return sum(1 for _ in self.directory.glob("??/[!.]*.json"))

    def __repr__(self) -> str:
        return f"Store({str(self.directory)!r}, {len(self)} runs)"
