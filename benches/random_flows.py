"""Random queues, congestion control, TCP, flows and links for random_scenarios.py."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from typing import Any, TypeVar

T = TypeVar("T")
Table = dict[str, Any]

CATEGORIES = ("background", "best_effort", "video", "voice")


class Draw:
    """Random choices."""

    def __init__(self, seed: int) -> None:
        self._random = random.Random(seed).random

    def chance(self, probability: float) -> bool:
        return self._random() < probability

    def flip(self) -> bool:
        return self.chance(0.5)

    def whole(self, low: int, high: int) -> int:
        return low + int(self._random() * (high - low + 1))

    def real(self, low: float, high: float) -> float:
        """Return a random number with few digits."""
        return float(f"{low + self._random() * (high - low):.3g}")

    def one(self, of: Sequence[T]) -> T:
        return of[self.whole(0, len(of) - 1)]

    def some(self, probability: float, **keys: Callable[[], Any]) -> Table:
        """Return a random subset of the keys, each with this probability."""
        return {key: make() for key, make in keys.items() if self.chance(probability)}

    def choice(self, **kinds: Callable[[], Table]) -> Any:
        """Return one of several kinds with its keys; without keys, perhaps as a bare name."""
        name = self.one(list(kinds))
        keys = kinds[name]()
        return name if not keys and self.flip() else {name: keys}


def same(value: T) -> Callable[[], T]:
    """Return a function that returns a value."""
    return lambda: value


# --- Queues and losses --------------------------------------------------------------------------


def limits(draw: Draw, probability: float = 0.6) -> Table:
    """Return limits with room for the largest packet."""
    return draw.some(
        probability,
        limit_packets=lambda: draw.whole(1, 100),
        limit_bytes=lambda: draw.whole(2500, 90_000),
    )


def control_law(draw: Draw) -> Table:
    law = draw.some(
        0.5,
        target_ms=lambda: draw.real(0, 20),
        interval_ms=lambda: draw.real(25, 120),
        ecn=draw.flip,
        mtu_bytes=lambda: draw.one((0, 256, 1500, 3000)),
    )
    return law | limits(draw)


def fq_codel(draw: Draw) -> Table:
    return control_law(draw) | draw.some(
        0.5,
        quantum_bytes=lambda: draw.whole(200, 3000),
        buckets=lambda: draw.one((1, 2, 4, 1024)),
        drop_batch_packets=lambda: draw.whole(1, 64),
    )


def red(draw: Draw) -> Table:
    thresholds = draw.one(("none", "packets", "min", "bytes"))
    keys: Table = {}
    if thresholds in ("packets", "min"):
        keys["min_packets"] = draw.one((1, 2.5, 5, 9))
    if thresholds == "packets":
        keys["max_packets"] = draw.whole(10, 40)
    if thresholds == "bytes":
        keys["min_bytes"] = draw.whole(1000, 9000)
        keys["max_bytes"] = draw.whole(10_000, 40_000)
    keys |= draw.some(
        0.4,
        max_p=lambda: draw.one((0.02, 0.1, 0.5, 1)),
        weight=lambda: draw.one((0.002, 0.1, 1)),
        gentle=draw.flip,
        wait=draw.flip,
        by_size=draw.flip,
        adaptive=draw.flip,
        target_delay_ms=lambda: draw.real(1, 20),
        ecn=draw.flip,
        mark_limit_p=lambda: draw.one((0, 0.1, 1)),
        mean_packet_bytes=lambda: draw.one((100, 500, 1500)),
    )
    return keys | limits(draw)


def pie(draw: Draw) -> Table:
    keys = draw.some(
        0.5,
        target_ms=lambda: draw.real(1, 30),
        update_ms=lambda: draw.real(1, 30),
        alpha=lambda: draw.real(0.05, 1),
        beta=lambda: draw.real(0.5, 5),
        max_burst_ms=lambda: draw.one((0, 20, 150)),
        ecn=draw.flip,
        mark_limit_p=lambda: draw.one((0.05, 0.1, 1)),
        derandomize=draw.flip,
        mean_packet_bytes=lambda: draw.one((300, 1024, 1500)),
    )
    return keys | limits(draw)


def airtime_fair(draw: Draw) -> Table:
    keys = draw.some(
        0.6,
        quantum_us=lambda: draw.whole(1, 5000),
        count_received=draw.flip,
        station=lambda: draw.choice(
            drop_tail=lambda: limits(draw),
            codel=lambda: control_law(draw),
            fq_codel=lambda: fq_codel(draw),
        ),
    )
    return keys | limits(draw)


def queue(draw: Draw, *, of_access_point: bool = False) -> Any:
    if of_access_point and draw.chance(0.2):
        return {"airtime_fair": airtime_fair(draw)}
    return draw.choice(
        drop_tail=lambda: limits(draw),
        drr=lambda: (
            draw.some(
                0.6,
                per=lambda: draw.one(("flow", "station")),
                quantum_bytes=lambda: draw.whole(200, 3000),
            )
            | limits(draw)
        ),
        sfq=lambda: draw.some(0.6, buckets=lambda: draw.whole(1, 20)) | limits(draw),
        red=lambda: red(draw),
        codel=lambda: control_law(draw),
        fq_codel=lambda: fq_codel(draw),
        pie=lambda: pie(draw),
    )


def loss(draw: Draw) -> Any:
    def by_channel() -> Table:
        return draw.some(
            0.5, good_loss=lambda: draw.real(0, 0.1), bad_loss=lambda: draw.real(0.3, 1)
        )

    def trace() -> Table:
        times = [0.05, 0.1, 0.25][: draw.whole(1, 3)]
        probabilities = [draw.one((0, 0.02, 0.3, 1)) for _ in times]
        period = draw.some(0.5, period_s=lambda: draw.real(0.26, 0.5))
        return {"times_s": times, "probabilities": probabilities} | period

    return draw.choice(
        uniform=lambda: {"probability": draw.one((0, 0.001, 0.02, 0.2))},
        gilbert_elliott=lambda: (
            {"good_ms": draw.real(5, 200), "bad_ms": draw.real(1, 30)} | by_channel()
        ),
        gilbert_elliott_packets=lambda: (
            {"to_bad": draw.real(0.001, 0.1), "to_good": draw.real(0.1, 1)} | by_channel()
        ),
        periodic=lambda: {"every": draw.whole(2, 300)},
        list=lambda: {"packets": [1, 2, 5, 6, 40, 100][draw.whole(0, 5) :]},
        trace=trace,
    )


# --- Congestion control and TCP -----------------------------------------------------------------


def new_reno(draw: Draw) -> Table:
    return draw.some(0.4, hystart=draw.flip, beta_ecn=lambda: draw.real(0.3, 0.9))


def cubic(draw: Draw) -> Table:
    return draw.some(
        0.3,
        beta=lambda: draw.real(0.3, 0.9),
        beta_ecn=lambda: draw.real(0.3, 0.9),
        c=lambda: draw.one((0.1, 0.4, 4)),
        fast_convergence=draw.flip,
        friendly=draw.flip,
        hystart=draw.flip,
    )


def vegas(draw: Draw) -> Table:
    return draw.some(
        0.4,
        alpha=lambda: draw.one((0, 1, 2)),
        beta=lambda: draw.one((2, 3.5, 8)),
        gamma=lambda: draw.one((0, 1, 3)),
    )


def afw(draw: Draw) -> Table:
    return draw.some(
        0.4,
        alpha=lambda: draw.one((1.5, 2, 10)),
        beta=lambda: draw.one((1.5, 2, 10)),
        s_min=lambda: draw.one((0.001, 0.01, 0.1)),
        s_max=lambda: draw.one((0.2, 0.5, 1)),
        epoch=lambda: draw.choice(
            rounds=lambda: draw.some(0.7, number=lambda: draw.whole(1, 5)), timeouts=dict
        ),
        congested=lambda: draw.one(("timeout", "any_loss")),
        gate_hops=lambda: draw.whole(1, 60),
    )


def steerable(draw: Draw) -> dict[str, Callable[[], Table]]:
    return {
        "new_reno": lambda: new_reno(draw),
        "cubic": lambda: cubic(draw),
        "westwood": lambda: draw.some(0.5, memory=lambda: draw.one((0, 0.5, 0.95))),
        "vegas": lambda: vegas(draw),
        "few": lambda: draw.some(0.5, alpha=lambda: draw.one((0.001, 0.1, 1))),
        "afw": lambda: afw(draw),
    }


def cross_layer(draw: Draw) -> Table:
    keys = draw.some(
        0.5,
        inner=lambda: draw.choice(**steerable(draw)),
        average=lambda: draw.one(("samples", "smoothed")),
        samples=lambda: draw.whole(1, 20),
    )
    if draw.chance(0.3):
        keys |= {"rates_mbps": [1, 6.5, 54], "throughputs_mbps": [0.7, draw.real(1, 5), 30]}
    return keys


def control(draw: Draw) -> Any:
    return draw.choice(
        **steerable(draw),
        lt=lambda: draw.some(
            0.5,
            weight=lambda: draw.real(0.1, 1),
            beta_ecn=lambda: draw.real(0.3, 0.9),
            timeout_keeps_ssthresh=draw.flip,
        ),
        bbr=lambda: draw.some(0.5, extra_acked=draw.flip),
        bbr3=lambda: draw.some(
            0.4,
            loss_threshold=lambda: draw.one((0.01, 0.02, 0.2)),
            beta=lambda: draw.real(0.3, 0.9),
            headroom=lambda: draw.real(0.05, 0.5),
            extra_acked=draw.flip,
        ),
        cross_layer=lambda: cross_layer(draw),
    )


def fec(draw: Draw) -> Table:
    return draw.some(
        0.5,
        parity=lambda: draw.choice(
            none=dict,
            normal=lambda: draw.some(0.5, margin=lambda: draw.real(0, 3)),
            binomial=lambda: draw.some(0.5, coverage=lambda: draw.real(0.5, 0.99)),
        ),
        weight=lambda: draw.real(0.1, 1),
        units=lambda: draw.whole(2, 20),
        unit_min_bytes=lambda: draw.whole(50, 199),
        unit_step_bytes=lambda: draw.whole(10, 500),
        reactive=draw.flip,
        header_bytes=lambda: draw.whole(0, 30),
        verify=draw.flip,
    )


def delayed_ack(draw: Draw) -> Any:
    def timer() -> Table:
        return draw.some(0.6, timer_ms=lambda: draw.one((1, 40, 100, 200)))

    return draw.choice(
        none=dict,
        fixed=lambda: timer() | draw.some(0.7, segments=lambda: draw.whole(1, 9)),
        dynamic=lambda: timer() | draw.some(0.5, thresholds=lambda: [1, 3, draw.whole(3, 20)]),
    )


def recovery(draw: Draw) -> Any:
    reductions = ("at_once", "proportional", "proportional_rfc6937")
    return draw.choice(
        new_reno=dict,
        sack=lambda: draw.some(
            0.5,
            rack=draw.flip,
            reduction=lambda: draw.one(reductions),
            f_rto=draw.flip,
            undo=draw.flip,
        ),
    )


def tcp(draw: Draw) -> Table:
    keys = draw.some(
        0.3,
        mss_bytes=lambda: draw.whole(200, 1900),
        initial_window_segments=lambda: draw.one((1, 2, 3, 10, 30)),
        initial_ssthresh_segments=lambda: draw.whole(2, 60),
        read_rate_mbps=lambda: draw.real(0.1, 20),
        timestamps=draw.flip,
        header_bytes=lambda: draw.whole(0, 100),
        delayed_ack=lambda: delayed_ack(draw),
        ack_heartbeat=draw.flip,
        rto_initial_ms=lambda: draw.one((250, 1000, 3000)),
        rto_max_ms=lambda: draw.one((3000, 60_000)),
        rto_rule=lambda: draw.one(("rfc6298", "linux")),
        link_rate=lambda: draw.one(("own", "path")),
        recovery=lambda: recovery(draw),
        fec=lambda: fec(draw),
        ecn=lambda: draw.one(("off", "classic", "each_mark")),
        pacing=draw.flip,
        byte_counting=draw.flip,
        limited_transmit=draw.flip,
        restart_after_idle=draw.flip,
        close=lambda: draw.one(("fin", "none")),
        pad_last_segment=draw.flip,
    )
    # With the default of one second there would be no timeout in such a short run.
    keys["rto_min_ms"] = draw.one((1, 10, 200, 250))
    window = draw.one(("none", "bytes", "segments"))
    if window == "bytes":
        keys["window_bytes"] = draw.one((2000, 20_000, 200_000, 4_000_000))
    if window == "segments":
        keys["window_segments"] = draw.one((1, 2, 5, 40, 1000))
    return keys


# --- Flows and links ----------------------------------------------------------------------------


def size(draw: Draw) -> Any:
    def bytes_() -> int:
        return draw.one((1, 700, 9000, 30_000))

    return draw.choice(
        constant=lambda: draw.some(0.8, bytes=bytes_),
        exponential=lambda: draw.some(0.8, mean_bytes=bytes_),
        pareto=lambda: draw.some(0.6, mean_bytes=bytes_, shape=lambda: draw.real(1.05, 3)),
        empirical=lambda: (
            {"bytes": [100, 5000, 60_000]} | draw.some(0.5, weights=lambda: [3, draw.real(0, 2), 1])
        ),
    )


def web(draw: Draw) -> Table:
    keys = draw.some(
        0.5,
        size=lambda: size(draw),
        files=lambda: draw.whole(1, 20),
        first=lambda: draw.one(("think", "file")),
        delay=lambda: draw.one(("delivered", "acknowledged")),
    )
    return keys | {"think_s": draw.one((0, 0.001, 0.02, 0.1))}


def cbr(draw: Draw) -> Table:
    keys = draw.some(0.4, header_bytes=lambda: draw.whole(0, 100))
    keys |= draw.some(0.7, payload_bytes=lambda: draw.whole(60, 1900))
    return keys | {"rate_mbps": draw.one((0.05, 0.5, 3, 20))}


def saturated(draw: Draw) -> Table:
    return draw.some(
        0.5,
        payload_bytes=lambda: draw.whole(60, 1900),
        header_bytes=lambda: draw.whole(0, 100),
    )


def flow(draw: Draw, duration_s: float, ends: Sequence[str]) -> Table:
    made: Table = {"from": ends[0], "to": ends[1]}
    datagrams = ends[1] == "broadcast" or draw.chance(0.35)
    if datagrams:
        made["traffic"] = draw.choice(cbr=lambda: cbr(draw), saturated=lambda: saturated(draw))
    else:
        if draw.chance(0.6):
            made["traffic"] = draw.choice(
                bulk=lambda: draw.some(0.5, size_bytes=lambda: draw.whole(1, 400_000)),
                web=lambda: web(draw),
            )
        made["control"] = control(draw)
        made["tcp"] = tcp(draw)
    made |= draw.some(
        0.4,
        start_s=lambda: draw.real(0, 0.4 * duration_s),
        start_spread_s=lambda: draw.real(0, 0.3 * duration_s),
        stop_s=lambda: draw.real(0.75 * duration_s, 0.95 * duration_s),
    )
    made |= draw.some(0.3, **{"class": lambda: draw.one(CATEGORIES)})
    made |= draw.some(0.1, name=lambda: "some", count=lambda: 2)
    return made


def direction(draw: Draw) -> Table:
    keys = draw.some(
        0.6, delay_ms=lambda: draw.real(0, 40), overhead_bytes=lambda: draw.whole(0, 38)
    )
    keys |= draw.some(0.5, queue=lambda: queue(draw))
    return keys | draw.some(0.3, loss=lambda: loss(draw))


def link(draw: Draw, ends: Sequence[str]) -> Table:
    made = {"from": ends[0], "to": ends[1], "rate_mbps": draw.one((0.5, 2, 10, 100))}
    made |= direction(draw)
    if draw.chance(0.4):
        rate = draw.some(0.6, rate_mbps=lambda: draw.one((0.3, 5, 1000)))
        made["reverse"] = rate | direction(draw)
    return made


def tree(draw: Draw, nodes: list[str]) -> list[Table]:
    """Return links that connect all nodes, perhaps by several paths."""
    pairs = [(draw.whole(0, n - 1), n) for n in range(1, len(nodes))]
    for _ in range(draw.whole(0, 2)):
        a, b = draw.whole(0, len(nodes) - 1), draw.whole(0, len(nodes) - 1)
        if a != b and (min(a, b), max(a, b)) not in pairs:
            pairs.append((min(a, b), max(a, b)))
    turned = [pair[::-1] if draw.flip() else pair for pair in pairs]
    links = [link(draw, [nodes[a], nodes[b]]) for a, b in turned]
    return [made | draw.some(0.1, name=same(f"link {n}")) for n, made in enumerate(links)]
