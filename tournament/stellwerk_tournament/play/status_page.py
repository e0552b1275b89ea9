"""The page that shows how far a running tournament has come, for anybody who polls it.

Law: a bot that reads the page learns nothing of the matches of its own block. Matches of one deal are not on
it while they run: only the bots of their block are, and not even these if the bots do not know their
opponents (`anonymous`). Matches with deals of their own are on it as on the page of any server, and everybody
may watch them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Final

import msgspec
import trio

from stellwerk_server.net.listen_address import CannotListenError, shown_address
from stellwerk_server.net.status import RUNNING_SHOWN, open_page, running_match
from stellwerk_server.operate.resources import resident_kb
from stellwerk_tournament.play.progress import Progress, rounded

if TYPE_CHECKING:
    from stellwerk_server.match.match_session import MatchSession
    from stellwerk_tournament.config.settings import Settings

FRESH_SECONDS: Final = 0.5
"""For so long the same text is sent again: nobody makes the runner late by asking often."""


class TournamentPage:
    def __init__(
        self,
        settings: Settings,
        runner: str,
        progress: Callable[[], Progress],
        listed: Callable[[], Sequence[MatchSession]],
        note_bug: Callable[[Exception], object],
    ) -> None:
        """`runner` is what it calls itself there. `progress` and `listed` return how far it has come now, and
        the running matches that may be shown."""
        self._settings = settings
        self._runner = runner
        self._progress = progress
        self._listed = listed
        self._note_bug = note_bug
        self._began_at = trio.current_time()
        self._text = b""
        self._fresh_until = 0.0

    async def listen(self, nursery: trio.Nursery, host: str, port: int) -> str:
        """Answer from now on. Return the URL. CannotListenError."""
        try:
            where = await open_page(nursery, host, port, self.text, self._note_bug)
        except OSError as error:
            address = shown_address(host, port)
            raise CannotListenError(f"{address}: cannot listen: {error.strerror or error}") from None
        return f"http://{shown_address(*where)}/"

    def text(self) -> bytes:
        now = trio.current_time()
        if now >= self._fresh_until:
            self._text = msgspec.json.encode(self._content(now))
            self._fresh_until = now + FRESH_SECONDS
        return self._text

    def _content(self, now: float) -> dict[str, object]:
        progress = self._progress()
        blocks = () if self._settings.anonymous else progress.blocks
        return {
            "server": self._runner,
            "uptime_s": round(now - self._began_at, 1),
            "running": progress.running,
            "memory_kb": resident_kb(),
            "matches": self._matches(progress),
            "tournament": {
                "title": self._settings.title,
                "played": progress.played,
                "total": progress.total,
                "void_blocks": progress.void_blocks,
                "called_off_blocks": progress.called_off_blocks,
                "suspended": progress.suspended,
                "disqualified": progress.disqualified,
                "paused": progress.paused,
                "matches_per_minute": progress.matches_per_minute,
                "seconds_left": progress.seconds_left,
                "missing": progress.missing,
                "blocks_running": len(progress.blocks),
                "blocks": blocks[:RUNNING_SHOWN],
                "rows": rounded(progress.rows),
            },
        }

    def _matches(self, progress: Progress) -> list[dict[str, object]]:
        """Describe the matches. Their block is among it unless it would show who an opponent is."""
        block_of = {match.match: (match.block, match.round) for match in progress.matches}
        found: list[dict[str, object]] = []
        for match in self._listed()[:RUNNING_SHOWN]:
            described = running_match(match)
            if match.id in block_of and not self._settings.anonymous:
                described["block"], described["round"] = block_of[match.id]
            found.append(described)
        return found
