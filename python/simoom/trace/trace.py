"""Traces: every frame, wait, packet and segment of a run, as data frames or in files."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

from simoom import _core
from simoom.base.frames import pl
from simoom.base.lazy import door
from simoom.trace.columns import TABLES, Columns
from simoom.trace.files import CORE, Options, TraceFile, open_all


@dataclass(frozen=True)
class TraceFilter:
    """Which records a trace has.

    Parameters
    ----------
    start_s, end_s : float, optional
        The stretch that is traced; by default the whole run. A frame or a wait that lasts into the
        stretch belongs to it.
    nodes : sequence of str, optional
        Names of nodes; by default all. A frame is traced if one of them sends it, if it is
        addressed to one of them, or if it is a broadcast.
    flows : sequence of str, optional
        Names of flows; by default all. A frame is traced if its exchange carries packets of one of
        them, and a wait if it is at a radio on their path.
    """

    start_s: float | None = None
    end_s: float | None = None
    nodes: Sequence[str] = ()
    flows: Sequence[str] = ()


@dataclass(frozen=True, eq=False, repr=False)
class Trace:
    """The trace of a run, as data frames whose column names have units."""

    _columns: Columns
    _batches: dict[str, list[pl.DataFrame]] = field(default_factory=dict)

    def _table(self, name: str) -> pl.DataFrame:
        batches = self._batches.pop(name, [])
        return pl.concat(batches) if batches else self._columns.empty(name)

    @cached_property
    def frames(self) -> pl.DataFrame:
        """A row for each PPDU, in the order in which they begin."""
        return self._table("frames")

    @cached_property
    def mpdus(self) -> pl.DataFrame:
        """A row for each packet in a data frame; ``frame`` is a ``number`` of `frames`."""
        return self._table("mpdus")

    @cached_property
    def waits(self) -> pl.DataFrame:
        """Intervals of back-offs that count down, EDCAFs that defer, NAVs, and busy tones."""
        return self._table("waits")

    @cached_property
    def packets(self) -> pl.DataFrame:
        """A row for each step of a packet on its way."""
        return self._table("packets")

    @cached_property
    def segments(self) -> pl.DataFrame:
        """A row for each TCP segment that an end sends or receives, with the sender's state."""
        return self._table("segments")

    @cached_property
    def routes(self) -> pl.DataFrame:
        """A row for each event of a router: a route changes or fails, a link to a node fails."""
        return self._table("routes")

    def add(self, table: str, rows: pl.DataFrame) -> None:
        """Add rows to a table that has not been read yet."""
        self._batches.setdefault(table, []).append(rows)

    @door
    def _repr_html_(self) -> str:
        raise NotImplementedError

    def __repr__(self) -> str:
        rows = (f"{getattr(self, name).height} {name}" for name in TABLES)
        return f"Trace({', '.join(rows)})"


class Tracing:
    """What a run is asked to trace, and the trace that it makes: a context manager."""

    def __init__(
        self,
        scenario: _core.Scenario,
        wanted: bool | str | Path | Iterable[str | Path],
        which: TraceFilter,
        options: Options = (),
    ) -> None:
        self.trace: Trace | None = None
        self.request: _Request | None = None
        self._files: list[TraceFile] = []
        self._columns = columns = Columns(scenario)
        if isinstance(wanted, bool):
            self.trace = Trace(columns) if wanted else None
        else:
            paths = [wanted] if isinstance(wanted, (str, Path)) else wanted
            self._files = open_all(map(Path, paths), scenario, options)
        if self.trace is None and not self._files:
            return
        in_core = [file for file in self._files if file.extension in CORE]
        self.request = _Request(
            which.start_s,
            which.end_s,
            list(which.nodes),
            list(which.flows),
            [(str(file.core_path), file.extension) for file in in_core],
            list(options),
            self._add if len(in_core) < len(self._files) or self.trace is not None else None,
        )

    def _add(self, table: int, columns: Sequence[bytes]) -> None:
        name, rows = self._columns.frame(table, columns)
        if self.trace is not None:
            self.trace.add(name, rows)
        for file in self._files:
            file.add(name, rows)

    def __enter__(self) -> Tracing:
        return self

    def __exit__(self, kind: object, error: BaseException | None, traceback: object) -> None:
        try:
            if error is None:
                for file in self._files:
                    file.finish()
            elif isinstance(error, OSError):
                for file in self._files:
                    if file.owns(error):
                        raise file.named(error) from None
        finally:
            for file in self._files:
                file.discard()


@dataclass
class _Request:
    """What the simulator reads."""

    start_s: float | None
    end_s: float | None
    nodes: list[str]
    flows: list[str]
    files: list[tuple[str, str]]
    options: list[tuple[str, str]]
    on_batch: Callable[[int, Sequence[bytes]], None] | None
