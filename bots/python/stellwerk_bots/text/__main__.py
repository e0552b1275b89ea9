"""`python -m stellwerk_bots.text`: a bot that asks a language model, on a server that seats it.

Exit codes: 0 played, 1 refused, 2 usage, 4 no server, 130 interrupted. A model that fails does not end the
bot.
"""

from __future__ import annotations

import argparse
import json
import os
import runpy
import shlex
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Final

from stellwerk_bots.client import Client, ClientError, join
from stellwerk_bots.connection import default_address
from stellwerk_bots.text.answers import read_answer
from stellwerk_bots.text.bot import TextBot
from stellwerk_bots.text.model import address_model, command_model
from stellwerk_bots.text.prompt import write_prompt
from stellwerk_bots.text.transcript import MEGABYTES, Transcript

if TYPE_CHECKING:
    from stellwerk_bots.messages import FromServer

USAGE: Final = 2
INTERRUPTED: Final = 130
FUNCTIONS: Final = ("model", "write", "read")
KEY: Final = "STELLWERK_MODEL_KEY"


def main(arguments: Sequence[str] | None = None) -> int:
    parser = _parser()
    chosen = parser.parse_args(arguments)
    own = _own_functions(parser, chosen.code) if chosen.code is not None else {}
    if sum([chosen.command is not None, chosen.model_address is not None, "model" in own]) != 1:
        parser.error("expected exactly one of --command, --model-address and a function `model` in --code")
    if chosen.command is not None:
        model = command_model(shlex.split(chosen.command), chosen.seconds)
    elif chosen.model_address is not None:
        model = address_model(chosen.model_address, chosen.model, os.environ.get(KEY, ""), chosen.seconds)
    else:
        model = own["model"]
    try:
        transcript = chosen.transcript and Transcript(chosen.transcript, chosen.transcript_mb)
    except OSError as error:
        parser.error(f"--transcript: {chosen.transcript}: {error.strerror}")
    bot = TextBot(
        model,
        name=chosen.model,
        moves=chosen.moves,
        retries=chosen.retries,
        takes_numbers=chosen.numbers,
        write=own.get("write", write_prompt),
        read=own.get("read", read_answer),
        transcript=transcript,
    )

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
        events=True,
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


def _own_functions(
    parser: argparse.ArgumentParser, name: str
) -> dict[str, Any]:  # Any: what the file defines
    """Return the functions of an author's file, or end with what is wrong with it."""
    if not os.path.isfile(name):
        parser.error(f"--code: no such file: {name}")
    own = {key: value for key, value in runpy.run_path(name).items() if key in FUNCTIONS and callable(value)}
    if not own:
        parser.error(f"--code: {name} defines none of the functions {', '.join(FUNCTIONS)}")
    return own


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
    add("--numbers", action="store_true", help='take a bare number as the answer, too, not only {"index": N}')
    add(
        "--code",
        metavar="FILE",
        help=f"Python code with functions of your own: any of {', '.join(FUNCTIONS)}",
    )
    add("--retries", type=int, default=2, metavar="N", help="attempts after the first one (default: 2)")
    add("--seconds", type=float, default=60, metavar="S", help="for each call of the model (default: 60)")
    add("--record", metavar="FILE", help="append a line of JSON for each match")
    add(
        "--transcript",
        metavar="FILE",
        help="append a line of JSON for each call: prompt, answer, time, tokens",
    )
    add(
        "--transcript-mb",
        type=float,
        default=MEGABYTES,
        metavar="MB",
        help=f"stop the transcript at this size (default: {MEGABYTES})",
    )
    add("--game", metavar="GAME", help="join a match of this game (default: any that the server seats it in)")
    add("--against", default="random", metavar="BOT,...", help="house bots for the other seats, with --game")
    return parser


if __name__ == "__main__":
    sys.exit(main())
