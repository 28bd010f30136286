"""A real Linux kernel in virtual time: the rules of its TCP, timers and queues without jitter.

The points are those of ``validation/data/linux.csv``; ``validation/data/README.md`` describes the
kernel, the path and how each quantity is counted. Every point is simulated with one preset,
``tcp.endpoint = {linux = {version = "6.1"}}``; no point has a setting of its own.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from functools import partial
from itertools import groupby
from statistics import fmean
from typing import Any

import simoom as sm
from simoom.results.run import RunJob
from simoom.runs.runner import Runner
from validation.references import plain, table

Result = dict[str, float]

ENDPOINT: dict[str, Any] = {"version": "6.1", "hz": 100, "gro": False}
"""The kernel has 100 ticks a second, and its devices have no offloads."""
WINDOW_MAX_BYTES = 6_291_456 // 2
"""Half of ``tcp_rmem``, because Linux counts the memory of packets."""
SHIFT_S = 0.0137
"""By how much the flows start later in each repeat, against the pings."""
SECOND_S, SECOND_SHIFT_S = 0.1, 0.31
"""How much later the second flow starts, and by how much more in each repeat."""
CONNECT_S = 0.2
"""The measurement begins when the connections stand, about a round trip after the start."""
INFINITE_MBPS = 1e6

CONTROLS = {"reno": "new_reno", "cubic": "cubic", "bbr": "bbr"}
DISCIPLINES: dict[str, dict[str, Any]] = {
    "codel": {"limit_packets": 1000},
    "fq_codel": {},
    "pie": {"limit_packets": 1000},
}
"""The defaults of ``tc`` where they are not ours."""
SIZES = {"10kB": 10_000, "100kB": 100_000, "1MB": 1_000_000, "10MB": 10_000_000}

BANDS = {"goodput": 0.01, "ping_": 0.05, "fetch": 0.01, "share": 0.05}
"""The largest relative difference of a quantity by what its name contains; the share's is absolute.
Written down with the reference points, before any of these rules."""
LOSSY_BAND = 0.03
"""That of goodput under random losses."""


@dataclass(frozen=True)
class Measured:
    """A value of the kernel with the half width of its 95 % interval."""

    value: float
    half_width: float


@dataclass(frozen=True)
class Point:
    """What was measured in one setting.

    Attributes
    ----------
    group, name : str
        The letter of the group, and the point in it.
    measured : dict
        The quantities.
    settings : dict
        The settings of the measurement.
    repeats : int
        How many runs a value is the mean of.
    """

    group: str
    name: str
    measured: Mapping[str, Measured]
    settings: Mapping[str, str]
    repeats: int

    @property
    def controls(self) -> list[str]:
        """The congestion control of each flow."""
        return self.settings["control"].split("+")

    @property
    def ecn(self) -> bool:
        """Whether the endpoints negotiate ECN; a discipline that can choose marks then."""
        return self.settings.get("tcp_ecn") == "1"


def points(groups: str = "abcdef", rows: Iterable[Mapping[str, str]] | None = None) -> list[Point]:
    """The points of these groups, from the reference values or from other rows of their form."""
    found = []
    rows = table("linux") if rows is None else rows
    for (group, name), each in groupby(rows, lambda row: (row["group"], row["point"])):
        of_point = list(each)
        measured = {
            row["quantity"]: Measured(float(row["value"]), float(row["half_width"]))
            for row in of_point
        }
        pairs = dict(part.split("=", 1) for part in of_point[0]["settings"].split("; "))
        found.append(Point(group, name, measured, pairs, int(of_point[0]["n"])))
    return [point for point in found if point.group in groups]


def _number(settings: Mapping[str, str], key: str) -> float:
    return float(settings[key])


def _after(text: str, word: str) -> str | None:
    """The word that follows another one in the command of a queue discipline."""
    words = text.split()
    return words[words.index(word) + 1] if word in words else None


def _tcp(rules: Mapping[str, Any], ecn: str = "off") -> dict[str, Any]:
    return {
        "window_max_bytes": WINDOW_MAX_BYTES,
        "ecn": ecn,
        "endpoint": {"linux": {**ENDPOINT, **rules}},
    }


@dataclass(frozen=True)
class Rules:
    """Rules of the preset that are changed: of the endpoint, and of each control."""

    endpoint: Mapping[str, Any] = field(default_factory=dict)
    control: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)

    def of(self, control: str) -> Any:
        """A control with its changed rules."""
        name = CONTROLS[control]
        return {name: dict(self.control[name])} if name in self.control else name


PRESET = Rules()


def path(point: Point, rules: Rules, repeat: int, warmup_s: float | None = None) -> dict[str, Any]:
    """The scenario of a point with one or two long flows, and pings from the first sender."""
    settings, controls = point.settings, point.controls
    bottleneck = settings["bottleneck"]
    delays = [float(delay) for delay in settings["return_delay_ms"].split("+")]
    omitted_s, measured_s = (_number(settings, key) for key in ("omitted_s", "measured_s"))
    loss = _after(bottleneck, "loss")
    near: dict[str, Any] = {}
    if loss:
        near["loss"] = {"uniform": {"probability": float(loss.rstrip("%")) / 100}}
    # The delay of two flows is in front of each sender, that of one behind the bottleneck.
    apart = len(controls) > 1
    links: list[dict[str, Any]] = [
        {
            "from": f"a{n}",
            "to": "r",
            **near,
            "reverse": {"delay_ms": delay if apart else 0.0, "rate_mbps": INFINITE_MBPS},
        }
        for n, delay in enumerate(delays)
    ]
    links.append(
        {
            "from": "r",
            "to": "b",
            **_bottleneck(point),
            "reverse": {
                "rate_mbps": INFINITE_MBPS,
                "delay_ms": 0.0 if apart else delays[0],
                "queue": "drop_tail",
            },
        }
    )
    if "after_bottleneck" in settings:
        links[-1]["reorder"] = _reorder(settings["after_bottleneck"])
    ecn = "classic" if point.ecn else "off"
    flows: list[dict[str, Any]] = [
        {
            "from": f"a{n}",
            "to": "b",
            "control": rules.of(control),
            "tcp": _tcp(rules.endpoint, ecn),
            "start_s": SHIFT_S * repeat + (SECOND_S + SECOND_SHIFT_S * repeat if n else 0.0),
        }
        for n, control in enumerate(controls)
    ]
    every_ms = _number(settings, "ping_every_ms")
    if every_ms:
        flows.append({"from": "a0", "to": "b", "traffic": {"ping": {"interval_ms": every_ms}}})
    warmup_s = omitted_s + CONNECT_S if warmup_s is None else warmup_s
    return {
        "duration_s": omitted_s + measured_s + CONNECT_S,
        "warmup_s": warmup_s,
        "links": links,
        "flows": flows,
    }


def _bottleneck(point: Point) -> dict[str, Any]:
    bottleneck, rate_mbps = point.settings["bottleneck"], _number(point.settings, "rate_mbps")
    shaper, _, child = bottleneck.partition(" / ")
    if shaper.startswith("netem") or child.startswith("pfifo"):
        # Both limits count the packet in transmission: the bucket only looks at the first of pfifo.
        limit = int(_after(child or shaper, "limit") or 0)
        return {"rate_mbps": rate_mbps, "queue": {"drop_tail": {"limit_packets": limit}}}
    if bottleneck.startswith("cake"):
        # CAKE shapes by itself; a packet leaves at the beginning of its time.
        return {"rate_mbps": INFINITE_MBPS / 10, "queue": {"cake": {"bandwidth_mbps": rate_mbps}}}
    name = child.split()[0]
    return {"rate_mbps": rate_mbps, "queue": {name: {**DISCIPLINES[name], "ecn": point.ecn}}}


def _reorder(command: str) -> dict[str, Any]:
    share = float((_after(command, "reorder") or "0%").rstrip("%")) / 100
    return {
        "delay_ms": float((_after(command, "delay") or "0ms").removesuffix("ms")),
        "probability": share,
        "gap": int(_after(command, "gap") or 1),
    }


def read_path(point: Point, run: sm.Run) -> Result:
    """The quantities of a run with long flows."""
    summary, flows = run.summary, range(len(point.controls))
    value = partial(_value, summary)
    goodputs = [value(f"flows[{n}].goodput_mbps") for n in flows]
    result = {"goodput_mbps": sum(goodputs), "retransmits": value("flows[0].retransmissions")}
    if len(goodputs) > 1:
        result = {
            "goodput_total_mbps": sum(goodputs),
            "share_first": goodputs[0] / sum(goodputs),
            **{f"flow{n + 1}.retransmits": value(f"flows[{n}].retransmissions") for n in flows},
        }
    pings = f"flows[{len(goodputs)}]"
    if f"{pings}.rtt_s.count" in summary:
        for key in ("p50", "p95", "mean"):
            result[f"ping_{key}_ms"] = 1000 * value(f"{pings}.rtt_s.{key}")
    return result


def _value(summary: Mapping[str, object], key: str) -> float:
    return plain(summary[key])


def transfers(point: Point, rules: Rules, size: int, count: int) -> dict[str, Any]:
    """The scenario of short transfers: `count` answers of this size, 2 s apart, one connection."""
    requests = {
        "size": {"constant": {"bytes": size}},
        "think_s": _number(point.settings, "idle_s"),
        "pauses": "constant",
        "requests": count,
        "first": "file",
    }
    delay_ms = _number(point.settings, "return_delay_ms")
    reverse = {"delay_ms": delay_ms, "rate_mbps": INFINITE_MBPS, "queue": "drop_tail"}
    return {
        "duration_s": 20.0,
        "warmup_s": 0.0,
        "links": [
            {"from": "a", "to": "r"},
            {"from": "r", "to": "b", **_bottleneck(point), "reverse": reverse},
        ],
        "flows": [
            {
                "from": "a",
                "to": "b",
                "control": rules.of(point.controls[0]),
                "tcp": _tcp(rules.endpoint),
                "traffic": {"requests": requests},
            }
        ],
    }


def read_transfers(size: str, delay_ms: float, first: sm.Run, both: sm.Run) -> Result:
    """The times of the first answer and of that after an idle time.

    Requests take no time here, and the delay of the return path in the measurement. The handshake
    of the first answer, which the measured client has behind it, takes as long.
    """
    one, two = (1000 * plain(run.summary["flows[0].session_delay_s.mean"]) for run in (first, both))
    return {
        f"{size}.fetch_ms": one,
        f"{size}.fetch_after_idle_ms": 2 * two - one + delay_ms,
    }


@dataclass(frozen=True)
class Compared:
    """A point with its simulated values."""

    point: Point
    simulated: Result

    @property
    def judged(self) -> list[str]:
        """The quantities that have a band."""
        return [each for each in self.point.measured if each in self.simulated and _band(each)]

    def error(self, quantity: str) -> float:
        """The difference, relative to the kernel's value; that of a share as it is."""
        value = self.point.measured[quantity].value
        difference = self.simulated[quantity] - value
        return difference if "share" in quantity else difference / value

    def agrees(self, quantity: str) -> bool:
        """Whether the difference is within the band, or within the kernel's own interval."""
        measured = self.point.measured[quantity]
        band = _band(quantity)
        if self.point.group == "b" and "goodput" in quantity:
            band = LOSSY_BAND
        difference = abs(self.simulated[quantity] - measured.value)
        return abs(self.error(quantity)) <= band or difference <= measured.half_width


def _band(quantity: str) -> float:
    if "lost" in quantity or quantity.startswith("flow"):
        return 0.0
    return next((band for name, band in BANDS.items() if name in quantity), 0.0)


Read = Callable[[list[sm.Run]], Result]


def _plan(point: Point, rules: Rules) -> tuple[list[RunJob], Read]:
    if point.group == "e":
        scenarios = [
            transfers(point, rules, size, count) for size in SIZES.values() for count in (1, 2)
        ]
        jobs = [RunJob(sm.Scenario(**each), 1, 0) for each in scenarios]

        def read_sizes(runs: list[sm.Run]) -> Result:
            pairs = zip(SIZES, runs[::2], runs[1::2], strict=True)
            delay_ms = _number(point.settings, "return_delay_ms")
            found: Result = {}
            for size, first, both in pairs:
                found |= read_transfers(size, delay_ms, first, both)
            return found

        return jobs, read_sizes
    jobs = [
        RunJob(sm.Scenario(**path(point, rules, repeat)), repeat + 1, 0)
        for repeat in range(point.repeats)
    ]
    count = len(jobs)
    marks = "marked_all" in point.measured and point.ecn
    if marks:
        jobs.append(RunJob(sm.Scenario(**path(point, rules, 0, warmup_s=0.0)), 1, 0))

    def read(runs: list[sm.Run]) -> Result:
        each = [read_path(point, run) for run in runs[:count]]
        result = {key: fmean(one[key] for one in each) for key in each[0]}
        if marks:
            result["marked_all"] = plain(runs[-1].summary["total.ecn_marks"])
        return result

    return jobs, read


def measure(
    chosen: Iterable[Point],
    rules: Rules = PRESET,
    progress: Callable[[int, int], object] | None = None,
) -> list[Compared]:
    """Simulate points; `progress` gets the completed and the total number of runs."""
    chosen = list(chosen)
    plans = [_plan(point, rules) for point in chosen]
    jobs = list(dict.fromkeys(job for own, _ in plans for job in own))
    found: dict[RunJob, sm.Run] = {}
    with Runner() as runner:
        for number, run in runner.results(jobs):
            found[jobs[number]] = run
            if progress is not None:
                progress(len(found), len(jobs))
    return [
        Compared(point, read([found[job] for job in own]))
        for point, (own, read) in zip(chosen, plans, strict=True)
    ]


def agreeing(results: Iterable[Compared]) -> tuple[int, int]:
    """How many values agree, and how many are judged."""
    verdicts = [each.agrees(quantity) for each in results for quantity in each.judged]
    return sum(verdicts), len(verdicts)


WITHOUT: dict[str, Rules] = {
    "PSH and the ACK that it causes": Rules({"push": False}),
    "TSO deferral": Rules({"tso_defer": False}),
    "bursts of two segments and more (GSO)": Rules({"gso": False}),
    "the tick of 10 ms (1 ms instead)": Rules({"hz": 1000}),
    "CUBIC's growth of Linux": Rules(control={"cubic": {"growth": "rfc9438"}}),
    "HyStart of Linux (HyStart++ instead)": Rules(control={"cubic": {"hystart_rule": "plus_plus"}}),
    "BBR: quanta in the amounts in flight": Rules(control={"bbr": {"inflight_quanta": False}}),
    "BBR: even windows": Rules(control={"bbr": {"even_windows": False}}),
    "BBR: departure times": Rules(control={"bbr": {"departure_time": False}}),
    "BBR: a rate that only rises at the start": Rules(control={"bbr": {"rising_start": False}}),
    "BBR: strict minimum of the round-trip time": Rules(control={"bbr": {"strict_rtt": False}}),
    "BBR: packet conservation": Rules(control={"bbr": {"conservation": False}}),
    "BBR: the rate of a policer": Rules(control={"bbr": {"policer": False}}),
}
"""What the preset is without one of its rules."""
