"""Shards: parts of a sweep that are run apart, and the merge of their stores.

A sweep with ``shard=(I, N)`` runs every N-th of its runs and leaves a manifest of them in its
store, so that a merge knows whether all runs of all shards are there.
"""

from __future__ import annotations

import hashlib
import json
import re
import warnings
from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from simoom.base.issue import ArgumentError
from simoom.store.places import Folder, Remote
from simoom.store.segments import is_segment
from simoom.store.store import FILE, Store, parsed

FOLDER = "shards"
DIGITS = 16

Shard = tuple[int, int] | str
"""The number of a shard, from 1, and the number of shards: ``(2, 8)`` or ``"2/8"``."""


class MergeError(ValueError):
    """Stores cannot be merged; nothing was copied."""


@dataclass(frozen=True)
class Manifest:
    """The runs of one shard.

    Attributes
    ----------
    sweep : str
        A hash of all runs of the sweep.
    number, of : int
        The number of the shard, from 1, and the number of shards.
    runs : int
        The number of runs of all shards.
    keys : tuple of str
        Its runs.
    """

    sweep: str
    number: int
    of: int
    runs: int
    keys: tuple[str, ...]

    @property
    def file(self) -> str:
        """Its name in a store."""
        return f"{FOLDER}/{self.sweep}-{self.number}-of-{self.of}.json"

    def write(self, place: Folder | Remote) -> None:
        """Write it into a store."""
        kept = {"sweep": self.sweep, "shard": self.number, "of": self.of, "runs": self.runs,
                "keys": self.keys}  # fmt: skip
        place.write(self.file, json.dumps(kept).encode())


def read_shard(shard: Shard) -> tuple[int, int]:
    """Return the number of a shard and the number of shards.

    Raises
    ------
    ValueError
        It is no part of a whole.

    Examples
    --------
    >>> read_shard("2/8")
    (2, 8)
    """
    rule = f"must be I/N with I from 1 to N, as 1/8 for the first of eight, is {shard!r}"
    if isinstance(shard, str):
        match = re.fullmatch(r"\s*(\d{1,6})\s*/\s*(\d{1,6})\s*", shard)
        if match is None:
            raise ArgumentError("shard", rule)
        shard = (int(match[1]), int(match[2]))
    number, of = shard
    if not all(type(each) is int for each in (number, of)) or not 1 <= number <= of:
        raise ArgumentError("shard", rule)
    return number, of


def manifest(keys: Sequence[str], shard: tuple[int, int]) -> Manifest:
    """Return the manifest of a shard of the runs with these keys: every N-th of them."""
    sweep = hashlib.sha256("".join(sorted(keys)).encode()).hexdigest()[:DIGITS]
    number, of = shard
    return Manifest(sweep, number, of, len(keys), tuple(keys[number - 1 :: of]))


def manifests(store: Store) -> list[Manifest]:
    """Return the manifests in a store; warn of damaged ones."""
    found = []
    for name, data in store.place.read(store.place.names(FOLDER)).items():
        try:
            kept = json.loads(data)
            number, of = read_shard((kept["shard"], kept["of"]))
            keys = tuple(map(str, kept["keys"]))
            found.append(Manifest(str(kept["sweep"]), number, of, int(kept["runs"]), keys))
        except (ValueError, KeyError, TypeError):
            message = f"{store.place.name}/{name}: is no manifest of a shard; it is left out"
            warnings.warn(message, stacklevel=2)
    return found


@dataclass
class Content:
    """What is in a store."""

    store: Store
    digests: dict[str, str] = field(default_factory=dict)
    builds: dict[str, int] = field(default_factory=dict)
    damaged: list[str] = field(default_factory=list)
    manifests: list[Manifest] = field(default_factory=list)

    @property
    def name(self) -> str:
        """The store as the user names it."""
        return self.store.place.name


def contents(store: Store) -> Content:
    """Read all runs of a store."""
    found = Content(store, manifests=manifests(store))
    for record, _, problem in store.texts():
        if record is None:
            found.damaged.append(problem)
        elif record.key not in found.digests:
            found.digests[record.key] = record.run.digest
            found.builds[record.by] = found.builds.get(record.by, 0) + 1
    return found


@dataclass(frozen=True)
class Merged:
    """What a merge did.

    Attributes
    ----------
    added, runs : int
        The number of runs that the store did not have, and that it has now.
    notes : tuple of str
        What the user should know: runs in several stores, parts that are missing.
    """

    added: int
    runs: int
    notes: tuple[str, ...]


def merge(
    into: Store | Path | str, stores: Sequence[Store | Path | str], *, partial: bool = False
) -> Merged:
    """Copy the runs of stores into another one, each once.

    Parameters
    ----------
    into : Store or path
        The store that gets all runs; it may have runs.
    stores : sequence of Store or path
        The stores, which stay as they are.
    partial : bool, optional
        Whether to merge shards of which some, or some of their runs, are missing.

    Returns
    -------
    Merged
        How many runs were copied, and from where.

    Raises
    ------
    MergeError
        The stores are of several versions of Simoom, shards or runs of shards are missing, or two
        stores have different results of one run. Nothing was copied.
    """
    target = contents(_opened(into))
    sources = [contents(_opened(each)) for each in stores]
    if not sources:
        raise MergeError("names no store to merge")
    for each in sources:
        if each.name == target.name:
            raise MergeError(f"{each.name}: cannot be merged into itself")
        if not each.digests and not each.manifests:
            raise MergeError(f"{each.name}: has no runs; name the store of a sweep")
    every = [target, *sources]
    _check_versions(every)
    _check_results(every)
    notes = list(_shared(every))
    missing = list(missing_of(every))
    if missing and not partial:
        raise MergeError("; ".join(missing))
    notes += missing
    notes += [problem for each in sources for problem in each.damaged]
    known = set(target.digests)
    for each in sources:
        _copy(each.store, target.store, known)
        known |= each.digests.keys()
    return Merged(len(known) - len(target.digests), len(known), tuple(notes))


def _opened(store: Store | Path | str) -> Store:
    if isinstance(store, Store):
        return store
    return Store(store)


def _check_versions(every: Collection[Content]) -> None:
    by: dict[str, list[str]] = {}
    for each in every:
        for build in each.builds:
            by.setdefault(build, []).append(each.name)
    if len(by) > 1:
        found = "; ".join(f"{build} in {', '.join(names)}" for build, names in by.items())
        raise MergeError(
            f"the runs are of {len(by)} versions of Simoom, of which a sweep uses one: {found}; "
            "merge those of each version into a store of its own"
        )


def _check_results(every: Sequence[Content]) -> None:
    first: dict[str, Content] = {}
    for each in every:
        for key, digest in each.digests.items():
            other = first.setdefault(key, each)
            if other.digests[key] != digest:
                raise MergeError(
                    f"run {key[:12]} has other results in {other.name} than in {each.name}, "
                    "though equal keys mean equal runs; simoom rerun says which are right"
                )


def _shared(every: Sequence[Content]) -> Iterator[str]:
    """Yield the pairs of stores that have the same runs, with the shards that overlap."""
    for n, one in enumerate(every):
        for other in every[n + 1 :]:
            count = len(one.digests.keys() & other.digests.keys())
            if not count:
                continue
            same = [
                f"{a.number}/{a.of} and {b.number}/{b.of}"
                for a in one.manifests
                for b in other.manifests
                if a.sweep == b.sweep and set(a.keys) & set(b.keys)
            ]
            shards = f" (shards {', '.join(same)} overlap)" if same else ""
            common = f"{one.name} and {other.name} have {count} runs in common"
            yield f"{common}{shards}; each counts once"


def missing_of(every: Sequence[Content]) -> Iterator[str]:
    """Yield what is missing of the sweeps whose shards are in these stores, a sentence each."""
    known: set[str] = set().union(*(each.digests for each in every))
    groups: dict[str, dict[tuple[int, int], tuple[Manifest, str]]] = {}
    for each in every:
        for one in each.manifests:
            groups.setdefault(one.sweep, {})[one.number, one.of] = (one, each.name)
    for found in groups.values():
        there = {key for one, _ in found.values() for key in one.keys}
        divisions = Counter(of for _, of in found)
        if len(there) < next(one.runs for one, _ in found.values()):
            of = max(divisions, key=divisions.__getitem__)
            absent = [f"{n}/{of}" for n in range(1, of + 1) if (n, of) not in found]
            yield f"{_list(absent)} missing: name the stores that have them"
        for one, name in found.values():
            if left := sum(key not in known for key in one.keys):
                yield (
                    f"shard {one.number}/{one.of} in {name} lacks {left} of {len(one.keys)} runs: "
                    "the same simoom sweep command continues it"
                )


def _list(shards: Sequence[str]) -> str:
    more = f" and {len(shards) - 8} more" if len(shards) > 8 else ""
    shown = ", ".join(shards[:8]) + more
    return f"shard {shown} is" if len(shards) == 1 else f"shards {shown} are"


def _copy(source: Store, target: Store, known: set[str]) -> None:
    """Copy the files of a store that have runs which the other one does not have."""
    where = source.place.name
    for name in source.place.names():
        match = FILE.fullmatch(name)
        if match and match["key"] in known and not match["checked"]:
            continue
        if match is None and not is_segment(name) and not name.startswith(f"{FOLDER}/"):
            continue
        for data in source.place.read([name]).values():
            # A damaged file must not take the name of one that is whole.
            if match is None or parsed(data, where, match["key"])[0] is not None:
                target.place.write(name, data)
