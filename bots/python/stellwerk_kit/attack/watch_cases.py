"""Attacks by clients that only watch: the list of matches, and what a spectator may see."""

from __future__ import annotations

from typing import Final

from stellwerk_kit.attack.attack import Attack, Case
from stellwerk_kit.attack.caller import Caller, Message
from stellwerk_kit.attack.match_cases import check_event
from stellwerk_kit.failed import FailedError

MOST_REPLIES: Final = 1_000  # to one reading of the list; a server lists fewer matches than these have

# -- spectators --------------------------------------------------------------------------------------


def spectator(attack: Attack) -> None:
    """Watch as the public, which sees everything except private fields, and has no seat."""
    attack.require("spectators")
    with attack.player() as player, attack.player() as watcher:
        match = attack.asked(player)
        watcher.say("watch", match="nowhere")
        watcher.is_refused("protocol.no_such_match")
        watcher.say("watch", match=match)
        start = watcher.hear("start", match=match)
        if "seat" in start or start["viewer"] != "public":
            raise FailedError("a start without a seat, for the public", f"{sorted(start)}")
        watcher.say("watch", match=match)
        watcher.is_refused("protocol.out_of_phase")
        watcher.say("act", match=match, ask=1, index=0)
        watcher.is_refused("protocol.no_such_match")
        watcher.say("ready", match=match)
        watcher.is_refused("protocol.no_such_match")
        player.say("watch", match=match)
        player.is_refused("protocol.out_of_phase")
        player.play_on(match)
        while watcher.memory.matches[match].end is None:
            message = watcher.next("the end of the match that is watched")
            if message["type"] == "event":
                check_event(message["event"], -1)
            elif message["type"] in ("ask", "ok", "default", "error", "bye"):
                raise FailedError("events and the end", f"{message}")


def all_hands(attack: Attack) -> None:
    attack.require("spectators")
    with attack.player() as player, attack.player() as watcher:
        match = attack.asked(player)
        watcher.say("watch", match=match, viewer="all_hands")
        watcher.is_refused("auth.not_allowed")
        watcher.says_nothing_more("nothing that is not public")


# -- the list of matches -----------------------------------------------------------------------------


def list_of_matches(attack: Attack) -> None:
    """Follow a match in the list, from before its beginning to after its end."""
    attack.require("matches")
    with attack.player() as player, attack.player() as watcher:
        cursor = _read_all(watcher)[0]
        match = attack.asked(player)
        cursor, listed = _read_all(watcher, cursor)
        start = player.memory.matches[match].start
        _check_listed(listed, match, "running", start)
        player.play_on(match, moves=2)
        _, listed = _read_all(watcher, cursor)
        if match in listed:
            raise FailedError(
                "no match in the list that has not changed since the cursor", f"{listed[match]}"
            )
        end = player.play_on(match)
        _, listed = _read_all(watcher, cursor)
        _check_listed(listed, match, "ended", start)
        points = {seat: team["points"] for team in end["result"]["teams"] for seat in team["seats"]}
        result = {
            "turns": end["result"]["turns"],
            "ranks": end["result"]["ranks"],
            "points": [points[seat] for seat in sorted(points)],
        }
        if result != {name: listed[match].get(name) for name in result}:
            raise FailedError(f"the result of the match, {result}", f"{listed[match]}")
        if _read_all(watcher)[1].get(match) != listed[match]:
            raise FailedError("the same match in the whole list", "another one, or none")


def ended_match(attack: Attack) -> None:
    """Watch a match that is over: a spectator gets at once all that one got who watched from the first ask
    on."""
    attack.require("matches")
    with attack.player() as player, attack.player() as early, attack.player() as late:
        match = attack.asked(player)
        early.say("watch", match=match)
        early.hear("start", match=match)
        player.play_on(match)
        seen = _to_the_end(early, match)
        late.say("watch", match=match)
        late.hear("start", match=match)
        if _to_the_end(late, match) != seen:
            raise FailedError("the same events and the same end for everybody who watches", "others")
        late.says_nothing_more("nothing after `end` (L3)")
        late.say("leave", match=match)
        late.is_refused("protocol.no_such_match")


def wrong_cursors(attack: Attack) -> None:
    """Ask with cursors that the server did not make: the list begins anew, or the request is refused."""
    attack.require("matches")
    with attack.player() as watcher:
        cursor, _ = _read_all(watcher)
        for wrong in ("x", "-", cursor[::-1], f"x{cursor}"[:64], "9" * 64):
            if not _reply(watcher, wrong).get("anew"):
                raise FailedError(f"`anew` after the cursor {wrong}, which this server did not make", "none")
        refused: tuple[object, ...] = ("", "a b", "x" * 65, cursor + "\n", 7, None, [cursor], {})
        for value in refused:
            watcher.say("matches", after=value)
            watcher.is_refused("protocol.wrong_value", "/after")
        if _reply(watcher, cursor).get("anew"):
            raise FailedError("the newest cursor to be good still", "`anew`")


def many_requests(attack: Attack) -> None:
    """Ask as fast as the limit allows: each request has its answer, in order."""
    attack.require("matches")
    count = max(1, attack.limits.burst // 2)
    with attack.player() as watcher:
        watcher.send(b'{"type":"matches"}\n' * count)
        for _ in range(count):
            _check_reply(watcher.hear("match_list"))
        watcher.says_nothing_more("one answer to each request")


def _read_all(caller: Caller, cursor: str | None = None) -> tuple[str, dict[str, Message]]:
    """Read the list from a cursor, or from its beginning. Return the next cursor and the matches."""
    listed: dict[str, Message] = {}
    for _ in range(MOST_REPLIES):
        reply = _reply(caller, cursor)
        if cursor is None and not reply.get("anew"):
            raise FailedError("`anew` in the answer to a request without a cursor", "none")
        if reply.get("anew"):
            listed.clear()
        listed |= {each["match"]: each for each in reply["matches"]}
        cursor = reply["cursor"]
        assert cursor is not None
        if not reply.get("more"):
            return cursor, listed
    raise FailedError("the end of the list", f"`more` {MOST_REPLIES} times")


def _reply(caller: Caller, cursor: str | None) -> Message:
    caller.say("matches", **({} if cursor is None else {"after": cursor}))
    reply = caller.hear("match_list")
    _check_reply(reply)
    return reply


def _check_reply(reply: Message) -> None:
    ids = [each["match"] for each in reply["matches"]]
    if len(set(ids)) < len(ids):
        raise FailedError("each match once in a list", f"{ids}")


def _check_listed(listed: dict[str, Message], match: str, state: str, start: Message) -> None:
    entry = listed.get(match)
    if entry is None or entry["state"] != state:
        raise FailedError(f"the match {match} in the list, as {state}", f"{entry or 'nothing'}")
    for name in ("game", "options", "players"):
        if entry[name] != start[name]:
            raise FailedError(f"`{name}` as in `start`", f"{entry[name]}")


def _to_the_end(caller: Caller, match: str) -> list[Message]:
    """Return the events and the end of a match that is watched."""
    seen: list[Message] = []
    while caller.memory.matches[match].end is None:
        message = caller.next("the end of the match that is watched")
        if message["type"] == "event":
            check_event(message["event"], -1)
        elif message["type"] != "end":
            raise FailedError("events and the end", f"{message}")
        seen.append(message)
    return seen


WATCH_CASES: Final = (
    Case("spectator", "the public sees what everybody may know (L15)", spectator),
    Case("all-hands", "the public does not see hands (L15)", all_hands),
    Case("list-of-matches", "a match is listed when it begins, and when it ends", list_of_matches),
    Case("ended-match", "an ended match that is listed can be watched", ended_match),
    Case("wrong-cursors", "a cursor is opaque: the server knows it, or the list begins anew", wrong_cursors),
    Case("many-requests", "each request for the list has one answer", many_requests),
)
