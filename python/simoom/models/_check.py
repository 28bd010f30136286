"""Checks of arguments: every failed check raises a ValueError that names the argument."""

from __future__ import annotations

from collections.abc import Collection

import numpy as np
from numpy.typing import ArrayLike, NDArray

Array = NDArray[np.float64]
"""An array of float64, of any shape."""


def real(
    name: str,
    value: ArrayLike,
    *,
    low: float = -np.inf,
    high: float = np.inf,
    above: float | None = None,
    below: float | None = None,
) -> Array:
    """Return `value` as floats in [low, high], or strictly in (above, below)."""
    try:
        array = np.asarray(value, dtype=np.float64)
    except (TypeError, ValueError):
        raise ValueError(f"{name}: must be a number or an array of numbers, is {value!r}") from None
    if above is not None and not np.all(array > above):
        raise ValueError(f"{name}: must be above {above:g}, is {_worst(array, array > above)}")
    if below is not None and not np.all(array < below):
        raise ValueError(f"{name}: must be below {below:g}, is {_worst(array, array < below)}")
    inside = (array >= low) & (array <= high)  # False for NaN
    if not np.all(inside):
        raise ValueError(f"{name}: must be in [{low:g}, {high:g}], is {_worst(array, inside)}")
    return array


def positive(name: str, value: ArrayLike) -> Array:
    """Return `value` as finite floats above zero."""
    return real(name, value, above=0.0, below=np.inf)


def not_negative(name: str, value: ArrayLike) -> Array:
    """Return `value` as finite floats of zero or more."""
    return real(name, value, low=0.0, below=np.inf)


def probability(name: str, value: ArrayLike) -> Array:
    """Return `value` as floats in [0, 1]."""
    return real(name, value, low=0.0, high=1.0)


def whole(name: str, value: ArrayLike, *, low: int = 0, high: float = np.inf) -> Array:
    """Return `value` as floats that are whole numbers in [low, high]."""
    array = real(name, value, low=low, high=high)
    is_whole = array == np.floor(array)
    if not np.all(is_whole):
        raise ValueError(f"{name}: must be a whole number, is {_worst(array, is_whole)}")
    return array


def choice(name: str, value: str, allowed: Collection[str]) -> str:
    """Return `value` if it is one of the allowed words."""
    if value not in allowed:
        words = ", ".join(repr(word) for word in allowed)
        raise ValueError(f"{name}: must be one of {words}, is {value!r}")
    return value


def one_of(name: str, value: ArrayLike, allowed: Collection[float]) -> Array:
    """Return `value` as floats that are all in a table of numbers."""
    array = real(name, value)
    known = np.isin(array, list(allowed))
    if not np.all(known):
        table = ", ".join(f"{number:g}" for number in allowed)
        raise ValueError(f"{name}: must be one of {table}, is {_worst(array, known)}")
    return array


def broadcast(**named: Array) -> list[Array]:
    """Broadcast arguments against each other; the error names shapes that do not broadcast."""
    try:
        return list(np.broadcast_arrays(*named.values()))
    except ValueError:
        shapes = ", ".join(f"{name} {array.shape}" for name, array in named.items())
        raise ValueError(f"shapes do not broadcast: {shapes}") from None


def _worst(array: Array, good: NDArray[np.bool_]) -> str:
    """The first element that fails a check."""
    return f"{array[~good].flat[0]:g}" if array.ndim else f"{array:g}"
