"""Segments of a store: many records in one Parquet file.

A segment never changes, and its name is never used again. It has a row for each run: what
identifies the run, the scenario as JSON with every default, each result as a column, and in the
column ``record`` the text of the record, from which the run is read back to the last bit.
"""

from __future__ import annotations

import io
import uuid
import warnings
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from simoom.base.frames import pl
from simoom.results.record import DamagedError, Record
from simoom.store.places import Folder, Remote

FOLDER = "segments"
MOST_RUNS = 10_000
MOST_CELLS = 250_000
"""A segment has no more runs, and no more results: it is written from memory."""


def is_segment(name: str) -> bool:
    """Whether a file of a store is a segment."""
    return name.startswith(f"{FOLDER}/") and name.endswith(".parquet")


def row(record: Record, text: str) -> dict[str, Any]:
    """Return the row of a record: the columns of a query."""
    run = record.run
    return {
        "key": record.key,
        "simoom": record.simoom,
        "build": record.build,
        "checked": record.checked,
        "seed": run.seed,
        "replication": run.replication,
        "digest": run.digest,
        "events": run.events,
        "simulated_s": run.simulated_s,
        "scenario": run.scenario.core.to_full_json(),
        "record": text,
        **run.summary,
    }


def frame(rows: Iterable[Mapping[str, Any]]) -> pl.DataFrame:
    """Return rows as a data frame; what a row does not have is null."""
    done = pl.DataFrame(list(rows), infer_schema_length=None)
    # A seed has up to 64 bits, whatever the seeds of these rows are.
    types: dict[str, type[pl.DataType]] = {"seed": pl.UInt64, "replication": pl.UInt32}
    types |= {name: pl.Float64 for name, kind in done.schema.items() if kind == pl.Null}
    return done.with_columns(pl.col(name).cast(kind) for name, kind in types.items())


def empty() -> pl.DataFrame:
    """Return the rows of a store without runs."""
    text = dict.fromkeys(("key", "simoom", "build", "digest", "scenario", "record"), pl.String)
    return pl.DataFrame(schema={**text, "checked": pl.Boolean, "seed": pl.UInt64})


def write(place: Folder | Remote, records: Mapping[str, tuple[Record, str]]) -> str:
    """Write a segment, read it back, and return its name.

    Parameters
    ----------
    place : Place
        The files of the store.
    records : mapping
        Records with their texts, by key.

    Raises
    ------
    OSError
        It cannot be written, or what is read back is not what was written.
    """
    texts = [text for _, text in records.values()]
    name = f"{FOLDER}/{uuid.uuid4().hex}.parquet"
    data = io.BytesIO()
    frame(row(*each) for each in records.values()).write_parquet(data)
    place.write(name, data.getvalue())
    place.sync(name)
    back = pl.read_parquet(io.BytesIO(place.read([name])[name]), columns=["record"])
    if back["record"].to_list() != texts:
        raise OSError(None, "what was written is not what is read back", f"{place.name}/{name}")
    return name


@dataclass(frozen=True)
class Found:
    """Where a run is in the segments of a store."""

    segment: str
    checked: bool


class Index:
    """Which segment of a store has which run. Segments never change, so that each is read once."""

    def __init__(self, place: Folder | Remote) -> None:
        self._place = place
        self._known: dict[str, list[tuple[str, bool]]] = {}
        self.runs: dict[str, Found] = {}
        self.damaged: dict[str, str] = {}
        self._shared: set[str] = set()

    def refresh(self) -> None:
        """Look for segments that were written or removed; warn of damaged ones, once.

        Other processes may join segments meanwhile, so that a list has neither these nor what they
        became. The lists end when one has nothing new.
        """
        gone: set[str] = set()
        is_changed = False
        while (present := self._present() - gone) != self._known.keys():
            is_changed = True
            for name in self._known.keys() - present:
                del self._known[name]
            for name in sorted(present - self._known.keys()):
                try:
                    file = self._place.local(name)
                    self._known[name] = pl.read_parquet(file, columns=["key", "checked"]).rows()
                except FileNotFoundError:
                    gone.add(name)  # no other segment ever has this name
                except pl.exceptions.PolarsError:
                    self.damaged[name] = _damaged(self._place, name)
                    warnings.warn(self.damaged[name], stacklevel=5)
        if is_changed:
            self._sort()

    def _present(self) -> set[str]:
        names = {name for name in self._place.names(FOLDER) if is_segment(name)}
        return names - self.damaged.keys()

    def _sort(self) -> None:
        """Find the segment of each run, that of a checked record before another."""
        self.runs, self._shared = {}, set()
        for name, rows in self._known.items():
            for key, checked in rows:
                if key in self.runs:
                    self._shared.add(key)
                if checked or key not in self.runs:
                    self.runs[key] = Found(name, checked)

    @property
    def segments(self) -> list[str]:
        """The names of all segments, in order."""
        return sorted(self._known)

    def is_small(self, name: str) -> bool:
        """Whether a segment is so small that it should be joined with others."""
        count = len(self._known[name])
        width = len(pl.read_parquet_schema(self._place.local(name)))
        return 2 * count < MOST_RUNS and 2 * count * width < MOST_CELLS

    def is_shared(self, name: str) -> bool:
        """Whether a segment has a run that another one has, too."""
        return any(key in self._shared for key, _ in self._known[name])

    def read(self, name: str, keys: Collection[str] | None = None) -> Iterator[tuple[str, str]]:
        """Yield the keys and the texts of the records of a segment; FileNotFoundError if gone."""
        file: Path = self._place.local(name)
        try:
            lazy = pl.scan_parquet(file).select("key", "record")
            if keys is not None:
                lazy = lazy.filter(pl.col("key").is_in(list(keys)))
            yield from lazy.collect().iter_rows()
        except pl.exceptions.PolarsError:
            raise DamagedError(_damaged(self._place, name)) from None


def _damaged(place: Folder | Remote, name: str) -> str:
    return (
        f"{place.name}/{name}: is no complete segment; remove it, and its runs are computed again"
    )
