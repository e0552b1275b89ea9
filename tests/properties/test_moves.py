"""`check` is the law, `legal` a service, and a refused move changes nothing: for every kind of decision."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from math import prod
from random import Random

import pytest
from hypothesis import given
from msgspec.structs import fields

from stellwerk_engine import engine
from stellwerk_engine.core.board import GRAY, Route, bits
from stellwerk_engine.core.cards import (
    LOCOMOTIVE,
    ONE,
    ONE_LOCOMOTIVE,
    PLAIN_COLORS,
    CardColor,
    CardSet,
    as_list,
    counts,
    covers,
    from_wire,
    of,
    to_wire,
    total,
    without,
)
from stellwerk_engine.core.state import Move, Seat, State
from stellwerk_engine.core.turn import TakeTurn
from stellwerk_engine.parts.claiming.claim_route import claimable_mask, takeable_mask
from stellwerk_engine.parts.claiming.payments import units_to_pay
from stellwerk_engine.parts.claiming.tunnels import PayTunnel, color_laid
from stellwerk_engine.parts.share_tickets import ShareTicket
from stellwerk_engine.parts.technologies.buy_technology import ClaimNow
from stellwerk_engine.parts.tickets import KeepTickets
from stellwerk_protocol import moves
from stellwerk_protocol.errors import MOVE_ERROR_CODES, IllegalMoveError
from tests.properties.laws import assert_lawful
from tests.properties.playing import Line, Variant, examples, lines, moments, played
from tests.properties.wires import all_wires, any_kind_of_wire, any_wire, parts, purse_of
from tests.support import all_cards, every_variant, fingerprint


@every_variant
@examples(2)
@given(line=lines)
def test_every_move_listed_is_accepted_and_can_be_made(variant: Variant, line: Line) -> None:
    """Nobody who owes a decision is left without a move, and none is listed twice."""
    for state in moments(variant, line, 10):
        before = fingerprint(state)
        for seat in engine.owing(state):
            listed = engine.legal(state, seat)
            assert listed
            assert len({move.json for move in listed}) == len(listed)
            for move in (*listed, engine.fallback(state, seat)):
                checked = engine.check(state, seat, move.wire)
                assert type(checked) is type(move)
                assert checked.wire == move.wire
                after = state.copy()
                engine.apply(after, seat, checked)
                assert all_cards(after) == after.game.board.deck
        assert fingerprint(state) == before


@every_variant
@examples(2)
@given(line=lines)
def test_a_refused_move_changes_nothing(variant: Variant, line: Line) -> None:
    """The refusal has a code of the closed list, and a pointer to a field that such a move has."""
    chance = Random(line.chance)
    for state in moments(variant, line, 10):
        before = fingerprint(state)
        owing = engine.owing(state)
        for seat in range(state.game.seat_count):
            for _ in range(12):
                if seat not in owing:
                    assert _refusal(state, seat, any_kind_of_wire(state, chance)) == "game.not_asked"
                    continue
                wire = any_wire(state, seat, chance)
                after = state.copy()
                if _refusal(after, seat, wire) is None:
                    assert_lawful(after)
                else:
                    assert fingerprint(after) == before
        assert fingerprint(state) == before


@every_variant
@examples(1)
@given(line=lines)
def test_no_move_is_taken_after_the_end(variant: Variant, line: Line) -> None:
    *_, state = played(variant, line)
    chance = Random(line.chance)
    before = fingerprint(state)
    for seat in range(state.game.seat_count):
        for _ in range(30):
            assert _refusal(state, seat, any_kind_of_wire(state, chance)) == "game.over"
    assert fingerprint(state) == before


def _refusal(state: State, seat: Seat, wire: moves.Move) -> str | None:
    """Play the move; the code with which it is refused, if it is."""
    try:
        engine.play(state, seat, wire)
    except IllegalMoveError as error:
        refused = error
    else:
        return None
    assert refused.code in MOVE_ERROR_CODES
    assert refused.expected
    field = refused.pointer.split("/")[1] if refused.pointer else "type"
    assert field in {"type", *(known.name for known in fields(wire))}
    return refused.code


# -- all moves there are -----------------------------------------------------------------------------


@every_variant
@examples(2)
@given(line=lines)
def test_the_list_is_complete_exactly_if_it_is_said_to_be(variant: Variant, line: Line) -> None:
    """Every move that the wire can carry is tried, for hands of few cards."""
    chance = Random(line.chance)
    for state in moments(variant, line, 4):
        seat = engine.owing(state)[0]
        if not _choose_among_few(state, seat, chance):
            continue
        accepted = {move.json for move in _accepted(state, seat)}
        listed = {move.json for move in engine.legal(state, seat)}
        assert listed <= accepted
        assert engine.fallback(state, seat).json in accepted
        assert engine.legal_complete(state, seat) == (listed == accepted)


def _accepted(state: State, seat: Seat) -> Iterator[Move]:
    for wire in all_wires(state, seat):
        try:
            yield engine.check(state, seat, wire)
        except IllegalMoveError:
            continue


map_variants = pytest.mark.parametrize(
    "variant",
    [
        ("usa", 2, ()),
        ("team_asia", 4, ()),
        ("europe", 2, ()),
        ("united_kingdom", 2, ()),
        ("united_kingdom", 3, ("advanced_technologies",)),
    ],
    ids=lambda variant: "-".join(map(str, (*variant[:2], *variant[2]))),
)


@map_variants
@examples(4)
@given(line=lines)
def test_a_claim_is_accepted_exactly_if_its_cards_are_a_payment(variant: Variant, line: Line) -> None:
    """UK-30, by its definition: the test searches for a division into groups. The price of every other game
    is a case of it. Each route that can be claimed is on the list, under each color that can be laid (none if
    Diesel Power leaves only the symbols of a ferry to pay)."""
    chance = Random(line.chance)
    for state in moments(variant, line, 4):
        seat = engine.owing(state)[0]
        if not isinstance(state.pending, TakeTurn | ClaimNow) or not _choose_among_few(state, seat, chance):
            continue
        perks = state.game.perks[state.technologies[seat]]
        accepted = [move.wire for move in _accepted(state, seat)]
        claims = [wire for wire in accepted if isinstance(wire, moves.ClaimRoute)]
        assert sorted(map(repr, claims)) == sorted(map(repr, _payments_by_definition(state, seat)))
        listed = [move.wire for move in engine.legal(state, seat)]
        under = {(wire.route, _color(wire)) for wire in listed if isinstance(wire, moves.ClaimRoute)}
        for claim in claims:
            assert any(claim.route == name for name, _ in under)
            route = state.game.board.routes[state.game.board.route_ids[claim.route]]
            has_color = _color(claim) != LOCOMOTIVE and units_to_pay(route, perks.discount) > route.symbols
            if _card_count(claim) == route.length and (has_color or route.tunnel):
                assert (claim.route, _color(claim)) in under


def _color(claim: moves.ClaimRoute) -> CardColor:
    """Return the color laid, if there are no substitutes."""
    return color_laid(from_wire(claim.cards) + from_wire(claim.holder_cards))


def _card_count(claim: moves.ClaimRoute) -> int:
    return total(from_wire(claim.cards) + from_wire(claim.holder_cards))


def _payments_by_definition(state: State, seat: Seat) -> Iterator[moves.ClaimRoute]:
    """Yield all payments for the routes that the seat may claim now."""
    decision = state.pending
    takes = isinstance(decision, ClaimNow) and decision.right_of_way
    mask = takeable_mask(state, seat) if takes else claimable_mask(state, seat)
    perks = state.game.perks[state.technologies[seat]]
    hand, holder = purse_of(state, seat)
    for pay, holder_pay in product(parts(hand), parts(holder)):
        for route_id in bits(mask):
            route = state.game.board.routes[route_id]
            if _is_payment(pay + holder_pay, route, perks.substitute, perks.discount):
                yield moves.ClaimRoute(route.name, to_wire(pay), to_wire(holder_pay))


def _is_payment(cards: CardSet, route: Route, substitute: int, discount: int) -> bool:
    """Return whether the cards pay n units, with k substitutes among them, for some n and k."""
    return any(
        _divides(cards, route, units, substitutes, substitute)
        for units in {route.length, max(1, route.length - discount)}
        for substitutes in range(units + 1 if substitute else 1)
    )


def _divides(cards: CardSet, route: Route, units: int, substitutes: int, substitute: int) -> bool:
    """Return whether the cards divide into k groups of any s cards, and n - k single cards."""
    alone = units - substitutes
    if total(cards) != alone + substitutes * substitute:
        return False
    for color in PLAIN_COLORS if route.color == GRAY else (route.color,):
        for locomotives in range(alone + 1):
            themselves = (alone - locomotives) * ONE[color] + locomotives * ONE_LOCOMOTIVE
            if covers(cards, themselves) and locomotives + substitutes >= route.symbols:
                return True
    return False


# -- small hands -------------------------------------------------------------------------------------

MOST_WAYS = 80  # to take cards out of hand and holder


def _choose_among_few(state: State, seat: Seat, chance: Random) -> bool:
    """Leave the seat so few cards that everything can be tried. False: it has too many tickets for that, or
    no move any more."""
    if isinstance(state.pending, KeepTickets | ShareTicket):
        return True
    if state.stacks_seen:
        return state.ticket_masks[seat].bit_count() <= 8
    if isinstance(state.pending, PayTunnel):
        _keep_what_pays(state, seat, state.pending)
    else:
        _deal_few_cards(state, seat, chance)
        if state.supply:
            _trade_technologies(state, seat, chance)
    return bool(engine.legal(state, seat))


def _keep_what_pays(state: State, seat: Seat, bill: PayTunnel) -> None:
    """Put everything under the pile that can add nothing to the cards laid."""
    team = state.game.team_of[seat]
    places = [(state.hands, seat, bill.laid)]
    if state.holders:
        places.append((state.holders, team, bill.holder_laid))
    for held, owner, laid in places:
        spare = without(held[owner], laid)
        useless = [color for color in as_list(spare) if color not in (bill.color, LOCOMOTIVE)]
        held[owner] -= of(useless)
        state.pile[:0] = useless


def _trade_technologies(state: State, seat: Seat, chance: Random) -> None:
    """Give the seat some of the technologies, and more often than in play leave it nothing to buy."""
    state.technologies[seat] |= chance.getrandbits(len(state.supply)) & chance.getrandbits(len(state.supply))
    if chance.random() < 0.5:
        state.supply = (0,) * len(state.supply)


def _deal_few_cards(state: State, seat: Seat, chance: Random) -> None:
    """Replace a hand and its holder by cards of few colors, from the pile and the cards held before."""
    team = state.game.team_of[seat]
    places = [(state.hands, seat, state.known)]
    if state.holders:
        places.append((state.holders, team, state.known_holders))
    for held, owner, known in places:
        state.pile[:0] = as_list(held[owner])
        held[owner] = known[owner] = 0
    colors = (*chance.sample(PLAIN_COLORS, chance.randrange(3)), LOCOMOTIVE)
    for _ in range(chance.randrange(12)):
        held, owner, _ = chance.choice(places)
        color = chance.choice(colors)
        hand, holder = purse_of(state, seat)
        ways = prod(count + 1 for count in (*counts(hand), *counts(holder)))
        if color in state.pile and ways < MOST_WAYS:
            state.pile.remove(color)
            held[owner] += ONE[color]
