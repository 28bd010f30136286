"""The run library: results in a `Store`, with names, time series and indexed traces beside them.

A library may come from elsewhere. Its records are data: `Library.record` passes on only those that
the `Desk` admits, and a file that is damaged is shown as such, alone.
"""

from __future__ import annotations

import hashlib
import json
import math
import re
import shutil
import tempfile
import threading
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from simoom.base.files import finite, read_json, write_text
from simoom.base.frames import np
from simoom.base.issue import ScenarioError
from simoom.results.record import DamagedError, Record
from simoom.results.run import Run, Samples
from simoom.serve.drafts import Desk
from simoom.show.sections import LISTED
from simoom.store.store import Store

if TYPE_CHECKING:
    from numpy.typing import NDArray

KEY = re.compile(r"[0-9a-f]{64}")
LONGEST_NAME = 200
TAPES = "tapes"
MOST_BYTES = 256 << 20
"""Length of a file of a library, except timelines: far more than one has."""
DROPPED = ".dropped"
"""The suffix of the file that says that a timeline was dropped to make room."""
MOST_SAMPLES = 20_000
"""Samples of a time series; of more, every n-th is kept."""


class BadRecordError(Exception):
    """A run is in the library, and cannot be shown; the message says why."""


class Listing:
    """A list that is made from files, and kept until one of them changes.

    Parameters
    ----------
    make : callable
        Reads the files.
    """

    def __init__(self, make: Callable[[], list[dict[str, Any]]]) -> None:
        self._make = make
        self._kept: list[dict[str, Any]] | None = None
        self._changes = 0
        self._lock = threading.Lock()

    def changed(self) -> None:
        """Take note that a file has changed."""
        with self._lock:
            self._changes += 1
            self._kept = None

    def get(self, *, anew: bool = False) -> list[dict[str, Any]]:
        """Return the list: the same object, while nothing changes."""
        with self._lock:
            kept, before = self._kept, self._changes
        if kept is not None and not anew:
            return kept
        made = self._make()
        with self._lock:
            # What changed while the files were read may be missing.
            if self._changes == before:
                self._kept = made
        return made


class Library:
    """A folder of runs, by the keys of a store.

    Parameters
    ----------
    folder : Path
        The folder; created if it does not exist.
    desk : Desk
        Says which scenarios of records are admitted.

    Raises
    ------
    OSError
        The folder cannot be written.
    """

    def __init__(self, folder: Path, desk: Desk) -> None:
        self.folder = folder
        self.desk = replace(desk, tapes=self.tapes)
        self.store = Store(folder / "runs")
        for part in ("names", "series", "air", "why", "sweeps", TAPES):
            (folder / part).mkdir(exist_ok=True)
        with tempfile.TemporaryFile(dir=folder):
            pass
        self._read: dict[str, tuple[int, dict[str, Any]]] = {}
        self._listing = Listing(self._found)
        self._lock = threading.Lock()

    @property
    def tapes(self) -> Path:
        """The folder of the tapes of emulations."""
        return self.folder / TAPES

    def keep_tape(self, tape: Path) -> Path:
        """Copy the tape of an emulation into the library, under a name of its content."""
        with tape.open("rb") as file:
            content = hashlib.file_digest(file, "sha256").hexdigest()
        kept = self.tapes / f"{content[:16]}.tape.pcapng"
        if not kept.exists():
            shutil.copyfile(tape, kept)
        return kept

    def __reduce__(self) -> tuple[type[Library], tuple[Path, Desk]]:
        """A worker reads the folder itself."""
        return Library, (self.folder.absolute(), self.desk)

    def air(self, key: str) -> Path:
        """Return the path of an indexed trace, whether it exists or not."""
        return self.folder / "air" / f"{checked(key)}.air"

    def drop_timelines(self, most_bytes: int, last: str) -> None:
        """Drop the oldest timelines until all have at most so many bytes; that of `last` stays."""
        found = []
        for file in (self.folder / "air").glob("*.air"):
            with suppress(OSError):
                found.append((file.stat().st_mtime_ns, file.stat().st_size, file))
        total = sum(size for _, size, _ in found)
        for _, size, file in sorted(found):
            if total <= most_bytes:
                return
            if file.stem != last:
                file.with_suffix(DROPPED).touch()
                file.unlink(missing_ok=True)
                total -= size
                self._listing.changed()

    def has(self, key: str) -> bool:
        """Whether a run is kept."""
        return self.store.file(checked(key)).is_file()

    def put(self, key: str, run: Run, *, name: str) -> None:
        """Keep a run with its time series."""
        self.rename(key, name)
        series = {path: thin(*run.samples(path)) for path in run.probes}
        write_text(self._series(key), json.dumps(plain(series), separators=(",", ":")))
        self.store.put(key, run)
        self.changed()

    def changed(self) -> None:
        """Take note that a run was added or removed."""
        self._listing.changed()

    def rename(self, key: str, name: str, sweep: str | None = None) -> None:
        """Give a run another name; a run of a sweep is listed there only."""
        own = {"name": name[:LONGEST_NAME], **({"sweep": sweep} if sweep else {})}
        write_text(self._name(key), json.dumps(own))
        self._listing.changed()

    def remove(self, key: str) -> None:
        """Remove a run and all that is kept beside it."""
        air = self.air(key)
        beside = (self._name(key), self._series(key), self._why(key))
        files = (air, air.with_suffix(DROPPED), *beside, *self._tapes_of(key))
        for file in (self.store.file(key), *files):
            file.unlink(missing_ok=True)
        self._read.pop(key, None)
        self._listing.changed()

    def _tapes_of(self, key: str) -> list[Path]:
        """Return the tapes of a run in the library."""
        try:
            names = self.record(key).run.scenario.core.files()
        except (LookupError, BadRecordError):
            return []
        return [Path(name) for name in names if Path(name).parent == self.tapes.resolve()]

    def record(self, key: str) -> Record:
        """Read a run.

        Raises
        ------
        LookupError
            There is none.
        BadRecordError
            Its file is damaged, or the server does not open its scenario.
        """
        file = self.store.file(checked(key))
        if not file.exists():
            raise LookupError("there is no such run in the library")
        try:
            record = Record.parse(read_file(file), str(file))
            self.desk.admit(record.run.scenario)
        except DamagedError:
            raise BadRecordError("the record of this run is damaged") from None
        except ScenarioError as error:
            raise BadRecordError("; ".join(map(str, error.issues))) from None
        if record.key != key:
            raise BadRecordError("the record in this file is that of another run")
        return record

    def series(self, key: str) -> dict[str, Any]:
        """Return the time series of a run."""
        found = read_object(self._series(key))
        return {path: pair for path, pair in found.items() if _is_series(pair)}

    def explain(self, key: str, flow: str | None, found: Any) -> None:
        """Keep the explanation of a flow of a run; None is its slowest flow."""
        with self._lock:
            if self.has(key):
                all_ = {**self.explanations(key), flow or "": found}
                write_text(self._why(key), json.dumps(all_, separators=(",", ":")))
                self._listing.changed()

    def explanations(self, key: str) -> dict[str, Any]:
        """Return the explanations of a run by flow; the empty name is the slowest flow."""
        found = read_object(self._why(key))
        # Those of older versions have no cures, and are made anew.
        return {
            flow: own for flow, own in found.items() if isinstance(own, dict) and "changes" in own
        }

    def entries(self, *, anew: bool = False) -> list[dict[str, Any]]:
        """Return what the list of runs shows of each, the newest first.

        What other processes have changed in the folder is found with `anew`.
        """
        return self._listing.get(anew=anew)

    def _found(self) -> list[dict[str, Any]]:
        found = []
        for file in self.store.directory.glob("??/[!.]*.json"):
            if KEY.fullmatch(file.stem):
                try:
                    found.append((file.stat().st_mtime_ns, self._entry(file)))
                except OSError:
                    continue
        found.sort(key=lambda pair: pair[0], reverse=True)
        return [entry for _, entry in found]

    def entry(self, key: str) -> dict[str, Any]:
        """Return what the list of runs shows of one."""
        return self._entry(self.store.file(checked(key)))

    def admit(self, key: str) -> None:
        """Raise as `record` if this run is not to be shown; does not read its record again."""
        entry = self._known(self.store.file(checked(key)))
        if entry["state"] == "failed":
            raise BadRecordError(entry["message"])

    def _known(self, file: Path) -> dict[str, Any]:
        """Return what the record of a run says, or that it is bad."""
        key = file.stem
        try:
            changed = file.stat().st_mtime_ns
        except FileNotFoundError:
            raise LookupError("there is no such run in the library") from None
        known = self._read.get(key)
        if known is None or known[0] != changed:
            entry = {"id": key, "progress": 1.0, "made_s": changed / 1e9, **self._shown(key)}
            known = self._read[key] = (changed, entry)
        return known[1]

    def _shown(self, key: str) -> dict[str, Any]:
        try:
            run = self.record(key).run
        except BadRecordError as error:
            return {"state": "failed", "message": str(error), "title": "A record that is not shown",
                    "seed": 0, "replication": 0, "simulated_s": 0.0}  # fmt: skip
        summary = finite(run.summary)
        return {
            "state": "done",
            "title": run.title,
            "seed": run.seed,
            "replication": run.replication,
            "simulated_s": run.simulated_s,
            "results": {path: summary[path] for path in LISTED if path in summary},
        }

    def _entry(self, file: Path) -> dict[str, Any]:
        key, entry = file.stem, self._known(file)
        return {
            **entry,
            "name": self._named(key, "name"),
            "sweep": self.sweep_of(key),
            "has_air": self.air(key).is_file(),
            "air_dropped": self.air(key).with_suffix(DROPPED).is_file(),
            "explained": self._explained(key),
        }

    def _explained(self, key: str) -> str | None:
        """Return a text that changes whenever an explanation is kept."""
        try:
            return str(self._why(key).stat().st_mtime_ns)
        except OSError:
            return None

    def sweep_of(self, key: str) -> str | None:
        """Return the key of the sweep that has made a run, if one has."""
        return self._named(key, "sweep")

    def _named(self, key: str, what: str) -> str | None:
        found = read_object(self._name(key)).get(what)
        return found if isinstance(found, str) else None

    def _name(self, key: str) -> Path:
        return self.folder / "names" / f"{checked(key)}.json"

    def _why(self, key: str) -> Path:
        return self.folder / "why" / f"{checked(key)}.json"

    def _series(self, key: str) -> Path:
        return self.folder / "series" / f"{checked(key)}.json"


def read_file(file: Path) -> bytes:
    """Read a file of a library, which may come from elsewhere and have pipes, devices and holes.

    Raises
    ------
    DamagedError
        It is no file, or longer than any of a library.
    """
    if not file.is_file() or file.stat().st_size > MOST_BYTES:
        raise DamagedError(f"{file}: is no file of a library")
    return file.read_bytes()


def read_object(file: Path) -> dict[str, Any]:
    """Return the object in a JSON file; an empty one if there is none."""
    try:
        found = read_json(read_file(file))
    except (OSError, ValueError):
        return {}
    return found if isinstance(found, dict) else {}


def _is_series(pair: Any) -> bool:
    """Whether this is a time series as `plain` writes it."""
    is_pair = isinstance(pair, dict) and pair.keys() == {"t", "v"}
    return is_pair and all(
        isinstance(values, list)
        and all(each is None or isinstance(each, (int, float)) for each in values)
        for values in pair.values()
    )


def checked(key: str) -> str:
    """Return the key of a run; raise if the text cannot be one, and so may be a path.

    Examples
    --------
    >>> checked("../secret")
    Traceback (most recent call last):
    LookupError: there is no such run in the library
    """
    if not KEY.fullmatch(key):
        raise LookupError("there is no such run in the library")
    return key


def plain(series: Samples) -> dict[str, dict[str, list[float | None]]]:
    """Return time series as JSON can represent them; what is not finite is None."""
    return {
        path: {"t": finite(times.tolist()), "v": finite(values.tolist())}
        for path, (times, values) in series.items()
    }


def thin(
    times: NDArray[np.float64], values: NDArray[np.float64]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return every n-th sample, so that they are not too many.

    Examples
    --------
    >>> import numpy as np
    >>> [len(part) for part in thin(np.arange(50_000.0), np.arange(50_000.0))]
    [16667, 16667]
    """
    step = max(1, math.ceil(len(times) / MOST_SAMPLES))
    return times[::step], values[::step]
