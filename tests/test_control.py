"""Controllers written in Python."""

from __future__ import annotations

import math
import subprocess
import sys
import traceback
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

import numpy as np
import pytest

import simoom as sm
from simoom import Ack, Loss
from simoom.scenario.control import Control, find, undeclared


class Aimd(sm.Control):
    """Additive increase, multiplicative decrease, from the first acknowledgement on."""

    def on_ack(self, ack: Ack) -> None:
        if not ack.app_limited:
            self.window += ack.acked / self.window

    def on_loss(self, loss: Loss) -> None:
        self.window = 1.0 if loss.cause == "timeout" else max(1.0, self.window / 2)


class Fixed(sm.Control):
    """A constant window of three segments."""

    def __init__(self) -> None:
        super().__init__()
        self.window = 3.0

    def on_ack(self, ack: Ack) -> None:
        self.window = 3.0 if ack.acked >= 0 else 0.0


class Broken(sm.Control):
    """Raises at its first acknowledgement."""

    def on_ack(self, ack: Ack) -> None:
        raise ZeroDivisionError(f"no window fits {ack.acked}")


class BrokenAtStart(sm.Control):
    """Raises in its constructor."""

    def __init__(self) -> None:
        raise LookupError("no licence")


class BrokenAtLoss(sm.Control):
    """Raises at its first loss."""

    def on_ack(self, ack: Ack) -> None:
        self.window += ack.acked

    def on_loss(self, loss: Loss) -> None:
        raise FileNotFoundError(2, "lost at", f"{loss.now_s:.9f}")


class Recorder(Aimd):
    """Records the arguments of its calls."""

    acks: list[Ack]
    losses: list[Loss]
    made: list[tuple[float, float, int]]

    def __init__(self) -> None:
        self.made.append((self.window, self.ssthresh, self.mss_bytes))

    def on_ack(self, ack: Ack) -> None:
        super().on_ack(ack)
        self.acks.append(ack)

    def on_loss(self, loss: Loss) -> None:
        super().on_loss(loss)
        self.losses.append(loss)


class Paced(sm.Control):
    """A great window and a pacing rate."""

    def __init__(self) -> None:
        self.window = 1e9
        self.pacing_mbps = 1.0


class Gauged(Aimd):
    """Counts, and has the counts as gauges."""

    count = 0

    def on_ack(self, ack: Ack) -> None:
        super().on_ack(ack)
        self.count += 1

    def gauges(self) -> dict[str, float]:
        return {"acks": self.count, **super().gauges()}


class GaugedBadly(Aimd):
    """Raises in its gauges, but not in its constructor."""

    def on_ack(self, _ack: Ack) -> None:
        self.window = 21.0

    def gauges(self) -> dict[str, float]:
        if self.window > 20.0:
            raise IndexError("beyond the scale")
        return {"odd": self.window}


class WordyWindow(Aimd):
    """Sets its window to a word."""

    def on_loss(self, _loss: Loss) -> None:
        self.window = "wide"  # type: ignore[assignment]


class NoRate(Aimd):
    """Sets its pacing rate to zero."""

    def on_loss(self, _loss: Loss) -> None:
        self.pacing_mbps = 0.0


class Sets(Aimd):
    """Sets one of its attributes to a value at its first loss."""

    name: str = "window"
    value: float = 1.0

    def on_loss(self, loss: Loss) -> None:
        super().on_loss(loss)
        setattr(self, self.name, self.value)


class Misspelt(Aimd):
    """Sets an attribute that it does not have, at its first loss."""

    def on_loss(self, loss: Loss) -> None:
        super().on_loss(loss)
        self.windw = loss.in_flight / 2


class Undeclared(Aimd):
    """The same with a name that is close to no other, in a tuple."""

    def on_loss(self, loss: Loss) -> None:
        lost, self.zzz = loss.lost, loss.in_flight
        self.window = lost


class Stage:
    """An object of another class."""


class Declared(Aimd):
    """Sets attributes that are declared in all ways."""

    __slots__ = ("slot",)
    annotated: float
    default = 1.0

    def __init__(self) -> None:
        self.prepare()

    def prepare(self) -> None:
        self.made = Stage()

    def on_loss(self, loss: Loss) -> None:
        super().on_loss(loss)
        self.slot = self.annotated = self.default = loss.lost
        self.made = Stage()
        self.made.other = loss.lost  # type: ignore[attr-defined]
        made = self.made
        made.another = loss.lost  # type: ignore[attr-defined]


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


def test_the_sender_uses_its_window() -> None:
    probe = "flows[0].control.window_segments"
    series = sm.run(cell(Fixed), seed=1, probes=[probe]).series(probe)
    assert set(series["value"].tail(20)) == {3.0}


def test_its_methods_get_acknowledgements_and_losses() -> None:
    Recorder.acks, Recorder.losses, Recorder.made = [], [], []
    lossy = cell(Recorder).set("wire.loss", {"uniform": {"probability": 0.02}})
    lossy = lossy.set("flows[0].tcp.initial_window_segments", 4).set("stations", 1)
    sm.run(lossy.set("flows[0].tcp.mss_bytes", 1000), seed=1)
    assert Recorder.made == [(4.0, math.inf, 1000)]
    acks, losses = Recorder.acks, Recorder.losses
    assert [ack.now_ns for ack in acks] == sorted(ack.now_ns for ack in acks)
    for ack in acks:
        assert ack.now_s == ack.now_ns * 1e-9
        assert (ack.srtt_s, ack.rtt_min_s) == (ack.srtt_ns * 1e-9, ack.rtt_min_ns * 1e-9)
        assert (ack.rtt_s is None) == (ack.rtt_ns is None)
        assert ack.rtt_ns is None or ack.rtt_ns >= ack.rtt_min_ns > 10_000_000
        assert ack.delivered >= 0 <= ack.acked
        if ack.delivery is not None:
            assert 0 < ack.delivery.rate_mbps < 11.0
            assert ack.delivery.prior < ack.delivery.total
    assert any(ack.recovery for ack in acks)
    assert any(ack.delivery is not None for ack in acks)
    assert {loss.cause for loss in losses} >= {"sack"}
    assert all(loss.lost > 0 and loss.in_flight > 0 and not loss.repeated for loss in losses)


def test_its_rate_paces_the_flow() -> None:
    one = cell(Paced).set("stations", 1).set("duration_s", 20.0)
    run = sm.run(one.set("flows[0].tcp.window_segments", 500), seed=1)
    # Windows and rates count data without headers.
    assert run.summary["total.goodput_mbps"] == pytest.approx(1.0, rel=0.01)
    assert run.summary["total.queue_drops"] == 0


def test_its_gauges_are_probes() -> None:
    probes = ["flows[*].control.acks", "flows[1].control.ssthresh_segments"]
    run = sm.run(cell(Gauged), seed=1, probes=probes)
    assert run.probes == (
        "flows[0].control.acks",
        "flows[1].control.acks",
        "flows[1].control.ssthresh_segments",
    )
    counts = run.samples("flows[0].control.acks")[1]
    assert counts[-1] > 100
    assert (np.diff(counts) >= 0).all()
    assert np.isinf(run.samples("flows[1].control.ssthresh_segments")[1]).all()
    with pytest.raises(sm.ScenarioError, match=r"did you mean flows\[i\]\.control\.acks"):
        sm.run(cell(Gauged), probes=["flows[0].control.akcs"])


def test_an_exception_ends_the_run_with_its_own_traceback() -> None:
    with pytest.raises(ZeroDivisionError, match="no window fits") as caught:
        sm.run(cell(Broken), seed=1)
    text = "".join(traceback.format_exception(caught.value))
    assert "in on_ack" in text
    assert "raise ZeroDivisionError" in text
    (note,) = caught.value.__notes__
    assert note.startswith("in flows[0].control at 0.0")
    assert note.endswith(" s (flow 0, server->sta0)")


@pytest.mark.parametrize(
    ("control", "error", "note"),
    [
        (BrokenAtStart, LookupError, "in flows[0].control, while it was made (flow 0"),
        (BrokenAtLoss, FileNotFoundError, "in flows["),
        (GaugedBadly, IndexError, "in flows["),
    ],
)
def test_an_exception_in_any_method_has_a_note(
    control: type[Control], error: type[Exception], note: str
) -> None:
    probes = ["flows[*].control.odd"] if control is GaugedBadly else []
    with pytest.raises(error) as caught:
        sm.run(cell(control), seed=1, probes=probes)
    assert caught.value.__notes__[0].startswith(note)
    if control is BrokenAtLoss:
        assert f" at {caught.value.filename} s (flow " in caught.value.__notes__[0]


def test_the_first_exception_of_replications_ends_them_all() -> None:
    with pytest.raises(ZeroDivisionError) as caught:
        sm.replicate(cell(Broken), replications=4)
    assert caught.value.__notes__[0].startswith("in flows[0].control at ")
    assert caught.value.__notes__[1].startswith("in replication ")


def test_in_other_processes_it_runs_and_fails_the_same() -> None:
    with ProcessPoolExecutor(2) as pool:
        here = [run.digest for run in sm.replicate(cell(Aimd), replications=3)]
        there = [run.digest for run in sm.replicate(cell(Aimd), replications=3, executor=pool)]
        assert there == here
        with pytest.raises(ZeroDivisionError, match="no window fits") as caught:
            sm.replicate(cell(Broken), replications=2, executor=pool)
    assert caught.value.__notes__[0].startswith("in flows[0].control at ")
    assert "in on_ack" in "".join(traceback.format_exception(caught.value))


@pytest.mark.parametrize(
    ("control", "message"),
    [(WordyWindow, "window: must be a number, is 'wide'"), (NoRate, "pacing_mbps: must be above")],
)
def test_invalid_values_of_its_attributes_end_the_run(control: type[Control], message: str) -> None:
    with pytest.raises((TypeError, ValueError), match=message):
        sm.run(cell(control), seed=1)


def sets(name: str, value: float) -> sm.Scenario:
    """A cell in which the first loss sets an attribute of the controller."""
    path = "flows[0].control.python."
    return cell(Sets).set(path + "name", name).set(path + "value", value)


@pytest.mark.parametrize("value", [-3.0, 0.0])
def test_a_window_that_is_not_above_zero_ends_the_run(value: float) -> None:
    message = rf"^Sets.window: must be a finite number above 0, is {value:g}\n"
    with pytest.raises(ValueError, match=message) as caught:
        sm.run(sets("window", value), seed=1)
    assert "in flows[0].control at " in caught.value.__notes__[0]
    assert "(flow " in caught.value.__notes__[0]


@pytest.mark.parametrize("value", [math.nan, math.inf])
def test_a_window_that_is_not_finite_ends_the_run(value: float, monkeypatch) -> None:
    monkeypatch.setattr(Sets, "value", value)
    with pytest.raises(ValueError, match=r"^Sets.window: must be a finite number above 0"):
        sm.run(cell(Sets), seed=1)


def test_a_misspelt_attribute_ends_the_run() -> None:
    message = "Misspelt has no attribute 'windw'; did you mean 'window'"
    with pytest.raises(AttributeError, match=message) as caught:
        sm.run(cell(Misspelt), seed=1)
    assert "in flows[0].control at " in caught.value.__notes__[0]
    last = traceback.extract_tb(caught.value.__traceback__)[-1]
    assert (last.filename, last.name) == (__file__, "on_loss")
    assert "self.windw" in (last.line or "")
    with pytest.raises(
        AttributeError, match="'zzz'; declare it in the class or set it in __init__"
    ):
        sm.run(cell(Undeclared), seed=1)
    # Until it is set, it does no harm.
    sm.run(cell(Misspelt).set("duration_s", 0.01), seed=1)


def test_what_the_class_or_its_constructor_has_may_be_set() -> None:
    assert undeclared(Declared()) == []
    assert undeclared(Misspelt()) == ["windw"]
    sm.run(cell(Declared), seed=1)


def test_a_method_whose_body_a_call_does_not_run_is_refused() -> None:
    with pytest.raises(TypeError, match=r"Generates.on_ack: is a generator"):

        class Generates(sm.Control):
            """Yields."""

            def on_ack(self, ack):
                yield ack

    with pytest.raises(TypeError, match=r"Awaits.on_loss: is a coroutine"):

        class Awaits(sm.Control):
            """Is asynchronous."""

            async def on_loss(self, loss):
                self.window = loss.lost

    with pytest.raises(TypeError, match=r"Number.on_timer: must be a method, is 5"):

        class Number(sm.Control):
            """Is no method."""

            on_timer = 5


def test_a_method_that_becomes_a_generator_is_refused_when_the_class_is_found(monkeypatch) -> None:
    def generates(_self, ack):
        yield ack

    monkeypatch.setattr(Fixed, "on_ack", generates)
    with pytest.raises(TypeError, match=r"Fixed.on_ack: is a generator"):
        sm.run(cell(Fixed), seed=1)


@pytest.mark.parametrize(
    ("path", "message"),
    [
        ("nowhere_at_all:Aimd", "nowhere_at_all"),
        ("simoom.nowhere:Aimd", "no module 'simoom.nowhere'"),
        (f"{__name__}:Aimb", "did you mean Aimd"),
        (f"{__name__}:Aimd.Inner", "there is no 'Inner'"),
        ("math:pi", "subclass"),
        ("aimd", "import path"),
    ],
)
def test_a_path_that_does_not_name_a_controller_is_a_fault(path: str, message: str) -> None:
    with pytest.raises(sm.ScenarioError, match=message) as caught:
        sm.run(cell({"python": {"path": path}}), seed=1)
    assert caught.value.issues[0].path.endswith("control.python.path")


def test_a_class_inside_a_function_is_refused() -> None:
    class Inner(sm.Control):
        """Cannot be imported."""

    with pytest.raises(ValueError, match="defined in a function"):
        cell(Inner)


def test_faults_of_a_path_are_found_without_a_run() -> None:
    with pytest.raises(sm.ScenarioError, match="no module 'nowhere'"):
        cell({"python": {"path": "nowhere:Aimd"}}).check()
    cell(Broken).check()


@pytest.fixture
def lab(tmp_path: Path) -> Path:
    """A directory with modules of controllers."""
    (tmp_path / "mylab.py").write_text(
        "import simoom as sm\n"
        "class Aimd(sm.Control):\n"
        "    def on_ack(self, ack):\n"
        "        self.window += ack.acked / self.window\n"
        "    def on_loss(self, loss):\n"
        "        self.window = max(1.0, self.window / 2)\n"
        "class Broken(sm.Control):\n"
        "    def on_ack(self, ack):\n"
        "        open('absent.txt')\n"
        "class Quits(sm.Control):\n"
        "    def on_ack(self, ack):\n"
        "        raise SystemExit(0)\n"
        "class Misspelt(sm.Control):\n"
        "    def on_ack(self, ack):\n"
        "        self.sstresh = 2.0\n",
        encoding="utf-8",
    )
    (tmp_path / "unfinished.py").write_text("class Aimd(\n", encoding="utf-8")
    (tmp_path / "faulty.py").write_text("import simoom\nimport absent_thing\n", encoding="utf-8")
    return tmp_path


def test_the_command_line_finds_it_in_the_current_directory(lab, cell_file) -> None:
    setting = 'flows[0].control.python.path="mylab:Aimd"'
    # As the installed `simoom` does, -P leaves the working directory out of Python's path.
    command = [sys.executable, "-P", "-m", "simoom", "run", str(cell_file), "--set", setting]
    done = subprocess.run(command, cwd=lab, capture_output=True, timeout=60, check=False)
    assert done.returncode == 0, done.stderr


@pytest.mark.usefixtures("lab")
@pytest.mark.parametrize("name", ["Broken", "Quits", "Misspelt"])
def test_the_command_line_prints_its_own_traceback(simoom, cell_file, name) -> None:
    done = simoom("run", cell_file, "--set", f'flows[0].control.python.path="mylab:{name}"')
    assert done.returncode == 1
    lines = done.stderr.splitlines()
    assert lines[0].startswith("Traceback")
    assert "mylab.py" in lines[1]
    assert "in on_ack" in lines[1]
    assert lines[-1].startswith("in flows[0].control at 0.0")
    assert "simoom" not in "".join(lines[1:-1])


@pytest.mark.usefixtures("lab")
def test_the_command_line_shows_a_syntax_error_without_the_frames_of_imports(
    simoom, cell_file
) -> None:
    done = simoom("run", cell_file, "--set", 'flows[0].control="unfinished:Aimd"')
    assert done.returncode == 1
    first, *_, last = done.stderr.splitlines()
    assert first.endswith('unfinished.py", line 1')
    assert last.startswith("in flows[0].control, while it was made")


@pytest.mark.usefixtures("lab")
@pytest.mark.parametrize(
    ("path", "code", "message"),
    [
        ("mylab:Aimb", 2, "flows[0].control.python.path: mylab:Aimb: there is no 'Aimb' in mylab"),
        ("absent:Aimd", 2, "flows[0].control.python.path: absent:Aimd: there is no module"),
        ("mylab", 2, 'flows[0].control.python.path: "mylab" is no import path'),
        ("faulty:Aimd", 1, "No module named 'absent_thing'"),
    ],
)
def test_the_command_line_reports_the_fault_of_a_path(
    simoom, cell_file, path, code, message
) -> None:
    done = simoom("run", cell_file, "--set", f'flows[0].control.python.path="{path}"')
    assert done.returncode == code
    assert message in done.stderr
    assert ("Traceback" in done.stderr) == (code == 1)


def test_a_module_that_cannot_be_imported_keeps_its_exception(lab, monkeypatch) -> None:
    monkeypatch.syspath_prepend(lab)
    with pytest.raises(ModuleNotFoundError, match="absent_thing"):
        find("faulty:Aimd")
    with pytest.raises(ModuleNotFoundError, match="absent_thing") as caught:
        sm.run(cell({"python": {"path": "faulty:Aimd"}}))
    assert caught.value.__notes__ == [
        "in flows[0].control, while it was made (flow 0, server->sta0)"
    ]
    sys.modules.pop("faulty", None)


def test_a_method_that_is_never_called_causes_a_warning() -> None:
    with pytest.warns(UserWarning, match="Typo.on_ak is never called; did you mean on_ack"):

        class Typo(sm.Control):
            """Has a misspelt method."""

            def on_ak(self, ack: Ack) -> None:
                self.window += ack.acked
