"""Processors for bots of their own: whole physical cores, so that no two seats of running matches share one.

Laws:
- two processors that share a physical core (SMT) never go to two seats;
- all seats get equal cores: if a machine has several kinds, bots get only those of which there are most;
- one core stays for this process, and so do all that bots do not get;
- no bot gets a processor that this process may not use itself.

The kernel says which processors share a core. Where it does not, nothing is pinned.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Generator, Iterator, Sequence, Set
from dataclasses import dataclass
from pathlib import Path
from typing import Final, TypeAlias

TOPOLOGY: Final = Path("/sys/devices/system/cpu")
OWN_CORES: Final = 1  # of this process: its work is that of one thread

Core: TypeAlias = frozenset[int]
"""The processors of a physical core, by their numbers."""

_SIBLINGS: Final = ("core_cpus_list", "thread_siblings_list")  # the second is its name before Linux 5.3


class CoresError(Exception):
    """Why bots cannot be pinned here; one line says so."""


@dataclass(frozen=True, slots=True)
class Machine:
    """The cores that bots may get, all of one kind, and the processors that stay for this process."""

    cores: tuple[Core, ...]
    own: frozenset[int]

    def matches_at_once(self, seats: int, cores_per_bot: int) -> int:
        """Return how many matches with so many seats fit."""
        return len(self.cores) // (seats * cores_per_bot)


def machine(allowed: Set[int] | None = None, topology: Path = TOPOLOGY) -> Machine:
    """Look at the machine. `allowed` are the processors that this process may use. CoresError."""
    if allowed is None:
        allowed = os.sched_getaffinity(0)
    given = tuple(_equal_cores(allowed, topology)[OWN_CORES:])
    return Machine(given, frozenset(allowed).difference(*given))


def shares(
    cores_each: int, allowed: Set[int] | None = None, topology: Path = TOPOLOGY
) -> list[frozenset[int]]:
    """Divide the cores that bots may get among processes of ours which look at the machine themselves. Each
    finds so many for its bots in the processors of its share. All have the same core for themselves.
    CoresError."""
    if allowed is None:
        allowed = os.sched_getaffinity(0)
    cores = _equal_cores(allowed, topology)
    own, given = cores[:OWN_CORES], cores[OWN_CORES:]
    return [
        frozenset[int]().union(*own, *given[start : start + cores_each])
        for start in range(0, len(given) - cores_each + 1, cores_each)
    ]


def _equal_cores(allowed: Set[int], topology: Path) -> list[Core]:
    """Return the cores of the kind of which there are most."""
    kinds: dict[_Kind, list[Core]] = {}
    seen: set[int] = set()
    for number in sorted(allowed):
        if number not in seen:
            folder = topology / f"cpu{number}"
            core = _read_siblings(folder) & allowed | {number}
            seen |= core
            kinds.setdefault((_read_capacity(folder), len(core)), []).append(core)
    return kinds[max(kinds, key=lambda kind: (len(kinds[kind]), kind))]


class CorePool:
    """The cores that no match uses now."""

    def __init__(self, cores: Sequence[Core]) -> None:
        self._free = list(cores)

    @contextlib.contextmanager
    def taken(self, seats: int, cores_per_bot: int) -> Generator[tuple[frozenset[int], ...]]:
        """Take cores for as long as the block runs: the processors of each seat. The pool must have them."""
        count = seats * cores_per_bot
        assert count <= len(self._free), "more matches at once than fit"
        cores, self._free = self._free[:count], self._free[count:]
        try:
            starts = range(0, count, cores_per_bot)
            yield tuple(frozenset[int]().union(*cores[start : start + cores_per_bot]) for start in starts)
        finally:
            self._free += cores


@contextlib.contextmanager
def pinned_to(processors: Set[int]) -> Generator[None]:
    """Let this thread run on these processors only, for as long as the block runs. Processes that it starts
    meanwhile stay there. Without processors nothing changes. OSError if that cannot be."""
    if not processors:
        yield
        return
    before = os.sched_getaffinity(0)
    os.sched_setaffinity(0, processors)
    try:
        yield
    finally:
        os.sched_setaffinity(0, before)


@contextlib.contextmanager
def keeping_to(processors: Set[int]) -> Generator[None]:
    """Let all threads of this process run on these processors only, for as long as the block runs."""
    before = os.sched_getaffinity(0)
    _move_threads(processors)
    try:
        yield
    finally:
        _move_threads(before)


def _move_threads(processors: Set[int]) -> None:
    """Move all threads of this process. A new one begins where the one is that starts it."""
    for thread in os.listdir("/proc/self/task"):
        with contextlib.suppress(OSError):  # it has ended
            os.sched_setaffinity(int(thread), processors)


# -- the topology ------------------------------------------------------------------------------------

_Kind: TypeAlias = tuple[int, int]  # how fast, as far as the kernel says, and with how many processors


def _read_siblings(folder: Path) -> Core:
    """Return the processors of the core that a processor belongs to."""
    for name in _SIBLINGS:
        file = folder / "topology" / name
        try:
            text = file.read_text("ascii")
        except FileNotFoundError:
            continue
        except (OSError, UnicodeDecodeError) as error:
            raise CoresError(f"{file}: cannot be read: {error}") from None
        try:
            return frozenset(_parse_numbers(text))
        except ValueError:
            raise CoresError(f"{file}: expected a list like 0-3,8, found {text.strip()!r}") from None
    raise CoresError(
        f"which processors share a core is not known here: there is no {folder / 'topology' / _SIBLINGS[0]}"
    )


def _parse_numbers(text: str) -> Iterator[int]:
    """Yield the numbers of a list as the kernel writes it: `0-3,8`."""
    for part in text.strip().split(","):
        first, dash, last = part.partition("-")
        yield from range(int(first), int(last if dash else first) + 1)


def _read_capacity(folder: Path) -> int:
    """Return how fast a processor is beside the others, where the kernel says that: not on most machines."""
    try:
        return int((folder / "cpu_capacity").read_text("ascii"))
    except (OSError, ValueError):
        return 0
