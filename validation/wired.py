"""Cases over wired links: SACK on a lossy path against ns-2.35 and against the PFTK model."""

from __future__ import annotations

from typing import Any

from simoom.evidence import Reference
from simoom.models.tcp_loss import pftk_mbps
from validation.case import Case, Expected, Group, Option
from validation.references import given, goodput, table

MSS = 1460
SENDING_MS = 1.208
"""The transmission time of a packet of 1510 bytes at 10 Mb/s in ns-2."""
WINDOW = {"mss_bytes": MSS, "timestamps": False, "delayed_ack": "none", "rto_min_ms": 200.0}

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
TOUCHED = "a packet is lost if a bad period overlaps any part of its transmission time"
KNOWN = (
    "from 5 % on, recoveries and timeouts follow each other at once, for which Sack1 has its own "
    "rules; no option of the scenario explains the rest"
)


def sack() -> Group:
    """SACK with ECN over a lossy link, all rows of the reference."""
    cases = tuple(_case(row) for row in table("ns2_p3"))
    about = (
        "n flows over three links, of which the middle one has 10 Mb/s, RED with ECN (gentle, 25 "
        "to 90 of 100 packets) and behind it losses: independent ones (*uniform*), or all packets "
        "during bad periods of 4 packets (*by packets*) or 5 ms (*by time*) on average. The "
        "loss is nominal: in ns-2 a bad period affects one packet more than its length. Beyond "
        "5 % timeouts dominate. A bad period by packets ends only with packets, so that a "
        "single flow may wait for hours: goodput is near zero, and intervals are wide."
    )
    return Group("SACK over a lossy link in ns-2", "ns-2.35", about, cases)


def _case(row: dict[str, str]) -> Case:
    flows, rtt_ms, loss = int(row["flows"]), float(row["rtt_ms"]), float(row["loss"])
    mean = float(row["burst"])
    names = {"uniform": "uniform", "gilbertpkt": "by packets", "gilberttime": "by time"}
    options = [COUNTED, HEADER]
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
            path = "links[1].loss.gilbert_elliott"
            options += [
                Option(f"{path}.good_ms", good - SENDING_MS, TOUCHED),
                Option(f"{path}.bad_ms", mean + SENDING_MS, TOUCHED),
            ]
    known = KNOWN if loss >= 0.05 else ""
    return Case(
        f"{names[row['model']]}, n = {flows}, {rtt_ms:g} ms, loss {100 * loss:g} %",
        _scenario(flows, rtt_ms, lossy),
        (given(goodput(0.05), row, "goodput_bps", scale=1e-6, known=known),),
        tuple(options),
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
        **WINDOW,
        "window_segments": 2000,
        "initial_window_segments": 2,
        "rto_initial_ms": 3000.0,
        "ecn": "classic",
        "close": "none",
    }
    return {
        "duration_s": 220.0,
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
        tcp = {**WINDOW, "window_segments": 10_000, "initial_ssthresh_segments": 20}
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
