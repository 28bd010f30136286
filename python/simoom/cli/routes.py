"""``simoom routes``: links and shortest routes of an ad-hoc network, without a run."""

from __future__ import annotations

import json
import math
from typing import TYPE_CHECKING, Annotated, Any

import typer

from simoom.cli.terminal import (
    File,
    Replication,
    Seed,
    Settings,
    Unset,
    check_range,
    check_time,
    load,
)
from simoom.results.tables import digits

if TYPE_CHECKING:
    from rich.table import Table

    from simoom.scenario.routes import Course, Routes


def routes(
    file: File,
    settings: Settings = [],  # noqa: B006  typer copies it
    unset: Unset = [],  # noqa: B006
    at_s: Annotated[
        float | None,
        typer.Option(
            "--at", metavar="SECONDS", help="One simulated time. Default: 201 times of the run."
        ),
    ] = None,
    seed: Seed = 1,
    replication: Replication = 0,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print everything as one JSON object, nothing else.")
    ] = False,
) -> None:
    """Show links, partitions and shortest routes of an ad-hoc network, without a run."""
    from simoom.scenario.routes import routes as routes_of

    check_range("--seed", seed, bits=64)
    check_range("--replication", replication, bits=32)
    scenario = load(file, settings, unset=unset)
    if at_s is not None:
        check_time("--at", at_s)
    times = None if at_s is None else [at_s]
    found = routes_of(scenario, seed=seed, replication=replication, times_s=times)
    if as_json:
        print(json.dumps(_plain(found), indent=2))
        return
    from rich.console import Console

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


def _table(*headings: str) -> Table:
    from rich.table import Table

    table = Table(box=None, header_style="bold", padding=(0, 1, 0, 0), pad_edge=False)
    table.add_column(headings[0], vertical="bottom", no_wrap=True)
    for heading in headings[1:]:
        table.add_column(heading, justify="right", vertical="bottom", no_wrap=True)
    return table


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
    import numpy as np

    counts = np.array([len(partitions) for partitions in found.partitions])
    begin, end = found.times_s[0], found.times_s[-1]
    overview = _table("", "mean", "least", "most")
    degrees = 2 * found.links / len(found.nodes)
    for name, values in (
        ("links", found.links),
        ("links at a node", degrees),
        ("partitions", counts),
    ):
        each = (float(value) for value in (values.mean(), values.min(), values.max()))
        overview.add_row(name, *map(digits, each))
    lifetimes = found.lifetimes_s
    if lifetimes.size:
        each = (float(value) for value in (lifetimes.mean(), lifetimes.min(), lifetimes.max()))
        overview.add_row("link lifetime, s", *map(digits, each))
    flows = _table("from → to", "hops\nmean", "\nmost", "no route\n% of time", "breaks")
    for course in found.courses:
        flows.add_row(f"{course.source} → {course.sink}", *_cells(course))
    step_s = (end - begin) / (len(found.times_s) - 1)
    connected = 100 * float((counts == 1).mean())
    lines = (
        f"all nodes connected {connected:.1f} % of the time",
        f"{digits(found.changes_per_s)} links begin or end per second",
    )
    heading = f"{len(found.nodes)} nodes, {begin:g} to {end:g} s by {step_s:g} s"
    return [heading, "", overview, "", "\n".join(lines), "", flows]


def _cells(course: Course) -> tuple[str, str, str, str]:
    import numpy as np

    known = course.hops[~np.isnan(course.hops)]
    mean = digits(float(known.mean())) if known.size else "-"
    most = str(int(known.max())) if known.size else "-"
    return mean, most, f"{100 * course.missing_fraction:.1f}", str(course.breaks)
