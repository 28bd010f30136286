"""Addresses: elements of lists by name in paths of scenarios and of results.

An index in brackets may be a name, quoted or not, ``flows["download"].goodput_mbps``; a name with
wildcards, ``flows["call *"]``; or conditions on the ends, ``flows[to="sta*"]``. The name of a table
of flows also stands for the single flows to which it expands. Of several elements of the results a
function takes a number: ``sum(flows[to="sta*"].goodput_mbps)``, ``mean``, ``min`` or ``max``.
Without one the name of a table stands for the mean of its flows or stations.

The core reads addresses (``crates/settings/src/address.rs``); here are the numbers.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from simoom import _core

FUNCTIONS: dict[str, Callable[[Sequence[float]], float]] = {
    "sum": math.fsum,
    "mean": lambda numbers: math.fsum(numbers) / len(numbers),
    "min": min,
    "max": max,
}
"""What turns the values of several elements into one number."""


is_address = _core.is_address
"""Whether a path names an element by more than its index."""


class AddressError(KeyError):
    """An address names no element, several, or is malformed."""

    def __str__(self) -> str:
        return str(self.args[0])


def generic(path: str) -> str:
    """Return the path of the catalogue that a result path is of.

    Examples
    --------
    >>> generic('sum(flows["up"].goodput_mbps)'), generic("stations[3].attempts")
    ('flows[i].goodput_mbps', 'stations[i].attempts')
    """
    return _core.general(path, "[i]")


def value(results: Mapping[str, Any], path: str) -> Any:
    """Return the value of the results at an address; None if none of its elements has one.

    Raises
    ------
    AddressError
        It names no element, or without a function several that are not those of one table.

    Examples
    --------
    >>> results = {"flows[0].name": "a", "flows[0].to": "sta0", "flows[0].timeouts": 2,
    ...            "flows[1].name": "b", "flows[1].to": "sta1", "flows[1].timeouts": 3}
    >>> value(results, 'flows["b"].timeouts'), value(results, 'sum(flows[to="sta*"].timeouts)')
    (3, 5.0)
    """
    function, paths = _core.chosen(path, dict(results))
    values = [results.get(each) for each in paths]
    if function is None:
        return values[0]
    if text := next((each for each in values if isinstance(each, str)), None):
        raise AddressError(f"{path}: is of text, {text!r}, and not of numbers")
    numbers = [float(each) for each in values if each is not None]
    return FUNCTIONS[function](numbers) if numbers else None
