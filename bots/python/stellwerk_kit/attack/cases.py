"""All cases of `stellwerk kit attack`, in the order in which they are played."""

from __future__ import annotations

from typing import Final

from stellwerk_kit.attack.attack import Case
from stellwerk_kit.attack.crowd_cases import CROWD_CASES
from stellwerk_kit.attack.line_cases import LINE_CASES
from stellwerk_kit.attack.match_cases import MATCH_CASES
from stellwerk_kit.attack.watch_cases import WATCH_CASES

CASES: Final[tuple[Case, ...]] = (*LINE_CASES, *MATCH_CASES, *WATCH_CASES, *CROWD_CASES)
