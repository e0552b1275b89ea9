"""Attacks from inside: rooms, matches, their ends, and the ways out and back."""

from __future__ import annotations

import hashlib
import json
import time
from collections.abc import Callable
from functools import partial
from typing import Final

from stellwerk_engine.games.shipped import RULE_SETS
from stellwerk_kit.attack.attack import Attack, Case
from stellwerk_kit.attack.caller import Caller, Message
from stellwerk_kit.failed import DoesNotApplyError, FailedError

MANY: Final = 64  # matches at a time: the most that a session can have
LATER: Final = 1_000_000  # the number of an ask that never comes
NOTHING: Final[Message] = {"legal": False, "view": False, "events": False}
PRIVATE: Final = ("hand", "tickets", "offered", "returned", "stack")  # of another player's part of a view

# -- whole matches -----------------------------------------------------------------------------------


def plays(attack: Attack, game: str) -> None:
    """Play with the last listed move each time; the witnesses make the first one."""
    offered = next((each for each in attack.survey.games if each["game"] == game), None)
    if offered is None:
        raise DoesNotApplyError("this game is not offered")
    with attack.player() as caller:
        match = attack.asked(caller, offered)
        end = _play(caller, match, lambda ask: {"index": len(ask["legal"]) - 1})
        _check_result(caller, match, end)


def plays_by_moves(attack: Attack) -> None:
    """Play without lists: every answer is the fallback, as a move."""
    with attack.player(wants={"legal": False}) as caller:
        match = attack.asked(caller)
        end = _play(caller, match, lambda ask: {"move": ask["fallback"], "note": "as you like"})
        _check_result(caller, match, end)


def plays_blindly(attack: Attack) -> None:
    """Play with nothing but the asks: the server accepts an index all the same."""
    with attack.player(wants=NOTHING) as caller:
        match = attack.asked(caller)
        end = _play(caller, match, lambda ask: {"index": 0})
        if caller.memory.matches[match].events:
            raise FailedError("no events, because they were not wanted", "some")
        _check_result(caller, match, end)


def _play(caller: Caller, match: str, answer: Callable[[Message], Message]) -> Message:
    seen = caller.memory.matches[match]
    while seen.end is None:
        if seen.ask is not None and not seen.is_acted:
            caller.act(match, **answer(seen.ask))
        message = caller.next("the result of an answer")
        if message["type"] in ("error", "default", "bye"):
            raise FailedError("`ok` for a legal answer (L12)", f"{message}")
    return seen.end


def _check_result(caller: Caller, match: str, end: Message) -> None:
    """Check that the result has a rank for each seat, that the commitment of `start` holds, and that nothing
    follows."""
    caller.says_nothing_more("nothing after `end` (L3)")
    start = caller.memory.matches[match].start
    if len(end["result"]["ranks"]) != len(start["players"]):
        raise FailedError("a rank for each seat", f"{end['result']['ranks']}")
    if end["reveal"] == "now":
        if "seed" not in end or "salt" not in end:
            raise FailedError("seed and salt, with `reveal` `now`", f"{sorted(end)}")
        if commitment(start, end) != start["commitment"]:
            raise FailedError("seed and salt that open the commitment of `start`", "others")


def commitment(start: Message, end: Message) -> str:
    """Return the commitment that `start` must have, by the specification."""
    committed = {
        "board": start["board_digest"],
        "game": start["game"],
        "match": start["match"],
        "options": start["options"],
        "salt": end["salt"],
        "seats": [{"name": player["name"]} for player in start["players"]],
        "seed": end["seed"],
    }
    text = json.dumps(committed, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    return hashlib.sha256(b"stellwerk-commitment/1\n" + text.encode()).hexdigest()


# -- acts --------------------------------------------------------------------------------------------


def refused_acts(attack: Attack) -> None:
    """Check that each refused act for the open ask costs one try, and that a legal one is then accepted."""
    with attack.player() as caller:
        match = attack.asked(caller)
        ask = caller.hear_ask(match)
        tries = ask["tries"]
        wrong: list[tuple[Message, str]] = [
            ({"index": len(ask["legal"])}, "game.not_available"),
            ({"index": 0, "move": ask["fallback"]}, "protocol.wrong_value"),
            ({"note": "nothing"}, "protocol.wrong_value"),
            ({"move": {"type": "abandon_tunnel"}}, "game.wrong_move"),
        ]
        for number, (answer, code) in enumerate(wrong[: tries - 1]):
            caller.act(match, **answer)
            error = caller.is_refused(code, match=match, ask=ask["ask"], tries=tries - 1 - number)
            if "nearest" not in error:
                raise FailedError("`nearest`: a legal move", f"{error}")
        caller.act(match, move=ask["fallback"])
        caller.hear("ok", match=match, ask=ask["ask"])


def no_try_left(attack: Attack) -> None:
    with attack.player() as caller:
        match = attack.asked(caller)
        ask = caller.hear_ask(match)
        _waste_tries(caller, match)
        default = caller.hear("default", match=match, ask=ask["ask"], reason="tries")
        if default["defaults"] != 1:
            raise FailedError("the first default", f"{default}")
        caller.play_on(match, moves=1)


def _waste_tries(caller: Caller, match: str) -> None:
    ask = caller.hear_ask(match)
    for left in reversed(range(ask["tries"])):
        caller.act(match, index=999)
        caller.is_refused("game.not_available", "/index", match=match, ask=ask["ask"], tries=left)


def by_default(attack: Attack) -> None:
    """Default again and again. The server asks no more, and the match ends all the same (L21)."""
    with attack.player() as caller:
        match = attack.asked(caller)
        clocks = caller.memory.matches[match].start["clocks"]
        most = min(clocks["defaults_in_a_row"], clocks["defaults"])
        for count in range(1, most + 1):
            _waste_tries(caller, match)
            default = caller.hear("default", match=match, defaults=count)
            if default.get("by_default", False) != (count == most):
                raise FailedError(f"`by_default` after {most} defaults in a row", f"{default}")
        seen = caller.memory.matches[match]
        while seen.end is None:
            message = caller.next("the end of the match")
            if message["type"] in ("ask", "error", "bye"):
                raise FailedError("no more asks, and the end of the match", f"{message}")


def stale_acts(attack: Attack) -> None:
    """Check that acts for asks that are not open cost nothing and change nothing (L9)."""
    with attack.player() as caller:
        match = attack.practice(caller)
        caller.say("act", match=match, ask=1, index=0)
        caller.is_refused("protocol.stale_ask", match=match, ask=1)
        caller.say("ready", match=match)
        ask = caller.hear_ask(match)
        for number in (ask["ask"] + 1, LATER):
            caller.say("act", match=match, ask=number, index=0)
            caller.is_refused("protocol.stale_ask", match=match, ask=number)
        caller.act(match)
        caller.hear("ok", match=match, ask=ask["ask"])
        caller.say("act", match=match, ask=ask["ask"], index=0)
        caller.is_refused("protocol.stale_ask", match=match, ask=ask["ask"])
        if caller.hear_ask(match)["tries"] != ask["tries"]:
            raise FailedError("all tries for the next ask", f"{caller.hear_ask(match)['tries']}")
        caller.play_on(match, moves=1)


def twice_at_once(attack: Attack) -> None:
    """Send two acts for one ask in one segment: each gets its answer (L7)."""
    with attack.player() as caller:
        match = attack.asked(caller)
        ask = caller.hear_ask(match)
        act = {"type": "act", "match": match, "ask": ask["ask"], "index": 0}
        caller.send((json.dumps(act).encode() + b"\n") * 2)
        caller.memory.matches[match].is_acted = True
        caller.hear("ok", match=match, ask=ask["ask"])
        caller.is_refused("protocol.stale_ask", match=match, ask=ask["ask"])


def foreign_match(attack: Attack) -> None:
    """Act in a match without being in it, by its id."""
    with attack.player() as inside, attack.player() as outside:
        match = attack.asked(inside)
        for each in (match, "nowhere"):
            outside.say("act", match=each, ask=1, index=0)
            outside.is_refused("protocol.no_such_match")
            outside.say("ready", match=each)
            outside.is_refused("protocol.no_such_match")
            outside.say("leave", match=each)
            outside.is_refused("protocol.no_such_match")
        inside.play_on(match, moves=2)


def ready_twice(attack: Attack) -> None:
    with attack.player() as caller:
        match = attack.practice(caller)
        caller.say("ready", match=match)
        caller.say("ready", match=match)
        caller.is_refused("protocol.out_of_phase")
        caller.hear_ask(match)
        caller.say("ready", match=match)
        caller.is_refused("protocol.out_of_phase")
        caller.play_on(match, moves=1)


def no_answer_in_time(attack: Attack) -> None:
    with attack.player() as caller:
        match = attack.practice(caller)
        clocks = caller.memory.matches[match].start["clocks"]
        limit = clocks["move_ms"] + clocks["bank_ms"] + clocks["grace_ms"]
        attack.require_patience(limit, "the time for an answer")
        caller.say("ready", match=match)
        ask = caller.hear_ask(match)
        asked_at = time.monotonic()
        caller.seconds += limit / 1000
        caller.hear("default", match=match, ask=ask["ask"], reason="time")
        early = (clocks["move_ms"] + clocks["bank_ms"]) / 1000 - (time.monotonic() - asked_at)
        if early > 0.1:  # messages that were under way
            raise FailedError("no default before its time", f"one {early:.1f} s early")
        caller.say("act", match=match, ask=ask["ask"], index=0)
        caller.is_refused("protocol.stale_ask", match=match, ask=ask["ask"])


# -- rooms -------------------------------------------------------------------------------------------


def refused_joins(attack: Attack) -> None:
    attack.require("practice")
    game = attack.game
    join = {"game": game["game"], "players": game["players"][0]}
    others = ["random"] * (join["players"] - 1)
    wrong: list[tuple[Message, str]] = [
        ({"game": "no_such_game"}, "/game"),
        ({"players": 6 if 6 not in game["players"] else 5}, "/players"),
        ({"options": ["no_such_option"]}, "/options/0"),
        ({"against": [*others, "random"]}, "/against"),
        ({"against": [*others[1:], "nobody_of_this_name"]}, f"/against/{len(others) - 1}"),
        ({"against": others, "room": "a-room"}, "/room"),
        ({"against": others, "seat": join["players"]}, "/seat"),
        ({"seat": 0}, "/seat"),
        ({"seed": "1"}, "/seed"),
    ]
    with attack.player() as caller:
        for fields, pointer in wrong:
            caller.say("join", **(join | fields))
            caller.is_refused("protocol.wrong_value", pointer)
        caller.says_nothing_more("nothing but errors: no room was entered")


def too_many_matches(attack: Attack) -> None:
    with attack.player(max_matches=2) as caller:
        matches = [attack.practice(caller), attack.practice(caller)]
        game = attack.game
        caller.say("join", game=game["game"], players=game["players"][0])
        caller.is_refused("protocol.too_many_matches")
        for match in matches:
            caller.say("leave", match=match)
            caller.hear("left", match=match)
        attack.practice(caller)


def rooms(attack: Attack) -> None:
    """Enter a room, leave it, and enter it again with another client."""
    attack.require("rooms")
    game, room = attack.game, attack.name()
    join: Message = {"game": game["game"], "players": game["players"][0], "room": room}
    with attack.player(max_matches=2) as one, attack.player() as other:
        one.say("join", **join)
        one.hear("joined", room=room, missing=join["players"] - 1)
        one.say("join", **join)
        one.is_refused("protocol.out_of_phase")
        other.say("join", **(join | {"players": 6 if 6 not in game["players"] else 5}))
        other.is_refused("protocol.wrong_value", "/players")
        one.say("leave")
        one.is_refused("protocol.wrong_value")
        one.say("leave", room=room, match="m1")
        one.is_refused("protocol.wrong_value")
        one.say("leave", room="no-such-room")
        one.is_refused("protocol.no_such_room")
        one.say("leave", room=room)
        one.hear("left", room=room)
        one.says_nothing_more("nothing more of a room that was left")
        one.say("leave", room=room)
        one.is_refused("protocol.no_such_room")


def two_players(attack: Attack) -> None:
    """Play a whole match of two clients: both see the same, except private fields."""
    with attack.player() as one, attack.player() as other:
        match = attack.table(one, other)
        starts = [caller.memory.matches[match].start for caller in (one, other)]
        if [start["seat"] for start in starts] != [0, 1]:
            raise FailedError("seats in the order of entering", f"{[start['seat'] for start in starts]}")
        names = [player["name"] for player in starts[0]["players"]]
        if names != [one.welcome["name"], other.welcome["name"]]:
            raise FailedError("the names of both", f"{names}")
        one.say("ready", match=match)
        other.say("ready", match=match)
        ears = (_Ear(one, match, 0), _Ear(other, match, 1))
        while any(ear.seen.end is None for ear in ears):
            for ear in ears:
                ear.listen()
        if ears[0].public != ears[1].public:
            raise FailedError("the same events for both, except private fields (L4)", "different ones")
        results = [ear.seen.end["result"] for ear in ears if ear.seen.end is not None]
        if results[0] != results[1]:
            raise FailedError("one result", "two")


class _Ear:
    """The messages that one of two players gets, and a check of each."""

    def __init__(self, caller: Caller, match: str, seat: int) -> None:
        self.caller = caller
        self.match = match
        self.seat = seat
        self.seen = caller.memory.matches[match]
        self.public: list[Message] = []

    def listen(self) -> None:
        """Read all messages that have arrived, and answer if an answer is due."""
        while self.seen.end is None:
            if self.seen.ask is not None and not self.seen.is_acted:
                _check_view(self.seen.ask["view"], self.seat)
                self.caller.act(self.match)
            message = self.caller.next_within(0.005)
            if message is None:
                return
            match message["type"]:
                case "event":
                    check_event(message["event"], self.seat)
                    private = PRIVATE_IN_EVENTS.get(message["event"]["type"], ())
                    event = message["event"].items()
                    self.public.append({name: value for name, value in event if name not in private})
                case "error" | "default" | "seat" | "bye":
                    raise FailedError("a match in which nothing goes wrong", f"{message}")
                case _:
                    pass


PRIVATE_IN_EVENTS: Final = {
    "cards_dealt": ("cards",),
    "tickets_offered": ("tickets",),
    "tickets_kept": ("tickets", "returned"),
    "tickets_to_share": ("tickets",),
    "stack_taken_up": ("cards",),
    "card_drawn": ("card",),
}


def check_event(event: Message, seat: int) -> None:
    for name in PRIVATE_IN_EVENTS.get(event["type"], ()):
        if event["seat"] != seat and name in event:
            raise FailedError(f"no `{name}` in what another seat does (L15)", f"{event}")


def _check_view(view: Message, seat: int | None) -> None:
    """Refuse a view that shows what only another seat may see (L15)."""
    for player in view["players"]:
        shown = [name for name in PRIVATE if name in player]
        if player["seat"] != seat and shown:
            raise FailedError(f"no `{shown[0]}` of another seat (L15)", f"{player}")


def silence_about_answers(attack: Attack) -> None:
    """Choose the first tickets, all at once: no player learns who has answered (L16)."""
    with attack.player() as one, attack.player() as other:
        match = attack.table(one, other)
        asks = _both_asked(match, one, other)
        if asks[0]["decision"]["seats"] != [0, 1]:
            raise DoesNotApplyError("this game does not begin with a choice of all seats")
        one.act(match)
        one.hear("ok", match=match)
        one.says_nothing_more("nothing but its own `ok`, before the other has answered")
        other.says_nothing_more("nothing, when another seat has answered")
        other.act(match)
        other.hear("ok", match=match)
        one.hear("event", match=match)


def _both_asked(match: str, *callers: Caller) -> list[Message]:
    for caller in callers:
        caller.say("ready", match=match)
    return [caller.hear_ask(match) for caller in callers]


def leaving(attack: Attack) -> None:
    """Leave a match: no more messages about it come, and the other player continues."""
    with attack.player() as one, attack.player() as other:
        match = attack.table(one, other)
        _both_asked(match, one, other)
        one.say("leave", match=match)
        one.hear("left", match=match)
        one.says_nothing_more("nothing more of a match that was left")
        one.say("act", match=match, ask=1, index=0)
        one.is_refused("protocol.no_such_match")
        other.hear("seat", match=match, seat=0, state="left")
        other.play_on(match)


# -- out and back ------------------------------------------------------------------------------------


def resumed(attack: Attack) -> None:
    """Lose the connection while an ask is open, and resume, also with `last_events` at 0."""
    attack.require("resume")
    with attack.player() as first:
        match = attack.asked(first)
        first.play_on(match, moves=2)
        ask = first.hear_ask(match)
        first.reset()
        with attack.caller(first.memory) as second:
            _come_back(second, first)
            if second.hear("ask")["ask"] != ask["ask"]:
                raise FailedError(f"ask {ask['ask']} again, its number unchanged", "another one")
            second.play_on(match, moves=1)
            second.hear_ask(match)
            second.reset()
            with attack.caller(first.memory) as third:
                resume = second.resume(last_events={match: 0})
                _come_back(third, second, resume)
                third.hear("start", match=match)
                third.hear("ask", match=match)
                third.play_on(match)


def _come_back(caller: Caller, before: Caller, resume: Message | None = None) -> Message:
    return caller.log_in(before.welcome["name"], resume=resume or before.resume())


def ended(attack: Attack) -> None:
    """Resume after the end: the match comes again, until the client reports that it has the `end`."""
    attack.require("resume")
    attack.require("resume_ended")
    with attack.player() as first:
        match = attack.asked(first)
        end = first.play_on(match)
        first.reset()
        with attack.caller(first.memory) as second:
            _come_back(second, first)
            second.hear("start", match=match)
            if second.hear("end", match=match) != end:
                raise FailedError("the same `end` again", "another one")
            second.reset()
            with attack.caller(first.memory) as third:
                _come_back(third, second, second.resume(ended=[match, match, "nowhere"]))
                third.says_nothing_more("nothing about a match whose `end` has arrived")
                third.say("act", match=match, ask=1, index=0)
                third.is_refused("protocol.no_such_match")


def taken_over(attack: Attack) -> None:
    attack.require("resume")
    with attack.player() as old:
        match = attack.asked(old)
        old.hear_ask(match)
        with attack.caller(old.memory) as new:
            _come_back(new, old)
            old.is_sent_away("server.taken_over")
            new.hear("ask", match=match)
            new.play_on(match, moves=2)


def keys(attack: Attack) -> None:
    """Check that a key is valid until the first line after the next `welcome`, and a wrong one never."""
    attack.require("resume")
    with attack.player() as first, attack.caller() as thief:
        match = attack.asked(first)
        first.hear_ask(match)
        for wrong in ({"key": "wrong"}, {"session": "wrong"}):
            thief.say("login", protocol=1, name=first.welcome["name"], resume=first.resume(**wrong))
            thief.is_refused("auth.bad_resume_key")
        first.says_nothing_more("nothing: nobody has taken the session over")
        first.reset()
        with attack.caller(first.memory) as second:
            _come_back(second, first)
            second.hear("ask", match=match)
            second.reset()
        with attack.caller(first.memory) as third:
            _come_back(third, first)  # the second welcome may have been lost
            third.hear("ask", match=match)
            third.says_nothing_more("nothing after the ask")
            with attack.caller() as late:
                late.say("login", protocol=1, name=first.welcome["name"], resume=first.resume())
                late.is_refused("auth.bad_resume_key")
            third.play_on(match, moves=1)


def ahead_of_its_time(attack: Attack) -> None:
    attack.require("resume")
    with attack.player() as first, attack.caller() as second:
        match = attack.asked(first)
        first.hear_ask(match)
        resume = first.resume(last_events={match: LATER})
        second.say("login", protocol=1, name=first.welcome["name"], resume=resume)
        second.is_refused("protocol.wrong_value", f"/resume/last_events/{match}")
        first.says_nothing_more("nothing: nobody has taken the session over")
        first.play_on(match, moves=1)


def half_closed(attack: Attack) -> None:
    """End the client's side of the connection. That ends the connection, and the client can resume."""
    attack.require("resume")
    with attack.player() as first:
        match = attack.asked(first)
        first.hear_ask(match)
        first.close_own_half()
        first.ends()
        with attack.caller(first.memory) as second:
            _come_back(second, first)
            second.hear("ask", match=match)
            second.play_on(match, moves=1)


def gone_for_a_while(attack: Attack) -> None:
    """Lose a connection. The other seat is informed, and its match waits no longer than the clocks allow."""
    attack.require("resume")
    with attack.player() as one, attack.player() as other:
        match = attack.table(one, other)
        _both_asked(match, one, other)
        one.reset()
        other.hear("seat", match=match, seat=0, state="lost")
        with attack.caller(one.memory) as back:
            _come_back(back, one)
            other.hear("seat", match=match, seat=0, state="back")
            back.hear("ask", match=match)


def deaf(attack: Attack) -> None:
    """Begin matches, and read nothing. Their boards are more than a socket can hold."""
    attack.require("resume")
    attack.require("practice")
    limit = attack.limits.unsent_ms
    attack.require_patience(limit, "the time for unsent bytes")
    games = attack.survey.games
    game = next((each for each in games if each["game"] != attack.game["game"]), attack.game)
    players = game["players"][0]
    with attack.player(max_matches=MANY) as caller:
        for _ in range(MANY):
            caller.say("join", game=game["game"], players=players, against=["random"] * (players - 1))
        time.sleep(1.5 * limit / 1000 + 0.5)  # the server must wait for this
        if not caller.is_closed_behind_what_is_there():
            raise DoesNotApplyError("the sockets have accepted all of it")
        with attack.caller() as back:
            back.log_in(caller.welcome["name"], max_matches=MANY, resume=caller.resume(last_events={}))
            back.hear("start")


MATCH_CASES: Final = (
    *(
        Case(
            f"plays-{game}",
            "a match keeps to the laws from `start` to `end` (L3 to L8, L11 to L13, L21)",
            partial(plays, game=game),
        )
        for game in RULE_SETS
    ),
    Case("plays-by-moves", "the fallback is legal, and can be sent as a move (L13)", plays_by_moves),
    Case("plays-blindly", "the server accepts an index without the list (L12)", plays_blindly),
    Case("two-players", "no seat learns more than it may know (L15)", two_players),
    Case("silence-about-answers", "nothing reveals who has answered (L16)", silence_about_answers),
    Case("refused-acts", "a refused act costs a try, and nothing else (L7, L10)", refused_acts),
    Case("no-try-left", "the last try ends an ask with the fallback (L8)", no_try_left),
    Case("by-default", "a match ends without one of its players (L21)", by_default),
    Case("stale-acts", "an act for an ask that is not open costs nothing (L9)", stale_acts),
    Case("twice-at-once", "each act gets one answer (L7)", twice_at_once),
    Case("foreign-match", "a client without a seat in a match cannot act in it", foreign_match),
    Case("ready-twice", "the server accepts `ready` once", ready_twice),
    Case("no-answer-in-time", "an ask ends in its time, with its fallback (L8, L17)", no_answer_in_time),
    Case("refused-joins", "a wrong join is refused with its place (L10)", refused_joins),
    Case("too-many-matches", "a session plays as many matches as its login allows", too_many_matches),
    Case("rooms", "a room is entered once, and can be left", rooms),
    Case("leaving", "a match goes on without a player who left (L18, L21)", leaving),
    Case("resumed", "a session continues where it was: later events, and the open ask", resumed),
    Case("ended", "an `end` comes again to a client that may not have it (S65)", ended),
    Case("taken-over", "a new connection takes over, the old one ends with `bye`", taken_over),
    Case("keys", "a key is valid until the first line after the next `welcome`", keys),
    Case("ahead-of-its-time", "a client cannot resume after an event that was never sent", ahead_of_its_time),
    Case("half-closed", "the end of a client's input ends its connection", half_closed),
    Case("gone-for-a-while", "the others learn that a seat was lost, and is back", gone_for_a_while),
    Case("deaf", "the server closes a client that stops reading; the client can resume (L18)", deaf),
)
