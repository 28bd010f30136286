"""Congestion controllers written in Python.

>>> import simoom as sm
>>> class Aimd(sm.Control):
...     def on_ack(self, ack):
...         if not ack.app_limited:
...             self.window += ack.acked / self.window
...     def on_loss(self, loss):
...         self.window = 1.0 if loss.cause == "timeout" else max(1.0, self.window / 2)

A scenario stores the import path of the class, so that a saved scenario can be run again:

>>> s = sm.Scenario(standard="11b", stations=1, flows=[{"from": "server", "to": "sta0"}])
>>> s.set("flows[0].control", Aimd).get("flows[0].control.python.path")
'simoom.scenario.control:Aimd'
"""

from __future__ import annotations

import ast
import dis
import hashlib
import importlib
import inspect
import sys
import warnings
from collections.abc import Iterable, Iterator, Mapping
from difflib import get_close_matches
from functools import cache
from pathlib import Path
from types import FunctionType
from typing import TYPE_CHECKING, Any, ClassVar, NoReturn

from simoom import _core

if sys.version_info >= (3, 14):
    import annotationlib

if TYPE_CHECKING:
    from simoom._core import Ack, Departing, Loss

__all__ = [
    "Control",
    "NoControllerError",
    "cbrt",
    "faults",
    "find",
    "import_path",
    "make",
    "parameters",
    "refuse_attribute",
    "undeclared",
]

CALLS = ("on_ack", "on_loss", "on_send", "on_timer", "on_undo", "on_hint")
"""The methods that the sender calls."""

Scalar = bool | int | float | str

TYPES: dict[str, type[Scalar]] = {"bool": bool, "int": int, "float": float, "str": str}
"""The types of parameters by annotation."""

MEANT = {bool: "true or false", int: "a whole number", float: "a number", str: "text"}

DEFERRED = {
    "a generator": inspect.isgeneratorfunction,
    "a coroutine": inspect.iscoroutinefunction,
    "an asynchronous generator": inspect.isasyncgenfunction,
}
"""Functions whose call does not run their body."""


class NoControllerError(ValueError):
    """An import path does not name a controller."""


class Control:
    """Base class of congestion controllers, which compute the congestion window.

    The sender detects losses and retransmits. It makes a controller for each connection, calls it
    at each acknowledgement and each loss, and then reads `window`. The attributes below have the
    values of the flow before ``__init__`` is called.

    A class attribute with an annotation and a default is a parameter, which a scenario may set:
    ``beta: float = 0.5`` is ``flows[0].control.python.beta``. An attribute that a method sets, but
    neither the class nor ``__init__`` has, is an `AttributeError`.

    Attributes
    ----------
    window : float
        The congestion window in segments, a finite number above 0; the sender replaces a value
        below one by one. Its first value is the flow's initial window.
    ssthresh : float
        The slow start threshold in segments, for controllers that use one. Its first value is the
        flow's initial threshold, or infinity.
    pacing_mbps : float or None
        The pacing rate; if it is None, ``flows.tcp.pacing`` applies.
    mss_bytes : int
        Data in a full segment.
    timer_s : float or None
        The simulated time of the next call of `on_timer`, which sets it to None first. The class
        must define `on_timer`.
    owns_window : bool
        Whether the sender uses `window` unchanged in recovery, after idle times and after spurious
        timeouts. It is read once, after ``__init__``.
    """

    window: float = 10.0
    ssthresh: float = float("inf")
    pacing_mbps: float | None = None
    mss_bytes: int = 1460
    timer_s: float | None = None
    owns_window: bool = False
    _source: ClassVar[str | None] = None

    def __init_subclass__(cls, **keywords: Any) -> None:
        super().__init_subclass__(**keywords)
        # A store tells by it whether a result is of the class that runs.
        cls._source = source_of(cls)
        _check_methods(cls)
        for name in vars(cls):
            if name.startswith("on_") and name not in CALLS:
                close = get_close_matches(name, CALLS, n=1) or [", ".join(CALLS)]
                message = f"{cls.__qualname__}.{name} is never called; did you mean {close[0]}?"
                warnings.warn(message, stacklevel=2)

    def on_ack(self, ack: Ack) -> None:
        """React to an ACK of new data; if `ack.app_limited`, the window must not grow."""

    def on_loss(self, loss: Loss) -> None:
        """React to a loss or an ECN mark; called once per window of data, and at each timeout."""

    def on_send(self, departing: Departing) -> None:
        """React to the departure of a data segment; the window applies from the next event on."""

    def on_timer(self, now_s: float) -> None:
        """React to the time `timer_s`; set it again if there is a next time."""

    def on_undo(self) -> None:
        """React to a spurious reduction: the retransmitted data had arrived before."""

    def on_hint(self, name: str, value: float) -> None:
        """React to a value of a lower layer.

        It is `link_rate_mbps`, the rate of the radio link, or `route_hops`, the number of hops of
        the route to the receiver in a network with `[routing]`.
        """

    def gauges(self) -> dict[str, float]:
        """Return the values of probes by name with unit: ``flows[0].control.NAME``.

        Returns
        -------
        dict of str to float
            The values by name; each is a probe of the flow.
        """
        return {"ssthresh_segments": self.ssthresh}


def cbrt(x: float) -> float:
    """Return the cube root by the simulator's function, which is bit-identical on every platform.

    >>> cbrt(27.0)
    3.0
    """
    return _core.cbrt(x)


def import_path(controller: type[Control]) -> str:
    """Return the import path by which `find` finds a class.

    Raises
    ------
    ValueError
        If the class is not a `Control` or cannot be imported (it is defined in a function).
    """
    if not (isinstance(controller, type) and issubclass(controller, Control)):
        raise ValueError(f"controller: must be a subclass of simoom.Control, is {controller!r}")
    if "<locals>" in controller.__qualname__:
        raise ValueError(
            f"controller: {controller.__qualname__} is defined in a function and cannot be "
            "imported again; define it at the top of a module"
        )
    return f"{controller.__module__}:{controller.__qualname__}"


def source_of(kind: type) -> str | None:
    """Return a hash of the present source of a class; None if it has no source file.

    The source is its module; if it is part of a package, all modules of the package.
    """
    module = sys.modules.get(kind.__module__)
    file = getattr(module, "__file__", None)
    if module is None or file is None:
        return None
    files = sorted(Path(file).parent.glob("*.py")) if module.__package__ else [Path(file)]
    digest = hashlib.sha256()
    try:
        for each in files:
            digest.update(hashlib.sha256(each.read_bytes()).digest())
    except OSError:
        return None
    return digest.hexdigest()


_is_forbidden = False


def forbid() -> None:
    """Import no controller in this process from now on: `find` raises."""
    global _is_forbidden  # noqa: PLW0603  a property of the process
    _is_forbidden = True


def find(path: str) -> type[Control]:
    """Return the class that an import path names.

    Parameters
    ----------
    path : str
        `module:Class`.

    Raises
    ------
    NoControllerError
        If there is no such module or class, or the class is not a controller. An exception that the
        module raises while it is imported is passed on.
    """
    if _is_forbidden:
        raise NoControllerError(f"{path}: is code in Python, which this process does not run")
    module, _, name = path.partition(":")
    # A path that begins with a dot would be relative to a package, and there is none.
    if not all(module.split(".")) or "/" in module or not all(name.split(".")):
        raise NoControllerError(
            f"{path!r} is no import path; write module:Class, as mylab.aimd:Aimd"
        )
    try:
        found: object = importlib.import_module(module)
    except ModuleNotFoundError as error:
        if error.name is None or not f"{module}.".startswith(f"{error.name}."):
            raise  # the module exists and imports one that does not
        raise NoControllerError(
            f"{path}: there is no module {error.name!r} where Python looks for modules "
            "(sys.path, PYTHONPATH)"
        ) from None
    for part in name.split("."):
        if not hasattr(found, part):
            close = get_close_matches(part, dir(found), n=1)
            hint = f"; did you mean {close[0]}?" if close else ""
            raise NoControllerError(f"{path}: there is no {part!r} in {module}{hint}")
        found = getattr(found, part)
    if not (isinstance(found, type) and issubclass(found, Control)):
        raise NoControllerError(f"{path}: is not a subclass of simoom.Control")
    _check_methods(found)
    return found


def parameters(kind: type[Control]) -> dict[str, type[Scalar]]:
    """Return the types of a class's parameters by name.

    Parameters are the class attributes that have a default and the annotation bool, int, float or
    str, which may end in ``| None``.

    >>> class Aimd(Control):
    ...     beta: float = 0.5
    >>> parameters(Aimd)
    {'beta': <class 'float'>}
    """
    found: dict[str, type[Scalar]] = {}
    for each in _own_classes(kind):
        for name, annotation in _annotations(each).items():
            type_ = TYPES.get(annotation.removesuffix(" | None"))
            if type_ and not name.startswith("_") and hasattr(kind, name):
                found[name] = type_
    return {name: type_ for name, type_ in found.items() if name not in vars(Control)}


def faults(path: str, values: Mapping[str, Scalar]) -> list[tuple[str, str]]:
    """Return the faults of ``control.python``, each with its key.

    Parameters
    ----------
    path : str
        `module:Class`.
    values : mapping of str to scalar
        The values of parameters.
    """
    try:
        kind = find(path)
    except NoControllerError as error:
        return [("path", str(error))]
    known = parameters(kind)
    return [
        (name, message)
        for name, value in values.items()
        if (message := _fault(kind, known, name, value))
    ]


def make(
    path: str, values: Mapping[str, Scalar], start: tuple[float, float | None, int]
) -> Control:
    """Make the controller at an import path for one connection.

    Parameters
    ----------
    path : str
        `module:Class`.
    values : mapping of str to scalar
        The values of parameters.
    start : tuple
        The initial window and threshold in segments, where a threshold of None is infinite; and
        `mss_bytes`.
    """
    kind = find(path)
    # The attributes are set first, so that __init__ may read and change them.
    controller = kind.__new__(kind)
    window, ssthresh, controller.mss_bytes = start
    controller.window = window
    controller.ssthresh = float("inf") if ssthresh is None else ssthresh
    known = parameters(kind) if values else {}
    for name, value in values.items():
        setattr(controller, name, known[name](value))
    controller.__init__()  # type: ignore[misc]
    return controller


def undeclared(controller: Control) -> list[str]:
    """Return the attributes that its methods may set, but neither its class nor ``__init__`` has.

    >>> class Aimd(Control):
    ...     def on_loss(self, loss):
    ...         self.windw = 1.0
    >>> undeclared(Aimd())
    ['windw']
    """
    kind: type = type(controller)
    return [name for name in _undeclared_in_class(kind) if not hasattr(controller, name)]


def refuse_attribute(controller: Control, name: str) -> NoReturn:
    """Raise `AttributeError` for an undeclared attribute, with the name that was probably meant.

    The traceback ends with the first line of the class that sets the attribute.
    """
    kind = type(controller)
    known = {*vars(controller), *dir(kind), *_annotated(kind)} - {name}
    fallback = "; declare it in the class or set it in __init__"
    hint = _did_you_mean(name, sorted(known), fallback)
    error = AttributeError(f"{kind.__qualname__} has no attribute {name!r}{hint}")
    for method in _own_methods(kind):
        for attribute, at in _set_by(method):
            if attribute == name and at is not None:
                _raise_at(method, at, error)
    raise error


def _raise_at(method: FunctionType, at: dis.Positions, error: Exception) -> None:
    """Raise an error as if this place of a method had raised it, so that tracebacks show it."""
    tree = ast.parse("raise error")
    for node in ast.walk(tree):
        if isinstance(node, (ast.stmt, ast.expr)):
            node.lineno, node.end_lineno = at.lineno or 1, at.end_lineno
            node.col_offset, node.end_col_offset = at.col_offset or 0, at.end_col_offset
    code = compile(tree, method.__code__.co_filename, "exec")
    exec(code.replace(co_name=method.__name__, co_qualname=method.__qualname__), {"error": error})


@cache
def _undeclared_in_class(kind: type) -> list[str]:
    """Return the attributes that methods set and that no class declares."""
    names = {name for method in _own_methods(kind) for name, _ in _set_by(method)}
    return sorted(name for name in names - _annotated(kind) if not hasattr(kind, name))


def _own_methods(kind: type) -> Iterator[FunctionType]:
    """Yield the methods that a controller's classes define below `Control`."""
    for each in _own_classes(kind):
        yield from filter(inspect.isfunction, vars(each).values())


def _set_by(method: FunctionType) -> Iterator[tuple[str, dis.Positions | None]]:
    """Yield the attributes of its first argument that a method sets, each with its place."""
    own = method.__code__.co_varnames[:1]
    before: object = None
    for instruction in dis.get_instructions(method):
        # The object is loaded last; one instruction may load several variables.
        loaded = before[-1:] if isinstance(before, tuple) else (before,)
        if instruction.opname == "STORE_ATTR" and loaded == own:
            yield instruction.argval, instruction.positions
        before = instruction.argval


def _annotated(kind: type) -> set[str]:
    return {name for each in kind.__mro__ for name in _annotations(each)}


def _check_methods(kind: type) -> None:
    """Raise `TypeError` if the sender cannot call one of a class's methods."""
    for name in (*CALLS, "gauges"):
        method = getattr(kind, name)
        place = f"{kind.__qualname__}.{name}"
        if not callable(method):
            raise TypeError(f"{place}: must be a method, is {method!r}")
        for what, is_one in DEFERRED.items():
            if is_one(method):
                raise TypeError(
                    f"{place}: is {what}, whose body a call does not run; write a plain method"
                )


def _fault(
    kind: type[Control], known: Mapping[str, type[Scalar]], name: str, value: Scalar
) -> str | None:
    """Return why a class does not accept this value of a parameter; None if it does."""
    expected = known.get(name)
    if expected is None:
        fallback = f"; there are {', '.join(known)}" if known else "; it has none"
        if any(name in vars(each) for each in _own_classes(kind)):
            fallback = f"; annotate it in the class, as {name}: float = 0.5"
        hint = _did_you_mean(name, known, fallback)
        return f"{kind.__qualname__} has no such parameter{hint}"
    number = isinstance(value, (int, float)) and not isinstance(value, bool)
    fits = {
        bool: isinstance(value, bool),
        int: number and value == int(value),
        float: number,
        str: isinstance(value, str),
    }
    if fits[expected]:
        return None
    shown = str(value).lower() if isinstance(value, bool) else repr(value)
    return f"must be {MEANT[expected]}, is {shown}"


def _did_you_mean(name: str, known: Iterable[str], fallback: str) -> str:
    close = get_close_matches(name, list(known), n=1)
    return f"; did you mean {close[0]!r}?" if close else fallback


def _own_classes(kind: type) -> Iterator[type]:
    """Yield a controller's classes below `Control`, the most general first."""
    for each in reversed(kind.__mro__):
        if each is not Control and each is not object:
            yield each


def _annotations(kind: type) -> dict[str, str]:
    """Return the annotations in a class's body as text."""
    if sys.version_info >= (3, 14):
        found = annotationlib.get_annotations(kind, format=annotationlib.Format.STRING)
    else:
        found = inspect.get_annotations(kind)
    return {
        name: value if isinstance(value, str) else getattr(value, "__name__", str(value))
        for name, value in found.items()
    }
