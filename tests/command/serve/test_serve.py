"""`stellwerk serve` as a command: what it prints where, which options it takes, and how it refuses.

`tests/server/test_served_process.py` has the flags that are wrong by themselves; how it serves is in the
tests beside that.
"""

from __future__ import annotations

import argparse
import json
import signal
import socket
import subprocess
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
import trio

from stellwerk.__main__ import main
from stellwerk.serve.config import Config, add_config_arguments, read_config
from stellwerk_server.net.server import PORTS_TRIED, open_server
from tests.command.program import COMMAND, REPOSITORY, SECONDS, environment, refused
from tests.server.served_process import Caller, Message
from tests.server.support import World
from tests.tools import needs

NOT_HERE = "203.0.113.77"
"""Nobody's address: a server that should not have come so far cannot listen there."""

CERTIFICATE = REPOSITORY / "tests" / "bots" / "loopback.pem"


class Running:
    """A server that listens."""

    def __init__(self, flags: Sequence[str]) -> None:
        self._process = subprocess.Popen(
            [*COMMAND, "serve", "--listen", "0", *flags],
            env=environment(),
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        assert self._process.stdout is not None
        self.line = self._process.stdout.readline()

    @property
    def port(self) -> int:
        return int(self.line.rpartition(":")[2])

    def stop(self) -> tuple[int, str, list[Message]]:
        """Stop the server. Return its exit code, the rest of its standard output, and its log."""
        self._process.send_signal(signal.SIGTERM)
        rest, errors = self._process.communicate(timeout=SECONDS)
        return self._process.returncode, rest, [json.loads(line) for line in errors.splitlines()]

    def kill(self) -> None:
        self._process.kill()
        self._process.communicate(timeout=SECONDS)


@contextmanager
def running(*flags: str) -> Generator[Running]:
    server = Running(flags)
    try:
        yield server
    finally:
        server.kill()


# -- what it says ------------------------------------------------------------------------------------


def test_standard_output_has_one_line_and_standard_error_the_log(tmp_path: Path) -> None:
    with running("--data", str(tmp_path)) as server:
        assert server.line == f"listening on 127.0.0.1:{server.port}\n"
        caller = Caller(server.port)
        assert caller.read()["server"].startswith("stellwerk ")
        caller.close()
        code, rest, log = server.stop()
    assert (code, rest) == (0, "")
    assert [record["event"] for record in log if record["event"] != "connection.closed"] == [
        "server.draining",
        "server.stopped",
    ]


def test_it_says_what_it_exposes_beyond_this_machine(tmp_path: Path) -> None:
    with running("--data", str(tmp_path), "--listen", "0.0.0.0:0") as server:
        assert server.line == f"listening on 0.0.0.0:{server.port}\n"
        (warning,) = [record for record in server.stop()[2] if record["level"] == "warning"]
    assert (warning["event"], warning["host"]) == ("listening.beyond_this_machine", "0.0.0.0")
    assert (warning["who"], warning["encrypted"]) == ("anyone who can reach this address", False)
    assert "--tokens" in warning["advice"]


def test_with_tokens_and_tls_it_has_no_advice(tmp_path: Path) -> None:
    tokens = tmp_path / "tokens"
    tokens.write_text(f"ann {'0' * 64}\n")
    secured = ("--tls-cert", str(CERTIFICATE), "--tls-key", str(CERTIFICATE), "--tokens", str(tokens))
    with running("--data", str(tmp_path / "data"), "--listen", "0.0.0.0:0", *secured) as server:
        (warning,) = [record for record in server.stop()[2] if record["level"] == "warning"]
    assert (warning["who"], warning["encrypted"], warning["advice"]) == ("anyone with a token", True, None)


@needs("IPv6")
def test_an_address_of_ipv6_is_written_with_brackets(tmp_path: Path) -> None:
    with running("--data", str(tmp_path), "--listen", "[::1]:0") as server:
        assert server.line == f"listening on [::1]:{server.port}\n"
        assert [record for record in server.stop()[2] if record["level"] == "warning"] == []


@needs("/dev/full")
def test_who_cannot_say_where_it_listens_does_not_listen(tmp_path: Path) -> None:
    with open("/dev/full", "w") as full:
        done = subprocess.run(
            [*COMMAND, "serve", "--listen", "0", "--data", str(tmp_path)],
            env=environment(),
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
            timeout=SECONDS,
            check=False,
        )
    assert done.returncode == 4
    assert done.stderr == "stellwerk: standard output: cannot be written: No space left on device\n"


# -- one port ----------------------------------------------------------------------------------------


class TwoAddresses(trio.abc.HostnameResolver):
    """Every name has them. While `spoiling` the second one's port is taken as soon as it is known."""

    def __init__(self, spoiling: int = 0) -> None:
        self.spoiling = spoiling
        self.taken: list[socket.socket] = []

    async def getaddrinfo(
        self, host: Any, port: Any, family: int = 0, type: int = 0, proto: int = 0, flags: int = 0
    ) -> Any:  # Any: as Trio has it
        if port and self.spoiling:
            self.spoiling -= 1
            self.taken.append(socket.create_server(("127.0.0.2", int(port))))
        kind = (socket.AF_INET, socket.SOCK_STREAM, 6, "")
        return [(*kind, (address, int(port))) for address in ("127.0.0.1", "127.0.0.2")]

    async def getnameinfo(self, sockaddr: Any, flags: int) -> Any:  # Any: as Trio has it
        raise AssertionError("nobody asks")


def listening(resolver: TwoAddresses, port: int = 0) -> tuple[str, int, set[str]]:
    """Return the host and port that the server reports, and the addresses at which it answers."""

    async def answers(address: str, port: int) -> bool:
        try:
            async with await trio.open_tcp_stream(address, port) as stream:
                return (await stream.receive_some(20)).startswith(b'{"type":"hello"')
        except OSError:
            return False

    async def main() -> tuple[str, int, set[str]]:
        trio.socket.set_custom_hostname_resolver(resolver)
        async with open_server(World().setup) as server:
            host, bound = await server.listen("both", port)
            trio.socket.set_custom_hostname_resolver(None)
            reached = {address for address in ("127.0.0.1", "127.0.0.2") if await answers(address, bound)}
            return host, bound, reached

    try:
        return trio.run(main)
    finally:
        for sock in resolver.taken:
            sock.close()


def test_a_name_with_two_addresses_gets_one_free_port_for_both() -> None:
    host, _, reached = listening(TwoAddresses())
    assert host == "127.0.0.1"
    assert reached == {"127.0.0.1", "127.0.0.2"}


def test_a_port_that_is_taken_at_the_other_address_is_not_free() -> None:
    assert listening(TwoAddresses(spoiling=PORTS_TRIED - 1))[2] == {"127.0.0.1", "127.0.0.2"}


def test_when_no_port_is_free_at_both_it_says_so() -> None:
    with pytest.raises(ExceptionGroup) as raised:
        listening(TwoAddresses(spoiling=PORTS_TRIED))
    assert raised.group_contains(OSError, match="in use")


def test_a_port_that_was_asked_for_is_not_tried_again() -> None:
    with socket.create_server(("127.0.0.2", 0)) as taken:
        resolver = TwoAddresses()
        with pytest.raises(ExceptionGroup) as raised:
            listening(resolver, taken.getsockname()[1])
    assert raised.group_contains(OSError, match="in use")


def told_at_once(capsys: pytest.CaptureFixture[str], *flags: str) -> str:
    """Return the one line that refuses flags with which no server can start."""
    assert main(["serve", *flags, "--listen", f"{NOT_HERE}:7878"]) == 2
    out, error = capsys.readouterr()
    assert (out, error.count("\n")) == ("", 1)
    return error


# -- its options ---------------------------------------------------------------------------------------


def configured(*words: str) -> Config:
    parser = argparse.ArgumentParser()
    add_config_arguments(parser)
    return read_config(parser.parse_args(words))


def test_set_takes_any_key_of_a_config_file() -> None:
    config = configured(
        "--set=sync=true", "--set=log_level=debug", '--set=trusted=["10.0.0.0/8"]', "--set=time.move_ms=7"
    )
    assert (config.sync, config.log_level, config.trusted) == (True, "debug", ("10.0.0.0/8",))
    assert config.time.move_ms == 7


@pytest.mark.parametrize("text", ["sync", "=1", "time.=1", "listen.port.x"])
def test_a_set_without_a_key_and_a_value_is_refused(text: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert f'--set: expected KEY=VALUE, such as time.move_ms=200, not "{text}"' in told_at_once(
        capsys, "--set", text
    )


def test_a_file_can_say_all_that_flags_can_and_a_flag_goes_before_it(tmp_path: Path) -> None:
    tokens = tmp_path / "tokens"
    tokens.write_text(f"ann {'0' * 64}\n")
    config = tmp_path / "server.toml"
    config.write_text(
        f"""
        listen = "127.0.0.2:1"
        data = "{tmp_path / "games"}"
        sync = true
        tokens = "{tokens}"
        plaintext_tokens = true
        tls_cert = "{CERTIFICATE}"
        tls_key = "{CERTIFICATE}"
        status = "127.0.0.3:0"
        board = []
        house_bots = false
        log_level = "info"
        [time]
        move_ms = 500
        [limits]
        burst = 7
        """
    )
    flags = ("--listen", "127.0.0.2:0", "--set", "limits.burst=8", "--status", "127.0.0.4:0")
    with running("--config", str(config), *flags) as server:
        assert server.line == f"listening on 127.0.0.2:{server.port}\n"  # and not at 1
        log = server.stop()[2]
    assert [record for record in log if record["level"] == "warning"] == []  # all of 127 is this machine
    (status,) = [record for record in log if record["event"] == "status.listening"]
    assert status["url"].startswith("http://127.0.0.4:")
    assert {path.name for path in (tmp_path / "games").iterdir()} == {"running", "replays"}


@pytest.mark.parametrize(
    ("flag", "text"), [("--listen", "x"), ("--listen", "::1:7"), ("--status", "65536"), ("--web", "h:")]
)
def test_an_address_that_is_none_is_refused_before_the_folder_is_made(
    flag: str, text: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["serve", "--data", str(tmp_path / "data"), flag, text]) == 2
    assert f"{flag[2:]}: expected [HOST:]PORT, such as 7878" in capsys.readouterr().err
    assert not (tmp_path / "data").exists()


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("lisen = 1", 'there is no setting "lisen"; did you mean "listen"?'),
        ("[time]\nmove = 3", '[time]: there is no setting "move"'),
        ("[limits]\nbusrt = 3", '[limits]: there is no setting "busrt"; did you mean "burst"?'),
        ("listen = 7878", "listen: expected a text in quotes, found a whole number"),
        ("time = 3", "time: expected a table, found a whole number"),
        ("[time]\nmove_ms = 0", "time.move_ms: expected a whole number, at least 1"),
        ("log_level = 'loud'", 'there is no level "loud"'),
        ("sync = true\nsync = false", "not TOML: Cannot overwrite a value (at"),
        ("sync =", "not TOML: Invalid value (at"),
        ("tls_cert = 'x'", "go together"),
    ],
)
def test_what_is_wrong_in_a_file_is_told_with_its_place(
    text: str, complaint: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    config = tmp_path / "c.toml"
    config.write_text(text)
    error = told_at_once(
        capsys, "--data", str(tmp_path / "data"), "--config", str(config), "--set=time.bank_ms=5"
    )
    assert complaint in error
    assert not (tmp_path / "data").exists()


# -- how it refuses ----------------------------------------------------------------------------------


def test_a_certificate_that_cannot_be_used_is_named(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    nonsense = tmp_path / "nonsense.pem"
    nonsense.write_text("nonsense")
    for cert, key in ((nonsense, CERTIFICATE), (CERTIFICATE, nonsense), (tmp_path / "none", CERTIFICATE)):
        files = ("--tls-cert", str(cert), "--tls-key", str(key))
        error = told_at_once(capsys, "--data", str(tmp_path / "data"), *files)
        assert f"{cert}, {key}: cannot be used" in error
    assert not (tmp_path / "data").exists()


def test_a_folder_that_cannot_be_written_is_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    occupied = tmp_path / "file"
    occupied.write_text("")
    for folder in (occupied, occupied / "data"):
        assert f"{folder}: cannot be written" in told_at_once(capsys, "--data", str(folder))


def test_a_second_server_keeps_off_the_folder_of_the_first(tmp_path: Path) -> None:
    folder = str(tmp_path)
    with running("--data", folder) as first:
        caller = Caller(first.port)
        caller.read()
        caller.login("player")
        ask = caller.practice("card_game")
        error = refused("serve", "--listen", "0", "--data", folder, code=4)
        assert error == f"stellwerk: {folder}: another server uses it"
        assert caller.play_on(ask)["type"] == "end"
        caller.close()


def test_a_port_of_the_status_page_that_is_in_use_is_named(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = str(taken.getsockname()[1])
        error = refused("serve", "--listen", "0", "--data", str(tmp_path / "data"), "--status", port, code=4)
    assert error == f"stellwerk: 127.0.0.1:{port}: cannot listen: Address already in use"


def test_a_host_that_is_nobody_is_named(tmp_path: Path) -> None:
    error = refused("serve", "--listen", f"{NOT_HERE}:0", "--data", str(tmp_path), code=4)
    assert f"{NOT_HERE}:0: cannot listen: " in error
