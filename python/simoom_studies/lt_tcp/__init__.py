"""TCP with lost packets: near Bluetooth voice and over lossy links, by simulation and analysis.

V. Subramanian, K. K. Ramakrishnan, S. Kalyanaraman, L. Ji, "Impact of interference and capture
effects in 802.11 wireless networks on TCP".

>>> from simoom import studies
>>> studies.lt_tcp.figure_readings().claims[1]
Claim(preamble_costs_3_mbps: reproduced)
"""

from __future__ import annotations

from simoom.studies.original import originals
from simoom.studies.study import Study
from simoom_studies.lt_tcp.advice import (
    figure_buffers,
    figure_captures,
    figure_overheads,
    figure_rates,
)
from simoom_studies.lt_tcp.bluetooth import (
    corruption as corruption,
)
from simoom_studies.lt_tcp.bluetooth import (
    figure_corruption,
    figure_goodput,
    figure_residual,
    figure_retries,
)
from simoom_studies.lt_tcp.distances import figure_voice
from simoom_studies.lt_tcp.hidden import figure_hidden, figure_shutouts
from simoom_studies.lt_tcp.later import (
    figure_adaptation,
    figure_controllers,
    figure_queues,
)
from simoom_studies.lt_tcp.lossy import figure_1, figure_2, figure_3, figure_parts
from simoom_studies.lt_tcp.readings import figure_readings
from simoom_studies.lt_tcp.reconstruction import figure_choices, figure_timer
from simoom_studies.lt_tcp.tables import table_4, table_5, table_6
from simoom_studies.lt_tcp.voice import table_2, table_3

STUDY = Study(
    name="lt_tcp",
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
        table_3,
        figure_voice,
        figure_rates,
        figure_readings,
        figure_overheads,
        table_4,
        table_5,
        table_6,
        figure_shutouts,
        figure_hidden,
        figure_buffers,
        figure_captures,
        figure_choices,
        figure_timer,
        figure_controllers,
        figure_queues,
        figure_adaptation,
    ),
    notes="p as printed: 0.27 times 1, 0.5 and 0.3 for HV1, HV2 and HV3. LT-TCP is reconstructed "
    "where the paper and its sources leave it open.",
    originals=originals(__package__),
)
