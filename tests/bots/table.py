"""A table for bots: complete games on the engine, in which each player gets what a client gets.

Every message is encoded as the server encodes it and decoded as a client decodes it, so a player sees plain
JSON and nothing else. The unit is the block: one deal, played once for each place of the entrants, so that
the luck of the deal and of the seat cancels out. From the command line it measures:

    python -m tests.bots.table usa planner greedy --blocks 50
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, field
from functools import partial
from hashlib import sha256
from multiprocessing import get_context
from statistics import fmean, stdev
from time import perf_counter
from typing import Any

import msgspec

from stellwerk_bots import messages
from stellwerk_bots.bot import NewPlayer
from stellwerk_bots.bot import Player as Bot
from stellwerk_bots.players import NAMES, new_player
from stellwerk_engine import engine
from stellwerk_engine.boards.board_file import board_content, shipped_board
from stellwerk_engine.core.dice import Dice, seed_from_text
from stellwerk_engine.core.game import make_game
from stellwerk_engine.core.state import Game, Move, Seat, State
from stellwerk_engine.games.shipped import RULE_SETS
from stellwerk_engine.knowledge.view import view
from stellwerk_engine.parts.technologies.buy_technology import for_sale
from stellwerk_protocol import moves as wire_moves
from stellwerk_protocol.messages import Ask, Clocks, Player, Start
from stellwerk_protocol.results import Result

CLOCKS = Clocks(
    set_up_ms=30_000,
    move_ms=1_000,
    bank_ms=10_000,
    grace_ms=50,
    strikes=3,
    tries=3,
    defaults_in_a_row=3,
    defaults=10,
)


@dataclass(slots=True)
class Thinking:
    """The times of one entrant's answers."""

    seconds: list[float] = field(default_factory=list[float])


# -- a match -----------------------------------------------------------------------------------------


def start_for(game: Game, seat: Seat, match: str = "match") -> messages.Start:
    """Return the `start` message of a seat, as the client decodes it."""
    players = tuple(Player(each, team, f"bot-{each}") for each, team in enumerate(game.team_of))
    decoded: messages.Start = _sent(
        Start(
            match=match,
            viewer="seat",
            players=players,
            game=game.rules.id,
            rules_version=game.rules.rules_version,
            options=game.options,
            board=msgspec.Raw(json.dumps(board_content(game.board.file)).encode()),
            board_digest=game.board.file.digest,
            clocks=CLOCKS,
            commitment="0" * 64,
            seat=seat,
            technologies=for_sale(game.rules),
        )
    )
    return decoded


def ask_for(state: State, seat: Seat, number: int, match: str = "match") -> messages.Ask:
    """Return the `ask` message for the decision that the seat owes, as the client decodes it."""
    seen = view(state, seat)
    assert not isinstance(seen.pending, msgspec.UnsetType)
    decoded: messages.Ask = _sent(
        Ask(
            match=match,
            ask=number,
            after_event=0,
            decision=seen.pending,
            move_ms=CLOCKS.move_ms,
            bank_ms=CLOCKS.bank_ms,
            tries=CLOCKS.tries,
            fallback=engine.fallback(state, seat).wire,
            view=seen,
            legal=tuple(move.wire for move in engine.legal(state, seat)),
            legal_complete=engine.legal_complete(state, seat),
        )
    )
    return decoded


def move_of(state: State, seat: Seat, answer: Mapping[str, Any]) -> Move:
    """Return the move of an answer, which has exactly one of `index` and `move`. Raise IllegalMoveError,
    IndexError or ValidationError for one that a server refuses."""
    match answer:
        case {"index": int(index), **others} if not others and index >= 0:
            return engine.legal(state, seat)[index]
        case {"move": move, **others} if not others:
            return engine.check(state, seat, msgspec.convert(move, wire_moves.Move))
        case _:
            raise ValueError(f"not an answer: {answer}")


def play_match(
    game: Game, seed: bytes, new_players: Sequence[NewPlayer], thinking: Sequence[Thinking] = ()
) -> Result:
    """Play from the deal to the result. `new_players` has one for each seat, and so has `thinking`, if
    given."""
    match = sha256(seed).hexdigest()[:16]
    bots: list[Bot] = [
        new_bot(start_for(game, seat, match), f"{match}/{seat}") for seat, new_bot in enumerate(new_players)
    ]
    asks = [0] * game.seat_count
    state = engine.new_game(game, Dice(seed))
    while state.pending is not None:
        for seat in engine.owing(state):
            asks[seat] += 1
            ask = ask_for(state, seat, asks[seat], match)
            began = perf_counter()
            answer = bots[seat].answer(ask)
            if thinking:
                thinking[seat].seconds.append(perf_counter() - began)
            engine.apply(state, seat, move_of(state, seat, answer))
    assert state.result is not None
    return state.result


def _sent(message: Start | Ask) -> Any:  # Any: as its caller annotates it
    return json.loads(msgspec.json.encode(message))


# -- blocks ------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Block:
    """The results of the first entrant against the others, over all places of one deal."""

    score: float  # 1 for a win, a half for a tie
    points: float  # ahead of the best of the others
    seconds: tuple[float, ...]  # its answers

    @property
    def advantage(self) -> float:
        return self.score - 0.5


def play_block(game: Game, deal: str, entrants: Sequence[NewPlayer]) -> Block:
    """Play one deal, with each entrant once in each place; a place is that of a team."""
    places = len(game.seats_of_team)
    thinking = Thinking()
    scores: list[float] = []
    points: list[float] = []
    for turned in range(places):
        entrant_of = [(team + turned) % places for team in game.team_of]
        times = [thinking if entrant == 0 else Thinking() for entrant in entrant_of]
        result = play_match(game, seed_from_text(deal), [entrants[entrant] for entrant in entrant_of], times)
        own = entrant_of.index(0)
        team = game.team_of[own]
        others = [other for other in result.teams if other.team != team]
        best = min(other.rank for other in others)
        rank = result.ranks[own]
        scores.append(0.5 if rank == best else float(rank < best))
        points.append(result.teams[team].points - max(other.points for other in others))
    return Block(fmean(scores), fmean(points), tuple(thinking.seconds))


def interval(values: Sequence[float]) -> tuple[float, float]:
    """Return the mean and half the width of its 95 % interval, by Student's t."""
    freedom = len(values) - 1
    z = 1.959964
    t = z + (z**3 + z) / (4 * freedom) + (5 * z**5 + 16 * z**3 + 3 * z) / (96 * freedom**2)
    return fmean(values), t * stdev(values) / len(values) ** 0.5


# -- measuring ---------------------------------------------------------------------------------------


def game_for(game_id: str, seat_count: int | None = None, options: Sequence[str] = ()) -> Game:
    rules = RULE_SETS[game_id]
    return make_game(rules, shipped_board(rules.board), seat_count or min(rules.seat_counts), options)


def _measure_block(game_id: str, options: Sequence[str], names: Sequence[str], deal: str) -> Block:
    return play_block(game_for(game_id, None, options), deal, [new_player(name) for name in names])


def main() -> None:
    parser = argparse.ArgumentParser(description="Measure a bot against another over rotated deals.")
    parser.add_argument("game", choices=list(RULE_SETS))
    parser.add_argument("bot", choices=NAMES)
    parser.add_argument("other", choices=NAMES)
    parser.add_argument("--option", action="append", default=[])
    parser.add_argument("--blocks", type=int, default=50)
    parser.add_argument("--seed", default="table")
    parser.add_argument("--jobs", type=int, default=1)
    arguments = parser.parse_args()
    deals = [f"{arguments.seed}/{number}" for number in range(arguments.blocks)]
    measure = partial(_measure_block, arguments.game, arguments.option, (arguments.bot, arguments.other))
    with ProcessPoolExecutor(arguments.jobs, get_context("spawn")) as pool:
        blocks: list[Block] = []
        for block in pool.map(measure, deals):
            blocks.append(block)
            print(f"{len(blocks)}: {block.points:+.1f}", end=" ", file=sys.stderr, flush=True)
    points, points_width = interval([block.points for block in blocks])
    ahead, ahead_width = interval([block.advantage for block in blocks])
    seconds = sorted(second for block in blocks for second in block.seconds)
    print(
        f"{arguments.game}: {arguments.bot} against {arguments.other}, {len(blocks)} blocks: "
        f"points {points:+.1f} ± {points_width:.1f}, score - 0.5 {ahead:+.3f} ± {ahead_width:.3f}, "
        f"an answer {1000 * fmean(seconds):.1f} ms, at most {1000 * seconds[-1]:.0f} ms"
    )


if __name__ == "__main__":
    main()
