"""`stellwerk protocol`: where the specification is on this machine, and the schema of a message.

Exit codes: 0, and 2 if nothing has the name that was given.
"""

from __future__ import annotations

import argparse
from typing import Final

from stellwerk.shared.errors import DONE, usage_error
from stellwerk.shared.parser import argument
from stellwerk.shared.terminal import say
from stellwerk_base.texts import quoted, suggestion
from stellwerk_protocol.pages import protocol_folder
from stellwerk_protocol.schemas import bundle, definition_names, single_schema, text

DESCRIPTION: Final = """\
List the pages of the protocol that this version speaks, the rules of the games, the
JSON Schema, examples and test vectors. The first line is their folder on this machine.
"""

EXAMPLES: Final = """\
examples:
  stellwerk protocol
  less "$(stellwerk protocol | head -n 1)/README.md"
  stellwerk protocol schema ask > ask.schema.json
"""

SCHEMA: Final = """\
Print the JSON Schema of a message, or of a part of one, as a file that needs no other.
Without NAME, print the schema of the whole protocol, of boards and of replays.
"""

CONTENT: Final = {
    "README.md": "the specification: messages, decisions, clocks, errors",
    "games": "a page for each game: its decisions, moves, views and events",
    "rules": "the rules of the games, numbered",
    "BOARDS.md": "board files",
    "PARTS.md": "the parts of games, for games in no list",
    "games.json": "the shipped games with their parts",
    "ACTIONS.md": "moves as integers, for learning programs",
    "actions": "these integers, for each game",
    "REPLAYS.md": "replays, and how to verify them",
    "DICE.md": "how a seed deals",
    "GREEDY.md": "what the bot greedy does",
    "schema": "the JSON Schema of all that is on the wire",
    "asyncapi.yaml": "the same as an AsyncAPI document",
    "examples": "recorded sessions",
    "conformance": "requirements, test vectors, transcripts",
    "verifiers": "a second implementation that verifies replays",
}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.description, parser.epilog = DESCRIPTION, EXAMPLES
    commands = parser.add_subparsers(dest="protocol_command", metavar="COMMAND")
    schema = commands.add_parser("schema", help="print the JSON Schema of a message", description=SCHEMA)
    argument(
        schema, "[NAME]", "the type of a message (ask), or the name of a definition (View, Board, ReplayLine)"
    )


def run(arguments: argparse.Namespace) -> int:
    """Carry out what `add_arguments` has parsed, and return the exit code."""
    if arguments.protocol_command == "schema":
        say(_find_schema(arguments.name), end="")
        return DONE
    say(str(protocol_folder()))
    width = max(map(len, CONTENT))
    for name, what in CONTENT.items():
        say(f"  {name:{width}}  {what}")
    return DONE


def _find_schema(name: str | None) -> str:
    whole = bundle()
    if name is None:
        return text(whole)
    names = definition_names(whole)
    if name not in names:
        raise usage_error(f"there is no message or definition {quoted(name)}{suggestion(name, names)}")
    return text(single_schema(whole, names[name]))
