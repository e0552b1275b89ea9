"""SIGHUP: how a server was started decides whether it reads files again, ends or does nothing."""

from __future__ import annotations

import os
import pty
import shutil
import signal
import ssl
import sys
import time
from collections.abc import Callable
from contextlib import closing
from hashlib import sha256
from pathlib import Path

import pytest

from tests.server.served_process import PATIENCE, Serving, serving

NO_HURRY = "--set=time.move_ms=60000"
BOTS = Path(__file__).parents[1] / "bots"

# The command in a session of its own, with SIGHUP as a shell starts it, however these tests were started.
_ALONE = "import os, signal, sys; os.setsid(); signal.signal(signal.SIGHUP, signal.SIG_DFL);"
# A server without a terminal, whichever terminal the tests have.
ALONE = (sys.executable, "-c", f"{_ALONE} os.execvp(sys.argv[1], sys.argv[1:])")
ON_TERMINAL = (
    sys.executable,
    "-c",
    f"{_ALONE} os.open(sys.argv[1], os.O_RDWR); os.execvp(sys.argv[2], sys.argv[2:])",
)
UNDER_NOHUP = (
    sys.executable,
    "-c",
    "import os, signal, sys; os.setsid(); signal.signal(signal.SIGHUP, signal.SIG_IGN);"
    "os.execvp(sys.argv[1], sys.argv[1:])",
)


def let_in(file: Path, *names: str) -> None:
    """Write a file of tokens in which the token of each name is the name."""
    file.write_text("".join(f"{name} {sha256(name.encode()).hexdigest()}\n" for name in names))


def records(server: Serving, event: str) -> list[dict[str, object]]:
    return [record for record in server.log() if record["event"] == event]


def hang_up(server: Serving, until: Callable[[], bool]) -> None:
    """Send SIGHUP, and return when its effect is there."""
    server.signal(signal.SIGHUP)
    deadline = time.monotonic() + PATIENCE
    while not until():
        assert server.process.poll() is None
        assert time.monotonic() < deadline


def test_new_tokens_are_read_while_matches_go_on(tmp_path: Path) -> None:
    tokens = tmp_path / "tokens"
    let_in(tokens, "ann", "ben")
    with serving(tmp_path, NO_HURRY, "--tokens", str(tokens), prefix=ALONE) as server:
        ann, ben, eve = (server.call() for _ in range(3))
        welcome = ann.login("ann", token="ann")
        ask = ann.play_on(ann.practice("card_game"), turns=2)
        ben.login("ben", token="ben")
        let_in(tokens, "eve")
        hang_up(server, lambda: bool(records(server, "access.read_again")))
        assert ben.until("bye")["code"] == "auth.bad_token"
        eve.login("eve", token="eve")
        ann.reset()
        ann = server.call()
        ann.resume(welcome, ask)
        assert ann.play_on(ann.until("ask"))["type"] == "end"
        assert ann.until("bye")["code"] == "auth.bad_token"
        [record] = records(server, "access.read_again")
        assert (record["level"], record["tokens"]) == ("info", 1)
        server.signal(signal.SIGTERM)
        assert server.ended() == 0


@pytest.mark.parametrize("text", ["no token at all", None], ids=["not a file of tokens", "removed"])
def test_a_file_that_cannot_be_used_changes_nothing_and_is_an_error_in_the_log(
    text: str | None, tmp_path: Path
) -> None:
    tokens = tmp_path / "tokens"
    let_in(tokens, "ann")
    with serving(tmp_path, "--tokens", str(tokens), prefix=ALONE) as server:
        if text is None:
            tokens.unlink()
        else:
            tokens.write_text(text)
        hang_up(server, lambda: bool(records(server, "access.not_read")))
        with closing(server.call()) as ann:
            ann.login("ann", token="ann")
        [record] = records(server, "access.not_read")
        assert record["level"] == "error"
        assert str(tokens) in str(record["error"])


def test_a_new_certificate_is_for_new_connections_and_a_wrong_one_for_none(tmp_path: Path) -> None:
    certificate = tmp_path / "certificate.pem"
    shutil.copy(BOTS / "loopback.pem", certificate)
    flags = ("--tls-cert", str(certificate), "--tls-key", str(certificate))

    def trusting(name: str) -> ssl.SSLContext:
        context = ssl.create_default_context(cafile=BOTS / name)
        context.check_hostname = False
        return context

    with serving(tmp_path, NO_HURRY, *flags, prefix=ALONE) as server:
        early = server.call(trusting("loopback.pem"))
        early.login("early")
        ask = early.practice("card_game")
        certificate.write_text("no certificate")
        hang_up(server, lambda: bool(records(server, "access.not_read")))
        server.call(trusting("loopback.pem")).close()
        shutil.copy(BOTS / "below_authority.pem", certificate)
        hang_up(server, lambda: bool(records(server, "access.read_again")))
        server.call(trusting("authority.pem")).close()
        with pytest.raises(ssl.SSLCertVerificationError):
            server.call(trusting("loopback.pem"))
        assert early.play_on(ask)["type"] == "end"


def test_a_server_ends_politely_when_its_terminal_is_closed(tmp_path: Path) -> None:
    master, slave = pty.openpty()
    with serving(tmp_path, NO_HURRY, prefix=(*ON_TERMINAL, os.ttyname(slave))) as server:
        os.close(slave)
        player, idle = server.call(), server.call()
        player.login("player")
        ask = player.practice("card_game")
        os.close(master)
        assert idle.until("bye")["code"] == "server.shutting_down"
        assert player.play_on(ask)["type"] == "end"
        assert server.ended() == 0
        [draining] = records(server, "server.draining")
        assert (draining["signal"], draining["matches"]) == ("SIGHUP", 1)


def test_where_sighup_was_ignored_at_the_start_it_stays_ignored(tmp_path: Path) -> None:
    """nohup: the files are not read again either."""
    tokens = tmp_path / "tokens"
    let_in(tokens, "ann")
    with serving(tmp_path, "--tokens", str(tokens), prefix=UNDER_NOHUP) as server:
        let_in(tokens, "ben")
        server.signal(signal.SIGHUP)
        with closing(server.call()) as ann:
            ann.login("ann", token="ann")
        server.signal(signal.SIGTERM)
        assert server.ended() == 0
        events = [record["event"] for record in server.log()]
    assert [event for event in events if event.startswith(("access", "server"))] == [
        "server.draining",
        "server.stopped",
    ]
