"""The recorded sessions of `protocol/examples`: all lines of one client and the server, one file for each
game, and one of a spectator.

Client and house bots are `greedy`, whose answers `protocol/GREEDY.md` defines: a bot that improves would make
these files stale.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from typing import Any, Final, cast

from stellwerk_bots.bot import Answer, Message, MoveAnswer, Player
from stellwerk_bots.greedy import Greedy
from stellwerk_bots.imagined import dice_for, game_of, imagination_of
from stellwerk_bots.messages import Ask, BuildStation, Start
from stellwerk_bots.players import new_player
from stellwerk_engine import engine
from stellwerk_protocol.names import COLORS
from tools.recorder import Server

WAY_BACK_MS: Final = 250  # from the loss of a connection to the login over the next one
SLOW_MS: Final = 1_400  # an answer that uses some of the bank
MILESTONES: Final = ("welcome", "start", "ask", "ok", "default", "end")
"""The newest of these says what a client waits for: it plays on an `ask`, and is done at the `end`."""


class ExampleClient:
    """A client that follows the protocol, except where a script makes it break it."""

    def __init__(
        self, server: Server, name: str = "example_bot", *, is_recorded: bool = True, **login: Any
    ) -> None:  # Any: fields of many types
        """Store the fields of `login`, and log in."""
        self.server = server
        self._login: Message = {"type": "login", "protocol": 1, "name": name, **login}
        self._wants_lists = login.get("wants", {}).get("legal", True)
        self._is_recorded = is_recorded
        self._match = ""
        self._player: Player
        self._client = server.connect(is_recorded=is_recorded)
        self.say(**self._login)

    @property
    def match(self) -> str:
        return str(self._newest("start")["match"])

    @property
    def ask(self) -> Ask:
        return cast("Ask", self._newest("ask"))

    def _newest(self, *types: str) -> Message:
        return self._client.newest(*types)

    def say(self, type: str, **fields: Any) -> None:  # Any: fields of many types
        self._client.say(type, **fields)

    # -- connections --

    def lose_connection(self) -> None:
        self._client.lose()

    def answer_and_lose_connection(self) -> None:
        """Send an answer that arrives, and lose the connection before the reply does."""
        act = {"type": "act", "match": self.match, "ask": self.ask["ask"], **self._answer()}
        self._client.send(json.dumps(act, separators=(",", ":")).encode(), reads_on=False)
        self._client.lose()

    def resume(self) -> None:
        """Resume the session over a new connection."""
        self.server.wait(WAY_BACK_MS)
        welcome, start = self._newest("welcome"), self._newest("start")
        last_events = {start["match"]: self._newest("event")["number"]}
        old, self._client = self._client, self.server.connect(is_recorded=self._is_recorded)
        self._client.messages = old.messages + self._client.messages
        resume = {"session": welcome["session"], "key": welcome["resume_key"], "last_events": last_events}
        self.say(**self._login, resume=resume)

    # -- matches --

    def join(self, game: str, players: int, seed: str, **fields: Any) -> None:  # Any: fields of many types
        against = ["greedy"] * (players - 1)
        self.say("join", game=game, players=players, against=against, seed=seed, **fields)
        self.say("ready", match=self.match)

    def play(self, until: Callable[[Ask], bool] = lambda _: False) -> None:
        """Answer all asks up to one that `until` accepts, which stays open, or up to the end of the match."""
        while True:
            self.server.wait_until(lambda: self._newest(*MILESTONES)["type"] in ("ask", "end"))
            if self._newest(*MILESTONES)["type"] == "end" or until(self.ask):
                return
            self.answer()

    def answer(self) -> None:
        """Answer after a thinking time that differs between asks."""
        self.server.wait(3 + self.ask["ask"] * 37 % 50)
        self.act(**self._answer())

    def wait_for_default(self) -> None:
        """Send nothing until the server makes the fallback."""
        self._client.wait_for_another("default")

    def act(self, **answer: Any) -> None:  # Any: an index or a move
        self.say("act", match=self.match, ask=self.ask["ask"], **answer)

    def _answer(self) -> Answer:
        start = cast("Start", self._newest("start"))
        if start["match"] != self._match:
            self._match = start["match"]
            self._player = new_player("greedy")(start, "") if self._wants_lists else MovesFromViews(start)
        return self._player.answer(self.ask)

    # -- the matches of others --

    def ask_for_matches(self) -> None:
        """Ask for the list of matches, or for what has changed in it."""
        known = self._client.has("match_list")
        self.say("matches", **({"after": self._newest("match_list")["cursor"]} if known else {}))


class MovesFromViews:
    """A player that gets no lists: it derives the moves from the view alone, and answers with a move."""

    def __init__(self, start: Start) -> None:
        self._game = game_of(start)
        self._greedy = Greedy(start, "")

    def answer(self, ask: Ask) -> MoveAnswer:
        state = imagination_of(self._game, ask).deal(dice_for("", ask))
        legal = [json.loads(move.json) for move in engine.legal(state, ask["view"]["seat"])]
        return {"move": legal[self._greedy.answer({**ask, "legal": legal})["index"]]}


# -- the sessions ------------------------------------------------------------------------------------


def usa(server: Server) -> None:
    """Play a session in which nothing goes wrong."""
    client = ExampleClient(server, language="Python")
    client.say("ping", echo=17)
    client.join("usa", 2, seed="14")
    client.play()
    server.drain()


def card_game(server: Server) -> None:
    """Make mistakes and be late, to show what that costs and what it does not."""
    client = ExampleClient(server, language="Python")
    client.say("join", game="card_game", players=2, againts=["greedy"])
    client.join("card_game", 2, seed="1")
    client.play(until=_is_turn_after(3))
    shown = client.ask["view"]["market"]
    hidden = next(color for color in COLORS if color not in shown)
    client.act(move={"type": "take_card", "card": hidden})
    client.act(index=len(client.ask["legal"]))
    client.answer()
    client.play(until=_is_turn_after(6))
    server.wait(SLOW_MS)
    client.answer()
    client.play(until=_is_turn_after(9))
    late = client.ask["ask"]
    client.wait_for_default()
    client.say("act", match=client.match, ask=late, index=0)
    client.play()
    server.drain()


def team_asia(server: Server) -> None:
    """Play as a client that knows the rules and wants no lists. It loses its connection twice: with an answer
    under way, and with an ask open. In this deal it has to pay for a tunnel."""
    client = ExampleClient(server, language="Python", wants={"legal": False})
    client.join("team_asia", 4, seed="7")
    client.play(until=_is_turn_after(5))
    client.answer_and_lose_connection()
    client.resume()
    client.play(until=_is_turn_after(12))
    client.lose_connection()
    client.resume()
    client.play()
    server.drain()


def united_kingdom(server: Server) -> None:
    """Play a match with an option, from the other seat; then leave a second match."""
    client = ExampleClient(server, language="Python")
    client.join("united_kingdom", 2, seed="2", options=["advanced_technologies"], seat=1)
    client.play()
    client.join("united_kingdom", 2, seed="3")
    client.play(until=_is_turn_after(3))
    client.say("leave", match=client.match)
    server.drain()


def europe(server: Server) -> None:
    """Play a match of three. The client sends a move of its own, for a station; then it chooses from the list
    again."""

    def stations(ask: Ask) -> list[BuildStation]:
        return [move for move in ask["legal"] if move["type"] == "build_station"]

    client = ExampleClient(server, language="Python")
    client.join("europe", 3, seed="5")
    client.play(until=lambda ask: ask["ask"] > 3 and bool(stations(ask)))
    client.act(move=stations(client.ask)[0])
    client.play()
    server.drain()


def spectator(server: Server) -> None:
    """Watch the match of another client, which is not recorded."""
    player = ExampleClient(server, "another_bot", is_recorded=False)
    player.join("card_game", 2, seed="1")
    player.play(until=_is_turn_after(5))
    client = ExampleClient(server, "spectator", language="Python")
    client.ask_for_matches()
    client.say("watch", match=player.match)
    player.play()
    client.ask_for_matches()
    client.ask_for_matches()
    server.drain()


def _is_turn_after(count: int) -> Callable[[Ask], bool]:
    """Return a test for the first ask for a turn after this number of asks."""
    return lambda ask: ask["ask"] > count and ask["decision"]["type"] == "take_turn"


SESSIONS: Final[dict[str, Callable[[Server], None]]] = {
    session.__name__: session for session in (usa, card_game, team_asia, united_kingdom, europe, spectator)
}


def session(name: str) -> bytes:
    """Return the file of a session."""
    server = Server(f"example/{name}", numbers_connections=False)
    SESSIONS[name](server)
    return b"".join(server.lines)


def files() -> Iterator[tuple[str, bytes]]:
    """Yield the names and contents of the files."""
    for name in SESSIONS:
        yield f"{name}.jsonl", session(name)
