"""The option ``--until`` of ``simoom run`` and ``simoom sweep``."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

import typer

from simoom.base.issue import ArgumentError
from simoom.base.needs import Later
from simoom.cli.streams import print_json
from simoom.cli.terminal import (
    InputError,
    check_range,
    console,
    progress_bar,
    told,
)
from simoom.results.tables import Column, Row, digits, visible
from simoom.runs.precision import DEFAULT_RESULT, LEAST_RUNS, MOST_RUNS, targets
from simoom.scenario.observables import unit_of

if TYPE_CHECKING:
    from simoom.runs import replications
    from simoom.runs.precision import Reached
    from simoom.scenario.scenario import Scenario
    from simoom.show import layout
else:
    replications, layout = Later("simoom.runs.replications"), Later("simoom.show.layout")

COLUMNS = (
    Column("result", "result"),
    Column("mean", "mean"),
    Column("wanted", "wanted"),
    Column("reached", "reached"),
)

UntilOption = Annotated[
    list[str],
    typer.Option(
        "--until",
        metavar="[PATH=]WIDTH",
        help="Repeat until the 95 % interval of this result is narrow enough: '2 %' of "
        f"{DEFAULT_RESULT}, or 'total.delay_s.p99=0.5 s'. Repeatable.",
    ),
]
MaxReplications = Annotated[
    int | None,
    typer.Option(metavar="N", help=f"The bound on the runs with --until.  [default: {MOST_RUNS}]"),
]


def read_until(texts: Sequence[str], max_replications: int | None) -> dict[str, str] | None:
    """Read ``--until``; None if it is not given."""
    if max_replications is not None:
        if not texts:
            raise InputError("--max-replications: bounds the runs of --until, which is missing")
        check_range("--max-replications", max_replications, least=LEAST_RUNS, bits=32)
    found: dict[str, str] = {}
    for text in texts:
        # A path may have an equals sign in brackets.
        path, equals, width = text.rpartition("=")
        path = path.strip() if equals else DEFAULT_RESULT
        if path in found:
            raise InputError(f"--until {text}: {path} is named twice")
        found[path] = width.strip()
        try:
            (target,) = targets({path: width.strip()})
        except ArgumentError as error:
            raise InputError(f"--until {text}: {error.said}") from None
        unit = unit_of(path)
        if unit and not target.relative and unit not in width:
            number = f"{target.half_width:g}"
            raise InputError(f"--until {text}: write {number} % or {number} {unit}")
    return found or None


@contextmanager
def refused_results(option: str) -> Iterator[None]:
    """Report a result that no run has as a fault of an option."""
    try:
        yield
    except KeyError as error:
        raise InputError(f"{option}: {error.args[0]}") from None


def refuse_with_until(given: Mapping[str, object]) -> None:
    """Refuse options of a single run beside ``--until``."""
    for option, value in given.items():
        if value:
            raise InputError(f"{option}: is about one run, and --until repeats it; leave one out")


class RepeatOptions(NamedTuple):
    """The options of ``simoom run`` that repeated runs have, too."""

    seed: int
    check: bool
    as_json: bool
    quiet: bool


def run_until(
    scenario: Scenario, until: dict[str, str], max_replications: int | None, options: RepeatOptions
) -> None:
    """Repeat a scenario until its results are precise enough, and print them."""
    with (
        told(),
        refused_results("--until"),
        progress_bar("runs", quiet=options.quiet) as progress,
    ):
        done = replications.replicate(
            scenario,
            seed=options.seed,
            until=until,
            max_replications=max_replications,
            progress=progress,
            check=options.check,
        )
    rows = [_row(each) for each in done.reached]
    if options.as_json:
        print_json({"runs": len(done), "results": rows})
    elif not options.quiet:
        _print(done, rows)


def _row(each: Reached) -> dict[str, Any]:
    estimate = each.estimate
    return {
        "path": each.target.path,
        "until": str(each.target),
        "mean": estimate and estimate.mean,
        "ci_low": estimate and estimate.ci_low,
        "ci_high": estimate and estimate.ci_high,
        "n": estimate.n if estimate else 0,
        "reached": each.reached,
    }


def _print(done: replications.Replications, rows: Sequence[Mapping[str, Any]]) -> None:
    shown: list[Row] = [
        {
            "result": visible(row["path"]),
            "mean": None if row["mean"] is None else layout.with_interval(
                digits(row["mean"], 4),
                (row["ci_high"] - row["ci_low"]) / 2 if done.is_random else None),
            "wanted": f"± {row['until']}",
            "reached": "yes" if row["reached"] else "no",
        }
        for row in rows
    ]  # fmt: skip
    screen = console()
    caption = (
        f"means of {len(done)} runs with 95 % intervals"
        if done.is_random
        else f"all {len(done)} runs are the same: nothing in them is random"
    )
    screen.print(layout.captioned(COLUMNS, shown, caption, screen.width, ("result",)))
