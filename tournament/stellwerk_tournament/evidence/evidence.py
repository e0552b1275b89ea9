"""The evidence of the blocks of a bot against others: what each was worth, and which bots had faults."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final, NamedTuple

from stellwerk_tournament.evidence.worth import Deals, Finish, Lead, Versus, mean_of, worth_of_match

if TYPE_CHECKING:
    from stellwerk_processes.faults import Fault
    from stellwerk_processes.seat_report import SeatReport

FAULTS_KEPT: Final = 20  # of each bot, with what it printed; others are counted only


class SeatFault(NamedTuple):
    """A fault of a bot, and where: `game` counts the games that are played, `match` the matches of a
    block."""

    bot: str
    game: int
    block: int
    match: int
    seat: int
    fault: Fault


@dataclass(slots=True)
class Evidence:
    """The blocks so far of one bot, the `hero`, against `rivals`: the names at the tables, each with the bot
    that it is a copy of. `by_game` counts the games, `by_rival` the matches. `deals`: what one deal in every
    seat was worth, in each game. `faulty` is in how many matches a bot had a fault, and `faults` are the
    first."""

    hero: str
    rivals: Mapping[str, str]
    overall: Lead = field(default_factory=Lead)
    by_game: dict[int, Lead] = field(default_factory=dict[int, Lead])
    deals: dict[int, Deals] = field(default_factory=dict[int, Deals])
    by_rival: dict[str, Versus] = field(default_factory=dict[str, Versus])
    match_count: int = 0
    faulty: Counter[str] = field(default_factory=Counter[str])
    faults: list[SeatFault] = field(default_factory=list[SeatFault])

    @property
    def block_count(self) -> int:
        return self.overall.wins.count

    def add(self, number: int, game: int, matches: Sequence[Sequence[SeatReport]]) -> None:
        """Count a block: the reports of the seats of each match."""
        block = [finishes_of(seats) for seats in matches]
        worths = [worth_of_match(match, self.hero, self.rivals) for match in block]
        worth = mean_of(worths)
        self.deals.setdefault(game, Deals()).add((*block[0],), [worths])
        self.overall.add(worth)
        self.by_game.setdefault(game, Lead()).add(worth)
        for match, (finishes, seats) in enumerate(zip(block, matches, strict=True)):
            self.match_count += 1
            for name in finishes.keys() & self.rivals.keys():
                versus = self.by_rival.setdefault(self.rivals[name], Versus())
                versus.add(finishes[self.hero], finishes[name])
            self.note_faults(number, game, match, seats)

    def note_faults(self, number: int, game: int, match: int, seats: Sequence[SeatReport]) -> None:
        """Note the faults in a match of a block, which need not count as evidence."""
        self.faulty.update({self._bot(seat) for seat in seats if seat.faults})
        for seat in seats:
            for fault in seat.faults:
                self._keep(SeatFault(self._bot(seat), game, number, match, seat.seat, fault))

    def _bot(self, seat: SeatReport) -> str:
        return self.rivals.get(seat.bot, seat.bot)

    def _keep(self, found: SeatFault) -> None:
        """Keep the first faults of a bot, and the first of each kind."""
        kinds = [each.fault.kind for each in self.faults if each.bot == found.bot]
        if len(kinds) < FAULTS_KEPT or found.fault.kind not in kinds:
            self.faults.append(found)


def finishes_of(seats: Iterable[SeatReport]) -> dict[str, Finish]:
    return {seat.bot: Finish(seat.rank, seat.points) for seat in seats}
