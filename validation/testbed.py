"""Real hardware: an access point with ath9k, and a wired bottleneck, measured by others.

Every point is simulated with one set of unknowns; no point has a setting of its own.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from statistics import mean
from typing import Any

import simoom as sm
from simoom.results.run import RunJob
from simoom.runs.runner import Runner
from validation.references import plain, table
from validation.testbed_setup import (
    ATH9K,
    ENDS,
    GUARD_NS,
    NODES,
    OSX_CUBIC,
    ROUTER,
    ROUTER_WIRES,
    SENDERS,
    SETUPS,
    UPLOAD_ENDS,
    WITHOUT_OFFLOADS,
    cell,
    linux_tcp,
    pings,
)

SEEDS = (1, 2)

Result = dict[str, float]


@dataclass(frozen=True)
class Point:
    """A measurement and the scenarios that simulate it.

    Attributes
    ----------
    name : str
        The set-up and its varied parameter.
    measured : dict
        Goodput in Mb/s, ping in ms, and others, by name.
    scenario : dict
        The scenario.
    read : callable
        Takes the same quantities from a run.
    tolerance : dict
        The largest relative difference at which a quantity agrees.
    bracket : dict, optional
        The scenario with the other guard interval: goodput between the two agrees.
    edits : dict
        Values of an experiment, by their path.
    """

    name: str
    measured: Result
    scenario: Mapping[str, Any]
    read: Callable[[sm.Run], Result]
    tolerance: Mapping[str, float]
    bracket: Mapping[str, Any] | None = None
    edits: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Compared:
    """A point with its simulated values, and those with the other guard interval."""

    point: Point
    simulated: Result
    other: Result = field(default_factory=dict)

    def error(self, quantity: str) -> float:
        """The relative difference of the simulated value."""
        return self.simulated[quantity] / self.point.measured[quantity] - 1

    def agrees(self, quantity: str) -> bool:
        """Whether a quantity is within its tolerance, or within the bracket of both guards."""
        within = self.point.tolerance[quantity]
        if quantity != "goodput" or not self.other:
            return abs(self.error(quantity)) <= within
        ends = (self.simulated[quantity], self.other[quantity])
        measured = self.point.measured[quantity]
        return min(ends) * (1 - within) <= measured <= max(ends) * (1 + within)


def goodput_and_ping(run: sm.Run) -> Result:
    """Sum of the flows with bulk data, and the mean of the stations' median pings."""
    summary = run.summary
    flows = range(len(run.flows))
    pings = [i for i in flows if f"flows[{i}].ping.requests" in summary]
    bulk = [i for i in flows if i not in pings]
    return {
        "goodput": sum(plain(summary[f"flows[{i}].goodput_mbps"]) for i in bulk),
        "ping": mean(1000 * plain(summary[f"flows[{i}].rtt_s.p50"]) for i in pings),
    }


def downloads() -> list[Point]:
    """Four downloads, two to each station, with a ping to each."""
    points = []
    for row in table("testbed_ath9k"):
        setup, mcs = row["setup"], int(row["mcs"])
        fair = setup.startswith("fq_codel_airtime")
        ecn = "off" if setup == "fq_codel_airtime" else "classic"
        tcp = linux_tcp(ecn=ecn)
        ends = (NODES["osx"], NODES["server"])
        flows = [
            {"from": "server", "to": end, "count": 2, "control": "new_reno", "tcp": tcp}
            for end in ends
        ]
        flows += [pings("server", end) for end in ends]
        measured = {
            "goodput": float(row["goodput_mbps"]),
            "ping": (float(row["ping_a_median_ms"]) + float(row["ping_b_median_ms"])) / 2,
        }
        scenario, other = (
            {**cell(SETUPS[setup], mcs, guard_ns), "links": ROUTER_WIRES, "flows": flows}
            for guard_ns in (GUARD_NS, 400)
        )
        tolerance = {"goodput": 0.05 if fair else 0.03, "ping": 0.15 if fair else 0.25}
        name = f"{setup}, MCS {mcs}"
        bracket = None if fair else other
        points.append(Point(name, measured, scenario, goodput_and_ping, tolerance, bracket))
    return points


FAIR = "fq_codel_airtime"


def airtime_fair() -> list[Point]:
    """The downloads under airtime fairness."""
    return [each for each in downloads() if each.name.startswith(FAIR)]


def driver_fifo() -> list[Point]:
    """The downloads through the driver's FIFO of Linux 4.4."""
    return [each for each in downloads() if not each.name.startswith(FAIR)]


def uploads() -> list[Point]:
    """Four uploads, two from each of two hosts; the acknowledgements have the forced MCS.

    The hosts are those of the files' metadata: titles call a laptop with macOS "linux-bbr" too.
    """
    points = []
    for row in table("testbed_ath9k_uploads"):
        mcs = int(row["mcs"])
        linux = row["title"].split("-mcs-")[0].rsplit("-", 1)[1]
        hosts = row["hosts"].split(";")
        controls = {host: "cubic" if host == "osx" else linux for host in hosts}
        flows: list[dict[str, Any]] = [
            {
                "from": NODES[host],
                "to": "server",
                "count": 2,
                "control": OSX_CUBIC if host == "osx" else SENDERS[linux],
                "tcp": linux_tcp(**UPLOAD_ENDS),
            }
            for host in hosts
        ]
        flows += [pings("server", NODES[host]) for host in hosts]
        who = " and ".join(f"{host} {control}" for host, control in controls.items())
        goodputs = [float(each) for each in row["goodput_by_host_mbps"].split(";")]
        rtts = [float(each) for each in row["ping_median_ms"].split(";")]
        measured = {"goodput": float(row["goodput_mbps"]), "ping": mean(rtts)}
        tolerance = {"goodput": 0.15, "ping": 0.25}
        if "osx" in hosts:
            behind = sum(own for host, own in zip(hosts, goodputs, strict=True) if host != "osx")
            measured["share of the router"] = behind / sum(goodputs)
            tolerance["share of the router"] = 0.15
        scenario = cell(SETUPS["fq_codel_airtime"], mcs, GUARD_NS)
        scenario["stations"] = [{"ap_mcs": mcs}, {"ap_mcs": mcs, **ROUTER}]
        scenario |= {"links": ROUTER_WIRES, "flows": flows}
        name = f"{who}, MCS {mcs} ({row['run'][11:]})"
        points.append(Point(name, measured, scenario, read_uploads, tolerance))
    return points


def read_uploads(run: sm.Run) -> Result:
    """As of downloads, and the share of what comes through the router."""
    result = goodput_and_ping(run)
    behind = [row for row in run.flows if str(row["from"]) not in {"server", NODES["osx"]}]
    share = sum(plain(row["goodput_mbps"]) for row in behind) / result["goodput"]
    return {**result, "share of the router": share}


WIRED_MBPS = 20.0 * 1500 / 1514
"""The shaper counts Ethernet headers."""
QUEUES = {
    "bfifo_64k": {"limit_bytes": 65_536},
    "pfifo_100": {"limit_packets": 100},
    "pfifo_1000": {"limit_packets": 1000},
}


def wired() -> list[Point]:
    """CUBIC and BBR over a shaped link without a radio, senders paced by fq."""
    points = []
    for row in table("testbed_wired_bbr"):
        title = row["title"]
        queue = next(
            limit for name, limit in QUEUES.items() if f"{name}_" in f"{title}-".replace("-", "_")
        )
        ecn = "off" if "noecn" in title else "classic"
        link = {
            "from": "r1",
            "to": "r2",
            "rate_mbps": WIRED_MBPS,
            "delay_ms": 24.0,
            "queue": {"drop_tail": queue},
        }
        near = {"rate_mbps": 1000.0, "delay_ms": 0.01}
        ends_of_tcp = WITHOUT_OFFLOADS if "offloads=off" in title else ENDS
        tcp = linux_tcp(ecn=ecn, pacing=True, **ends_of_tcp)
        if row["test"] == "cubic_bbr":
            ends, controls, count = [("a", "b"), ("b", "a")], ["cubic", "bbr"], 1
        else:
            ends, controls = [("a", "b")], [title.rsplit("-", 1)[1]]
            count = int(title.split("flows=")[1][0])
        flows: list[dict[str, Any]] = [
            {
                "from": start,
                "to": end,
                "count": count,
                "control": SENDERS[control],
                "tcp": tcp,
            }
            for start, end in ends
            for control in controls
        ]
        flows.append(pings("a", "b"))
        rtts = [float(each) for each in row["ping_median_ms"].split(";")]
        points.append(
            Point(
                f"{row['test']}, {title}",
                {"goodput": float(row["goodput_mbps"]), "ping": mean(rtts)},
                {
                    "duration_s": 58.0,
                    "warmup_s": 8.0,
                    "links": [
                        {"from": "a", "to": "r1", **near},
                        link,
                        {"from": "r2", "to": "b", **near},
                    ],
                    "flows": flows,
                },
                goodput_and_ping,
                {"goodput": 0.03, "ping": 0.1},
            )
        )
    return points


FAST_AND_SLOW = {
    "TCP, before": ({"airtime_fairness": False, "drop_batch_packets": 1}, (19.17, 19.83, 2.58)),
    "TCP, after": ({"scheduler": "ath9k", "drop_batch_packets": 1}, (25.09, 25.21, 1.77)),
}
UDP_FAST_AND_SLOW = {
    "UDP, FIFO": ("pfifo_1000", (7.1, 6.3, 5.3)),
    "UDP, airtime fairness": ("fq_codel_airtime", (38.8, 35.6, 2.0)),
}


def kernel() -> list[Point]:
    """Two stations at the highest rate and one at the lowest: TCP by the commit of airtime
    fairness, UDP by the paper about it."""
    udp = {"cbr": {"rate_mbps": 100.0}}
    set_ups = [
        (name, {"queue": {"mac80211": queue}, **ATH9K}, {"tcp": linux_tcp()}, measured)
        for name, (queue, measured) in FAST_AND_SLOW.items()
    ] + [
        (name, SETUPS[setup], {"start_spread_s": 0.0, "traffic": udp}, measured)
        for name, (setup, measured) in UDP_FAST_AND_SLOW.items()
    ]
    points = []
    for name, ap, load, measured in set_ups:
        scenario = cell(ap, 15, 400)
        scenario["stations"] = [{"count": 2, "mcs": 15}, {"mcs": 0}]
        scenario["flows"] = [{"from": "server", "to": "sta*", **load}]
        points.append(
            Point(
                name,
                dict(zip(KERNEL_STATIONS, measured, strict=True)),
                scenario,
                read_stations,
                dict.fromkeys(KERNEL_STATIONS, 0.15),
            )
        )
    return points


KERNEL_STATIONS = ("fast", "fast too", "slow")


def read_stations(run: sm.Run) -> Result:
    """Goodput of each station."""
    rows = zip(KERNEL_STATIONS, run.flows, strict=True)
    return {name: plain(row["goodput_mbps"]) for name, row in rows}


@dataclass(frozen=True)
class Experiment:
    """A change of the set-up, for all points of a table whose name begins so."""

    what: str
    begins: str
    edits: Mapping[str, Any]

    def points(self, points: Iterable[Point]) -> list[Point]:
        """The points with this change, without their brackets."""
        chosen = (each for each in points if each.name.startswith(self.begins))
        return [replace(each, edits=self.edits, bracket=None) for each in chosen]


def answers_after(ms: float) -> dict[str, Any]:
    """Hosts that answer a ping after this time."""
    return {f"flows[{ping}].traffic.ping.reply_after_ms": ms for ping in (2, 3)}


def of_tcp(key: str, value: Any) -> dict[str, Any]:
    """Both flows of TCP with another value."""
    return {f"flows[{flow}].{key}": value for flow in (0, 1)}


CUBIC, AGAINST_BBR = "osx cubic and server cubic", "osx cubic and server bbr"
BBR_ONLY = "delay bbr and server bbr"
AT_STATION = {"flows[1].from": "sta1", "flows[3].to": "sta1"}
STATIONS_AHEAD = {f"stations[{station}].hardware_aggregates": 2 for station in (0, 1)}
OTHER_GUARD = {"wlan.guard_ns": 400}
MINSTREL = {"wlan.rate_control": "minstrel_ht", "wlan.aggregation.duration_in": "chain"}
BBR_5_2 = {"bbr": {"extra_acked": True, "departure_time": True}}
EXPERIMENTS = {
    airtime_fair: (
        Experiment("as above", FAIR, {}),
        Experiment("hosts answer a ping at once", FAIR, answers_after(0.0)),
        Experiment("hosts answer a ping after 0.2 ms", FAIR, answers_after(0.2)),
        Experiment("hosts answer a ping after 2 ms", FAIR, answers_after(2.0)),
        Experiment("one A-MPDU in the hardware", FAIR, {"ap.hardware_aggregates": 1}),
        Experiment("three A-MPDUs in the hardware", FAIR, {"ap.hardware_aggregates": 3}),
        Experiment("2 % of the MPDUs are lost", FAIR, {"stations.data_loss": 0.02}),
        Experiment("an ACK for each segment", FAIR, of_tcp("tcp.delayed_ack", "none")),
        Experiment("TXOPs of 2528 us (802.11-2016)", FAIR, {"wlan.edca_defaults": "2016"}),
        Experiment("guard interval of 400 ns", FAIR, OTHER_GUARD),
        Experiment("both ends as Linux (TSQ, GRO)", FAIR, of_tcp("tcp.endpoint", ENDS["endpoint"])),
    ),
    uploads: (
        Experiment("as above", CUBIC, {}),
        Experiment("the router's hosts are the station itself", CUBIC, AT_STATION),
        Experiment("512 descriptors in the router", CUBIC, {"stations[1].ring_packets": 512}),
        Experiment("HyStart in macOS", CUBIC, {"flows[0].control.cubic.hystart": True}),
        Experiment("guard interval of 400 ns", CUBIC, OTHER_GUARD),
        Experiment("as above", AGAINST_BBR, {}),
        Experiment("the router's hosts are the station itself", AGAINST_BBR, AT_STATION),
        Experiment("BBR of Linux 5.2", AGAINST_BBR, {"flows[1].control": BBR_5_2}),
        Experiment("HyStart in macOS", AGAINST_BBR, {"flows[0].control.cubic.hystart": True}),
        Experiment("two A-MPDUs in the stations' hardware", AGAINST_BBR, STATIONS_AHEAD),
        Experiment("as above", BBR_ONLY, {}),
        Experiment("two A-MPDUs in the stations' hardware", BBR_ONLY, STATIONS_AHEAD),
        Experiment("BBR of Linux 5.2", BBR_ONLY, of_tcp("control", BBR_5_2)),
        Experiment("stations at MCS 12", BBR_ONLY, {"wlan.mcs": 12}),
    ),
    driver_fifo: (
        Experiment("as above", "pfifo_1000", {}),
        Experiment(
            "senders with a cached ssthresh of 50 segments",
            "pfifo_1000",
            of_tcp("tcp.initial_ssthresh_segments", 50),
        ),
    ),
    kernel: (
        *(
            Experiment(
                f"A-MPDUs of at most {most} frames", "TCP", {"wlan.aggregation.frames": most}
            )
            for most in (32, 20, 14, 10)
        ),
        Experiment("Minstrel-HT, and A-MPDUs within all modes of its chain", "TCP", MINSTREL),
    ),
}
"""Experiments by table: what a change of the set-up changes."""


def measure(
    points: Iterable[Point], progress: Callable[[int, int], object] | None = None
) -> list[Compared]:
    """Simulate points; `progress` gets the completed and total number of runs."""
    points = list(points)

    def jobs_of(scenario: Mapping[str, Any], edits: Mapping[str, Any]) -> list[RunJob]:
        edited = sm.Scenario(**scenario)
        for path, value in edits.items():
            edited = edited.set(path, value)
        return [RunJob(edited, seed, 0) for seed in SEEDS]

    plans = [
        (
            each,
            jobs_of(each.scenario, each.edits),
            jobs_of(each.bracket, {}) if each.bracket else [],
        )
        for each in points
    ]
    jobs = list(dict.fromkeys(job for _, own, other in plans for job in (*own, *other)))
    found: dict[RunJob, sm.Run] = {}
    with Runner() as runner:
        for number, run in runner.results(jobs):
            found[jobs[number]] = run
            if progress is not None:
                progress(len(found), len(jobs))

    def result(point: Point, own: list[RunJob]) -> Result:
        results = [point.read(found[job]) for job in own]
        return {key: mean(each[key] for each in results) for key in results[0]} if own else {}

    return [
        Compared(point, result(point, own), result(point, other)) for point, own, other in plans
    ]
