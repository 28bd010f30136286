"""Checks of arguments that several functions have: seeds, times, callbacks."""

from __future__ import annotations

import math
from numbers import Integral


def whole(name: str, value: object, *, bits: int) -> None:
    """Raise unless the value is a whole number in the range."""
    if isinstance(value, bool) or not isinstance(value, Integral):
        raise TypeError(f"{name}: must be a whole number, is {value!r}")
    if not 0 <= int(value) < 1 << bits:
        raise ValueError(f"{name}: must be in [0, 2**{bits}), is {value}")


def moment(name: str, at_s: float) -> None:
    """Raise unless this is a simulated time."""
    if not 0 <= at_s < math.inf:
        raise ValueError(f"{name} {at_s:g}: must be a number from 0 on")


def callback(progress: object) -> None:
    """Raise unless this is a callback for progress, or None."""
    if progress is not None and not callable(progress):
        raise TypeError(f"progress: must take the completed fraction, is {progress!r}")
