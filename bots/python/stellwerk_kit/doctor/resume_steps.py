"""The steps in which the connection does not last: resuming, a takeover, and the end."""

from __future__ import annotations

from typing import Final

from msgspec import UNSET

from stellwerk_kit.bot_process import described_status
from stellwerk_kit.doctor.conversation import (
    accept,
    answer,
    be_seated,
    come_back,
    go_on,
    lose,
    play_to_the_end,
    say_goodbye,
    take_seat,
    without_resume,
)
from stellwerk_kit.doctor.patient import Patient, as_line
from stellwerk_kit.doctor.scripted_match import ScriptedMatch
from stellwerk_kit.doctor.steps import Examination, Step
from stellwerk_kit.failed import FailedError
from stellwerk_protocol.messages import Bye, Error, FromServer
from stellwerk_protocol.names import GameName

RETRY_MS: Final = 300
SECONDS_AWAY: Final = 0.2  # less than `retry_ms`


def resumes(examination: Examination, game: GameName) -> None:
    """Resume twice, since each key is valid once. The bot's act has arrived; the events show that."""
    match = examination.match(game)
    with examination.bot() as bot:
        take_seat(bot, match)
        for _ in range(2):
            last_sent = _lose_after_an_act(bot, match)
            known = come_back(examination, bot, match, last_sent)
            bot.say(*go_on(bot, match, known))
        answer(bot, match)


def is_asked_again(examination: Examination, game: GameName) -> None:
    """Lose the act with the connection, and send the same ask again, with the same number."""
    match = examination.match(game)
    with examination.bot() as bot:
        take_seat(bot, match)
        accept(bot, match, answer(bot, match))
        match.others_move()
        news, open_ask = match.news(), match.ask(bot.patience.move_ms)
        bot.say(*news, open_ask)
        bot.hear_act(match)
        lose(bot)
        known = come_back(examination, bot, match, match.last_event)
        bot.say(*go_on(bot, match, known), open_ask)
        accept(bot, match, bot.hear_act(match))
        answer(bot, match)


def forgets_half_a_line(examination: Examination, game: GameName) -> None:
    """Break the connection within a line. Half a line is not a line, and does not continue in the next
    connection."""
    match = examination.match(game)
    with examination.bot() as bot:
        take_seat(bot, match)
        match.play(answer(bot, match))
        messages: list[FromServer] = [match.ok()]
        match.others_move()
        *whole, broken = map(as_line, [*messages, *match.news()])
        bot.send(b"".join(whole) + broken[: len(broken) // 2])
        lose(bot)
        last_sent = match.last_event - 1 if match.wants.events else match.last_event
        known = come_back(examination, bot, match, last_sent)
        bot.say(*go_on(bot, match, known))
        answer(bot, match)


def keeps_its_key(examination: Examination, game: GameName) -> None:
    """Lose a `welcome`: the key that was used for it stays valid."""
    match = examination.match(game)
    with examination.bot() as bot:
        take_seat(bot, match)
        last_sent = _lose_after_an_act(bot, match)
        come_back(examination, bot, match, last_sent)
        lose(bot)
        known = come_back(examination, bot, match, last_sent)
        bot.say(*go_on(bot, match, known))
        answer(bot, match)


def learns_of_the_end(examination: Examination, game: GameName) -> None:
    """End the match while the bot is away."""
    match = examination.ending_match(game)
    with examination.bot() as bot:
        take_seat(bot, match)
        last_sent = _lose_after_an_act(bot, match)
        while not match.over:
            match.play_by_chance()
            match.others_move()
        known = come_back(examination, bot, match, last_sent)
        bot.say(*go_on(bot, match, known))
        say_goodbye(bot, match)
        bot.is_quiet_or_gone("nothing after `bye`")


def logs_in_afresh(examination: Examination, game: GameName) -> None:
    """Forget the session. The token takes the seat back, as if the bot had no events."""
    match = examination.match(game)
    with examination.bot() as bot:
        take_seat(bot, match)
        last_sent = _lose_after_an_act(bot, match)
        come_back(examination, bot, match, last_sent)
        bot.say(Error("auth.bad_resume_key", "a login without `resume`", pointer="/resume"))
        try:
            login = bot.hear_login("a login without `resume`")
        except FailedError as error:
            what = f"it does not log in again when its session is forgotten: {error.came}"
            raise without_resume(examination, what) from None
        if login.resume is not UNSET:
            raise FailedError("a login without `resume`, for its session is forgotten", "`resume` once more")
        match.wants = login.wants
        if bot.has_seat:
            bot.say(*go_on(bot, match, 0))
            answer(bot, match)
        else:  # without a seat token there is no way back into the match
            fresh = examination.other_match(game)
            fresh.wants = login.wants
            be_seated(bot, fresh)
            answer(bot, fresh)


def waits_for_the_server(examination: Examination, game: GameName) -> None:
    """Shut down with a time to come back. Meanwhile all connections are refused."""
    match = examination.match(game)
    with examination.bot() as bot:
        take_seat(bot, match)
        last_sent = _lose_after_an_act(
            bot, match, Bye("server.shutting_down", "another connection later, and `resume`", RETRY_MS)
        )
        bot.expect_no_connection(SECONDS_AWAY)
        known = come_back(examination, bot, match, last_sent)
        bot.say(*go_on(bot, match, known))
        answer(bot, match)


def _lose_after_an_act(bot: Patient, match: ScriptedMatch, *last: Bye) -> int:
    """Lose the connection after an act has arrived and others have moved. Return the number of the last event
    that the bot has."""
    match.play(answer(bot, match))
    last_sent = match.last_event
    match.others_move()
    bot.say(*last)
    lose(bot)
    return last_sent


def stays_away_after_a_takeover(examination: Examination, game: GameName) -> None:
    match = examination.match(game)
    with examination.bot() as bot:
        take_seat(bot, match)
        accept(bot, match, answer(bot, match))
        bot.say(Bye("server.taken_over", "nothing: another connection has resumed this session"))
        bot.cut()
        bot.stays_away("that it stays away: another connection has taken its session over")


def leaves_at_the_end_of_its_input(examination: Examination, game: GameName) -> str | None:
    match = examination.match(game)
    with examination.bot() as bot:
        take_seat(bot, match)
        answer(bot, match)
        bot.cut()
        if bot.exits() is None:
            return f"it still ran {bot.patience.leave:g} s after the end of its standard input"
    return None


def leaves_at_the_end(examination: Examination, game: GameName) -> str | None:
    match = examination.ending_match(game)
    with examination.bot() as bot:
        take_seat(bot, match)
        play_to_the_end(bot, match)
        say_goodbye(bot, match)
        bot.is_quiet_or_gone("nothing after `end` and `bye`")
        if not bot.was_started:
            return None
        bot.cut()
        status = bot.exits()
        if status is None:
            return f"it still ran {bot.patience.leave:g} s after `end` and `bye`"
        return None if status == 0 else f"after `end` and `bye` {described_status(status)}"


RESUME_STEPS: Final = (
    Step(
        "resume",
        "a lost connection is resumed, each time with the newest key",
        resumes,
        ("tcp",),
        duty="SHOULD",
    ),
    Step(
        "open ask",
        "a client that resumes gets the open ask again, with the same number",
        is_asked_again,
        ("tcp",),
        after="resume",
        duty="SHOULD",
    ),
    Step(
        "half a line",
        "half a line at the end of a connection is not a line",
        forgets_half_a_line,
        ("tcp",),
        after="resume",
        duty="SHOULD",
    ),
    Step(
        "lost welcome",
        "a key is valid until the next `welcome` has arrived",
        keeps_its_key,
        ("tcp",),
        after="resume",
        duty="SHOULD",
    ),
    Step(
        "lost end",
        "a client that resumes when the match is over gets `end`",
        learns_of_the_end,
        ("tcp",),
        after="resume",
        duty="SHOULD",
    ),
    Step(
        "forgotten session",
        "after `auth.bad_resume_key` a login without `resume` takes the seat back by its token",
        logs_in_afresh,
        ("tcp",),
        after="resume",
        duty="SHOULD",
    ),
    Step(
        "server going down",
        "a client comes back at the time that the server named, and resumes",
        waits_for_the_server,
        ("tcp",),
        after="resume",
        duty="SHOULD",
    ),
)

END_STEPS: Final = (
    Step(
        "takeover",
        "a client that was taken over does not come back",
        stays_away_after_a_takeover,
        ("tcp",),
        served=False,
    ),
    Step(
        "end of input",
        "over stdio the end of input means bye",
        leaves_at_the_end_of_its_input,
        ("stdio",),
        served=False,
    ),
    Step("end", "nothing follows `bye`, and a bot exits after it", leaves_at_the_end),
)
