"""A program for tests: let the witness try a level as whoever runs this, and print what it found as JSON.

`python try_level.py LEVEL [open]`: with `open` the runner's memory is not hidden.
"""

from __future__ import annotations

import json
import sys

import msgspec
import trio

from stellwerk_processes.bench.levels import Confinement, Level
from stellwerk_processes.bench.resolve_sandbox import hide_memory, try_level


def main() -> None:
    level = msgspec.convert(sys.argv[1], Level)
    if "open" not in sys.argv:
        hide_memory()
    attempt = trio.run(try_level, Confinement(level=level), level)
    print(json.dumps({"problem": attempt.problem, **msgspec.to_builtins(attempt.record)}))


if __name__ == "__main__":
    main()
