"""Random scenarios over the whole schema, and mutated files and scripts, each by a number."""

from __future__ import annotations

import copy
import json
import random
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
sys.path.append(str(ROOT / "benches"))

Table = dict[str, Any]

CHANGES = 8
"""The most changes that are made to a random scenario."""
LONGEST_S = 0.5
"""The longest simulated time of a random scenario."""
SEED = 18
"""Separates the scenarios of a campaign from those of `benches/results.py`."""


@cache
def schema() -> Table:
    """Return the schema of scenarios."""
    text = (ROOT / "schema" / "scenario.schema.json").read_text(encoding="utf-8")
    found: Table = json.loads(text)
    return found


def scenario(number: int) -> Table:
    """Return a random scenario: one of `benches/random_scenarios.py`, with keys of the schema."""
    import random_scenarios

    made = random_scenarios.scenario(number, seed=SEED)
    draw = random.Random(number)
    for _ in range(draw.choice((0, 0, 1, 2, 3, CHANGES))):
        _change(made, schema(), draw)
    if isinstance(made.get("duration_s"), (int, float)):
        made["duration_s"] = min(made["duration_s"], LONGEST_S)
    return made


def _change(table: Table, node: Table, draw: random.Random) -> None:
    """Give one key at a random place a random value."""
    keys = node["properties"]
    # Tables that exist are entered more often than keys are set.
    inner = [key for key in keys if isinstance(table.get(key), (dict, list)) and table[key]]
    key = draw.choice(inner) if inner and draw.random() < 0.7 else draw.choice(list(keys))
    value, shape = table.get(key), _resolved(keys[key])
    if isinstance(value, list) and value and isinstance(value[0], dict) and draw.random() < 0.9:
        index = draw.randrange(len(value))
        value[index] = copy.deepcopy(value[index])
        item = next(each for each in _objects(shape))
        _change(value[index], item, draw)
    elif isinstance(value, dict) and value and draw.random() < 0.9:
        chosen = next((each for each in _objects(shape) if set(value) <= set(each["properties"])),
                      None)  # fmt: skip
        if chosen is not None:
            _change(value, chosen, draw)
    else:
        table[key] = _value(shape, draw, 0)


def _resolved(node: Table) -> Table:
    if "$ref" in node:
        return _resolved(schema()["$defs"][node["$ref"].rpartition("/")[2]])
    return node


def _objects(node: Table) -> Iterator[Table]:
    """Yield the tables that a value may be; of a list, its elements."""
    node = _resolved(node)
    if "properties" in node:
        yield node
    for each in (*node.get("oneOf", ()), *node.get("anyOf", ())):
        yield from _objects(each)
    if isinstance(node.get("items"), dict):
        yield from _objects(node["items"])


def _value(node: Table, draw: random.Random, depth: int) -> Any:
    """Return a random value that the schema allows."""
    node = _resolved(node)
    for key in ("oneOf", "anyOf"):
        if key in node:
            return _value(draw.choice(node[key]), draw, depth)
    if "const" in node:
        return node["const"]
    if "enum" in node:
        return draw.choice(node["enum"])
    kind = node.get("type")
    if isinstance(kind, list):
        kind = draw.choice([each for each in kind if each != "null"])
    if kind == "object":
        required = node.get("required", ())
        keys = node.get("properties", {})
        wanted = [key for key in keys if key in required or draw.random() < 0.3 / (1 + depth)]
        return {key: _value(keys[key], draw, depth + 1) for key in wanted}
    if kind == "array":
        count = draw.choice((0, 1, 2, 3)) if depth < 4 else 0
        count = max(count, node.get("minItems", 0))
        return [_value(node.get("items", {}), draw, depth + 1) for _ in range(count)]
    if kind in ("integer", "number"):
        return _number(node, kind, draw)
    if kind == "boolean":
        return draw.random() < 0.5
    return draw.choice(("", "sta0", "sta*", "server", "ap", "a", "ü"))


def _number(node: Table, kind: str, draw: random.Random) -> float | int:
    """Return a number in its range: at an end, near the default, or anywhere by magnitude."""
    low = node.get("minimum", node.get("exclusiveMinimum", 0))
    high = node.get("maximum", node.get("exclusiveMaximum", 1e6))
    usual = node.get("default", low if low > 0 else 1)
    usual = usual if isinstance(usual, (int, float)) else 1
    floor = max(low, 1e-9) if kind == "number" else max(low, 1)
    magnitude = floor * (max(high, floor) / floor) ** draw.random()
    value = draw.choice((low, high, usual, usual * 2, usual / 2, magnitude, magnitude))
    value = min(max(value, low), high)
    return int(value) if kind == "integer" else float(value)


WORDS = (
    b"nan", b"inf", b"-1", b"0", b"1e300", b"99999999999999999999", b"\xff\xfe", b"\x00", b"[",
    b"{", b"]]", b"\"\"\"", b"sta*", b"[[flows]]", b"= ", b"\n", b"1979-05-27", b"\xf0\x9f\x98\x80",
)  # fmt: skip


@cache
def _files(kind: str) -> list[bytes]:
    where = {"toml": "scenarios/*.toml", "script": "crates/tcp/tests/scripts/**/*"}[kind]
    return [file.read_bytes() for file in sorted(ROOT.glob(where)) if file.is_file()]


def mutated(number: int) -> tuple[str, bytes]:
    """Return a mutated scenario file or script, and which of them it is."""
    draw = random.Random(number)
    kind = draw.choice(("toml", "script"))
    data = bytearray(draw.choice(_files(kind)))
    for _ in range(draw.choice((1, 1, 2, 4, 16))):
        at = draw.randrange(len(data) + 1)
        how = draw.randrange(6)
        if how == 0:
            data[at : at + draw.randrange(1, 20)] = b""
        elif how == 1:
            data[at:at] = draw.choice(WORDS)
        elif how == 2 and at < len(data):
            data[at] ^= 1 << draw.randrange(8)
        elif how == 3:
            other = draw.choice(_files(kind))
            begin = draw.randrange(len(other) + 1)
            data[at:at] = other[begin : begin + draw.randrange(200)]
        elif how == 4:
            lines = bytes(data).split(b"\n")
            draw.shuffle(lines)
            data = bytearray(b"\n".join(lines))
        else:
            size = draw.randrange(1, 9)
            data[at : at + size] = data[at : at + size] * draw.choice((2, 3, 50))
    return kind, bytes(data)
