"""Everybody who hears of a match: the sessions in its seats, and its spectators.

Law: each hears of every event once, in its order, and of no more than the viewer may know (GEN-09). A client
that comes late, or comes back, gets what it has missed.
"""

from __future__ import annotations

from collections.abc import Sequence
from operator import is_
from typing import TYPE_CHECKING, Literal

import msgspec
from msgspec import UNSET, UnsetType

from stellwerk_engine.boards.board_file import canonical_text
from stellwerk_engine.games.described import parts_on_wire
from stellwerk_engine.knowledge.redact import redact
from stellwerk_engine.knowledge.view import ALL_HANDS, PUBLIC, ViewerId, viewer_kind
from stellwerk_engine.parts.technologies.buy_technology import for_sale
from stellwerk_protocol.messages import EventMessage, SeatChanged, Start
from stellwerk_server.match.lines import line, lines

if TYPE_CHECKING:
    from stellwerk_engine.core.state import Events, Game
    from stellwerk_server.match.plan import MatchPlan
    from stellwerk_server.match.players import Outgoing, Recipient
    from stellwerk_server.match.seat import MatchSeat

SeatState = Literal["lost", "back", "left", "by_default"]


class Audience:
    __slots__ = ("_plan", "_seats", "commitment", "events", "late_watchers", "watchers")

    def __init__(self, plan: MatchPlan, seats: Sequence[MatchSeat], commitment: str, events: Events) -> None:
        self.events = events  # all that has happened
        self.watchers: list[Recipient] = []
        # With all hands, when the match is over; with the ids of their requests.
        self.late_watchers: dict[Recipient, str | UnsetType] = {}
        self._plan = plan
        self._seats = seats
        self.commitment = commitment

    # -- news ------------------------------------------------------------------------------------

    def publish(self, events: Events) -> list[Outgoing]:
        """Return the lines about what has just happened, for each recipient as far as it may know that."""
        before = len(self.events)
        self.events += events
        whole: list[bytes] = []
        out: list[Outgoing] = []
        for seat in self._seats:
            session = seat.session
            if session is not None and not seat.left and session.wants.events:
                self._add_events(out, session, seat.number, events, before, whole)
        for session in self.watchers:
            self._add_events(out, session, PUBLIC, events, before, whole)
        return out

    def to_others(self, seat: MatchSeat, state: SeatState) -> list[Outgoing]:
        """Return what everybody else hears of a change in a seat."""
        message = line(SeatChanged(self._plan.match, seat.number, state))
        return [(session, message) for session in self._list_hearers(seat)]

    def to_end(self, message: bytes, *, all_hands: bool) -> list[Outgoing]:
        """Return the last messages of the match. Spectators who wait for `all_hands` may see them before."""
        out: list[Outgoing] = [(session, message) for session in self._list_hearers()]
        for session, request in self.late_watchers.items():
            if all_hands:
                out.append((session, self.start_line(ALL_HANDS, request)))
                self._add_events(out, session, ALL_HANDS, self.events, 0, [])
            out.append((session, message))
        return out

    def _list_hearers(self, but: MatchSeat | None = None) -> list[Recipient]:
        """Return everybody who hears what is public: the players that have not left, and the spectators."""
        players = [p.session for p in self._seats if p is not but and p.session is not None and not p.left]
        return [*players, *self.watchers]

    def _add_events(
        self,
        out: list[Outgoing],
        session: Recipient,
        viewer: ViewerId,
        events: Events,
        before: int,
        whole: list[bytes],
    ) -> None:
        """Add the lines of events. `whole` keeps the lines for recipients that may know all of these events,
        as nearly everybody may most of the time."""
        if session.connection is None or not events:
            return
        game = self._plan.game
        shown = [redact(event, game, viewer) for event in events]
        is_whole = all(map(is_, shown, events))
        if is_whole and whole:
            out.append((session, whole[0]))
            return
        text = _write_events(self._plan.match, shown, before)
        if is_whole:
            whole.append(text)
        out.append((session, text))

    # -- viewers that come late ------------------------------------------------------------------

    def catch_up(self, seat: MatchSeat, last_event: int, request: str | UnsetType = UNSET) -> list[Outgoing]:
        """Return all after an event that a client has, from 0 on with the start, as the answer to a
        request."""
        out: list[Outgoing] = []
        session = seat.session
        if session is None or seat.left:
            return out
        if last_event == 0:
            out.append((session, self.start_line(seat.number, request)))
        if session.wants.events:
            self._add_events(out, session, seat.number, self.events[last_event:], last_event, [])
        return out

    def watch(
        self, session: Recipient, viewer: Literal["public", "all_hands"], request: str | UnsetType
    ) -> list[Outgoing]:
        """Let a session watch, and return what has happened before."""
        if viewer == "all_hands":
            self.late_watchers[session] = request
            return []
        self.watchers.append(session)
        out: list[Outgoing] = [(session, self.start_line(PUBLIC, request))]
        self._add_events(out, session, PUBLIC, self.events, 0, [])
        return out

    def stop_watching(self, session: Recipient) -> None:
        self.late_watchers.pop(session, None)
        if session in self.watchers:
            self.watchers.remove(session)

    def start_line(self, viewer: ViewerId, request: str | UnsetType = UNSET) -> bytes:
        return start_line(self._plan, self.commitment, viewer, request)


def start_line(plan: MatchPlan, commitment: str, viewer: ViewerId, request: str | UnsetType = UNSET) -> bytes:
    """Return the `start` of a match, for one viewer, as the answer to a request."""
    game = plan.game
    start = Start(
        match=plan.match,
        viewer=viewer_kind(viewer),
        players=plan.players,
        game=game.id,
        rules_version=game.rules.rules_version,
        options=game.options,
        board=msgspec.Raw(board_text(game)),
        board_digest=game.board.file.digest,
        clocks=plan.clocks,
        commitment=commitment,
        seat=viewer if viewer >= 0 else UNSET,
        technologies=for_sale(game.rules),
        parts=parts_on_wire(game),
        request=request,
    )
    return line(start)


def event_lines(match: str, game: Game, viewer: ViewerId, events: Events, before: int) -> bytes:
    """Return the lines of the events after that number, as the viewer may know them."""
    return _write_events(match, [redact(event, game, viewer) for event in events], before)


def _write_events(match: str, shown: Events, before: int) -> bytes:
    return lines([EventMessage(match, number, event) for number, event in enumerate(shown, before + 1)])


_boards: dict[str, bytes] = {}


def board_text(game: Game) -> bytes:
    """Return the board as `start` has it, in the form that its digest is made of. Each board is written
    once."""
    file = game.board.file
    text = _boards.get(file.digest)
    if text is None:
        text = _boards[file.digest] = canonical_text(file).encode()
    return text
