"""Real hardware: an access point with ath9k, and a wired bottleneck, measured by others.

Every point is simulated with one set of unknowns; no point has a setting of its own.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from statistics import mean
from typing import Any

import simoom as sm
from simoom.run import RunJob
from simoom.runner import Runner
from validation.references import plain, table

SEEDS = (1, 2)
GUARD_NS = 800
"""The guard interval of the access point, which the set-ups do not tell."""
STATION_MCS = 15
"""Stations choose their own mode, which the set-ups do not tell: the highest of two streams."""
WINDOW_BYTES = 3 << 20
"""Half of ``tcp_rmem`` of 2016, because Linux counts the memory of packets."""
TURNAROUND_MS = 0.5
"""How long a host takes to answer a ping, which the set-ups do not tell."""

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


def pings(start: str, to: str) -> dict[str, Any]:
    """The flows of pings."""
    return {"from": start, "to": to, "traffic": {"ping": {"reply_after_ms": TURNAROUND_MS}}}


def linux_tcp(**more: Any) -> dict[str, Any]:
    """TCP of the senders: SACK, timestamps, the largest window of 2016."""
    return {"window_max_bytes": WINDOW_BYTES, **more}


ATH9K: dict[str, Any] = {"hardware_aggregates": 2}
"""Two A-MPDUs are in the hardware, one on the air and one ready."""
DRIVER_FIFO: dict[str, Any] = {"ring_packets": 123, **ATH9K}
"""Up to Linux 4.9 the driver has a queue of 123 frames."""
MAC80211: dict[str, Any] = {"mac80211": {"scheduler": "ath9k", "drop_batch_packets": 1}}
"""Equal airtime by ath9k, as in Linux 4.10."""

SETUPS: dict[str, dict[str, Any]] = {
    "fq_codel_airtime": {"queue": MAC80211, **ATH9K},
    "fq_codel_airtime_ecn": {"queue": MAC80211, **ATH9K},
    "stock_4.4": {"queue": {"fq_codel": {}}, **DRIVER_FIFO},
    "pfifo_1000": {"queue": {"drop_tail": {"limit_packets": 1000}}, **DRIVER_FIFO},
    "pfifo_20": {"queue": {"drop_tail": {"limit_packets": 20}}, **DRIVER_FIFO},
}


def cell(ap: Mapping[str, Any], ap_mcs: int, guard_ns: int) -> dict[str, Any]:
    """The cell: the MCS is forced at the access point only; ath9k sends at most 32 frames and 4
    ms at once."""
    return {
        "standard": "11n",
        "duration_s": 28.0,
        "warmup_s": 8.0,
        "stations": {"count": 2, "ap_mcs": ap_mcs},
        "wlan": {
            "mcs": STATION_MCS,
            "guard_ns": guard_ns,
            # hostapd and ath9k have no TXOP limit for best effort.
            "edca_defaults": "2012",
            "aggregation": {"frames": 32, "duration_us": 4096.0},
        },
        "ap": dict(ap),
        "wire": {"rate_mbps": 1000.0, "delay_ms": 0.2},
    }


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
        flows = [
            {"from": "server", "to": "sta*", "count": 2, "control": "new_reno", "tcp": tcp},
            pings("server", "sta*"),
        ]
        measured = {
            "goodput": float(row["goodput_mbps"]),
            "ping": (float(row["ping_a_median_ms"]) + float(row["ping_b_median_ms"])) / 2,
        }
        scenario = {**cell(SETUPS[setup], mcs, GUARD_NS), "flows": flows}
        other = None if fair else {**cell(SETUPS[setup], mcs, 400), "flows": flows}
        tolerance = {"goodput": 0.05 if fair else 0.03, "ping": 0.15 if fair else 0.25}
        name = f"{setup}, MCS {mcs}"
        points.append(Point(name, measured, scenario, goodput_and_ping, tolerance, other))
    return points


FAIR = "fq_codel_airtime"


def airtime_fair() -> list[Point]:
    """The downloads under airtime fairness."""
    return [each for each in downloads() if each.name.startswith(FAIR)]


def driver_fifo() -> list[Point]:
    """The downloads through the driver's FIFO of Linux 4.4."""
    return [each for each in downloads() if not each.name.startswith(FAIR)]


BBR = {"bbr": {"extra_acked": False, "send_quantum": "rate"}}
"""BBR of 2016: Linux 5.2 brought the allowance for aggregation."""
SENDERS = {"linux-bbr": BBR, "linux-cubic": "cubic", "osx": "cubic"}
ENDS = {"endpoint": {"linux": {"version": "4.9"}}}
"""TSQ of 2016 bounds what a sender has in its own queue."""


def uploads() -> list[Point]:
    """Four uploads, two from each of two stations, whose acknowledgements have the forced MCS."""
    points = []
    for row in table("testbed_ath9k_uploads"):
        first, second = row["title"].removeprefix("ap-from-").split("-mcs-")[0].split("-and-")
        mcs = int(row["mcs"])
        flows: list[dict[str, Any]] = [
            {
                "from": f"sta{station}",
                "to": "server",
                "count": 2,
                "control": SENDERS[sender],
                "tcp": linux_tcp(**ENDS),
            }
            for station, sender in enumerate((first, second))
        ]
        flows.append(pings("server", "sta*"))
        name = f"{first} and {second}, MCS {mcs} ({row['run'][11:]})"
        hosts = [float(each) for each in row["goodput_by_host_mbps"].split(";")]
        rtts = [float(each) for each in row["ping_median_ms"].split(";")]
        measured = {"goodput": float(row["goodput_mbps"]), "ping": mean(rtts)}
        tolerance = {"goodput": 0.15, "ping": 0.25}
        if first == "osx":
            measured["share of the second"] = hosts[1] / sum(hosts)
            tolerance["share of the second"] = 0.15
        scenario = {**cell(SETUPS["fq_codel_airtime"], mcs, GUARD_NS), "flows": flows}
        points.append(Point(name, measured, scenario, read_uploads, tolerance))
    return points


def read_uploads(run: sm.Run) -> Result:
    """As of downloads, and the share of the second station."""
    second = [row for row in run.flows if str(row["from"]) == "sta1"]
    result = goodput_and_ping(run)
    share = sum(plain(row["goodput_mbps"]) for row in second) / result["goodput"]
    return {**result, "share of the second": share}


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
        tcp = linux_tcp(ecn=ecn, pacing=True, **ENDS)
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
                "control": SENDERS[f"linux-{control}"],
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


KERNEL = {
    "before": ({"airtime_fairness": False, "drop_batch_packets": 1}, (19.17, 19.83, 2.58)),
    "after": ({"scheduler": "ath9k", "drop_batch_packets": 1}, (25.09, 25.21, 1.77)),
}


def kernel() -> list[Point]:
    """Two stations at the highest rate and one at the lowest, by the commit of airtime fairness."""
    points = []
    for name, (queue, measured) in KERNEL.items():
        scenario = cell({"queue": {"mac80211": queue}, **ATH9K}, 15, 400)
        scenario["stations"] = [{"count": 2, "mcs": 15}, {"mcs": 0}]
        scenario["flows"] = [{"from": "server", "to": "sta*", "tcp": linux_tcp()}]
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
    return {"flows[1].traffic.ping.reply_after_ms": ms}


CUBIC, AGAINST_BBR, BBR_ONLY = "osx and linux-cubic", "osx and linux-bbr", "linux-bbr and"
UPLOAD_ENDS = ("flows[0].tcp.endpoint", "flows[1].tcp.endpoint")
STATIONS_AHEAD = {"stations.hardware_aggregates": 2}
MINSTREL = {"wlan.rate_control": "minstrel_ht", "wlan.aggregation.duration_in": "chain"}
EXPERIMENTS = {
    airtime_fair: (
        Experiment("as above", FAIR, {}),
        Experiment("hosts answer a ping at once", FAIR, answers_after(0.0)),
        Experiment("hosts answer a ping after 0.2 ms", FAIR, answers_after(0.2)),
        Experiment("hosts answer a ping after 2 ms", FAIR, answers_after(2.0)),
        Experiment("one A-MPDU in the hardware", FAIR, {"ap.hardware_aggregates": 1}),
        Experiment("three A-MPDUs in the hardware", FAIR, {"ap.hardware_aggregates": 3}),
        Experiment("an ACK for each segment", FAIR, {"flows[0].tcp.delayed_ack": "none"}),
        Experiment("TXOPs of 2528 us (802.11-2016)", FAIR, {"wlan.edca_defaults": "2016"}),
        Experiment("guard interval of 400 ns", FAIR, {"wlan.guard_ns": 400}),
        Experiment(
            "both ends as Linux (TSQ, GRO)", FAIR, {"flows[0].tcp.endpoint": ENDS["endpoint"]}
        ),
    ),
    uploads: (
        Experiment("as above", CUBIC, {}),
        Experiment("ends as in the RFCs", CUBIC, dict.fromkeys(UPLOAD_ENDS, "rfc")),
        Experiment("TSQ of Linux 6.18", CUBIC, dict.fromkeys(UPLOAD_ENDS, "linux")),
        Experiment("two A-MPDUs in the stations' hardware", CUBIC, STATIONS_AHEAD),
        Experiment("as above", AGAINST_BBR, {}),
        Experiment("BBR of Linux 5.2", AGAINST_BBR, {"flows[1].control": "bbr"}),
        Experiment("TSQ of Linux 6.18", AGAINST_BBR, dict.fromkeys(UPLOAD_ENDS, "linux")),
        Experiment("two A-MPDUs in the stations' hardware", AGAINST_BBR, STATIONS_AHEAD),
        Experiment("as above", BBR_ONLY, {}),
        Experiment("two A-MPDUs in the stations' hardware", BBR_ONLY, STATIONS_AHEAD),
    ),
    driver_fifo: (
        Experiment("as above", "pfifo_1000", {}),
        Experiment(
            "senders with a cached ssthresh of 50 segments",
            "pfifo_1000",
            {"flows[0].tcp.initial_ssthresh_segments": 50},
        ),
    ),
    kernel: (
        *(
            Experiment(f"A-MPDUs of at most {most} frames", "", {"wlan.aggregation.frames": most})
            for most in (32, 20, 14, 10)
        ),
        Experiment("Minstrel-HT, and A-MPDUs within all modes of its chain", "", MINSTREL),
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
