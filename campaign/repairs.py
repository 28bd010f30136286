"""Repairs: what a message names is deleted, until the rest is taken."""

from __future__ import annotations

import copy
import re
from collections.abc import Callable
from typing import Any

import simoom as sm
from simoom.serve.places import LINE, Scanner

MOST = 60
"""Repairs of one input, after which it counts as refused."""
REMEDIES: dict[str, tuple[Any, ...]] = {
    "standard": ("11g",),
    "stations": ({"count": 3, "ring_m": 5.0}, 3),
    "flows": (
        [{"from": "server", "to": "sta*"}],
        [{"from": "sta0", "to": "sta1"}],
        [{"from": "sta0", "to": "ap", "traffic": "saturated"}],
        [{"from": "server", "to": "h0"}],
    ),
}
"""What is given where messages say that there is none, in turn."""
GIVEN = {
    "standard": (b'standard = "11g"\n', b""),
    "stations": (b"stations = 3\n", b""),
    "flows": (b"", b'\n[[flows]]\nfrom = "server"\nto = "sta*"\n'),
}
"""The same in texts: what is written before and after them."""
HEADER = re.compile(r"the first line is (\S+)")
STEP = re.compile(r"\.?(?P<key>[^.\[\]]+)|\[(?P<index>\d+)\]")


class Refused(Exception):  # noqa: N818  an outcome, and no error
    """Nothing is left to delete; the message is the last fault."""


def scenario(made: dict[str, Any], fault_in: Callable[[sm.ScenarioError], str]) -> sm.Scenario:
    """Return the scenario that is left, checked.

    Raises
    ------
    Refused
        It is not taken, whatever is deleted.
    AssertionError
        A message is not what it must be, which `fault_in` says.
    """
    made = copy.deepcopy(made)
    remedies = {key: iter(values) for key, values in REMEDIES.items()}
    for _ in range(MOST):
        try:
            built = sm.Scenario(**made)
            built.check()
        except sm.ScenarioError as error:
            if fault := fault_in(error):
                raise AssertionError(fault) from None
            if any(delete(made, issue.path) for issue in error.issues):
                continue
            key = error.issues[0].path
            given = next(remedies.get(key, iter(())), None)
            if given is None:
                raise Refused(str(error)) from None
            made[key] = copy.deepcopy(given)
        else:
            return built
    raise Refused("too many faults")


def delete(made: dict[str, Any], path: str) -> bool:
    """Delete the value at a path, or the last table on the way if it has none; false if none has.

    Examples
    --------
    >>> made = {"wlan": {"cw_min": 30}, "flows": [{"to": "sta9"}]}
    >>> delete(made, "flows[0].from"), delete(made, "wlan.cw_min"), delete(made, "radio"), made
    (True, True, False, {'wlan': {}, 'flows': []})
    """
    at: Any = made
    last: tuple[Any, Any] | None = None
    for match in STEP.finditer(path):
        step: Any = match["key"] if match["index"] is None else int(match["index"])
        inside = isinstance(at, list) and isinstance(step, int) and step < len(at)
        if not inside and not (isinstance(at, dict) and step in at):
            break
        last, at = (at, step), at[step]
    if last is None:
        return False
    parent, key = last
    del parent[key]
    return True


def text(data: bytes, fault_of: Callable[[bytes], tuple[str, str] | None]) -> tuple[bytes, str]:
    """Return a text from which what messages name was deleted, and the last fault, if one is left.

    `fault_of` returns the path and the message of the first fault.
    """
    fault = fault_of(data)
    for _ in range(MOST):
        if fault is None:
            return data, ""
        shorter = _without(data, *fault)
        lines = map(bytes.strip, shorter.splitlines())
        if shorter == data or all(not line or line.startswith(b"#") for line in lines):
            break
        data, fault = shorter, fault_of(shorter)
    return data, "" if fault is None else fault[1]


def _without(data: bytes, path: str, message: str) -> bytes:
    """Return a text without the line that a message names, or without the value at its path.

    What a message says is missing is given.
    """
    if "not a text file" in message or "UTF-8" in message:
        return data.decode(errors="ignore").encode()
    if header := HEADER.search(message):
        return header[1].encode() + b"\n" + data.partition(b"\n")[2]
    if found := LINE.search(message):
        lines = data.splitlines(keepends=True)
        number = int(found[1]) - 1
        return b"".join(lines[:number] + lines[number + 1 :])
    written = data.decode(errors="surrogateescape")
    places = Scanner(written).places
    if path in GIVEN and path not in places:
        before, after = GIVEN[path]
        return before + data + after
    while path and path not in places:
        path = path[: max(path.rfind("."), path.rfind("["), 0)]
    if not path:
        return data
    place = places[path]
    begin = written.rfind("\n", 0, place.key) + 1
    end = written.find("\n", place.end)
    end = len(written) if end < 0 else end + 1
    return (written[:begin] + written[end:]).encode(errors="surrogateescape")
