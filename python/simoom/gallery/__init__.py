"""Classic congestion controllers, written in Python as examples for users.

Each sends exactly the same segments as the built-in controller of the same source with its
defaults, which proves that controllers in Python get the same information.

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
