"""Curves of one panel that a reader cannot tell apart: a test that each file of a study imports."""

import itertools
from collections import defaultdict

from simoom.studies import draw


def look(curve, figure):
    """Return what a reader sees of a curve: colour, line, and form of its points."""
    style = draw._style(curve, connected=not figure.named)
    return tuple(style.get(key) for key in ("color", "linestyle", "marker", "markerfacecolor"))


def alike(figure):
    """Return the curves that look like others of their panel, and names that have two looks."""
    found = []
    for panel in figure.panels:
        for one, other in itertools.combinations(figure.panel(panel.column), 2):
            if look(one, figure) == look(other, figure):
                found.append(f"{figure.key}, {panel.column}: {one.name} and {other.name}")
    looks = defaultdict(set)
    for curve in figure.curves:
        looks[curve.name].add(look(curve, figure))
    found += [f"{figure.key}: {name} has several" for name, seen in looks.items() if len(seen) > 1]
    return found


def test_curves_of_a_panel_can_be_told_apart(results):
    assert [pair for figure in results for pair in alike(figure)] == []
