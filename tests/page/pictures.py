"""The pictures of the README: `make pictures` plays a match and takes them again from its page.

The bots have fixed seeds, so the match is always the same; fonts and the browser are those of the machine.
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

FOLDER: Final = Path(__file__).parents[2] / "pictures"
DRAWN: Final = (
    "new Promise((done) => requestAnimationFrame(() => setTimeout(done, 600)))"  # the last move has moved
)
QUALITY: Final = 70


def taken(browser: Browser, page_file: Path, address: str, width: int, height: int, scheme: str) -> bytes:
    """Take a picture of a page, three quarters as large, and as WebP: a PNG has four times the bytes."""
    page = Page(browser, page_file, width, height, scheme)
    page.value(f"location.hash = {address!r}")
    page.call("Emulation.setScrollbarsHidden", hidden=True)
    page.awaited(DRAWN)
    clip = {"x": 0, "y": 0, "width": width, "height": height, "scale": 0.75}
    picture = page.call("Page.captureScreenshot", format="webp", quality=QUALITY, clip=clip)
    page.close()
    return base64.b64decode(picture["data"])


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
            picture = taken(browser, page, address, 1280, height, scheme)
            (FOLDER / f"{name}.webp").write_bytes(picture)
            print(f"pictures/{name}.webp: {len(picture):,} bytes")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
