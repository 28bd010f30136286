"""Types of the package, as a user's strict type checker sees them."""

from __future__ import annotations

import subprocess
import sys

USER = """
import simoom as sm

scenario = sm.Scenario(standard="11g", stations=1, flows=[{"from": "server", "to": "sta0"}])
run = sm.run(scenario)
total = float(run.summary["total.goodput_mbps"])
shares = [flow["goodput_mbps"] / total for flow in run.flows]
names: list[str] = [flow["name"] for flow in run.flows]
half: float = sm.replicate(scenario, replications=2).mean("total.goodput_mbps").half_width
sweep = sm.sweep(scenario, over={"stations": [1, 2]}, replications=2)
means = sweep.mean("total.goodput_mbps")
predicted = float(sm.predict(scenario).summary["total.goodput_mbps"])
"""


def test_a_user_s_code_passes_strict_mypy(tmp_path):
    file = tmp_path / "user.py"
    file.write_text(USER, encoding="utf-8")
    command = [sys.executable, "-m", "mypy", "--strict", "--cache-dir", tmp_path / "cache", file]
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=tmp_path)
    assert done.stdout == "Success: no issues found in 1 source file\n"


def test_the_type_checker_reads_the_package(tmp_path):
    file = tmp_path / "user.py"
    file.write_text(USER + "run.sumary\n", encoding="utf-8")
    command = [sys.executable, "-m", "mypy", "--strict", "--cache-dir", tmp_path / "cache", file]
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=tmp_path)
    assert '"Run" has no attribute "sumary"' in done.stdout
