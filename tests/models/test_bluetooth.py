"""Bluetooth near 802.11b, and TCP under the residual loss."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from simoom.models import bluetooth as bt
from simoom.models import tcp_loss


def test_corruption_table(table, same):
    rows = table("models/003_pcr_per")
    assert len(rows) == 36
    for row in rows:
        at = {"rate_mbps": row["rate_mbps"], "voice": row["format"]}
        for p in ("printed", "exact"):
            pcr = bt.packet_corruption(row["bytes"], **at, p=p)
            same(pcr, row[f"PCR_{p}_p"], f"{p} {row}")
            for k in (3, 7):
                same(bt.residual_error(pcr, k), row[f"PER{k}_{p}_p"], f"{p} K={k} {row}")
        same(bt.packet_corruption(row["bytes"], **at, rule="dwell"), row["PCR_any_overlap"])
        touched = bt.packet_corruption(row["bytes"], **at, rule="dwell", preamble=True)
        same(touched, row["PCR_any_overlap_with_preamble"])
        slots = np.floor((8 * row["bytes"] / row["rate_mbps"] + 192) / 625)
        assert slots == row["N_with_preamble"]
        counted = bt.packet_corruption(row["bytes"], **at, preamble=True)
        hit = bt.slot_hit_probability(row["format"])
        assert counted == pytest.approx(1 - (1 - hit) ** slots, rel=1e-12)


def overlaps(length, period, q, phases):
    """PCR by counting the bursts of 366 us that packets of many phases overlap."""
    start = np.linspace(0, period, phases, endpoint=False) + 0.5 * period / phases
    hits = np.zeros(phases)
    for k in range(-3, int(length / period) + 4):
        for offset in (0.0, 625.0):
            burst = k * period + offset
            hits += (burst < start + length) & (burst + 366 > start)
    return 1 - np.mean((1 - q) ** hits)


@pytest.mark.parametrize("voice", ["HV1", "HV2", "HV3"])
@pytest.mark.parametrize("length", [10.0, 203.0, 366.0, 625.0, 1309.0, 2426.0, 6336.0, 12480.0])
def test_bursts_against_counting(voice, length):
    period = 625.0 * bt.FORMATS[voice].period_slots
    exact = bt.packet_corruption(length / 8, rate_mbps=1, voice=voice, rule="bursts")
    assert exact == pytest.approx(overlaps(length, period, 22 / 79, 500_000), abs=2e-5)


def test_published_overlap_values():
    expected = {  # a MPDU of 1536 bytes with long preamble: HV1, HV2, HV3
        11.0: (0.57, 0.34, 0.23),
        5.5: (0.76, 0.51, 0.37),
        2.0: (0.97, 0.82, 0.68),
        1.0: (0.999, 0.96, 0.89),
    }
    for rate, row in expected.items():
        for voice, value in zip(bt.FORMATS, row, strict=True):
            ours = bt.packet_corruption(
                1536, rate_mbps=rate, voice=voice, rule="bursts", preamble=True
            )
            assert ours == pytest.approx(value, abs=0.009)


def test_goodput_by_rate_table(table, same):
    for row in table("models/003_mac_goodput_by_rate"):
        pcr = bt.packet_corruption(
            1500, rate_mbps=row["rate_mbps"], voice=row["format"], p="printed"
        )
        link = bt.mac_goodput(pcr, attempts=row["K"], rate_mbps=row["rate_mbps"])
        same(link.goodput_mbps, row["mac_goodput_mbps"], str(row))
        same(link.attempts_per_packet, row["attempts_per_packet"], str(row))


CLEAN = {
    "preamble + 48 B MAC ACK at 1M; no IFS, back-off, MAC header; 1500 B payload": (0, 24, {}),
    "same, 38 B MAC ACK at 1M": (0, 14, {}),
    "same, 1460 B payload": (0, 14, {"payload_bytes": 1460}),
    "same with 34 B MAC header": (34, 14, {"payload_bytes": 1460}),
    "48 B MAC ACK, delayed TCP ACK": (0, 24, {"segments_per_ack": 2}),
    "everything, MAC ACK at 1M, mean back-off 310us per frame": (
        34,
        14,
        {"payload_bytes": 1460, "spaces_us": 60, "backoff_us": 310},
    ),
    "everything, MAC ACK at 11M, mean back-off 310us per frame": (
        34,
        14,
        {"payload_bytes": 1460, "spaces_us": 60, "backoff_us": 310, "mac_ack_mbps": 11},
    ),
}


def test_goodput_without_interference_table(table, same):
    bare = {"payload_bytes": 1500, "mac_ack_mbps": 1, "spaces_us": 0, "backoff_us": 0}
    seen = 0
    for row in table("models/003_goodput_no_interference"):
        if row["reading"].startswith("MC"):
            continue
        header, ack, changes = CLEAN[row["reading"]]
        link = bt.Dot11b(mac_header_bytes=header, mac_ack_bytes=ack)
        value = bt.clean_goodput_mbps(**(bare | changes), link=link)
        same(value, row["mbps"], row["reading"])
        same(100 * value / 11, row["pct_of_11"], row["reading"])
        seen += 1
    assert seen == len(CLEAN)


def test_retry_duration_table(table, same):
    for row in table("models/003_retry_duration_ms"):
        for k in (3, 7):
            value = bt.retry_duration_ms(
                k,
                draws=row["draws"],
                first_backoff=row["backoff_before_first_attempt"] == "True",
                capped=row["cw_capped"] == "True",
                mac_ack_mbps=row["mac_ack_rate"],
            )
            same(value, row[f"K{k}_ms"], str(row))


def test_implied_rtt_table(table, same):
    for row in table("models/003_sack_implied_rtt"):
        pcr = bt.packet_corruption(1500, rate_mbps=11, voice=row["format"], p=row["p"])
        loss = bt.residual_error(pcr, row["K"])
        same(loss, row["residual_loss"])
        goodput = row["table_sack_goodput_mbps"]
        rtt = tcp_loss.implied_rtt_ms(loss, goodput_mbps=goodput)
        same(rtt, row["implied_rtt_ms"], str(row))
        assert tcp_loss.mathis_mbps(loss, rtt_ms=rtt) == pytest.approx(goodput)


@given(
    size=st.floats(1, 2312),
    rate=st.sampled_from([1.0, 2.0, 5.5, 11.0]),
    voice=st.sampled_from(["HV1", "HV2", "HV3"]),
    rule=st.sampled_from(["slots", "dwell", "bursts"]),
    k=st.integers(1, 20),
)
@settings(max_examples=300, deadline=None)
def test_corruption_over_the_parameter_space(size, rate, voice, rule, k):
    at = {"voice": voice, "rule": rule}
    pcr = bt.packet_corruption(size, rate_mbps=rate, **at)
    assert 0 <= pcr < 1
    assert bt.packet_corruption(size + 1, rate_mbps=rate, **at) >= pcr - 1e-12
    with_preamble = bt.packet_corruption(size, rate_mbps=rate, preamble=True, **at)
    assert with_preamble >= pcr - 1e-12
    assert bt.residual_error(pcr, k + 1) <= bt.residual_error(pcr, k)
    if rule != "slots":  # the paper's floor is optimistic
        assert (
            pcr >= bt.packet_corruption(size, rate_mbps=rate, voice=voice) - 1e-12
            or rule == "bursts"
        )
    link = bt.mac_goodput(pcr, attempts=k, rate_mbps=rate, packet_bytes=size)
    assert 1 <= link.attempts_per_packet <= k
    assert 0 < link.goodput_mbps < rate


def test_no_corruption_is_one_attempt():
    link = bt.mac_goodput(0.0, attempts=7, rate_mbps=11)
    assert (link.attempts_per_packet, link.residual_error) == (1.0, 0.0)
    lost = bt.mac_goodput(1.0, attempts=7, rate_mbps=11)
    assert (lost.attempts_per_packet, lost.goodput_mbps) == (7.0, 0.0)


@given(
    p=st.floats(1e-9, 0.99),
    rtt=st.floats(1, 1000),
    rto=st.floats(1, 5000),
    b=st.integers(1, 4),
    window=st.one_of(st.just(np.inf), st.floats(1, 1000)),
    form=st.sampled_from(["full", "simple"]),
)
@settings(max_examples=300, deadline=None)
def test_pftk_over_the_parameter_space(p, rtt, rto, b, window, form):
    at = {"rtt_ms": rtt, "rto_ms": rto, "segments_per_ack": b, "form": form}
    rate = tcp_loss.pftk_mbps(p, window_segments=window, **at)
    assert 0 < rate < np.inf
    assert tcp_loss.pftk_mbps(p, window_segments=window, **(at | {"rto_ms": rto * 2})) <= rate * (
        1 + 1e-9
    )
    if form == "simple":
        square_root = tcp_loss.mathis_mbps(p, rtt_ms=rtt, segments_per_ack=b)
        assert rate <= square_root * (1 + 1e-9)


def test_pftk_limits():
    at = {"rtt_ms": 100, "rto_ms": 400}
    # small loss, no window: the square-root law
    for form in ("full", "simple"):
        rate = tcp_loss.pftk_mbps(1e-9, **at, form=form)
        assert rate == pytest.approx(tcp_loss.mathis_mbps(1e-9, rtt_ms=100), rel=1e-3)
        # no loss: the window
        held = tcp_loss.pftk_mbps([0.0, 1e-9], window_segments=20, form=form, **at)
        assert held == pytest.approx([20 * 1460 * 8 / 1e5] * 2, rel=1e-3)
    with pytest.raises(ValueError, match="window_segments"):
        tcp_loss.pftk_mbps(0.0, **at)


def test_pftk_of_the_residual_loss_is_what_the_paper_measured():
    """SACK without rate adaptation: 0.40 Mb/s near HV1, 2.32 near HV3; K = 3, 200 ms."""
    for voice, measured in (("HV1", 0.40), ("HV3", 2.32)):
        loss = bt.residual_error(bt.packet_corruption(1500, rate_mbps=11, voice=voice), 3)
        rate = tcp_loss.pftk_mbps(loss, rtt_ms=200, rto_ms=400)
        assert rate == pytest.approx(measured, rel=0.12)
