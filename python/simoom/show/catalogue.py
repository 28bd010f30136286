"""The sections of reports as plain data, for a page that finds and writes the same itself."""

from __future__ import annotations

from typing import Any

from simoom.base.kinds import AIRTIME, CAUSES
from simoom.results.tables import LIMITS, MOST_ROWS, SENT, WORDS
from simoom.show.sections import ALWAYS, HEADLINE, SECTIONS


def declared() -> dict[str, Any]:
    """Return what a page needs that finds and writes the same itself, as plain data.

    Rows and numbers are found and written by functions, of which it has the names; the page without
    a server (``web/src/local/tables.ts``) has functions of these names, and a test compares both.
    """
    sections = [
        {
            "title": section.title,
            "rows": getattr(section.find, "__name__", ""),
            "columns": [
                {"key": each.key, "heading": each.heading, "write": each.write.__name__,
                 "words": each.key in WORDS}
                for each in section.columns
            ],
        }
        for section in SECTIONS
    ]  # fmt: skip
    return {
        "sections": sections,
        "headline": [fact.name for fact in HEADLINE],
        "airtime": list(AIRTIME.items()),
        "limits": list(LIMITS.items()),
        "sent": list(SENT),
        "causes": [{"label": cause.label, "result": cause.result} for cause in CAUSES],
        "always": list(ALWAYS),
        "most_rows": MOST_ROWS,
    }
