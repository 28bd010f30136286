"""Congestion feedback under loss of acknowledgements."""

from __future__ import annotations

from collections.abc import Mapping

from simoom.runs.evidence import Check, Value
from simoom.studies.claim import Claim, Claims
from simoom.studies.figure import Axis, Curve, Figure, Source, curve
from simoom.studies.lab import Lab, Sample, figure_function
from simoom_studies.l4s_wifi.networks import (
    ACCURATE,
    BARE,
    CLASSIC,
    DCTCP_ACCURATE,
    DCTCP_EACH,
    ECHO_MS,
    ECHOES,
    echo,
    measure_first,
    paired,
)

claim = Claims(__package__)

LOSSES = (0.0, 0.1, 0.3, 0.5)


@figure_function("figure echo")
def figure_echo(lab: Lab) -> Figure:
    """Goodput and delay by the echo of marks against the loss of acknowledgements."""
    cases = {(name, loss): echo(name, loss) for name in ECHOES for loss in LOSSES}
    found = lab.sample(cases, measure_first, replications=lab.pick(8, 4))
    goodput, delay = (
        {
            name: curve(
                name,
                Source.SIMULATION,
                LOSSES,
                [Value.mean(found[name, loss][column] - less) for loss in LOSSES],
                column,
                colour=colour,
            )
            for colour, name in enumerate(ECHOES)
        }
        for column, less in (("goodput_mbps", 0.0), ("p99_ms", ECHO_MS))
    )
    claims = echo_claims(found, delay)
    return Figure(
        "figure echo",
        "Feedback of marks while acknowledgements are lost; 50 Mb/s, RTT 20 ms, DualPI2",
        Axis("ack_loss", "acknowledgements lost", -0.02, 0.55),
        (
            Axis("goodput_mbps", "goodput, Mb/s", 0, 50),
            Axis("p99_ms", "delay of 99 % beyond propagation, ms", 0, 30),
        ),
        (*goodput.values(), *delay.values()),
        claims,
    )


def echo_claims(
    found: Mapping[tuple[str, float], Sample], delay: Mapping[str, Curve]
) -> tuple[Claim, ...]:
    """Check what echoes do under loss of acknowledgements.

    Parameters
    ----------
    found : mapping of Sample
        The values of `measure_first` by echo and loss.
    delay : mapping of Curve
        The 99th percentile of the delay beyond propagation, in milliseconds, by echo.
    """
    lossy = LOSSES[1:]

    def kept(name: str, loss: float) -> Value:
        ratio = paired(found[name, loss], found[name, 0.0], "goodput_mbps")
        return ratio.named("goodput over that without loss", name, str(loss))

    return (
        claim(
            "accurate_ecn_survives_ack_loss",
            checks=[
                Check(f"{name}, {loss:g}", kept(name, loss), low=0.95)
                for name in (ACCURATE, BARE)
                for loss in lossy
            ],
        ),
        claim(
            "accurate_ecn_keeps_the_queue_short",
            checks=[
                Check(f"{name}, {loss:g}", delay[name].at(loss), high=3.0)
                for name in (ACCURATE, BARE)
                for loss in LOSSES
            ],
        ),
        claim(
            "the_echo_of_rfc_3168_costs_delay",
            checks=[
                Check(f"{loss:g}", delay[CLASSIC].at(loss).over(delay[ACCURATE].at(loss)), low=5.0)
                for loss in LOSSES
            ],
        ),
        claim(
            "the_echo_of_rfc_8257_loses_marks",
            checks=[
                Check(
                    "each mark over accurate",
                    delay[DCTCP_EACH].at(0.5).over(delay[DCTCP_ACCURATE].at(0.5)),
                    low=1.1,
                )
            ],
        ),
    )
