"""How players join: rooms that wait until all seats are taken, reserved seats, practice against house bots.

Laws: a room becomes a match as soon as its last seat is taken; a room that clients made is closed when the
last of them has left, or when its time is up; a reserved seat waits for its token alone.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from msgspec import UNSET

from stellwerk_engine.core.dice import SeedError, seed_from_text
from stellwerk_engine.core.game import GameError
from stellwerk_protocol.messages import Error, Join, Joined, Left
from stellwerk_server.lobby.admission import Admitted
from stellwerk_server.lobby.news import MatchRefused, RoomChanged
from stellwerk_server.lobby.refusal import RefusedError
from stellwerk_server.lobby.rooms import Reservation, Room
from stellwerk_server.match.deadlines import Deadlines, Timer
from stellwerk_server.match.lines import line
from stellwerk_server.match.plan import MatchPlan
from stellwerk_server.operate.settings import clocks_of

if TYPE_CHECKING:
    from stellwerk_engine.core.state import Game
    from stellwerk_server.lobby.admission import Origin
    from stellwerk_server.lobby.matches import Matches
    from stellwerk_server.lobby.outbox import Outbox
    from stellwerk_server.lobby.session import Session
    from stellwerk_server.lobby.setup import LobbySetup
    from stellwerk_server.lobby.shutdown import Shutdown


class Rooms:
    def __init__(
        self, setup: LobbySetup, deadlines: Deadlines, outbox: Outbox, shutdown: Shutdown, matches: Matches
    ) -> None:
        self._setup = setup
        self._outbox = outbox
        self._shutdown = shutdown
        self._matches = matches
        self._clocks = clocks_of(setup.time)
        self._by_id: dict[str, Room] = {}
        self._admitted: Admitted[Room] = Admitted(setup.limits.rooms, setup.limits.rooms_per_address)
        self._timer = Timer(deadlines, self._close_expired)

    @property
    def by_id(self) -> Mapping[str, Room]:
        return self._by_id

    # -- reserved seats --------------------------------------------------------------------------

    def reserve(self, reservation: Reservation) -> Room:
        """Open a room whose seats wait for their tokens."""
        seats = reservation.plan.game.seat_count
        room = Room(self._setup.new_id(), reservation.plan.game, False, [None] * seats, reservation)
        self._by_id[room.id] = room
        return room

    def start_reserved(self, room: Room, now: float) -> None:
        """Start although not everybody came: the fallback plays for the missing seats."""
        if room.id in self._by_id:
            self._start_match(room, now)

    def cancel_reserved(self, room: Room, now: float) -> None:
        """Take a reservation back: its room closes, or its match, if that goes on, ends without a result."""
        if room.id in self._by_id:
            self._close_room(room)
        if room.reservation is not None:
            self._matches.fail(room.reservation.plan.match, now)

    def reserved(self, token: str) -> tuple[Room | None, int]:
        """Return the free seat that waits for a token, and its room. None if there is none."""
        for room in self._by_id.values():
            if room.reservation is not None:
                seat = room.reservation.seat_of(token)
                if seat is not None and room.sessions[seat] is None:
                    return room, seat
        return None, 0

    def take_reserved_seat(self, session: Session, token: str, now: float) -> None:
        """Seat a session where a seat waits for its token."""
        room, seat = self.reserved(token)
        if room is not None:
            self.enter(session, room, seat, now)

    # -- what clients say ------------------------------------------------------------------------

    def join(self, session: Session, join: Join, now: float) -> None:
        if session.seat_token_hash is not None:
            raise RefusedError("auth.not_allowed", "no join: this token is for one seat")
        if not self._setup.may_join:
            raise RefusedError("auth.not_allowed", "no join: who plays whom is decided here")
        self._shutdown.refuse_newcomers()
        if session.game_count() >= session.max_matches:
            raise RefusedError("protocol.too_many_matches", f"at most {session.max_matches} at a time")
        game = self._find_game(join)
        if join.against:
            self._start_practice(session, join, game, now)
            return
        for name, value in (("seed", join.seed), ("seat", join.seat)):
            if value is not UNSET:
                raise RefusedError("protocol.wrong_value", f"no {name}, except with against", f"/{name}")
        room = self._find_room(join, game) or self._open_room(join, game, session.origin, now)
        if session in room.sessions:
            raise RefusedError("protocol.out_of_phase", "another room: this session is in it", "/room")
        if room.missing == 1:
            self._matches.expect_room_for(session.origin)
        seat = room.sessions.index(None)
        if join.request is not UNSET:
            room.requests[seat] = join.request
        self.enter(session, room, seat, now)

    def leave(self, session: Session, id: str) -> None:
        """Take a client out of a room."""
        room = self._by_id.get(id) if id in session.room_ids else None
        if room is None:
            raise RefusedError("protocol.no_such_room", "the id of a room from `joined`", "/room")
        self._outbox.say(session, line(Left(room=room.id)))
        self._take_out(session, room)

    def repeat(self, session: Session) -> None:
        """Tell a session that has a connection again which rooms it waits in."""
        for room in [self._by_id[id] for id in session.room_ids]:
            self._tell_missing(room, room.sessions.index(session))

    def leave_all(self, session: Session) -> None:
        """Take a client out of its rooms, and tell it."""
        for id in list(session.room_ids):
            self.leave(session, id)

    def lost(self, session: Session) -> None:
        """Take a session out of its rooms: it has lost its connection."""
        for room_id in list(session.room_ids):
            self._take_out(session, self._by_id[room_id])

    def _find_game(self, join: Join) -> Game:
        offered = self._setup.games.rules
        rules = offered.get(join.game)
        if rules is None:
            raise RefusedError("protocol.wrong_value", f"one of {', '.join(offered)}", "/game")
        if join.players not in rules.seat_counts:
            counts = ", ".join(map(str, rules.seat_counts))
            raise RefusedError("protocol.wrong_value", f"a number of players out of {counts}", "/players")
        known = [option.id for option in rules.options]
        for number, option in enumerate(join.options):
            if option not in known:
                expected = f"one of {', '.join(known)}" if known else "no options"
                raise RefusedError("protocol.wrong_value", expected, f"/options/{number}")
        try:
            return self._setup.games.game(join.game, join.players, join.options)
        except GameError as error:
            raise RefusedError("protocol.wrong_value", str(error), "/game") from None

    def _find_room(self, join: Join, game: Game) -> Room | None:
        """Return the room to join: the one of that id, or one that waits already. None if there is none."""
        if join.room is UNSET:
            for room in self._by_id.values():
                if room.is_public and room.game is game and room.missing:
                    return room
            return None
        found = self._by_id.get(join.room)
        if found is None:
            return None
        if found.reservation is not None:
            raise RefusedError("auth.not_allowed", "another room: this one waits for tokens", "/room")
        if found.game.id != game.id:
            raise RefusedError("protocol.wrong_value", f"{found.game.id}, as in the room", "/game")
        if found.game.seat_count != game.seat_count:
            raise RefusedError("protocol.wrong_value", f"{found.game.seat_count}, as in the room", "/players")
        if found.game.options != game.options:
            raise RefusedError("protocol.wrong_value", "the options of the room", "/options")
        return found

    def _open_room(self, join: Join, game: Game, origin: Origin, now: float) -> Room:
        self._admitted.expect_room_for(origin, "to join later, or a room that waits already")
        is_public = join.room is UNSET
        id = self._setup.new_id() if join.room is UNSET else join.room
        room = Room(id, game, is_public, [None] * game.seat_count)
        room.expires_at = now + self._setup.limits.room_ms
        self._by_id[room.id] = room
        self._admitted.add(room, origin)
        if len(self._admitted) == 1:
            self._timer.set(room.expires_at)
        return room

    # -- in a room -------------------------------------------------------------------------------

    def enter(self, session: Session, room: Room, seat: int, now: float) -> None:
        """Give a session a seat in a room. The match starts if it was the last one."""
        if not session.game_count():
            session.take_refused()  # what it sent before counts to no match
        room.sessions[seat] = session
        session.room_ids.append(room.id)
        self._tell_everybody(room)
        self._setup.listener(RoomChanged(room))
        if not room.missing:
            self._start_match(room, now, session.origin)

    def close_all(self) -> None:
        for room in list(self._by_id.values()):
            self._close_room(room)

    def _take_out(self, session: Session, room: Room) -> None:
        session.room_ids.remove(room.id)
        seat = room.sessions.index(session)
        room.sessions[seat] = None
        room.requests.pop(seat, None)
        self._setup.listener(RoomChanged(room))
        if room.reservation is None and room.missing == len(room.sessions):
            self._close_room(room)
        else:
            self._tell_everybody(room)

    def _tell_everybody(self, room: Room) -> None:
        for seat in range(len(room.sessions)):
            self._tell_missing(room, seat)

    def _tell_missing(self, room: Room, seat: int) -> None:
        """Tell the client in a seat, if there is one, how many are missing now."""
        session = room.sessions[seat]
        if session is not None:
            self._outbox.say(session, line(Joined(room.id, room.missing, room.requests.get(seat, UNSET))))

    def _close_expired(self, now: float) -> None:
        """Close the rooms that were not filled in time. The oldest ones are the first to expire, so one
        timer is enough for all of them."""
        for room in tuple(self._admitted):
            if room.expires_at > now:
                self._timer.set(room.expires_at)
                return
            for session in room.sessions:
                if session is not None:
                    self._outbox.say(session, line(Left(room=room.id)))
            self._close_room(room)

    def _close_room(self, room: Room) -> None:
        """End the wait in a room, and take its sessions out of it."""
        self._by_id.pop(room.id, None)
        self._admitted.remove(room)
        for session in room.sessions:
            if session is not None:
                session.room_ids.remove(room.id)
        self._setup.listener(RoomChanged(room))

    # -- the match begins ------------------------------------------------------------------------

    def _start_match(self, room: Room, now: float, origin: Origin = None) -> None:
        """Start the match of a room. `origin` is that of the player who came last."""
        self._close_room(room)
        seated = {seat: session for seat, session in enumerate(room.sessions) if session is not None}
        if room.reservation is None:
            names = tuple(session.name for session in seated.values())
            plan = self._make_plan(room.game, names, self._setup.entropy(32))
        else:
            plan = room.reservation.plan
        try:
            match = self._matches.open(plan, seated, origin)
            if room.reservation is not None:
                match.asks = room.reservation.asks
            for seat in match.seats:
                seat.by_default = seat.number not in seated and seat.number not in room.house_bots
            self._matches.record(match, room.house_bots, now)
        except RefusedError as refused:
            self._setup.listener(MatchRefused(plan.match))
            for number, session in seated.items():
                request = room.requests.get(number, UNSET)
                self._outbox.say(session, line(Error(refused.code, refused.expected, request=request)))
            return
        self._matches.begin(match, room.requests, now)

    def _start_practice(self, session: Session, join: Join, game: Game, now: float) -> None:
        others = game.seat_count - 1
        if join.room is not UNSET:
            raise RefusedError("protocol.wrong_value", "no room together with against", "/room")
        if len(join.against) != others:
            raise RefusedError("protocol.wrong_value", f"{others} house bots, one a seat", "/against")
        bots = self._setup.house_bots
        for number, name in enumerate(join.against):
            if name not in bots:
                expected = f"one of {', '.join(bots)}" if bots else "no house bots: there are none"
                raise RefusedError("protocol.wrong_value", expected, f"/against/{number}")
        own = 0 if join.seat is UNSET else join.seat
        if own >= game.seat_count:
            raise RefusedError("protocol.wrong_value", f"a seat below {game.seat_count}", "/seat")
        try:
            seed = self._setup.entropy(32) if join.seed is UNSET else seed_from_text(join.seed)
        except SeedError as error:
            raise RefusedError("protocol.wrong_value", str(error), "/seed") from None
        self._matches.expect_room_for(session.origin)
        names = list(join.against)
        names.insert(own, session.name)
        match = self._matches.open(self._make_plan(game, tuple(names), seed), {own: session}, session.origin)
        house_bots = {seat: (name, bots[name]) for seat, name in enumerate(names) if seat != own}
        self._matches.record(match, house_bots, now)
        self._outbox.say(session, line(Joined(self._setup.new_id(), 0, join.request)))
        self._matches.begin(match, {} if join.request is UNSET else {own: join.request}, now)

    def _make_plan(self, game: Game, names: tuple[str, ...], seed: bytes) -> MatchPlan:
        return MatchPlan(self._setup.new_id(), game, names, seed, self._setup.entropy(32), self._clocks)
