"""The chance of a locomotive is that of the pile, before each blind draw of every game."""

from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import given

from stellwerk_engine.core.cards import LOCOMOTIVE
from stellwerk_engine.core.state import Events
from stellwerk_engine.replays.blind_draws import BlindDraws, blind_draws, chances
from stellwerk_protocol import events as ev
from tests.properties.playing import Habit, Line, Variant, any_move, examples, hoard_cards, lines, played
from tests.support import every_variant


def draws_of(variant: Variant, line: Line) -> tuple[list[tuple[bool, float]], Events]:
    """Play a game. Return each blind draw and the mean over all cards that could be on top of the pile, and
    the events."""
    draws: list[tuple[bool, float]] = []
    events: Events = []
    pile: list[bool] = []  # which of its cards are locomotives
    seen = 0
    for state in played(variant, line, events):
        left = [card == LOCOMOTIVE for card in state.pile]
        for place, event in enumerate(events[seen:], seen):
            if isinstance(event, ev.CardDrawn):
                draws.append((pile[-1], float(Fraction(sum(pile), len(pile)))))
                assert pile.pop() == (event.card == "locomotive")
            elif isinstance(event, ev.PileShuffled):
                later = [
                    each.card == "locomotive" for each in events[place:] if isinstance(each, ev.CardDrawn)
                ]
                pile = [*left, *reversed(later)]
        pile, seen = left, len(events)
    return draws, events


@every_variant
@examples(8)
@given(line=lines)
def test_the_expectation_is_exact_at_every_blind_draw(variant: Variant, line: Line) -> None:
    draws, events = draws_of(variant, line)
    assert [(is_locomotive, chance) for _, is_locomotive, chance in chances(events)] == draws


@pytest.mark.parametrize(
    ("variant", "habit", "before"),
    [(("usa", 2, ()), hoard_cards, "PileShuffled"), (("card_game", 4, ()), any_move, "HalfStarted")],
    ids=["discards", "second_half"],
)
def test_it_is_exact_in_a_pile_of_cards_that_were_played(variant: Variant, habit: Habit, before: str) -> None:
    draws, events = draws_of(variant, Line(1, 1, habit))
    assert [(is_locomotive, chance) for _, is_locomotive, chance in chances(events)] == draws
    kinds = [type(event).__name__ for event in events]
    assert "CardDrawn" in kinds[kinds.index(before, kinds.index("CardDrawn")) :]


def test_the_draws_of_partners_are_those_of_their_team() -> None:
    draws, events = draws_of(("team_asia", 4, ()), Line(1, 1, hoard_cards))
    one, other = blind_draws(events, ((0, 2), (1, 3)))
    assert one.cards + other.cards == len(draws)
    assert one.locomotives + other.locomotives == sum(is_locomotive for is_locomotive, _ in draws)
    assert one.expected + other.expected == pytest.approx(sum(chance for _, chance in draws))
    assert one.variance + other.variance == pytest.approx(sum(p * (1 - p) for _, p in draws))


def test_without_blind_draws_nothing_is_counted() -> None:
    assert blind_draws([], ((0,), (1,))) == (BlindDraws(0, 0, 0.0, 0.0),) * 2
