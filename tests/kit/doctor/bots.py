"""`python bots.py NAME`: bots for the doctor, a good one and others with one fault each.

They are processes and not objects in the tests, because the doctor examines what a bot does with its lines,
its connection and its end. A name is that of a class below.
"""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
import time
from typing import Any

Message = dict[str, Any]  # JSON has no types


class Good:
    """A bot that does everything that the protocol demands, including resume. Over TCP only."""

    def __init__(self) -> None:
        self.session: Message | None = None
        self.last_events: dict[str, int] = {}
        self.unread = b""
        self.connection = self.connect()

    def connect(self) -> socket.socket:
        host, _, port = os.environ["STELLWERK_ADDRESS"].removeprefix("tcp://").rpartition(":")
        connection = socket.create_connection((host, int(port)))
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        return connection

    def run(self) -> int:
        while True:
            line = self.next_line()
            if line is None:
                self.lost()
                continue
            message: Message = json.loads(line)
            if message["type"] == "bye":
                return self.leave(message)
            hear = getattr(self, f"on_{message['type']}", self.on_unknown)
            hear(message)

    def next_line(self) -> bytes | None:
        """Return the next line, or None if the connection is lost."""
        while b"\n" not in self.unread:
            piece = self.connection.recv(65536)
            if not piece:
                return None
            self.unread += piece
        line, _, self.unread = self.unread.partition(b"\n")
        return line

    def say(self, **message: object) -> None:
        self.connection.sendall(json.dumps(message).encode() + b"\n")

    def lost(self) -> None:
        self.unread = b""
        self.connection.close()
        self.connection = self.connect()

    def leave(self, bye: Message) -> int:
        if bye["code"] == "server.shutting_down":
            time.sleep(bye["retry_ms"] / 1000)
            self.lost()
            return self.run()
        return 0 if bye["code"] == "done" else 1

    def on_unknown(self, message: Message) -> None:
        pass

    def on_hello(self, hello: Message) -> None:
        self.say(**self.login())

    def login(self) -> Message:
        login = {"type": "login", "protocol": 1, "name": os.environ["STELLWERK_NAME"]}
        return login | {"token": os.environ["STELLWERK_TOKEN"], "max_matches": 2} | self.resume()

    def resume(self) -> Message:
        if self.session is None:
            return {}
        session, key = self.session["session"], self.session["resume_key"]
        return {"resume": {"session": session, "key": key, "last_events": self.last_events}}

    def on_welcome(self, welcome: Message) -> None:
        self.session = welcome

    def on_start(self, start: Message) -> None:
        self.say(type="ready", match=start["match"])

    def on_event(self, event: Message) -> None:
        if event["number"] != self.last_events.get(event["match"], 0) + 1:
            raise ValueError(f"event {event['number']} is out of order")
        self.last_events[event["match"]] = event["number"]

    def on_ask(self, ask: Message) -> None:
        self.say(type="act", match=ask["match"], ask=ask["ask"], **self.answer(ask))

    def answer(self, ask: Message) -> Message:
        return {"index": ask["ask"] % len(ask["legal"])}

    def on_error(self, error: Message) -> None:
        if error["code"] == "auth.bad_resume_key":
            self.session = None
            self.last_events.clear()
            self.say(**self.login())
        elif error["code"] == "server.busy":
            self.say(type="act", match=error["match"], ask=error["ask"], index=0)
        elif error.get("tries"):
            self.say(type="act", match=error["match"], ask=error["ask"], move=error["nearest"])


# -- at the start ------------------------------------------------------------------------------------


class CrashesAtStart(Good):
    def connect(self) -> socket.socket:
        print("\x1b[31mno such file: weights.bin\x1b[0m\a", file=sys.stderr)
        raise SystemExit(3)


class DiesBySignal(Good):
    def connect(self) -> socket.socket:
        os.kill(os.getpid(), signal.SIGKILL)
        raise AssertionError


class NeverConnects(Good):
    def connect(self) -> socket.socket:
        signal.pause()
        raise AssertionError


class SpeaksFirst(Good):
    def connect(self) -> socket.socket:
        connection = super().connect()
        connection.sendall(b'{"type":"ping"}\n')
        return connection


class Silent(Good):
    def on_hello(self, hello: Message) -> None:
        pass


class WrongVersion(Good):
    def login(self) -> Message:
        return super().login() | {"protocol": 2}


class NewestVersion(Good):
    """A bot that chooses the newest version, whether or not it knows it."""

    def on_hello(self, hello: Message) -> None:
        self.say(**self.login() | {"protocol": max(hello["protocols"])})


class NoToken(Good):
    def login(self) -> Message:
        return {name: value for name, value in super().login().items() if name != "token"}


class ResumesByItsKeyAlone(Good):
    def login(self) -> Message:
        login = super().login()
        return {name: value for name, value in login.items() if name != "token" or "resume" not in login}


class OwnName(Good):
    def login(self) -> Message:
        return super().login() | {"name": "Deep.Train"}


class MisspeltField(Good):
    def login(self) -> Message:
        return super().login() | {"want": {}}


class Garbage(Good):
    def on_hello(self, hello: Message) -> None:
        self.connection.sendall(b"HTTP/1.1 200 OK \x1b[2J\xff\r\n")


class HalfLine(Good):
    def on_hello(self, hello: Message) -> None:
        self.connection.sendall(json.dumps(self.login()).encode())


class EndlessLine(Good):
    def on_hello(self, hello: Message) -> None:
        while True:
            self.connection.sendall(b"x" * 65536)


class HangsUp(Good):
    def on_hello(self, hello: Message) -> None:
        raise SystemExit(7)


class Pings(Good):
    """A good bot that sends pings, which may come at any time after the login."""

    def on_welcome(self, welcome: Message) -> None:
        super().on_welcome(welcome)
        self.say(type="ping", echo=1)

    def on_ask(self, ask: Message) -> None:
        self.say(type="ping")
        super().on_ask(ask)


# -- reading -----------------------------------------------------------------------------------------


class OneSegmentOneLine(Good):
    def next_line(self) -> bytes | None:
        return self.connection.recv(1 << 20) or None


class TakesFirstLineOnly(Good):
    """A bot that drops all lines which arrive together with the first."""

    def next_line(self) -> bytes | None:
        line = super().next_line()
        self.unread = b""
        return line


class ChecksFields(Good):
    def on_hello(self, hello: Message) -> None:
        if hello.keys() != {"type", "protocols", "server", "limits", "features"}:
            raise ValueError("unknown field in hello")
        super().on_hello(hello)


class KnowsAllFieldsOfAnAsk(Good):
    def on_ask(self, ask: Message) -> None:
        if "weather" in ask:
            raise ValueError("unknown field in ask")
        super().on_ask(ask)


class KnowsAllMessages(Good):
    def on_unknown(self, message: Message) -> None:
        if message["type"] == "weather":
            raise ValueError("unknown message")


class KnowsAllEvents(Good):
    def on_event(self, event: Message) -> None:
        if event["event"]["type"] == "weather_changed":
            raise ValueError("unknown event")
        super().on_event(event)


class DropsHalfALine(Good):
    """A bot that drops a line which does not arrive in one piece."""

    def next_line(self) -> bytes | None:
        while b"\n" not in self.unread:
            piece = self.connection.recv(65536)
            if not piece:
                return None
            self.unread = piece[: piece.rfind(b"\n") + 1]
        line, _, self.unread = self.unread.partition(b"\n")
        return line


class ReadsLines(Good):
    """A bot that passes every line through `check` before reading it."""

    def check(self, line: bytes) -> None:
        raise NotImplementedError  # each has its own

    def next_line(self) -> bytes | None:
        line = super().next_line()
        if line is not None:
            self.check(line)
        return line


class ReadsShortLines(ReadsLines):
    def check(self, line: bytes) -> None:
        if len(line) > 32768:
            raise ValueError("too long")


class KnowsNoCarriageReturn(ReadsLines):
    def check(self, line: bytes) -> None:
        if line[-1:] != b"}":
            raise ValueError("no object")


class LooksForText(ReadsLines):
    def check(self, line: bytes) -> None:
        if not line.startswith(b'{"type":"'):
            raise ValueError("no type")


class ReadsAscii(ReadsLines):
    def check(self, line: bytes) -> None:
        line.decode("ascii")


class KnowsSmallNumbers(Good):
    def on_ask(self, ask: Message) -> None:
        if ask["bank_ms"] >= 2**31:
            raise OverflowError
        super().on_ask(ask)


class ConfusedBySeats(Good):
    def on_seat(self, seat: Message) -> None:
        self.say(type="leave", match=seat["match"])


# -- in a match --------------------------------------------------------------------------------------


class ReadyInItsRoom(Good):
    def on_joined(self, joined: Message) -> None:
        self.say(type="ready", match=joined["room"])


class NeverReady(Good):
    def on_start(self, start: Message) -> None:
        pass


class ReadyForAnother(Good):
    def on_start(self, start: Message) -> None:
        self.say(type="ready", match="another")


class AnswersUnasked(Good):
    def on_start(self, start: Message) -> None:
        super().on_start(start)
        self.say(type="act", match=start["match"], ask=1, index=0)


class CutsIds(Good):
    def on_ask(self, ask: Message) -> None:
        super().on_ask(ask | {"match": ask["match"][:32]})


class WrongAsk(Good):
    def on_ask(self, ask: Message) -> None:
        super().on_ask(ask | {"ask": ask["ask"] + 1})


class AnswersTwice(Good):
    def on_ask(self, ask: Message) -> None:
        super().on_ask(ask)
        super().on_ask(ask)


class IndexAndMove(Good):
    def answer(self, ask: Message) -> Message:
        return {"index": 0, "move": ask["legal"][0]}


class IndexTooHigh(Good):
    def answer(self, ask: Message) -> Message:
        return {"index": len(ask["legal"])}


class IllegalLater(Good):
    """A bot that knows the first decision only."""

    def answer(self, ask: Message) -> Message:
        return {"move": ask["legal"][0] if ask["ask"] < 4 else {"type": "draw_tickets"}}


class DoesNotKnow(Good):
    """A bot that does not know this decision."""

    def answer(self, ask: Message) -> Message:
        if ask["decision"]["type"] == sys.argv[2]:
            raise KeyError(sys.argv[2])
        return super().answer(ask)


class KnowsAllDecisions(Good):
    def answer(self, ask: Message) -> Message:
        if ask["decision"]["type"] == "forecast_weather":
            raise ValueError("unknown decision")
        return super().answer(ask)


class DiesOfErrors(Good):
    def on_error(self, error: Message) -> None:
        raise ValueError(error["code"])


class KnowsAllErrors(Good):
    def on_error(self, error: Message) -> None:
        if error["code"] == "game.bad_weather":
            raise ValueError("unknown error")
        super().on_error(error)


class LosesHeart(Good):
    def on_error(self, error: Message) -> None:
        if error["tries"] == 0:
            signal.pause()
        super().on_error(error)


class WaitsForTheDefault(Good):
    def on_error(self, error: Message) -> None:
        pass


class WaitsASecond(Good):
    """A bot that waits before it sends its act again to a busy server."""

    def on_error(self, error: Message) -> None:
        time.sleep(1.1)  # a little more than the second of the protocol
        super().on_error(error)


class TriesAgainTooLate(Good):
    """A bot whose second act crosses the default."""

    def __init__(self) -> None:
        super().__init__()
        self.refused: Message = {}

    def on_error(self, error: Message) -> None:
        self.refused = self.refused or error

    def on_default(self, default: Message) -> None:
        super().on_error(self.refused)


class AnswersStaleAsks(Good):
    def on_error(self, error: Message) -> None:
        self.say(type="act", match=error["match"], ask=error["ask"], index=0)


class StopsAfterADefault(Good):
    def on_default(self, default: Message) -> None:
        signal.pause()


class AnswersDefaults(Good):
    def on_default(self, default: Message) -> None:
        self.say(type="act", match=default["match"], ask=default["ask"], index=0)


class ActsInAFailedMatch(Good):
    def on_error(self, error: Message) -> None:
        if error["code"] == "server.failed":
            self.say(type="act", match=error["match"], ask=2, index=0)


class MixesMatches(Good):
    """A bot that knows only the match that started last."""

    def on_start(self, start: Message) -> None:
        super().on_start(start)
        self.match = start["match"]

    def on_ask(self, ask: Message) -> None:
        super().on_ask(ask | {"match": self.match})


class KnowsItsFirstMatch(MixesMatches):
    """A bot that knows only the match that started first."""

    def on_start(self, start: Message) -> None:
        first = getattr(self, "match", None)
        super().on_start(start)
        self.match = first or self.match


class OneMatchAtATime(Good):
    def login(self) -> Message:
        return super().login() | {"max_matches": 1}


class LeavesAfterOneMatch(Good):
    def on_end(self, end: Message) -> None:
        raise SystemExit(0)


class SlowToAnswer(Good):
    """A bot that is slow at first."""

    def on_ask(self, ask: Message) -> None:
        if ask["ask"] <= 3:
            time.sleep(ask["move_ms"] / 1000 + 0.02)  # a little more than the allowed time
        super().on_ask(ask)


class AlwaysLate(Good):
    """A bot that takes one and a half times the allowed time for each answer."""

    def on_ask(self, ask: Message) -> None:
        time.sleep(1.5 * ask["move_ms"] / 1000)
        super().on_ask(ask)


class WritesTwice(Good):
    """A bot that writes each line, and then its newline."""

    def say(self, **message: object) -> None:
        self.connection.sendall(json.dumps(message).encode())
        time.sleep(0.005)  # so that the system does not join the two
        self.connection.sendall(b"\n")


class FloodsWithPings(Good):
    def on_ask(self, ask: Message) -> None:
        while True:
            self.say(type="ping")


# -- the end -----------------------------------------------------------------------------------------


class GivesUp(Good):
    def lost(self) -> None:
        raise SystemExit(1)


class ComesBackAfresh(Good):
    def resume(self) -> Message:
        return {}

    def on_event(self, event: Message) -> None:
        pass


class ResumesFromTheStart(Good):
    """A good bot: it asks for `start` and all events again, and sends `ready` again."""

    def lost(self) -> None:
        super().lost()
        self.last_events.clear()


class KeepsItsFirstKey(Good):
    def on_welcome(self, welcome: Message) -> None:
        self.session = self.session or welcome


class MakesUpAKey(Good):
    def on_welcome(self, welcome: Message) -> None:
        super().on_welcome(welcome | {"resume_key": "sesame"})


class ForeignSession(Good):
    def on_welcome(self, welcome: Message) -> None:
        super().on_welcome(welcome | {"session": "another"})


class SkipsEvents(Good):
    def lost(self) -> None:
        super().lost()
        self.last_events = {match: number + 1 for match, number in self.last_events.items()}


class AnswersEachAskOnce(Good):
    last = 0

    def on_ask(self, ask: Message) -> None:
        if ask["ask"] > self.last:
            self.last = ask["ask"]
            super().on_ask(ask)


class GluesLines(Good):
    """A bot that puts the rest of one connection before the first line of the next."""

    def lost(self) -> None:
        left = self.unread
        super().lost()
        self.unread = left


class UsesAKeyOnce(Good):
    def on_hello(self, hello: Message) -> None:
        super().on_hello(hello)
        if self.session is not None:
            self.session = self.session | {"resume_key": "used"}


class ResumesForEver(Good):
    def on_error(self, error: Message) -> None:
        self.say(**self.login())


class GivesUpForgotten(Good):
    def on_error(self, error: Message) -> None:
        raise SystemExit(1)


class LeavesWithTheServer(Good):
    def leave(self, bye: Message) -> int:
        return 1


class SaysMore(Good):
    def on_end(self, end: Message) -> None:
        self.say(type="leave", match=end["match"])


class FightsForItsSeat(Good):
    def leave(self, bye: Message) -> int:
        self.lost()
        return self.run()


class NeverExits(Good):
    def leave(self, bye: Message) -> int:
        signal.pause()
        return 0


class ExitsWithOne(Good):
    def leave(self, bye: Message) -> int:
        return 1


class LeavesAChildBehind(Good):
    """A bot with a child process that outlives it and holds its pipes. It writes both ids into the file that
    is named."""

    def __init__(self) -> None:
        child = subprocess.Popen([sys.executable, "-c", "import signal; signal.pause()"])
        with open(sys.argv[2], "a", encoding="utf-8") as file:
            file.write(f"{os.getpid()} {child.pid}\n")
        super().__init__()


class LeavesAChildBehindAndHangs(LeavesAChildBehind):
    def on_hello(self, hello: Message) -> None:
        signal.pause()


class Chatty(Good):
    """A good bot that prints much more than a pipe holds."""

    def on_ask(self, ask: Message) -> None:
        print("thinking " * 2000, file=sys.stderr)
        print("thinking " * 2000, flush=True)
        super().on_ask(ask)


if __name__ == "__main__":
    sys.exit(globals()[sys.argv[1]]().run())
