"""Power save in traces, captures, reports and the twin."""

from __future__ import annotations

import subprocess
from collections.abc import Mapping
from pathlib import Path

import pytest

import simoom as sm

FIELDS = (
    "frame.time_epoch",
    "wlan.fc.type_subtype",
    "wlan.fc.pwrmgt",
    "wlan.fc.moredata",
    "wlan.qos.eosp",
    "wlan.tim.bmapctl.multicast",
    "wlan.tim.partial_virtual_bitmap",
    "wlan.aid",
    "wlan.ta",
    "wlan.ra",
)
BEACON, PS_POLL, NULL, QOS_NULL, QOS_DATA = ("0x0008", "0x001a", "0x0024", "0x002c", "0x0028")
AP, STATION = ("02:00:00:00:00:00", "02:00:00:00:00:02")
LEGACY: Mapping[str, object] = {"legacy": {}}
POLL = {"legacy": {"retrieval": "ps_poll"}}
U_APSD = {"u_apsd": {"max_sp_frames": 2}}


def scenario(power_save: Mapping[str, object]) -> sm.Scenario:
    """Two stations that save power; three packets come in a row for the second one."""
    return sm.Scenario(
        standard="11n",
        stations={"count": 2, "power_save": power_save},
        duration_s=2.0,
        warmup_s=0.1,
        wlan={"beacons": {}},
        flows=[
            {
                "from": "server",
                "to": "sta1",
                "count": 3,
                "traffic": {"cbr": {"rate_mbps": 0.03}},
                "start_spread_s": 0.0,
            },
            {"from": "ap", "to": "broadcast", "traffic": {"cbr": {"rate_mbps": 0.03}}},
        ],
    )


def captured(power_save: Mapping[str, object], program, file: Path) -> list[dict[str, str]]:
    tshark = program("tshark", package="tshark")
    sm.run(scenario(power_save), trace=file)
    file = file.with_suffix(".monitor.pcapng")
    fields = [option for field in FIELDS for option in ("-e", field)]
    check = ["-o", "wlan.check_checksum:TRUE", "-Y", "wlan.fc.type_subtype != 0x001d"]
    done = subprocess.run(
        [tshark, "-r", file, *check, "-T", "fields", *fields],
        check=True,
        capture_output=True,
        text=True,
    )
    strange = subprocess.run(
        [tshark, "-r", file, "-Y", "_ws.malformed || _ws.expert.severity == error"],
        check=True,
        capture_output=True,
        text=True,
    )
    assert strange.stdout == ""
    return [dict(zip(FIELDS, line.split("\t"), strict=True)) for line in done.stdout.splitlines()]


def of(rows: list[dict[str, str]], *kinds: str) -> list[dict[str, str]]:
    return [row for row in rows if row["wlan.fc.type_subtype"] in kinds]


def is_set(row: dict[str, str], field: str) -> bool:
    return row[field] in ("1", "True")


def test_tshark_reads_a_station_that_wakes(program, tmp_path: Path) -> None:
    rows = captured(LEGACY, program, tmp_path / "legacy.pcapng")
    nulls = of(rows, NULL)
    assert nulls
    second = [row for row in nulls if row["wlan.ta"] == STATION]
    assert [is_set(row, "wlan.fc.pwrmgt") for row in second[:3]] == [True, False, True]
    announced = {row["wlan.tim.partial_virtual_bitmap"] for row in of(rows, BEACON)}
    assert announced == {"00", "04"}, "bit 2 is the AID of sta1"
    assert any(is_set(row, "wlan.tim.bmapctl.multicast") for row in of(rows, BEACON))
    asleep = False
    for row in rows:
        if row in second:
            asleep = is_set(row, "wlan.fc.pwrmgt")
        assert not (asleep and row["wlan.ra"] == STATION)


def test_tshark_reads_polls_and_more_data(program, tmp_path: Path) -> None:
    rows = captured(POLL, program, tmp_path / "poll.pcapng")
    polls = of(rows, PS_POLL)
    assert polls
    assert {int(row["wlan.aid"], 0) & 0x3FFF for row in polls} == {2}
    # Each poll fetches one packet, and the header of the packet says whether there are more.
    fetched = [row for row in of(rows, PS_POLL, QOS_DATA) if row["wlan.ra"] in (STATION, AP)]
    kinds = [row["wlan.fc.type_subtype"] for row in fetched]
    first = kinds.index(PS_POLL)
    assert kinds[first:][::2] == [PS_POLL] * len(kinds[first:][::2])
    assert kinds[first:][1::2] == [QOS_DATA] * len(kinds[first:][1::2])
    data = [row for row in fetched[first:] if row["wlan.fc.type_subtype"] == QOS_DATA]
    more = [is_set(row, "wlan.fc.moredata") for row in data]
    assert any(more)
    assert not all(more)


def test_tshark_reads_service_periods(program, tmp_path: Path) -> None:
    rows = captured(U_APSD, program, tmp_path / "u_apsd.pcapng")
    triggers = [row for row in of(rows, QOS_NULL) if is_set(row, "wlan.fc.pwrmgt")]
    ends = [row for row in of(rows, QOS_DATA, QOS_NULL) if is_set(row, "wlan.qos.eosp")]
    assert triggers
    assert abs(len(triggers) - len(ends)) <= 1, "each trigger frame begins a period with an end"
    assert any(is_set(row, "wlan.fc.moredata") for row in ends), "two frames are not enough"


@pytest.mark.parametrize("power_save", [LEGACY, POLL, U_APSD])
def test_all_traces_name_the_frames(power_save: Mapping[str, object], tmp_path: Path) -> None:
    file = tmp_path / "all.txt"
    run = sm.run(scenario(power_save), trace=file)
    lines = file.read_text().splitlines()
    assert any("frames for AID 2" in line for line in lines)
    expected = {"legacy": "Null", "u_apsd": "QoS Null"}[next(iter(power_save))]
    assert any(expected in line.split() or f" {expected} " in line for line in lines)
    assert any(line.strip() == "PM" for line in lines)
    assert 0 < run.summary["stations[1].power_save.awake_fraction"] < 0.95
    assert run.summary["airtime.power_save_fraction"] > 0
    assert "power save" in run.report()
    trace = sm.run(scenario(power_save), trace=True).trace
    assert trace is not None
    kinds = set(trace.frames["kind"].to_list())
    assert {"Beacon", expected} <= kinds


def test_the_twin_says_that_stations_are_awake_in_its_models() -> None:
    cell = sm.Scenario.load("scenarios/performance_anomaly.toml").set("wlan.beacons", {})
    asleep = cell.set("stations[1].power_save", "legacy")
    checks = {check.name: check for check in sm.predict(asleep).fits[0].stretched}
    assert "all_awake" in checks
    assert "all_awake" not in {check.name for check in sm.predict(cell).fits[0].checks}
