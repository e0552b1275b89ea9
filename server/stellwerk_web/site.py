"""The site: its paths, what each answers, and the tasks that keep it going.

Law: the paths are fixed. The name in a path (a match, a bot, a board, a file) is looked up in what is known
already. Nothing of a request ever becomes a path on disk.
"""

from __future__ import annotations

import json
import re
from collections.abc import Awaitable, Callable, Collection
from functools import partial
from typing import TYPE_CHECKING, Final

import trio

from stellwerk_engine.boards.board_file import (
    SHIPPED,
    BoardError,
    BoardFile,
    canonical_text,
    parse_board,
    shipped_board,
)
from stellwerk_http.answers import HTML, JSON, KEPT, Answer, not_found, refusal
from stellwerk_http.requests import Request
from stellwerk_http.server import HttpLimits, HttpServer, Reply
from stellwerk_http.streams import Stream
from stellwerk_page.layout import can_be_drawn, layout_data
from stellwerk_protocol.messages import PROTOCOL_VERSION
from stellwerk_protocol.names import PLAYER_NAME
from stellwerk_server.net.server import open_listeners
from stellwerk_web.files import read_files
from stellwerk_web.rating import LEAST_S, rate_aside
from stellwerk_web.show.forms import encode
from stellwerk_web.show.wall import TICK_S

if TYPE_CHECKING:
    from stellwerk_web.show.channel import Channel
    from stellwerk_web.show.model import Show
    from stellwerk_web.sources.source import Source

MOST_BOARDS: Final = 64
_MATCH: Final = r"[A-Za-z0-9_-][A-Za-z0-9_.-]{0,127}"
_DIGEST: Final = r"[0-9a-f]{64}"
_PAGES: Final = {"/": "overview", "/wall": "wall", "/about": "about"}
_WHOLE_PAGE_POLICY: Final = (
    b"default-src 'none'; script-src 'unsafe-inline' data:; style-src 'unsafe-inline'; "
    b"base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
"""That of a file that contains its scripts; what comes from a replay is data in it."""


class Site:
    """A site that shows `show`, to which `source` brings matches."""

    def __init__(
        self,
        show: Show,
        source: Source,
        version: str,
        note_bug: Callable[[Exception], object],
        names: Collection[str] = (),
        limits: HttpLimits | None = None,
    ) -> None:
        self.show = show
        self._files = read_files({"version": version, "protocol": str(PROTOCOL_VERSION)})
        # An open page compares the server's modules with its own.
        modules = ((b"Stellwerk-Modules", self._files.digest.encode()),)
        self.http = HttpServer(self.answer, note_bug, frozenset(names), limits or HttpLimits(), modules)
        self._source = source
        self._streams: dict[Channel, Stream] = {}  # with readers
        self._boards: dict[str, Answer] = {}
        self._paths: tuple[tuple[re.Pattern[str], Callable[..., Reply | Awaitable[Reply]]], ...] = tuple(
            (re.compile(pattern), answer)
            for pattern, answer in (
                (rf"/match/({_MATCH})", self._answer_match_page),
                (rf"/replay/({_MATCH})", self._answer_replay_page),
                (rf"/bot/({PLAYER_NAME})", partial(self._answer_page, "bot")),
                (rf"/pair/({PLAYER_NAME})/({PLAYER_NAME})", partial(self._answer_page, "pair")),
                (rf"/stream/match/({_MATCH})", self._open_match_stream),
                (rf"/data/bot/({PLAYER_NAME})", self._answer_bot),
                (rf"/data/pair/({PLAYER_NAME})/({PLAYER_NAME})", self._answer_pair),
                (rf"/boards/({_DIGEST})", self._answer_board),
            )
        )

    async def run(self, nursery: trio.Nursery, host: str, port: int) -> tuple[str, int]:
        """Listen, follow the source, and return the address. OSError if the address cannot be had."""

        async def tick() -> None:
            while True:
                self.show.tick(trio.current_time())
                await trio.sleep(TICK_S)

        address = self.http.begin(nursery, await open_listeners(host, port))
        nursery.start_soon(tick)
        nursery.start_soon(self._rate_often)
        nursery.start_soon(self._source.run, self.show)
        return address

    async def _rate_often(self) -> None:
        """Rate the matches that were seen, in a thread, and for a small share of the time."""
        rated_count, pause = 0, LEAST_S
        while True:
            seen = self.show.seen
            if seen.count and seen.count != rated_count:
                rated_count = seen.count
                ratings, pause = await rate_aside(seen.counted())
                seen.take(ratings)
            await trio.sleep(pause)

    # -- answers ---------------------------------------------------------------------------------

    async def answer(self, request: Request) -> Reply:
        path = request.path
        if path in _PAGES:
            return self._answer_page(_PAGES[path])
        if path in self._files.modules:
            file = self._files.modules[path]
            return Answer(file.kind, file.body, kept=KEPT)
        match path:
            case "/stream":
                return self._open_stream(self.show.overview)
            case "/stream/wall":
                return self._open_stream(self.show.wall, self.show.wall_read)
            case "/favicon.svg" | "/favicon.ico":
                return Answer(b"image/svg+xml", self._files.favicon)
            case "/health":
                counts = {"readers": self.http.streams, "connections": self.http.connections}
                return _answer_json(counts | {"now": round(self.show.now)})
            case _:
                pass
        for pattern, answer in self._paths:
            found = pattern.fullmatch(path)
            if found is not None:
                reply = answer(*found.groups())
                return await reply if isinstance(reply, Awaitable) else reply
        return not_found(path)

    def _answer_page(self, name: str, *_: str) -> Answer:
        return Answer(HTML, self._files.pages[name])

    def _answer_match_page(self, match: str) -> Answer:
        """Return the page also for a match that is not known: it may be soon, and the page tries again."""
        return Answer(HTML, self._files.pages["match"], 200 if self._is_known(match) else 404)

    def _is_known(self, match: str) -> bool:
        return self.show.is_known(match) or self._source.find(match)

    # -- streams ---------------------------------------------------------------------------------

    def _open_stream(self, channel: Channel, on_readers: Callable[[int], object] = lambda _: None) -> Stream:
        """Return the stream of a channel. There is one as long as it has readers."""
        for other, stream in list(self._streams.items()):
            if not stream.readers:
                del self._streams[other]
        stream = self._streams.get(channel) or Stream(channel, on_readers)
        self._streams[channel] = stream
        channel.on_change = stream.ring
        return stream

    def _open_match_stream(self, match: str) -> Reply:
        channel = self.show.match_channel(match) if self._is_known(match) else None
        if channel is None:
            return refusal(404, f"no match {match} is known here: it may be too old, or nobody may watch it")
        return self._open_stream(channel, partial(self.show.match_read, match))

    # -- data ------------------------------------------------------------------------------------

    async def _answer_bot(self, bot: str) -> Answer:
        data = await self._source.bot(bot)
        return refusal(404, f"no bot {bot} is known here") if data is None else _answer_json(data)

    async def _answer_pair(self, one: str, other: str) -> Answer:
        data = await self._source.pair(one, other)
        if data is None:
            return refusal(404, f"no matches of {one} and {other} are known here")
        return _answer_json(data)

    async def _answer_replay_page(self, match: str) -> Answer:
        page = await self._source.replay_page(match)
        if page is None:
            return refusal(404, f"there is no whole replay of {match} here")
        return Answer(HTML, page.encode(), policy=_WHOLE_PAGE_POLICY)

    async def _answer_board(self, digest: str) -> Answer:
        """Return a board with its layout, which takes long to make, and is made once."""
        if digest not in self._boards:
            board = self._known_board(digest)
            if board is None:
                return refusal(404, "no board with this digest is known here")
            if len(self._boards) >= MOST_BOARDS:
                self._boards.pop(next(iter(self._boards)))
            layout = await trio.to_thread.run_sync(layout_data, board) if can_be_drawn(board) else None
            data = {"board": canonical_text(board), "layout": layout}
            body = json.dumps(data, separators=(",", ":")).encode()
            self._boards[digest] = Answer(JSON, body, kept=KEPT)
        return self._boards[digest]

    def _known_board(self, digest: str) -> BoardFile | None:
        for name in SHIPPED:
            if shipped_board(name).digest == digest:
                return shipped_board(name)
        text = self.show.board(digest)
        if text is None:
            return None
        try:
            board = parse_board(text, "board")
        except BoardError:
            return None
        return board if board.digest == digest else None


def _answer_json(data: object) -> Answer:
    return Answer(JSON, encode(data))
