"""The steps of a match: from `start` to the asks, and the other ways in which an ask can end."""

from __future__ import annotations

from functools import partial
from typing import Final

import msgspec

from stellwerk_kit.doctor.conversation import (
    ROOM,
    accept,
    answer,
    ask,
    be_seated,
    changes_of_other_seats,
    hear_ready,
    log_in,
    next_ask,
    one_by_one,
    play_to_the_end,
    refusal,
    start_of,
    take_seat,
)
from stellwerk_kit.doctor.patient import Patient, encode, stale
from stellwerk_kit.doctor.scripted_match import DECISIONS, ScriptedMatch
from stellwerk_kit.doctor.steps import Examination, Step
from stellwerk_kit.failed import DoesNotApplyError, FailedError, RemarkError, SilenceError
from stellwerk_protocol.messages import Act, Ask, Bye, Error, FromServer, Joined
from stellwerk_protocol.names import GameName

MOST_ASKS: Final = 40  # of a match from its beginning: about half a game
BUSY_SECONDS: Final = 1.0  # until the bot should send an act again to a busy server
TIMED_ASKS: Final = 8  # enough to empty the bank, if each answer takes one and a half times the allowed time
SLOW_ANSWERS: Final = 3  # too many to be an accident


def waits_in_a_room(examination: Examination, game: GameName) -> None:
    match = examination.match(game)
    with examination.bot() as bot:

        def send(message: FromServer) -> None:
            if isinstance(message, Joined):
                bot.say(Joined(ROOM, 2), Joined(ROOM, 3), Joined(ROOM, 1))
                bot.is_quiet("nothing in a room, before `start`")
            bot.say(message)

        match.wants = log_in(bot).wants
        be_seated(bot, match, one_by_one(send))
        answer(bot, match)


def is_ready(examination: Examination, game: GameName) -> None:
    match = examination.match(game)
    with examination.bot() as bot:
        take_seat(bot, match)
        bot.is_quiet("nothing between `ready` and the first ask")


def answers_an_ask(examination: Examination, game: GameName) -> None:
    match = examination.match(game)
    with examination.bot() as bot:
        take_seat(bot, match)
        accept(bot, match, answer(bot, match))
        bot.is_quiet("nothing between `ok` and the next ask")


def ignores_other_seats(examination: Examination, game: GameName) -> None:
    match = examination.match(game)
    with examination.bot() as bot:
        take_seat(bot, match)
        bot.say(*changes_of_other_seats(match))
        bot.is_quiet("nothing when other seats are lost and come back")
        accept(bot, match, answer(bot, match))
        bot.say(*changes_of_other_seats(match))
        answer(bot, match)


def tries_again(examination: Examination, game: GameName) -> str | None:
    match = examination.match(game)
    with examination.bot() as bot:
        take_seat(bot, match)
        answer(bot, match)
        bot.say(refusal(match))
        tried = _tries_again(bot, match)
        answer(bot, match)
    return None if tried else "it does not try again after an error, and waits for the default"


def survives_an_unknown_error(examination: Examination, game: GameName) -> None:
    match = examination.match(game)
    with examination.bot() as bot:
        take_seat(bot, match)
        answer(bot, match)
        bot.say(encode(refusal(match)).replace(b'"game.not_available"', b'"game.bad_weather"'))
        _tries_again(bot, match)
        answer(bot, match)


def _tries_again(bot: Patient, match: ScriptedMatch, seconds: float | None = None) -> bool:
    """Test whether the bot acts again within this number of seconds. If not, let it wait for the default, and
    send that."""
    try:
        accept(bot, match, bot.hear_act(match, seconds))
    except SilenceError:
        bot.may_act_late(match)
        bot.say(match.default("time"), *match.news())
        return False
    return True


def runs_out_of_tries(examination: Examination, game: GameName) -> None:
    """Give only one try, because some bots do not use them all."""
    match = examination.match(game)
    match.tries = 1
    with examination.bot() as bot:
        take_seat(bot, match)
        answer(bot, match)
        bot.may_act_late(match)
        bot.say(refusal(match), match.default("tries"), *match.news())
        answer(bot, match)


def is_patient_with_a_busy_server(examination: Examination, game: GameName) -> str | None:
    """Answer `server.busy`. The clocks stand still, so a bot that does not send the act again would delay the
    match for long."""
    match = examination.match(game)
    with examination.bot() as bot:
        take_seat(bot, match)
        answer(bot, match)
        busy = "another try in a second: the journal cannot be written"
        bot.say(Error("server.busy", busy, match=match.id, ask=match.ask_number))
        tried = _tries_again(bot, match, bot.patience.answer + BUSY_SECONDS)
        answer(bot, match)
    return None if tried else "it does not send its act again to a server that was busy"


def goes_on_after_a_default(examination: Examination, game: GameName) -> None:
    """Send the next ask together with the end of the one before, while an act for that one may be under
    way."""
    match = examination.match(game)
    with examination.bot() as bot:
        take_seat(bot, match)
        ended = next_ask(bot, match)
        bot.may_act_late(match)
        late = match.ask_number
        default = match.default("time")
        bot.say(*ended, default, *next_ask(bot, match))
        expected = f"an act for ask {match.ask_number}, for ask {late} has ended by a default"
        bot.judge(match, bot.hear(Act, expected), expected)


def lets_a_stale_ask_rest(examination: Examination, game: GameName) -> None:
    """Refuse an act that came too late: the default crossed it."""
    match = examination.match(game)
    with examination.bot() as bot:
        take_seat(bot, match)
        answer(bot, match)
        bot.say(match.default("time"), *match.news(), stale(match.id, match.ask_number))
        bot.is_quiet("nothing for an ask that has ended")
        answer(bot, match)


def is_played_by_default(examination: Examination, game: GameName) -> None:
    """Ask the bot no more: send only defaults for its moves, with numbers of asks that it has not seen."""
    match = examination.ending_match(game)
    with examination.bot() as bot:
        take_seat(bot, match)
        ask(bot, match)
        bot.may_act_late(match)
        default = match.default("time")
        bot.say(msgspec.structs.replace(default, by_default=True), *match.news())
        while not match.over:
            match.others_move()
            if not match.over:
                news = match.news()
                match.ask_number += 1
                moved = msgspec.structs.replace(match.default("by_default"), by_default=True)
                bot.say(*news, moved, *match.news())
        bot.is_quiet("nothing from a seat that plays by default")
        bot.say(match.end(), Bye("done", "nothing: the match is over"))
        bot.is_quiet_or_gone("nothing after `bye`")


def answers_an_unknown_decision(examination: Examination, game: GameName) -> None:
    """Ask with an unknown decision. Games may gain decisions; a client can answer an unknown one with an
    index."""
    match = examination.match(game)
    with examination.bot() as bot:
        take_seat(bot, match)
        ask(bot, match, _with_unknown_decision)
        try:
            act = bot.hear(Act, "an act")
        except FailedError as error:
            came = f"it answers no decision that it does not know, though an index would do: {error.came}"
            raise RemarkError(came) from None
        bot.judge(match, act, f"an act for ask {match.ask_number}, whose decision is unknown,")


def _with_unknown_decision(message: FromServer) -> bytes:
    line = encode(message)
    if not isinstance(message, Ask):
        return line
    known = str(message.decision.__struct_config__.tag).encode()
    return line.replace(b'"decision":{"type":"' + known, b'"decision":{"type":"forecast_weather').replace(
        b'"pending":{"type":"' + known, b'"pending":{"type":"forecast_weather'
    )


def plays_two_matches_at_once(examination: Examination, game: GameName) -> None:
    one, other = examination.match(game), examination.other_match(game)
    with examination.bot() as bot:
        login = log_in(bot)
        if login.max_matches == 1:
            raise DoesNotApplyError("it plays one match at a time, as `max_matches` says")
        one.wants = other.wants = login.wants
        be_seated(bot, one)
        bot.say(Joined(f"{ROOM}-2", 0), start_of(bot, other), *other.events_after(0))
        hear_ready(bot, other)
        for _ in range(3):
            bot.say(*next_ask(bot, one), *next_ask(bot, other))
            acts = {act.match: act for act in (bot.hear(Act, "an act for each of two matches") for _ in "12")}
            for match in (one, other):
                expected = f"an act for ask {match.ask_number} of each of two matches"
                if match.id not in acts:
                    raise FailedError(expected, "two acts for the same match")
                accept(bot, match, bot.judge(match, acts[match.id], expected))


def gives_up_a_failed_match(examination: Examination, game: GameName) -> None:
    """Send the only error that answers no line."""
    match = examination.match(game)
    with examination.bot() as bot:
        take_seat(bot, match)
        accept(bot, match, answer(bot, match))
        bot.say(Error("server.failed", "nothing: the match is over, by no fault of a player", match=match.id))
        bot.is_quiet_or_gone("nothing for a match that has failed")


def plays_another_match(examination: Examination, game: GameName) -> None:
    """Seat the bot once more, in the same session."""
    one, other = examination.ending_match(game), examination.other_match(game)
    with examination.bot() as bot:
        take_seat(bot, one)
        play_to_the_end(bot, one)
        bot.say(one.end())
        other.wants = one.wants
        bot.say(Joined(f"{ROOM}-2", 0), start_of(bot, other), *other.events_after(0))
        try:
            hear_ready(bot, other)
        except FailedError as error:
            raise RemarkError(f"it plays one match only in a session: {error.came}") from None
        accept(bot, other, answer(bot, other))
        answer(bot, other)


def is_in_time(examination: Examination, game: GameName) -> str | None:
    """Check the times early, since everything that follows would take long with a slow bot."""
    match = examination.match(game)
    with examination.bot() as bot:
        take_seat(bot, match)
        _play_asks(bot, match, TIMED_ASKS)
    return _warn_of_slowness(match)


def plays(examination: Examination, game: GameName) -> str | None:
    """Play the first half of a match, and check how the bot writes its answers."""
    match = examination.match(game)
    with examination.bot() as bot:
        take_seat(bot, match)
        _play_asks(bot, match, MOST_ASKS)
        remarks = [_warn_of_slowness(match)]
        if bot.in_pieces:
            remarks.append(
                f"{bot.in_pieces} lines came in pieces: a message and its newline belong into one write"
            )
    return "; ".join(filter(None, remarks)) or None


def _play_asks(bot: Patient, match: ScriptedMatch, ask_count: int) -> None:
    match.others_move()
    while not match.over and match.ask_number < ask_count:
        accept(bot, match, answer(bot, match))
        match.others_move()


def _warn_of_slowness(match: ScriptedMatch) -> str | None:
    clock = match.clock
    if clock.over_count < SLOW_ANSWERS:
        return None
    slow = f"{clock.over_count} of {match.ask_number} answers took longer than the {clock.move_ms} ms"
    return f"{slow} of their asks; {clock.bank_ms} ms of the bank were left"


def answers_a_decision(kind: str, examination: Examination, game: GameName) -> None:
    """Ask in the middle of a match, as after a resume."""
    match = examination.match_at(kind, game)
    with examination.bot() as bot:
        take_seat(bot, match)
        accept(bot, match, answer(bot, match))


MATCH_STEPS: Final = (
    Step("ready", "`ready` answers `start`; nothing is sent before it is asked for", is_ready),
    Step("first ask", "an act names match and ask, and is legal", answers_an_ask),
    Step("in time", "an answer takes no longer than `move_ms` and what is left of the bank", is_in_time),
    Step("room", "a room sends no asks; `start` follows when no player is missing", waits_in_a_room),
)

ASK_STEPS: Final = (
    Step("other seats", "messages about other seats need no answer", ignores_other_seats),
    Step("error", "a refused act can be tried again while tries are left", tries_again, duty="SHOULD"),
    Step("unknown error", "there may be new error codes", survives_an_unknown_error, duty="SHOULD"),
    Step("no tries left", "the last refused try ends the ask with a default", runs_out_of_tries),
    Step(
        "busy server",
        "`server.busy`: try again in a second",
        is_patient_with_a_busy_server,
        duty="SHOULD",
    ),
    Step("default", "a client does not answer an ask that ended with a default", goes_on_after_a_default),
    Step("stale ask", "`protocol.stale_ask` needs no answer", lets_a_stale_ask_rest),
    Step("by default", "a seat that plays by default gets no more asks", is_played_by_default),
    Step(
        "unknown decision",
        "a client can answer an unknown decision with an index",
        answers_an_unknown_decision,
    ),
    Step(
        "failed match",
        "after `server.failed` a match is over, without `end`",
        gives_up_a_failed_match,
        duty="SHOULD",
    ),
    Step("match", "the bot answers every ask with a legal act, in time", plays, each_game=True),
    *(
        Step(
            f"decision {kind}",
            "the bot answers every ask with a legal act, whatever its decision",
            partial(answers_a_decision, kind),
            decision=kind,
        )
        for kind in dict.fromkeys(kind for kinds in DECISIONS.values() for kind in kinds)
    ),
    Step("two matches", "a client can play `max_matches` matches at a time", plays_two_matches_at_once),
    Step(
        "another match",
        "one session can play several matches, one after the other",
        plays_another_match,
        served=False,
    ),
)
