"""Moves as they come from the wire: likely ones and absurd ones, and, for small hands, all there are."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from itertools import chain, combinations, product
from random import Random

from stellwerk_engine import engine
from stellwerk_engine.core.board import bits
from stellwerk_engine.core.cards import (
    COLOR_NAMES,
    LOCOMOTIVE,
    SHIFT,
    CardSet,
    as_list,
    counts,
    from_wire,
    of,
    to_wire,
)
from stellwerk_engine.core.state import Seat, State
from stellwerk_engine.parts.claiming.tunnels import PayTunnel
from stellwerk_engine.parts.rail_yards.complete_tickets import CompleteTickets
from stellwerk_engine.parts.share_tickets import ShareTicket
from stellwerk_engine.parts.technologies.buy_technology import technology_ids
from stellwerk_engine.parts.tickets import KeepTickets
from stellwerk_protocol import moves
from stellwerk_protocol.cards import Cards

# -- out of the blue ---------------------------------------------------------------------------------


def any_wire(state: State, seat: Seat, chance: Random) -> moves.Move:
    """Draw a move for a seat that owes one. Half of the moves are nearly legal."""
    return _nearly_legal(state, seat, chance) if chance.random() < 0.5 else any_kind_of_wire(state, chance)


def any_kind_of_wire(state: State, chance: Random) -> moves.Move:
    kinds = (*_KINDS, _build) if state.stations else _KINDS  # elsewhere the vectors stay as they are
    return chance.choice(kinds)(state, chance)


def _nearly_legal(state: State, seat: Seat, chance: Random) -> moves.Move:
    """Return a move on the list, perhaps with something added, left out or exchanged."""
    wire = chance.choice(engine.legal(state, seat)).wire
    match wire:
        case moves.ClaimRoute(route, cards, holder_cards):
            if chance.random() < 0.3:
                route = chance.choice(state.game.board.file.routes).id
            if chance.random() < 0.3:
                cards, holder_cards = holder_cards, cards
            return moves.ClaimRoute(route, _changed(cards, chance), holder_cards)
        case moves.PayTunnel(cards, holder_cards):
            return moves.PayTunnel(cards, _changed(holder_cards, chance))
        case moves.LayCards(cards):
            return moves.LayCards(_changed(cards, chance))
        case moves.BuyTechnology(technology, cards):
            return moves.BuyTechnology(technology, _changed(cards, chance))
        case moves.BuildStation(city, cards):
            if chance.random() < 0.3:
                city = _city(state, chance)
            return moves.BuildStation(city, _changed(cards, chance))
        case moves.KeepTickets(tickets):
            return moves.KeepTickets(_changed_tickets(state, tickets, chance))
        case moves.CompleteTickets(tickets):
            return moves.CompleteTickets(_changed_tickets(state, tickets, chance))
        case moves.ShareTickets(tickets):
            changed = _changed_tickets(state, tickets, chance)[:2]
            return moves.ShareTickets(changed or tickets)
        case _:
            return wire


def _changed(cards: Cards, chance: Random) -> Cards:
    """Add a card or remove one, or both, or neither."""
    changed = as_list(from_wire(cards))
    if changed and chance.random() < 0.5:
        changed.remove(chance.choice(changed))
    if chance.random() < 0.5:
        changed.append(chance.choice((*changed, *range(9))))
    return to_wire(of(changed))


def _changed_tickets(state: State, tickets: tuple[str, ...], chance: Random) -> tuple[str, ...]:
    changed = list(tickets)
    if changed and chance.random() < 0.5:
        changed.remove(chance.choice(changed))
    if chance.random() < 0.5:
        changed.append(_ticket(state, chance))
    chance.shuffle(changed)
    return tuple(changed)


def _ticket(state: State, chance: Random) -> str:
    return chance.choice((*state.game.board.ticket_ids, "nowhere-else"))


def _cards(chance: Random) -> Cards:
    """Draw few cards, of one color more often than not, or the most that the wire takes."""
    if chance.random() < 0.1:
        return to_wire(60 << SHIFT[chance.randrange(9)])
    colors = (chance.randrange(9), chance.randrange(9), LOCOMOTIVE)
    return to_wire(of(chance.choice(colors) for _ in range(chance.randrange(9))))


def _claim(state: State, chance: Random) -> moves.Move:
    route = chance.choice((*state.game.board.route_ids, "nowhere-else"))
    holder_cards = _cards(chance) if chance.random() < 0.3 else Cards()
    return moves.ClaimRoute(route, _cards(chance), holder_cards)


def _buy(state: State, chance: Random) -> moves.Move:
    technology = chance.choice((*technology_ids(state.game), "perpetual_motion"))
    return moves.BuyTechnology(technology, _cards(chance))


def _build(state: State, chance: Random) -> moves.Move:
    return moves.BuildStation(_city(state, chance), _cards(chance))


def _city(state: State, chance: Random) -> str:
    return chance.choice((*state.game.board.city_ids, "nowhere"))


_KINDS: tuple[Callable[[State, Random], moves.Move], ...] = (
    _claim,
    _buy,
    lambda state, chance: moves.DrawCard(),
    lambda state, chance: moves.TakeCard(chance.choice(COLOR_NAMES)),
    lambda state, chance: moves.DrawThree(),
    lambda state, chance: moves.PlaceCard(chance.choice(("hand", "holder"))),
    lambda state, chance: moves.PayTunnel(_cards(chance)),
    lambda state, chance: moves.AbandonTunnel(),
    lambda state, chance: moves.Stop(),
    lambda state, chance: moves.DrawTickets(),
    lambda state, chance: moves.KeepTickets(_changed_tickets(state, (), chance)),
    lambda state, chance: moves.ShareTickets((_ticket(state, chance),)),
    lambda state, chance: moves.LayCards(_cards(chance)),
    lambda state, chance: moves.CompleteTickets(_changed_tickets(state, (), chance)),
    lambda state, chance: moves.Pass(),
)


# -- all there are -----------------------------------------------------------------------------------


def all_wires(state: State, seat: Seat) -> Iterator[moves.Move]:
    """Yield every move that could be legal for the seat, which has few cards and few tickets to choose
    from."""
    yield from (
        moves.DrawCard(),
        moves.DrawThree(),
        moves.AbandonTunnel(),
        moves.Stop(),
        moves.DrawTickets(),
        moves.Pass(),
        moves.PlaceCard("hand"),
        moves.PlaceCard("holder"),
    )
    yield from (moves.TakeCard(color) for color in COLOR_NAMES)
    hand, holder = purse_of(state, seat)
    match state.pending:
        case KeepTickets():
            yield from map(moves.KeepTickets, _sets_of_tickets(state, state.offered[seat], 0, 6))
        case ShareTicket():
            yield from map(moves.ShareTickets, _sets_of_tickets(state, state.offered[seat], 1, 2))
        case CompleteTickets():
            held = tuple(bits(state.ticket_masks[seat]))
            yield from map(moves.CompleteTickets, _sets_of_tickets(state, held, 0, len(held)))
        case PayTunnel():
            yield from (moves.PayTunnel(*cards) for cards in _payments(hand, holder))
        case _:
            secret = tuple(bits(state.ticket_masks[seat]))
            yield from map(moves.ShareTickets, _sets_of_tickets(state, secret, 1, 2))
            for cards, holder_cards in _payments(hand, holder):
                yield from (
                    moves.ClaimRoute(route, cards, holder_cards) for route in state.game.board.route_ids
                )
            for part in parts(hand):
                yield moves.LayCards(to_wire(part))
                yield from (moves.BuyTechnology(name, to_wire(part)) for name in technology_ids(state.game))
                yield from (moves.BuildStation(city, to_wire(part)) for city in state.game.board.city_ids)


def purse_of(state: State, seat: Seat) -> tuple[CardSet, CardSet]:
    """Return the cards in hand and holder that can pay: without those laid for a tunnel already."""
    hand = state.hands[seat]
    holder = state.holders[state.game.team_of[seat]] if state.holders else 0
    if isinstance(state.pending, PayTunnel):
        return hand - state.pending.laid, holder - state.pending.holder_laid
    return hand, holder


def parts(cards: CardSet) -> Iterator[CardSet]:
    """Yield every set that can be taken of these cards."""
    for taken in product(*(range(count + 1) for count in counts(cards))):
        yield sum(count << shift for count, shift in zip(taken, SHIFT, strict=True))


def _payments(hand: CardSet, holder: CardSet) -> Iterator[tuple[Cards, Cards]]:
    for part, holder_part in product(parts(hand), parts(holder)):
        yield to_wire(part), to_wire(holder_part)


def _sets_of_tickets(
    state: State, tickets: Iterable[int], least: int, most: int
) -> Iterator[tuple[str, ...]]:
    names = [state.game.board.tickets[ticket].name for ticket in tickets]
    return chain.from_iterable(combinations(names, number) for number in range(least, most + 1))
