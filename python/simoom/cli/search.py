"""``simoom search``: the settings with the best value of a result."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from simoom.base.files import finite
from simoom.cli.api import Source, from_api
from simoom.cli.points import SpaceOption, read_space
from simoom.cli.streams import print_json
from simoom.cli.terminal import AsJson, InputError, Quiet, console, progress_bar, told
from simoom.results.tables import Column, Row, digits, visible
from simoom.show.layout import captioned, estimated
from simoom.twin import Optimum, optimise

COLUMNS = (Column("name", "best point"), Column("value", "value"), Column("verdict", "verdict"))


@from_api("optimise", without="maximise", least=2, replications=10)
def search(
    source: Source,
    over: SpaceOption = [],  # noqa: B006
    best: Annotated[
        str, typer.Option("--best", metavar="PATH", help="The result that is to be largest.")
    ] = "total.goodput_mbps",
    smallest: Annotated[
        bool, typer.Option("--smallest", help="Search for the smallest value of --best.")
    ] = False,
    given: Annotated[
        list[str],
        typer.Option(
            "--given",
            metavar="'PATH < NUMBER UNIT'",
            help="A bound that the best point must meet, as 'total.delay_s.p99 < 50 ms'. "
            "Repeatable.",
        ),
    ] = [],  # noqa: B006  typer copies it
    as_json: AsJson = False,
    quiet: Quiet = False,
    **options: Any,
) -> None:
    """Search for the settings with the best value of a result, within constraints."""
    space, log = read_space(over)
    if log:
        raise InputError(f"--over: {log[0]}: a search has no logarithmic ranges; leave out log")
    scenario = source.load(space)
    with told(), progress_bar("search", quiet=quiet) as progress:
        done = optimise(
            scenario,
            over=space,
            objective=best,
            maximise=not smallest,
            given=given,
            progress=progress,
            **options,
        )
    if as_json:
        print_json(finite(_plain(done)))
    elif not quiet:
        _print(done)


def _plain(done: Optimum) -> dict[str, Any]:
    estimates = [(each.estimate, str(each.constraint), each.verdict) for each in done.given]
    return {
        "best": done.at,
        "result": done.objective,
        **_ends(done.estimate),
        "given": [{"constraint": c, "verdict": v, **_ends(e)} for e, c, v in estimates],
        "ahead": _ends(done.ahead) if done.ahead else None,
        "tried": list(done.tried),
    }


def _ends(estimate: Any) -> dict[str, float]:
    return {"mean": estimate.mean, "ci_low": estimate.ci_low, "ci_high": estimate.ci_high}


def _print(done: Optimum) -> None:
    rows: list[Row] = [
        {"name": visible(path), "value": digits(value, 4) if isinstance(value, float)
         else visible(str(value))}
        for path, value in done.at.items()
    ]  # fmt: skip
    if done.estimate is not None:
        rows.append({"name": done.objective, "value": estimated(done.estimate, 4)})
    rows += [
        {"name": visible(str(each.constraint)), "value": estimated(each.estimate, 4),
         "verdict": each.verdict}
        for each in done.given
    ]  # fmt: skip
    screen, columns = console(), COLUMNS if done.given else COLUMNS[:2]
    ahead = f"; ahead of the second best by {estimated(done.ahead, 4)}" if done.ahead else ""
    text = f"of {len(done.tried)} points, with 95 % intervals of runs that did not choose it{ahead}"
    screen.print(captioned(columns, rows, text, screen.width, ("name", "verdict")))
