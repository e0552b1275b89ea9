"""The bot `searcher`: what the planner would do, unless playing on from imagined states shows better.

It imagines deals of all that is hidden, makes every candidate move in the same deals, and lets everybody go
on by the planner's rules. The planner's own choice is left only where what was seen outweighs what was
believed before: that the other moves are worse, for mostly they are, and few games prove little.

On a map it searches where games played on can tell a difference: choices of tickets, which are few and felt
to the end, and the end itself, which is near enough to be played out many times. What a card or a claim in
the middle changes is lost in the luck of the rest.

How long it thinks says its budget: iterations, that is games played on for one answer, which makes its
answers reproducible, or time. `STELLWERK_BOT_BUDGET` holds one or the other: `200` or `500ms`.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from dataclasses import dataclass
from statistics import fmean, stdev
from time import monotonic
from typing import Final

from stellwerk_bots.bot import Answer, Message, Player, SettingError
from stellwerk_bots.searcher.candidates import candidates
from stellwerk_bots.searcher.guessed_tickets import guess_tickets
from stellwerk_bots.searcher.imagined import dice_for, game_of, imagination_of
from stellwerk_bots.searcher.rollout import play_on, success
from stellwerk_engine import engine
from stellwerk_engine.core.decision import Move, Seat
from stellwerk_engine.core.state import State
from stellwerk_engine.core.turn import TakeTurn
from stellwerk_engine.parts.tickets import DrawTicketsMove, KeepTickets, ShareTicket

BUDGET_VARIABLE: Final = "STELLWERK_BOT_BUDGET"
DEALS_IN_A_HEAT: Final = 4  # after so many deals the worse half of the candidates is dropped
NEAR_END: Final = 14  # so few trains with a team

# What is believed of a move that the planner does not choose, in points; measured over moves of its games.
BELIEVED_LOSS: Final = 5.0
BELIEVED_SPREAD: Final = 8.0
HOPELESS: Final = -4.0  # a candidate of which no more than this is to be expected is dropped

Deal = Callable[[int], State]  # the state of the ask, with what is hidden dealt for the n-th time


@dataclass(frozen=True, slots=True)
class Budget:
    """For one answer; exactly one of the two."""

    iterations: int | None = None
    seconds: float | None = None


DEFAULT_ITERATIONS: Final = 80  # divided by the number of teams, for with more of them each takes longer


class BudgetError(SettingError):
    """This is no budget; the message says what one looks like."""


def budget_from(text: str) -> Budget:
    """`200` for iterations, `500ms` for time."""
    found = re.fullmatch(r"([1-9][0-9]{0,6})(ms)?", text)
    if found is None:
        raise BudgetError(
            f"{BUDGET_VARIABLE}: expected a number like 200 or a time like 500ms, not {text!r:.60}"
        )
    number, unit = found.groups()
    return Budget(seconds=int(number) / 1000) if unit else Budget(iterations=int(number))


class Searcher:
    def __init__(self, start: Message, seed_text: str, budget: Budget) -> None:
        self._game = game_of(start)
        self._seat: int = start["seat"]
        self._seed_text = seed_text
        self._budget = budget

    def answer(self, ask: Message) -> Answer:
        has_budget = meter(self._budget)
        imagination = imagination_of(self._game, ask)

        def deal(number: int) -> State:
            state = imagination.deal(dice_for(self._seed_text, ask, number))
            if self._game.board.routes:
                guess_tickets(state, self._seat)
            return state

        state = imagination.deal(dice_for(self._seed_text, ask))
        moves = engine.legal(state, self._seat)
        chosen = candidates(state, self._seat, moves)
        if is_worth_searching(state, moves[chosen[0]]):
            return {"index": best_of(chosen, self._seat, deal, has_budget)}
        return {"index": chosen[0]}


def new_searcher(start: Message, seed_text: str, budget: Budget | None = None) -> Player:
    """Without a budget: that of the environment, or the default, some tenths of a second of
    computing at most. BudgetError for a text that is none."""
    return Searcher(start, seed_text, budget or environments_budget() or default_budget(start))


def environments_budget() -> Budget | None:
    """BudgetError if there is one and makes no sense."""
    text = os.environ.get(BUDGET_VARIABLE)
    return None if text is None else budget_from(text)


def default_budget(start: Message) -> Budget:
    teams = {player["team"] for player in start["players"]}
    return Budget(iterations=DEFAULT_ITERATIONS // len(teams))


def is_worth_searching(state: State, first: Move) -> bool:
    if state.game.rules.rail_yards:
        return True
    match state.pending:
        case KeepTickets() | ShareTicket():
            return True
        case TakeTurn():
            return isinstance(first, DrawTicketsMove) or _is_near_end(state)
        case _:
            return False


def _is_near_end(state: State) -> bool:
    teams = state.game.seats_of_team
    return any(sum(state.trains[seat] for seat in seats) <= NEAR_END for seats in teams)


def best_of(chosen: list[int], seat: Seat, deal: Deal, has_budget: Callable[[], bool]) -> int:
    """The best of the moves of these indexes; `chosen` begins with the planner's choice. Those that are still
    in the race have been played on from the same deals."""
    first = chosen[0]
    rivals: list[int] = chosen[1:]
    outcomes: dict[int, list[int]] = {index: [] for index in chosen}
    deals = 0

    def gain(index: int) -> float:
        return expected_gain(outcomes[index][:deals], outcomes[first][:deals])

    while rivals:
        state = deal(deals)
        for index in (first, *rivals):
            if not has_budget():
                best = max(rivals, key=gain)
                return best if gain(best) > 0 else first
            outcomes[index].append(_outcome(state, seat, index))
        deals += 1
        if deals % DEALS_IN_A_HEAT == 0:
            rivals.sort(key=gain, reverse=True)
            rivals = [index for index in rivals[: max(1, len(rivals) // 2)] if gain(index) > HOPELESS]
    return first


def _outcome(state: State, seat: Seat, index: int) -> int:
    state = state.copy()
    engine.apply(state, seat, engine.legal(state, seat)[index])
    play_on(state)
    return success(state, state.game.team_of[seat])


def expected_gain(outcomes: list[int], of_first: list[int]) -> float:
    """Of a move beyond the first, from what is believed and what was seen, each weighed by its certainty."""
    if len(outcomes) < 2:
        return -BELIEVED_LOSS
    gains = [outcome - other for outcome, other in zip(outcomes, of_first, strict=True)]
    believed = 1 / BELIEVED_SPREAD**2
    seen = len(gains) / max(1.0, stdev(gains)) ** 2
    return (seen * fmean(gains) - believed * BELIEVED_LOSS) / (seen + believed)


def meter(budget: Budget) -> Callable[[], bool]:
    """Asked before each iteration, it says whether there is budget for it."""
    if budget.seconds is not None:
        end = monotonic() + budget.seconds
        return lambda: monotonic() < end
    left = iter(range(budget.iterations or 0))
    return lambda: next(left, None) is not None
