"""Self-contained HTML pages, each of which is one file, and text in notebooks.

Templates in ``templates/`` define the layout. All values are escaped.
"""

from __future__ import annotations

import base64
from functools import cache
from html import escape
from typing import TYPE_CHECKING

from simoom.base.needs import Later

if TYPE_CHECKING:
    import jinja2
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


def embedded(picture: bytes) -> str:
    """Return an SVG in base64, for a source ``data:image/svg+xml;base64,`` of an image."""
    return base64.b64encode(picture).decode()


def preformatted(text: str) -> str:
    """Return a text as an element that keeps its lines."""
    return f'<pre style="line-height:1.2">{escape(text)}</pre>'


class Text(str):
    """A text that a notebook shows line by line."""

    __slots__ = ()

    def _repr_html_(self) -> str:
        return preformatted(self)
