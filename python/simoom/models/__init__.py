"""Analytic models of TCP over IEEE 802.11, independent of the simulator.

The models are pure functions of NumPy arrays that return frozen records with units in the names of
their fields. They import nothing of the simulator, so that agreement is evidence for both.

>>> from simoom import models
>>> models.bianchi(stations=10, standard="11b", payload_bytes=1500).throughput_mbps
5.906...

Each family is a module with a tuple ``ASSUMPTIONS``; `FAMILIES` lists them by name.
"""

from types import MappingProxyType

from simoom.models import (
    aggregation,
    bluetooth,
    chain,
    full_duplex,
    half_duplex,
    http_queueing,
    http_sessions,
    lt_tcp,
    ofdma,
    ofdma_uplink,
    ps_queue,
    saturation,
    tcp_aggregation,
    tcp_corruption,
    tcp_loss,
    timing,
)
from simoom.models.assumption import Assumption
from simoom.models.prediction import Prediction
from simoom.models.saturation import bianchi

FAMILIES = MappingProxyType(
    {
        module.__name__.rpartition(".")[2]: module
        for module in (
            saturation,
            half_duplex,
            full_duplex,
            http_queueing,
            http_sessions,
            ps_queue,
            bluetooth,
            tcp_corruption,
            tcp_loss,
            aggregation,
            tcp_aggregation,
            ofdma,
            ofdma_uplink,
            lt_tcp,
            chain,
        )
    }
)
"""The families of models by name; each has ``ASSUMPTIONS``."""

__all__ = [
    "FAMILIES",
    "Assumption",
    "Prediction",
    "aggregation",
    "bianchi",
    "bluetooth",
    "chain",
    "full_duplex",
    "half_duplex",
    "http_queueing",
    "http_sessions",
    "lt_tcp",
    "ofdma",
    "ofdma_uplink",
    "ps_queue",
    "saturation",
    "tcp_aggregation",
    "tcp_corruption",
    "tcp_loss",
    "timing",
]
