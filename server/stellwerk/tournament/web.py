"""`--web` of a tournament: a process that shows it to browsers, from its folder and the runner's status page.

Where remote bots play, their matches have deals of their own, and anybody may watch them: then the process
is also a spectator of the server inside the runner.

Law: whatever becomes of it, the matches go on, and the runner does nothing for it but wait some seconds until
it is there, and answer as it answers anybody.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Final

import trio

from stellwerk.shared.web_child import WebAddress, run_web_child
from stellwerk.shared.web_spectator import WebLogin, control_sockets, environment, let_in
from stellwerk_tournament.play.status_page import StatusSetup

if TYPE_CHECKING:
    from stellwerk_processes.standing_server import StandingServer

LOOPBACK: Final = "127.0.0.1"


@dataclass(slots=True)
class LivePages:
    """The live pages of a tournament. `on_url` gets their address, `on_end` one line if the process ends by
    itself."""

    folder: Path
    address: WebAddress
    on_url: Callable[[str], object]
    on_end: Callable[[str], object]
    login: WebLogin = field(default_factory=WebLogin.drawn)
    status_url: str = ""

    def status_setup(self, wanted: StatusSetup) -> StatusSetup:
        """Return the set-up of the status page: the one that is wanted, or one for this machine alone."""

        def opened(url: str) -> None:
            self.status_url = url
            if wanted.host is not None:
                wanted.opened(url)

        if wanted.host is None:
            return StatusSetup(LOOPBACK, 0, wanted.runner, opened)
        return StatusSetup(wanted.host, wanted.port, wanted.runner, opened)

    async def run(self, standing: StandingServer | None, ready: Callable[[], object]) -> None:
        """Show the tournament, until the process ends or this task is cancelled. `ready` is called when the
        pages are there, or cannot be."""

        def opened(url: str) -> None:
            self.on_url(url)
            ready()

        def ended(line: str) -> None:
            self.on_end(line)
            ready()

        try:
            await self._run(standing, opened, ended)
        except OSError as error:
            ended(f"{error.strerror or error}; matches go on")

    async def _run(
        self, standing: StandingServer | None, opened: Callable[[str], object], ended: Callable[[str], object]
    ) -> None:
        words = [str(self.folder), *self.address.words(), "--status-url", self.status_url]
        words += ["--log-level", "warning"]
        if standing is None:
            await run_web_child(words, opened, ended, variables=environment())
            return
        with control_sockets() as (ours, theirs):
            words += ["--live-control", str(theirs.fileno()), "--name", self.login.name]
            async with trio.open_nursery() as nursery:
                nursery.start_soon(let_in, standing.server, ours)
                await run_web_child(
                    words,
                    opened,
                    ended,
                    pass_fds=[theirs.fileno()],
                    variables=environment(self.login.token),
                )
                nursery.cancel_scope.cancel()
