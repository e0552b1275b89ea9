"""What the runtimes of languages do when they start, at every level: no limit is too narrow for that."""

from __future__ import annotations

from typing import Final

import trio

from stellwerk_processes.bench.levels import LEVELS, Level
from stellwerk_processes.bench.local_bot import BotReport
from stellwerk_processes.bot_spec import BotSpec
from tests.processes.sandbox.test_supervisor import AT_EACH_LEVEL, report_of, started

# As .NET does for compiled code, and the Java machine for a heap that ZGC looks after: nothing is written.
RESERVE: Final = """
import errno, os, sys
try:
    os.ftruncate(os.memfd_create("code"), 2 << 40)
except OSError as error:
    assert error.errno == errno.EFBIG
    sys.exit(3)
"""
REFUSED: Final = 3

IGNORED: Final = "while read name value; do [ $name = SigIgn: ] && echo $value; done < /proc/self/status"
SIGPIPE: Final = 1 << 12
SIGXFSZ: Final = 1 << 24


@AT_EACH_LEVEL
def test_room_for_code_in_memory_is_bounded_only_where_all_files_are(level: Level) -> None:
    bounded = LEVELS[level].file_sizes
    assert report_of(RESERVE, level).status == (REFUSED if bounded else 0)


@AT_EACH_LEVEL
def test_a_file_that_gets_too_large_is_an_error_and_not_the_end_of_a_program(level: Level) -> None:
    """Else a runtime that could do with less would not live to see it. Python always ignores the signal, so
    a shell shows what other programs find."""

    async def main() -> BotReport:
        async with started(BotSpec("ernie", ("sh", "-c", IGNORED)), level) as bot:
            return await bot.ended()

    [mask] = trio.run(main).last_lines
    assert int(mask, 16) & (SIGPIPE | SIGXFSZ) == SIGXFSZ
