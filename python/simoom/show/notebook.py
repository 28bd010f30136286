"""HTML fragments for notebooks: what a cell shows whose last value is an object of Simoom."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from html import escape
from typing import TYPE_CHECKING

from simoom.base.frames import pl
from simoom.base.pages import preformatted
from simoom.results.notices import told
from simoom.results.tables import MOST_ROWS, digits
from simoom.show import sections
from simoom.show.layout import with_interval
from simoom.show.sections import headline

if TYPE_CHECKING:
    from simoom.results.run import Run
    from simoom.runs.replications import Replications
    from simoom.runs.sweep import Sweep
    from simoom.scenario.scenario import Scenario
    from simoom.show.sections import Table
    from simoom.trace.trace import Trace
    from simoom.twin import Twin

MEANS = ("total.goodput_mbps", "total.jain_index", "total.delay_s.mean")
"""The results of replications and sweeps that are shown."""


def scenario(shown: Scenario) -> str:
    """Return a scenario as its TOML text."""
    summary = f"<summary>{escape(repr(shown))}</summary>"
    return f"<details open>{summary}{preformatted(shown.to_toml())}</details>"


def run(shown: Run) -> str:
    """Return the report of a run; of its sections the flows are open."""
    facts = [[name, value] for name, value in headline(shown.summary)]
    notices = "".join(f'<p role="note">{escape(notice)}</p>' for notice in told(shown))
    parts = [_section(table) for table in sections.shown(shown)]
    return (
        f"<b>{escape(shown.title)}</b>{_table([], facts)}{notices}{''.join(parts)}"
        f"<small>{escape(repr(shown))}</small>"
    )


def _section(table: Table) -> str:
    headings = [heading.replace("\n", " ") for heading in table.headings]
    is_open = " open" if table.section in sections.OF_FLOWS else ""
    caption = f" <small>{escape(table.caption)}</small>" if table.caption else ""
    summary = f"<summary>{escape(table.title)}{caption}</summary>"
    cells = _table(headings, table.cells) if table.rows else ""
    return f"<details{is_open}>{summary}{cells}</details>"


def replications(shown: Replications) -> str:
    """Return the means of replications with their intervals."""
    rows = [
        [path, str(shown.mean(path))]
        for path in MEANS
        if any(isinstance(run.summary.get(path), float) for run in shown)
        and not all(math.isnan(value) for value in shown.values(path))
    ]
    return f"<b>{escape(repr(shown))}</b>{_table(['result', 'mean and 95 % interval'], rows)}"


def sweep(shown: Sweep) -> str:
    """Return the mean goodput at each point of a sweep."""
    rows = []
    for row, point in zip(shown.mean(MEANS[0]).to_dicts(), shown.points, strict=True):
        has_half = row["n"] > 1 and point.replications.is_random
        half = (row["ci_high"] - row["ci_low"]) / 2 if has_half else None
        mean = "-" if row["mean"] is None else with_interval(digits(row["mean"], 4), half)
        rows.append([*(str(row[axis]) for axis in shown.over), mean])
    headings = [*shown.over, f"{MEANS[0]}, mean and 95 % interval"]
    return f"<b>{escape(repr(shown))}</b>{_table(headings, rows)}"


def twin(shown: Twin) -> str:
    """Return the report of an analytic twin."""
    return preformatted(str(shown.report()))


def trace(shown: Trace) -> str:
    """Return the number of rows of each table of a trace."""
    tables: dict[str, pl.DataFrame] = {
        name: getattr(shown, name) for name in ("frames", "mpdus", "waits", "packets", "segments")
    }
    rows = [[name, f"{table.height:,}", ", ".join(table.columns)] for name, table in tables.items()]
    return _table(["table", "rows", "columns"], rows)


def _table(headings: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    listed = list(rows)
    head = "".join(f"<th>{escape(heading)}</th>" for heading in headings)
    body = "".join(
        f"<tr>{''.join(f'<td>{escape(cell)}</td>' for cell in row)}</tr>"
        for row in listed[:MOST_ROWS]
    )
    more = f"<small>… {len(listed) - MOST_ROWS} more</small>" if len(listed) > MOST_ROWS else ""
    return f"<table>{f'<thead><tr>{head}</tr></thead>' if head else ''}{body}</table>{more}"
