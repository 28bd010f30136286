"""Style of figures: colours, fonts, sizes and file formats.

No function changes matplotlib's global state, so that all may be used in threads and notebooks.
"""

from __future__ import annotations

import io
import re
import textwrap
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import matplotlib as mpl
from cycler import cycler
from matplotlib.figure import Figure
from matplotlib.transforms import ScaledTranslation

from simoom.base.files import complete
from simoom.base.palette import CYCLE

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.backend_bases import RendererBase
    from matplotlib.text import Text

WHOLE_WORDS: Any = {"break_long_words": False, "break_on_hyphens": False}

MARKERS = "osD^vP*X"

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
    """A figure that a notebook shows without a backend and without a magic command.

    Titles and labels that are longer than their axes are broken into lines, at any size.
    """

    def draw(self, renderer: RendererBase) -> None:
        """Draw the figure."""
        # Other labels leave axes less room, which is why there is a second turn.
        for _ in range(2):
            if (engine := self.get_layout_engine()) is not None:
                engine.execute(self)
            for axes in self.axes:
                heading = axes._left_title  # type: ignore[attr-defined]  # noqa: SLF001
                _wrap(heading, axes.bbox.width)
                _wrap(axes.xaxis.label, axes.bbox.width)
                _wrap(axes.yaxis.label, axes.bbox.height)
        super().draw(renderer)

    def _repr_svg_(self) -> str:
        return svg(self).decode()


def _wrap(text: Text, room: float) -> None:
    """Break a text into lines that have room, if it is longer."""
    said = " ".join(text.get_text().split())
    text.set_text(said)
    box = text.get_window_extent()
    length = max(box.width, box.height)
    if said and length > room > 0:
        text.set_text(textwrap.fill(said, max(8, int(len(said) * room / length)), **WHOLE_WORDS))


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


def below(axes: Axes, *, inches: float, columns: int, **options: Any) -> None:
    """Add a legend below the axes, at this distance, which depends on no size."""
    figure = axes.get_figure(root=True)
    assert figure is not None
    moved = ScaledTranslation(0, -inches, figure.dpi_scale_trans)
    axes.legend(
        loc="upper left",
        bbox_to_anchor=(0, 0),
        bbox_transform=axes.transAxes + moved,
        borderaxespad=0.0,
        ncols=columns,
        columnspacing=0.9,
        handlelength=1.2,
        handletextpad=0.4,
        **options,
    )


def legend_beside(axes: Axes, **options: Any) -> None:
    """Add a legend beside the axes, where it hides no data."""
    axes.legend(loc="upper left", bbox_to_anchor=(1.01, 1.0), borderaxespad=0.0, **options)


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


def save_both(figure: Figure, folder: Path, name: str) -> list[str]:
    """Write a figure as PNG, and as SVG for print; return the names of the files."""
    save(figure, folder / f"{name}.png")
    with complete(folder / f"{name}.svg") as draft:
        draft.write_bytes(svg(figure))
    return [f"{name}.png", f"{name}.svg"]


def file_name(prefix: str, path: str) -> str:
    """Return a name for the picture of a result.

    Examples
    --------
    >>> file_name("sweep", "flows[0].goodput_mbps")
    'sweep.flows-0.goodput_mbps'
    """
    plain = re.sub(r"[^\w.]+", "-", path).replace("-.", ".").strip("-")
    return f"{prefix}.{plain}"


def svg(figure: Figure) -> bytes:
    """Return a figure as SVG; equal figures give equal bytes."""
    buffer = io.BytesIO()
    with style():
        figure.savefig(buffer, format="svg", metadata={"Date": None})
    return buffer.getvalue()
