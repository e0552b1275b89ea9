"""The transcripts of `protocol/conformance/transcripts`: sessions in which something goes wrong, as one
client sees them.

Like the recorded sessions of `protocol/examples`, they are produced by the real server without its sockets,
in virtual time and with entropy that follows from the name. The other clients of a match are not recorded.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Callable, Iterator
from typing import Any, Final

from stellwerk.shared.house_bots import house_bots
from stellwerk_server.journal.journal import Journal
from stellwerk_server.lobby.lobby import Lobby
from stellwerk_server.lobby.session import Connection
from stellwerk_server.lobby.setup import LobbySetup
from stellwerk_server.operate.settings import Limits, Time
from tests.server.support import ListLog, MemoryJournal, entropy, shelf

Message = dict[str, Any]  # Any: a message of any kind

SERVER: Final = "stellwerk 0.1.0"  # a fixed version, so that a release does not make the files stale
NAME: Final = "transcript_bot"
BARE: Final[Message] = {"view": False}  # wants: views would only make the files long
MOST_ROUNDS: Final = 10_000


class Recorder:
    """A server, one client whose connections are recorded, and others whose connections are not."""

    def __init__(self, name: str) -> None:
        self.journal = MemoryJournal()
        self.lobby = Lobby(
            LobbySetup(
                server=SERVER,
                limits=Limits(),
                time=Time(),
                games=shelf(),
                log=ListLog(),
                entropy=entropy(f"transcript/{name}"),
                house_bots=house_bots(),
                open_journal=self._open_journal,
            )
        )
        self.now = 0.0
        self.lines: list[bytes] = []
        self._recorded: dict[Connection, int] = {}
        self._sent: dict[Connection, list[Message]] = {}

    def _open_journal(self, match: str) -> Journal:
        return self.journal

    def explain(self, about: str) -> None:
        """Record an explanation of the next lines."""
        self._record({"about": about})

    def connect(self, *, is_recorded: bool = True) -> Connection:
        connection = self.lobby.connect("127.0.0.1", "tcp", True, self.now)
        self._sent[connection] = []
        if is_recorded:
            self._recorded[connection] = len(self._recorded) + 1
        self._read()
        return connection

    def lose(self, connection: Connection) -> None:
        self.lobby.disconnect(connection, "lost", self.now)
        connection.out = []  # lost with it; what the others get stays
        if connection in self._recorded:
            self._record({"connection": self._recorded[connection], "from": "client", "lost": True})
        self._read()

    def say(self, connection: Connection, type: str, **fields: Any) -> None:  # Any: fields of many types
        self.send(connection, json.dumps({"type": type, **fields}, separators=(",", ":")).encode())

    def send(self, connection: Connection, line: bytes) -> None:
        if connection in self._recorded:
            about = {"connection": self._recorded[connection], "from": "client"}
            self._record(about | _line_or_bytes(line))
        self.lobby.receive(connection, line, self.now)
        self._read()

    def send_too_much(self, connection: Connection, size: int) -> None:
        """Record a line beyond the limit, which the server does not read to its end."""
        self._record({"connection": self._recorded[connection], "from": "client", "bytes_in_a_line": size})
        self.lobby.overlong(connection)
        self._read()

    def log_in(self, connection: Connection, name: str = NAME, **fields: Any) -> None:  # Any: as above
        self.say(connection, "login", protocol=1, name=name, **fields)

    def drain(self) -> None:
        """Shut the server down, as SIGTERM does."""
        self.lobby.drain()
        self._read()

    def wait(self, milliseconds: float) -> None:
        until = self.now + milliseconds
        while self.lobby.deadlines.next <= until:
            self.now = max(self.now, self.lobby.deadlines.next)
            self.lobby.run_due(lambda: self.now)
            self._read()
        self.now = until

    def wait_for_ask(self, connection: Connection) -> Message:
        """Let time pass until an ask is open, and return it."""
        self._wait_until(lambda: self._newest(connection, "ask", "ok", "default", "left")["type"] == "ask")
        return self.last(connection, "ask")

    def wait_for_another(self, connection: Connection, type: str) -> Message:
        def count() -> int:
            return sum(message["type"] == type for message in self._sent[connection])

        before = count()
        self._wait_until(lambda: count() > before)
        return self.last(connection, type)

    def _wait_until(self, is_so: Callable[[], bool]) -> None:
        for _ in range(MOST_ROUNDS):
            if is_so():
                return
            self.wait(max(0.0, self.lobby.deadlines.next - self.now))
        raise AssertionError("the message never arrives")

    def _newest(self, connection: Connection, *types: str) -> Message:
        return next(
            (each for each in reversed(self._sent[connection]) if each["type"] in types), {"type": "nothing"}
        )

    def has(self, connection: Connection, type: str) -> bool:
        return any(message["type"] == type for message in self._sent[connection])

    def last(self, connection: Connection, type: str) -> Message:
        return next(message for message in reversed(self._sent[connection]) if message["type"] == type)

    def practice(self, connection: Connection, seed: str = "1") -> str:
        """Start a match with a house bot, play up to the first ask, and return the match's id."""
        self.say(connection, "join", game="card_game", players=2, against=["greedy"], seed=seed)
        match: str = self.last(connection, "start")["match"]
        self.say(connection, "ready", match=match)
        self.wait_for_ask(connection)
        return match

    def act(self, connection: Connection) -> None:
        """Answer the newest ask with the first move of its list."""
        ask = self.last(connection, "ask")
        self.say(connection, "act", match=ask["match"], ask=ask["ask"], index=0)

    def resume(self, connection: Connection, old: Connection, key: str | None = None) -> None:
        welcome, match = self.last(old, "welcome"), self.last(old, "start")["match"]
        number = self.last(old, "event")["number"] if self.has(old, "event") else 0
        about = {
            "session": welcome["session"],
            "key": key or welcome["resume_key"],
            "last_events": {match: number},
        }
        self.log_in(connection, wants=BARE, resume=about)

    def _read(self) -> None:
        for connection, data in self.lobby.data_to_send():
            for line in data.splitlines():
                self._sent[connection].append(json.loads(line))
                if connection in self._recorded:
                    self.lines.append(
                        b'{"connection":%d,"from":"server","line":%b}\n' % (self._recorded[connection], line)
                    )

    def _record(self, record: Message) -> None:
        self.lines.append(json.dumps(record, separators=(",", ":"), ensure_ascii=False).encode() + b"\n")


def _line_or_bytes(line: bytes) -> Message:
    """Return a line as JSON if it is canonical JSON, else in base64."""
    try:
        value = json.loads(line)
    except ValueError:
        return {"base64": base64.b64encode(line).decode()}
    written = json.dumps(value, separators=(",", ":"), ensure_ascii=False).encode()
    return {"line": value} if written == line else {"base64": base64.b64encode(line).decode()}


# -- the sessions ------------------------------------------------------------------------------------


def wrong_lines(recorder: Recorder) -> None:
    client = recorder.connect()
    recorder.explain("Before its login a client can say nothing else.")
    recorder.say(client, "ping", echo=1)
    recorder.explain("A version that the server does not speak. The connection goes on.")
    recorder.say(client, "login", protocol=2, name=NAME)
    recorder.log_in(client, wants=BARE)
    recorder.explain("Lines that are no messages. None of them changes anything.")
    for line in (b"", b"ping", b'{"type":"ping"', b'["ping"]', b'{"type":"ping","echo":1.5}', b"\xff"):
        recorder.send(client, line)
    recorder.send(client, b'{"type":"ping","echo":1,"echo":2}')
    recorder.say(client, "ping", ecko=1)
    recorder.say(client, "pong")
    recorder.say(client, "ready")
    recorder.explain("Messages that do not fit.")
    recorder.log_in(client)
    recorder.say(client, "act", match="m1", ask=1, index=0)
    recorder.say(client, "leave", room="nowhere")
    recorder.say(client, "leave")
    recorder.say(client, "join", game="chess", players=2)
    recorder.explain("After all this the connection is as good as before.")
    recorder.say(client, "ping", echo=2)
    recorder.explain("A line beyond the limit ends it.")
    recorder.send_too_much(client, 20_000)


def refused_logins(recorder: Recorder) -> None:
    other = recorder.connect(is_recorded=False)
    recorder.log_in(other, name="Taken")
    client = recorder.connect()
    recorder.explain("Names that differ in case only are the same.")
    recorder.log_in(client, name="taken")
    recorder.explain("A session that there is not: the client has to log in afresh.")
    recorder.log_in(client, resume={"session": "s1", "key": "k1", "last_events": {}})
    recorder.explain("The third refusal ends the connection, with the code of the last.")
    recorder.log_in(client, token="nobody-has-this-one")


def no_login(recorder: Recorder) -> None:
    client = recorder.connect()
    recorder.explain("Nothing is said for 30 seconds.")
    recorder.wait(30_000)
    assert client.closing


def a_room(recorder: Recorder) -> None:
    client, other = recorder.connect(), recorder.connect(is_recorded=False)
    recorder.log_in(client, wants=BARE, max_matches=2)
    recorder.log_in(other, name="partner")
    recorder.explain("A room with a name. One player is missing.")
    recorder.say(client, "join", game="card_game", players=2, room="table-7")
    recorder.explain("It is entered once only.")
    recorder.say(client, "join", game="card_game", players=2, room="table-7")
    recorder.explain("Somebody else comes, and the match starts.")
    recorder.say(other, "join", game="card_game", players=2, room="table-7")
    match = recorder.last(client, "start")["match"]
    recorder.explain("In the set-up there is no ask to be answered.")
    recorder.say(client, "act", match=match, ask=1, index=0)
    recorder.say(client, "ready", match=match)
    recorder.explain("Ready a second time.")
    recorder.say(client, "ready", match=match)
    recorder.say(other, "ready", match=match)
    recorder.explain(
        "Both are asked at once. Nothing tells that the other has answered, before this client has."
    )
    recorder.act(other)
    recorder.act(client)
    recorder.explain("The other one loses its connection, and comes back. Both need no answer.")
    recorder.lose(other)
    back = recorder.connect(is_recorded=False)
    welcome = recorder.last(other, "welcome")
    resume = {"session": welcome["session"], "key": welcome["resume_key"], "last_events": dict[str, int]()}
    recorder.log_in(back, name="partner", resume=resume)
    recorder.explain("The other one leaves. From now on the server moves for it, and the match goes on.")
    recorder.say(back, "leave", match=match)
    recorder.explain("This client leaves too. Nothing more comes of the match.")
    recorder.say(client, "leave", match=match)
    recorder.say(client, "act", match=match, ask=2, index=0)
    recorder.say(client, "leave", match=match)


def refused_moves(recorder: Recorder) -> None:
    client = recorder.connect()
    recorder.log_in(client, wants=BARE)
    match = recorder.practice(client)
    recorder.act(client)
    ask = recorder.wait_for_ask(client)
    recorder.explain("Each of these costs one of three tries.")
    recorder.say(client, "act", match=match, ask=ask["ask"])
    recorder.say(client, "act", match=match, ask=ask["ask"], index=999)
    recorder.explain("The last one: the server makes the fallback.")
    recorder.say(
        client,
        "act",
        match=match,
        ask=ask["ask"],
        move={"type": "buy_technology", "technology": "x", "cards": {"red": 1}},
    )
    ask = recorder.wait_for_ask(client)
    recorder.explain("A line that is no message costs no try. A legal move is accepted then.")
    recorder.say(client, "act", match=match, ask=ask["ask"], indx=0)
    recorder.say(client, "act", match=match, ask=ask["ask"], index=0, move=ask["legal"][0])
    recorder.act(client)
    recorder.explain("Acts for an ask that has ended, and for one that is still to come: they cost nothing.")
    recorder.say(client, "act", match=match, ask=ask["ask"], index=0)
    recorder.say(client, "act", match=match, ask=ask["ask"] + 40, index=0)
    recorder.wait_for_ask(client)
    recorder.say(client, "leave", match=match)


def by_default(recorder: Recorder) -> None:
    client = recorder.connect()
    recorder.log_in(client, wants={"view": False, "legal": False, "events": False})
    match = recorder.practice(client)
    recorder.explain("No answer: after 11 seconds, and with the bank empty after one, the fallback is made.")
    while not recorder.wait_for_another(client, "default").get("by_default"):
        pass
    recorder.explain(
        "The third in a row had `by_default`: from now on the server moves at once, and asks no more. "
        "The client has nothing to do but to wait for the end."
    )
    if not recorder.has(client, "end"):
        recorder.wait_for_another(client, "end")
    recorder.explain("The match is over, and its asks have ended.")
    recorder.say(client, "act", match=match, ask=1, index=0)


def taken_over(recorder: Recorder) -> None:
    first = recorder.connect()
    recorder.log_in(first, wants=BARE)
    recorder.practice(first)
    recorder.act(first)
    recorder.wait_for_ask(first)
    second = recorder.connect()
    recorder.explain("A key that is not the session's, and an event that was never sent: nothing changes.")
    recorder.resume(second, first, key="somebody-elses")
    welcome = recorder.last(first, "welcome")
    ahead = {"session": welcome["session"], "key": welcome["resume_key"]}
    match = recorder.last(first, "start")["match"]
    recorder.log_in(second, wants=BARE, resume={**ahead, "last_events": {match: 9_999}})
    recorder.explain(
        "With the right key the old connection is sent away. The ask comes again, its number the same."
    )
    recorder.resume(second, first)
    recorder.explain("This welcome gets lost. Its key was not used, so that the old one is still good.")
    recorder.lose(second)
    third = recorder.connect()
    recorder.resume(third, first)
    recorder.explain("The first line after the welcome: from here on only the new key is good.")
    recorder.act(third)
    fourth = recorder.connect()
    recorder.resume(fourth, first)


def draining(recorder: Recorder) -> None:
    client = recorder.connect()
    recorder.log_in(client, wants={"view": False, "events": False}, max_matches=2)
    match = recorder.practice(client)
    recorder.explain("The server goes down. Its matches go on, and nobody is told; but nothing new begins.")
    recorder.drain()
    recorder.say(client, "join", game="card_game", players=2)
    recorder.act(client)
    recorder.wait_for_ask(client)
    recorder.explain("Somebody new is not let in.")
    late = recorder.connect()
    recorder.log_in(late, name="late_bot")
    recorder.explain("Who plays can still lose its connection, and resume.")
    recorder.lose(client)
    back = recorder.connect()
    recorder.resume(back, client)
    recorder.act(back)
    recorder.explain("The last match is over for this client: goodbye, with the time to come back.")
    recorder.say(back, "leave", match=match)
    recorder.wait(1_000)
    assert back.closing


def a_spectator(recorder: Recorder) -> None:
    player, client = recorder.connect(is_recorded=False), recorder.connect()
    recorder.log_in(player, name="player")
    match = recorder.practice(player)
    recorder.log_in(client, name="watcher")
    recorder.explain("A match that there is not, and hands that are not for everybody.")
    recorder.say(client, "watch", match="nowhere")
    recorder.say(client, "watch", match=match, viewer="all_hands")
    recorder.explain("As the public: a start without a seat, and all events so far, without private fields.")
    recorder.say(client, "watch", match=match)
    recorder.explain("It is watched already. A spectator has no seat.")
    recorder.say(client, "watch", match=match)
    recorder.say(client, "ready", match=match)
    recorder.say(client, "act", match=match, ask=1, index=0)
    recorder.explain("What happens is seen at once; asks and their answers are not.")
    for _ in range(4):
        recorder.act(player)
        recorder.wait_for_ask(player)
    recorder.explain("Enough.")
    recorder.say(client, "leave", match=match)


def a_list_of_matches(recorder: Recorder) -> None:
    client, player = recorder.connect(), recorder.connect(is_recorded=False)
    recorder.log_in(client, name="watcher")
    recorder.explain("There are no matches yet. Without a cursor the list begins anew.")
    recorder.say(client, "matches")
    recorder.explain("A match begins, and is in the list until it is over.")
    recorder.log_in(player, name="player")
    match = recorder.practice(player)
    recorder.say(client, "matches", after=recorder.last(client, "match_list")["cursor"])
    recorder.explain("Nothing has changed: moves are no changes of the list.")
    recorder.act(player)
    recorder.wait_for_ask(player)
    recorder.say(client, "matches", after=recorder.last(client, "match_list")["cursor"])
    recorder.explain("Its player leaves, and the server makes all moves of that seat: the match ends.")
    recorder.say(player, "leave", match=match)
    recorder.wait(60_000)
    recorder.say(client, "matches", after=recorder.last(client, "match_list")["cursor"])
    recorder.explain(
        "It is over, and can be watched as long as it is listed: from the start to the end at once."
    )
    recorder.say(client, "watch", match=match)
    recorder.explain("A cursor that this server did not make: forget what was listed.")
    recorder.say(client, "matches", after="of_another_server-1-1")
    recorder.explain("No cursor at all.")
    recorder.say(client, "matches", after="not a cursor")


def a_failing_server(recorder: Recorder) -> None:
    client, other = recorder.connect(), recorder.connect(is_recorded=False)
    recorder.log_in(client, wants=BARE)
    recorder.log_in(other, name="partner")
    for each in (client, other):
        recorder.say(each, "join", game="card_game", players=2, room="table-8")
    for each in (client, other):
        recorder.say(each, "ready", match=recorder.last(each, "start")["match"])
    recorder.explain("The server cannot write its journal. The act costs nothing, and can be sent again.")
    recorder.journal.is_full = True
    recorder.act(other)
    recorder.act(client)
    recorder.explain("A second later it can write again.")
    recorder.journal.is_full = False
    recorder.wait(1_000)
    recorder.act(client)
    recorder.wait_for_ask(client)
    recorder.explain(
        "It cannot, once more. Now the act is the one that cannot be written: it is accepted when it can be. "
        "But after 30 seconds the match is over, without a result, by no fault of a player."
    )
    recorder.journal.is_full = True
    recorder.act(client)
    recorder.wait(60_000)
    recorder.explain("The session goes on.")
    recorder.say(client, "ping", echo=1)


SESSIONS: Final[dict[str, Callable[[Recorder], None]]] = {
    "wrong_lines": wrong_lines,
    "refused_logins": refused_logins,
    "no_login": no_login,
    "a_room": a_room,
    "refused_moves": refused_moves,
    "by_default": by_default,
    "taken_over": taken_over,
    "draining": draining,
    "a_spectator": a_spectator,
    "a_list_of_matches": a_list_of_matches,
    "a_failing_server": a_failing_server,
}


def transcript(name: str) -> bytes:
    recorder = Recorder(name)
    SESSIONS[name](recorder)
    return b"".join(recorder.lines)


def files() -> Iterator[tuple[str, bytes]]:
    """Yield the names and contents of the files."""
    for name in SESSIONS:
        yield f"{name}.jsonl", transcript(name)
