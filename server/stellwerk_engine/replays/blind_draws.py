"""The locomotives that teams drew blind, and how many of them chance gives.

Law: before each blind draw, the chance of a locomotive is exactly the share of locomotives in the pile. The
pile is in random order, and stays so for every player that does not see hidden cards, whenever it chooses to
draw. So the locomotives drawn minus the sum of these chances have the mean 0, whatever the player does.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from math import fsum
from typing import Final

from msgspec import Struct

from stellwerk_engine.core.folding import number_of, one_card
from stellwerk_protocol import events as ev
from stellwerk_protocol.cards import NO_CARDS, Cards
from stellwerk_protocol.names import Count, Seat

_DIGITS: Final = 6  # behind the point: the sums of a million matches are exact to a thousandth


class BlindDraws(Struct, frozen=True):
    """The cards that a team drew blind in a match, and the locomotives among them. `expected` and `variance`
    are sums over the draws: of the chance p of a locomotive, and of p (1 - p)."""

    cards: Count
    locomotives: Count
    expected: float
    variance: float


def blind_draws(
    events: Iterable[ev.Event], seats_of_team: Sequence[Sequence[Seat]]
) -> tuple[BlindDraws, ...]:
    """Count the blind draws of each team. `events` are those of a whole match, with everything hidden."""
    draws: dict[Seat, list[tuple[bool, float]]] = {seat: [] for seats in seats_of_team for seat in seats}
    for seat, is_locomotive, chance in chances(events):
        draws[seat].append((is_locomotive, chance))
    return tuple(_sums([draw for seat in seats for draw in draws[seat]]) for seats in seats_of_team)


def chances(events: Iterable[ev.Event]) -> Iterator[tuple[Seat, bool, float]]:
    """Yield each blind draw: the seat, whether the card was a locomotive, and the chance of one before it."""
    pile = in_pile = 0  # cards, and the locomotives among them
    in_game = 0  # locomotives
    seen = 0  # locomotives in hands and on the market, as long as no route is claimed: for games with halves
    is_second_half = False
    for event in events:
        gone = NO_CARDS
        match event:
            case ev.CardDrawn(seat, card=str() as color):
                gone = one_card(color)
                yield seat, bool(gone.locomotive), in_pile / pile
            case ev.CardsLaidOpen(cards) | ev.CardsRevealed(cards) | ev.CardsDealt(cards=Cards() as cards):
                gone = cards
            case ev.PileShuffled(pile, may_hold):
                in_game = in_game or may_hold.locomotive + seen
                in_pile = in_game - seen if is_second_half else may_hold.locomotive
            case ev.LocomotiveDealt():
                seen += 1
            case ev.CardsLaid(_, cards) | ev.MarketExchanged(cards):
                seen -= cards.locomotive
            case ev.HalfStarted():
                is_second_half = True
            case _:
                pass
        pile -= number_of(gone)
        in_pile -= gone.locomotive
        seen += gone.locomotive


def _sums(draws: Sequence[tuple[bool, float]]) -> BlindDraws:
    return BlindDraws(
        len(draws),
        sum(is_locomotive for is_locomotive, _ in draws),
        round(fsum(chance for _, chance in draws), _DIGITS),
        round(fsum(chance * (1 - chance) for _, chance in draws), _DIGITS),
    )
