"""Chains of hops against ns-2 with a static route, and the window rules."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from simoom.models import chain


def test_against_ns2(table):
    """One flow, static route, 200 m hops: 2 % up to two hops and for one packet, 9 % beyond."""
    rows = [row for row in table("ns2/p2chain") if row["routing"] == "STATIC"]
    hop = {w: chain.one_hop_mbps(mac_bytes=34, cw_min=30) for w in (1, 2, 4, 8, 32)}
    assert len(rows) == 20
    for row in rows:
        value = chain.flow(row["hops"], one_hop_mbps=hop[row["W"]], window=row["W"])
        close = 0.02 if row["hops"] < 3 or row["W"] == 1 else 0.09
        assert value.throughput_mbps == pytest.approx(row["agg_bps"] / 1e6, rel=close), row


def test_window_rules():
    hops = np.array([1, 2, 4, 8, 16])
    assert chain.window_limit(hops, rule="hops/4").tolist() == [1, 1, 1, 2, 4]
    assert chain.window_limit(hops, rule="rthc/5") == pytest.approx([1, 1, 1.6, 3.2, 6.4])
    assert chain.window_limit(hops, rule="rthc/4") == pytest.approx([1, 1, 2, 4, 8])
    assert chain.window_limit(4, return_hops=11) == 3
    with pytest.raises(ValueError, match="rule"):
        chain.window_limit(4, rule="rthc/3")


@given(
    h=st.integers(1, 100),
    w=st.integers(1, 200),
    r=st.floats(1, 8),
    hop=st.floats(0.1, 100),
)
@settings(deadline=None)
def test_over_the_parameter_space(h, w, r, hop):
    flow = chain.flow(h, one_hop_mbps=hop, window=w, reuse=r)
    assert hop / h * (1 - 1e-12) <= flow.throughput_mbps <= flow.capacity_mbps <= hop
    longer = chain.flow(h + 1, one_hop_mbps=hop, window=w, reuse=r)
    assert longer.throughput_mbps <= flow.throughput_mbps
    filled = chain.flow(h, one_hop_mbps=hop, window=max(1.0, flow.filling_window), reuse=r)
    assert filled.throughput_mbps == pytest.approx(flow.capacity_mbps)
    if r <= 5:  # the rule of Chen et al. never starves such a chain of four hops or more
        assert chain.window_limit(h) >= min(flow.filling_window, 2 * h / 5) - 1e-12
