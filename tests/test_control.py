"""Controllers written in Python."""

from __future__ import annotations

import traceback

import pytest

import simoom as sm
from simoom._core import Ack, LossEvent


class Aimd(sm.Control):
    """Additive increase, multiplicative decrease, from the first acknowledgement on."""

    def on_ack(self, ack: Ack) -> None:
        if not ack.app_limited:
            self.window += ack.acked / self.window

    def on_loss(self, loss: LossEvent) -> None:
        self.window = 1.0 if loss.cause == "timeout" else max(1.0, self.window / 2)


class Fixed(sm.Control):
    """Three segments, whatever happens."""

    def __init__(self) -> None:
        super().__init__()
        self.window = 3.0

    def on_ack(self, ack: Ack) -> None:
        self.window = 3.0 if ack.acked >= 0 else 0.0


class Broken(sm.Control):
    """Fails at its first acknowledgement."""

    def on_ack(self, ack: Ack) -> None:
        raise ZeroDivisionError(f"no window fits {ack.acked}")


class Nonsense(sm.Control):
    """Leaves a window that is none."""

    def on_ack(self, ack: Ack) -> None:
        self.window = ack.acked * float("nan")


def cell(control: object) -> sm.Scenario:
    return sm.Scenario(
        standard="11b",
        stations=2,
        duration_s=5.0,
        ap={"queue": {"drop_tail": {"limit_packets": 20}}},
        wire={"rate_mbps": 100.0, "delay_ms": 5.0},
        flows=[{"from": "server", "to": "sta*"}],
    ).set("flows[0].control", control)


def test_a_controller_is_stored_by_its_import_path_and_runs() -> None:
    scenario = cell(Aimd)
    assert scenario.get("flows[0].control.python.path") == f"{__name__}:Aimd"
    again = sm.Scenario.parse(scenario.to_toml())
    assert sm.run(again, seed=1).digest == sm.run(scenario, seed=1).digest
    assert sm.run(scenario, seed=1).summary["total.goodput_mbps"] > 4.0


def test_its_window_is_the_window() -> None:
    probe = "flows[0].control.window_segments"
    series = sm.run(cell(Fixed), seed=1, probes=[probe]).series(probe)
    assert set(series["value"].tail(20)) == {3.0}


def test_an_exception_ends_the_run_with_its_own_traceback() -> None:
    with pytest.raises(ZeroDivisionError, match="no window fits") as caught:
        sm.run(cell(Broken), seed=1)
    text = "".join(traceback.format_exception(caught.value))
    assert "on_ack" in text
    assert "in flows[" in text


def test_a_window_that_is_no_number_ends_the_run() -> None:
    with pytest.raises(ValueError, match="NaN"):
        sm.run(cell(Nonsense), seed=1)


@pytest.mark.parametrize(
    ("path", "message"),
    [
        ("nowhere_at_all:Aimd", "nowhere_at_all"),
        (f"{__name__}:Absent", "Absent"),
        ("math:pi", "subclass"),
        ("aimd", "import path"),
    ],
)
def test_a_path_that_names_no_controller_is_a_fault(path: str, message: str) -> None:
    with pytest.raises(sm.ScenarioError, match=message) as caught:
        sm.run(cell({"python": {"path": path}}), seed=1)
    assert caught.value.issues[0].path.endswith("control.python.path")


def test_a_class_inside_a_function_is_refused() -> None:
    class Inner(sm.Control):
        """Cannot be imported."""

    with pytest.raises(ValueError, match="defined in a function"):
        cell(Inner)
