"""MACs with aggregation: the table of the MCS-CUBIC scenario, ns-3, limits."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from simoom.models import aggregation as agg
from simoom.models import tcp_aggregation, timing

# MCS: MPDUs, data and preamble in us, cycle in us, Mb/s of application
OKADA = {
    0: (3, 5134, 5328, 6.52),
    1: (6, 5134, 5328, 13.04),
    2: (9, 5134, 5328, 19.57),
    3: (12, 5134, 5328, 26.09),
    4: (19, 5415, 5609, 39.24),
    5: (25, 5346, 5541, 52.27),
    6: (28, 5321, 5516, 58.81),
    7: (32, 5472, 5667, 65.41),
    8: (32, 4569, 4763, 77.82),
}


def test_effective_throughput_of_the_mcs_cubic_scenario():
    mcs = np.array(list(OKADA))
    link = agg.effective_throughput(mcs, **agg.OKADA)
    for i, (mpdus, ppdu, cycle, mbps) in enumerate(OKADA.values()):
        assert link.mpdus[i] == mpdus
        assert link.ppdu_us[i] == pytest.approx(ppdu, abs=0.51)
        assert link.cycle_us[i] == pytest.approx(cycle, abs=0.51)
        assert link.throughput_mbps[i] == pytest.approx(mbps, abs=0.0051)


def test_published_windows():
    """100 kB at MCS 5 and 147 kB at MCS 8 imply the same round-trip time."""
    link = agg.effective_throughput([5, 8], **agg.OKADA)
    rtt = np.array([100e3, 147e3]) * 16 / link.throughput_mbps / 1000
    assert rtt == pytest.approx([30.4, 30.4], abs=0.25)
    windows = agg.ideal_window_bytes(link.throughput_mbps, rtt_ms=30.4)
    assert windows == pytest.approx([100e3, 147e3], rel=0.01)


def test_limits_bind_one_at_a_time():
    free = agg.effective_throughput(8)
    assert free.ppdu_us <= timing.MAX_PPDU_US
    one_more = 1544 * free.mpdus + 4 + 1538
    assert timing.ppdu_us(one_more, standard="11ac", mcs=8) > timing.MAX_PPDU_US
    assert agg.effective_throughput(8, max_mpdus=10).mpdus == 10
    assert agg.effective_throughput(11, standard="11ax", width_mhz=80).mpdus == 256
    assert agg.effective_throughput(9, width_mhz=160).mpdus == 64  # the Block Ack window
    short = agg.effective_throughput(8, max_ampdu_bytes=16_000)
    assert short.psdu_bytes <= 16_000 < short.psdu_bytes + 1544
    n = agg.effective_throughput(7, standard="11n")
    assert n.psdu_bytes <= 65_535


def test_an_amsdu_has_fewer_headers():
    one = agg.effective_throughput(8, payload_bytes=200, max_mpdus=16)
    seven = agg.effective_throughput(8, payload_bytes=200, max_mpdus=16, msdus_per_mpdu=7)
    assert seven.throughput_mbps > 1.3 * one.throughput_mbps
    # one MPDU of two MSDUs: header 26, subheaders 14, padding between the two, FCS 4
    two = agg.effective_throughput(0, payload_bytes=101, msdus_per_mpdu=2, max_mpdus=1)
    assert two.psdu_bytes == 4 + 26 + 176 + 14 + 161 + 4


def test_bit_errors_reduce_the_throughput():
    clean, dirty = agg.effective_throughput(8, bit_error_rate=[0.0, 1e-5]).throughput_mbps
    assert dirty / clean == pytest.approx((1 - 1e-5) ** (8 * 1542), rel=1e-12)
    # long A-MSDUs stop paying under errors
    y = np.array([1, 7])
    base = {"payload_bytes": 1448, "msdus_per_mpdu": y}
    good = agg.effective_throughput(8, **base).throughput_mbps
    bad = agg.effective_throughput(8, bit_error_rate=3e-5, **base).throughput_mbps
    assert good[1] > good[0]
    assert bad[1] < bad[0]


def test_refusals():
    with pytest.raises(ValueError, match="msdus_per_mpdu"):
        agg.effective_throughput(7, standard="11n", msdus_per_mpdu=6)
    with pytest.raises(ValueError, match="max_ppdu_us"):
        agg.effective_throughput(0, max_ppdu_us=100)
    with pytest.raises(ValueError, match="max_ampdu_bytes"):
        agg.effective_throughput(0, max_ampdu_bytes=1000)
    with pytest.raises(ValueError, match="standard"):
        agg.effective_throughput(0, standard="11a")


@given(
    mode=st.sampled_from(
        [("11n", 20, 7), ("11n", 40, 7), ("11ac", 20, 8), ("11ac", 80, 9), ("11ax", 20, 11)]
    ),
    streams=st.integers(1, 4),
    payload=st.integers(20, 700),
    y=st.integers(1, 4),
    ber=st.sampled_from([0.0, 1e-6, 1e-4]),
)
@settings(max_examples=60, deadline=None)
def test_over_the_parameter_space(mode, streams, payload, y, ber):
    name, width, top = mode
    at = {"standard": name, "width_mhz": width, "streams": streams, "bit_error_rate": ber}
    mcs = np.arange(top + 1)
    link = agg.effective_throughput(mcs, payload_bytes=payload, msdus_per_mpdu=y, **at)
    assert np.all((link.efficiency > 0) & (link.efficiency < 1))
    assert np.all(np.diff(link.mpdus) >= 0)
    assert np.all(link.ppdu_us <= timing.MAX_PPDU_US)
    assert np.all(np.diff(link.throughput_mbps) > 0)


def test_one_tcp_flow_against_ns3(table):
    """Lossless queues, both directions, delayed ACK 1 and 2: within 3.5 %, 5 % at MCS 0."""
    modes = {
        "n20": {"standard": "11n"},
        "ac20": {"standard": "11ac", "guard_ns": 400, "round_short_guard": False},
        "ax20": {"standard": "11ax"},
        "ax80": {"standard": "11ax", "width_mhz": 80},
    }
    seen = 0
    for row in table("ns3/s2_tcp_single_summary"):
        if row["phy"] not in modes or row["macq"] != "10000p" or row["cc"] != "TcpNewReno":
            continue
        flow = tcp_aggregation.flow(
            row["mcs"],
            answers="at_once" if row["dir"] == "down" else "waiting",
            delayed_ack=row["delack"],
            max_ampdu_bytes=65_535,
            max_mpdus=64,
            **modes[row["phy"]],
        )
        assert flow.throughput_mbps == pytest.approx(
            row["goodput_mbps"], rel=0.035 if row["mcs"] else 0.05
        ), row
        seen += 1
    assert seen == 16


def test_tcp_has_less_throughput_than_the_mac():
    mcs = np.arange(9)
    mac = agg.effective_throughput(mcs).throughput_mbps
    for how in ("at_once", "waiting"):
        flow = tcp_aggregation.flow(mcs, answers=how)
        assert np.all(flow.throughput_mbps < mac)
        fewer = tcp_aggregation.flow(mcs, answers=how, delayed_ack=10**6)
        assert np.all(fewer.throughput_mbps >= flow.throughput_mbps)
        assert np.all(fewer.ack_mpdus == 1)
