"""What the server takes and keeps."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Limits:
    """Limits of a server.

    Parameters
    ----------
    scenario_bytes : int, optional
        Length of a scenario.
    queue : int, optional
        Runs that wait or run.
    sweep_runs : int, optional
        Runs of a sweep.
    run_s : float, optional
        Wall-clock time of a run, after which it is stopped.
    run_mib : int, optional
        Memory of a run, or of all runs of a sweep or an explanation, beyond which it is ended.
    checks : int, optional
        How many scenarios are checked at once.
    check_s : float, optional
        Wall-clock time of a check, and of a view of a scenario or a run.
    check_mib : int, optional
        Memory of a check.
    air_mib : int, optional
        Length of the indexed trace of a run, after which later records are left out.
    airs_mib : int, optional
        Length of all indexed traces of the library, beyond which the oldest are dropped.
    pages : int, optional
        Pages that watch at once.
    series : int, optional
        Time series of a run.
    message_bytes : int, optional
        Length of a message over the WebSocket.
    mistakes : int, optional
        Messages that cannot be read, after which the WebSocket is closed.
    """

    scenario_bytes: int = 1 << 20
    queue: int = 20
    sweep_runs: int = 2000
    run_s: float = 600.0
    run_mib: int = 4096
    checks: int = 2
    check_s: float = 20.0
    check_mib: int = 2048
    air_mib: int = 1024
    airs_mib: int = 2048
    pages: int = 50
    series: int = 64
    message_bytes: int = 1 << 14
    mistakes: int = 10
