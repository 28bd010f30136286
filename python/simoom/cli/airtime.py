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


def airtime(
    standard: Annotated[str, typer.Option(help="11b, 11a or 11g.")],
    psdu: Annotated[
        int,
        typer.Option(
            "--bytes", metavar="BYTES", help="Length of the PSDU, MAC header and FCS included."
        ),
    ],
    rate: Annotated[
        float | None,
        typer.Option(metavar="MBPS", help="Rate of the PSDU; default the standard's highest."),
    ] = None,
    preamble: Annotated[
        Preamble, typer.Option(help="Of DSSS and CCK rates; OFDM has one only.")
    ] = Preamble.long,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print one JSON object, nothing else.")
    ] = False,
) -> None:
    """Compute how long a PPDU and each of its parts lasts, in microseconds."""
    from simoom.run import airtime as parts_of

    if not 0 <= psdu < 1 << 64:
        raise Refusal(f"--bytes {psdu}: must be from 1 to 4095")
    short = preamble is Preamble.short
    parts = parts_of(standard, psdu_bytes=psdu, rate_mbps=rate, short_preamble=short)
    if as_json:
        print(json.dumps(parts, indent=2))
        return
    for part, us in parts.items():
        print(f"{part.removesuffix('_us').replace('_', ' '):20}{us:12.3f} us")
