"""Results on disk, so that no run is computed twice.

The key of a result is a hash of everything that determines it: the scenario with every default, the
seed and the replication, the version of Simoom and the bytes of the compiled simulator, and the
source of controllers written in Python. If any of these changes, the key changes.
"""

from __future__ import annotations

import hashlib
import importlib.metadata
import json
import os
import sys
import tempfile
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

from simoom import _core
from simoom.control import Control, find
from simoom.issue import Issue, ScenarioError
from simoom.run import Run, Summary
from simoom.scenario import Scenario


def identity(scenario: Scenario, *, seed: int, replication: int) -> str:
    """Return the key of a run in a store: a hash of everything that determines its result.

    Raises
    ------
    ScenarioError
        A controller has no source file, so that changes of it cannot be detected.
    """
    parts = [_simulator(), scenario.core.to_full_json(), str(seed), str(replication)]
    parts += [_source(where, path) for where, path in _controllers(scenario)]
    parts += [_content(file) for file in scenario.core.files()]
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


def _source(where: str, path: str) -> str:
    """Return a hash of the source files of a controller and its base classes."""
    digest = hashlib.sha256()
    for kind in find(path).__mro__:
        if kind is Control:
            break
        if kind is object:
            continue
        for file in _files(where, path, kind):
            digest.update(hashlib.sha256(file.read_bytes()).digest())
    return digest.hexdigest()


def _files(where: str, path: str, kind: type) -> list[Path]:
    """Return the module of a class; if it is part of a package, all modules of the package."""
    module = sys.modules[kind.__module__]
    file = getattr(module, "__file__", None)
    if file is None:
        message = (
            f"{path} has no source file, so that a store cannot tell whether it has changed; "
            "write it in a module, or sweep without a store"
        )
        raise ScenarioError([Issue(where, message)])
    return sorted(Path(file).parent.glob("*.py")) if module.__package__ else [Path(file)]


class Store:
    """A directory of results, with one JSON file for each run.

    Files are written atomically, so that several processes may share a store, and an interrupted
    process leaves no partial results. Stores may be merged by copying; any file may be deleted.

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

    def get(self, name: str, scenario: Scenario) -> Run | None:
        """Return a stored run of this scenario; None if there is none or it cannot be read."""
        try:
            kept = json.loads(self.file(name).read_bytes())
            return Run(
                scenario=scenario,
                seed=kept["seed"],
                replication=kept["replication"],
                summary=Summary(kept["summary"]),
                digest=kept["digest"],
                events=kept["events"],
                simulated_s=kept["simulated_s"],
            )
        except (FileNotFoundError, ValueError, KeyError, TypeError):
            return None

    def put(self, name: str, run: Run) -> None:
        """Store a run without its time series."""
        kept: dict[str, Any] = {
            "simoom": importlib.metadata.version("simoom"),
            "seed": run.seed,
            "replication": run.replication,
            "digest": run.digest,
            "events": run.events,
            "simulated_s": run.simulated_s,
            "scenario": run.scenario.to_toml(),
            "summary": run.summary,
        }
        file = self.file(name)
        file.parent.mkdir(exist_ok=True)
        text = json.dumps(kept, indent=1, ensure_ascii=False)
        handle, draft = tempfile.mkstemp(dir=file.parent, suffix=".part")
        try:
            with os.fdopen(handle, "w", encoding="utf-8") as out:
                out.write(text)
            Path(draft).replace(file)
        except BaseException:
            Path(draft).unlink(missing_ok=True)
            raise

    def __len__(self) -> int:
        return sum(1 for _ in self.directory.glob("??/*.json"))

    def __repr__(self) -> str:
        return f"Store({str(self.directory)!r}, {len(self)} runs)"
