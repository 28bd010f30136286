"""The scripts that make points of Linux anew: what they refuse, and how they count."""

from __future__ import annotations

from pathlib import Path

import pytest
from validation import linux
from validation.uml import __main__ as script
from validation.uml import build, run
from validation.uml.programs import Refused, need


def the(name: str) -> linux.Point:
    return next(point for point in linux.points() if point.name == name)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["points", "cubic"], "no point 'cubic'; there are bbr_r10_d100_q100, "),
        (["points", "cubic_short", "--set", "x=1"], "--set x=1: expected KEY=VALUE with a key of "),
        (["points", "cubic_short", "--set", "control=vegas"], "control=vegas: expected one of "),
        (
            ["points", "cubic_short", "--set", "bottleneck=pfifo"],
            "bottleneck=pfifo: it has no rate in mbit",
        ),
        (
            ["points", "cubic_short", "--set", "return_delay_ms=20+30"],
            "control and return_delay_ms: one value, or two joined by +",
        ),
        (
            ["points", "cubic_short", "--set", "idle_s=-1"],
            "idle_s=-1: expected a number of at least 0",
        ),
        (["points", "cubic_short", "--repeats", "0"], "--repeats 0: expected at least 1"),
        (["points", "cubic_short", "--kernel", "/none"], "/none: no such file"),
        (["build", "--source", "/none"], "/none: no such file or directory"),
    ],
)
def test_bad_input_is_one_message_and_code_2(
    arguments: list[str],
    message: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setattr(build, "PROGRAMS", {})
    monkeypatch.setattr("sys.argv", ["validation.uml", *arguments])
    assert script.main() == 2
    said = capsys.readouterr().err
    assert said.startswith(f"validation.uml: {message}")
    assert said.count("\n") == 1


def test_missing_programs_are_named_with_their_packages() -> None:
    with pytest.raises(Refused, match=r"missing: no-such \(Debian: apt-get install its-package\)"):
        need({"no-such": "its-package"})


def test_a_kernel_that_does_not_boot_is_one_message(tmp_path: Path) -> None:
    kernel = tmp_path / "linux"
    kernel.write_text("#!/bin/sh\necho no such machine\n")
    kernel.chmod(0o755)
    with pytest.raises(Refused, match="the guest ended without a result: no such machine"):
        run.guest(kernel, {}, programs={})


def test_the_rate_of_a_changed_point_is_that_of_its_bottleneck() -> None:
    changes = ["bottleneck=netem rate 15mbit -14 limit 60", "return_delay_ms=30"]
    (point,) = script.chosen(["cubic_r20_d48_q100"], changes)
    link = linux.path(point, linux.PRESET, 0)["links"][-1]
    assert link["rate_mbps"] == 15.0
    assert link["queue"] == {"drop_tail": {"limit_packets": 60}}
    assert run.job_of(point, 1)["starts_s"] == [pytest.approx(0.0137)]


def test_a_plain_queue_below_the_bucket_counts_the_packet_in_transmission() -> None:
    pie = the("cubic_pie_ecn")
    shaper = pie.settings["bottleneck"].partition(" / ")[0]
    (point,) = script.chosen([pie.name], [f"bottleneck={shaper} / pfifo limit 100"])
    link = linux.path(point, linux.PRESET, 0)["links"][-1]
    assert link["queue"] == {"drop_tail": {"limit_packets": 100}}


def test_goodput_and_pings_are_those_of_the_measured_seconds() -> None:
    point = the("cubic_r20_d48_q100")
    job = run.job_of(point, 0)
    arrivals = [(4.9, 10**9), (5.2, 3_750_000), (35.0, 3_750_000), (35.3, 10**9)]
    flow = {"connected": 0.1, "arrivals": arrivals, "retransmits": 7}
    pings = {"sent": [1.0, 5.0, 6.0, 7.0], "rtts": [9.0, 0.05, None, 0.06]}
    found = run.quantities(job, {"flows": [flow], "begin": 0.0, "pings": pings})
    assert found["goodput_mbps"] == pytest.approx(2.0)
    assert found["ping_p50_ms"] == pytest.approx(55.0)
    assert found["ping_lost_percent"] == pytest.approx(100 / 3)


def test_rows_have_the_form_of_the_recorded_points() -> None:
    recorded = linux.points()[:2]
    rows = [dict(zip(script.COLUMNS, map(str, row), strict=True)) for row in script.rows(recorded)]
    again = linux.points(rows=rows)
    assert [(each.name, each.measured, each.settings) for each in again] == [
        (each.name, each.measured, each.settings) for each in recorded
    ]


def test_the_half_width_is_of_the_range_or_of_the_interval():
    assert script.half_width([1.0, 2.0]) == 0.5
    # Student's t with two degrees of freedom: 4.303 standard errors.
    assert script.half_width([1.0, 2.0, 3.0]) == pytest.approx(4.303 / 3**0.5, rel=1e-3)
