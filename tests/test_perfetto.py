"""Perfetto traces, read back by Perfetto's own schema and compared with the data frames."""

from __future__ import annotations

import shutil
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from perfetto.protos.perfetto.trace import perfetto_trace_pb2 as schema

import simoom as sm
from simoom.trace.trace import Trace

RTS = """
title = "Downloads and an upload behind RTS and CTS"
standard = "11g"
stations = 3
duration_s = 0.5
[wlan]
rts_threshold_bytes = 500
[wire]
rate_mbps = 20.0
delay_ms = 2.0
[[flows]]
name = "down"
from = "server"
to = "sta0"
[[flows]]
name = "up"
from = "sta1"
to = "server"
"""

EDCA = """
title = "A-MPDUs of two access categories"
standard = "11ac"
stations = 2
duration_s = 0.3
[wlan]
qos = true
[wire]
rate_mbps = 200.0
delay_ms = 1.0
[[flows]]
name = "film"
from = "server"
to = "sta0"
class = "video"
[[flows]]
name = "load"
from = "server"
to = "sta1"
"""

Lane = tuple[str, ...]
"""The names of a track and of those above it."""

LANES = {
    "RTS": "RTS/CTS",
    "CTS": "RTS/CTS",
    "CTS-to-self": "RTS/CTS",
    "Data": "data",
    "Ack": "ACK",
    "BlockAckReq": "ACK",
    "BlockAck": "ACK",
}


@dataclass
class Shown:
    """What Perfetto shows."""

    slices: list[tuple[Lane, int, int, str]] = field(default_factory=list)
    notes: list[dict[str, Any]] = field(default_factory=list)
    values: dict[Lane, list[tuple[int, float]]] = field(default_factory=lambda: defaultdict(list))
    instants: list[tuple[Lane, int, str]] = field(default_factory=list)
    arrows: list[tuple[int, int]] = field(default_factory=list)
    """The slices, by index, at which arrows begin and end."""


def read(path: Path) -> Shown:
    """Read a trace of one packet sequence as `trace_processor` does."""
    trace = schema.Trace()
    trace.ParseFromString(path.read_bytes())
    shown = Shown()
    texts: dict[tuple[str, int], str] = {}
    lanes: dict[int, Lane] = {}
    open_slices: dict[int, int] = {}
    arrows: dict[int, int] = {}
    now, is_defined = 0, False
    kinds = schema.TrackEvent
    for packet in trace.packet:
        if packet.HasField("clock_snapshot"):
            clocks = {clock.clock_id: clock for clock in packet.clock_snapshot.clocks}
            assert clocks[schema.BUILTIN_CLOCK_BOOTTIME].timestamp == 0
            own = clocks[packet.trace_packet_defaults.timestamp_clock_id]
            assert own.is_incremental
            assert own.timestamp == 0
            assert packet.sequence_flags == packet.SEQ_INCREMENTAL_STATE_CLEARED
            is_defined = True
        data = packet.interned_data
        for name in ("event_names", "debug_annotation_names"):
            texts |= {(name, entry.iid): entry.name for entry in getattr(data, name)}
        texts |= {("", text.iid): text.str.decode() for text in data.debug_annotation_string_values}
        if packet.HasField("track_descriptor"):
            track = packet.track_descriptor
            above = lanes[track.parent_uuid] if track.parent_uuid else ()
            lanes[track.uuid] = (*above, track.name)
        if not packet.HasField("track_event"):
            continue
        assert is_defined
        now += packet.timestamp
        event = packet.track_event
        lane = lanes[event.track_uuid]
        if event.type == kinds.TYPE_SLICE_BEGIN:
            assert event.track_uuid not in open_slices, "no two slices of a track overlap"
            open_slices[event.track_uuid] = len(shown.slices)
            arrows |= dict.fromkeys(event.flow_ids, len(shown.slices))
            for arrow in event.terminating_flow_ids:
                shown.arrows.append((arrows.pop(arrow), len(shown.slices)))
            shown.slices.append((lane, now, -1, texts["event_names", event.name_iid]))
            shown.notes.append(dict(notes(event, texts)))
        elif event.type == kinds.TYPE_SLICE_END:
            index = open_slices.pop(event.track_uuid)
            lane, begin, _, name = shown.slices[index]
            shown.slices[index] = (lane, begin, now, name)
        elif event.type == kinds.TYPE_INSTANT:
            shown.instants.append((lane, now, texts["event_names", event.name_iid]))
        else:
            assert event.type == kinds.TYPE_COUNTER
            value = event.WhichOneof("counter_value_field")
            shown.values[lane].append((now, getattr(event, value)))
    assert not open_slices
    return shown


def notes(event: Any, texts: dict[tuple[str, int], str]) -> Iterator[tuple[str, Any]]:
    for note in event.debug_annotations:
        value = getattr(note, note.WhichOneof("value"))
        if note.HasField("string_value_iid"):
            value = texts["", value]
        yield texts["debug_annotation_names", note.name_iid], value


def traced(scenario: sm.Scenario, path: Path) -> Trace:
    """Write the trace of a run to a file, and return its tables."""
    sm.run(scenario, seed=3, trace=path)
    trace = sm.run(scenario, seed=3, trace=True).trace
    assert trace is not None
    return trace


def nanoseconds(column: str) -> pl.Expr:
    return (pl.col(column) * 1e9).round().cast(pl.Int64)


def frame_name(row: dict[str, Any]) -> str:
    if row["outcome"] == "not addressed":
        return str(row["kind"])
    name = f"{row['kind']} to {row['receiver'] or 'all'}"
    return name if row["outcome"] == "received" else f"{name}: {row['outcome']}"


def expected_slices(trace: Trace, *, qos: bool) -> list[tuple[Lane, int, int, str]]:
    """Compute the slices from the tables."""
    times = (nanoseconds("start_s"), nanoseconds("end_s"))
    slices = [
        (
            ("nodes", row["transmitter"], LANES[row["kind"]]),
            row["start_s"],
            row["end_s"],
            frame_name(row),
        )
        for row in trace.frames.with_columns(*times).iter_rows(named=True)
    ]
    for row in trace.waits.with_columns(*times).iter_rows(named=True):
        lane = f"back-off {row['access_category']}" if qos else "back-off"
        name = {"backoff": "back-off"}.get(row["kind"], row["kind"])
        lane = "NAV" if name == "NAV" else lane
        slices.append((("nodes", row["node"], lane), row["start_s"], row["end_s"], name))
    return slices


def expected_arrows(trace: Trace) -> list[tuple[int, int]]:
    """Compute, from the tables, the numbers of the frames at which arrows begin and end."""
    sent = trace.segments.filter(pl.col("event") == "sent").select(
        "packet",
        "direction",
        "connection",
        "ack",
        "flags",
        end=pl.col("seq") + pl.col("length_bytes"),
        length="length_bytes",
    )
    carried = trace.mpdus.filter("received").join(sent, on="packet").sort("frame")
    data = (
        carried.filter((pl.col("direction") == "forward") & (pl.col("length") > 0))
        .group_by("frame", "flow", "connection")
        .agg(pl.col("end").max())
    )
    acks = carried.filter(
        (pl.col("direction") == "reverse") & pl.col("flags").str.contains("ACK")
    ).select("flow", "connection", "ack", by="frame")
    pairs = data.join(acks, on=["flow", "connection"]).filter(
        (pl.col("ack") >= pl.col("end")) & (pl.col("by") > pl.col("frame"))
    )
    return sorted(
        pairs.group_by("frame", "flow", "connection")
        .agg(pl.col("by").min())
        .select("frame", "by")
        .iter_rows()
    )


@pytest.fixture(params=[RTS, EDCA], ids=["rts", "edca"])
def both(request: pytest.FixtureRequest, tmp_path: Path) -> tuple[Trace, Shown, bool]:
    """A run as tables and as Perfetto shows it, and whether it has EDCA."""
    scenario = sm.Scenario.parse(request.param)
    path = tmp_path / "air.pftrace"
    return traced(scenario, path), read(path), request.param is EDCA


def test_every_slice_has_lane_begin_end_and_name_of_a_frame_or_wait(both: Any) -> None:
    trace, shown, qos = both
    assert shown.slices
    assert sorted(shown.slices) == sorted(expected_slices(trace, qos=qos))


def test_annotations_are_the_columns_of_the_frame(both: Any) -> None:
    trace, shown, qos = both
    noted = {note["frame"]: note for note in shown.notes if "frame" in note}
    assert len(noted) == trace.frames.height
    for row in trace.frames.iter_rows(named=True):
        note = noted[row["number"]]
        assert note["exchange"] == row["exchange"]
        assert note["PSDU bytes"] == row["psdu_bytes"]
        assert note["NAV us"] == pytest.approx(row["nav_us"])
        assert note["mode"].startswith(row["format"])
        assert note["mode"].endswith(f"{row['rate_mbps']:g} Mb/s")
        assert note.get("access category") == (row["access_category"] if qos else None)
        assert note.get("lost to") == row["lost_to"]
        assert note.get("MPDUs", min(row["mpdus"], 1)) == row["mpdus"]
        if row["mpdus"] > 1:
            assert note["MPDUs received"] == row["mpdus_received"]
            assert note["MPDUs retried"] == row["mpdus_retried"]


@pytest.mark.parametrize(
    ("counter", "column", "factor"),
    [
        ("cwnd", "cwnd_bytes", 1.0),
        ("ssthresh", "ssthresh_bytes", 1.0),
        ("in flight", "in_flight_bytes", 1.0),
        ("RTT", "rtt_ms", 1e6),
    ],
)
def test_a_counter_has_the_values_of_its_column(
    both: Any, counter: str, column: str, factor: float
) -> None:
    trace, shown, _ = both
    for (flow,), rows in trace.segments.group_by("flow"):
        values = rows.select(nanoseconds("time_s"), pl.col(column).cast(pl.Float64) * factor)
        finite = values.filter(pl.col(column).is_finite())
        changes = finite.filter(pl.col(column).ne_missing(pl.col(column).shift()))
        expected = list(changes.iter_rows())
        seen = shown.values.get(("flows", flow, counter), [])
        assert [time for time, _ in seen] == [time for time, _ in expected]
        assert [value for _, value in seen] == pytest.approx([value for _, value in expected])


def test_the_queue_of_the_access_point_is_that_of_its_packets(both: Any) -> None:
    trace, shown, _ = both
    waiting = 0
    expected = []
    at_ap = trace.packets.filter(pl.col("place") == "ap").with_columns(nanoseconds("time_s"))
    for row in at_ap.iter_rows(named=True):
        if row["step"] == "queued":
            assert row["waiting"] == waiting, "the count agrees with what arrivals find"
            waiting += 1
        elif row["step"] == "dequeued" or (row["step"], row["cause"]) == ("dropped", "queue"):
            waiting -= 1
        else:
            continue
        expected.append((row["time_s"], waiting))
    assert shown.values["nodes", "ap", "queue (packets)"] == expected


def test_arrows_lead_from_data_to_the_first_ack_for_their_last_byte(both: Any) -> None:
    trace, shown, _ = both
    frames = [
        (shown.notes[begin]["frame"], shown.notes[end]["frame"]) for begin, end in shown.arrows
    ]
    assert frames
    assert sorted(frames) == expected_arrows(trace)


def test_retransmissions_are_instants_of_their_flow(both: Any) -> None:
    trace, shown, _ = both
    rows = trace.segments.filter((pl.col("event") == "sent") & pl.col("retransmission"))
    times = rows.select("flow", nanoseconds("time_s")).iter_rows()
    expected = [
        (("flows", flow, "retransmissions"), time, "retransmission") for flow, time in times
    ]
    seen = [instant for instant in shown.instants if instant[0][-1] == "retransmissions"]
    assert sorted(seen) == sorted(expected)


SHELL = shutil.which("trace_processor_shell") or shutil.which("trace_processor")

if SHELL is not None:

    def test_sql_finds_the_same_slices(tmp_path: Path) -> None:
        from perfetto.trace_processor import TraceProcessor, TraceProcessorConfig

        path = tmp_path / "air.pftrace"
        trace = traced(sm.Scenario.parse(RTS), path)
        config = TraceProcessorConfig(bin_path=SHELL)
        with TraceProcessor(trace=str(path), config=config) as processor:
            rows = processor.query(
                "SELECT node.name AS node, lane.name AS lane, ts, dur, slice.name AS name "
                "FROM slice JOIN track lane ON slice.track_id = lane.id "
                "JOIN track node ON lane.parent_id = node.id"
            )
            slices = [
                (("nodes", row.node, row.lane), row.ts, row.ts + row.dur, row.name) for row in rows
            ]
        assert sorted(slices) == sorted(expected_slices(trace, qos=False))
