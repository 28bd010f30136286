"""Counterfactuals of the two ends of a connection."""

from __future__ import annotations

from simoom.results.tables import digits
from simoom.twin.inputs import choice
from simoom.why.case import Case
from simoom.why.counterfactual import Answer, Change, Key, setting, without

LARGE_WINDOW = 16 << 20
"""The largest receive window of Linux, and of autotuning by default."""
LARGEST_WINDOW = 1 << 30
"""The largest window that window scaling allows (RFC 7323 section 2.3)."""
UDP = "the flow runs over UDP"


def receive_window(case: Case) -> Answer:
    """Replace a fixed receive window by one of 16 MiB, and the largest one by 1 GiB."""
    if not case.flow.over_tcp:
        return UDP
    tcp = case.flow.table["tcp"]
    segments = tcp["window_segments"]
    fixed = tcp["window_bytes"] or (segments and segments * case.flow.payload_bytes)
    if fixed and fixed < LARGE_WINDOW:
        written = "window_segments" if segments else "window_bytes"
        edits = [case.edit(f"tcp.{written}"), case.edit("tcp.window_bytes", LARGE_WINDOW)]
        cause, words = f"the receive window of {fixed:,} B", "with a window of 16 MiB"
        gone = (case.flow_key("tcp.window_segments"),) if segments else ()
        larger = (case.flow_key(f"tcp.window_bytes={LARGE_WINDOW}"),)
        return Change(edits, cause, words, Key(larger, gone))
    if tcp["window_max_bytes"] and not fixed:
        most = tcp["window_max_bytes"]
        edits = [case.edit("tcp.window_max_bytes", LARGEST_WINDOW)]
        cause, words = f"the largest receive window of {most:,} B", "with up to 1 GiB"
        key = setting(case.flow_key(f"tcp.window_max_bytes={LARGEST_WINDOW}"))
        return Change(edits, cause, words, key)
    return "the receive window is large, or grows by itself"


def reader(case: Case) -> Answer:
    """Let the receiver's application read at once."""
    if not case.flow.over_tcp:
        return UDP
    rate = case.flow.table["tcp"]["read_rate_mbps"]
    if rate is None:
        return "the application reads at once"
    cause = f"the application, which reads {digits(rate)} Mb/s"
    return Change(
        [case.edit("tcp.read_rate_mbps")], cause, "with an application that reads at once",
        without(case.flow_key("tcp.read_rate_mbps")),
    )  # fmt: skip


def delayed_ack(case: Case) -> Answer:
    """Acknowledge each segment at once."""
    if not case.flow.over_tcp:
        return UDP
    if choice(case.flow.table["tcp"]["delayed_ack"])[0] == "none":
        return "each segment is acknowledged at once"
    edits = [case.edit("tcp.delayed_ack", "none")]
    key = setting(case.flow_key("tcp.delayed_ack=none"))
    return Change(edits, "the delay of acknowledgements", "with an ACK for each segment", key)


def nagle(case: Case) -> Answer:
    """Send small segments at once."""
    if not case.flow.over_tcp:
        return UDP
    if case.flow.table["tcp"]["nagle"] == "off":
        return "small segments leave at once"
    edits = [case.edit("tcp.nagle", "off")]
    cause = "small segments, which wait for acknowledgements"
    return Change(edits, cause, "without Nagle", setting(case.flow_key("tcp.nagle=off")))
