"""The compiled module and its stubs name the same things, with the same parameters."""

import ast
import inspect
import re
from pathlib import Path

import pytest

import simoom as sm
from simoom import _core
from simoom.scenario.airtime import OPTIONS

STUBS = ast.parse((Path(sm.__file__).parent / "_core.pyi").read_text(encoding="utf-8"))
CLASSES = {node.name: node for node in STUBS.body if isinstance(node, ast.ClassDef)}
FUNCTIONS = {node.name: node for node in STUBS.body if isinstance(node, ast.FunctionDef)}


def members(kind):
    """Return the names that a class brings itself, without what every object has."""
    own = {name for name in vars(kind) if not name.startswith("_")}
    return own | ({"__eq__"} if "__eq__" in vars(kind) else set())


def parameters(node):
    named = [argument.arg for argument in (*node.args.args, *node.args.kwonlyargs)]
    named += [node.args.kwarg.arg] if node.args.kwarg else []
    return named[1:] if named[:1] == ["self"] else named


def signature(function):
    return [name for name in inspect.signature(function).parameters if name != "self"]


def test_the_module_and_its_stubs_name_the_same():
    assert {name for name in vars(_core) if not name.startswith("__")} == {*CLASSES, *FUNCTIONS}


@pytest.mark.parametrize("name", CLASSES)
def test_a_class_and_its_stub_have_the_same_members(name):
    kind = getattr(_core, name)
    stubs = {node.name: node for node in CLASSES[name].body if isinstance(node, ast.FunctionDef)}
    assert members(kind) == set(stubs) - {"__init__"}
    for member, node in stubs.items():
        if callable(getattr(kind, member)) and not member.startswith("__"):
            assert signature(getattr(kind, member)) == parameters(node), member


@pytest.mark.parametrize("name", FUNCTIONS)
def test_a_function_and_its_stub_have_the_same_parameters(name):
    assert signature(getattr(_core, name)) == parameters(FUNCTIONS[name])


def test_all_that_is_exported_exists():
    assert all(hasattr(sm, name) for name in sm.__all__)
    assert len(sm.__all__) <= 40


def test_the_command_has_an_option_for_each_key_of_airtime(simoom):
    text = simoom("airtime", "--help").stdout
    flags = {"psdu_bytes": "bytes", "rate_mbps": "rate", "short_preamble": "preamble",
             "users": "user"}  # fmt: skip
    assert {"standard", "mcs", "timing"} < set(OPTIONS)
    for key in OPTIONS:
        assert f"--{flags.get(key, key).replace('_', '-')} " in text


def test_a_command_has_an_option_for_each_parameter_that_a_text_can_give(simoom):
    function = inspect.signature(sm.sensitivity).parameters
    told = " ".join(simoom("sensitivity", "--help").stdout.split())
    for name in ("result", "method", "points", "replications", "seed"):
        assert re.search(rf"--{name} \S+ [^-]*\[default: {function[name].default}\]", told)
    assert "The runs of each point, over which the result is averaged." in told
    assert "--store DIR The store to which each run is written when it ends" in told


def test_airtime_refuses_a_key_that_it_lacks():
    with pytest.raises(TypeError, match=r"no argument 'width'; it takes standard, .*width_mhz"):
        sm.airtime("11n", psdu_bytes=100, width=40)
