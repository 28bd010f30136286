"""Tables of a trace, as the simulator passes them, as polars data frames."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property

from simoom import _core
from simoom.base.frames import np, pl

TABLES: dict[str, tuple[tuple[str, str], ...]] = {
    name: tuple(columns) for name, columns in _core.trace_tables()
}
"""The tables of a trace, and the names and types of their columns."""


class Columns:
    """The columns of a trace as the simulator passes them, as batches of data frames."""

    def __init__(self, scenario: _core.Scenario) -> None:
        self._scenario = scenario
        self._tables = list(TABLES.items())

    @cached_property
    def _names(self) -> dict[str, pl.Series]:
        named = self._scenario.trace_names()
        return {kind: pl.Series(names, dtype=pl.Enum(names)) for kind, names in named}

    def frame(self, table: int, columns: Sequence[bytes]) -> tuple[str, pl.DataFrame]:
        """Return the name of a table, and a batch of it."""
        name, schema = self._tables[table]
        made = [
            self._series(*column, values) for column, values in zip(schema, columns, strict=True)
        ]
        return name, pl.DataFrame(made)

    def empty(self, table: str) -> pl.DataFrame:
        """Return a table without rows."""
        return pl.DataFrame([self._series(*column, b"") for column in TABLES[table]])

    def _series(self, name: str, kind: str, values: bytes) -> pl.Series:
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
