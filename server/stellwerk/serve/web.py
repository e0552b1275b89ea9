"""`stellwerk serve --web`: the process that shows the server's matches to browsers.

Law: whatever becomes of it, the matches go on.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import trio

from stellwerk.shared.web_child import WebAddress, run_web_child
from stellwerk.shared.web_spectator import WebLogin, control_sockets, environment, let_in

if TYPE_CHECKING:
    from stellwerk_server.lobby.setup import Log
    from stellwerk_server.net.server import Server


async def show_matches(
    server: Server, pages: WebAddress, login: WebLogin, log: Log, *, shows_token: bool
) -> None:
    """Run the process until it ends, or the server does."""
    with control_sockets() as (ours, theirs):
        words = [f"control:{theirs.fileno()}", *pages.words(), "--name", login.name]
        async with trio.open_nursery() as nursery:
            nursery.start_soon(let_in, server, ours)
            await run_web_child(
                words,
                lambda url: log.info("web.listening", url=url),
                lambda why: log.error("web.ended", why=why),
                pass_fds=[theirs.fileno()],
                variables=environment(login.token if shows_token else None),
            )
            nursery.cancel_scope.cancel()
