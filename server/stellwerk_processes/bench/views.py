"""The files that a bot may see: its folder, the runtimes that its language needs, and those that the
organizer binds.

Law: nothing is seen by accident. A folder that holds more than a bot, such as a home or the folder of the
tournament, is never seen because one of its files is needed: then only that file is.
"""

from __future__ import annotations

import glob
import os
import re
import shutil
import sys
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Final

SYSTEM: Final = ("/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32", "/nix/store", "/gnu/store")
SETTINGS: Final = (
    "/etc/alternatives",
    "/etc/ca-certificates",
    "/etc/crypto-policies",
    "/etc/fonts",
    "/etc/host.conf",
    "/etc/java*",
    "/etc/ld.so.cache",
    "/etc/ld.so.conf",
    "/etc/ld.so.conf.d",
    "/etc/ld-musl-*",
    "/etc/locale.conf",
    "/etc/localtime",
    "/etc/mime.types",
    "/etc/nsswitch.conf",
    "/etc/pki/ca-trust",
    "/etc/pki/tls",
    "/etc/protocols",
    "/etc/services",
    "/etc/ssl/cert.pem",
    "/etc/ssl/certs",
    "/etc/ssl/openssl.cnf",
    "/etc/timezone",
)
OF_THE_NETWORK: Final = ("/etc/hosts", "/etc/resolv.conf", "/run/systemd/resolve")
OF_USERS: Final = ("/etc/passwd", "/etc/group")
OF_THE_KERNEL: Final = ("/proc", "/sys", "/dev")  # each level has its own
MOST_LINKS: Final = 20
MOST_INTERPRETERS: Final = 4  # a script's interpreter can be a script

_PROGRAMS: Final = ("bin", "Scripts")
_LIBRARIES: Final = ("lib", "lib64", "libexec", "jre", "pyvenv.cfg")
_SHIMS: Final = re.compile(r"(.+)/shims/[^/]+")  # of pyenv, asdf, mise: scripts that look for the program


@dataclass(frozen=True, slots=True)
class VisibleFiles:
    """`runtimes` and `own` are what the bot can read: programs and libraries, and its own files."""

    runtimes: tuple[str, ...]
    own: tuple[str, ...]

    @property
    def paths(self) -> tuple[str, ...]:
        return (*self.runtimes, *self.own)


def view_of(
    argv: Sequence[str],
    path: str,
    *,
    folder: str | None,
    directory: str | None,
    built_in: bool,
    bind: Iterable[str] = (),
    hidden: Iterable[str] = (),
) -> VisibleFiles:
    """Return what a bot with this command line may see. Its program is looked for in `path`. `folder` is the
    bot's folder, if it is known; if not, it is `directory`, or the folders of the files in its command."""
    too_broad = {"/", *map(os.path.realpath, hidden)}
    home = os.path.realpath(os.path.expanduser("~"))
    too_broad |= {home, os.path.join(home, ".local"), os.path.dirname(home)}
    runtimes = [*_list_programs(argv[0], path, directory), *_our_python()]
    if built_in:
        runtimes += _our_packages()
    own = [each for each in (folder, directory) if each is not None]
    if not own:
        own = [os.path.dirname(word) for word in argv[1:] if os.path.isabs(word) and os.path.isfile(word)]
    if not own and os.path.isabs(argv[0]):  # not an interpreter, but a program with its own files beside it
        own = [each for each in (os.path.dirname(argv[0]),) if os.path.basename(each) not in _PROGRAMS]
    files = [word for word in argv if os.path.isabs(word) and os.path.isfile(word)]
    if not os.path.isabs(argv[0]) and "/" in argv[0]:
        files.append(os.path.normpath(os.path.join(directory or os.curdir, argv[0])))
    given = [*(each for each in (folder, directory) if each is not None), *bind]
    return VisibleFiles(
        tuple(_list_seen(runtimes, too_broad)),
        tuple(_list_seen([*own, *files], too_broad - set(map(os.path.realpath, given)), bind)),
    )


def system_paths(*, network: bool, users: bool) -> list[str]:
    """Return what all programs need of the system, as far as it is there."""
    patterns = (*SYSTEM, *SETTINGS, *OF_THE_NETWORK * network, *OF_USERS * users)
    return [found for pattern in patterns for found in sorted(glob.glob(pattern))]


def is_beneath(path: str, folders: Iterable[str]) -> bool:
    """Return whether a path is one of these folders or is in one of them."""
    return any(path == folder or path.startswith(folder.rstrip("/") + "/") for folder in folders)


def ancestors(path: str) -> Iterator[str]:
    """Yield the folders that a path is in, the nearest first, without the root."""
    while (path := os.path.dirname(path)) != "/":
        yield path


def _list_seen(paths: Iterable[str], too_broad: set[str], given: Iterable[str] = ()) -> Iterator[str]:
    """Yield each path once, with the path that it really has; without those that show too much."""
    seen: set[str] = set()
    for path in (*paths, *given):
        for each in (os.path.abspath(path), os.path.realpath(path)):
            if each in seen or not os.path.exists(each) or is_beneath(each, (*SYSTEM, *OF_THE_KERNEL)):
                continue
            seen.add(each)
            shows_too_much = os.path.isdir(each) and any(
                is_beneath(broad, (os.path.realpath(each),)) for broad in too_broad
            )
            if not shows_too_much:
                yield each


def _list_programs(program: str, path: str, directory: str | None, depth: int = 0) -> Iterator[str]:
    """Yield what a program needs: itself with its links, its prefix, and its interpreter with the same."""
    place = program if "/" in program else shutil.which(program, path=path)
    if place is None or depth == MOST_INTERPRETERS:
        return
    place = os.path.normpath(os.path.join(directory or os.curdir, place))
    for link in _follow_links(place):
        yield link
        yield from _list_prefix(link)
        if shims := _SHIMS.fullmatch(link):
            yield shims[1]
    interpreter = _read_interpreter(place)
    if interpreter:
        yield from _list_programs(interpreter, path, None, depth + 1)


def _follow_links(path: str) -> Iterator[str]:
    """Yield a path, and where it leads, link by link."""
    for _ in range(MOST_LINKS):
        yield path
        try:
            path = os.path.normpath(os.path.join(os.path.dirname(path), os.readlink(path)))
        except OSError:
            return


def _list_prefix(program: str) -> Iterator[str]:
    """Yield the folder that a program is installed in with its libraries, and what a virtual environment
    needs beyond itself."""
    folder, name = os.path.split(os.path.dirname(program))
    if name not in _PROGRAMS or not any(os.path.exists(os.path.join(folder, each)) for each in _LIBRARIES):
        return
    yield folder
    try:
        with open(os.path.join(folder, "pyvenv.cfg"), encoding="utf-8") as file:
            settings = [line.partition("=") for line in file]
    except (OSError, UnicodeDecodeError):
        return
    for key, _, value in settings:
        if key.strip() == "home":
            yield os.path.dirname(value.strip())
    yield from _linked_packages(folder)


def _linked_packages(prefix: str) -> Iterator[str]:
    """Yield the folders that the .pth files of an environment name: packages that are being worked on."""
    for file_name in glob.glob(os.path.join(glob.escape(prefix), "lib*/python*/site-packages/*.pth")):
        try:
            with open(file_name, encoding="utf-8") as file:
                lines = [line.strip() for line in file]
        except (OSError, UnicodeDecodeError):
            continue
        yield from (line for line in lines if os.path.isabs(line) and os.path.isdir(line))


def _read_interpreter(program: str) -> str:
    """Return the interpreter that the first line of a script names."""
    try:
        with open(program, "rb") as file:
            first = file.readline(256)
    except OSError:
        return ""
    if not first.startswith(b"#!"):
        return ""
    words = [word for word in first[2:].decode("utf-8", "replace").split() if not word.startswith("-")]
    if len(words) > 1 and os.path.basename(words[0]) == "env":
        return next((word for word in words[1:] if "=" not in word), "")
    return words[0] if words else ""


@cache
def _our_python() -> tuple[str, ...]:
    """Return what the supervisor needs, which runs in the same view."""
    here = os.path.dirname(os.path.abspath(__file__))
    return (*_list_programs(os.path.realpath(sys.executable), "", None), sys.base_prefix, here)


@cache
def _our_packages() -> tuple[str, ...]:
    """Return where the built-in bots and all that they import are."""
    packages = [each for each in sys.path if os.path.basename(each) in ("site-packages", "dist-packages")]
    named = map(os.path.abspath, filter(None, os.environ.get("PYTHONPATH", "").split(os.pathsep)))
    return (*_list_programs(sys.executable, "", None), sys.prefix, *packages, *named)
