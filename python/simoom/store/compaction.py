"""Compaction of a store: files of single runs, and small segments, become large segments.

What is removed is in a segment that this process has written and read back. Every segment has a
name of its own: with names by content, a process could remove an old segment while another one has
just written the same records under that name. Several compactions at the same time may therefore
write a run twice, and never lose it; the next one makes one run of both.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from simoom.results.record import DamagedError, Record
from simoom.store import segments
from simoom.store.places import Folder, Remote
from simoom.store.segments import MOST_CELLS, MOST_RUNS, Index
from simoom.store.store import MOST_FILES, Compacted, Store, key_of, parsed


@dataclass
class _Batch:
    """The records of one segment, and the files from which they were read."""

    place: Folder | Remote
    records: dict[str, tuple[Record, str]] = field(default_factory=dict)
    files: list[str] = field(default_factory=list)
    cells: int = 0
    written: dict[str, bool] = field(default_factory=dict)
    """The keys of earlier segments of this compaction, and whether the runs were checked."""

    def add(self, file: str, found: Iterable[tuple[Record, str]]) -> None:
        """Add all records of a file; write the segment if it is full."""
        for record, text in found:
            key = record.key
            before = self.written.get(key)
            if (waiting := self.records.get(key)) is not None:
                before = waiting[0].checked
            # Of a run that is there twice, the checked record is kept.
            if before is None or (record.checked and not before):
                self.cells += 0 if waiting else len(record.run.summary)
                self.records[key] = (record, text)
        self.files.append(file)
        if len(self.records) >= MOST_RUNS or self.cells >= MOST_CELLS:
            self.write()

    def write(self) -> None:
        """Write the segment, then remove the files."""
        if self.records:
            segments.write(self.place, dict(sorted(self.records.items())))
        for file in self.files:
            self.place.remove(file)
        self.written |= {key: record.checked for key, (record, _) in self.records.items()}
        self.records, self.files, self.cells = {}, [], 0


def compact(store: Store) -> Compacted:
    """Compact a store; see `Store.compact`."""
    place = store.place
    place.remove_drafts()
    damaged: list[str] = []
    batch = _Batch(place)
    names = store.files()
    for file, found in _to_join(place, damaged, comes_more=bool(names)):
        batch.add(file, found)
    for begin in range(0, len(names), MOST_FILES):
        some = names[begin : begin + MOST_FILES]
        there = store.in_segments({key_of(name) for name in some} - batch.records.keys())
        kept = {key: parsed(text, where, key)[0] for key, text, where in there}
        for name, data in place.read(some).items():
            record, text, problem = parsed(data, f"{place.name}/{name}", key_of(name))
            if record is None:
                damaged.append(problem)
                continue
            also = kept.get(record.key)
            is_kept = also is not None and (also.checked or not record.checked)
            batch.add(name, [] if is_kept else [(record, text)])
    batch.write()
    index = Index(place)
    index.refresh()
    return Compacted(len(index.runs), len(index.segments), tuple(damaged))


def _to_join(
    place: Folder | Remote, damaged: list[str], *, comes_more: bool
) -> Iterator[tuple[str, list[tuple[Record, str]]]]:
    """Yield the segments that are small, or have a run that another one has, with their records.

    A small segment alone stays, unless runs of other files come with it.
    """
    index = Index(place)
    index.refresh()
    damaged += index.damaged.values()
    names = [name for name in index.segments if index.is_small(name) or index.is_shared(name)]
    if len(names) == 1 and not comes_more:
        return
    for name in names:
        try:
            rows = [parsed(text, f"{place.name}/{name}", key) for key, text in index.read(name)]
        except FileNotFoundError:
            continue  # another compaction has joined it
        except DamagedError as error:
            damaged.append(str(error))
            continue
        if problem := next((problem for record, _, problem in rows if record is None), ""):
            damaged.append(problem)
        else:
            found = [(record, text) for record, text, _ in rows if record is not None]
            better = _checked_elsewhere(place, index, [record for record, _ in found])
            yield name, [row for row in found if row[0].key not in better]


def _checked_elsewhere(place: Folder | Remote, index: Index, records: list[Record]) -> set[str]:
    """Return the keys of unchecked records of which another segment has a whole checked one."""
    by_segment: dict[str, list[str]] = {}
    for record in records:
        there = index.runs[record.key]
        if there.checked and not record.checked:
            by_segment.setdefault(there.segment, []).append(record.key)
    found = set()
    for name, keys in by_segment.items():
        # A segment that is gone or damaged is no reason to drop the unchecked record.
        with contextlib.suppress(FileNotFoundError, DamagedError):
            for key, text in index.read(name, keys):
                there_too, _, _ = parsed(text, f"{place.name}/{name}", key)
                if there_too is not None and there_too.checked:
                    found.add(key)
    return found
