"""``simoom airtime``: how long a PPDU lasts, and the exchange of a group."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Annotated, Any, Literal

import typer

from simoom.base.issue import Issue, ScenarioError
from simoom.cli.api import Command, flag, with_options
from simoom.cli.streams import print_json
from simoom.cli.terminal import AsJson, InputError
from simoom.scenario.airtime import OPTIONS, USER_OPTIONS
from simoom.scenario.airtime import airtime as parts_of

OWN = ("standard", "psdu_bytes", "short_preamble", "users")
"""Keys that the command takes in a form of its own."""
UNITS = ("mbps", "mhz", "ghz", "ns", "us", "bytes")
STANDARDS = ", ".join(variant["const"] for variant in OPTIONS["standard"]["oneOf"])
TYPES = {"integer": int, "number": float, "boolean": bool}
USER_KEYS = {flag(key).removeprefix("--").replace("-", "_"): key for key in USER_OPTIONS}
"""What the text of a user calls its keys: as the options of all users are called."""
USERS = (
    "A user of an MU exchange of 802.11ax, as 'ru=106 mcs=7 bytes=1536 mpdus=8'; once for each. "
    f"Its keys are {', '.join(USER_KEYS)}, how many are alike; the others' defaults are the "
    "options of all users."
)
COLUMNS = {"user": "user", "ru": "tones", "mcs": "MCS", "streams": "streams", "coding": "coding",
           "rate_mbps": "Mb/s", "psdu_bytes": "bytes", "symbols": "symbols", "idle_us": "idle us",
           "padding_bytes": "padding bytes"}  # fmt: skip
"""Headings of what is shown of a user."""
FIELDS = {"legacy_us": "L-STF, L-LTF, L-SIG, RL-SIG", "sig_a_us": "HE-SIG-A",
          "sig_b_us": "HE-SIG-B", "stf_us": "HE-STF", "ltf_us": "HE-LTF", "data_us": "data",
          "packet_extension_us": "packet extension",
          "signal_extension_us": "signal extension"}  # fmt: skip
"""Names of the fields of a PPDU of several users."""


def option_of(key: str, schema: dict[str, Any]) -> tuple[Any, Any]:
    """Return the type of a key's option, and the option, from the key's schema."""
    unit = key.rpartition("_")[2]
    kind: Any = TYPES.get(schema.get("type", ""))
    if schema.get("type") == "array":
        kind = list.__class_getitem__(TYPES[schema["items"]["type"]])
    elif kind is None:
        kind = Literal[tuple(variant["const"] for variant in schema["oneOf"])]
    metavar = unit.upper() if unit in UNITS else "N" if kind in (int, list[int]) else None
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
        int | None,
        typer.Option(
            flag("psdu_bytes"),
            metavar="BYTES",
            help="Length of the PSDU, or of each MPDU, MAC header and FCS included.",
        ),
    ] = None,
    users: Annotated[
        list[str] | None,
        typer.Option(
            flag("users"),
            metavar="USER",
            help=USERS,
        ),
    ] = None,
    preamble: Annotated[
        Literal["long", "short"], typer.Option(help="Of DSSS and CCK rates; OFDM has one only.")
    ] = "long",
    as_json: AsJson = False,
    **ppdu: Any,
) -> None:
    """Compute how long a PPDU, or the exchange of a group, and each of its parts lasts."""
    for key, value in {"psdu_bytes": psdu_bytes, **ppdu}.items():
        # The core knows the limits of each standard; what is no such number does not reach it.
        for number in value if isinstance(value, list) else (value,):
            if isinstance(number, int) and not 0 <= number < 1 << 64:
                raise InputError(f"{flag(key)} {number}: must be from 0 to 2^64 - 1")
    given: dict[str, Any] = {**ppdu, "short_preamble": preamble == "short"}
    if users:
        given["users"] = [user_of(text) for text in users]
    try:
        found = parts_of(standard, psdu_bytes=psdu_bytes, **given)
    except ScenarioError as error:
        raise ScenarioError([with_flag(issue) for issue in error.issues]) from None
    if as_json:
        print_json(found)
    elif users:
        print_exchange(found)
    else:
        for part, us in found.items():
            print(f"{part.removesuffix('_us').replace('_', ' '):20}{us:12.3f} us")


def user_of(text: str) -> dict[str, int | str]:
    """Return the keys of a user from its text."""
    user: dict[str, int | str] = {}
    for word in re.split(r"[\s,]+", text.strip()):
        name, equals, value = word.partition("=")
        key = USER_KEYS.get(name.replace("-", "_"))
        if not equals or key is None:
            known = ", ".join(USER_KEYS)
            raise InputError(f"{flag('users')} {text!r}: {word!r} is no key and value, as mcs=7; "
                             f"the keys are {known}")  # fmt: skip
        user[key] = int(value) if value.isdecimal() else value
    return user


def with_flag(issue: Issue) -> Issue:
    """Return the fault with what the command calls the value: an option, or a key of a user."""
    if not (found := re.fullmatch(r"users(\[\d+\])(?:\.(\w+))?", issue.path)):
        return replace(issue, path=flag(issue.path))
    place, key = found.groups()
    names = {of: name for name, of in USER_KEYS.items()}
    return replace(
        issue, path=f"{flag('users')}{place}" + (f".{names.get(key, key)}" if key else "")
    )


def print_exchange(found: dict[str, Any]) -> None:
    """Print the parts of an exchange, with the fields of its PPDUs, and what each user has."""
    print(f"{'start us':>12}{'lasts us':>12}  part")
    for part in found["parts"]:
        print(f"{part['start_us']:12.3f}{part['duration_us']:12.3f}  {part['part']}")
        for key, name in FIELDS.items():
            if part.get(key):
                print(f"{'':12}{part[key]:12.3f}    {name}")
    print(f"{'total':>12}{found['total_us']:12.3f}  {found['throughput_mbps']:.3f} Mb/s of "
          f"{found['payload_bytes']} bytes")  # fmt: skip
    rows = [[_written(user[key]) for key in COLUMNS] for user in found["users"]]
    widths = [max(map(len, column)) for column in zip(COLUMNS.values(), *rows, strict=True)]
    print()
    for row in (COLUMNS.values(), *rows):
        print("  ".join(f"{text:>{width}}" for text, width in zip(row, widths, strict=True)))


def _written(value: float | str) -> str:
    return f"{value:.3f}" if isinstance(value, float) else str(value)
