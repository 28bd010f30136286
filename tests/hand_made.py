"""A trace made by hand, with the columns of a real one, for the tests of pictures and pages."""

from __future__ import annotations

from dataclasses import dataclass, field

import polars as pl

US = 1e-6
FRAME = {
    "receiver": "ap",
    "kind": "Data",
    "access_category": "BE",
    "format": "DSSS",
    "rate_mbps": 11.0,
    "mcs": None,
    "streams": 1,
    "width_mhz": 20,
    "punctured": None,
    "ru_tones": None,
    "ru_index": None,
    "user": None,
    "psdu_bytes": 1536,
    "padding_bytes": None,
    "trigger": None,
    "stations": None,
    "mpdus": 1,
    "mpdus_retried": 0,
    "mpdus_received": 1,
    "nav_us": 0.0,
    "outcome": "received",
    "lost_to": None,
    "signal_dbm": None,
}


@dataclass
class Trace:
    frames: pl.DataFrame
    mpdus: pl.DataFrame
    waits: pl.DataFrame
    segments: pl.DataFrame
    routes: pl.DataFrame = field(default_factory=pl.DataFrame)


@dataclass
class Traced:
    """A run as far as `plots.air` reads it."""

    trace: Trace | None
    title: str = "A hand-made trace"
    simulated_s: float = 2.0


def frame(number, at_us, transmitter, **fields):
    start = 1.0 + at_us * US
    length = fields.pop("length_us", 1300)
    times = {"start_s": start, "payload_s": start + 192 * US, "end_s": start + length * US}
    head = {"number": number, "transmitter": transmitter, "exchange": number}
    return {**FRAME, **head, **times, **fields}


def wait(node, kind, start_us, end_us, before=None, after=None, category="BE"):
    return {
        "start_s": 1.0 + start_us * US,
        "end_s": 1.0 + end_us * US,
        "node": node,
        "access_category": category,
        "kind": kind,
        "slots_before": before,
        "slots_after": after,
    }


def trace_of(frames, waits=(), mpdus=()):
    schema = {"receiver": pl.String, "lost_to": pl.String, "mcs": pl.UInt8, "number": pl.UInt64}
    schema |= {"signal_dbm": pl.Float64}
    if not mpdus:
        mpdus = [
            {"frame": f["number"], "packet": f["number"], "flow": "up", "sequence": 7,
             "retry": f["mpdus_retried"] > 0, "bytes": 1536, "received": f["outcome"] == "received"}
            for f in frames if f["kind"] == "Data"
        ]  # fmt: skip
    waits = waits or [wait("sta0", "defer", 0, 1)]
    return Trace(
        pl.DataFrame(frames, schema_overrides=schema, infer_schema_length=None),
        pl.DataFrame(mpdus, schema_overrides={"frame": pl.UInt64}),
        pl.DataFrame(waits, schema_overrides={"slots_before": pl.UInt32, "slots_after": pl.UInt32},
                     infer_schema_length=None),
        pl.DataFrame(),
    )  # fmt: skip


def collision():
    """Two stations collide, and one of them repeats its frame: 802.11b, hand-made."""
    ack = {"kind": "Ack", "rate_mbps": 2.0, "psdu_bytes": 14, "mpdus": 0, "mpdus_received": 0}
    lost = {"outcome": "collision", "mpdus_received": 0}
    return trace_of(
        [
            frame(0, 200, "sta0", lost_to="sta1", **lost),
            frame(1, 200, "sta1", lost_to="sta0", rate_mbps=1.0, length_us=2600, **lost),
            frame(2, 3500, "sta0", mpdus_retried=1),
            frame(3, 4810, "ap", receiver="sta0", length_us=248, **ack),
            frame(4, 5500, "sta1", outcome="noise", mpdus_received=0, mpdus_retried=1),
        ],
        [
            wait("sta0", "backoff", 100, 200, 5, 0),
            wait("sta1", "backoff", 100, 200, 5, 0),
            wait("sta0", "defer", 200, 3240),
            wait("sta0", "backoff", 3240, 3500, 13, 0),
            wait("sta1", "backoff", 3240, 3500, 20, 7),
            wait("sta1", "NAV", 3500, 5058),
            wait("sta2", "NAV", 3500, 5058),
        ],
    )
