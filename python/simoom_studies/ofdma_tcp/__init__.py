"""TCP over downlink OFDMA: what an access point gains that serves several stations in one PPDU.

A study of our own: all its claims are findings.
"""

from simoom.studies.study import Study
from simoom_studies.ofdma_tcp.bulk import figure_bulk, figure_ways
from simoom_studies.ofdma_tcp.short import figure_small, figure_web
from simoom_studies.ofdma_tcp.thin import figure_thin

STUDY = Study(
    name="ofdma_tcp",
    title="TCP over downlink OFDMA",
    reference="a study of this project, without a paper",
    figure_functions=(figure_bulk, figure_ways, figure_web, figure_small, figure_thin),
    notes="Stations send alone, by EDCA: OFDMA is downlink only.",
)
