"""The steps from the connection to the login, and the forms that lines may have."""

from __future__ import annotations

from typing import Final

import msgspec
from msgspec import UNSET

from stellwerk_kit.doctor.conversation import (
    STRANGE_TEXT,
    accept,
    answer,
    ask,
    be_seated,
    hear_first_login,
    log_in,
    next_ask,
    one_by_one,
    respelled,
    take_seat,
    with_carriage_return,
    with_unknown_fields,
)
from stellwerk_kit.doctor.patient import LIMITS, as_line, encode, hello
from stellwerk_kit.doctor.steps import Examination, Step
from stellwerk_kit.failed import FailedError
from stellwerk_protocol.canonical import LARGEST_INT
from stellwerk_protocol.messages import Ask, EventMessage, FromServer
from stellwerk_protocol.names import GameName

LONGEST_LINE: Final = 59_999  # bytes of a server's line, with its newline
LONG_ID: Final = "-_" + "0123456789" * 6 + "-x"  # 64 characters
UNKNOWN_MESSAGE: Final = b'{"type":"weather","sky":["gray",{"rain":true}],"degrees":-3}'


def connects(examination: Examination, game: GameName) -> None:
    with examination.bot() as bot:
        bot.connect()
        bot.is_quiet("nothing before `hello`")


def logs_in(examination: Examination, game: GameName) -> str | None:
    with examination.bot() as bot:
        login = log_in(bot)
        bot.is_quiet("nothing between `login` and `welcome`")
        if login.resume is not UNSET:
            raise FailedError(
                "a login without `resume`, because it had no session yet", f"session {login.resume.session}"
            )
        if login.name != bot.name:
            return f"its name is {login.name}, not the one in STELLWERK_NAME"
    return None


def chooses_a_version(examination: Examination, game: GameName) -> None:
    with examination.bot() as bot:
        bot.connect()
        bot.say(hello(protocols=(1, 2, 7)))
        hear_first_login(bot, "a login after a `hello` with protocols 1, 2 and 7")


def reads_hello_in_pieces(examination: Examination, game: GameName) -> None:
    """Send `hello` byte by byte, also within the characters of a text."""
    with examination.bot() as bot:
        bot.connect()
        bot.say_in_pieces(with_unknown_fields(hello()), 1)
        hear_first_login(bot, "a login after a `hello` that came byte by byte")


def reads_lines_in_pieces(examination: Examination, game: GameName) -> None:
    """Send lines of several kilobytes, as a network cuts them."""
    match = examination.match(game)
    with examination.bot() as bot:
        match.wants = log_in(bot).wants
        be_seated(bot, match, one_by_one(lambda message: bot.say_in_pieces(message, 1000)))
        bot.say_in_pieces(b"\n".join(map(encode, next_ask(bot, match))), 700)
        bot.hear_act(match)


def reads_a_line_and_a_half(examination: Examination, game: GameName) -> None:
    """Send segments that end within a line, except the last."""
    match = examination.match(game)
    with examination.bot() as bot:
        take_seat(bot, match)
        move = answer(bot, match)
        match.play(move)
        messages: list[FromServer] = [match.ok(), *next_ask(bot, match)]
        lines = b"".join(map(as_line, messages))
        middle = len(lines) - len(lines) // 3  # of the ask, which is by far the longest
        bot.send(lines[:middle])
        bot.is_quiet("nothing before the line has ended")
        bot.send(lines[middle:])
        bot.hear_act(match)


def reads_many_lines_at_once(examination: Examination, game: GameName) -> None:
    match = examination.match(game)
    with examination.bot() as bot:
        match.wants = log_in(bot).wants
        be_seated(bot, match, lambda messages: bot.say(*messages))
        for _ in range(3):
            accept(bot, match, answer(bot, match))
        answer(bot, match)


def reads_long_lines(examination: Examination, game: GameName) -> None:
    match = examination.match(game)
    with examination.bot() as bot:
        take_seat(bot, match)
        for _ in range(2):
            ask(bot, match, padded)
            accept(bot, match, bot.hear_act(match))


def reads_carriage_returns(examination: Examination, game: GameName) -> None:
    match = examination.match(game)
    with examination.bot() as bot:
        match.wants = log_in(bot, with_carriage_return).wants
        be_seated(bot, match, one_by_one(lambda message: bot.say(with_carriage_return(message))))
        ask(bot, match, with_carriage_return)
        bot.hear_act(match)


def reads_any_json(examination: Examination, game: GameName) -> None:
    match = examination.match(game)
    with examination.bot() as bot:
        match.wants = log_in(bot, respelled).wants
        be_seated(bot, match, one_by_one(lambda message: bot.say(respelled(message))))
        ask(bot, match, respelled)
        bot.hear_act(match)


def reads_any_text_and_number(examination: Examination, game: GameName) -> None:
    match = examination.match(game)
    strange = msgspec.structs.replace(
        hello(),
        server=f"server {STRANGE_TEXT}",
        limits=msgspec.structs.replace(LIMITS, unsent_bytes=LARGEST_INT, unsent_ms=LARGEST_INT),
    )
    with examination.bot() as bot:
        bot.connect()
        bot.say(strange)
        match.wants = hear_first_login(bot).wants
        be_seated(bot, match)
        ask(bot, match, _with_a_large_bank)
        bot.hear_act(match)


def keeps_ids_as_they_are(examination: Examination, game: GameName) -> None:
    match = examination.match(game)
    match.id = LONG_ID
    with examination.bot() as bot:
        take_seat(bot, match)
        for _ in range(2):
            accept(bot, match, answer(bot, match))


def ignores_unknown_fields(examination: Examination, game: GameName) -> None:
    match = examination.match(game)
    with examination.bot() as bot:
        match.wants = log_in(bot, with_unknown_fields).wants
        be_seated(bot, match, one_by_one(lambda message: bot.say(with_unknown_fields(message))))
        ask(bot, match, with_unknown_fields)
        bot.hear_act(match)


def ignores_unknown_messages(examination: Examination, game: GameName) -> None:
    match = examination.match(game)
    with examination.bot() as bot:
        bot.connect()
        bot.say(hello())
        bot.say(UNKNOWN_MESSAGE)
        match.wants = hear_first_login(bot, "a login after `hello` and an unknown message").wants
        be_seated(bot, match, one_by_one(lambda message: bot.say(message, UNKNOWN_MESSAGE)))
        bot.say(UNKNOWN_MESSAGE)
        bot.is_quiet("nothing for an unknown message")
        answer(bot, match)


def ignores_unknown_events(examination: Examination, game: GameName) -> None:
    """Put an unknown event between the others, which are renumbered as if it had always been there."""
    match = examination.match(game)
    with examination.bot() as bot:
        take_seat(bot, match)
        if match.wants.events:
            number = match.last_event + 1
            strange = {"type": "weather_changed", "sky": STRANGE_TEXT, "seat": match.seat}
            message = {"type": "event", "match": match.id, "number": number, "event": strange}
            bot.say(msgspec.json.encode(message))
        for _ in range(2):
            ask(bot, match, _one_later)
            match.play(bot.hear_act(match))
            bot.say(match.ok(), *map(_one_later, match.news()))


def padded(message: FromServer) -> bytes:
    """Make an ask as long as a line can be."""
    line = encode(message)
    if not isinstance(message, Ask):
        return line
    field = b',"padding":""}'
    room = LONGEST_LINE - len(b"\n") - (len(line) - 1) - len(field)
    return line[:-1] + field[:-2] + b"x" * room + field[-2:]


def _with_a_large_bank(message: FromServer) -> bytes:
    if isinstance(message, Ask):
        return encode(msgspec.structs.replace(message, bank_ms=LARGEST_INT))
    return encode(message)


def _one_later(message: FromServer) -> bytes:
    if isinstance(message, EventMessage):
        return encode(msgspec.structs.replace(message, number=message.number + 1))
    if isinstance(message, Ask):
        return encode(msgspec.structs.replace(message, after_event=message.after_event + 1))
    return encode(message)


LOGIN_STEPS: Final = (
    Step("connects", "the server sends the first line", connects),
    Step("login", "one line, with a version of `hello` and the token given", logs_in),
    Step("version", "the client chooses one of the versions in `hello` that it knows", chooses_a_version),
    Step("hello in pieces", "a line ends with its newline, however it arrives", reads_hello_in_pieces),
)

LINE_STEPS: Final = (
    Step("unknown fields", "a client ignores fields that it does not know", ignores_unknown_fields),
    Step("unknown messages", "a client ignores messages that it does not know", ignores_unknown_messages),
    Step("unknown events", "a client ignores events that it does not know", ignores_unknown_events),
    Step("lines in pieces", "a line ends with its newline, however it arrives", reads_lines_in_pieces),
    Step("a line and a half", "a segment can end within a line", reads_a_line_and_a_half),
    Step("many lines at once", "a segment can hold several lines", reads_many_lines_at_once),
    Step("long lines", "a server's line can have 59,999 bytes", reads_long_lines),
    Step("carriage return", "a `\\r` before the newline is ignored", reads_carriage_returns),
    Step("any JSON", "a JSON object may have any order, blanks and escapes", reads_any_json),
    Step("any text and number", "texts are Unicode, integers go up to 2^53-1", reads_any_text_and_number),
    Step("long ids", "an id is a text of up to 64 letters, digits, `_` and `-`", keeps_ids_as_they_are),
)
