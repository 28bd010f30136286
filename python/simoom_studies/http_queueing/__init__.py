"""Web traffic over 802.11b: a paper's figures, tables and claims by analysis and simulation.

D. Miorandi, A. Kherani, E. Altman, "A queueing model for HTTP traffic over IEEE 802.11 WLANs",
Computer Networks 50(1), 2006.

>>> from simoom import studies
>>> figure = studies.http_queueing.figure_1(quick=True)
>>> figure.claims[0]
Claim(two_nodes_collide: reproduced)
"""

from simoom.studies.original import originals
from simoom.studies.study import Study
from simoom_studies.http_queueing.alone import table_2, table_3
from simoom_studies.http_queueing.appendix import figure_a2, figure_a3
from simoom_studies.http_queueing.fairness import (
    figure_elephants,
    figure_fair_queue,
    figure_uplink,
)
from simoom_studies.http_queueing.paper import PAPER as PAPER
from simoom_studies.http_queueing.persistent import figure_3, figure_4, figure_5, figure_6
from simoom_studies.http_queueing.saturated import figure_1, figure_2
from simoom_studies.http_queueing.sessions import figure_8, figure_9, figure_10, figure_11
from simoom_studies.http_queueing.split import figure_mice, figure_window_d

STUDY = Study(
    name="http_queueing",
    title="Web traffic over 802.11b",
    reference='D. Miorandi, A. Kherani, E. Altman, "A queueing model for HTTP traffic over IEEE '
    '802.11 WLANs", Computer Networks 50(1), 2006',
    figure_functions=(
        figure_1,
        figure_2,
        figure_3,
        figure_4,
        figure_5,
        figure_6,
        table_2,
        figure_8,
        figure_9,
        figure_10,
        table_3,
        figure_11,
        figure_window_d,
        figure_a2,
        figure_a3,
        figure_fair_queue,
        figure_elephants,
        figure_mice,
        figure_uplink,
    ),
    notes="Equations have the corrections that follow from their derivations; if a claim is about "
    "a printed equation, that is checked too. Simulated: an RTS of 160 bits (the paper "
    "has 180), the last segment of a file padded, no FIN, TCP sources at the access point, "
    "retransmission timers of RFC 6298.",
    originals=originals(__package__),
)
