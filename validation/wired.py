"""Cases over wired links: SACK on a lossy path against ns-2.35 and against the PFTK model."""

from __future__ import annotations

from typing import Any

from simoom.models.tcp_loss import pftk_mbps
from simoom.runs.evidence import Reference
from validation.case import Case, Expected, Group, Option
from validation.references import given, goodput, table

MSS = 1460
TCP = {"mss_bytes": MSS, "delayed_ack": "none", "rto_min_ms": 200.0}

COUNTED = Option(
    "flows[0].tcp.recovery",
    {"sack": {"rack": False, "reduction": "at_once", "f_rto": False, "undo": False}},
    "Sack1 detects losses by counting duplicate ACKs, halves its window at once, and has no RACK, "
    "tail loss probes or F-RTO",
)
HEADER = Option(
    "flows[0].tcp.header_bytes",
    50,
    "segments have 10 bytes of timestamps and 40 of TCP and IP headers",
)
BACK_OFF = Option(
    "flows[0].tcp.timestamps",
    False,
    "a timestamp does not end the back-off of the timer; the acknowledgement of a segment that was "
    "sent once does, as without timestamps",
)
SWITCHES = 0.025
"""The largest change of ns-2's goodput by its switches with which a row is compared: half of the
tolerance."""


def is_comparable(row: dict[str, str]) -> bool:
    """Whether the rules of Sack1 that no option has hardly matter for a row.

    The table has the goodput by Sack1's defaults and *switched*. By default, an ACK with a
    timestamp does not end the back-off of the timer (``ts_resetRTO_``), and a partial ACK sends
    nothing while the estimate of data in flight, which contains lost segments, is too high
    (``partial_ack_``).
    """
    change = float(row["switched_mbps"]) / float(row["goodput_mbps"]) - 1
    return abs(change) <= SWITCHES


def sack() -> Group:
    """SACK with ECN over a lossy link, all rows of the reference."""
    cases = tuple(_case(row) for row in table("ns2_sack") if is_comparable(row))
    about = (
        "n flows over three links, of which the middle one has 10 Mb/s, RED with ECN (gentle, 25 "
        "to 90 of 100 packets) and behind it losses: independent ones (*uniform*), or all packets "
        "during bad periods of 4 packets (*by packets*) or 5 ms (*by time*) on average. The "
        "loss is nominal: by packets, a bad period affects one packet more than its length. Rows "
        "in which timeouts follow each other are left out: there, Sack1 keeps the back-off of its "
        "timer although it has timestamps, counts lost segments as data in flight, and after a "
        "timeout sends everything again. The first two rules have switches in ns-2. A row is "
        f"compared if they change ns-2's own goodput by at most {100 * SWITCHES:g} %. Bursts are "
        "those of ten flows: in a burst of one flow, most recoveries have several lost segments."
    )
    return Group("SACK over a lossy link in ns-2", "ns-2.35", about, cases)


def _case(row: dict[str, str]) -> Case:
    flows, rtt_ms, loss = int(row["flows"]), float(row["rtt_ms"]), float(row["loss"])
    mean = float(row["burst"])
    names = {"uniform": "uniform", "gilbertpkt": "by packets", "gilberttime": "by time"}
    options = (COUNTED, HEADER, BACK_OFF)
    lossy: dict[str, Any] = {}
    if loss > 0:
        good = mean * (1 - loss) / loss
        if row["model"] == "uniform":
            lossy = {"uniform": {"probability": loss}}
        elif row["model"] == "gilbertpkt":
            # As in ns-2: a bad period affects one packet more than its length, a good one one less.
            lossy = {
                "gilbert_elliott_packets": {"to_bad": 1 / (good - 1), "to_good": 1 / (mean + 1)}
            }
        else:
            lossy = {"gilbert_elliott": {"good_ms": good, "bad_ms": mean}}
    return Case(
        f"{names[row['model']]}, n = {flows}, {rtt_ms:g} ms, loss {100 * loss:g} %",
        _scenario(flows, rtt_ms, lossy),
        (given(goodput(0.05), row, "goodput_mbps"),),
        options,
        replications=5,
        quick=(row["model"], rtt_ms) == ("uniform", 200.0) and loss in {0.0, 0.01},
    )


def _scenario(flows: int, rtt_ms: float, loss: dict[str, Any]) -> dict[str, Any]:
    red = {
        "min_packets": 25.0,
        "max_packets": 90.0,
        "max_p": 0.1,
        "weight": 0.002,
        "wait": True,
        "ecn": True,
        "limit_packets": 100,
    }
    access = {"rate_mbps": 100.0, "delay_ms": 0.1}
    middle: dict[str, Any] = {"rate_mbps": 10.0, "delay_ms": rtt_ms / 2 - 0.2}
    middle |= {"queue": {"red": red}, "reverse": {"queue": "drop_tail"}}
    if loss:
        middle["loss"] = loss
    tcp = {
        **TCP,
        "window_segments": 2000,
        "initial_window_segments": 2,
        "rto_initial_ms": 3000.0,
        "ecn": "classic",
        "close": "none",
    }
    return {
        # As long as in ns-2: recovery from the first slow start takes minutes on a long path.
        "duration_s": 820.0 if flows == 1 and rtt_ms > 100 else 220.0,
        "warmup_s": 20.0,
        "links": [
            {"from": "s", "to": "r1", **access},
            {"from": "r1", "to": "r2", **middle},
            {"from": "r2", "to": "d", **access},
        ],
        "flows": [
            {
                "from": "s",
                "to": "d",
                "count": flows,
                "start_spread_s": 0.5 if flows > 1 else 0.0,
                "tcp": tcp,
            }
        ],
    }


LOSSES = (1e-4, 3e-4, 1e-3, 3e-3, 0.01, 0.02, 0.03, 0.05)


def pftk() -> Group:
    """SACK against the model of Padhye and others, 0.01 % to 5 %."""
    cases = []
    for loss in LOSSES:
        rate = float(pftk_mbps(loss, rtt_ms=100.0, rto_ms=200.0, mss_bytes=MSS))
        link = {"from": "s", "to": "d", "rate_mbps": 1000.0, "delay_ms": 50.0}
        tcp = {**TCP, "timestamps": False}
        tcp |= {"window_segments": 10_000, "initial_ssthresh_segments": 20}
        cases.append(
            Case(
                f"loss {100 * loss:g} %",
                {
                    # About two hundred losses in each case.
                    "duration_s": 20.0 + max(400.0, 0.2 / loss),
                    "warmup_s": 20.0,
                    "links": [{**link, "loss": {"uniform": {"probability": loss}}}],
                    "flows": [{"from": "s", "to": "d", "tcp": tcp}],
                },
                (Expected(goodput(0.1), Reference(rate * (1 - loss))),),
                replications=4,
                quick=loss == 0.01,
            )
        )
    about = (
        "One flow over a link on which nothing queues, 100 ms there and back, with independent "
        "losses. The reference is the sending rate of the full model (Padhye, Firoiu, Towsley "
        "and Kurose 2000, equation 32) times the fraction that arrives. The model is of Reno "
        "and assumes that all segments of a round after the first lost one are lost too."
    )
    source = "PFTK model, `simoom.models`"
    return Group("SACK against the PFTK model", source, about, tuple(cases))
