"""`stellwerk play --watch`: the page of the game that was played, in a browser.

Law: a page is written whatever happens to the browser, and its path is printed.
"""

from __future__ import annotations

import os
import sys
import webbrowser
from collections.abc import Sequence
from pathlib import Path

from stellwerk.shared.pages import page_beside, write_folder, write_page


def page_of_games(replays: Sequence[Path]) -> Path:
    """Write the page of a game, or of several games their pages and an index; return what to open."""
    if len(replays) == 1:
        return write_page(replays[0], page_beside(replays[0]))
    return write_folder(replays[0].parent, replays[0].parent).index


def open_in_browser(page: Path) -> bool:
    """Open a page in the user's browser, if there is a display for it; return whether that was done."""
    has_display = sys.platform == "darwin" or any(map(os.environ.get, ("DISPLAY", "WAYLAND_DISPLAY")))
    try:
        return has_display and webbrowser.open(page.absolute().as_uri())
    except (OSError, webbrowser.Error):
        return False
