"""The record of a run: its key, and its results as text.

The key of a result is a hash of everything that determines it: the scenario with every default, the
seed and the replication, the version of Simoom and the bytes of the compiled simulator, and the
source of controllers written in Python. If any of these changes, the key changes.
"""

from __future__ import annotations

import hashlib
import importlib.metadata
import json
import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache, lru_cache
from pathlib import Path
from typing import Any

from simoom import _core
from simoom.results.run import Run, Summary
from simoom.results.tables import Value
from simoom.results.travel import sources
from simoom.scenario.scenario import Scenario

BUILD_DIGITS = 12
"""Digits of the hash of the compiled simulator that a record has."""


def identity(
    scenario: Scenario, *, seed: int, replication: int, known: tuple[str, ...] | None = None
) -> str:
    """Return the key of a run in a store: a hash of everything that determines its result.

    `known` are its `sources`, if they were read before.

    Raises
    ------
    ScenarioError
        A controller has no source file, so that changes of it cannot be detected.
    """
    digest = _begun(scenario).copy()
    for part in (str(seed), str(replication), *(sources(scenario) if known is None else known)):
        data = part.encode()
        digest.update(len(data).to_bytes(8, "big") + data)
    return digest.hexdigest()


@lru_cache(maxsize=256)
def _begun(scenario: Scenario) -> hashlib._Hash:
    """Return the hash of a key so far: the part that all runs of a scenario share."""
    digest = hashlib.sha256()
    for part in (f"{version()} {build()}", scenario.core.to_full_json()):
        data = part.encode()
        digest.update(len(data).to_bytes(8, "big") + data)
    return digest


@cache
def version() -> str:
    """Return the version of Simoom."""
    return importlib.metadata.version("simoom")


@cache
def build() -> str:
    """Return a hash of the compiled simulator."""
    return hashlib.sha256(Path(str(_core.__file__)).read_bytes()).hexdigest()


class DamagedError(ValueError):
    """A file in a store is no complete record of a run, or not of the run of its name."""


@dataclass(frozen=True)
class Record:
    """A stored run.

    Attributes
    ----------
    key : str
        Its name in the store, see `identity`.
    simoom : str
        The version of Simoom that computed it.
    build : str
        The first digits of the hash of the compiled simulator that computed it; empty in records
        of earlier versions.
    checked : bool
        Whether the laws of conservation were checked during the run.
    run : Run
        The run, without time series.
    """

    key: str
    simoom: str
    build: str
    checked: bool
    run: Run

    @classmethod
    def of(cls, key: str, run: Run, *, checked: bool) -> Record:
        """Return the record of a run that this process, or its workers, has computed."""
        return cls(key, version(), build()[:BUILD_DIGITS], checked, run)

    @classmethod
    def read(cls, file: Path) -> Record:
        """Read a file; raise as `parse`, or OSError."""
        return cls.parse(file.read_bytes(), str(file))

    @classmethod
    def parse(cls, data: bytes | str, place: str) -> Record:
        """Read the text of a record; `place` says in messages where it is.

        Raises
        ------
        DamagedError
            The text is not what `Record.text` writes.
        """
        try:
            text = data if isinstance(data, str) else data.decode()
            kept = json.loads(text)
            kept_hash = kept.pop("hash")
            if kept_hash != _hash(text[END:]) and kept_hash != _hash_of_values(kept):
                raise DamagedError(f"{place}: has been altered")
            _check(kept, text)
            run = Run(
                scenario=Scenario.parse(kept["scenario"]),
                seed=kept["seed"],
                replication=kept["replication"],
                summary=Summary(kept["summary"]),
                digest=kept["digest"],
                events=kept["events"],
                simulated_s=kept["simulated_s"],
            )
            return cls(kept["key"], kept["simoom"], kept.get("build", ""), kept["checked"], run)
        except DamagedError:
            raise
        except (ValueError, LookupError, TypeError, AttributeError, RecursionError):
            raise DamagedError(f"{place}: is no complete record of a run") from None

    def text(self) -> str:
        """Return the content of its file."""
        run = self.run
        kept: dict[str, Any] = {
            "simoom": self.simoom,
            **({"build": self.build} if self.build else {}),
            "key": self.key,
            "seed": run.seed,
            "replication": run.replication,
            "checked": self.checked,
            "digest": run.digest,
            "events": run.events,
            "simulated_s": run.simulated_s,
            "scenario": run.scenario.to_toml(),
        }
        head = _core.json_lines(kept, 1).removeprefix("{").removesuffix("\n}")
        rest = '",' + head + ',\n "summary": ' + _core.json_lines(run.summary, 2) + "\n}"
        return BEGIN + _hash(rest) + rest

    @property
    def by(self) -> str:
        """The version and build of Simoom that computed it, as messages name them."""
        return f"{self.simoom} (build {self.build})" if self.build else self.simoom

    def differences(self, run: Run) -> list[tuple[str, Value, Value]]:
        """Return the path, the stored value and the value of another run where the two differ."""
        kept = {"digest": self.run.digest, "events": self.run.events, **self.run.summary}
        new = {"digest": run.digest, "events": run.events, **run.summary}
        paths = dict.fromkeys((*kept, *new))
        pairs = ((path, kept.get(path), new.get(path)) for path in paths)
        # As text, in which NaN equals NaN.
        return [(path, was, now) for path, was, now in pairs if repr(was) != repr(now)]


BEGIN = '{\n "hash": "'
"""What the text of a record begins with; its hash comes next."""
END = len(BEGIN) + 2 * hashlib.sha256().digest_size
"""The number of characters of a record to the end of its hash."""


def _hash(rest: str) -> str:
    """Return the hash of a record: that of the text behind the hash, as it stands in the file."""
    return hashlib.sha256(rest.encode()).hexdigest()


def _hash_of_values(kept: Mapping[str, Any]) -> str:
    """Return the hash of a record as it was first written: that of its values in order."""
    return hashlib.sha256(json.dumps(kept, sort_keys=True).encode()).hexdigest()


KINDS: dict[str, tuple[type, ...]] = {
    "key": (str,), "simoom": (str,), "scenario": (str,), "digest": (str,), "summary": (dict,),
    "seed": (int,), "replication": (int,), "events": (int,), "simulated_s": (int, float),
    "checked": (bool,),
}  # fmt: skip
"""The types of what a record has."""
VALUES = frozenset({str, int, float, bool, type(None)})
"""The types of results."""


def _check(kept: Mapping[str, Any], text: str) -> None:
    """Raise unless this can be a record: its hash may be that of others than `Record.text`."""
    for name, kinds in KINDS.items():
        if type(kept[name]) not in kinds:
            raise TypeError(name)
    if not {type(value) for value in kept["summary"].values()} <= VALUES:
        raise TypeError("summary")
    if not (0 <= kept["seed"] < 1 << 64 and 0 <= kept["replication"] < 1 << 32):
        raise ValueError("seed")
    if not 0 <= kept["simulated_s"] < math.inf:
        raise ValueError("simulated_s")
    # Half of a surrogate pair cannot be written anywhere. Only an escape gives one.
    if "\\u" in text:
        json.dumps(kept, ensure_ascii=False).encode()
