"""Files of traces: formats by extension, and files that appear only when they are complete."""

from __future__ import annotations

import errno
import os
import shutil
import tempfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Protocol

from simoom import _core
from simoom.base.frames import pl
from simoom.base.lazy import door
from simoom.trace.columns import TABLES, Columns

Options = Sequence[tuple[str, str]]
"""Options of file formats: the path of each, ``pcapng.merged``, and its value in TOML."""


class Writer(Protocol):
    """A format that is written here, batch by batch, into files in a folder of its own."""

    def add(self, table: str, rows: pl.DataFrame) -> None:
        """Add the next rows of a table."""

    def finish(self) -> None:
        """Complete the files, each of which is named as its suffix."""


class Parquet:
    """A Parquet file for each table: ``out.parquet`` becomes ``out.frames.parquet`` and so on."""

    suffixes = (
        ".frames.parquet",
        ".mpdus.parquet",
        ".waits.parquet",
        ".packets.parquet",
        ".segments.parquet",
        ".routes.parquet",
    )

    def __init__(self, folder: Path, scenario: _core.Scenario) -> None:
        self._folder = folder
        columns = Columns(scenario)
        self._parts = dict.fromkeys(TABLES, 0)
        for table in TABLES:
            self.add(table, columns.empty(table))

    def add(self, table: str, rows: pl.DataFrame) -> None:
        """Write a part of a table."""
        rows.write_parquet(self._folder / f"{table}-{self._parts[table]:06}")
        self._parts[table] += 1

    def finish(self) -> None:
        """Join the parts of each table, a few at a time."""
        for table, count in self._parts.items():
            parts = [self._folder / f"{table}-{number:06}" for number in range(count)]
            pl.scan_parquet(parts).sink_parquet(self._folder / f".{table}.parquet")


@door
def trace_page(folder: Path, scenario: _core.Scenario) -> Writer:
    """Return the writer of a page."""
    raise NotImplementedError


WRITERS: dict[str, Callable[[Path, _core.Scenario], Writer]] = {
    "html": trace_page,
    "parquet": Parquet,
}
"""The formats that are written here, by extension."""
CORE = frozenset(extension for extension, _ in _core.trace_formats())
"""The extensions of the formats that the simulator writes itself."""


def extension(path: Path) -> str:
    """Return the extension of a path, which must be that of a format."""
    found = path.suffix.removeprefix(".").lower()
    known = sorted({*WRITERS, *CORE})
    if found not in known:
        has = f"there is no trace format .{found}" if found else "has no extension"
        raise ValueError(f"{path}: {has}; the formats are {', '.join('.' + e for e in known)}")
    return found


def names(path: Path, scenario: _core.Scenario, options: Options = ()) -> list[Path]:
    """Return the names of the files that a trace of a scenario has at this path."""
    found = extension(path)
    if found in CORE:
        parts = scenario.trace_files(found, list(options))
        return [path.with_suffix(f"{part}{path.suffix}") for part in parts]
    suffixes = getattr(WRITERS[found], "suffixes", [path.suffix])
    return [path.with_suffix(suffix) for suffix in suffixes]


class TraceFile:
    """A trace at a path. Until it is complete, its files are in a hidden folder beside it."""

    def __init__(self, path: Path, scenario: _core.Scenario, options: Options) -> None:
        self.path = path
        self.extension = extension(path)
        self.names = names(path, scenario, options)
        for name in self.names:
            if name.is_dir():
                raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), str(name))
        try:
            folder = tempfile.mkdtemp(prefix=f".{path.name}-", dir=path.parent)
        except OSError as error:
            raise self.named(error) from None
        self.folder = Path(folder)
        try:
            make = WRITERS.get(self.extension)
            self.writer = None if make is None else make(self.folder, scenario)
        except BaseException:
            self.discard()
            raise

    @property
    def core_path(self) -> Path:
        """The file that the simulator writes, or whose parts it writes with names before its."""
        return self.folder / self.path.suffix

    def add(self, table: str, rows: pl.DataFrame) -> None:
        """Add the next rows of a table, if they are written here."""
        if self.writer is not None:
            with self._errors():
                self.writer.add(table, rows)

    def finish(self) -> None:
        """Complete the files and give them their names."""
        with self._errors():
            if self.writer is not None:
                self.writer.finish()
            for name in self.names:
                suffix = name.name.removeprefix(self.path.stem)
                (self.folder / suffix).replace(name)
        self.discard()

    def discard(self) -> None:
        """Remove what has not been completed."""
        shutil.rmtree(self.folder, ignore_errors=True)

    def named(self, error: OSError) -> OSError:
        """Return an error with the name of this file instead of that of a part of it."""
        reason = error.strerror or str(error)
        return OSError(error.errno or errno.EIO, reason, str(self.path))

    def owns(self, error: OSError) -> bool:
        """Whether an error is about a part of this file."""
        return str(self.folder) in str(error.filename)

    @contextmanager
    def _errors(self) -> Iterator[None]:
        try:
            yield
        except OSError as error:
            raise self.named(error) from None
        except Exception as error:
            # Not every format needs polars.
            if not type(error).__module__.startswith("polars"):
                raise
            raise self.named(OSError(errno.EIO, str(error))) from None


def open_all(paths: Iterable[Path], scenario: _core.Scenario, options: Options) -> list[TraceFile]:
    """Begin the files of a trace, or none of them."""
    files: list[TraceFile] = []
    try:
        files.extend(TraceFile(path, scenario, options) for path in dict.fromkeys(paths))
    except BaseException:
        for file in files:
            file.discard()
        raise
    return files
