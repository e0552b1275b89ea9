"""A spectator of real servers: what its pages say is what any public spectator is told, and nothing else."""

from __future__ import annotations

import hashlib
import json
import signal
import socket
import ssl
import threading
from collections.abc import Callable, Generator
from contextlib import ExitStack, contextmanager, suppress
from functools import partial
from pathlib import Path
from typing import Any

import msgspec
import pytest
import trio
import trio.testing

from stellwerk_protocol.client_line import MAX_DEPTH
from stellwerk_protocol.messages import Hello
from stellwerk_server.lobby.logins import FEATURES
from stellwerk_server.lobby.tokens import hashed, new_token
from stellwerk_server.operate.settings import Limits, announced
from stellwerk_web.show.model import Show, ShowSettings
from stellwerk_web.sources.server import FIRST_WAIT_S, LONGEST_WAIT_S, Identity, ServerSource
from tests.server.served_process import Caller, Message, Serving, serving
from tests.web.serving import PATIENCE
from tests.web.watching import WatchProcess, followed, watching

CERTIFICATE = Path(__file__).parents[1] / "bots" / "loopback.pem"
TABLE = ("--set=time.move_ms=600000", "--set=limits.messages_a_second=100000", "--set=limits.burst=100000")


def address(server: Serving) -> str:
    return f"127.0.0.1:{server.port}"


def player(server: Serving, name: str, **fields: object) -> Caller:
    caller = server.call()
    caller.login(name, **fields)
    return caller


def spectated(server: Serving, match: str) -> Caller:
    """Let a public spectator of its own watch."""
    caller = player(server, "judge")
    caller.say(type="watch", match=match)
    return caller


def lines_to_the_end(caller: Caller) -> list[Message]:
    messages: list[Message] = []
    while not messages or messages[-1]["type"] != "end":
        messages.append(caller.read())
    return messages


# -- what is shown -----------------------------------------------------------------------------------


def test_a_match_over_tls_is_watched_with_a_token(tmp_path: Path) -> None:
    token, other = new_token(), new_token()
    tokens = tmp_path / "tokens"
    tokens.write_text(f"ann {hashed(token)}\nhall {hashed(other)}\n")
    trusted = ssl.create_default_context(cafile=CERTIFICATE)
    trusted.check_hostname = False
    flags = ("--tls-cert", str(CERTIFICATE), "--tls-key", str(CERTIFICATE), "--tokens", str(tokens))
    variables = {"SSL_CERT_FILE": str(CERTIFICATE), "STELLWERK_TOKEN": other}
    with (
        serving(tmp_path, *TABLE, *flags) as server,
        watching(tmp_path, f"tls://{address(server)}", "--name=hall", **variables) as pages,
    ):
        bot = server.call(trusted)
        bot.login("ann", token=token)
        ask = bot.practice()
        pages.match_when(match=ask["match"], state="running")
        with pages.reader(f"/stream/match/{ask['match']}") as reader:
            reader.until(lambda record: record.data.get("start") is not None)
            end = bot.play_on(ask)
            _, events = followed(reader)
        assert end["type"] == "end"
        assert events[-1]["type"] == "game_ended"
        assert other not in pages.log_path.read_text()


def test_a_live_match_is_shown_from_its_first_to_its_last_event_as_a_spectator_sees_it(
    tmp_path: Path,
) -> None:
    """Byte for byte at the level of events: compared with what a public spectator's socket has got."""
    with serving(tmp_path, *TABLE) as server, watching(tmp_path, address(server)) as pages:
        bot = player(server, "ann")
        ask = bot.practice()
        match = ask["match"]
        judge = spectated(server, match)
        pages.match_when(match=match, state="running")
        with pages.reader(f"/stream/match/{match}") as reader:
            shown: list[Any] = []
            done = threading.Thread(target=lambda: shown.append(followed(reader)))
            done.start()
            bot.play_on(ask)
            done.join(PATIENCE)
        start, events = shown[0]
        heard = lines_to_the_end(judge)
        assert start == next(message for message in heard if message["type"] == "start")
        assert events == [message["event"] for message in heard if message["type"] == "event"]
        head = pages.match_when(match=match, state="ended")
        result = heard[-1]["result"]
        assert head["ranks"] == result["ranks"]
        assert head["turn"] == result["turns"]


def test_each_event_is_on_the_page_at_once(tmp_path: Path) -> None:
    """Event by event: one act, and its events are there before the next act is made."""
    with serving(tmp_path, *TABLE) as server, watching(tmp_path, address(server)) as pages:
        bot = player(server, "ann")
        ask = bot.practice()
        judge = spectated(server, ask["match"])
        pages.match_when(match=ask["match"])
        count = 0
        with pages.reader(f"/stream/match/{ask['match']}") as reader:
            while count == 0:
                record = reader.next()
                count = len(record.data["events"]) if record.data.get("start") else 0
            for _ in range(15):
                ask = bot.play_on(ask, turns=1)
                while count < ask["after_event"]:
                    count += len(reader.next().data.get("events", ()))
                assert count == ask["after_event"]
        judge.close()


def test_a_match_that_was_over_in_a_moment_can_be_watched(tmp_path: Path) -> None:
    with serving(tmp_path, *TABLE) as server, watching(tmp_path, address(server)) as pages:
        bot = player(server, "ann")
        ask = bot.practice(game="card_game")
        bot.play_on(ask)
        pages.match_when(match=ask["match"], state="ended")
        with pages.reader(f"/stream/match/{ask['match']}") as reader:
            _, events = followed(reader)
        heard = lines_to_the_end(spectated(server, ask["match"]))
        assert events == [message["event"] for message in heard if message["type"] == "event"]


def test_no_stream_has_what_only_a_seat_may_know(tmp_path: Path) -> None:
    """Hands, tickets and offers are on no stream: the web process has never been told."""
    with serving(tmp_path, *TABLE) as server, watching(tmp_path, address(server)) as pages:
        bot = player(server, "ann")
        ask = bot.practice()
        [mine] = [player for player in ask["view"]["players"] if player["seat"] == 0]
        secret = mine["offered"]
        pages.match_when(match=ask["match"])
        with pages.reader(f"/stream/match/{ask['match']}") as reader:
            state = reader.until(lambda record: bool(record.data.get("start"))).data
        del state["start"]["board"]  # whose tickets everybody knows
        text = json.dumps(state)
        assert [ticket for ticket in secret if ticket in text] == []
        dealt = [event for event in state["events"] if event["type"] == "cards_dealt"]
        assert dealt
        assert all("cards" not in event for event in dealt)


def test_seats_that_are_lost_and_back_are_shown(tmp_path: Path) -> None:
    with serving(tmp_path, *TABLE) as server, watching(tmp_path, address(server)) as pages:
        bot = server.call()
        welcome = bot.login("ann")
        ask = bot.practice()
        pages.match_when(match=ask["match"])
        with pages.reader(f"/stream/match/{ask['match']}") as reader:
            reader.until(lambda record: bool(record.data.get("start")))
            bot.reset()
            assert reader.until(lambda record: "seat" in record.data).data["seat"] == {"0": "lost"}
            again = server.call()
            again.resume(welcome)
            assert reader.until(lambda record: "seat" in record.data).data["seat"] == {"0": "back"}


def test_what_nobody_looks_at_any_more_is_left(tmp_path: Path) -> None:
    """The server has a spectator of a match only as long as somebody looks at its page."""
    with serving(tmp_path, *TABLE) as server, watching(tmp_path, address(server)) as pages:
        bot = player(server, "ann")
        ask = bot.practice()
        pages.match_when(match=ask["match"])
        with pages.reader(f"/stream/match/{ask['match']}") as reader:
            reader.until(lambda record: bool(record.data.get("start")))
        with pages.reader(f"/stream/match/{ask['match']}") as reader:
            assert reader.next().data["start"] is not None  # still there, for one who reloads the page


# -- a server that goes ------------------------------------------------------------------------------


def test_a_server_killed_and_started_again_goes_on_with_the_state(tmp_path: Path) -> None:
    """kill -9 in the middle of a match: its page says so, goes on with the state, and has lost nothing."""
    with ExitStack() as stack:
        server = stack.enter_context(serving(tmp_path, *TABLE))
        pages = stack.enter_context(watching(tmp_path, address(server)))
        bot = server.call()
        welcome = bot.login("ann")
        ask = bot.practice()
        match = ask["match"]
        pages.match_when(match=match)
        reader = stack.enter_context(pages.reader(f"/stream/match/{match}"))
        ask = bot.play_on(ask, turns=10)
        count = 0
        while count < ask["after_event"]:
            count += len(reader.next().data.get("events", ()))
        server.kill()
        reader.until(lambda record: record.data.get("connected") is False)
        overview = stack.enter_context(pages.reader("/stream"))
        state = overview.next().data
        assert state["connected"] is False
        assert [head["match"] for head in state["matches"]] == [match]  # what was known is still shown
        port = f"--listen={server.port}"
        again = stack.enter_context(serving(tmp_path, *TABLE, port))
        reader.until(lambda record: record.data.get("connected") is True)
        bot = again.call()
        bot.resume(welcome, ask)
        ask = bot.until("ask")
        shown: list[Any] = []
        done = threading.Thread(target=lambda: shown.append(followed(reader)))
        done.start()
        bot.play_on(ask)
        done.join(PATIENCE)
        heard = lines_to_the_end(spectated(again, match))
        assert shown[0][1] == [message["event"] for message in heard if message["type"] == "event"]
        assert pages.match_when(match=match, state="ended")["ranks"] == heard[-1]["result"]["ranks"]


def test_a_match_that_a_server_has_lost_is_failed_on_its_page_and_in_no_list(tmp_path: Path) -> None:
    """The server is started again without its data: another life, another list."""
    with ExitStack() as stack:
        server = stack.enter_context(serving(tmp_path / "one", *TABLE))
        pages = stack.enter_context(watching(tmp_path, address(server)))
        match = player(server, "ann").practice()["match"]
        pages.match_when(match=match)
        reader = stack.enter_context(pages.reader(f"/stream/match/{match}"))
        reader.until(lambda record: bool(record.data.get("start")))
        server.kill()
        stack.enter_context(serving(tmp_path / "two", *TABLE, f"--listen={server.port}"))
        reader.until(lambda record: record.data.get("head", {}).get("state") == "failed")
        with pages.reader("/stream") as overview:
            state = overview.next().data
        assert (state["matches"], state["counts"]["running"]) == ([], 0)


def test_a_server_that_comes_up_later_is_shown_when_it_does(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as place:
        port = place.getsockname()[1]
    with watching(tmp_path, f"127.0.0.1:{port}") as pages:
        with pages.reader("/stream") as reader:
            assert reader.next().data["connected"] is False
        with serving(tmp_path, f"--listen={port}"):
            pages.until_connected()


def test_a_server_that_shuts_down_is_not_called_again_and_again(tmp_path: Path) -> None:
    with serving(tmp_path) as server, watching(tmp_path, address(server)) as pages:
        pages.until_connected()
        server.signal(signal.SIGTERM)
        assert server.ended() == 0
        pages.until_connected(False)
        lost = [record for record in pages.log() if record["event"] == "source.lost"]
        assert lost[0]["again_in_s"] >= 0.3


# -- servers that are different ----------------------------------------------------------------------


@contextmanager
def scripted(answer: Callable[[bytes], bytes | None], hello: bytes) -> Generator[int]:
    """Serve a server of a few lines: `answer` replies to each line of a client, None hangs up."""
    listener = socket.create_server(("127.0.0.1", 0))
    ends = threading.Event()

    def serve() -> None:
        while not ends.is_set():
            try:
                sock, _ = listener.accept()
            except OSError:
                return
            with sock, sock.makefile("rwb") as lines:
                try:
                    lines.write(hello)
                    lines.flush()
                    for line in lines:
                        reply = answer(line)
                        if reply is None:
                            break
                        lines.write(reply)
                        lines.flush()
                except OSError:
                    pass

    thread = threading.Thread(target=serve, daemon=True)
    thread.start()
    try:
        yield listener.getsockname()[1]
    finally:
        ends.set()
        listener.shutdown(socket.SHUT_RDWR)
        listener.close()
        thread.join(PATIENCE)


LIMITS = {
    "line_before_login": 4096,
    "line": 16384,
    "depth": 64,
    "login_ms": 30000,
    "messages_a_second": 1000,
    "burst": 40,
    "unsent_bytes": 1048576,
    "unsent_ms": 5000,
}


def hello(*features: str, **fields: object) -> bytes:
    message = {
        "type": "hello",
        "protocols": [1],
        "server": "other 1.0",
        "limits": LIMITS,
        "features": features,
    }
    return json.dumps(message | fields).encode() + b"\n"


WELCOME = (
    b'{"type":"welcome","session":"s","resume_key":"k","name":"watch-1","wants":{},"games":[],"later":1}\n'
)


def entry(match: str, state: str = "running") -> dict[str, Any]:  # Any: values of JSON
    players = [{"seat": 0, "team": 0, "name": "ann"}, {"seat": 1, "team": 1, "name": "bob"}]
    return {"match": match, "state": state, "game": "usa", "options": [], "players": players}


def listing(*entries: dict[str, Any], **fields: object) -> bytes:  # Any: values of JSON
    return json.dumps({"type": "match_list", "cursor": "c", "matches": entries, **fields}).encode() + b"\n"


def ended_with(process: WatchProcess) -> tuple[int, str]:
    code = process.process.wait(PATIENCE)
    return code, process.log_path.read_text().splitlines()[-1]


def test_a_server_without_the_list_of_matches_gets_a_clear_error(tmp_path: Path) -> None:
    with (
        scripted(lambda _: b"", hello("spectators")) as port,
        watching(tmp_path, f"127.0.0.1:{port}") as pages,
    ):
        code, said = ended_with(pages)
    assert code == 1
    assert said == (
        f"stellwerk: 127.0.0.1:{port}: other 1.0 lacks the feature 'matches', which live pages need"
    )


def test_a_server_of_another_protocol_gets_a_clear_error(tmp_path: Path) -> None:
    features = hello("spectators", "matches", protocols=[2])
    with scripted(lambda _: b"", features) as port, watching(tmp_path, f"127.0.0.1:{port}") as pages:
        code, said = ended_with(pages)
    assert code == 1
    assert "lacks version 1 of the protocol" in said


def test_a_token_that_is_refused_is_a_clear_error(tmp_path: Path) -> None:
    tokens = tmp_path / "tokens"
    tokens.write_text(f"hall {hashlib.sha256(b'secret').hexdigest()}\n")
    with serving(tmp_path, "--tokens", str(tokens)) as server:
        with watching(tmp_path / "bad-log", address(server), "--name=hall", STELLWERK_TOKEN="wrong") as pages:
            code, said = ended_with(pages)
            assert code == 1
            assert "the login was refused: auth.bad_token" in said
            assert "wrong" not in said
        with watching(tmp_path / "no-log", address(server)) as pages:
            assert "STELLWERK_TOKEN" in ended_with(pages)[1]
        with watching(tmp_path, address(server), "--name=hall", STELLWERK_TOKEN="secret") as pages:
            pages.until_connected()


@pytest.mark.parametrize(
    "wrong",
    [
        b"nonsense\n",
        b"[1]\n",
        b'{"type":"match_list"}\n',
        b'{"type":"match_list","cursor":"c","matches":[{"match":"../../x","state":"running"}]}\n',
        b'{"type":"left","match":"m"}\n',
        b'{"type":"event","match":"m"}\n',
        b'{"type":"start","match":"m"}\n',
        b"[" * 100_000 + b"\n",
        b"x" * 2_000_000,
    ],
    ids=range(9),
)
def test_a_server_that_talks_nonsense_costs_a_connection_and_no_more(tmp_path: Path, wrong: bytes) -> None:
    count = 0

    def answer(line: bytes) -> bytes | None:
        nonlocal count
        if b'"login"' in line:
            count += 1
            return WELCOME
        return wrong if count == 1 else listing(entry("m1"), anew=True)

    features = hello("spectators", "matches")
    with scripted(answer, features) as port, watching(tmp_path, f"127.0.0.1:{port}") as pages:
        assert pages.match_when(match="m1")["state"] == "running"


def test_messages_of_a_later_version_are_ignored(tmp_path: Path) -> None:
    def answer(line: bytes) -> bytes:
        if b'"login"' in line:
            return b'{"type":"news","of":"later"}\n' + WELCOME
        later = entry("m1") | {"mood": "tense"}
        return b'{"type":"news","of":"later"}\n' + listing(later, anew=True, further=[1, 2])

    features = hello("spectators", "matches", "time_travel", motto="on time")
    with scripted(answer, features) as port, watching(tmp_path, f"127.0.0.1:{port}") as pages:
        pages.match_when(match="m1")


def test_it_asks_no_more_than_the_server_allows(tmp_path: Path) -> None:
    """With two messages a second allowed, it is never refused for its rate."""
    slow = ("--set=limits.messages_a_second=2", "--set=limits.burst=3")
    with serving(tmp_path, *slow) as server:
        with (
            watching(tmp_path, address(server)) as pages,
            pages.reader("/stream/wall") as wall,
            pages.reader("/stream") as overview,
        ):
            wall.next()
            bot = player(server, "ann")
            bot.say(type="join", game="card_game", players=2, against=["random"])
            overview.until(lambda record: bool(record.data.get("matches")))
        server.kill()
        closed = [record for record in server.log() if record["event"] == "connection.closed"]
        assert not any(record["errors"] for record in closed if str(record.get("name")).startswith("watch-"))


# -- a server that loses us again and again --------------------------------------------------------------

HELLO = msgspec.json.encode(Hello((1,), "odd", announced(Limits(), MAX_DEPTH), FEATURES)) + b"\n"
GREETED = b'{"type":"welcome"}\n'
EMPTY_LIST = b'{"type":"match_list","matches":[],"cursor":"c","more":false,"anew":true}\n'
ODD_LIST = b'{"type":"match_list","matches":7}\n'


async def waits(*answers: bytes, lasts_s: float = 0.0) -> tuple[list[float], set[str]]:
    """Return how long a source waits each time before it comes back to a server that greets it, answers its
    requests for the list with these lines, stays for so long and hangs up. Return why it was lost, too."""
    found: list[float] = []
    causes: set[str] = set()

    async def serve(stream: trio.abc.Stream) -> None:
        with suppress(trio.BrokenResourceError):  # it has seen enough
            for line in (HELLO, GREETED, *answers):
                await stream.send_all(line)
                await stream.receive_some(1000)
            await trio.sleep(lasts_s)
        await stream.aclose()

    def log(event: str, **data: Any) -> None:  # Any: as a log takes it
        if event == "source.lost":
            found.append(data["again_in_s"])
            causes.add(data["why"])
            if len(found) == 8:
                nursery.cancel_scope.cancel()

    async def connect() -> trio.abc.Stream:
        ours, theirs = trio.testing.memory_stream_pair()
        nursery.start_soon(serve, theirs)
        return ours

    async with trio.open_nursery() as nursery:
        source = ServerSource("here", connect, Identity("hall"), log)
        shape = ShowSettings(title="", kind="server", source="", life="", pace=1, tables=1)
        nursery.start_soon(source.run, Show(shape))
    return found, causes


HUNG_UP = "the server closed the connection"
NO_LIST = "not a message of the protocol: Expected `array`, got `int` - at `$.matches`"


@pytest.mark.parametrize(
    ("answers", "cause"), [((), HUNG_UP), ((ODD_LIST,), NO_LIST), ((EMPTY_LIST, ODD_LIST), NO_LIST)]
)
def test_it_waits_longer_each_time_for_a_server_that_greets_it_and_then_loses_it(
    answers: tuple[bytes, ...], cause: str
) -> None:
    """Whether the list is missing, does not decode, or a later one does not."""
    found, causes = trio.run(partial(waits, *answers), clock=trio.testing.MockClock(autojump_threshold=0))
    assert causes == {cause}
    assert all(0.75 * 2**n / 2 - 0.1 <= wait <= 1.25 * 2**n / 2 + 0.1 for n, wait in enumerate(found[:5]))
    assert min(found[5:]) >= 0.75 * LONGEST_WAIT_S - 0.1


def test_after_a_connection_that_lasted_it_comes_back_soon() -> None:
    lasting = partial(waits, EMPTY_LIST, lasts_s=2 * LONGEST_WAIT_S)
    found, causes = trio.run(lasting, clock=trio.testing.MockClock(autojump_threshold=0))
    assert causes == {HUNG_UP}
    assert max(found) <= 1.25 * FIRST_WAIT_S + 0.1
