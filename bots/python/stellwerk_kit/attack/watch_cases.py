"""Attacks by clients that only watch: the list of matches, and what a spectator may see."""

from __future__ import annotations

from typing import Final

from stellwerk_kit.attack.attack import Attack, case
from stellwerk_kit.attack.caller import Caller, Message
from stellwerk_kit.attack.match_cases import check_event
from stellwerk_kit.failed import FailedError, expect

MOST_REPLIES: Final = 1_000  # to one reading of the list; a server lists fewer matches than these have
PUBLIC: Final = -1  # the seat of a client that watches

# -- spectators --------------------------------------------------------------------------------------


@case("the public sees what everybody may know (L15)", "spectators")
def spectator(attack: Attack) -> None:
    """Watch as the public, which sees everything except private fields, and has no seat."""
    player, match = attack.asked()
    watcher = attack.player()
    watcher.refused("protocol.no_such_match", "watch", match="nowhere")
    watcher.say("watch", match=match)
    start = watcher.hear("start", match=match)
    is_public = "seat" not in start and start["viewer"] == "public"
    expect(is_public, "a start without a seat, for the public", sorted(start))
    watcher.refused("protocol.out_of_phase", "watch", match=match)
    watcher.refused("protocol.no_such_match", "act", match=match, ask=1, index=0)
    watcher.refused("protocol.no_such_match", "ready", match=match)
    player.refused("protocol.out_of_phase", "watch", match=match)
    player.play_on(match)
    _watch_to_end(watcher, match)


@case("the public does not see hands (L15)", "spectators")
def all_hands(attack: Attack) -> None:
    _, match = attack.asked()
    watcher = attack.player()
    watcher.refused("auth.not_allowed", "watch", match=match, viewer="all_hands")
    watcher.says_nothing_more("nothing that is not public")


# -- the list of matches -----------------------------------------------------------------------------


@case("a match is listed when it begins, and when it ends", "matches")
def list_of_matches(attack: Attack) -> None:
    """Follow a match in the list, from before its beginning to after its end."""
    watcher = attack.player()
    cursor = _read_all(watcher)[0]
    player, match = attack.asked()
    cursor, listed = _read_all(watcher, cursor)
    start = player.memory.matches[match].start
    _check_listed(listed, match, "running", start)
    player.play_on(match, moves=2)
    _, listed = _read_all(watcher, cursor)
    unchanged = "no match in the list that has not changed since the cursor"
    expect(match not in listed, unchanged, listed.get(match))
    end = player.play_on(match)
    _, listed = _read_all(watcher, cursor)
    _check_listed(listed, match, "ended", start)
    points = {seat: team["points"] for team in end["result"]["teams"] for seat in team["seats"]}
    result = {
        "turns": end["result"]["turns"],
        "ranks": end["result"]["ranks"],
        "points": [points[seat] for seat in sorted(points)],
    }
    is_right = result == {name: listed[match].get(name) for name in result}
    expect(is_right, f"the result of the match, {result}", listed[match])
    is_same = _read_all(watcher)[1].get(match) == listed[match]
    expect(is_same, "the same match in the whole list", "another one, or none")


@case("an ended match that is listed can be watched", "matches")
def ended_match(attack: Attack) -> None:
    """Watch a match that is over: a late spectator gets at once the same events as one who watched from the
    first ask on."""
    player, match = attack.asked()
    early, late = attack.player(), attack.player()
    early.say("watch", match=match)
    early.hear("start", match=match)
    player.play_on(match)
    seen = _watch_to_end(early, match)
    late.say("watch", match=match)
    late.hear("start", match=match)
    is_same = _watch_to_end(late, match) == seen
    expect(is_same, "the same events and the same end for everybody who watches", "others")
    late.says_nothing_more("nothing after `end` (L3)")
    late.refused("protocol.no_such_match", "leave", match=match)


@case("a cursor is opaque: the server knows it, or the list begins anew", "matches")
def wrong_cursors(attack: Attack) -> None:
    """Ask with cursors that the server did not make: the list begins anew, or the request is refused."""
    watcher = attack.player()
    cursor, _ = _read_all(watcher)
    for wrong in ("x", "-", cursor[::-1], f"x{cursor}"[:64], "9" * 64):
        is_anew = bool(_read_list(watcher, wrong).get("anew"))
        expect(is_anew, f"`anew` after the cursor {wrong}, which this server did not make", "none")
    refused: tuple[object, ...] = ("", "a b", "x" * 65, cursor + "\n", 7, None, [cursor], {})
    for value in refused:
        watcher.refused("protocol.wrong_value /after", "matches", after=value)
    is_anew = bool(_read_list(watcher, cursor).get("anew"))
    expect(not is_anew, "the newest cursor to be good still", "`anew`")


@case("each request for the list has one answer", "matches")
def many_requests(attack: Attack) -> None:
    """Ask as fast as the limit allows: each request has its answer, in order."""
    count = max(1, attack.limits.burst // 2)
    watcher = attack.player()
    watcher.send(b'{"type":"matches"}\n' * count)
    for _ in range(count):
        _hear_list(watcher)
    watcher.says_nothing_more("one answer to each request")


def _read_all(caller: Caller, cursor: str | None = None) -> tuple[str, dict[str, Message]]:
    """Read the list from a cursor, or from its beginning. Return the next cursor and the matches."""
    listed: dict[str, Message] = {}
    for _ in range(MOST_REPLIES):
        reply = _read_list(caller, cursor)
        is_right = cursor is not None or bool(reply.get("anew"))
        expect(is_right, "`anew` in the answer to a request without a cursor", "none")
        if reply.get("anew"):
            listed.clear()
        listed |= {each["match"]: each for each in reply["matches"]}
        cursor = reply["cursor"]
        assert cursor is not None
        if not reply.get("more"):
            return cursor, listed
    raise FailedError("the end of the list", f"`more` {MOST_REPLIES} times")


def _read_list(caller: Caller, cursor: str | None) -> Message:
    caller.say("matches", **({} if cursor is None else {"after": cursor}))
    return _hear_list(caller)


def _hear_list(caller: Caller) -> Message:
    reply = caller.hear("match_list")
    ids = [each["match"] for each in reply["matches"]]
    expect(len(set(ids)) == len(ids), "each match once in a list", ids)
    return reply


def _check_listed(listed: dict[str, Message], match: str, state: str, start: Message) -> None:
    entry = listed.get(match, {})
    is_right = entry.get("state") == state
    expect(is_right, f"the match {match} in the list, as {state}", entry or "nothing")
    for name in ("game", "options", "players"):
        expect(entry[name] == start[name], f"`{name}` as in `start`", entry[name])


def _watch_to_end(caller: Caller, match: str) -> list[Message]:
    """Return the events and the end of a match that is watched."""
    seen: list[Message] = []
    while caller.memory.matches[match].end is None:
        message = caller.next("the end of the match that is watched")
        if message["type"] == "event":
            check_event(message["event"], PUBLIC)
        expect(message["type"] in ("event", "seat", "end"), "events and the end", message)
        seen.append(message)
    return seen


WATCH_CASES: Final = (spectator, all_hands, list_of_matches, ended_match, wrong_cursors, many_requests)
