"""Controllers in Python on the way to other processes.

A job for another process takes the source of its controllers along, so that a worker needs none of
the user's files, and uses the source of the calling process though it has another one. Of a class
in a script or a notebook, ``__main__``, the class itself travels, by cloudpickle. `sources` tells
whether controllers, and the files that a scenario names, are those of another time or process.
"""

from __future__ import annotations

import hashlib
import importlib
import os
import shutil
import sys
import sysconfig
import tempfile
import threading
import warnings
import weakref
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache, lru_cache
from pathlib import Path
from typing import Any

from simoom.base.issue import Issue, ScenarioError
from simoom.base.needs import need
from simoom.scenario.control import Control, find, source_of
from simoom.scenario.scenario import Scenario

_lock = threading.Lock()
_arrived: dict[str, str] = {}
"""The hash of the source of each module that has arrived in this process."""


@dataclass(frozen=True)
class Parcel:
    """The source of the module, or of all modules of the package, of a controller.

    Attributes
    ----------
    module : str
        The module of the controller.
    files : tuple of (str, bytes)
        The paths of its files below a folder of ``sys.path``, and their contents.
    pickled : bytes
        A class of ``__main__``, which has no module to import.
    """

    module: str
    files: tuple[tuple[str, bytes], ...] = ()
    pickled: bytes = b""

    @property
    def digest(self) -> str:
        """A hash of its content."""
        digest = hashlib.sha256(self.pickled)
        for name, data in self.files:
            digest.update(f"{name} {len(data)} ".encode() + data)
        return digest.hexdigest()

    def unpack(self, home: int) -> None:
        """Make the controller importable in this process; at home it is."""
        if os.getpid() == home:
            return
        with _lock:
            if _arrived.get(self.module) == self.digest:
                return
            if self.pickled:
                kind = need("cloudpickle", "a controller of a script").loads(self.pickled)
                setattr(sys.modules["__main__"], kind.__qualname__, kind)
            elif not self._is_here():
                self._install()
            _arrived[self.module] = self.digest

    def _is_here(self) -> bool:
        """Whether this process has the module with the same source, as one that was forked has."""
        loaded = sys.modules.get(self.module)
        file = getattr(loaded, "__file__", None)
        if file is None:
            return False
        root = Path(file).parents[self.module.count(".") + (Path(file).name == "__init__.py")]
        try:
            return all((root / name).read_bytes() == data for name, data in self.files)
        except OSError:
            return False

    def _install(self) -> None:
        """Write the files into a folder of this process, from which they are imported."""
        folder = Path(tempfile.mkdtemp(prefix="simoom-"))
        weakref.finalize(Parcel, shutil.rmtree, folder, ignore_errors=True)
        for name, data in self.files:
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            (folder / name).write_bytes(data)
        top = self.module.partition(".")[0]
        for name in [each for each in sys.modules if f"{each}.".startswith(f"{top}.")]:
            del sys.modules[name]
        sys.path.insert(0, str(folder))
        importlib.invalidate_caches()


def pack(paths: Iterable[str]) -> tuple[Parcel, ...]:
    """Return what must travel so that controllers, by their import paths, can be imported."""
    kinds: list[Any] = [find(path) for path in dict.fromkeys(paths)]
    return tuple(parcel for kind in kinds if (parcel := _parcel(kind)) is not None)


@lru_cache(maxsize=256)
def _parcel(kind: Any) -> Parcel | None:
    module = sys.modules[kind.__module__]
    if module.__name__ == "__main__":
        # A class by value: its module has another content in the other process.
        cloudpickle = need("cloudpickle", f"{kind.__qualname__} in another process")
        return Parcel("__main__", pickled=cloudpickle.dumps(kind))
    file = getattr(module, "__file__", None)
    if file is None or _is_installed(file) or source_of(kind) != vars(kind).get("_source"):
        return None
    own = Path(file)
    steps = module.__name__.count(".") + (own.name == "__init__.py")
    root = own.parents[steps]
    files = sorted(own.parent.glob("*.py")) if module.__package__ else [own]
    parents = [folder / "__init__.py" for folder in list(own.parents)[: max(steps, 0)]]
    wanted = dict.fromkeys([*files, *(each for each in parents if each.is_file())])
    contents = tuple((each.relative_to(root).as_posix(), each.read_bytes()) for each in wanted)
    return Parcel(module.__name__, contents)


@cache
def _installed_folders() -> tuple[Path, ...]:
    names = ("stdlib", "platstdlib", "purelib", "platlib")
    paths = {Path(sysconfig.get_path(name)).resolve() for name in names}
    return (*paths, Path(__file__).resolve().parents[1])


def _is_installed(file: str) -> bool:
    """Whether a file belongs to an installed package, which workers have, too."""
    return any(Path(file).resolve().is_relative_to(folder) for folder in _installed_folders())


@lru_cache(maxsize=256)
def controllers(scenario: Scenario) -> tuple[str, ...]:
    """Return the import paths of the controllers in Python of a scenario."""
    controls = (flow.get("control") for flow in scenario.to_dict()["flows"])
    return tuple(
        each["python"]["path"] for each in controls if isinstance(each, dict) and "python" in each
    )


def sources(scenario: Scenario) -> tuple[str, ...]:
    """Return a hash of each controller in Python and of each file that the scenario names.

    The source of a controller is that which was imported: a file that is edited later changes
    nothing until Python imports it again; a warning says so.

    Raises
    ------
    ScenarioError
        A controller has no source file, so that changes of it cannot be detected.
    """
    found = (_source(path) for path in controllers(scenario))
    return (*found, *map(_content, scenario.core.files()))


def _source(path: str) -> str:
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
            message = f"{path} has no source file: a store cannot tell whether it has changed"
            remedy = "write it in a module, or sweep without a store"
            raise ScenarioError([Issue("flows[*].control", message, remedy)])
        if now != loaded:
            warnings.warn(
                f"{path}: the source of {kind.__qualname__} was edited after it was imported; runs "
                "use the class as it was imported until Python is started again",
                stacklevel=2,
            )
        digest.update(loaded.encode())
    return digest.hexdigest()


def _content(file: str) -> str:
    """Return a hash of a file that the scenario names; empty if there is no such file."""
    try:
        return hashlib.sha256(Path(file).read_bytes()).hexdigest()
    except OSError:
        return ""
