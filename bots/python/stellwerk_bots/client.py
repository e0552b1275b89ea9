"""A client: it logs in, takes a seat, and asks a player for the answers, match by match.

The law: no action of the server ends in a traceback. The client ignores unknown messages and fields, because
servers gain new ones. If an answer is refused, it sends a harmless one. If the connection is lost, it
connects again and resumes the session. If it cannot continue, it raises a ClientError of one line, with an
exit code.

    client = Client(default_address(), "my-bot", MyPlayer, join("usa", against=["greedy"]))
    client.run()

It does not catch exceptions of the player, because the author wants to see them.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing
from typing import TYPE_CHECKING, Final

from stellwerk_bots.bot import Answer, Listener, NewPlayer, Player, maker_of
from stellwerk_bots.connection import STDIO, AddressError, Connection, WrongLineError, connect
from stellwerk_bots.last_stack import last_stack
from stellwerk_bots.pace import Pace
from stellwerk_bots.reading import result_line

if TYPE_CHECKING:
    from stellwerk_bots.messages import (
        Ask,
        Bye,
        ErrorMessage,
        FromServer,
        GameName,
        Id,
        Join,
        Login,
        OptionName,
        PlayerName,
        Resume,
        Seat,
        Start,
    )

PROTOCOL: Final = 1

REFUSED: Final = 1  # exit codes
USAGE: Final = 2
NO_SERVER: Final = 4

FIRST_PAUSE: Final = 0.1  # seconds before the next attempt to connect, doubled each time
LONGEST_PAUSE: Final = 5.0
ATTEMPTS: Final = 12  # in a row, without an accepted answer: more than half a minute
BUSY_PAUSE: Final = 1.0

MOST_ENDED: Final = 32  # of the matches that are over, named in a login that has to stay short

COME_BACK: Final = ("server.shutting_down", "server.too_slow", "server.full", "server.busy")


class ClientError(Exception):
    """The reason why the client cannot continue, in one line."""

    def __init__(self, text: str, exit_code: int) -> None:
        super().__init__(text)
        self.exit_code = exit_code


class _LostError(Exception):
    """A lost connection. Another one may help: after `pause` seconds, if the server named a time."""

    def __init__(self, text: str, pause: float | None = None) -> None:
        super().__init__(text)
        self.pause = pause


class _Match:
    __slots__ = ("answers", "ask", "last_event", "listener", "player", "start")

    def __init__(self, start: Start, player: Player) -> None:
        self.start = start
        self.player = player
        self.listener = player if isinstance(player, Listener) else None
        self.last_event = 0
        self.ask: Ask | None = None  # the open one
        self.answers: list[Answer] = []  # the answer sent, then those to try after it


def join(
    game: GameName,
    players: int = 2,
    options: Sequence[OptionName] = (),
    *,
    against: Sequence[PlayerName] = (),
    room: Id | None = None,
    seat: Seat | None = None,
    seed: str | None = None,
) -> Join:
    """Return a `join`: with house bots (`against`), in a room, or with any other players. With house bots,
    `seat` and `seed` can be chosen."""
    message: Join = {"type": "join", "game": game, "players": players}
    if options:
        message["options"] = list(options)
    if against:
        message["against"] = list(against)
    if room is not None:
        message["room"] = room
    if seat is not None:
        message["seat"] = seat
    if seed is not None:
        message["seed"] = seed
    return message


class Client:
    """A client that plays `matches` matches, one after the other, and sends `wish` for each. Without a wish
    it plays the matches in which the server seats it, until `bye`. It passes every message to `observe`."""

    def __init__(
        self,
        address: str,
        name: str,
        bot: NewPlayer | Player,
        wish: Join | None = None,
        *,
        token: str | None = None,
        matches: int | None = None,
        seed_text: str = "",
        events: bool = False,
        tls_ca: str | None = None,
        tell_result: Callable[[str], object] = print,
        log: Callable[[str], object] = lambda text: print(text, file=sys.stderr, flush=True),
        observe: Callable[[FromServer], object] = lambda message: None,
        sleep: Callable[[float], object] = time.sleep,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._address = address
        self._name = name
        self._new_player = maker_of(bot)
        self._wish = wish
        self._token = token
        self._left = matches if matches is not None else 1 if wish is not None else None
        self._seed_text = seed_text
        self._events = events
        self._tls_ca = tls_ca
        self._tell_result = tell_result
        self._log = log
        self._observe = observe
        self._sleep = sleep
        self._clock = clock
        self._pace = Pace({}, clock())
        self._session: str | None = None
        self._key = ""
        self._matches: dict[str, _Match] = {}
        self._over: dict[str, None] = {}  # in the order of their ends
        self._acted: _Match | None = None  # the match whose act was sent last
        self._features: Sequence[str] = ()
        self._joining = False
        self._settled = True  # no answer to an earlier connection's messages can still come
        self._attempts = 0

    def run(self) -> None:
        """Play all matches. Raise ClientError if that is not possible."""
        while True:
            try:
                with closing(self._connect()) as connection:
                    self._log_in(connection)
                    self._play_matches(connection)
                    return
            except _LostError as lost:
                if self._address == STDIO and not self._left and not self._matches:
                    return  # the end of input means bye
                self._attempts += 1
                if self._address == STDIO or self._attempts >= ATTEMPTS:
                    raise ClientError(str(lost), NO_SERVER) from None
                pause = min(FIRST_PAUSE * 2 ** (self._attempts - 1), LONGEST_PAUSE)
                self._log(f"{lost}; trying again")
                self._sleep(pause if lost.pause is None else lost.pause)

    # -- the connection ------------------------------------------------------------------------------

    def _connect(self) -> Connection:
        try:
            return connect(self._address, self._tls_ca)
        except AddressError as error:
            raise ClientError(str(error), USAGE) from None
        except OSError as error:
            text = f"cannot connect to {self._address}: {error.strerror or error}"
            if self._session is None:
                raise ClientError(text, NO_SERVER) from None
            raise _LostError(text) from None

    def _send(
        self, connection: Connection, message: Mapping[str, object], *, is_first_answer: bool = False
    ) -> None:
        """Send a message, at the pace of the server."""
        if not is_first_answer and (pause := self._pace.spend(self._clock())):
            self._sleep(pause)
        try:
            connection.send(message)
        except OSError:
            raise _LostError("the connection is lost") from None

    def _receive(self, connection: Connection) -> FromServer:
        """Return the next message. A `bye` is never returned: it ends the connection."""
        try:
            message = connection.receive()
        except OSError:
            message = None
        except WrongLineError as error:
            raise ClientError(f"this is not a Stellwerk server: {error}", REFUSED) from None
        if message is None:
            raise _LostError("the connection is lost")
        self._observe(message)
        if message["type"] == "bye" and message.get("code") != "done":
            text = reason("the server sent bye", message)
            if message.get("code") not in COME_BACK:
                raise ClientError(text, REFUSED)
            raise _LostError(text, _pause_of(message))
        return message

    # -- the login -----------------------------------------------------------------------------------

    def _log_in(self, connection: Connection) -> None:
        self._joining = False
        self._settled = self._session is None and self._token is None
        hello = self._receive(connection)
        if hello["type"] != "hello":
            raise ClientError("this is not a Stellwerk server: it sent no hello", REFUSED)
        if PROTOCOL not in hello["protocols"]:
            raise ClientError(f"the server speaks protocol {hello['protocols']}, not {PROTOCOL}", REFUSED)
        self._features = hello.get("features", ())
        self._pace = Pace(hello.get("limits", {}), self._clock())
        self._send(connection, self._login())
        while True:
            message = self._receive(connection)
            match message["type"]:
                case "welcome":
                    self._session, self._key = message["session"], message["resume_key"]
                    self._name = message["name"]  # with a seat token the server uses the seat's name
                    if not self._settled:
                        self._send(connection, {"type": "ping"})
                    return
                case "error" if message["code"] == "auth.bad_resume_key" and self._session is not None:
                    self._session = None  # only a token can bring its matches back, with a new `start`
                    self._matches.clear()
                    self._send(connection, self._login())
                case "error":
                    raise _refusal("the login was refused", message)
                case "bye":
                    raise ClientError(reason("the server sent bye", message), REFUSED)
                case _:
                    pass

    def _login(self) -> Login:
        login: Login = {"type": "login", "protocol": PROTOCOL, "name": self._name, "language": "python"}
        login["wants"] = {"legal": True, "view": True, "events": self._events}
        if self._token is not None:
            login["token"] = self._token
        if self._session is not None:
            last_events = {name: played.last_event for name, played in self._matches.items()}
            resume: Resume = {"session": self._session, "key": self._key, "last_events": last_events}
            if self._over and "resume_ended" in self._features:
                resume["ended"] = list(self._over)[-MOST_ENDED:]
            login["resume"] = resume
        return login

    # -- the matches ---------------------------------------------------------------------------------

    def _play_matches(self, connection: Connection) -> None:
        """Join and play until all matches are over, or the server says goodbye."""
        while self._left != 0:
            if self._wish is not None and self._settled and not self._matches and not self._joining:
                self._joining = True
                self._send(connection, self._wish)
            message = self._receive(connection)
            if message["type"] == "bye":
                if self._matches or self._left:
                    raise ClientError("the server sent bye before all matches were played", REFUSED)
                return
            self._take_message(connection, message)

    def _take_message(self, connection: Connection, message: FromServer) -> None:
        match message["type"]:
            case "pong":
                self._settled = True
            case "left" if self._joining:
                self._joining = False  # the room has waited too long: join again
            case "start" if message["match"] not in self._over:
                self._begin_match(connection, message)
            case "event" if played := self._matches.get(message["match"]):
                played.last_event = message["number"]
                if played.listener is not None:
                    with last_stack():
                        played.listener.event(message)
            case "ask" if played := self._matches.get(message["match"]):
                self._answer(connection, played, message)
            case "ok" if played := self._matches.get(message["match"]):
                self._attempts = 0
                played.ask = None
            case "default" if played := self._matches.get(message["match"]):
                played.ask = None
                self._log(f"the server moved for this seat: {message['reason']}")
            case "error":
                self._refused(connection, message)
            case "end" if played := self._matches.get(message["match"]):
                try:
                    result = result_line(played.start, message)
                except (KeyError, TypeError, ValueError):
                    raise ClientError("the server sent a result without ranks", REFUSED) from None
                self._finish(message["match"], result)
            case _:
                pass

    def _begin_match(self, connection: Connection, start: Start) -> None:
        """Begin a new match, or continue one of a resumed session, which is already ready."""
        self._joining = False
        if start["match"] not in self._matches:
            with last_stack():
                player = self._new_player(start, self._seed_text)
            self._matches[start["match"]] = _Match(start, player)
            self._send(connection, {"type": "ready", "match": start["match"]})

    def _answer(self, connection: Connection, played: _Match, ask: Ask) -> None:
        """Send the player's answer. If the server refuses it, the first listed move follows, then the
        fallback. TypeError if it is no answer at all."""
        played.ask = ask
        harmless: list[Answer] = [{"index": 0}, {"move": ask["fallback"]}]
        with last_stack():
            answer = played.player.answer(ask)
        _expect_answer(played.player, ask, answer)
        played.answers = [answer, *(other for other in harmless if other != answer)]
        self._act(connection, played, is_first_answer=True)

    def _act(self, connection: Connection, played: _Match, *, is_first_answer: bool = False) -> None:
        if played.ask is not None and played.answers:
            about = {"type": "act", "match": played.ask["match"], "ask": played.ask["ask"]}
            self._acted = played
            self._send(connection, about | played.answers[0], is_first_answer=is_first_answer)

    def _finish(self, match: str, text: str) -> None:
        del self._matches[match]
        self._over[match] = None
        if self._left is not None:
            self._left -= 1
        self._tell_result(text)

    def _refused(self, connection: Connection, error: ErrorMessage) -> None:
        """Handle an error. Answers come in the order of the questions, so an error that names no match is
        about the last act, if its ask is still open."""
        code: str = error["code"]
        played = self._matches.get(error["match"]) if "match" in error else self._acted
        open_ask = played.ask if played is not None else None
        is_about_ask = open_ask is not None and error.get("ask", open_ask["ask"]) == open_ask["ask"]
        match code:
            case "protocol.stale_ask":
                self._pace.spend(self._clock())  # too late, it was no first answer
                self._log(reason("the answer was too late", error))
            case "protocol.too_fast":
                pass
            case "protocol.out_of_phase" | "protocol.too_many_matches":
                pass  # already ready, or in the room: an earlier connection did it
            case "server.failed" if played is not None and "match" in error:
                self._finish(error["match"], f"{played.start['game']}: no result, server.failed")
            case "server.busy" if played is not None and is_about_ask:
                self._sleep(BUSY_PAUSE)
                self._act(connection, played)
            case _ if played is not None and is_about_ask:
                self._log(reason("the answer was refused", error))
                del played.answers[:1]
                self._act(connection, played)
            case "server.busy" if self._joining and self._attempts + 1 < ATTEMPTS:
                self._attempts += 1
                self._log(reason("the join was refused, trying again", error))
                self._sleep(BUSY_PAUSE)
                self._joining = False
            case _ if self._joining:
                raise _refusal("the join was refused", error)
            case _:
                self._log(reason("the server refused a message", error))


def _expect_answer(player: Player, ask: Ask, answer: object) -> None:
    """Raise TypeError for what cannot be an answer, such as the None of a method that forgot its return."""
    if not isinstance(answer, dict):
        raise TypeError(
            f"{type(player).__name__}.answer: expected an answer to ask {ask['ask']}, "
            f'{{"index": N}} or {{"move": {{...}}}}, not {answer!r:.60}'
        )


def _refusal(what: str, error: ErrorMessage) -> Exception:
    """Return the exception for an error. If the server named a time, the client should come back then."""
    text = reason(what, error)
    pause = _pause_of(error)
    return ClientError(text, REFUSED) if pause is None else _LostError(text, pause)


def _pause_of(message: ErrorMessage | Bye) -> float | None:
    """Return the seconds after which the server wants the client back, if it named a time."""
    retry_ms = message.get("retry_ms")
    return None if retry_ms is None else retry_ms / 1000


def reason(what: str, message: ErrorMessage | Bye) -> str:
    """Return what happened, with the reason that the server gave, in one line."""
    where = f" at {message['pointer']}" if message["type"] == "error" and "pointer" in message else ""
    return f"{what}: {message.get('code')}{where}: {message.get('expected', '')}"
