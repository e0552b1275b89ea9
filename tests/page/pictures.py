"""The pictures of the README: `make pictures` plays matches and takes them again from their pages.

The bots have fixed seeds, so the matches are always the same; fonts and the browser are those of the machine.
The live pages show a tournament that is played meanwhile, so their pictures differ each time.
"""

from __future__ import annotations

import base64
import sys
import tempfile
from pathlib import Path
from typing import Final

from stellwerk.lab.matches import run_matches
from stellwerk.shared.pages import write_page
from tests import tools
from tests.browser import Browser, Page, started
from tests.command.program import started as running
from tests.web_pages.live_processes import watching
from tests.web_pages.opening import until

FOLDER: Final = Path(__file__).parents[2] / "pictures"
DRAWN: Final = (
    "new Promise((done) => requestAnimationFrame(() => setTimeout(done, 600)))"  # the last move has moved
)
QUALITY: Final = 70


def taken(browser: Browser, page_file: Path, address: str, width: int, height: int, scheme: str) -> bytes:
    """Take a picture of the page of a replay."""
    page = Page(browser, page_file, width, height, scheme)
    page.value(f"location.hash = {address!r}")
    picture = picture_of(page, width, height)
    page.close()
    return picture


def picture_of(page: Page, width: int, height: int, scale: float = 0.75) -> bytes:
    """Take a picture, smaller than the page, and as WebP: a PNG has four times the bytes."""
    page.call("Emulation.setScrollbarsHidden", hidden=True)
    page.awaited(DRAWN)
    clip = {"x": 0, "y": 0, "width": width, "height": height, "scale": scale}
    picture = page.call("Page.captureScreenshot", format="webp", quality=QUALITY, clip=clip)
    return base64.b64decode(picture["data"])


# -- live pages ----------------------------------------------------------------------------------------

CUP: Final = """\
title = "Autumn cup"

[schedule]
kind = "round_robin"
rounds = 12

[[games]]
game = "europe"
players = 2

[[games]]
game = "usa"
players = 3

[[games]]
game = "united_kingdom"
players = 2
"""
BOTS: Final = (
    ("night-train", "planner"),
    ("signal-box", "planner"),
    ("steam", "greedy"),
    ("shunter", "greedy"),
    ("coal", "beginner"),
    ("wanderer", "random"),
)
HALF_PLAYED: Final = 'document.querySelector("progress")?.value > 500'
IN_THE_HALL: Final = (
    ("usa", ("planner", "greedy", "searcher")),
    ("card_game", ("greedy", "planner", "random")),
    ("team_asia", ("planner", "greedy", "random")),
    ("united_kingdom", ("greedy", "planner", "beginner")),
    ("usa", ("planner", "greedy", "beginner", "random")),
    ("europe", ("planner", "greedy", "beginner", "planner")),
)
ON_THE_WALL_MS: Final = 45_000


def live_pictures(browser: Browser, folder: Path) -> None:
    """Play a tournament, and take pictures of the pages that show it."""
    entrants = "".join(f'\n[[bots]]\nname = "{name}"\nbuilt_in = "{kind}"\n' for name, kind in BOTS)
    cup = folder / "cup"
    cup.mkdir()
    (cup / "tournament.toml").write_text(CUP + entrants, "utf-8")
    with running("tournament", "run", str(cup)), watching(str(cup)) as web:
        overview = Page(browser, f"http://127.0.0.1:{web.port}/", 1280, 640, "light")
        until(overview, HALF_PLAYED)
        save("live-overview", picture_of(overview, 1280, 640))
        overview.close()
    replays = folder / "hall"
    for number, (game, bots) in enumerate(IN_THE_HALL):
        run_matches([*bots], game=game, matches=1, seed=f"hall {number}", replays=replays)
    with watching(str(replays), 0, "--tables", "6", "--title", "Autumn cup") as web:
        wall = Page(browser, f"http://127.0.0.1:{web.port}/wall", 1920, 1080, "dark")
        wall.awaited(f"new Promise((done) => setTimeout(done, {ON_THE_WALL_MS}))")
        save("live-wall", picture_of(wall, 1920, 1080, 0.5))
        wall.close()


def save(name: str, picture: bytes) -> None:
    (FOLDER / f"{name}.webp").write_bytes(picture)
    print(f"pictures/{name}.webp: {len(picture):,} bytes")


def main() -> int:
    if tools.lack("chromium") is not None:
        print("make pictures needs Chromium", file=sys.stderr)
        return 1
    FOLDER.mkdir(exist_ok=True)
    with (
        tempfile.TemporaryDirectory() as folder,
        started(tools.browser(), Path(folder, "profile")) as browser,
    ):
        for name, game, address, height, scheme in (
            ("europe", "europe", "#turn=70", 800, "light"),
            ("united-kingdom", "united_kingdom", "#turn=60&view=1", 1000, "dark"),
        ):
            replays = Path(folder, game)
            run_matches(
                ["planner", "greedy", "planner"], game=game, matches=1, seed="picture", replays=replays
            )
            [replay] = replays.glob("*.jsonl")
            page = write_page(replay, replay.with_suffix(".html"))
            save(name, taken(browser, page, address, 1280, height, scheme))
        live_pictures(browser, Path(folder))
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
