"""Reports of a run: tables for the terminal, a page for the browser, files for other programs."""

from __future__ import annotations

import io
import json
from collections.abc import Mapping, Sequence
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from rich.console import Console, Group, RenderableType
from rich.table import Table as Grid
from rich.text import Text

from simoom import plots
from simoom.base import pages
from simoom.base.files import finite, write_frame, write_text
from simoom.base.frames import pl
from simoom.base.lazy import door
from simoom.base.needs import MissingPackageError
from simoom.base.palette import USES
from simoom.plots.words import findings
from simoom.results.notices import told
from simoom.results.tables import Row, nodes, number, plain
from simoom.show.layout import fitted
from simoom.show.sections import OF_FLOWS, Table, headline, shown

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from simoom.results.run import Run

WIDEST_BAR = 100
"""The length of the bar of the airtime where there is room."""


class Explanation(Protocol):
    """What a report has of an explanation of its run (`simoom.why.result.Why`)."""

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain data."""


@door
def explained(why: Explanation) -> dict[str, Any]:
    """Return what the section of an explanation in a page shows."""
    raise NotImplementedError


def text(run: Run, width: int = 100) -> pages.Text:
    """Return the report as plain text."""
    console = Console(file=io.StringIO(), width=width, color_system=None, legacy_windows=False)
    with console.capture() as capture:
        console.print(tables(run, width=width))
    lines = [line.rstrip() for line in capture.get().splitlines()]
    return pages.Text("\n".join(lines) + "\n")


def tables(run: Run, *, width: int = 100) -> RenderableType:
    """Return the report as an object that rich can print."""
    facts = Grid.grid(padding=(0, 2))
    for name, value in headline(run.summary):
        facts.add_row(Text(name, style="dim"), Text(value))
    measured = number(run.summary.get("run.measured_s"))
    span = "" if measured is None else f"{measured:g} s measured of "
    footer = (
        f"{span}{run.simulated_s:g} s simulated · seed {run.seed}, replication {run.replication} · "
        f"{run.events:,} events · digest {run.digest}"
    )
    found = shown(run)
    drawn = [_drawn(table, width) for table in found]
    above = sum(table.section in OF_FLOWS for table in found)
    return Group(
        Text(run.title, style="bold"),
        facts,
        Text(),
        *drawn[:above],
        *(Text(line, style="yellow") for line in _notices(run)),
        *drawn[above:],
        Text(footer, style="dim"),
    )


def _drawn(table: Table, width: int) -> RenderableType:
    """Return a section as a table or as a bar, below its title if it has a caption."""
    title = Text(table.title.lower(), style="bold")
    if table.section.shares:
        return Group(title, *_bar(table.rows, min(width, WIDEST_BAR)), Text())
    body = fitted(table.brief, table.rows, width) if table.rows else Text()
    if not table.caption:
        return body
    return Group(title.append(f"  {table.caption}", style="not bold dim"), body)


def _notices(run: Run) -> list[str]:
    found = told(run)
    return [*found, ""] if found else []


def _bar(shares: Sequence[Row], width: int) -> tuple[Text, Text]:
    """Return the parts of a whole as a bar, and its legend."""
    bar, legend = Text(), Text()
    done, room = 0.0, width
    for row in shares:
        fraction, look = number(row["share"]) or 0.0, USES[str(row["kind"])]
        cells = round(width * (done + fraction)) - round(width * done)
        done += fraction
        bar.append(look.shade * cells, style=look.style)
        entry = f" {row['name']} {100 * fraction:.1f} %   "
        if 1 + len(entry) > room:
            legend.append("\n")
            room = width
        room -= 1 + len(entry)
        legend.append(look.shade, style=look.style).append(entry)
    return bar, legend


def write(run: Run, directory: Path, why: Explanation | None = None) -> list[str]:
    """Write all results of a run into an existing directory; return the names of the files.

    With an explanation the page has a section for it, and ``why.json`` has its data. The page and
    the pictures come last, because they need a package that may be missing.
    """
    files = {
        "summary.json": _json(run.summary),
        "scenario.toml": run.scenario.to_toml(),
        **({} if why is None else {"why.json": _json(why.to_dict())}),
    }
    for name, content in files.items():
        write_text(directory / name, content)
    names = [*files, *(_write_series(run, directory) if run.probes else [])]
    try:
        pictures = plots.save_both(plots.overview(run), directory, "report")
        write_text(directory / "report.html", page(run, why))
    except MissingPackageError as error:
        written = f"{', '.join(names)} are in {directory}/"
        raise MissingPackageError(f"{written}; {error}", name=error.name) from None
    return ["report.html", *pictures, *names]


def _json(results: object) -> str:
    return json.dumps(finite(results), indent=2, allow_nan=False, ensure_ascii=False) + "\n"


def _write_series(run: Run, directory: Path) -> list[str]:
    """Write the time series of a run; return the names of the files. Only Parquet needs Polars."""
    lines = [
        f"{path},{at!r},{value!r}\n"
        for path in run.probes
        for at, value in zip(*(each.tolist() for each in run.samples(path)), strict=True)
    ]
    write_text(directory / "series.csv", "".join(["path,time_s,value\n", *lines]))
    try:
        frames = [
            run.series(path).select(pl.lit(path).alias("path"), "time_s", "value")
            for path in run.probes
        ]
    except MissingPackageError:
        return ["series.csv"]
    write_frame(directory / "series.parquet", pl.concat(frames))
    return ["series.csv", "series.parquet"]


def page(run: Run, why: Explanation | None = None) -> str:
    """Return the report as one self-contained HTML page, with an explanation if there is one."""
    has_cell = bool(nodes(run.summary))
    figures = [plots.airtime(run)] if has_cell else []
    if plots.has_calls(run):
        figures.append(plots.calls(run))
    figures.append(plots.goodput(run))
    figures += [plots.delay(run, quantity) for quantity in plots.measured_delays(run)]
    if number(run.summary.get("contending.stations_mean")):
        figures.append(plots.contenders(run))
    if plots.has_response(run):
        figures.append(plots.response(run))
    if run.probes:
        figures.append(plots.series(run))
    return pages.render(
        "run.html",
        title=run.title,
        description=run.scenario.get("description"),
        notices=told(run),
        facts=headline(run.summary),
        pictures=[
            (_said(figure, findings(run)), pages.embedded(plots.svg(figure))) for figure in figures
        ],
        why=None if why is None else explained(why),
        sections=shown(run),
        scenario=run.scenario.to_toml(),
        summary=[(path, plain(value)) for path, value in run.summary.items()],
        footer=f"Simoom {version('simoom')} · seed {run.seed}, replication {run.replication} · "
        f"{run.events:,} events · digest {run.digest}",
    )


def _said(figure: Figure, found: Mapping[str, str]) -> str:
    """Return the text alternative of a figure: its title, and its finding."""
    title = figure.axes[0].get_title(loc="left")
    finding = found.get(title.replace(",", " ").split()[0], "") if title else ""
    return f"{title}. {finding}".strip()
