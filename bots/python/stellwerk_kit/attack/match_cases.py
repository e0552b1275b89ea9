"""Attacks from inside: rooms, matches, their ends, and the ways out and back."""

from __future__ import annotations

import hashlib
import json
import time
from collections.abc import Callable
from functools import partial
from typing import Final

from stellwerk_engine.games.shipped import RULE_SETS
from stellwerk_kit.attack.attack import Attack, Case, case
from stellwerk_kit.attack.caller import Caller, Message
from stellwerk_kit.failed import DoesNotApplyError, FailedError, expect

MANY: Final = 64  # matches at a time: the most that a session can have
LATER: Final = 1_000_000  # the number of an ask that never comes
NOTHING: Final[Message] = {"legal": False, "view": False, "events": False}
PRIVATE: Final = ("hand", "tickets", "offered", "returned", "stack")  # of another player's part of a view
PRIVATE_IN_EVENTS: Final = {
    "cards_dealt": ("cards",),
    "tickets_offered": ("tickets",),
    "tickets_kept": ("tickets", "returned"),
    "tickets_to_share": ("tickets",),
    "stack_taken_up": ("cards",),
    "card_drawn": ("card",),
}

# -- whole matches -----------------------------------------------------------------------------------


def plays(attack: Attack, game: str) -> None:
    """Play with the last listed move each time; the witnesses make the first one."""
    offered = next((each for each in attack.survey.games if each["game"] == game), None)
    if offered is None:
        raise DoesNotApplyError("this game is not offered")
    caller, match = attack.asked(offered)
    _play_to_result(caller, match, lambda ask: {"index": len(ask["legal"]) - 1})


@case("the fallback is legal, and can be sent as a move (L13)")
def plays_by_moves(attack: Attack) -> None:
    """Play without lists: every answer is the fallback, as a move."""
    caller, match = attack.asked(wants={"legal": False})
    _play_to_result(caller, match, lambda ask: {"move": ask["fallback"], "note": "as you like"})


@case("the server accepts an index without the list (L12)")
def plays_blindly(attack: Attack) -> None:
    """Play with nothing but the asks: the server accepts an index all the same."""
    caller, match = attack.asked(wants=NOTHING)
    _play_to_result(caller, match, lambda ask: {"index": 0})
    expect(not caller.memory.matches[match].events, "no events, because they were not wanted", "some")


def _play_to_result(caller: Caller, match: str, answer: Callable[[Message], Message]) -> None:
    """Play a match. Check that the result has a rank for each seat, that the commitment of `start` holds, and
    that nothing follows."""
    seen = caller.memory.matches[match]
    while seen.end is None:
        if seen.ask is not None and not seen.is_acted:
            caller.act(match, **answer(seen.ask))
        message = caller.next("the result of an answer")
        is_right = message["type"] not in ("error", "default", "bye")
        expect(is_right, "`ok` for a legal answer (L12)", message)
    caller.says_nothing_more("nothing after `end` (L3)")
    start, end = seen.start, seen.end
    ranks = end["result"]["ranks"]
    expect(len(ranks) == len(start["players"]), "a rank for each seat", ranks)
    if end["reveal"] == "now":
        is_revealed = "seed" in end and "salt" in end
        expect(is_revealed, "seed and salt, with `reveal` `now`", sorted(end))
        is_kept = commitment(start, end) == start["commitment"]
        expect(is_kept, "seed and salt that open the commitment of `start`", "others")


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


@case("a refused act costs a try, and nothing else (L7, L10)")
def refused_acts(attack: Attack) -> None:
    """Check that each refused act for the open ask costs one try, and that a legal one is then accepted."""
    caller, match = attack.asked()
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
        expect("nearest" in error, "`nearest`: a legal move", error)
    caller.act(match, move=ask["fallback"])
    caller.hear("ok", match=match, ask=ask["ask"])


@case("the last try ends an ask with the fallback (L8)")
def no_try_left(attack: Attack) -> None:
    caller, match = attack.asked()
    ask = caller.hear_ask(match)
    _waste_tries(caller, match)
    default = caller.hear("default", match=match, ask=ask["ask"], reason="tries")
    expect(default["defaults"] == 1, "the first default", default)
    caller.play_on(match, moves=1)


def _waste_tries(caller: Caller, match: str) -> None:
    ask = caller.hear_ask(match)
    for left in reversed(range(ask["tries"])):
        caller.act(match, index=999)
        caller.is_refused("game.not_available /index", match=match, ask=ask["ask"], tries=left)


@case("a match ends without one of its players (L21)")
def by_default(attack: Attack) -> None:
    """Default again and again. The server asks no more, and the match ends all the same (L21)."""
    caller, match = attack.asked()
    seen = caller.memory.matches[match]
    clocks = seen.start["clocks"]
    most = min(clocks["defaults_in_a_row"], clocks["defaults"])
    for count in range(1, most + 1):
        _waste_tries(caller, match)
        default = caller.hear("default", match=match, defaults=count)
        is_right = default.get("by_default", False) == (count == most)
        expect(is_right, f"`by_default` after {most} defaults in a row", default)
    while seen.end is None:
        message = caller.next("the end of the match")
        is_right = message["type"] not in ("ask", "error", "bye")
        expect(is_right, "no more asks, and the end of the match", message)


@case("an act for an ask that is not open costs nothing (L9)")
def stale_acts(attack: Attack) -> None:
    """Check that acts for asks that are not open cost nothing and change nothing (L9)."""
    caller = attack.player()
    match = attack.practice(caller)
    _act_too_late(caller, match, 1)
    caller.say("ready", match=match)
    ask = caller.hear_ask(match)
    _act_too_late(caller, match, ask["ask"] + 1, LATER)
    caller.act(match)
    caller.hear("ok", match=match, ask=ask["ask"])
    _act_too_late(caller, match, ask["ask"])
    tries = caller.hear_ask(match)["tries"]
    expect(tries == ask["tries"], "all tries for the next ask", tries)
    caller.play_on(match, moves=1)


def _act_too_late(caller: Caller, match: str, *asks: int) -> None:
    """Act for asks that are not open."""
    for ask in asks:
        caller.say("act", match=match, ask=ask, index=0)
        caller.is_refused("protocol.stale_ask", match=match, ask=ask)


@case("each act gets one answer (L7)")
def twice_at_once(attack: Attack) -> None:
    """Send two acts for one ask in one segment: each gets its answer (L7)."""
    caller, match = attack.asked()
    ask = caller.hear_ask(match)
    act = {"type": "act", "match": match, "ask": ask["ask"], "index": 0}
    caller.send((json.dumps(act).encode() + b"\n") * 2)
    caller.memory.matches[match].is_acted = True
    caller.hear("ok", match=match, ask=ask["ask"])
    caller.is_refused("protocol.stale_ask", match=match, ask=ask["ask"])


@case("a client without a seat in a match cannot act in it")
def foreign_match(attack: Attack) -> None:
    """Act in a match without being in it, by its id."""
    inside, match = attack.asked()
    outside = attack.player()
    for each in (match, "nowhere"):
        outside.refused("protocol.no_such_match", "act", match=each, ask=1, index=0)
        outside.refused("protocol.no_such_match", "ready", match=each)
        outside.refused("protocol.no_such_match", "leave", match=each)
    inside.play_on(match, moves=2)


@case("the server accepts `ready` once")
def ready_twice(attack: Attack) -> None:
    caller = attack.player()
    match = attack.practice(caller)
    caller.say("ready", match=match)
    caller.refused("protocol.out_of_phase", "ready", match=match)
    caller.hear_ask(match)
    caller.refused("protocol.out_of_phase", "ready", match=match)
    caller.play_on(match, moves=1)


@case("an ask ends in its time, with its fallback (L8, L17)")
def no_answer_in_time(attack: Attack) -> None:
    caller = attack.player()
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
    under_way = 0.1  # seconds that messages were
    expect(early <= under_way, "no default before its time", f"one {early:.1f} s early")
    _act_too_late(caller, match, ask["ask"])


# -- rooms -------------------------------------------------------------------------------------------


@case("a wrong join is refused with its place (L10)", "practice")
def refused_joins(attack: Attack) -> None:
    join = attack.join()
    others = ["random"] * (join["players"] - 1)
    wrong: list[tuple[Message, str]] = [
        ({"game": "no_such_game"}, "/game"),
        ({"players": _wrong_number_of_players(attack)}, "/players"),
        ({"options": ["no_such_option"]}, "/options/0"),
        ({"against": [*others, "random"]}, "/against"),
        ({"against": [*others[1:], "nobody_of_this_name"]}, f"/against/{len(others) - 1}"),
        ({"against": others, "room": "a-room"}, "/room"),
        ({"against": others, "seat": join["players"]}, "/seat"),
        ({"seat": 0}, "/seat"),
        ({"seed": "1"}, "/seed"),
    ]
    caller = attack.player()
    for fields, pointer in wrong:
        caller.refused(f"protocol.wrong_value {pointer}", "join", **(join | fields))
    caller.says_nothing_more("nothing but errors: no room was entered")


def _wrong_number_of_players(attack: Attack) -> int:
    return 6 if 6 not in attack.game["players"] else 5


@case("a session plays as many matches as its login allows")
def too_many_matches(attack: Attack) -> None:
    caller = attack.player(max_matches=2)
    matches = [attack.practice(caller), attack.practice(caller)]
    caller.refused("protocol.too_many_matches", "join", **attack.join())
    for match in matches:
        caller.say("leave", match=match)
        caller.hear("left", match=match)
    attack.practice(caller)


@case("a room is entered once, and can be left", "rooms")
def rooms(attack: Attack) -> None:
    """Enter a room, leave it, and enter it again with another client."""
    room = attack.name()
    join = attack.join(room=room)
    one, other = attack.player(max_matches=2), attack.player()
    one.say("join", **join)
    one.hear("joined", room=room, missing=join["players"] - 1)
    one.refused("protocol.out_of_phase", "join", **join)
    wrong = join | {"players": _wrong_number_of_players(attack)}
    other.refused("protocol.wrong_value /players", "join", **wrong)
    one.refused("protocol.wrong_value", "leave")
    one.refused("protocol.wrong_value", "leave", room=room, match="m1")
    one.refused("protocol.no_such_room", "leave", room="no-such-room")
    one.say("leave", room=room)
    one.hear("left", room=room)
    one.says_nothing_more("nothing more of a room that was left")
    one.refused("protocol.no_such_room", "leave", room=room)


@case("the id of a `join` or `watch` comes back in its answers", "practice", "spectators")
def request_ids(attack: Attack) -> None:
    """Join with ids, be refused with ids, and watch with an id."""
    caller = attack.player()
    join = attack.join()
    against = ["random"] * (join["players"] - 1)
    caller.say("join", **join, against=against, request="first-join")
    caller.hear("joined", request="first-join")
    start = caller.hear("start", request="first-join")
    error = caller.refused("protocol.too_many_matches", "join", **join, request="second-join")
    expect(error.get("request") == "second-join", '`error` with the `request` "second-join"', error)
    error = caller.refused("protocol.unknown_field /plyers", "join", game="usa", plyers=2, request="third")
    expect(error.get("request") == "third", '`error` with the `request` "third"', error)
    error = caller.refused("protocol.wrong_value /request", "join", **join, request="a blank")
    expect("request" not in error, "`error` without a `request` that is no id", error)
    watcher = attack.player()
    watcher.say("watch", match=start["match"], request="watch-1")
    watcher.hear("start", request="watch-1")


@case("no seat learns more than it may know (L15)")
def two_players(attack: Attack) -> None:
    """Play a whole match of two clients: both see the same, except private fields."""
    one, other, match = attack.pair()
    starts = [caller.memory.matches[match].start for caller in (one, other)]
    seats = [start["seat"] for start in starts]
    expect(seats == [0, 1], "seats in the order of entering", seats)
    names = [player["name"] for player in starts[0]["players"]]
    expect(names == [one.welcome["name"], other.welcome["name"]], "the names of both", names)
    one.say("ready", match=match)
    other.say("ready", match=match)
    ears = (_Ear(one, match, 0), _Ear(other, match, 1))
    while any(ear.seen.end is None for ear in ears):
        for ear in ears:
            ear.listen()
    is_same = ears[0].public == ears[1].public
    expect(is_same, "the same events for both, except private fields (L4)", "different ones")
    results = [ear.seen.end["result"] for ear in ears if ear.seen.end is not None]
    expect(results[0] == results[1], "one result", "two")


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


def check_event(event: Message, seat: int) -> None:
    """Refuse an event that shows what only another seat may see (L15)."""
    for name in PRIVATE_IN_EVENTS.get(event["type"], ()):
        is_private = event["seat"] != seat and name in event
        expect(not is_private, f"no `{name}` in what another seat does (L15)", event)


def _check_view(view: Message, seat: int | None) -> None:
    """Refuse a view that shows what only another seat may see (L15)."""
    for player in view["players"]:
        for name in PRIVATE:
            is_private = player["seat"] != seat and name in player
            expect(not is_private, f"no `{name}` of another seat (L15)", player)


@case("nothing reveals who has answered (L16)")
def silence_about_answers(attack: Attack) -> None:
    """Choose the first tickets, all at once: no player learns who has answered (L16)."""
    one, other, match = attack.pair()
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


@case("a match goes on without a player who left (L18, L21)")
def leaving(attack: Attack) -> None:
    """Leave a match: no more messages about it come, and the other player continues."""
    one, other, match = attack.pair()
    _both_asked(match, one, other)
    one.say("leave", match=match)
    one.hear("left", match=match)
    one.says_nothing_more("nothing more of a match that was left")
    one.refused("protocol.no_such_match", "act", match=match, ask=1, index=0)
    other.hear("seat", match=match, seat=0, state="left")
    other.play_on(match)


# -- out and back ------------------------------------------------------------------------------------


@case("a session continues where it was: later events, and the open ask", "resume")
def resumed(attack: Attack) -> None:
    """Lose the connection while an ask is open, and resume, also with `last_events` at 0."""
    first, match = attack.asked()
    first.play_on(match, moves=2)
    ask = first.hear_ask(match)
    first.reset()
    second = attack.come_back(first)
    is_same = second.hear("ask")["ask"] == ask["ask"]
    expect(is_same, f"ask {ask['ask']} again, its number unchanged", "another one")
    second.play_on(match, moves=1)
    second.hear_ask(match)
    second.reset()
    third = attack.come_back(second, last_events={match: 0})
    third.hear("start", match=match)
    third.hear("ask", match=match)
    third.play_on(match)


@case("an `end` comes again to a client that may not have it (S65)", "resume", "resume_ended")
def ended(attack: Attack) -> None:
    """Resume after the end: the match comes again, until the client reports that it has the `end`."""
    first, match = attack.asked()
    end = first.play_on(match)
    first.reset()
    second = attack.come_back(first)
    second.hear("start", match=match)
    expect(second.hear("end", match=match) == end, "the same `end` again", "another one")
    second.reset()
    third = attack.come_back(second, ended=[match, match, "nowhere"])
    third.says_nothing_more("nothing about a match whose `end` has arrived")
    third.refused("protocol.no_such_match", "act", match=match, ask=1, index=0)


@case("a new connection takes over, the old one ends with `bye`", "resume")
def taken_over(attack: Attack) -> None:
    old, match = attack.asked()
    new = attack.come_back(old)
    old.is_sent_away("server.taken_over")
    new.hear("ask", match=match)
    new.play_on(match, moves=2)


@case("a key is valid until the first line after the next `welcome`", "resume")
def keys(attack: Attack) -> None:
    """Check that a key is valid until the first line after the next `welcome`, and a wrong one never."""
    first, match = attack.asked()
    thief = attack.caller()
    for wrong in ({"key": "wrong"}, {"session": "wrong"}):
        _is_refused_to_resume("auth.bad_resume_key", thief, first, **wrong)
    first.says_nothing_more("nothing: nobody has taken the session over")
    first.reset()
    second = attack.come_back(first)
    second.hear("ask", match=match)
    second.reset()
    third = attack.come_back(first)  # the second welcome may have been lost
    third.hear("ask", match=match)
    third.says_nothing_more("nothing after the ask")
    _is_refused_to_resume("auth.bad_resume_key", attack.caller(), first)
    third.play_on(match, moves=1)


@case("a client cannot resume after an event that was never sent", "resume")
def ahead_of_its_time(attack: Attack) -> None:
    first, match = attack.asked()
    pointer = f"/resume/last_events/{match}"
    _is_refused_to_resume(
        f"protocol.wrong_value {pointer}", attack.caller(), first, last_events={match: LATER}
    )
    first.says_nothing_more("nothing: nobody has taken the session over")
    first.play_on(match, moves=1)


def _is_refused_to_resume(refusal: str, thief: Caller, owner: Caller, **resume: object) -> None:
    """Check that a client cannot resume another one's session in this way."""
    name = owner.welcome["name"]
    thief.refused(refusal, "login", protocol=1, name=name, resume=owner.resume(**resume))


@case("the end of a client's input ends its connection", "resume")
def half_closed(attack: Attack) -> None:
    """End the client's side of the connection. That ends the connection, and the client can resume."""
    first, match = attack.asked()
    first.close_own_half()
    first.ends()
    second = attack.come_back(first)
    second.hear("ask", match=match)
    second.play_on(match, moves=1)


@case("the others learn that a seat was lost, and is back", "resume")
def gone_for_a_while(attack: Attack) -> None:
    """Lose a connection. The other seat is informed, and its match waits no longer than the clocks allow."""
    one, other, match = attack.pair()
    _both_asked(match, one, other)
    one.reset()
    other.hear("seat", match=match, seat=0, state="lost")
    back = attack.come_back(one)
    other.hear("seat", match=match, seat=0, state="back")
    back.hear("ask", match=match)


@case("the server closes a client that stops reading; the client can resume (L18)", "resume", "practice")
def deaf(attack: Attack) -> None:
    """Begin matches, and read nothing. Their boards are more than a socket can hold."""
    limit = attack.limits.unsent_ms
    attack.require_patience(limit, "the time for unsent bytes")
    games = attack.survey.games
    game = next((each for each in games if each["game"] != attack.game["game"]), attack.game)
    players = game["players"][0]
    caller = attack.player(max_matches=MANY)
    for _ in range(MANY):
        caller.say("join", game=game["game"], players=players, against=["random"] * (players - 1))
    time.sleep(1.5 * limit / 1000 + 0.5)  # the server must wait for this
    if not caller.is_closed_behind_what_is_there():
        raise DoesNotApplyError("the sockets have accepted all of it")
    back = attack.caller()
    back.log_in(caller.welcome["name"], max_matches=MANY, resume=caller.resume(last_events={}))
    back.hear("start")


PLAYS: Final = "a match keeps to the laws from `start` to `end` (L3 to L8, L11 to L13, L21)"

MATCH_CASES: Final = (
    *(Case(f"plays-{game}", PLAYS, partial(plays, game=game)) for game in RULE_SETS),
    *(plays_by_moves, plays_blindly, two_players, silence_about_answers, refused_acts, no_try_left),
    *(by_default, stale_acts, twice_at_once, foreign_match, ready_twice, no_answer_in_time, refused_joins),
    *(too_many_matches, rooms, request_ids, leaving, resumed, ended, taken_over, keys, ahead_of_its_time),
    *(half_closed, gone_for_a_while, deaf),
)
