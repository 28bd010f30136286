"""CUBIC driven by the MCS of 802.11ac: a paper's figures and claims by simulation.

A. Okada, D. Nobayashi, T. Ikenaga, "TCP congestion control based on transmission rate of wireless
LAN interfaces".
"""

from simoom.studies.original import originals
from simoom.studies.study import Study
from simoom_studies.mcs_cubic.beyond import figure_clients, figure_controllers, figure_falling
from simoom_studies.mcs_cubic.rules import figure_occupancy, figure_rules
from simoom_studies.mcs_cubic.throughput import figure_3a, figure_3b, figure_readings
from simoom_studies.mcs_cubic.walking import figure_pace, figure_walking
from simoom_studies.mcs_cubic.windows import figure_2a, figure_2b

STUDY = Study(
    name="mcs_cubic",
    title="CUBIC driven by the MCS of 802.11ac",
    reference='A. Okada, D. Nobayashi, T. Ikenaga, "TCP congestion control based on transmission '
    'rate of wireless LAN interfaces"',
    figure_functions=(
        figure_2a,
        figure_2b,
        figure_3a,
        figure_3b,
        figure_readings,
        figure_occupancy,
        figure_rules,
        figure_falling,
        figure_controllers,
        figure_clients,
        figure_walking,
        figure_pace,
    ),
    notes="The queue of 10 packets is read as 10 frames in the device, each until its BlockAck "
    "arrives, below FQ-CoDel, and only the MCS of the client changes; other figures show other "
    "readings. There are no A-MSDUs: 1498 bytes have no room for two such segments.",
    originals=originals(__package__),
)
