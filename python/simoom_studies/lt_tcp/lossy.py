"""LT-TCP and SACK over a lossy link: Figures 1 to 3 of the paper, simulated."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from itertools import pairwise

from simoom.models import tcp_loss
from simoom.runs.evidence import Check, Value
from simoom.studies import reference
from simoom.studies.claim import Claim, Claims
from simoom.studies.figure import Axis, Curve, Figure, Source, curve
from simoom.studies.lab import Lab, figure_function
from simoom_studies.lt_tcp.link import (
    BURSTY,
    CAPACITY_MBPS,
    COLOURS,
    ERASED,
    FAR,
    FIGURE_1_RTT_MS,
    FULL_LOSSES,
    LINK_RTTS,
    LOSS_AXIS,
    OVERHEAD,
    PANEL,
    PARTS,
    QUICK_LOSSES,
    SMALL,
    UNIFORM,
    bound,
    goodputs,
    simulate,
)

claim = Claims(__package__)


@figure_function("figure 1")
def figure_1(lab: Lab) -> Figure:
    """Ten flows over a link that loses packets in bursts."""
    losses = lab.pick(FULL_LOSSES, QUICK_LOSSES)
    kinds = (UNIFORM, BURSTY, ERASED)
    rtt = [FIGURE_1_RTT_MS]
    runs = simulate(lab, COLOURS, flows=10, kind=kinds[:1], rtt_ms=rtt, loss=losses)
    runs |= simulate(lab, COLOURS, flows=10, kind=kinds[1:], rtt_ms=rtt, loss=losses[1:])
    curves: dict[tuple[str, str], Curve] = {}
    for i, kind in enumerate(kinds):
        for protocol, colour in COLOURS.items():
            # Without losses all kinds are equal.
            if kind != UNIFORM:
                clean = runs[(protocol, UNIFORM, FIGURE_1_RTT_MS, 0.0)]
                runs[(protocol, kind, FIGURE_1_RTT_MS, 0.0)] = clean
            curves[protocol, kind] = goodputs(
                f"{protocol}, {kind}",
                runs,
                (protocol, kind, FIGURE_1_RTT_MS),
                losses,
                colour=colour + 2 * i,
                dashed=kind == ERASED,
            )
    return Figure(
        "figure 1",
        "ten flows over a link that loses packets in bursts, RTT 80 ms",
        LOSS_AXIS,
        (PANEL,),
        (*curves.values(), bound(losses, 1500, 1448)),
        _claims_1(curves, [loss for loss in losses if loss >= 0.1]),
        notes="Bursts: good and bad periods of 10 ms, with losses of 0.5 p and 1.5 p; dashed, bad "
        "periods of 10 ms that lose all packets.",
    )


def _claims_1(curves: Mapping[tuple[str, str], Curve], heavy: Iterable[float]) -> tuple[Claim, ...]:
    """Check that LT-TCP degrades gracefully where SACK collapses."""
    heavy = tuple(heavy)
    both = [(kind, loss) for kind in (BURSTY, ERASED) for loss in heavy]
    lt = {(kind, loss): curves["LT-TCP", kind].at(loss) for kind, loss in both}
    sack = {(kind, loss): curves["SACK", kind].at(loss) for kind, loss in both}
    clean, lt_clean = (curves[protocol, UNIFORM].at(0.0) for protocol in ("SACK", "LT-TCP"))
    return (
        claim(
            "lt_tcp_does_not_collapse",
            checks=[
                Check(
                    f"share kept by LT-TCP over that by SACK, {kind}, {loss:g}",
                    lt[kind, loss].over(lt_clean).over(sack[kind, loss].over(clean)),
                    low=1.0,
                )
                for kind, loss in both
            ],
        ),
        claim(
            "lt_tcp_is_graceful",
            checks=[
                Check(
                    f"share of what arrives, {kind}, {loss:g}",
                    lt[kind, loss].times(1 / ((1 - loss) * CAPACITY_MBPS * 1448 / 1500)),
                    0.5,
                    1.0,
                )
                for kind, loss in both
            ],
        ),
        claim(
            "sack_collapses",
            checks=[
                Check(f"SACK over its loss-free goodput, {kind}, {loss:g}", v.over(clean), high=0.5)
                for (kind, loss), v in sack.items()
            ],
        ),
    )


def _by_rtt(
    lab: Lab, protocol: str
) -> tuple[tuple[float, ...], tuple[float, ...], dict[float, Curve]]:
    losses, rtts = lab.pick(FULL_LOSSES, QUICK_LOSSES), LINK_RTTS
    runs = simulate(lab, [protocol], kind=[UNIFORM], rtt_ms=rtts, loss=losses)
    curves = {
        rtt: goodputs(f"{rtt:g} ms", runs, (protocol, UNIFORM, rtt), losses, colour=i)
        for i, rtt in enumerate(rtts)
    }
    return losses, rtts, curves


AGREEMENT = 0.05
"""The tolerance of the table of agreement for SACK over this link in ns-2."""


@figure_function("figure 2")
def figure_2(lab: Lab) -> Figure:
    """SACK alone on a link with independent losses."""
    losses, rtts, curves = _by_rtt(lab, "SACK")
    colours = {f"{rtt:g} ms": i for i, rtt in enumerate(rtts)}
    return Figure(
        "figure 2",
        "one SACK flow, independent losses",
        LOSS_AXIS,
        (PANEL,),
        (*curves.values(), *reference.curves(__package__, "figure 2", colours)),
        (*_claims_2(curves, losses), *_claims_2_elsewhere(curves, losses)),
    )


def _claims_2(curves: Mapping[float, Curve], losses: tuple[float, ...]) -> tuple[Claim, ...]:
    """Check SACK against loss and round-trip time."""
    far = [rtt for rtt in curves if rtt >= FIGURE_1_RTT_MS]
    few = [loss for loss in losses if 0 < loss <= SMALL]
    kept = {rtt: c.at(SMALL).over(c.at(0.0)) for rtt, c in curves.items()}
    return (
        claim(
            "sack_breaks_at_few_percent",
            checks=[
                *(
                    Check(
                        f"{rtt:g} ms, {SMALL:g} over no loss",
                        curves[rtt].at(SMALL).over(curves[rtt].at(0.0)),
                        high=0.5,
                    )
                    for rtt in curves
                ),
                *(
                    Check(
                        f"{rtt:g} ms, 0.01 over no loss",
                        curves[rtt].at(0.01).over(curves[rtt].at(0.0)),
                        high=0.5,
                    )
                    for rtt in far
                ),
                *(
                    Check(
                        f"{SMALL:g} over no loss, {b:g} over {a:g} ms",
                        kept[b].over(kept[a]),
                        high=1.0,
                    )
                    for a, b in pairwise(curves)
                ),
            ],
        ),
        claim(
            "sack_falls_with_loss_and_rtt",
            checks=[
                *(
                    Check(f"{rtt:g} ms, {b:g} over {a:g}", c.at(b).over(c.at(a)), high=1.0)
                    for rtt, c in curves.items()
                    for a, b in pairwise(loss for loss in losses if few[0] <= loss <= FAR)
                ),
                *(
                    Check(
                        f"{loss:g}, {b:g} over {a:g} ms",
                        curves[b].at(loss).over(curves[a].at(loss)),
                        high=1.0,
                    )
                    for loss in few
                    for a, b in pairwise(curves)
                ),
            ],
        ),
    )


def _claims_2_elsewhere(
    curves: Mapping[float, Curve], losses: tuple[float, ...]
) -> tuple[Claim, ...]:
    """Compare SACK with ns-2 and with PFTK."""
    ns2 = {c.label: c for c in reference.curves(__package__, "figure 2", {"10 ms": 0, "200 ms": 1})}
    far = [rtt for rtt in curves if rtt >= FIGURE_1_RTT_MS]
    few = [loss for loss in losses if 0 < loss <= SMALL]
    return (
        claim(
            "sack_as_in_ns2",
            checks=[
                Check.agrees(
                    f"{rtt:g} ms, {loss:g}", curves[rtt].at(loss), c.at(loss), within=AGREEMENT
                )
                for rtt in curves
                if (c := ns2.get(f"{rtt:g} ms")) is not None
                for loss in (0.0, *few)
                if loss in c.x and c.at(loss).half_width < AGREEMENT * c.at(loss).value
            ],
        ),
        claim(
            "sack_as_pftk",
            checks=[
                Check.agrees(
                    f"{rtt:g} ms, {loss:g}",
                    curves[rtt].at(loss),
                    Value.exact(
                        float(
                            tcp_loss.pftk_mbps(loss, rtt_ms=rtt + 1.4, rto_ms=max(200.0, 1.1 * rtt))
                        )
                    ),
                    within=0.1,
                )
                for rtt in far
                for loss in (0.01, SMALL)
            ],
        ),
    )


@figure_function("figure 3")
def figure_3(lab: Lab) -> Figure:
    """LT-TCP alone on a link with independent losses."""
    losses, _, curves = _by_rtt(lab, "LT-TCP")
    _, _, sack = _by_rtt(lab, "SACK")
    return Figure(
        "figure 3",
        "one LT-TCP flow, independent losses",
        LOSS_AXIS,
        (PANEL,),
        (*curves.values(), bound(losses, 1500, 1448)),
        _claims_3(curves, sack, losses),
        notes="Parity is the expected number of losses plus one standard deviation.",
    )


def _claims_3(
    curves: Mapping[float, Curve], sack: Mapping[float, Curve], losses: tuple[float, ...]
) -> tuple[Claim, ...]:
    """Check that loss and round-trip time affect LT-TCP less than SACK."""
    lossy = [loss for loss in losses if loss > 0]
    near, far = min(curves), max(curves)

    def kept(of: Mapping[float, Curve], loss: float) -> Value:
        return of[far].at(loss).over(of[near].at(loss))

    return (
        claim(
            "lt_tcp_tolerates_loss",
            checks=[
                Check(
                    f"{rtt:g} ms, {loss:g}: share of what arrives",
                    c.at(loss).times(1 / ((1 - loss) * CAPACITY_MBPS * 1448 / 1500)),
                    0.5,
                    1.0,
                )
                for rtt, c in curves.items()
                for loss in lossy
            ],
        ),
        claim(
            "lt_tcp_beats_sack",
            checks=[
                Check(
                    f"{rtt:g} ms, {loss:g}, more by Mb/s",
                    c.at(loss).minus(sack[rtt].at(loss)),
                    low=0.0,
                )
                for rtt, c in curves.items()
                for loss in lossy
            ],
        ),
        claim(
            "lt_tcp_minds_rtt_less",
            checks=[
                Check(
                    f"{loss:g}: share kept from {near:g} to {far:g} ms, LT-TCP over SACK",
                    kept(curves, loss).over(kept(sack, loss)),
                    low=1.0,
                )
                for loss in lossy
                if loss < FAR
            ],
        ),
    )


@figure_function("figure parts")
def figure_parts(lab: Lab) -> Figure:
    """The contribution of each part of LT-TCP."""
    losses = tuple(loss for loss in lab.pick(FULL_LOSSES, QUICK_LOSSES) if loss >= 0.1)
    rtt = FIGURE_1_RTT_MS
    runs = simulate(lab, PARTS, kind=[UNIFORM], rtt_ms=[rtt], loss=losses)
    keys = {name: (name, UNIFORM, rtt) for name in PARTS}
    curves = {
        name: goodputs(name, runs, key, losses, colour=i)
        for i, (name, key) in enumerate(keys.items())
    }
    overheads = {
        name: curve(
            name,
            Source.SIMULATION,
            losses,
            [Value.mean(runs[(*key, loss)][OVERHEAD]) for loss in losses],
            OVERHEAD,
            colour=i,
        )
        for i, (name, key) in enumerate(keys.items())
        if "fec" in PARTS[name]
    }
    return Figure(
        "figure parts",
        "one flow, independent losses, RTT 80 ms: LT-TCP and its parts",
        LOSS_AXIS,
        (PANEL, Axis(OVERHEAD, "parity over data", 0)),
        (*curves.values(), *overheads.values(), bound(losses, 1500, 1448)),
        _claims_parts(curves, overheads, losses),
        notes="The window alone reacts to marks but not to losses, and retransmits lost segments.",
    )


def _claims_parts(
    curves: Mapping[str, Curve], overheads: Mapping[str, Curve], losses: tuple[float, ...]
) -> tuple[Claim, ...]:
    """Check the gain of the code over the window alone, and the cost of parity."""
    whole, mean = overheads["LT-TCP"], overheads["parity for the mean"]
    return (
        claim(
            "code_beats_window_alone",
            checks=[
                Check(
                    f"{loss:g}, more by Mb/s",
                    curves["LT-TCP"].at(loss).minus(curves["the window alone"].at(loss)),
                    low=0.0,
                )
                for loss in losses
                if loss >= FAR
            ],
        ),
        claim(
            "parity_for_mean_costs_less",
            checks=[
                Check(f"{loss:g}", whole.at(loss).minus(mean.at(loss)), low=0.0) for loss in losses
            ],
        ),
    )
