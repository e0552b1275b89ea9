"""`stellwerk watch`: what it refuses, and how it ends."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
from contextlib import ExitStack, suppress
from pathlib import Path

import pytest

from tests.command.program import COMMAND, REPOSITORY, SECONDS, environment, refused
from tests.web.serving import PATIENCE
from tests.web.watching import watching


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["nowhere"], "SOURCE: expected HOST:PORT of a server, or a folder"),
        (["127.0.0.1:0"], "SOURCE: a port is 1 to 65535, not 0"),
        (["127.0.0.1:99999"], "SOURCE: a port is 1 to 65535, not 99999"),
        (["http://127.0.0.1:7878"], "SOURCE: expected HOST:PORT"),
        (["127.0.0.1:7878", "--pace", "0"], "--pace: expected a number from 0.1 to 100"),
        (["127.0.0.1:7878", "--pace", "nan"], "--pace: expected a number from 0.1 to 100"),
        (["127.0.0.1:7878", "--tables", "10"], "--tables"),
        (["127.0.0.1:7878", "--listen", "0,http://x"], "--listen: expected a name"),
        (["127.0.0.1:7878", "--name", "ann bob"], "--name: expected 1 to 32"),
        (["127.0.0.1:7878", "--listen", "host"], "--listen: expected [HOST:]PORT"),
    ],
)
def test_a_command_line_that_cannot_be_carried_out_is_one_line(words: list[str], said: str) -> None:
    assert said in refused("watch", *words)


def test_a_port_that_is_taken_is_one_line() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = str(taken.getsockname()[1])
        line = refused("watch", "127.0.0.1:7878", "--listen", port, code=4)
    assert f"127.0.0.1:{port}: cannot listen" in line
    assert "port 0 takes any free one" in line


def test_sigterm_ends_it_without_a_word(tmp_path: Path) -> None:
    with watching(tmp_path, "127.0.0.1:9") as pages:
        pages.process.send_signal(signal.SIGTERM)
        assert pages.process.wait(PATIENCE) == 0
        assert {record["event"] for record in pages.log()} <= {"source.lost"}


def test_ctrl_c_ends_it_in_one_line(tmp_path: Path) -> None:
    with watching(tmp_path, "127.0.0.1:9") as pages:
        pages.process.send_signal(signal.SIGINT)
        assert pages.process.wait(PATIENCE) == 130
        assert pages.log_path.read_text().splitlines()[-1] == "stellwerk: interrupted"


def test_with_few_descriptors_readers_get_503_and_the_log_has_no_traceback(tmp_path: Path) -> None:
    few = "import os, resource, sys; resource.setrlimit(resource.RLIMIT_NOFILE, (64, 64));"
    prefix = (sys.executable, "-c", f"{few} os.execvp(sys.argv[1], sys.argv[1:])")
    with watching(tmp_path, "127.0.0.1:9", prefix=prefix) as pages, ExitStack() as stack:
        crowd = [stack.enter_context(pages.reached()) for _ in range(150)]
        for sock in crowd:
            with suppress(OSError):  # closed without a word
                sock.sendall(b"GET /stream HTTP/1.1\r\nHost: localhost\r\n\r\n")
        starts: list[bytes] = []
        for sock in crowd:
            with suppress(ConnectionError):
                starts.append(sock.recv(12))
        assert {b"HTTP/1.1 200", b"HTTP/1.1 503", b""} >= set(starts) >= {b"HTTP/1.1 200", b"HTTP/1.1 503"}
        for sock in crowd:
            sock.close()
        while pages.get("/health").status != 200:
            pass
        pages.process.terminate()
        assert pages.process.wait(PATIENCE) == 0
        assert {record["event"] for record in pages.log()} == {"source.lost"}


def test_tests_of_ctrl_c_work_where_the_suite_was_started_with_sigint_ignored() -> None:
    """A shell without a terminal starts background jobs so, and all processes inherit it."""
    ignored = f"{__file__}::{test_ctrl_c_ends_it_in_one_line.__name__}"
    command = [sys.executable, "-m", "pytest", "-q", "-n0", "-p", "no:cacheprovider", ignored]
    done = subprocess.run(
        ["sh", "-c", """trap '' INT; exec "$@\"""", "sh", *command],
        cwd=REPOSITORY,
        capture_output=True,
        text=True,
        check=False,
        timeout=SECONDS,
    )
    assert done.returncode == 0, done.stdout


def test_a_child_ends_with_the_process_that_started_it(tmp_path: Path) -> None:
    """Whatever ends that process, the pipe to the child ends, too. Ctrl-C is not for the child."""
    process = subprocess.Popen(
        [*COMMAND, "watch", "127.0.0.1:9", "--listen", "0", "--parent", "{}"],
        env=environment(),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
    )
    assert process.stdout is not None
    assert process.stdout.readline().startswith(b"live pages at ")
    process.send_signal(signal.SIGINT)
    assert process.stdin is not None
    process.stdin.close()
    assert process.wait(PATIENCE) == 0
    process.stdout.close()


def test_a_child_that_may_not_lower_its_priority_shows_its_pages_all_the_same(tmp_path: Path) -> None:
    """The unit for systemd forbids the system call."""
    (tmp_path / "sitecustomize.py").write_text(
        "import os\ndef nice(_):\n    raise PermissionError(1, 'Operation not permitted')\nos.nice = nice\n"
    )
    path = os.pathsep.join([str(tmp_path), environment()["PYTHONPATH"]])
    with subprocess.Popen(
        [*COMMAND, "watch", "127.0.0.1:9", "--listen", "0", "--parent", "{}"],
        env=environment(PYTHONPATH=path),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
    ) as process:
        assert process.stdout is not None
        assert process.stdin is not None
        assert process.stdout.readline().startswith(b"live pages at ")
        process.stdin.close()
        assert process.wait(PATIENCE) == 0


def test_other_addresses_than_the_loopback_are_a_warning(tmp_path: Path) -> None:
    process = subprocess.Popen(
        [sys.executable, "-m", "stellwerk", "watch", "127.0.0.1:9", "--listen", "0.0.0.0:0"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    assert process.stdout.readline().startswith("live pages at http://0.0.0.0:")
    process.terminate()
    _, log = process.communicate(timeout=PATIENCE)
    assert "web.beyond_this_machine" in log
