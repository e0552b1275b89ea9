"""`python -m stellwerk_bots NAME`: the command that runs one of the bots on a server.

With `--game` the bot joins a match. Without it, the bot plays wherever the server seats it; a server starts
bots that way. Exit codes: 0 played, 1 refused, 2 usage, 4 no server, 130 interrupted.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING

from stellwerk_bots.bot import SettingError
from stellwerk_bots.client import Client, ClientError, join
from stellwerk_bots.connection import DEFAULT_ADDRESS, STDIO, default_address
from stellwerk_bots.players import NAMES, new_player

if TYPE_CHECKING:
    from stellwerk_bots.messages import Join

USAGE = 2
INTERRUPTED = 130


def main(arguments: Sequence[str] | None = None) -> int:
    chosen = _parser().parse_args(arguments)
    try:
        player = new_player(chosen.bot)
    except SettingError as error:
        print(f"{chosen.bot}: {error}", file=sys.stderr)
        return USAGE
    client = Client(
        chosen.address,
        chosen.name or f"{chosen.bot}-{os.urandom(3).hex()}",  # noqa: TID251  secrets is slow to import
        player,
        _wish(chosen),
        token=chosen.token,
        matches=chosen.matches,
        seed_text=chosen.seed_text or os.urandom(16).hex(),  # noqa: TID251  as above
        tls_ca=chosen.tls_ca,
        tell_result=lambda text: print(text, flush=True),
        log=lambda text: print(f"{chosen.bot}: {text}", file=sys.stderr, flush=True),
    )
    try:
        client.run()
    except ClientError as error:
        print(f"{chosen.bot}: {error}", file=sys.stderr)
        return error.exit_code
    except KeyboardInterrupt:
        return INTERRUPTED
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m stellwerk_bots",
        description="Let one of the reference bots play on a Stellwerk server.",
        epilog="Defaults: STELLWERK_ADDRESS, STELLWERK_NAME, STELLWERK_TOKEN and STELLWERK_BOT_SEED.",
    )
    parser.add_argument("bot", type=_known_bot, metavar="BOT", help=", ".join(NAMES))
    parser.add_argument(
        "--address",
        default=default_address(),
        help=f"tcp://HOST:PORT, tls://HOST:PORT or {STDIO} (default {DEFAULT_ADDRESS})",
    )
    parser.add_argument(
        "--tls-ca", metavar="FILE", help="certificates to trust instead of those of the system"
    )
    parser.add_argument("--name", default=os.environ.get("STELLWERK_NAME"), help="the name to log in with")
    parser.add_argument("--token", default=os.environ.get("STELLWERK_TOKEN"))
    parser.add_argument(
        "--seed-text",
        default=os.environ.get("STELLWERK_BOT_SEED"),
        help="the seed of the bot's random choices",
    )
    parser.add_argument(
        "--matches", type=_count, metavar="N", help="the number of matches, one after the other"
    )
    match = parser.add_argument_group(
        "the match to join (without --game: any match in which the server seats the bot)"
    )
    match.add_argument("--game")
    match.add_argument(
        "--players", type=_count, metavar="N", help="default: 2, or one more than --against names"
    )
    match.add_argument("--option", action="append", default=[], metavar="NAME")
    match.add_argument("--against", default="", metavar="BOT,...", help="house bots for the other seats")
    match.add_argument("--room", metavar="NAME")
    match.add_argument("--seat", type=int, metavar="N", help="with --against")
    match.add_argument("--seed", metavar="TEXT", help="the deal, with --against")
    return parser


def _wish(chosen: argparse.Namespace) -> Join | None:
    if chosen.game is None:
        return None
    against = [name for name in chosen.against.split(",") if name]
    return join(
        chosen.game,
        chosen.players or (len(against) + 1 if against else 2),
        chosen.option,
        against=against,
        room=chosen.room,
        seat=chosen.seat,
        seed=chosen.seed,
    )


def _known_bot(name: str) -> str:
    if name not in NAMES:
        from stellwerk_base.texts import unknown  # seldom needed

        raise argparse.ArgumentTypeError(unknown("bot", name, NAMES))
    return name


def _count(text: str) -> int:
    number = int(text)
    if number < 1:
        raise argparse.ArgumentTypeError(f"not a number of at least 1: {text}")
    return number


if __name__ == "__main__":
    sys.exit(main())
