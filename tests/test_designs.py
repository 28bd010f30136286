"""Designs of experiments: lists of points, and how a sweep takes them."""

from __future__ import annotations

import math

import pytest

import simoom as sm
from simoom import designs


def test_every_part_of_a_range_has_one_point() -> None:
    space = {"a": (0.0, 10.0), "b": (1.0, 10_000.0), "n": (1, 10)}
    points = designs.latin_hypercube(space, 10, log=["b"])
    assert sorted(int(point["a"]) for point in points) == list(range(10))
    assert sorted(int(2.5 * math.log10(point["b"])) for point in points) == list(range(10))
    assert sorted(point["n"] for point in points) == list(range(1, 11))
    assert points == designs.latin_hypercube(space, 10, log=["b"])
    assert points != designs.latin_hypercube(space, 10, log=["b"], seed=2)


def test_a_sobol_sequence_is_even_in_two_dimensions() -> None:
    points = designs.sobol({"a": (0.0, 4.0), "c": ["x", "y", "z", "w"]}, 16)
    cells = {(int(point["a"]), point["c"]) for point in points}
    assert len(cells) == 16


@pytest.mark.parametrize(
    ("space", "options", "message"),
    [
        ({}, {}, "at least one path"),
        ({"a": (2.0, 1.0)}, {}, "the first must be less"),
        ({"a": (1.0, 2.0, 3.0)}, {}, "must be two numbers"),
        ({"a": (1.0, math.inf)}, {}, "must be two numbers"),
        ({"a": (0.0, 1.0)}, {"log": ["a"]}, "must be above 0"),
        ({"a": [1, 2]}, {"log": ["a"]}, "no logarithmic scale"),
        ({"a": (0.0, 1.0)}, {"log": ["b"]}, "is not a path of the space"),
        ({"a": (0.0, 1.0)}, {"points": 0}, "from 1 to"),
        ({"a": (0.0, 1.0)}, {"points": 6}, "power of two, is 6; take 4 or 8"),
    ],
)
def test_invalid_designs_are_refused(space, options, message) -> None:
    arguments = {"points": 4, **options}
    with pytest.raises(ValueError, match=message):
        designs.sobol(space, **arguments)
    with pytest.raises(TypeError, match="must be a range"):
        designs.latin_hypercube({"a": "cubic"}, 4)


def test_zip_needs_equally_many_values() -> None:
    with pytest.raises(ValueError, match="a has 2, b has 1"):
        designs.zipped({"a": [1, 2], "b": [1]})


@pytest.fixture
def small() -> sm.Scenario:
    flows = [{"from": "server", "to": "sta*"}]
    return sm.Scenario(standard="11g", stations=1, duration_s=0.5, flows=flows)


def test_a_sweep_takes_a_list_of_points(small) -> None:
    over = {"stations": [1, 2, 2], "flows[*].control": ["cubic", "few", {"cubic": {"beta": 0.5}}]}
    done = sm.sweep(small, over=designs.zipped(over), replications=1)
    assert len(done.points) == 3
    assert not done.is_grid
    assert done.over["stations"] == (1, 2)
    assert repr(done) == "Sweep(3 points of stations, flows[*].control, 1 runs each)"
    assert done.at({"stations": 2, "flows[*].control": "few"})[0].scenario.get("stations") == 2
    with pytest.raises(KeyError, match="there is no point"):
        done.at({"stations": 1, "flows[*].control": "few"})
    (axes,) = done.plot(x="stations", y="total.goodput_mbps").axes
    assert len(axes.containers) == 1
    every = sm.sweep(small, over=designs.grid({"stations": [1, 2]}), replications=1)
    same = sm.sweep(small, over={"stations": [1, 2]}, replications=1)
    assert every.frame().equals(same.frame())


@pytest.mark.parametrize(
    ("over", "error", "message"),
    [
        ([], ValueError, "at least one point"),
        ([{"stations": 1}, {"wire.delay_ms": 1.0}], ValueError, "those of the first point are"),
        ([{"stations": 1}, {"stations": 1}], ValueError, "has the point stations=1 twice"),
        ([5], TypeError, "must be a mapping of paths"),
        ("stations", TypeError, "a mapping of axes or a list of points"),
    ],
)
def test_invalid_lists_are_refused(small, over, error, message) -> None:
    with pytest.raises(error, match=message):
        sm.sweep(small, over=over)


def test_the_command_line(simoom, cell_file, tmp_path) -> None:
    common = ["sweep", cell_file, "--set", "duration_s=0.5", "-n", 1]
    done = simoom(*common, "--over", "stations=3..6", "--over", "wire.delay_ms=1.0..9.0 log",
                  "--design", "latin", "--points", 3, "--json")  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert done.stdout.count('"stations"') == 3
    (tmp_path / "points.csv").write_text("stations,wire.delay_ms\n3,1\n4,2.5\n", encoding="utf-8")
    done = simoom(*common, "--points-from", "points.csv")
    assert done.returncode == 0, done.stderr
    assert "2.5" in done.stdout
    (tmp_path / "bad.csv").write_text("stations,wire.delay_ms\n3\n", encoding="utf-8")
    for options, message in (
        (["--over", "stations=3,4", "--design", "lhs"], "must be one of grid, zip, latin, sobol"),
        (["--over", "stations=3..4", "--design", "latin"], "needs --points N"),
        (["--over", "stations=3", "--points", 4], "--points: is for --design latin or sobol"),
        (["--over", "stations=4..3", "--design", "sobol", "--points", 4], "first must be less"),
        (["--over", "stations=3..", "--design", "sobol", "--points", 4], "write a range as"),
        (["--points-from", "bad.csv"], "bad.csv: row 2 must have 2 values"),
        (["--points-from", "none.csv"], "none.csv: no such file"),
    ):
        done = simoom(*common, *options)
        assert done.returncode == 2, options
        assert message in done.stderr
        assert "Traceback" not in done.stderr
