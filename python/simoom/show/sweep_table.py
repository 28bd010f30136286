"""The table of a sweep: a row for each point, a column for each result."""

from __future__ import annotations

import io
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from rich.console import Console, Group, RenderableType
from rich.text import Text

from simoom.results.tables import Column, Row, digits, flow_rows, group_of, number, visible
from simoom.runs.axis_text import short
from simoom.runs.stats import mean_ci
from simoom.scenario.observables import observable
from simoom.show.layout import fitted, is_room, with_interval

if TYPE_CHECKING:
    from simoom.runs.sweep import Point, Sweep

LONG = 14
"""Longer headings are divided into lines."""
MOST_GROUPS = 4
"""Of more groups of flows no sums are shown."""


def table(done: Sweep, means: Mapping[str, Sequence[Row]], width: int, *, groups: bool) -> Group:
    """Return the table of a sweep for a terminal.

    Parameters
    ----------
    done : Sweep
        The sweep.
    means : mapping
        For each result a row for each point, as `Sweep.mean` gives them.
    width : int
        The width in characters.
    groups : bool
        Whether the goodputs of groups of flows follow, where there are several.
    """
    rows: list[Row] = [
        {axis: _value(value) for axis, value in point.settings.items()} for point in done.points
    ]
    axes = [Column(axis, _broken(axis)) for axis in done.over]
    columns = list(axes)
    for path, found in means.items():
        columns.append(Column(path, heading(path)))
        for row, mean, point in zip(rows, found, done.points, strict=True):
            row[path] = _cell(mean, is_random=point.replications.is_random)
    for name, cells in _groups(done).items() if groups else ():
        columns.append(Column(name, f"{_broken(name)}\ngoodput\nMb/s"))
        for row, cell in zip(rows, cells, strict=True):
            row[name] = cell
    if not is_room(axes, [column for column in columns if column not in axes], rows, width):
        for row in rows:
            row.update({axis: short(row[axis]) for axis in done.over})
    words = [
        axis for axis, values in done.over.items() if any(isinstance(each, str) for each in values)
    ]
    shown: RenderableType = fitted(
        columns, rows, width, names=len(done.over), most=len(rows), words=words
    )
    return Group(shown, Text(_caption(done), style="dim"))


def _caption(done: Sweep) -> str:
    counts = [len(point.replications) for point in done.points]
    least, most = min(counts), max(counts)
    if most == 1:
        return "one run of each point"
    random = [point.replications.is_random for point in done.points]
    if not any(random):
        return "all runs of a point are the same: nothing in them is random"
    runs = str(least) if least == most else f"{least} to {most}"
    alike = "" if all(random) else ", but where nothing is random and all runs are the same"
    return f"means of {runs} runs with 95 % intervals{alike}"


def _value(value: object) -> str:
    """Write the value of an axis; values of a design have more digits than anybody reads."""
    return f"{value:.6g}" if isinstance(value, float) else visible(str(value))


def text(done: Sweep, means: Mapping[str, Sequence[Row]], width: int, *, groups: bool) -> str:
    """Return the table as plain text."""
    console = Console(file=io.StringIO(), width=width, color_system=None, legacy_windows=False)
    with console.capture() as capture:
        console.print(table(done, means, width, groups=groups))
    return "\n".join(line.rstrip() for line in capture.get().splitlines()) + "\n"


def heading(path: str) -> str:
    r"""Return the heading of a result: whose it is, its name and its unit, each in a line.

    Examples
    --------
    >>> heading("total.goodput_mbps")
    'total goodput\nMb/s'
    >>> heading("flows[3].rtt_s.p95")
    'flows[3]\nRTT\n95 %\ns'
    """
    each = observable(path)
    whose, _, last = path.partition(".")
    parts = path.rsplit(".", 1)
    lines = [] if each.heading.startswith(whose) else [whose]
    if parts[-1] in ("sd", "max", "count") or parts[-1][1:].isdigit():
        lines += [observable(f"{parts[0]}.mean").heading]
    lines += [each.heading or last]
    return "\n".join([*lines, each.unit] if each.unit not in ("1", "text") else lines)


def _broken(text: str) -> str:
    r"""Return a path or a name, in several lines if it is long.

    Examples
    --------
    >>> _broken("wire.delay_ms"), _broken("flows[*].tcp.delayed_ack")
    ('wire.delay_ms', 'flows[*]\n.tcp\n.delayed_ack')
    """
    if len(text) <= LONG:
        return text
    return text.replace(".", "\n.").replace(" → ", "\n→ ")


def _cell(row: Row, *, is_random: bool) -> str | None:
    mean, low, high = (number(row[key]) for key in ("mean", "ci_low", "ci_high"))
    if mean is None:
        return None if row["n"] == 0 else f"{row['mean']}"
    half_width = (high - low) / 2 if is_random and low is not None and high is not None else None
    return with_interval(digits(mean, 4), half_width)


def _groups(done: Sweep) -> dict[str, list[str | None]]:
    """Return the goodputs of groups of flows at each point, if there are several groups."""
    found = [_sums(point) for point in done.points]
    names = dict.fromkeys(name for sums in found for name in sums)
    if not 1 < len(names) <= MOST_GROUPS:
        return {}
    cells: dict[str, list[str | None]] = {name: [] for name in names}
    for sums, point in zip(found, done.points, strict=True):
        for name in names:
            if name not in sums:
                cells[name].append(None)
                continue
            estimate = mean_ci(sums[name])
            bounds = {"ci_low": estimate.ci_low, "ci_high": estimate.ci_high}
            row: Row = {"mean": estimate.mean, **bounds, "n": estimate.n}
            cells[name].append(_cell(row, is_random=point.replications.is_random))
    return cells


def _sums(point: Point) -> dict[str, list[float]]:
    """Return for each group of flows the sum of their goodputs in each run."""
    found: dict[str, list[float]] = {}
    for number_, run in enumerate(point.replications):
        for flow in flow_rows(run.summary):
            own = found.setdefault(group_of(flow), [0.0] * len(point.replications))
            own[number_] += number(flow.get("goodput_mbps")) or 0.0
    return found
