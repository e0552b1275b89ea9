"""How the commands write figures: in the one way that there is."""

from __future__ import annotations

from stellwerk_protocol.figures import counted as counted
from stellwerk_protocol.figures import interval as interval
from stellwerk_protocol.figures import signed as signed
