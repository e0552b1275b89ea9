"""The program of a table: `python -m stellwerk.tournament.table`. The workers of a cluster start it."""

from __future__ import annotations

from typing import Final

from stellwerk.shared.house_bots import house_bots
from stellwerk.shared.terminal import complain_of
from stellwerk.shared.version import version
from stellwerk_tournament.blocks.serve_table import serve_table

PROGRAM: Final = ("-P", "-m", "stellwerk.tournament.table")  # without the worker's folder among the modules


if __name__ == "__main__":
    serve_table(version(), house_bots(), complain_of)
