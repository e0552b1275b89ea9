"""Whether the parts of a described game go together.

The law: rules that pass can be played to the end on every board that fits them. Descriptions come from other
programs, and a game must not stop in the middle because a part that it needs is missing.
"""

from __future__ import annotations

from collections.abc import Iterator

from stellwerk_engine.core.game import GameError
from stellwerk_engine.core.state import RuleSet
from stellwerk_engine.core.turn import EmptyPile
from stellwerk_engine.parts.claiming.claim_route import ClaimRoute
from stellwerk_engine.parts.draw_cards import DrawCards
from stellwerk_engine.parts.holders import Holders
from stellwerk_engine.parts.long_tickets import LongTickets
from stellwerk_engine.parts.rail_yards.lay_cards import LayCards, send_cards
from stellwerk_engine.parts.rail_yards.rail_yards import RailYards
from stellwerk_engine.parts.share_tickets import ShareTickets
from stellwerk_engine.parts.stations.build_station import BuildStation, fewest_stations
from stellwerk_engine.parts.technologies.buy_technology import BuyTechnology
from stellwerk_engine.parts.tickets import DrawTickets, FirstTickets


def check_parts(rules: RuleSet) -> None:
    """Raise GameError for the first thing that is missing."""
    kinds = [type(part) for part in rules.parts]
    if len(kinds) != len({*kinds}):
        raise GameError("parts: a part occurs twice")
    if type(rules.set_up[-1]) is not FirstTickets:
        raise GameError("parts.set_up: expected first_tickets at the end")
    for count in rules.seat_counts:
        if count % rules.team_size:
            raise GameError(f"parts.team_size: expected a divisor of {count}, the number of players")
    for part in rules.parts:
        if isinstance(part, FirstTickets | DrawTickets) and part.keep > part.number:
            raise GameError(f"parts: {part.keep} tickets to keep of {part.number}")
        if isinstance(part, BuyTechnology) and any(kind.substitute == 1 for kind in part.technologies):
            raise GameError("parts: a substitute of 1 card; expected 2 or more")
    for what, needed, is_there in _needs(rules):
        if not is_there:
            raise GameError(f"parts: {what} needs {needed}")


def _needs(rules: RuleSet) -> Iterator[tuple[str, str, bool]]:
    """Yield what the rules have, what that needs, and whether they have it."""
    kinds = {type(part) for part in rules.parts}
    features = rules.board_features
    yield "a game", "draw_cards", DrawCards in kinds
    if "map" in features:
        yield "the board feature map", "claim_route", ClaimRoute in kinds
        yield "the board feature map", "no rail_yards", RailYards not in kinds
    else:
        yield "a game without the board feature map", "rail_yards", RailYards in kinds
        yield "a game without the board feature map", "no claim_route", ClaimRoute not in kinds
        yield "a game without the board feature map", "empty_pile", isinstance(rules.last_round, EmptyPile)
    if RailYards in kinds or LayCards in kinds or send_cards in rules.start_of_turn:
        yield "rail_yards", "lay_cards", LayCards in kinds
        yield "lay_cards", "rail_yards", RailYards in kinds
        yield "rail_yards", "send_cards in start_of_turn", send_cards in rules.start_of_turn
        yield "rail_yards", "a team_size of 1", rules.team_size == 1
    if rules.team_size > 1:
        yield "a team_size above 1", "holders", Holders in kinds
    if Holders in kinds:
        yield "holders", "a team_size above 1", rules.team_size > 1
    for part in rules.parts:
        match part:
            case FirstTickets() | DrawTickets() if part.share is not None:
                yield "ask_to_share", "share_tickets", ShareTickets in kinds
            case ShareTickets():
                yield "share_tickets", "holders", Holders in kinds
            case DrawCards() if part.to_holder:
                yield "to_holder", "holders", Holders in kinds
            case LongTickets():
                yield "long_tickets", "the board feature long_tickets", "long_tickets" in features
            case BuildStation():
                yield "build_station", "claim_route", ClaimRoute in kinds
                yield "build_station", "a team_size of 1", rules.team_size == 1
            case BuyTechnology():
                yield "buy_technology", "claim_route", ClaimRoute in kinds
                yield "buy_technology", "a team_size of 1", rules.team_size == 1
            case _:
                pass
        if isinstance(part, FirstTickets) and part.reject is not None:
            yield "remove_tickets", "long_tickets", LongTickets in kinds
    if fewest_stations in rules.tie_breaks:
        yield "fewest_stations", "build_station", BuildStation in kinds
