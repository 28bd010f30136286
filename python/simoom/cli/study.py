"""``simoom study``."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from simoom.base.files import write_text
from simoom.base.needs import Later
from simoom.cli.terminal import (
    InputError,
    Quiet,
    console,
    directory,
    make_directory,
    progress_bar,
    say,
)
from simoom.studies import STUDIES, Lab, Results, Study, UnknownStudyError, find

if TYPE_CHECKING:
    from simoom.studies import report
else:
    report = Later("simoom.studies.report")

LIST, ALL = "list", "all"


EXAMPLES = (
    "simoom study list",
    "simoom study mcs_cubic --quick --figure 2a --out figures",
    "simoom study mcs_cubic --quick --figure 2a --report mcs_cubic.html",
)
"""The end of the help."""


def study(
    name: Annotated[
        str,
        typer.Argument(metavar="NAME", help="A study; `list` shows them, `all` runs them all."),
    ],
    figures: Annotated[
        list[str],
        typer.Option(
            "--figure", metavar="KEY", help="Only this figure, e.g. 5 or A.2. Repeatable."
        ),
    ] = [],  # noqa: B006  typer copies it
    tables: Annotated[
        list[str],
        typer.Option("--table", metavar="KEY", help="Only this table, e.g. 2. Repeatable."),
    ] = [],  # noqa: B006
    quick: Annotated[
        bool, typer.Option("--quick", help="Fewer and shorter runs: one minute instead of ten.")
    ] = False,
    out: Annotated[
        Path | None,
        typer.Option(
            metavar="DIR",
            parser=directory,
            help="Write data (CSV, Parquet), pictures (PNG, SVG) and claims below this directory.",
        ),
    ] = None,
    report: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Write one HTML page with everything.")
    ] = None,
    quiet: Quiet = False,
) -> None:
    """Reproduce figures, tables and claims of a published paper."""
    if name == LIST:
        if figures or tables or quick or out or report:
            raise InputError("study list: takes no options")
        try:
            _list(list(STUDIES.values()))
        except UnknownStudyError as error:
            raise InputError(str(error)) from None
        return
    chosen = _chosen(name, figures, tables)
    if out is not None:
        make_directory(out)
    if report is not None:
        _check_file(report)
    made = _make(chosen, quick=quick, quiet=quiet)
    if not quiet:
        _print(made)
    written = _write(made, out, report)
    if not quiet:
        nothing = "no file; --out DIR writes figures and tables, --report FILE one page of both"
        say(f"wrote {written or nothing}")


def _list(studies: Sequence[Study]) -> None:
    for each in studies:
        print(f"{each.name}: {each.title}\n  {each.reference}")
        for key in each.keys:
            what = (each.by_key[key].__doc__ or "").partition("\n")[0]
            print(f"    {key:21} {what}")


def _chosen(
    name: str, figures: Sequence[str], tables: Sequence[str]
) -> list[tuple[Study, list[str]]]:
    """Return studies with the keys of figures and tables to make; refuse unknown ones."""
    wanted = [("figure", number) for number in figures] + [("table", number) for number in tables]
    if name == ALL and wanted:
        raise InputError("study all: makes all figures; name one study with --figure or --table")
    try:
        if name == ALL:
            return [(each, list(each.keys)) for each in STUDIES.values()]
        one = find(name)
        keys = [one.find(kind, number) for kind, number in wanted]
    except UnknownStudyError as error:
        raise InputError(str(error)) from None
    # In the study's order, each once, in whatever order the user named them.
    return [(one, [key for key in one.keys if key in keys] or list(one.keys))]


def _check_file(path: Path) -> None:
    """Refuse a file that cannot be written, before the study starts."""
    if path.is_dir():
        raise InputError(f"{path}: is a directory; name a file for the page")
    make_directory(path.parent)


def _make(chosen: Sequence[tuple[Study, list[str]]], *, quick: bool, quiet: bool) -> list[Results]:
    label = chosen[0][0].name if len(chosen) == 1 else "studies"
    with progress_bar(label, quiet=quiet) as progress, Lab(quick=quick, progress=progress) as lab:
        return [each.run(keys, lab=lab) for each, keys in chosen]


def _print(made: Sequence[Results]) -> None:
    screen = console()
    for results in made:
        screen.print(report.tables(results, width=screen.width))


def _write(made: Sequence[Results], out: Path | None, page: Path | None) -> str:
    """Write the requested files; return a message that names them."""
    parts = []
    if out is not None:
        names = [name for results in made for name in report.write(results, out)]
        parts.append(f"{len(names)} files below {out}/")
    if page is not None:
        write_text(page, report.page(made))
        parts.append(str(page))
    return " and ".join(parts)
