"""What tests need beyond Python and its packages, and the one place that looks whether it is there.

The law: `make test` ends well on every machine. A test names what it needs:

    pytestmark = needs("chromium")              # all tests of a module

    @needs("node")                              # one test, before its fixtures are made
    def test_...

    demand("npm", "go")                         # in a fixture or a helper that learns it late
    demand(*of_starter("rust"))                 # what builds and runs a starter of `bots/`

If something is missing, or too old, the test is skipped, and the end of pytest's output lists it with its
package in Debian (see `conftest.py`). With STELLWERK_ALL_TOOLS=1, as in `.ci/run`, the test fails instead.

To use another tool, add a line to TOOLS. `.ci/run` installs what `python -m tests.tools` prints. What nobody
can install, such as IPv6, is a line of CIRCUMSTANCES: tests that need it are skipped everywhere.
"""

from __future__ import annotations

import os
import secrets
import shutil
import socket
import subprocess
import sys
import sysconfig
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Final, NoReturn

import pytest

from stellwerk.bots.starters import BY_LANGUAGE, STARTERS, Library, Tool, lack_of
from stellwerk.shared.version import build
from stellwerk_processes.bench.cgroups import make_cgroup, remove_cgroup
from stellwerk_processes.bench.landlock import landlock_abi

VARIABLE: Final = "STELLWERK_ALL_TOOLS"
_BROWSERS: Final = ("chromium", "chromium-browser", "google-chrome")
BWRAP: Final = (
    "bwrap --ro-bind / / --dev /dev --proc /proc --bind {directory} {directory}"
    " --unshare-all --die-with-parent"
)
_BEGIN: Final = "missing: "  # the reason of a skipped test
_BETWEEN: Final = "; "
SETPRIV: Final = ("setpriv", "--reuid", "65534", "--regid", "65534", "--clear-groups")  # to nobody
FIRST_USER, USERS = 100_000, 900_000  # of whom nobody owns anything
SECONDS: Final = 60  # for any of the checks below

Look = Callable[[], str | None]
"""Return what is missing, in words for the summary: "go 1.24 (1.19.8 is there)". None if nothing is."""


@dataclass(frozen=True, slots=True)
class Need:
    """`package` is Debian's; none for what comes from elsewhere."""

    look: Look
    package: str | None = None


# -- for tests ---------------------------------------------------------------------------------------


def needs(*names: str) -> pytest.MarkDecorator:
    """Mark a test, or a module, that needs all of these."""
    unknown = [name for name in names if name not in NEEDS]
    assert not unknown, f"not in tests/tools.py: {unknown}"
    return pytest.mark.needs(*names)


def demand(*names: str) -> None:
    """Skip the running test, or fail it, if one of these is missing."""
    missing = [name for name in names if lack(name) is not None]
    if missing:
        go_without(*missing)


def go_without(*names: str) -> NoReturn:
    """Skip the running test, or fail it. For what shows only when it is used; `demand` looks for the rest."""
    reason = _BEGIN + _BETWEEN.join(map(_described, names))
    if os.environ.get(VARIABLE) == "1" and not CIRCUMSTANCES.keys() >= set(names):
        pytest.fail(reason, pytrace=False)
    pytest.skip(reason)


MISSING: Final = (pytest.skip.Exception, pytest.fail.Exception)
"""What `demand` and `go_without` raise."""


def missing_in(reason: str) -> list[str]:
    """Return what was missing, out of the reason of a skipped test."""
    _, begin, rest = reason.partition(_BEGIN)
    return rest.split(_BETWEEN) if begin else []


def _described(name: str) -> str:
    package = NEEDS[name].package
    return (lack(name) or name) + (f" (Debian: {package})" if package else "")


def of_starter(language: str) -> tuple[str, ...]:
    """Return what builds and runs the starter."""
    starter = BY_LANGUAGE[language]
    return (*(tool.program for tool in starter.tools), *(library.name for library in starter.libraries))


@cache
def lack(name: str) -> str | None:
    """Return what is missing of this need, in words. None if nothing is."""
    return NEEDS[name].look()


def path_of(name: str) -> str:
    """Return the path of a program that is there."""
    path = shutil.which(name)
    assert path is not None
    return path


def browser() -> str:
    """Return its path."""
    return next(filter(None, map(shutil.which, _BROWSERS)))


def as_ordinary_user(*words: str) -> list[str]:
    """Return the command that runs this Python, or another one with our packages, as an ordinary user: as
    root as one who runs nothing else, for limits that count by user count what other tests run, too."""
    command = open_python()
    assert command is not None, "needs an ordinary user's Python"
    if os.geteuid() != 0:
        return [*command, *words]
    user = str(FIRST_USER + secrets.randbelow(USERS))
    return ["setpriv", "--reuid", user, "--regid", user, "--clear-groups", *command, *words]


def bwrap() -> tuple[str, ...]:
    return tuple(BWRAP.replace("{directory}", tempfile.gettempdir()).split())


# -- how to look -------------------------------------------------------------------------------------


def program(*names: str) -> Look:
    """Look for any one of these programs."""
    return lambda: None if any(map(shutil.which, names)) else names[0]


def module(name: str) -> Look:
    return lambda: None if find_spec(name) else f"Python's {name}"


def works(title: str, *command: str) -> Look:
    """Run the command, and hope for an exit code of 0."""

    def look() -> str | None:
        try:
            done = subprocess.run(
                command, stdin=subprocess.DEVNULL, capture_output=True, timeout=SECONDS, check=False
            )
        except (OSError, subprocess.TimeoutExpired):
            return title
        return None if done.returncode == 0 else title

    return look


def exists(path: str) -> Look:
    return lambda: None if Path(path).exists() else path


def _python_headers() -> str | None:
    return exists(str(Path(sysconfig.get_path("include"), "Python.h")))()


def _package_index() -> str | None:
    with tempfile.TemporaryDirectory() as folder:
        options = ["--quiet", "--no-deps", "--retries", "0", "--timeout", "20", "--dest", folder]
        download = [sys.executable, "-m", "pip", "download", *options, "hatchling"]
        return works("package index", *download)()


def _ipv6() -> str | None:
    try:
        socket.create_server(("::1", 0), family=socket.AF_INET6).close()
    except OSError:
        return "IPv6"
    return None


def _address_beyond_loopback() -> str | None:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        try:
            probe.connect(("198.51.100.1", 9))  # nothing is sent
        except OSError:
            return "a network besides the loopback"
    return None


@cache
def open_python() -> tuple[str, ...] | None:
    """Return the beginning of a command that runs a Python with our packages which every user may run: ours,
    unless this is root, whose folders others may not enter."""
    ours = [path for path in sys.path if "site-packages" in path or not path.startswith(sys.base_prefix)]
    packages = os.pathsep.join(filter(None, (os.getcwd(), *ours)))
    for python in (sys.executable, "/usr/bin/python3"):
        user = SETPRIV if os.geteuid() == 0 else ()
        command = ("env", f"PYTHONPATH={packages}", "HOME=/nonexistent", python)
        if works("", *user, *command, "-c", "import trio, stellwerk_processes.bench.local_bot")() is None:
            return command
    return None


def _ordinary_users_python() -> str | None:
    return None if open_python() is not None else "a Python for an ordinary user"


def _closed_python() -> str | None:
    """Return what is missing for bots that stay root: others must not be able to run this Python."""
    everybody = open_python()
    is_open = everybody is not None and everybody[-1] == sys.executable
    return "a Python that is closed to other users" if is_open else None


def _namespaces() -> str | None:
    """Return what is missing for namespaces of an ordinary user, and as root for root's."""
    if shutil.which("bwrap") is None:
        return None
    missing = works("namespaces", *bwrap(), "true")()
    return missing or works("namespaces", *SETPRIV * (os.geteuid() == 0), *bwrap(), "true")()


def _control_groups() -> str | None:
    """Return what is missing to limit the memory of a group of processes."""
    try:
        remove_cgroup(make_cgroup(64, 16))
    except OSError:
        return "control groups"
    return None


def cgroup_root() -> Path | None:
    """Return where control groups of version 2 can be made here."""
    for line in Path("/proc/mounts").read_text().splitlines():
        _, place, kind, *_ = line.split()
        if kind == "cgroup2" and os.access(place, os.W_OK):
            return Path(place)
    return None


def _cgroups() -> str | None:
    return None if cgroup_root() is not None else "a cgroup2 folder that this user may write to"


def _sandboxes() -> str | None:
    """Return what is missing to make sandboxes, which containers often forbid.

    Without bwrap return None: bwrap is a need of its own, and is reported there.
    """
    if shutil.which("bwrap") is None:
        return None
    return works("sandboxes", *bwrap(), "true")()


# -- all there is ------------------------------------------------------------------------------------

_PACKAGES: Final[dict[str, str]] = {
    "bash": "bash",
    "c++": "g++",
    "C library": "libc6-dev",
    "cargo": "cargo",
    "cc": "gcc",
    "cJSON": "libcjson-dev",
    "go": "golang-go",
    "jar": "default-jdk-headless",
    "java": "default-jdk-headless",
    "javac": "default-jdk-headless",
    "make": "make",
    "nlohmann-json": "nlohmann-json3-dev",
    "node": "nodejs",
}


def _need(tool: Tool | Library, name: str) -> Need:
    return Need(lambda: lack_of(tool), _PACKAGES[name])


TOOLS: Final[dict[str, Need]] = {
    **{tool.program: _need(tool, tool.program) for starter in STARTERS for tool in starter.tools},
    **{library.name: _need(library, library.name) for starter in STARTERS for library in starter.libraries},
    "what cargo fetches": Need(lambda: None),  # whether it can fetch anything shows in the build
    "bwrap": Need(program("bwrap"), "bubblewrap"),
    "chromium": Need(program(*_BROWSERS), "chromium"),
    "ensurepip": Need(module("ensurepip"), "python3-venv"),
    "fish": Need(program("fish"), "fish"),
    "generators of types": Need(lambda: None),  # so does whether pip, npm or Go fetches them
    "mypy": Need(module("mypy")),
    "nginx": Need(program("nginx"), "nginx-light"),
    "npm": Need(program("npm"), "npm"),
    "nc": Need(program("nc"), "netcat-openbsd"),
    "package index": Need(_package_index),
    "Sphinx": Need(module("sphinx")),  # `make docs` installs it
    "systemd-analyze": Need(program("systemd-analyze"), "systemd"),
    "parallel": Need(program("parallel"), "parallel"),
    "pyright": Need(works("pyright", sys.executable, "-m", "pyright", "--version")),
    "Python headers": Need(_python_headers, "python3-dev"),
    "zsh": Need(program("zsh"), "zsh"),
}

CIRCUMSTANCES: Final[dict[str, Need]] = {
    "/dev/full": Need(exists("/dev/full")),
    "another Python": Need(lambda: None),  # the test that needs one tries those it finds
    "another user": Need(works("processes of another user", *SETPRIV, "/usr/bin/env", "python3", "-c", "")),
    "cgroups of version 2": Need(_cgroups),
    "children of a process": Need(exists(f"/proc/self/task/{os.getpid()}/children")),
    "Debian": Need(program("dpkg-query")),
    "git checkout": Need(works("a git checkout", "git", "rev-parse", "--verify", "HEAD")),
    "IPv6": Need(_ipv6),
    "Linux": Need(lambda: None if sys.platform == "linux" else "Linux"),
    "network": Need(_address_beyond_loopback),
    "closed Python": Need(_closed_python),
    "control groups": Need(_control_groups),
    "Landlock": Need(lambda: None if landlock_abi() >= 6 else "Landlock of Linux 6.12"),
    "namespaces": Need(_namespaces),
    "ordinary user's Python": Need(_ordinary_users_python),
    "plain Python": Need(lambda: "plain Python" if build() != "plain Python" else None),
    "root": Need(lambda: "root" if os.geteuid() else None),
    "ordinary user": Need(lambda: None if os.geteuid() else "a user other than root"),
    "sandboxes": Need(_sandboxes),
    "two processors": Need(lambda: None if len(os.sched_getaffinity(0)) > 1 else "two processors"),
}

NEEDS: Final = TOOLS | CIRCUMSTANCES


def main() -> None:
    """Print the packages that are missing, one on each line; and for people, what is missing of them."""
    missing = {name: need.package for name, need in TOOLS.items() if need.package and lack(name) is not None}
    for name in missing:
        print(f"missing: {_described(name)}", file=sys.stderr)
    for package in sorted(set(missing.values())):
        print(package)


if __name__ == "__main__":
    main()
