"""TCP over OFDMA: what an access point gains that serves, or triggers, several stations at once.

A study of our own: all its claims are findings.
"""

from simoom.studies.study import Study
from simoom_studies.ofdma_tcp.advice import table_downlink, table_uplink
from simoom_studies.ofdma_tcp.bulk import figure_bulk, figure_ways
from simoom_studies.ofdma_tcp.mixed import figure_mixed_acknowledgements, figure_mixed_uploads
from simoom_studies.ofdma_tcp.muted import figure_timers
from simoom_studies.ofdma_tcp.short import figure_small, figure_web
from simoom_studies.ofdma_tcp.thin import figure_thin
from simoom_studies.ofdma_tcp.uplink import figure_acks, figure_intervals, figure_small_uplink

STUDY = Study(
    name="ofdma_tcp",
    title="TCP over OFDMA",
    reference="a study of this project, without a paper",
    figure_functions=(
        table_downlink,
        table_uplink,
        figure_bulk,
        figure_ways,
        figure_web,
        figure_small,
        figure_thin,
        figure_acks,
        figure_intervals,
        figure_small_uplink,
        figure_timers,
        figure_mixed_uploads,
        figure_mixed_acknowledgements,
    ),
    notes="In the first four figures stations send alone, by EDCA: OFDMA is downlink only.",
)
