"""What a page shows first, and the page that needs no server: its files but for the simulator."""

from __future__ import annotations

import json
from collections.abc import Sequence
from importlib.metadata import version
from pathlib import Path
from typing import Any

from simoom import _core
from simoom.base.palette import HATCHES, KINDS
from simoom.scenario.observables import catalogue, unit_of
from simoom.scenario.words import words
from simoom.serve.gallery import gallery
from simoom.serve.guard import POLICY
from simoom.serve.library import MOST_SAMPLES
from simoom.serve.limits import Limits
from simoom.serve.tasks import WANTED
from simoom.show.catalogue import declared
from simoom.show.sections import LISTED

STATIC = Path(__file__).parent / "static"
VIEWS = ("why", "twin", "hearing", "sweep", "pairs", "files")
"""What a server can show beside runs, timelines and comparisons."""
ALONE = ("app.js", "app.css", "worker.js", "offline.js", "licences.txt")
"""The built files of the page that needs no server."""
ALONE_LIMITS = Limits(air_mib=128, airs_mib=512)
"""Browsers hold timelines in memory."""
NONCE = "simoom"


def start(limits: Limits, views: Sequence[str]) -> dict[str, Any]:
    """Return what the page shows first, if it can show these views."""
    return {
        "version": version("simoom"),
        "gallery": gallery(),
        "first": None,
        "limits": {"scenario_bytes": limits.scenario_bytes, "airs_mib": limits.airs_mib},
        "listed": [(path, catalogue()[path].title) for path in LISTED],
        "units": {path: unit_of(path) for path in catalogue() if unit_of(path)},
        "views": list(views),
    }


def facts() -> dict[str, Any]:
    """Return what a page without a server knows beside it."""
    return {
        **declared(),
        "wanted": list(WANTED),
        "series": ALONE_LIMITS.series,
        "samples": MOST_SAMPLES,
        "air_mib": ALONE_LIMITS.air_mib,
        "looks": {kind: look._asdict() for kind, look in KINDS.items()},
        "hatches": HATCHES,
        "words": {path: words(path) for path in catalogue()},
    }


def alone() -> dict[str, str]:
    """Return the files of the page that needs no server by their names, without ``simoom.wasm``."""
    page = (STATIC / "index.html").read_text(encoding="utf-8")
    # What only the header of an answer may say is not said here.
    said = "; ".join(part for part in POLICY.split("; ") if not part.startswith("frame-ancestors"))
    policy = said.format(nonce=NONCE).replace(
        "script-src 'self'", "script-src 'self' 'wasm-unsafe-eval'; worker-src 'self'"
    )
    head = f'<meta http-equiv="Content-Security-Policy" content="{policy}">\n'
    head += '<meta name="host" content="page">\n'
    page = page.replace("/static/", "").replace("{nonce}", NONCE)
    return {
        "index.html": page.replace("<title>", f"{head}<title>", 1),
        "start.json": json.dumps(start(ALONE_LIMITS, ())),
        "facts.json": json.dumps(facts()),
        "schema.json": _core.schema(),
        **{name: (STATIC / name).read_text(encoding="utf-8") for name in ALONE},
    }
