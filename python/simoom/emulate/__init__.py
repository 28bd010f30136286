"""Real programs in a simulated network, in real time: `simoom.emulate`."""

from simoom.emulate.emulation import Emulation, emulate
from simoom.emulate.ports import Port

__all__ = ["Emulation", "Port", "emulate"]
