"""The gallery of the page: shipped scenarios with a picture, and what to try as settings.

The files end their comment with lines for the command line, ``# Try:  --set PATH=VALUE  words``.
The page shows these as buttons, and the text without them.
"""

from __future__ import annotations

import math
import re
import shlex
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import cache
from typing import Any

from simoom.base.issue import ScenarioError
from simoom.scenario import shipped
from simoom.scenario.interfaces import stations
from simoom.scenario.routes import routes
from simoom.scenario.scenario import Scenario
from simoom.serve.drafts import written_positions

TRIES = re.compile(r"(?:^#\n)?^# Try:.*\n(?:^#.*\n)*", re.MULTILINE)
COMMANDS = re.compile(r"(?:^#\n)?(?:^#[^`\n]* {2,}simoom .*\n)+", re.MULTILINE)
MOST_DOTS = 24
"""Of more stations a picture of a cell shows so many."""
WIDE, HIGH, EDGE = 96.0, 56.0, 7.0
"""The size of a picture, and the space around its nodes."""

Point = tuple[float, float]


@dataclass(frozen=True)
class Try:
    """A variation of a shipped scenario.

    Attributes
    ----------
    set : list of str
        What changes, each ``PATH=VALUE``.
    words : str
        What then happens; may be empty.
    """

    set: list[str]
    words: str


@cache
def gallery() -> list[dict[str, Any]]:
    """Return the entries of the gallery as plain data."""
    return [
        {
            **asdict(each),
            "text": page_text(each.text),
            "tries": [asdict(one) for one in tries(each.text)],
            "picture": picture(Scenario.parse(each.text)),
        }
        for each in shipped.scenarios()
    ]


def page_text(text: str) -> str:
    """Return the text of a shipped scenario without what only a command line can do."""
    return COMMANDS.sub("", TRIES.sub("", text, count=1)).lstrip("\n")


def tries(text: str) -> list[Try]:
    r"""Return what the comment of a shipped scenario says to try.

    Examples
    --------
    >>> tries("# Try:  --set stations=5   five\n#         of them\n#   simoom hearing a.toml\n")
    [Try(set=['stations=5'], words='five of them')]
    """
    block = TRIES.search(text)
    found: list[Try] = []
    for line in _lines(block[0] if block else ""):
        if not line.startswith("--set"):
            if found and not line.startswith("simoom "):
                found[-1] = Try(found[-1].set, f"{found[-1].words} {line}".strip())
            continue
        settings = []
        while line.startswith("--set "):
            # Words may have an apostrophe, which the shell would take for a quote.
            setting, line = _word(line.removeprefix("--set ").lstrip())
            settings.append(setting)
        found.append(Try(settings, line))
    return found


def _lines(block: str) -> Iterator[str]:
    for line in block.splitlines():
        if text := line.lstrip("#").strip().removeprefix("Try:").strip():
            yield text


def _word(text: str) -> tuple[str, str]:
    """Return the first word of a line as the shell reads it, and the rest."""
    end = text.find('"', 1) + 1 if text.startswith('"') else (text + " ").index(" ")
    return shlex.split(text[:end])[0], text[end:].strip()


def picture(scenario: Scenario) -> dict[str, Any]:
    """Return the nodes of a scenario and the lines between them, in a box of 96 by 56."""
    keys = scenario.to_dict()
    known = stations(scenario)
    used = {str(end) for flow in keys["flows"] or () for end in (flow["from"], flow["to"])}
    if keys["standard"] is None:
        lines = [(str(link["from"]), str(link["to"])) for link in keys["links"]]
        places = _layers(lines)
    else:
        cells = [f"cells[{n}]" for n in range(len(keys["cells"] or ()))]
        radios = ["ap", *known, *cells]
        places = _positions(scenario, keys) or _ring(radios[: MOST_DOTS + 1])
        is_ad_hoc = bool((keys["radio"] or {}).get("ad_hoc"))
        lines = [] if is_ad_hoc else [("ap", n) for n in places if n in known]
        lines = lines if not cells else []
        if "server" in used and not is_ad_hoc and "ap" in places:
            places = {**places, "server": (EDGE, HIGH - EDGE)}
            lines.append(("ap", "server"))
        if is_ad_hoc and "ap" not in used:
            places.pop("ap", None)
    return {
        "nodes": [
            [round(x, 1), round(y, 1), _kind(name, known)] for name, (x, y) in places.items()
        ],
        "lines": [
            [*(round(part, 1) for end in ends for part in places[end]), "server" in ends]
            for ends in lines
            if all(end in places for end in ends)
        ],
    }


def _kind(name: str, known: Mapping[str, int]) -> str:
    if name == "ap" or name.startswith("cells"):
        return "ap"
    return "station" if name in known else "node"


def _positions(scenario: Scenario, keys: Mapping[str, Any]) -> dict[str, Point]:
    """Return nodes at their positions, scaled to the box; empty if they have none."""
    try:
        known = {name: each["at"] for name, each in written_positions(keys).items()}
        if keys["radio"] and keys["radio"].get("ad_hoc"):
            found = routes(scenario, times_s=[0.0])
            known = dict(zip(found.nodes, found.positions_m[0].tolist(), strict=True))
    except (ScenarioError, ValueError):
        return {}
    if len({tuple(at) for at in known.values()}) < 2 or keys["radio"] is None:
        return {}
    return _scaled({name: (at[0], -at[1]) for name, at in known.items()})


def _scaled(points: Mapping[str, Point]) -> dict[str, Point]:
    xs, ys = ([at[axis] for at in points.values()] for axis in (0, 1))
    span = max((max(xs) - min(xs)) / (WIDE - 2 * EDGE), (max(ys) - min(ys)) / (HIGH - 2 * EDGE))
    middle = ((max(xs) + min(xs)) / 2, (max(ys) + min(ys)) / 2)
    return {
        name: (WIDE / 2 + (x - middle[0]) / span, HIGH / 2 + (y - middle[1]) / span)
        for name, (x, y) in points.items()
    }


def _ring(names: Sequence[str]) -> dict[str, Point]:
    """Return the first node in the middle, and the others around it."""
    centre, others = names[0], names[1:]
    found = {centre: (WIDE / 2, HIGH / 2)}
    for n, name in enumerate(others):
        angle = 2 * math.pi * (n + 0.5) / len(others) - math.pi / 2
        reach = (HIGH / 2 - EDGE) * (1.0 if len(others) <= 12 or n % 2 else 0.62)
        found[name] = (WIDE / 2 + 1.6 * reach * math.cos(angle), HIGH / 2 + reach * math.sin(angle))
    return found


def _layers(lines: Sequence[tuple[str, str]]) -> dict[str, Point]:
    """Return the nodes of links from left to right, by their distance from the first sources."""
    sinks = {b for _, b in lines}
    depth = {a: 0 for a, _ in lines if a not in sinks} or {lines[0][0]: 0}
    for _ in lines:
        for a, b in lines:
            if a in depth:
                depth.setdefault(b, depth[a] + 1)
    last = max(depth.values()) or 1
    found = {}
    for layer in range(last + 1):
        own = [name for name, at in depth.items() if at == layer]
        for n, name in enumerate(own):
            x = EDGE + (WIDE - 2 * EDGE) * layer / last
            found[name] = (x, HIGH * (n + 1) / (len(own) + 1))
    return found
