"""Resource units of 802.11ax, and the HE TB PPDUs that fill them (802.11ax-2021 clause 27.3).

All users of such a PPDU have units of one size, one MCS, and end together. The data ends in a
quarter of a symbol; with LDPC an extra quarter may follow, which Trigger frames always announce.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from types import MappingProxyType

from simoom.models.subcarriers import SUBCARRIERS
from simoom.models.timing import LTF_COUNT

_WHOLE = SUBCARRIERS["he"]
DATA_TONES = MappingProxyType(  # Table 27-8 and on
    {26: 24, 52: 48, 106: 102, 242: _WHOLE[20], 484: _WHOLE[40], 996: _WHOLE[80], 1992: _WHOLE[160]}
)
"""Tones with data, by the tones of a resource unit."""
QUARTER_TONES = MappingProxyType(  # Table 27-31
    {26: 6, 52: 12, 106: 24, 242: 60, 484: 120, 996: 240, 1992: 492}
)
"""The same of the first three quarters of a symbol."""
NUMBERS = MappingProxyType(  # clause 27.3.2.2
    {
        20: {26: 9, 52: 4, 106: 2, 242: 1},
        40: {26: 18, 52: 8, 106: 4, 242: 2, 484: 1},
        80: {26: 37, 52: 16, 106: 8, 242: 4, 484: 2, 996: 1},
        160: {26: 74, 52: 32, 106: 16, 242: 8, 484: 4, 996: 2, 1992: 1},
    }
)
"""How many units of each size a channel has, by its width in MHz."""
BITS = ((1, 1, 2), (2, 1, 2), (2, 3, 4), (4, 1, 2), (4, 3, 4), (6, 2, 3), (6, 3, 4), (6, 5, 6),
        (8, 3, 4), (8, 5, 6), (10, 3, 4), (10, 5, 6))  # fmt: skip
"""Bits of a tone and the code rate, as two integers, by MCS."""
MOST_BCC = {"tones": 242, "streams": 4, "mcs": 9}
"""What convolutional codes are for; all else has LDPC (clause 27.3.12.5.1)."""
SERVICE_BITS, TAIL_BITS = 16, 6


def none_empty(width_mhz: int, stations: int) -> tuple[int, int]:
    """Return the tones and the number of equal units of which none is empty.

    Examples
    --------
    >>> none_empty(20, 5), none_empty(80, 9)
    ((52, 4), (106, 8))
    """
    if width_mhz not in NUMBERS:
        raise ValueError(f"width_mhz: must be one of {list(NUMBERS)}, is {width_mhz!r}")
    fitting = ((tones, most) for tones, most in NUMBERS[width_mhz].items() if most <= stations)
    found = next(fitting, None)
    if found is None:
        raise ValueError(f"stations: must be at least 1, is {stations!r}")
    return found


@dataclass(frozen=True, order=True)
class End:
    """Where the data ends: symbols, and quarters of the last one, 1 to 4."""

    symbols: int
    quarters: int = 4

    def later(self) -> End:
        """Return the end a quarter later."""
        is_full = self.quarters == 4
        return End(self.symbols + is_full, 1 if is_full else self.quarters + 1)

    def earlier(self) -> End:
        """Return the end a quarter earlier."""
        return End(self.symbols - 1) if self.quarters == 1 else End(self.symbols, self.quarters - 1)


@dataclass(frozen=True)
class Answers:
    """HE TB PPDUs of equal users.

    Parameters
    ----------
    tones : int
        Those of each resource unit.
    mcs, streams : int
        Those of each user.
    guard_ns : int
        1600, or 3200 with HE-LTFs of twice the length.

    Examples
    --------
    52 tones at MCS 7 for 1504 us: 101 symbols of 14.4 us.

    >>> answers = Answers(52, 7)
    >>> answers.longest(1505.0), answers.room(answers.longest(1505.0))
    (End(symbols=101, quarters=4), 3027)
    >>> answers.lasting_us(End(101)), answers.announced_us(End(101))
    (1502.4, 1504.0)
    """

    tones: int
    mcs: int
    streams: int = 1
    guard_ns: int = 1600

    @property
    def symbol_us(self) -> float:
        """Duration of a symbol."""
        return 12.8 + self.guard_ns / 1000

    @property
    def preamble_us(self) -> float:
        """L-STF to RL-SIG 24, HE-SIG-A 8, HE-STF 8, and the HE-LTFs, of type 2x or 4x."""
        ltf = self.guard_ns / 1000 + (12.8 if self.guard_ns == 3200 else 6.4)
        return 40.0 + ltf * LTF_COUNT[self.streams]

    @cached_property
    def is_ldpc(self) -> bool:
        """Whether the code is LDPC."""
        own = {"tones": self.tones, "streams": self.streams, "mcs": self.mcs}
        return any(own[key] > most for key, most in MOST_BCC.items())

    @cached_property
    def _coded(self) -> tuple[int, int]:
        """Coded bits of a symbol and of a quarter (N_CBPS and N_CBPS,short)."""
        each = BITS[self.mcs][0] * self.streams
        return DATA_TONES[self.tones] * each, QUARTER_TONES[self.tones] * each

    @cached_property
    def _data(self) -> tuple[int, int]:
        """Data bits of a symbol and of a quarter (N_DBPS and N_DBPS,short)."""
        _, over, under = BITS[self.mcs]
        symbol, quarter = self._coded
        return symbol * over // under, quarter * over // under

    @property
    def _around_bits(self) -> int:
        return SERVICE_BITS + (0 if self.is_ldpc else TAIL_BITS)

    def _until(self, end: End, bits: tuple[int, int]) -> int:
        symbol, quarter = bits
        if end.quarters == 4:
            return end.symbols * symbol
        return (end.symbols - 1) * symbol + end.quarters * quarter

    def end(self, size: int) -> End:
        """Return where the data of a PSDU of so many bytes ends, an extra segment included."""
        symbol, quarter = self._data
        bits = self._around_bits + 8 * size
        excess = bits % symbol
        quarters = min(-(-excess // quarter), 4) if excess else 4
        found = End(-(-bits // symbol), quarters)
        return found.later() if self._is_strained(found) else found

    def most(self, end: End) -> int:
        """Return the bytes of a PSDU and its padding up to an end."""
        return max(self._until(end, self._data) - self._around_bits, 0) // 8

    def room(self, end: End) -> int:
        """Return the bytes of a PSDU that ends here, an extra segment included."""
        return self.most(end.earlier() if self._is_strained(end) else end)

    def _is_strained(self, end: End) -> bool:
        """Whether LDPC needs an extra segment (19.3.11.7.5, step d)."""
        if not self.is_ldpc:
            return False
        _, over, under = BITS[self.mcs]
        data, room = self._until(end, self._data), self._until(end, self._coded)
        words, length = _codewords(data, room, over, under)
        shortened = max(words * length * over // under - data, 0)
        punctured = max(words * length - room - shortened, 0)
        parity = words * length * (under - over)
        much = 10 * punctured * under > parity
        few_shortened = 10 * shortened * (under - over) < 12 * punctured * over
        return (much and few_shortened) or 10 * punctured * under > 3 * parity

    def lasting_us(self, end: End) -> float:
        """Return how long the PPDUs last."""
        return round(self.preamble_us + self.symbol_us * end.symbols, 3)

    def announced_us(self, end: End) -> float:
        """Return the same as UL Length announces it: in steps of 4 us after L-SIG."""
        return 20.0 + 4.0 * math.ceil(round((self.lasting_us(end) - 20.0) / 4.0, 6))

    def longest(self, within_us: float) -> End | None:
        """Return the latest end that is announced within a time; None if there is none.

        With LDPC there is a symbol less, which an extra segment may take.
        """
        symbols = math.floor(round((within_us - self.preamble_us) / self.symbol_us, 6))
        symbols -= int(self.is_ldpc)
        if symbols > 0 and self.announced_us(End(symbols)) > within_us:
            symbols -= 1
        return End(symbols) if symbols > 0 else None


def _codewords(data: int, room: int, over: int, under: int) -> tuple[int, int]:
    """Return the number and length of codewords (Table 19-16)."""

    def spare(bits: int) -> bool:
        return room * under >= data * under + bits * (under - over)

    if room <= 648:
        return 1, 1296 if spare(912) else 648
    if room <= 1296:
        return 1, 1944 if spare(1464) else 1296
    if room <= 1944:
        return 1, 1944
    if room <= 2592:
        return 2, 1944 if spare(2916) else 1296
    return -(-data * under // (1944 * over)), 1944
