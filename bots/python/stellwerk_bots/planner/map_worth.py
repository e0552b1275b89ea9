"""The value of a move on a map: the rules of thumb of the policy `planner`.

First it connects the seat's tickets by the plan of `network_plan.py`: it buys what the plan needs, claims its
routes as soon as it can pay for them, and otherwise draws the missing cards. Then it draws more tickets while
there are trains for them. At last it turns the remaining trains into points. Values are in tenths of points,
but only their order matters.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache, partial
from itertools import islice
from typing import Final

from stellwerk_bots.planner.network_plan import GAMES_KEPT, NO_STATIONS, Plan, Stations, make_plan
from stellwerk_engine.core.board import GRAY, NO_ROUTE, Board, CityId, Route, RouteId, bits, mask_of
from stellwerk_engine.core.cards import LOCOMOTIVE, PLAIN_COLORS, CardColor, CardSet, counts, total
from stellwerk_engine.core.scoring import connects
from stellwerk_engine.core.state import NOT_LAST_ROUND, Game, Move, Seat, State
from stellwerk_engine.core.turn import TakeTurn
from stellwerk_engine.parts.claiming.claim_route import Claim, ClaimRoute, add_claims, claimable_mask
from stellwerk_engine.parts.claiming.tunnels import PayMore
from stellwerk_engine.parts.draw_cards import (
    DrawFirst,
    DrawSecond,
    DrawThree,
    PutFirst,
    TakeFirst,
    TakeSecond,
)
from stellwerk_engine.parts.holders import holder_of
from stellwerk_engine.parts.share_tickets import ShareOne, ShareTickets
from stellwerk_engine.parts.stations.borrowed_routes import best_uses
from stellwerk_engine.parts.stations.build_station import Build, BuildStation, free_mask, stations_left
from stellwerk_engine.parts.technologies.buy_technology import Buy, BuyTechnology, technologies_of
from stellwerk_engine.parts.tickets import DrawTicketsMove, Keep

# Levels, far enough apart that values within one never reach the next.
BUY_FOR_PLAN: Final = 3000
CLAIM_FOR_PLAN: Final = 2000
BUILD_FOR_PLAN: Final = 1500
CLAIM_FOR_POINTS: Final = 1000
MORE_TICKETS: Final = 500

LOCOMOTIVE_WANTED: Final = 35  # takes the whole turn
CARD_WANTED: Final = 30
THREE_BLIND: Final = 25
BLIND: Final = 20
CARD: Final = 10

TRAINS_TO_PLAN_WITH: Final = (
    3,
    4,
)  # of the trains, for new tickets: others build too, and the game may end early
TRAINS_FOR_MORE_TICKETS: Final = 3  # draw tickets while a third of the trains is left
PRICE_OF_A_STEP: Final = 1  # of the plan for a ticket, in points
SOON: Final = 5  # if any player has so few trains, the end is near


@dataclass(frozen=True, slots=True)
class Outlook:
    """The seat's estimate of its chances."""

    state: State
    seat: Seat
    purse: bytes  # cards in hand and holder, by color
    network_mask: int  # the team's routes
    usable_mask: int  # routes that the seat can claim, now or with technologies that it can buy
    to_buy_mask: int
    open_tickets_mask: int
    plan: Plan
    wanted: list[int]  # cards that its next routes lack, by color
    last_round: bool
    ends_soon: bool


def map_worth(state: State, seat: Seat) -> Callable[[Move], float]:
    return partial(_worth, _look(state, seat))


def best_listed(state: State, seat: Seat) -> Move:
    """Return the listed move with the highest value, at a third of the cost of listing and evaluating all
    legal moves. Searches, which play thousands of turns, need that."""
    decision = state.pending
    assert decision is not None
    if not isinstance(decision, TakeTurn):
        moves = decision.legal(state, seat)
        return moves[0] if len(moves) == 1 else max(moves, key=map_worth(state, seat))
    outlook = _look(state, seat)
    worth = partial(_worth, outlook)
    best = max(_worthwhile(outlook, decision), key=worth, default=None)
    if best is None or worth(best) <= 0:  # moves that were left out may have the same value
        best = max(decision.legal(state, seat), key=worth)
    return best


def _worthwhile(outlook: Outlook, decision: TakeTurn) -> list[Move]:
    """Return the legal moves that can have a value, in their order."""
    state, seat = outlook.state, outlook.seat
    moves: list[Move] = []
    for action in (*state.game.rules.menu, *decision.before):
        match action:
            case ClaimRoute():
                mask = claimable_mask(state, seat) & _worthwhile_mask(outlook)
                if mask:
                    add_claims(state, seat, mask, moves)
            case ShareTickets():
                pass
            case BuyTechnology() if not outlook.plan.technologies_mask:
                pass
            case BuildStation() if not outlook.plan.cities_mask:
                pass
            case _:
                action.add_legal(state, seat, moves)
    return moves


def _worthwhile_mask(outlook: Outlook) -> int:
    """Return the routes that can be worth a claim."""
    if outlook.last_round:
        return outlook.usable_mask
    if outlook.plan.routes_mask:
        return outlook.plan.routes_mask
    return outlook.usable_mask if outlook.ends_soon else outlook.usable_mask & _good_mask(outlook.state.game)


@lru_cache(maxsize=GAMES_KEPT)
def _good_mask(game: Game) -> int:
    return mask_of(route.id for route in game.board.routes if route is not NO_ROUTE and _is_good(route))


def _is_good(route: Route) -> bool:
    """Test whether a route's points are worth its trains."""
    return 2 * route.points >= 3 * route.length


def _worth(outlook: Outlook, move: Move) -> float:
    match move:
        case Claim(route=route, pay=pay, holder_pay=holder_pay):
            return _worth_of_claim(outlook, route, pay + holder_pay)
        case Buy(technology=technology, pay=pay):
            needed = outlook.plan.technologies_mask >> technology & 1
            return BUY_FOR_PLAN if needed and _can_spare(outlook, pay) else -1
        case Build(city=city):
            return _worth_of_station(outlook, city)
        case TakeFirst(card=card) | TakeSecond(card=card):
            if card == LOCOMOTIVE:
                return LOCOMOTIVE_WANTED if outlook.wanted[LOCOMOTIVE] > 0 else CARD
            return CARD_WANTED + outlook.wanted[card] if outlook.wanted[card] > 0 else CARD
        case DrawFirst() | DrawSecond():
            return BLIND
        case DrawThree():
            return THREE_BLIND
        case PutFirst(card=card, place=place):
            return (outlook.wanted[card] > 0) == (place == "hand")
        case DrawTicketsMove():
            return MORE_TICKETS if _wants_tickets(outlook) else 0
        case Keep(tickets=kept):
            return _worth_of_tickets(outlook, mask_of(kept))
        case ShareOne(ticket=ticket):
            return outlook.state.game.board.tickets[ticket].points
        case PayMore():
            return 1
        case _:
            return 0


# -- the outlook -------------------------------------------------------------------------------------


def _look(state: State, seat: Seat) -> Outlook:
    game = state.game
    board = game.board
    team = game.team_of[seat]
    held = state.technologies[seat]
    network_mask = 0
    for partner in game.seats_of_team[team]:
        network_mask |= state.owned_masks[partner]
    to_buy_mask = mask_of(
        number
        for number, technology in enumerate(technologies_of(game.rules))
        if state.supply[number]
        and not held >> number & 1
        and not (technology.claims or technology.claims_taken)
    )
    usable_mask = (
        state.open_mask
        & ~state.barred_masks[seat]
        & game.perks[held | to_buy_mask].openable_mask
        & board.at_most_masks[min(state.trains[seat], board.longest_route)]
    )
    tickets_mask = state.ticket_masks[seat] | (state.shared_masks[team] if state.shared_masks else 0)
    networks = state.networks[team]
    open_tickets_mask = mask_of(
        ticket for ticket in bits(tickets_mask) if not connects(networks, board.tickets[ticket])
    )
    stations = NO_STATIONS
    if state.stations:
        uses = best_uses(state, seat)
        open_tickets_mask &= ~uses.completed_mask
        stations = Stations(
            left=stations_left(state, seat),
            idle_mask=mask_of(city for city, route in uses.routes if route is None),
            free_mask=free_mask(state),
            lendable_mask=state.claimed_mask & ~state.owned_masks[seat],
        )
    plan = make_plan(
        game, network_mask, usable_mask, open_tickets_mask, to_buy_mask, state.trains[seat], stations
    )
    purse = counts(state.hands[seat] + holder_of(state, seat))
    routes = [board.routes[route] for route in bits(plan.routes_mask)]
    if not routes:
        routes = _nearest(board, usable_mask & game.perks[held].openable_mask, purse)
    wanted = _wanted(routes, purse)
    wanted[LOCOMOTIVE] += sum(
        technologies_of(game.rules)[number].cost for number in bits(plan.technologies_mask)
    )
    return Outlook(
        state=state,
        seat=seat,
        purse=purse,
        network_mask=network_mask,
        usable_mask=usable_mask,
        to_buy_mask=to_buy_mask,
        open_tickets_mask=open_tickets_mask,
        plan=plan,
        wanted=wanted,
        last_round=state.turns_left != NOT_LAST_ROUND,
        ends_soon=state.turns_left != NOT_LAST_ROUND or min(state.trains) <= SOON,
    )


def _nearest(board: Board, open_mask: int, purse: bytes) -> list[Route]:
    """Return two routes that lack few cards and bring many points; of equal ones those with the lowest
    ids."""
    nearest: list[tuple[int, RouteId]] = []
    for kinds in board.kinds:
        for kind in kinds:
            there = kind.mask & open_mask
            if there:
                of_kind = list(islice(bits(there), 2))
                route = board.routes[of_kind[0]]
                nearest += [(2 * _lacking(route, purse) - route.points, number) for number in of_kind]
    return [board.routes[number] for _, number in sorted(nearest)[:2]]


def _lacking(route: Route, purse: bytes) -> int:
    """Return how many cards for the route are missing from the purse."""
    of_color = max(purse[:LOCOMOTIVE]) if route.color == GRAY else purse[route.color]
    return max(0, route.length - min(of_color, route.length - route.symbols) - purse[LOCOMOTIVE])


def _wanted(routes: list[Route], purse: bytes) -> list[int]:
    """Return the cards that all these routes together lack. A gray route takes the color of which most are
    left."""
    left = list(purse)
    wanted = [0] * len(purse)
    for route in sorted(routes, key=lambda route: (route.color == GRAY, _lacking(route, purse))):
        color = max(PLAIN_COLORS, key=lambda color: left[color]) if route.color == GRAY else route.color
        plain = route.length - route.symbols
        laid = min(left[color], plain)
        left[color] -= laid
        wanted[color] += plain - laid
        wanted[LOCOMOTIVE] += route.symbols
    wanted[LOCOMOTIVE] -= purse[LOCOMOTIVE]
    return wanted


# -- claims and purchases ----------------------------------------------------------------------------


def _worth_of_claim(outlook: Outlook, route: Route, cards: CardSet) -> float:
    if outlook.last_round:
        level = CLAIM_FOR_PLAN + 20 * _points_completed(outlook, route)
    elif route.tunnel and _cards_beside(outlook, cards) < route.tunnel // 3:
        return -1
    elif route.bit & outlook.plan.routes_mask:
        level = CLAIM_FOR_PLAN
    elif not outlook.plan.routes_mask and (outlook.ends_soon or _is_good(route)):
        level = CLAIM_FOR_POINTS
    else:
        return 0
    return level + 10 * route.points - _price(outlook, cards)


def _worth_of_station(outlook: Outlook, city: CityId) -> float:
    """Let a station wait until the routes of the plan are claimed, unless the end is near."""
    if not outlook.plan.cities_mask >> city & 1:
        return -1
    if outlook.plan.routes_mask and not outlook.ends_soon:
        return 0
    return BUILD_FOR_PLAN


def _price(outlook: Outlook, cards: CardSet) -> float:
    """Return the price of cards. Locomotives and cards that the plan lacks cost more than others."""
    paid = counts(cards)
    lacking = sum(paid[color] for color in PLAIN_COLORS if outlook.wanted[color] > 0)
    return 3 * paid[LOCOMOTIVE] + 2 * lacking + total(cards) / 2


def _cards_beside(outlook: Outlook, cards: CardSet) -> int:
    """Return how many cards remain to pay for a tunnel."""
    paid, purse = counts(cards), outlook.purse
    color: CardColor = next((color for color in PLAIN_COLORS if paid[color]), LOCOMOTIVE)
    locomotives = purse[LOCOMOTIVE] - paid[LOCOMOTIVE]
    return locomotives + (purse[color] - paid[color] if color != LOCOMOTIVE else 0)


def _points_completed(outlook: Outlook, route: Route) -> int:
    """Return the points of the tickets that the route completes at once."""
    state = outlook.state
    merged = route.ends_mask
    for network in state.networks[state.game.team_of[outlook.seat]]:
        if network & route.ends_mask:
            merged |= network
    tickets = [state.game.board.tickets[ticket] for ticket in bits(outlook.open_tickets_mask)]
    return sum(ticket.points for ticket in tickets if connects((merged,), ticket))


def _can_spare(outlook: Outlook, pay: CardSet) -> bool:
    """Test whether the seat can spare a payment: locomotives at any time, cards in their place only from a
    large hand."""
    return not any(counts(pay)[:LOCOMOTIVE]) or total(outlook.state.hands[outlook.seat]) > 14


# -- tickets -----------------------------------------------------------------------------------------


def _wants_tickets(outlook: Outlook) -> bool:
    trains = outlook.state.trains[outlook.seat]
    enough = trains * TRAINS_FOR_MORE_TICKETS > outlook.state.game.board.trains
    return enough and not outlook.plan.routes_mask and not outlook.ends_soon


def _worth_of_tickets(outlook: Outlook, kept_mask: int) -> float:
    """Return the points of the tickets that can be connected together with the open ones, minus those of the
    others, minus the effort."""
    state = outlook.state
    part, whole = TRAINS_TO_PLAN_WITH
    plan = make_plan(
        state.game,
        outlook.network_mask,
        outlook.usable_mask,
        outlook.open_tickets_mask | kept_mask,
        outlook.to_buy_mask,
        state.trains[outlook.seat] * part // whole,
    )
    return plan.points - plan.cost * PRICE_OF_A_STEP
