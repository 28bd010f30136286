"""Designs of experiments: lists of points for `simoom.sweep`.

>>> import simoom as sm
>>> s = sm.Scenario(standard="11b", duration_s=1.0, stations=1,
...                 flows=[{"from": "server", "to": "sta*"}])
>>> space = {"stations": (1, 4), "wire.delay_ms": (1.0, 100.0)}
>>> sm.sweep(s, over=sm.designs.latin_hypercube(space, 5, log=["wire.delay_ms"]), replications=1)
Sweep(5 points of stations, wire.delay_ms, 1 runs each)
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from simoom.base.frames import np
from simoom.base.issue import ArgumentError
from simoom.base.needs import Later

if TYPE_CHECKING:
    from numpy.typing import NDArray

qmc = Later("scipy.stats.qmc", "a design")

Point = dict[str, Any]
Space = Mapping[str, tuple[float, float] | Sequence[Any]]
"""For each path a pair of numbers, the ends of its range; or a list, one of which is chosen."""

MOST_POINTS = 1 << 20


def grid(over: Mapping[str, Iterable[Any]]) -> list[Point]:
    """Return every combination of the values of each path, the last varying fastest.

    Examples
    --------
    >>> grid({"stations": [1, 2], "wire.delay_ms": [5.0]})
    [{'stations': 1, 'wire.delay_ms': 5.0}, {'stations': 2, 'wire.delay_ms': 5.0}]
    """
    columns = {path: list(values) for path, values in over.items()}
    return [dict(zip(columns, each, strict=True)) for each in itertools.product(*columns.values())]


def zipped(over: Mapping[str, Iterable[Any]]) -> list[Point]:
    """Return the first values of all paths, then the second ones, and so on.

    Raises
    ------
    ValueError
        The paths do not have equally many values.

    Examples
    --------
    >>> zipped({"stations": [1, 2], "wire.delay_ms": [5.0, 9.0]})
    [{'stations': 1, 'wire.delay_ms': 5.0}, {'stations': 2, 'wire.delay_ms': 9.0}]
    """
    columns = {path: list(values) for path, values in over.items()}
    if len({len(values) for values in columns.values()}) > 1:
        counts = ", ".join(f"{path} has {len(values)}" for path, values in columns.items())
        raise ArgumentError("over", f"zip needs equally many values for each path; {counts}")
    return [dict(zip(columns, each, strict=True)) for each in zip(*columns.values(), strict=True)]


def latin_hypercube(
    space: Space, points: int, *, seed: int = 1, log: Collection[str] = ()
) -> list[Point]:
    """Return a Latin hypercube: of each range every one of `points` equal parts has one point.

    Parameters
    ----------
    space : mapping
        The range of each path, ``(1, 50)`` for whole numbers and ``(1.0, 50.0)`` for any; or a list
        of values to choose from, which is not a tuple.
    points : int
        The number of points.
    seed : int, optional
        The root of the random numbers of the design.
    log : collection of str, optional
        Paths whose logarithm is uniform.

    References
    ----------
    M. D. McKay, R. J. Beckman, W. J. Conover. Technometrics 21:2, 1979 (`scipy.stats.qmc`).
    """
    check_space(space, points, log)
    return scaled(space, log, qmc.LatinHypercube(len(space), rng=seed).random(points))


def sobol(space: Space, points: int, *, seed: int = 1, log: Collection[str] = ()) -> list[Point]:
    """Return a scrambled Sobol sequence, which is even in all dimensions together.

    The number of points is a power of two. The parameters are those of `latin_hypercube`.

    References
    ----------
    A. B. Owen. On dropping the first Sobol' point. MCQMC 2020 (`scipy.stats.qmc`).

    Examples
    --------
    >>> len(sobol({"stations": (1, 50), "flows[*].control": ["cubic", "few"]}, 8))
    8
    """
    check_space(space, points, log)
    if points & (points - 1):
        low, high = 1 << points.bit_length() - 1, 1 << points.bit_length()
        raise ArgumentError("points", f"must be a power of two, is {points}; take {low} or {high}")
    return scaled(space, log, qmc.Sobol(len(space), rng=seed).random(points))


def check_space(space: Space, points: int, log: Collection[str]) -> None:
    """Raise unless a space has ranges or values for each path, and the number of points is one."""
    if isinstance(points, bool) or not isinstance(points, int):
        raise TypeError(f"points: must be a whole number, is {points!r}")
    if not 1 <= points <= MOST_POINTS:
        raise ArgumentError("points", f"must be from 1 to {MOST_POINTS}, is {points}")
    if not space:
        raise ArgumentError("space", "must name at least one path, is empty")
    if isinstance(log, str):
        raise TypeError(f"log: must be a list of paths, is {log!r}")
    for path in log:
        if path not in space:
            raise ArgumentError("log", f"{path}: is not a path of the space, {', '.join(space)}")
    for path, given in space.items():
        check_range("space", path, given, logarithmic=path in log)


def check_range(argument: str, path: str, given: Any, *, logarithmic: bool) -> None:
    """Raise unless this is a range or a list of values."""
    if isinstance(given, (str, bytes, Mapping)) or not isinstance(given, Sequence) or not given:
        message = f"must be a range (least, greatest) or a list of values, is {given!r}"
        raise TypeError(f"{argument}[{path!r}]: {message}")
    if not isinstance(given, tuple):
        if logarithmic:
            raise ArgumentError(argument, "a list of values has no logarithmic scale", path)
        return
    numbers = [x for x in given if isinstance(x, (int, float)) and not isinstance(x, bool)]
    if len(numbers) != 2 or len(given) != 2 or not all(map(math.isfinite, numbers)):
        rule = "must be two numbers (least, greatest)"
    elif not numbers[0] < numbers[1]:
        rule = "the first must be less than the second"
    elif logarithmic and numbers[0] <= 0:
        rule = "a logarithmic range must be above 0"
    else:
        return
    raise ArgumentError(argument, f"{rule}, is {given!r}", path)


def scaled(space: Space, log: Collection[str], unit: NDArray[np.float64]) -> list[Point]:
    """Return points of the unit cube scaled to the space."""
    return [
        {path: _value(space[path], u, logarithmic=path in log)
         for path, u in zip(space, map(float, row), strict=True)}
        for row in unit
    ]  # fmt: skip


def _value(given: Any, u: float, *, logarithmic: bool) -> Any:
    if not isinstance(given, tuple):
        return given[min(int(u * len(given)), len(given) - 1)]
    low, high = given
    whole = isinstance(low, int) and isinstance(high, int)
    if whole:  # each whole number has a part of the range of its own
        low, high = low - 0.5, high + 0.5
    if logarithmic:
        low = max(low, 0.5)
        value = low * (high / low) ** u
    else:
        value = low + u * (high - low)
    return min(max(round(value), given[0]), given[1]) if whole else value
