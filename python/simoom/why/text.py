"""An explanation as text."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Sequence

from simoom.results.tables import PARTS, digits, visible
from simoom.runs.stats import Estimate
from simoom.why.measured import Hop, Measured
from simoom.why.result import Effect, Verdict, Why

PART_NAMES = {
    "queueing_s": "queueing",
    "contention_s": "contention",
    "transmission_s": "sending",
    "retries_s": "retries",
    "propagation_s": "propagation",
}
NARROW = 78
"""In fewer columns the hops are lists, not a table."""


def text(why: Why, width: int = 100) -> str:
    """Return an explanation in lines of at most this width, if words fit."""
    return "\n".join(_lines(why, max(width, 20))) + "\n"


def _lines(why: Why, width: int) -> Iterator[str]:
    yield from _wrapped(why.title, width)
    value = why.goal.written(why.value.mean, why.value.half_width)
    yield from _wrapped(f"{visible(why.flow)}: {why.goal.name} {value}", width)
    yield ""
    yield from says(why.measured, width)
    yield from _wrapped(heading(why), width)
    if not why.causes:
        yield from _wrapped("no change of one thing helps for certain", width, "  ")
    for place, effect in enumerate(why.causes, start=1):
        yield from _wrapped(f"{place}. {sentence(why, effect)}", width, "", "   ")
        yield from _wrapped(effect.key, width, "   ")
    for words, effects in others(why):
        named = [f"{effect.name} {why.goal.gained(effect.difference)}" for effect in effects]
        yield from _wrapped(f"{words}: {'; '.join(named)}", width, "", "  ")
    yield ""
    if len(why.waterfall) > 1:
        yield from _wrapped("one after the other", width)
        for step in why.waterfall:
            value = why.goal.written(step.value.mean, step.value.half_width)
            yield from _wrapped(f"{step.without}: {value}", width, "  ", "    ")
        yield ""
    if why.cures:
        yield from _cures(why, width)
        yield ""
    yield from _absent(why, width)


def heading(why: Why) -> str:
    """Return how causes were found."""
    runs = f"{why.replications} to {why.most}" if why.most > why.replications else str(why.most)
    return f"causes, by {runs} pairs of runs of each change, at 95 % for all together (Holm)"


def others(why: Why) -> Iterator[tuple[str, Sequence[Effect]]]:
    """Yield the changes that are no causes, with what they are."""
    small = "small, below a tenth of the best"
    for words, verdict in (
        (small, Verdict.SMALL),
        (f"undecided after {why.most} runs", Verdict.UNDECIDED),
        ("no help", Verdict.NONE),
    ):
        if effects := why.of(verdict):
            yield words, effects


def _cures(why: Why, width: int) -> Iterator[str]:
    yield from _wrapped("cures, and what they cost the other flows", width)
    for words, gain, goodput, worst, key in cure_rows(why):
        cost = f"goodput {goodput}{f', {worst}' if worst else ''}"
        yield from _wrapped(f"{words}: {gain}; others: {cost}", width, "  ", "    ")
        yield from _wrapped(key, width, "    ")
    rest = [f"{e.name} {why.goal.gained(e.difference)}" for e in why.cures if not e.helps]
    if rest:
        yield from _wrapped(f"no certain help: {'; '.join(rest)}", width, "  ", "    ")


CURE_HEADINGS = ("cure", "gain", "others' goodput", "worst for", "options")


def cure_rows(why: Why) -> list[list[str]]:
    """Return the cells of the table of cures that help, under `CURE_HEADINGS`."""
    found = []
    for effect in why.cures:
        if not effect.helps:
            continue
        cost = effect.cost
        goodput = worst = ""
        if cost is not None:
            goodput = _percent(cost.goodput)
            lost = 100 * (1 - cost.ratio)
            worst = f"{visible(cost.flow)} {digits(lost, 2)} % worse" if cost.flow else ""
        gain = f"{why.goal.gained(effect.difference)} {why.goal.unit}"
        words = effect.without.removeprefix("with ")
        found.append([words, gain, goodput, worst, effect.key])
    return found


def _percent(relative: Estimate) -> str:
    half = 100 * relative.half_width
    mean = f"{100 * relative.mean:+.1f}"
    return f"{mean} ± {digits(half, 2)} %" if half > 1e-9 else f"{mean} %"


def sentence(why: Why, effect: Effect) -> str:
    """Return what an effect says about the flow."""
    before = why.goal.written(why.value.mean)
    gain = why.goal.gained(effect.difference)
    verb = "limited" if why.goal.more else "slowed"
    return f"{verb} by {effect.cause}: {before}; {effect.without} {gain}"


def says(measured: Measured, width: int) -> Iterator[str]:
    """Yield what the run itself says."""
    yield "the run itself"
    if measured.limits:
        most = sorted(measured.limits, key=lambda name: -measured.limits[name])
        shares = {name: 100 * measured.limits[name] for name in most}
        parts = [f"{name} {share:.0f} %" for name, share in shares.items() if share > LEAST]
        yield from _wrapped(f"limited by: {', '.join(parts)}", width, "  ", "    ")
    yield from _hops(shown_hops(measured), width)
    queue = measured.busiest_queue
    if queue is not None and queue.parts["queueing_s"] > 0:
        wait = digits(1e3 * queue.parts["queueing_s"])
        line = f"busiest queue: {queue.at}, {wait} ms for {queue.packets}"
        yield from _wrapped(line, width, "  ", "    ")
    if measured.marked:
        queues = ", ".join(
            f"{marks.at} ({marks.packets:,} of all flows, {digits(1e3 * marks.queueing_s)} ms)"
            for marks in measured.marks
        )
        line = f"marked: {measured.marked:,} packets of the flow; marked by {queues}"
        yield from _wrapped(line, width, "  ", "    ")
    if measured.airtime is not None and measured.airtime_of_others is not None:
        own, others = (f"{100 * x:.0f} %" for x in (measured.airtime, measured.airtime_of_others))
        line = f"airtime: {own}, other flows {others} (a collision counts for each frame)"
        yield from _wrapped(line, width, "  ", "    ")
    yield ""


LEAST = 0.5
"""A smaller share of the time, in percent, is not listed."""


MOST_PLACES = 6
"""Of more links and nodes those with the shortest delays are not listed."""


def shown_hops(measured: Measured) -> Sequence[Hop]:
    """Return the hops; where they are not measured, links and nodes with the longest delays."""
    return measured.hops or measured.places[:MOST_PLACES]


def hop_rows(hops: Sequence[Hop]) -> tuple[list[str], list[list[str]]]:
    """Return the headings and the cells of the table of hops; delays in milliseconds."""
    shown = [part for part in PARTS if any(hop.parts[part] > 0 for hop in hops)]
    headings = ["delay in ms", "packets", *(PART_NAMES[part] for part in shown), "all"]
    rows = [
        [f"{hop.at} → {hop.to}" if hop.to else hop.at, hop.packets,
         *(_ms(hop.parts[part]) for part in shown), _ms(hop.delay_s)]
        for hop in hops
    ]  # fmt: skip
    return headings, rows


def _ms(seconds: float) -> str:
    """Write a delay in milliseconds, with the same decimals in all hops."""
    if seconds == 0:
        return "-"
    return f"{1e3 * seconds:.2f}" if seconds < 0.1 else f"{1e3 * seconds:.0f}"


def _hops(hops: Sequence[Hop], width: int) -> Iterator[str]:
    if not hops:
        return
    headings, rows = hop_rows(hops)
    widths = [max(map(len, column)) for column in zip(headings, *rows, strict=True)]
    if 2 + sum(widths) + 2 * len(widths) > min(width, NARROW + 22):
        for row in rows:
            parts = zip(headings[2:], row[2:], strict=True)
            parts_text = ", ".join(f"{name} {value}" for name, value in parts)
            line = f"{row[0]} ({row[1]}), ms: {parts_text}"
            yield from _wrapped(line, width, "  ", "    ")
        return
    for row in (headings, *rows):
        cells = [cell.ljust(w) if n < 2 else cell.rjust(w)
                 for n, (cell, w) in enumerate(zip(row, widths, strict=True))]  # fmt: skip
        yield "  " + "  ".join(cells).rstrip()


def absent(why: Why) -> list[tuple[str, str]]:
    """Return the changes that do not apply, those for one reason together, and the reasons."""
    names: dict[str, list[str]] = {}
    for name, reason in why.not_applicable.items():
        names.setdefault(reason, []).append(name)
    return [(", ".join(own), reason) for reason, own in names.items()]


def _absent(why: Why, width: int) -> Iterator[str]:
    if why.not_applicable:
        yield from _wrapped("not applicable", width)
        for names, reason in absent(why):
            yield from _wrapped(f"{names}: {reason}", width, "  ", "    ")


def _wrapped(line: str, width: int, first: str = "", further: str | None = None) -> list[str]:
    return textwrap.wrap(
        line, width, initial_indent=first, subsequent_indent=first if further is None else further,
        break_on_hyphens=False,
    )  # fmt: skip
