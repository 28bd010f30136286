"""HE TB PPDUs and rounds of triggers, against the durations that the simulator has."""

from __future__ import annotations

import pytest

import simoom as sm
from simoom.models.ofdma_uplink import Triggers, txop_of
from simoom.models.resource_units import NUMBERS, Answers, End, none_empty
from simoom.models.txop import Sender

WIDTH = {26: 20, 52: 20, 106: 20, 242: 20, 484: 40, 996: 80, 1992: 160}


def part(told: dict, name: str) -> dict:
    (found,) = (each for each in told["parts"] if each["part"].startswith(name))
    return found


@pytest.mark.parametrize(("streams", "guard_ns"), [(1, 1600), (2, 1600), (1, 3200)])
@pytest.mark.parametrize("mcs", range(12))
@pytest.mark.parametrize("tones", WIDTH)
def test_a_ppdu_lasts_as_long_as_in_the_simulator(tones, mcs, streams, guard_ns):
    answers = Answers(tones, mcs, streams, guard_ns)
    longest = answers.longest(5484.0)
    for size in (38, 100, 333, 562, 1100):
        if longest is None or size > answers.room(longest):
            continue
        told = sm.airtime(
            "11ax", direction="up", users=[{"count": 1, "ru": tones}], mcs=mcs, streams=streams,
            psdu_bytes=size, width_mhz=WIDTH[tones], guard_ns=guard_ns, small_1024_qam=True,
        )  # fmt: skip
        data, end = part(told, "HE TB"), answers.end(size)
        lasts = data["duration_us"] - data["packet_extension_us"]
        assert answers.lasting_us(end) == pytest.approx(lasts), (size, end)
        assert answers.announced_us(end) == data["announced_us"]
        (user,) = told["users"]
        assert answers.most(end) == size + user["padding_bytes"]
        assert answers.is_ldpc == (user["coding"] == "ldpc")
        room = answers.room(end)
        assert room >= size
        assert answers.end(room) <= end < answers.end(room + 9)


def test_the_longest_ppdu():
    # 377 symbols of 14.4 us after 48 us; with LDPC one is kept for an extra segment.
    assert Answers(26, 0).longest(5484.0) == End(377)
    assert Answers(26, 0).most(End(377)) == 562
    assert Answers(484, 4).longest(5484.0) == End(376)
    assert Answers(26, 0).longest(62.0) is None
    # 62.4 us would be announced as 64.
    assert Answers(26, 0).longest(63.0) is None


def test_units_of_which_none_is_empty():
    assert [none_empty(20, number)[1] for number in (1, 2, 3, 4, 8, 9, 30)] == [1, 2, 2, 4, 4, 9, 9]
    assert [none_empty(80, number) for number in (1, 5, 37)] == [(996, 1), (242, 4), (26, 37)]
    assert all(numbers[26] > 2 * numbers[52] for numbers in NUMBERS.values())
    with pytest.raises(ValueError, match="stations: must be at least 1"):
        none_empty(20, 0)
    with pytest.raises(ValueError, match="width_mhz: must be one of"):
        none_empty(320, 2)


@pytest.mark.parametrize("bsrp", [True, False])
@pytest.mark.parametrize(("users", "tones"), [(2, 106), (4, 52), (9, 26)])
def test_a_round_of_triggers_lasts_as_long_as_in_the_simulator(users, tones, bsrp):
    sender = Sender("11ax", 1538, 7, 256, 6_500_631, 5484.0, 0.0, 24.0, 56)
    found = txop_of(sender, Triggers(users, Answers(tones, 7), bsrp=bsrp))
    told = sm.airtime(
        "11ax", direction="up", users=[{"count": users, "ru": tones}], mcs=7, bsrp=bsrp,
        psdu_bytes=Answers(tones, 7).room(End(376)), trigger_padding_us=16, block_ack_window=256,
    )  # fmt: skip
    beside = told["total_us"] - part(told, "HE TB PPDUs, data")["announced_us"]
    assert found.lasting_us - 43.0 - beside == Answers(tones, 7).announced_us(End(377))
    assert found.exposed_us == told["parts"][0]["duration_us"]


def test_what_no_answer_has_room_for_is_refused():
    sender = Sender("11ax", 11_000, 0, 256, 6_500_631, 5484.0, 0.0, 6.0, 56)
    with pytest.raises(ValueError, match="no MPDU of 11000 bytes fits into an answer"):
        txop_of(sender, Triggers(9, Answers(26, 0)))


def test_sizes_of_queues_are_told_rounded_up():
    he, legacy = Triggers(2, Answers(106, 7)), Triggers(2, Answers(106, 7), legacy_sizes=True)
    assert [he.told(size) for size in (1, 1009, 17_153, 146_433)] == [16, 1024, 17_408, 148_480]
    assert he.told(2_147_329) > 1 << 40
    assert [legacy.told(size) for size in (1, 257, 64_768)] == [256, 512, 64_768]
    assert legacy.told(64_769) > 1 << 40
