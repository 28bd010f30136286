"""Style of figures: colours, fonts, sizes and file formats.

No function changes matplotlib's global state, so that all may be used in threads and notebooks.
"""

from __future__ import annotations

import io
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import matplotlib as mpl
from cycler import cycler
from matplotlib.figure import Figure

from simoom.files import complete
from simoom.palette import CYCLE

STYLE: Any = {
    "axes.axisbelow": True,
    "axes.grid": True,
    "axes.labelsize": 9,
    "axes.prop_cycle": cycler(color=CYCLE),
    "axes.spines.right": False,
    "axes.spines.top": False,
    "axes.titlelocation": "left",
    "axes.titlesize": 10,
    "axes.titleweight": "bold",
    "figure.dpi": 150,
    "font.family": "sans-serif",
    "font.size": 9,
    "grid.color": "#DDDDDD",
    "grid.linewidth": 0.6,
    "hatch.linewidth": 0.6,
    "legend.fontsize": 8,
    "legend.frameon": False,
    "lines.linewidth": 1.4,
    "savefig.dpi": 150,
    "svg.fonttype": "path",
    "svg.hashsalt": "simoom",
    "xtick.labelsize": 8,
    "ytick.labelsize": 8,
}


class Picture(Figure):
    """A figure that a notebook shows without a backend and without a magic command."""

    def _repr_svg_(self) -> str:
        return svg(self).decode()


@contextmanager
def style() -> Iterator[None]:
    """Apply Simoom's style to figures that are made and saved in this context."""
    with mpl.rc_context(STYLE):
        yield


def alone(
    draw: Callable[..., None], *arguments: Any, height: float = 3.0, **options: Any
) -> Figure:
    """Return a figure of one column's width with one plot in it."""
    with style():
        figure = Picture(figsize=(6.4, height), layout="constrained")
        draw(figure.subplots(), *arguments, **options)
    return figure


def literal(text: object) -> str:
    r"""Return a user's text such that matplotlib draws it as it is, and not as a formula.

    Examples
    --------
    >>> print(literal(r"$\frac$"))
    \$\frac\$
    """
    return str(text).replace("$", r"\$")


def save(figure: Figure, path: Path | str) -> None:
    """Write a figure in Simoom's style, in the format of the file name's suffix."""
    with style(), complete(Path(path)) as draft:
        figure.savefig(draft)


def svg(figure: Figure) -> bytes:
    """Return a figure as SVG; equal figures give equal bytes."""
    buffer = io.BytesIO()
    with style():
        figure.savefig(buffer, format="svg", metadata={"Date": None})
    return buffer.getvalue()
