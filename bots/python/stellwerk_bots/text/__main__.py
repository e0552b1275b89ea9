"""`python -m stellwerk_bots.text`: a bot that asks a language model, on a server that seats it.

Exit codes: 0 played, 1 refused, 2 usage, 4 no server, 130 interrupted. A model that fails does not end the
bot.
"""

from __future__ import annotations

import argparse
import json
import os
import shlex
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

from stellwerk_bots.client import Client, ClientError, join
from stellwerk_bots.connection import default_address
from stellwerk_bots.text.bot import TextBot
from stellwerk_bots.text.model import address_model, command_model

if TYPE_CHECKING:
    from stellwerk_bots.messages import FromServer

USAGE: Final = 2
INTERRUPTED: Final = 130
KEY: Final = "STELLWERK_MODEL_KEY"


def main(arguments: Sequence[str] | None = None) -> int:
    parser = _parser()
    chosen = parser.parse_args(arguments)
    if (chosen.command is None) == (chosen.model_address is None):
        parser.error("expected exactly one of --command and --model-address")
    if chosen.command is not None:
        model = command_model(shlex.split(chosen.command), chosen.seconds)
    else:
        model = address_model(chosen.model_address, chosen.model, os.environ.get(KEY, ""), chosen.seconds)
    bot = TextBot(model, name=chosen.model, moves=chosen.moves, retries=chosen.retries)

    def observe(message: FromServer) -> None:
        if message["type"] == "end":
            for (match, seat), record in bot.records.items():
                if match == message["match"]:
                    _write({"match": match, "seat": seat, **record}, chosen.record)

    client = Client(
        default_address(),
        os.environ.get("STELLWERK_NAME") or f"text-{os.urandom(3).hex()}",  # noqa: TID251  secrets is slow
        bot,
        join(chosen.game, against=chosen.against.split(",")) if chosen.game else None,
        token=os.environ.get("STELLWERK_TOKEN"),
        seed_text=os.environ.get("STELLWERK_BOT_SEED", ""),
        observe=observe,
    )
    try:
        client.run()
    except ClientError as error:
        print(f"text: {error}", file=sys.stderr)
        return error.exit_code
    except KeyboardInterrupt:
        return INTERRUPTED
    return 0


def _write(record: dict[str, object], file: str | None) -> None:
    line = json.dumps(record)
    print(line, file=sys.stderr, flush=True)
    if file is not None:
        with open(file, "a", encoding="utf-8") as opened:
            print(line, file=opened)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m stellwerk_bots.text",
        description="Let a language model play: a command, which gets the prompt on standard input and "
        "prints the answer, or an address that speaks as OpenAI's do.",
        epilog=f"{KEY} holds the key for the address, if it needs one.",
    )
    add = parser.add_argument
    add("--command", metavar="WORDS", help="a program with its arguments")
    add("--model-address", metavar="URL", help="such as http://127.0.0.1:8000/v1")
    add("--model", metavar="NAME", default="", help="which model to ask for, and its name in the record")
    add(
        "--moves",
        choices=("shown", "hidden", "on_error"),
        default="shown",
        help="list the legal moves in the prompt: always, never, or after an illegal answer (default: shown)",
    )
    add("--retries", type=int, default=2, metavar="N", help="attempts after the first one (default: 2)")
    add("--seconds", type=float, default=60, metavar="S", help="for each call of the model (default: 60)")
    add("--record", metavar="FILE", help="append a line of JSON for each match")
    add("--game", metavar="GAME", help="join a match of this game (default: any that the server seats it in)")
    add("--against", default="random", metavar="BOT,...", help="house bots for the other seats, with --game")
    return parser


if __name__ == "__main__":
    sys.exit(main())
