"""The bot `searcher`: reproducible, blind to what is hidden, and slow to leave the planner's choice."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import msgspec
import pytest

from stellwerk_bots.__main__ import main
from stellwerk_bots.bot import Player
from stellwerk_bots.messages import Ask, Start
from stellwerk_bots.planner.bot import new_planner
from stellwerk_bots.planner.map_worth import best_listed
from stellwerk_bots.planner.policy import planner
from stellwerk_bots.searcher.bot import (
    BELIEVED_LOSS,
    BUDGET_VARIABLE,
    Budget,
    BudgetError,
    best_of,
    budget_from,
    default_budget,
    expected_gain,
    meter,
    new_searcher,
)
from stellwerk_bots.searcher.candidates import MOST_CANDIDATES, candidates
from stellwerk_bots.searcher.guessed_tickets import guess_tickets
from stellwerk_bots.searcher.rollout import VICTORY, packed_tickets, play_on, success
from stellwerk_engine import engine
from stellwerk_engine.core.board import bits, mask_of
from stellwerk_engine.core.cards import counts
from stellwerk_engine.core.dice import Dice, seed_from_text
from stellwerk_engine.core.state import State
from stellwerk_engine.knowledge.imagine import imagine
from stellwerk_engine.knowledge.view import view
from stellwerk_engine.parts.rail_yards.completions import TicketNeed, feasible
from stellwerk_protocol.moves import ClaimRoute, DrawCard
from tests.bots.table import ask_for, play_block, play_match, start_for
from tests.support import (
    VARIANTS,
    dealt,
    every_variant,
    own,
    set_stack,
    set_tickets,
    started,
    table,
    variant_id,
)

Variant = tuple[str, int, tuple[str, ...]]

SMALL = Budget(iterations=12)
TINY = Budget(iterations=2)
ON_A_MAP = [variant for variant in VARIANTS if table(*variant).board.routes]


def new_small(start: Start, seed_text: str) -> Player:
    return new_searcher(start, seed_text, SMALL)


def new_tiny(start: Start, seed_text: str) -> Player:
    return new_searcher(start, seed_text, TINY)


def later(state: State, turn: int) -> State:
    """Return the state at that turn, or at the end, if everybody moves by rules of thumb."""
    while state.pending is not None and state.turn < turn:
        for seat in engine.owing(state):
            engine.apply(state, seat, planner(state, seat, engine.legal(state, seat)))
    return state


def asks_of_a_game(variant: Variant, every: int) -> Iterator[tuple[State, int, Ask]]:
    """Yield the first ask, and then one every few turns."""
    state = dealt(*variant)
    for turn in range(0, 400, every):
        later(state, turn)
        for seat in engine.owing(state)[:1]:
            yield state.copy(), seat, ask_for(state, seat, turn + 1)


# -- laws --------------------------------------------------------------------------------------------


@every_variant
def test_the_searcher_plays_whole_games(variant: Variant) -> None:
    game = table(*variant)

    def searcher(start: Start, seed_text: str) -> Player:
        return new_searcher(start, seed_text, Budget(iterations=1))

    bots = [searcher, *[new_planner] * (game.seat_count - 1)]
    assert play_match(game, seed_from_text("whole"), bots).turns > 0


@every_variant
def test_equal_asks_and_seeds_give_equal_legal_answers_whatever_was_asked_before(variant: Variant) -> None:
    """A resumed bot continues as if nothing had happened."""
    old = [new_tiny(start_for(table(*variant), seat), "seed") for seat in range(variant[1])]
    for state, seat, ask in asks_of_a_game(variant, 40):
        answer = old[seat].answer(ask)
        assert "index" in answer
        assert 0 <= answer["index"] < len(engine.legal(state, seat))
        resumed = new_tiny(start_for(state.game, seat), "seed")
        assert resumed.answer(ask) == answer


@every_variant
def test_what_is_hidden_never_changes_a_searchers_answer(variant: Variant) -> None:
    """GEN-09."""
    state = later(dealt(*variant), 20)
    [seat] = engine.owing(state)
    twin = imagine(state.game, view(state, seat), Dice(seed_from_text("twin")))
    assert state.pile != twin.pile
    bot = new_small(start_for(state.game, seat), "seed")
    assert bot.answer(ask_for(state, seat, 1)) == bot.answer(ask_for(twin, seat, 1))


@pytest.mark.parametrize(("game_id", "deals"), [("card_game", "b"), ("usa", "bd")])
def test_the_searcher_beats_the_planner(game_id: str, deals: str) -> None:
    """On fixed deals, each played from both places. To measure how much better it is takes more games."""
    entrants = [new_small, new_planner]
    blocks = [play_block(table(game_id, 2), f"search/{deal}", entrants) for deal in deals]
    assert sum(block.advantage for block in blocks) > 0
    assert sum(block.points for block in blocks) > 0


# -- the search --------------------------------------------------------------------------------------


def test_a_move_that_wins_in_every_deal_is_found() -> None:
    """The last turn of all: the longer route is worth more, and the search finds it in any order of the
    moves."""
    state = started("usa", 2)
    state.turns_left = 1
    moves = engine.legal(state, 0)
    draw = next(index for index, move in enumerate(moves) if isinstance(move.wire, DrawCard))
    best = moves.index(best_listed(state, 0))
    assert isinstance(moves[best].wire, ClaimRoute)
    assert best_of([best, draw], 0, lambda number: state, meter(Budget(iterations=12))) == best
    assert best_of([draw, best], 0, lambda number: state, meter(Budget(iterations=12))) == best


def test_the_planners_choice_stands_without_a_budget_to_beat_it() -> None:
    state = started("usa", 2)
    for budget in (Budget(iterations=1), Budget(iterations=3), Budget(seconds=0.0)):
        assert best_of([3, 1, 2], 0, lambda number: state, meter(budget)) == 3


def test_few_noisy_gains_do_not_outweigh_what_is_believed_and_many_steady_ones_do() -> None:
    assert expected_gain([], []) == -BELIEVED_LOSS
    assert expected_gain([60, -20, 30, 5], [0, 0, 0, 0]) < 0
    assert expected_gain([60, -20, 30, 5] * 20, [0] * 80) > 0
    assert expected_gain([4, 5], [0, 0]) > 0
    assert expected_gain([-4, -5], [0, 0]) < 0


@every_variant
def test_the_candidates_begin_with_the_planners_choice_and_are_few(variant: Variant) -> None:
    for state, seat, _ in asks_of_a_game(variant, 10):
        moves = engine.legal(state, seat)
        chosen = candidates(state, seat, moves)
        assert moves[chosen[0]] is planner(state, seat, moves)
        assert len(chosen) == len(set(chosen)) <= MOST_CANDIDATES
        assert len(chosen) == 1 or len(moves) > 1


def test_one_claim_stands_for_all_payments_of_its_route() -> None:
    state = later(dealt("usa", 2), 30)
    [seat] = engine.owing(state)
    moves = engine.legal(state, seat)

    def routes(indexes: Iterable[int]) -> list[str]:
        wires = [moves[index].wire for index in indexes]
        return [wire.route for wire in wires if isinstance(wire, ClaimRoute)]

    claimed = routes(candidates(state, seat, moves))
    assert claimed
    assert len(claimed) == len(set(claimed))
    every = routes(range(len(moves)))
    assert len(every) > len(set(every))


# -- playing on --------------------------------------------------------------------------------------


def test_a_victory_counts_beside_the_lead() -> None:
    state = dealt("usa", 2, seed="no tie")
    play_on(state)
    assert state.result is not None
    lead = state.result.teams[0].points - state.result.teams[1].points
    assert lead
    assert abs(success(state, 0)) == abs(lead) + VICTORY
    assert success(state, 0) == -success(state, 1)


def test_packed_tickets_can_be_completed_and_locomotives_stand_for_what_is_missing() -> None:
    for number in range(20):
        state = dealt("card_game", 2, seed=f"pack/{number}")
        play_on(state)
        for seat in range(2):
            state.ticket_masks[seat] |= state.completed_masks[seat]
            held = list(bits(state.ticket_masks[seat]))
            tickets = [state.game.board.tickets[ticket] for ticket in held]
            needs = [TicketNeed(ticket.points, ticket.needs) for ticket in tickets]
            packed = [held.index(ticket) for ticket in packed_tickets(state, seat)]
            assert feasible(needs, packed, counts(state.stacks[seat]))


def test_nothing_is_packed_of_an_empty_stack_and_all_of_one_that_suffices() -> None:
    state = started("card_game", 2)
    tickets = state.game.board.tickets[:1]
    set_tickets(state, 0, tickets[0].name)
    set_stack(state, 0, "")
    assert packed_tickets(state, 0) == ()
    set_stack(state, 0, f"{sum(tickets[0].needs)} locomotive")
    assert packed_tickets(state, 0) == (tickets[0].id,)


# -- guessed tickets ---------------------------------------------------------------------------------


@pytest.mark.parametrize("variant", ON_A_MAP, ids=variant_id)
def test_guessed_tickets_change_nothing_that_the_viewer_sees(variant: Variant) -> None:
    for state, seat, _ in asks_of_a_game(variant, 10):
        before = msgspec.json.encode(view(state, seat))
        guess_tickets(state, seat)
        assert msgspec.json.encode(view(state, seat)) == before
        held = [*state.ticket_masks, *state.shared_masks, *state.removed_masks, mask_of(state.ticket_pile)]
        if not any(state.offered):
            assert sum(mask.bit_count() for mask in held) == len(state.game.board.tickets)
        together = 0
        for mask in held:
            assert not together & mask
            together |= mask


def test_a_ticket_that_a_network_connects_is_guessed_more_often() -> None:
    state = started("usa", 2)
    ticket = state.game.board.ticket_ids["dallas-new_york"]
    set_tickets(state, 0)
    times = {False: 0, True: 0}
    for is_connected in times:
        if is_connected:
            own(state, 1, "dallas-little_rock", "little_rock-nashville", "nashville-pittsburgh")
            own(state, 1, "new_york-pittsburgh-white")
        for number in range(60):
            twin = state.copy()
            twin.dice = Dice(seed_from_text(f"guess/{number}"))
            guess_tickets(twin, 0)
            times[is_connected] += twin.ticket_masks[1] >> ticket & 1
    assert times[True] > 40
    assert times[False] < 15


# -- budgets -----------------------------------------------------------------------------------------


def test_a_budget_is_a_number_of_iterations_or_a_time() -> None:
    assert budget_from("200") == Budget(iterations=200)
    assert budget_from("500ms") == Budget(seconds=0.5)


@pytest.mark.parametrize("text", ["", "0", "-1", "1.5", "10s", "many", "0ms", "200 ", "²"])
def test_another_text_is_no_budget(text: str) -> None:
    with pytest.raises(BudgetError, match=BUDGET_VARIABLE):
        budget_from(text)


def test_the_environment_gives_the_budget_that_nobody_else_gives(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(BUDGET_VARIABLE, "plenty")
    start = start_for(table("usa", 2), 0)
    with pytest.raises(BudgetError):
        new_searcher(start, "seed")
    new_searcher(start, "seed", SMALL)


def test_an_invalid_budget_ends_the_program_before_it_plays(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv(BUDGET_VARIABLE, "plenty")
    assert main(["searcher", "--address", "tcp://127.0.0.1:1"]) == 2
    assert BUDGET_VARIABLE in capsys.readouterr().err


def test_with_more_teams_fewer_games_are_played_on_by_default() -> None:
    assert default_budget(start_for(table("usa", 2), 0)) == Budget(iterations=40)
    assert default_budget(start_for(table("team_asia", 4), 0)) == Budget(iterations=40)
    assert default_budget(start_for(table("usa", 5), 0)) == Budget(iterations=16)


def test_iterations_are_counted_and_time_ends() -> None:
    has_budget = meter(Budget(iterations=2))
    assert [has_budget() for _ in range(4)] == [True, True, False, False]
    assert not meter(Budget(seconds=0.0))()
    assert meter(Budget(seconds=3600.0))()
