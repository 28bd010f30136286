"""The timeline of a run as a widget of a notebook: the same code as the page of `simoom serve`.

The widget asks for tiles, frames and lives of packets when it shows them, and the kernel answers
from an indexed trace (format ``.air``). It needs the package ``anywidget``.
"""

from __future__ import annotations

import tempfile
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from simoom import _core
from simoom.base.needs import Later
from simoom.base.palette import HATCHES, frame_look
from simoom.results.run import run

if TYPE_CHECKING:
    from collections.abc import Mapping

    import anywidget
    import traitlets

    from simoom.results.run import Run
else:
    anywidget = Later("anywidget", "a timeline in a notebook")
    traitlets = Later("traitlets", "a timeline in a notebook")

WIDGET = Path(__file__).parents[1] / "serve" / "static" / "widget.js"


def timeline(source: Run | Path | str, *, limit_mib: int = 256) -> Any:
    """Return a widget that shows every frame of a run, from the whole run to a microsecond.

    Parameters
    ----------
    source : Run, path or str
        A run, which is simulated again to trace it: equal scenarios and seeds give equal runs. Or
        the file of a trace that was written with the suffix ``.air``.
    limit_mib : int, optional
        The length of the trace of a run in MiB; the timeline ends where it is reached.

    Returns
    -------
    anywidget.AnyWidget
        The widget; a notebook shows it if it is the last value of a cell.

    Raises
    ------
    ImportError
        The package anywidget is not installed.
    OSError
        The file cannot be read, or is no indexed trace.
    """
    widget = _widget()
    if isinstance(source, (str, Path)):
        return widget(_core.AirFile(source), Path(source).stem)

    # The file is open as long as the widget lives; on Windows it is removed by the system later.
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        path = Path(folder) / "run.air"
        run(
            source.scenario,
            seed=source.seed,
            replication=source.replication,
            trace=path,
            trace_options={"air.limit_mib": limit_mib},
        )
        return widget(_core.AirFile(path), source.title)


def about(file: _core.AirFile) -> dict[str, Any]:
    """Return names, lines and counts of a trace, and how kinds and outcomes look."""
    told = file.about()
    looks = {kind: frame_look(kind)._asdict() for kind in told["kind"]}
    return {**told, "looks": looks, "hatches": HATCHES}


def answer(file: _core.AirFile, question: Mapping[str, Any]) -> tuple[dict[str, Any], list[bytes]]:
    """Return the answer to a question of the widget: a message, and the bytes beside it."""
    given = dict(question)
    number, what = given.pop("id", None), given.pop("what", None)
    try:
        if what == "about":
            return {"id": number, "value": about(file)}, []
        if what == "tile":
            level, place = _whole(given, "level"), _whole(given, "number")
            if not (0 <= level < 64 and 0 <= place < 1 << 53):
                raise LookupError("there is no such tile")
            return {"id": number}, [file.tile(level, place)]
        if what == "find":
            _whole(given, "number")
            return {"id": number, "value": file.find(**given)}, []
        if what in ("frame", "life"):
            return {"id": number, "value": getattr(file, what)(_whole(given, "number"))}, []
    except (LookupError, TypeError, ValueError, OverflowError, OSError) as error:
        return {"id": number, "error": str(error)}, []
    return {"id": number, "error": f"what: must be a part of a timeline, is {what!r}"}, []


def _whole(given: Mapping[str, Any], name: str) -> int:
    value = given.get(name)
    if not isinstance(value, int):
        raise TypeError(f"{name}: must be a whole number, is {value!r}")
    return value


@cache
def _widget() -> Any:
    """Return the class of the widget; anywidget is imported when the first one is made."""

    class Timeline(anywidget.AnyWidget):
        """A timeline in a notebook."""

        _esm = WIDGET
        title = traitlets.Unicode().tag(sync=True)

        def __init__(self, file: _core.AirFile, title: str) -> None:
            super().__init__(title=title)
            self._file = file
            self.on_msg(self._take)

        def _take(self, _: object, content: Mapping[str, Any], __: object) -> None:
            self.send(*answer(self._file, content))

    return Timeline
