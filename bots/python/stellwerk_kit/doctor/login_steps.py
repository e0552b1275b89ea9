"""The steps from the connection to the login, and the forms that lines may have."""

from __future__ import annotations

from functools import partial
from typing import Final

import msgspec
from msgspec import UNSET

from stellwerk_kit.doctor.conversation import (
    STRANGE_TEXT,
    Change,
    accept,
    answer,
    ask,
    hear_first_login,
    log_in,
    next_ask,
    padded,
    respelled,
    take_seat,
    with_carriage_return,
    with_extreme_values,
    with_unknown_fields,
)
from stellwerk_kit.doctor.patient import Patient, as_line, encode, hello
from stellwerk_kit.doctor.scripted_match import ScriptedMatch
from stellwerk_kit.doctor.steps import Step
from stellwerk_kit.failed import FailedError
from stellwerk_protocol.messages import Ask, EventMessage, FromServer

LONG_ID: Final = "-_" + "0123456789" * 6 + "-x"  # 64 characters
UNKNOWN_MESSAGE: Final = b'{"type":"weather","sky":["gray",{"rain":true}],"degrees":-3}'


@partial(Step, "connects", "the server sends the first line", seat=False)
def connects(bot: Patient, match: ScriptedMatch) -> None:
    bot.connect()
    bot.is_quiet("nothing before `hello`")


@partial(Step, "login", "one line, with a version of `hello` and the token given", seat=False)
def logs_in(bot: Patient, match: ScriptedMatch) -> str | None:
    login = log_in(bot)
    bot.is_quiet("nothing between `login` and `welcome`")
    if login.resume is not UNSET:
        came = f"session {login.resume.session}"
        raise FailedError("a login without `resume`, because it had no session yet", came)
    return None if login.name == bot.name else f"its name is {login.name}, not the one in STELLWERK_NAME"


@partial(Step, "version", "the client chooses one of the versions in `hello` that it knows", seat=False)
def chooses_a_version(bot: Patient, match: ScriptedMatch) -> None:
    bot.connect()
    bot.say(hello(protocols=(1, 2, 7)))
    hear_first_login(bot, "a login after a `hello` with protocols 1, 2 and 7")


@partial(Step, "hello in pieces", "a line ends with its newline, however it arrives", seat=False)
def reads_hello_in_pieces(bot: Patient, match: ScriptedMatch) -> None:
    """Send `hello` byte by byte, also within the characters of a text."""
    bot.connect()
    bot.say_in_pieces(with_unknown_fields(hello()), 1)
    hear_first_login(bot, "a login after a `hello` that came byte by byte")


def reads_all_lines(bot: Patient, match: ScriptedMatch, change: Change, id: str | None = None) -> None:
    """Change each line up to the second ask."""
    match.id = id or match.id
    take_seat(bot, match, lambda message: bot.say(change(message)))
    for _ in range(2):
        ask(bot, match, change)
        accept(bot, match, bot.hear_act(match))


@partial(Step, "lines in pieces", "a line ends with its newline, however it arrives", seat=False)
def reads_lines_in_pieces(bot: Patient, match: ScriptedMatch) -> None:
    """Send lines of several kilobytes, as a network cuts them."""
    take_seat(bot, match, lambda message: bot.say_in_pieces(message, 1000))
    bot.say_in_pieces(b"\n".join(map(encode, next_ask(bot, match))), 700)
    bot.hear_act(match)


@partial(Step, "a line and a half", "a segment can end within a line")
def reads_a_line_and_a_half(bot: Patient, match: ScriptedMatch) -> None:
    """Send segments that end within a line, except the last."""
    match.play(answer(bot, match))
    messages: list[FromServer] = [match.ok(), *next_ask(bot, match)]
    lines = b"".join(map(as_line, messages))
    middle = len(lines) - len(lines) // 3  # of the ask, which is by far the longest
    bot.send(lines[:middle])
    bot.is_quiet("nothing before the line has ended")
    bot.send(lines[middle:])
    bot.hear_act(match)


@partial(Step, "many lines at once", "a segment can hold several lines", seat=False)
def reads_many_lines_at_once(bot: Patient, match: ScriptedMatch) -> None:
    take_seat(bot, match, at_once=True)
    for _ in range(3):
        accept(bot, match, answer(bot, match))
    answer(bot, match)


@partial(Step, "unknown messages", "a client ignores messages that it does not know", seat=False)
def ignores_unknown_messages(bot: Patient, match: ScriptedMatch) -> None:
    take_seat(bot, match, lambda message: bot.say(message, UNKNOWN_MESSAGE))
    bot.say(UNKNOWN_MESSAGE)
    bot.is_quiet("nothing for an unknown message")
    answer(bot, match)


@partial(Step, "unknown events", "a client ignores events that it does not know")
def ignores_unknown_events(bot: Patient, match: ScriptedMatch) -> None:
    """Put an unknown event between the others, which are renumbered as if it had always been there."""
    if match.wants.events:
        number = match.last_event + 1
        strange = {"type": "weather_changed", "sky": STRANGE_TEXT, "seat": match.seat}
        message = {"type": "event", "match": match.id, "number": number, "event": strange}
        bot.say(msgspec.json.encode(message))
    for _ in range(2):
        ask(bot, match, _one_later)
        match.play(bot.hear_act(match))
        bot.say(match.ok(), *map(_one_later, match.news()))


def _one_later(message: FromServer) -> bytes:
    if isinstance(message, EventMessage):
        return encode(msgspec.structs.replace(message, number=message.number + 1))
    if isinstance(message, Ask):
        return encode(msgspec.structs.replace(message, after_event=message.after_event + 1))
    return encode(message)


def _form(name: str, law: str, change: Change, id: str | None = None) -> Step:
    """Return the step that sends every line in another form."""
    return Step(name, law, partial(reads_all_lines, change=change, id=id), seat=False)


LOGIN_STEPS: Final = (connects, logs_in, chooses_a_version, reads_hello_in_pieces)

LINE_STEPS: Final = (
    _form("unknown fields", "a client ignores fields that it does not know", with_unknown_fields),
    ignores_unknown_messages,
    ignores_unknown_events,
    reads_lines_in_pieces,
    reads_a_line_and_a_half,
    reads_many_lines_at_once,
    _form("long lines", "a server's line can have 59,999 bytes", padded),
    _form("carriage return", "a `\\r` before the newline is ignored", with_carriage_return),
    _form("any JSON", "a JSON object may have any order, blanks and escapes", respelled),
    _form("any text and number", "texts are Unicode, integers go up to 2^53-1", with_extreme_values),
    _form("long ids", "an id is a text of up to 64 letters, digits, `_` and `-`", encode, LONG_ID),
)
