"""Records of parameters: declared once, checked once, given as a record or by name."""

import copy
import dataclasses
import inspect
import pickle

import numpy as np
import pytest

from simoom import models
from simoom.models.parameters import REQUIRED

OWN = [
    each
    for family in (*models.FAMILIES.values(), models.timing)
    for each in vars(family).values()
    if getattr(each, "__module__", None) == family.__name__
]
CALLS = [each for each in OWN if hasattr(each, "__signature__")]
RECORDS = [each for each in OWN if hasattr(each, "declared")]


def test_a_record_says_what_its_fields_say():
    fields = {"stations": [1, 5, 20], "standard": "11a", "rts": True}
    cell = models.saturation.SaturatedCell(**fields)
    by_name, at_once = models.bianchi(**fields), models.bianchi(cell)
    assert by_name.throughput_mbps.tolist() == at_once.throughput_mbps.tolist()
    more = models.bianchi(dataclasses.replace(cell, stations=[2, 6, 21]))
    assert more.throughput_mbps.tolist() != by_name.throughput_mbps.tolist()


def test_a_record_is_frozen_and_can_be_kept():
    cell = models.saturation.SaturatedCell(10)
    with pytest.raises(dataclasses.FrozenInstanceError, match="stations"):
        cell.stations = 11
    for other in (copy.copy(cell), pickle.loads(pickle.dumps(cell))):
        assert models.bianchi(other).throughput_mbps == models.bianchi(10).throughput_mbps


def test_values_are_checked_at_once_and_stored_as_numbers():
    cell = models.saturation.SaturatedCell(10, payload_bytes=[500, 1500])
    assert cell.payload_bytes.dtype == np.float64
    assert cell.headers_bytes is None
    with pytest.raises(ValueError, match="payload_bytes: must be in"):
        dataclasses.replace(cell, payload_bytes=0)


def test_a_name_that_is_unknown_is_one_message():
    with pytest.raises(
        TypeError, match=r"^standrad: unknown parameter of bianchi; did you mean st"
    ):
        models.bianchi(10, standrad="11a")
    with pytest.raises(
        TypeError, match=r"^speed: unknown parameter of window_throughput; it has w"
    ):
        models.http_queueing.window_throughput(10, speed=1)
    with pytest.raises(TypeError, match="missing 1 required positional argument: 'stations'"):
        models.bianchi()


def test_the_models_with_many_parameters_take_records():
    names = {call.__name__ for call in CALLS}
    assert {"bianchi", "effective_throughput", "flow", "exchange", "cell", "web_cell"} <= names
    for each in OWN:
        if inspect.isfunction(each) and each not in CALLS:
            assert len(inspect.signature(each).parameters) < 10, each


@pytest.mark.parametrize("call", CALLS, ids=lambda call: f"{call.__module__}.{call.__name__}")
def test_the_help_of_a_model_lists_all_its_parameters(call):
    for name, field in inspect.signature(call).parameters.items():
        default = "" if field.default is field.empty else f", default {field.default!r}"
        assert f"\n{name}{default}\n    " in call.__doc__


@pytest.mark.parametrize("record", RECORDS, ids=lambda kind: f"{kind.__module__}.{kind.__name__}")
def test_every_parameter_has_a_meaning_and_a_default_that_passes_its_check(record):
    declared = record.declared()
    assert set(declared) == {field.name for field in dataclasses.fields(record)}
    for name, each in declared.items():
        assert each.meaning.endswith(".")
        assert each.meaning in inspect.cleandoc(record.__doc__).replace("\n    ", "\n")
        if each.default is not REQUIRED and each.default is not None:
            each.check(name, each.default)
