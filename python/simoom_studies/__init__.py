"""Published papers, and studies of this project: a folder each, with figures, claims and values.

`simoom.studies` finds the folders of this package, and by entry point the studies of others;
README.md tells what a folder has.
"""

import pkgutil

NAMES = tuple(each.name for each in pkgutil.iter_modules(__path__) if each.ispkg)
"""The studies of this package."""
