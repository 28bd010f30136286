"""Pages for the browser, each of which is one file that needs nothing else.

What a page looks like stands in its template below ``templates/``; everything that is put into one
is escaped.
"""

from __future__ import annotations

import base64
from functools import cache
from typing import TYPE_CHECKING

from simoom import plots

if TYPE_CHECKING:
    from jinja2 import Environment
    from matplotlib.figure import Figure


def render(template: str, **values: object) -> str:
    """Return a template of ``templates/`` with values in it."""
    return _templates().get_template(template).render(values)


@cache
def _templates() -> Environment:
    from jinja2 import Environment, PackageLoader, StrictUndefined

    return Environment(
        loader=PackageLoader("simoom"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )


def embedded(figure: Figure) -> str:
    """Return a figure as what follows ``data:image/svg+xml;base64,`` in the source of an image."""
    return base64.b64encode(plots.svg(figure)).decode()
