"""Results on disk, so that no run is computed twice.

>>> import tempfile
>>> import simoom as sm
>>> s = sm.Scenario(standard="11b", duration_s=1.0, stations=1,
...                 flows=[{"from": "server", "to": "sta0"}])
>>> store = sm.Store(tempfile.mkdtemp())
>>> _ = sm.sweep(s, over={"stations": [1, 2]}, replications=2, store=store)
>>> store.compact()
Compacted(runs=4, segments=1, damaged=())
>>> store.query("SELECT count(*) AS runs, count(DISTINCT key) AS keys FROM runs").rows()
[(4, 4)]
"""

from __future__ import annotations

import contextlib
import re
import tempfile
import warnings
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from simoom.base.frames import pl
from simoom.base.lazy import door
from simoom.base.needs import need
from simoom.results.record import DamagedError, Record
from simoom.results.run import Run
from simoom.scenario.scenario import Scenario
from simoom.store import segments
from simoom.store.places import Folder, place_of

FILE = re.compile(r"[0-9a-f]{2}/(?P<key>[0-9a-f]{64})(?P<checked>\.checked)?\.json")
"""The file of one run."""
MOST_FILES = 1000
"""The number of files of single runs that are read at once."""
VIEW = """CREATE VIEW runs AS SELECT * EXCLUDE (record)
FROM read_parquet([{}], union_by_name = true)
QUALIFY row_number() OVER (PARTITION BY key ORDER BY checked DESC) = 1"""
TRIES = 10
"""How often a segment may be gone when it is read, because other processes compact the store."""


T = TypeVar("T")


@dataclass(frozen=True)
class Compacted:
    """What a compaction did.

    Attributes
    ----------
    runs : int
        The number of runs that are now in segments, each once.
    segments : int
        The number of segments.
    damaged : tuple of str
        What was left alone because it is no complete record, with the reason.
    """

    runs: int
    segments: int
    damaged: tuple[str, ...]


class Store:
    """A folder of results: one JSON file for each run, until they are compacted to Parquet.

    Any number of processes may write, read and compact a store at the same time, and be killed at
    any moment. Files are complete or absent and never change; a file is removed only when another
    one, which was read back, has all its runs. A run that is in two files counts once. Each record
    has the scenario, the seed and a hash of its content: one that was damaged, altered or copied to
    another name is not used.

    Parameters
    ----------
    place : path or URL
        The folder, created if it does not exist; or a URL of fsspec such as ``s3://bucket/runs``.
    """

    def __init__(self, place: Path | str) -> None:
        self.place = place_of(place)
        self._index = segments.Index(self.place)

    @property
    def directory(self) -> Path:
        """The folder; a store elsewhere has none."""
        if not isinstance(self.place, Folder):
            raise TypeError(f"{self.place.name}: is no folder of this machine")
        return self.place.path

    def file(self, name: str) -> Path:
        """Return the path of the file of a run that is not compacted, whether it exists or not.

        Returns
        -------
        Path
            The path of the file.
        """
        return self.directory / _file(name)

    def get(self, name: str, scenario: Scenario, *, checked: bool = False) -> Run | None:
        """Return a stored run of this scenario, if there is one; see `get_many`.

        Returns
        -------
        Run or None
            The run.
        """
        return self.get_many({name: scenario}, checked=checked).get(name)

    def get_many(self, wanted: Mapping[str, Scenario], *, checked: bool = False) -> dict[str, Run]:
        """Return the stored runs among these, by key.

        With `checked`, a run that was not checked does not count. A damaged record is no run; a
        warning names it.

        Parameters
        ----------
        wanted : mapping
            The scenario of each key.
        checked : bool, optional
            Whether the laws of conservation must have been checked.

        Returns
        -------
        dict of str to Run
            The runs by key.
        """
        found: dict[str, Run] = {}

        def examine(key: str, data: bytes | str, place: str) -> None:
            try:
                record = Record.parse(data, place)
            except DamagedError as error:
                warnings.warn(f"{error}; the run is computed again", stacklevel=4)
                return
            if record.key != key or record.run.scenario != wanted[key]:
                message = f"{place}: is of another run, which is computed again"
                warnings.warn(message, stacklevel=4)
            elif record.checked or not checked:
                found[key] = record.run

        for each in (True,) if checked else (True, False):
            files = {_file(key, checked=each): key for key in wanted if key not in found}
            for name, data in self.place.read(files).items():
                examine(files[name], data, f"{self.place.name}/{name}")
        left = wanted.keys() - found.keys()
        for key, text, place in self.in_segments(left) if left else []:
            examine(key, text, place)
        return found

    def put(self, name: str, run: Run, *, checked: bool = False) -> None:
        """Store a run without its time series."""
        record = Record.of(name, run, checked=checked)
        self.place.write(_file(name, checked=checked), record.text().encode())
        if checked:
            self.place.remove(_file(name))

    def keys(self) -> set[str]:
        """Return the keys of all runs.

        Returns
        -------
        set of str
            The keys.
        """
        files = {key_of(name) for name in self.files()}
        return files | self._again(lambda: set(self._index.runs))

    def records(self) -> Iterator[Record]:
        """Yield each run once, a checked record before another; warn of damaged ones."""
        done: set[str] = set()
        for record, _, problem in self.texts():
            if record is None:
                warnings.warn(f"{problem}; it is left out", stacklevel=2)
                continue
            there = self._index.runs.get(record.key)
            checked_comes = not record.checked and there is not None and there.checked
            if record.key not in done and not checked_comes:
                done.add(record.key)
                yield record

    def record(self, start: str) -> Record:
        """Return the record of the run whose key begins so, a checked one before another.

        Returns
        -------
        Record
            The record.

        Raises
        ------
        LookupError
            There is no such run, there are several, or its record is damaged.
        """
        keys = sorted(key for key in self.keys() if key.startswith(start))
        if len(keys) != 1:
            found = f"{len(keys)} keys begin so" if keys else "no key of a run begins so"
            raise LookupError(f"{self.place.name}: {start!r}: {found}")
        names = [_file(keys[0], checked=True), _file(keys[0])]
        there = self.place.read(names)
        places = [(there[name], f"{self.place.name}/{name}") for name in names if name in there]
        places += [(text.encode(), place) for _, text, place in self.in_segments(keys)]
        records = [parsed(data, place, keys[0]) for data, place in places]
        whole = [record for record, _, _ in records if record is not None]
        if not whole:
            raise LookupError(records[0][2])
        return next((record for record in whole if record.checked), whole[0])

    def texts(self) -> Iterator[tuple[Record | None, str, str]]:
        """Yield the records of all files with their texts, or None, "" and what is damaged.

        A run may come more than once.
        """
        self._again(lambda: None)
        names = self.files()
        for begin in range(0, len(names), MOST_FILES):
            for name, data in self.place.read(names[begin : begin + MOST_FILES]).items():
                yield parsed(data, f"{self.place.name}/{name}", key_of(name))
        for segment in self._again(lambda: self._index.segments):
            try:
                for key, text in self._index.read(segment):
                    yield parsed(text, f"{self.place.name}/{segment}", key)
            except FileNotFoundError:
                # Another process has compacted it. What it became is read in its place.
                yield from self._of_new_segments()
                return
            except DamagedError as error:
                yield None, "", str(error)
        yield from ((None, "", problem) for problem in self._index.damaged.values())

    def _of_new_segments(self) -> Iterator[tuple[Record | None, str, str]]:
        def read() -> list[tuple[Record | None, str, str]]:
            return [
                parsed(text, f"{self.place.name}/{segment}", key)
                for segment in self._index.segments
                for key, text in self._index.read(segment)
            ]

        yield from self._again(read)

    @door
    def compact(self) -> Compacted:
        """Move all runs into Parquet files, so that they are few and can be queried fast.

        Runs that other processes store meanwhile stay as they are. A compaction that is killed
        leaves a store with the same runs.

        Returns
        -------
        Compacted
            How many runs and files there were and are.

        Raises
        ------
        OSError
            The store cannot be written.
        """
        raise NotImplementedError

    def frame(self) -> pl.DataFrame:
        """Return a row for each run: what identifies it, its scenario as JSON, every result.

        Returns
        -------
        polars.DataFrame
            A row for each run; results are columns by path, in their units.
        """
        return self._again(lambda: self.scan().collect())

    def scan(self) -> pl.LazyFrame:
        """Return `frame` as a lazy frame of polars, which reads the columns that a query needs.

        Runs that are not compacted are read when this is called. If another process compacts the
        store before the frame is collected, polars finds a file no more; call this again.

        Returns
        -------
        polars.LazyFrame
            A row for each run.
        """
        rows = self._loose()
        files = self._again(self._local_segments)
        frames = [*([segments.frame(rows).lazy()] if rows else []), *map(pl.scan_parquet, files)]
        if not frames:
            return segments.empty().lazy()
        every = pl.concat(frames, how="diagonal_relaxed")
        first = every.sort("checked", descending=True, maintain_order=True)
        return first.unique("key", keep="first", maintain_order=True).drop("record")

    def query(self, sql: str) -> pl.DataFrame:
        """Return the result of a query in SQL by DuckDB; the table ``runs`` is `frame`.

        Returns
        -------
        polars.DataFrame
            The rows that the query selects.

        Raises
        ------
        ValueError
            DuckDB cannot carry out the query; the message is its own.
        MissingPackageError
            DuckDB is not installed.
        """
        duckdb = need("duckdb", "a query in SQL")

        def ask(connection: Any, folder: Path) -> pl.DataFrame:
            files = self._parquet_files(folder / "loose.parquet")
            listed = ", ".join("'" + str(file).replace("'", "''") + "'" for file in files)
            known = set(self._index.segments)
            try:
                connection.execute(VIEW.format(listed))
                found = connection.sql(sql)
                if found is None:
                    raise ValueError("the query has no result; write SELECT ... FROM runs")
                found.write_parquet(str(folder / "done.parquet"))
            except duckdb.Error as error:
                gone = known - set(self.place.names(segments.FOLDER))
                if gone and isinstance(error, duckdb.IOException):
                    raise FileNotFoundError from None  # another process has compacted the store
                raise ValueError(str(error)) from None
            return pl.read_parquet(folder / "done.parquet")

        def ask_anew() -> pl.DataFrame:
            with tempfile.TemporaryDirectory(prefix="simoom-") as folder, duckdb.connect() as one:
                return ask(one, Path(folder))

        return self._again(ask_anew)

    def files(self) -> list[str]:
        """Return the names of the files of single runs, those of checked runs first.

        Returns
        -------
        list of str
            Names relative to the store.
        """
        found = [match for name in self.place.names() if (match := FILE.fullmatch(name))]
        return [match[0] for match in sorted(found, key=lambda match: not match["checked"])]

    def _local_segments(self) -> list[Path]:
        return [self.place.local(name) for name in self._index.segments]

    def _parquet_files(self, loose: Path) -> list[Path]:
        """Return the segments, and `loose` with the runs that are in none; at least one file."""
        rows, files = self._loose(), self._local_segments()
        if rows or not files:
            (segments.frame(rows) if rows else segments.empty()).write_parquet(loose)
            files.append(loose)
        return files

    def _loose(self) -> list[dict[str, Any]]:
        """Return the rows of the runs that are in no segment."""
        rows: dict[str, dict[str, Any]] = {}
        for name, data in self.place.read(self.files()).items():
            record, text, problem = parsed(data, f"{self.place.name}/{name}", key_of(name))
            if record is None:
                warnings.warn(f"{problem}; it is left out", stacklevel=4)
            else:
                rows.setdefault(record.key, segments.row(record, text))
        return list(rows.values())

    def in_segments(self, keys: Collection[str]) -> list[tuple[str, str, str]]:
        """Return key, text and place of the records with these keys.

        Returns
        -------
        list of tuple of str
            Key, text and place of each record.
        """

        def read() -> list[tuple[str, str, str]]:
            by_segment: dict[str, list[str]] = {}
            for key in keys & self._index.runs.keys():
                by_segment.setdefault(self._index.runs[key].segment, []).append(key)
            found = []
            for segment, its in by_segment.items():
                place = f"{self.place.name}/{segment}"
                try:
                    found += [(key, text, place) for key, text in self._index.read(segment, its)]
                except DamagedError as error:
                    warnings.warn(str(error), stacklevel=6)
            return found

        return self._again(read)

    def _again(self, read: Callable[[], T]) -> T:
        """Read segments, again if another process has compacted them meanwhile."""
        for _ in range(TRIES):
            with contextlib.suppress(FileNotFoundError):
                self._index.refresh()
                return read()
        raise OSError(None, "its segments change faster than they are read", self.place.name)

    def __len__(self) -> int:
        return len(self.keys())

    def __repr__(self) -> str:
        return f"Store({self.place.name!r}, {len(self)} runs)"


def _file(key: str, *, checked: bool = False) -> str:
    """Return the name of the file of a run."""
    return f"{key[:2]}/{key}{'.checked' if checked else ''}.json"


def key_of(name: str) -> str:
    """Return the key of the run of a file."""
    return name[3:67]


def parsed(data: bytes | str, place: str, key: str) -> tuple[Record | None, str, str]:
    """Return a record and its text; or None, "", and what is wrong with it."""
    try:
        text = data if isinstance(data, str) else data.decode()
        record = Record.parse(text, place)
    except (DamagedError, UnicodeDecodeError) as error:
        damaged = isinstance(error, DamagedError)
        return None, "", str(error) if damaged else f"{place}: is no complete record of a run"
    if record.key != key:
        return None, "", f"{place}: is of another run"
    return record, text, ""
