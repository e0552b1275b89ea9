"""The matches of a lobby that run: how they begin, what their players and spectators say, how they end.

Laws: after each call of a match, what it has to say goes out; a match that cannot begin is refused, and
leaves nothing behind; all clients get the end before any is sent away.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import msgspec

from stellwerk_protocol.canonical import CanonicalError
from stellwerk_protocol.messages import Act, Left, Ready, Watch
from stellwerk_server.lobby.admission import Admitted
from stellwerk_server.lobby.news import MatchEnded
from stellwerk_server.lobby.refusal import RefusedError
from stellwerk_server.lobby.session import session_of
from stellwerk_server.match.deadlines import Deadlines, Timer
from stellwerk_server.match.ended_match import EndedMatch
from stellwerk_server.match.lines import line
from stellwerk_server.match.match_session import MatchSession
from stellwerk_server.match.recorded import RecordedMatch

if TYPE_CHECKING:
    from stellwerk_engine.core.state import Seat
    from stellwerk_server.lobby.admission import Origin
    from stellwerk_server.lobby.listing import Listing
    from stellwerk_server.lobby.outbox import Outbox
    from stellwerk_server.lobby.session import Session
    from stellwerk_server.lobby.sessions import Sessions
    from stellwerk_server.lobby.setup import LobbySetup
    from stellwerk_server.lobby.shutdown import Shutdown
    from stellwerk_server.match.plan import MatchPlan
    from stellwerk_server.match.players import NewHousePlayer


class Matches:
    def __init__(
        self,
        setup: LobbySetup,
        deadlines: Deadlines,
        outbox: Outbox,
        shutdown: Shutdown,
        sessions: Sessions,
        listing: Listing,
    ) -> None:
        limits = setup.limits
        self._setup = setup
        self._deadlines = deadlines
        self._outbox = outbox
        self._shutdown = shutdown
        self._sessions = sessions
        self._listing = listing
        self._running: dict[str, MatchSession] = {}
        self._admitted: Admitted[MatchSession] = Admitted(limits.matches, limits.matches_per_address)
        self.finished_count = self.failed_count = 0
        self._decisions_before = 0  # in matches that are over

    @property
    def running(self) -> Mapping[str, MatchSession]:
        return self._running

    @property
    def decision_count(self) -> int:
        return self._decisions_before + sum(match.decision_count for match in self._running.values())

    # -- the beginning ---------------------------------------------------------------------------

    def expect_room_for(self, origin: Origin) -> None:
        self._admitted.expect_room_for(origin, "to join later")

    def open(self, plan: MatchPlan, seated: Mapping[Seat, Session], origin: Origin) -> MatchSession:
        """Open a match for these sessions. RefusedError if its journal cannot be opened, or if a bug of ours
        keeps it from beginning."""
        try:
            return self._add_match(RecordedMatch(plan, self._setup.open_journal(plan.match)), seated, origin)
        except OSError as error:
            raise self._not_opened(plan.match, str(error)) from None
        except Exception as error:
            self._setup.note_bug("match.bug", error, plan.match, game=plan.game.id)
            raise RefusedError("server.failed", "to join again") from None

    def _not_opened(self, match: str, error: str) -> RefusedError:
        self._setup.log.error("journal.not_opened", match=match, error=error)
        return RefusedError("server.busy", "to join again later")

    def record(
        self, match: MatchSession, house_bots: Mapping[Seat, tuple[str, NewHousePlayer]], now: float
    ) -> None:
        """Write the beginning of a match whose players have their seats. RefusedError, and there is no such
        match, if the disk does not take it."""
        if match.record(house_bots, now) is False:
            self._running.pop(match.id)
            self._admitted.remove(match)
            self._listing.never_began(match.id)
            for seat in match.seats:
                if seat.session is not None:
                    session_of(seat.session).matches.pop(match.id)
            raise self._not_opened(match.id, match.disk_error)

    def begin(self, match: MatchSession, requests: Mapping[Seat, str], now: float) -> None:
        """Begin a match that was recorded. `requests` are the ids of the joins, where they have one."""
        match.begin(requests, now)
        self._outbox.deliver(match)

    def go_on(
        self,
        recorded: RecordedMatch,
        seated: Mapping[Seat, Session],
        house_bots: Mapping[Seat, tuple[str, NewHousePlayer]],
        missing: bytes,
        now: float,
    ) -> None:
        """Go on with a match that another server has left; `missing` still has to be written."""
        match = self._add_match(recorded, seated, None)
        match.go_on(house_bots, missing, now)
        self._outbox.deliver(match)

    def _add_match(
        self, recorded: RecordedMatch, seated: Mapping[Seat, Session], origin: Origin
    ) -> MatchSession:
        timer = Timer(self._deadlines, lambda now: self._come_back(match, now))
        match = MatchSession(
            recorded,
            timer=timer,
            unwritten_ms=self._setup.limits.unwritten_ms,
            on_bug=self._note_bug,
            on_over=self._note_end,
        )
        self._running[match.id] = match
        self._admitted.add(match, origin)
        self._listing.began(match)
        for seat, session in seated.items():
            match.seats[seat].session = session
            session.matches[match.id] = (match, seat)
        return match

    def _note_bug(self, match: MatchSession, error: Exception) -> None:
        self._setup.note_bug("match.bug", error, match.id, game=match.game.id)

    def _come_back(self, match: MatchSession, now: float) -> None:
        match.come_back(now)
        self._outbox.deliver(match)

    # -- what players say ------------------------------------------------------------------------

    def act(self, session: Session, message: Act, now: float) -> bool:
        """Take an act. Return whether it was the first answer to an open ask."""
        match, seat = self._find_seat(session, message.match)
        is_first = match.act(seat, message, now)
        self._outbox.deliver(match)
        return is_first is True

    def ready(self, session: Session, message: Ready, now: float) -> None:
        match, seat = self._find_seat(session, message.match)
        was_moment = match.ready(seat, now)
        self._outbox.deliver(match)
        if was_moment is False:
            raise RefusedError("protocol.out_of_phase", "ready once, after start", "/type")

    def leave(self, session: Session, id: str, now: float) -> None:
        """Take a client out of a match that it watches or plays in."""
        watched = session.watched.pop(id, None)
        if watched is not None:
            watched.stop_watching(session, now)
            self._outbox.deliver(watched)
            self._outbox.say(session, line(Left(match=watched.id)))
            return
        match, seat = self._find_seat(session, id)
        if isinstance(match, EndedMatch):
            raise RefusedError("protocol.no_such_match", "a match that goes on", "/match")
        self.take_out(match, seat, now)
        if match.seats[seat].left:
            session.matches.pop(match.id, None)
            if session.is_revoked:
                self.send_away_if_done(session)

    def take_out(self, match: MatchSession, seat: Seat, now: float) -> None:
        """Take a player out of its match for good: the fallback plays on."""
        match.leave(seat, now)
        self._outbox.deliver(match)

    def _find_seat(self, session: Session, match: str) -> tuple[MatchSession | EndedMatch, Seat]:
        seated = session.matches.get(match)
        if seated is None:
            raise RefusedError("protocol.no_such_match", "the id of a match from `start`", "/match")
        return seated

    # -- who watches -----------------------------------------------------------------------------

    def watch(self, session: Session, watch: Watch, now: float) -> None:
        """Let a session watch. An organizer gets the same answers about a match that nobody may watch as
        about none: an organizer can be the author of a bot, too."""
        match = self._running.get(watch.match)
        if match is None or match.is_over or not (match.plan.is_watchable or match.id in session.matches):
            self._watch_ended(session, watch)
            return
        _expect_right_to_watch(session, watch)
        if match.id in session.watched or match.id in session.matches:
            raise RefusedError("protocol.out_of_phase", "a match that this session is not in", "/match")
        session.watched[match.id] = match
        match.watch(session, watch.viewer, watch.request, now)
        self._outbox.deliver(match)

    def _watch_ended(self, session: Session, watch: Watch) -> None:
        """Send a match that is over and still listed, from the first event to the end."""
        unknown = RefusedError(
            "protocol.no_such_match", "the id of a match that runs, or ended lately", "/match"
        )
        ended = self._listing.ended_match(watch.match)
        if ended is None:
            raise unknown
        _expect_right_to_watch(session, watch)
        try:
            ended.watch(session, watch.viewer, watch.request)
        except FileNotFoundError:  # it failed, or somebody has removed its replay
            raise unknown from None
        except (OSError, CanonicalError, msgspec.DecodeError) as error:
            self._setup.note_disk_error(ended.id, error)
            raise unknown from None
        self._outbox.deliver(ended)

    def stop_watching(self, session: Session, now: float) -> None:
        """Stop all watching over the connection of a session."""
        for match in list(session.watched.values()):
            match.stop_watching(session, now)
            self._outbox.deliver(match)
        session.watched.clear()

    # -- connections -----------------------------------------------------------------------------

    def lost(self, session: Session, now: float) -> None:
        """Note that a session has lost its connection."""
        for match, seat in session.running():
            match.lost(seat, now)
            self._outbox.deliver(match)
        self.stop_watching(session, now)

    def back(self, session: Session, last_events: Mapping[str, int], now: float) -> None:
        """Note that a session has a connection again, whose client knows the events up to these."""
        for match, seat in list(session.matches.values()):
            match.back(seat, last_events.get(match.id, 0), now)
            self._outbox.deliver(match)

    def restart_clocks(
        self, session: Session, since: float, until: float, for_disk: bool, now: float
    ) -> None:
        """Let the clocks of the asks that were sent to a session between these times go on from now: they
        have reached the kernel only now. `for_disk`: that was all that they waited for."""
        for match, seat in session.running():
            match.restart_clock(seat, since, until, for_disk, now)
            self._outbox.deliver(match)

    # -- the end ---------------------------------------------------------------------------------

    def fail(self, id: str, now: float) -> None:
        """End a match without a result, if it runs."""
        match = self._running.get(id)
        if match is not None:
            match.fail(now)
            self._outbox.deliver(match)

    def journal_failed(self, id: str, error: OSError, now: float) -> None:
        """End a match without a result: the disk does not have what was written of it, so it could lose acts
        that clients know of."""
        if id in self._running:  # else its replay was written and synced by itself
            self._setup.log.error("journal.not_synced", match=id, error=str(error))
            self.fail(id, now)

    def _note_end(self, match: MatchSession, now: float) -> None:
        self._outbox.deliver(match)  # before any client is sent away
        self._running.pop(match.id, None)
        self._admitted.remove(match)
        match.timer.retire()
        self._decisions_before += match.decision_count
        self.finished_count += match.phase == "over"
        self.failed_count += match.phase == "failed"
        self._log_end(match, now)
        for watcher in match.watchers:
            session_of(watcher).watched.pop(match.id, None)
        ended = match.ended(self._setup.note_disk_error)
        for seat in match.seats:
            if seat.session is not None and not seat.left:
                ended.add(seat.number, seat.session, knows_end=seat.knows_end)
        self._listing.ended(ended, match.state.result if match.phase == "over" else None)
        self._sessions.keep_ended(ended, now)
        seated = [(seat.number, session_of(seat.session)) for seat in match.seats if seat.session is not None]
        for _, session in seated:
            self.send_away_if_done(session)
            self._sessions.end_if_done(session)
        if self._shutdown.has_begun and not self._running:
            self._shutdown.on_idle()
        self._setup.listener(MatchEnded(match, {seat: session.take_refused() for seat, session in seated}))

    def _log_end(self, match: MatchSession, now: float) -> None:
        result = match.state.result
        self._setup.log.info(
            "match.finished" if match.phase == "over" else "match.failed",
            match=match.id,
            game=match.game.id,
            players=list(match.plan.names),
            points=[team.points for team in result.teams] if result is not None else None,
            ranks=list(result.ranks) if result is not None else None,
            decisions=match.decision_count,
            defaults=[seat.default_count for seat in match.seats],
            refused=[seat.refused.counts.total() for seat in match.seats],
            seconds=round((now - match.started_at) / 1000, 3),
            replay=match.replay.name if match.replay is not None else None,
            disk_error=match.disk_error or None,
        )
        if match.phase == "over" and match.disk_error:
            self._setup.log.error(
                "replay.not_written",
                match=match.id,
                error=match.disk_error,
                journal=match.left_behind.name if match.left_behind is not None else None,
            )

    def send_away_if_done(self, session: Session) -> None:
        """Send away a client that is in no match, and has no more business here."""
        connection = session.connection
        if connection is None or session.is_playing():
            return
        if session.seat_token_hash is not None:
            self._outbox.bye(connection, "done", "nothing: this seat's match is over")
        elif self._shutdown.has_begun:
            self._shutdown.send_away(connection)
        elif session.is_revoked:
            self._outbox.bye(connection, "auth.bad_token", "a token that the organizer gave out")


def _expect_right_to_watch(session: Session, watch: Watch) -> None:
    if watch.viewer == "all_hands" and not session.is_organizer:
        raise RefusedError("auth.not_allowed", "an organizer's token", "/viewer")
