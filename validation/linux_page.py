"""Writes the page of agreement with a Linux kernel in virtual time, ``docs/linux.md``."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from validation import linux
from validation.linux import Compared
from validation.testbed_page import filled, number

HEAD = """# Agreement with Linux's TCP

Written by `python -m validation --linux`, which simulates every point below with one preset,
`tcp.endpoint = { linux = { version = "6.1", hz = 100, gro = false } }`: the measured kernel has 100
ticks a second, and its devices have no offloads. No point has a setting of its own.

The reference is an unmodified Linux 6.1.192 (Debian's source) as User-Mode Linux in virtual time:
all hosts are network namespaces of one guest whose clock jumps from event to event, and CPU work
takes no time. So these are the rules of the kernel without the jitter of a machine. Traffic is by
small programs; the bottleneck is `netem rate` or a discipline below a token bucket, all delay is on
the return path. [validation/data](../validation/data/README.md) says how each quantity is counted.

A value **agrees** if it is within 1 % (goodput, completion times), 3 % (goodput under random
losses), 5 % (pings), or .05 (shares), or within the 95 % interval of the kernel's own repeats.
The bands stood before the rules were built; that the interval counts for every quantity, and not
for shares alone, was added with the comparison. A difference beyond its band is in **bold**.

"""

RULES = """## What the preset is

`tcp.endpoint = "linux"` sets everything that Linux does beside the RFCs, of the control too: RFCs
and drafts stay the default elsewhere, and a key that a scenario sets wins. `simoom check FILE`
lists what it has set.

| key | function of the kernel |
| --- | --- |
| `tcp.rto_rule`, `tcp.rto_min_ms` | `tcp_set_rto`, `tcp_rtt_estimator` |
| `tcp.ssthresh_from = "window"` | `tcp_reno_ssthresh`, `cubictcp_recalc_ssthresh` |
| `tcp.paws` | `tcp_paws_discard` |
| `endpoint.linux.hz` | `usecs_to_jiffies` in timers, `tcp_jiffies32` |
| `endpoint.linux.gso`, `tso_defer` | `tcp_tso_autosize`, `tcp_cwnd_test`, `tcp_tso_should_defer` |
| `endpoint.linux.push` | `__tcp_transmit_skb` (5.4), `tcp_measure_rcv_mss` (6.7, 6.1.58) |
| `endpoint.linux.pacing_credit` | `tcp_update_skb_after_send` |
| `endpoint.linux.compressed_sack`, quick ACKs | `__tcp_ack_snd_check`, `tcp_send_delayed_ack` |
| `control.cubic.growth` | `bictcp_update`, `tcp_cong_avoid_ai` |
| `control.cubic.hystart_rule` | `hystart_update` |
| `control.bbr.inflight_quanta` | `bbr_inflight` |
| `control.bbr.even_windows` | `bbr_bdp`, `bbr_quantization_budget` |
| `control.bbr.departure_time` | `bbr_packets_in_net_at_edt` |
| `control.bbr.rising_start` | `bbr_set_pacing_rate`, `bbr_init_pacing_rate_from_rtt` |
| `control.bbr.strict_rtt` | `bbr_update_min_rtt` |
| `control.bbr.conservation` | `bbr_set_cwnd_to_recover_or_restore` |
| `control.bbr.policer` | `bbr_lt_bw_sampling` |

Without a key of their own, with this endpoint: the round-trip time that a control sees is that of
the last segment which an ACK covers (`tcp_clean_rtx_queue`); slow start counts all that is
delivered (`tcp_slow_start`); the ACK that ends a recovery lets the window grow
(`tcp_cong_control`); probes and reordering windows last two ticks longer (`TCP_TIMEOUT_MIN`).

"""

WITHOUT = """## Without one of the rules

How many of the values above agree if one rule is left out. A rule that changes no verdict here is
one of the kernel all the same.

"""

SECTIONS = {
    "a": (
        "One flow",
        "One flow over a drop-tail queue, pings beside it, 30 s after the first 5 s.",
    ),
    "b": (
        "Random loss",
        """One flow at 20 Mb/s and 48 ms; packets are lost independently before the queue of 100.
        The kernel's draws cannot be fixed, so that its intervals are wide.""",
    ),
    "c": (
        "Two flows",
        "Two flows at 10 Mb/s for 60 s; `share_first` is that of the first one in the name.",
    ),
    "d": (
        "Queue disciplines",
        "One flow at 20 Mb/s and 48 ms; marks are counted over the whole run.",
    ),
    "e": (
        "Short transfers and restarts",
        "Answers of four sizes, and the same again after 2 s without data.",
    ),
    "f": (
        "Reordering",
        """CUBIC at 20 Mb/s; behind the bottleneck, some packets overtake those of the last 10 ms
        (`links.reorder`).""",
    ),
}


def row(each: Compared, quantity: str) -> str:
    """A line of a table."""
    measured, simulated = each.point.measured[quantity], each.simulated[quantity]
    kernel = number(measured.value)
    if measured.half_width > 0.002 * abs(measured.value):
        kernel += f" ± {measured.half_width:.2g}"
    error, verdict = "", "shown"
    if quantity in each.judged:
        agrees = each.agrees(quantity)
        off = each.error(quantity)
        error = f"{off:+.3f}" if "share" in quantity else f"{100 * off:+.2f} %"
        error, verdict = (error, "agrees") if agrees else (f"**{error}**", "**differs**")
    cells = (each.point.name, quantity, kernel, number(simulated), error, verdict)
    return f"| {' | '.join(cells)} |\n"


def page(results: Sequence[Compared], without: Mapping[str, tuple[int, int]]) -> str:
    """The whole page."""
    text = HEAD + "## Reach\n\n| group | values that agree |\n| --- | --- |\n"
    groups = {group: [each for each in results if each.point.group == group] for group in SECTIONS}
    for group, those in groups.items():
        agree, judged = linux.agreeing(those)
        text += f"| {SECTIONS[group][0]} | {agree} of {judged} |\n"
    agree, judged = linux.agreeing(results)
    text += f"| all | {agree} of {judged} |\n\n" + RULES + WITHOUT
    text += "| without | values that agree |\n| --- | --- |\n"
    for what, (agree, judged) in without.items():
        text += f"| {what} | {agree} of {judged} |\n"
    for group, (title, about) in SECTIONS.items():
        text += f"\n## {title}\n\n{filled(about)}\n\n"
        text += "| point | quantity | kernel | Simoom | difference | |\n"
        text += "| --- | --- | ---: | ---: | ---: | --- |\n"
        for each in groups[group]:
            known = (quantity for quantity in each.point.measured if quantity in each.simulated)
            text += "".join(row(each, quantity) for quantity in known)
        missed = [
            f"`{each.point.name}` {quantity}"
            for each in groups[group]
            for quantity in each.judged
            if not each.agrees(quantity)
        ]
        if missed:
            text += f"\nCause not found: {', '.join(missed)}.\n"
    return text.rstrip("\n") + "\n"
