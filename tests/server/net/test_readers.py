"""One task that reads for many sockets: what goes wrong with one of them, or stops it, concerns no other."""

from __future__ import annotations

import socket
from collections.abc import AsyncGenerator, Callable, Generator
from contextlib import ExitStack, asynccontextmanager, contextmanager

import trio
from trio.testing import wait_all_tasks_blocked

from stellwerk_server.net.readers import SENT_TOGETHER, SharedReader
from stellwerk_server.net.transports import SocketTransport


@asynccontextmanager
async def shared_reader(
    send_news: Callable[[], None] = lambda: None,
) -> AsyncGenerator[tuple[SharedReader, trio.Nursery]]:
    async with trio.open_nursery() as nursery:
        reader = SharedReader(send_news)
        nursery.start_soon(reader.run)
        yield reader, nursery
        nursery.cancel_scope.cancel()


@contextmanager
def connected() -> Generator[tuple[SocketTransport, socket.socket]]:
    """Open a connection. Yield the server's end and the client's."""
    ours, theirs = socket.socketpair()
    with ours, theirs:
        yield SocketTransport(ours), theirs


def test_a_connection_that_fails_or_ends_is_over_and_the_others_are_read_on() -> None:
    async def main() -> None:
        outcomes: dict[str, object] = {}
        heard: list[bytes] = []

        def fail(data: bytes) -> bool:
            raise LookupError(data)

        def note(data: bytes) -> bool:
            heard.append(data)
            return True

        with connected() as (failing, failing_client), connected() as (sound, client):
            async with shared_reader() as (reader, nursery):

                async def read_failing() -> None:
                    try:
                        await reader.read(failing, fail)
                    except LookupError as error:
                        outcomes["failing"] = error.args[0]

                async def read_sound() -> None:
                    outcomes["sound"] = await reader.read(sound, note)

                nursery.start_soon(read_failing)
                nursery.start_soon(read_sound)
                await wait_all_tasks_blocked()
                for text in (b"one", b"two"):
                    failing_client.send(text)
                    client.send(text)
                    await wait_all_tasks_blocked()
                assert outcomes == {"failing": b"one"}
                assert heard == [b"one", b"two"]
                client.close()
                await wait_all_tasks_blocked()
                assert outcomes == {"failing": b"one", "sound": False}

    trio.run(main)


def test_a_connection_that_wants_no_more_is_left_alone_until_it_is_read_again() -> None:
    async def main() -> None:
        heard: list[bytes] = []

        def stop(data: bytes) -> bool:
            heard.append(data)
            return False

        with connected() as (transport, client):
            async with shared_reader() as (reader, _):
                client.send(b"first")
                assert await reader.read(transport, stop)
                client.send(b"second")
                await wait_all_tasks_blocked()
                assert heard == [b"first"]
                assert await reader.read(transport, stop)
                assert heard == [b"first", b"second"]

    trio.run(main)


def test_a_socket_whose_reading_was_cancelled_is_not_touched_any_more() -> None:
    async def main() -> None:
        heard: list[bytes] = []

        def note(data: bytes) -> bool:
            heard.append(data)
            return True

        with connected() as (transport, client):
            async with shared_reader() as (reader, _):
                with trio.move_on_after(0):
                    await reader.read(transport, note)
                client.send(b"later")
                await wait_all_tasks_blocked()
                assert heard == []
                assert await transport.receive() == b"later"

    trio.run(main)


def test_what_was_heard_together_is_answered_together_and_nobody_waits_for_many() -> None:
    connection_count = SENT_TOGETHER + 2

    async def main() -> None:
        happened: list[str] = []

        def note(data: bytes) -> bool:
            happened.append(data.decode())
            return True

        with ExitStack() as stack:
            pairs = [stack.enter_context(connected()) for _ in range(connection_count)]
            async with shared_reader(lambda: happened.append("sent")) as (reader, nursery):
                for transport, _ in pairs:
                    nursery.start_soon(reader.read, transport, note)
                await wait_all_tasks_blocked()
                for _, client in pairs:
                    client.send(b"heard")
                await wait_all_tasks_blocked()
        assert happened == [*["heard"] * SENT_TOGETHER, "sent", "heard", "heard", "sent"]

    trio.run(main)
