"""`stellwerk protocol`: where the specification, the schemas and the vectors are on this machine.

Exit code: 0.
"""

from __future__ import annotations

import argparse
from typing import Final

from stellwerk.shared.errors import DONE
from stellwerk.shared.terminal import say
from stellwerk_protocol.pages import protocol_folder

DESCRIPTION: Final = """\
List the pages of the protocol that this version speaks, the rules of the games, the
JSON Schemas, examples and test vectors, with their places on this machine.
"""

EXAMPLES: Final = """\
examples:
  stellwerk protocol
  less "$(stellwerk protocol --path)/README.md"
"""

CONTENT: Final = {
    "README.md": "the specification: messages, decisions, clocks, errors",
    "games": "a page for each game: its decisions, moves, views and events",
    "rules": "the rules of the games, numbered",
    "BOARDS.md": "board files",
    "ACTIONS.md": "moves as integers, for learning programs",
    "actions": "these integers, for each game",
    "REPLAYS.md": "replays, and how to verify them",
    "DICE.md": "how a seed deals",
    "GREEDY.md": "what the bot greedy does",
    "schema/v1": "JSON Schemas of all that is on the wire",
    "asyncapi.yaml": "the same as an AsyncAPI document",
    "examples": "recorded sessions",
    "conformance": "requirements, test vectors, transcripts",
    "verifiers": "a second implementation that verifies replays",
}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.description = DESCRIPTION
    parser.epilog = EXAMPLES
    parser.add_argument("--path", action="store_true", help="print the folder and nothing else")


def run(arguments: argparse.Namespace) -> int:
    """Carry out what `add_arguments` has parsed, and return the exit code."""
    folder = protocol_folder()
    if arguments.path:
        say(str(folder))
        return DONE
    width = max(map(len, CONTENT))
    say(f"{folder}:")
    for name, what in CONTENT.items():
        say(f"  {name:{width}}  {what}")
    return DONE
