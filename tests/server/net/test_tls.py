"""TLS: handshakes that do not come, last lines that do, and tokens that nobody else may read.

A whole match over TLS, with tokens, is in `test_served_process`.
"""

from __future__ import annotations

import contextlib
import socket
import ssl
from pathlib import Path

import pytest
from msgspec.structs import replace

from stellwerk_server.lobby.tokens import TokenHolder, Tokens, hashed, new_token
from stellwerk_server.operate.settings import Limits
from tests.server.served_process import PATIENCE, serving, watch_and_leave
from tests.server.serving import NO_RATE, Site, on_site
from tests.tools import demand

CERTIFICATE = Path(__file__).parents[2] / "bots" / "loopback.pem"


def certified() -> ssl.SSLContext:
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    context.load_cert_chain(CERTIFICATE)
    return context


def trusting() -> ssl.SSLContext:
    context = ssl.create_default_context(cafile=CERTIFICATE)
    context.check_hostname = False
    return context


def plain(site: Site) -> socket.socket:
    return socket.create_connection(("127.0.0.1", site.port), timeout=PATIENCE)


def read_to_the_end(sock: socket.socket) -> bytes:
    read = b""
    while data := sock.recv(65_536):
        read += data
    return read


def test_who_never_shakes_hands_is_dropped_and_counted_no_longer() -> None:
    with on_site(tls=certified()) as site:
        player = site.call(tls=trusting())
        player.login("player")
        ask = player.practice("card_game")
        with plain(site) as silent, plain(site) as halfway:
            halfway.sendall(b"\x16\x03\x01")  # how a handshake begins
            site.wait(7_000)
            assert read_to_the_end(silent) == read_to_the_end(halfway) == b""
        site.logged("connection.closed", kind="tls", name=None, cause="no handshake in time", lines=0)
        assert len(site.records("connection.closed")) == 2
        assert site.do(lambda: site.server.lobby.counts()).connections == 1
        assert player.play_on(ask)["result"]["ranks"]


def test_half_a_handshake_goes_at_once_for_a_newcomer() -> None:
    with on_site(tls=certified(), trusted=(), limits=Limits(unauthenticated=1)) as site:
        with plain(site) as halfway:
            halfway.sendall(b"\x16\x03\x01")
            assert site.call(tls=trusting()).login("newcomer")["name"] == "newcomer"
            with contextlib.suppress(ConnectionResetError):
                assert read_to_the_end(halfway) == b""
        site.logged("connection.closed", kind="tls", name=None, cause="server.full", seconds=0.0)


def test_who_is_turned_away_gets_no_handshake() -> None:
    with on_site(tls=certified(), may_connect=lambda: False) as site, plain(site) as turned_away:
        turned_away.sendall(b"\x16\x03\x01")
        with contextlib.suppress(ConnectionResetError):
            assert read_to_the_end(turned_away) == b""
        site.logged("connection.closed", kind="tls", cause="server.full")


def test_half_handshakes_without_end_take_no_more_than_the_places_for_those_who_wait(tmp_path: Path) -> None:
    """600 are begun while each may take 5 s: without a bound the server would hold all of them."""
    with serving(
        tmp_path, f"--tls-cert={CERTIFICATE}", f"--tls-key={CERTIFICATE}", '--set=trusted=["127.0.0.1"]'
    ) as server:
        player = server.call(trusting())
        player.login("player")
        ask = player.practice("card_game")
        with contextlib.ExitStack() as half:
            for number in range(600):
                halfway = socket.create_connection(
                    ("127.0.0.1", server.port), PATIENCE, source_address=(f"127.0.0.{2 + number % 5}", 0)
                )
                half.enter_context(halfway)
                halfway.sendall(b"\x16\x03\x01")
            newcomer = server.call(trusting())
            assert newcomer.login("newcomer")["name"] == "newcomer"
            descriptors = len(list(Path(f"/proc/{server.process.pid}/fd").iterdir()))
            assert descriptors < Limits().unauthenticated + 50
        assert player.play_on(ask)["type"] == "end"
        for caller in (player, newcomer):
            caller.close()


@pytest.mark.parametrize(
    "text", [b'{"type":"login","protocol":1,"name":"plain"}\n', b"GET / HTTP/1.0\r\n\r\n"]
)
def test_plain_text_is_no_handshake_and_troubles_nobody_else(text: bytes) -> None:
    with on_site(tls=certified()) as site:
        player = site.call(tls=trusting())
        player.login("player")
        ask = player.practice("card_game")
        with plain(site) as stranger:
            stranger.sendall(text)
            answer = read_to_the_end(stranger)
        assert b"hello" not in answer
        closed = site.logged("connection.closed", kind="tls", name=None)
        assert closed["cause"].startswith("broken: [SSL")
        assert player.play_on(ask)["result"]["ranks"]


def test_a_client_that_does_not_trust_the_server_is_gone_and_no_more() -> None:
    with on_site(tls=certified()) as site:
        with pytest.raises(ssl.SSLCertVerificationError), plain(site) as wary:
            ssl.create_default_context().wrap_socket(wary, server_hostname="localhost")
        site.logged("connection.closed", kind="tls", name=None)
        assert site.call(tls=trusting()).login("trusting")["name"] == "trusting"


@pytest.mark.parametrize("is_secured", [True, False], ids=["tls", "tcp"])
def test_the_last_line_reaches_who_sends_on_and_reads_late(is_secured: bool) -> None:
    """Closing a socket with something unread resets it, and what is on its way is lost."""
    with on_site(
        tls=certified() if is_secured else None, limits=replace(NO_RATE, unsent_bytes=10**9)
    ) as site:
        context = trusting() if is_secured else None
        player, talker = site.call(tls=context), site.call(tls=context, receive_bytes=4_096)
        player.login("player")
        match = player.practice("usa")["match"]
        talker.login("talker")
        talker.send(watch_and_leave(match) * 40)
        talker.send(b"x" * 100_000)
        assert talker.until("error")["code"] == "wire.too_long"
        assert talker.until("bye")["code"] == "wire.too_long"
        with pytest.raises(EOFError):
            talker.read()
        site.logged("connection.closed", name="talker", cause="wire.too_long")


def test_a_session_goes_on_over_another_connection_with_tls() -> None:
    with on_site(tls=certified()) as site:
        old, new = site.call(tls=trusting()), site.call(tls=trusting())
        welcome = old.login("player")
        ask = old.practice("card_game")
        new.resume(welcome, ask)
        assert old.until("bye")["code"] == "server.taken_over"
        assert new.play_on(new.until("ask"))["result"]["ranks"]


# -- tokens ------------------------------------------------------------------------------------------


@pytest.fixture
def own_address() -> str:
    """Return an address of this machine that is not its loopback."""
    demand("network")
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        probe.connect(("198.51.100.1", 9))  # nothing is sent
        address: str = probe.getsockname()[0]
    return address


@pytest.mark.parametrize(
    ("where", "is_secured", "plaintext_tokens", "is_taken"),
    [
        ("loopback", False, False, True),
        ("own address", False, False, False),
        ("own address", True, False, True),
        ("own address", False, True, True),
    ],
)
def test_a_token_comes_over_the_loopback_or_encrypted_unless_told_otherwise(
    where: str, is_secured: bool, plaintext_tokens: bool, is_taken: bool, own_address: str
) -> None:
    token = new_token()
    tokens = Tokens((TokenHolder("ann", hashed(token), is_organizer=False),))
    server, client = (certified(), trusting()) if is_secured else (None, None)
    with on_site(host="0.0.0.0", tls=server, tokens=tokens, plaintext_tokens=plaintext_tokens) as site:
        site.secrets |= {token, hashed(token)}
        ann = site.call(tls=client, host="127.0.0.1" if where == "loopback" else own_address)
        ann.say(type="login", protocol=1, name="ann", token=token)
        answer = ann.read()
        assert (answer["type"], answer.get("code")) == (
            ("welcome", None) if is_taken else ("error", "auth.token_needs_tls")
        )
