"""L4S over Wi-Fi: Prague beside CUBIC, over fibre and through an access point.

A study of our own: its claims are of this project, apart from published goodputs behind a radio
link.
"""

from simoom.studies.study import Study
from simoom_studies.l4s_wifi.bursty import figure_bursty
from simoom_studies.l4s_wifi.echo import figure_echo
from simoom_studies.l4s_wifi.fibre import figure_fibre
from simoom_studies.l4s_wifi.place import figure_place
from simoom_studies.l4s_wifi.steps import figure_rules, figure_step

STUDY = Study(
    name="l4s_wifi",
    title="L4S over Wi-Fi",
    reference="a study of this project, without a paper; published goodputs in figure bursty",
    figure_functions=(
        figure_fibre,
        figure_bursty,
        figure_step,
        figure_rules,
        figure_place,
        figure_echo,
    ),
    notes="Prague is version 0.7 of the implementation for Linux, with accurate ECN.",
)
