"""What is tried with an input, in a process of its own. A trial returns "" or what is wrong."""

from __future__ import annotations

import json
import math
import re
import tempfile
import time
from collections.abc import Callable
from typing import Any

import simoom as sm
from campaign import features, inputs, laws, repairs
from simoom import _core
from simoom.scenario.edit import written

MOST_CPU_S = 2.0
"""A run is cut after this time; it has then shown that it goes on."""
USUAL_CPU_S = 0.5
"""A run of a random scenario is cut after this time, about a million events; but each tenth after
the longest: one in a hundred would otherwise take half of the whole time."""
MOST_CHECK_S = 10.0
"""A check that takes longer, in CPU time, is a finding."""
REPORTS = 7
"""The report is written for every so many-th scenario, of all classes: it takes longer than most
runs."""
FRACTION = re.compile(r"_fraction$|_probability$|jain_index$|utilisation$|_share$|_rate$")
"""Results that are from 0 to 1."""
OF_NODE = re.compile(r"(ap|cells\[\d+\]|stations\[\d+\])\.\w+")
"""Results of a radio."""


Note = Callable[[str], None]
"""Is told how a trial ended: "ran", "cut" (it ran for long enough) or "refused"."""


def _ignore(_: str) -> None:
    pass


class CutError(Exception):
    """A run has taken long enough."""


def _deadline(most_s: float = MOST_CPU_S) -> Callable[[float], None]:
    begun = time.process_time()

    def look(_: float) -> None:
        if time.process_time() - begun > most_s:
            raise CutError

    return look


def _faults(error: sm.ScenarioError) -> str:
    """Return what is wrong with the messages of a refusal."""
    for issue in error.issues:
        if not issue.message or "\n" in issue.message:
            return f"a message is empty or has several lines: {issue}"
    return "" if error.issues else "a refusal without a reason"


def _figures(run: sm.Run) -> str:
    """Return a result that cannot be."""
    for path, value in run.summary.items():
        if isinstance(value, float) and not math.isnan(value):
            fraction = re.search(FRACTION, path)
            # Parity may be more than the data.
            if fraction and "overhead" not in path and not -1e-9 <= value <= 1 + 1e-9:
                return f"{path} is {value}"
            if math.isinf(value) and "ci95" not in path:
                return f"{path} is {value}"
    return _counts(run)


def _counts(run: sm.Run) -> str:
    """Return a count that contradicts others: each packet belongs to a flow and to a radio."""
    for key in ("lost", "retry_drops", "lifetime_drops"):
        flows = sum(int(flow.get(key) or 0) for flow in run.flows)
        total = run.summary.get(f"total.{key}")
        if total is not None and total != flows:
            return f"total.{key} is {total}, and that of the flows {flows}"
        nodes = [
            int(value or 0)
            for path, value in run.summary.items()
            if path.endswith(f".{key}") and OF_NODE.fullmatch(path)
        ]
        # Messages of routing protocols and of ARP belong to no flow.
        if key != "lost" and nodes and sum(nodes) < flows:
            return f"{key} of the nodes is {sum(nodes)}, and that of the flows {flows}"
    return ""


def scenario(
    made: dict[str, Any],
    note: Note = _ignore,
    *,
    with_report: bool = True,
    most_s: float = MOST_CPU_S,
) -> str:
    """Repair a scenario, run it under the checker, and write its report."""
    begun = time.process_time()
    try:
        built = repairs.scenario(made, _faults)
    except repairs.Refused:
        note("refused")
        return ""
    except AssertionError as error:
        return str(error)
    if (took := time.process_time() - begun) > MOST_CHECK_S:
        return f"its checks take {took:.0f} s"
    if sm.Scenario.parse(built.to_toml()) != built:
        return "the scenario as TOML is another scenario"
    try:
        done = sm.run(built, check=True, progress=_deadline(most_s))
    except CutError:
        note("cut")
        return ""
    note("ran")
    if with_report:
        from simoom.show.report import text

        text(done)
    return _figures(done) or laws.limits(built, done)


def mutated(kind: str, data: bytes, note: Note = _ignore) -> str:
    """Read a scenario file, a script, or a file of movements; repair it, and run what it says."""
    messages: list[str] = []

    def fault_of(text: bytes) -> sm.Issue | None:
        fault = _fault_of(kind, text)
        if fault is not None:
            messages.append(fault.text)
        return fault

    left, fault = repairs.text(data, fault_of)
    note("refused" if fault else "ran")
    if bad := next((each for each in messages if not each or "\n" in each), None):
        return f"a message is empty or has several lines: {bad!r}"
    if not fault and kind == "script":
        _core.tcp_script(left.decode(errors="replace"))
    if not fault and kind == "toml":
        return _run_shortly(sm.Scenario.parse(left))
    return ""


def _fault_of(kind: str, data: bytes) -> sm.Issue | None:
    """Return the first fault of a text; None if it has none."""
    if kind == "script":
        fault = _core.tcp_script_fault(data.decode(errors="replace"))
        return None if fault is None else sm.Issue("", fault[1], file_line=fault[0])
    try:
        if kind in inputs.MOVEMENTS:
            _moved(kind, data)
        else:
            sm.Scenario.parse(data).check()
    except sm.ScenarioError as error:
        if bad := _faults(error):
            return sm.Issue("", f"{bad}\n")
        return error.issues[0]
    return None


def _run_shortly(built: sm.Scenario) -> str:
    """Begin a run under the checker."""
    try:
        done = sm.run(built, check=True, progress=_deadline(MOST_CPU_S / 100))
    except CutError:
        return ""
    return _figures(done) or laws.limits(built, done)


def _moved(kind: str, data: bytes) -> None:
    """Check a scenario with a file of the movements of three, two or one stations."""
    with tempfile.NamedTemporaryFile() as file:
        file.write(data)
        file.flush()
        for count in (3, 2, 1):
            built = sm.Scenario(
                standard="11g",
                radio={},
                stations={"count": count, "movement": {kind: {"file": file.name}}},
                flows=[{"from": "sta*", "to": "ap"}],
            )
            try:
                built.check()
            except sm.ScenarioError as error:
                # A node of fewer may be missing.
                if count == 1 or error.issues[0].file_line:
                    raise
            else:
                return


def law(made: dict[str, Any], note: Note = _ignore) -> str:
    """Repair a scenario, and see that it obeys the laws of `campaign.laws`."""
    try:
        built = repairs.scenario(made, lambda _: "")
        first = sm.run(built, progress=_deadline())
    except (repairs.Refused, CutError) as error:
        note("cut" if isinstance(error, CutError) else "refused")
        return ""
    try:
        found = laws.broken(built, written(built.to_toml()), first, _deadline())
    except CutError:
        note("cut")
        return ""
    note("ran")
    return found


def answer(request: dict[str, Any], note: Note) -> str:
    """Carry out a request of the campaign: its kind, and a number or an input."""
    kind, number = request["kind"], request.get("number", 0)

    def told(outcome: str) -> None:
        note(f"{name} {outcome}")

    if kind == "request":
        from campaign import requests

        name = "requests"
        return requests.trial(number, told)
    if kind == "mutated":
        name, data = inputs.mutated(number)
        return mutated(name, data, told)
    name = features.class_of(number)
    made = request.get("input") or inputs.scenario(number)
    # As a user writes it: what JSON cannot represent does not reach a trial.
    made = json.loads(json.dumps(made))
    if kind == "law":
        return law(made, told)
    return scenario(
        made,
        told,
        with_report=number % REPORTS == 0,
        most_s=USUAL_CPU_S if number % 10 else MOST_CPU_S,
    )
