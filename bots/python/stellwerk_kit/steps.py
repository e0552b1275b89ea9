"""What a bot has to do: each step is a server's side of a conversation, written down, with a fresh process.

A step returns None if all went well, or a warning: something that is allowed, but could be done better. It
raises `FailedError` if the bot breaks the protocol. To add one, write its function and put it into `STEPS`,
behind the steps that it relies on.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from hashlib import sha256
from typing import Final

from msgspec import UNSET

from stellwerk_engine.decision import Move
from stellwerk_kit.bot_process import Transport, told_status
from stellwerk_kit.patient import (
    NAME,
    FailedError,
    Patience,
    Patient,
    SilenceError,
    clocks,
    encode,
    hello,
)
from stellwerk_kit.scripted_match import (
    TRIES,
    ScriptedMatch,
    in_the_last_round,
    of_each_kind,
    offered_games,
)
from stellwerk_protocol.messages import (
    Act,
    Ask,
    Bye,
    Error,
    EventMessage,
    FromServer,
    Joined,
    Login,
    Ready,
    SeatChanged,
    Wants,
    Welcome,
)
from stellwerk_protocol.names import GameName

ROOM: Final = "doctor"
SEAT: Final = 1  # not the one that moves first
MOST_ASKS: Final = 40  # of a match from its beginning: about half a game
UNKNOWN_MESSAGE: Final = b'{"type":"weather","sky":["gray",{"rain":true}],"degrees":-3}'
UNKNOWN_FIELDS: Final = b'"weather":{"sky":"gr\xc3\xa4ulich","type":"start","degrees":[-3,{}]}'


@dataclass(frozen=True, slots=True)
class Examination:
    """What is examined, and how."""

    command: tuple[str, ...]
    transport: Transport
    patience: Patience
    seed: str
    require_resume: bool = False

    def bot(self) -> Patient:
        bot_seed = int.from_bytes(sha256(self.seed.encode()).digest()[:6], "big")  # every language reads it
        return Patient(self.command, self.transport, self.patience, str(bot_seed))

    def match(self, game: GameName, seat: int = SEAT) -> ScriptedMatch:
        return ScriptedMatch(game, seat, self.seed)


@dataclass(frozen=True, slots=True)
class Step:
    """`law` is what the step checks, in the words of the protocol. With `each_game` it is taken for each of
    the games that are asked for, else for the first of them."""

    name: str
    law: str
    examine: Callable[[Examination, GameName], str | None]
    transports: tuple[Transport, ...] = ("tcp", "stdio")
    each_game: bool = False


# -- login -------------------------------------------------------------------------------------------


def connects(examination: Examination, game: GameName) -> None:
    with examination.bot() as bot:
        bot.connect()
        bot.is_quiet("nothing before `hello`")


def logs_in(examination: Examination, game: GameName) -> str | None:
    with examination.bot() as bot:
        login = _log_in(bot)
        bot.is_quiet("nothing between `login` and `welcome`")
    if login.resume is not UNSET:
        raise FailedError(
            "a login without `resume`, for it had no session yet", f"session {login.resume.session}"
        )
    if login.name != NAME:
        return f"its name is {login.name}, and not the one in STELLWERK_NAME"
    return None


def reads_hello_in_pieces(examination: Examination, game: GameName) -> None:
    with examination.bot() as bot:
        bot.connect()
        bot.say_in_pieces(_with_unknown_fields(hello()), 1)
        bot.hear_login("a login after a `hello` that came byte by byte")


def chooses_a_version(examination: Examination, game: GameName) -> None:
    with examination.bot() as bot:
        bot.connect()
        bot.say(hello(protocols=(1, 2, 7)))
        bot.hear_login("a login after a `hello` with protocols 1, 2 and 7")


def ignores_unknown_fields(examination: Examination, game: GameName) -> None:
    match = examination.match(game)
    with examination.bot() as bot:
        bot.connect()
        bot.say(_with_unknown_fields(hello()))
        match.wants = bot.hear_login("a login after a `hello` with an unknown field").wants
        for message in _seating(bot, match):
            bot.say(_with_unknown_fields(message))
        _hear_ready(bot, match)
        _ask(bot, match, change=_with_unknown_fields)
        bot.hear_act(match)


def ignores_unknown_messages(examination: Examination, game: GameName) -> None:
    match = examination.match(game)
    with examination.bot() as bot:
        bot.connect()
        bot.say(hello())
        bot.say(UNKNOWN_MESSAGE)
        match.wants = bot.hear_login("a login after `hello` and an unknown message").wants
        for message in _seating(bot, match):
            bot.say(message, UNKNOWN_MESSAGE)
        _hear_ready(bot, match)
        bot.say(UNKNOWN_MESSAGE)
        bot.is_quiet("nothing for an unknown message")
        _ask(bot, match)
        bot.hear_act(match)


# -- a match -----------------------------------------------------------------------------------------


def is_ready(examination: Examination, game: GameName) -> None:
    match = examination.match(game)
    with examination.bot() as bot:
        _take_seat(bot, match)
        bot.is_quiet("nothing between `ready` and the first ask")


def answers_an_ask(examination: Examination, game: GameName) -> None:
    match = examination.match(game)
    with examination.bot() as bot:
        _take_seat(bot, match)
        _accept(bot, match, _answer(bot, match))
        bot.is_quiet("nothing between `ok` and the next ask")


def reads_lines_in_pieces(examination: Examination, game: GameName) -> None:
    """Lines of several kilobytes, as a network cuts them."""
    match = examination.match(game)
    with examination.bot() as bot:
        match.wants = _log_in(bot).wants
        for message in _seating(bot, match):
            bot.say_in_pieces(message, 1000)
        _hear_ready(bot, match)
        _ask(bot, match, pieces=700)
        bot.hear_act(match)


def reads_many_lines_at_once(examination: Examination, game: GameName) -> None:
    match = examination.match(game)
    with examination.bot() as bot:
        match.wants = _log_in(bot).wants
        bot.say(*_seating(bot, match))
        _hear_ready(bot, match)
        for _ in range(3):
            move = _answer(bot, match)
            match.play(move)
            ok = match.ok()
            match.others_move()
            bot.say(ok, *match.news(), *_changes_of_other_seats(match))
        _answer(bot, match)


def ignores_other_seats(examination: Examination, game: GameName) -> None:
    match = examination.match(game)
    with examination.bot() as bot:
        _take_seat(bot, match)
        bot.say(*_changes_of_other_seats(match))
        bot.is_quiet("nothing when other seats are lost and come back")
        _accept(bot, match, _answer(bot, match))
        bot.say(*_changes_of_other_seats(match))
        _answer(bot, match)


def tries_again(examination: Examination, game: GameName) -> str | None:
    """A legal act is refused here, as if the bot had been wrong: it cannot know better."""
    match = examination.match(game)
    warning: str | None = None
    with examination.bot() as bot:
        _take_seat(bot, match)
        _answer(bot, match)
        bot.say(_refusal(match))
        try:
            _accept(bot, match, bot.hear_act(match))
        except SilenceError:
            warning = "it does not try again after an error, and waits for the default"
            bot.say(match.default("time"), *match.news())
        _answer(bot, match)
    return warning


def goes_on_after_a_default(examination: Examination, game: GameName) -> None:
    """The next ask comes together with the end of the one before: an act for that one may be under way."""
    match = examination.match(game)
    with examination.bot() as bot:
        _take_seat(bot, match)
        match.others_move()
        news = match.news()
        ended = match.ask(bot.patience.move_ms)
        default = match.default("time")
        match.others_move()
        bot.say(*news, ended, default, *match.news(), match.ask(bot.patience.move_ms))
        expected = f"an act for ask {match.ask_number}, for ask {ended.ask} has ended by a default"
        act = bot.hear(Act, expected)
        if act.ask == ended.ask:
            bot.say(_stale(match, ended.ask))
            act = bot.hear(Act, expected)
        bot.judge(match, act, expected)


def lets_a_stale_ask_rest(examination: Examination, game: GameName) -> None:
    """The act came too late: the default crossed it."""
    match = examination.match(game)
    with examination.bot() as bot:
        _take_seat(bot, match)
        _answer(bot, match)
        bot.say(match.default("time"), *match.news(), _stale(match, match.ask_number))
        bot.is_quiet("nothing for an ask that has ended")
        _answer(bot, match)


def plays(examination: Examination, game: GameName) -> None:
    """The first half of a match, and then, each in a match under way, the decisions that have not come up."""
    match = examination.match(game, seat=0)
    met: set[str] = set()
    with examination.bot() as bot:
        _take_seat(bot, match)
        match.others_move()
        while not match.over and match.ask_number < MOST_ASKS:
            met.add(match.decision)
            _accept(bot, match, _answer(bot, match))
            match.others_move()
    for kind, moment in of_each_kind(game, SEAT, examination.seed).items():
        if kind not in met:
            with examination.bot() as bot:
                _take_seat(bot, moment)
                _answer(bot, moment)


# -- the end -----------------------------------------------------------------------------------------


def resumes(examination: Examination, game: GameName) -> str | None:
    """Twice, for each key is good once."""
    match = examination.match(game)
    with examination.bot() as bot:
        _take_seat(bot, match)
        for _ in range(2):
            move = _answer(bot, match)
            told = match.last_event
            bot.cut()
            match.play(move)
            match.others_move()
            if not bot.comes_back():
                return _without_resume(examination, "it does not come back when its connection is lost")
            bot.say(hello())
            login = bot.hear_login("a login with `resume`, for its connection was lost")
            match.wants = login.wants
            if login.resume is UNSET:
                return _without_resume(
                    examination, "it comes back without `resume`: its token alone has to do"
                )
            known = _check_resume(bot, match, login, told)
            if known:
                bot.say(_welcome(bot, match.wants), *match.events_after(known))
            else:
                bot.may_be_ready_again = True
                bot.say(_welcome(bot, match.wants), _start(bot, match), *match.events_after(0))
        _answer(bot, match)
    return None


def stays_away_after_a_takeover(examination: Examination, game: GameName) -> None:
    match = examination.match(game)
    with examination.bot() as bot:
        _take_seat(bot, match)
        _accept(bot, match, _answer(bot, match))
        bot.say(Bye("server.taken_over", "nothing: another connection has resumed this session"))
        bot.cut()
        bot.stays_away("that it stays away: another connection has taken its session over")


def leaves_at_the_end(examination: Examination, game: GameName) -> None:
    match = in_the_last_round(game, SEAT, examination.seed)
    with examination.bot() as bot:
        _take_seat(bot, match)
        while not match.over:
            match.play(_answer(bot, match))
            ok = match.ok()
            match.others_move()
            bot.say(ok, *match.news())
        bot.say(match.end(), Bye("done", "nothing: the match is over"))
        bot.cut()
        expected = "that it exits with status 0 after `end` and `bye`"
        status = bot.exits(expected)
        if status != 0:
            raise FailedError(expected, told_status(status))


def leaves_at_the_end_of_its_input(examination: Examination, game: GameName) -> None:
    match = examination.match(game)
    with examination.bot() as bot:
        _take_seat(bot, match)
        _answer(bot, match)
        bot.cut()
        bot.exits("that it exits, for its standard input has ended")


STEPS: Final = (
    Step("connects", "the server speaks first", connects),
    Step("login", "one line, with a version of `hello` and the token given", logs_in),
    Step("version", "the client chooses one of the versions in `hello` that it knows", chooses_a_version),
    Step("hello in pieces", "a line ends with its newline, however it arrives", reads_hello_in_pieces),
    Step("ready", "`ready` answers `start`; nothing is sent before it is asked for", is_ready),
    Step("first ask", "an act names match and ask, and is legal", answers_an_ask),
    Step("unknown fields", "a client ignores fields that it does not know", ignores_unknown_fields),
    Step("unknown messages", "a client ignores messages that it does not know", ignores_unknown_messages),
    Step("lines in pieces", "a line ends with its newline, however it arrives", reads_lines_in_pieces),
    Step("many lines at once", "a segment can hold several lines", reads_many_lines_at_once),
    Step("other seats", "what becomes of other seats needs no answer", ignores_other_seats),
    Step("error", "a refused act can be tried again while tries are left", tries_again),
    Step("default", "an ask that ended by a default is not answered any more", goes_on_after_a_default),
    Step("stale ask", "`protocol.stale_ask` needs no answer", lets_a_stale_ask_rest),
    Step("match", "every ask is answered by a legal act, whatever its decision", plays, each_game=True),
    Step("resume", "a lost connection is resumed, each time with the newest key", resumes, ("tcp",)),
    Step("takeover", "who was taken over stays away", stays_away_after_a_takeover, ("tcp",)),
    Step("end of input", "over stdio the end of input means bye", leaves_at_the_end_of_its_input, ("stdio",)),
    Step("end", "after `end` and `bye` a bot exits with status 0", leaves_at_the_end),
)


# -- parts of conversations --------------------------------------------------------------------------


def _log_in(bot: Patient) -> Login:
    bot.connect()
    bot.say(hello())
    return bot.hear_login("a login after `hello`")


def _take_seat(bot: Patient, match: ScriptedMatch) -> None:
    """From the connection to `ready`."""
    match.wants = _log_in(bot).wants
    for message in _seating(bot, match):
        bot.say(message)
    _hear_ready(bot, match)


def _seating(bot: Patient, match: ScriptedMatch) -> list[FromServer]:
    """What a bot is told between its login and `ready`."""
    return [_welcome(bot, match.wants), Joined(ROOM, 0), _start(bot, match), *match.events_after(0)]


def _welcome(bot: Patient, wants: Wants) -> Welcome:
    return Welcome(bot.session, bot.new_key(), NAME, wants, offered_games())


def _start(bot: Patient, match: ScriptedMatch) -> FromServer:
    return match.start(clocks(bot.patience), NAME)


def _hear_ready(bot: Patient, match: ScriptedMatch) -> None:
    expected = f"`ready` for the match {match.id}"
    ready = bot.hear(Ready, expected)
    if ready.match != match.id:
        raise FailedError(expected, f"`ready` for the match {ready.match}")


def _ask(
    bot: Patient,
    match: ScriptedMatch,
    change: Callable[[FromServer], bytes] = encode,
    pieces: int | None = None,
) -> None:
    """Whatever has happened since, and the next ask."""
    match.others_move()
    messages: list[EventMessage | Ask] = [*match.news(), match.ask(bot.patience.move_ms)]
    if pieces is None:
        bot.say(*map(change, messages))
    else:
        bot.say_in_pieces(b"\n".join(map(change, messages)), pieces)


def _answer(bot: Patient, match: ScriptedMatch) -> Move:
    """The move that the bot makes at the next ask."""
    _ask(bot, match)
    return bot.hear_act(match)


def _accept(bot: Patient, match: ScriptedMatch, move: Move) -> None:
    match.play(move)
    bot.say(match.ok(), *match.news())


def _refusal(match: ScriptedMatch) -> Error:
    return Error(
        code="game.not_available",
        expected="another move: the doctor refuses every first one here",
        pointer="",
        match=match.id,
        ask=match.ask_number,
        tries=TRIES - 1,
        nearest=match.fallback().wire,
    )


def _stale(match: ScriptedMatch, ask: int) -> Error:
    return Error(code="protocol.stale_ask", expected="an open ask", pointer="/ask", match=match.id, ask=ask)


def _changes_of_other_seats(match: ScriptedMatch) -> list[SeatChanged]:
    other = (match.seat + 1) % match.game.seat_count
    return [
        SeatChanged(match.id, other, "lost"),
        SeatChanged(match.id, other, "back"),
        SeatChanged(match.id, other, "by_default"),
    ]


def _check_resume(bot: Patient, match: ScriptedMatch, login: Login, told: int) -> int:
    """The number of the event from which the bot wants to go on."""
    assert login.resume is not UNSET
    resume = login.resume
    if resume.session != bot.session:
        raise FailedError(f"`resume` with the session {bot.session}", f"the session {resume.session}")
    if resume.key != bot.keys[-1]:
        came = "an older key" if resume.key in bot.keys else "a key that was never given"
        raise FailedError("`resume` with the `resume_key` of the last `welcome`", came)
    if login.name != NAME:
        raise FailedError(f"a login with the session's name, {NAME}", f"the name {login.name}")
    known = resume.last_events.get(match.id, 0)
    if known > told:
        expected = f"`resume` with {told} as last event of the match {match.id}, or less"
        raise FailedError(expected, f"{known}, an event that it was never sent")
    return known


def _without_resume(examination: Examination, what: str) -> str:
    if examination.require_resume:
        raise FailedError("that it resumes its session after its connection was lost", what)
    return what


def _with_unknown_fields(message: FromServer) -> bytes:
    """One before all others, one behind them."""
    line = encode(message)
    return b'{"season":"winter",' + line[1:-1] + b"," + UNKNOWN_FIELDS + b"}"
