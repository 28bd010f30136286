"""The page of agreement of emulations: bands, verdicts, and the right values behind them."""

from dataclasses import replace

import pytest
from validation import emulation, emulation_page, linux
from validation.emulation import Emulated, Value

import simoom as sm

LIVE = {
    "scheduling": "SCHED_FIFO",
    "egress_late": {"p50_s": 4e-5, "p99_s": 2e-4, "p999_s": 3e-4},
}
GOODPUT = Value("bbr_r20_d48_q100", "goodput, Mb/s", 19.0, 18.8, 0.02)
PROBE = Value("1000 probes a second", "error, median, us", 57.0, 0.0, 60.0)


def test_a_value_agrees_within_its_band():
    assert GOODPUT.agrees
    assert not replace(GOODPUT, emulated=0.9 * GOODPUT.emulated).agrees
    assert PROBE.agrees
    assert not replace(PROBE, emulated=1.1 * PROBE.emulated).agrees


def test_the_page_marks_what_differs_and_what_was_too_late():
    late = replace(PROBE, emulated=70.0)
    text = emulation_page.page([
        Emulated((GOODPUT,), LIVE, "kept up", load=1.25),
        Emulated((late,), LIVE, "late"),
    ])  # fmt: skip
    assert "1 of 2 values agree" in text
    assert "| 19 | 18.8 | +1.1 % |" in text
    assert "| 70 | 0 | **at most 60** |" in text
    assert (
        "| bbr_r20_d48_q100 | 1.2 | 40 us | 200 us | 300 us | kept up, too late for BBR |" in text
    )


def test_dumbbells_are_points_of_the_kernel_with_a_goodput_and_pings():
    known = {point.name: point for point in linux.points("a")}
    for name in emulation.DUMBBELLS:
        assert {"goodput_mbps", "ping_p50_ms", "ping_p95_ms"} <= set(known[name].measured)


@pytest.mark.parametrize("name", emulation.CELLS)
def test_cells_run_with_simulated_ends(name):
    scenario = {**emulation.cell_of(name), "duration_s": 2.0, "warmup_s": 0.5}
    goodput_mbps, rtt_ms, mpdus, segments = emulation.simulated(scenario, 100.0, seed=1)
    assert 15 < goodput_mbps < 60
    assert 20 < rtt_ms < 60
    assert mpdus >= 1
    # A burst that arrives in one A-MPDU has one ACK.
    assert (1.5 < segments < 2.5) if mpdus == 1 else 3 < segments < mpdus


def test_the_function_stays_when_its_package_is_imported():
    from simoom.emulate.ports import Port

    assert callable(sm.emulate)
    assert sm.Port is Port
