"""How long a PPDU lasts."""

from __future__ import annotations

from typing import Annotated, Literal, TypedDict, Unpack, get_args, get_type_hints

from simoom import _core
from simoom.run import whole


class Ppdu(TypedDict, total=False):
    """What may be said of a PPDU: keyword arguments of `airtime`, options of ``simoom airtime``."""

    mpdus: Annotated[int | None, "How many MPDUs an A-MPDU holds; without it, no A-MPDU."]
    rate_mbps: Annotated[
        float | None,
        "Rate of a frame without MCS: of all in 11b, 11a and 11g, by default the highest; of "
        "control frames later.",
    ]
    mcs: Annotated[
        int | None, "MCS index within a stream, or 11n's from 8 to 31; by default the highest."
    ]
    streams: Annotated[int | None, "Spatial streams of an MCS; by default 1."]
    width_mhz: Annotated[int | None, "Bandwidth; by default 20."]
    guard_ns: Annotated[int | None, "Guard interval; by default 800."]
    band_ghz: Annotated[
        float | None, "2.4 or 5; by default 2.4 for 11b and 11g and 5 for all others."
    ]
    coding: Annotated[
        Literal["bcc", "ldpc"] | None, "Code of an MCS; by default BCC where the mode has it."
    ]
    ltf: Annotated[
        Literal["1x", "2x", "4x"] | None,
        "HE-LTF type of 11ax; by default 2x, and 4x with 3200 ns.",
    ]
    extended_range: Annotated[bool, "Whether a PPDU of 11ax has extended range (HE ER SU)."]
    packet_extension_us: Annotated[
        int | None, "Packet extension of 11ax: 0, 4, 8, 12 or 16; by default 0."
    ]
    timing: Annotated[
        Literal["standard", "ns3"] | None,
        "Durations of the standard, or those of ns-3 where they depart from it.",
    ]


WHOLE = tuple(key for key, kind in get_type_hints(Ppdu).items() if int in get_args(kind))
"""Keys of whole numbers."""


def airtime(
    standard: str, *, psdu_bytes: int, short_preamble: bool = False, **ppdu: Unpack[Ppdu]
) -> dict[str, float]:
    """Return the parts of a PPDU and how long each lasts, in microseconds.

    Parameters
    ----------
    standard : str
        ``"11b"``, ``"11a"``, ``"11g"``, ``"11n"``, ``"11ac"`` or ``"11ax"``.
    psdu_bytes : int
        Length of the PSDU, MAC header and FCS included; of each MPDU if there are `mpdus`.
    short_preamble : bool, optional
        Whether DSSS and CCK frames have the short preamble.
    **ppdu : optional
        The keys of `Ppdu`.

    Examples
    --------
    >>> import simoom as sm
    >>> sm.airtime("11b", psdu_bytes=14, rate_mbps=2)["total_us"]
    248.0
    >>> sm.airtime("11ac", psdu_bytes=1538, mpdus=32, mcs=8, guard_ns=400)["total_us"]
    4604.0
    """
    whole("psdu_bytes", psdu_bytes, bits=64)
    for key in WHOLE:
        if (number := ppdu.get(key)) is not None:
            whole(key, number, bits=64)
    return dict(_core.airtime(standard, psdu_bytes, short_preamble=short_preamble, **ppdu))
