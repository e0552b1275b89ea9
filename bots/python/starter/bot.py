"""A bot that claims the longest route it can pay for. To make it your own, change `Player.answer`.

    python bot.py --game usa --against random

Without `--game` it plays wherever the server seats it. A server starts it that way, with address, token and
name as environment variables.
"""

from __future__ import annotations

import argparse
import os
import sys

from stellwerk_bots.bot import Answer
from stellwerk_bots.client import Client, ClientError, join
from stellwerk_bots.connection import default_address
from stellwerk_bots.messages import Ask, ClaimRoute, Start
from stellwerk_bots.reading import by_id, legal_by_type

NAME = "my-bot"


class Player:
    """A player of one match. The `view` of each ask holds all that it may know: it need not remember
    anything."""

    def __init__(self, start: Start, seed_text: str) -> None:
        self.routes = by_id(start["board"].get("routes", []))

    def answer(self, ask: Ask) -> Answer:
        legal = legal_by_type(ask)
        if "claim_route" in legal:
            index, claim = max(legal["claim_route"], key=lambda claim: self.length(claim[1]))
            return {"index": index, "note": f"{self.length(claim)} trains"}  # for `stellwerk replay show`
        if "draw_card" in legal:
            return {"index": legal["draw_card"][0][0]}
        return {"index": 0}

    def length(self, claim: ClaimRoute) -> int:
        return self.routes[claim["route"]]["length"]


def main() -> int:
    chosen = arguments()
    others = [name for name in chosen.against.split(",") if name]
    players = chosen.players or max(2, len(others) + 1)
    wish = (
        join(chosen.game, players, against=others, room=chosen.room, seed=chosen.seed)
        if chosen.game
        else None
    )
    token, seed_text = os.environ.get("STELLWERK_TOKEN"), os.environ.get("STELLWERK_BOT_SEED", "")
    try:
        Client(chosen.address, chosen.name, Player, wish, token=token, seed_text=seed_text).run()
    except ClientError as error:
        print(f"{chosen.name}: {error}", file=sys.stderr)
        return error.exit_code
    return 0


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="A bot for Stellwerk.")
    parser.add_argument(
        "--address", default=default_address(), help="tcp://HOST:PORT, tls://HOST:PORT or stdio:"
    )
    parser.add_argument("--name", default=os.environ.get("STELLWERK_NAME", NAME))
    parser.add_argument("--game", help="join one match of this game")
    parser.add_argument(
        "--players", type=int, help="the number of seats (default: 2, or one more than --against names)"
    )
    parser.add_argument("--against", default="", help="house bots for the other seats: random,beginner,...")
    parser.add_argument("--room", help="the name of a room")
    parser.add_argument("--seed", help="the seed of the deal, with --against")
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
