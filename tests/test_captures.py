"""What Wireshark finds in captures: beside our own counters, and in ones that have no fault."""

from __future__ import annotations

import subprocess
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

import polars as pl
import pytest

import simoom as sm
from simoom.trace.trace import Trace

FIELDS = (
    "frame.time_epoch",
    "tcp.ack",
    "tcp.analysis.ack_rtt",
    "tcp.analysis.duplicate_ack",
    "tcp.analysis.retransmission",
    "tcp.analysis.fast_retransmission",
    "tcp.analysis.out_of_order",
)
RESENT = FIELDS[4:]
"""What Wireshark calls retransmissions, of which one may be several."""


@dataclass
class Captured:
    """A run, its trace, and what tshark says of each packet at the server's end of the link."""

    run: sm.Run
    trace: Trace
    packets: list[dict[str, str]]

    def count(self, field: str) -> int:
        return sum(packet[f"tcp.analysis.{field}"] != "" for packet in self.packets)


@pytest.fixture(scope="module")
def captured(program, tmp_path_factory) -> Captured:
    tshark = program("tshark", package="tshark")
    scenario = sm.Scenario(
        standard="11g",
        stations=1,
        duration_s=2.0,
        warmup_s=0.0,
        wire={"rate_mbps": 20.0, "delay_ms": 10.0, "loss": {"uniform": {"probability": 0.01}}},
        flows=[{"from": "server", "to": "sta0"}],
    )
    folder: Path = tmp_path_factory.mktemp("captures")
    sm.run(scenario, trace=folder / "all.pcapng")
    fields = [option for field in FIELDS for option in ("-e", field)]
    done = subprocess.run(
        [tshark, "-r", folder / "all.server.wire.pcapng", "-T", "fields", *fields],
        check=True,
        capture_output=True,
        text=True,
    )
    rows = [dict(zip(FIELDS, line.split("\t"), strict=True)) for line in done.stdout.splitlines()]
    run = sm.run(scenario, trace=True)
    assert run.trace is not None
    return Captured(run, run.trace, rows)


def test_wireshark_finds_each_retransmission(captured):
    found = sum(any(packet[field] for field in RESENT) for packet in captured.packets)
    assert found == captured.run.summary["flows[0].retransmissions"] > 5


def test_wireshark_finds_each_duplicate_acknowledgement(captured):
    acks = captured.trace.segments.filter(event="received", direction="reverse", length_bytes=0)
    repeated = Counter(acks.filter(pl.col("flags") == "ACK")["ack"])
    expected = sum(times - 1 for times in repeated.values())
    assert captured.count("duplicate_ack") == expected > 50


def test_wireshark_measures_the_round_trip_from_where_it_captures(captured):
    """From the begin of a data segment at the sender to the arrival of its ACK there."""
    segments = captured.trace.segments
    began = captured.trace.packets.filter(step="began").select("packet", "time_s")
    data = segments.filter(pl.col("length_bytes") > 0, event="sent").join(began, on="packet")
    last = pl.col("seq") + pl.col("length_bytes")
    once = data.filter(last.is_unique()).select(last.alias("ack"), "time_s_right")
    left_at = dict(once.iter_rows())
    samples = 0
    for packet in captured.packets:
        # Wireshark counts from the SYN, as the trace does.
        ack = int(packet["tcp.ack"] or 0)
        if packet["tcp.analysis.ack_rtt"] and ack in left_at:
            expected = float(packet["frame.time_epoch"]) - left_at[ack]
            assert float(packet["tcp.analysis.ack_rtt"]) == pytest.approx(expected, abs=2e-9)
            samples += 1
    assert samples > 400


DOWNLOAD = sm.Scenario(
    standard="11g",
    stations=1,
    duration_s=2.0,
    warmup_s=0.5,
    wire={"rate_mbps": 20.0, "delay_ms": 10.0, "queue": {"drop_tail": {"limit_packets": 1000}}},
    flows=[{"from": "server", "to": "sta0", "traffic": {"bulk": {"size_bytes": 2_000_000}}}],
)


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def test_a_plain_download_has_no_warning(program, tmp_path):
    tshark = program("tshark", package="tshark")
    run = sm.run(DOWNLOAD, trace=tmp_path / "out.pcapng")
    assert run.summary["flows[0].retransmissions"] == 0
    assert names(tmp_path) == [
        "out.ap.wire.pcapng",
        "out.monitor.pcapng",
        "out.server.wire.pcapng",
    ]
    preferences = ["tcp.check_checksum:TRUE", "ip.check_checksum:TRUE", "wlan.retransmitted:FALSE"]
    options = [word for each in preferences for word in ("-o", each)]
    for file in tmp_path.iterdir():
        command = [tshark, "-r", file, *options, "-z", "expert,note", "-q"]
        done = subprocess.run(command, check=True, capture_output=True, text=True)
        assert not {"Errors", "Warns"} & set(done.stdout.split()), (file, done.stdout)
        notes = [line for line in done.stdout.splitlines() if " TCP " in line]
        # That it closes is a note.
        assert [line for line in notes if "the connection closing" not in line] == [], file


def test_a_comment_says_where_the_measurement_begins(program, tmp_path):
    tshark = program("tshark", package="tshark")
    sm.run(DOWNLOAD, trace=tmp_path / "out.pcapng", trace_options={"pcapng.merged": True})
    assert names(tmp_path) == ["out.pcapng"]
    fields = ["-T", "fields", "-e", "frame.time_epoch", "-e", "frame.comment"]
    command = [tshark, "-r", tmp_path / "out.pcapng", "-Y", "frame.comment", *fields]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    found = [line.split("\t") for line in done.stdout.splitlines()]
    begin = [time for time, text in found if "the 1.5 s that are measured begin at 0.5 s" in text]
    assert len(begin) == 1
    assert 0.5 <= float(begin[0]) < 0.51


def test_a_packet_that_a_link_loses_is_at_its_sender(program, tmp_path):
    tshark = program("tshark", package="tshark")
    lossy = sm.Scenario(
        duration_s=2.5,
        warmup_s=0.0,
        links=[
            {
                "from": "server",
                "to": "h",
                "rate_mbps": 10.0,
                "loss": {"list": {"packets": [1, 2]}},
            }
        ],
        flows=[{"from": "server", "to": "h", "traffic": {"bulk": {"size_bytes": 10}}}],
    )
    sm.run(lossy, trace=tmp_path / "out.pcapng")

    def flags(end: str) -> list[str]:
        file = tmp_path / f"out.{end}.server-h.pcapng"
        command = [tshark, "-r", file, "-T", "fields", "-e", "tcp.flags.syn"]
        done = subprocess.run(command, check=True, capture_output=True, text=True)
        return done.stdout.split()

    assert flags("server") == ["1", "1"], "both SYNs"
    assert flags("h") == []


def test_tshark_reads_frames_that_ccmp_protects(program, tmp_path):
    tshark = program("tshark", package="tshark")
    sm.run(DOWNLOAD.set("wlan.cipher", "ccmp"), trace=tmp_path / "out.pcapng")
    fields = ["wlan.fc.protected", "wlan.ccmp.extiv", "tcp.len", "tcp.checksum.status"]
    options = [word for field in fields for word in ("-e", field)]
    checks = ["-o", "tcp.check_checksum:TRUE", "-o", "wlan.ignore_wep:Yes - with IV"]
    command = [tshark, "-r", tmp_path / "out.monitor.pcapng", *checks, "-T", "fields", *options]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    rows = [line.split("\t") for line in done.stdout.splitlines()]
    data = [row for row in rows if row[2]]
    assert sum(int(row[2]) for row in data) >= 2_000_000
    assert {(row[0], row[3]) for row in data} == {("1", "1")}
    # Wireshark takes some for TKIP, whose second byte follows from the first.
    assert sum(row[1] != "" for row in data) > 0.98 * len(data)


def test_the_line_after_a_run_says_what_to_open(simoom, tmp_path):
    (tmp_path / "cell.toml").write_text(DOWNLOAD.to_toml())
    done = simoom("run", "cell.toml", "--trace", "out.pcapng", "--quiet")
    assert done.stderr == ""
    done = simoom("run", "cell.toml", "--trace", "out.pcapng")
    assert done.stderr.splitlines()[-4:] == [
        "wrote out.monitor.pcapng",
        "wrote out.server.wire.pcapng",
        "wrote out.ap.wire.pcapng",
        "the trace begins before the 1.5 s that are measured, which begin at 0.5 s",
    ]


def test_wires_alone_have_no_monitor(tmp_path: Path) -> None:
    """An access point that no station joins sends nothing; a capture of the air would be empty."""
    scenario = sm.Scenario(
        duration_s=0.2,
        links=[{"from": "server", "to": "h", "rate_mbps": 10}],
        flows=[{"from": "server", "to": "h"}],
    )
    for interfaces in ("monitor", "radios"):
        options = {"pcapng.interfaces": interfaces}
        sm.run(scenario, trace=tmp_path / f"{interfaces}.pcapng", trace_options=options)
        files = sorted(path.name for path in tmp_path.glob(f"{interfaces}*"))
        ends = [f"{interfaces}.{node}.server-h.pcapng" for node in ("h", "server")]
        assert files == ends
