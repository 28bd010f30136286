"""The duration of a PPDU."""

from __future__ import annotations

import json
from typing import Any

from simoom import _core
from simoom.base.arguments import whole

Option = float | str | bool | None
"""The value of an option of a PPDU; None is its default."""


def _options() -> dict[str, dict[str, Any]]:
    schema = json.loads(_core.airtime_schema())
    definitions = schema.get("$defs", {})
    options = {}
    for key, option in schema["properties"].items():
        name = option.get("$ref", "").rpartition("/")[2]
        options[key] = {**definitions.get(name, {}), **option}
    return options


OPTIONS = _options()
"""The JSON schema of each key that `airtime` takes, as the simulator declares it."""


def airtime(standard: str, *, psdu_bytes: int, **ppdu: Option) -> dict[str, float]:
    """Return the parts of a PPDU and their durations, in microseconds.

    Parameters
    ----------
    standard : str
        ``"11b"``, ``"11a"``, ``"11g"``, ``"11n"``, ``"11ac"``, ``"11ax"`` or ``"11be"``.
    psdu_bytes : int
        Length of the PSDU, MAC header and FCS included; of each MPDU if there are `mpdus`.
    **ppdu : optional
        The other keys of `OPTIONS`, which ``simoom airtime --help`` explains: `rate_mbps` and
        `short_preamble` of a frame without MCS; `mpdus`, `mcs`, `streams`, `width_mhz`, `guard_ns`
        and others of one with an MCS.

    Returns
    -------
    dict of str to float
        Microseconds of each part of the PPDU in the order of their transmission, and ``total``.

    Raises
    ------
    ScenarioError
        If there is no such PPDU.
    TypeError
        If there is no such key, or a number is not whole that must be.

    Examples
    --------
    >>> import simoom as sm
    >>> sm.airtime("11b", psdu_bytes=14, rate_mbps=2)["total_us"]
    248.0
    >>> sm.airtime("11ac", psdu_bytes=1538, mpdus=32, mcs=8, guard_ns=400)["total_us"]
    4604.0
    """
    whole("psdu_bytes", psdu_bytes, bits=64)
    for key, value in ppdu.items():
        if key not in OPTIONS:
            known = ", ".join(OPTIONS)
            raise TypeError(f"airtime() has no argument {key!r}; it takes {known}")
        if value is not None and OPTIONS[key].get("type") == "integer":
            whole(key, value, bits=64)
    return dict(_core.airtime(standard, psdu_bytes, **ppdu))
