"""Random scenarios, of every kind and with every key.

    python benches/random_scenarios.py FOLDER [COUNT]

writes them as JSON files. A scenario depends only on its number: the only random function used is
`random()`, whose values are the same in every version of Python. Half of the scenarios have a
radio, three in eight use 802.11n, ac or ax, and one in eight has links only. A run takes a fraction
of a second. One scenario in fifty breaks a rule and is refused.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from random_flows import CATEGORIES, Draw, Table, direction, flow, queue, tree

COUNT = 2000
HIGH = ("11n", "11ac", "11ax", "11be")
RATES = {
    "11b": (1, 2, 5.5, 11),
    "11a": (6, 9, 12, 18, 24, 36, 48, 54),
    "11g": (1, 2, 5.5, 6, 9, 11, 12, 18, 24, 36, 48, 54),
}
LONG_SYMBOLS = ("11ax", "11be")
"""Those with symbols of 12.8 us."""
GUARDS = dict.fromkeys(("11n", "11ac"), (400, 800)) | dict.fromkeys(LONG_SYMBOLS, (800, 1600, 3200))
WIDTHS = {"11n": (20, 40)} | dict.fromkeys(("11ac", *LONG_SYMBOLS), (20, 40, 80, 160))
HIGHEST_MCS = {"11n": 7, "11ac": 8, "11ax": 11, "11be": 13}
WINDOWS = (1, 3, 7, 15, 31, 63)
"""Values of CWmin, all below the default CWmax."""

KINDS = (
    ("radio", HIGH),
    ("radio", ("11b", "11a", "11g")),
    ("cell", HIGH),
    ("links", ()),
    ("radio", HIGH),
    ("radio", ("11b", "11a", "11g")),
    ("cell", ("11b", "11a", "11g")),
    ("cell", ("11g",)),
)
"""The kinds of scenarios, in turn; those of the last kind have 802.11b stations."""

BROKEN: tuple[tuple[str, Any], ...] = (
    ("duration_s", -1),
    ("warmup_s", 1e9),
    ("measure", {"batches": 1}),
    ("measure", {"interval_s": 0}),
    ("stations", 0),
    ("standard", "11z"),
    ("wlan", {"cw_min": 12}),
    ("wlan", {"rts_threshold_bytes": -5}),
    ("ap", {"queue": {"drop_tail": {"limit_packets": 0}}}),
    ("ap", {"queue": {"red": {"min_packets": 20, "max_packets": 10}}}),
    ("wire", {"rate_mbps": 0}),
    ("wire", {"loss": {"uniform": {"probability": 1.5}}}),
    ("radio", {"tx_power_dbm": 1000}),
    ("links", [{"from": "server", "to": "server"}]),
    ("flows", []),
    ("flows", [{"from": "sever", "to": "sta*"}]),
    ("flows", [{"from": "server", "to": "sta0", "tcp": {"rto_min_ms": 5000}}]),
    ("flows", [{"from": "server", "to": "sta0", "control": {"vegas": {"alpha": 9}}}]),
    ("nonsense", 1),
)
"""Invalid values of keys."""


def scenario(number: int, seed: int = 1) -> Table:
    """One of the scenarios."""
    draw = Draw(1_000_003 * seed + number)
    kind, standards = KINDS[number % len(KINDS)]
    if kind == "links":
        made = Links(draw).scenario()
    else:
        standard = draw.one(standards)
        mixed = number % len(KINDS) == len(KINDS) - 1
        cell = Space(draw, standard) if kind == "radio" else Cell(draw, standard, mixed)
        made = cell.scenario()
    if draw.chance(0.02):
        key, value = draw.one(BROKEN)
        made[key] = value
    return made


def measured(draw: Draw) -> Table:
    """Return keys of the duration and the measurements."""
    duration_s = draw.one((0.3, 0.5, 0.7, 1, 1))
    interval_s = draw.one((duration_s / 100, duration_s / 50, 0.003))
    made: Table = {"duration_s": duration_s, "measure": {"interval_s": interval_s}}
    made["measure"] |= draw.some(0.3, batches=lambda: draw.whole(2, 40))
    made |= draw.some(0.1, title=lambda: "Some runs")
    return made | draw.some(0.5, warmup_s=lambda: draw.real(0, 0.5 * duration_s))


class Links:
    """Scenarios without a cell."""

    def __init__(self, draw: Draw) -> None:
        self.draw = draw

    def scenario(self) -> Table:
        draw = self.draw
        made = measured(draw)
        nodes = ["server", *(f"h{n}" for n in range(draw.whole(1, 6)))]
        made["links"] = tree(draw, nodes)
        made["flows"] = []
        for _ in range(draw.whole(1, 5)):
            first = draw.whole(0, len(nodes) - 1)
            second = (first + draw.whole(1, len(nodes) - 1)) % len(nodes)
            made["flows"].append(flow(draw, made["duration_s"], [nodes[first], nodes[second]]))
        return made


class Cell:
    """Scenarios in which all nodes receive each other."""

    def __init__(self, draw: Draw, standard: str, mixed: bool = False) -> None:
        self.draw = draw
        self.standard = standard
        self.mixed = mixed
        self.high = standard in HIGH
        self.qos = self.high or (not mixed and draw.chance(0.3))
        self.groups = draw.whole(1, 4)
        self.count = 0

    def scenario(self) -> Table:
        draw = self.draw
        made = measured(draw)
        made |= {"standard": self.standard, "wlan": self.wlan(), "ap": self.ap()}
        made["stations"] = self.stations()
        wired = draw.chance(0.6)
        if wired:
            made["wire"] = {"rate_mbps": draw.one((1.5, 10, 100, 1000))} | direction(draw)
            made["wire"] |= draw.some(0.3, loss_direction=lambda: draw.one(("both", "down", "up")))
        flows = [self.flow(made["duration_s"], wired) for _ in range(draw.whole(1, 4))]
        if draw.chance(0.25):
            nodes = ["ap", *(f"h{n}" for n in range(draw.whole(1, 3)))]
            made["links"] = tree(draw, nodes)
            for _ in range(draw.whole(1, 2)):
                ends = [draw.one(nodes[1:]), self.station()]
                flows.append(flow(draw, made["duration_s"], ends[:: draw.one((1, -1))]))
        return made | {"flows": flows}

    def station(self) -> str:
        return f"sta{self.draw.whole(0, self.count - 1)}"

    def flow(self, duration_s: float, wired: bool) -> Table:
        draw = self.draw
        fixed = draw.one(("server", "server", "ap")) if wired else "server"
        if draw.chance(0.05):
            return flow(draw, duration_s, [fixed, "broadcast"])
        if self.count > 1 and draw.chance(0.1):
            return flow(draw, duration_s, ["sta0", f"sta{draw.whole(1, self.count - 1)}"])
        far = draw.one(("sta*", self.station(), self.station(), f"sta0-{self.count - 1}"))
        return flow(draw, duration_s, [fixed, far][:: draw.one((1, -1))])

    def stations(self) -> Any:
        form = self.draw.one(("count", "table", "groups", "groups"))
        if form == "count" and not self.mixed:
            self.count = self.draw.whole(1, 12)
            return self.count
        groups = 1 if form == "table" and not self.mixed else self.groups
        made = [self.group(number) for number in range(groups)]
        return made[0] if form == "table" and not self.mixed else made

    def group(self, number: int) -> Table:
        draw = self.draw
        made: Table = {"count": draw.whole(1, 3)}
        self.count += made["count"]
        made |= draw.some(
            0.3,
            queue=lambda: queue(draw),
            ring_packets=lambda: draw.whole(1, 20),
            data_loss=lambda: draw.real(0, 0.5),
            ack_loss=lambda: draw.real(0, 0.3),
            rate_control=self.rate_control,
        )
        if self.mixed and number == 0:
            made["standard"] = "11b"
            # The modes of a schedule of the network do not exist in 802.11b.
            made["rate_control"] = draw.one(("fixed", "arf", "minstrel", "cara"))
        elif self.high:
            made |= draw.some(
                0.2,
                mcs=lambda: draw.whole(0, 7),
                ap_mcs=lambda: draw.whole(0, 7),
                streams=lambda: draw.whole(1, 2),
                width_mhz=lambda: draw.one(WIDTHS[self.standard]),
                guard_ns=lambda: draw.one(GUARDS[self.standard]),
            )
        else:
            made |= draw.some(0.3, rate_mbps=lambda: draw.one(self.rates()))
        return made

    def rates(self) -> Sequence[float]:
        """Data rates to which the network has a response rate."""
        return RATES[self.standard]

    def rate_control(self) -> Any:
        draw = self.draw
        # The basic rates must have a response rate for each step of 802.11g.
        levels: Sequence[float] = range(8) if self.high else self.rates()
        key = "mcs" if self.high else "rate_mbps"
        kinds: dict[str, Callable[[], Table]] = {
            "fixed": dict,
            "arf": lambda: draw.some(
                0.4, patience_attempts=lambda: draw.whole(0, 20), patience_ms=lambda: 60
            ),
            "aarf": lambda: draw.some(0.5, most_successes=lambda: draw.whole(10, 60)),
            "simple": dict,
            "cara": dict,
            "rraa": dict,
            "minstrel": dict,
        }
        if not self.mixed:
            kinds["schedule"] = lambda: {
                "steps": [{"at_s": at_s, key: draw.one(levels)} for at_s in (0.05, 0.12)]
            }
        if self.high:
            kinds["minstrel_ht"] = dict
        return draw.choice(**kinds)

    def ap(self) -> Table:
        draw = self.draw
        made = draw.some(
            0.4,
            queue=lambda: queue(draw, of_access_point=True),
            ring_packets=lambda: draw.whole(1, 20),
            rate_control=self.rate_control,
        )
        if self.qos and draw.chance(0.3):
            made["edca"] = self.edca(1)
        return made

    def edca(self, least_aifsn: int) -> Table:
        draw = self.draw

        def category() -> Table:
            return draw.some(
                0.5,
                cw_min=lambda: draw.one((1, 3)),
                cw_max=lambda: draw.one((15, 1023)),
                aifsn=lambda: draw.whole(least_aifsn, 9),
                txop_limit_us=lambda: 32 * draw.whole(0, 200),
            )

        return draw.some(0.5, **dict.fromkeys(CATEGORIES, category))

    def wlan(self) -> Table:
        draw = self.draw
        made = draw.some(
            0.3,
            rts_threshold_bytes=lambda: draw.one((0, 500, 1000, 2347, 4000)),
            short_retry_limit=lambda: draw.whole(1, 9),
            long_retry_limit=lambda: draw.whole(1, 9),
            mac_header_bytes=lambda: draw.one((24, 28, 30, 34)),
            llc_bytes=lambda: draw.one((0, 8)),
            eifs=lambda: draw.one(("standard", "estimated", "none")),
            slot_grid=lambda: draw.one(self.slot_grids()),
            countdown=lambda: draw.one(("standard", "idle_slots", "bianchi")),
            backoff_draw=lambda: draw.one(("standard", "ns2")),
            durations=lambda: draw.one(("standard", "ns2")),
            rate_control=self.rate_control,
        )
        if self.qos:
            made |= draw.some(
                0.4,
                edca_defaults=lambda: draw.one(("2016", "2012", "ns3")),
                edca=lambda: self.edca(2),
            )
            made["qos"] = True
        else:
            made |= draw.some(
                0.3, cw_min=lambda: draw.one(WINDOWS), cw_max=lambda: draw.one((63, 255))
            )
        return made | (self.high_keys() if self.high else self.low_keys())

    def slot_grids(self) -> Sequence[str]:
        return ("standard", "shared", "free")

    def deliveries(self) -> Sequence[str]:
        return ("ppdu", "mpdu")

    def low_keys(self) -> Table:
        """Keys of 802.11b, a and g."""
        draw = self.draw
        made = draw.some(0.3, rate_mbps=lambda: draw.one(self.rates()))
        if self.standard != "11a":
            made |= draw.some(0.3, preamble=lambda: draw.one(("long", "short")))
        if self.mixed:
            made |= draw.some(
                0.3, basic_rates_mbps=lambda: draw.one(([1], [1, 2], [1, 2, 5.5, 11]))
            )
        else:
            lowest = min(self.rates())
            made |= draw.some(0.2, basic_rates_mbps=lambda: [lowest, draw.one(self.rates())])
        if self.standard == "11g":
            made |= draw.some(0.5, protection=lambda: draw.one(("none", "cts_to_self", "rts_cts")))
            if not self.mixed:
                made |= draw.some(0.3, slot=lambda: draw.one(("short", "long")))
        return made

    def high_keys(self) -> Table:
        """Keys of 802.11n, ac and ax."""
        draw, standard = self.draw, self.standard
        made = draw.some(
            0.5,
            mcs=lambda: draw.whole(0, HIGHEST_MCS[standard]),
            # VHT lacks MCS 6 at 80 MHz with 3 streams.
            streams=lambda: draw.whole(1, 2),
            width_mhz=lambda: draw.one(WIDTHS[standard]),
            guard_ns=lambda: draw.one(GUARDS[standard]),
            aggregation=self.aggregation,
        )
        made |= draw.some(0.2, ppdu_timing=lambda: draw.one(("standard", "ns3")))
        if standard != "11ac":
            made |= draw.some(0.2, band_ghz=lambda: draw.one((2.4, 5)))
        if standard in LONG_SYMBOLS:
            made |= draw.some(0.3, packet_extension_us=lambda: 4 * draw.whole(0, 4))
            only = {1600: ("2x",), 3200: ("4x",)}
            short = ("1x", "2x") if standard == "11ax" else ("2x",)
            trainings: Sequence[str] = only.get(made.get("guard_ns", 800), short)
            made |= draw.some(0.2, he_ltf=lambda: draw.one(trainings))
        else:
            made |= draw.some(0.2, coding=lambda: draw.one(("bcc", "ldpc")))
        return made

    def aggregation(self) -> Table:
        draw = self.draw
        window = draw.whole(1, 256 if self.standard in LONG_SYMBOLS else 64)
        made = draw.some(0.5, window=lambda: window, frames=lambda: draw.whole(1, window))
        return made | draw.some(
            0.4,
            bytes=lambda: draw.whole(1, 65_535),
            duration_us=lambda: draw.whole(100, 5484),
            amsdu_bytes=lambda: draw.whole(100, 7935),
            lifetime_ms=lambda: draw.whole(1, 500),
            retries=lambda: draw.one(("lifetime", "counted")),
            missed_block_ack=lambda: draw.one(("bar", "retransmit")),
            delivery=lambda: draw.one(self.deliveries()),
        )


class Space(Cell):
    """Scenarios with a radio: positions, several cells, ad-hoc networks."""

    def __init__(self, draw: Draw, standard: str) -> None:
        super().__init__(draw, standard, mixed=standard == "11g" and draw.chance(0.3))
        self.ad_hoc = draw.chance(0.2)
        self.further = 0 if self.ad_hoc else draw.whole(0, 2)
        self.placed = draw.chance(0.75)

    def scenario(self) -> Table:
        made = super().scenario()
        made["radio"] = self.radio()
        if self.ad_hoc:
            made.pop("wire", None)
            made.pop("links", None)
            made["flows"] = [self.between(made["duration_s"]) for _ in made["flows"]]
        if self.further:
            made["cells"] = [self.cell() for _ in range(self.further)]
        # Two channels that do not overlap, whatever their width.
        is_low = self.standard in ("11b", "11g") or made["wlan"].get("band_ghz") == 2.4
        for site in [made["ap"], *made.get("cells", [])]:
            if "channel" in site:
                site["channel"] = ((1, 13) if is_low else (36, 149))[site["channel"]]
        return made

    def between(self, duration_s: float) -> Table:
        first = self.draw.whole(0, self.count - 1)
        second = (first + self.draw.whole(1, self.count - 1)) % self.count
        return flow(self.draw, duration_s, [f"sta{first}", f"sta{second}"])

    def stations(self) -> Any:
        made = [self.group(number) for number in range(self.groups)]
        if self.count == 1:
            made[0]["count"] = self.count = 2
        return made

    def group(self, number: int) -> Table:
        draw = self.draw
        made = super().group(number)
        if self.placed:
            made |= self.place()
        made |= draw.some(0.8, cell=lambda: draw.whole(0, self.further))
        return made

    def position(self) -> list[float]:
        return [self.draw.real(0, 60), self.draw.real(0, 60)]

    def place(self) -> Table:
        draw = self.draw
        if draw.chance(0.2):
            times = (0.03, 0.1, 0.3)[: draw.whole(1, 3)]
            return {"waypoints": [{"at_s": t, "position_m": self.position()} for t in times]}
        ring = {"ring_m": draw.real(0, 30)}
        return draw.one(
            (ring, {"position_m": self.position()} | ring, {"position_m": self.position()})
        )

    def ap(self) -> Table:
        made = super().ap() | self.site()
        if self.ad_hoc:
            # The access point is silent, so that its keys have no meaning.
            made.pop("edca", None)
        return made

    def cell(self) -> Table:
        draw = self.draw
        made = self.site() | draw.some(0.4, queue=lambda: queue(draw, of_access_point=True))
        return made | draw.some(0.2, ring_packets=lambda: draw.whole(1, 20))

    def site(self) -> Table:
        """Return position and channel of an access point."""
        draw = self.draw
        made = draw.some(0.3, channel=lambda: draw.one((0, 0, 1)))
        if self.placed:
            made |= draw.some(0.7, position_m=self.position)
        return made

    def slot_grids(self) -> Sequence[str]:
        # A common slot grid needs a cell in which all nodes receive each other.
        return ("standard", "free")

    def deliveries(self) -> Sequence[str]:
        return ("ppdu",)

    def rate_control(self) -> Any:
        return "ideal" if self.draw.chance(0.15) else super().rate_control()

    def radio(self) -> Table:
        draw = self.draw
        made: Table = draw.some(
            0.3,
            fading=lambda: draw.some(
                0.7, m=lambda: draw.one((0.5, 1, 3)), coherence_ms=lambda: draw.real(1, 30)
            ),
            tx_power_dbm=lambda: draw.real(5, 25),
            noise_figure_db=lambda: draw.real(0, 12),
            detect_dbm=lambda: -draw.whole(70, 95),
            detect_snr_db=lambda: draw.one((-100, 0, 4, 10)),
            sensitivity_dbm=lambda: -draw.whole(60, 95),
            energy_dbm=lambda: -draw.whole(60, 90),
            capture=lambda: draw.some(
                0.7, margin_db=lambda: draw.real(0, 12), window_us=lambda: draw.whole(0, 200)
            ),
            nav_reset=draw.flip,
        )
        made["ad_hoc"] = self.ad_hoc
        made["error_model"] = draw.choice(
            table=dict,
            nist=dict,
            yans=dict,
            threshold=lambda: draw.some(0.6, sinr_db=lambda: draw.real(0, 25)),
        )
        if not self.placed:
            nodes = 1 + self.count + self.further
            made["losses_db"] = [
                [draw.one((50, 60, 85, 95, 105, 300)) for _ in range(nodes)] for _ in range(nodes)
            ]
            return made
        return made | draw.some(
            0.5,
            shadowing_db=lambda: draw.one((0, 3, 6)),
            propagation=lambda: draw.choice(
                two_ray=dict,
                friis=lambda: draw.some(0.5, frequency_mhz=lambda: draw.one((2412, 5180))),
                log_distance=lambda: draw.some(
                    0.5,
                    exponent=lambda: draw.real(2, 4.5),
                    reference_m=lambda: draw.real(0.5, 2),
                    reference_loss_db=lambda: draw.real(35, 60),
                ),
            ),
        )


def write(folder: Path, count: int = COUNT) -> list[Path]:
    """Write the scenarios into a folder, and return their files in order."""
    files = [folder / f"{number:04}.json" for number in range(count)]
    for number, file in enumerate(files):
        file.write_text(json.dumps(scenario(number)), encoding="utf-8")
    return files


if __name__ == "__main__":
    write(Path(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else COUNT)
