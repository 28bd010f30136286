"""The cost of an attempt depends on the nodes that detect it, not on the number of cells."""

from __future__ import annotations

import importlib.util
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).resolve().parent.parent


def load(name: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location(name, ROOT / "benches" / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    # Data classes need their module in sys.modules.
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


def test_a_city_is_a_scenario_of_so_many_cells() -> None:
    text = load("city").city(10)
    assert text.count("[[cells]]") == 9
    assert text.count("[[stations]]") == 10
    assert text.rindex("position_m") == text.index("position_m = [60.0, 120.0]"), "four a row"


def peak_kib(runner: Path, scenario: Path) -> int:
    """Most memory that a run takes at any moment."""
    process = subprocess.Popen([runner, scenario], stdout=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    assert process.returncode == 0
    return usage.ru_maxrss


@pytest.mark.parametrize("upwards", [False, True])
def test_four_times_the_stations_do_not_take_a_table_of_all_pairs(
    tmp_path: Path, upwards: bool
) -> None:
    runner, city = load("instructions").build(), load("city")

    def peak(stations: int) -> int:
        scenario = tmp_path / f"{stations}.toml"
        scenario.write_text(city.one_cell(stations, upwards), encoding="utf-8")
        return peak_kib(runner, scenario)

    # A table of all pairs is sixteen times as large.
    assert peak(4000) < 6 * peak(1000)


def per_attempt(
    runner: Path, scenario: Path, durations_s: tuple[float, float], seeds: tuple[int, ...] = (1,)
) -> float:
    """Instructions of an attempt in the time between the ends of two runs, with these seeds."""
    count_run = load("instructions").count_run
    counts, attempts = [0, 0], [0, 0]
    for seed in seeds:
        for end, duration_s in enumerate(durations_s):
            settings = f"duration_s={duration_s}"
            count, printed = count_run(runner, scenario, settings, seed=seed)
            counts[end] += count
            found = re.search(r"total\.attempts = Count\((\d+)\)", printed)
            assert found is not None
            attempts[end] += int(found[1])
    return float(counts[1] - counts[0]) / (attempts[1] - attempts[0])


def counted_runner() -> Path:
    """Return the program whose instructions are counted."""
    if shutil.which("valgrind") is None:
        if os.environ.get("CI"):
            pytest.fail("CI counts instructions and needs valgrind")
        pytest.skip("valgrind is not installed, so no instructions are counted")
    path: Path = load("instructions").build()
    return path


def test_an_attempt_costs_the_same_in_25_cells_and_in_100(tmp_path: Path) -> None:
    counted = counted_runner()

    def cost(cells: int) -> float:
        scenario = tmp_path / f"{cells}.toml"
        scenario.write_text(load("city").city(cells), encoding="utf-8")
        # Both runs include the cost of construction, and most of the cost of finding the nodes that
        # detect a transmitter, which arises when the transmitter first sends.
        return per_attempt(counted, scenario, (0.04, 0.06))

    # Both are squares. Of the larger one a smaller part is at the edge, with half a neighbourhood.
    assert cost(100) < 1.1 * cost(25)


def test_an_attempt_of_500_mobile_nodes_costs_little_more_than_its_neighbours_do(
    tmp_path: Path,
) -> None:
    counted = counted_runner()

    def cost(nodes: int, *seeds: int) -> float:
        scenario = tmp_path / f"{nodes}.toml"
        scenario.write_text(load("mobile").mobile(nodes), encoding="utf-8")
        return per_attempt(counted, scenario, (1.0, 3.0), seeds)

    # 50 nodes make some 600 attempts, which cost up to 7 % more or less by the seed.
    few, many = cost(50, 1, 2, 3, 4), cost(500, 1)
    # Of 50 nodes most are near the border: a node has 27 neighbours within 550 m, and 41 of 500.
    assert many / 41 < 1.1 * few / 27
    assert many < 1.5 * few
