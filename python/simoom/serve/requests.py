"""What the page asks for: the bodies of requests as types, each read at one border."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import MISSING, dataclass, fields
from typing import Annotated, Any, TypeVar, get_args, get_type_hints

from simoom.base.files import LARGEST
from simoom.serve.faults import RefusedError

T = TypeVar("T")
MOST_NAME = 200


def _are_texts(values: Iterable[Any]) -> bool:
    return all(isinstance(each, str) for each in values)


# A type, whether a value of JSON is of it, and the least number with the first that is too large.
Text = Annotated[str, lambda value: isinstance(value, str)]
Texts = Annotated[tuple[str, ...], lambda v: isinstance(v, list) and _are_texts(v)]
TextsByPath = Annotated[dict[str, str], lambda v: isinstance(v, dict) and _are_texts(v.values())]
Is = Annotated[bool, lambda value: isinstance(value, bool)]
Whole = Annotated[int, lambda value: isinstance(value, int) and not isinstance(value, bool)]
Number = Annotated[float, lambda v: isinstance(v, (int, float)) and not isinstance(v, bool)]
Anything = Annotated[Any, lambda _: True]
Seed = Annotated[Whole, (0, 1 << 53)]


@dataclass(frozen=True)
class Check:
    """A scenario that is checked, or whose keys are asked for."""

    text: Text


@dataclass(frozen=True)
class Edit(Check):
    """Changes of a scenario: some as ``--set`` has them, or one value at a path."""

    path: Text = ""
    value: Anything = None
    set: Texts = ()
    unset: Texts = ()


@dataclass(frozen=True)
class Hear(Check):
    """Who hears whom in a scenario at a time."""

    seed: Seed
    at_s: Annotated[Number, (0.0, LARGEST)] = 0.0


@dataclass(frozen=True)
class Rename:
    """Another name of a run."""

    name: Text

    @property
    def named(self) -> str:
        """The name as it is kept."""
        return self.name.strip()[:MOST_NAME]


@dataclass(frozen=True)
class Add(Rename, Check):
    """A run."""

    seed: Seed
    air: Is


@dataclass(frozen=True)
class AddSweep(Rename, Check):
    """A sweep: the values of each key as one text."""

    seed: Seed
    over: TextsByPath
    replications: Annotated[Whole, (1, 1 << 16)]


@dataclass(frozen=True)
class Explain:
    """A flow to explain; the empty name is the slowest."""

    flow: Text


def read(kind: type[T], body: Mapping[str, Any]) -> T:
    """Return a request of a kind.

    Raises
    ------
    RefusedError
        A field is missing, of another type, or out of range.

    Examples
    --------
    >>> read(Explain, {"flow": "upload", "more": 1})
    Explain(flow='upload')
    """
    found, types = {}, get_type_hints(kind, include_extras=True)
    for each in fields(kind):  # type: ignore[arg-type]
        name = each.name
        if name not in body and each.default is not MISSING:
            continue
        value, (of, is_of, *within) = body.get(name), get_args(types[name])
        if not is_of(value):
            raise RefusedError(400, f"{name}: must be of type {getattr(of, '__name__', of)}")
        if within and not within[0][0] <= value < within[0][1]:
            least, most = within[0]
            raise RefusedError(422, f"{name}: must be in [{least:,}, {most:,}), is {value}")
        found[name] = value
    return kind(**found)
