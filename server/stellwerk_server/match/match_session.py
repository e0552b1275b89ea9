"""One match: who owes which answer, how much time is left, and who gets to know what.

Plain code without clock or sockets: lines and times come in as arguments, lines go out to the players
in the seats, and `timer` says when to come back. The laws, which `protocol/README.md` promises to clients:

- what happened is sent before the ask that depends on it; at most one ask is open for a seat;
- every act gets one `ok` or `error`, every ask ends with one `ok` or `default`;
- an accepted act is in the journal before any client learns of it; when the journal cannot be written the
  clocks stand still;
- a bot pays alone for its slowness, silence or nonsense.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from hashlib import sha256
from math import ceil, inf
from typing import TYPE_CHECKING, Final, Literal

import msgspec
from msgspec import UNSET, UnsetType

from stellwerk_base.texts import shown
from stellwerk_engine import engine
from stellwerk_engine.core.state import Move, Seat
from stellwerk_engine.knowledge.view import view
from stellwerk_protocol.answer_times import times_file
from stellwerk_protocol.errors import IllegalMoveError
from stellwerk_protocol.messages import Act, Default, DefaultReason, Error, Left, Ok, Wants
from stellwerk_server.journal.journal import VERSION, MatchRecord, SessionRecord, record_line
from stellwerk_server.match.audience import Audience
from stellwerk_server.match.edge import entry
from stellwerk_server.match.ended_match import NOTHING_OWED, EndedMatch, end_line
from stellwerk_server.match.lateness import late_in_words
from stellwerk_server.match.lines import ask_line, line
from stellwerk_server.match.match_journal import seat_record
from stellwerk_server.match.refusals import SHOWN, Refused
from stellwerk_server.match.seat import MatchSeat, OpenAsk

if TYPE_CHECKING:
    from pathlib import Path

    from stellwerk_engine.core.state import Events
    from stellwerk_protocol.error_codes import ErrorCode
    from stellwerk_server.match.deadlines import Timer
    from stellwerk_server.match.players import AskListener, NewHousePlayer, Outgoing, Recipient
    from stellwerk_server.match.recorded import RecordedMatch

AUTOMATIC_MOVES_AT_ONCE: Final = 4  # of house bots and absent seats, before others get their turn
UNWRITTEN_RETRY_MS: Final = 500.0

Phase = Literal["set_up", "playing", "over", "failed"]


class MatchSession:
    __slots__ = (
        "_audience",
        "_end_line",
        "_goes_on",
        "_held",
        "_is_finishing",
        "_journal",
        "_made_count",
        "_on_bug",
        "_on_over",
        "_out",
        "_to_announce",
        "_unwritten_ms",
        "_was_recalled",
        "asks",
        "clocks",
        "game",
        "id",
        "on_move",
        "phase",
        "plan",
        "seats",
        "set_up_until",
        "started_at",
        "state",
        "timer",
    )

    def __init__(
        self,
        recorded: RecordedMatch,
        *,
        timer: Timer,
        unwritten_ms: float,
        on_bug: Callable[[MatchSession, Exception], object],
        on_over: Callable[[MatchSession, float], None],
    ) -> None:
        """Prepare a match. Nothing happens before `begin`; until then its seats are filled."""
        plan, executor = recorded.plan, recorded.executor
        self.plan = plan
        self.id = plan.match
        self.game = plan.game
        self.clocks = plan.clocks
        self._journal = recorded.journal
        self.timer = timer
        self._out: list[Outgoing] = []
        self.phase: Phase = "set_up"
        self.seats = recorded.seats
        self.started_at = 0.0
        self.set_up_until = inf
        self._made_count = executor.move_count
        self.state = executor.state
        committed = self._journal.header.commitment or ""
        self._audience = Audience(plan, self.seats, committed, executor.events)
        self.asks: AskListener | None = None
        self._unwritten_ms = unwritten_ms
        self._on_bug = on_bug
        self._on_over = on_over
        self.on_move: Callable[[], object] | None = None
        """Called after each move that everybody knows of, for an observer. It returns at once."""
        self._end_line = b""
        self._is_finishing = False
        self._goes_on = False
        self._was_recalled = False
        self._held: tuple[MatchSeat, bytes, Events, bool] | None = None
        self._to_announce: list[MatchSeat] = []  # by default from now on: the others do not know yet

    @property
    def is_over(self) -> bool:
        return self.phase in ("over", "failed")

    @property
    def events(self) -> Events:
        """All events so far, with everything hidden in them: no client may see them before the end."""
        return self._audience.events

    @property
    def event_count(self) -> int:
        return len(self._audience.events)

    @property
    def decision_count(self) -> int:
        """How many moves everybody knows of. An answer to a choice that several owe counts with the last one:
        this number is public, and must not show that somebody has answered (L16)."""
        return self._made_count - self._hidden_count

    @property
    def known_counts(self) -> list[int]:
        """How many moves of each seat everybody knows of (see `decision_count`)."""
        state = self.state
        counts = [len(seat.times) for seat in self.seats]
        if state.pending is not None:
            for seat, choice in zip(state.pending.seats, state.choices, strict=bool(state.choices)):
                counts[seat] -= choice is not None
        return counts

    @property
    def _hidden_count(self) -> int:
        """Answers to a choice that several owe, while the last is still to come."""
        choices = self.state.choices
        return len(choices) - choices.count(None)

    @property
    def times_file(self) -> bytes:
        """The content of the file beside the replay: the answers so far."""
        return times_file(self.id, [seat.times for seat in self.seats])

    @property
    def watchers(self) -> tuple[Recipient, ...]:
        """Its spectators, including those who wait for all hands."""
        return (*self._audience.watchers, *self._audience.late_watchers)

    @property
    def replay(self) -> Path | None:
        """The path of the replay that was made of the journal."""
        return self._journal.replay

    @property
    def left_behind(self) -> Path | None:
        """The path of the journal, if no replay could be made of it."""
        return self._journal.left_behind

    @property
    def disk_error(self) -> str:
        """The reason why the disk takes nothing now."""
        return self._journal.error

    def data_to_send(self) -> list[Outgoing]:
        """Return what to send, in its order. The caller of any `entry` asks for it afterwards."""
        out, self._out = self._out, []
        return out

    def _send(self, seat: MatchSeat, message: bytes) -> None:
        if seat.session is not None and not seat.left:
            self._out.append((seat.session, message))

    # -- the beginning ---------------------------------------------------------------------------

    @entry
    def record(self, house_bots: Mapping[Seat, tuple[str, NewHousePlayer]], now: float) -> bool:
        """Deal, and write the deal. Return False if the disk does not take it: no client saw the match."""
        for number, (name, new_player) in house_bots.items():
            self._seat_house_bot(number, name, new_player)
        self.started_at = now
        self.set_up_until = now + self.clocks.set_up_ms
        match_record = MatchRecord(
            version=VERSION,
            match=self.id,
            seed=self.plan.seed.hex(),
            salt=self.plan.salt.hex(),
            reveal_later=self.plan.reveal_later,
            clocks=self.clocks,
            players=tuple(seat.player() for seat in self.seats),
        )
        opening = self._journal.opening(self._audience.events)
        is_recorded = self._journal.write(record_line(match_record) + opening, now)
        if not is_recorded:
            self._journal.file.discard()
            self.timer.retire()
        return is_recorded

    @entry
    def begin(self, requests: Mapping[Seat, str], now: float) -> None:
        """Send everybody the start of a match that was recorded, and wait for `ready`. `requests` are the ids
        of the joins, where they have one."""
        if self.is_over:  # by a bug, when it was to be recorded
            return
        for seat in self.seats:
            if seat.session is not None:
                self._out += self._audience.catch_up(seat, 0, requests.get(seat.number, UNSET))
            else:
                seat.is_ready = True
        self._begin_if_ready(now)

    def _seat_house_bot(self, number: Seat, name: str, new_player: NewHousePlayer) -> None:
        """Seat a house bot. Its seed follows from the deal's, one way."""
        seat = self.seats[number]
        secret = sha256(b"stellwerk/house-bot/1\n%d\n%b" % (number, self.plan.seed)).hexdigest()
        seat.house_bot_name = name
        seat.house_bot = new_player(self._audience.start_line(number), secret)

    @entry
    def ready(self, number: Seat, now: float) -> bool:
        """Take a seat's `ready`. Return False if this is not the moment for it."""
        seat = self.seats[number]
        if self.phase != "set_up" or seat.is_ready:
            return False
        seat.is_ready = True
        self._begin_if_ready(now)
        return True

    def _begin_if_ready(self, now: float) -> None:
        if all(seat.is_ready or seat.is_absent for seat in self.seats) or now >= self.set_up_until:
            self.phase = "playing"
            if self._held is None and not self._journal.unwritten:
                self._advance(now)
        self._schedule()

    # -- what a client says ----------------------------------------------------------------------

    @entry
    def act(self, number: Seat, act: Act, now: float) -> bool:
        """Take an act. Return whether it was the first answer to an open ask, which no limit of messages
        applies to."""
        seat = self.seats[number]
        ask = seat.ask
        if ask is None or act.ask != ask.id:
            late = seat.late.answered(act.ask, now)
            expected = NOTHING_OWED if late is None else f"{NOTHING_OWED}: {late_in_words(late)}"
            self._send(seat, self._write_error(act, "protocol.stale_ask", "", expected))
            return False
        if self._journal.unwritten:
            self._send(seat, self._write_error(act, "server.busy", "", "the same act again in a second"))
            return False
        is_first = ask.tries == self.clocks.tries
        try:
            move = self._read_move(seat, ask, act)
        except IllegalMoveError as error:
            self._refuse(seat, ask, act, error.code, error.pointer, error.expected, now)
        except _UnclearActError:
            expected = "exactly one of index and move"
            self._refuse(seat, ask, act, "protocol.wrong_value", "", expected, now)
        else:
            self._accept(seat, ask, move, act.note, now)
        return is_first

    @entry
    def leave(self, number: Seat, now: float) -> None:
        """Take a seat out for good: the fallback plays on."""
        seat = self.seats[number]
        seat.left = True
        self._write(record_line(seat_record(seat)), now)
        if seat.session is not None:
            self._out.append((seat.session, line(Left(match=self.id))))
        self._out += self._audience.to_others(seat, "left")
        if self.phase == "set_up":
            self._begin_if_ready(now)
        elif seat.ask is not None and not self._journal.unwritten:
            self._default(seat, "left", now)

    @entry
    def lost(self, number: Seat, now: float) -> None:
        """Note that a seat has lost its connection. Its clock keeps running."""
        seat = self.seats[number]
        if not self.is_over and not seat.left:
            seat.is_lost = True
            self._out += self._audience.to_others(seat, "lost")
            self._schedule()  # what a full socket had not taken held up the clock

    @entry
    def back(self, number: Seat, last_event: int, now: float) -> None:
        """Note that a seat's session has a connection again, whose client knows the events up to that one."""
        seat = self.seats[number]
        if seat.left:
            return
        if seat.session is not None:  # a server that continues this match needs the new resume key
            keys = SessionRecord(number, seat.session.key_hashes, seat.session.wants)
            self._write(record_line(keys), now)
        self._out += self._audience.catch_up(seat, last_event)
        if seat.is_lost:
            seat.is_lost = False
            self._out += self._audience.to_others(seat, "back")
        if seat.ask is not None:
            since = self._journal.refused_since
            seat.ask.sent_at = now
            self._send(seat, self._ask_line(seat, seat.ask, now if since is None else min(now, since)))
        if self._was_recalled and self.phase == "set_up":
            seat.is_ready = True
            self._begin_if_ready(now)
        self._schedule()  # the socket before may have been full, and held up the clock

    @entry
    def restart_clock(self, number: Seat, since: float, until: float, for_disk: bool, now: float) -> None:
        """Let the clock of an ask that was sent between these times go on from now: the ask has reached the
        kernel only now. A client that comes back gets the time that the disk took, and none for not
        reading."""
        ask = self.seats[number].ask
        if ask is not None and since <= ask.sent_at < until:
            if for_disk or ask.sent_at == ask.asked_at:
                ask.asked_at += now - ask.sent_at
            ask.sent_at = -inf
            self._schedule()

    # -- spectators ------------------------------------------------------------------------------

    @entry
    def watch(
        self,
        session: Recipient,
        viewer: Literal["public", "all_hands"],
        request: str | UnsetType,
        now: float,
    ) -> None:
        self._out += self._audience.watch(session, viewer, request)

    @entry
    def stop_watching(self, session: Recipient, now: float) -> None:
        self._audience.stop_watching(session)

    # -- time ------------------------------------------------------------------------------------

    @entry
    def come_back(self, now: float) -> None:
        if self.is_over:
            return
        self._goes_on = False
        if self._journal.unwritten:
            self._write_again(now)
        elif self.phase == "set_up":
            self._begin_if_ready(now)
        elif self._is_finishing:
            self._finish(now)
        else:
            for seat in self.seats:
                ask = seat.ask
                if ask is not None and now >= seat.deadline(ask):
                    if seat.is_connected:
                        seat.note_late(ask, self.state.turn)
                    seat.use_time(ask, now)
                    self._default(seat, "time" if seat.is_connected else "disconnected", now)
                    break  # it may have changed who owes what
            else:
                self._advance(now)
        self._schedule()

    def _schedule(self) -> None:
        """Set the timer to the next moment at which something happens by itself."""
        if self.is_over:
            self.timer.clear()
        elif self._journal.unwritten or self._goes_on or self._is_finishing:
            pass  # was set when that began
        elif self.phase == "set_up":
            self.timer.set(self.set_up_until)
        else:
            deadline = inf
            for seat in self.seats:
                if seat.ask is not None:
                    deadline = min(deadline, seat.deadline(seat.ask))
            self.timer.set(deadline)

    # -- asks and answers ------------------------------------------------------------------------

    def _advance(self, now: float) -> None:
        """Ask the seats that owe a move. House bots and absent seats move at once, but not without end:
        others are served in between."""
        for _ in range(AUTOMATIC_MOVES_AT_ONCE):
            if self.state.pending is None:
                self._finish(now)
                return
            owing = engine.owing(self.state)
            if not self._move_one_automatically(owing, now):
                for number in owing:
                    if self.seats[number].ask is None:
                        self._open_ask(self.seats[number], now)
                self._schedule()
                return
            if self.is_over or self._journal.unwritten:
                return
        self._goes_on = True
        self.timer.set(now)

    def _move_one_automatically(self, owing: tuple[Seat, ...], now: float) -> bool:
        """Make one move for a seat that needs no waiting for. Return whether there was one."""
        for number in owing:
            seat = self.seats[number]
            if seat.house_bot is not None or seat.is_absent:
                ask = seat.open_ask(now)
                if seat.is_absent:
                    self._make_default(seat, "left" if seat.left else "by_default", now)
                else:
                    self._move_house_bot(seat, ask, now)
                return True
        return False

    def _open_ask(self, seat: MatchSeat, now: float) -> None:
        if self.asks is not None:
            now = self.asks.asked(seat.number, now)
        ask = seat.open_ask(now)
        if seat.is_connected:
            self._send(seat, self._ask_line(seat, ask, now))

    def _ask_line(self, seat: MatchSeat, ask: OpenAsk, now: float) -> bytes:
        wants = Wants() if seat.session is None else seat.session.wants
        moves = self._list_moves(seat, ask) if wants.legal else None
        move_ms, bank_ms = seat.time_left(ask, now)
        state, number = self.state, seat.number
        pending = state.pending
        assert pending is not None
        seen = view(state, number) if wants.view else None
        decision = (
            seen.pending if seen is not None and seen.pending else pending.to_wire(state, number, False)
        )
        return ask_line(
            match=self.id,
            ask=ask.id,
            after_event=len(self._audience.events),
            decision=decision,
            move_ms=move_ms,
            bank_ms=bank_ms,
            tries=ask.tries,
            fallback=pending.fallback(state, number),
            view=seen,
            legal=moves,
            legal_complete=moves is not None and pending.legal_complete(state, number),
        )

    def _list_moves(self, seat: MatchSeat, ask: OpenAsk) -> list[Move]:
        if ask.moves is None:
            ask.moves = engine.legal(self.state, seat.number)
        return ask.moves

    def _read_move(self, seat: MatchSeat, ask: OpenAsk, act: Act) -> Move:
        """Return the move that an act means, or raise IllegalMoveError."""
        if (act.index is UNSET) == (act.move is UNSET):
            raise _UnclearActError
        if act.move is not UNSET:
            return engine.check(self.state, seat.number, act.move)
        moves = self._list_moves(seat, ask)
        if act.index is UNSET or act.index >= len(moves):
            raise IllegalMoveError("game.not_available", "/index", f"an index below {len(moves)}")
        return moves[act.index]

    def _refuse(
        self,
        seat: MatchSeat,
        ask: OpenAsk,
        act: Act,
        code: ErrorCode,
        pointer: str,
        expected: str,
        now: float,
    ) -> None:
        ask.tries -= 1
        pointer = f"/move{pointer}" if pointer and pointer != "/index" else pointer
        sent = shown(msgspec.json.encode(act).decode(), SHOWN)
        seat.refused.add(Refused(code, expected, pointer, sent, ask.id, self.state.turn))
        nearest = self._find_nearest(seat, ask, act)
        self._send(seat, self._write_error(act, code, pointer, expected, tries=ask.tries, nearest=nearest))
        if ask.tries == 0:
            seat.use_time(ask, now)
            self._default(seat, "tries", now)

    def _find_nearest(self, seat: MatchSeat, ask: OpenAsk, act: Act) -> Move:
        """Return a legal move of the same kind, with as many equal fields as possible; else the fallback."""
        if act.move is UNSET:
            return engine.fallback(self.state, seat.number)
        wanted = msgspec.structs.asdict(act.move)
        same_kind = [move for move in self._list_moves(seat, ask) if type(move.wire) is type(act.move)]
        if not same_kind:
            return engine.fallback(self.state, seat.number)
        return max(
            same_kind, key=lambda move: sum(getattr(move.wire, name) == wanted[name] for name in wanted)
        )

    def _write_error(
        self,
        act: Act,
        code: ErrorCode,
        pointer: str,
        expected: str,
        *,
        tries: int | None = None,
        nearest: Move | None = None,
    ) -> bytes:
        return line(
            Error(
                code=code,
                expected=expected[:200],
                pointer=pointer or UNSET,
                match=self.id,
                ask=act.ask,
                tries=UNSET if tries is None else tries,
                nearest=UNSET if nearest is None else nearest.wire,
            )
        )

    def _accept(self, seat: MatchSeat, ask: OpenAsk, move: Move, note: str, now: float) -> None:
        took = seat.use_time(ask, now)
        seat.defaults_in_a_row = 0
        answer = line(Ok(self.id, ask.id, ceil(took), int(seat.bank_ms)))
        self._make(seat, move, answer, now, note=note)
        if not self._journal.unwritten and not self.is_over:
            self._advance(now)

    def _move_house_bot(self, seat: MatchSeat, ask: OpenAsk, now: float) -> None:
        """Let a house bot move. Its answer is checked like any other. If it fails, that is our bug."""
        assert seat.house_bot is not None
        answer = seat.house_bot(self._ask_line(seat, ask, now))
        act = msgspec.json.decode(answer, type=Act)
        self._make(seat, self._read_move(seat, ask, act), b"", now, note=act.note)

    def _default(self, seat: MatchSeat, reason: DefaultReason, now: float) -> None:
        """Make the fallback instead of an answer, and continue the match."""
        self._make_default(seat, reason, now)
        if not self._journal.unwritten and not self.is_over:
            self._advance(now)

    def _make_default(self, seat: MatchSeat, reason: DefaultReason, now: float) -> None:
        ask = seat.ask
        assert ask is not None
        move = engine.fallback(self.state, seat.number)
        seat.default_reasons[reason] += 1
        seat.defaults_in_a_row += 1
        newly = not seat.by_default and (
            seat.defaults_in_a_row >= self.clocks.defaults_in_a_row
            or seat.default_count >= self.clocks.defaults
        )
        seat.by_default = seat.by_default or newly
        answer = line(
            Default(
                match=self.id,
                ask=ask.id,
                reason=reason,
                move=move.wire,
                defaults=seat.default_count,
                by_default=seat.by_default,
            )
        )
        self._make(seat, move, answer, now, reason=reason, newly_by_default=newly and not seat.left)

    def _make(
        self,
        seat: MatchSeat,
        move: Move,
        answer: bytes,
        now: float,
        *,
        reason: DefaultReason | None = None,
        note: str = "",
        newly_by_default: bool = False,
    ) -> None:
        """Apply a move, record it, and send what everybody may know of it."""
        events: Events = []
        seat.ask = None
        seat.note_time()
        if self.asks is not None:
            self.asks.answered(seat.number)
        self._made_count += 1
        engine.apply(self.state, seat.number, move, events)
        was_refused = bool(self._journal.unwritten)
        if self._journal.write_move(self.state, seat, move, events, now, reason, note):
            self._publish(seat, answer, events, newly_by_default)
        else:
            self._held = (seat, answer, events, newly_by_default)
            self._stand_still(was_refused, now)

    def _publish(self, seat: MatchSeat, answer: bytes, events: Events, newly_by_default: bool) -> None:
        if answer:
            self._send(seat, answer)
        if events:
            self._out += self._audience.publish(events)
            if self.on_move is not None:
                self.on_move()
        if newly_by_default:
            self._to_announce.append(seat)
        if not self._hidden_count:  # before, it would show the others that this seat has an answer (L16)
            for announced in self._to_announce:
                self._out += self._audience.to_others(announced, "by_default")
            self._to_announce.clear()

    # -- the end ---------------------------------------------------------------------------------

    def _finish(self, now: float) -> None:
        """Write the end, make the replay, and send the end to everybody. Tried again while the disk refuses,
        but not for ever: the players get their result, and the next server can make the replay."""
        if not self._is_finishing:
            result = self.state.result
            assert result is not None
            self._is_finishing = True
            if not self._write(self._journal.ending(result), now):
                return
        if not self._journal.finish(self.times_file, now):
            if not self._has_waited_enough(now):
                self.timer.set(now + UNWRITTEN_RETRY_MS)
                return
            self._journal.leave()
        self._end_with_result(now)

    def _end_with_result(self, now: float) -> None:
        result = self.state.result
        assert result is not None
        self._end_line = end_line(self.plan, result, self._journal.transcript)
        self._end("over", now)

    def ended(self, on_disk_error: Callable[[str, Exception], object]) -> EndedMatch:
        """Return what is kept of the match. If it failed, the disk may lack some of its events."""
        return EndedMatch(
            self.plan,
            commitment=self._audience.commitment,
            end_line=self._end_line,
            event_count=self.event_count,
            journal=self._journal.file if self.phase == "over" else None,
            on_disk_error=on_disk_error,
        )

    def _end(self, phase: Literal["over", "failed"], now: float) -> None:
        """Send everybody the end. If anything goes wrong in that, the match is over all the same."""
        self.phase = phase
        self.timer.clear()
        try:
            for seat in self.seats:
                seat.knows_end = seat.is_connected
            self._out += self._audience.to_end(self._end_line, all_hands=phase == "over")
        finally:
            self._on_over(self, now)

    @entry
    def fail(self, now: float) -> None:
        """End the match without a result: the fault is the server's own."""
        self._fail(now)

    def break_off(self, error: Exception, now: float) -> None:
        """End the match as failed, because of a bug of ours. See `edge.py`."""
        self._on_bug(self, error)
        try:
            self._fail(now)
        except Exception as another:
            self._on_bug(self, another)

    def _fail(self, now: float) -> None:
        if self.is_over:
            return
        self._journal.file.abandon()
        self._end_line = line(
            Error(
                code="server.failed", expected="nothing: the match is over, without a result", match=self.id
            )
        )
        for seat in self.seats:
            seat.ask = None
        self._end("failed", now)

    # -- what is written -------------------------------------------------------------------------

    def _write(self, lines: bytes, now: float) -> bool:
        """Write lines to the journal. Return whether that worked. If not, the match stands still until it
        does."""
        was_refused = bool(self._journal.unwritten)
        is_written = self._journal.write(lines, now)
        if not is_written:
            self._stand_still(was_refused, now)
        return is_written

    def _stand_still(self, was_refused: bool, now: float) -> None:
        """Try again later what could not be written, unless that has been arranged already."""
        if not was_refused:
            self.timer.set(now + UNWRITTEN_RETRY_MS)

    def _has_waited_enough(self, now: float) -> bool:
        since = self._journal.refused_since
        return since is not None and now - since >= self._unwritten_ms

    def _write_again(self, now: float) -> None:
        if self._has_waited_enough(now):
            if self._is_finishing:  # all acts are written: what is missing follows from them
                self._journal.leave()
                self._end_with_result(now)
            else:
                self._fail(now)
            return
        since = self._journal.refused_since
        assert since is not None
        if not self._journal.write_again(now):
            self.timer.set(now + UNWRITTEN_RETRY_MS)
            return
        stopped = now - since
        self.set_up_until += stopped
        for seat in self.seats:
            if seat.ask is not None:
                seat.ask.asked_at += now - max(since, seat.ask.asked_at)
        held, self._held = self._held, None
        if held is not None:
            self._publish(*held)
        if self._is_finishing:
            self._finish(now)
        elif self.phase == "playing":
            self._advance(now)

    # -- continued after a crash ----------------------------------------------------------------

    @entry
    def go_on(
        self, house_bots: Mapping[Seat, tuple[str, NewHousePlayer]], missing: bytes, now: float
    ) -> None:
        """Go on with what is recorded: `missing` still has to be written. The clocks wait until the players
        are back, but no longer than a set-up clock."""
        self._was_recalled = True
        self._is_finishing = self.state.pending is None
        for number, (name, new_player) in house_bots.items():
            self._seat_house_bot(number, name, new_player)
        self.started_at = now
        self.set_up_until = now + self.clocks.set_up_ms
        for seat in self.seats:
            seat.is_ready = seat.session is None
            seat.is_lost = seat.session is not None
        if missing:
            self._write(missing, now)
        if not self._is_finishing:
            self._begin_if_ready(now)
            return
        self.phase = "playing"
        if not self._journal.unwritten:
            self._finish(now)


class _UnclearActError(Exception):
    """An act with neither or both of index and move."""
