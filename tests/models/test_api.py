"""Common properties of all families: assumptions, records, errors, independence."""

import dataclasses
import doctest
import inspect
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from simoom import models
from simoom.models import http_sessions as web

PACKAGE = Path(inspect.getfile(models)).parent
PAGES = PACKAGE.parents[2] / "docs" / "models"

REFUSALS = {
    "stations": [
        lambda: models.bianchi(0),
        lambda: models.bianchi(1.5),
        lambda: models.bianchi("many"),
        lambda: models.bianchi(np.nan),
        lambda: models.full_duplex.cell(-1, upload_fraction=0),
        lambda: models.full_duplex.cell([1, 2], upload_fraction=[0, 0.5, 1]),
        lambda: models.half_duplex.cell(0, times=models.full_duplex.TABLE_I.half_duplex()),
        lambda: web.web_cell(0, think_s=1, mean_bytes=1),
    ],
    "standard": [lambda: models.bianchi(1, standard="802.11b")],
    "payload_bytes": [lambda: models.bianchi(1, payload_bytes=-1)],
    "cw_max": [lambda: models.bianchi(1, cw_min=31, cw_max=15)],
    "collision": [lambda: models.bianchi(1, collision="sifs")],
    "countdown": [
        lambda: models.bianchi(1, countdown="real"),
        lambda: models.bianchi(1, countdown="bianchi", collision="standard"),
    ],
    "retry_limit": [lambda: models.bianchi(1, retry_limit=0)],
    "classes": [lambda: models.saturation.mixed([]), lambda: models.full_duplex.mixed([])],
    "upload_fraction": [lambda: models.full_duplex.cell(10, upload_fraction=1.1)],
    "cli_rate_mbps": [lambda: models.full_duplex.cell(10, upload_fraction=0, cli_rate_mbps=0)],
    "cts_timeout_us": [lambda: models.full_duplex.cell(10, upload_fraction=0, cts_timeout_us=-99)],
    "eq6": [lambda: models.full_duplex.cell(10, upload_fraction=0, eq6="right")],
    "counting": [lambda: models.full_duplex.cell(10, upload_fraction=0, counting="twice")],
    "flow": [lambda: models.full_duplex.cell(10, upload_fraction=0, flow="fluid")],
    "backlogged": [lambda: models.http_queueing.collision_point(0)],
    "window": [lambda: models.http_queueing.window_throughput(0)],
    "delayed_ack": [lambda: models.http_queueing.tcp_throughput(3, delayed_ack=0)],
    "shape": [lambda: web.expected_segments(1000, shape=1.0)],
    "think_s": [lambda: web.web_cell(3, think_s=0, mean_bytes=1)],
    "capacity_mbps": [
        lambda: models.ps_queue.solve(3, think_s=1, mean_bits=1, capacity_mbps=[1.0, 2.0]),
        lambda: models.ps_queue.solve(3, think_s=1, mean_bits=1, capacity_mbps=-1),
    ],
    "voice": [lambda: models.bluetooth.packet_corruption(100, rate_mbps=1, voice="HV4")],
    "rule": [lambda: models.bluetooth.packet_corruption(9, rate_mbps=1, voice="HV1", rule="x")],
    "packet_corruption": [lambda: models.bluetooth.residual_error(1.5, 3)],
    "loss": [
        lambda: models.tcp_loss.mathis_mbps(0, rtt_ms=1),
        lambda: models.tcp_loss.pftk_mbps(1, rtt_ms=1),
        lambda: models.lt_tcp.parity_units(10, -0.1),
    ],
    "rtt_ms": [lambda: models.tcp_loss.mathis_mbps(0.1, rtt_ms=0)],
    "mcs": [lambda: models.aggregation.effective_throughput(10)],
    "hops": [lambda: models.chain.flow(0, one_hop_mbps=1)],
    "reuse": [lambda: models.chain.flow(3, one_hop_mbps=1, reuse=0.5)],
}


@pytest.mark.parametrize(
    ("argument", "call"), [(name, call) for name, calls in REFUSALS.items() for call in calls]
)
def test_refusals_name_the_argument(argument, call):
    with pytest.raises(ValueError, match=rf"\b{argument}\b"):
        call()


def test_shapes_that_do_not_broadcast_are_named():
    with pytest.raises(ValueError, match=r"stations \(2,\), upload_fraction \(3,\)"):
        models.full_duplex.cell([1, 2], upload_fraction=[0, 0.5, 1])


def test_every_family_says_what_it_assumes():
    assert len(models.FAMILIES) == 15
    statements = {}
    for family in models.FAMILIES.values():
        assert family.ASSUMPTIONS
        names = [each.name for each in family.ASSUMPTIONS]
        assert len(names) == len(set(names))
        for each in family.ASSUMPTIONS:
            assert each.statement.endswith(".")
            assert each.name.isidentifier()
            # one name, one condition, in whichever family
            assert statements.setdefault(each.name, each.statement) == each.statement
            assert str(each) == f"{each.name}: {each.statement}"


def test_predictions_are_frozen_and_fit_a_line():
    cell = models.bianchi(5)
    assert isinstance(cell.throughput_mbps, float)
    with pytest.raises(dataclasses.FrozenInstanceError):
        cell.throughput_mbps = 1.0
    assert "throughput_mbps=6.28" in repr(cell)
    assert "\n" not in repr(models.bianchi(np.arange(1, 100)))


def test_predictions_become_columns():
    cell = models.bianchi(np.arange(1, 4)[:, None], payload_bytes=[500, 1500])
    columns = cell.columns()
    assert columns["throughput_mbps"].tolist() == cell.throughput_mbps.ravel().tolist()
    assert {column.shape for column in columns.values()} == {(6,)}
    queue = models.ps_queue.solve([1, 3], think_s=1, mean_bits=1e6, capacity_mbps=1)
    assert "active" not in queue.columns()
    assert queue.active.shape == (2, 4)
    assert models.bianchi(5).columns()["throughput_mbps"].shape == (1,)


@pytest.mark.parametrize("page", sorted(PAGES.glob("*.md")), ids=lambda page: page.stem)
def test_examples_of_the_pages(page):
    flags = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
    outcome = doctest.testfile(str(page), module_relative=False, optionflags=flags)
    assert outcome.attempted > 0
    assert outcome.failed == 0


def test_models_import_nothing_of_the_simulator():
    """In a fresh interpreter, models import NumPy and SciPy, and only `simoom.models`."""
    program = f"""
import sys, types
bare = types.ModuleType("simoom")
bare.__path__ = [{str(PACKAGE.parent)!r}]
sys.modules["simoom"] = bare
import simoom.models
ours = [name for name in sys.modules if name.startswith("simoom.")]
assert all(name.startswith("simoom.models") for name in ours), ours
for other in ("polars", "matplotlib", "simoom._core"):
    assert other not in sys.modules, other
"""
    subprocess.run([sys.executable, "-c", program], check=True)
