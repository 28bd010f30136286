"""The options of a command from a function of the API: its names, types, defaults and docstring."""

from __future__ import annotations

import ast
import inspect
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import cache, update_wrapper, wraps
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

import typer

from simoom.base.arguments import moment
from simoom.base.issue import ArgumentError
from simoom.base.lazy import home_of, source_of
from simoom.cli.terminal import File, InputError, Settings, Unset, check_range, load
from simoom.scenario.scenario import Scenario


@dataclass(frozen=True)
class Source:
    """Where the scenario of a command comes from: its file, ``--set`` and ``--unset``."""

    file: str
    settings: list[str]
    unset: list[str]

    @property
    def name(self) -> str:
        """The name of the file, for the progress bar."""
        return Path(self.file).stem

    def load(self, given: Iterable[str] = ()) -> Scenario:
        """Return the scenario; other options have given values of these paths."""
        return load(self.file, self.settings, given, unset=self.unset)


Command = TypeVar("Command", bound=Callable[..., None])

FLAGS = {"replications": ("--replications", "-n"), "most_replications": ("--most",),
         "psdu_bytes": ("--bytes",), "users": ("--user",),
         "rate_mbps": ("--rate",), "space": ("--over",), "objective": ("--best",),
         "results": ("--result",), "at_s": ("--at",), "longest_s": ("--for",)}  # fmt: skip
"""Options that are called otherwise than the parameter."""
TYPES = {"int": int, "float": float, "bool": bool, "str": str, "Shard": str,
         "Store | Path | str": str}  # fmt: skip
"""The parameters that are options, by their annotation without ``| None``."""
METAVARS = {"int": "N", "float": "NUMBER", "Shard": "I/N", "Store | Path | str": "DIR"}
RANGES = {
    "seed": (0, 64),
    "most_replications": (2, 32),
    "replication": (0, 32),
    "replications": (1, 32),
    "trials": (1, 32),
}
"""The least value and the bits of whole numbers."""


class Parameter(NamedTuple):
    """A parameter of a function of the API: its annotation, its default and its description."""

    annotation: str
    default: Any
    text: str


def flag(name: str) -> str:
    """Return what commands call a parameter."""
    return FLAGS.get(name, (f"--{name.replace('_', '-')}",))[0]


@cache
def parameters(function: str) -> dict[str, Parameter]:
    """Return the keyword parameters of a public function, from its source.

    Its module is not imported, because NumPy takes longer than a list of commands may take.
    """
    body = source_of(f"simoom.{home_of('simoom', function)}").body
    for line in body:
        # A package names the module that has it.
        if isinstance(line, ast.ImportFrom) and function in (name.name for name in line.names):
            body = source_of(str(line.module)).body
    found = [each for each in body if isinstance(each, ast.FunctionDef) and each.name == function]
    assigned = (each for each in body if isinstance(each, ast.Assign))
    constants = {ast.unparse(each.targets[0]): each.value for each in assigned}
    texts = dict(_texts(ast.get_docstring(found[-1]) or ""))
    known = {}
    for each, default in zip(found[-1].args.kwonlyargs, found[-1].args.kw_defaults, strict=True):
        value = constants.get(default.id) if isinstance(default, ast.Name) else default
        if isinstance(value, ast.Constant) and each.annotation is not None:
            annotation = ast.unparse(each.annotation).removesuffix(" | None")
            known[each.arg] = Parameter(annotation, value.value, texts[each.arg])
    return known


def _texts(docstring: str) -> list[tuple[str, str]]:
    """Return the parameters of a docstring, each with its description."""
    section = docstring.partition("Parameters\n----------\n")[2].partition("\n\n")[0]
    parts = re.findall(r"^(\w.*?) : .*\n((?:    .*\n?)+)", section, re.MULTILINE)
    return [(name, " ".join(text.split())) for names, text in parts for name in names.split(", ")]


def described(function: str, name: str) -> str:
    """Return the help of a parameter; one that is ``As in `simoom.sweep``` has the text of that."""
    text = parameters(function)[name].text
    if other := re.search(r"\b[Aa]s in `simoom\.(\w+)`\.$", text):
        return described(other[1], name)
    text = re.sub(r"`(\w+)`", lambda word: flag(word[1]), text.replace("``", ""))
    text = re.sub(r"`(.*?)`", r"\1", text).removeprefix("Whether to ")
    return text[:1].upper() + text[1:]


def with_options(
    command: Command, options: Mapping[str, tuple[Any, Any]], before: str = "as_json"
) -> Command:
    """Give a command options, by name with type and `typer.Option`, in place of its last parameter.

    They come before the parameter with a name.
    """
    *own, _ = inspect.signature(command, eval_str=True).parameters.values()
    new = [own[0].replace(name=name, annotation=kind, default=option)
           for name, (kind, option) in options.items()]  # fmt: skip
    at = next((n for n, each in enumerate(own) if each.name == before), len(own))
    ordered = [each.replace(kind=inspect.Parameter.KEYWORD_ONLY)
               for each in (*own[:at], *new, *own[at:])]  # fmt: skip
    command.__dict__["__signature__"] = inspect.Signature(ordered)
    return command


def of_scenario(command: Command) -> Command:
    """Give a command FILE, ``--set`` and ``--unset`` in place of its parameter ``source``."""

    def called(
        *,
        file: File,
        settings: Settings = [],  # noqa: B006  typer copies it
        unset: Unset = [],  # noqa: B006
        **given: Any,
    ) -> None:
        command(source=Source(file, settings, unset), **given)

    *new, _ = inspect.signature(called, eval_str=True).parameters.values()
    rest = [each if each.kind is inspect.Parameter.VAR_KEYWORD
            else each.replace(kind=inspect.Parameter.KEYWORD_ONLY)
            for name, each in inspect.signature(command, eval_str=True).parameters.items()
            if name != "source"]  # fmt: skip
    update_wrapper(called, command)
    called.__dict__["__signature__"] = inspect.Signature([*new, *rest])
    return called  # type: ignore[return-value]


def from_api(
    function: str, *, without: str = "", least: int = 1, **defaults: Any
) -> Callable[[Command], Command]:
    """Give a command an option for each parameter of a public function that a text can give.

    The command gets them as ``**given``, which it passes on to the function.

    Parameters
    ----------
    function : str
        The name of the function in `simoom`.
    without : str, optional
        Names of parameters, with spaces between them, that are no options.
    least : int, optional
        The least number of replications.
    **defaults
        Defaults that are others than those of the function.
    """

    def decorate(command: Command) -> Command:
        if "source" in inspect.signature(command).parameters:
            command = of_scenario(command)
        own = {*inspect.signature(command).parameters, *without.split()}
        options = {name: _option(function, name, each, defaults)
                   for name, each in parameters(function).items()
                   if name not in own and each.annotation in TYPES}  # fmt: skip

        @wraps(command)
        def checked(**given: Any) -> None:
            for name, (low, bits) in RANGES.items():
                if name in options:
                    low = least if name == "replications" else low
                    check_range(flag(name), given[name], least=low, bits=bits)
            try:
                command(**given)
            except ArgumentError as error:
                where = "" if error.part is None else f" {error.part}:"
                raise InputError(f"{flag(error.argument)}:{where} {error.said}") from None

        checked.__dict__["__signature__"] = inspect.signature(command, eval_str=True)
        return with_options(checked, options)  # type: ignore[return-value]

    return decorate


def _option(
    function: str, name: str, each: Parameter, defaults: Mapping[str, Any]
) -> tuple[Any, Any]:
    default = defaults.get(name, each.default)
    kind = TYPES[each.annotation]
    metavar = None if kind is bool else METAVARS.get(each.annotation, name.upper())
    metavar = "SECONDS" if name.endswith("_s") else metavar
    flags = FLAGS.get(name, (flag(name),))
    option = typer.Option(default, *flags, metavar=metavar, help=described(function, name))
    return (kind if default is not None else kind | None), option


def check_time(option: str, at_s: float) -> None:
    """Refuse what is no simulated time."""
    try:
        moment(option, at_s)
    except ValueError as error:
        raise InputError(str(error)) from None
