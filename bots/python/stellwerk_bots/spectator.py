"""A spectator: it lists the matches of a server, and watches them one at a time.

    with Spectator(default_address(), "my-eyes") as spectator:
        for match in spectator.matches():
            for message in spectator.watch(match["match"]):
                print(message)

The law: like the client of a bot it ignores what it does not know, and raises a ClientError of one line for
everything else. It does not reconnect by itself: its matches continue without it.
"""

from __future__ import annotations

from collections.abc import Generator, Mapping
from typing import TYPE_CHECKING, Final, TypeAlias, cast

from stellwerk_bots.client import NO_SERVER, PROTOCOL, REFUSED, USAGE, ClientError, reason
from stellwerk_bots.connection import AddressError, WrongLineError, connect

if TYPE_CHECKING:
    from stellwerk_bots.messages import (
        End,
        ErrorMessage,
        EventMessage,
        FromServer,
        ListedMatch,
        ListMatches,
        Login,
        MatchList,
        SeatChanged,
        WatchedStart,
    )

Watched: TypeAlias = "WatchedStart | EventMessage | SeatChanged | End | ErrorMessage"

FEATURE: Final = "matches"


class Spectator:
    """A client that only watches, logged in. It keeps the list of matches as it reads it."""

    def __init__(
        self, address: str, name: str, *, token: str | None = None, tls_ca: str | None = None
    ) -> None:
        """Connect and log in. Raise ClientError if that is not possible."""
        try:
            self._connection = connect(address, tls_ca)
        except AddressError as error:
            raise ClientError(str(error), USAGE) from None
        except OSError as error:
            text = f"cannot connect to {address}: {error.strerror or error}"
            raise ClientError(text, NO_SERVER) from None
        self._cursor: str | None = None
        self._listed: dict[str, ListedMatch] = {}
        try:
            self._log_in(name, token)
        except BaseException:
            self.close()
            raise

    def __enter__(self) -> Spectator:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def close(self) -> None:
        self._connection.close()

    def matches(self) -> list[ListedMatch]:
        """Return the matches that run and the last ones that ended, as `match_list` has them, in the order of
        their latest changes. Each call asks only for what has changed since the last one."""
        while True:
            request: ListMatches = {"type": "matches"}
            if self._cursor is not None:
                request["after"] = self._cursor
            self._send(request)
            reply = cast("MatchList", self._receive("match_list"))
            if reply.get("anew", False):
                self._listed.clear()
            for match in reply["matches"]:
                self._listed.pop(match["match"], None)
                self._listed[match["match"]] = match
            self._cursor = reply["cursor"]
            if not reply.get("more", False):
                return list(self._listed.values())

    def watch(self, match: str) -> Generator[Watched]:
        """Yield what the public sees of a match: `start`, each `event` and `seat`, and `end`. If the server
        fails the match, the last message is that `error`. A caller that stops reading leaves the match."""
        self._send({"type": "watch", "match": match})
        message = cast("Watched", self._receive("start"))
        try:
            yield message
            while message["type"] not in ("end", "error"):
                message = cast("Watched", self._receive("event", "seat", "end", "error"))
                yield message
        except GeneratorExit:
            if message["type"] not in ("end", "error"):
                self._send({"type": "leave", "match": match})
                self._receive("left", "error")  # an error if it has ended meanwhile
            raise

    # -- lines -----------------------------------------------------------------------------------

    def _log_in(self, name: str, token: str | None) -> None:
        hello = self._receive("hello")
        if (
            hello["type"] != "hello"
            or PROTOCOL not in hello["protocols"]
            or FEATURE not in hello.get("features", ())
        ):
            raise ClientError(
                f"this server cannot list its matches: it lacks the feature {FEATURE!r}", REFUSED
            )
        login: Login = {"type": "login", "protocol": PROTOCOL, "name": name, "language": "python"}
        if token is not None:
            login["token"] = token
        self._send(login)
        self._receive("welcome")

    def _send(self, message: Mapping[str, object]) -> None:
        try:
            self._connection.send(message)
        except OSError:
            raise ClientError("the connection is lost", NO_SERVER) from None

    def _receive(self, *kinds: str) -> FromServer:
        """Return the next message of one of these kinds. A refusal or a `bye` raises ClientError."""
        while True:
            try:
                message = self._connection.receive()
            except OSError:
                message = None
            except WrongLineError as error:
                raise ClientError(f"this is not a Stellwerk server: {error}", REFUSED) from None
            if message is None:
                raise ClientError("the connection is lost", NO_SERVER)
            if message["type"] in kinds:
                return message
            if message["type"] == "error" or message["type"] == "bye":
                raise ClientError(reason("the server refused a message", message), REFUSED)
