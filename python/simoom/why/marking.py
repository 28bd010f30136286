"""Counterfactual of queues that mark packets beyond a delay."""

from __future__ import annotations

from typing import Any

from simoom.results.tables import digits, number
from simoom.twin.inputs import choice
from simoom.why.case import Case
from simoom.why.counterfactual import Answer, Change, setting
from simoom.why.draft import Edit
from simoom.why.measured import marks_of
from simoom.why.path import queue_of

LONG_US = 60e6
"""A delay that no packet has."""
KEYS = ("step_us", "ce_threshold_us")
"""The delays beyond which queues mark, whatever else makes them mark."""


def _threshold(queue: Any) -> tuple[str, str, dict[str, Any]] | None:
    """Return the discipline of a queue, its key of a delay, and its settings; None without."""
    name, settings = choice(queue)
    key = next((key for key in KEYS if settings.get(key) is not None), None)
    return None if key is None else (name, key, settings)


def marking(case: Case) -> Answer:
    """Let the queue that marks most on the way of the flow mark at no delay."""
    if not number(case.own.get("ecn_marks")):
        return "no packet of the flow is marked"
    on_the_way = {str(hop["at"]) for hop in case.hops}
    for marks in marks_of(case.summary):
        found = queue_of(case, case.interfaces.get(marks.at))
        threshold = None if found is None else _threshold(found[1])
        if found is None or threshold is None or marks.at not in on_the_way:
            continue
        path, (name, key, settings) = found[0], threshold
        kept = {k: v for k, v in settings.items() if v is not None}
        delay = digits(float(settings[key]) / 1e3)
        return Change(
            [Edit(path, {name: {**kept, key: LONG_US}})],
            f"marks of {marks.at} ({name}) beyond {delay} ms, {marks.packets:,} packets",
            "without these marks",
            setting(f"{path}.{name}.{key}={5 * float(settings[key]):g}", note="a longer delay"),
        )
    return "no queue on the way marks packets beyond a delay of its own"
