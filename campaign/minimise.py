"""The smallest scenario that still fails: keys and elements are removed while it does."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator
from typing import Any

Place = tuple[str | int, ...]


def minimised(made: dict[str, Any], fails: Callable[[dict[str, Any]], bool]) -> dict[str, Any]:
    """Return a scenario from which nothing can be removed and no number made simpler.

    Examples
    --------
    >>> made = {"a": 1, "flows": [{"x": 7.25, "y": 2}, {"x": 3}], "b": {"c": 5, "d": 6}}
    >>> minimised(made, lambda each: each.get("flows", [{}])[0].get("x", 0) > 4)
    {'flows': [{'x': 7}]}
    """
    shrinking = True
    while shrinking:
        shrinking = False
        for place in sorted(_places(made), key=len):
            for smaller in _smaller(made, place):
                if fails(smaller):
                    made, shrinking = smaller, True
                    break
    return made


def _places(value: Any, at: Place = ()) -> Iterator[Place]:
    pairs: Any = ()
    if isinstance(value, dict):
        pairs = value.items()
    elif isinstance(value, list):
        pairs = reversed(list(enumerate(value)))
    for key, each in pairs:
        yield (*at, key)
        yield from _places(each, (*at, key))


def _smaller(made: dict[str, Any], place: Place) -> Iterator[dict[str, Any]]:
    """Yield the scenario without what is at a place, then with simpler numbers there."""
    try:
        value = made
        for key in place:
            value = value[key]  # type: ignore[index]
    except (KeyError, IndexError, TypeError):
        return  # something around it has been removed
    without = copy.deepcopy(made)
    _parent(without, place).pop(place[-1])
    yield without
    if isinstance(value, float) and not value.is_integer():
        for number in (int(value), round(value, 1), round(value, 3)):
            if number != value:
                changed = copy.deepcopy(made)
                _parent(changed, place)[place[-1]] = number
                yield changed
    if isinstance(value, int) and not isinstance(value, bool) and value > 1:
        for number in (1, value // 2):
            changed = copy.deepcopy(made)
            _parent(changed, place)[place[-1]] = number
            yield changed


def _parent(made: Any, place: Place) -> Any:
    for key in place[:-1]:
        made = made[key]
    return made
