"""Reference tables, and the tolerance for a comparison with their printed numbers."""

import csv
import importlib
import math
import sys
import types
from pathlib import Path

import pytest

HERE = Path(__file__).parent

try:
    importlib.import_module("simoom")
except ImportError:  # The compiled core is missing: the models do without it.
    bare = types.ModuleType("simoom")
    bare.__path__ = [str(HERE.parents[1] / "python" / "simoom")]
    sys.modules["simoom"] = bare


class Printed(float):
    """A number of a table, printed with six significant digits."""

    def agrees(self, value) -> bool:
        """Whether `value` is within 1e-6 of it, or half a unit of its last digit."""
        value = float(value)
        if self == 0 or math.isnan(self):
            return abs(value) < 1e-12 or (math.isnan(self) and math.isnan(value))
        unit = 10.0 ** (math.floor(math.log10(abs(self))) - 5)
        return abs(value - self) <= max(1e-6 * abs(self), 0.5000001 * unit)


def _cell(text):
    try:
        return Printed(text)
    except ValueError:
        return text


@pytest.fixture(scope="session")
def table():
    """Return a function that reads a reference table as a list of dictionaries."""

    def read(name):
        with (HERE / "data" / f"{name}.csv").open() as file:
            reader = csv.reader(file)
            header = next(reader)
            seen = [
                name if name not in header[:i] else f"{name}_{i}" for i, name in enumerate(header)
            ]
            return [dict(zip(seen, map(_cell, row), strict=True)) for row in reader]

    return read


@pytest.fixture(scope="session")
def same():
    """Return an assertion that a value agrees with a printed number."""

    def check(value, printed, what=""):
        assert printed.agrees(value), f"{what}: {float(value)!r} is not {float(printed)!r}"

    return check
