"""What the simulator declares once: kinds of frames, causes of losses, uses of airtime."""

from __future__ import annotations

import json
from functools import cache
from typing import Any, NamedTuple

from simoom import _core


class Cause(NamedTuple):
    """Why packets are lost."""

    name: str
    """Its name in traces."""
    label: str
    """Where packets are lost: "in queues"."""
    result: str
    """The result of a flow that counts them; empty if there is none."""
    hint: str
    """The key that matters, or what else helps; may be empty."""


@cache
def listing() -> dict[str, list[dict[str, Any]]]:
    """Return the facts of each kind, in the order of their declaration."""
    facts: dict[str, list[dict[str, Any]]] = json.loads(_core.listing())
    return facts


FRAMES: tuple[str, ...] = tuple(each["name"] for each in listing()["frames"])
"""The kinds of frames."""

LOST: tuple[str, ...] = tuple(each["name"] for each in listing()["outcomes"] if each["is_lost"])
"""The outcomes of frames that their receiver did not receive."""

WAITS: tuple[str, ...] = tuple(each["name"] for each in listing()["waits"])
"""What nodes wait for before they send."""

AIRTIME: dict[str, str] = {each["name"]: each["label"] for each in listing()["airtime"]}
"""The uses of the airtime, with their labels."""

CAUSES = tuple(Cause(**each) for each in listing()["causes"])
"""The causes of losses of packets."""

WITH_MCS: tuple[str, ...] = tuple(
    each["name"] for each in listing()["standards"] if each["has_mcs"]
)
"""The standards whose data frames have an MCS."""
