"""The parts of conversations that several steps share: what a server sends next, and what must come back."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Final

import msgspec
from msgspec import UNSET, UnsetType

from stellwerk_engine.core.state import Move
from stellwerk_kit.doctor.patient import Patient, clocks, encode, hello
from stellwerk_kit.doctor.scripted_match import ScriptedMatch, offered_games
from stellwerk_kit.failed import FailedError, RemarkError, expect
from stellwerk_protocol.canonical import LARGEST_INT
from stellwerk_protocol.messages import (
    Ask,
    Bye,
    Error,
    EventMessage,
    FromServer,
    Hello,
    Join,
    Joined,
    Login,
    Ready,
    SeatChanged,
    Start,
    Wants,
    Welcome,
)

ROOM: Final = "doctor"
LONGEST_LINE: Final = 59_999  # bytes of a server's line, with its newline

Say = Callable[[FromServer], object]
Change = Callable[[FromServer], bytes]

# -- to the first ask --------------------------------------------------------------------------------


def log_in(bot: Patient, say: Say | None = None) -> Login:
    """Wait for the connection, and go up to the login."""
    bot.connect()
    (say or bot.say)(hello())
    return hear_first_login(bot)


def hear_first_login(bot: Patient, expected: str = "a login after `hello`") -> Login:
    """Receive the first login. A client that we did not start may still have the session of an earlier case;
    refuse that, so that it logs in without `resume`."""
    login = bot.hear_login(expected)
    if login.resume is not UNSET and not bot.was_started:
        bot.say(Error("auth.bad_resume_key", "a login without `resume`", pointer="/resume"))
        login = bot.hear_login(f"{expected}, without `resume` once that was refused")
    return login


def take_seat(bot: Patient, match: ScriptedMatch, say: Say | None = None, *, at_once: bool = False) -> Login:
    """Go from the connection to `ready`. `say` sends each message; `at_once` all but `hello` in one
    segment."""
    login = log_in(bot, say)
    be_seated(bot, match, login.wants, say, at_once=at_once)
    return login


def be_seated(
    bot: Patient, match: ScriptedMatch, wants: Wants, say: Say | None = None, *, at_once: bool = False
) -> None:
    """Go from a login with these wants to `ready`."""
    match.wants = wants
    messages: list[FromServer] = [_welcome(bot, match)]
    request: str | UnsetType = UNSET
    if not bot.has_seat:
        (say or bot.say)(messages.pop())
        request = _hear_join(bot, match).request
    start = msgspec.structs.replace(_start_of(bot, match), request=request)
    messages += [Joined(ROOM, 0, request), start, *match.events_after(0)]
    if at_once:
        bot.say(*messages)
    else:
        for message in messages:
            (say or bot.say)(message)
    _hear_ready(bot, match)


def seat_again(bot: Patient, match: ScriptedMatch) -> None:
    """Go to `ready` in one more match of a session."""
    bot.say(Joined(f"{ROOM}-2", 0), _start_of(bot, match), *match.events_after(0))
    _hear_ready(bot, match)


def another_match(bot: Patient, match: ScriptedMatch) -> ScriptedMatch:
    """Return one more match of the same game, for the same session."""
    other = ScriptedMatch(match.game.id, match.seat, f"{match.id}/other")
    other.clock = bot.patience.clock()
    other.wants = match.wants
    return other


def _welcome(bot: Patient, match: ScriptedMatch) -> Welcome:
    games = offered_games()
    if not bot.was_started:  # it may choose: there is no choice
        seats = (match.game.seat_count,)
        games = tuple(
            msgspec.structs.replace(game, players=seats, options=())
            for game in games
            if game.game == match.game.id
        )
    return Welcome(bot.session, bot.new_key(), bot.name, match.wants, games)


def _hear_join(bot: Patient, match: ScriptedMatch) -> Join:
    """Receive the `join` of a client without a seat token. Refuse one for another game, so that the client
    can correct it."""
    game, players = match.game.id, match.game.seat_count
    expected = f"`join` for {game} with {players} players (with a token there is no need to join)"
    join = bot.hear(Join, expected)
    if refused := _refusal_of(join, match):
        bot.say(refused)
        join = bot.hear(Join, expected)
        is_right = _refusal_of(join, match) is None
        expect(is_right, expected, f"`join` for {join.game} with {join.players} players")
    if join.against:
        match.others = join.against
    return join


def _refusal_of(join: Join, match: ScriptedMatch) -> Error | None:
    seats = match.game.seat_count
    wrong = (
        (join.game != match.game.id, "/game", match.game.id),
        (join.players != seats, "/players", f"{seats}"),
        (bool(join.options), "/options", "no options"),
        (bool(join.against) and len(join.against) != seats - 1, "/against", f"{seats - 1} house bots"),
        (join.seat not in (UNSET, match.seat), "/seat", f"{match.seat}"),
    )
    for is_wrong, pointer, expected in wrong:
        if is_wrong:
            return Error("protocol.wrong_value", expected, pointer=pointer, request=join.request)
    return None


def _start_of(bot: Patient, match: ScriptedMatch) -> Start:
    bot.matches.add(match.id)
    return match.start(clocks(bot.patience), bot.name)


def _hear_ready(bot: Patient, match: ScriptedMatch) -> None:
    expected = f"`ready` for the match {match.id}"
    ready = bot.hear(Ready, expected)
    expect(ready.match == match.id, expected, f"`ready` for the match {ready.match}")


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


def come_back(bot: Patient, match: ScriptedMatch, last_sent: int) -> int:
    """Wait from the lost connection to a login that resumes. Return the number of the last event that the bot
    has."""
    if not bot.comes_back():
        raise lack_of_resume(bot, "it does not reconnect when its connection is lost")
    bot.say(hello())
    login = bot.hear_login("a login with `resume`, because its connection was lost")
    match.wants = login.wants
    resume = login.resume
    if resume is UNSET:
        raise lack_of_resume(bot, "it comes back without `resume`, with only its token")
    is_right = resume.session == bot.session
    expect(is_right, f"`resume` with the session {bot.session}", f"the session {resume.session}")
    came = "an older key" if resume.key in bot.keys else "a key that was never given"
    expect(resume.key == bot.keys[-1], "`resume` with the `resume_key` of the last `welcome`", came)
    is_right = login.name == bot.name
    expect(is_right, f"a login with the session's name, {bot.name}", f"the name {login.name}")
    expect(not resume.ended, "no `resume.ended`: `hello.features` has no `resume_ended`", "the field")
    known = resume.last_events.get(match.id, 0)
    expected = f"`resume` with {last_sent} as last event of the match {match.id}, or less"
    expect(known <= last_sent, expected, f"{known}, an event that was never sent")
    return known


def go_on(bot: Patient, match: ScriptedMatch, known: int, *more: FromServer) -> None:
    """Continue with a bot that has the events up to this number, up to the open ask."""
    start = [] if known else [_start_of(bot, match)]
    bot.say(_welcome(bot, match), *start, *match.events_after(known), *more)


def resume(bot: Patient, match: ScriptedMatch, last_sent: int, *more: FromServer) -> None:
    """Go from the lost connection to the open ask."""
    go_on(bot, match, come_back(bot, match, last_sent), *more)


def lack_of_resume(bot: Patient, what: str) -> Exception:
    if bot.must_resume:
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


def with_extreme_values(message: FromServer) -> bytes:
    """Give `hello` strange text, and `hello` and asks the largest numbers."""
    match message:
        case Hello():
            limits = msgspec.structs.replace(message.limits, unsent_bytes=LARGEST_INT, unsent_ms=LARGEST_INT)
            message = msgspec.structs.replace(message, server=f"server {STRANGE_TEXT}", limits=limits)
        case Ask():
            message = msgspec.structs.replace(message, bank_ms=LARGEST_INT)
        case _:
            pass
    return encode(message)


def padded(message: FromServer) -> bytes:
    """Make an ask as long as a line can be."""
    line = encode(message)
    if not isinstance(message, Ask):
        return line
    field = b',"padding":""}'
    room = LONGEST_LINE - len(b"\n") - (len(line) - 1) - len(field)
    return line[:-1] + field[:-2] + b"x" * room + field[-2:]
