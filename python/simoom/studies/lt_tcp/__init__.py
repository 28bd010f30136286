"""TCP with lost packets: near Bluetooth voice and over lossy links, by simulation and analysis.

V. Subramanian, K. K. Ramakrishnan, S. Kalyanaraman, L. Ji, "Impact of interference and capture
effects in 802.11 wireless networks on TCP".

>>> from simoom import studies
>>> studies.lt_tcp.figure_readings().claims[1]
Claim(preamble_costs_3_mbps: reproduced)
"""

from __future__ import annotations

from simoom.studies.lt_tcp.bluetooth import (
    NAME,
    corruption,
    figure_corruption,
    figure_goodput,
    figure_residual,
    figure_retries,
)
from simoom.studies.lt_tcp.hidden import figure_capture, figure_hidden
from simoom.studies.lt_tcp.lossy import figure_1, figure_2, figure_3, figure_parts
from simoom.studies.lt_tcp.tables import figure_readings, table_2, table_4, table_5, table_6
from simoom.studies.study import Study

STUDY = Study(
    name=NAME,
    title="TCP over lossy links and near Bluetooth voice over 802.11b",
    reference='V. Subramanian, K. K. Ramakrishnan, S. Kalyanaraman, L. Ji, "Impact of interference '
    'and capture effects in 802.11 wireless networks on TCP"',
    figure_functions=(
        figure_1,
        figure_2,
        figure_3,
        figure_parts,
        figure_corruption,
        figure_residual,
        figure_goodput,
        figure_retries,
        table_2,
        figure_readings,
        table_4,
        table_5,
        table_6,
        figure_capture,
        figure_hidden,
    ),
    notes="p as printed: 0.27 times 1, 0.5 and 0.3 for HV1, HV2 and HV3. LT-TCP is reconstructed "
    "where the paper and its sources leave it open.",
)

__all__ = [
    "STUDY",
    "corruption",
    "figure_1",
    "figure_2",
    "figure_3",
    "figure_capture",
    "figure_corruption",
    "figure_goodput",
    "figure_hidden",
    "figure_parts",
    "figure_readings",
    "figure_residual",
    "figure_retries",
    "table_2",
    "table_4",
    "table_5",
    "table_6",
]
