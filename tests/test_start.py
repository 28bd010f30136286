"""How a command starts: it imports the packages and modules that it uses, and no others."""

from __future__ import annotations

import ast
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

import simoom as sm
from simoom.cli import COMMANDS

ROOT = Path(__file__).resolve().parent.parent
CELL = str(ROOT / "scenarios" / "performance_anomaly.toml")

COSTLY = {"jinja2", "matplotlib", "multiprocessing", "numpy", "polars",
          "rich", "scipy"}  # fmt: skip
"""Packages whose import takes longer than 10 ms."""

OPTIONAL = ["jinja2", "matplotlib", "optuna", "polars", "SALib", "scipy", "starlette"]
"""Packages of extras; tests/test_wheel.py has the whole."""

LEAST = {"_core", "base", "base.files", "base.frames", "base.issue", "base.kinds", "base.lazy",
         "base.needs", "base.startup", "cli", "cli.group", "cli.streams", "cli.terminal", "results",
         "results.tables", "runs", "runs.axis_text", "scenario", "scenario.address",
         "scenario.control", "scenario.edit", "scenario.observables", "scenario.scenario",
         "scenario.shipped"}  # fmt: skip
"""The modules of Simoom that every command imports."""

A_RUN = {"base.arguments", "base.patience", "cli.api", "cli.run", "cli.trace", "cli.until",
         "results.run", "results.travel", "runs.precision", "runs.stats", "store", "trace",
         "trace.columns", "trace.files", "trace.trace"}  # fmt: skip

STARTS = {
    "simoom --version": (set(), set()),
    f"simoom check {CELL}": (set(), {"cli.check"}),
    f"simoom check {CELL} --json": (set(), {"cli.check"}),
    "simoom airtime --standard 11g --rate 54 --bytes 1536": (
        set(),
        {"base.arguments", "base.patience", "cli.airtime", "cli.api", "results.run",
         "results.travel", "scenario.airtime", "store", "trace", "trace.columns", "trace.files",
         "trace.trace"},
    ),
    "simoom scenarios cafe": ({"rich"}, {"cli.scenario"}),
    f"simoom run {CELL} --json": (set(), A_RUN),
    f"simoom run {CELL} --quiet": (set(), A_RUN),
}  # fmt: skip
"""The costly packages, and the modules of Simoom beyond `LEAST`, that a command may import."""

LOADED = """
import json, sys
sys.argv, sys.orig_argv = words, words
from simoom.cli import main
try:
    main(words[1:])
finally:
    print(json.dumps(sorted(sys.modules)), file=sys.stderr)
"""


def imported(code, **environment):
    """Return the names of the modules that Python has imported at the end of a program."""
    done = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, **environment},
    )
    assert done.stderr.startswith("["), done.stderr
    return set(json.loads(done.stderr))


def own(modules):
    return {name.removeprefix("simoom.") for name in modules if name.startswith("simoom.")}


@pytest.mark.parametrize("command", STARTS)
def test_a_command_imports_only_what_it_uses(command):
    packages, modules = STARTS[command]
    found = imported(f"words = {command.split()!r}\n{LOADED}")
    assert found & COSTLY <= packages
    assert own(found) <= LEAST | modules


@pytest.mark.parametrize("command", ["run", "compare --change stations=2 -n 2", "why -n 2"])
def test_a_report_needs_no_optional_package(command, tmp_path):
    name, *options = command.split()
    words = [name, "one_station", *options, "--set", "duration_s=2"]
    code = f"""import sys
sys.modules.update(dict.fromkeys({OPTIONAL!r}))
from simoom.cli import main
sys.exit(main({words!r}))"""
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout


def test_completion_imports_no_command():
    words = {"_SIMOOM_COMPLETE": "complete_bash", "COMP_WORDS": "simoom ", "COMP_CWORD": "1"}
    found = imported(f"words = ['simoom']\n{LOADED}", **words)
    assert not found & COSTLY
    assert not {f"cli.{module}" for module in COMMANDS.values()} & own(found)


def test_the_package_imports_what_is_used():
    code = "import json, sys, simoom{}; print(json.dumps(sorted(sys.modules)), file=sys.stderr)"
    assert own(imported(code.format(""))) == {"base", "base.lazy", "base.startup"}
    assert "rich" not in imported(code.format("; simoom.Scenario, simoom.run, simoom.sweep"))


def test_public_names_are_those_that_type_checkers_see():
    source = (ROOT / "python" / "simoom" / "__init__.py").read_text(encoding="utf-8")
    (checked,) = [node for node in ast.parse(source).body if isinstance(node, ast.If)]
    typed = {
        alias.name: each.module.removeprefix("simoom").lstrip(".")
        for each in checked.body
        for alias in each.names
    }
    typed["designs"] += ".designs"  # a module
    assert sm.homes == typed
    assert sorted(sm.homes) == sm.__all__ == sorted(sm.__all__)
    assert set(sm.__all__) <= set(dir(sm))


def test_a_function_keeps_its_name_when_its_module_is_imported():
    code = "import simoom.results.run, simoom.why.result\nprint(callable(simoom.run), simoom.why)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.startswith("True <function why")


def test_a_name_that_the_package_lacks_is_an_attribute_error():
    with pytest.raises(AttributeError, match="module 'simoom' has no attribute 'rum'"):
        sm.rum  # noqa: B018
