"""The parameters of controllers written in Python, and their use in scripts."""

from __future__ import annotations

import json
import math
from pathlib import Path

import pytest

import simoom as sm
from simoom import Ack, _core
from simoom.scenario.control import Control, parameters


class Settable(sm.Control):
    """Sets its window by its parameters."""

    beta: float = 0.5
    segments: int = 3
    halves: bool = False
    shape: str = "flat"
    limit: float | None = None
    constant = 7
    queue: list[int]

    def __init__(self) -> None:
        self.window = float(self.segments) / (2.0 if self.halves else 1.0)

    def gauges(self) -> dict[str, float]:
        return {"beta": self.beta, "flat": float(self.shape == "flat"), "limit": self.limit or 0.0}


class Broken(sm.Control):
    """Raises at its first acknowledgement."""

    def on_ack(self, ack: Ack) -> None:
        raise ZeroDivisionError(f"no window fits {ack.acked}")


def cell(control: object) -> sm.Scenario:
    return sm.Scenario(
        standard="11b",
        stations=1,
        duration_s=5.0,
        wire={"rate_mbps": 100.0, "delay_ms": 5.0},
        flows=[{"from": "server", "to": "sta*"}],
    ).set("flows[0].control", control)


PARAMETERS = {"beta": 0.25, "segments": 5, "halves": True, "shape": "round", "limit": 9}


def test_a_scenario_sets_its_parameters(tmp_path: Path) -> None:
    scenario = cell({"python": {"path": f"{__name__}:Settable", **PARAMETERS}})
    again = sm.Scenario.parse(scenario.to_toml())
    assert again == scenario
    assert again.to_dict()["flows"][0]["control"]["python"]["beta"] == 0.25
    probes = [f"flows[0].control.{name}" for name in ("window_segments", "beta", "flat", "limit")]
    run = sm.run(again, seed=1, probes=probes)
    assert [run.samples(probe)[1][-1] for probe in probes] == [2.5, 0.25, 0.0, 9.0]
    # A result in a store is that of its parameters.
    full = scenario.set("flows[0].control.python.halves", False)
    for _ in range(2):
        over = {"flows[0].control.python.segments": [1, 8]}
        swept = sm.sweep(full, over=over, store=tmp_path)
        small, large = swept.mean("total.goodput_mbps")["mean"]
        assert small < 0.7 * large


def test_only_annotated_class_attributes_are_parameters() -> None:
    names = {"beta": float, "segments": int, "halves": bool, "shape": str, "limit": float}
    assert parameters(Settable) == names
    assert parameters(Control) == {}


@pytest.mark.parametrize(
    ("key", "value", "message"),
    [
        ("betta", 0.5, "Settable has no such parameter; did you mean 'beta'?"),
        ("gain", 0.5, "has no such parameter; there are beta, segments, halves, shape, limit"),
        ("constant", 8, "annotate it in the class, as constant: float = 0.5"),
        ("window", 5.0, "Settable has no such parameter"),
        ("beta", "x", "must be a number, is 'x'"),
        ("beta", True, "must be a number, is true"),
        ("segments", 2.5, "must be a whole number, is 2.5"),
        ("halves", 1, "must be true or false, is 1"),
        ("shape", 1, "must be text, is 1"),
        ("beta", [1.0], "must be a number, a text, true or false, is a list of 1 value"),
        ("beta", math.inf, "must be a finite number"),
    ],
)
def test_a_fault_of_a_parameter_is_one_message_at_its_path(key, value, message) -> None:
    path = f"flows[0].control.python.{key}"
    with pytest.raises(sm.ScenarioError) as caught:
        cell(Settable).set(path, value).check()
    (issue,) = caught.value.issues
    assert issue.path == path
    assert message in issue.text


def test_the_schema_has_parameters_of_any_name() -> None:
    schema = json.loads(_core.schema())["$defs"]["Python"]
    assert schema["additionalProperties"] == {"type": ["number", "string", "boolean"]}


SCRIPT = """
set control python path={path} {more}
0.000 write 1000000
0.000 connect
0.000 > S 0:0(0)
0.100 < S. 0:0(0) ack 1 win 65535 <mss 1000>
0.100 > . 1:1001(1000) ack 1
+0 > . 1001:2001(1000) ack 1
+0 quiet
0.200 < . 1:1(0) ack 1001 win 65535
+0 > . 2001:3001(1000) ack 1
+0 quiet
"""


def test_a_script_runs_it() -> None:
    script = SCRIPT.format(path=f"{__name__}:Settable", more="segments=4 halves=true shape=round")
    lines, failure = _core.tcp_script(script)
    assert failure is None, failure
    assert len(lines) > 5
    # A window of four segments sends more than the script expects.
    script = SCRIPT.format(path=f"{__name__}:Settable", more="segments=4")
    assert "3001:4001" in str(_core.tcp_script(script))
    assert _core.tcp_script(script)[1] is not None


@pytest.mark.parametrize(
    ("path", "more", "message"),
    [
        ("Settable", "betta=1", "control.python.betta: Settable has no such parameter; did you"),
        ("Settable", "beta=x", "control.python.beta: must be a number, is 'x'"),
        ("Setable", "", "control.python.path: "),
    ],
)
def test_a_script_reports_the_fault_of_its_controller(path: str, more: str, message: str) -> None:
    script = SCRIPT.format(path=f"{__name__}:{path}", more=more)
    lines, failure = _core.tcp_script(script)
    assert lines == []
    assert failure is not None
    assert failure[0] == 2
    assert failure[1].startswith(message)


def test_an_exception_ends_the_script() -> None:
    script = "set initial_window 2" + SCRIPT.format(path=f"{__name__}:Broken", more="")
    with pytest.raises(ZeroDivisionError, match="no window fits") as caught:
        _core.tcp_script(script)
    assert caught.value.__notes__ == ["in the control of the script at 0.200000000 s"]


def test_the_command_line_runs_a_script_with_it(simoom, tmp_path) -> None:
    (tmp_path / "mylab.py").write_text(
        "import simoom as sm\n"
        "class Two(sm.Control):\n"
        "    def __init__(self):\n"
        "        self.window = 2.0\n"
        "class Broken(Two):\n"
        "    def on_ack(self, ack):\n"
        "        open('absent.txt')\n"
    )
    script = tmp_path / "two.pkt"
    script.write_text(SCRIPT.format(path="mylab:Two", more=""))
    done = simoom("tcp-script", script)
    assert done.returncode == 0, done.stdout
    script.write_text(SCRIPT.format(path="mylab:Broken", more=""))
    done = simoom("tcp-script", script)
    assert done.returncode == 1
    lines = done.stderr.splitlines()
    assert "in on_ack" in lines[1]
    assert lines[-1] == "in the control of the script at 0.200000000 s"
