"""The parts of conversations that several steps share: what a server sends next, and what must come back."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from typing import Final

import msgspec
from msgspec import UNSET

from stellwerk_engine.core.state import Move
from stellwerk_kit.doctor.patient import Patient, clocks, encode, hello
from stellwerk_kit.doctor.scripted_match import ScriptedMatch, offered_games
from stellwerk_kit.doctor.steps import Examination
from stellwerk_kit.failed import FailedError, RemarkError
from stellwerk_protocol.messages import (
    Ask,
    Bye,
    Error,
    EventMessage,
    FromServer,
    Join,
    Joined,
    Login,
    Ready,
    SeatChanged,
    Start,
    Welcome,
)

ROOM: Final = "doctor"

Send = Callable[[Sequence[FromServer]], object]
Change = Callable[[FromServer], bytes]

# -- to the first ask --------------------------------------------------------------------------------


def log_in(bot: Patient, change: Change = encode) -> Login:
    """Wait for the connection, and go up to the login."""
    bot.connect()
    bot.say(change(hello()))
    return hear_first_login(bot)


def hear_first_login(bot: Patient, expected: str = "a login after `hello`") -> Login:
    """Receive the first login. A client that we did not start may still have the session of an earlier case;
    refuse that, so that it logs in without `resume`."""
    login = bot.hear_login(expected)
    if login.resume is not UNSET and not bot.was_started:
        bot.say(Error("auth.bad_resume_key", "a login without `resume`", pointer="/resume"))
        login = bot.hear_login(f"{expected}, without `resume` once that was refused")
    return login


def take_seat(bot: Patient, match: ScriptedMatch) -> None:
    """Go from the connection to `ready`."""
    match.wants = log_in(bot).wants
    be_seated(bot, match)


def be_seated(bot: Patient, match: ScriptedMatch, send: Send | None = None) -> None:
    """Go from the login to `ready`. `send` sends the messages; by default one by one."""
    send = send if send is not None else one_by_one(bot.say)
    before: list[FromServer] = [welcome(bot, match)]
    if not bot.has_seat:
        send(before)
        before = []
        hear_join(bot, match)
    send([*before, Joined(ROOM, 0), start_of(bot, match), *match.events_after(0)])
    hear_ready(bot, match)


def one_by_one(say: Callable[[FromServer], object]) -> Send:
    def send(messages: Sequence[FromServer]) -> None:
        for message in messages:
            say(message)

    return send


def welcome(bot: Patient, match: ScriptedMatch) -> Welcome:
    games = offered_games()
    if not bot.was_started:  # it may choose: there is no choice
        seats = (match.game.seat_count,)
        games = tuple(
            msgspec.structs.replace(game, players=seats, options=())
            for game in games
            if game.game == match.game.id
        )
    return Welcome(bot.session, bot.new_key(), bot.name, match.wants, games)


def hear_join(bot: Patient, match: ScriptedMatch) -> None:
    """Receive the `join` of a client without a seat token. Refuse one for another game, so that the client
    can correct it."""
    game, players = match.game.id, match.game.seat_count
    expected = f"`join` for {game} with {players} players (with a token there is no need to join)"
    join = bot.hear(Join, expected)
    if refused := _refusal_of(join, match):
        bot.say(refused)
        join = bot.hear(Join, expected)
        if _refusal_of(join, match):
            raise FailedError(expected, f"`join` for {join.game} with {join.players} players")
    if join.against:
        match.others = join.against


def _refusal_of(join: Join, match: ScriptedMatch) -> Error | None:
    if join.game != match.game.id:
        return Error("protocol.wrong_value", match.game.id, pointer="/game")
    if join.players != match.game.seat_count:
        return Error("protocol.wrong_value", f"{match.game.seat_count}", pointer="/players")
    if join.options:
        return Error("protocol.wrong_value", "no options", pointer="/options")
    if join.against and len(join.against) != match.game.seat_count - 1:
        return Error("protocol.wrong_value", f"{match.game.seat_count - 1} house bots", pointer="/against")
    if join.seat not in (UNSET, match.seat):
        return Error("protocol.wrong_value", f"{match.seat}", pointer="/seat")
    return None


def start_of(bot: Patient, match: ScriptedMatch) -> Start:
    bot.seat(match.id)
    return match.start(clocks(bot.patience), bot.name)


def hear_ready(bot: Patient, match: ScriptedMatch) -> None:
    expected = f"`ready` for the match {match.id}"
    ready = bot.hear(Ready, expected)
    if ready.match != match.id:
        raise FailedError(expected, f"`ready` for the match {ready.match}")


# -- asks and their ends -----------------------------------------------------------------------------


def ask(bot: Patient, match: ScriptedMatch, change: Change = encode) -> None:
    """Send the events since the last ask, and the next ask."""
    bot.say(*map(change, next_ask(bot, match)))


def next_ask(bot: Patient, match: ScriptedMatch) -> list[EventMessage | Ask]:
    match.others_move()
    return [*match.news(), match.ask(bot.patience.move_ms)]


def answer(bot: Patient, match: ScriptedMatch) -> Move:
    """Return the bot's move at the next ask."""
    ask(bot, match)
    return bot.hear_act(match)


def accept(bot: Patient, match: ScriptedMatch, move: Move) -> None:
    match.play(move)
    bot.say(match.ok(), *match.news())


def refusal(match: ScriptedMatch) -> Error:
    """Return a refusal of a legal act, as if the bot had made a mistake: it cannot know better."""
    return Error(
        code="game.not_available",
        expected="another move: the doctor refuses this one",
        pointer="",
        match=match.id,
        ask=match.ask_number,
        tries=match.tries - 1,
        nearest=match.fallback().wire,
    )


def changes_of_other_seats(match: ScriptedMatch) -> list[SeatChanged]:
    other = (match.seat + 1) % match.game.seat_count
    return [
        SeatChanged(match.id, other, "lost"),
        SeatChanged(match.id, other, "back"),
        SeatChanged(match.id, other, "by_default"),
        SeatChanged(match.id, other, "left"),
    ]


def play_to_the_end(bot: Patient, match: ScriptedMatch) -> None:
    """Play the rest of the match, except `end`."""
    while not match.over:
        match.play(answer(bot, match))
        ok = match.ok()
        match.others_move()
        bot.say(ok, *match.news())


def say_goodbye(bot: Patient, match: ScriptedMatch) -> None:
    bot.say(match.end(), Bye("done", "nothing: the match is over"))


# -- coming back -------------------------------------------------------------------------------------


def lose(bot: Patient) -> None:
    bot.may_be_ready_again = True
    bot.cut()


def come_back(examination: Examination, bot: Patient, match: ScriptedMatch, last_sent: int) -> int:
    """Wait from the lost connection to a login that resumes. Return the number of the last event that the bot
    has."""
    if not bot.comes_back():
        raise without_resume(examination, "it does not reconnect when its connection is lost")
    bot.say(hello())
    login = bot.hear_login("a login with `resume`, because its connection was lost")
    match.wants = login.wants
    if login.resume is UNSET:
        raise without_resume(examination, "it comes back without `resume`, with only its token")
    return _check_resume(bot, match, login, last_sent)


def go_on(bot: Patient, match: ScriptedMatch, known: int) -> list[FromServer]:
    """Return the messages before the open ask, for a bot that has the events up to this number."""
    start = [] if known else [start_of(bot, match)]
    return [welcome(bot, match), *start, *match.events_after(known)]


def _check_resume(bot: Patient, match: ScriptedMatch, login: Login, last_sent: int) -> int:
    assert login.resume is not UNSET
    resume = login.resume
    if resume.session != bot.session:
        raise FailedError(f"`resume` with the session {bot.session}", f"the session {resume.session}")
    if resume.key != bot.keys[-1]:
        came = "an older key" if resume.key in bot.keys else "a key that was never given"
        raise FailedError("`resume` with the `resume_key` of the last `welcome`", came)
    if login.name != bot.name:
        raise FailedError(f"a login with the session's name, {bot.name}", f"the name {login.name}")
    if resume.ended:
        raise FailedError("no `resume.ended`: `hello.features` has no `resume_ended`", "the field")
    known = resume.last_events.get(match.id, 0)
    if known > last_sent:
        expected = f"`resume` with {last_sent} as last event of the match {match.id}, or less"
        raise FailedError(expected, f"{known}, an event that was never sent")
    return known


def without_resume(examination: Examination, what: str) -> Exception:
    if examination.require_resume:
        return FailedError("that it resumes its session after its connection was lost", what)
    return RemarkError(what)


# -- the same in other words -------------------------------------------------------------------------

STRANGE_TEXT: Final = 'gr\u00e4ulich \u6f22\U0001f682 \u2028"}\n{\\'
STRANGE_FIELDS: Final[dict[str, object]] = {"sky": STRANGE_TEXT, "type": "start", "degrees": [1 - 2**53, {}]}


def with_unknown_fields(message: FromServer) -> bytes:
    """Add one unknown field before all others, and one after them."""
    line = encode(message)
    return b'{"season":"winter",' + line[1:-1] + b',"weather":' + msgspec.json.encode(STRANGE_FIELDS) + b"}"


def respelled(message: FromServer) -> bytes:
    """Return the same object with its members reversed, blanks between all parts, and escaped letters."""
    value = json.loads(encode(message), object_pairs_hook=lambda members: dict(reversed(members)))
    return json.dumps(value, separators=(" , ", " : ")).encode()


def with_carriage_return(message: FromServer) -> bytes:
    return encode(message) + b"\r"
