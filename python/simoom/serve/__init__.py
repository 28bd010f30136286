"""The server of ``simoom serve``: a page for scenarios, runs and the air.

An ASGI application (Starlette) with a WebSocket for runs in progress. ``guard`` decides which
requests are answered, ``drafts`` checks and edits scenarios, ``jobs`` runs them one after the
other, ``workers`` are the processes of checks and runs, ``library`` keeps results, ``timeline``
gives tiles of their traces. ``static`` is the page, which `make web` builds from the folder ``web``
of the repository.
"""

from functools import partial
from typing import TYPE_CHECKING

from simoom.base import lazy
from simoom.base.needs import need

if TYPE_CHECKING:
    from simoom.serve.app import application
    from simoom.serve.drafts import Desk
    from simoom.serve.limits import Limits
    from simoom.serve.live import Emulating

__all__ = ["Desk", "Emulating", "Limits", "application"]

lazy.export(__name__, load=partial(need, purpose="the page"))
