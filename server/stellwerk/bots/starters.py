"""The starters: bots that play at once, one a language, to be copied and made one's own.

The law: a copy is whole by itself. It has nothing that a build left behind, and no link out of its folder.

The starters are in `bots/`, and in the wheel beside this module.
"""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final, assert_never

from stellwerk.shared.terminal import own_name

FOLDER: Final = "{folder}"  # in `run`: where the copy is

SECONDS_TO_ANSWER: Final = 10  # for a tool that is asked for its version
_LEFT_BEHIND: Final = shutil.ignore_patterns(
    "node_modules",
    "target",
    "build",
    "out",
    "__pycache__",
    "*.lock",
    "*.o",
    "*.class",
    "*.pyc",
    "stellwerk-bot",
)
_IN_THE_WHEEL: Final = Path(__file__).parents[1] / "starter_files"
_IN_THE_REPOSITORY: Final = Path(__file__).parents[3] / "bots"

_OUTWARD_LINK: Final = re.compile(r"\[([^\]]*)\]\(\.\./[^)]*\)")
_EXAMPLE_NAME: Final = "name=mine"  # in the READMEs
_FOOTNOTE: Final = """
This folder is a copy of Stellwerk's starter for {title}. `stellwerk protocol` prints where the pages are that
are named here without a link, such as `protocol/README.md`, and the JSON Schemas of all messages.
"""


@dataclass(frozen=True, slots=True)
class Tool:
    """A program that must be installed; `version` are the arguments that make it print its version, if an old
    one will not do."""

    program: str
    version: tuple[str, ...] = ()
    at_least: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class Library:
    """One that the build does not fetch: its compiler finds its header, or it is not there."""

    name: str
    compiler: str
    language: str  # as the compiler calls it
    header: str


@dataclass(frozen=True, slots=True)
class Starter:
    """`build` and `unit_test` are run in the folder of the copy, `run` anywhere. `bots` are words behind
    `run`, the best one last."""

    language: str  # on the command line, and its folder in bots/
    title: str
    needs: str
    tools: tuple[Tool, ...]
    run: tuple[str, ...]
    unit_test: tuple[str, ...]
    build: tuple[str, ...] = ()
    bots: tuple[str, ...] = ("random", "greedy")
    libraries: tuple[Library, ...] = ()
    tls: bool = False
    resumes: bool = True

    def program(self, folder: str) -> tuple[str, ...]:
        return tuple(word.replace(FOLDER, folder) for word in self.run)

    def command(self, folder: str) -> tuple[str, ...]:
        """Return the command that starts its best bot."""
        return (*self.program(folder), *self.bots[-1:])


STARTERS: Final = (
    Starter(
        language="python",
        title="Python",
        needs="Python 3.11, stellwerk",
        tools=(),  # what runs this module
        run=(sys.executable, f"{FOLDER}/bot.py"),
        unit_test=(sys.executable, "-m", "unittest"),
        bots=(),
        tls=True,
    ),
    Starter(
        language="javascript",
        title="JavaScript",
        needs="Node.js 18.3",
        tools=(Tool("node", ("--version",), (18, 3)),),
        run=("node", f"{FOLDER}/bot.js"),
        unit_test=("node", "--test"),
        tls=True,
    ),
    Starter(
        language="go",
        title="Go",
        needs="Go 1.24",
        tools=(Tool("go", ("version",), (1, 24)),),
        run=(f"{FOLDER}/stellwerk-bot",),
        build=("go", "build", "-o", "stellwerk-bot", "."),
        unit_test=("go", "test", "./..."),
        tls=True,
    ),
    Starter(
        language="rust",
        title="Rust",
        needs="Rust 1.86; serde and serde_json, which cargo fetches",
        tools=(Tool("cargo", ("--version",), (1, 86)),),
        run=(f"{FOLDER}/target/release/stellwerk-bot",),
        build=("cargo", "build", "--release", "--quiet"),
        unit_test=("cargo", "test", "--release", "--quiet"),
    ),
    Starter(
        language="java",
        title="Java",
        needs="a JDK 17, make",
        tools=(Tool("javac", ("-version",), (17,)), Tool("jar"), Tool("java"), Tool("make")),
        run=("java", "-jar", f"{FOLDER}/build/stellwerk-bot.jar"),
        build=("make",),
        unit_test=("make", "test"),
        tls=True,
    ),
    Starter(
        language="cpp",
        title="C++",
        needs="C++17, make; nlohmann-json",
        tools=(Tool("c++"), Tool("make")),
        libraries=(Library("nlohmann-json", "c++", "c++", "nlohmann/json.hpp"),),
        run=(f"{FOLDER}/stellwerk-bot",),
        build=("make", "CXX=c++"),
        unit_test=("make", "CXX=c++", "test"),
    ),
    Starter(
        language="c",
        title="C",
        needs="C11, make; cJSON",
        tools=(Tool("cc"), Tool("make")),
        libraries=(
            Library("C library", "cc", "c", "stdio.h"),
            Library("cJSON", "cc", "c", "cjson/cJSON.h"),
        ),
        run=(f"{FOLDER}/stellwerk-bot",),
        build=("make",),
        unit_test=("make", "test"),
    ),
    Starter(
        language="shell",
        title="bash",
        needs="bash 4.4",
        tools=(Tool("bash", ("--version",), (4, 4)),),
        run=("bash", f"{FOLDER}/bot.sh"),
        unit_test=("bash", "test/codec_test.sh"),
        bots=("random",),
        resumes=False,
    ),
)

BY_LANGUAGE: Final = {starter.language: starter for starter in STARTERS}

CALLED_OTHERWISE: Final = {
    "bash": "shell",
    "c++": "cpp",
    "cxx": "cpp",
    "golang": "go",
    "js": "javascript",
    "node": "javascript",
    "nodejs": "javascript",
    "py": "python",
    "rs": "rust",
    "sh": "shell",
    "ts": "javascript",
    "typescript": "javascript",
}


# -- what is on this machine -------------------------------------------------------------------------


def missing(starter: Starter) -> tuple[str, ...]:
    """List what it needs and this machine lacks: `("go 1.24 (1.19 is there)",)`."""
    needed: tuple[Tool | Library, ...] = (*starter.tools, *starter.libraries)
    return tuple(lack for each in needed if (lack := lack_of(each)) is not None)


def lack_of(needed: Tool | Library) -> str | None:
    """Return what is missing, in words. None if nothing is."""
    match needed:
        case Tool():
            return _lack_of_tool(needed)
        case Library():
            return None if _has_library(needed) else needed.name
        case _:
            assert_never(needed)


def _lack_of_tool(tool: Tool) -> str | None:
    wanted = " ".join([tool.program, *filter(None, [_dotted(tool.at_least)])])
    path = shutil.which(tool.program)
    if path is None:
        return wanted
    if not tool.version:
        return None
    number = re.search(rb"\d+(?:\.\d+)*", _run_tool(path, tool.version) or b"")
    if number is None:
        return f"{wanted} (its version is unknown)"
    installed = tuple(map(int, number[0].split(b".")[:3]))
    return None if installed >= tool.at_least else f"{wanted} ({_dotted(installed)} is there)"


def _run_tool(program: str, words: Sequence[str]) -> bytes | None:
    """Return what a command prints. None if it fails or takes long."""
    try:
        done = subprocess.run(
            [program, *words],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            timeout=SECONDS_TO_ANSWER,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    return done.stdout if done.returncode == 0 else None


def _dotted(version: tuple[int, ...]) -> str:
    return ".".join(map(str, version))


def _has_library(library: Library) -> bool:
    if shutil.which(library.compiler) is None:
        return False
    words = ["-E", "-x", library.language, "-include", library.header, os.devnull]
    return _run_tool(library.compiler, words) is not None


# -- a copy ------------------------------------------------------------------------------------------


def copy_starter(starter: Starter, folder: Path, name: str) -> None:
    """Copy a starter into a folder that is empty or new. OSError if that cannot be done."""
    shutil.copytree(source_of(starter), folder, ignore=_LEFT_BEHIND, dirs_exist_ok=True)
    readme = folder / "README.md"
    readme.write_text("".join(_of_its_own(readme.read_text("utf-8"), starter, name)), "utf-8")


def source_of(starter: Starter) -> Path:
    """Return the folder that is copied."""
    installed = _IN_THE_WHEEL / starter.language
    if installed.is_dir():
        return installed
    folder = _IN_THE_REPOSITORY / starter.language
    return folder / "starter" if starter.language == "python" else folder


def _of_its_own(readme: str, starter: Starter, name: str) -> Iterator[str]:
    """Return a page without what leads out of the folder: commands are left out, links become text."""
    is_command = False
    for line in readme.splitlines(keepends=True):
        if line.startswith("```"):
            is_command = not is_command
        if not (is_command and "../" in line):
            yield _OUTWARD_LINK.sub(r"\1", line).replace(_EXAMPLE_NAME, f"name={name}")
    yield _FOOTNOTE.format(title=starter.title)


# -- what to do with it ------------------------------------------------------------------------------


def next_commands(starter: Starter, folder: str, name: str) -> list[str]:
    """Return what to type in a shell next, from where the folder was named."""
    command = shlex.join(starter.command("."))
    spec = f'name={name} cmd="{command}"'
    build = [shlex.join(starter.build)] if starter.build else []
    stellwerk = shlex.quote(own_name())
    doctor = f"{stellwerk} kit doctor" + (" --require-resume" if starter.resumes else "")
    return [
        f"cd {shlex.quote(folder)}",
        *build,
        shlex.join(starter.unit_test),
        f"{stellwerk} play usa --bot {shlex.quote(spec)} --bot random",
        f"{doctor} -- {command}",
    ]


def is_empty(folder: Path) -> bool:
    """Return whether a copy can be put there. OSError if it is not a folder."""
    return not folder.exists() or not os.listdir(folder)
