"""Durations of frame exchanges under the options of a scenario.

The durations come from `simoom.models.timing`, not from the simulator, so that agreement between
twin and simulation is evidence.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from simoom.models import timing
from simoom.models._check import Array
from simoom.models.fixed_point import backoff_slots

_DSSS = timing.STANDARDS["11b"].rates_mbps


_CIPHER_BYTES = {"none": 0, "ccmp": 16}
"""What a cipher suite adds to an MPDU (802.11-2020 clause 12.5.3.2)."""


def overhead_bytes(wlan: Mapping[str, Any]) -> int:
    """Return the bytes of an MPDU other than the IP packet, without QoS Control."""
    known = wlan["mac_header_bytes"] + _CIPHER_BYTES[wlan["cipher"]] + wlan["llc_bytes"]
    return int(known + timing.FCS_BYTES)


@dataclass(frozen=True)
class Exchange:
    """One frame exchange."""

    success_us: float
    """Time from the first bit to the end of the DIFS after the MAC's ACK."""
    exposed_us: float
    """Duration of the frame that a collision destroys: the RTS, or the data frame without RTS."""
    opening_mbps: float
    """Rate of that frame."""
    rts: bool


@dataclass(frozen=True)
class Air:
    """The parameters that all stations of a cell share.

    Parameters
    ----------
    standard : str
        "11b", "11a" or "11g".
    wlan : mapping
        The table ``wlan`` of a scenario with all its defaults.
    """

    standard: str
    wlan: Mapping[str, Any]

    @property
    def constants(self) -> timing.Standard:
        """The constants of the standard."""
        return timing.standard(self.standard)

    @property
    def rate_mbps(self) -> float:
        """Rate of the data frames of stations without a rate of their own."""
        return float(self.wlan["rate_mbps"] or self.constants.rates_mbps[-1])

    @property
    def slot_us(self) -> float:
        """Slot time: long in some cells of 802.11g (Table 18-5); a coverage class adds 3 us."""
        slot_us = 20.0 if self.wlan["slot"] == "long" else self.constants.slot_us
        return slot_us + 3.0 * float(self.wlan["coverage_class"])

    @property
    def sifs_us(self) -> float:
        """SIFS."""
        return self.constants.sifs_us

    @property
    def difs_us(self) -> float:
        """DIFS = SIFS + 2 slots (10.3.7)."""
        return self.sifs_us + 2 * self.slot_us

    @property
    def cw_min(self) -> int:
        """Smallest contention window."""
        given = self.wlan["cw_min"]
        return int(self.constants.cw_min if given is None else given)

    @property
    def cw_max(self) -> int:
        """Largest contention window."""
        return int(self.wlan["cw_max"])

    @property
    def attempts(self) -> int:
        """Attempts at a frame, or at its RTS, if it is lost only in collisions."""
        return int(self.wlan["short_retry_limit"])

    @property
    def overhead_bytes(self) -> int:
        """The bytes of an MPDU other than the IP packet."""
        return overhead_bytes(self.wlan)

    def backoff_slots(self) -> Array:
        """Mean back-off of each stage, including the slot of the attempt."""
        mean = backoff_slots(self.cw_min, self.cw_max, attempts=self.attempts)
        # ns-2 draws from 0 to CW - 1: half a slot less on average.
        return mean - 0.5 if self.wlan["backoff_draw"] == "ns2" else mean

    def ppdu_us(self, psdu_bytes: int, rate_mbps: float) -> float:
        """Return how long a PPDU lasts."""
        if rate_mbps not in _DSSS:
            return float(timing.ppdu_us(psdu_bytes, standard=self.standard, rate_mbps=rate_mbps))
        short = self.wlan["preamble"] == "short" and rate_mbps > 1  # 16.2.2.3
        if self.wlan.get("durations") == "ns2":  # not rounded up to whole microseconds
            preamble = timing.preamble_us(standard="11b", short_preamble=short)
            return preamble + 8 * psdu_bytes / rate_mbps
        return float(
            timing.ppdu_us(psdu_bytes, standard="11b", rate_mbps=rate_mbps, short_preamble=short)
        )

    def data_us(self, psdu_bytes: int, rate_mbps: float) -> float:
        """Return how long a data frame lasts; analytic models know only its header and bits."""
        header = self.wlan.get("model_header_us")
        if header is None:
            return self.ppdu_us(psdu_bytes, rate_mbps)
        return float(header + 8 * psdu_bytes / rate_mbps)

    def response_mbps(self, rate_mbps: float) -> float:
        """Return the rate of the CTS or ACK that a frame elicits, and of the RTS before it.

        The highest basic rate of the same family that does not exceed the rate of the frame, or
        else the highest mandatory one (10.6.6.5.2).
        """
        dsss = rate_mbps in _DSSS
        # By default those of the standard (an 802.11g cell also has those of 802.11b).
        usual = (1.0, 2.0, 5.5, 11.0) if self.standard == "11g" else (1.0, 2.0)
        default = usual if dsss else timing.STANDARDS["11a"].basic_rates_mbps
        mandatory = _DSSS if dsss else timing.STANDARDS["11a"].basic_rates_mbps
        for rates in (self.wlan["basic_rates_mbps"] or default, mandatory):
            if below := [r for r in rates if (r in _DSSS) == dsss and r <= rate_mbps]:
                return float(max(below))
        return rate_mbps

    def exchange(self, packet_bytes: int, rate_mbps: float) -> Exchange:
        """Return the exchange of an IP packet."""
        psdu = packet_bytes + self.overhead_bytes
        control = self.response_mbps(rate_mbps)
        data = self.data_us(psdu, rate_mbps)
        success = data + self.sifs_us + self.ppdu_us(timing.ACK_BYTES, control) + self.difs_us
        if psdu <= self.wlan["rts_threshold_bytes"]:
            return Exchange(success, data, rate_mbps, False)
        opening = float(self.wlan.get("rts_rate_mbps") or control)
        request = self.ppdu_us(timing.RTS_BYTES, opening)
        clear = self.ppdu_us(timing.CTS_BYTES, self.response_mbps(opening))
        return Exchange(success + request + clear + 2 * self.sifs_us, request, opening, True)

    def silence_us(self, rate_mbps: float) -> float:
        """Return how long stations that did not collide wait after a collision (EIFS, 10.3.7)."""
        rule = self.wlan["eifs"]
        if rule == "none" or self.wlan["slot_grid"] == "difs":
            return self.difs_us
        lowest = 1.0 if rate_mbps in _DSSS else 6.0
        answer = self.response_mbps(rate_mbps) if rule == "estimated" else lowest
        spaces = 2 if rule == "ns2" else 1
        return self.sifs_us + self.ppdu_us(timing.ACK_BYTES, answer) + spaces * self.difs_us

    def resume_us(self, rate_mbps: float) -> float:
        """Return how long the colliding stations wait: their response timeout.

        SIFS + slot + preamble and header of the response (10.3.2.9, 10.3.2.11), rounded to the slot
        grid that begins a DIFS after the collision.
        """
        grid = self.wlan["slot_grid"]
        if grid in ("shared", "difs"):
            return self.silence_us(rate_mbps)
        answer = self.response_mbps(rate_mbps)
        if answer in _DSSS:
            short = self.wlan["preamble"] == "short" and answer > 1
            delay = timing.preamble_us(standard="11b", short_preamble=short)
        else:
            delay = timing.preamble_us(standard=self.standard)
        timeout = self.sifs_us + self.slot_us + delay
        if grid == "free":
            return max(timeout, self.difs_us)
        slots = np.ceil(max(timeout - self.difs_us, 0.0) / self.slot_us)
        return float(self.difs_us + slots * self.slot_us)

    def head_slots(self, rate_mbps: float) -> float:
        """Return by how many slots the colliding stations resume before all others."""
        return (self.silence_us(rate_mbps) - self.resume_us(rate_mbps)) / self.slot_us
