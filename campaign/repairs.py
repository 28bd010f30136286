"""Repairs: what a message names is deleted, until the rest is taken."""

from __future__ import annotations

import copy
import re
from collections.abc import Callable
from typing import Any

import simoom as sm

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
HEADER = b"time_s,node,x_m,y_m\n"
"""The first line of a file of movements in columns, where its own is at fault."""
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


def text(data: bytes, fault_of: Callable[[bytes], sm.Issue | None]) -> tuple[bytes, str]:
    """Return a text from which what is faulty was deleted, and the last fault, if one is left.

    `fault_of` returns the first fault.
    """
    fault = fault_of(data)
    for _ in range(MOST):
        if fault is None:
            return data, ""
        shorter = _without(data, fault)
        lines = map(bytes.strip, shorter.splitlines())
        if shorter == data or all(not line or line.startswith(b"#") for line in lines):
            break
        data, fault = shorter, fault_of(shorter)
    return data, "" if fault is None else str(fault)


def _without(data: bytes, fault: sm.Issue) -> bytes:
    """Return a text without the lines of a fault; what is missing is given."""
    if (valid := data.decode(errors="ignore").encode()) != data:
        return valid
    lines = data.splitlines(keepends=True)
    if fault.file_line == 1 and b"," in lines[0] and lines[0] != HEADER:
        return HEADER + b"".join(lines[1:])
    if fault.file_line:
        return b"".join(lines[: fault.file_line - 1] + lines[fault.file_line :])
    begin, end = (0, 0) if fault.place is None else fault.place.whole
    if not end:
        before, after = GIVEN.get(fault.path, (b"", b""))
        return before + data + after
    begin = data.rfind(b"\n", 0, begin) + 1
    stop = data.find(b"\n", end)
    return data[:begin] + (b"" if stop < 0 else data[stop + 1 :])
