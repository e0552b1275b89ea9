"""A tournament as a source: its folder, and the status page of its runner.

The origins of all facts:
- complete blocks, results, ranking: from the folder (`tournament_book.py`);
- rate, time left, missing bots, and whether the runner is there: from its status page, if there is one;
- matches with deals of their own, while they run: from the server inside the runner, as any spectator gets
  them (`server.py`), if there is one.

Law: a runner never waits for this process. Nothing here writes to the folder or locks anything in it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Final

import msgspec
import trio
from msgspec.structs import replace

from stellwerk_web.rating import LEAST_S, rate_aside
from stellwerk_web.show.results import NOT_RATED, Rated
from stellwerk_web.sources.source import Source
from stellwerk_web.sources.status_page import RunnersWord, read_status
from stellwerk_web.sources.tournament_book import Book, FolderReader, Look
from stellwerk_web.sources.wanted import Wake, bring_wanted, whole_page

if TYPE_CHECKING:
    from stellwerk_web.show.forms import Head
    from stellwerk_web.show.model import Show
    from stellwerk_web.show.results import BotPage, PairPage
    from stellwerk_web.sources.server import ServerSource

LOOK_EVERY_S: Final = 0.5
ASK_EVERY_S: Final = 2.0
PROBLEM_EVERY_S: Final = 10.0  # a damaged file is read again only so often
WAITING: Final = 20  # of the matches that were there before, these wait for a table of the wall


@dataclass(frozen=True, slots=True)
class Places:
    """Where a tournament can be learned of. `status` is the address of the runner's page, `server` its
    server, if remote bots play. `shows_hands`: whether a visitor gets whole match pages."""

    folder: Path
    status: tuple[str, int] | None = None
    server: ServerSource | None = None
    shows_hands: bool = True


class TournamentSource(Source):
    def __init__(self, places: Places, version: str, log: Callable[..., object]) -> None:
        super().__init__()
        self._places = places
        self._version = version
        self._log = log
        self._reader = FolderReader(places.folder)
        self._book = Book(places.folder, has_pages=places.shows_hands)
        self._rated: Rated = NOT_RATED
        self._decided = 0  # decisions of the organizer
        self._ranking = self._book.ranking(NOT_RATED)
        self._has_begun = False  # all that was there at first has been taken in
        self._changed = Wake()  # rings when there is something to rate
        self._word: RunnersWord | None = None
        self._looks = trio.Lock()

    async def run(self, show: Show) -> None:
        self._show = show
        wake = Wake()
        show.on_wanted = wake.ring
        show.ranking(self._ranking)
        async with trio.open_nursery() as nursery:
            nursery.start_soon(self._follow_folder, show)
            nursery.start_soon(self._rate_often, show)
            nursery.start_soon(
                partial(bring_wanted, show, wake, self._book.replay_of, lambda: self._book.clocks, self._log)
            )
            if self._places.status is not None:
                nursery.start_soon(self._poll_runner, show, *self._places.status)
            if self._places.server is not None:
                live = LiveMatches(show, self._book)
                nursery.start_soon(self._places.server.run, show, live)

                def on_wanted() -> None:
                    wake.ring()
                    live.on_wanted()

                show.on_wanted = on_wanted

    # -- the folder ------------------------------------------------------------------------------

    async def _follow_folder(self, show: Show) -> None:
        problem = ""
        while True:
            look = await self._take_a_look(show)
            if look.problem and look.problem != problem:
                self._log("source.problem", why=look.problem)
            problem = look.problem
            if look.has_more:
                continue
            if not self._has_begun:
                self._has_begun = True
                self._changed.ring()
            show.connected(look.is_there)
            await trio.sleep(PROBLEM_EVERY_S if problem else LOOK_EVERY_S)

    async def look_once_more(self, show: Show) -> None:
        """Take in what the folder says now, and rate it: the tournament has ended."""
        self._word = None
        while (await self._take_a_look(show)).has_more:
            pass
        await self._rate_once(show)

    async def _take_a_look(self, show: Show) -> Look:
        async with self._looks:
            look = await trio.to_thread.run_sync(self._reader.look)
            self._take_look(show, look)
            return look

    def _take_look(self, show: Show, look: Look) -> None:
        if look.is_anew:
            show.began_anew()
            self._rated = NOT_RATED
        heads = self._book.take(look)
        is_last = not look.has_more
        for number, head in enumerate(heads):
            is_news = self._has_begun or (is_last and number >= len(heads) - WAITING)
            show.match_listed(head, look.age_of(head.match), is_news=is_news)
        decided = len(look.decisions.decisions)
        if heads or look.is_anew or decided != self._decided:
            self._decided = decided
            self._changed.ring()
        self._show_state(show)

    def _show_state(self, show: Show) -> None:
        state = self._book.state()
        word = self._word
        if self._places.status is not None:
            state = replace(state, is_running=word is not None)
        if word is not None:
            state = replace(
                state,
                played=max(state.played, word.played),
                total=word.total,
                matches_per_minute=word.matches_per_minute,
                seconds_left=word.seconds_left,
                missing=word.missing,
            )
        show.tournament(msgspec.to_builtins(state))

    async def _poll_runner(self, show: Show, host: str, port: int) -> None:
        """Ask the runner how far it is, until cancelled."""
        while True:
            self._word = await read_status(host, port)
            self._show_state(show)
            await trio.sleep(ASK_EVERY_S)

    # -- the ranking -----------------------------------------------------------------------------

    async def _rate_often(self, show: Show) -> None:
        """Rate what counts, in a thread, and for a small share of the time."""
        while True:
            await trio.sleep(await self._rate_once(show) if self._has_begun else LEAST_S)
            await self._changed.wait(float("inf"))

    async def _rate_once(self, show: Show) -> float:
        """Rate, and return for how many seconds not to do it again."""
        results = self._book.results
        ratings, pause = await rate_aside(self._book.rated_matches())
        if self._book.results is results:
            self._rated = ratings
            self._ranking = self._book.ranking(ratings)
            show.ranking(self._ranking)
        return pause

    # -- pages -----------------------------------------------------------------------------------

    async def bot(self, name: str) -> BotPage | None:
        return self._book.bot_page(name, self._book.ranking(self._rated), self._rated)

    async def pair(self, one: str, other: str) -> PairPage | None:
        return self._book.pair_page(one, other, self._ranking, self._rated)

    def find(self, match: str) -> bool:
        head = self._book.head_of(match)
        if head is None or self._show is None:
            return False
        self._show.match_found(head)
        return True

    async def replay_page(self, match: str) -> str | None:
        replay = self._book.replay_of(match)
        if replay is None or not self._places.shows_hands:
            return None
        return await trio.to_thread.run_sync(whole_page, replay, self._version)


class LiveMatches:
    """The list of the server inside a runner, before the model. The server reports its matches, and the
    folder has the last word on each of them."""

    def __init__(self, show: Show, book: Book) -> None:
        self.on_wanted: Callable[[], object] = lambda: None
        self.is_connected = False
        self._show = show
        self._book = book
        self._live: set[str] = set()

    def connected(self, is_connected: bool) -> None:
        self.is_connected = is_connected

    def began_anew(self) -> None:
        """Forget nothing: what the folder has said still holds."""

    def list_complete(self) -> None:
        pass

    def match_listed(self, head: Head) -> None:
        if not self._book.has(head.match):
            self._live.add(head.match)
            self._show.match_listed(head)

    def wanted(self) -> list[str]:
        """Return the matches that only the server has."""
        return [name for name in self._show.wanted() if name in self._live and not self._book.has(name)]
