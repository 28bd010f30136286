"""The run library: results in a `Store`, with names, time series and indexed traces beside them."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from simoom.files import write_text
from simoom.report import summary_data
from simoom.run import Run, Samples
from simoom.store import DamagedError, Record, Store

KEY = re.compile(r"[0-9a-f]{64}")
LONGEST_NAME = 200

HEADLINES = (
    "total.goodput_mbps",
    "total.jain_index",
    "total.collision_probability",
    "total.delay_s.mean",
    "total.queue_drops",
    "total.retry_drops",
)
"""The results in the list of runs."""


class Library:
    """A folder of runs, by the keys of a store.

    Parameters
    ----------
    folder : Path
        The folder; created if it does not exist.

    Raises
    ------
    OSError
        The folder cannot be written.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.store = Store(folder / "runs")
        for part in ("names", "series", "air"):
            (folder / part).mkdir(exist_ok=True)
        probe = folder / ".writable"
        write_text(probe, "")
        probe.unlink()
        self._read: dict[str, tuple[int, dict[str, Any]]] = {}

    def air(self, key: str) -> Path:
        """Return the path of an indexed trace, whether it exists or not."""
        return self.folder / "air" / f"{checked(key)}.air"

    def has(self, key: str) -> bool:
        """Whether a run is kept."""
        return self.store.file(checked(key)).is_file()

    def put(self, key: str, run: Run, *, name: str) -> None:
        """Keep a run with its time series."""
        self.rename(key, name)
        series = {path: run.samples(path) for path in run.probes}
        write_text(self._series(key), json.dumps(plain(series), separators=(",", ":")))
        self.store.put(key, run)

    def rename(self, key: str, name: str) -> None:
        """Give a run another name."""
        write_text(self._name(key), json.dumps({"name": name[:LONGEST_NAME]}))

    def remove(self, key: str) -> None:
        """Remove a run and all that is kept beside it."""
        for file in (self.store.file(key), self._series(key), self.air(key), self._name(key)):
            file.unlink(missing_ok=True)
        self._read.pop(key, None)

    def record(self, key: str) -> Record:
        """Read a run.

        Raises
        ------
        LookupError
            There is none, or its file is damaged.
        """
        try:
            record = Record.read(self.store.file(checked(key)))
        except (FileNotFoundError, DamagedError):
            raise LookupError("there is no such run in the library") from None
        if record.key != key:
            raise LookupError("there is no such run in the library")
        return record

    def series(self, key: str) -> dict[str, Any]:
        """Return the time series of a run."""
        try:
            series: dict[str, Any] = json.loads(self._series(key).read_bytes())
        except (OSError, ValueError):
            return {}
        return series

    def entries(self) -> list[dict[str, Any]]:
        """Return what the list of runs shows of each, the newest first."""
        found = []
        for file in self.store.directory.glob("??/[!.]*.json"):
            if KEY.fullmatch(file.stem):
                try:
                    found.append((file.stat().st_mtime_ns, self._entry(file)))
                except (LookupError, OSError):
                    continue
        found.sort(key=lambda pair: pair[0], reverse=True)
        return [entry for _, entry in found]

    def entry(self, key: str) -> dict[str, Any]:
        """Return what the list of runs shows of one."""
        return self._entry(self.store.file(checked(key)))

    def _entry(self, file: Path) -> dict[str, Any]:
        key, changed = file.stem, file.stat().st_mtime_ns
        known = self._read.get(key)
        if known is None or known[0] != changed:
            run = self.record(key).run
            summary = summary_data(run)
            entry = {
                "id": key,
                "title": run.title,
                "seed": run.seed,
                "replication": run.replication,
                "simulated_s": run.simulated_s,
                "made_s": changed / 1e9,
                "results": {path: summary[path] for path in HEADLINES if path in summary},
            }
            known = self._read[key] = (changed, entry)
        return {**known[1], "name": self._named(key), "has_air": self.air(key).is_file()}

    def _named(self, key: str) -> str | None:
        try:
            return str(json.loads(self._name(key).read_bytes())["name"])
        except (OSError, ValueError, KeyError, TypeError):
            return None

    def _name(self, key: str) -> Path:
        return self.folder / "names" / f"{checked(key)}.json"

    def _series(self, key: str) -> Path:
        return self.folder / "series" / f"{checked(key)}.json"


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


def finite(values: Iterable[float]) -> list[float | None]:
    """Return numbers, with None for those that are not finite."""
    return [value if math.isfinite(value) else None for value in values]
