"""The signs of the rules: for each rule, a test for whether a step of a game shows it.

A sign shows that a rule had an effect here, not that it was followed: a program that plays the step again
checks that. Rules about the deal, about public knowledge and about all games at once have no sign: see
`ELSEWHERE`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Final, TypeVar

import msgspec

from stellwerk_engine.core.board import Route
from stellwerk_engine.core.cards import LOCOMOTIVE, counts, total
from stellwerk_engine.core.cards import from_wire as engine_cards
from stellwerk_engine.core.state import State
from stellwerk_engine.parts.technologies.buy_technology import technology_ids
from stellwerk_protocol import decisions, moves
from stellwerk_protocol import events as ev
from stellwerk_protocol.errors import MoveErrorCode

E = TypeVar("E", bound=ev.Event)


@dataclass(frozen=True)
class Refused:
    move: moves.Move
    code: MoveErrorCode
    pointer: str


@dataclass(frozen=True)
class Step:
    """A move that was made, the other moves that were possible, and the effects."""

    before: State
    seat: int
    move: moves.Move
    events: tuple[ev.Event, ...]
    after: State
    legal: tuple[moves.Move, ...]
    refused: tuple[Refused, ...]
    accepted: tuple[msgspec.Struct, ...]

    def all(self, kind: type[E]) -> Iterator[E]:
        return (event for event in self.events if isinstance(event, kind))

    def has(self, kind: type[ev.Event]) -> bool:
        return any(isinstance(event, kind) for event in self.events)

    @property
    def decision(self) -> decisions.Decision:
        assert self.before.pending is not None
        return self.before.pending.to_wire(self.before, self.seat, sees_all=True)

    def route(self, name: str) -> Route:
        board = self.before.game.board
        return board.routes[board.route_ids[name]]

    @property
    def claimed(self) -> Iterator[tuple[ev.RouteClaimed, Route]]:
        return ((event, self.route(event.route)) for event in self.all(ev.RouteClaimed))

    def refuses(
        self, code: MoveErrorCode, kind: type[msgspec.Struct] = moves.ClaimRoute
    ) -> Iterator[moves.Move]:
        return (each.move for each in self.refused if each.code == code and isinstance(each.move, kind))

    def owns(self, technology: str) -> bool:
        number = technology_ids(self.before.game).get(technology)
        return number is not None and bool(self.before.technologies[self.seat] >> number & 1)

    def buys(self, technology: str) -> bool:
        return any(event.technology == technology for event in self.all(ev.TechnologyBought))

    def bonus(self, name: str) -> bool:
        ended = self.all(ev.GameEnded)
        return any(
            bonus.bonus == name for end in ended for team in end.result.teams for bonus in team.bonuses
        )


Sign = Callable[[Step], bool]


def happens(kind: type[ev.Event]) -> Sign:
    return lambda step: step.has(kind)


def _ends(step: Step) -> bool:
    return step.has(ev.GameEnded)


def _cards(claimed: ev.RouteClaimed) -> int:
    return total(engine_cards(claimed.cards) + engine_cards(claimed.holder_cards))


def _only_locomotives(tried: ev.TunnelTried | ev.RouteClaimed) -> bool:
    laid = engine_cards(tried.cards) + engine_cards(tried.holder_cards)
    return total(laid) > 0 and counts(laid)[LOCOMOTIVE] == total(laid)


def _touches(step: Step, *cities: str) -> bool:
    """Test for a claim of a route to or from a city whose name begins with one of these."""
    claimed = {event.route for event, _ in step.claimed}
    routes = [route for route in step.before.game.board.file.routes if route.id in claimed]
    return any(city.startswith(cities) for route in routes for city in (route.a, route.b))


def _refuses_a_track(step: Step, tracks: int) -> bool:
    return any(
        step.route(move.route).group_mask.bit_count() == tracks
        for move in step.refuses("game.route_taken")
        if isinstance(move, moves.ClaimRoute)
    )


def _claims_a_track(step: Step, tracks: int) -> bool:
    return any(route.group_mask.bit_count() == tracks for _, route in step.claimed)


def _needs(step: Step, technology: str) -> bool:
    """Test for a claim of a route that needs this technology."""
    bit = 1 << technology_ids(step.before.game)[technology]
    return any(route.needs_mask & bit for _, route in step.claimed)


def _lays_a_color_again(step: Step) -> bool:
    own = step.before.yards[step.seat]
    return any(
        isinstance(move, moves.LayCards)
        and any(
            mine and laid for mine, laid in zip(counts(own), counts(engine_cards(move.cards)), strict=True)
        )
        for move in step.refuses("game.wrong_cards", moves.LayCards)
    )


def _has_little_to_add(step: Step) -> bool:
    """Test whether a seat abandoned a tunnel that demanded more cards."""
    return any(tried.extra for tried in step.all(ev.TunnelTried)) and step.has(ev.TunnelAbandoned)


GENERAL: Final[dict[str, Sign]] = {
    "GEN-01": lambda step: any(e.seat == 0 and e.turn > 1 for e in step.all(ev.TurnStarted)),
    "GEN-03": lambda step: bool(step.before.choices),
    "GEN-04": lambda step: any(e.returned_count > 1 for e in step.all(ev.TicketsKept)),
    "GEN-05": happens(ev.Passed),
    "GEN-06": lambda step: any(e.reason == "idle" for e in step.all(ev.TurnsEnded)),
    "GEN-07": _ends,
    "GEN-08": happens(ev.LastRound),
}

USA: Final[dict[str, Sign]] = {
    "USA-04": lambda step: isinstance(step.decision, decisions.SecondCard) and step.has(ev.CardsLaidOpen),
    "USA-05": lambda step: (
        step.move == moves.TakeCard("locomotive") or any(step.refuses("game.not_available", moves.TakeCard))
    ),
    "USA-06": happens(ev.MarketExchanged),
    "USA-07": happens(ev.PileShuffled),
    "USA-08": lambda step: not step.before.pile and not step.before.discards and step.has(ev.CardTaken),
    "USA-09": lambda step: total(step.after.hands[step.seat]) > 20,
    "USA-10": lambda step: any(_cards(claimed) > 2 for claimed, _ in step.claimed),
    "USA-11": lambda step: _refuses_a_track(step, 2),
    "USA-12": lambda step: any(claimed.trains >= 5 for claimed, _ in step.claimed),
    "USA-13": lambda step: step.move == moves.DrawTickets(),
    "USA-14": happens(ev.LastRound),
    "USA-15": _ends,
    "USA-16": lambda step: step.bonus("longest_path"),
    "USA-17": _ends,
}

CARD: Final[dict[str, Sign]] = {
    "CARD-03": happens(ev.TicketPileShuffled),
    "CARD-04": happens(ev.CardsSent),
    "CARD-06": lambda step: isinstance(step.decision, decisions.TakeTurn),
    "CARD-07": happens(ev.Stopped),
    "CARD-08": happens(ev.CardsLaid),
    "CARD-09": _lays_a_color_again,
    "CARD-10": happens(ev.Raided),
    "CARD-11": lambda step: step.move == moves.KeepTickets(()),
    "CARD-12": happens(ev.LastRound),
    "CARD-13": lambda step: isinstance(step.decision, decisions.CompleteTickets),
    "CARD-14": lambda step: _ends(step) and step.before.half == 1,
    "CARD-15": happens(ev.HalfStarted),
    "CARD-16": _ends,
    "CARD-17": lambda step: any(team.bonuses for e in step.all(ev.GameEnded) for team in e.result.teams),
    "CARD-18": _ends,
}

ASIA: Final[dict[str, Sign]] = {
    "ASIA-01": lambda step: any(e.seat % 2 for e in step.all(ev.TurnStarted)),
    "ASIA-03": lambda step: any(team for team in step.before.holders) and step.has(ev.TicketsShared),
    "ASIA-06": happens(ev.CardPlaced),
    "ASIA-07": lambda step: any(
        e.card == "locomotive" and e.place == "holder" for e in step.all(ev.CardTaken)
    ),
    "ASIA-08": lambda step: any(
        bool(engine_cards(e.cards)) and bool(engine_cards(e.holder_cards)) for e, _ in step.claimed
    ),
    "ASIA-09": lambda step: isinstance(step.decision, decisions.ShareTicket) and len(step.decision.seats) > 1,
    "ASIA-10": lambda step: (
        isinstance(step.decision, decisions.ShareTicket) and len(step.decision.seats) == 1
    ),
    "ASIA-11": lambda step: (
        isinstance(step.decision, decisions.TakeTurn) and isinstance(step.move, moves.ShareTickets)
    ),
    "ASIA-12": lambda step: _refuses_a_track(step, 2),
    "ASIA-13": lambda step: _claims_a_track(step, 3) or _refuses_a_track(step, 3),
    "ASIA-14": happens(ev.CardsRevealed),
    "ASIA-15": lambda step: any(_only_locomotives(e) for e in step.all(ev.TunnelTried)),
    "ASIA-16": lambda step: (
        any(total(engine_cards(e.revealed)) < step.route(e.route).tunnel for e in step.all(ev.RouteClaimed))
        or any(total(engine_cards(e.revealed)) < step.route(e.route).tunnel for e in step.all(ev.TunnelTried))
    ),
    "ASIA-24": lambda step: step.has(ev.CardsRevealed) and step.has(ev.PileShuffled),
    "ASIA-17": _has_little_to_add,
    "ASIA-25": lambda step: _touches(step, "junction"),
    "ASIA-18": happens(ev.LastRound),
    "ASIA-19": _ends,
    "ASIA-20": lambda step: step.bonus("asia_express"),
    "ASIA-21": lambda step: step.bonus("asia_explorer"),
    "ASIA-22": _ends,
    "ASIA-23": lambda step: any(claimed.trains == 7 for claimed, _ in step.claimed),
}

UNITED_KINGDOM: Final[dict[str, Sign]] = {
    "UK-03": lambda step: _claims_a_track(step, 2) or _refuses_a_track(step, 2),
    "UK-04": lambda step: any(_cards(claimed) > claimed.trains for claimed, _ in step.claimed),
    "UK-05": lambda step: counts(step.after.market)[LOCOMOTIVE] >= 3,
    "UK-07": lambda step: any(route.symbols for _, route in step.claimed),
    "UK-08": lambda step: (
        not step.before.technologies[step.seat] and any(step.refuses("game.missing_technology"))
    ),
    "UK-09": happens(ev.TechnologyBought),
    "UK-10": lambda step: any(step.refuses("game.not_available", moves.BuyTechnology)),
    "UK-11": lambda step: _needs(step, "wales_concession"),
    "UK-12": lambda step: _needs(step, "ireland_france_concession"),
    "UK-13": lambda step: _needs(step, "scotland_concession"),
    "UK-14": lambda step: _needs(step, "mechanical_stoker"),
    "UK-15": lambda step: _needs(step, "superheated_steam_boiler"),
    "UK-16": lambda step: _needs(step, "propellers"),
    "UK-17": lambda step: step.owns("booster") and any(_cards(e) > e.trains for e, _ in step.claimed),
    "UK-18": lambda step: step.owns("boiler_lagging") and any(step.claimed),
    "UK-19": lambda step: step.owns("steam_turbines") and any(route.symbols for _, route in step.claimed),
    "UK-20": lambda step: step.bonus("double_heading"),
    "UK-21": lambda step: step.buys("right_of_way") or _right_of_way(step),
    "UK-22": lambda step: step.buys("thermocompressor") or _is_claim_by(step, "thermocompressor"),
    "UK-23": lambda step: step.move == moves.DrawThree(),
    "UK-24": lambda step: step.bonus("risky_contracts"),
    "UK-25": lambda step: step.bonus("equalising_beam"),
    "UK-26": happens(ev.TechnologiesWithdrawn),
    "UK-27": lambda step: any(_cards(claimed) < claimed.trains for claimed, _ in step.claimed),
    "UK-28": lambda step: any(claimed.trains == 10 for claimed, _ in step.claimed),
    "UK-29": _ends,
    "UK-30": lambda step: bool(step.accepted),
    "UK-31": lambda step: any(claimed.points > 40 for claimed, _ in step.claimed),
    "UK-32": lambda step: _right_of_way(step) and bool(step.refused),
    "UK-33": lambda step: _touches(step, "france", "penzance"),
}


EUROPE: Final[dict[str, Sign]] = {
    "EUR-03": happens(ev.TicketsRemoved),
    "EUR-04": USA["USA-04"],
    "EUR-05": USA["USA-10"],
    "EUR-06": lambda step: _refuses_a_track(step, 2),
    "EUR-07": lambda step: any(route.symbols for _, route in step.claimed),
    "EUR-08": happens(ev.CardsRevealed),
    "EUR-09": USA["USA-13"],
    "EUR-10": happens(ev.StationBuilt),
    "EUR-11": happens(ev.LastRound),
    "EUR-12": lambda step: any(
        station.route
        for e in step.all(ev.GameEnded)
        for team in e.result.teams
        for station in team.stations or ()
    ),
    "EUR-13": _ends,
    "EUR-14": lambda step: step.bonus("stations_left"),
    "EUR-15": lambda step: step.bonus("longest_path"),
    "EUR-16": _ends,
}


def _right_of_way(step: Step) -> bool:
    return _is_claim_by(step, "right_of_way")


def _is_claim_by(step: Step, technology: str) -> bool:
    return isinstance(step.decision, decisions.ClaimRoute) and step.decision.technology == technology


SIGNS: Final[dict[str, dict[str, Sign]]] = {
    "usa": GENERAL | USA,
    "card_game": GENERAL | CARD,
    "team_asia": GENERAL
    | {rule: USA[rule] for rule in USA if rule not in ("USA-14", "USA-15", "USA-16", "USA-17")}
    | ASIA,
    "united_kingdom": GENERAL
    | {rule: USA[rule] for rule in USA if rule not in ("USA-06", "USA-16")}
    | UNITED_KINGDOM,
    "europe": GENERAL
    | {rule: USA[rule] for rule in USA if rule != "USA-17"}
    | {rule: ASIA[rule] for rule in ("ASIA-15", "ASIA-16", "ASIA-17", "ASIA-24")}
    | EUROPE,
}


def rules_of(step: Step) -> tuple[str, ...]:
    """Return the rules of the step's game that it shows."""
    return tuple(rule for rule, sign in SIGNS[step.before.game.id].items() if sign(step))
