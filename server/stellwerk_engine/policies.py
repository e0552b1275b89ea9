"""Players that need no thinking time: one moves by chance, the other is greedy.

The law: a policy gets the whole state, for it plays inside one process, and yet looks only at what a view would
show its seat: the own hand and tickets, the team's holders, and what is public. What it does not know never
changes its move. It keeps nothing between two moves, so it can go on with any state, an imagined one too.

The greedy one makes the move of greatest worth by a rule of thumb, the first one where several are.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Protocol

from stellwerk_engine.board import GRAY, Route, Ticket, bits, mask_of
from stellwerk_engine.cards import LOCOMOTIVE, PLAIN_COLORS, CardSet, counts, total
from stellwerk_engine.claim_route import Claim
from stellwerk_engine.complete_tickets import Complete
from stellwerk_engine.decision import Move, Seat
from stellwerk_engine.draw_cards import (
    DrawFirst,
    DrawSecond,
    DrawThree,
    PutFirst,
    StopDrawing,
    TakeFirst,
    TakeSecond,
)
from stellwerk_engine.network_plan import Plan, make_plan
from stellwerk_engine.rail_yard import Lay, cards_to_beat
from stellwerk_engine.scoring import connects
from stellwerk_engine.state import NOT_LAST_ROUND, State
from stellwerk_engine.technologies import Buy
from stellwerk_engine.tickets import DrawTicketsMove, Keep, Share, ShareOne
from stellwerk_engine.tunnel import PayMore, holder_of

Policy = Callable[[State, Seat, list[Move]], Move]


class RandomSource(Protocol):
    def random(self) -> float:
        """From 0 to below 1, like `random.Random`."""
        ...


def random_policy(source: RandomSource) -> Policy:
    """Each listed move with the same chance."""

    def choose(state: State, seat: Seat, moves: list[Move]) -> Move:
        return moves[int(source.random() * len(moves))]

    return choose


def greedy(state: State, seat: Seat, moves: list[Move]) -> Move:
    if len(moves) == 1:
        return moves[0]
    worth = _yard_worth(state, seat) if state.game.rules.rail_yards else _map_worth(state, seat)
    return max(moves, key=worth)


# -- on a map ----------------------------------------------------------------------------------------

CAUTION: Final = 0.75


def _map_worth(state: State, seat: Seat) -> Callable[[Move], float]:
    game = state.game
    board = game.board
    team = game.team_of[seat]
    purse = counts(state.hands[seat] + holder_of(state, seat))
    held = state.technologies[seat]
    buyable = mask_of(
        n
        for n, technology in enumerate(game.rules.technologies)
        if state.supply[n] and not held >> n & 1 and not technology.claims and not technology.claims_taken
    )
    mine = 0
    for partner in game.seats_of_team[team]:
        mine |= state.owned_masks[partner]
    usable = (
        state.open_mask
        & ~state.barred_masks[seat]
        & game.perks[held | buyable].openable_mask
        & board.at_most_masks[min(state.trains[seat], board.longest_route)]
    )
    tickets = state.ticket_masks[seat] | (state.shared_masks[team] if state.shared_masks else 0)
    open_tickets = mask_of(
        t for t in bits(tickets) if not connects(state.networks[team], board.tickets[t])
    )

    def plan_for(tickets_mask: int, trains: int) -> Plan:
        return make_plan(game, mine, usable, tickets_mask, buyable, trains)

    plan = plan_for(open_tickets, state.trains[seat])
    hurry = state.turns_left != NOT_LAST_ROUND or min(state.trains) <= 5
    targets = [board.routes[r] for r in bits(plan.routes_mask)]
    if not targets:
        routes = [board.routes[r] for r in bits(usable & game.perks[held].openable_mask)]
        targets = sorted(routes, key=lambda r: (-r.points + 2 * _missing(r, purse), r.id))[:2]
    wanted = _wanted(targets, purse)
    if plan.technologies_mask:
        wanted[LOCOMOTIVE] += sum(game.rules.technologies[n].cost for n in bits(plan.technologies_mask))
        wanted[LOCOMOTIVE] -= purse[LOCOMOTIVE]

    def worth(move: Move) -> float:
        match move:
            case Claim(route=route, pay=pay, holder_pay=holder_pay):
                return _claim_worth(route, pay + holder_pay) - 0.01 * total(holder_pay)
            case TakeFirst(card=card) | TakeSecond(card=card):
                if card == LOCOMOTIVE:
                    return 3.5 if wanted[LOCOMOTIVE] > 0 else 1.5
                return 3 + wanted[card] / 10 if wanted[card] > 0 else 1
            case DrawFirst() | DrawSecond():
                return 2
            case DrawThree():
                return 2.5
            case PutFirst(card=card, place=place):
                return (wanted[card] > 0) == (place == "hand")
            case DrawTicketsMove():
                return 5 if not targets_left and not hurry and state.trains[seat] > 15 else 0
            case Keep(tickets=kept):
                trains = int(state.trains[seat] * CAUTION)
                kept_plan = plan_for(open_tickets | mask_of(kept), trains)
                return kept_plan.points - kept_plan.cost / 4
            case ShareOne(ticket=ticket):
                return board.tickets[ticket].points
            case Buy(technology=technology, pay=pay):
                return 200 if plan.technologies_mask >> technology & 1 and _spare(pay) else -1
            case PayMore():
                return 1
            case Share():
                return -2
            case _:
                return 0

    targets_left = plan.routes_mask

    def _spare(pay: CardSet) -> bool:
        paid = counts(pay)
        return not any(paid[c] for c in PLAIN_COLORS) or total(state.hands[seat]) > 14

    def _claim_worth(route: Route, pay: CardSet) -> float:
        paid = counts(pay)
        price = paid[LOCOMOTIVE] * 0.3 + sum(paid[c] for c in PLAIN_COLORS if wanted[c] > 0) * 0.2 + total(pay) * 0.05
        if route.tunnel:
            c = next((c for c in PLAIN_COLORS if paid[c]), LOCOMOTIVE)
            left = purse[LOCOMOTIVE] - paid[LOCOMOTIVE] + (purse[c] - paid[c] if c != LOCOMOTIVE else 0)
            if left < route.tunnel // 3 and not hurry:
                return -1
        if hurry:
            return 50 + route.points + 2 * _gain(route) - price
        if route.bit & plan.routes_mask:
            return 100 + route.points - price
        if plan.routes_mask:
            return -1
        if route.points >= 7 or state.trains[seat] < 10:
            return 20 + route.points - price
        return 1.5 - price

    def _gain(route: Route) -> int:
        merged = route.ends_mask
        for network in state.networks[team]:
            if network & route.ends_mask:
                merged |= network
        return sum(board.tickets[t].points for t in bits(open_tickets) if connects((merged,), board.tickets[t]))

    return worth


def _missing(route: Route, purse: bytes) -> int:
    """Cards still to be drawn for the route, if it had the purse alone."""
    best = max(purse[:8]) if route.color == GRAY else purse[route.color]
    return max(0, route.length - min(best, route.length - route.symbols) - purse[LOCOMOTIVE])


def _wanted(targets: list[Route], purse: bytes) -> list[int]:
    left = list(purse)
    wanted = [0] * 9
    for route in sorted(targets, key=lambda r: (r.color == GRAY, _missing(r, purse), r.id)):
        color = max(PLAIN_COLORS, key=lambda c: left[c]) if route.color == GRAY else route.color
        plain = route.length - route.symbols
        used = min(left[color], plain)
        left[color] -= used
        wanted[color] += plain - used
        wanted[LOCOMOTIVE] += route.symbols
    wanted[LOCOMOTIVE] -= purse[LOCOMOTIVE]
    return wanted


# -- with a rail yard --------------------------------------------------------------------------------


import os
P = [float(x) for x in os.environ.get("P", "0.95,0.8,5,0.5,0.5,2.4,3,0.3,1,10,1,3").split(",")]
CHEAT = os.environ.get("CHEAT")


def _yard_worth(state: State, seat: Seat) -> Callable[[Move], float]:
    game = state.game
    tickets = game.board.tickets
    hand = counts(state.hands[seat])
    yard, locos = counts(state.yards[seat]), counts(state.yard_locomotives[seat])
    seats = game.seat_count
    needs = _needs(tickets, state.ticket_masks[seat])
    sent = total(state.stacks[seat])
    lying = sum(yard) + sum(locos)
    turns = state.turns_left // seats if state.turns_left >= 0 else 1 + int(len(state.pile) / (P[5] * .5 * seats))
    coming = sent + lying + sum(hand) * 2 // 3 + turns
    to_beat = cards_to_beat(state, seat)
    delivered = counts(state.stacks[seat]) if CHEAT else [0]*9
    need = [max(0, n - d - y) for n, d, y in zip(needs, delivered, yard)]

    def worth(move: Move) -> float:
        match move:
            case Keep(tickets=kept):
                all_needs = _needs(tickets, state.ticket_masks[seat] | mask_of(kept))
                over = max(0, sum(all_needs) - coming * P[0])
                fits = sum(min(n, h) for n, h in zip(all_needs, hand, strict=False))
                cities = sum((c.tickets_mask & mask_of(kept)).bit_count() for c in game.board.big_cities)
                return sum(tickets[t].points for t in kept) - P[9] * over + P[10] * fits + P[8] * cities
            case Lay(cards=cards):
                laid = counts(cards)
                colors = [c for c in PLAIN_COLORS if laid[c]]
                useful = 0.0
                for c in colors:
                    k = laid[c] + (laid[LOCOMOTIVE] if len(colors) == 1 else 0)
                    k = min(k, turns - 1)
                    useful += min(k, need[c]) if len(colors) == 3 else min(k, need[c] + laid[LOCOMOTIVE])
                raided = sum(to_beat[c] for c in colors)
                return 3 * useful + P[7] * raided - P[3] * total(cards) - laid[LOCOMOTIVE] * P[4]
            case TakeFirst(card=card) | TakeSecond(card=card):
                if card == LOCOMOTIVE:
                    return P[2] - 1
                return P[2] + need[card] / 10 if need[card] > hand[card] else P[2] - P[11]
            case DrawFirst() | DrawSecond():
                return P[2] - 1
            case DrawTicketsMove():
                return 8 if turns > P[6] and sum(needs) < coming * P[1] else -1
            case Complete(tickets=completed):
                return sum(tickets[t].points for t in completed)
            case _:
                return 0

    return worth


def _needs(tickets: tuple[Ticket, ...], mask: int) -> list[int]:
    needs = [0] * 8
    for t in bits(mask):
        for c in PLAIN_COLORS:
            needs[c] += tickets[t].needs[c]
    return needs
