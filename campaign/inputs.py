"""Random scenarios over the whole schema, and mutated files and scripts, each by a number."""

from __future__ import annotations

import copy
import random
from functools import cache

from campaign import features
from campaign.schema import ROOT, Table, Values, objects, resolved, schema

CHANGES = 8
"""The most changes that are made to a random scenario."""
LONGEST_S = {"lasting": 180.0, "roaming": 3.0, "pipes": 5.0}
"""The longest simulated time of a random scenario, by its class."""
LONGEST_OTHER_S = 0.5
"""That of the other classes."""
SEED = 18
"""Separates the scenarios of a campaign from those of `benches/results.py`."""


def scenario(number: int) -> Table:
    """Return a random scenario in which keys of the whole schema are set at random."""
    draw = random.Random(number)
    longest_s = LONGEST_S.get(features.class_of(number), LONGEST_OTHER_S)
    made = features.scenario(number, SEED, draw)
    shorten(made, longest_s)
    for _ in range(draw.choice((0, 0, 1, 2, 3, CHANGES))):
        _change(made, schema(), draw)
    if isinstance(made.get("duration_s"), (int, float)):
        made["duration_s"] = min(made["duration_s"], longest_s)
    return made


def shorten(made: Table, longest_s: float) -> None:
    """Make a run shorter, and what happens in it earlier."""
    duration = made["duration_s"]
    if isinstance(duration, (int, float)) and duration > longest_s:
        for each in (made, *made["flows"], *made.get("interferers", ())):
            for key in ("duration_s", "warmup_s", "start_s", "start_spread_s", "stop_s"):
                if isinstance(each.get(key), (int, float)):
                    each[key] *= longest_s / duration


def _change(table: Table, node: Table, draw: random.Random) -> None:
    """Give one key at a random place a random value."""
    keys = node["properties"]
    # Tables that exist are entered more often than keys are set.
    inner = [key for key in keys if isinstance(table.get(key), (dict, list)) and table[key]]
    key = draw.choice(inner) if inner and draw.random() < 0.7 else draw.choice(list(keys))
    value, shape = table.get(key), resolved(keys[key])
    if isinstance(value, list) and value and isinstance(value[0], dict) and draw.random() < 0.9:
        index = draw.randrange(len(value))
        value[index] = copy.deepcopy(value[index])
        item = next(each for each in objects(shape))
        _change(value[index], item, draw)
    elif isinstance(value, dict) and value and draw.random() < 0.9:
        chosen = next((each for each in objects(shape) if set(value) <= set(each["properties"])),
                      None)  # fmt: skip
        if chosen is not None:
            _change(value, chosen, draw)
    else:
        table[key] = Values(draw, wild=draw.random() < 0.5).value(shape, key=key)


MOVEMENTS = ("csv", "bonnmotion", "setdest")
"""Formats of files with the movement of stations."""
WORDS = (
    b"nan", b"inf", b"-1", b"0", b"1e300", b"99999999999999999999", b"\xff\xfe", b"\x00", b"[",
    b"{", b"]]", b"\"\"\"", b"sta*", b"[[flows]]", b"= ", b"\n", b"1979-05-27", b"\xf0\x9f\x98\x80",
)  # fmt: skip


@cache
def _files(kind: str) -> list[bytes]:
    where = {"toml": "scenarios/*.toml", "script": "crates/tcp/tests/scripts/**/*"}.get(kind)
    where = where or f"campaign/files/*.{kind}"
    return [file.read_bytes() for file in sorted(ROOT.glob(where)) if file.is_file()]


def mutated(number: int) -> tuple[str, bytes]:
    """Return a mutated scenario file, script or movement file, and which of them it is."""
    draw = random.Random(number)
    kind = draw.choice(("toml", "toml", "script", "script", *MOVEMENTS))
    return kind, _mutated(kind, draw)


def mutated_toml(draw: random.Random) -> bytes:
    """Return a mutated scenario file."""
    return _mutated("toml", draw)


def _mutated(kind: str, draw: random.Random) -> bytes:
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
    return bytes(data)
