"""Durations of frames and frame exchanges of 802.11b, a, g, n, ac, ax and be.

Durations are in microseconds, sizes in bytes with the FCS, rates in Mb/s. All sizes, rates and MCS
indices may be arrays. Clauses are those of IEEE 802.11-2020 (HE: 802.11ax-2021, clause 27; EHT:
802.11be-2024, clause 36). The tables describe a cell without stations of older amendments; 11n to
11be are those of the 5 GHz band with the best-effort category of EDCA.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import KW_ONLY, dataclass
from types import MappingProxyType

import numpy as np
from numpy.typing import ArrayLike

from simoom.models._check import Array, choice, one_of, positive, real, whole
from simoom.models.parameters import (
    REQUIRED,
    Numbers,
    OptionalNumbers,
    Parameter,
    Parameters,
    Plain,
    takes,
)
from simoom.models.prediction import Prediction
from simoom.models.subcarriers import SUBCARRIERS, data_subcarriers

RTS_BYTES = 20  # 9.3.1.2
CTS_BYTES = 14  # 9.3.1.3
ACK_BYTES = 14  # 9.3.1.4
BLOCK_ACK_BYTES = 32  # 9.3.1.8, compressed, bitmap of 64 bits
FCS_BYTES = 4  # 9.2.4.8
LLC_BYTES = 8  # LLC and SNAP, IEEE 802.2 and RFC 1042
IP_BYTES = 20  # RFC 791
UDP_BYTES = 8  # RFC 768
MPDU_DELIMITER_BYTES = 4  # 9.7.1
MSDU_SUBHEADER_BYTES = 14  # 9.3.2.2.2


@dataclass(frozen=True)
class Standard:
    """The constants of one amendment, from the tables of its PHY and MAC clauses."""

    name: str
    family: str
    slot_us: float
    sifs_us: float
    aifsn: int
    cw_min: int
    cw_max: int
    mac_header_bytes: int
    rates_mbps: tuple[float, ...]
    basic_rates_mbps: tuple[float, ...]
    rx_start_delay_us: float
    signal_extension_us: float
    max_mcs: int
    max_ampdu_bytes: int
    block_ack_window: int

    @property
    def difs_us(self) -> float:
        """DIFS = SIFS + 2 slots (10.3.7)."""
        return self.sifs_us + 2 * self.slot_us

    @property
    def aifs_us(self) -> float:
        """AIFS = SIFS + AIFSN slots (10.23.2.4); without EDCA it is DIFS."""
        return self.sifs_us + self.aifsn * self.slot_us

    @property
    def headers_bytes(self) -> int:
        """The bytes of an MPDU other than the payload of UDP over IPv4."""
        return self.mac_header_bytes + FCS_BYTES + LLC_BYTES + IP_BYTES + UDP_BYTES


_OFDM_RATES = (6.0, 9.0, 12.0, 18.0, 24.0, 36.0, 48.0, 54.0)  # Table 17-4
_OFDM_BASIC = (6.0, 12.0, 24.0)  # the mandatory ones, 17.3.2.3
_DSSS_RATES = (1.0, 2.0, 5.5, 11.0)  # 16.2.3.3


def _standard(name: str, family: str, **changes: object) -> Standard:
    """A 20 MHz OFDM PHY at 5 GHz (Table 17-21), with the changes of an amendment."""
    constants: dict[str, object] = {
        "slot_us": 9.0,
        "sifs_us": 16.0,
        "aifsn": 2,
        "cw_min": 15,
        "cw_max": 1023,
        "mac_header_bytes": 24,
        "rates_mbps": _OFDM_RATES,
        "basic_rates_mbps": _OFDM_BASIC,
        "rx_start_delay_us": 20.0,
        "signal_extension_us": 0.0,
        "max_mcs": -1,
        "max_ampdu_bytes": 0,
        "block_ack_window": 0,
    }
    return Standard(name, family, **(constants | changes))  # type: ignore[arg-type]


_EDCA = {"aifsn": 3, "mac_header_bytes": 26, "block_ack_window": 64}  # Table 9-155, AC_BE
_LONGER = _EDCA | {"block_ack_window": 256}

STANDARDS = MappingProxyType(
    {
        "11b": _standard(  # Table 16-4: HR/DSSS
            "11b",
            "dsss",
            slot_us=20.0,
            sifs_us=10.0,
            cw_min=31,
            rates_mbps=_DSSS_RATES,
            basic_rates_mbps=(1.0, 2.0),
            rx_start_delay_us=192.0,
        ),
        "11a": _standard("11a", "ofdm"),
        "11g": _standard("11g", "ofdm", sifs_us=10.0, signal_extension_us=6.0),  # Table 18-5
        "11n": _standard("11n", "ht", max_mcs=7, max_ampdu_bytes=65_535, **_EDCA),  # 9.4.2.55
        "11ac": _standard("11ac", "vht", max_mcs=9, max_ampdu_bytes=1_048_575, **_EDCA),
        "11ax": _standard("11ax", "he", max_mcs=11, max_ampdu_bytes=6_500_631, **_LONGER),
        "11be": _standard("11be", "eht", max_mcs=13, max_ampdu_bytes=15_523_200, **_LONGER),
    }
)
"""The amendments by name."""
AGGREGATING = tuple(name for name, known in STANDARDS.items() if known.max_ampdu_bytes)
"""The amendments with A-MPDUs."""

MAX_PPDU_US = 5484.0  # aPPDUMaxTime of HT-mixed, VHT, HE and EHT (Table 19-25)

_BITS_PER_SUBCARRIER = np.array([1, 2, 2, 4, 4, 6, 6, 6, 8, 8, 10, 10, 12, 12], dtype=np.float64)
_CODE_RATE_12 = np.array([6, 6, 9, 6, 9, 8, 9, 10, 9, 10, 9, 10, 9, 10], dtype=np.float64)
_LONG_SYMBOLS = ("he", "eht")
"""Families with symbols of 12.8 us, and LDPC."""
_GUARDS_NS = {"ofdm": (800,), "ht": (400, 800), "vht": (400, 800)}
_GUARDS_NS |= dict.fromkeys(_LONG_SYMBOLS, (800, 1600, 3200))
_REFERENCE_RATES = np.array([6, 12, 18, 24, 36, 48, *[54] * 8], dtype=np.float64)
LTF_COUNT = (0, 1, 2, 4, 4, 6, 6, 8, 8)
"""Long training fields by streams (Table 21-13)."""


def standard(name: str) -> Standard:
    """Return the constants of an amendment.

    Examples
    --------
    >>> standard("11b").difs_us, standard("11ac").aifs_us
    (50.0, 43.0)
    """
    return STANDARDS[choice("standard", name, STANDARDS)]


def data_bits_per_symbol(
    mcs: ArrayLike, *, standard: str, width_mhz: int = 20, streams: int = 1, punctured_mhz: int = 0
) -> Array:
    """Return N_DBPS of an HT, VHT, HE or EHT mode (Tables 19-27, 21-29, 27-54).

    `mcs` counts from 0 for every number of streams, for HT as well. An EHT PPDU may leave out
    `punctured_mhz` of its channel, and then has its data in a multiple resource unit.

    Raises
    ------
    ValueError
        If the mode does not exist.

    Examples
    --------
    >>> float(data_bits_per_symbol(8, standard="11ac"))
    312.0
    >>> float(data_bits_per_symbol(0, standard="11be", width_mhz=80, punctured_mhz=20))
    351.0
    """
    known = STANDARDS[choice("standard", standard, AGGREGATING)]
    index = whole("mcs", mcs, low=0, high=known.max_mcs).astype(np.intp)
    subcarriers = data_subcarriers(known.name, known.family, width_mhz, punctured_mhz)
    _check_streams(known, streams)
    coded = subcarriers * _BITS_PER_SUBCARRIER[index] * streams
    bits = coded * _CODE_RATE_12[index] / 12
    if known.family == "vht" and np.any(bits != np.floor(bits)):  # 21.5: N_DBPS is whole
        raise ValueError(f"mcs: {mcs!r} does not exist at {width_mhz} MHz with {streams} stream(s)")
    return np.floor(bits)


def symbol_us(*, standard: str, guard_ns: int | None = None) -> float:
    """Return the duration of a data symbol with its guard interval (default 800 ns)."""
    family = STANDARDS[choice("standard", standard, STANDARDS)].family
    if family not in _GUARDS_NS:
        raise ValueError(f"standard: {standard} has no symbols of OFDM")
    guard = 800 if guard_ns is None else guard_ns
    if guard not in _GUARDS_NS[family]:
        raise ValueError(f"guard_ns: must be one of {_GUARDS_NS[family]}, is {guard_ns!r}")
    return (12.8 if family in _LONG_SYMBOLS else 3.2) + guard / 1000


def preamble_us(
    *, standard: str, streams: int = 1, guard_ns: int | None = None, short_preamble: bool = False
) -> float:
    """Return the duration of all fields before the data.

    Examples
    --------
    >>> preamble_us(standard="11b"), preamble_us(standard="11ac"), preamble_us(standard="11ax")
    (192.0, 40.0, 43.2)
    """
    known = STANDARDS[choice("standard", standard, STANDARDS)]
    if known.family == "dsss":  # 16.2.2
        return 96.0 if short_preamble else 192.0
    if known.family == "ofdm":  # 17.3.2
        return 20.0
    _check_streams(known, streams)
    fields = LTF_COUNT[streams]
    if known.family in ("ht", "vht"):  # 19.3.2, 21.3.2: legacy, SIG(-A), STF, LTFs, SIG-B
        return 20.0 + 8.0 + 4.0 + 4.0 * fields + (4.0 if known.family == "vht" else 0.0)
    guard = symbol_us(standard=standard, guard_ns=guard_ns) - 12.8
    ltf = (12.8 if guard > 3.0 else 6.4) + guard  # 4x LTF goes with 3.2 us, 27.3.4
    signal = 8.0 if known.family == "eht" else 0.0  # 52 bits at 26 a symbol, 36.3.12.8
    return 20.0 + 4.0 + 8.0 + signal + 4.0 + fields * ltf


@dataclass(kw_only=True, eq=False)
class Format(Parameters):
    """The format of the data field of an HT, VHT, HE or EHT PPDU."""

    width_mhz: Plain[int] = Parameter(20, "Channel width of n, ac, ax and be.")
    punctured_mhz: Plain[int] = Parameter(0, "What of the channel PPDUs of be leave out.")
    streams: Plain[int] = Parameter(1, "Spatial streams of n, ac, ax and be.")
    guard_ns: Plain[int | None] = Parameter(None, "Guard interval of n, ac, ax and be; None: 800.")
    round_short_guard: Plain[bool] = Parameter(
        True,
        """
        Whether the data field with a guard interval of 400 ns is rounded up to 4 us, as the
        standard does (19.4.3, 21.4.3); ns-3 and some papers do not.
        """,
    )


@dataclass(kw_only=True, eq=False)
class Mode(Format):
    """The rate, or the modulation and coding scheme, of a PPDU."""

    rate_mbps: OptionalNumbers = Parameter(
        None,
        """
        Rate of b, a and g, and of frames in the format of 11a under n, ac, ax and be. None: the
        highest one where no `mcs` is given.
        """,
        real,
    )
    mcs: OptionalNumbers = Parameter(
        None,
        """
        Modulation and coding of n, ac, ax and be, from 0 for every number of streams. None: the
        highest that exists (7, 8, 11 and 13 at 20 MHz with one stream) if no rate is given.
        """,
        real,
    )


def amendment(default: str, allowed: Collection[str] = tuple(STANDARDS)) -> Plain[str]:
    """Declare the parameter ``standard`` of a record."""
    return Parameter(default, f"One of {', '.join(allowed)}.", choice, allowed=allowed)


@dataclass(eq=False)
class Ppdu(Mode):
    """A PPDU."""

    psdu_bytes: Numbers = Parameter(REQUIRED, "MPDU or A-MPDU, including FCS.", whole, low=1)
    _: KW_ONLY
    standard: Plain[str] = amendment(REQUIRED)
    short_preamble: Plain[bool] = Parameter(False, "Short preamble of 11b, not for 1 Mb/s.")


@takes(Ppdu)
def ppdu_us(ppdu: Ppdu) -> Array:
    """Return the duration of a PPDU.

    Returns
    -------
    ndarray
        Microseconds, of the common shape of sizes and rates.

    Raises
    ------
    ValueError
        If a rate, MCS or width does not exist.

    Examples
    --------
    An MPDU with 1500 bytes of IP at 11 and 86.7 Mb/s:

    >>> float(ppdu_us(1536, standard="11b", rate_mbps=11))
    1310.0
    >>> float(ppdu_us(1538, standard="11ac", mcs=8, guard_ns=400))
    184.0
    """
    known, rate_mbps, mcs = STANDARDS[ppdu.standard], ppdu.rate_mbps, ppdu.mcs
    width_mhz, streams, guard_ns = ppdu.width_mhz, ppdu.streams, ppdu.guard_ns
    bits = 8 * ppdu.psdu_bytes
    if rate_mbps is not None and mcs is not None:
        raise ValueError("mcs: give mcs or rate_mbps, not both")
    if known.family == "dsss":
        rate, short = _legacy_rate(known, rate_mbps), ppdu.short_preamble
        if short and np.any(rate == 1.0):
            raise ValueError("short_preamble: does not exist at 1 Mb/s")
        return preamble_us(standard=known.name, short_preamble=short) + np.ceil(bits / rate)
    if known.family == "ofdm" or rate_mbps is not None:
        symbols = np.ceil((16 + bits + 6) / (4 * _legacy_rate(known, rate_mbps)))  # 17.4.3
        return 20.0 + 4.0 * symbols + known.signal_extension_us
    if mcs is None:
        mcs = np.asarray(highest_mcs(known.name, width_mhz, streams), dtype=np.float64)
    occupied = {"width_mhz": width_mhz, "punctured_mhz": ppdu.punctured_mhz}
    per_symbol = data_bits_per_symbol(mcs, standard=known.name, streams=streams, **occupied)
    # One tail of 6 bits for each convolutional encoder; HE and EHT use LDPC, which has none.
    encoders = {"ht": np.ceil(per_symbol / 4 / 320), "vht": np.ceil(per_symbol / 4 / 540)}
    tail = 6 * encoders.get(known.family, np.zeros(()))
    duration = symbol_us(standard=known.name, guard_ns=guard_ns)
    data: Array = duration * np.ceil((16 + bits + tail) / per_symbol)
    if guard_ns == 400 and ppdu.round_short_guard:
        data = 4.0 * np.ceil(np.round(data / 4.0, 9))
    return data + preamble_us(standard=known.name, streams=streams, guard_ns=guard_ns)


def control_rate_mbps(
    *, standard: str, rate_mbps: ArrayLike | None = None, mcs: ArrayLike | None = None
) -> Array:
    """Return the rate of the CTS, ACK or Block Ack that a frame elicits (10.6.6.5).

    It is the highest basic rate that does not exceed the rate of the frame; for n, ac, ax and be,
    the rate of 11a with the same modulation and code rate (Table 10-9).

    Examples
    --------
    >>> control_rate_mbps(standard="11a", rate_mbps=[6, 18, 54]).tolist()
    [6.0, 12.0, 24.0]
    """
    known = STANDARDS[choice("standard", standard, STANDARDS)]
    if known.max_mcs >= 0 and rate_mbps is None:
        top = known.max_mcs if mcs is None else mcs
        reference = _REFERENCE_RATES[whole("mcs", top, low=0, high=known.max_mcs).astype(np.intp)]
    else:
        reference = _legacy_rate(known, rate_mbps)
    basic = np.asarray(known.basic_rates_mbps)
    place = np.searchsorted(basic, reference, side="right") - 1
    return basic[np.maximum(place, 0)]


def reference_rate_mbps(mcs: int) -> float:
    """Return the rate of 11a with the modulation and code rate of an MCS (Table 10-9)."""
    return float(_REFERENCE_RATES[mcs])


def control_us(frame_bytes: ArrayLike, *, standard: str, rate_mbps: ArrayLike) -> Array:
    """Return the duration of an RTS, CTS, ACK or Block Ack; n, ac, ax and be send them as 11a does.

    Examples
    --------
    >>> float(control_us(ACK_BYTES, standard="11b", rate_mbps=2))
    248.0
    >>> float(control_us(BLOCK_ACK_BYTES, standard="11ac", rate_mbps=6))
    68.0
    """
    return ppdu_us(frame_bytes, standard=standard, rate_mbps=rate_mbps)


def eifs_us(name: str) -> float:
    """Return SIFS + an ACK at the lowest rate + AIFS (10.3.7; 10.23.2.4 with EDCA).

    Examples
    --------
    >>> [eifs_us(name) for name in ("11b", "11a")]
    [364.0, 94.0]
    """
    known = standard(name)
    answer = float(control_us(ACK_BYTES, standard=name, rate_mbps=known.basic_rates_mbps[0]))
    return known.sifs_us + answer + known.aifs_us


def response_timeout_us(name: str) -> float:
    """Return the ACK and CTS timeout: SIFS + slot + PHY-RXSTART delay (10.3.2.9, 10.3.2.11).

    Examples
    --------
    >>> response_timeout_us("11b"), response_timeout_us("11a")
    (222.0, 45.0)
    """
    known = standard(name)
    return known.sifs_us + known.slot_us + known.rx_start_delay_us


def silences_us(name: str) -> dict[str, float]:
    """Return the silences after the frames of a collision that are equal for all stations.

    Examples
    --------
    >>> silences_us("11b")
    {'difs': 50.0, 'timeout': 272.0, 'eifs': 364.0}
    """
    difs = standard(name).aifs_us
    return {"difs": difs, "timeout": response_timeout_us(name) + difs, "eifs": eifs_us(name)}


@dataclass(frozen=True, eq=False, repr=False)
class Exchange(Prediction):
    """The durations of one frame exchange."""

    success_us: Array
    """Time from the first bit to the end of the AIFS after the response."""
    exposed_us: Array
    """Duration of the frame that a collision destroys: the RTS, or the data frame without RTS."""


@dataclass(kw_only=True, eq=False)
class Sending(Mode):
    """The frame exchange of an MPDU or an A-MPDU."""

    rts: Plain[bool] = Parameter(False, "RTS/CTS before every data frame.")
    mpdus: Numbers = Parameter(
        1,
        "MPDUs in one PPDU; more than one are an A-MPDU with a Block Ack (n, ac, ax and be).",
        whole,
        low=1,
    )
    control_mbps: OptionalNumbers = Parameter(
        None, "Rate of RTS, CTS and ACK; None: that of `timing.control_rate_mbps`.", real
    )


@dataclass(eq=False)
class Mpdu(Sending):
    """The frame exchange of an MPDU with its size."""

    mpdu_bytes: Numbers = Parameter(REQUIRED, "Size of an MPDU with header and FCS.", whole, low=1)
    _: KW_ONLY
    standard: Plain[str] = amendment(REQUIRED)


@takes(Mpdu)
def exchange(mpdu: Mpdu) -> Exchange:
    """Return the duration of [RTS, CTS,] data, ACK, and of the frame that a collision destroys.

    Raises
    ------
    ValueError
        If an argument is out of range; the message names it.

    Examples
    --------
    >>> exchange(1564, standard="11b", rate_mbps=11)
    Exchange(success_us=1638, exposed_us=1330)
    """
    known, size, count = STANDARDS[mpdu.standard], mpdu.mpdu_bytes, mpdu.mpdus
    if known.block_ack_window == 0 and np.any(count > 1):
        raise ValueError(f"mpdus: {known.name} has no A-MPDU")
    psdu = np.where(count > 1, psdu_bytes(count, size), size)
    data = ppdu_us(psdu, standard=known.name, **mpdu.part(Mode))
    rate = mpdu.control_mbps
    if rate is None:
        rate = control_rate_mbps(standard=known.name, rate_mbps=mpdu.rate_mbps, mcs=mpdu.mcs)
    answer = control_us(
        np.where(count > 1, BLOCK_ACK_BYTES, ACK_BYTES), standard=known.name, rate_mbps=rate
    )
    success = data + known.sifs_us + answer + known.aifs_us
    if not mpdu.rts:
        return Exchange(success, np.broadcast_to(data, success.shape))
    request = control_us(RTS_BYTES, standard=known.name, rate_mbps=rate)
    clear = control_us(CTS_BYTES, standard=known.name, rate_mbps=rate)
    success = request + known.sifs_us + clear + known.sifs_us + success
    return Exchange(success, np.broadcast_to(request, success.shape))


def psdu_bytes(count: Array, mpdu: Array) -> Array:
    """Return the size of an A-MPDU: delimiters, MPDUs, padding of all but the last (9.7.1)."""
    subframe: Array = MPDU_DELIMITER_BYTES + 4 * np.ceil(mpdu / 4)
    return (count - 1) * subframe + MPDU_DELIMITER_BYTES + mpdu


def _legacy_rate(known: Standard, rate_mbps: ArrayLike | None) -> Array:
    if rate_mbps is None:
        return positive("rate_mbps", known.rates_mbps[-1])
    return one_of("rate_mbps", rate_mbps, known.rates_mbps)


def highest_mcs(name: str, width_mhz: int, streams: int) -> int:
    """Return the highest MCS: VHT has no MCS 9 with one stream at 20 MHz (21.5)."""
    known = STANDARDS[name]
    subcarriers = SUBCARRIERS[known.family].get(width_mhz, 0)
    whole_bits = subcarriers * 8 * streams * 10 % 12 == 0
    return known.max_mcs if known.family != "vht" or whole_bits else known.max_mcs - 1


def _check_streams(known: Standard, streams: int) -> None:
    most = 4 if known.family == "ht" else 8
    if streams not in range(1, most + 1):
        raise ValueError(f"streams: must be 1 to {most}, is {streams!r}")
