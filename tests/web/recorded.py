"""Recorded golden games as a source, for pages in the making and for tests.

`python -m tests.web.recorded --port 8080 --pace 4` serves the live pages. Some of the games are played
event by event, again and again; the others have ended.
"""

from __future__ import annotations

import argparse
import traceback
from functools import cache, partial

import msgspec
import trio

from stellwerk_page.one_file import page_of
from stellwerk_web.show.model import Show, ShowSettings
from stellwerk_web.site import Site
from stellwerk_web.sources.recorded import Recorded, recorded
from stellwerk_web.sources.source import Source
from tests.golden.golden_games import FOLDER

NAMES = ("greedy", "planner", "searcher", "random", "ann-7", "bob_3")


@cache
def golden(name: str, match: str | None = None) -> Recorded:
    """Return a golden game as a spectator would have got it, with names in its seats."""
    match = match or name
    with (FOLDER / f"{name}.jsonl").open("rb") as file:
        game = recorded(file, match)
    players = tuple(
        msgspec.structs.replace(player, name=NAMES[(player.seat + len(name)) % len(NAMES)])
        for player in game.head.players
    )
    start = msgspec.json.decode(game.start) | {"players": msgspec.to_builtins(players)}
    return Recorded(
        msgspec.structs.replace(game.head, players=players, page=True),
        msgspec.json.encode(start),
        game.events,
        game.end,
    )


class RecordedSource(Source):
    """Plays `live` games over and over, `pace` events a second; those in `ended` have ended."""

    def __init__(self, live: list[str], ended: list[str], pace: float) -> None:
        super().__init__()
        self._live = live
        self._ended = ended
        self._pace = pace

    async def run(self, show: Show) -> None:
        show.connected(True)
        self._show = show
        for name in self._ended:
            game = golden(name)
            show.match_listed(game.head)
            self._tell(show, game)
        async with trio.open_nursery() as nursery:
            for number, name in enumerate(self._live):
                nursery.start_soon(partial(self._play, show, name, number))

    async def _play(self, show: Show, name: str, number: int) -> None:
        round_number = 0
        while True:
            game = golden(name, f"live-{number}-{round_number}")
            head = msgspec.structs.replace(
                game.head,
                state="running",
                points=msgspec.UNSET,
                ranks=msgspec.UNSET,
                turn=msgspec.UNSET,
                page=False,
            )
            show.match_listed(head)
            show.started(head.match, game.start)
            for event in game.events:
                show.happened(head.match, [event])
                await trio.sleep(1 / self._pace)
            show.match_listed(game.head)
            show.ended(head.match, game.end)
            round_number += 1
            await trio.sleep(3)

    def _tell(self, show: Show, game: Recorded) -> None:
        show.started(game.head.match, game.start)
        show.happened(game.head.match, game.events)
        show.ended(game.head.match, game.end)

    async def replay_page(self, match: str) -> str | None:
        path = FOLDER / f"{match}.jsonl"
        return page_of(path.read_bytes(), path.name, "test") if path.exists() else None


async def serve(port: int, pace: float, tables: int) -> None:
    games = sorted(path.stem for path in FOLDER.glob("*.jsonl"))
    live = ["usa-2", "europe-4", "united_kingdom-3", "team_asia-6", "card_game-4"]
    source = RecordedSource(live, [name for name in games if name not in live], pace)
    show = Show(ShowSettings("Recorded golden games", "server", "tests/golden", "recorded", pace, tables))
    site = Site(show, source, "test", lambda error: traceback.print_exception(error))
    async with trio.open_nursery() as nursery:
        host, bound = await site.run(nursery, "127.0.0.1", port)
        print(f"http://{host}:{bound}/", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--port", type=int, default=8080)
    parser.add_argument("--pace", type=float, default=2.0, help="events a second")
    parser.add_argument("--tables", type=int, default=4)
    arguments = parser.parse_args()
    trio.run(serve, arguments.port, arguments.pace, arguments.tables)


if __name__ == "__main__":
    main()
