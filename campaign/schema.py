"""Random values that the schema of scenarios allows."""

from __future__ import annotations

import json
import random
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
FILES = Path(__file__).parent / "files"
"""Files that scenarios may name: movements of three nodes."""

Table = dict[str, Any]


@cache
def schema() -> Table:
    """Return the schema of scenarios."""
    text = (ROOT / "schema" / "scenario.schema.json").read_text(encoding="utf-8")
    found: Table = json.loads(text)
    return found


def table(name: str) -> Table:
    """Return the schema of a table by its name in the pages."""
    found: Table = schema()["$defs"][name]
    return found


def resolved(node: Table) -> Table:
    """Return a part of the schema without a reference."""
    if "$ref" in node:
        return resolved(schema()["$defs"][node["$ref"].rpartition("/")[2]])
    return node


def objects(node: Table) -> Iterator[Table]:
    """Yield the tables that a value may be; of a list, its elements."""
    node = resolved(node)
    if "properties" in node:
        yield node
    for each in (*node.get("oneOf", ()), *node.get("anyOf", ())):
        yield from objects(each)
    if isinstance(node.get("items"), dict):
        yield from objects(node["items"])


def _bound(node: Table, end: str, otherwise: float) -> float:
    """Return the least ("Minimum") or the greatest ("Maximum") number that is allowed."""
    given = [node[key] for key in (end.lower(), f"exclusive{end}") if key in node]
    bound: float = given[0] if given else otherwise
    return bound


class Values:
    """Random values of parts of the schema.

    Parameters
    ----------
    draw : random.Random
        The random choices.
    wild : bool
        Whether numbers are taken anywhere in their ranges, and at the ends; otherwise they are
        near the defaults, so that most scenarios can be run.
    """

    def __init__(self, draw: random.Random, *, wild: bool) -> None:
        self.draw = draw
        self.wild = wild

    def value(self, node: Table, depth: int = 0, key: str = "") -> Any:
        """Return a random value that the schema allows."""
        draw, node = self.draw, resolved(node)
        for several in ("oneOf", "anyOf"):
            if several in node:
                kinds = [each for each in node[several] if each.get("type") == "object"]
                if self.wild or not kinds or draw.random() < 0.2:
                    kinds = node[several]
                return self.value(draw.choice(kinds), depth, key)
        if "const" in node:
            return node["const"]
        if "enum" in node:
            return draw.choice(node["enum"])
        kind = node.get("type")
        if isinstance(kind, list):
            kind = draw.choice([each for each in kind if each != "null"])
        if kind == "object":
            return self.table(node, depth)
        if kind == "array":
            return self._list(node, depth, key)
        if kind in ("integer", "number"):
            return self._number(node, kind)
        if kind == "boolean":
            return draw.random() < 0.5
        return draw.choice(("", "sta0", "sta*", "server", "ap", "a", "ü"))

    def table(self, node: Table, depth: int = 0) -> Table:
        """Return a table with what is required and some other keys."""
        required = node.get("required", ())
        keys = node.get("properties", {})
        chance = 0.3 / (1 + depth) if self.wild else 0.3
        wanted = [key for key in keys if key in required or self.draw.random() < chance]
        made = {key: self.value(keys[key], depth + 1, key) for key in wanted}
        for name, inner in made.items():
            if isinstance(inner, dict) and "file" in inner and self.draw.random() < 0.95:
                inner["file"] = str(FILES / f"walk.3.{name}")
        if isinstance(made.get("csv"), str):
            made["csv"] = self.draw.choice(("0.01,0.03\n0.1,0.2", "on,off\n0,0.001\n", "1,0", ""))
        return made

    def _list(self, node: Table, depth: int, key: str) -> list[Any]:
        count = self.draw.choice((0, 1, 2, 3)) if depth < 4 else 0
        if key.endswith("_m") and (not self.wild or self.draw.random() < 0.8):
            low, high = (20, 400) if key.startswith("area") else (-10, 60)
            return [self.draw.uniform(low, high) for _ in range(2)]  # east and north
        count = min(max(count, node.get("minItems", 0)), node.get("maxItems", count))
        made = [self.value(node.get("items", {}), depth + 1) for _ in range(count)]
        if not self.wild and node.get("items", {}).get("type") in ("integer", "number"):
            made.sort()
        return made

    def _number(self, node: Table, kind: str) -> float | int:
        """Return a number in its range: at an end, near the default, or anywhere by magnitude."""
        draw = self.draw
        low, high = _bound(node, "Minimum", 0), _bound(node, "Maximum", 1e6)
        default = node.get("default")
        usual = default if isinstance(default, (int, float)) else max(low, 0) or 1
        floor = max(low, 1e-9) if kind == "number" else max(low, 1)
        magnitude = floor * (max(high, floor) / floor) ** draw.random()
        near = (usual, usual * 2, usual / 2, usual / 10, usual * 10)
        anywhere = (low, high, usual, usual * 2, usual / 2, magnitude, magnitude)
        value = min(max(draw.choice(anywhere if self.wild else near), low), high)
        return int(value) if kind == "integer" else float(value)
