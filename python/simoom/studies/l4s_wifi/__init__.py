"""L4S over Wi-Fi: Prague beside CUBIC, over fibre and through an access point.

A study of our own: its claims are of this project, apart from published goodputs behind a radio
link.
"""

from simoom.studies.l4s_wifi.air import figure_aggregate, figure_bursty, figure_step
from simoom.studies.l4s_wifi.fibre import figure_fibre
from simoom.studies.study import Study

STUDY = Study(
    name="l4s_wifi",
    title="L4S over Wi-Fi",
    reference="a study of this project, without a paper; published goodputs in figure bursty",
    figure_functions=(figure_fibre, figure_bursty, figure_step, figure_aggregate),
    notes="Prague is version 0.7 of the implementation for Linux, with accurate ECN.",
)

__all__ = ["STUDY", "figure_aggregate", "figure_bursty", "figure_fibre", "figure_step"]
