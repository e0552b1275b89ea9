"""The recorded sessions of `protocol/examples`: all lines of one client and the server, one file for each
game, and one of a spectator.

`make examples` writes them. Run it when the messages, the rules or the server were meant to change.

The server is the real one without its sockets. Its entropy follows from the file's name, and its time passes
when the client lets it. Client and house bots are `greedy`, whose answers `protocol/GREEDY.md` defines: a bot
that improves would make these files stale.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

from stellwerk.shared.house_bots import house_bots
from stellwerk_bots.bot import Answer, Message, Player
from stellwerk_bots.imagined import dice_for, game_of, imagination_of
from stellwerk_bots.players import new_player
from stellwerk_bots.reading import Item
from stellwerk_engine import engine
from stellwerk_protocol.names import COLORS
from stellwerk_server.lobby.lobby import Lobby
from stellwerk_server.lobby.session import Connection
from stellwerk_server.lobby.setup import LobbySetup
from stellwerk_server.operate.settings import Limits, Time
from tests.server.support import ListLog, entropy, shelf

FOLDER: Final = Path(__file__).resolve().parents[2] / "protocol" / "examples"
REMAKE: Final = "python -m tools.example_sessions"

SERVER: Final = "stellwerk 0.1.0"  # a fixed version, so that a release does not make the files stale
WAY_BACK_MS: Final = 250  # from the loss of a connection to the login over the next one
SLOW_MS: Final = 1_400  # an answer that uses some of the bank


class ExampleServer:
    """A server and its time, and what it has sent to each connection and nobody has read."""

    def __init__(self, name: str) -> None:
        self.lobby = Lobby(
            LobbySetup(
                server=SERVER,
                limits=Limits(),
                time=Time(),
                games=shelf(),
                log=ListLog(),
                entropy=entropy(f"example/{name}"),
                house_bots=house_bots(),
            )
        )
        self.now = 0.0
        self._unread: defaultdict[Connection, bytes] = defaultdict(bytes)

    def unread(self, connection: Connection) -> bytes:
        """Return what a connection has not read yet, as read from now on."""
        for recipient, data in self.lobby.data_to_send():
            self._unread[recipient] += data
        return self._unread.pop(connection, b"")


class ExampleClient:
    """A client that follows the protocol, except where a script makes it break it."""

    def __init__(
        self, server: ExampleServer | str, name: str = "example_bot", **login: Any
    ) -> None:  # Any: fields of many types
        """Store the fields of `login`. The server is a new one for this session, or one that others use."""
        self._server = ExampleServer(server) if isinstance(server, str) else server
        self._login: Message = {"type": "login", "protocol": 1, "name": name, **login}
        self._connections = 0
        self._welcome: Message = {}
        self._player: Player | None = None
        self._last_event = 0
        self._cursor = ""
        self.match = ""
        self.ask: Message | None = None  # the open one
        self.lines: list[bytes] = []  # of the file
        self._connection = self._connect()

    @property
    def open_ask(self) -> Message:
        assert self.ask is not None
        return self.ask

    # -- lines --

    def say(self, type_: str, **fields: Any) -> None:  # Any: fields of many types
        self._say({"type": type_, **fields})

    def _say(self, message: Message) -> None:
        text = self._record_own(message)
        self._server.lobby.receive(self._connection, text, self._server.now)
        self._read()

    def _record_own(self, message: Message) -> bytes:
        text = _text(message)
        self.lines.append(b'{"from":"client","line":%b}\n' % text)
        return text

    def _read(self) -> None:
        """Read all lines that the server has sent over the connection in use."""
        for line in self._server.unread(self._connection).splitlines():
            self.lines.append(b'{"from":"server","line":%b}\n' % line)
            self._take(json.loads(line))

    def _take(self, message: Message) -> None:
        match message["type"]:
            case "welcome":
                self._welcome = message
            case "start":
                self.match = message["match"]
                self._last_event = 0
                if message["viewer"] == "seat":
                    self._player = _player_for(message, self._welcome["wants"].get("legal", True))
            case "event":
                self._last_event = message["number"]
            case "ask":
                self.ask = message
            case "match_list":
                self._cursor = message["cursor"]
            case "ok" | "default" | "left" | "end":
                self.ask = None
                self._player = None if message["type"] in ("left", "end") else self._player
            case _:
                pass

    # -- time --

    def wait(self, milliseconds: float) -> None:
        """Let time pass, and let the server do what becomes due."""
        server = self._server
        until = server.now + milliseconds
        while server.lobby.deadlines.next <= until:
            server.now = max(server.now, server.lobby.deadlines.next)
            server.lobby.run_due(lambda: server.now)
            self._read()
        server.now = until

    def wait_for_default(self) -> None:
        """Send nothing until the server makes the fallback."""
        ask = self.open_ask["ask"]
        while self.ask is not None and self.ask["ask"] == ask:
            self.wait(1)

    # -- connections --

    def _connect(self) -> Connection:
        self._connections += 1
        if self._connections > 1:
            self.lines.append(b'{"from":"client","connection":%d}\n' % self._connections)
        self._connection = self._server.lobby.connect("127.0.0.1", "tcp", True, self._server.now)
        self._read()
        return self._connection

    def log_in(self) -> None:
        self._say(self._login)

    def lose_connection(self) -> None:
        """Lose the connection, and with it all lines that the client has not read."""
        self._server.lobby.disconnect(self._connection, "lost", self._server.now)
        self._server.unread(self._connection)

    def answer_and_lose_connection(self) -> None:
        """Send an answer that arrives, and lose the connection before the reply does."""
        text = self._record_own(self._act())
        self._server.lobby.receive(self._connection, text, self._server.now)
        self.lose_connection()
        self.ask = None

    def resume(self) -> None:
        """Resume the session over a new connection."""
        self.wait(WAY_BACK_MS)
        self._connect()
        resume = {
            "session": self._welcome["session"],
            "key": self._welcome["resume_key"],
            "last_events": {self.match: self._last_event},
        }
        self._say(self._login | {"resume": resume})

    def wait_for_bye(self) -> None:
        """Shut the server down, so that it sends `bye` to a client that is in no match."""
        self._server.lobby.drain()
        self._read()

    # -- matches --

    def join(self, game: str, players: int, seed: str, **fields: Any) -> None:  # Any: fields of many types
        against = ["greedy"] * (players - 1)
        self.say("join", game=game, players=players, against=against, seed=seed, **fields)
        self.say("ready", match=self.match)

    def play(self, until: Callable[[Message], bool] = lambda _: False) -> None:
        """Answer all asks up to one that `is_the_one` accepts, which stays open, or up to the end of the
        match."""
        while self._player is not None:
            if self.ask is None:
                self.wait(max(0, self._server.lobby.deadlines.next - self._server.now))
            elif until(self.ask):
                return
            else:
                self.answer()

    def answer(self) -> None:
        """Answer after a thinking time that differs between asks."""
        self.wait(3 + self.open_ask["ask"] * 37 % 50)
        self._say(self._act())

    def act(self, **answer: Any) -> None:  # Any: an index or a move
        self._say({"type": "act", "match": self.match, "ask": self.open_ask["ask"], **answer})

    # -- the matches of others --

    def ask_for_matches(self) -> None:
        """Ask for the list of matches, or for what has changed in it."""
        self.say("matches", **({"after": self._cursor} if self._cursor else {}))

    def read_on(self) -> None:
        """Read what has come meanwhile."""
        self._read()

    def _act(self) -> Message:
        assert self._player is not None
        ask = self.open_ask
        return {"type": "act", "match": self.match, "ask": ask["ask"], **self._player.answer(ask)}


class MovesFromViews:
    """A player that gets no lists: it derives the moves from the view alone, and answers with a move."""

    def __init__(self, start: Message) -> None:
        self._game = game_of(start)
        self._greedy = new_player("greedy")(start, "")

    def answer(self, ask: Message) -> Answer:
        state = imagination_of(self._game, ask).deal(dice_for("", ask))
        legal: list[Item] = [json.loads(move.json) for move in engine.legal(state, ask["view"]["seat"])]
        return {"move": legal[self._greedy.answer(ask | {"legal": legal})["index"]]}


def _player_for(start: Message, gets_lists: bool) -> Player:
    return new_player("greedy")(start, "") if gets_lists else MovesFromViews(start)


def _text(message: Message) -> bytes:
    return json.dumps(message, separators=(",", ":")).encode()


# -- the sessions ------------------------------------------------------------------------------------


def usa() -> ExampleClient:
    """Play a session in which nothing goes wrong."""
    client = ExampleClient("usa", language="Python")
    client.log_in()
    client.say("ping", echo=17)
    client.join("usa", 2, seed="14")
    client.play()
    client.wait_for_bye()
    return client


def card_game() -> ExampleClient:
    """Make mistakes and be late, to show what that costs and what it does not."""
    client = ExampleClient("card_game", language="Python")
    client.log_in()
    client.say("join", game="card_game", players=2, againts=["greedy"])
    client.join("card_game", 2, seed="1")
    client.play(until=_is_turn_after(3))
    shown = client.open_ask["view"]["market"]
    hidden = next(color for color in COLORS if color not in shown)
    client.act(move={"type": "take_card", "card": hidden})
    client.act(index=len(client.open_ask["legal"]))
    client.answer()
    client.play(until=_is_turn_after(6))
    client.wait(SLOW_MS)
    client.answer()
    client.play(until=_is_turn_after(9))
    late = client.open_ask["ask"]
    client.wait_for_default()
    client.say("act", match=client.match, ask=late, index=0)
    client.play()
    client.wait_for_bye()
    return client


def team_asia() -> ExampleClient:
    """Play as a client that knows the rules and wants no lists. It loses its connection twice: with an answer
    under way, and with an ask open. In this deal it has to pay for a tunnel."""
    client = ExampleClient("team_asia", language="Python", wants={"legal": False})
    client.log_in()
    client.join("team_asia", 4, seed="7")
    client.play(until=_is_turn_after(5))
    client.answer_and_lose_connection()
    client.resume()
    client.play(until=_is_turn_after(12))
    client.lose_connection()
    client.resume()
    client.play()
    client.wait_for_bye()
    return client


def united_kingdom() -> ExampleClient:
    """Play a match with an option, from the other seat; then leave a second match."""
    client = ExampleClient("united_kingdom", language="Python")
    client.log_in()
    client.join("united_kingdom", 2, seed="2", options=["advanced_technologies"], seat=1)
    client.play()
    client.join("united_kingdom", 2, seed="3")
    client.play(until=_is_turn_after(3))
    client.say("leave", match=client.match)
    client.wait_for_bye()
    return client


def europe() -> ExampleClient:
    """Play a match of three. The client sends a move of its own, for a station; then it chooses from the list
    again."""
    client = ExampleClient("europe", language="Python")
    client.log_in()
    client.join("europe", 3, seed="5")
    client.play(until=_can_build(3))
    first = next(move for move in client.open_ask["legal"] if move["type"] == "build_station")
    client.act(move=first)
    client.play()
    client.wait_for_bye()
    return client


def spectator() -> ExampleClient:
    """Watch the match of another client, which is not recorded."""
    server = ExampleServer("spectator")
    player = ExampleClient(server, "another_bot")
    player.log_in()
    player.join("card_game", 2, seed="1")
    player.play(until=_is_turn_after(5))
    client = ExampleClient(server, "spectator", language="Python")
    client.log_in()
    client.ask_for_matches()
    client.say("watch", match=player.match)
    player.play()
    client.read_on()
    client.ask_for_matches()
    client.ask_for_matches()
    client.wait_for_bye()
    return client


def _can_build(count: int) -> Callable[[Message], bool]:
    """Find the first ask after so many in which a station can be built."""
    return lambda ask: ask["ask"] > count and any(move["type"] == "build_station" for move in ask["legal"])


def _is_turn_after(count: int) -> Callable[[Message], bool]:
    """Return a test for the first ask for a turn after this number of asks."""
    return lambda ask: ask["ask"] > count and ask["decision"]["type"] == "take_turn"


SESSIONS: Final[dict[str, Callable[[], ExampleClient]]] = {
    "usa": usa,
    "card_game": card_game,
    "team_asia": team_asia,
    "united_kingdom": united_kingdom,
    "europe": europe,
    "spectator": spectator,
}


def session(name: str) -> bytes:
    """Return the file of a session."""
    return b"".join(SESSIONS[name]().lines)


if __name__ == "__main__":
    FOLDER.mkdir(parents=True, exist_ok=True)
    for each in SESSIONS:
        (FOLDER / f"{each}.jsonl").write_bytes(session(each))
