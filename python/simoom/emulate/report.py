"""What an emulation says of itself, as text."""

from __future__ import annotations

from textwrap import fill
from typing import TYPE_CHECKING, Any

from simoom import _core

if TYPE_CHECKING:
    from simoom.emulate.emulation import Emulation

MEANINGS = {
    "kept up": "its network was the simulated one",
    "late": "packets were later than the simulated network would have had them; throughput of "
    "loss-based controls and of web pages still holds, delays below the lateness and BBR do not",
    "invalid": "its network was another than the simulated one; do not use the results",
}
STALLS = 5
INDENT = 12


MOSTLY, KEPT_UP_MAX_S = 1e-3, 10e-3
"""The rule of a run that kept up: the fraction that may be late, and how late the latest may be."""


def verdict_of(mostly_in_time: bool, max_s: float, *, is_invalid: bool) -> str:
    """Return the verdict: 99.9 % were in time or not, and the latest was late by `max_s`."""
    if is_invalid:
        return "invalid"
    return "kept up" if mostly_in_time and max_s <= KEPT_UP_MAX_S else "late"


def _time(seconds: float) -> str:
    if seconds < 1e-3:
        return f"{seconds * 1e6:.0f} µs"
    return f"{seconds * 1e3:.3g} ms" if seconds < 1 else f"{seconds:.3g} s"


def text(done: Emulation, width: int = 100) -> str:
    """Return the report in lines of this width: verdict, lateness, ports."""
    live = done.live
    late, verdict = live["egress_late"], done.verdict
    quantiles = ", ".join(
        f"{name} {_time(late[key])}"
        for name, key in (("p50", "p50_s"), ("p99", "p99_s"), ("p99.9", "p999_s"), ("max", "max_s"))
    )
    lines = [
        f"emulation   {live['end_s']:.3f} s, {verdict}: {MEANINGS[verdict]}",
        f"late by     {quantiles} ({late['count']} packets, {live['scheduling']})",
    ]
    if live["ending"] == "tape":
        lines.append("ended       its tape is as long as a run can read")
    if live["scheduling"] != "SCHED_FIFO":
        lines.append(f"{'':{INDENT}}real-time priority would make it more even: run as root, or "
                     "give the user an rtprio limit")  # fmt: skip
    if live["stall_count"]:
        first = ", ".join(f"{_time(late_s)} at {at_s:.3f} s" for at_s, late_s in
                          live["stalls"][:STALLS])  # fmt: skip
        lines.append(f"stalls      {live['stall_count']} of 10 ms or more: {first}")
    if not live["repeats"]:
        lines.append("tape        the run of the tape differs from the emulation: a defect of "
                     "Simoom, please report it")  # fmt: skip
    lines += [_port(port) for port in live["ports"]]
    lines.append(f"in between  {live['dropped']} dropped, {live['resident']} on the way at the end")
    return "\n".join(fill(line, width, subsequent_indent=" " * INDENT) for line in lines)


def _port(port: dict[str, Any]) -> str:
    said = [
        f"sent {port['sent_packets']} packets, {port['sent_bytes']} B",
        f"received {port['received_packets']}, {port['received_bytes']} B",
    ]
    labels = dict(_core.refusals())
    refused = [f"{count} {labels[why]}" for why, count in port["refused"].items() if count]
    if refused:
        said.append(f"refused {', '.join(refused)}")
    if lost := port["kernel_dropped"] + port["not_written"]:
        said.append(f"lost {lost} at the interface")
    return f"{port['name']:11} {'; '.join(said)}"
