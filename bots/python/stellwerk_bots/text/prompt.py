"""Positions in words, for a language model: the rules, what the seat may know, the moves by their numbers.

Law: a prompt says what `start`, the ask and the events say, and no more. Each listed move is in it, by its
index. It has at most `LONGEST` characters: long positions say less about how tickets can be completed.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from string import ascii_lowercase, ascii_uppercase
from typing import Final

import msgspec

from stellwerk_base.texts import counted
from stellwerk_bots.bot import Message
from stellwerk_bots.planner.network_plan import cheapest_path
from stellwerk_bots.text.position import Memory, Position
from stellwerk_engine.core.board import GRAY, Route, Ticket, bits, mask_of
from stellwerk_engine.core.scoring import connects
from stellwerk_engine.core.words import Words
from stellwerk_engine.games.rules_in_words import rules_in_words
from stellwerk_engine.parts.stations.borrowed_routes import best_uses
from stellwerk_engine.parts.technologies.buy_technology import technologies_of, technology_ids
from stellwerk_protocol.cards import Cards
from stellwerk_protocol.decisions import Decision
from stellwerk_protocol.names import COLORS


@dataclass(frozen=True, slots=True)
class Detail:
    """How much a prompt says beside the rules and the moves: of how many tickets it names the missing routes,
    and whether it has what left the game or the pile, the news, and open routes that the seat can neither pay
    nor needs."""

    paths: int
    has_past: bool = True
    has_news: bool = True
    has_all_routes: bool = True


LONGEST: Final = 8_000  # characters of a prompt
DETAILS: Final = (  # the first one with which a prompt is short enough; the last one in any case
    Detail(paths=6),
    Detail(paths=3),
    Detail(paths=3, has_past=False),
    Detail(paths=3, has_past=False, has_all_routes=False),
    Detail(paths=3, has_past=False, has_all_routes=False, has_news=False),
    Detail(paths=0, has_past=False, has_all_routes=False, has_news=False),
)
TARGETS: Final = {"claim_route": "route", "build_station": "city", "buy_technology": "technology"}
TICKET_MOVES: Final = ("keep_tickets", "share_tickets", "complete_tickets")
NUMBERS: Final = (  # of a player's view: the field, what it counts, and where that is
    ("points", "point", ""),
    ("trains", "train", " left"),
    ("hand_count", "card", " in hand"),
    ("ticket_count", "ticket", ""),
    ("stations_left", "station", " left"),
    ("stack_count", "card", " on the stack"),
)
NAMES: Final = ("technologies", "stations", "routes", "completed")
LETTERS: Final = dict(zip(COLORS, "PBOWGYKRL", strict=True))
LEGEND: Final = ", ".join(f"{letter} {color}" for color, letter in LETTERS.items())


def write_prompt(position: Position, memory: Memory) -> str:
    """Write the prompt that a model gets if its author writes no other."""
    text = ""
    for detail in DETAILS:
        text = "\n".join(_lines(position, detail))
        if len(text) <= LONGEST:
            break
    return text


def _lines(position: Position, detail: Detail) -> Iterator[str]:
    view = position.view
    yield f"You play the train game {position.start['game']} in seat {view['seat']}. Most points win."
    yield "\nRULES"
    yield rules_in_words(position.game)
    yield f"\nPOSITION IN TURN {view['turn']}"
    yield from situation(position, detail)
    if position.news and detail.has_news:
        yield "\nSINCE YOUR TURN BEFORE"
        yield "; ".join(position.news)
    yield "\nMOVES, each with its number in [ ]" if position.shows_moves else "\nFORMS OF MOVES"
    yield from moves(position, detail) if position.shows_moves else forms(position)
    yield f"\nQUESTION: {question(position)}"
    yield answer_form(position)
    if position.refused:
        yield f"Your last answer was refused: {position.refused}"


# -- what the seat may know --------------------------------------------------------------------------


def situation(position: Position, detail: Detail = DETAILS[0]) -> Iterator[str]:
    """Yield what the seat may know, a line for each player and pile."""
    view, own = position.view, position.own
    words = Words(position.game.board)
    if view.get("turns_left"):
        yield f"The last round: {counted(view['turns_left'], 'turn')} left, yours included."
    if view.get("half", 1) > 1:
        yield "The second half of the game."
    yield f"Open cards: {_cards(words, view['market'])}. Discards: {_cards(words, view['discards'])}."
    unseen = f", out of {_cards(words, view['pile_may_hold'])}" if view["pile"] and detail.has_past else ""
    tickets_left = counted(view["ticket_pile"], "ticket")
    yield f"Pile: {counted(view['pile'], 'card')}{unseen}. Ticket pile: {tickets_left}."
    if "supply" in view:
        yield f"Technologies left: {technologies_left(position)}."
    for player in view["players"]:
        yield _player(words, view, player)
    for team in view.get("teams", []):
        yield _team(words, team)
    yield f"Your hand: {_cards(words, own['hand'])}."
    if "stack" in own:
        yield f"Your stack: {_cards(words, own['stack'])}."
    yield from tickets(position, detail)


def technologies_left(position: Position) -> str:
    """Return the numbers of technologies that can still be bought, where these are not those of the start."""
    supply: dict[str, int] = position.view["supply"]
    bought = [
        f"{kind.id} {supply.get(kind.id, 0)}"
        for kind in technologies_of(position.game.rules)
        if supply.get(kind.id, 0) < kind.supply
    ]
    return f"all but {', '.join(bought)}" if bought else "all"


def tickets(position: Position, detail: Detail = DETAILS[0]) -> Iterator[str]:
    """Yield the tickets of the seat, of its team, and those offered to it, with what they still need."""
    board, own = position.game.board, position.own
    labels, open_count = ticket_labels(position), 0
    teams: list[Message] = position.view.get("teams", [])
    for title, names in (
        ("Your tickets", own["tickets"]),
        ("Tickets of your team", [name for team in teams for name in team.get("shared_tickets", [])]),
        ("Tickets offered to you", own.get("offered", [])),
    ):
        if names:
            yield f"{title}, with their points:"
        for name in names:
            ticket = board.tickets[board.ticket_ids[name]]
            missing, is_open = missing_of(position, ticket, names_routes=open_count < detail.paths)
            open_count += is_open
            label = f"{labels[name]} = " if name in labels else ""
            yield f"- {label}{name} {ticket.points}: {missing}"
    for title, field in (("Tickets that you put back", "returned"), ("Tickets out of the game", "removed")):
        if detail.has_past and own.get(field):
            yield f"{title}: {', '.join(own[field])}."


def _player(words: Words, view: Message, player: Message) -> str:
    is_own = player["seat"] == view["seat"]
    team = f" of team {player['team']}" if "teams" in view else ""
    facts = [f"{counted(player[field], one)}{where}" for field, one, where in NUMBERS if field in player]
    if not is_own and any(player["known_cards"].values()):
        facts.append(f"known: {_cards(words, player['known_cards'])}")
    facts += [f"{field}: {', '.join(player[field])}" for field in NAMES if player.get(field)]
    if player.get("yard"):
        facts.append(f"yard: {', '.join(map(_lot, player['yard']))}")
    return f"Seat {player['seat']}{' (you)' if is_own else ''}{team}: {'; '.join(facts)}."


def _lot(lot: Message) -> str:
    text = f"{lot['cards']} {lot['color']}"
    return f"{text} with {counted(lot['locomotives'], 'locomotive')}" if lot["locomotives"] else text


def _team(words: Words, team: Message) -> str:
    if "holder" in team:
        return f"Holder of team {team['team']} (yours): {_cards(words, team['holder'])}."
    cards, known = counted(team["holder_count"], "card"), _cards(words, team["known_holder"])
    shared = counted(team["shared_count"], "ticket")
    return f"Holder of team {team['team']}: {cards}, of these {known}; {shared}."


def missing_of(position: Position, ticket: Ticket, *, names_routes: bool = True) -> tuple[str, bool]:
    """Return what the ticket still needs, and whether it can be completed and is not."""
    if not position.game.board.longest_route:
        return _missing_cards(position, ticket)
    state, seat = position.state, position.seat
    if connects(state.networks[position.game.team_of[seat]], ticket):
        return "completed", False
    if state.stations and best_uses(state, seat).completed_mask >> ticket.id & 1:
        return "completed by a station", False
    routes = missing_routes(position, ticket)
    if not routes:
        return "no open routes connect it any more", False
    needed = f"{counted(sum(route.length for route in routes), 'space')} missing"
    return (f"{needed}: {', '.join(route.name for route in routes)}" if names_routes else needed), True


def missing_routes(position: Position, ticket: Ticket) -> list[Route]:
    """Return the open routes of the cheapest way to complete the ticket; none if there is no way."""
    game, state, seat = position.game, position.state, position.seat
    network = 0
    for partner in game.seats_of_team[game.team_of[seat]]:
        network |= state.owned_masks[partner]
    path = cheapest_path(game, ticket, network, state.open_mask & ~state.barred_masks[seat], 0)
    return [game.board.routes[route] for route in path[1] if not network >> route & 1] if path else []


def missing_mask(position: Position) -> int:
    """Return the open routes that the tickets of the seat and its team lack."""
    board, own = position.game.board, position.own
    teams: list[Message] = position.view.get("teams", [])
    names = [*own["tickets"], *(name for team in teams for name in team.get("shared_tickets", []))]
    wanted = (board.tickets[board.ticket_ids[name]] for name in names)
    return mask_of(route.id for ticket in wanted for route in missing_routes(position, ticket))


def _missing_cards(position: Position, ticket: Ticket) -> tuple[str, bool]:
    """Return the cards that a ticket of the card game takes, and which of them the seat has nowhere."""
    own = position.own
    needed = {color: count for color, count in zip(COLORS, ticket.needs, strict=False) if count}
    takes = " + ".join(f"{count} {color}" for color, count in needed.items())
    has = {color: own["hand"].get(color, 0) + own.get("stack", {}).get(color, 0) for color in COLORS}
    for lot in own["yard"]:
        has[lot["color"]] += lot["cards"]
    lacks = [f"{count - has[color]} {color}" for color, count in needed.items() if count > has[color]]
    return f"takes {takes}" + (f"; you have yet to get {' + '.join(lacks)}" if lacks else ""), bool(lacks)


# -- moves -------------------------------------------------------------------------------------------


def moves(position: Position, detail: Detail = DETAILS[0]) -> Iterator[str]:
    """Yield the legal moves by kind, each index in brackets; routes by what they cost, those that cannot be
    claimed now too."""
    labels = ticket_labels(position)
    plain: dict[str, list[str]] = {}
    priced: dict[str, dict[str, Prices]] = {}
    for index, move in enumerate(position.legal):
        kind = move["type"]
        if kind in TARGETS:
            priced.setdefault(kind, {}).setdefault(move[TARGETS[kind]], []).append((index, payment(move)))
        elif kind in TICKET_MOVES:
            names = "+".join(labels[name] for name in move["tickets"]) or "none"
            plain.setdefault(kind, []).append(f"[{index}] {names}")
        else:
            value = move.get("card") or move.get("place") or payment(move)
            plain.setdefault(kind, []).append(f"[{index}] {value}".rstrip())
    if any(move.get("cards") or move.get("holder_cards") for move in position.legal):
        yield f"Letters for cards: {LEGEND}{'; after h: from the holder' if position.state.holders else ''}."
    yield from (f"{kind}: {', '.join(listed)}" for kind, listed in plain.items())
    for kind in ("build_station", "buy_technology"):
        yield from _by_price(kind, priced.get(kind, {}))
    yield from open_routes(position, priced.get("claim_route", {}), detail)


Prices = list[tuple[int, str]]  # the index of a move, and the cards that it takes


def open_routes(position: Position, claims: dict[str, Prices], detail: Detail = DETAILS[0]) -> Iterator[str]:
    """Yield the routes that the seat may claim, now or later, by color and length, with the claims listed."""
    game, state, seat = position.game, position.state, position.seat
    usable = state.open_mask & ~state.barred_masks[seat]
    letters = dict(zip(technology_ids(game), ascii_lowercase, strict=False))
    wanted = ~0 if detail.has_all_routes else missing_mask(position)
    kinds: dict[tuple[int, int, str], dict[str, Prices]] = {}
    lacking: dict[str, str] = {}
    for route in (game.board.routes[number] for number in bits(game.board.routes_mask)):
        if route.bit & usable & wanted or route.name in claims:
            missing = route.needs_mask & ~state.technologies[seat]
            lacks = game.perks[missing].names if missing else ()
            lacking |= {lack: letters[lack] for lack in lacks}
            name = route.name if detail.has_all_routes else _short(route)
            text = f"{name} ({''.join(letters[lack] for lack in lacks)})" if lacks else name
            kinds.setdefault((route.color, route.length, _kind(route)), {})[text] = claims.get(route.name, [])
    if kinds:
        which = (
            "open routes" if detail.has_all_routes else "routes that you can pay or that your tickets need"
        )
        yield f"claim_route, {which}, by color and length; a number for each way to pay, in that order:"
    if lacking:
        listed = ", ".join(
            f"{letter} {name}" for name, letter in sorted(lacking.items(), key=lambda pair: pair[1])
        )
        yield f"In ( ) what you lack for a route: {listed}."
    for (_, _, kind), routes in sorted(kinds.items()):
        yield from _by_price(kind, routes)


def _by_price(what: str, targets: dict[str, Prices]) -> Iterator[str]:
    """Yield lines of targets that cost the same: `gray 2, pay 2R|2B: zug [5|9], bern [6|10]`."""
    groups: dict[str, list[str]] = {}
    for target, prices in targets.items():
        numbers = "|".join(str(index) for index, _ in prices)
        text = f"{target} [{numbers}]" if numbers else target
        groups.setdefault("|".join(price for _, price in prices), []).append(text)
    for price, texts in groups.items():
        yield f"{what}{', pay ' if price else ''}{price}: {', '.join(texts)}"


def _short(route: Route) -> str:
    """Return the id of a route without a color at its end, under which it is listed."""
    return route.name if route.color == GRAY else route.name.removesuffix(f"-{COLORS[route.color]}")


def _kind(route: Route) -> str:
    text = f"{'gray' if route.color == GRAY else COLORS[route.color]} {route.length}"
    text += f" ferry {route.symbols}" if route.symbols else ""
    return text + (f" tunnel {route.tunnel}" if route.tunnel else "")


def forms(position: Position) -> Iterator[str]:
    """Yield the forms of the legal moves without their values, and the open routes."""
    texts = {
        json.dumps({key: value if key == "type" else _value(key, value) for key, value in move.items()})
        for move in position.legal
    }
    yield from sorted(texts)
    yield from open_routes(position, {})


def _value(key: str, value: object) -> object:
    if isinstance(value, dict):
        return {"<color>": "<number>"}
    return [f"<{key} ...>"] if isinstance(value, list) else f"<{key}>"


def ticket_labels(position: Position) -> dict[str, str]:
    """Return letters for the tickets among which the seat chooses."""
    names: dict[str, str] = {}
    listed = position.legal if position.shows_moves else []
    for move in listed:
        chosen: list[str] = move["tickets"] if move["type"] in TICKET_MOVES else []
        for name in chosen:
            if name not in names:
                number = len(names)
                names[name] = ascii_uppercase[number] if number < 26 else f"T{number}"
    return names


def payment(move: Message) -> str:
    """Write the cards of a move: `2R1L`, `1R h1L`, or nothing."""
    texts: list[str] = []
    for field, prefix in (("cards", ""), ("holder_cards", "h")):
        cards = move.get(field, {})
        letters = "".join(f"{cards[color]}{letter}" for color, letter in LETTERS.items() if cards.get(color))
        texts += [prefix + letters] if letters else []
    return " ".join(texts)


def _cards(words: Words, cards: dict[str, int]) -> str:
    return words.cards(msgspec.convert(cards, Cards)).replace(", ", " + ")


# -- the question ------------------------------------------------------------------------------------


def question(position: Position) -> str:
    """Return what the seat is asked."""
    decision: Decision = msgspec.convert(position.ask["decision"], Decision)
    owner = position.game.owners.get(type(decision))
    asked = position.ask["decision"]["type"].replace("_", " ")
    return asked if owner is None else f"{asked}: {owner.question(decision, Words(position.game.board))}"


def answer_form(position: Position) -> str:
    """Return how the model is to answer."""
    if not position.shows_moves:
        return 'End with one line {"move": {...}}: one of the forms above, with values in place of <...>.'
    if position.takes_numbers:
        return "End with one line that is the number of your move."
    return 'End with one line {"index": N}, where N is the number of your move.'
