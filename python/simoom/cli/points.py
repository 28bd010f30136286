"""The options of ``simoom sweep`` that say at which points the scenario is run."""

from __future__ import annotations

import csv
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

import typer

from simoom.cli.terminal import InputError, split_setting
from simoom.runs import designs
from simoom.runs.axis_text import axis_value, axis_values

OverOption = Annotated[
    list[str],
    typer.Option(
        "--over",
        metavar="PATH=V1,V2,...",
        help="Vary this value, e.g. stations=1,5,20 or 'flows[*].control=new_reno,cubic'. "
        "Repeatable: every combination is run. With --design latin or sobol also a range, "
        "stations=1..50 or 'wire.delay_ms=1.0..100.0 log'.",
    ),
]
Design = Annotated[
    str,
    typer.Option(
        metavar="NAME",
        help="grid (every combination), zip (the first values of all, then the second), latin (a "
        "Latin hypercube) or sobol (a Sobol sequence); the last two have --points.",
    ),
]
PointsOption = Annotated[
    int | None, typer.Option("--points", metavar="N", help="Points of --design latin or sobol.")
]
PointsFrom = Annotated[
    Path | None,
    typer.Option(
        metavar="FILE",
        help="Run at the points of this CSV file, in place of --over: the first line has the "
        "paths, each further one a point.",
    ),
]

SpaceOption = Annotated[
    list[str],
    typer.Option(
        "--over",
        metavar="PATH=LOW..HIGH",
        help="Vary this value in a range, stations=1..50 or 'wire.delay_ms=1.0..100.0 log', or "
        "among values, stations=1,5,20. Repeatable.",
    ),
]

DESIGNS = ("grid", "zip", "latin", "sobol")
SAMPLED = {"latin": designs.latin_hypercube, "sobol": designs.sobol}
"""Designs that sample ranges."""
RANGE = re.compile(r"(?P<low>[^.\s]\S*?)\.\.(?P<high>\S+?)(?P<log>\s+log)?")


def read_over(
    over: Sequence[str], design: str, points: int | None, points_from: Path | None, *, seed: int
) -> dict[str, Any] | list[dict[str, Any]]:
    """Return the axes of a grid, or the points of another design."""
    if design not in DESIGNS:
        raise InputError(f"--design {design}: must be one of {', '.join(DESIGNS)}")
    if points is not None and design not in SAMPLED:
        raise InputError("--points: is for --design latin or sobol; a list has its own points")
    if points is None and design in SAMPLED:
        raise InputError(f"--design {design}: needs --points N, the number of points")
    if points_from is not None:
        if over or design != "grid":
            raise InputError("--points-from: has all points; leave out --over and --design")
        return _table(points_from)
    if not over:
        raise InputError("--over: name at least one value to vary, as --over stations=1,5,20")
    axes, log = read_space(over, ranges=design in SAMPLED)
    if design == "zip":
        return designs.zipped(axes)
    if points is not None:
        return SAMPLED[design](axes, points, seed=seed, log=log)
    return axes


def read_space(over: Sequence[str], *, ranges: bool = True) -> tuple[dict[str, Any], list[str]]:
    """Return the range or the values of each path, and the paths whose logarithm is uniform."""
    if not over:
        raise InputError("--over: name a range or values to vary, as --over stations=1..50")
    read = [_range(text) if ranges and ".." in text else (*_axis(text), False) for text in over]
    space = {path: values for path, values, _ in read}
    if len(space) < len(over):
        raise InputError("--over: names a path twice; write all values of a path in one option")
    return space, [path for path, _, logarithmic in read if logarithmic]


def _table(file: Path) -> list[dict[str, Any]]:
    """Read points from a CSV file."""
    try:
        with file.open(encoding="utf-8", newline="") as lines:
            rows = [row for row in csv.reader(lines) if row]
    except UnicodeDecodeError:
        raise InputError(f"{file}: is not UTF-8") from None
    if len(rows) < 2:
        raise InputError(f"{file}: needs a line with paths, and at least one line with values")
    paths = [path.strip() for path in rows[0]]
    if len(set(paths)) < len(paths) or not all(paths):
        raise InputError(f"{file}: the first line must have a different path in each column")
    for n, row in enumerate(rows[1:], start=2):
        if len(row) != len(paths) or not all(map(str.strip, row)):
            raise InputError(f"{file}: row {n} must have {len(paths)} values, as the first line")
    return [dict(zip(paths, map(axis_value, map(str.strip, row)), strict=True)) for row in rows[1:]]


def _range(text: str) -> tuple[str, Any, bool]:
    """Read ``PATH=LOW..HIGH``, which may end in ``log``."""
    path, _, values = split_setting(text)
    match = RANGE.fullmatch(values.strip())
    ends = tuple(axis_value(match[end]) for end in ("low", "high")) if match else ()
    if match is None or not path.strip() or not all(type(end) in (int, float) for end in ends):
        raise InputError(f"--over {text}: write a range as stations=1..50 or delay=1.0..9.0 log")
    return path.strip(), ends, bool(match["log"])


def _axis(text: str) -> tuple[str, list[Any]]:
    """Read ``PATH=V1,V2``."""
    path, equals, values = split_setting(text)
    if not equals or not path.strip():
        raise InputError(f"--over {text}: write PATH=V1,V2, for example --over stations=1,5,20")
    try:
        return path.strip(), axis_values(values)
    except ValueError as error:
        raise InputError(f"--over {text}: {error}") from None
