"""TCP FeW and AFW among mobile nodes with DSR: a paper's tables and claims by simulation.

A. Sofyan, V. Suryani, H. H. Nuha, "Performance comparison of TCP AFW and TCP FeW in IEEE 802.11
wireless networks: a simulation study".
"""

from simoom.studies.original import originals
from simoom.studies.study import Study
from simoom_studies.afw_few.beyond import (
    figure_area,
    figure_controllers,
    figure_pause,
    figure_rules,
    figure_speed,
    figure_standards,
)
from simoom_studies.afw_few.chains import figure_chain
from simoom_studies.afw_few.course import figure_2
from simoom_studies.afw_few.pairs import figure_pairs, figure_scenarios
from simoom_studies.afw_few.queues import figure_queue
from simoom_studies.afw_few.readings import figure_readings
from simoom_studies.afw_few.tables import table_4, table_5

STUDY = Study(
    name="afw_few",
    title="TCP FeW and AFW among mobile nodes with DSR",
    reference='A. Sofyan, V. Suryani, H. H. Nuha, "Performance comparison of TCP AFW and TCP FeW '
    'in IEEE 802.11 wireless networks: a simulation study"',
    figure_functions=(
        table_4,
        table_5,
        figure_2,
        figure_readings,
        figure_queue,
        figure_pairs,
        figure_scenarios,
        figure_rules,
        figure_standards,
        figure_area,
        figure_speed,
        figure_pause,
        figure_controllers,
        figure_chain,
    ),
    notes="The paper gives neither area nor speeds, pauses, duration or the ends of flows: 1,000 m "
    "x 1,000 m, 1 to 10 m/s, pauses of 2 s and 200 s are chosen here. AFW's rule is a "
    "reconstruction. The paper's percentages are ratios: 1.12 % is 11.7 %, 154 % is 154 times.",
    originals=originals(__package__),
)
