"""Users of their own for bots that root starts: one for each bot that runs.

No account has these ids, so nothing belongs to them, and nothing has to be set up. Each bot has its own:
limits that count by user, signals, tracing and the environments in /proc separate users.
"""

from __future__ import annotations

import os
import secrets
import stat
from collections.abc import Generator, Iterable
from contextlib import contextmanager
from typing import Final

from stellwerk_processes.bench.views import ancestors

_FIRST: Final = 0x70000000  # above those that systems and containers give to people, services and containers
_COUNT: Final = 0x0FFFFFF0
_FIRST_OF_FEW: Final = 20_000  # in a container that has 65,536 users
_COUNT_OF_FEW: Final = 40_000

_taken: Final[set[int]] = set()


@contextmanager
def own_user() -> Generator[int | None]:
    """Return an id that is in use nowhere else while the block runs, or None where this process cannot give
    one."""
    ids = _choose_range()
    if ids is None:
        yield None
        return
    first, count = ids
    while (user := first + secrets.randbelow(count)) in _taken:
        pass
    _taken.add(user)
    try:
        yield user
    finally:
        _taken.discard(user)


def _choose_range() -> tuple[int, int] | None:
    if os.geteuid() != 0:
        return None
    for first, count in ((_FIRST, _COUNT), (_FIRST_OF_FEW, _COUNT_OF_FEW)):
        if all(_is_mapped(kind, first, count) for kind in ("uid", "gid")):
            return first, count
    return None


def _is_mapped(kind: str, first: int, count: int) -> bool:
    """Return whether these ids exist in the user namespace of this process."""
    try:
        with open(f"/proc/self/{kind}_map", encoding="ascii") as file:
            ranges = [tuple(map(int, line.split())) for line in file]
    except OSError:
        return True
    return any(begin <= first and first + count <= begin + length for begin, _, length in ranges)


def others_can_use(paths: Iterable[str], *, without_ancestors: bool = False) -> bool:
    """Return whether any user can read these files, enter and list these folders, and get there. Without
    ancestors, do not check the folders that they are in."""
    return all(
        _others_may(real, 0o5 if os.path.isdir(real) else 0o4)
        and (without_ancestors or all(_others_may(folder, 0o1) for folder in (*ancestors(real), "/")))
        for real in map(os.path.realpath, paths)
    )


def _others_may(path: str, bits: int) -> bool:
    try:
        return stat.S_IMODE(os.stat(path).st_mode) & bits == bits
    except OSError:
        return False
