"""The end: tickets, bonuses, ranks (USA-15 to USA-17, ASIA-19 to ASIA-22, CARD-16 to CARD-18, UK-20 to
UK-29)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from stellwerk_base.texts import counted, shown
from stellwerk_engine.core.board import Board, Ticket, bits
from stellwerk_engine.core.longest_path import longest_path
from stellwerk_engine.core.state import Award, Events, Standing, State
from stellwerk_protocol import events as ev
from stellwerk_protocol.names import EndReason
from stellwerk_protocol.results import Bonus, Result, TeamResult


def score_game(state: State, reason: EndReason, events: Events | None) -> None:
    """Put the result into the state; nobody owes a move any more."""
    state.end_reason = reason
    state.pending = None
    state.result = result_of(state, reason)
    if events is not None:
        events.append(ev.GameEnded(state.result))


def result_of(state: State, reason: EndReason) -> Result:
    game = state.game
    standings = [_standing(state, team) for team in range(len(game.seats_of_team))]
    awards = _awards(state, standings)
    scores = [_score(state, standing, awards) for standing in standings]
    ranks = [1 + sum(other.order > score.order for other in scores) for score in scores]
    return Result(
        reason=reason,
        turns=state.turn,
        ranks=tuple(ranks[team] for team in game.team_of),
        teams=tuple(
            _team_result(state, standing, score, rank, awards)
            for standing, score, rank in zip(standings, scores, ranks, strict=True)
        ),
    )


@dataclass(frozen=True, slots=True)
class _Score:
    points: int
    route_points: int
    order: tuple[int, ...]  # points, then the tie-breaks


def _standing(state: State, team: int) -> Standing:
    completed_mask = _completed_mask(state, team)
    return Standing(team, completed_mask, completed_mask.bit_count(), team_longest_path(state, team))


def team_longest_path(state: State, team: int) -> int:
    """Return the longest path over the routes of all partners (USA-16, ASIA-20)."""
    routes = state.game.board.routes
    owned = [
        routes[route] for seat in state.game.seats_of_team[team] for route in bits(state.owned_masks[seat])
    ]
    return longest_path([(route.a, route.b, route.length) for route in owned])


def _completed_mask(state: State, team: int) -> int:
    """Return the tickets that the team completes by what a part of the game says, or by its network."""
    completed_mask = 0
    for part in state.game.parts:
        completed_mask |= part.completes(state, team)
    for ticket in bits(tickets_of(state, team) & ~completed_mask):
        if connects(state.networks[team], state.game.board.tickets[ticket]):
            completed_mask |= 1 << ticket
    return completed_mask


def tickets_of(state: State, team: int) -> int:
    """Return all tickets of a team: secret, shared and completed."""
    tickets_mask = state.shared_masks[team] if state.shared_masks else 0
    for seat in state.game.seats_of_team[team]:
        tickets_mask |= state.ticket_masks[seat] | state.completed_masks[seat]
    return tickets_mask


def connects(networks: tuple[int, ...], ticket: Ticket) -> bool:
    return any(network & ticket.a_mask and network & ticket.b_mask for network in networks)


def _awards(state: State, standings: list[Standing]) -> list[Award]:
    """List the awards of the rules' bonuses, then those of the parts."""
    rules, board = state.game.rules, state.game.board
    awards = [award for bonus in rules.bonuses for award in bonus.awards(standings, standings, board)]
    for part in state.game.parts:
        awards += part.awards(state, standings)
    return awards


def _score(state: State, standing: Standing, awards: list[Award]) -> _Score:
    game = state.game
    route_points = (
        sum(state.points[seat] for seat in game.seats_of_team[standing.team]) if game.board.routes else 0
    )
    tickets = game.board.tickets
    ticket_points = sum(
        tickets[ticket].points if standing.completed_mask >> ticket & 1 else -tickets[ticket].points
        for ticket in bits(tickets_of(state, standing.team))
    )
    own = [award for award in awards if award.team == standing.team]
    points = route_points + ticket_points + sum(award.points for award in own)
    tie_breaks = [tie_break(state, standing, own) for tie_break in game.rules.tie_breaks]
    return _Score(points, route_points, (points, *tie_breaks))


def _team_result(
    state: State, standing: Standing, score: _Score, rank: int, awards: list[Award]
) -> TeamResult:
    tickets = state.game.board.tickets
    result = TeamResult(
        team=standing.team,
        seats=state.game.seats_of_team[standing.team],
        rank=rank,
        points=score.points,
        route_points=score.route_points,
        tickets=tuple(
            tickets[ticket].completed if standing.completed_mask >> ticket & 1 else tickets[ticket].failed
            for ticket in bits(tickets_of(state, standing.team))
        ),
        bonuses=tuple(Bonus(award.bonus, award.points) for award in awards if award.team == standing.team),
        completed_tickets=standing.completed_count,
        longest_path=standing.longest_path,
    )
    for part in state.game.parts:
        result = part.in_result(state, result)
    return result


# -- tie-breaks --------------------------------------------------------------------------------------


def completed_tickets(state: State, standing: Standing, awards: list[Award]) -> int:
    return standing.completed_count


def longest_own_path(state: State, standing: Standing, awards: list[Award]) -> int:
    return standing.longest_path


def bonus_cards(state: State, standing: Standing, awards: list[Award]) -> int:
    return sum(award.is_card for award in awards)


# -- bonuses -----------------------------------------------------------------------------------------


def path_length(standing: Standing) -> int:
    return standing.longest_path


def ticket_count(standing: Standing) -> int:
    return standing.completed_count


def _most(amount: Callable[[Standing], int]) -> str:
    return "the longest continuous path" if amount is path_length else "the most completed tickets"


@dataclass(frozen=True, slots=True)
class ForTheMost:
    """A bonus for the team with the most of something. Each team that ties gets it, and nobody gets it for
    zero (USA-16, ASIA-20, ASIA-21)."""

    name: str
    points: int
    amount: Callable[[Standing], int]

    def awards(self, standings: list[Standing], owners: list[Standing], board: Board) -> list[Award]:
        leaders = with_most(standings, self.amount)
        return [Award(leader.team, self.name, self.points) for leader in leaders]

    def rule(self, board: Board) -> str:
        return f"{counted(self.points, 'point')} for {_most(self.amount)}"


@dataclass(frozen=True, slots=True)
class Stake:
    """Points that each owner of a technology wins with the most of something (a tie counts, zero does not),
    and otherwise loses (UK-24, UK-25)."""

    name: str
    points: int
    amount: Callable[[Standing], int]

    def awards(self, standings: list[Standing], owners: list[Standing], board: Board) -> list[Award]:
        leaders = with_most(standings, self.amount)
        return [
            Award(owner.team, self.name, self.points if owner in leaders else -self.points)
            for owner in owners
        ]

    def rule(self, board: Board) -> str:
        return f"{counted(self.points, 'point')} for {_most(self.amount)}, else as many less"


@dataclass(frozen=True, slots=True)
class ForEachTicket:
    """A bonus for each completed ticket of an owner (UK-20)."""

    name: str
    points: int

    def awards(self, standings: list[Standing], owners: list[Standing], board: Board) -> list[Award]:
        return [
            Award(owner.team, self.name, self.points * owner.completed_count)
            for owner in owners
            if owner.completed_count
        ]

    def rule(self, board: Board) -> str:
        return f"{counted(self.points, 'point')} for each completed ticket"


@dataclass(frozen=True, slots=True)
class BigCities:
    """A bonus for each big city, for the player who completed most tickets that name it. Each player that
    ties gets it (CARD-17)."""

    def awards(self, standings: list[Standing], owners: list[Standing], board: Board) -> list[Award]:
        awards: list[Award] = []
        for city in board.big_cities:

            def tickets_there(standing: Standing, tickets_mask: int = city.tickets_mask) -> int:
                return (standing.completed_mask & tickets_mask).bit_count()

            awards += [
                Award(leader.team, f"big_city:{city.name}", city.points, is_card=True)
                for leader in with_most(standings, tickets_there)
            ]
        return awards

    def rule(self, board: Board) -> str:
        cities = ", ".join(f"{shown(city.name)} {city.points}" for city in board.big_cities)
        return f"for the most completed tickets that name a big city: {cities} points"


def with_most(standings: list[Standing], amount: Callable[[Standing], int]) -> list[Standing]:
    most = max(amount(standing) for standing in standings)
    return [standing for standing in standings if amount(standing) == most > 0]


LONGEST_PATH = ForTheMost("longest_path", 10, path_length)
ASIA_EXPRESS = ForTheMost("asia_express", 10, path_length)
ASIA_EXPLORER = ForTheMost("asia_explorer", 10, ticket_count)
DOUBLE_HEADING = ForEachTicket("double_heading", 2)
RISKY_CONTRACTS = Stake("risky_contracts", 20, ticket_count)
EQUALISING_BEAM = Stake("equalising_beam", 15, path_length)
