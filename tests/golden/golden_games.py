"""Games that are kept: replays of every variant, and of the endings that random play does not find.

`python -m tests.golden.golden_games` plays and writes them anew, with the perft counts. Do that only when a
rule was meant to change, together with its `rules_version`; the difference then shows what changed.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from stellwerk_engine import engine
from stellwerk_engine.core.dice import Dice, seed_from_text
from stellwerk_engine.core.state import Move, Seat, State
from stellwerk_engine.parts.claiming.claim_route import Claim
from stellwerk_engine.parts.stations.build_station import Build
from stellwerk_engine.parts.technologies.buy_technology import Buy
from stellwerk_engine.parts.tickets import DrawTicketsMove, KeepTickets
from tests.engine.recordings import Choose, mixed, record
from tests.support import VARIANTS, table, variant_id

FOLDER = Path(__file__).parent / "games"
PERFT_FILE = Path(__file__).parent / "perft.json"
PERFT_AFTER = (0, 40, 90)  # moves made before counting
PERFT_LEAVES = 20_000  # no deeper than this


@dataclass(frozen=True)
class GoldenGame:
    name: str
    variant: tuple[str, int, tuple[str, ...]]
    choose: Choose

    @property
    def file(self) -> Path:
        return FOLDER / f"{self.name}.jsonl"

    def play(self) -> bytes:
        return b"".join(record(table(*self.variant), self.choose, seed=seed_from_text(f"golden/{self.name}")))


def first(state: State, seat: Seat, moves: list[Move]) -> Move:
    return moves[0]


def refuse_tickets(state: State, seat: Seat, moves: list[Move]) -> Move:
    """Draw tickets, and keep as few as allowed."""
    return next((move for move in moves if isinstance(move, DrawTicketsMove)), moves[0])


def buying(seed: str) -> Choose:
    """Prefer purchases, then claims, then anything else."""
    choose = mixed(seed)

    def buy(state: State, seat: Seat, moves: list[Move]) -> Move:
        purchases: list[Move] = [move for move in moves if isinstance(move, Buy)]
        claims: list[Move] = [move for move in moves if isinstance(move, Claim)]
        return choose(state, seat, purchases or claims or moves)

    return buy


def collecting(state: State, seat: Seat, moves: list[Move]) -> Move:
    """Take all tickets, then Double Heading, then routes."""
    for move in moves:
        if isinstance(move, DrawTicketsMove):
            return move
    for move in moves:
        if isinstance(move, Buy) and move.kind.id == "double_heading":
            return move
    if state.technologies[seat]:
        return next((move for move in moves if isinstance(move, Claim)), moves[0])
    return moves[-1] if isinstance(state.pending, KeepTickets) else moves[0]


def thrifty(seed: str) -> Choose:
    """Build a station only now and then, so that some are left in the end."""
    choose = mixed(seed)
    count = 0

    def spare(state: State, seat: Seat, moves: list[Move]) -> Move:
        nonlocal count
        count += 1
        others = [move for move in moves if not isinstance(move, Build)]
        return choose(state, seat, moves if count % 20 == 0 else others or moves)

    return spare


def golden_games() -> Iterator[GoldenGame]:
    for variant in VARIANTS:
        name = variant_id(variant)
        yield GoldenGame(name, variant, mixed(f"golden/{name}"))
    advanced = ("united_kingdom", 2, ("advanced_technologies",))
    yield GoldenGame("card_game-2-idle", ("card_game", 2, ()), refuse_tickets)
    yield GoldenGame("united_kingdom-4-all_passed", ("united_kingdom", 4, ()), first)
    yield GoldenGame("united_kingdom-2-collecting", ("united_kingdom", 2, ()), collecting)
    yield GoldenGame("united_kingdom-2-advanced_technologies-buying", advanced, buying("golden/buying"))
    yield GoldenGame("europe-4-thrifty", ("europe", 4, ()), thrifty("golden/thrifty"))


def position(variant: tuple[str, int, tuple[str, ...]], moves_made: int) -> State:
    """Return a position of a random game."""
    state = engine.new_game(table(*variant), Dice(seed_from_text("perft")))
    choose = mixed("perft")
    while moves_made and state.pending is not None:
        seat = engine.owing(state)[0]
        engine.apply(state, seat, choose(state, seat, engine.legal(state, seat)))
        moves_made -= 1
    return state


def perft(state: State, depth: int) -> int:
    """Count the ways to continue for so many listed moves."""
    if state.pending is None:
        return 1
    seat = engine.owing(state)[0]
    moves = engine.legal(state, seat)
    if depth == 1:
        return len(moves)
    leaves = 0
    for move in moves:
        twin = state.copy()
        engine.apply(twin, seat, move)
        leaves += perft(twin, depth - 1)
    return leaves


def perft_counts(state: State) -> list[int]:
    """Return the counts by depth, as long as they stay small."""
    counts = [perft(state, 1)]
    while len(counts) < 4 and counts[-1] * counts[0] <= PERFT_LEAVES:
        counts.append(perft(state, len(counts) + 1))
    return counts


def all_perft_counts() -> dict[str, dict[str, list[int]]]:
    return {
        variant_id(variant): {str(after): perft_counts(position(variant, after)) for after in PERFT_AFTER}
        for variant in VARIANTS
    }


def write() -> None:
    FOLDER.mkdir(exist_ok=True)
    for game in golden_games():
        game.file.write_bytes(game.play())
    PERFT_FILE.write_text(json.dumps(all_perft_counts(), indent=1) + "\n")


if __name__ == "__main__":
    write()
