"""`freeze` and `cores_per_bot`: what a tournament does so that no bot thinks on another's time.

Law: what is asked for is done to every bot of this machine, or refused here. Remote bots run elsewhere, and
nothing is done to them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from stellwerk_processes.bot_spec import STARTED, Process


@dataclass(frozen=True, slots=True)
class FairClocks:
    """`freeze`: bots are stopped while they are not asked. `cores_per_bot`: how many physical cores each has
    to itself in a match, if any."""

    freeze: bool = False
    cores_per_bot: int | None = None


AS_USUAL: Final = FairClocks()


class FairClocksError(ValueError):
    """A request that cannot be met for these bots. `place` is where `tournament.toml` asks for it."""

    def __init__(self, place: tuple[str | int, ...], problem: str) -> None:
        super().__init__(problem)
        self.place = place


def fair_clocks(freeze: bool, cores_per_bot: int | None, processes: Mapping[int, Process]) -> FairClocks:
    """Check what is asked for. `processes` says how each bot runs, by the number of its table.
    FairClocksError."""
    if all(process not in STARTED for process in processes.values()):
        for key, is_wanted in (("freeze", freeze), ("cores_per_bot", cores_per_bot is not None)):
            if is_wanted:
                raise FairClocksError((key,), "no bot has a process on this machine")
    reused = [number for number, process in processes.items() if process == "reused"]
    if cores_per_bot is not None and reused:
        raise FairClocksError(
            ("bots", reused[0], "process"),
            '"reused" does not go with cores_per_bot: a bot has its cores for one match, and such a process '
            'stays when its match is over; expected "fresh"',
        )
    return FairClocks(freeze, cores_per_bot)
