"""The transcripts of `protocol/conformance/transcripts`: sessions in which something goes wrong, as one
client sees them.

The other clients of a match are not recorded.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, Final

from tools.recorder import Client, Message, Server

NAME: Final = "transcript_bot"
BARE: Final[Message] = {"view": False}  # wants: views would only make the files long
OVER: Final = ("ok", "default", "left")  # an ask has ended


def log_in(client: Client, name: str = NAME, **fields: Any) -> None:  # Any: fields of many types
    client.say("login", protocol=1, name=name, **fields)


def wait_for_ask(client: Client) -> Message:
    """Let time pass until an ask is open, and return it."""
    client.server.wait_until(lambda: client.has("ask") and client.newest("ask", *OVER)["type"] == "ask")
    return client.newest("ask")


def practice(client: Client) -> str:
    """Start a match with a house bot, play up to the first ask, and return the match's id."""
    client.say("join", game="card_game", players=2, against=["greedy"], seed="1")
    match: str = client.newest("start")["match"]
    client.say("ready", match=match)
    wait_for_ask(client)
    return match


def act(client: Client) -> None:
    """Answer the newest ask with the first move of its list."""
    ask = client.newest("ask")
    client.say("act", match=ask["match"], ask=ask["ask"], index=0)


def resume(client: Client, old: Client, key: str | None = None, last_event: int | None = None) -> None:
    """Resume the session of an old connection."""
    welcome = old.newest("welcome")
    seen = old.newest("event")["number"] if old.has("event") else 0
    last_events = {old.newest("start")["match"]: seen if last_event is None else last_event}
    key = key or welcome["resume_key"]
    log_in(client, wants=BARE, resume={"session": welcome["session"], "key": key, "last_events": last_events})


# -- the sessions ------------------------------------------------------------------------------------


def wrong_lines(server: Server) -> None:
    client = server.connect()
    server.explain("Before its login a client can say nothing else.")
    client.say("ping", echo=1)
    server.explain("A version that the server does not speak. The connection goes on.")
    client.say("login", protocol=2, name=NAME)
    log_in(client, wants=BARE)
    server.explain("Lines that are no messages. None of them changes anything.")
    for line in (b"", b"ping", b'{"type":"ping"', b'["ping"]', b'{"type":"ping","echo":1.5}', b"\xff"):
        client.send(line)
    client.send(b'{"type":"ping","echo":1,"echo":2}')
    client.say("ping", ecko=1)
    client.say("pong")
    client.say("ready")
    server.explain("Messages that do not fit.")
    log_in(client)
    client.say("act", match="m1", ask=1, index=0)
    client.say("leave", room="nowhere")
    client.say("leave")
    client.say("join", game="chess", players=2)
    server.explain("After all this the connection is as good as before.")
    client.say("ping", echo=2)
    server.explain("A line beyond the limit ends it.")
    client.send_too_much(20_000)


def refused_logins(server: Server) -> None:
    other = server.connect(is_recorded=False)
    log_in(other, name="Taken")
    client = server.connect()
    server.explain("Names that differ in case only are the same.")
    log_in(client, name="taken")
    server.explain("A session that there is not: the client has to log in afresh.")
    log_in(client, resume={"session": "s1", "key": "k1", "last_events": {}})
    server.explain("The third refusal ends the connection, with the code of the last.")
    log_in(client, token="nobody-has-this-one")


def no_login(server: Server) -> None:
    client = server.connect()
    server.explain("Nothing is said for 30 seconds.")
    server.wait(30_000)
    assert client.connection.closing


def a_room(server: Server) -> None:
    client, other = server.connect(), server.connect(is_recorded=False)
    log_in(client, wants=BARE, max_matches=2)
    log_in(other, name="partner")
    server.explain("A room with a name. One player is missing.")
    client.say("join", game="card_game", players=2, room="table-7")
    server.explain("It is entered once only.")
    client.say("join", game="card_game", players=2, room="table-7")
    server.explain("Somebody else comes, and the match starts.")
    other.say("join", game="card_game", players=2, room="table-7")
    match = client.newest("start")["match"]
    server.explain("In the set-up there is no ask to be answered.")
    client.say("act", match=match, ask=1, index=0)
    client.say("ready", match=match)
    server.explain("Ready a second time.")
    client.say("ready", match=match)
    other.say("ready", match=match)
    server.explain(
        "Both are asked at once. Nothing tells that the other has answered, before this client has."
    )
    act(other)
    act(client)
    server.explain("The other one loses its connection, and comes back. Both need no answer.")
    other.lose()
    back = server.connect(is_recorded=False)
    welcome = other.newest("welcome")
    resume = {"session": welcome["session"], "key": welcome["resume_key"], "last_events": dict[str, int]()}
    log_in(back, name="partner", resume=resume)
    server.explain("The other one leaves. From now on the server moves for it, and the match goes on.")
    back.say("leave", match=match)
    server.explain("This client leaves too. Nothing more comes of the match.")
    client.say("leave", match=match)
    client.say("act", match=match, ask=2, index=0)
    client.say("leave", match=match)


def refused_moves(server: Server) -> None:
    client = server.connect()
    log_in(client, wants=BARE)
    match = practice(client)
    act(client)
    ask = wait_for_ask(client)
    server.explain("Each of these costs one of three tries.")
    client.say("act", match=match, ask=ask["ask"])
    client.say("act", match=match, ask=ask["ask"], index=999)
    server.explain("The last one: the server makes the fallback.")
    client.say(
        "act",
        match=match,
        ask=ask["ask"],
        move={"type": "buy_technology", "technology": "x", "cards": {"red": 1}},
    )
    ask = wait_for_ask(client)
    server.explain("A line that is no message costs no try. A legal move is accepted then.")
    client.say("act", match=match, ask=ask["ask"], indx=0)
    client.say("act", match=match, ask=ask["ask"], index=0, move=ask["legal"][0])
    act(client)
    server.explain("Acts for an ask that has ended, and for one that is still to come: they cost nothing.")
    client.say("act", match=match, ask=ask["ask"], index=0)
    client.say("act", match=match, ask=ask["ask"] + 40, index=0)
    wait_for_ask(client)
    client.say("leave", match=match)


def by_default(server: Server) -> None:
    client = server.connect()
    log_in(client, wants={"view": False, "legal": False, "events": False})
    match = practice(client)
    server.explain("No answer: after 11 seconds, and with the bank empty after one, the fallback is made.")
    while not client.wait_for_another("default").get("by_default"):
        pass
    server.explain(
        "The third in a row had `by_default`: from now on the server moves at once, and asks no more. "
        "The client has nothing to do but to wait for the end."
    )
    if not client.has("end"):
        client.wait_for_another("end")
    server.explain("The match is over, and its asks have ended.")
    client.say("act", match=match, ask=1, index=0)


def taken_over(server: Server) -> None:
    first = server.connect()
    log_in(first, wants=BARE)
    practice(first)
    act(first)
    wait_for_ask(first)
    second = server.connect()
    server.explain("A key that is not the session's, and an event that was never sent: nothing changes.")
    resume(second, first, key="somebody-elses")
    resume(second, first, last_event=9_999)
    server.explain(
        "With the right key the old connection is sent away. The ask comes again, its number the same."
    )
    resume(second, first)
    server.explain("This welcome gets lost. Its key was not used, so that the old one is still good.")
    second.lose()
    third = server.connect()
    resume(third, first)
    server.explain("The first line after the welcome: from here on only the new key is good.")
    act(third)
    fourth = server.connect()
    resume(fourth, first)


def draining(server: Server) -> None:
    client = server.connect()
    log_in(client, wants={"view": False, "events": False}, max_matches=2)
    match = practice(client)
    server.explain("The server goes down. Its matches go on, and nobody is told; but nothing new begins.")
    server.drain()
    client.say("join", game="card_game", players=2)
    act(client)
    wait_for_ask(client)
    server.explain("Somebody new is not let in.")
    late = server.connect()
    log_in(late, name="late_bot")
    server.explain("Who plays can still lose its connection, and resume.")
    client.lose()
    back = server.connect()
    resume(back, client)
    act(back)
    server.explain("The last match is over for this client: goodbye, with the time to come back.")
    back.say("leave", match=match)
    server.wait(1_000)
    assert back.connection.closing


def a_spectator(server: Server) -> None:
    player, client = server.connect(is_recorded=False), server.connect()
    log_in(player, name="player")
    match = practice(player)
    log_in(client, name="watcher")
    server.explain("A match that there is not, and hands that are not for everybody.")
    client.say("watch", match="nowhere")
    client.say("watch", match=match, viewer="all_hands")
    server.explain("As the public: a start without a seat, and all events so far, without private fields.")
    client.say("watch", match=match)
    server.explain("It is watched already. A spectator has no seat.")
    client.say("watch", match=match)
    client.say("ready", match=match)
    client.say("act", match=match, ask=1, index=0)
    server.explain("What happens is seen at once; asks and their answers are not.")
    for _ in range(4):
        act(player)
        wait_for_ask(player)
    server.explain("Enough.")
    client.say("leave", match=match)


def a_list_of_matches(server: Server) -> None:
    client, player = server.connect(), server.connect(is_recorded=False)
    log_in(client, name="watcher")
    server.explain("There are no matches yet. Without a cursor the list begins anew.")
    client.say("matches")
    server.explain("A match begins, and is in the list until it is over.")
    log_in(player, name="player")
    match = practice(player)
    client.say("matches", after=client.newest("match_list")["cursor"])
    server.explain("Nothing has changed: moves are no changes of the list.")
    act(player)
    wait_for_ask(player)
    client.say("matches", after=client.newest("match_list")["cursor"])
    server.explain("Its player leaves, and the server makes all moves of that seat: the match ends.")
    player.say("leave", match=match)
    server.wait(60_000)
    client.say("matches", after=client.newest("match_list")["cursor"])
    server.explain(
        "It is over, and can be watched as long as it is listed: from the start to the end at once."
    )
    client.say("watch", match=match)
    server.explain("A cursor that this server did not make: forget what was listed.")
    client.say("matches", after="of_another_server-1-1")
    server.explain("No cursor at all.")
    client.say("matches", after="not a cursor")


def a_failing_server(server: Server) -> None:
    client, other = server.connect(), server.connect(is_recorded=False)
    log_in(client, wants=BARE)
    log_in(other, name="partner")
    for each in (client, other):
        each.say("join", game="card_game", players=2, room="table-8")
    for each in (client, other):
        each.say("ready", match=each.newest("start")["match"])
    server.explain("The server cannot write its journal. The act costs nothing, and can be sent again.")
    server.journal.is_full = True
    act(other)
    act(client)
    server.explain("A second later it can write again.")
    server.journal.is_full = False
    server.wait(1_000)
    act(client)
    wait_for_ask(client)
    server.explain(
        "It cannot, once more. Now the act is the one that cannot be written: it is accepted when it can be. "
        "But after 30 seconds the match is over, without a result, by no fault of a player."
    )
    server.journal.is_full = True
    act(client)
    server.wait(60_000)
    server.explain("The session goes on.")
    client.say("ping", echo=1)


SESSIONS: Final[dict[str, Callable[[Server], None]]] = {
    session.__name__: session
    for session in (
        *(wrong_lines, refused_logins, no_login, a_room, refused_moves, by_default, taken_over, draining),
        *(a_spectator, a_list_of_matches, a_failing_server),
    )
}


def transcript(name: str) -> bytes:
    server = Server(f"transcript/{name}", numbers_connections=True)
    SESSIONS[name](server)
    return b"".join(server.lines)


def files() -> Iterator[tuple[str, bytes]]:
    """Yield the names and contents of the files."""
    for name in SESSIONS:
        yield f"{name}.jsonl", transcript(name)
