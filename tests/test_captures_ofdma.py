"""What tshark reads in captures of OFDMA: Trigger frames, what answers them, and whether both fit.

The laws are those of 802.11ax-2021 clauses 9.3.1.22 and 26.5.2; the capture alone is looked at.
"""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path

import pytest

import simoom as sm

FIELDS = (
    "frame.time_epoch",
    "radiotap.timestamp.ts",
    "wlan.fc.type_subtype",
    "wlan.ta",
    "radiotap.he.data_1.ppdu_format",
    "radiotap.he.data_3.data_mcs",
    "radiotap.he.data_5.data_bw_ru_allocation",
    "radiotap.he.data_2.ru_allocation_offset",
    "wlan.trigger.he.trigger_type",
    "wlan.trigger.he.ul_length",
    "wlan.trigger.he.user_info.aid12",
    "wlan.trigger.he.ru_allocation",
    "wlan.trigger.he.mcs",
    "wlan.trigger.he.ru_starting_spatial_stream",
    "wlan.trigger.he.ru_number_of_spatial_stream",
    "wlan.ba.control.ba_type",
    "wlan.ba.multi_sta.aid11",
    "wlan.qos.queue_size",
    "_ws.malformed",
    "_ws.expert.severity",
)
TRIGGER, DATA, NULL, BLOCK_ACK, CTS = 0x12, 0x28, 0x2C, 0x19, 0x1C
BASIC, MU_BAR, MU_RTS, BSRP = 0, 2, 3, 4
HE_MU, HE_TB = 2, 3
SIFS = Fraction(16, 10**6)
ERROR = 0x0080_0000
FIRST_OF_SIZE = {4: 0, 5: 37, 6: 53, 7: 61, 8: 65, 9: 67}
"""RU Allocation of the first resource unit of each size, by the size's code in radiotap."""


Read = Callable[[sm.Scenario], list["Packet"]]


@dataclass(frozen=True)
class Packet:
    """A packet of the capture; numbers are lists where a field may stand several times."""

    start: Fraction
    end: Fraction
    kind: int
    station: int | None
    ppdu: int | None
    unit: int | None
    mcs: int | None
    trigger: int | None
    length: int | None
    asked: dict[int, tuple[int, int]]
    """Resource unit and MCS of each AID that a Trigger frame asks."""
    random: range
    """The RA-RUs of a Trigger frame, which AID 0 has."""
    acked: list[int]
    queue: int | None
    is_faulty: bool


def numbers(text: str) -> list[int]:
    return [int(part, 0) for part in text.split(",") if part]


def number(text: str) -> int | None:
    return next(iter(numbers(text)), None)


def packet(values: dict[str, str]) -> Packet:
    named = {field.rsplit(".", 1)[-1]: value for field, value in values.items()}
    size = number(named["data_bw_ru_allocation"])
    offset = number(named["ru_allocation_offset"])
    first = None if size is None or offset is None else FIRST_OF_SIZE.get(size)
    severities = numbers(named["severity"])
    users = list(zip(numbers(named["ru_allocation"]), numbers(named["mcs"]), strict=True))
    asked = dict(zip(numbers(named["aid12"]), users, strict=True))
    # RA-RU Information is in the place of SS Allocation: five bits for the number less one.
    streams = zip(
        numbers(named["ru_starting_spatial_stream"]),
        numbers(named["ru_number_of_spatial_stream"]),
        strict=True,
    )
    allocated = dict(zip(asked, streams, strict=True)).get(0)
    more = allocated[0] | (allocated[1] & 3) << 3 if allocated else -1
    lowest = asked[0][0] if 0 in asked else 0
    return Packet(
        start=Fraction(named["time_epoch"]),
        end=Fraction(int(named["ts"]), 10**9),
        kind=int(named["type_subtype"], 0),
        station=int(named["ta"].replace(":", ""), 16) & 0xFFFF if named["ta"] else None,
        ppdu=number(named["ppdu_format"]),
        unit=None if first is None or offset is None else first + offset,
        mcs=number(named["data_mcs"]),
        trigger=number(named["trigger_type"]),
        length=number(named["ul_length"]),
        asked=asked,
        random=range(lowest, lowest + more + 1),
        acked=numbers(named["aid11"]),
        queue=number(named["queue_size"]),
        is_faulty=bool(named["malformed"]) or any(it >= ERROR for it in severities),
    )


@pytest.fixture
def captured(program: Callable[..., str], tmp_path: Path) -> Read:
    """Run a scenario and read the capture of its monitor."""
    tshark = program("tshark", package="tshark")

    def read(scenario: sm.Scenario) -> list[Packet]:
        sm.run(scenario, trace=tmp_path / "out.pcapng")
        path = tmp_path / "out.monitor.pcapng"
        chosen = [option for field in FIELDS for option in ("-e", field)]
        command = [tshark, "-r", str(path), "-T", "fields", *chosen]
        done = subprocess.run(command, check=True, capture_output=True, text=True)
        rows = (line.split("\t") for line in done.stdout.splitlines())
        return [packet(dict(zip(FIELDS, row, strict=True))) for row in rows]

    return read


def cell(**mu: object) -> sm.Scenario:
    return sm.Scenario(
        standard="11ax",
        stations=4,
        duration_s=0.1,
        warmup_s=0.0,
        wlan={"mcs": 7, "width_mhz": 20, "mu": mu},
    )


def uploads(**uplink: object) -> sm.Scenario:
    scenario = cell(uplink={"access_interval_us": 1000.0, **uplink})
    return scenario.set("flows", [{"from": "sta*", "to": "ap", "traffic": "saturated"}])


def downloads(acknowledgement: str) -> sm.Scenario:
    flows = [{"from": "ap", "to": "sta*", "traffic": "saturated"}]
    return cell(acknowledgement=acknowledgement).set("flows", flows)


def check_answers(packets: list[Packet]) -> int:
    """HE TB PPDUs are what the Trigger frame before them asks for; return their number."""
    asked: Packet | None = None
    answers = 0
    for each in packets:
        asked = each if each.kind == TRIGGER else asked
        if each.ppdu != HE_TB:
            continue
        answers += 1
        assert asked is not None
        assert asked.length is not None
        assert each.station is not None
        assert each.start == asked.end + SIFS
        if each.station in asked.asked:
            assert (each.unit, each.mcs) == asked.asked[each.station]
        else:
            assert each.unit in asked.random
            assert each.mcs == asked.asked[0][1]
        # UL Length (equation 27-11): 1 modulo 3, in steps of 4 us.
        announced = Fraction(20 + 4 * -(-(asked.length + 5) // 3), 10**6)
        assert asked.length % 3 == 1
        assert announced - Fraction(4, 10**6) < each.end - each.start <= announced
    return answers


@pytest.mark.parametrize("bsrp", [False, True])
def test_stations_answer_as_trigger_frames_ask(captured: Read, bsrp: bool) -> None:
    packets = captured(uploads(bsrp=bsrp))
    assert not any(each.is_faulty for each in packets)
    assert check_answers(packets) > 40
    kinds = {each.trigger for each in packets if each.kind == TRIGGER}
    assert kinds == ({BASIC, BSRP} if bsrp else {BASIC})
    nulls = [each for each in packets if each.kind == NULL]
    assert bool(nulls) == bsrp
    assert all(each.ppdu == HE_TB for each in nulls)
    # The queues are saturated, and each frame tells so.
    from_stations = [each for each in packets if each.kind in {DATA, NULL} and each.station]
    assert all(each.queue for each in from_stations)


def test_a_multi_sta_block_ack_acknowledges_who_has_sent(captured: Read) -> None:
    packets = captured(uploads())
    sent: set[int] = set()
    acknowledged = []
    for each in packets:
        if each.kind == TRIGGER:
            sent = set()
        elif each.ppdu == HE_TB and each.kind != NULL and each.station:
            sent.add(each.station)
        elif each.kind == BLOCK_ACK and each.acked:
            assert set(each.acked) == sent
            acknowledged.append(each.acked)
    assert all(len(acked) == len(set(acked)) for acked in acknowledged)
    assert sum(len(acked) > 1 for acked in acknowledged) > 5


def test_a_mu_bar_asks_those_who_got_data(captured: Read) -> None:
    packets = captured(downloads("mu_bar"))
    assert not any(each.is_faulty for each in packets)
    assert check_answers(packets) > 50
    assert {each.trigger for each in packets if each.kind == TRIGGER} == {MU_BAR}
    # Four of 52 tones, from RU Allocation 37 on.
    asked = [each.asked for each in packets if each.kind == TRIGGER]
    assert all([unit for unit, _ in it.values()] == [37, 38, 39, 40] for it in asked)
    units = {each.unit for each in packets if each.ppdu == HE_MU}
    assert units == {37, 38, 39, 40}


def test_an_aggregated_mu_bar_is_in_the_data(captured: Read) -> None:
    packets = captured(downloads("aggregated_mu_bar"))
    assert not any(each.is_faulty for each in packets)
    bars = [each for each in packets if each.kind == TRIGGER]
    assert len(bars) > 50
    for bar in bars:
        # For one user, in the PPDU of its data and on its resource unit.
        [(unit, _)] = bar.asked.values()
        assert bar.ppdu == HE_MU
        assert bar.unit == unit


@pytest.mark.parametrize("downlink", [True, False])
def test_each_station_answers_an_mu_rts_with_the_same_cts(captured: Read, downlink: bool) -> None:
    scenario = downloads("mu_bar") if downlink else uploads(bsrp=False)
    packets = captured(scenario.set("wlan.mu.protection", "mu_rts"))
    assert not any(each.is_faulty for each in packets)
    requests = [nth for nth, each in enumerate(packets[:-1]) if each.trigger == MU_RTS]
    # Others collide, with the data of a station.
    places = [nth for nth in requests if packets[nth + 1].start > packets[nth].end]
    assert len(places) >= 5
    for nth in places:
        request = packets[nth]
        stations = len(request.asked)
        # 61 is all of 20 MHz, in B7 to B1 of RU Allocation.
        assert {unit for unit, _ in request.asked.values()} == {61}
        answers, first = packets[nth + 1 : nth + 1 + stations], packets[nth + 1 + stations]
        assert {each.kind for each in answers} == {CTS}
        assert {each.start for each in answers} == {request.end + SIFS}
        assert {each.end - each.start for each in answers} == {Fraction(44, 10**6)}
        assert first.start == answers[0].end + SIFS
        assert first.ppdu == HE_MU if downlink else first.trigger == BASIC


@pytest.mark.parametrize("triggers", ["bsrp", "basic"])
def test_stations_that_are_not_asked_answer_in_units_for_random_access(
    captured: Read, triggers: str
) -> None:
    random_access = {"units": 3, "triggers": triggers}
    packets = captured(
        uploads(random_access=random_access)
        .set("stations", 12)
        .set("wlan.mu.max_users", 5)
        .set("wlan.mu.min_users", 1)
    )
    assert not any(each.is_faulty for each in packets)
    assert check_answers(packets) > 40
    offers = [each for each in packets if each.random]
    assert {each.trigger for each in offers} == {BSRP if triggers == "bsrp" else BASIC}
    # One User Info with AID 0 is for three units, beside two stations that are asked.
    assert all(len(each.random) == 3 and len(each.asked) <= 3 for each in offers)
    asked: set[int] = set()
    at_random = 0
    for each in packets:
        asked = set(each.asked) if each.kind == TRIGGER else asked
        at_random += each.ppdu == HE_TB and each.station not in asked
    assert at_random > 10


ALL_USERS = ("sig_b_mcs", "bw_from_sig_a", "sig_b_syms_or_mu_mimo_users", "sig_b_compression")
CODES = tuple(f"chan{channel}_rus_{nth}_index" for channel in (1, 2) for nth in range(4))


@pytest.mark.parametrize(
    ("width", "mcs", "codes", "told"),
    [
        # Four of 52 tones. MCS 5 of HE-SIG-B has 208 bits in a symbol, of which 18 + 104 are used.
        (20, 7, [[112], []], (5, 0, 1)),
        # Two of 106 tones in each 20 MHz, the second of which is in the second content channel.
        (40, 7, [[96], [96]], (5, 1, 1)),
        # 242 tones each: 27 bits and 52 of two users, in symbols of 26 bits.
        (80, 0, [[192, 192], [192, 192]], (0, 2, 4)),
    ],
)
def test_the_field_he_mu_tells_what_all_users_have_in_common(
    program: Callable[..., str],
    tmp_path: Path,
    width: int,
    mcs: int,
    codes: list[list[int]],
    told: tuple[int, int, int],
) -> None:
    tshark = program("tshark", package="tshark")
    scenario = downloads("mu_bar").set("wlan.width_mhz", width).set("wlan.mcs", mcs)
    sm.run(scenario, trace=tmp_path / "out.pcapng")
    fields = ["wlan.ra", "radiotap.he.data_4.sta_id_user", "radiotap.he.data_1.ppdu_format"]
    fields += [f"radiotap.he_mu.{name}" for name in (*ALL_USERS, *CODES)]
    command = [tshark, "-r", str(tmp_path / "out.monitor.pcapng"), "-T", "fields"]
    command += [option for field in fields for option in ("-e", field)]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    of_several = 0
    for line in done.stdout.splitlines():
        receiver, station, ppdu, *rest = line.split("\t")
        if number(ppdu) != HE_MU:
            assert not any(rest), line
            continue
        of_several += 1
        assert number(station) == int(receiver.replace(":", ""), 16) & 0xFFFF
        sig_b, bandwidth, symbols, compressed = (number(text) for text in rest[:4])
        assert (sig_b, bandwidth, (symbols or 0) + 1, compressed) == (*told, 0)
        known = [[number(text) for text in rest[4:8]], [number(text) for text in rest[8:]]]
        for own, expected in zip(known, codes, strict=True):
            assert [code for code in own if code][: len(expected)] == expected
    assert of_several > 50
