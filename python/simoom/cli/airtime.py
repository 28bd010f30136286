"""``simoom airtime``: how long a PPDU lasts."""

from __future__ import annotations

from dataclasses import replace
from typing import Annotated, Any, Literal

import typer

from simoom.base.issue import ScenarioError
from simoom.cli.api import Command, flag, with_options
from simoom.cli.streams import print_json
from simoom.cli.terminal import AsJson, InputError
from simoom.scenario.airtime import OPTIONS
from simoom.scenario.airtime import airtime as parts_of

OWN = ("standard", "psdu_bytes", "short_preamble")
"""Keys that the command takes in a form of its own."""
UNITS = ("mbps", "mhz", "ghz", "ns", "us")
STANDARDS = ", ".join(variant["const"] for variant in OPTIONS["standard"]["oneOf"])
TYPES = {"integer": int, "number": float, "boolean": bool}


def option_of(key: str, schema: dict[str, Any]) -> tuple[Any, Any]:
    """Return the type of a key's option, and the option, from the key's schema."""
    unit = key.rpartition("_")[2]
    kind: Any = TYPES.get(schema.get("type", ""))
    if kind is None:
        kind = Literal[tuple(variant["const"] for variant in schema["oneOf"])]
    metavar = unit.upper() if unit in UNITS else "N" if kind is int else None
    default = False if kind is bool else None
    option = typer.Option(default, flag(key), metavar=metavar, help=schema["description"])
    return (kind if kind is bool else kind | None), option


def with_ppdu(command: Command) -> Command:
    """Give a command an option for each key of `OPTIONS`, in place of its ``**ppdu``."""
    options = {key: option_of(key, schema) for key, schema in OPTIONS.items() if key not in OWN}
    return with_options(command, options, before="preamble")


@with_ppdu
def airtime(
    *,
    standard: Annotated[str, typer.Option(help=f"One of {STANDARDS}.")],
    psdu_bytes: Annotated[
        int,
        typer.Option(
            flag("psdu_bytes"),
            metavar="BYTES",
            help="Length of the PSDU, or of each MPDU, MAC header and FCS included.",
        ),
    ],
    preamble: Annotated[
        Literal["long", "short"], typer.Option(help="Of DSSS and CCK rates; OFDM has one only.")
    ] = "long",
    as_json: AsJson = False,
    **ppdu: Any,
) -> None:
    """Compute how long a PPDU and each of its parts lasts, in microseconds."""
    for key, number in {"psdu_bytes": psdu_bytes, **ppdu}.items():
        # The core knows the limits of each standard; what is no such number does not reach it.
        if isinstance(number, int) and not 0 <= number < 1 << 64:
            raise InputError(f"{flag(key)} {number}: must be from 0 to 2^64 - 1")
    try:
        parts = parts_of(
            standard, psdu_bytes=psdu_bytes, short_preamble=preamble == "short", **ppdu
        )
    except ScenarioError as error:
        issues = [replace(each, path=flag(each.path)) for each in error.issues]
        raise ScenarioError(issues) from None
    if as_json:
        print_json(parts)
        return
    for part, us in parts.items():
        print(f"{part.removesuffix('_us').replace('_', ' '):20}{us:12.3f} us")
