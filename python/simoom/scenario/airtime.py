"""The duration of a PPDU, and of the exchange of a group."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from numbers import Integral
from typing import Any, overload

from simoom import _core
from simoom.base.arguments import whole

Option = float | str | bool | Sequence[int] | None
"""The value of an option of a PPDU; None is its default."""
User = Mapping[str, Option]
"""A user of a group, by the keys of `USER_OPTIONS`."""


def _options() -> tuple[dict[str, dict[str, Any]], dict[str, dict[str, Any]]]:
    schema = json.loads(_core.airtime_schema())
    definitions = schema.get("$defs", {})

    def of(properties: dict[str, dict[str, Any]]) -> dict[str, dict[str, Any]]:
        names = {key: each.get("$ref", "").rpartition("/")[2] for key, each in properties.items()}
        return {key: {**definitions.get(names[key], {}), **each}
                for key, each in properties.items()}  # fmt: skip

    return of(schema["properties"]), of(definitions["AirtimeUser"]["properties"])


OPTIONS, USER_OPTIONS = _options()
"""The JSON schema of each key that `airtime` takes, and of each that a user has, as the simulator
declares it."""


@overload
def airtime(
    standard: str, *, psdu_bytes: int, users: None = None, **ppdu: Option
) -> dict[str, float]: ...
@overload
def airtime(
    standard: str, *, users: Sequence[User], psdu_bytes: int | None = None, **ppdu: Option
) -> dict[str, Any]: ...
def airtime(
    standard: str,
    *,
    psdu_bytes: int | None = None,
    users: Sequence[User] | None = None,
    **ppdu: Option,
) -> dict[str, Any]:
    """Return the parts of a PPDU, or of the exchange of a group, with their durations.

    Parameters
    ----------
    standard : str
        ``"11b"``, ``"11a"``, ``"11g"``, ``"11n"``, ``"11ac"``, ``"11ax"`` or ``"11be"``.
    psdu_bytes : int, optional
        Length of the PSDU, MAC header and FCS included; of each MPDU if there are `mpdus`. Needed
        without users, and by each user that has no length of its own.
    users : sequence of mapping, optional
        The users of an MU exchange of 802.11ax, each by the keys of `USER_OPTIONS`: the tones of
        its resource unit `ru`, `mcs`, `streams`, `psdu_bytes` or `msdu_bytes`, `mpdus`, `coding`,
        and `count`, how many are like it. Keys that a user lacks are those below.
    **ppdu : optional
        The other keys of `OPTIONS`, which ``simoom airtime --help`` explains: `rate_mbps` and
        `short_preamble` of a frame without MCS; `mpdus`, `mcs`, `streams`, `width_mhz`, `guard_ns`,
        `punctured` and others of one with an MCS; `direction`, `ack` and others of a group.

    Returns
    -------
    dict
        Microseconds of each part of the PPDU in the order of their transmission, and ``total_us``.
        With users: what each has of the PPDU, with its padding (``users``), each part of the
        exchange with its start and duration (``parts``), ``total_us``, ``payload_bytes`` and
        ``throughput_mbps``. The payload is what was given as length, in all MPDUs.

    Raises
    ------
    ScenarioError
        If there is no such PPDU or exchange.
    TypeError
        If there is no such key, or a number is not whole that must be.

    Examples
    --------
    >>> import simoom as sm
    >>> sm.airtime("11b", psdu_bytes=14, rate_mbps=2)["total_us"]
    248.0
    >>> sm.airtime("11ac", psdu_bytes=1538, mpdus=32, mcs=8, guard_ns=400)["total_us"]
    4604.0

    Four stations on 52 tones each, who are asked for their BlockAcks by a MU-BAR:

    >>> group = sm.airtime("11ax", users=[{"ru": 52, "count": 4}], mcs=7, psdu_bytes=3000)
    >>> [(part["part"], part["duration_us"]) for part in group["parts"]][:3]
    [('HE MU PPDU', 1420.8), ('SIFS', 16.0), ('MU-BAR Trigger', 44.0)]
    """
    options: dict[str, Any] = {"standard": standard, "psdu_bytes": psdu_bytes, **ppdu}
    for key, value in options.items():
        if key not in OPTIONS:
            known = ", ".join(OPTIONS)
            raise TypeError(f"airtime() has no argument {key!r}; it takes {known}")
        if value is not None and OPTIONS[key].get("type") == "integer":
            whole(key, value, bits=64)
    if users is not None:
        options["users"] = [dict(user) for user in users]
    return dict(json.loads(_core.airtime(json.dumps(options, default=_number))))


def _number(value: object) -> float:
    """Return a number of another package as one of Python."""
    if isinstance(value, Integral):
        return int(value)
    return float(value)  # type: ignore[arg-type]
