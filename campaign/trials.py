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
from campaign import inputs
from simoom import _core

MOST_CPU_S = 3.0
"""A run is cut after this time; it has then shown that it goes on."""
FRACTION = re.compile(r"_fraction$|_probability$|jain_index$|utilisation$|_share$|_rate$")
"""Results that are from 0 to 1."""


Note = Callable[[str], None]
"""Is told how a trial ended: "refused", "cut" or "complete"."""


def _ignore(_: str) -> None:
    pass


class CutError(Exception):
    """A run has taken long enough."""


def _deadline() -> Callable[[float], None]:
    begun = time.process_time()

    def look(_: float) -> None:
        if time.process_time() - begun > MOST_CPU_S:
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
    return ""


def scenario(made: dict[str, Any], note: Note = _ignore) -> str:
    """Run a scenario under the checker, and write its report."""
    from simoom.report import text

    try:
        built = sm.Scenario(**made)
        built.check()
    except sm.ScenarioError as error:
        note("refused")
        return _faults(error)
    note("complete")
    if sm.Scenario.parse(built.to_toml()) != built:
        return "the scenario as TOML is another scenario"
    try:
        done = sm.run(built, check=True, progress=_deadline())
    except CutError:
        note("cut")
        return ""
    text(done)
    return _figures(done)


def mutated(kind: str, data: bytes, note: Note = _ignore) -> str:
    """Read a scenario file, a script, or a file of movements."""
    if kind == "script":
        text = data.decode(errors="replace")
        fault = _core.tcp_script_fault(text)
        note("refused" if fault else "complete")
        if fault is None:
            _core.tcp_script(text)
        return "" if fault is None or fault[1] else "a fault without a message"
    try:
        if kind in inputs.MOVEMENTS:
            _moved(kind, data)
        else:
            sm.Scenario.parse(data).check()
    except sm.ScenarioError as error:
        note("refused")
        return _faults(error)
    note("complete")
    return ""


def _moved(kind: str, data: bytes) -> None:
    """Check a scenario with a file of movements."""
    with tempfile.NamedTemporaryFile() as file:
        file.write(data)
        file.flush()
        sm.Scenario(
            standard="11g",
            radio={},
            stations={"count": 3, "movement": {kind: {"file": file.name}}},
            flows=[{"from": "sta*", "to": "ap"}],
        ).check()


def law(made: dict[str, Any], note: Note = _ignore) -> str:
    """Run a scenario in ways that must not change its events."""
    try:
        built = sm.Scenario(**made)
        built.check()
        first = sm.run(built, progress=_deadline())
    except (sm.ScenarioError, CutError) as error:
        note("cut" if isinstance(error, CutError) else "refused")
        return ""
    note("complete")
    off = {"from": "server", "to": "sta0", "count": 0}
    flows = [*made["flows"], off] if made.get("stations") else made["flows"]
    others: dict[str, Callable[[], sm.Run]] = {
        "the same seed": lambda: sm.run(built),
        "the checker": lambda: sm.run(built, check=True),
        "a trace": lambda: sm.run(built, trace=True),
        "a probe": lambda: sm.run(built, probes=["total.goodput_mbps"]),
        "its own text": lambda: sm.run(sm.Scenario.parse(built.to_toml())),
        "every default": lambda: sm.run(_without_nones(built)),
        "another title": lambda: sm.run(built.set("title", "another")),
        "a flow that is switched off": lambda: sm.run(sm.Scenario(**{**made, "flows": flows})),
    }
    for name, run in others.items():
        try:
            digest = run().digest
        except sm.ScenarioError as error:
            return f"{name} is refused: {error}"
        if digest != first.digest:
            return f"{name} changes the run"
    return _out_of_range(built)


def _without_nones(built: sm.Scenario) -> sm.Scenario:
    """Return a scenario with every default written out."""

    def plain(value: Any) -> Any:
        if isinstance(value, dict):
            return {key: plain(each) for key, each in value.items() if each is not None}
        return [plain(each) for each in value] if isinstance(value, list) else value

    full = plain(built.to_dict())
    return sm.Scenario(**{key: value for key, value in full.items() if value not in ({}, [], "")})


def _out_of_range(built: sm.Scenario) -> str:
    """A number out of its range is one fault, at its path, with the number as it was written."""
    for path in ("duration_s", "flows[0].start_s", "flows[0].tcp.rto_min_ms", "flows[0].count"):
        try:
            built.set(path, -7).check()
        except sm.ScenarioError as error:
            (issue, *more) = error.issues
            if more or issue.path != path or "-7" not in issue.message:
                return f"{path} = -7 gives {'; '.join(map(str, error.issues))}"
        else:
            return f"{path} = -7 is taken"
    return ""


def answer(request: dict[str, Any], note: Note) -> str:
    """Carry out a request of the campaign: its kind, and a number or an input."""
    kind, number = request["kind"], request.get("number", 0)
    if kind == "mutated":
        return mutated(*inputs.mutated(number), note)
    made = request.get("input") or inputs.scenario(number)
    # As a user writes it: what JSON cannot represent does not reach a trial.
    made = json.loads(json.dumps(made))
    return {"scenario": scenario, "law": law}[kind](made, note)
