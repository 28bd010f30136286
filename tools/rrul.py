"""Measure and draw what docs/rrul.md shows: `python tools/rrul.py`.

Runs ``scenarios/rrul.toml`` with each queue at the access point and at the station, prints the rows
of the page's tables, and draws the picture of one run.
"""

from __future__ import annotations

from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Any

import simoom as sm
from simoom import plots
from simoom.scenario.observables import PING_PROBES

ROOT = Path(__file__).resolve().parents[1]
PICTURE = ROOT / "docs" / "rrul" / "response.png"

WIRED = {"wire.rate_mbps": 20.0, "queue": "fq_codel"}
CASES: dict[str, dict[str, Any]] = {
    "`pfifo_fast`": {"queue": "pfifo_fast"},
    "`fq_codel`": {"queue": "fq_codel"},
    "`mac80211`": {"queue": "mac80211"},
    "`mac80211`, two A-MPDUs ahead": {"queue": "mac80211", "hardware_aggregates": 2},
    "`pfifo_fast`, Linux endpoint": {"queue": "pfifo_fast", "endpoint": "linux"},
    "`fq_codel`, Linux endpoint": {"queue": "fq_codel", "endpoint": "linux"},
    "wire at 20 Mb/s, `pfifo_fast`": {"wire.queue": "pfifo_fast", **WIRED},
    "wire at 20 Mb/s, `fq_codel`": {"wire.queue": "fq_codel", **WIRED},
}
"""What each row changes; `queue`, `hardware_aggregates` at both ends, `endpoint` of all TCP."""
DRAWN = "`fq_codel`"


def scenario(changes: dict[str, Any]) -> sm.Scenario:
    """Return RRUL with these changes."""
    found = sm.Scenario.load(ROOT / "scenarios" / "rrul.toml")
    for key, value in changes.items():
        if key in ("queue", "hardware_aggregates"):
            found = found.set(f"ap.{key}", value).set(f"stations[0].{key}", value)
        elif key == "endpoint":
            for flow in range(8):
                found = found.set(f"flows[{flow}].tcp.endpoint", value)
        else:
            found = found.set(key, value)
    return found


def row(name: str, alike: bool) -> str:
    """Run a case, with all packets best effort if they are `alike`; return its row.

    Draws the picture if it is that of the page.
    """
    changes = {**CASES[name], **({"flows[*].dscp": "CS0"} if alike else {})}
    run = sm.run(scenario(changes), seed=1, probes=PING_PROBES)
    if name == DRAWN and not alike:
        PICTURE.parent.mkdir(exist_ok=True)
        plots.save(plots.response(run), PICTURE)
    found = run.summary
    flows = {flow["name"]: f"flows[{number}]" for number, flow in enumerate(run.flows)}

    def total(direction: str) -> str:
        of = (path for flow, path in flows.items() if flow.startswith(direction))
        return f"{sum(found[f'{path}.goodput_mbps'] for path in of):.1f}"

    def rtt(ping: str, quantile: str) -> str:
        rtt_s = found[f"{flows[ping]}.rtt_s.{quantile}"]
        return "-" if rtt_s is None else f"{1e3 * rtt_s:.0f}"

    if alike:
        pings = [rtt("ping ICMP", "p50"), rtt("ping ICMP", "p95")]
    else:
        names = ("ping ICMP", "ping UDP BK", "ping UDP EF")
        pings = [f"{rtt(ping, 'p50')} ({found[f'{flows[ping]}.ping.lost']})" for ping in names]
    cells = [name, total("download"), total("upload"), *pings, f"{found['total.rpm']:.0f}"]
    return f"| {' | '.join(cells)} |"


def main() -> None:
    """Print the rows."""
    with ProcessPoolExecutor(2) as pool:
        for alike in (True, False):
            print("all best effort" if alike else "four classes")
            for line in pool.map(row, CASES, [alike] * len(CASES)):
                print(line, flush=True)


if __name__ == "__main__":
    main()
