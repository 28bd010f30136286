"""Random networks in channels that overlap, whose transmitters may leave out what is busy."""

from __future__ import annotations

# `campaign.features` has put the folder of this module on the path.
from random_flows import Draw
from random_scenarios import Cell

from campaign.classes import bulk, datagrams, own_queue
from campaign.mixed import earlier, reuse
from campaign.ofdma import sleep, units
from campaign.schema import Table, Values, table

CHANNELS = {5: range(36, 65, 4), 6: range(1, 62, 4)}
"""The primary channels of the first 160 MHz at 5 GHz, and of the first 320 MHz at 6 GHz."""
RINGS_M = (2.0, 5.0, 20.0)
"""How far stations are from their access points."""


def overlaps(draw: Draw, values: Values) -> Table:
    """Return a wide network among narrower ones in and beside its channel."""
    return Overlapping(draw, values).scenario()


class Overlapping(Cell):
    """A network of 802.11ax, in most cases with OFDMA, or of 802.11be, and its neighbours."""

    def __init__(self, draw: Draw, values: Values) -> None:
        super().__init__(draw, draw.one(("11ax", "11ax", "11be")))
        self.values = values
        self.groups = draw.whole(1, 3)
        self.by_units = self.standard == "11ax" and draw.chance(0.75)
        self.operation = draw.one(("punctured", "punctured", "dynamic", "static"))
        if self.standard == "11ax" and not self.by_units and self.operation == "punctured":
            self.operation = "dynamic"
        widest = (320,) if self.standard == "11be" else ()
        self.width_mhz = draw.one((40, 80, 80, 160, 160, *widest))
        self.channels = CHANNELS[6 if self.width_mhz == 320 else 5]

    def scenario(self) -> Table:
        """Return such networks."""
        draw = self.draw
        made = super().scenario()
        if draw.chance(0.8):
            made.pop("wire", None)
        made.pop("links", None)
        made["ap"]["channel"] = own = draw.one(self.channels)
        made["flows"] = [self.some_flow(0) for _ in range(draw.whole(1, 3))]
        if self.by_units and draw.chance(0.6):
            # PPDUs to several.
            all_of_it = {"from": "server", "to": f"sta0-{self.count - 1}"}
            made["flows"][0] = all_of_it | {"traffic": "saturated"}
        made["cells"] = []
        for number in range(1, draw.whole(2, 4)):
            made["cells"].append(self.neighbour(own))
            first = self.count
            made["stations"].append(self.beside(number))
            made["flows"] += [self.some_flow(first) for _ in range(draw.whole(1, 2))]
        if draw.chance(0.3):
            # The first group remains: OFDMA needs stations.
            earlier(draw, made | {"stations": made["stations"][1:]}, 0.3)
        if draw.chance(0.2):
            sleep(made, draw, self.values)
        if draw.chance(0.2):
            made["wlan"]["spatial_reuse"] = reuse(draw, made, self.values)
        if self.standard == "11be" and self.operation == "static" and draw.chance(0.7):
            made["ap"]["punctured"] = self.punctured()
        for node in (made["ap"], *made["cells"], *made["stations"]):
            node |= draw.some(0.2, queue=lambda: own_queue(draw))
        return made | {"radio": self.radio()}

    def wlan(self) -> Table:
        """Return what all have in common."""
        made = super().wlan() | {"width_mhz": self.width_mhz, "bandwidth_operation": self.operation}
        made["band_ghz"] = 6 if self.width_mhz == 320 else 5
        if self.by_units:
            for key in ("guard_ns", "he_ltf"):
                made.pop(key, None)
            made["mu"] = units(self.draw, self.values)
            made["aggregation"] = self.draw.some(
                0.3,
                frames=lambda: self.draw.one((2, 8, 64)),
                duration_us=lambda: self.draw.one((1000, 4000)),
            )
        return made

    def deliveries(self) -> tuple[str, ...]:
        """Return the one that is among radios."""
        return ("ppdu",)

    def slot_grids(self) -> tuple[str, ...]:
        """Return those that are among radios."""
        return ("standard", "free")

    def stations(self) -> list[Table]:
        """Return those of the wide network, with OFDMA of one width."""
        return [self.group(number) for number in range(self.groups)]

    def group(self, number: int) -> Table:
        """Return some of them."""
        draw = self.draw
        made = super().group(number) | {"ring_m": draw.one(RINGS_M)}
        for key in ("guard_ns", "width_mhz"):
            made.pop(key, None)
        if not self.by_units:
            made |= draw.some(0.2, width_mhz=lambda: draw.one((20, 40, 80)))
        return made

    def neighbour(self, own: int) -> Table:
        """Return an access point with another primary channel, most often in the wide one."""
        draw = self.draw
        size = self.width_mhz // 20
        first = (own - self.channels[0]) // 4 // size * size
        inside = self.channels[first : first + size]
        others = [each for each in (inside if draw.chance(0.8) else self.channels) if each != own]
        east_m = draw.one((8.0, 12.0, 12.0, 20.0, 40.0, 60.0))
        return {"channel": draw.one(others), "position_m": [east_m, draw.real(-5, 5)]}

    def beside(self, number: int) -> Table:
        """Return the stations of a neighbour."""
        draw = self.draw
        made: Table = {"count": draw.whole(1, 2), "cell": number, "ring_m": draw.one(RINGS_M)}
        made["width_mhz"] = draw.one((20, 20, 20, 40, 80))
        self.count += made["count"]
        return made

    def some_flow(self, first: int) -> Table:
        """Return a flow of a station from this one on, most often one that sends all the time."""
        draw = self.draw
        ends = ["server", f"sta{draw.whole(first, self.count - 1)}"]
        if first == 0 and draw.flip():
            ends[1] = f"sta0-{self.count - 1}"
        ends = ends[:: draw.one((1, -1))]
        if draw.chance(0.6):
            return {"from": ends[0], "to": ends[1], "traffic": "saturated"}
        return datagrams(draw, ends) if draw.flip() else bulk(draw, ends)

    def punctured(self) -> list[int]:
        """Return the numbers of what the wide network leaves out: some are no pattern."""
        size = 1 if self.width_mhz < 160 or self.draw.flip() else 2
        first = 1 + size * self.draw.whole(0, self.width_mhz // 20 // size - 1)
        return [*range(first, first + size)]

    def radio(self) -> Table:
        """Return radios that hear each other."""
        draw = self.draw
        return draw.some(
            0.25,
            propagation_delay=lambda: draw.one(("on", "off")),
            tx_power_dbm=lambda: draw.real(10, 25),
            shadowing_db=lambda: 3,
            fading=dict,
            capture=dict,
            energy_dbm=lambda: -draw.whole(60, 80),
            error_model=lambda: self.values.value(table("ErrorModel")),
        )
