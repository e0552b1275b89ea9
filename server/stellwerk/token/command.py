"""`stellwerk token`: a new token for a player, and the line with which a server lets it in."""

from __future__ import annotations

import argparse
import re
from typing import Final

from stellwerk.shared.errors import DONE, usage_error
from stellwerk.shared.parser import argument
from stellwerk.shared.terminal import say
from stellwerk_base.texts import shown
from stellwerk_protocol.names import PLAYER_NAME
from stellwerk_server.lobby.tokens import hashed, new_token

DESCRIPTION: Final = """\
Make a new token for a player, and print the line for the file of 'serve --tokens'.

Give the token only to the player. Stellwerk does not store it: the file has
only its hash.
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.description = DESCRIPTION
    argument(parser, "NAME", "the player's name")
    argument(parser, "--organizer", "may watch matches with all hands")


def run(arguments: argparse.Namespace) -> int:
    name: str = arguments.name
    if not re.fullmatch(PLAYER_NAME, name):
        raise usage_error(
            f"NAME: expected up to 32 letters, digits, '_', '.' or '-', a letter or digit first; "
            f"not {shown(name, 40)!r}"
        )
    token = new_token()
    say(f"token for {name}: {token}")
    say(f"line for the file: {name} {hashed(token)}{' organizer' if arguments.organizer else ''}")
    return DONE
