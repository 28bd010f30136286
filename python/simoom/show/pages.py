"""Self-contained HTML pages: each page is one file.

Templates in ``templates/`` define the layout. All values are escaped.
"""

from __future__ import annotations

import base64
from functools import cache
from typing import TYPE_CHECKING

from simoom import plots
from simoom.base.needs import Later

if TYPE_CHECKING:
    import jinja2
    from matplotlib.figure import Figure
else:
    jinja2 = Later("jinja2", "a page")


def render(template: str, **values: object) -> str:
    """Return a template of ``templates/`` filled with values."""
    return _templates().get_template(template).render(values)


@cache
def _templates() -> jinja2.Environment:
    return jinja2.Environment(
        loader=jinja2.PackageLoader("simoom"),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )


def embedded(figure: Figure) -> str:
    """Return a figure in base64, for a source ``data:image/svg+xml;base64,`` of an image."""
    return base64.b64encode(plots.svg(figure)).decode()
