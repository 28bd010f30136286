"""``simoom airtime``: how long a PPDU lasts."""

from __future__ import annotations

import inspect
import json
from collections.abc import Callable
from typing import Annotated, Any, Literal, TypeVar, get_type_hints

import typer

from simoom.airtime import WHOLE, Ppdu
from simoom.airtime import airtime as parts_of
from simoom.cli.terminal import Refusal

Command = TypeVar("Command", bound=Callable[..., None])

FLAGS = {"psdu_bytes": "--bytes", "rate_mbps": "--rate"}
"""Options that are called otherwise than the argument."""
UNITS = ("mbps", "mhz", "ghz", "ns", "us")


def flag(key: str) -> str:
    """Return what the command calls an argument."""
    return FLAGS.get(key, f"--{key.replace('_', '-')}")


def with_ppdu(command: Command) -> Command:
    """Give a command an option for each key of `Ppdu`, in place of its ``**ppdu``."""
    *own, _ = inspect.signature(command, eval_str=True).parameters.values()
    options = []
    for key, annotated in get_type_hints(Ppdu, include_extras=True).items():
        kind, text = annotated.__origin__, annotated.__metadata__[0]
        unit = key.rpartition("_")[2]
        metavar = unit.upper() if unit in UNITS else "N" if key in WHOLE else None
        default = False if kind is bool else None
        option = typer.Option(default, flag(key), metavar=metavar, help=text)
        options.append(own[0].replace(name=key, annotation=kind, default=option))
    command.__dict__["__signature__"] = inspect.Signature([*own[:2], *options, *own[2:]])
    return command


@with_ppdu
def airtime(
    *,
    standard: Annotated[str, typer.Option(help="11b, 11a, 11g, 11n, 11ac or 11ax.")],
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
    as_json: Annotated[
        bool, typer.Option("--json", help="Print one JSON object, nothing else.")
    ] = False,
    **ppdu: Any,
) -> None:
    """Compute how long a PPDU and each of its parts lasts, in microseconds."""
    for key, number in {"psdu_bytes": psdu_bytes, **ppdu}.items():
        # The core knows the limits of each standard; what is no such number does not reach it.
        if isinstance(number, int) and not 0 <= number < 1 << 64:
            raise Refusal(f"{flag(key)} {number}: must be from 0 to 2^64 - 1")
    parts = parts_of(standard, psdu_bytes=psdu_bytes, short_preamble=preamble == "short", **ppdu)
    if as_json:
        print(json.dumps(parts, indent=2))
        return
    for part, us in parts.items():
        print(f"{part.removesuffix('_us').replace('_', ' '):20}{us:12.3f} us")
