"""The settings that `peers` runs in ns-3.37: one list for each group of the table."""

from __future__ import annotations

from itertools import product

from validation.ns3_setup import Flow, Radio, Setup, Tcp

MIB = 1 << 20


def up(kind: str = "udp", stations: int = 1, size: int = 1472) -> tuple[Flow, ...]:
    """A flow from each station to the access point, or over TCP to the server."""
    target = "ap0" if kind == "udp" else "server"
    return tuple(Flow(kind, f"sta{i}", target, size) for i in range(stations))


def down(kind: str = "udp", stations: int = 1, size: int = 1472) -> tuple[Flow, ...]:
    """A flow to each station from the access point, or over TCP from the server."""
    source = "ap0" if kind == "udp" else "server"
    return tuple(Flow(kind, source, f"sta{i}", size) for i in range(stations))


def by_mode() -> list[Setup]:
    """UDP saturation of one station by mode."""
    found = []
    for width, mcs in [
        (20, 0),
        (20, 7),
        (20, 11),
        (40, 4),
        (40, 9),
        (80, 0),
        (80, 4),
        (80, 7),
        (80, 11),
    ]:
        name = f"802.11ax, {width} MHz, MCS {mcs}"
        found.append(Setup(name, "11ax", mcs, up(), width=width))
    found += [
        Setup(
            f"802.11ac, 80 MHz, MCS {mcs}, 2 SS, short GI",
            "11ac",
            mcs,
            up(),
            width=80,
            streams=2,
            guard=400,
        )
        for mcs in (0, 4, 9)
    ]
    found += [
        Setup(
            f"802.11n, 40 MHz, MCS {mcs}, 2 SS, short GI",
            "11n",
            mcs,
            up(),
            width=40,
            streams=2,
            guard=400,
        )
        for mcs in (0, 4, 7)
    ]
    return found


def contending() -> list[Setup]:
    """UDP saturation of several stations."""
    found = []
    for standard, width, mcs in (("11n", 20, 7), ("11ac", 80, 9), ("11ax", 80, 11)):
        for n in (2, 5):
            name = f"802.{standard}, {width} MHz, MCS {mcs}, N = {n}"
            found.append(Setup(name, standard, mcs, up(stations=n), stations=n, width=width))
            if n == 5:
                found.append(
                    Setup(
                        name + ", RTS/CTS",
                        standard,
                        mcs,
                        up(stations=n),
                        stations=n,
                        width=width,
                        rts=True,
                    )
                )
    return found


def aggregates() -> list[Setup]:
    """Limits of aggregation and of a TXOP."""
    found = []
    for frames in (1, 2, 8, 32, 42):
        length = 0 if frames == 1 else 1544 * frames
        for standard, mcs in (("11n", 7), ("11ac", 8)):
            found.append(
                Setup(
                    f"802.{standard}, MCS {mcs}, A-MPDU of {frames}",
                    standard,
                    mcs,
                    up(),
                    ampdu_bytes=length,
                )
            )
    found.append(
        Setup(
            "802.11ac, 80 MHz, MCS 9, A-MPDU of 64",
            "11ac",
            9,
            up(),
            width=80,
            ampdu_bytes=1_048_575,
        )
    )
    found.append(
        Setup(
            "802.11ax, 80 MHz, MCS 11, A-MPDU of 64",
            "11ax",
            11,
            up(),
            width=80,
            ampdu_bytes=6_500_631,
        )
    )
    for standard, mcs, ampdu, amsdu in (
        ("11n", 7, 0, 3839),
        ("11n", 7, 0, 7935),
        ("11n", 7, 65_535, 3839),
        ("11n", 7, 65_535, 7935),
        ("11ac", 8, 1_048_575, 7935),
    ):
        name = f"802.{standard}, MCS {mcs}, A-MSDU of {amsdu} bytes"
        name += "" if ampdu else ", no A-MPDU"
        found.append(Setup(name, standard, mcs, up(), ampdu_bytes=ampdu, amsdu_bytes=amsdu))
    for standard, mcs, txop, length in (
        ("11n", 7, 3008, 1544 * 4),
        ("11n", 7, 1504, 65_535),
        ("11ac", 8, 2528, 0),
        ("11ax", 11, 4096, 1544 * 16),
    ):
        name = f"802.{standard}, MCS {mcs}, TXOP of {txop} us, A-MPDU of {length} bytes"
        found.append(Setup(name, standard, mcs, up(), ampdu_bytes=length, txop_us=txop))
    return found


def categories() -> list[Setup]:
    """Several access categories."""
    found = []
    for standard, mcs, length in (("11n", 7, 0), ("11ac", 8, 1544 * 8)):
        what = f"802.{standard}, MCS {mcs}, A-MPDU of {length} bytes"
        for mix in (("BE", "BK"), ("VI", "BE"), ("VO", "VI"), ("VO", "VI", "BE", "BK")):
            flows = tuple(Flow("udp", f"sta{i}", "ap0", 1472, ac) for i, ac in enumerate(mix))
            found.append(
                Setup(
                    f"{what}, a station each: {', '.join(mix)}",
                    standard,
                    mcs,
                    flows,
                    stations=len(mix),
                    ampdu_bytes=length,
                    seconds=2.0,
                )
            )
        mix = ("VO", "VI", "BE", "BK")
        flows = tuple(Flow("udp", "sta0", "ap0", 1472, ac) for ac in mix)
        found.append(
            Setup(
                f"{what}, one station: {', '.join(mix)}",
                standard,
                mcs,
                flows,
                ampdu_bytes=length,
                seconds=4.0,
            )
        )
        flows = tuple(
            Flow("udp", f"sta{i}", "ap0", 1472, ac) for ac in ("VI", "BE") for i in range(5)
        )
        found.append(
            Setup(
                f"{what}, five stations: VI, BE",
                standard,
                mcs,
                flows,
                stations=5,
                ampdu_bytes=length,
                seconds=4.0,
            )
        )
    return found


def transport() -> list[Setup]:
    """TCP over modern modes."""
    found = []
    cases = [
        ("11ax", 20, 11, 1, 800),
        ("11ax", 80, 11, 1, 800),
        ("11ax", 40, 7, 1, 800),
        ("11ac", 80, 9, 2, 400),
        ("11n", 40, 7, 2, 400),
    ]
    for standard, width, mcs, streams, guard in cases:
        what = f"802.{standard}, {width} MHz, MCS {mcs}" + (", 2 SS" if streams > 1 else "")
        for kind, flows in (("down", down("tcp", size=1448)), ("up", up("tcp", size=1448))):
            for delayed in (1, 2):
                if delayed == 1 and (standard, mcs) != ("11ax", 11):
                    continue
                found.append(
                    Setup(
                        f"{what}, {kind}, d = {delayed}",
                        standard,
                        mcs,
                        flows,
                        width=width,
                        streams=streams,
                        guard=guard,
                        tcp=Tcp(MIB, delayed),
                        warmup_s=3.0,
                        seconds=2.0,
                        here_s=6.0,
                    )
                )
    for standard, width, mcs in (("11ax", 80, 11), ("11ac", 20, 8), ("11n", 20, 7)):
        for kind, flows in (("down", down("tcp", 10, 1448)), ("up", up("tcp", 10, 1448))):
            found.append(
                Setup(
                    f"802.{standard}, {width} MHz, MCS {mcs}, 10 stations, {kind}",
                    standard,
                    mcs,
                    flows,
                    stations=10,
                    width=width,
                    tcp=Tcp(MIB // 4, 2, "send"),
                    warmup_s=4.0,
                    seconds=2.0,
                    here_s=6.0,
                )
            )
    return found


HIDDEN = ((0.0, 50.0, 50.0), (50.0, 0.0, 300.0), (50.0, 300.0, 0.0))
SEEN = ((0.0, 50.0, 50.0), (50.0, 0.0, 50.0), (50.0, 50.0, 0.0))


def pairs() -> list[Setup]:
    """Two stations that are hidden from each other, and two that are not."""
    found = []
    phys = (("11a", 54.0, 1448, "table"), ("11b", 11.0, 1000, "nist"))
    hears = (("hidden", HIDDEN), ("in hearing", SEEN))
    for phy, kind, rts, (hear, losses) in product(phys, ("udp", "tcp"), (False, True), hears):
        standard, rate, size, error = phy
        found.append(
            Setup(
                f"802.{standard}, {kind}, {'RTS/CTS' if rts else 'basic'}, {hear}",
                standard,
                rate,
                tuple(Flow(kind, f"sta{i}", "ap0", size) for i in range(2)),
                stations=2,
                rts=rts,
                tcp=Tcp(65_535, 2, "send"),
                radio=Radio(losses=losses, error=error),
                warmup_s=4.0,
                seconds=10.0,
                here_s=40.0,
            )
        )
    return found


# Default loss at 1 m in dB, transmit power, and noise of 20 MHz with a noise figure of 7 dB.
LOSS_1M_DB, POWER_DBM, NOISE_DBM = 46.6777, 16.0206, -93.97


def distance_m(snr_db: float) -> float:
    """The distance at which a station has this SNR, with path loss exponent 3."""
    return round(float(10 ** ((POWER_DBM - NOISE_DBM - LOSS_1M_DB - snr_db) / 30)), 2)


EDGES = (
    ("11a", 24.0, "nist", 13.51),
    ("11a", 54.0, "nist", 22.63),
    ("11a", 54.0, "table", 18.38),
    ("11n", 4, "nist", 16.62),
    ("11n", 7, "nist", 23.79),
    ("11n", 4, "table", 12.80),
    ("11n", 7, "table", 19.63),
)
"""The SNR at which a tenth of frames is lost: standard, mode, error model, SNR in dB."""


def range_limits() -> list[Setup]:
    """One station at the range limit of its mode."""
    found = []
    for standard, mode, error, snr in EDGES:
        what = f"{mode:g} Mb/s" if standard == "11a" else f"MCS {mode}"
        for beside in (-1.2, -0.5, 0.0, 1.0):
            metres = distance_m(snr + beside)
            if metres > 51.4:
                continue  # no preamble is detected there
            radio = Radio(positions=((0.0, 0.0), (metres, 0.0)), error=error)
            name = f"802.{standard}, {what}, {error}, {metres} m"
            found.append(Setup(name, standard, mode, up(), radio=radio, here_s=8.0))
    for standard, mode in (("11a", 6.0), ("11n", 0)):
        what = f"{mode:g} Mb/s" if standard == "11a" else f"MCS {mode}"
        for metres in (45.0, 51.4):
            radio = Radio(positions=((0.0, 0.0), (metres, 0.0)), error="nist")
            name = f"802.{standard}, {what}, nist, {metres} m"
            found.append(Setup(name, standard, mode, up(), radio=radio, here_s=8.0))
    return found


def matrix(nodes: int, heard: dict[tuple[int, int], float]) -> tuple[tuple[float, ...], ...]:
    """Symmetric path losses in dB; pairs that are not named do not detect each other."""
    return tuple(
        tuple(0.0 if a == b else heard.get((min(a, b), max(a, b)), 300.0) for b in range(nodes))
        for a in range(nodes)
    )


def overlapping_cells() -> list[Setup]:
    """Several cells that detect each other in part."""
    found = []
    flows = (Flow("udp", "sta0", "ap0"), Flow("udp", "sta1", "ap0"))
    for rate in (6.0, 24.0, 54.0):
        for near, capture in ((70.0, False), (70.0, True), (60.0, True)):
            radio = Radio(losses=matrix(3, {(0, 1): near, (0, 2): 80.0}), capture=capture)
            name = f"802.11a, {rate:g} Mb/s, hidden, {near:g} and 80 dB"
            name += ", capture" if capture else ""
            found.append(Setup(name, "11a", rate, flows, stations=2, radio=radio, seconds=4.0))
    # Nodes: ap0, sta0, sta1, ap1 and, with three cells, sta2 and ap2.
    two = (Flow("udp", "ap0", "sta0"), Flow("udp", "ap1", "sta1"))
    heard = {(0, 1): 60.0, (2, 3): 60.0}
    places = {
        "all in hearing": heard | {(0, 3): 70.0, (0, 2): 70.0, (1, 3): 70.0, (1, 2): 70.0},
        "exposed": heard | {(0, 3): 90.0},
        "clients between": heard | {(0, 2): 75.0, (1, 3): 75.0, (1, 2): 70.0},
        "one client between": heard | {(0, 2): 75.0},
    }
    for where, losses in places.items():
        for rts in (False, True):
            radio = Radio(losses=matrix(4, losses), cells=(0, 1))
            name = f"802.11a, 24 Mb/s, two cells, {where}" + (", RTS/CTS" if rts else "")
            found.append(
                Setup(name, "11a", 24.0, two, stations=2, rts=rts, radio=radio, seconds=4.0)
            )
    three = (*two, Flow("udp", "ap2", "sta2"))
    for apart in (25.0, 40.0):
        radio = Radio(
            positions=(
                (0.0, 0.0),
                (0.0, 4.0),
                (apart, 4.0),
                (2 * apart, 4.0),
                (apart, 0.0),
                (2 * apart, 0.0),
            ),
            cells=(0, 1, 2),
            exponent=3.5,
            energy_dbm=-62.0,
        )
        name = f"802.11a, 24 Mb/s, three cells in a row, {apart:g} m"
        found.append(Setup(name, "11a", 24.0, three, stations=3, radio=radio, seconds=4.0))
    return found


def rates() -> list[Setup]:
    """Rate control at three distances."""
    found = []
    for control in ("ideal", "minstrel_ht"):
        for standard in ("11n", "11ac"):
            for metres in (10.0, 25.0, 40.0):
                radio = Radio(positions=((0.0, 0.0), (metres, 0.0)), error="table")
                best = 7 if standard == "11n" else 8
                found.append(
                    Setup(
                        f"802.{standard}, {control}, {metres:g} m",
                        standard,
                        best,
                        up(),
                        rate_control=control,
                        radio=radio,
                        seconds=4.0,
                    )
                )
    return found
