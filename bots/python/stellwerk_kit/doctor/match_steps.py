"""The steps of a match: from `start` to the asks, and the other ways in which an ask can end."""

from __future__ import annotations

from functools import partial
from typing import Final

import msgspec

from stellwerk_kit.doctor.conversation import (
    ROOM,
    accept,
    another_match,
    answer,
    ask,
    changes_of_other_seats,
    next_ask,
    play_to_the_end,
    refusal,
    say_goodbye,
    seat_again,
    take_seat,
)
from stellwerk_kit.doctor.patient import Patient, encode, stale
from stellwerk_kit.doctor.scripted_match import DECISIONS, ScriptedMatch
from stellwerk_kit.doctor.steps import Step
from stellwerk_kit.failed import DoesNotApplyError, FailedError, RemarkError, SilenceError, expect
from stellwerk_protocol.messages import Act, Ask, Error, FromServer, Joined

MOST_ASKS: Final = 40  # of a match from its beginning: about half a game
BUSY_SECONDS: Final = 1.0  # until the bot should send an act again to a busy server
TIMED_ASKS: Final = 8  # enough to empty the bank, if each answer takes one and a half times the allowed time
SLOW_ANSWERS: Final = 3  # too many to be an accident


@partial(Step, "ready", "`ready` answers `start`; nothing is sent before it is asked for")
def is_ready(bot: Patient, match: ScriptedMatch) -> None:
    bot.is_quiet("nothing between `ready` and the first ask")


@partial(Step, "first ask", "an act names match and ask, and is legal")
def answers_an_ask(bot: Patient, match: ScriptedMatch) -> None:
    accept(bot, match, answer(bot, match))
    bot.is_quiet("nothing between `ok` and the next ask")


@partial(Step, "room", "a room sends no asks; `start` follows when no player is missing", seat=False)
def waits_in_a_room(bot: Patient, match: ScriptedMatch) -> None:
    def say(message: FromServer) -> None:
        if isinstance(message, Joined):
            bot.say(Joined(ROOM, 2), Joined(ROOM, 3), Joined(ROOM, 1))
            bot.is_quiet("nothing in a room, before `start`")
        bot.say(message)

    take_seat(bot, match, say)
    answer(bot, match)


@partial(Step, "other seats", "messages about other seats need no answer")
def ignores_other_seats(bot: Patient, match: ScriptedMatch) -> None:
    bot.say(*changes_of_other_seats(match))
    bot.is_quiet("nothing when other seats are lost and come back")
    accept(bot, match, answer(bot, match))
    bot.say(*changes_of_other_seats(match))
    answer(bot, match)


@partial(Step, "error", "a refused act can be tried again while tries are left", duty="SHOULD")
def tries_again(bot: Patient, match: ScriptedMatch) -> str | None:
    answer(bot, match)
    bot.say(refusal(match))
    if _acts_again(bot, match):
        return None
    return "it does not try again after an error, and waits for the default"


@partial(Step, "unknown error", "there may be new error codes", duty="SHOULD")
def survives_an_unknown_error(bot: Patient, match: ScriptedMatch) -> None:
    answer(bot, match)
    bot.say(encode(refusal(match)).replace(b'"game.not_available"', b'"game.bad_weather"'))
    _acts_again(bot, match)


def _acts_again(bot: Patient, match: ScriptedMatch, seconds: float | None = None) -> bool:
    """Test whether the bot acts again within this number of seconds. If not, let it wait for the default, and
    send that. In both cases ask once more."""
    try:
        accept(bot, match, bot.hear_act(match, seconds))
        has_acted = True
    except SilenceError:
        bot.may_act_late(match)
        bot.say(match.default("time"), *match.news())
        has_acted = False
    answer(bot, match)
    return has_acted


@partial(Step, "no tries left", "the last refused try ends the ask with a default", seat=False)
def runs_out_of_tries(bot: Patient, match: ScriptedMatch) -> None:
    """Give only one try, because some bots do not use them all."""
    match.tries = 1
    take_seat(bot, match)
    answer(bot, match)
    bot.may_act_late(match)
    bot.say(refusal(match), match.default("tries"), *match.news())
    answer(bot, match)


@partial(Step, "busy server", "`server.busy`: try again in a second", duty="SHOULD")
def is_patient_with_a_busy_server(bot: Patient, match: ScriptedMatch) -> str | None:
    """Answer `server.busy`. The clocks stand still, so a bot that does not send the act again would delay the
    match for long."""
    answer(bot, match)
    busy = "another try in a second: the journal cannot be written"
    bot.say(Error("server.busy", busy, match=match.id, ask=match.ask_number))
    if _acts_again(bot, match, bot.patience.answer + BUSY_SECONDS):
        return None
    return "it does not send its act again to a server that was busy"


@partial(Step, "default", "a client does not answer an ask that ended with a default")
def goes_on_after_a_default(bot: Patient, match: ScriptedMatch) -> None:
    """Send the next ask together with the end of the one before, while an act for that one may be under
    way."""
    ended = next_ask(bot, match)
    bot.may_act_late(match)
    late = match.ask_number
    default = match.default("time")
    bot.say(*ended, default, *next_ask(bot, match))
    expected = f"an act for ask {match.ask_number}, for ask {late} has ended by a default"
    bot.judge(match, bot.hear(Act, expected), expected)


@partial(Step, "stale ask", "`protocol.stale_ask` needs no answer")
def lets_a_stale_ask_rest(bot: Patient, match: ScriptedMatch) -> None:
    """Refuse an act that came too late: the default crossed it."""
    answer(bot, match)
    bot.say(match.default("time"), *match.news(), stale(match.id, match.ask_number))
    bot.is_quiet("nothing for an ask that has ended")
    answer(bot, match)


@partial(Step, "by default", "a seat that plays by default gets no more asks", ending=True)
def is_played_by_default(bot: Patient, match: ScriptedMatch) -> None:
    """Ask the bot no more: send only defaults for its moves, with numbers of asks that it has not seen."""
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
    say_goodbye(bot, match)
    bot.is_quiet("nothing after `bye`", or_gone=True)


@partial(Step, "unknown decision", "a client can answer an unknown decision with an index")
def answers_an_unknown_decision(bot: Patient, match: ScriptedMatch) -> None:
    """Ask with an unknown decision. Games may gain decisions; a client can answer an unknown one with an
    index."""
    ask(bot, match, _with_unknown_decision)
    try:
        act = bot.hear(Act, "an act")
    except FailedError as error:
        came = f"it answers no decision that it does not know, though an index would do: {error.came}"
        raise RemarkError(came) from None
    bot.judge(match, act, f"an act for ask {match.ask_number}, whose decision is unknown,")


def _with_unknown_decision(message: FromServer) -> bytes:
    line = encode(message)
    if isinstance(message, Ask):
        known = str(message.decision.__struct_config__.tag).encode()
        for field in (b"decision", b"pending"):
            begin = b'"' + field + b'":{"type":"'
            line = line.replace(begin + known, begin + b"forecast_weather")
    return line


@partial(Step, "failed match", "after `server.failed` a match is over, without `end`", duty="SHOULD")
def gives_up_a_failed_match(bot: Patient, match: ScriptedMatch) -> None:
    """Send the only error that answers no line."""
    accept(bot, match, answer(bot, match))
    bot.say(Error("server.failed", "nothing: the match is over, by no fault of a player", match=match.id))
    bot.is_quiet("nothing for a match that has failed", or_gone=True)


@partial(Step, "two matches", "a client can play `max_matches` matches at a time", seat=False)
def plays_two_matches_at_once(bot: Patient, match: ScriptedMatch) -> None:
    if take_seat(bot, match).max_matches == 1:
        raise DoesNotApplyError("it plays one match at a time, as `max_matches` says")
    other = another_match(bot, match)
    seat_again(bot, other)
    for _ in range(3):
        bot.say(*next_ask(bot, match), *next_ask(bot, other))
        acts = {act.match: act for act in (bot.hear(Act, "an act for each of two matches") for _ in "12")}
        for each in (match, other):
            expected = f"an act for ask {each.ask_number} of each of two matches"
            expect(each.id in acts, expected, "two acts for the same match")
            accept(bot, each, bot.judge(each, acts[each.id], expected))


@partial(
    Step,
    "another match",
    "one session can play several matches, one after the other",
    ending=True,
    served=False,
)
def plays_another_match(bot: Patient, match: ScriptedMatch) -> None:
    """Seat the bot once more, in the same session."""
    play_to_the_end(bot, match)
    bot.say(match.end())
    other = another_match(bot, match)
    try:
        seat_again(bot, other)
    except FailedError as error:
        raise RemarkError(f"it plays one match only in a session: {error.came}") from None
    accept(bot, other, answer(bot, other))
    answer(bot, other)


@partial(Step, "in time", "an answer takes no longer than `move_ms` and what is left of the bank")
def is_in_time(bot: Patient, match: ScriptedMatch) -> str | None:
    """Check the times early, since everything that follows would take long with a slow bot."""
    return _play_asks(bot, match, TIMED_ASKS)


@partial(Step, "match", "the bot answers every ask with a legal act, in time", each_game=True)
def plays(bot: Patient, match: ScriptedMatch) -> str | None:
    """Play the first half of a match, and check how the bot writes its answers."""
    slow = _play_asks(bot, match, MOST_ASKS)
    in_pieces = f"{bot.in_pieces} lines came in pieces: a message and its newline belong into one write"
    return "; ".join(filter(None, (slow, in_pieces if bot.in_pieces else None))) or None


def _play_asks(bot: Patient, match: ScriptedMatch, ask_count: int) -> str | None:
    """Play up to this ask. Return a warning if the bot was slow."""
    match.others_move()
    while not match.over and match.ask_number < ask_count:
        accept(bot, match, answer(bot, match))
        match.others_move()
    clock = match.clock
    if clock.over_count < SLOW_ANSWERS:
        return None
    slow = f"{clock.over_count} of {match.ask_number} answers took longer than the {clock.move_ms} ms"
    return f"{slow} of their asks; {clock.bank_ms} ms of the bank were left"


def answers_a_decision(bot: Patient, match: ScriptedMatch) -> None:
    """Ask in the middle of a match, as after a resume."""
    accept(bot, match, answer(bot, match))


ANY_DECISION: Final = "the bot answers every ask with a legal act, whatever its decision"

MATCH_STEPS: Final = (is_ready, answers_an_ask, is_in_time, waits_in_a_room)

ASK_STEPS: Final = (
    *(ignores_other_seats, tries_again, survives_an_unknown_error, runs_out_of_tries),
    *(is_patient_with_a_busy_server, goes_on_after_a_default, lets_a_stale_ask_rest, is_played_by_default),
    *(answers_an_unknown_decision, gives_up_a_failed_match, plays),
    *(
        Step(f"decision {kind}", ANY_DECISION, answers_a_decision, decision=kind)
        for kind in dict.fromkeys(kind for kinds in DECISIONS.values() for kind in kinds)
    ),
    *(plays_two_matches_at_once, plays_another_match),
)
