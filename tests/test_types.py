"""Types of the package, as a user's strict type checker sees them."""

from __future__ import annotations

import inspect
import re
import subprocess
import sys

import pytest

import simoom as sm

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


@pytest.fixture(scope="module")
def checked(tmp_path_factory):
    """Check a text strictly; what the checker has read of the package serves for all."""
    folder = tmp_path_factory.mktemp("types")

    def check(text):
        (folder / "user.py").write_text(text, encoding="utf-8")
        command = [sys.executable, "-m", "mypy", "--strict", "--cache-dir", "cache", "user.py"]
        done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=folder)
        return done.stdout

    return check


@pytest.mark.thorough
def test_a_user_s_code_passes_strict_mypy(checked):
    assert checked(USER) == "Success: no issues found in 1 source file\n"


@pytest.mark.thorough
def test_the_type_checker_reads_the_package(checked):
    assert '"Run" has no attribute "sumary"' in checked(USER + "run.sumary\n")


def public_functions():
    for name in sm.__all__:
        public = getattr(sm, name)
        if inspect.isfunction(public):
            yield name, public
        elif inspect.isclass(public):
            for part, member in vars(public).items():
                function = getattr(member, "__func__", member)
                if inspect.isfunction(function) and not part.startswith("_"):
                    yield f"{name}.{part}", function


def test_every_public_function_says_what_it_returns():
    silent = [
        name
        for name, function in public_functions()
        if inspect.signature(function).return_annotation not in ("None", None)
        and not re.search(r"^ *(Returns|Yields)$|^Yield ", function.__doc__ or "", re.MULTILINE)
    ]
    assert silent == []
