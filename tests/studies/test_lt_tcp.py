"""LT-TCP and SACK over lossy links: one quick run of the figures, and the verdicts on claims."""

import math

import pytest

from simoom.studies import Lab, Verdict, lt_tcp
from simoom.studies.lt_tcp import link

FIGURES = ["figure 1", "figure 2", "figure 3", "figure parts"]
REPRODUCED = """
    lt_tcp_does_not_collapse sack_collapses sack_breaks_at_few_percent
    sack_falls_with_loss_and_rtt sack_as_in_ns2 sack_as_pftk lt_tcp_tolerates_loss
    lt_tcp_beats_sack lt_tcp_minds_rtt_less code_beats_window_alone parity_for_mean_costs_less
"""
IN_PART = "lt_tcp_is_graceful"


@pytest.fixture(scope="module")
def results():
    with Lab(quick=True) as lab:
        return lt_tcp.STUDY.run(FIGURES, lab=lab)


@pytest.fixture(scope="module")
def claims(results):
    return {claim.name: claim for _, claim in results.claims}


def test_all_claims_are_expected(claims):
    assert set(claims) == {*REPRODUCED.split(), *IN_PART.split()}


@pytest.mark.parametrize("name", REPRODUCED.split())
def test_reproduced(name, claims):
    assert claims[name].verdict is Verdict.REPRODUCED, claims[name].reason


@pytest.mark.parametrize("name", IN_PART.split())
def test_in_part(name, claims):
    assert claims[name].verdict is Verdict.IN_PART, claims[name].reason


def simulated(figure, label):
    return next(
        c
        for c in figure.curves
        if (c.label, c.source.value, c.quantity) == (label, "simulation", "goodput_mbps")
    )


# ns-2.35, Sack1 with ECN over the same link, 20 to 220 s, five seeds.
@pytest.mark.parametrize(
    ("rtt", "loss", "ns2"),
    [
        ("10 ms", 0.0, 9.66888),
        ("10 ms", 0.01, 8.67016),
        ("200 ms", 0.0, 8.26998),
        ("200 ms", 0.01, 0.668913),
    ],
)
def test_sack_has_the_goodput_of_ns2(rtt, loss, ns2, results):
    found = simulated(results["figure 2"], rtt).at(loss)
    assert found.value == pytest.approx(ns2, rel=0.05)


def test_goodput_falls_with_loss_and_is_below_what_the_link_delivers(results):
    for key in ("figure 1", "figure 3"):
        figure = results[key]
        limit = next(c for c in figure.curves if c.label == "what arrives")
        for curve in figure.curves:
            if curve.label.startswith("LT-TCP") or (key == "figure 3" and curve is not limit):
                values = [value.value for value in curve.values]
                assert values == sorted(values, reverse=True), curve.label
                assert all(curve.at(x).value <= limit.at(x).value for x in curve.x)


# A capacity of 10 Mb/s, 1448 of 1500 bytes, half lost: 4.83 Mb/s.
def test_with_half_of_the_packets_lost_the_goodput_is_a_third_of_the_capacity(results):
    near = simulated(results["figure 3"], "10 ms").at(0.5).value
    assert 3.0 < near < 4.83
    assert simulated(results["figure 2"], "10 ms").at(0.5).value < 0.05


@pytest.mark.parametrize("kind", [link.UNIFORM, link.BURSTY, link.ERASED])
@pytest.mark.parametrize("loss", [0.05, 0.5])
def test_each_kind_loses_as_much_on_average(kind, loss):
    model = link.loss_model(kind, loss)
    if kind == link.UNIFORM:
        assert model == {"uniform": {"probability": loss}}
        return
    channel = model["gilbert_elliott"]
    good, bad = channel["good_ms"], channel["bad_ms"]
    mean = (good * channel["good_loss"] + bad * channel["bad_loss"]) / (good + bad)
    assert math.isclose(mean, loss)
    assert bad == 10.0


def test_every_figure_can_be_drawn(results):
    for figure in results:
        assert len(figure.plot().axes) == len(figure.panels)
        assert figure.data["value"].is_finite().all()
