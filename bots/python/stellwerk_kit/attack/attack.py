"""Every valid and hostile client against a server, one case after the other.

Beside the cases two well-behaved clients, the witnesses, play matches against each other; they must not
notice a case. The law: the attack ends by itself, and leaves only finished matches on the server.
"""

from __future__ import annotations

import json
import secrets
import ssl
import threading
import time
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Final

from stellwerk_engine.boards.board_file import shipped_board
from stellwerk_engine.games.shipped import RULE_SETS
from stellwerk_kit.attack.caller import Caller, Memory, Message
from stellwerk_kit.doctor.doctor import Failure, Finding, judge
from stellwerk_kit.failed import DoesNotApplyError, FailedError
from stellwerk_protocol.messages import Limits

LONG: Final = 15.0  # seconds that a case may wait for a clock of the server, except with `--slow`
PAUSE: Final = 0.01  # seconds that a witness takes for an answer, so that it is not a load itself
FULL_PAUSE: Final = 0.25  # seconds after which a witness asks again for a place that a case holds
NEEDED_BY_WITNESSES: Final = 2
MANY_TRAINS: Final = 100  # of a game that is not known here: as many as a board may have


class NoServerError(Exception):
    """A missing server, or one that does not let us in; the message is one line. `refused`: the server
    refused us."""

    def __init__(self, text: str, *, refused: bool = False) -> None:
        super().__init__(text)
        self.refused = refused


@dataclass(frozen=True)
class Survey:
    """The server's description of itself."""

    server: str
    limits: Limits
    features: tuple[str, ...]
    games: tuple[Message, ...]


@dataclass
class Attack:
    """The target and the conditions. `tokens` are names with their tokens, for a server that requires
    them."""

    address: tuple[str, int]
    seconds: float = 10.0  # for each answer
    slow: bool = False  # whether to wait for slow clocks
    with_witnesses: bool = True
    tokens: tuple[tuple[str, str], ...] = ()
    tls: ssl.SSLContext | None = None
    _survey: Survey | None = field(default=None, init=False)
    _names: int = field(default=0, init=False)

    def __post_init__(self) -> None:
        self._free = list(self.tokens)
        self._label = secrets.token_hex(3)
        self._lock = threading.Lock()

    @property
    def survey(self) -> Survey:
        assert self._survey is not None
        return self._survey

    @property
    def limits(self) -> Limits:
        return self.survey.limits

    def look_around(self) -> None:
        """Ask the server what it can do. Raise NoServerError if there is nothing to attack."""
        try:
            with self.caller() as caller:
                assert caller.hello is not None
                hello = caller.hello
                games = _read_games(self.log_in(caller))
                self._survey = Survey(hello.server, hello.limits, hello.features, games)
        except FailedError as error:
            host, port = self.address
            refused = '"type": "error"' in error.came
            text = f"no login at {host}:{port}: expected {error.expected}; came {error.came}"
            raise NoServerError(text, refused=refused) from None

    def require(self, feature: str) -> None:
        if feature not in self.survey.features:
            raise DoesNotApplyError(f"the server does not say that it can do {feature}")

    def require_open(self) -> None:
        if self.tokens:
            raise DoesNotApplyError("it takes a server that is open to every name")

    def require_patience(self, milliseconds: int, what: str) -> None:
        if milliseconds / 1000 > LONG and not self.slow:
            raise DoesNotApplyError(f"{what} takes {milliseconds / 1000:g} s here: --slow waits for it")

    # -- callers ---------------------------------------------------------------------------------

    def call(self, memory: Memory | None = None) -> Caller:
        """Return a connection that got `hello` or `bye`. The caller closes it."""
        return Caller(self.address, self.seconds, memory, self.tls)

    @contextmanager
    def caller(self, memory: Memory | None = None) -> Generator[Caller]:
        """Open a connection up to its `hello`. At the end it leaves its matches and closes, if it is still
        open."""
        caller = self.call(memory)
        try:
            if caller.hello is None:
                raise FailedError("`hello`", "`bye`: too many connections")
            yield caller
        finally:
            caller.take_leave()

    @contextmanager
    def player(self, **login: Any) -> Generator[Caller]:  # Any: fields of many types
        """Open a connection that is logged in."""
        with self.caller() as caller, self.identity() as (name, fields):
            self._log_in(caller, name, **fields, **login)
            yield caller

    def log_in(self, caller: Caller, **login: Any) -> Message:  # Any: fields of many types
        with self.identity() as (name, fields):
            return self._log_in(caller, name, **fields, **login)

    def _log_in(self, caller: Caller, name: str, **login: Any) -> Message:  # Any: as above
        welcome = caller.log_in(name, **login)
        if self.tokens:
            caller.forget_the_past()
        return welcome

    @contextmanager
    def identity(self) -> Generator[tuple[str, Message]]:
        """Return a free name, and its token, if one is needed."""
        with self._lock:
            self._names += 1
            if not self.tokens:
                name, token = f"attack-{self._label}-{self._names}", ""
            elif self._free:
                name, token = self._free.pop()
            else:
                raise DoesNotApplyError(f"it takes more than {len(self.tokens)} tokens")
        try:
            yield name, {"token": token} if token else {}
        finally:
            if token:
                with self._lock:
                    self._free.append((name, token))

    def name(self) -> str:
        """Return a name, a room or a text that no other client has."""
        with self._lock:
            self._names += 1
            return f"attack-{self._label}-{self._names}"

    # -- matches ---------------------------------------------------------------------------------

    @property
    def game(self) -> Message:
        """Return the game whose matches end soonest: with the fewest trains to place."""
        return min(self.survey.games, key=_trains_of)

    def practice(self, caller: Caller, game: Message | None = None, **fields: Any) -> str:  # Any: as above
        """Join a match with house bots, up to its `start`, and return its id."""
        self.require("practice")
        game = game or self.game
        players = game["players"][0]
        against = ["random"] * (players - 1)
        caller.say("join", game=game["game"], players=players, against=against, **fields)
        id: str = caller.hear("start")["match"]
        return id

    def asked(self, caller: Caller, game: Message | None = None, **fields: Any) -> str:  # Any: as above
        """Do the same, up to its first ask."""
        id = self.practice(caller, game, **fields)
        caller.say("ready", match=id)
        caller.hear_ask(id)
        return id

    def table(self, *callers: Caller) -> str:
        """Start a match of these callers, up to its `start`, and return its id."""
        self.require("rooms")
        games = (self.game, *self.survey.games)
        game = next((each for each in games if len(callers) in each["players"]), None)
        if game is None:
            raise DoesNotApplyError(f"there is no game for {len(callers)} players")
        room = self.name()
        for caller in callers:
            caller.say("join", game=game["game"], players=len(callers), room=room)
            caller.hear("joined", room=room)
        ids = {caller.hear("start")["match"] for caller in callers}
        if len(ids) != 1:
            raise FailedError("one match for one room", f"{len(ids)} matches")
        return str(ids.pop())


def _trains_of(game: Message) -> int:
    rules = RULE_SETS.get(game["game"])
    return MANY_TRAINS if rules is None else shipped_board(rules.board).trains


def _read_games(welcome: Message) -> tuple[Message, ...]:
    """Return the games. There must be at least one: nothing else can be attacked with."""
    games: list[Message] = welcome["games"]
    if not games or not all(game["players"] for game in games):
        counts = {game["game"]: game["players"] for game in games}
        expected = "`welcome` with a game at least, each with its numbers of players"
        raise FailedError(expected, json.dumps(counts) if counts else "no games")
    return tuple(games)


@dataclass(frozen=True, slots=True)
class Case:
    """A case. `law` is the rule that it checks, in the words of the protocol."""

    name: str
    law: str
    play: Callable[[Attack], None]


def assault(attack: Attack, cases: Sequence[Case]) -> Iterator[Finding]:
    """Yield the findings one by one; a case that fails does not stop it. Raise NoServerError before the
    first."""
    attack.look_around()
    with _start_witnesses(attack) as witnesses:
        for case in cases:
            started = time.monotonic()
            finding = judge(case.name, case.law, partial(case.play, attack))
            if finding.verdict != "FAIL":
                finding = witnesses.on(case, finding, started)
            yield finding


def _since(started: float) -> float:
    return round(time.monotonic() - started, 3)


# -- witnesses ---------------------------------------------------------------------------------------

UNDISTURBED: Final = "that a match of two other clients goes on undisturbed (L18)"


class _Witnesses:
    """Two clients that do nothing wrong, each in its own thread."""

    def __init__(self, attack: Attack, callers: Sequence[Caller]) -> None:
        self._attack = attack
        self._answers = [0] * len(callers)
        self._failure: FailedError | None = None
        self._is_told = False  # they play no more then
        self._is_over = threading.Event()
        self._room = attack.name()
        self._threads = [
            threading.Thread(target=self._play_matches, args=(number, caller), daemon=True)
            for number, caller in enumerate(callers)
        ]
        for thread in self._threads:
            thread.start()

    def on(self, case: Case, finding: Finding, started: float) -> Finding:
        """Return their complaints, after each of them has moved once more. They complain once."""
        if self._is_told:
            return finding
        before = list(self._answers)
        deadline = time.monotonic() + self._attack.seconds
        while self._failure is None and any(map(int.__le__, self._answers, before)):
            if time.monotonic() > deadline:
                self._failure = FailedError(UNDISTURBED, f"no move in {self._attack.seconds:g} s")
            self._is_over.wait(PAUSE)
        if self._failure is None:
            return finding
        self._is_told = True
        failure = Failure(UNDISTURBED, self._failure.came, ())
        return Finding(case.name, case.law, "FAIL", _since(started), failure=failure)

    def end(self) -> None:
        self._is_over.set()
        for thread in self._threads:
            thread.join()

    def _play_matches(self, number: int, caller: Caller) -> None:
        """Play match after match until `end`, or until the server does something wrong."""
        try:
            while not self._is_over.is_set():
                self._play_match(number, caller)
        except FailedError as error:
            self._failure = self._failure or error

    def _play_match(self, number: int, caller: Caller) -> None:
        self._join_room(caller)
        quiet_since = time.monotonic()
        while not self._is_over.is_set():
            message = caller.next_within(PAUSE)
            if message is None:
                if time.monotonic() - quiet_since > self._attack.seconds + LONG:
                    raise FailedError(UNDISTURBED, "nothing any more")
                continue
            quiet_since = time.monotonic()
            match message["type"]:
                case "start":
                    caller.say("ready", match=message["match"])
                case "ask":
                    self._is_over.wait(PAUSE)
                    caller.act(message["match"])
                case "ok":
                    self._answers[number] += 1
                case "end":
                    return
                case "error" if message.get("code") == "server.full":
                    self._is_over.wait(FULL_PAUSE)  # a case may hold all rooms while a match ends
                    self._join_room(caller)
                case "error" | "default" | "seat" | "bye":
                    raise FailedError(UNDISTURBED, f"{message}")
                case _:
                    pass

    def _join_room(self, caller: Caller) -> None:
        caller.say("join", game=self._attack.game["game"], players=2, room=self._room)


class _NoWitnesses:
    def on(self, case: Case, finding: Finding, started: float) -> Finding:
        return finding


@contextmanager
def _start_witnesses(attack: Attack) -> Generator[_Witnesses | _NoWitnesses]:
    """Return the witnesses. None for a server without rooms for two, or with too few tokens."""
    lacking = (
        not attack.with_witnesses or "rooms" not in attack.survey.features or 2 not in attack.game["players"]
    )
    if lacking or 0 < len(attack.tokens) <= NEEDED_BY_WITNESSES:
        yield _NoWitnesses()
        return
    with attack.player() as one, attack.player() as other:
        witnesses = _Witnesses(attack, (one, other))
        try:
            yield witnesses
        finally:
            witnesses.end()
