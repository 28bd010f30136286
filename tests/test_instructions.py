"""A growth of the instruction counts of the fixed runs is detected."""

from __future__ import annotations

import importlib.util
import json
import os
import shutil
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).resolve().parent.parent


def load() -> ModuleType:
    path = ROOT / "benches" / "instructions.py"
    spec = importlib.util.spec_from_file_location("instructions", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_a_growth_beyond_the_limit_is_named() -> None:
    faults = load().compare({"a": 1_011, "b": 1_009}, {"a": 1_000, "b": 1_000})
    assert len(faults) == 1
    assert faults[0].startswith("a: 1,011 instructions, +1.1%")


def test_a_stricter_limit_finds_a_smaller_growth() -> None:
    faults = load().compare({"a": 1_006, "b": 1_004}, {"a": 1_000, "b": 1_000}, limit=0.5)
    assert len(faults) == 1
    assert "the limit is 0.5 %" in faults[0]


def need_valgrind() -> None:
    if shutil.which("valgrind") is None:
        if os.environ.get("CI"):
            pytest.fail("CI counts instructions and needs valgrind")
        pytest.skip("valgrind is not installed, so no instructions are counted")


def test_fixed_runs_cost_what_the_record_says() -> None:
    need_valgrind()
    instructions = load()
    record = json.loads(instructions.RECORD.read_text(encoding="utf-8"))
    assert sorted(record) == sorted(instructions.RUNS)
    runner = instructions.build()
    counts = {name: instructions.count(runner, name) for name in instructions.RUNS}
    assert not instructions.compare(counts, record)


def test_a_segment_in_full_duplex_costs_at_most_1_3_of_one_in_half_duplex() -> None:
    need_valgrind()
    instructions = load()
    assert 0.1 < instructions.duplex_cost(instructions.build()) < instructions.DUPLEX_LIMIT


def test_a_voice_link_costs_at_most_half_of_a_run_more() -> None:
    need_valgrind()
    instructions = load()
    assert 0.1 < instructions.voice_cost(instructions.build()) < instructions.VOICE_LIMIT


def test_mac80211_costs_at_most_a_quarter_more_than_fq_codel() -> None:
    need_valgrind()
    instructions = load()
    assert 0.9 < instructions.mac80211_cost(instructions.build()) < instructions.MAC80211_LIMIT


def test_a_cell_in_space_costs_at_most_twice_the_fast_cell() -> None:
    need_valgrind()
    instructions = load()
    costs = instructions.space_costs(instructions.build())
    assert len(costs) == 4
    assert all(0.5 < cost < instructions.SPACE_LIMIT for cost in costs.values()), costs
