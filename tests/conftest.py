"""One Hypothesis profile for all tests.

No deadline: an example plays whole games, and how long that takes says something about the machine only.
Where `CI` is set the examples follow from the tests' sources alone, so that a run can be repeated; elsewhere
each run tries new ones.
"""

import os

from hypothesis import settings

settings.register_profile("exploring", deadline=None, print_blob=True)
settings.register_profile("repeatable", parent=settings.get_profile("exploring"), derandomize=True)
settings.load_profile("repeatable" if os.environ.get("CI") else "exploring")
