"""``simoom model``: the analytic prediction for a scenario, without a run."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Annotated, Any

import typer

from simoom import plots
from simoom.base.files import write_frame, write_text
from simoom.cli.api import Source, of_scenario
from simoom.cli.streams import print_json
from simoom.cli.terminal import AsJson, InputError, console, directory, make_directory, say
from simoom.scenario.scenario import Scenario
from simoom.show.layout import table
from simoom.show.predictions import variation
from simoom.twin import Twin, predict, vary

MOST_AXES = 2


@of_scenario
def model(
    source: Source,
    as_json: AsJson = False,
    every: Annotated[
        bool,
        typer.Option("--all", help="Also list the models that do not concern the scenario."),
    ] = False,
    axes: Annotated[
        list[str],
        typer.Option(
            "--vary",
            metavar="PATH=FROM:TO:N",
            help="Predict for N values of a key, evenly spaced from FROM to TO, or for the values "
            "of a list PATH=A,B,C. Up to two paths.",
        ),
    ] = [],  # noqa: B006
    out: Annotated[
        Path | None,
        typer.Option(
            metavar="DIR",
            parser=directory,
            help="Write model.json into this directory; with --vary the table (vary.csv) and a "
            "plot of it (vary.png, vary.svg).",
        ),
    ] = None,
) -> None:
    """Predict the results of a run by an analytic model whose assumptions the scenario meets."""
    over = dict(_axis(axis) for axis in axes)
    if len(over) < len(axes):
        raise InputError("--vary: names a path twice; the two paths must differ")
    if len(over) > MOST_AXES:
        raise InputError(f"--vary: {len(over)} paths; at most two are allowed")
    scenario = source.load(over)
    if out is not None:
        scenario.check()
        make_directory(out)
    if over:
        _vary(scenario, over, as_json=as_json, out=out)
        return

    twin = predict(scenario)
    if as_json:
        print_json(as_data(twin))
    else:
        print(twin.report(every=every).rstrip("\n"))
    if out is not None:
        text = json.dumps(as_data(twin), indent=2, allow_nan=False, ensure_ascii=False)
        write_text(out / "model.json", text + "\n")
        if not as_json:
            say(f"wrote model.json to {out}/")


def as_data(twin: Twin) -> dict[str, Any]:
    """Return a twin as plain data: values by path, and every assumption of every model."""
    fit = twin.model
    return {
        "model": fit.family if fit else None,
        "form": fit.form if fit else None,
        "values": twin.summary,
        "assumptions": {
            each.family: {check.name: [check.verdict, check.how] for check in each.checks}
            for each in twin.fits
        },
    }


def _axis(text: str) -> tuple[str, list[Any]]:
    """Read ``path=from:to:n`` or ``path=a,b,c``."""
    path, equals, values = (part.strip() for part in text.partition("="))
    if not path or not equals or not values:
        raise InputError(
            f"--vary {text}: write PATH=FROM:TO:N, for example --vary stations=1:20:20"
        )
    parts = values.split(":")
    if len(parts) == 1:
        return path, [_number(part.strip()) for part in values.split(",")]
    if len(parts) != 3:
        raise InputError(f"--vary {text}: a range has three parts, FROM:TO:N")
    low, high, count = (_number(part) for part in parts)
    if isinstance(low, str) or isinstance(high, str):
        raise InputError(f"--vary {text}: FROM and TO must be numbers")
    if not isinstance(count, int) or not 2 <= count <= 10_000:
        raise InputError(f"--vary {text}: N must be a whole number from 2 to 10000")
    return path, _spaced(low, high, count)


def _number(text: str) -> Any:
    """Return a whole number, a real number, or the word itself."""
    for kind in (int, float):
        try:
            value = kind(text)
        except ValueError:
            continue
        if not math.isfinite(value):
            raise InputError(f"--vary: {text.strip()} is not a finite number")
        return value
    return text


def _spaced(low: float, high: float, count: int) -> list[Any]:
    """Return evenly spaced values; between whole ends, rounded to whole numbers if they differ."""
    values = [low + (high - low) * step / (count - 1) for step in range(count)]
    if isinstance(low, int) and isinstance(high, int) and count <= abs(high - low) + 1:
        return [round(value) for value in values]
    return values


def _vary(
    scenario: Scenario, over: dict[str, list[Any]], *, as_json: bool, out: Path | None
) -> None:

    try:
        found = vary(scenario, over)
    except ValueError as error:
        if hasattr(error, "issues"):
            raise
        raise InputError(f"--vary: {error}") from None
    if as_json:
        print_json(found.frame().to_dicts())
    else:
        headings, rows = found.table()
        wrapped = range(len(headings))
        lines = [heading.replace(".", ".\n") for heading in headings]
        console().print(table(lines, rows, left=(), wrapped=wrapped))
    if out is not None:
        write_frame(out / "vary.csv", found.frame())
        pictures = plots.save_both(variation(found), out, "vary")
        if not as_json:
            say(f"wrote vary.csv, {', '.join(pictures)} to {out}/")
