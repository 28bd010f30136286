"""The links of a scenario with a radio: which nodes receive each other, and how well."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from simoom import _core
from simoom.base.arguments import moment, whole
from simoom.base.frames import pl
from simoom.base.issue import Issue, ScenarioError
from simoom.base.patience import interruptible
from simoom.scenario.scenario import Scenario, ScenarioLike


@dataclass(frozen=True)
class NodePair:
    """A transmitter and a receiver, and how well frames arrive without fading and interference.

    Attributes
    ----------
    source, sink : str
        Transmitter and receiver: ``ap``, ``sta0``, ``cells[0]``.
    signal_dbm : float, optional
        Received power; None if it is below the hearing floor.
    snr_db : float, optional
        Ratio of received power to noise, in the bandwidth of the mode.
    detected : bool
        Whether the receiver detects preambles, and so defers to frames.
    rate_mbps : float, optional
        For nodes that exchange frames, the rate of their mode. With rate control it is the rate of
        the fastest mode in which 90 % of the frames are received, or of the slowest mode.
    success : float, optional
        The fraction of frames of 1536 bytes that is received in this mode.
    """

    source: str
    sink: str
    signal_dbm: float | None
    snr_db: float | None
    detected: bool
    rate_mbps: float | None = None
    success: float | None = None

    @property
    def is_link(self) -> bool:
        """Whether the two exchange frames."""
        return self.rate_mbps is not None


@dataclass(frozen=True, eq=False, repr=False)
class Hearing:
    """The links between all nodes of a scenario.

    Attributes
    ----------
    nodes : tuple of str
        The names of all nodes.
    pairs : tuple of NodePair
        All pairs of nodes of which one receives the other's signal, or should.
    """

    nodes: tuple[str, ...]
    pairs: tuple[NodePair, ...]

    @cached_property
    def links(self) -> tuple[NodePair, ...]:
        """Pairs that exchange frames."""
        return tuple(pair for pair in self.pairs if pair.is_link)

    @cached_property
    def _detecting(self) -> frozenset[tuple[str, str]]:
        return frozenset((pair.sink, pair.source) for pair in self.pairs if pair.detected)

    def detects(self, node: str, other: str) -> bool:
        """Whether a node detects the preambles of another.

        Returns
        -------
        bool
            Whether the receiver detects frames of the transmitter.
        """
        return (node, other) in self._detecting

    @property
    def all_detect_all(self) -> bool:
        """Whether all nodes detect each other's preambles: the scenario is one cell."""
        count = len(self.nodes)
        return len(self._detecting) == count * (count - 1)

    @cached_property
    def hidden(self) -> tuple[tuple[str, str], ...]:
        """Pairs of nodes that do not detect each other, of which one disturbs the other's frames.

        A node disturbs the frames of another if it sends frames and their receiver detects it.
        """
        if self.all_detect_all:
            return ()
        senders = dict.fromkeys(link.source for link in self.links)
        heard_by: dict[str, list[str]] = {}
        for pair in self.pairs:
            if pair.source in senders and (pair.detected or pair.is_link):
                heard_by.setdefault(pair.sink, []).append(pair.source)
        place = {name: number for number, name in enumerate(self.nodes)}
        found = {
            (min(link.source, other, key=place.__getitem__),
             max(link.source, other, key=place.__getitem__)): None
            for link in self.links
            for other in heard_by.get(link.sink, ())
            if other not in (link.source, link.sink)
            and not (self.detects(link.source, other) and self.detects(other, link.source))
        }  # fmt: skip
        return tuple(found)

    def frame(self) -> pl.DataFrame:
        """Return a data frame with a row for each pair; columns are attributes of `NodePair`.

        Returns
        -------
        polars.DataFrame
            A row for each pair of nodes; units are in the names of the columns.
        """
        return pl.DataFrame([vars(pair) for pair in self.pairs], infer_schema_length=None)

    def __repr__(self) -> str:
        counts = f"{len(self.nodes)} nodes, {len(self.pairs)} pairs, {len(self.hidden)} hidden"
        return f"Hearing({counts})"


def hearing(
    scenario: ScenarioLike, *, seed: int = 1, replication: int = 0, at_s: float = 0.0
) -> Hearing:
    """Return the links between all nodes at one time, without a run.

    Parameters
    ----------
    scenario : Scenario, path or mapping
        A scenario with a table ``[radio]``: a `Scenario`, its TOML file, or its keys.
    seed : int, optional
        The root of the random streams, from which shadowing is drawn.
    replication : int, optional
        The number of the replication with this seed.
    at_s : float, optional
        The simulated time, for nodes that move.

    Returns
    -------
    Hearing
        The nodes, and what each receives of each other one.

    Raises
    ------
    ScenarioError
        The scenario has faults, or no radio.

    Examples
    --------
    >>> import simoom as sm
    >>> s = sm.Scenario(
    ...     standard="11a",
    ...     radio={},
    ...     ap={"position_m": [0, 0]},
    ...     stations=[{"position_m": [40, 0]}, {"position_m": [-40, 0]}],
    ...     flows=[{"from": "sta*", "to": "ap", "traffic": "saturated"}],
    ... )
    >>> heard = sm.hearing(s)
    >>> heard.hidden, [round(link.signal_dbm) for link in heard.links]
    ((('sta0', 'sta1'),), [-79, -79, -79, -79])
    """
    whole("seed", seed, bits=64)
    whole("replication", replication, bits=32)
    moment("at_s", at_s)
    core = Scenario.of(scenario).core
    heard = interruptible(lambda _: _core.hearing(core, seed, replication, float(at_s)))
    if heard is None:
        raise ScenarioError(
            [Issue("radio", "is missing: without it all nodes of a cell receive each other")]
        )
    nodes, pairs = heard
    return Hearing(tuple(nodes), tuple(NodePair(*pair) for pair in pairs))
