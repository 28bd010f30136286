"""``simoom routes``: links and shortest routes of an ad-hoc network, without a run."""

from __future__ import annotations

import json
import math
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.table import Table

from simoom.base.frames import np
from simoom.cli.api import Source, check_time, from_api
from simoom.cli.terminal import AsJson
from simoom.results.tables import digits
from simoom.scenario.routes import Course, Routes
from simoom.scenario.routes import routes as routes_of
from simoom.show.layout import table


@from_api("routes")
def routes(
    source: Source,
    at_s: Annotated[
        float | None,
        typer.Option(
            "--at", metavar="SECONDS", help="One simulated time. Default: 201 times of the run."
        ),
    ] = None,
    as_json: AsJson = False,
    **given: Any,
) -> None:
    """Show links, partitions and shortest routes of an ad-hoc network, without a run."""
    scenario = source.load()
    if at_s is not None:
        check_time("--at", at_s)
    times = None if at_s is None else [at_s]
    found = routes_of(scenario, times_s=times, **given)
    if as_json:
        print(json.dumps(_plain(found), indent=2))
        return

    console = Console(highlight=False)
    for part in _at_one_time(found) if times else _over_time(found):
        console.print(part)


def _plain(found: Routes) -> dict[str, Any]:
    """Return all that is shown, as plain data."""
    hops = [[None if math.isnan(h) else int(h) for h in course.hops] for course in found.courses]
    return {
        "nodes": list(found.nodes),
        "times_s": found.times_s.tolist(),
        "links": found.links.tolist(),
        "partitions": [len(partitions) for partitions in found.partitions],
        "link_lifetimes_s": found.lifetimes_s.tolist(),
        "link_changes_per_s": found.changes_per_s,
        "flows": [
            {
                "from": course.source,
                "to": course.sink,
                "hops": each,
                "breaks": course.breaks,
                "route": found.path(course.source, course.sink),
            }
            for course, each in zip(found.courses, hops, strict=True)
        ],
    }


def _at_one_time(found: Routes) -> list[Table | str]:
    """Return the partitions, and the route of each flow."""
    (partitions,) = found.partitions
    links = int(found.links[0])
    degree = 2 * links / len(found.nodes)
    lines = [
        f"{len(found.nodes)} nodes at {found.times_s[0]:g} s",
        f"links         {links}, {digits(degree)} at a node",
        f"partitions    {len(partitions)}",
    ]
    if len(partitions) > 1:
        for number, names in enumerate(partitions, start=1):
            lines += ["", f"partition {number}: {len(names)} nodes", "  " + " ".join(names)]
    parts: list[Table | str] = ["\n".join(lines), ""]
    for source, sink in found.flows:
        path = found.path(source, sink)
        if path:
            count = len(path) - 1
            parts.append(f"{source} → {sink}: {count} hop{'s' * (count != 1)}")
            parts.append("  " + " ".join(path))
        else:
            parts.append(f"{source} → {sink}: no route")
    return parts


def _over_time(found: Routes) -> list[Table | str]:
    """Return the links over time, and a row for each flow."""
    counts = np.array([len(partitions) for partitions in found.partitions])
    begin, end = found.times_s[0], found.times_s[-1]
    degrees = 2 * found.links / len(found.nodes)
    measured = (
        ("links", found.links),
        ("links at a node", degrees),
        ("partitions", counts),
        ("link lifetime, s", found.lifetimes_s),
    )
    rows = [
        (name, *(digits(float(each)) for each in (values.mean(), values.min(), values.max())))
        for name, values in measured
        if values.size
    ]
    overview = table(("", "mean", "least", "most"), rows, gap=1)
    headings = ("from → to", "hops\nmean", "\nmost", "no route\n% of time", "breaks")
    flows = table(headings, map(_cells, found.courses), gap=1)
    step_s = (end - begin) / (len(found.times_s) - 1)
    connected = 100 * float((counts == 1).mean())
    lines = (
        f"all nodes connected {connected:.1f} % of the time",
        f"{digits(found.changes_per_s)} links begin or end per second",
    )
    heading = f"{len(found.nodes)} nodes, {begin:g} to {end:g} s by {step_s:g} s"
    return [heading, "", overview, "", "\n".join(lines), "", flows]


def _cells(course: Course) -> tuple[str, ...]:
    known = course.hops[~np.isnan(course.hops)]
    mean = digits(float(known.mean())) if known.size else "-"
    most = str(int(known.max())) if known.size else "-"
    missing = f"{100 * course.missing_fraction:.1f}"
    return f"{course.source} → {course.sink}", mean, most, missing, str(course.breaks)
