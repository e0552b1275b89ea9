"""The bot `searcher`: it plays like the planner, unless games played from imagined states show a better move.

It imagines deals of everything hidden, makes every candidate move in the same deals, and lets all players
continue by the planner's rules. It leaves the planner's choice only if the results outweigh the prior belief
that the other moves are worse: mostly they are, and few games prove little.

On a map it searches only where such games can show a difference: for choices of tickets, which are few and
matter to the end, and near the end, which can be played out many times. In the middle of a game, the effect
of one card or claim is lost in the luck of the rest.

A budget limits its thinking. It is either a number of iterations (games played for one answer), which makes
the answers reproducible, or a time. `STELLWERK_BOT_BUDGET` holds one or the other: `200` or `500ms`.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from dataclasses import dataclass
from statistics import fmean, stdev
from time import monotonic
from typing import TYPE_CHECKING, Final

from stellwerk_bots.bot import Answer, Player, SettingError
from stellwerk_bots.imagined import dice_for, game_of, imagination_of
from stellwerk_bots.searcher.candidates import candidates
from stellwerk_bots.searcher.guessed_tickets import guess_tickets
from stellwerk_bots.searcher.rollout import play_on, success
from stellwerk_engine import engine
from stellwerk_engine.core.state import Move, Seat, State
from stellwerk_engine.core.turn import TakeTurn
from stellwerk_engine.parts.share_tickets import ShareTicket
from stellwerk_engine.parts.tickets import DrawTicketsMove, KeepTickets

if TYPE_CHECKING:
    from stellwerk_bots.messages import Ask, Start

BUDGET_VARIABLE: Final = "STELLWERK_BOT_BUDGET"
DEALS_IN_A_HEAT: Final = 4  # after this number of deals the worse half of the candidates is dropped
NEAR_END: Final = 14  # so few trains with a team

# The prior belief about a move that the planner does not choose, in points; measured over moves of its games.
BELIEVED_LOSS: Final = 5.0
BELIEVED_SPREAD: Final = 8.0
HOPELESS: Final = -4.0  # a candidate whose expected gain is at most this is dropped

Deal = Callable[[int], State]  # the state of the ask, with everything hidden dealt for the n-th time


@dataclass(frozen=True, slots=True)
class Budget:
    """A budget for one answer; exactly one of the two is set."""

    iterations: int | None = None
    seconds: float | None = None


DEFAULT_ITERATIONS: Final = (
    80  # divided by the number of teams, because with more of them each game takes longer
)


class BudgetError(SettingError):
    """A text that is not a budget. The message shows what a budget looks like."""


def budget_from(text: str) -> Budget:
    """Parse `200` as iterations, `500ms` as a time."""
    match = re.fullmatch(r"([1-9][0-9]{0,6})(ms)?", text)
    if match is None:
        raise BudgetError(
            f"{BUDGET_VARIABLE}: expected a number like 200 or a time like 500ms, not {text!r:.60}"
        )
    number, unit = match.groups()
    return Budget(seconds=int(number) / 1000) if unit else Budget(iterations=int(number))


class Searcher:
    def __init__(self, start: Start, seed_text: str, budget: Budget) -> None:
        self._game = game_of(start)
        self._seat = start["seat"]
        self._seed_text = seed_text
        self._budget = budget

    def answer(self, ask: Ask) -> Answer:
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


def new_searcher(start: Start, seed_text: str, budget: Budget | None = None) -> Player:
    """Return a factory of searchers. Without a budget, use the environment's, or the default, which is
    at most some tenths of a second of computing. Raise BudgetError for an invalid text."""
    return Searcher(start, seed_text, budget or environments_budget() or default_budget(start))


def environments_budget() -> Budget | None:
    """Return the budget in the environment, if there is one. Raise BudgetError if it is invalid."""
    text = os.environ.get(BUDGET_VARIABLE)
    return None if text is None else budget_from(text)


def default_budget(start: Start) -> Budget:
    teams = {player["team"] for player in start["players"]}
    return Budget(iterations=DEFAULT_ITERATIONS // len(teams))


def is_worth_searching(state: State, first: Move) -> bool:
    if state.yards:
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
    """Return the best of the moves with these indexes; `chosen` begins with the planner's choice. All
    remaining candidates have been played from the same deals."""
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
    """Return the expected gain of a move over the first, from the prior belief and the results, each weighted
    by its certainty."""
    if len(outcomes) < 2:
        return -BELIEVED_LOSS
    gains = [outcome - other for outcome, other in zip(outcomes, of_first, strict=True)]
    believed = 1 / BELIEVED_SPREAD**2
    seen = len(gains) / max(1.0, stdev(gains)) ** 2
    return (seen * fmean(gains) - believed * BELIEVED_LOSS) / (seen + believed)


def meter(budget: Budget) -> Callable[[], bool]:
    """Return a function that is asked before each iteration and says whether there is budget for it."""
    if budget.seconds is not None:
        end = monotonic() + budget.seconds
        return lambda: monotonic() < end
    left = iter(range(budget.iterations or 0))
    return lambda: next(left, None) is not None
