"""Live pages beside another command: a process of their own, which ends with the one that started it.

Law: whatever becomes of that process, the command goes on. Its message is one line.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from stellwerk.shared.choose_game import whole_number
from stellwerk.shared.errors import usage_error

if TYPE_CHECKING:
    import trio

ANNOUNCED: Final = b"live pages at "
MOST_ANNOUNCED: Final = 1000
LAST_WORDS_S: Final = 5.0  # for the process to show how it all ended


@dataclass(frozen=True, slots=True)
class WebAddress:
    """Where a command's live pages are, and under which names browsers may find them."""

    port: int
    host: str = "127.0.0.1"
    host_names: tuple[str, ...] = ()

    def words(self) -> list[str]:
        """Return the arguments of `stellwerk watch`."""
        names = [word for name in self.host_names for word in ("--host-name", name)]
        return ["--port", str(self.port), "--host", self.host, *names]


def add_web_arguments(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("live pages")
    group.add_argument(
        "--web",
        metavar="PORT",
        dest="web_port",
        type=whole_number(0, 65_535),
        help="show the matches in browsers, by a process of its own; 0 takes any free port",
    )
    group.add_argument("--web-host", metavar="HOST", help="default: 127.0.0.1: this machine only")
    group.add_argument(
        "--web-host-name",
        metavar="NAME",
        action="append",
        help="a name under which browsers may find the pages; repeatable",
    )


async def run_web_child(
    words: Sequence[str],
    on_url: Callable[[str], object],
    on_end: Callable[[str], object],
    *,
    pass_fds: Sequence[int] = (),
    variables: Mapping[str, str] | None = None,
) -> None:
    """Run `stellwerk watch` with these words until it ends or this task is cancelled. `on_url` gets the
    address of its pages, `on_end` one line if it ends by itself. `variables` are its whole environment, if
    given.

    It reads from a pipe that nobody writes to. When this process ends, whatever ends it, the pipe ends too,
    and the child with it.
    """
    import trio  # here, because help needs the arguments alone

    command = [sys.executable, "-m", "stellwerk", "watch", *words, "--until-stdin-ends"]
    try:
        process = await trio.lowlevel.open_process(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, pass_fds=pass_fds, env=variables
        )
    except OSError as error:
        on_end(f"cannot be started: {error.strerror or error}")
        return
    try:
        await _tell_url(process, on_url)
        code = await process.wait()
        on_end(f"ended with exit code {code}; matches go on")
    finally:
        with trio.CancelScope(shield=True):
            assert process.stdin is not None
            assert process.stdout is not None
            await process.stdin.aclose()
            with trio.move_on_after(LAST_WORDS_S):
                await process.wait()
            if process.returncode is None:
                process.kill()
                await process.wait()
            await process.stdout.aclose()


async def _tell_url(process: trio.Process, on_url: Callable[[str], object]) -> None:
    assert process.stdout is not None
    line = b""
    while not line.endswith(b"\n") and len(line) < MOST_ANNOUNCED:
        data = bytes(await process.stdout.receive_some(MOST_ANNOUNCED))
        if not data:
            return
        line += data
    if line.startswith(ANNOUNCED):
        on_url(line.removeprefix(ANNOUNCED).decode(errors="replace").strip())


def web_address_of(arguments: argparse.Namespace) -> WebAddress | None:
    """Read where the live pages are. None without `--web`. CommandError if that is no use."""
    if arguments.web_port is None:
        for name in ("web_host", "web_host_name"):
            if getattr(arguments, name) is not None:
                raise usage_error(f"--{name.replace('_', '-')}: goes with --web only")
        return None
    names = tuple(arguments.web_host_name or ())
    return WebAddress(arguments.web_port, arguments.web_host or "127.0.0.1", names)


def web_words(arguments: argparse.Namespace) -> list[str]:
    """Repeat the arguments for the command that resumes."""
    words = [] if arguments.web_port is None else [f"--web={arguments.web_port}"]
    words += [] if arguments.web_host is None else [f"--web-host={arguments.web_host}"]
    return [*words, *(f"--web-host-name={name}" for name in arguments.web_host_name or ())]
