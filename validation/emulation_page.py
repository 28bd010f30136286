"""Writes the page of agreement of emulations, ``docs/emulation.md``."""

from __future__ import annotations

import os
import platform
import re
from collections.abc import Sequence

from validation import emulation
from validation.emulation import KEPT_UP_P99_S, Emulated, Value
from validation.testbed_page import filled

HEAD = """# Agreement of emulations

Written by `python -m validation --emulation`, which runs real programs on every path below for
40 s: iperf3 with pings beside it between two ports of [`simoom emulate`](emulate.md), and a program
that sends datagrams at a pace.

The right values are known in three ways. A datagram that is alone on a wire takes its delay, so
that all else is an error: the kernel's time stamp at the receiver counts. The dumbbells are points
of [the Linux kernel in virtual time](linux.md), which has no jitter, but is older, ticks 100 times
a second and has no offloads; on these paths packets arrive one by one, so that there is nothing to
join. In a cell, the same scenario runs ten times with simulated Linux ends.

"""

BANDS = """The bands stood before: {probe[0]:g} and {probe[1]:g} us for probes; for CUBIC and Reno
goodput {goodput:.1%} and ping {ping:.0%} ({short:.0%} with a queue of 25 packets); for BBR
{bbr:.0%} and {bbr_ping:.0%}, if at most 1 % of the packets were late by {late_ms:g} ms; in a cell
goodput {cell:.0%}, ping {cell_ping:.0%} and A-MPDUs {ampdu:.0%}.

A value beyond its band is in **bold**. Real programs differ a little from run to run, and a loaded
machine is late."""

CELLS = """## Acknowledgements

A driver joins the segments of an A-MPDU whose timestamps are the same, and one ACK answers them;
simulated ends do so, too. A real kernel also answers together what arrives while its program reads
(`tcp_backlog_ack_defer`); how much this is depends on the machine.

| path | segments of an ACK, real ends | simulated ends |
| --- | --- | --- |
"""


def bands() -> str:
    """The bands, in words."""
    told = BANDS.format(
        probe=emulation.PROBE_BANDS_US, goodput=emulation.GOODPUT_BAND, ping=emulation.PING_BAND,
        short=emulation.SHORT_PING_BAND, bbr=emulation.BBR_GOODPUT_BAND,
        bbr_ping=emulation.BBR_PING_BAND, late_ms=1000 * emulation.KEPT_UP_P99_S,
        cell=emulation.CELL_GOODPUT_BAND, cell_ping=emulation.CELL_PING_BAND,
        ampdu=emulation.AMPDU_BAND,
    )  # fmt: skip
    return filled(re.sub(r"(\d)%", r"\1 %", told))


def row(value: Value) -> str:
    """A line of a table."""
    if value.expected:
        error, expected = f"{100 * value.error:+.1f} %", f"{value.expected:.4g}"
    else:
        error, expected = f"at most {value.band:.3g}", "0"
    if not value.agrees:
        error = f"**{error}**"
    cells = (value.path, value.quantity, f"{value.emulated:.4g}", expected, error)
    return f"| {' | '.join(cells)} |\n"


def page(results: Sequence[Emulated]) -> str:
    """The whole page."""
    values = [value for each in results for value in each.values]
    agree = sum(value.agrees for value in values)
    classes = ", ".join(sorted({each.live["scheduling"] for each in results}))
    text = f"{HEAD}{bands()}\n\n{agree} of {len(values)} values agree. "
    text += f"Measured on Linux {platform.release().partition('-')[0]}, "
    text += f"{os.cpu_count()} cores, {classes}.\n\n"
    text += "| path | quantity | emulated | right | difference |\n| --- | --- | --- | --- | --- |\n"
    text += "".join(map(row, values))
    text += "\n## How late they were\n\n| path | load | p50 | p99 | p99.9 | verdict |\n"
    text += "| --- | --- | --- | --- | --- | --- |\n"
    for each in results:
        late = each.live["egress_late"]
        times = [f"{1e6 * late[key]:.0f} us" for key in ("p50_s", "p99_s", "p999_s")]
        verdict = each.verdict
        if "bbr" in each.values[0].path and late["p99_s"] > KEPT_UP_P99_S:
            verdict += ", too late for BBR"
        cells = (each.values[0].path, f"{each.load:.1f}", *times, verdict)
        text += f"| {' | '.join(cells)} |\n"
    text += "\n" + CELLS
    for each in results:
        if each.acks:
            real, simulated = each.acks
            text += f"| {each.values[0].path} | {real:.2f} | {simulated:.2f} |\n"
    return text
