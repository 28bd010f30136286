"""Reports of a run: tables for the terminal, a page for the browser, files for other programs."""

from __future__ import annotations

import io
import json
from collections.abc import Mapping, Sequence
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from rich.console import Console, Group, RenderableType
from rich.table import Table
from rich.text import Text

from simoom.base.files import finite, write_frame, write_text
from simoom.base.kinds import AIRTIME
from simoom.base.needs import MissingPackageError, remedy_of
from simoom.base.palette import USES
from simoom.results.notices import told
from simoom.results.roaming import HANDOVERS, ROAMERS, handovers, roamers
from simoom.results.tables import (
    DELAYS,
    FLOWS,
    FLOWS_BRIEF,
    HOPS,
    INTERFERERS,
    LINKS,
    NODES,
    SUMS,
    Column,
    Row,
    delays,
    digits,
    flow_rows,
    headline,
    hops,
    hundredths_of_ms,
    links,
    nodes,
    number,
    observed,
    percent,
    plain,
    rows,
    sums,
    used,
)
from simoom.show.layout import GAP, MOST_ROWS, fitted
from simoom.twin import predict

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from simoom.results.run import Run
    from simoom.why.result import Why

MOST_LINKS = 4
WIDEST_BAR = 100
"""The length of the bar of the airtime where there is room."""

SLEEPERS = (
    observed("stations[i]", "name"),
    observed("stations[i]", "power_save.awake_fraction", percent),
    observed("stations[i]", "power_save.buffered"),
    observed("stations[i]", "power_save.buffering_s", hundredths_of_ms),
    observed("stations[i]", "power_save.drops"),
    observed("stations[i]", "power_save.polls"),
    observed("stations[i]", "power_save.null_frames"),
    observed("stations[i]", "power_save.beacons_missed"),
)
"""Columns of stations that save power."""


def text(run: Run, *, width: int = 100) -> str:
    """Return the report as plain text."""
    console = Console(file=io.StringIO(), width=width, color_system=None, legacy_windows=False)
    with console.capture() as capture:
        console.print(tables(run, width=width))
    return "\n".join(line.rstrip() for line in capture.get().splitlines()) + "\n"


def tables(run: Run, *, width: int = 100) -> RenderableType:
    """Return the report as an object that rich can print."""
    facts = Table.grid(padding=(0, 2))
    for name, value in headline(run.summary):
        facts.add_row(Text(name, style="dim"), Text(value))
    measured = number(run.summary.get("run.measured_s"))
    span = "" if measured is None else f"{measured:g} s measured of "
    footer = (
        f"{span}{run.simulated_s:g} s simulated · seed {run.seed}, replication {run.replication} · "
        f"{run.events:,} events · digest {run.digest}"
    )
    middle = [fitted(columns, each, width) for columns, each in _further(run.summary) if each]
    if nodes(run.summary):
        middle += [_airtime(run, width), _twin(run, width)]
    return Group(
        Text(run.title, style="bold"),
        facts,
        Text(),
        *_flows(run, width),
        *(Text(line, style="yellow") for line in _notices(run)),
        *middle,
        Text(footer, style="dim"),
    )


def _further(summary: Mapping[str, Any]) -> list[tuple[Sequence[Column], list[Row]]]:
    """Return the tables of a report after that of the flows: columns and rows."""
    return [
        (HOPS, hops(summary)),
        (DELAYS, delays(summary)),
        (LINKS, links(summary)),
        (NODES, nodes(summary)),
        (SLEEPERS, sleepers(summary)),
        (ROAMERS, roamers(summary)),
        (HANDOVERS, handovers(summary)),
        (INTERFERERS, rows(summary, "interferers")),
    ]


def column_paths(run: Run) -> list[tuple[str, str]]:
    """Return the heading of each column of the report, in one line, and its path."""
    shown = [(FLOWS_BRIEF, flow_rows(run.summary)), *_further(run.summary)]
    return [
        (column.heading.replace("-\n", "").replace("\n", " "), column.path)
        for columns, each in shown
        for column in used(columns, each)
        if column.path
    ]


def sleepers(summary: Mapping[str, Any]) -> list[Row]:
    """Return the values of a summary for each station that saves power."""
    return [row for row in rows(summary, "stations") if "power_save.awake_fraction" in row]


def _notices(run: Run) -> list[str]:
    found = told(run)
    return [*found, ""] if found else []


def _flows(run: Run, width: int) -> list[RenderableType]:
    """Return the table of flows; where they are too many for it, after one of their sums."""
    flows = flow_rows(run.summary)
    shown = [fitted(FLOWS_BRIEF, flows, width)]
    return [fitted(SUMS, sums(flows), width), *shown] if len(flows) > MOST_ROWS else shown


def _airtime(run: Run, width: int) -> RenderableType:
    """Return the airtime ledger as a bar with its legend; None if each node has its own."""
    if "airtime.idle_fraction" not in run.summary:
        return Group()
    bar, legend = Text(), Text()
    width = min(width, WIDEST_BAR)
    done, room = 0.0, width
    for kind, label in AIRTIME.items():
        fraction = number(run.summary.get(f"airtime.{kind}_fraction")) or 0.0
        if fraction == 0:
            continue
        cells = round(width * (done + fraction)) - round(width * done)
        done += fraction
        look = USES[kind]
        bar.append(look.shade * cells, style=look.style)
        entry = f" {label} {100 * fraction:.1f} %   "
        if 1 + len(entry) > room:
            legend.append("\n")
            room = width
        room -= 1 + len(entry)
        legend.append(look.shade, style=look.style).append(entry)
    return Group(Text("airtime", style="bold"), bar, legend, Text())


def twin_rows(run: Run) -> tuple[str, list[list[str]]]:
    """Return the name of the model and a row for each value that model and run have."""
    try:
        twin = predict(run.scenario)
    except ModuleNotFoundError as error:
        if (remedy := remedy_of(error)) is None:
            raise
        return remedy, []
    if twin.model is None:
        return "no model fits; `simoom model` says why", []
    stretched = len(twin.model.stretched)
    plural = "" if stretched == 1 else "s"
    caption = f"{twin.model.family}, {twin.model.form}; {stretched} assumption{plural} stretched"
    table = []
    for each in twin.compare(run):
        if each.path.startswith("flows["):  # Single flows vary much; their total is compared.
            continue
        half = "" if each.half_width is None else f"±{digits(each.half_width, 2)}"
        widths = "" if each.half_widths is None else f"{each.half_widths:+.1f}"
        values = digits(each.measured, 4), half, digits(each.predicted, 4)
        table.append([each.path, *values, f"{each.percent:+.1f}", widths])
    return caption, table


TWIN_HEADINGS = ("value", "measured", "95 %", "predicted", "residual\n%", "half-\nwidths")


def _twin(run: Run, width: int) -> RenderableType:
    """Return a table of the analytic twin's values and the measured ones, or a list if narrow."""
    caption, cells = twin_rows(run)
    title = Text("analytic twin  ", style="bold").append(caption, style="not bold dim")
    if not cells:
        return Group(title, Text())
    if sum(max(map(len, column)) + GAP for column in zip(*cells, strict=True)) > width:
        lines = [
            f"{path}: {measured} {half}, predicted {predicted} ({residual} %)"
            for path, measured, half, predicted, residual, _ in cells
        ]
        return Group(title, *map(Text, lines), Text())
    table = Table(box=None, header_style="bold", padding=(0, 2, 0, 0), pad_edge=False)
    for number_, heading in enumerate(TWIN_HEADINGS):
        justify: Any = "right" if number_ else "left"
        table.add_column(heading, justify=justify, vertical="bottom", no_wrap=True)
    for row in cells:
        table.add_row(*map(Text, row))
    return Group(title, table, Text())


def write(run: Run, directory: Path, why: Why | None = None) -> list[str]:
    """Write all results of a run into an existing directory; return the names of the files.

    With an explanation the page has a section for it, and ``why.json`` has its data.
    """
    from simoom import plots

    pictures = plots.save_both(plots.overview(run), directory, "report")
    summary = json.dumps(finite(run.summary), indent=2, allow_nan=False, ensure_ascii=False)
    files = {
        "summary.json": summary + "\n",
        "scenario.toml": run.scenario.to_toml(),
        "report.html": page(run, why),
    }
    if why is not None:
        explained = json.dumps(finite(why.to_dict()), indent=2, ensure_ascii=False)
        files["why.json"] = explained + "\n"
    for name, content in files.items():
        write_text(directory / name, content)
    names = ["report.html", *pictures, "summary.json", "scenario.toml"]
    names += [] if why is None else ["why.json"]
    return names + _write_series(run, directory) if run.probes else names


def _write_series(run: Run, directory: Path) -> list[str]:
    """Write the time series of a run; return the names of the files. Only Parquet needs Polars."""
    lines = [
        f"{path},{at!r},{value!r}\n"
        for path in run.probes
        for at, value in zip(*(each.tolist() for each in run.samples(path)), strict=True)
    ]
    write_text(directory / "series.csv", "".join(["path,time_s,value\n", *lines]))
    try:
        from simoom.base.frames import pl
    except MissingPackageError:
        return ["series.csv"]
    frames = [
        run.series(path).select(pl.lit(path).alias("path"), "time_s", "value")
        for path in run.probes
    ]
    write_frame(directory / "series.parquet", pl.concat(frames))
    return ["series.csv", "series.parquet"]


def page(run: Run, why: Why | None = None) -> str:
    """Return the report as one self-contained HTML page, with an explanation if there is one."""
    from simoom import plots
    from simoom.plots.words import findings
    from simoom.show.pages import embedded, render
    from simoom.why.page import content as explained

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
    return render(
        "run.html",
        title=run.title,
        description=run.scenario.get("description"),
        notices=told(run),
        facts=headline(run.summary),
        pictures=[(_said(figure, findings(run)), embedded(figure)) for figure in figures],
        why=None if why is None else explained(why),
        sections=_sections(run),
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


class Section(NamedTuple):
    """A table of the page."""

    title: str
    headings: Sequence[str]
    rows: Sequence[Sequence[str]]
    caption: str = ""


def _sections(run: Run) -> list[Section]:
    sections = []
    for title, columns, all_rows in (
        ("Flows", FLOWS, flow_rows(run.summary)),
        ("Delays by hop", HOPS, hops(run.summary)),
        ("Delays by link and node", DELAYS, delays(run.summary)),
        ("Links", LINKS, links(run.summary)),
        ("Stations", NODES, nodes(run.summary)),
        ("Interferers", INTERFERERS, rows(run.summary, "interferers")),
    ):
        if all_rows:
            shown = used(columns, all_rows)
            written = [[column.write(row.get(column.key)) for column in shown] for row in all_rows]
            sections.append(Section(title, [column.heading for column in shown], written))
    if nodes(run.summary):
        caption, cells = twin_rows(run)
        headings = [heading.replace("\n", " ") for heading in TWIN_HEADINGS]
        sections.append(Section("Analytic twin", headings, cells, caption))
    return sections
