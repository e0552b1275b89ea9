"""`stellwerk kit`: the tools for authors of bots, clients and servers. Each is a module of its own."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from typing import Final

from stellwerk.kit import attack, codec, doctor, replay

AddArguments = Callable[[argparse.ArgumentParser], None]
Run = Callable[[argparse.Namespace], int]

KIT_COMMANDS: Final[dict[str, tuple[str, AddArguments, Run]]] = {
    "attack": ("attack a server with clients of every kind", attack.add_arguments, attack.run),
    "codec": ("drive a client library", codec.add_arguments, codec.run),
    "doctor": ("examine a bot or clients, step by step", doctor.add_arguments, doctor.run),
    "replay": ("feed a recorded match to a bot", replay.add_arguments, replay.run),
}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    commands = parser.add_subparsers(dest="kit_command", metavar="COMMAND", required=True)
    for name, (text, add_arguments_of, _) in KIT_COMMANDS.items():
        add_arguments_of(commands.add_parser(name, help=text, description=text))


def run(arguments: argparse.Namespace) -> int:
    """Carry out what `add_arguments` has parsed, and return the exit code."""
    _, _, run_command = KIT_COMMANDS[arguments.kit_command]
    return run_command(arguments)
