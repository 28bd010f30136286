"""Traces: every frame, wait, packet and segment of a run, as data frames or in a file."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from simoom import _core
from simoom.scenario import Scenario

if TYPE_CHECKING:
    import polars as pl

TABLES: dict[str, tuple[tuple[str, str], ...]] = {
    name: tuple(columns) for name, columns in _core.trace_tables()
}
"""The tables of a trace, and the names and types of their columns."""


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


class Columns:
    """The columns of a trace as the simulator passes them, as batches of data frames."""

    def __init__(self, scenario: Scenario) -> None:
        import polars as pl

        self._names = {
            kind: pl.Series(names, dtype=pl.Enum(names))
            for kind, names in scenario.core.trace_names()
        }
        self._tables = list(TABLES.items())

    def frame(self, table: int, columns: Sequence[bytes]) -> tuple[str, pl.DataFrame]:
        """Return the name of a table, and a batch of it."""
        import polars as pl

        name, schema = self._tables[table]
        made = [
            self._series(*column, values) for column, values in zip(schema, columns, strict=True)
        ]
        return name, pl.DataFrame(made)

    def empty(self, table: str) -> pl.DataFrame:
        """Return a table without rows."""
        import polars as pl

        return pl.DataFrame([self._series(*column, b"") for column in TABLES[table]])

    def _series(self, name: str, kind: str, values: bytes) -> pl.Series:
        import polars as pl

        kind, nullable = kind.removesuffix("?"), kind.endswith("?")
        if kind == "text":
            text = pl.Series(name, values.decode().split("\n")[:-1], dtype=pl.String)
            return text.replace("", None) if nullable else text
        if kind == "bool":
            return pl.Series(name, np.frombuffer(values, np.bool_))
        if kind == "f64":
            series = pl.Series(name, np.frombuffer(values, np.float64))
            return series.fill_nan(None) if nullable else series
        names = self._names[kind.removeprefix("name:")] if kind.startswith("name:") else None
        dtype = np.dtype(np.uint32 if names is not None else f"u{int(kind[1:]) // 8}")
        series = pl.Series(name, np.frombuffer(values, dtype))
        if nullable:
            series = series.replace(np.iinfo(dtype).max, None)
        return series if names is None else names.gather(series).alias(name)


@dataclass(frozen=True, eq=False, repr=False)
class Trace:
    """The trace of a run, as data frames whose column names have units.

    Attributes
    ----------
    frames : polars.DataFrame
        A row for each PPDU, in the order in which they begin.
    mpdus : polars.DataFrame
        A row for each packet in a data frame; `frame` is the number of its row in `frames`.
    waits : polars.DataFrame
        Intervals in which a back-off counts down, an EDCAF defers, or a NAV is set.
    packets : polars.DataFrame
        A row for each step of a packet on its way.
    segments : polars.DataFrame
        A row for each TCP segment that an end sends or receives, with the state of the sender.
    """

    _columns: Columns
    _batches: dict[str, list[pl.DataFrame]] = field(default_factory=dict)

    def _table(self, name: str) -> pl.DataFrame:
        import polars as pl

        batches = self._batches.pop(name, [])
        return pl.concat(batches) if batches else self._columns.empty(name)

    @cached_property
    def frames(self) -> pl.DataFrame:
        return self._table("frames")

    @cached_property
    def mpdus(self) -> pl.DataFrame:
        return self._table("mpdus")

    @cached_property
    def waits(self) -> pl.DataFrame:
        return self._table("waits")

    @cached_property
    def packets(self) -> pl.DataFrame:
        return self._table("packets")

    @cached_property
    def segments(self) -> pl.DataFrame:
        return self._table("segments")

    def _add(self, table: int, columns: Sequence[bytes]) -> None:
        name, batch = self._columns.frame(table, columns)
        self._batches.setdefault(name, []).append(batch)

    def __repr__(self) -> str:
        rows = (f"{getattr(self, name).height} {name}" for name in TABLES)
        return f"Trace({', '.join(rows)})"


class Tracing:
    """What a run is asked to trace, and the trace that it makes."""

    def __init__(self, scenario: Scenario, wanted: bool, which: TraceFilter) -> None:
        self.trace = Trace(Columns(scenario)) if wanted else None
        self.request: _Request | None = None
        if self.trace is not None:
            self.request = _Request(
                which.start_s,
                which.end_s,
                list(which.nodes),
                list(which.flows),
                [],
                self.trace._add,
            )


@dataclass
class _Request:
    """What the simulator reads."""

    start_s: float | None
    end_s: float | None
    nodes: list[str]
    flows: list[str]
    files: list[tuple[str, str]]
    on_batch: Callable[[int, Sequence[bytes]], None] | None
