"""Beacons in traces, captures and reports."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

import simoom as sm

FIELDS = (
    "frame.time_epoch",
    "wlan.fixed.timestamp",
    "wlan.fixed.beacon",
    "wlan.ssid",
    "wlan.tim.dtim_count",
    "wlan.tim.dtim_period",
    "radiotap.datarate",
    "wlan.da",
    "wlan.fcs.status",
)


def scenario(**beacons: float) -> sm.Scenario:
    return sm.Scenario(
        standard="11g",
        stations=2,
        duration_s=1.0,
        warmup_s=0.1,
        wlan={"beacons": beacons},
        flows=[{"from": "server", "to": "sta*"}],
    )


def test_a_beacon_is_in_the_trace_at_each_tbtt() -> None:
    trace = sm.run(scenario(dtim_period=3), trace=True).trace
    assert trace is not None
    beacons = trace.frames.filter(kind="Beacon").sort("start_s")
    starts = beacons["start_s"].to_list()
    assert len(starts) in (9, 10)
    # The medium may be busy at a TBTT, but not for long.
    first = starts[0]
    for number, start in enumerate(starts):
        assert -0.01 < start - first - number * 0.1024 < 0.01
    assert set(beacons["receiver"].to_list()) == {None}
    assert set(beacons["psdu_bytes"].to_list()) == {250}


@pytest.mark.parametrize("size", [100, 250, 331, 1000])
def test_tshark_reads_beacons(size: int, program, tmp_path: Path) -> None:
    tshark = program("tshark", package="tshark")
    file = tmp_path / "all.pcapng"
    sm.run(scenario(dtim_period=3, interval_tu=50, size_bytes=size), trace=file)
    file = file.with_suffix(".monitor.pcapng")
    fields = [option for field in FIELDS for option in ("-e", field)]
    check = ["-o", "wlan.check_checksum:TRUE"]
    only = ["-Y", "wlan.fc.type_subtype == 8"]
    done = subprocess.run(
        [tshark, "-r", file, *check, *only, "-T", "fields", *fields],
        check=True,
        capture_output=True,
        text=True,
    )
    rows = [dict(zip(FIELDS, line.split("\t"), strict=True)) for line in done.stdout.splitlines()]
    assert len(rows) in (19, 20)
    counts = [int(row["wlan.tim.dtim_count"]) for row in rows]
    assert counts == [(0, 2, 1)[number % 3] for number in range(len(rows))]
    for row in rows:
        assert float(row["wlan.fixed.beacon"]) == 50
        assert bytes.fromhex(row["wlan.ssid"]) == b"simoom"
        assert row["wlan.tim.dtim_period"] == "3"
        assert row["radiotap.datarate"] == "1"
        assert row["wlan.da"] == "ff:ff:ff:ff:ff:ff"
        assert row["wlan.fcs.status"] == "1"
        late = int(row["wlan.fixed.timestamp"]) - float(row["frame.time_epoch"]) * 1e6
        # Of a long or short preamble, and a MAC header of 24 bytes at 1 Mb/s.
        assert 96 + 192 <= late <= 192 + 193, "the timestamp is that of its own first bit"
    strange = subprocess.run(
        [tshark, "-r", file, "-Y", "_ws.malformed || _ws.expert.severity == error"],
        check=True,
        capture_output=True,
        text=True,
    )
    assert strange.stdout == ""


def test_text_timeline_and_report_name_beacons(tmp_path: Path) -> None:
    file = tmp_path / "all.txt"
    run = sm.run(scenario(dtim_period=2), trace=file)
    lines = [line for line in file.read_text().splitlines() if "Beacon" in line]
    assert len(lines) in (9, 10)
    assert "beacons" in run.report()
    # 2.14 ms each in a second; the end of the run may cut the last one.
    beacons = run.summary["airtime.beacon_fraction"] / 0.00214
    assert 0.94 * (len(lines) - 1) <= beacons <= 1.06 * len(lines)


def test_the_twin_says_that_it_has_no_beacons() -> None:
    cell = sm.Scenario.load("scenarios/performance_anomaly.toml")
    beside, without = (sm.predict(of).fits[0] for of in (cell.set("wlan.beacons", {}), cell))
    assert beside.fits
    assert without.fits
    assert "no_beacons" in {check.name for check in beside.stretched}
    assert "no_beacons" not in {check.name for check in without.checks}
