"""The result of a game: points with all their parts, and ranks."""

from typing import Annotated

from msgspec import UNSET, Meta, Struct, UnsetType

from stellwerk_protocol.names import (
    MAX_SEATS,
    BonusName,
    CityName,
    Count,
    EndReason,
    Points,
    Rank,
    RouteName,
    Seat,
    Seats,
    Team,
    TicketName,
)


class TicketScore(Struct, frozen=True, gc=False):
    ticket: TicketName
    completed: bool
    points: Points


class Bonus(Struct, frozen=True, gc=False):
    bonus: BonusName
    points: Points


class Station(Struct, frozen=True, gc=False):
    """A station that was built, and the route that it uses, if any (EUR-12)."""

    city: CityName
    route: RouteName | UnsetType = UNSET


class TeamResult(Struct, frozen=True, gc=False):
    """The result of a team. `points` is the sum of `route_points` and the points of all tickets and
    bonuses. Only games with stations have `stations`."""

    team: Team
    seats: Seats
    rank: Rank
    points: Points
    route_points: Points
    tickets: Annotated[tuple[TicketScore, ...], Meta(max_length=128)]
    bonuses: Annotated[tuple[Bonus, ...], Meta(max_length=128)]
    completed_tickets: Count
    longest_path: Count
    stations: Annotated[tuple[Station, ...], Meta(max_length=128)] | UnsetType = UNSET


class Result(Struct, frozen=True, gc=False):
    """The result of a game. `ranks` has a rank for each seat: partners have the rank of their team
    (GEN-07)."""

    reason: EndReason
    turns: Count
    ranks: Annotated[tuple[Rank, ...], Meta(max_length=MAX_SEATS)]
    teams: Annotated[tuple[TeamResult, ...], Meta(max_length=MAX_SEATS)]

    def team_of(self, seat: Seat) -> TeamResult:
        """Return the team of a seat."""
        [team] = [team for team in self.teams if seat in team.seats]
        return team
