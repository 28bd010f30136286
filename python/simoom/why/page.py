"""An explanation as HTML: a fragment for notebooks, and a page."""

from __future__ import annotations

from importlib.metadata import version
from typing import Any

from simoom import plots
from simoom.base.pages import embedded, render
from simoom.why.draw import bars, figure, finding
from simoom.why.result import Why
from simoom.why.text import (
    CURE_HEADINGS,
    absent,
    cure_rows,
    heading,
    hop_rows,
    others,
    sentence,
    shown_hops,
)


def fragment(why: Why) -> str:
    """Return the explanation as a fragment of a page."""
    return render("why_parts.html", **content(why))


def page(why: Why) -> str:
    """Return the explanation as one self-contained page."""
    footer = f"Simoom {version('simoom')} · {heading(why)}"
    return render("why.html", **content(why), footer=footer)


def content(why: Why, *, picture: bool = True) -> dict[str, Any]:
    """Return what the template of the explanation shows."""
    goal = why.goal
    limits = sorted(why.measured.limits.items(), key=lambda item: -item[1])
    headings, cells = hop_rows(shown_hops(why.measured))
    return {
        "title": why.title,
        "flow": why.flow,
        "goal": f"{goal.name} {goal.written(why.value.mean, why.value.half_width)}",
        "limits": [(name, f"{100 * part:.0f} %") for name, part in limits if part >= 0.005],
        "picture": (finding(why), embedded(plots.svg(figure(why)))) if picture else None,
        "headings": headings,
        "hop_rows": cells,
        "heading": heading(why),
        "causes": [(sentence(why, effect), effect.key) for effect in why.causes],
        "cure_headings": list(CURE_HEADINGS),
        "cures": cure_rows(why),
        "rest": [
            (words, [(e.name, e.without, goal.gained(e.difference)) for e in effects])
            for words, effects in others(why)
        ],
        "absent": absent(why),
    }


def data(why: Why) -> dict[str, Any]:
    """Return an explanation as plain data with the words in which a page shows it."""
    goal = why.goal
    scaled = {"unit": goal.unit.strip("()"), "scale": goal.scale, "goal_name": goal.name}
    steps = [{"label": bar.label, "begin": bar.begin, "mean": bar.value.mean,
              "ci_low": bar.value.ci_low, "ci_high": bar.value.ci_high,
              "text": goal.written(bar.value.mean, bar.value.half_width)}
             for bar in bars(why)]  # fmt: skip
    shown = content(why, picture=False)
    cures = [effect for effect in why.cures if effect.helps]
    changes = {
        effect.name: {"set": list(effect.change.key.set), "unset": list(effect.change.key.unset)}
        for effect in (*why.causes, *cures)
    }
    names = {"cause_names": [e.name for e in why.causes], "cure_names": [e.name for e in cures]}
    said = {"bars": steps, "finding": finding(why), "changes": changes}
    return {**why.to_dict(), **scaled, **shown, **said, **names}
