"""Durations of frames against the tables of the standard's clauses."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from simoom.models import timing as t

# ACK/CTS 14 B, RTS 20 B, Block Ack request 24 B, Block Ack 32 B, data 1536 B; microseconds
OFDM = {
    6: (44, 52, 56, 68, 2072),
    9: (36, 44, 44, 52, 1388),
    12: (32, 36, 40, 44, 1048),
    18: (28, 32, 32, 36, 704),
    24: (28, 28, 32, 32, 536),
    36: (24, 28, 28, 28, 364),
    48: (24, 24, 28, 28, 280),
    54: (24, 24, 24, 28, 248),
}
DSSS = {  # rate: ACK long, RTS long, data long, ACK short, data short
    1: (304, 352, 12480, None, None),
    2: (248, 272, 6336, 152, 6240),
    5.5: (213, 222, 2427, 117, 2331),
    11: (203, 207, 1310, 107, 1214),
}
HT = {20: (26, 52, 78, 104, 156, 208, 234, 260), 40: (54, 108, 162, 216, 324, 432, 486, 540)}
VHT = {
    20: (26, 52, 78, 104, 156, 208, 234, 260, 312),
    40: (54, 108, 162, 216, 324, 432, 486, 540, 648, 720),
    80: (117, 234, 351, 468, 702, 936, 1053, 1170, 1404, 1560),
    160: (234, 468, 702, 936, 1404, 1872, 2106, 2340, 2808, 3120),
}
HE = {
    20: (117, 234, 351, 468, 702, 936, 1053, 1170, 1404, 1560, 1755, 1950),
    40: (234, 468, 702, 936, 1404, 1872, 2106, 2340, 2808, 3120, 3510, 3900),
    80: (490, 980, 1470, 1960, 2940, 3920, 4410, 4900, 5880, 6533, 7350, 8166),
}


@pytest.mark.parametrize(("rate", "expected"), OFDM.items())
def test_ofdm_durations(rate, expected):
    sizes = [14, 20, 24, 32, 1536]
    assert t.ppdu_us(sizes, standard="11a", rate_mbps=rate).tolist() == list(expected)
    late = t.ppdu_us(sizes, standard="11g", rate_mbps=rate)
    assert late.tolist() == [us + 6 for us in expected]


@pytest.mark.parametrize(("rate", "expected"), DSSS.items())
def test_dsss_durations(rate, expected):
    ack, rts, data, short_ack, short_data = expected
    assert t.ppdu_us([14, 20, 1536], standard="11b", rate_mbps=rate).tolist() == [ack, rts, data]
    if short_ack is not None:
        short = t.ppdu_us([14, 1536], standard="11b", rate_mbps=rate, short_preamble=True)
        assert short.tolist() == [short_ack, short_data]


@pytest.mark.parametrize(("name", "tables"), [("11n", HT), ("11ac", VHT), ("11ax", HE)])
def test_data_bits_per_symbol(name, tables):
    for width, bits in tables.items():
        mcs = np.arange(len(bits))
        assert t.data_bits_per_symbol(mcs, standard=name, width_mhz=width).tolist() == list(bits)


def test_phy_rates_of_the_highest_modes():
    for name, mcs, width, guard, rate in [
        ("11n", 7, 20, 400, 72.2),
        ("11ac", 8, 20, 400, 86.7),
        ("11ac", 9, 80, 400, 433.3),
        ("11ax", 11, 20, 800, 143.4),
        ("11ax", 11, 80, 800, 600.5),
        ("11be", 12, 80, 800, 648.5),
        ("11be", 13, 20, 800, 172.1),
        ("11be", 13, 320, 800, 2882.4),
    ]:
        bits = t.data_bits_per_symbol(mcs, standard=name, width_mhz=width)
        assert bits / t.symbol_us(standard=name, guard_ns=guard) == pytest.approx(rate, abs=0.06)


@pytest.mark.parametrize(
    ("width", "punctured", "rates"),
    [
        (80, 20, (25.8, 258.1, 430.1, 516.2)),
        (160, 20, (61.8, 618.4, 1030.6, 1236.8)),
        (160, 40, (53.2, 532.4, 887.3, 1064.7)),
        (320, 40, (125.3, 1252.9, 2088.2, 2505.9)),
        (320, 80, (108.1, 1080.9, 1801.5, 2161.8)),
        (320, 120, (89.3, 892.6, 1487.7, 1785.3)),
    ],
)
def test_rates_of_punctured_channels(width, punctured, rates):
    bits = t.data_bits_per_symbol(
        [0, 7, 11, 13], standard="11be", width_mhz=width, punctured_mhz=punctured
    )
    assert bits / 13.6 == pytest.approx(rates, abs=0.1)
    with pytest.raises(ValueError, match="punctured_mhz: "):
        t.data_bits_per_symbol(0, standard="11be", width_mhz=width, punctured_mhz=60)
    with pytest.raises(ValueError, match=r"punctured_mhz: 20 of 80 MHz do not exist in 11ax"):
        t.data_bits_per_symbol(0, standard="11ax", width_mhz=80, punctured_mhz=20)


def test_preambles_by_streams():
    def of(name, streams, **more):
        return [t.preamble_us(standard=name, streams=n, **more) for n in streams]

    assert of("11n", (1, 2, 3, 4)) == [36, 40, 48, 48]
    assert of("11ac", (1, 2, 4, 8)) == [40, 44, 52, 68]
    assert of("11ax", (1, 2)) == pytest.approx([43.2, 50.4])
    assert of("11ax", (1,), guard_ns=3200) == pytest.approx([52.0])
    assert of("11be", (1, 2)) == pytest.approx([51.2, 58.4])  # EHT-SIG has two symbols of 4 us


def test_short_guard_is_rounded_up_to_four_microseconds():
    mode = {"standard": "11ac", "mcs": 0, "guard_ns": 400}
    assert t.ppdu_us(4596, **mode, round_short_guard=False) == pytest.approx(40 + 1415 * 3.6)
    assert t.ppdu_us(4596, **mode) == 40 + 5096
    assert t.ppdu_us(100, **mode) >= t.ppdu_us(100, **mode, round_short_guard=False)


def test_interframe_spaces_and_timeouts():
    assert [t.standard(name).difs_us for name in ("11b", "11a", "11g")] == [50, 34, 28]
    assert [t.standard(name).aifs_us for name in t.AGGREGATING] == [43, 43, 43, 43]
    assert [t.eifs_us(name) for name in ("11b", "11a", "11g", "11ac")] == [364, 94, 88, 103]
    assert [t.response_timeout_us(name) for name in ("11b", "11a", "11g")] == [222, 45, 39]


def test_rates_of_answers():
    rates = [6, 9, 12, 18, 24, 36, 48, 54]
    answers = t.control_rate_mbps(standard="11a", rate_mbps=rates)
    assert answers.tolist() == [6, 6, 12, 12, 24, 24, 24, 24]
    assert t.control_rate_mbps(standard="11b", rate_mbps=[1, 2, 11]).tolist() == [1, 2, 2]
    assert t.control_rate_mbps(standard="11ac", mcs=[0, 1, 2, 3, 8]).tolist() == [6, 12, 12, 24, 24]
    assert t.control_rate_mbps(standard="11ax") == 24


def test_exchange_adds_up():
    # RTS 28, CTS 28, data 256, ACK 28 at 54 and 24 Mb/s; three or one SIFS and a DIFS
    shield = t.exchange(1564, standard="11a", rts=True, rate_mbps=54, control_mbps=24)
    assert (shield.success_us, shield.exposed_us) == (28 + 28 + 256 + 28 + 3 * 16 + 34, 28)
    plain = t.exchange(1564, standard="11a", rate_mbps=54)
    assert (plain.success_us, plain.exposed_us) == (256 + 16 + 28 + 34, 256)


def test_aggregate_has_delimiters_padding_and_a_block_ack():
    one = t.exchange(1538, standard="11ac", mcs=8, mpdus=1)
    psdu = 31 * 1544 + 4 + 1538
    many = t.exchange(1538, standard="11ac", mcs=8, mpdus=32)
    assert many.exposed_us == t.ppdu_us(psdu, standard="11ac", mcs=8)
    block_ack = t.control_us(32, standard="11ac", rate_mbps=24)
    assert many.success_us == many.exposed_us + 16 + block_ack + 43
    assert one.success_us == one.exposed_us + 16 + 28 + 43


@given(
    size=st.integers(1, 11_454),
    mode=st.sampled_from(
        [
            ("11b", 11.0, None),
            ("11a", 6.0, None),
            ("11g", 54.0, None),
            ("11n", None, 7),
            ("11ac", None, 0),
            ("11ax", None, 11),
            ("11be", None, 13),
        ]
    ),
)
@settings(deadline=None)
def test_a_byte_more_never_takes_less(size, mode):
    name, rate, mcs = mode
    short, long = t.ppdu_us([size, size + 1], standard=name, rate_mbps=rate, mcs=mcs)
    assert short <= long
    assert short > t.preamble_us(standard=name)


def test_modes_that_do_not_exist():
    for words, call in {
        "rate_mbps": lambda: t.ppdu_us(100, standard="11a", rate_mbps=11),
        "mcs": lambda: t.ppdu_us(100, standard="11ac", mcs=9),
        "mcs: must be": lambda: t.ppdu_us(100, standard="11n", mcs=8),
        "width_mhz": lambda: t.ppdu_us(100, standard="11n", width_mhz=80, mcs=0),
        "streams": lambda: t.ppdu_us(100, standard="11n", streams=5, mcs=0),
        "guard_ns": lambda: t.ppdu_us(100, standard="11ax", guard_ns=400, mcs=0),
        "short_preamble": lambda: t.ppdu_us(100, standard="11b", rate_mbps=1, short_preamble=True),
        "mpdus": lambda: t.exchange(100, standard="11a", mpdus=2),
        "standard": lambda: t.standard("11bn"),
        "psdu_bytes": lambda: t.ppdu_us(-1, standard="11b"),
    }.items():
        with pytest.raises(ValueError, match=words):
            call()


def test_mcs_9_of_vht_exists_where_its_symbol_has_whole_bits():
    assert t.data_bits_per_symbol(9, standard="11ac", streams=3) == 1040
    assert t.ppdu_us(1538, standard="11ac") == t.ppdu_us(1538, standard="11ac", mcs=8)
    wide = {"standard": "11ac", "width_mhz": 80}
    assert t.ppdu_us(1538, **wide) == t.ppdu_us(1538, mcs=9, **wide)
