"""Tables that fit the width of a terminal: what is too wide continues below, names again."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import TYPE_CHECKING

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from simoom.results.tables import EXPENDABLE, MOST_ROWS, WORDS, Column, Row, digits, used

if TYPE_CHECKING:
    from simoom.runs.stats import Estimate

LEAST_NAME = 8
"""Names are truncated to this width before a table is divided; numbers never are."""
GAP = 2
"""Space between two columns."""


def fitted(
    columns: Sequence[Column],
    rows: Sequence[Row],
    width: int,
    *,
    names: int = 1,
    least: int = LEAST_NAME,
    most: int = MOST_ROWS,
    words: Collection[str] = WORDS,
) -> RenderableType:
    """Return a table of this width; one that is too wide continues below, with the names again.

    Parameters
    ----------
    columns : sequence of Column
        The columns; those without any value are left out, and those of `EXPENDABLE` where the
        width does not suffice.
    rows : sequence of mapping
        The rows, by the keys of columns.
    width : int
        The width in characters.
    names : int, optional
        The number of first columns that are repeated. Several are truncated only where a number
        would be.
    least : int, optional
        The width to which a single first column is truncated before the table is divided; less
        where another column needs the room.
    most : int, optional
        Of more rows the last ones are left out.
    words : collection of str, optional
        The keys of columns that are aligned to the left.
    """
    cut = rows if len(rows) <= most else rows[: most - 1]
    shown = used(columns, rows)
    widths = {column.key: _width(column, cut) for column in shown}
    for key in EXPENDABLE:
        if _total(widths) > width:
            widths.pop(key, None)
    kept = [column for column in shown if column.key in widths]
    name, further, rest = kept[0], kept[1:names], kept[names:]
    blocks: list[list[Column]] = [[]]
    room = width - GAP - max((widths[column.key] for column in rest), default=0)
    if names > 1:
        _narrow(widths, [name.key, *(column.key for column in further)], room)
        narrow = widths[name.key]
    else:
        narrow = min(widths[name.key], max(min(least, room), LEAST_NAME))
        narrow = distinct_width(_written(name, cut), narrow)
    fixed = {name.key: narrow, **{column.key: widths[column.key] for column in further}}
    room = width - _total(fixed) - GAP
    for column in rest:
        widths[column.key] = min(widths[column.key], max(room, LEAST_NAME))
        wide = {each.key: widths[each.key] for each in [*blocks[-1], column]}
        if _total({**fixed, **wide}) > width and blocks[-1]:
            blocks.append([])
        blocks[-1].append(column)
    tables = []
    for block in blocks:
        others = _total({each.key: widths[each.key] for each in [*further, *block]})
        widths[name.key] = max(narrow, min(_width(name, cut), width - others - GAP))
        tables.append(_block([name, *further, *block], widths, cut, len(rows), words))
    return Group(*tables)


def captioned(
    columns: Sequence[Column],
    rows: Sequence[Row],
    caption: str,
    width: int,
    words: Collection[str],
) -> RenderableType:
    """Return a `fitted` table with all rows, names in full where they fit, and a line below it."""
    longest = max(map(len, _written(columns[0], rows)))
    shown = fitted(columns, rows, width, least=longest, most=len(rows), words=words)
    return Group(shown, Text(caption, style="dim"))


def _narrow(widths: dict[str, int], keys: Sequence[str], room: int) -> None:
    """Reduce the widths of some columns, the widest first, until there is room for them."""
    while (excess := _total({key: widths[key] for key in keys}) - room) > 0:
        widest = max(keys, key=lambda key: widths[key])
        if widths[widest] <= LEAST_NAME:
            return
        widths[widest] = max(widths[widest] - excess, LEAST_NAME)


def is_room(
    names: Sequence[Column], others: Sequence[Column], some_rows: Sequence[Row], width: int
) -> bool:
    """Return whether each of the other columns fits beside all names in full."""
    widest = max((_width(column, some_rows) for column in others), default=0)
    return sum(_width(column, some_rows) + GAP for column in names) + widest <= width


def _total(widths: Mapping[str, int]) -> int:
    """Return the width of a table whose columns have these widths."""
    return sum(widths.values()) + GAP * (len(widths) - 1)


def _block(
    columns: Sequence[Column],
    widths: Mapping[str, int],
    cut: Sequence[Row],
    count: int,
    words: Collection[str],
) -> Table:
    """Return a table of these columns; `count` rows are cut to those that are shown."""
    names = shortened(_written(columns[0], cut), widths[columns[0].key])
    rows = [
        (written, *(column.write(row.get(column.key)) for column in columns[1:]))
        for written, row in zip(names, cut, strict=True)
    ]
    left = [n for n, column in enumerate(columns) if column.key in words]
    shown = table([column.heading for column in columns], rows, left=left,
                  widths={n: widths[column.key] for n, column in enumerate(columns)})  # fmt: skip
    if len(cut) < count:
        shown.add_row(Text(f"… {count - len(cut)} more", style="dim"))
    shown.add_row()
    return shown


def table(
    headings: Sequence[str],
    rows: Iterable[Sequence[str | Text]] = (),
    *,
    left: Collection[int] = (0,),
    wrapped: Collection[int] = (),
    widths: Mapping[int, int] = MappingProxyType({}),
    gap: int = GAP,
) -> Table:
    """Return a table as all commands print them: no lines, bold headings, numbers to the right.

    Parameters
    ----------
    headings : sequence of str
        The headings of the columns, each of which may have several lines.
    rows : iterable of sequence, optional
        The cells of each row.
    left, wrapped : collection of int, optional
        The columns with words, to the left, and those whose text may continue in a further line.
    widths : mapping, optional
        The widths of columns; by default that of their text.
    gap : int, optional
        The space between two columns.
    """
    made = Table(box=None, header_style="bold", padding=(0, gap, 0, 0), pad_edge=False)
    several = any("\n" in heading for heading in headings)
    for n, heading in enumerate(headings):
        made.add_column(
            Text(heading),
            justify="left" if n in left else "right",
            vertical="bottom" if several else "top",
            no_wrap=n not in wrapped,
            width=widths.get(n),
        )
    for row in rows:
        made.add_row(*(Text(cell) if isinstance(cell, str) else cell for cell in row))
    return made


def _written(column: Column, some_rows: Sequence[Row]) -> list[str]:
    return [column.write(row.get(column.key)) for row in some_rows]


def shortened(names: Sequence[str], width: int) -> list[str]:
    """Cut names that are longer than a width in the middle, where most of them still differ.

    Examples
    --------
    >>> shortened(["browsing sta3", "browsing sta10", "call down sta3", "web"], 8)
    ['bro…sta3', 'bro…ta10', 'cal…sta3', 'web']
    """
    tails = sorted(range(width), key=lambda tail: abs(tail - width // 2))
    tried = ([_cut(name, width, tail) for name in names] for tail in tails)
    return max(tried, key=lambda cut: len(set(cut)))


def _cut(name: str, width: int, tail: int) -> str:
    if len(name) <= width:
        return name
    return f"{name[: width - 1 - tail]}…{name[len(name) - tail :]}"


def distinct_width(names: Sequence[str], least: int) -> int:
    """Return the least width, at least `least`, at which shortened names still differ.

    Examples
    --------
    >>> distinct_width(["call up sta3", "call up sta4", "call down sta3"], 6)
    7
    """
    widest = max(map(len, names), default=least)
    different = len(set(names))
    wide_enough = (
        width for width in range(least, widest) if len(set(shortened(names, width))) == different
    )
    return next(wide_enough, max(least, widest))


def _width(column: Column, some_rows: Sequence[Row]) -> int:
    """Return the width that a column needs to show its values in full."""
    values = (column.write(row.get(column.key)) for row in some_rows)
    return max(map(len, [*values, *column.heading.split("\n")]))


def with_interval(value: str, half_width: float | None) -> str:
    """Write a value with the half-width of its interval, if it has one.

    Examples
    --------
    >>> with_interval("+2.53", 0.0634), with_interval("+2.53", None)
    ('+2.53 ± 0.063', '+2.53')
    """
    return value if half_width is None else f"{value} ± {digits(half_width, 2)}"


def estimated(estimate: Estimate, places: int) -> str:
    """Write an estimate with so many significant digits, and its interval.

    Examples
    --------
    >>> from simoom.runs.stats import mean_ci
    >>> estimated(mean_ci([1.0, 1.1, 1.3]), 3)
    '1.13 ± 0.38'
    """
    return with_interval(digits(estimate.mean, places), estimate.half_width)
