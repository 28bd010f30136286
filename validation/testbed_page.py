"""Writes the page of agreement with hardware, ``docs/testbed.md``."""

from __future__ import annotations

import textwrap
from collections.abc import Callable, Sequence
from statistics import mean

from validation import testbed, testbed_setup
from validation.testbed import Compared

HEAD = """# Agreement with real access points

Written by `python -m validation --testbed`, which simulates every point below. All points have one
set of unknowns; no point has a setting of its own. Measured values are public figures of others
([validation/data](../validation/data/README.md) has them with their provenance). A value of Simoom
is the mean of two seeds.

Some of the set-up became known after the first comparison, from what was published beside the
figures: one station is a router with measured hosts on its wire, pings before the flows begin tell
how far these are, and a packet counter how often the receiver of uploads acknowledges. One unknown
was chosen after it: the time until a host answers a ping, without which the pings are too short.

An error in **bold** is beyond the tolerance of its table. Nothing is excused: the counts below are
of all points, and each section says what explains its errors, as far as an experiment shows it.

"""

DELAYS = " and ".join(f"{wire['delay_ms']}" for wire in testbed_setup.ROUTER_WIRES)
DESCRIPTORS = testbed_setup.ROUTER["ring_packets"]
SETUP = f"""## Set-up

| what | in the scenario | known from |
| --- | --- | --- |
| access point's mode | `stations.ap_mcs`, one or two streams at 20 MHz | measured |
| guard interval | {testbed_setup.GUARD_NS} ns; tables with a bracket also have 400 ns | not told |
| stations' own modes | MCS {testbed_setup.STATION_MCS} | not told; they choose themselves |
| A-MPDU of ath9k | at most 32 frames and 4096 us | kernel |
| hardware queue of ath9k | two A-MPDUs, one on the air and one ready | kernel |
| queue of `fq_codel_airtime` | `mac80211` with `scheduler = "ath9k"`, 20 ms and 100 ms | kernel |
| Linux 4.4 | its discipline above `ring_packets = 123`, the driver's queue | kernel |
| distance, losses | none: every frame arrives that does not collide | not told |
| TXOP limit of best effort | none, `wlan.edca_defaults = "2012"` | kernel, hostapd |
| stations | a laptop with macOS; a router with two hosts on its wire | authors' posts, addresses |
| their wires | {DELAYS} ms, half of the differences of idle pings | measured |
| time until a ping's answer | {testbed_setup.TURNAROUND_MS} ms | not told; chosen, see above |
| TCP of downloads | Reno, SACK, a window of at most 3 MiB | files' metadata |
| uploads and wired runs | `endpoint.linux.version = "4.9"`: TSQ, GSO, GRO | kernel; macOS too |
| receiver of uploads | no GRO: 1.95 segments an ACK | its packet counters |
| queue of the router | `fq_codel` above {DESCRIPTORS} descriptors of ath10k | kernel, posts |
| CUBIC and BBR of Linux | as the endpoint of version 4.9 sets their rules | kernel |
| CUBIC of macOS | β 0.8, without HyStart, growth by RFC 9438 | kernel |

"""


def error(compared: Compared, quantity: str) -> str:
    """The relative error in per cent, bold if it does not agree."""
    text = f"{100 * compared.error(quantity):+.1f} %"
    return text if compared.agrees(quantity) else f"**{text}**"


def table(results: Sequence[Compared]) -> str:
    """A table with a line for each point."""
    quantities = list(dict.fromkeys(q for each in results for q in each.point.measured))
    has_other = any(each.other for each in results)
    head = ["point"]
    for quantity in quantities:
        head += [f"{quantity}, measured", "Simoom", "error"]
        if has_other and quantity == "goodput":
            head.append("400 ns")
    lines = [head, ["---", *["---:"] * (len(head) - 1)]]
    for each in results:
        line = [each.point.name]
        for quantity in quantities:
            if quantity not in each.point.measured:
                line += ["-", "-", "-"]
                continue
            measured, simulated = each.point.measured[quantity], each.simulated[quantity]
            line += [number(measured), number(simulated), error(each, quantity)]
            if has_other and quantity == "goodput":
                line.append(number(each.other[quantity]) if each.other else "-")
        lines.append(line)
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)


def number(value: float) -> str:
    """Three significant digits."""
    return f"{value:.3g}" if value < 100 else f"{value:.0f}"


def reach(results: Sequence[Compared]) -> str:
    """How many points agree in each quantity, and the mean error without sign."""
    quantities = dict.fromkeys(q for each in results for q in each.point.measured)
    parts = []
    for quantity in quantities:
        having = [each for each in results if quantity in each.point.measured]
        agree = sum(each.agrees(quantity) for each in having)
        size = sum(abs(each.error(quantity)) for each in having) / len(having)
        within = sorted({each.point.tolerance[quantity] for each in having})
        bound = " or ".join(f"{100 * each:g} %" for each in within)
        parts.append(
            f"{quantity}: {agree} of {len(having)} within {bound}, mean error {100 * size:.1f} %"
        )
    return "; ".join(parts)


def signed(results: Sequence[Compared], quantity: str) -> str:
    """The mean error without sign, and with it."""
    errors = [100 * each.error(quantity) for each in results]
    return f"{mean(map(abs, errors)):.1f} % ({mean(errors):+.1f} %)"


Tried = Sequence[tuple[testbed.Experiment, Sequence[Compared]]]


def experiments(tried: Tried) -> str:
    """A table with the mean errors of each experiment."""
    quantities = list(dict.fromkeys(q for _, each in tried for q in each[0].point.measured))
    head = ["experiment", "points", *(f"error of {quantity}" for quantity in quantities)]
    lines = [head, ["---", "---", *["---:"] * len(quantities)]]
    for experiment, results in tried:
        known = results[0].point.measured
        cells = [signed(results, each) if each in known else "" for each in quantities]
        lines.append([experiment.what, f"{experiment.begins}*", *cells])
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)


Section = tuple[str, str, Sequence[Compared], Tried]


def page(sections: Sequence[Section]) -> str:
    """The whole page: sections with a title, a text, and their points."""
    text = HEAD + "## Reach\n\n| section | reach |\n| --- | --- |\n"
    for title, _, results, _ in sections:
        text += f"| {title} | {reach(results)} |\n"
    text += "\n" + SETUP
    for title, about, results, tried in sections:
        text += f"## {title}\n\n{filled(about)}\n\n{table(results)}\n"
        if tried:
            text += (
                "Experiments: the mean error without its sign, and in parentheses with it, when "
                f"one\nthing of the set-up is changed.\n\n{experiments(tried)}\n"
            )
    return text.rstrip("\n") + "\n"


def filled(text: str) -> str:
    """Paragraphs of 100 columns."""
    paragraphs = (" ".join(each.split()) for each in text.split("\n\n"))
    return "\n\n".join(textwrap.fill(each, 100, break_on_hyphens=False) for each in paragraphs)


SECTIONS: dict[str, tuple[str, Callable[[], list[testbed.Point]]]] = {
    "Downloads under airtime fairness": (
        """An access point with ath9k and mac80211's queues. Goodput is the sum of four downloads in
        Mb/s, ping the mean of both stations' medians in ms. The ping hardly depends on the MCS,
        because an A-MPDU lasts 4 ms at each, and two are in the hardware: the experiments with one
        and three show it.

        The time in which a host answers is an unknown that the set-ups do not tell. If hosts answer
        at once, the answer uses the gap before the access point's next A-MPDU, and the ping is too
        short; after 0.2 to 2 ms it waits for the next gap, and the time itself hardly matters.

        At MCS 6, 12 and 14 goodput is 2 to 6 % too high and the ping up to 18 % too long, as if
        the real A-MPDUs were shorter there. Losses have this effect: with 2 % the mean errors are
        2.9 and 5.4 %. That MCS 0 is 6 % too fast has no cause yet; 5 % of losses would be one,
        which the middle MCSs exclude.""",
        testbed.airtime_fair,
    ),
    "Downloads through the driver's queue of Linux 4.4": (
        """The same with queue disciplines above the driver's own 123 frames. Goodput agrees if it
        is within the bracket of both guard intervals, 3 % wider. These points carry more than 800
        ns allow at low MCSs and hardly more at high ones. The pings of `pfifo_1000` are poor truth,
        since longer runs differ up to 2.7 times: the senders probably began with a cached ssthresh,
        and the experiment with one shortens the ping.""",
        testbed.driver_fifo,
    ),
    "Two fast stations and a slow one": (
        """Goodput of each station in Mb/s. TCP: by the commit that brought airtime fairness to
        ath9k (Linux 63fefa050477). Direction, guard interval and flows are not told: here one
        download to each, 400 ns, fixed modes, so that every A-MPDU has up to 32 frames. UDP:
        downloads in the same test bed, at 144.4 and 7.2 Mb/s, of the paper about it
        (Høiland-Jørgensen and others, USENIX ATC 2017); these figures are from a collection, not
        read in the paper.

        UDP agrees within 16 %, but the two fast stations, which are alike here, differ by 9 to 13 %
        there. With TCP the real stations lose a third of what UDP carries, and here an eighth. What
        was measured before the change follows if an A-MPDU has at most 14 frames, which is the
        limit of MCS 4 as the last mode of Minstrel's chain (in ath9k the slowest mode of the chain
        limits an A-MPDU). The last experiment has the chain, without losses that would lead to slow
        modes.""",
        testbed.kernel,
    ),
    "Uploads through an ath9k access point": (
        """Two uploads from each of two hosts; the MCS is that of the acknowledgements, and the
        stations choose their own modes. A laptop with macOS is a station, and `delay` and `server`
        are hosts behind the other station, a router: what they send waits in its driver, which TSQ
        does not bound. The laptop has the TSQ of Linux 4.9, for want of the rule of macOS. Names
        are of the hosts in the files' metadata: two titles name two Linux hosts, although one of
        the measured hosts is the laptop.

        Beside CUBIC the router's queue is too long here, and fits with 512 in place of 1424
        descriptors. If the hosts were the station itself, TSQ would bound it, and the ping would be
        54 % too short. BBR of 2016 has no allowance for aggregated acknowledgements, and has little
        beside CUBIC, as measured. Where both hosts behind the router use BBR, it has a shorter
        queue than measured. The real router reaches 36 Mb/s at MCS 0, where the laptop beside it
        reaches 49 to 58. Goodput of up to 108 Mb/s shows that stations used the short guard
        interval at times.""",
        testbed.uploads,
    ),
    "A wired bottleneck": (
        """20 Mb/s shaped by htb, 48 ms, senders of Linux 4.8 with fq; the ping is that of the path.
        With offloads the queue of 1000 packets counts bursts of several segments, which is why its
        ping is longer than that of the same queue without offloads; here every packet of a queue is
        a segment. The goodput of the two lossy runs with two flows exceeds what the link carries,
        as counted at the sender.""",
        testbed.wired,
    ),
}
