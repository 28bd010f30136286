"""The server of ``simoom serve``: a page for scenarios, runs and the air.

An ASGI application (Starlette) with a WebSocket for runs in progress. ``guard`` decides which
requests are answered, ``drafts`` checks and edits scenarios, ``jobs`` runs them one after the
other, ``workers`` are the processes of checks and runs, ``library`` keeps results, ``timeline``
gives tiles of their traces. ``static`` is the page, which `make web` builds from the folder ``web``
of the repository.
"""

from simoom.serve.app import application
from simoom.serve.limits import Limits

__all__ = ["Limits", "application"]
