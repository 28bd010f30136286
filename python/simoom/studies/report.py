"""Reports of studies: tables with the paper's values, claims, figures, HTML pages."""

from __future__ import annotations

import math
from collections.abc import Sequence
from importlib.metadata import version
from pathlib import Path
from typing import Any

from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from simoom import plots
from simoom.base import pages
from simoom.base.files import complete, write_frame
from simoom.base.frames import pl
from simoom.results.tables import digits
from simoom.runs.evidence import Value, Verdict
from simoom.show.layout import table
from simoom.studies.claim import Claim
from simoom.studies.figure import Curve, Figure, X, shown_x_values
from simoom.studies.headlines import counts
from simoom.studies.study import Results, slug

MARKS = {
    Verdict.REPRODUCED: ("✓", "green"),
    Verdict.IN_PART: ("◐", "yellow"),
    Verdict.NOT_REPRODUCED: ("✗", "red"),
    Verdict.UNDECIDED: ("?", "yellow"),
    Verdict.NOT_CHECKABLE: ("·", "dim"),
}
CELL = 8
"""Width of a number in the terminal."""


def tables(results: Results, *, width: int = 100) -> RenderableType:
    """Return all results as an object that rich can print."""
    parts: list[RenderableType] = []
    for figure in results:
        parts += [Text(_head(figure), style="bold")]
        for panel in figure.panels:
            parts += [Text(panel.label, style="italic"), _numbers(figure, panel.column, width)]
        if figure.notes:
            parts += [Text(figure.notes, style="dim"), Text()]
        parts += [_claim(each) for each in figure.claims]
    parts.append(Text(summary(results), style="bold"))
    return Group(*parts)


def summary(results: Results) -> str:
    """Return the numbers of claims by kind and verdict."""
    found = counts(results.rows)
    return f"{results.study.name}: {found}" if found else results.study.name


def _head(figure: Figure) -> str:
    return f"{figure.key[0].upper()}{figure.key[1:]}: {figure.title}"


def _numbers(figure: Figure, quantity: str, width: int) -> RenderableType:
    """Return the table of a panel: a row per series, or per x value if the x values are names."""
    curves = figure.panel(quantity)
    blocks = _blocks(curves, width) if not figure.named else [_by_name(curves)]
    return Group(*blocks)


def _blocks(curves: Sequence[Curve], width: int) -> list[Table]:
    """Return tables with a row per series and a column per x value, as many as fit."""
    xs = shown_x_values(curves)
    room = min(44, max(len(c.name) for c in curves))
    fit = max(1, (width - room - 2) // (CELL + 1))
    tables = []
    for start in range(0, len(xs), fit):
        some = xs[start : start + fit]
        shown = table(["", *(f"{float(x):g}" for x in some)], wrapped=(0,), widths={0: room}, gap=1)
        for curve in curves:
            values = [_at(curve, x) for x in some]
            if not any(values):
                continue
            shown.add_row(Text(curve.name), *(_cell(v) for v in values))
            if any(v and v.n for v in values):
                halves = (_half(v) for v in values)
                shown.add_row(Text("  ± 95 %", style="dim"), *halves)
        shown.add_row()
        tables.append(shown)
    return tables


def _by_name(curves: Sequence[Curve]) -> Table:
    """Return a table with a row per x value and a column per series."""
    names = list(dict.fromkeys(x for c in curves for x in c.x))
    rows = [(str(name), *(str(_at(c, name) or "") for c in curves)) for name in names]
    heads = ["", *(f"{c.label}\n({c.source.value})" for c in curves)]
    widths = {0: min(36, max(len(row[0]) for row in rows))}
    return table(heads, [*rows, ()], wrapped=range(len(heads)), widths=widths, gap=1)


def _at(curve: Curve, x: X) -> Value | None:
    return curve.at(x) if x in curve.x else None


def _cell(value: Value | None) -> Text:
    if value is None:
        return Text("")
    return Text(digits(value.value, 4) if math.isfinite(value.value) else "-")


def _half(value: Value | None) -> Text:
    if value is None or not math.isfinite(value.half_width):
        return Text("")
    return Text(digits(value.half_width, 2), style="dim")


def _claim(claim: Claim) -> RenderableType:
    """Return a claim as a paragraph."""
    mark, style = MARKS[claim.verdict]
    head = Text(f"{mark} {claim.verdict.value}", style=style)
    head.append(f"  {claim.name}", style="default bold")
    grid = Table.grid(padding=(0, 1))
    grid.add_column(style="dim", no_wrap=True)
    grid.add_column()
    for name, text in _reasons(claim):
        grid.add_row(name, Text(text))
    body = Group(Text(claim.statement), grid, Text())
    return Group(head, Padding(body, (0, 0, 0, 2), expand=False))


def _reasons(claim: Claim) -> list[tuple[str, str]]:
    """Return the reasons of a verdict, without empty ones."""
    rows = [
        ("paper", claim.paper),
        ("here", claim.ours),
        ("reading", claim.reading),
        ("others", claim.tried),
        ("allowed", claim.tolerance),
        ("why", claim.reason),
    ]
    return [(name, text) for name, text in rows if text]


def write(results: Results, directory: Path) -> list[str]:
    """Write data, figures and claims into a directory; return the names of the files."""
    here = directory / results.study.name
    here.mkdir(parents=True, exist_ok=True)
    names = []
    for figure in results:
        name = slug(figure.key)
        write_frame(here / f"{name}.csv", figure.data)
        write_frame(here / f"{name}.parquet", figure.data)
        picture = figure.plot()
        plots.save(picture, here / f"{name}.png")
        with complete(here / f"{name}.svg") as draft:
            draft.write_bytes(plots.svg(picture))
        names += [f"{name}.{ending}" for ending in ("csv", "parquet", "png", "svg")]
    if results.claims:
        claims = _with_others(results, here / "claims.csv")
        write_frame(here / "claims.csv", claims)
        write_frame(here / "claims.parquet", claims)
        names += ["claims.csv", "claims.parquet"]
    return [f"{results.study.name}/{name}" for name in names]


def _with_others(results: Results, path: Path) -> pl.DataFrame:
    """Return the claims, and those that the file has of figures which were not made now."""
    claims = results.frame()
    if not path.exists():
        return claims
    before = pl.read_csv(path, infer_schema=False).fill_null("")
    if before.columns != claims.columns:
        return claims  # written by another version
    made = [figure.key for figure in results]
    kept = before.filter(~pl.col("figure").is_in(made))
    order = {key: place for place, key in enumerate(results.study.keys)}
    rows = [row for row in (*kept.iter_rows(), *claims.iter_rows()) if row[0] in order]
    return pl.DataFrame(
        sorted(rows, key=lambda row: order[row[0]]), schema=claims.schema, orient="row"
    )


def page(studies: Sequence[Results]) -> str:
    """Return studies as one self-contained HTML page."""
    return pages.render(
        "studies.html",
        title="Simoom: studies",
        studies=[
            {
                "name": each.study.name,
                "title": each.study.title,
                "counts": summary(each).partition(": ")[2],
                "reference": each.study.reference,
                "notes": each.study.notes,
                "figures": [_on_page(figure) for figure in each],
            }
            for each in studies
        ],
        version=version("simoom"),
    )


def _on_page(figure: Figure) -> dict[str, Any]:
    """Return the values of a figure for the template."""
    return {
        "head": _head(figure),
        "picture": pages.embedded(plots.svg(figure.plot())),
        "notes": figure.notes,
        "claims": [(each.verdict.value, each.statement, _reasons(each)) for each in figure.claims],
        "panels": [_panel(figure, panel.column, panel.label) for panel in figure.panels],
    }


def _panel(figure: Figure, quantity: str, label: str) -> dict[str, Any]:
    """Return the table of a panel: a row per series, a column per x value."""
    curves = figure.panel(quantity)
    xs = shown_x_values(curves, most=40)
    rows = []
    for curve in curves:
        cells = (_at(curve, x) for x in xs)
        rows.append([curve.name, *(str(value) if value else "" for value in cells)])
    headings = [figure.x.column, *(x if isinstance(x, str) else f"{x:g}" for x in xs)]
    return {"caption": label.replace("$", ""), "headings": headings, "rows": rows}
