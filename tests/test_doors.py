"""Doors: methods that later rooms carry out, and packages whose names are imported when used."""

from __future__ import annotations

import ast
import compileall
import importlib
import inspect
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import simoom as sm
from simoom.base import lazy

PACKAGE = Path(sm.__file__).parent


def doors():
    """Yield each function of the package that is a door: its module, and its name in it."""
    for file in sorted(PACKAGE.rglob("*.py")):
        tree = ast.parse(file.read_text(encoding="utf-8"))
        classes = [each for each in tree.body if isinstance(each, ast.ClassDef)]
        places = [("", tree), *((f"{each.name}.", each) for each in classes)]
        for within, place in places:
            for each in place.body:
                if isinstance(each, ast.FunctionDef) and any(
                    ast.unparse(one) == "door" for one in each.decorator_list
                ):
                    module = ".".join(file.relative_to(PACKAGE.parent).with_suffix("").parts)
                    yield module, within + each.name


ALL = {name: module for module, name in doors()}


def parameters(function):
    """Return the names, kinds and defaults of parameters, of the first without its name."""
    first, *rest = inspect.signature(function).parameters.values()
    return [(first.kind, first.default), *((each.name, each.kind, each.default) for each in rest)]


def test_the_table_has_the_doors_of_the_package():
    assert sorted(sm.DOORS) == sorted(ALL) == sorted(name for _, name in doors())


@pytest.mark.parametrize("name", sm.DOORS)
def test_a_door_opens(name):
    found = importlib.import_module(ALL[name])
    for part in name.split("."):
        found = inspect.getattr_static(found, part)
    # Of a property, the function.
    front = getattr(found, "fget", found)
    assert front.__doc__ or name.endswith("_repr_html_")
    passed, taken = parameters(front), parameters(lazy.behind(name))
    assert taken[: len(passed)] == passed
    assert all(default is not inspect.Parameter.empty for *_, default in taken[len(passed) :])


@lazy.door
def gcd(one: int, other: int) -> int:
    """Return the greatest common divisor."""
    raise NotImplementedError


def test_what_is_behind_a_door_is_imported_when_it_is_opened(monkeypatch):
    monkeypatch.setattr(lazy, "_behind", {})
    lazy.hang({"gcd": "math:gcd", "lost": "math:lost"})
    assert gcd(12, 18) == 6
    assert gcd.__doc__ == "Return the greatest common divisor."
    with pytest.raises(AttributeError, match="lost"):
        lazy.behind("lost")


@pytest.mark.parametrize("package", ["simoom", "simoom.plots", "simoom.serve", "simoom.twin"])
def test_a_package_has_the_names_that_it_lists(package):
    found = importlib.import_module(package)
    assert sorted(found.__all__) == found.__all__
    assert set(found.homes) <= set(found.__all__) <= set(dir(found))
    for name in found.__all__:
        assert getattr(found, name) is not None


def test_a_program_without_sources_has_all_names(tmp_path):
    """As frozen programs are made, which have compiled modules alone."""
    package = tmp_path / "simoom"
    shutil.copytree(PACKAGE, package, ignore=shutil.ignore_patterns("__pycache__", "serve"))
    assert compileall.compile_dir(package, quiet=1, legacy=True)
    for source in package.rglob("*.py"):
        source.unlink()
    code = (
        "import simoom as sm\n"
        "flows = [{'from': 'server', 'to': 'sta0'}]\n"
        "scenario = sm.Scenario(standard='11b', stations=1, duration_s=2, flows=flows)\n"
        "print(sm.__file__, sm.run(scenario, seed=1).report())\n"
        "assert all(getattr(sm, name) is not None for name in sm.__all__)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(tmp_path)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert not done.returncode, done.stderr
    assert done.stdout.startswith(str(package))
    assert "total goodput" in done.stdout
