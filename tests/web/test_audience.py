"""An audience: a thousand readers of a wall over real sockets, all of whom see the same."""

from __future__ import annotations

import resource
from contextlib import ExitStack

from tests.web.serving import Record, showing
from tests.web.test_site import tell

READERS = 1000
TICKS = 12


def test_a_thousand_readers_of_a_wall_see_the_same_and_those_that_stop_reading_hold_nobody_up() -> None:
    """One in fifty does not read. The others have all changes, in their order, and the same bytes."""
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    with showing(pace=4) as (life, show), ExitStack() as stack:
        count = READERS if hard == resource.RLIM_INFINITY else min(READERS, (hard - 300) // 2)
        readers = [stack.enter_context(life.reader("/stream/wall")) for _ in range(count)]
        first = {reader.next().kind for reader in readers}
        assert first == {"state"}
        tell(life, show)
        for _ in range(TICKS):
            life.wait(0.25)
        expected: list[Record] = []
        while not any("tables" in record.data for record in expected):
            expected.append(readers[0].next())
        for number, reader in enumerate(readers[1:], 1):
            if number % 50:
                assert [reader.next() for _ in expected] == expected
