"""The indexed traces of runs: tiles, searches, frames and lives of packets."""

from __future__ import annotations

import threading
from collections import OrderedDict
from typing import Any

from simoom import _core
from simoom.serve.library import Library
from simoom.show.timeline import about

OPEN = 3
"""Files that are kept open."""
TILES = 128
"""Tiles that are kept: those of long stretches take milliseconds to make."""


class Timelines:
    """The indexed traces of a library, of which the last ones used are open."""

    def __init__(self, library: Library) -> None:
        self._library = library
        self._files: OrderedDict[str, tuple[int, _core.AirFile]] = OrderedDict()
        self._tiles: OrderedDict[tuple[str, int, int, int], bytes] = OrderedDict()
        self._lock = threading.Lock()

    def file(self, key: str) -> _core.AirFile:
        """Return the trace of a run.

        Raises
        ------
        LookupError
            There is none, or it is damaged.
        BadRecordError
            The record of the run is not to be shown.
        """
        return self._opened(key)[1]

    def _opened(self, key: str) -> tuple[int, _core.AirFile]:
        self._library.admit(key)
        path = self._library.air(key)
        try:
            changed = path.stat().st_mtime_ns
        except OSError:
            raise LookupError("this run has no timeline: run it again with one") from None
        with self._lock:
            known = self._files.get(key)
            if known is None or known[0] != changed:
                try:
                    known = (changed, _core.AirFile(path))
                except OSError:
                    message = "the timeline of this run is damaged or of another version: "
                    message += "delete the run, and run it again"
                    raise LookupError(message) from None
                self._files[key] = known
            self._files.move_to_end(key)
            while len(self._files) > OPEN:
                self._files.popitem(last=False)
        return known

    def about(self, key: str) -> dict[str, Any]:
        """Return names, lines and counts of a trace, and how kinds and outcomes look."""
        return about(self.file(key))

    def tile(self, key: str, level: int, number: int) -> bytes:
        """Return a tile of a trace.

        Raises
        ------
        LookupError
            There is no such tile.
        """
        if not (0 <= level < 64 and 0 <= number < 1 << 53):
            raise LookupError("there is no such tile")
        changed, file = self._opened(key)
        name = (key, changed, level, number)
        with self._lock:
            if name in self._tiles:
                self._tiles.move_to_end(name)
                return self._tiles[name]
        tile = file.tile(level, number)
        with self._lock:
            self._tiles[name] = tile
            while len(self._tiles) > TILES:
                self._tiles.popitem(last=False)
        return tile
