"""Classic controllers, written in Python as one's own would be.

Each is equal to the built-in one of the same source, to the segment, with that one's defaults:
a place to start from, and a proof that nothing is hidden from controllers in Python.

>>> import simoom as sm
>>> from simoom.gallery import Reno
>>> s = sm.Scenario(standard="11g", stations=1, flows=[{"from": "server", "to": "sta0"}])
>>> built_in, own = sm.run(s.set("flows[0].control", "new_reno")), sm.run(
...     s.set("flows[0].control", Reno)
... )
>>> built_in.digest == own.digest
True
"""

from simoom.gallery.cubic import Cubic
from simoom.gallery.few import Few
from simoom.gallery.reno import Reno
from simoom.gallery.vegas import Vegas
from simoom.gallery.westwood import Westwood

__all__ = ["Cubic", "Few", "Reno", "Vegas", "Westwood"]
