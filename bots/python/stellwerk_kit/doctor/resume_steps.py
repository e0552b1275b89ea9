"""The steps in which the connection does not last: resuming, a takeover, and the end."""

from __future__ import annotations

from functools import partial
from typing import Final

from msgspec import UNSET

from stellwerk_kit.bot_process import described_status
from stellwerk_kit.doctor.conversation import (
    accept,
    another_match,
    answer,
    be_seated,
    come_back,
    go_on,
    lack_of_resume,
    lose,
    play_to_the_end,
    resume,
    say_goodbye,
)
from stellwerk_kit.doctor.patient import Patient, as_line
from stellwerk_kit.doctor.scripted_match import ScriptedMatch
from stellwerk_kit.doctor.steps import Step
from stellwerk_kit.failed import FailedError
from stellwerk_protocol.messages import Bye, Error, FromServer

RETRY_MS: Final = 300
SECONDS_AWAY: Final = 0.2  # less than `retry_ms`

resuming: Final = partial(Step, transports=("tcp",), duty="SHOULD")
once_resumed: Final = partial(resuming, after="resume")


@partial(resuming, "resume", "a lost connection is resumed, each time with the newest key")
def resumes(bot: Patient, match: ScriptedMatch) -> None:
    """Resume twice, since each key is valid once. The bot's act has arrived; the events show that."""
    for _ in range(2):
        resume(bot, match, _lose_after_an_act(bot, match))
    answer(bot, match)


@partial(once_resumed, "open ask", "a client that resumes gets the open ask again, with the same number")
def is_asked_again(bot: Patient, match: ScriptedMatch) -> None:
    """Lose the act with the connection, and send the same ask again, with the same number."""
    accept(bot, match, answer(bot, match))
    match.others_move()
    news, open_ask = match.news(), match.ask(bot.patience.move_ms)
    bot.say(*news, open_ask)
    bot.hear_act(match)
    lose(bot)
    resume(bot, match, match.last_event, open_ask)
    accept(bot, match, bot.hear_act(match))
    answer(bot, match)


@partial(once_resumed, "half a line", "half a line at the end of a connection is not a line")
def forgets_half_a_line(bot: Patient, match: ScriptedMatch) -> None:
    """Break the connection within a line. Half a line is not a line, and does not continue in the next
    connection."""
    match.play(answer(bot, match))
    messages: list[FromServer] = [match.ok()]
    match.others_move()
    *whole, broken = map(as_line, [*messages, *match.news()])
    bot.send(b"".join(whole) + broken[: len(broken) // 2])
    lose(bot)
    resume(bot, match, match.last_event - 1 if match.wants.events else match.last_event)
    answer(bot, match)


@partial(once_resumed, "lost welcome", "a key is valid until the next `welcome` has arrived")
def keeps_its_key(bot: Patient, match: ScriptedMatch) -> None:
    """Lose a `welcome`: the key that was used for it stays valid."""
    last_sent = _lose_after_an_act(bot, match)
    come_back(bot, match, last_sent)
    lose(bot)
    resume(bot, match, last_sent)
    answer(bot, match)


@partial(once_resumed, "lost end", "a client that resumes when the match is over gets `end`", ending=True)
def learns_of_the_end(bot: Patient, match: ScriptedMatch) -> None:
    """End the match while the bot is away."""
    last_sent = _lose_after_an_act(bot, match)
    while not match.over:
        match.play_by_chance()
        match.others_move()
    resume(bot, match, last_sent)
    say_goodbye(bot, match)
    bot.is_quiet("nothing after `bye`", or_gone=True)


FORGOTTEN: Final = "after `auth.bad_resume_key` a login without `resume` takes the seat back by its token"


@partial(once_resumed, "forgotten session", FORGOTTEN)
def logs_in_afresh(bot: Patient, match: ScriptedMatch) -> None:
    """Forget the session. The token takes the seat back, as if the bot had no events."""
    come_back(bot, match, _lose_after_an_act(bot, match))
    bot.say(Error("auth.bad_resume_key", "a login without `resume`", pointer="/resume"))
    try:
        login = bot.hear_login("a login without `resume`")
    except FailedError as error:
        what = f"it does not log in again when its session is forgotten: {error.came}"
        raise lack_of_resume(bot, what) from None
    if login.resume is not UNSET:
        raise FailedError("a login without `resume`, for its session is forgotten", "`resume` once more")
    match.wants = login.wants
    if bot.has_seat:
        go_on(bot, match, 0)
    else:  # without a seat token there is no way back into the match
        match = another_match(bot, match)
        be_seated(bot, match, login.wants)
    answer(bot, match)


GOING_DOWN: Final = "a client comes back at the time that the server named, and resumes"


@partial(once_resumed, "server going down", GOING_DOWN)
def waits_for_the_server(bot: Patient, match: ScriptedMatch) -> None:
    """Shut down with a time to come back. Meanwhile all connections are refused."""
    bye = Bye("server.shutting_down", "another connection later, and `resume`", RETRY_MS)
    last_sent = _lose_after_an_act(bot, match, bye)
    bot.expect_no_connection(SECONDS_AWAY)
    resume(bot, match, last_sent)
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


@partial(
    Step, "takeover", "a client that was taken over does not come back", transports=("tcp",), served=False
)
def stays_away_after_a_takeover(bot: Patient, match: ScriptedMatch) -> None:
    accept(bot, match, answer(bot, match))
    bot.say(Bye("server.taken_over", "nothing: another connection has resumed this session"))
    bot.cut()
    bot.stays_away("that it stays away: another connection has taken its session over")


@partial(Step, "end of input", "over stdio the end of input means bye", transports=("stdio",), served=False)
def leaves_at_the_end_of_its_input(bot: Patient, match: ScriptedMatch) -> str | None:
    answer(bot, match)
    bot.cut()
    if bot.exits() is None:
        return f"it still ran {bot.patience.leave:g} s after the end of its standard input"
    return None


@partial(Step, "end", "nothing follows `bye`, and a bot exits after it", ending=True)
def leaves_at_the_end(bot: Patient, match: ScriptedMatch) -> str | None:
    play_to_the_end(bot, match)
    say_goodbye(bot, match)
    bot.is_quiet("nothing after `end` and `bye`", or_gone=True)
    if not bot.was_started:
        return None
    bot.cut()
    status = bot.exits()
    if status is None:
        return f"it still ran {bot.patience.leave:g} s after `end` and `bye`"
    return None if status == 0 else f"after `end` and `bye` {described_status(status)}"


RESUME_STEPS: Final = (
    *(resumes, is_asked_again, forgets_half_a_line, keeps_its_key, learns_of_the_end, logs_in_afresh),
    waits_for_the_server,
)
END_STEPS: Final = (stays_away_after_a_takeover, leaves_at_the_end_of_its_input, leaves_at_the_end)
