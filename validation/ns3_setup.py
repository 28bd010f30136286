"""A setting for ns-3 and Simoom: one description with two output formats."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from validation.ns3 import ALWAYS, BASIC_RATES, NEVER, WIRE

CLASSES = {"BK": "background", "BE": "best_effort", "VI": "video", "VO": "voice"}
"""Access categories, and the classes of a scenario."""
NAMES = {"11n": "Ht", "11ac": "Vht", "11ax": "He"}
"""Prefixes of the names of ns-3's modes."""
OFF = 4_692_480
"""An RTS threshold of ns-3 that no frame exceeds."""


@dataclass(frozen=True)
class Flow:
    """A flow between two nodes: saturated UDP with this payload, or TCP with this MSS."""

    kind: str
    source: str
    target: str
    size: int = 1472
    category: str = "BE"

    def __str__(self) -> str:
        return f"{self.kind},{self.source},{self.target},{self.size},{self.category}"


@dataclass(frozen=True)
class Tcp:
    """Settings of all TCP flows; `limit` is the buffer of ns-3 that limits the window."""

    window: int = 65_535
    delayed_ack: int = 2
    limit: str = "receive"


@dataclass(frozen=True)
class Radio:
    """Positions of nodes or path losses, and the error model.

    Nodes are in the order of a scenario: the first access point, stations, further access points.
    """

    positions: tuple[tuple[float, float], ...] = ()
    losses: tuple[tuple[float, ...], ...] = ()
    error: str = "nist"
    capture: bool = False
    energy_dbm: float = -62.0
    cells: tuple[int, ...] = ()
    exponent: float = 3.0

    @property
    def access_points(self) -> int:
        return 1 + max(self.cells, default=0)

    def arguments(self) -> dict[str, object]:
        """Options of the ns-3 program."""
        return {
            "positions": ";".join(f"{x},{y}" for x, y in self.positions),
            "losses": ";".join(",".join(f"{loss}" for loss in row) for row in self.losses),
            "error": self.error,
            "capture": int(self.capture),
            "energy": self.energy_dbm,
            "belong": ",".join(map(str, self.cells)),
            "cells": self.access_points,
            "exponent": self.exponent,
        }

    def keys(self) -> dict[str, Any]:
        """The table ``radio`` of a scenario."""
        strict = {"threshold": {"sinr_db": 10.0}}
        error: Any = strict if self.error == "strict" else self.error
        table: dict[str, Any] = {"error_model": error, "energy_dbm": self.energy_dbm}
        if self.capture:
            table["capture"] = {}
        if self.losses:
            table["losses_db"] = [list(row) for row in self.losses]
        else:
            table["propagation"] = {"log_distance": {"exponent": self.exponent}}
        return table


@dataclass(frozen=True)
class Setup:
    """A setting; `mode` is an MCS within a stream, or a rate in Mb/s."""

    name: str
    standard: str
    mode: float
    flows: tuple[Flow, ...]
    stations: int = 1
    width: int = 20
    streams: int = 1
    guard: int = 800
    rts: bool = False
    ampdu_bytes: int = 65_535
    amsdu_bytes: int = 0
    txop_us: int | None = None
    rate_control: str = "fixed"
    tcp: Tcp = field(default_factory=Tcp)
    radio: Radio | None = None
    warmup_s: float = 2.0
    seconds: float = 2.0
    here_s: float = 12.0

    @property
    def is_modern(self) -> bool:
        return self.standard in NAMES

    def _modes(self) -> tuple[str, str]:
        """The modes of data and of RTS in ns-3."""
        if self.is_modern:
            mcs = int(self.mode) + (8 * (self.streams - 1) if self.standard == "11n" else 0)
            return f"{NAMES[self.standard]}Mcs{mcs}", "OfdmRate24Mbps"
        rate = f"{self.mode:g}".replace(".", "_")
        if self.standard == "11b":
            return f"DsssRate{rate}Mbps", "DsssRate2Mbps"
        control = max(basic for basic in (6, 12, 24) if basic <= self.mode)
        return f"OfdmRate{rate}Mbps", f"OfdmRate{control}Mbps"

    def command(self) -> list[str]:
        """The options of the ns-3 program."""
        mode, control = self._modes()
        options: dict[str, object] = {
            "standard": self.standard,
            "width": self.width,
            "streams": self.streams,
            "guard": self.guard,
            "mode": mode,
            "control": control,
            "manager": {"fixed": "constant"}.get(self.rate_control, self.rate_control),
            "stations": self.stations,
            "rts": ALWAYS if self.rts else OFF,
            "ampdu": self.ampdu_bytes,
            "amsdu": self.amsdu_bytes,
            "flows": ";".join(map(str, self.flows)),
            "window": self.tcp.window,
            "delack": self.tcp.delayed_ack,
            "limit": self.tcp.limit,
            "warmup": self.warmup_s,
            "seconds": self.seconds,
        }
        if self.txop_us is not None:
            options["txop"] = self.txop_us
        if self.radio:
            options |= self.radio.arguments()
        return [f"--{key}={value}" for key, value in options.items() if value != ""]

    def scenario(self) -> dict[str, Any]:
        """The keys of a scenario."""
        keys: dict[str, Any] = {
            "standard": self.standard,
            "duration_s": self.warmup_s + self.here_s,
            "warmup_s": self.warmup_s,
            "wlan": self._wlan(),
            "flows": [self._flow(flow) for flow in self.flows],
        }
        if any("server" in (flow.source, flow.target) for flow in self.flows):
            keys["wire"] = WIRE
        radio = self.radio
        if radio is None:
            return keys | {"stations": self.stations}
        places, cells = radio.positions, radio.cells or (0,) * self.stations
        tables: list[dict[str, Any]] = [{"cell": cell} for cell in cells]
        further: list[dict[str, Any]] = [{} for _ in range(1, radio.access_points)]
        if places:
            keys["ap"] = {"position_m": list(places[0])}
            for table, place in zip([*tables, *further], places[1:], strict=True):
                table["position_m"] = list(place)
        if further:
            keys["cells"] = further
        return keys | {"stations": tables, "radio": radio.keys()}

    def _wlan(self) -> dict[str, Any]:
        keys: dict[str, Any] = {"rts_threshold_bytes": ALWAYS if self.rts else NEVER}
        if self.rate_control != "fixed":
            keys["rate_control"] = self.rate_control
        if not self.is_modern:
            # ns-3 discards a frame at the seventh failure, whichever counter has that value.
            rates = BASIC_RATES[self.standard.removeprefix("11")]
            keys |= {"rate_mbps": self.mode, "basic_rates_mbps": rates, "long_retry_limit": 7}
            return keys
        keys |= {"mcs": int(self.mode), "streams": self.streams, "width_mhz": self.width}
        keys |= {"guard_ns": self.guard}
        aggregation: dict[str, Any] = {"bytes": self.ampdu_bytes} if self.ampdu_bytes else {}
        if not self.ampdu_bytes:
            aggregation["frames"] = 1
        if self.amsdu_bytes:
            aggregation["amsdu_bytes"] = self.amsdu_bytes
        if self.standard == "11ax":
            aggregation["window"] = 64
        if self.txop_us is not None:
            keys["edca"] = {"best_effort": {"txop_limit_us": self.txop_us}}
        return keys | {"aggregation": aggregation}

    def _flow(self, flow: Flow) -> dict[str, Any]:
        keys: dict[str, Any] = {"from": _end(flow.source), "to": _end(flow.target)}
        keys["class"] = CLASSES[flow.category]
        if flow.kind == "udp":
            return keys | {"traffic": {"saturated": {"payload_bytes": flow.size}}}
        delayed = {"fixed": {"segments": self.tcp.delayed_ack, "timer_ms": 200.0}}
        return keys | {
            "start_s": 1.0,
            "start_spread_s": 0.1,
            "control": "new_reno",
            "tcp": {
                "mss_bytes": flow.size,
                "window_bytes": self.tcp.window,
                "delayed_ack": delayed if self.tcp.delayed_ack > 1 else "none",
            },
        }


def _end(name: str) -> str:
    """An end of a flow: the server reaches further access points by wires without delay."""
    if name.startswith("ap"):
        return "ap" if name == "ap0" else "server"
    return name
