"""The end of a connection to a bot, whatever the bot does meanwhile."""

from __future__ import annotations

import contextlib
import socket

from stellwerk_kit.doctor.callers import AnyClient, Door
from stellwerk_kit.lines import MOST_UNREAD


class Endless(socket.socket):
    """A socket that always has more to read."""

    been_read = 0

    def recv(self, bufsize: int, flags: int = 0) -> bytes:
        self.been_read += bufsize
        assert self.been_read <= 2 * MOST_UNREAD
        return bytes(bufsize)


def test_the_connection_of_a_bot_that_never_stops_writing_is_closed() -> None:
    with contextlib.closing(Door()) as door:
        with socket.create_connection((door.host, door.port)) as bot:
            caller = AnyClient(door)
            connection = Endless(fileno=bot.dup().detach())
            caller.take(connection)
            caller.hang_up()
        assert connection.fileno() < 0
        assert connection.been_read >= MOST_UNREAD
