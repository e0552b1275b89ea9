"""`--web` of a tournament: a process that shows it to browsers, from its folder and the runner's status page.

The matches of remote bots have deals of their own, and anybody may watch them: then the process is also a
spectator of the server inside the runner.

Law: the pages cannot delay or end a match. The runner waits some seconds for them to start, then treats them
as any spectator.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from stellwerk.shared.web_child import Parent, WatchedServer, WebLogin, run_web_child

if TYPE_CHECKING:
    from stellwerk_processes.standing_server import StandingServer


@dataclass(slots=True)
class LivePages:
    """The live pages of a tournament at an address, as `--web` has it. `on_url` gets their URL, `on_end` one
    line if the process ends by itself."""

    folder: Path
    address: str
    on_url: Callable[[str], object]
    on_end: Callable[[str], object]
    login: WebLogin = field(default_factory=WebLogin.drawn)

    async def run(
        self, standing: StandingServer | None, status_url: str, ready: Callable[[], object]
    ) -> None:
        """Show the tournament, until the process ends or this task is cancelled. `ready` is called when the
        pages are there, or cannot be."""

        def opened(url: str) -> None:
            self.on_url(url)
            ready()

        def ended(line: str) -> None:
            self.on_end(line)
            ready()

        watched = None if standing is None else WatchedServer(standing.server, self.login, True)
        try:
            await run_web_child(
                str(self.folder),
                self.address,
                opened,
                ended,
                parent=Parent(status=status_url, log_level="warning"),
                watched=watched,
            )
        except OSError as error:
            ended(f"{error.strerror or error}; matches go on")
