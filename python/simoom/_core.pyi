"""The simulator, as compiled: see `simoom.scenario` and `simoom.run` for what to call."""

from collections.abc import Callable, Sequence
from typing import final

@final
class Scenario:
    @staticmethod
    def parse(text: bytes) -> Scenario: ...
    @staticmethod
    def from_json(text: str) -> Scenario: ...
    def set(self, path: str, value: str) -> Scenario: ...
    def get(self, path: str) -> str: ...
    def check(self) -> None: ...
    def to_toml(self) -> str: ...
    def to_full_json(self) -> str: ...
    def __eq__(self, other: object) -> bool: ...

@final
class Run:
    @property
    def summary(self) -> dict[str, float | int | str | None]: ...
    @property
    def series(self) -> list[tuple[str, bytes, bytes]]: ...
    @property
    def digest(self) -> int: ...
    @property
    def events(self) -> int: ...
    @property
    def simulated_s(self) -> float: ...

def run(
    scenario: Scenario,
    seed: int,
    replication: int,
    probes: Sequence[str],
    progress: Callable[[float], object] | None = None,
    check: bool = False,
) -> Run: ...
def schema() -> str: ...
def airtime(
    standard: str,
    psdu_bytes: int,
    mpdus: int | None = None,
    rate_mbps: float | None = None,
    short_preamble: bool = False,
    band_ghz: float | None = None,
    mcs: int | None = None,
    streams: int | None = None,
    width_mhz: int | None = None,
    guard_ns: int | None = None,
    coding: str | None = None,
    ltf: str | None = None,
    extended_range: bool = False,
    packet_extension_us: int | None = None,
    timing: str | None = None,
) -> list[tuple[str, float]]: ...
