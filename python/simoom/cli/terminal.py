"""Common functions of commands: messages, reading a scenario file, the progress bar."""

from __future__ import annotations

import os
import sys
import warnings
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from simoom import _core
from simoom.base.issue import Issue, ScenarioError
from simoom.base.needs import Later
from simoom.results.tables import visible
from simoom.runs.axis_text import split
from simoom.scenario import shipped
from simoom.scenario.observables import remedy_near
from simoom.scenario.scenario import Scenario

if TYPE_CHECKING:
    from rich import console as rich_console
    from rich import progress
else:
    rich_console, progress = Later("rich.console"), Later("rich.progress")

UNWRAPPED = 1000
"""The width of text that is not for a terminal."""

File = Annotated[
    str,
    typer.Argument(
        metavar="FILE",
        help="A scenario file (TOML), or a name of `simoom scenarios`; - reads standard input.",
    ),
]
Settings = Annotated[
    list[str],
    typer.Option(
        "--set",
        metavar="PATH=VALUE",
        help="Change one value, e.g. stations=20, 'flows[*].control=new_reno' or "
        "'flows[\"download\"].start_s=1'; 'flows[+]={...}' appends a table. Repeatable.",
    ),
]
Unset = Annotated[
    list[str],
    typer.Option(
        "--unset",
        metavar="PATH",
        help="Remove one key, or one element of a list, before --set. Repeatable.",
    ),
]
Check = Annotated[
    bool, typer.Option("--check", help="Check the laws of conservation during the runs (slower).")
]
AsJson = Annotated[bool, typer.Option("--json", help="Print one JSON object, and nothing else.")]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="Print no result and no progress.")]


class InputError(Exception):
    """Input that cannot be used; the message is one sentence."""


def say(message: str) -> None:
    """Print a message for the user to stderr."""
    print(visible(message), file=sys.stderr)


@dataclass
class Origin:
    """Where the scenario of a command comes from.

    Parameters
    ----------
    file : str
        The file.
    changed : list of str
        The paths that options give.
    """

    file: str = ""
    changed: list[str] = field(default_factory=list)

    def describe(self, issue: Issue) -> str:
        """Return the text of a fault, with the file unless an option has given the value."""
        is_option = issue.path.startswith("-")
        is_given = any(_core.covers(changed, issue.path) for changed in self.changed)
        if is_option or is_given or not self.file:
            return str(issue)
        place, said = issue.place, f"{issue.path}: {issue.text}" if issue.path else issue.text
        is_written = place is not None and place.whole[1]
        where = f":{place.line}:{place.column}" if place is not None and is_written else ""
        return f"{self.file}{where}: {said}"


origin = Origin()
"""Of the command that is carried out."""


def reason_of(error: OSError) -> str:
    """Return what the operating system says."""
    reason = error.strerror or str(error)
    return reason[:1].lower() + reason[1:]


def say_os_error(error: OSError) -> None:
    """Print an error of the operating system, with the file."""
    reason = reason_of(error)
    say(f"{error.filename}: {reason}" if error.filename else reason)


@contextmanager
def told() -> Iterator[None]:
    """Print warnings for the user to stderr, each as one line."""
    with warnings.catch_warnings():
        warnings.showwarning = lambda message, *_: say(f"{message}")
        yield


def console() -> rich_console.Console:
    """Return standard output for tables and text: as wide as the terminal, or as COLUMNS says.

    In a pipe or a file nothing is wrapped or cut, so that other programs find lines whole.
    """
    known = rich_console.Console(highlight=False)
    is_given = known.is_terminal or os.environ.get("COLUMNS", "").isdigit()
    return known if is_given else rich_console.Console(highlight=False, width=UNWRAPPED)


def check_range(option: str, value: int, *, least: int = 0, bits: int) -> None:
    """Refuse a whole number that is too small or has too many bits."""
    if not least <= value < 1 << bits:
        raise InputError(f"{option} {value}: must be from {least} to {(1 << bits) - 1}")


def load(
    file: str, settings: list[str], given: Iterable[str] = (), *, unset: Iterable[str] = ()
) -> Scenario:
    """Read a scenario, apply ``--unset``, then ``--set``; other options have `given` paths."""
    origin.changed.extend(given)
    origin.file = "standard input" if file == "-" else file
    if not file:
        raise _unread("is empty", "name a scenario file, or - for standard input", path="FILE")
    try:
        scenario = Scenario.load("/dev/stdin" if file == "-" else file)
    except OSError as error:
        raise unread(file, error) from None
    for path in unset:
        origin.changed.append(path.strip())
        scenario = scenario.unset(path.strip())
    return with_settings(scenario, settings)


def unread(file: str, error: OSError) -> ScenarioError:
    """Return what to say of a scenario file that cannot be read."""
    if isinstance(error, IsADirectoryError):
        return _unread("is a directory", "name a scenario file")
    if not isinstance(error, FileNotFoundError):
        return _unread(reason_of(error))
    if Path(file).name != file or Path(file).suffix:
        return _unread("there is no such file")
    close = remedy_near(file, shipped.names())
    remedy = close or "simoom scenarios lists those that come with Simoom"
    return _unread("there is no such file or scenario", remedy)


def _unread(message: str, remedy: str = "", path: str = "") -> ScenarioError:
    return ScenarioError([Issue(path, message, remedy)])


def with_settings(scenario: Scenario, settings: Iterable[str]) -> Scenario:
    """Return a scenario with the values of ``--set``; raise with the faults of all of them."""
    faults: dict[Issue, None] = {}
    for setting in settings:
        path, equals, value = split_setting(setting)
        if not equals or not path.strip():
            raise InputError(f"--set {setting}: write PATH=VALUE, for example --set stations=20")
        origin.changed.append(path.strip())
        try:
            scenario = scenario.set_text(path.strip(), value.strip())
        except ScenarioError as error:
            faults |= dict.fromkeys(error.issues)
    if faults:
        raise ScenarioError([*faults, *_further(scenario, faults)])
    return scenario


def _further(scenario: Scenario, known: Iterable[Issue]) -> list[Issue]:
    """Return the faults of a scenario at other paths than those of known ones."""
    paths = [issue.path for issue in known]
    try:
        scenario.check()
    except ScenarioError as error:
        return [issue for issue in error.issues if issue.path not in paths]
    return []


def split_setting(text: str) -> tuple[str, str, str]:
    """Split ``PATH=VALUE`` at the first equals sign outside brackets and quotes.

    Examples
    --------
    >>> split_setting('flows["a=b"].control=few')
    ('flows["a=b"].control', '=', 'few')
    """
    path = next(split(text, "="))
    return path, text[len(path) : len(path) + 1], text[len(path) + 1 :]


def directory(text: str) -> Path:
    """Return the path of a directory for results, as an option names it."""
    if not text:
        raise typer.BadParameter("is empty; name a directory, . for the current one")
    return Path(text)


def make_directory(path: Path) -> None:
    """Make a directory for results, or refuse before the run."""
    try:
        path.mkdir(parents=True, exist_ok=True)
    except FileExistsError:
        raise InputError(f"{path}: is a file; name a directory for the results") from None


@contextmanager
def progress_bar(
    label: str, *, quiet: bool, runs: int = 0
) -> Iterator[Callable[[float], None] | None]:
    """Show a progress bar if the output is a terminal; of so many runs, how many have ended."""
    if quiet or not sys.stderr.isatty():
        yield None
        return
    screen = rich_console.Console(stderr=True)
    name = progress.TextColumn("{task.description}", markup=False)
    time = (progress.TaskProgressColumn(), progress.TimeRemainingColumn()) if runs == 0 else ()
    columns = (name, progress.BarColumn(), *time)
    with progress.Progress(*columns, console=screen, transient=True) as bar:
        task = bar.add_task(how_far(label, 0.0, runs, None) if runs else label, total=1.0)

        def show(done: float) -> None:
            bar.update(task, completed=done)
            if runs:
                # In fractions of all runs per second, over the last seconds.
                speed = bar.tasks[0].speed
                bar.update(task, description=how_far(label, done, runs, speed))

        yield show


def how_far(label: str, done: float, runs: int, speed: float | None) -> str:
    """Return how many runs have ended, and how long the others take.

    Examples
    --------
    >>> how_far("sweep", 0.25, 40, speed=0.0125)
    'sweep: 10 of 40 runs, 2 s each, about 60 s left'
    >>> how_far("sweep", 0.0, 40, speed=None)
    'sweep: 0 of 40 runs'
    """
    told = f"{label}: {round(done * runs)} of {runs} runs"
    if not speed:
        return told
    left_s = (1.0 - done) / speed
    left = f"{left_s:.0f} s" if left_s < 100 else f"{left_s / 60:.0f} min"
    return f"{told}, {1 / (speed * runs):.2g} s each, about {left} left"
