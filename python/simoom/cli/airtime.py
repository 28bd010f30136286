"""``simoom airtime``: how long a PPDU lasts."""

from __future__ import annotations

import enum
import json
from typing import Annotated

import typer

from simoom.cli.terminal import Refusal


class Preamble(enum.StrEnum):
    """Of DSSS and CCK frames."""

    long = "long"
    short = "short"


class Coding(enum.StrEnum):
    """Forward error correction of an MCS."""

    bcc = "bcc"
    ldpc = "ldpc"


class Ltf(enum.StrEnum):
    """Type of the training symbols of 802.11ax."""

    x1 = "1x"
    x2 = "2x"
    x4 = "4x"


class Timing(enum.StrEnum):
    """Whose durations."""

    standard = "standard"
    ns3 = "ns3"


def count(text: str, metavar: str = "N", *names: str) -> typer.models.OptionInfo:
    """Return an option that takes a whole number."""
    option: typer.models.OptionInfo = typer.Option(*names, metavar=metavar, help=text)
    return option


Psdu = Annotated[
    int,
    count("Length of the PSDU, or of each MPDU, MAC header and FCS included.", "BYTES", "--bytes"),
]
Mpdus = Annotated[int | None, count("MPDUs in an A-MPDU; without it, no A-MPDU.")]
Rate = Annotated[
    float | None,
    typer.Option(metavar="MBPS", help="Of a frame without MCS; 11b, 11a, 11g: default highest."),
]
Mcs = Annotated[int | None, count("MCS of 11n, 11ac or 11ax; default the highest.")]
Streams = Annotated[int | None, count("Spatial streams of an MCS; default 1.")]
Width = Annotated[int | None, count("Bandwidth; default 20.", "MHZ")]
Guard = Annotated[int | None, count("Guard interval; default 800.", "NS")]
Band = Annotated[
    float | None,
    typer.Option("--band-ghz", metavar="GHZ", help="2.4 or 5; default the standard's usual."),
]
CodingOption = Annotated[Coding | None, typer.Option(help="Default bcc where the mode has it.")]
LtfOption = Annotated[
    Ltf | None, typer.Option(help="HE-LTF type of 11ax; default 2x, and 4x with 3200 ns.")
]
ExtendedRange = Annotated[
    bool, typer.Option("--extended-range", help="11ax: extended range (HE ER SU).")
]
PacketExtension = Annotated[
    int | None, count("11ax: 0, 4, 8, 12 or 16; default 0.", "US", "--packet-extension-us")
]
PreambleOption = Annotated[Preamble, typer.Option(help="Of DSSS and CCK rates; OFDM has one only.")]
TimingOption = Annotated[
    Timing, typer.Option(help="Of the standard, or of ns-3 where it departs from it.")
]


def airtime(
    standard: Annotated[str, typer.Option(help="11b, 11a, 11g, 11n, 11ac or 11ax.")],
    psdu: Psdu,
    mpdus: Mpdus = None,
    rate: Rate = None,
    mcs: Mcs = None,
    streams: Streams = None,
    width_mhz: Width = None,
    guard_ns: Guard = None,
    band: Band = None,
    coding: CodingOption = None,
    ltf: LtfOption = None,
    extended_range: ExtendedRange = False,
    packet_extension: PacketExtension = None,
    preamble: PreambleOption = Preamble.long,
    timing: TimingOption = Timing.standard,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print one JSON object, nothing else.")
    ] = False,
) -> None:
    """Compute how long a PPDU and each of its parts lasts, in microseconds."""
    from simoom.run import airtime as parts_of

    numbers = {
        "mpdus": mpdus,
        "mcs": mcs,
        "streams": streams,
        "width_mhz": width_mhz,
        "guard_ns": guard_ns,
        "packet_extension_us": packet_extension,
    }
    for name, number in {"bytes": psdu, **numbers}.items():
        # The core knows the limits of each standard; what is no such number does not reach it.
        if number is not None and not 0 <= number < 1 << 64:
            raise Refusal(f"--{name.replace('_', '-')} {number}: must be from 0 to 2^64 - 1")
    parts = parts_of(
        standard,
        psdu_bytes=psdu,
        **numbers,
        rate_mbps=rate,
        short_preamble=preamble is Preamble.short,
        band_ghz=band,
        coding=coding,
        ltf=ltf,
        extended_range=extended_range,
        timing=timing,
    )
    if as_json:
        print(json.dumps(parts, indent=2))
        return
    for part, us in parts.items():
        print(f"{part.removesuffix('_us').replace('_', ' '):20}{us:12.3f} us")
