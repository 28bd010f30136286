"""Parameters of models: a frozen record, in which each parameter is declared once.

A declaration has a check, a default and a sentence. The checks, the signature and the help of a
model follow from it. A model that takes a record may also be called with the record's fields:

>>> from simoom.models._check import positive
>>> @dataclasses.dataclass(kw_only=True, eq=False)
... class Square(Parameters):
...     side_m: Numbers = Parameter(1.0, "Length of a side.", positive)
>>> @takes(Square)
... def area_m2(square: Square) -> Array:
...     return square.side_m**2
>>> float(area_m2(side_m=3)), float(area_m2(Square(side_m=3)))
(9.0, 9.0)
>>> area_m2(sid_m=3)
Traceback (most recent call last):
...
TypeError: sid_m: unknown parameter of area_m2; did you mean side_m?
"""

from __future__ import annotations

import dataclasses
import functools
import inspect
import re
from collections.abc import Callable, Mapping
from difflib import get_close_matches
from typing import Any, Generic, ParamSpec, Protocol, TypeVar, overload

from numpy.typing import ArrayLike

from simoom.models._check import Array

T = TypeVar("T")
Given = TypeVar("Given")
Kept = TypeVar("Kept")
Fields = ParamSpec("Fields")
Record_contra = TypeVar("Record_contra", contravariant=True)
Answer_co = TypeVar("Answer_co", covariant=True)

REQUIRED: Any = object()
"""Marks a parameter without a default."""


def as_is(name: str, value: T) -> T:  # noqa: ARG001  every check takes the name
    """Return the value unchanged; the record alone cannot check it."""
    return value


class Parameter(Generic[Given, Kept]):
    """One parameter of a record. A given value is checked and stored as the check returns it.

    Parameters
    ----------
    default
        The default value, or `REQUIRED`. If the default is None, None is not checked.
    meaning : str
        A sentence for the help.
    check : callable
        A function of `_check`, which takes the name, the value and the rules.
    **rules
        Arguments of the check, such as ``low=1``.
    """

    def __init__(
        self, default: Given, meaning: str, check: Callable[..., Any] = as_is, **rules: Any
    ) -> None:
        self.default = default
        self.meaning = inspect.cleandoc(meaning)
        self.check = functools.partial(check, **rules)

    def __set_name__(self, kind: type, name: str) -> None:
        self.name = name

    @overload
    def __get__(self, record: None, kind: type) -> Given: ...
    @overload
    def __get__(self, record: object, kind: type) -> Kept: ...
    def __get__(self, record: object | None, kind: type) -> Given | Kept:
        if record is not None:
            kept: Kept = vars(record)[self.name]
            return kept
        if self.default is REQUIRED:  # tells the dataclass that there is no default
            raise AttributeError(self.name)
        return self.default

    def __set__(self, record: object, value: Given) -> None:
        if self.name in vars(record):
            raise dataclasses.FrozenInstanceError(f"cannot assign to field {self.name!r}")
        allowed = value is None and self.default is None
        vars(record)[self.name] = value if allowed else self.check(self.name, value)

    def __str__(self) -> str:
        default = "" if self.default is REQUIRED else f", default {self.default!r}"
        return f"{self.name}{default}\n" + re.sub("(?m)^(?=.)", "    ", self.meaning)


Numbers = Parameter[ArrayLike, Array]
"""A number or an array of numbers."""
OptionalNumbers = Parameter[ArrayLike | None, Array | None]
Plain = Parameter[T, T]
"""Values that are stored as given if the check accepts them."""


class Parameters:
    """Base of the records that models take: immutable dataclasses of `Parameter`."""

    def __init_subclass__(cls, **keywords: Any) -> None:
        super().__init_subclass__(**keywords)
        cls.__doc__ = _with_parameters(cls, cls.declared())

    @classmethod
    @functools.cache
    def declared(cls) -> Mapping[str, Parameter[Any, Any]]:
        """Return the declarations by name, those of base classes last."""
        found: dict[str, Parameter[Any, Any]] = {}
        for kind in cls.__mro__:
            own = {name: each for name, each in vars(kind).items() if isinstance(each, Parameter)}
            found = found | {name: each for name, each in own.items() if name not in found}
        return found

    def part(self, kind: type[Parameters]) -> dict[str, Any]:
        """Return the parameters that `kind` declares, as arguments of another model."""
        return {name: getattr(self, name) for name in kind.declared()}


class Takes(Protocol[Fields, Record_contra, Answer_co]):
    """A model that is called with a record, or with the fields of a record."""

    @overload
    def __call__(self, record: Record_contra, /) -> Answer_co: ...
    @overload
    def __call__(self, *arguments: Fields.args, **keywords: Fields.kwargs) -> Answer_co: ...


def takes(
    kind: Callable[Fields, Record_contra],
) -> Callable[[Callable[[Record_contra], Answer_co]], Takes[Fields, Record_contra, Answer_co]]:
    """Decorate a model that takes a record, so that it also takes the record's fields."""
    record: Any = kind  # at run time the class; the types above declare its signature
    known = record.declared()

    def decorate(
        model: Callable[[Record_contra], Answer_co],
    ) -> Takes[Fields, Record_contra, Answer_co]:
        @functools.wraps(model)
        def call(*arguments: Any, **keywords: Any) -> Answer_co:
            if len(arguments) == 1 and not keywords and isinstance(arguments[0], record):
                return model(arguments[0])
            if unknown := [name for name in keywords if name not in known]:
                close = get_close_matches(unknown[0], known, n=1)
                hint = f"did you mean {close[0]}?" if close else f"it has {', '.join(known)}"
                raise TypeError(f"{unknown[0]}: unknown parameter of {model.__name__}; {hint}")
            return model(kind(*arguments, **keywords))

        call.__doc__ = _with_parameters(model, known)
        fields = inspect.signature(record).parameters.values()
        bare = [field.replace(annotation=field.empty) for field in fields]
        call.__signature__ = inspect.Signature(bare)  # type: ignore[attr-defined]
        return call

    return decorate


def _with_parameters(thing: object, declared: Mapping[str, Parameter[Any, Any]]) -> str:
    """Return a docstring with a section for the parameters, before its other sections."""
    head, *sections = re.split(r"(?m)^(?=\w+\n-+$)", inspect.getdoc(thing) or "", maxsplit=1)
    ordered = sorted(declared.values(), key=lambda each: each.default is not REQUIRED)
    lines = "\n".join(map(str, ordered))
    return "\n\n".join([head.rstrip(), f"Parameters\n----------\n{lines}", *sections])
