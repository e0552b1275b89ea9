"""`stellwerk bots`: in which languages there is a bot to start from, and a copy of one.

Exit codes: 0 done, 2 there is no such language, or the folder cannot be used, 4 the machine failed.
"""

from __future__ import annotations

import argparse
import json
import shutil
from pathlib import Path
from typing import Final

import msgspec
from msgspec import Struct

from stellwerk.bots.starters import (
    BY_LANGUAGE,
    CALLED_OTHERWISE,
    STARTERS,
    Starter,
    copy_starter,
    is_empty,
    missing,
    next_commands,
)
from stellwerk.shared.errors import DONE, usage_error, writing
from stellwerk.shared.parser import argument
from stellwerk.shared.terminal import say, say_record
from stellwerk_base.texts import aligned, quoted, shown, unknown
from stellwerk_processes.bot_spec import BotSpecError, player_name
from stellwerk_protocol.pages import protocol_folder

LIST: Final = """\
List the languages in which there is a bot to start from, what each needs, and
whether that is on this machine.
"""

NEW: Final = """\
Copy a bot into a new folder: it builds and plays at once, every game, and is
yours to change. What to run next is printed.
"""

EXAMPLES: Final = """\
examples:
  stellwerk bots list
  stellwerk bots new python my-bot
  stellwerk bots new rust ~/bots/ferris
"""

ANY_NAME: Final = "my-bot"  # if no bot can have the folder's


class Language(Struct, frozen=True):
    """An entry of `list --json`. `bots` has the names of the starter's bots, and is empty if it has one
    bot."""

    language: str
    title: str
    needs: str
    missing: tuple[str, ...]
    bots: tuple[str, ...]
    transports: tuple[str, ...]
    resumes: bool


class Copy(Struct, frozen=True):
    """The output of `new --json`."""

    language: str
    folder: str
    name: str
    missing: tuple[str, ...]
    next: tuple[str, ...]
    protocol: str


def add_arguments(parser: argparse.ArgumentParser) -> None:
    commands = parser.add_subparsers(dest="bots_command", metavar="COMMAND", required=True)
    listing = commands.add_parser("list", help="the languages", description=LIST)
    argument(listing, "--json", "as one JSON object")
    new = commands.add_parser(
        "new", help="copy a bot, as the beginning of your own", description=NEW, epilog=EXAMPLES
    )
    argument(new, "LANGUAGE", ", ".join(BY_LANGUAGE))
    argument(new, "DIR", "a new or empty folder; its name is that of the bot", dest="folder")
    argument(new, "--json", "print the result and the next steps as one JSON object")


def run(arguments: argparse.Namespace) -> int:
    """Carry out what `add_arguments` has parsed, and return the exit code."""
    if arguments.bots_command == "list":
        return _list_languages(as_json=arguments.json)
    starter = _choose_starter(arguments.language)
    folder = Path(arguments.folder).expanduser()
    try:
        name = player_name(folder.absolute().name)
    except BotSpecError:
        name = ANY_NAME
    _copy_starter(starter, folder, name)
    copy = Copy(
        starter.language,
        str(folder),
        name,
        missing(starter),
        tuple(next_commands(starter, str(folder), name)),
        str(protocol_folder() / "README.md"),
    )
    _print_copy(copy, starter, as_json=arguments.json)
    return DONE


# -- list --------------------------------------------------------------------------------------------


def _list_languages(*, as_json: bool) -> int:
    languages = [
        Language(
            language=starter.language,
            title=starter.title,
            needs=starter.needs,
            missing=missing(starter),
            bots=starter.bots,
            transports=("tcp", "tls", "stdio") if starter.tls else ("tcp", "stdio"),
            resumes=starter.resumes,
        )
        for starter in STARTERS
    ]
    if as_json:
        say(json.dumps({"languages": msgspec.to_builtins(languages)}))
        return DONE
    rows = [("language", "", "needs", "plays over", "resumes", "on this machine")]
    rows += [
        (
            each.language,
            each.title,
            each.needs,
            " ".join(each.transports),
            "yes" if each.resumes else "no",
            f"missing: {', '.join(each.missing)}" if each.missing else "yes",
        )
        for each in languages
    ]
    for line in aligned(rows, left=range(len(rows[0]))):
        say(line)
    return DONE


# -- new ---------------------------------------------------------------------------------------------


def _choose_starter(language: str) -> Starter:
    if language in BY_LANGUAGE:
        return BY_LANGUAGE[language]
    known = CALLED_OTHERWISE.get(language.lower())
    if known is not None:
        raise usage_error(f"there is no language {quoted(language)}; did you mean {quoted(known)}?")
    raise usage_error(unknown("language", language, BY_LANGUAGE))


def _copy_starter(starter: Starter, folder: Path, name: str) -> None:
    with writing(folder):
        if not is_empty(folder):
            raise usage_error(
                f"{folder}: is not empty; name a new folder, and nothing of yours is overwritten"
            )
        try:
            copy_starter(starter, folder, name)
        except shutil.Error as error:  # several files that could not be copied
            source, target, why = error.args[0][0]
            raise usage_error(f"{target}: cannot be copied from {source}: {why}") from None


def _print_copy(copy: Copy, starter: Starter, *, as_json: bool) -> None:
    if as_json:
        say_record(copy)
        return
    say(f"{shown(copy.folder, 200)}: a bot in {starter.title}, called {copy.name}; start with README.md")
    if copy.missing:
        say(f"this machine lacks what it needs: {', '.join(copy.missing)}")
    say("next:")
    for command in copy.next:
        say(f"  {command}")
    say(f"the protocol: {copy.protocol}")
