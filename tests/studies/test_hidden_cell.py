"""The hidden cell of LT-TCP's paper: when a second cell shuts out the first one."""

import numpy as np
import pytest

import simoom as sm
from simoom_studies.lt_tcp import cell, second_cell

MEASURED_S = 20.0


@pytest.fixture(scope="module")
def upload():
    return second_cell.alone("SACK", rtt_ms=10.0, attempts=3, measured_s=MEASURED_S)


def measured(scenario):
    return second_cell.measure_shut_outs(sm.run(scenario, probes=second_cell.PROBES))


# The cell without radios gives the same frames.
def test_alone_in_space_the_upload_is_that_of_the_tables(upload):
    without_radio = cell.upload("SACK", rtt_ms=10.0, attempts=3, measured_s=MEASURED_S)
    expected = sm.run(without_radio).summary["total.goodput_mbps"]
    found = measured(upload)
    assert found["goodput_mbps"] == expected
    assert found["shut_fraction"] == 0.0


def test_a_long_download_shuts_out_the_upload_for_the_whole_run(upload):
    found = measured(second_cell.beside_cell(upload, second_cell.ENDLESS))
    assert found["shut_fraction"] == pytest.approx(1.0, abs=0.001)
    assert (found["goodput_mbps"], found["second_mbps"] > 4.5) == (0.0, True)


def test_beyond_500_m_nobody_is_shut_out(upload):
    both = second_cell.beside_cell(upload, second_cell.ENDLESS)
    far = both.set("cells[0].position_m", [540.0, 0.0]).set("stations[1].position_m", [570.0, 0.0])
    assert measured(far)["shut_fraction"] == 0.0


def test_each_file_shuts_out_the_upload_for_about_250_ms(upload):
    run = sm.run(second_cell.beside_cell(upload, second_cell.FILES), probes=second_cell.PROBES)
    lengths, measured_s = second_cell.shut_outs(run)
    assert measured_s == pytest.approx(MEASURED_S)
    assert 9 <= lengths.size <= 12
    assert np.median(lengths) == pytest.approx(0.25, abs=0.03)


def test_a_source_is_a_cell_that_sends_for_250_ms_every_2_s(upload):
    lengths, _ = second_cell.shut_outs(
        sm.run(second_cell.beside_source(upload), probes=second_cell.PROBES)
    )
    assert lengths.size == 10
    assert np.median(lengths) == pytest.approx(0.25, abs=0.02)


# 250 ms without a frame, and then until the second expiry of a timer of 200 ms.
def test_a_source_that_reaches_node_1_makes_it_wait_for_a_second_timeout(upload):
    nearer = second_cell.beside_source(upload, at_m=second_cell.NEARER_M)
    found = measured(nearer)
    assert found["shut_median_ms"] == pytest.approx(600.0, abs=20.0)
    assert found["timeouts_per_100_s"] == pytest.approx(100.0, abs=5.0)
