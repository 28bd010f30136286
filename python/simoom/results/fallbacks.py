"""What becomes of the feedback of ECN: congestion controls that fall back, options left out."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from simoom.results.run import Run

FEEDBACK = {"off": "none", "classic": "classic", "each_mark": "classic", "accurate": "accurate"}
"""The feedback of RFC 9768, RFC 3168 or none that a setting of `tcp.ecn` offers."""
OFFERS = ("none", "classic", "accurate")
"""From least to most: both ends agree on the lesser offer."""
NEEDS = {
    "prague": ("accurate", "Prague falls back to NewReno, without ECT(1)"),
    "dctcp": ("classic", "DCTCP falls back to NewReno"),
}
"""The least feedback that a congestion control needs, and what happens without."""
CRAMPED = "ecn.acks_without_option"
MOST_FLOWS = 5
WORDS = {"none": "no ECN", "classic": "ECN by RFC 3168", "accurate": "accurate ECN"}


def fallbacks(run: Run) -> list[str]:
    """Return a sentence for each table of flows whose congestion control falls back.

    And one if the headers of ACKs had no room for the option of accurate ECN.
    """
    sentences = list(_sentences(run.scenario.to_dict()["flows"]))
    acks = [run.summary.get(f"flows[{i}].{CRAMPED}", 0) for i in range(len(run.flows))]
    flows = [f"flows[{i}] ({count})" for i, count in enumerate(acks) if count]
    if flows:
        most = f" and {len(flows) - MOST_FLOWS} more" if len(flows) > MOST_FLOWS else ""
        sentences.append(
            "ACKs without the option of accurate ECN, for which timestamps and SACK blocks left no "
            f"room: {', '.join(flows[:MOST_FLOWS])}{most}"
        )
    return sentences


def _sentences(tables: list[Mapping[str, Any]]) -> Iterator[str]:
    for number, table in enumerate(tables):
        control = _name(table["control"])
        if control not in NEEDS:
            continue
        needed, otherwise = NEEDS[control]
        sender = FEEDBACK[_name(table["tcp"]["ecn"])]
        receiver = FEEDBACK[_name(table["tcp"]["ecn_receiver"] or table["tcp"]["ecn"])]
        agreed = min(sender, receiver, key=OFFERS.index)
        if OFFERS.index(agreed) >= OFFERS.index(needed):
            continue
        end, key = ("receiver", "ecn_receiver") if sender != agreed else ("sender", "ecn")
        yield (
            f"flows[{number}]: {otherwise}: the {end} offers {WORDS[agreed]}, "
            f"and not {WORDS[needed]} (tcp.{key})"
        )


def _name(choice: str | Mapping[str, Any]) -> str:
    return choice if isinstance(choice, str) else next(iter(choice))
