"""Python's collector of cycles, set for a server.

By default it looks for cycles every 700 new objects, and at all of them every now and then. A server makes
thousands of short-lived records a second, none of them in a cycle, beside hundreds of matches that live for
long: looking took 30 % of the time of a decision (measured). Cycles are left behind by matches only, some
dozens of objects each.
"""

from __future__ import annotations

import gc
from typing import Final

NEW_OBJECTS: Final = 100_000  # between two looks at the youngest: a few MB
YOUNG_LOOKS: Final = 50
OLD_LOOKS: Final = 100


def collect_rarely() -> None:
    """Make the collector run rarely, and never look again at what has been loaded by now."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(NEW_OBJECTS, YOUNG_LOOKS, OLD_LOOKS)
