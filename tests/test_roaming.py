"""Stations that roam, in traces, captures and reports."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

import simoom as sm

FIELDS = (
    "wlan.fc.type_subtype",
    "wlan.sa",
    "wlan.da",
    "wlan.bssid",
    "wlan.fixed.auth_seq",
    "wlan.fixed.current_ap",
    "wlan.fixed.status_code",
    "wlan.ssid",
    "radiotap.channel.freq",
    "wlan.fcs.status",
    "frame.len",
)
AUTHENTICATION, REQUEST, RESPONSE = "0x000b", "0x0002", "0x0003"
FIRST, STATION, SECOND = ("02:00:00:00:00:00", "02:00:00:00:00:01", "02:00:00:00:00:02")


def scenario(standard: str = "11n", **roaming: object) -> sm.Scenario:
    """A station that walks from the first of two access points to the second."""
    own, other = (1, 11) if standard == "11g" else (36, 44)
    return sm.Scenario(
        standard=standard,
        duration_s=6.0,
        warmup_s=0.5,
        wlan={"beacons": {}, "rate_control": "ideal"},
        radio={},
        ap={"channel": own},
        cells=[{"position_m": [40.0, 0.0], "channel": other}],
        stations={
            "roaming": {"threshold_dbm": -60.0, "short_interval_s": 0.5, **roaming},
            "waypoints": [
                {"at_s": 0.0, "position_m": [10.0, 2.0]},
                {"at_s": 5.0, "position_m": [38.0, 2.0]},
            ],
        },
        flows=[
            {"from": "server", "to": "sta0", "traffic": {"cbr": {"rate_mbps": 1.0}}},
            {"from": "sta0", "to": "server", "traffic": {"ping": {"interval_ms": 20}}},
        ],
    )


@pytest.mark.parametrize(("standard", "rates"), [("11n", 8), ("11g", 4)])
def test_tshark_reads_the_frames_of_a_handover(
    standard: str, rates: int, program, tmp_path: Path
) -> None:
    tshark = program("tshark", package="tshark")
    file = tmp_path / "roaming.pcapng"
    sm.run(scenario(standard), trace=file)
    fields = [option for field in FIELDS for option in ("-e", field)]
    kinds = f"wlan.fc.type_subtype in {{{AUTHENTICATION}, {REQUEST}, {RESPONSE}}}"
    check = ["-o", "wlan.check_checksum:TRUE"]

    def read(*options: str) -> str:
        command = [tshark, "-r", file.with_suffix(".monitor.pcapng"), *check, *options]
        return subprocess.run(command, check=True, capture_output=True, text=True).stdout

    assert read("-Y", "_ws.malformed || _ws.expert.severity == error") == ""
    lines = read("-Y", kinds, "-T", "fields", *fields).splitlines()
    rows = [dict(zip(FIELDS, line.split("\t"), strict=True)) for line in lines]
    assert [row["wlan.fc.type_subtype"] for row in rows] == [
        AUTHENTICATION,
        AUTHENTICATION,
        REQUEST,
        RESPONSE,
    ]
    assert [row["wlan.sa"] for row in rows] == [STATION, SECOND, STATION, SECOND]
    assert {row["wlan.bssid"] for row in rows} == {SECOND}
    assert [int(row["wlan.fixed.auth_seq"], 0) for row in rows[:2]] == [1, 2]
    assert rows[2]["wlan.fixed.current_ap"] == FIRST
    assert rows[2]["wlan.ssid"] in ("simoom", b"simoom".hex())
    assert int(rows[3]["wlan.fixed.status_code"], 0) == 0
    assert {row["wlan.fcs.status"] for row in rows} == {"1"}
    # All in the channel of the second access point, and as long as the standard says.
    assert len({row["radiotap.channel.freq"] for row in rows}) == 1
    lengths = [int(row["frame.len"]) for row in rows]
    assert lengths[0] == lengths[1]
    assert lengths[2] - lengths[0] == 48 + rates - 34
    assert lengths[3] - lengths[0] == 36 + rates - 34


def test_traces_name_the_frames_in_their_order(tmp_path: Path) -> None:
    file = tmp_path / "all.txt"
    run = sm.run(scenario(), trace=file)
    text = file.read_text()
    assert "sta0 > cells[0]  VO" in text
    assert "Reassociation Request  OFDM 6" in text
    trace = sm.run(scenario(), trace=True).trace
    assert trace is not None
    frames = trace.frames.sort("start_s")
    kinds = [kind for kind in frames["kind"].to_list() if kind.startswith(("Auth", "Reass"))]
    assert kinds == [
        "Authentication",
        "Authentication",
        "Reassociation Request",
        "Reassociation Response",
    ]
    # The station says before each scan that it goes, and after all but the last that it is back.
    announcements = len(frames.filter(kind="Null")["start_s"].to_list())
    assert announcements % 2 == 1
    assert announcements > run.summary["stations[0].roaming.scans"]


def test_no_data_is_sent_while_the_station_is_away() -> None:
    run = sm.run(scenario(authentication_ms=200.0), trace=True, check=True)
    at = run.summary["stations[0].roaming.handover_at_s[0]"]
    assert run.trace is not None
    frames = run.trace.frames
    data = frames.filter(kind="Data", transmitter="sta0").sort("start_s")
    starts = data["start_s"].to_list()
    before = max(start for start in starts if start < at)
    after = min(start for start in starts if start >= at)
    # Two channels of 30 ms, and 200 ms of authentication; the ping comes every 20 ms.
    assert 0.26 < after - before < 0.32
    receivers = data["receiver"].to_list()
    assert {to for start, to in zip(starts, receivers, strict=True) if start < at} == {"ap"}
    assert {to for start, to in zip(starts, receivers, strict=True) if start >= at} == {"cells[0]"}


def test_reports_list_the_handovers() -> None:
    run = sm.run(scenario())
    report = run.report()
    assert run.summary["total.handovers"] == 1
    line = next(line for line in report.splitlines() if line.endswith("cells[0]") and "ap" in line)
    assert line.split()[0] == "sta0"
    assert "outage" in report
    plain = sm.run(sm.Scenario.load("scenarios/one_station.toml").set("duration_s", 1.0))
    assert "outage" not in plain.report()
    assert not [path for path in plain.summary if "roaming" in path or "handover" in path]


def test_probes_show_the_access_point_and_its_signal() -> None:
    run = sm.run(scenario(), probes=["stations[0].roaming.cell", "stations[0].roaming.signal_dbm"])
    cells = run.series("stations[0].roaming.cell")["value"].to_list()
    assert cells[0] == 0.0
    assert cells[-1] == 1.0
    signals = run.series("stations[0].roaming.signal_dbm")["value"].to_list()
    assert min(signal for signal in signals if signal == signal) < -60.0
