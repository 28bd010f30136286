"""An explanation as HTML: a fragment for notebooks, and a page."""

from __future__ import annotations

from importlib.metadata import version
from typing import Any

from simoom.pages import embedded, render
from simoom.why.draw import figure, finding
from simoom.why.result import Why
from simoom.why.text import hop_rows, sentence


def fragment(why: Why) -> str:
    """Return the explanation as a fragment of a page."""
    return render("why_parts.html", **content(why))


def page(why: Why) -> str:
    """Return the explanation as one self-contained page."""
    footer = f"Simoom {version('simoom')} · {why.replications} runs of each change"
    return render("why.html", **content(why), footer=footer)


def content(why: Why) -> dict[str, Any]:
    """Return what the template of the explanation shows."""
    goal = why.goal
    limits = sorted(why.measured.limits.items(), key=lambda item: -item[1])
    headings, cells = hop_rows(why.measured.hops)
    return {
        "title": why.title,
        "flow": why.flow,
        "goal": f"{goal.name} {goal.written(why.value.mean, why.value.half_width)}",
        "limits": [(name, f"{100 * part:.0f} %") for name, part in limits if part >= 0.005],
        "picture": (finding(why), embedded(figure(why))),
        "headings": headings,
        "hops": cells,
        "causes": [(sentence(why, effect), effect.key) for effect in why.causes],
        "rest": [
            (e.without, e.name, goal.written(e.value.mean, e.value.half_width))
            for e in why.effects
            if not e.helps
        ],
        "absent": list(why.not_applicable.items()),
    }
