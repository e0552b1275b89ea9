"""Bots as processes: real ones, which do to the runner whatever a bot can do.

Nothing here waits for a time: a bot that is to be seen alive says so, and one that hangs is ended with a
grace so short that the test has not to wait either.
"""

from __future__ import annotations

import dataclasses
import json
import os
import select
import shlex
import subprocess
import sys
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TypeVar

import pytest
import trio

from stellwerk_processes.bench.invitation import BotStartError, Invitation, command_line, environment_of
from stellwerk_processes.bench.launch import DESCRIPTORS
from stellwerk_processes.bench.levels import UNCONFINED, Confinement
from stellwerk_processes.bench.local_bot import (
    GRACE,
    LAST_LINES,
    LONGEST_LINE,
    PRINTED_BYTES,
    BotReport,
    LocalBot,
    start_bot,
)
from stellwerk_processes.bot_spec import BotSpec, Transport, parse_bot_spec
from tests.tools import SETPRIV, bwrap, needs

T = TypeVar("T")

INVITATION = Invitation("ernie", "tcp://127.0.0.1:1", token="t0ken", seed="5eed")
NO_GRACE = 0.05
SECONDS = 60  # far more than any test takes: a test that hangs should say so


def python(
    source: str, *, transport: Transport = "tcp", environment: Mapping[str, str] | None = None
) -> BotSpec:
    """Return a bot that is this program."""
    command = (sys.executable, "-I", "-S", "-c", source)
    return BotSpec("ernie", command, environment=environment or {}, transport=transport)


@asynccontextmanager
async def started(
    spec: BotSpec, confinement: Confinement = UNCONFINED, grace: float = GRACE
) -> AsyncGenerator[LocalBot]:
    """Start a bot, and stop it at the end of the block if it still runs."""
    with trio.fail_after(SECONDS):
        async with trio.open_nursery() as nursery:
            bot = await start_bot(nursery, spec, INVITATION, confinement, grace=grace)
            yield bot
            bot.stop()


def report_of(spec: BotSpec, confinement: Confinement = UNCONFINED) -> BotReport:
    """Return the report of a bot that ends by itself."""

    async def main() -> BotReport:
        async with started(spec, confinement) as bot:
            return await bot.ended()

    return trio.run(main)


def printed(source: str, confinement: Confinement = UNCONFINED) -> str:
    """Return the last line that the program prints."""
    return report_of(python(source), confinement).last_lines[-1]


async def line_from(stream: trio.abc.ReceiveStream | None) -> bytes:
    assert stream is not None
    line = bytearray()
    while not line.endswith(b"\n"):
        data = await stream.receive_some(1)
        assert data, "the bot has ended"
        line += data
    return bytes(line)


def has_ended(pid: int, seconds: float = SECONDS) -> bool:
    """Wait so long for it, if it is not so yet: a signal takes its time."""
    try:
        process = os.pidfd_open(pid)
    except ProcessLookupError:
        return True
    with open(process, "rb"):
        readable, _, _ = select.select([process], [], [], seconds)
    return bool(readable)


def run(main: Callable[[], Awaitable[T]]) -> T:
    return trio.run(main)


# -- what a bot finds --------------------------------------------------------------------------------


def test_the_environment_is_exactly_what_is_allowed(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for name in [name for name in os.environ if name.startswith("LC_")]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("LC_CTYPE", "C.UTF-8")
    monkeypatch.setenv("LANG", "C.UTF-8")
    monkeypatch.setenv("TZ", "Europe/Berlin")
    monkeypatch.setenv("SECRET_OF_THE_RUNNER", "1")
    monkeypatch.setenv("STELLWERK_TOKEN", "another's")
    write = "import os, json; json.dump(dict(os.environ), open('found', 'w'))"
    spec = python(write, environment={"THREADS": "2"})
    assert report_of(dataclasses.replace(spec, directory=str(tmp_path))).status == 0
    variables: dict[str, str] = json.loads((tmp_path / "found").read_text())
    directory = variables.pop("HOME")
    assert variables.pop("TMPDIR") == directory
    for name in ("SHLVL", "_"):  # of a shell that says more than POSIX asks of it
        variables.pop(name, None)
    assert variables == {
        "PATH": os.environ["PATH"],
        "LANG": "C.UTF-8",
        "LC_CTYPE": "C.UTF-8",
        "TZ": "Europe/Berlin",
        "THREADS": "2",
        "STELLWERK_ADDRESS": INVITATION.address,
        "STELLWERK_TOKEN": INVITATION.token,
        "STELLWERK_BOT_SEED": INVITATION.seed,
        "STELLWERK_NAME": INVITATION.name,
    }


def test_what_the_spec_sets_goes_before_what_the_runner_has_but_not_before_the_invitation() -> None:
    spec = BotSpec("ernie", ("x",), environment={"PATH": "/mine", "HOME": "/mine"})
    variables = environment_of(spec, INVITATION, "/private", {"PATH": "/ours", "STELLWERK_NAME": "bert"})
    assert (variables["PATH"], variables["HOME"], variables["TMPDIR"]) == ("/mine", "/mine", "/private")
    assert variables["STELLWERK_NAME"] == "ernie"


def test_only_a_built_in_looks_for_packages_where_the_runner_does() -> None:
    own = {"PYTHONPATH": f"protocol{os.pathsep}/else"}
    built_in = environment_of(parse_bot_spec("greedy"), INVITATION, "/private", own)
    assert built_in["PYTHONPATH"] == f"{os.path.abspath('protocol')}{os.pathsep}/else"
    assert "PYTHONPATH" not in environment_of(parse_bot_spec("cmd=greedy"), INVITATION, "/private", own)


def test_the_private_folder_is_the_working_directory_and_empty_and_removed() -> None:
    show = "import os; print(os.getcwd(), os.environ['HOME'], os.listdir(), oct(os.stat('.').st_mode))"
    folder, home, listed, mode = printed(show).split()
    assert (folder, listed, mode) == (home, "[]", "0o40700")
    assert not Path(folder).parent.exists()


def test_the_private_folder_is_removed_whatever_lies_in_it() -> None:
    fill = """
import os
os.makedirs("locked/deep")
open("locked/deep/file", "w").close()
os.symlink("/", "locked/root")
os.chmod("locked/deep", 0)
os.chmod("locked", 0)
print(os.getcwd())
"""
    assert not Path(printed(fill)).parent.exists()


def test_folders_in_folders_are_removed_however_deep_and_long_their_path_is() -> None:
    """Far deeper than a stack of calls, and longer than any path can be."""
    dig = """
import os
print(os.getcwd())
for _ in range(1500):
    os.mkdir("d" * 100)
    os.chdir("d" * 100)
    open("file", "w").close()
    os.symlink("..", "link")
"""
    assert not Path(printed(dig)).parent.exists()


def test_each_start_has_a_private_folder_of_its_own() -> None:
    show = "import os; print(os.getcwd())"
    assert printed(show) != printed(show)


def test_with_a_directory_of_its_own_a_bot_still_has_a_private_home(tmp_path: Path) -> None:
    command = (sys.executable, "-I", "-S", "-c", "import os; print(os.getcwd(), os.environ['HOME'])")
    report = report_of(BotSpec("ernie", command, directory=str(tmp_path)))
    folder, home = report.last_lines[-1].split()
    assert folder == str(tmp_path)
    assert home != folder
    assert not Path(home).exists()


def test_no_descriptor_of_the_runner_is_open() -> None:
    with open(__file__) as file:
        os.set_inheritable(file.fileno(), True)
        # One more is the one by which the folder is listed.
        count = int(printed("import os; print(len(os.listdir('/proc/self/fd')))"))
    assert count == 4


def test_a_bot_leads_a_session_and_a_group_of_its_own() -> None:
    session, group, pid = map(
        int, printed("import os; print(os.getsid(0), os.getpgid(0), os.getpid())").split()
    )
    assert session == group == pid
    assert session != os.getsid(0)


def test_limits_hold_from_the_start() -> None:
    show = "import resource as r; print(*(r.getrlimit(n) for n in (r.RLIMIT_CORE, r.RLIMIT_NOFILE)))"
    assert printed(show) == f"(0, 0) ({DESCRIPTORS}, {DESCRIPTORS})"


def test_a_bot_cannot_use_more_memory_than_it_has() -> None:
    use = """
try:
    bytearray(600_000_000)
except MemoryError:
    print("refused")
"""
    assert printed(use, Confinement(memory_mb=256)) == "refused"
    assert report_of(python(use)).last_lines == ()


# -- what a bot that stays leaves ------------------------------------------------------------------------


def left_after(source: str, seconds: float = SECONDS) -> list[str]:
    """List what remains in the bot's folder: the bot ran this program and still runs when it is forgotten."""

    async def main() -> list[str]:
        stay = f"import os\n{source}\nprint('done', flush=True)\nwhile True: input()"
        async with started(python(stay, transport="stdio"), grace=NO_GRACE) as bot:
            await line_from(bot.transport)
            await bot.forget(seconds)
            return os.listdir(bot.directory)

    return run(main)


def test_all_that_a_bot_has_left_is_removed_while_it_stays() -> None:
    dig = "for _ in range(1500):\n    os.mkdir('d')\n    os.chdir('d')"
    lock = "os.makedirs('a/b/c')\nos.chmod('a/b', 0)\nos.chmod('a', 0o500)\nopen('f', 'w').close()"
    assert left_after(f"{lock}\n{dig}") == []
    assert left_after(f"{lock}\nos.chmod('.', 0o500)") == []


def test_a_folder_that_became_a_link_is_not_what_is_emptied(tmp_path: Path) -> None:
    kept = tmp_path / "kept"
    kept.touch()
    assert left_after(f"home = os.getcwd()\nos.rmdir(home)\nos.symlink({str(tmp_path)!r}, home)") == ["kept"]
    assert kept.exists()


# Does what a bot can do at the same time, at the worst moments: just before the runner does something.
SWAP = """
import contextlib, os, sys
from stellwerk_processes.bench.private_folder import empty

home, elsewhere = sys.argv[1:]
is_idle, moments_left = True, 0

def locked_folder():
    os.makedirs("x/y/z")
    os.chmod("x/y", 0o400)

def swap(event, _):
    global is_idle, moments_left
    if is_idle or not (event == "open" or event.startswith("os.")):
        return
    is_idle = True
    moments_left -= 1
    if -4 < moments_left <= 0:
        with contextlib.suppress(OSError):
            os.makedirs("x", exist_ok=True)
            if os.path.islink("x/y"):
                os.unlink("x/y")
                locked_folder()
            else:
                if os.path.exists("x/y"):
                    os.rename("x/y", f"x/{-moments_left}")
                os.symlink(elsewhere, "x/y")
    is_idle = False

os.chdir(home)
sys.addaudithook(swap)
for moment in range(1, 60):
    locked_folder()
    moments_left, is_idle = moment, False
    empty(home, 5)
    is_idle = True
    assert os.stat(elsewhere).st_mode & 0o777 == 0o500, moment
    assert os.listdir(elsewhere) == ["kept"], moment
    empty(home, 5)
    assert os.listdir() == [], moment
print(moments_left)
"""


def test_a_folder_that_a_bot_swaps_for_a_link_meanwhile_changes_nothing_elsewhere(tmp_path: Path) -> None:
    elsewhere, home = tmp_path / "elsewhere", tmp_path / "home"
    home.mkdir()
    elsewhere.mkdir()
    (elsewhere / "kept").touch()
    elsewhere.chmod(0o500)
    command = [sys.executable, "-c", SWAP, str(home), str(elsewhere)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.stderr == ""
    assert int(done.stdout) > 0  # all moments that there are have been tried


# Whatever the runner removes is there anew, before it can have gone on.
FILL = """
import itertools, os, sys
from stellwerk_processes.bench.private_folder import empty

numbers = itertools.count()

def fill(event, _):
    if event == "os.remove":
        os.mkdir(str(next(numbers)))

os.chdir(sys.argv[1])
os.mkdir("x")
sys.addaudithook(fill)
empty(sys.argv[1], 0.1)
"""


def test_a_bot_that_fills_its_folder_for_ever_does_not_keep_the_runner_waiting(tmp_path: Path) -> None:
    subprocess.run([sys.executable, "-c", FILL, str(tmp_path)], check=True, timeout=SECONDS)


# -- what a bot does ---------------------------------------------------------------------------------


def test_over_stdio_the_pipes_are_the_transport() -> None:
    echo = "import sys; sys.stderr.write('log\\n'); sys.stdout.write(input().upper() + '\\n')"

    async def main() -> tuple[bytes, BotReport]:
        async with started(python(echo, transport="stdio")) as bot:
            assert bot.transport is not None
            async with bot.transport:
                await bot.transport.send_all(b"hello\n")
                answer = await line_from(bot.transport)
                return answer, await bot.ended()

    answer, report = run(main)
    assert answer == b"HELLO\n"
    assert (report.status, report.last_lines) == (0, ("log",))


def test_what_a_bot_said_over_stdio_before_it_ended_can_still_be_read() -> None:
    async def main() -> bytes:
        async with started(python("print('last words', flush=True)", transport="stdio")) as bot:
            await bot.ended()
            assert bot.transport is not None
            async with bot.transport:
                return await line_from(bot.transport)

    assert run(main) == b"last words\n"


def test_over_tcp_a_bot_has_no_input_and_its_output_is_kept_like_its_errors() -> None:
    source = "import sys; print(len(sys.stdin.read()), flush=True); print('err', file=sys.stderr)"
    report = report_of(python(source))
    assert report.last_lines == ("0", "err")


def test_an_exit_status_is_reported_with_the_last_lines() -> None:
    report = report_of(python("raise ValueError('lost my way')"))
    assert (report.status, report.signal, report.stopped) == (1, None, False)
    assert report.cause == "exit status 1"
    assert report.last_lines[-1] == "ValueError: lost my way"


def test_a_signal_is_reported_by_its_name() -> None:
    report = report_of(python("import os, signal; os.kill(os.getpid(), signal.SIGSEGV)"))
    assert (report.status, report.signal, report.cause) == (None, "SIGSEGV", "SIGSEGV")


def test_the_time_and_the_memory_of_a_bot_are_reported() -> None:
    most = 1_500_000_000  # more than a process that runs many tests
    work = f"import time\nwhile time.process_time() < 0.2: pass\nbytearray({most})"
    report = report_of(python(work))
    assert report.cpu_ms >= 200
    assert report.max_rss_kb is not None
    assert report.max_rss_kb >= 1_460_000


def test_memory_that_may_be_the_runners_is_not_reported_as_the_bots() -> None:
    held = bytearray(100_000_000)  # the kernel counts it as that of a process that was forked off us
    report = report_of(BotSpec("true", ("true",)))
    assert len(held) == 100_000_000
    assert report.max_rss_kb is None


@pytest.mark.parametrize("stream", ["stderr", "stdout"])
def test_a_flood_blocks_nobody(stream: str) -> None:
    flood = f"""
import sys
for _ in range(3000):
    sys.{stream}.write("x" * 999 + "\\n")
print("end", file=sys.{stream})
"""
    report = report_of(python(flood))
    assert (report.status, report.last_lines[-1]) == (0, "end")


def test_a_flood_is_forgotten_but_for_its_end() -> None:
    bot = LocalBot(BotSpec("ernie", ("x",)), pid=0, supervisor=0)
    for number in range(10_000):
        bot.hear(b"%099d\n" % number)
    lines = bot.last_lines(10**6)
    assert lines[-1] == f"{9_999:099d}"
    assert len(lines) * 100 <= 2 * PRINTED_BYTES


def test_last_lines_are_few_and_short_and_without_control_characters() -> None:
    source = r"""
import os
for number in range(50):
    os.write(2, b"line %d\n" % number)
os.write(2, b"\x1b[31mred\x1b[0m \x1b]0;title\x07 tab\there \xff \xe2\x80\xae back\r\n\n")
os.write(2, b"x" * 10000 + b"\n")
"""
    lines = report_of(python(source)).last_lines
    assert len(lines) == LAST_LINES
    assert lines[-3] == "line 49"
    assert lines[-2] == "red ]0;title tab    here \N{REPLACEMENT CHARACTER}  back"
    assert lines[-1] == "x" * LONGEST_LINE


# -- how a bot ends ----------------------------------------------------------------------------------

STUBBORN = """
import os, signal, sys
signal.signal(signal.SIGTERM, signal.SIG_IGN)
print(os.getpid(), flush=True)
while True:
    signal.pause()
"""


def test_a_bot_that_heeds_sigterm_is_ended_by_it() -> None:
    async def main() -> BotReport:
        spec = python("import signal; print('up', flush=True); signal.pause()", transport="stdio")
        async with started(spec, grace=NO_GRACE) as bot:
            await line_from(bot.transport)
            bot.stop()
            return await bot.ended()

    report = run(main)
    assert (report.signal, report.stopped) == ("SIGTERM", True)


def test_a_bot_that_heeds_nothing_is_killed() -> None:
    async def main() -> BotReport:
        async with started(python(STUBBORN, transport="stdio"), grace=NO_GRACE) as bot:
            await line_from(bot.transport)
            bot.stop()
            return await bot.ended()

    assert run(main).signal == "SIGKILL"


def test_a_bot_that_is_told_to_stop_may_end_by_itself() -> None:
    async def main() -> BotReport:
        async with started(python("input()", transport="stdio"), grace=SECONDS) as bot:
            bot.stop()
            assert bot.transport is not None
            await bot.transport.send_all(b"\n")
            return await bot.ended()

    report = run(main)
    assert (report.status, report.stopped) == (0, True)


FAMILY = """
import os, signal, sys
child = os.fork()
if child == 0:
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    print(os.getpid(), flush=True)
    while True:
        signal.pause()
%s
"""


@pytest.mark.parametrize("parent", ["signal.pause()", "sys.stdin.read()"], ids=["stopped", "ended"])
def test_a_child_that_holds_on_is_killed_with_the_whole_group(parent: str) -> None:
    async def main() -> int:
        async with started(python(FAMILY % parent, transport="stdio"), grace=NO_GRACE) as bot:
            child = int(await line_from(bot.transport))
            assert not has_ended(child, seconds=0)
            if parent == "signal.pause()":
                bot.stop()
            else:
                assert bot.transport is not None
                await bot.transport.aclose()
            await bot.ended()
            return child

    assert has_ended(run(main))


def test_a_child_in_a_session_of_its_own_is_killed_with_the_others() -> None:
    leave = """
import os, signal, sys
if os.fork() == 0:
    os.setsid()
    print(os.getpid(), flush=True)
    signal.pause()
signal.pause()
"""

    async def main() -> int:
        async with started(python(leave, transport="stdio"), grace=NO_GRACE) as bot:
            child = int(await line_from(bot.transport))
            bot.stop()
            await bot.ended()
            return child

    assert has_ended(run(main))


def test_a_cancelled_runner_ends_its_bots() -> None:
    async def main() -> tuple[int, BotReport | None]:
        async with trio.open_nursery() as nursery:
            spec = python(STUBBORN, transport="stdio")
            bot = await start_bot(nursery, spec, INVITATION, grace=NO_GRACE)
            pid = int(await line_from(bot.transport))
            nursery.cancel_scope.cancel()
        return pid, bot.report

    pid, report = run(main)
    assert has_ended(pid)
    assert report is not None
    assert (report.signal, report.stopped) == ("SIGKILL", True)


def test_nothing_of_a_bot_stays_open_in_the_runner() -> None:
    async def main() -> list[str]:
        async with started(python("print('x')", transport="stdio")) as bot:
            assert bot.transport is not None
            async with bot.transport:
                await bot.ended()
        return os.listdir("/proc/self/fd")

    run(main)  # opens what stays open, if anything does
    assert len(run(main)) == len(run(main))


# -- what cannot be started --------------------------------------------------------------------------


def refusal(spec: BotSpec, confinement: Confinement = UNCONFINED) -> str:
    with pytest.raises(BotStartError) as raised:
        command_line(spec, confinement, "/private")
    return str(raised.value)


def test_a_program_that_is_not_there_is_named() -> None:
    assert refusal(BotSpec("x", ("no-such-program",))) == 'there is no program "no-such-program"'
    assert refusal(BotSpec("x", ("./no/such",))).startswith("there is no program ")
    assert "no-wrap" in refusal(BotSpec("x", ("true",)), Confinement(wrap=("no-wrap",)))


def test_a_folder_that_is_not_there_is_named(tmp_path: Path) -> None:
    assert refusal(BotSpec("x", ("true",), directory=str(tmp_path / "none"))).startswith(
        "there is no folder "
    )


def test_a_program_in_the_bots_directory_is_suggested_with_its_path(tmp_path: Path) -> None:
    (tmp_path / "ernie").write_text("#!/bin/sh\n")
    (tmp_path / "ernie").chmod(0o755)
    assert refusal(BotSpec("x", ("ernie",), directory=str(tmp_path))).endswith('did you mean "./ernie"?')
    spec = BotSpec("x", ("./ernie", "a"), directory=str(tmp_path))
    assert command_line(spec, UNCONFINED, "/private") == ("./ernie", "a")


def test_files_count_from_where_the_runner_is(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """For the bot's working directory is a private one."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "ernie.py").write_text("print('found')")
    spec = BotSpec("x", (sys.executable, "ernie.py", "-v", "x.py"))
    argv = command_line(spec, UNCONFINED, "/private")
    assert argv == (sys.executable, str(tmp_path / "ernie.py"), "-v", "x.py")
    assert report_of(spec).last_lines == ("found",)


def test_a_spec_at_fault_leaves_nothing_behind(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))

    async def main() -> None:
        async with started(BotSpec("x", ("no-such-program",))):
            pass

    with pytest.RaisesGroup(BotStartError):
        run(main)
    assert list(tmp_path.iterdir()) == []


def test_neither_token_nor_seed_is_shown() -> None:
    assert "t0ken" not in repr(INVITATION)
    assert "5eed" not in repr(INVITATION)


# -- sandboxes ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("wrap", "isolation"),
    [
        ("", "none"),
        ("nice -n 5", "none"),
        ("sudo -u nobody", "user"),
        ("/usr/bin/setpriv --reuid 65534", "user"),
        ("bwrap --unshare-all", "namespace"),
        ("/usr/bin/docker run -i image", "namespace"),
    ],
)
def test_the_isolation_is_named_by_the_program_that_wraps(wrap: str, isolation: str) -> None:
    assert Confinement(wrap=tuple(shlex.split(wrap))).isolation == isolation


def test_a_wrap_goes_before_the_command_and_can_name_the_private_folder() -> None:
    confinement = Confinement(wrap=("env", "HERE={directory}/x"))
    argv = command_line(BotSpec("x", ("true",)), confinement, "/private")
    assert argv == ("env", "HERE=/private/x", "true")


@needs("bwrap", "sandboxes")
def test_in_bubblewrap_a_bot_has_no_network_and_can_write_nothing_but_its_folder() -> None:
    source = """
import os, socket, sys
assert input() == "hello"
open(os.path.join(os.environ["HOME"], "own"), "w").close()
for attempt in (
    lambda: open("/etc/stellwerk", "w"),
    lambda: socket.create_connection(("127.0.0.1", 1)),
    lambda: socket.create_connection(("192.0.2.1", 1)),
):
    try:
        attempt()
    except OSError as error:
        print(type(error).__name__, error.errno)
print(os.getcwd() == os.environ["HOME"], sorted(name for _, name in socket.if_nameindex()))
"""

    async def main() -> list[bytes]:
        spec = python(source, transport="stdio")
        async with started(spec, Confinement(wrap=bwrap())) as bot:
            assert bot.transport is not None
            async with bot.transport:
                await bot.transport.send_all(b"hello\n")
                lines = [await line_from(bot.transport) for _ in range(4)]
                assert (await bot.ended()).status == 0
                return lines

    readonly, own_host, elsewhere, folder = run(main)
    assert readonly == b"OSError 30\n"
    assert own_host == b"ConnectionRefusedError 111\n"  # its own, where nobody listens
    assert elsewhere == b"OSError 101\n"
    assert folder == b"True ['lo']\n"


@needs("bwrap", "sandboxes")
def test_a_bot_that_hangs_in_bubblewrap_is_killed() -> None:
    async def main() -> tuple[BotReport, int]:
        spec = python(STUBBORN, transport="stdio")
        async with started(spec, Confinement(wrap=bwrap()), grace=NO_GRACE) as bot:
            await line_from(bot.transport)
            children = await trio.Path(f"/proc/{bot.pid}/task/{bot.pid}/children").read_text()
            bot.stop()
            return await bot.ended(), int(children.split()[0])

    report, child = run(main)
    assert report.stopped
    assert has_ended(child)


@needs("another user")
def test_another_user_can_use_the_private_folder() -> None:
    source = "import os; open('own', 'w').close(); print(os.getuid(), os.listdir())"
    confinement = Confinement(wrap=SETPRIV)
    report = report_of(BotSpec("x", ("/usr/bin/env", "python3", "-c", source)), confinement)
    assert report.last_lines == ("65534 ['own']",)
