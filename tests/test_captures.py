"""The TCP analysis of Wireshark beside our own counters, on a wired link with losses."""

from __future__ import annotations

import subprocess
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

import polars as pl
import pytest

import simoom as sm
from simoom.trace import Trace

FIELDS = (
    "frame.time_epoch",
    "tcp.ack",
    "tcp.analysis.ack_rtt",
    "tcp.analysis.duplicate_ack",
    "tcp.analysis.retransmission",
    "tcp.analysis.out_of_order",
)


@dataclass
class Captured:
    """A run, its trace, and what tshark says of each packet on the wired link."""

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
    only = ["-Y", 'frame.interface_name == "wire"', "-w", folder / "wire.pcapng"]
    subprocess.run([tshark, "-r", folder / "all.pcapng", *only], check=True, capture_output=True)
    fields = [option for field in FIELDS for option in ("-e", field)]
    done = subprocess.run(
        [tshark, "-r", folder / "wire.pcapng", "-T", "fields", *fields],
        check=True,
        capture_output=True,
        text=True,
    )
    rows = [dict(zip(FIELDS, line.split("\t"), strict=True)) for line in done.stdout.splitlines()]
    run = sm.run(scenario, trace=True)
    assert run.trace is not None
    return Captured(run, run.trace, rows)


def test_wireshark_finds_each_retransmission(captured):
    # A retransmission that arrives soon after a gap is "out of order" to Wireshark.
    found = captured.count("retransmission") + captured.count("out_of_order")
    assert found == captured.run.summary["flows[0].retransmissions"] > 5


def test_wireshark_finds_each_duplicate_acknowledgement(captured):
    acks = captured.trace.segments.filter(event="received", direction="reverse", length_bytes=0)
    repeated = Counter(acks.filter(pl.col("flags") == "ACK")["ack"])
    expected = sum(times - 1 for times in repeated.values())
    assert captured.count("duplicate_ack") == expected > 50


def test_wireshark_measures_the_round_trip_from_where_it_captures(captured):
    """From a data segment at the far end of the link to its ACK at the sender."""
    segments = captured.trace.segments
    crossed = captured.trace.packets.filter(step="crossed").select("packet", "time_s")
    data = segments.filter(pl.col("length_bytes") > 0, event="sent").join(crossed, on="packet")
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
