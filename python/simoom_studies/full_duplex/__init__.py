"""TCP over full-duplex WLANs: a paper's figures and claims, simulated packet by packet.

V. U. Pai, N. B. Mehta, C. Singh, "TCP throughput over full-duplex WLANs: novel implications of the
AP's new capability".
"""

from simoom.studies.original import originals
from simoom.studies.study import Study
from simoom_studies.full_duplex.beyond import (
    figure_acks,
    figure_aggregates,
    figure_bidirectional,
    figure_delay,
    figure_loss,
    figure_queue,
    figure_worth,
)
from simoom_studies.full_duplex.contention import figure_4, table_fixed_point
from simoom_studies.full_duplex.course import table_windows
from simoom_studies.full_duplex.gains import figure_gains, table_gains
from simoom_studies.full_duplex.places import figure_cancellation, figure_places
from simoom_studies.full_duplex.throughput import figure_5, figure_6

STUDY = Study(
    name="full_duplex",
    title="TCP over full-duplex WLANs",
    reference='V. U. Pai, N. B. Mehta, C. Singh, "TCP throughput over full-duplex WLANs: novel '
    "implications of the AP's new capability\"",
    figure_functions=(
        figure_4,
        figure_5,
        figure_6,
        table_fixed_point,
        table_gains,
        figure_gains,
        table_windows,
        figure_loss,
        figure_delay,
        figure_acks,
        figure_queue,
        figure_worth,
        figure_places,
        figure_cancellation,
        figure_bidirectional,
        figure_aggregates,
    ),
    notes="Analysis: (9) to (11) as printed on the corrected (6), L_d = 16000 bits, and a chain of "
    "contending stations for half duplex. Simulation: all of the 45 s, NewReno with an "
    "initial ssthresh of 32 KB. The Monte Carlo, a closed loop with frozen back-off, decides no "
    "claim.",
    originals=originals(__package__),
)
