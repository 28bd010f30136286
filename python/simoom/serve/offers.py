"""Keys of a scenario that a sweep may vary, with values with which it runs.

They follow from the declarations of the keys: their choices and ranges.
"""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from typing import Any

from simoom import _core
from simoom.base.issue import ScenarioError
from simoom.scenario.scenario import Scenario, toml_value
from simoom.serve.drafts import Desk, Draft

Schema = Mapping[str, Any]
FACTORS = (1, 0.5, 2, 4)
"""The values of a number, as multiples of what it is."""
FROM_ZERO = (0, 1, 2, 5)
"""The values of a number that is 0."""
MOST = 4
"""So many values are filled in; of a choice the others are named."""
LAST = ("standard", "duration_s", "warmup_s")
"""Of the keys that a text has, those of least interest."""


def offers_of(draft: Draft) -> list[dict[str, Any]]:
    """Return keys with values as a user writes them: first those that the text has.

    Raises
    ------
    ScenarioError
        The scenario has faults.
    """
    scenario = draft.scenario
    given = tomllib.loads(draft.text)
    found = {}
    for path, schema, value, is_given in _keys(_root(), scenario.to_dict(), given, ""):
        wanted = [toml_value(each) for each in _values(schema, value)]
        runs = [own for own in wanted if _runs(scenario, path, own, draft.desk)]
        if len(runs) > 1:
            about = schema.get("description", "").partition(". ")[0].rstrip(".")
            found[path] = (not is_given, path in LAST, {
                "path": path, "about": about, "values": ", ".join(map(_bare, runs[:MOST])),
                "more": [_bare(own) for own in runs[MOST:]],
            })  # fmt: skip
    return [offer for *_, offer in sorted(found.values(), key=lambda own: own[:2])]


@cache
def _root() -> Schema:
    root: Schema = json.loads(_core.schema())
    return root


def _parts(schema: Schema) -> list[Schema]:
    """Return what a key may be: one schema, or each of its choices."""
    if "$ref" in schema:
        found = _parts(_root()["$defs"][schema["$ref"].removeprefix("#/$defs/")])
        # What is said of the key itself comes first.
        return [{**each, "description": schema.get("description", "")} for each in found]
    several = schema.get("oneOf") or schema.get("anyOf")
    return [part for each in several for part in _parts(each)] if several else [schema]


def _names(schema: Schema) -> list[str]:
    """Return the choices of a key that have names."""
    found: list[str] = []
    for part in _parts(schema):
        found += [part["const"]] if "const" in part else []
        if part.get("required") and len(part.get("properties", {})) == 1:
            found += part["properties"]
    return [name for name in dict.fromkeys(found) if name != "python"]


def _keys(
    schema: Schema, value: Any, given: Any, path: str
) -> Iterator[tuple[str, Schema, Any, bool]]:
    """Yield each key with its schema, its value, and whether the text has it."""
    if isinstance(value, list):
        tables = [each for each in value if isinstance(each, dict)]
        written = given if isinstance(given, list) else []
        for n, table in enumerate(tables):
            name = table.get("name")
            own = f"{path}[{json.dumps(name, ensure_ascii=False) if name else n}]"
            wanted = written[n] if n < len(written) else {}
            yield from (each for each in _tables(schema, table, wanted, own) if each[3])
        if tables:
            alike = {key: each for key, each in tables[0].items()
                     if all(table.get(key) == each for table in tables)}  # fmt: skip
            first = written[0] if written else {}
            yield from _tables(schema, alike, first, f"{path}[*]")
    elif isinstance(value, dict) and not (names := _names(schema)):
        yield from _tables(schema, value, given, path)
    else:
        # Of what the text has not, a table has all defaults: its name says that.
        current = next(iter(value), None) if isinstance(value, dict) else value
        yield path, schema, current if given is None else given, given is not None
        if isinstance(value, dict) and len(value) == 1 and next(iter(value)) in names:
            yield from _tables(schema, value, given, path)


def _tables(
    schema: Schema, value: Mapping[str, Any], given: Any, path: str
) -> Iterator[tuple[str, Schema, Any, bool]]:
    for part in _parts(schema):
        for part_ in _parts(part["items"]) if "items" in part else [part]:
            for key, own in part_.get("properties", {}).items():
                if key in value:
                    wanted = given.get(key) if isinstance(given, dict) else None
                    yield from _keys(own, value[key], wanted, f"{path}.{key}" if path else key)


def _values(schema: Schema, value: Any) -> Sequence[Any]:
    """Return values of a key, first the one that it has."""
    if isinstance(value, bool):
        return [value, not value]
    if names := _names(schema):
        name = next(iter(value), "") if isinstance(value, dict) else value
        return [*([] if value is None else [value]), *(each for each in names if each != name)]
    if not isinstance(value, (int, float)):
        return []
    numbers = FROM_ZERO if value == 0 else [factor * value for factor in FACTORS]
    # A whole number stays one.
    own = [type(value)(each) for each in numbers]
    return sorted(dict.fromkeys(own))


def _runs(scenario: Scenario, path: str, written: str, desk: Desk) -> bool:
    try:
        desk.read(scenario.set_text(path, written).to_toml())
    except (ScenarioError, ValueError):
        return False
    return True


def _bare(written: str) -> str:
    """Return a value without quotes where a sweep needs none."""
    return re.sub(r'^"([A-Za-z]\w*)"$|"(\w+)"(?= = )', r"\1\2", written)
