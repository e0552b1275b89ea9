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
from stellwerk_kit.failed import DoesNotApplyError, FailedError, expect
from stellwerk_protocol.messages import Limits

LONG: Final = 15.0  # seconds that a case may wait for a clock of the server, except with `--slow`
PAUSE: Final = 0.01  # seconds that a witness takes for an answer, so that it is not a load itself
FULL_PAUSE: Final = 0.25  # seconds after which a witness asks again for a place that a case holds
NEEDED_BY_WITNESSES: Final = 2
MANY_TRAINS: Final = 100  # of a game that is not known here: as many as a board may have
OPEN: Final = "open"  # what a case needs that must log in under any name


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


@dataclass(frozen=True, slots=True)
class Case:
    """A case. `law` is the rule that it checks, in the words of the protocol. It `needs` these features of
    the server, or that it is OPEN."""

    name: str
    law: str
    play: Callable[[Attack], None]
    needs: tuple[str, ...] = ()


def case(law: str, *needs: str) -> Callable[[Callable[[Attack], None]], Case]:
    """Make a case of a function, under the function's name."""
    return lambda play: Case(play.__name__.replace("_", "-"), law, play, needs)


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
        self._open: list[Caller] = []
        self._label = secrets.token_hex(3)

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
            with self.scene():
                caller = self.caller()
                hello = caller.hello
                assert hello is not None
                games = _read_games(self.log_in(caller))
                self._survey = Survey(hello.server, hello.limits, hello.features, games)
        except FailedError as error:
            host, port = self.address
            refused = '"type": "error"' in error.came
            text = f"no login at {host}:{port}: expected {error.expected}; came {error.came}"
            raise NoServerError(text, refused=refused) from None

    def play(self, case: Case) -> None:
        """Play a case, if the server has what it needs, and close its connections."""
        for need in case.needs:
            self.require(need)
        with self.scene():
            case.play(self)

    def require(self, need: str) -> None:
        if need == OPEN:
            if self.tokens:
                raise DoesNotApplyError("it takes a server that is open to every name")
        elif need not in self.survey.features:
            raise DoesNotApplyError(f"the server does not say that it can do {need}")

    def require_patience(self, milliseconds: int, what: str) -> None:
        if milliseconds / 1000 > LONG and not self.slow:
            raise DoesNotApplyError(f"{what} takes {milliseconds / 1000:g} s here: --slow waits for it")

    # -- callers ---------------------------------------------------------------------------------

    @contextmanager
    def scene(self) -> Generator[None]:
        """Close all connections that are opened inside: they leave their matches, and give back their
        tokens."""
        opened, free = self._open, list(self._free)
        self._open = []
        try:
            yield
        finally:
            for caller in reversed(self._open):
                caller.take_leave()
            self._open, self._free = opened, free

    def call(self, memory: Memory | None = None) -> Caller:
        """Open a connection, which gets `hello` or `bye`."""
        caller = Caller(self.address, self.seconds, memory, self.tls)
        self._open.append(caller)
        return caller

    def caller(self, memory: Memory | None = None) -> Caller:
        """Open a connection up to its `hello`."""
        caller = self.call(memory)
        expect(caller.hello is not None, "`hello`", "`bye`: too many connections")
        return caller

    def player(self, **login: Any) -> Caller:  # Any: fields of many types
        """Open a connection that is logged in."""
        caller = self.caller()
        self.log_in(caller, **login)
        return caller

    def log_in(self, caller: Caller, **login: Any) -> Message:  # Any: fields of many types
        """Log in with a free name, and with its token, if one is needed. Return the `welcome`."""
        if not self.tokens:
            return caller.log_in(self.name(), **login)
        if not self._free:
            raise DoesNotApplyError(f"it takes more than {len(self.tokens)} tokens")
        name, token = self._free.pop()
        welcome = caller.log_in(name, token=token, **login)
        caller.forget_the_past()
        return welcome

    def come_back(self, lost: Caller, **resume: Any) -> Caller:  # Any: fields of many types
        """Open a connection that resumes the session of another one."""
        caller = self.caller(lost.memory)
        caller.log_in(lost.welcome["name"], resume=lost.resume(**resume))
        return caller

    def name(self) -> str:
        """Return a name, a room or a text that no other client has."""
        self._names += 1
        return f"attack-{self._label}-{self._names}"

    # -- matches ---------------------------------------------------------------------------------

    @property
    def game(self) -> Message:
        """Return the game whose matches end soonest: with the fewest trains to place."""
        return min(self.survey.games, key=_trains_of)

    def join(self, **fields: Any) -> Message:  # Any: fields of many types
        """Return the fields of a `join` for this game."""
        return {"game": self.game["game"], "players": self.game["players"][0], **fields}

    def practice(self, caller: Caller, game: Message | None = None) -> str:
        """Join a match with house bots, up to its `start`, and return its id."""
        self.require("practice")
        game = game or self.game
        players = game["players"][0]
        caller.say("join", game=game["game"], players=players, against=["random"] * (players - 1))
        id: str = caller.hear("start")["match"]
        return id

    def asked(self, game: Message | None = None, **login: Any) -> tuple[Caller, str]:  # Any: as above
        """Return a player and its match with house bots, up to its first ask."""
        caller = self.player(**login)
        match = self.practice(caller, game)
        caller.say("ready", match=match)
        caller.hear_ask(match)
        return caller, match

    def pair(self) -> tuple[Caller, Caller, str]:
        """Return two players and their match, up to its `start`."""
        one, other = callers = self.player(), self.player()
        self.require("rooms")
        game = next((each for each in (self.game, *self.survey.games) if 2 in each["players"]), None)
        if game is None:
            raise DoesNotApplyError("there is no game for 2 players")
        room = self.name()
        for caller in callers:
            caller.say("join", game=game["game"], players=2, room=room)
            caller.hear("joined", room=room)
        ids = {caller.hear("start")["match"] for caller in callers}
        expect(len(ids) == 1, "one match for one room", f"{len(ids)} matches")
        return one, other, ids.pop()


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


def assault(attack: Attack, cases: Sequence[Case]) -> Iterator[Finding]:
    """Yield the findings one by one; a case that fails does not stop it. Raise NoServerError before the
    first."""
    attack.look_around()
    with attack.scene():
        witnesses = _Witnesses(attack)
        try:
            for case in cases:
                started = time.monotonic()
                finding = judge(case.name, case.law, partial(attack.play, case), f"attack: {case.name}", "S")
                yield finding if finding.verdict == "FAIL" else witnesses.confirm(finding, started)
        finally:
            witnesses.end()


# -- witnesses ---------------------------------------------------------------------------------------

UNDISTURBED: Final = "that a match of two other clients goes on undisturbed (L18)"


class _Witnesses:
    """Two clients that do nothing wrong, each in its own thread. None for a server without rooms for two, or
    with too few tokens."""

    def __init__(self, attack: Attack) -> None:
        has_room = "rooms" in attack.survey.features and 2 in attack.game["players"]
        has_tokens = not 0 < len(attack.tokens) <= NEEDED_BY_WITNESSES
        count = NEEDED_BY_WITNESSES if attack.with_witnesses and has_room and has_tokens else 0
        self._attack = attack
        self._answers = [0] * count
        self._failure: FailedError | None = None
        self._has_complained = False  # they play no more then
        self._is_over = threading.Event()
        self._room = attack.name()
        callers = [attack.player() for _ in range(count)]
        self._threads = [
            threading.Thread(target=self._play_matches, args=(number, caller), daemon=True)
            for number, caller in enumerate(callers)
        ]
        for thread in self._threads:
            thread.start()

    def confirm(self, finding: Finding, started: float) -> Finding:
        """Return the finding, or their complaint, after each of them has moved once more. They complain
        once."""
        if self._has_complained:
            return finding
        before = list(self._answers)
        deadline = time.monotonic() + self._attack.seconds
        while self._failure is None and any(map(int.__le__, self._answers, before)):
            if time.monotonic() > deadline:
                self._failure = FailedError(UNDISTURBED, f"no move in {self._attack.seconds:g} s")
            self._is_over.wait(PAUSE)
        if self._failure is None:
            return finding
        self._has_complained = True
        failure = Failure(UNDISTURBED, self._failure.came, ())
        seconds = round(time.monotonic() - started, 3)
        return Finding(finding.step, finding.law, "FAIL", seconds, failure=failure)

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
                is_dead = time.monotonic() - quiet_since > self._attack.seconds + LONG
                expect(not is_dead, UNDISTURBED, "nothing any more")
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
