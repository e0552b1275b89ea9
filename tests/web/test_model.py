"""The model: what a source says becomes what readers see, within bounds that do not grow with the event."""

from __future__ import annotations

import gc
import json
import tracemalloc
from itertools import pairwise
from typing import Any

import msgspec
import pytest

from stellwerk_protocol.messages import Player
from stellwerk_web.show import model
from stellwerk_web.show.channel import NEWCOMER, Channel
from stellwerk_web.show.forms import Head, MatchState
from stellwerk_web.show.model import Show, ShowSettings
from tests.web.recorded import golden


def shown(pace: float = 2.0, tables: int = 2) -> Show:
    return Show(ShowSettings("Test", "server", "here", "life", pace, tables))


def head(match: str, state: MatchState = "running", **fields: Any) -> Head:  # Any: of a Head
    players = (Player(0, 0, "ann"), Player(1, 1, "bob"))
    if state == "ended":
        fields = {"turn": 60, "points": (100, 50), "ranks": (1, 2)} | fields
    return Head(match=match, state=state, game="usa", options=(), players=players, **fields)


class Follower:
    """A reader of a channel that applies what the channel says, as a page does."""

    def __init__(self, channel: Channel) -> None:
        self.channel = channel
        self.position = NEWCOMER
        self.kinds: list[str] = []
        self.state: dict[str, Any] = {}  # Any: values of JSON

    def read(self) -> list[dict[str, Any]]:  # Any: values of JSON
        """Take what is new, and return the changes."""
        data, self.position = self.channel.after(self.position)
        changes: list[dict[str, Any]] = []  # Any: values of JSON
        for record in data.decode().split("\n\n")[:-1]:
            _, kind, content = record.split("\n")
            self.kinds.append(kind)
            value = json.loads(content.removeprefix("data: "))
            if kind == "event: state":
                self.state = value
                if "matches" in value:
                    self.matches = {match["match"]: match for match in value["matches"]}
                continue
            changes.append(value)
            for match in value.get("matches", ()):
                self.matches[match["match"]] = match
            for match in value.get("gone", ()):
                del self.matches[match]
            self.state |= {key: value[key] for key in value.keys() - {"matches", "gone", "events"}}
        return changes


# -- the list ----------------------------------------------------------------------------------------


def test_the_overview_has_what_runs_and_what_has_ended_and_counts_all() -> None:
    show = shown()
    follower = Follower(show.overview)
    follower.read()
    for number in range(500):
        show.match_listed(head(f"m{number}"))
    show.tick(1)
    follower.read()
    assert follower.state["counts"] == {"running": 500, "ended": 0, "failed": 0}
    assert list(follower.matches) == [f"m{number}" for number in range(model.RUNNING_LISTED)]
    for number in range(150):
        show.match_listed(head(f"m{number}", "ended"))
    show.match_listed(head("m150", "failed"))
    show.tick(2)
    follower.read()
    assert follower.state["counts"] == {"running": 349, "ended": 150, "failed": 1}
    by_state = [match["state"] for match in follower.matches.values()]
    assert by_state.count("running") == model.RUNNING_LISTED
    assert len(by_state) == model.RUNNING_LISTED + model.ENDED_LISTED
    assert follower.kinds.count("event: state") == 1
    late = Follower(show.overview)
    late.read()
    assert late.matches.keys() == follower.matches.keys()
    assert late.state["counts"] == follower.state["counts"]


def test_a_thousand_changes_are_one_change_of_the_overview() -> None:
    show = shown()
    follower = Follower(show.overview)
    follower.read()
    for number in range(1000):
        show.match_listed(head(f"m{number}"))
        show.match_listed(head(f"m{number}", "ended"))
    show.tick(1)
    assert len(follower.read()) == 1
    show.tick(2)
    assert all(change.keys() == {"ranking"} for change in follower.read())


def test_the_turn_and_the_points_of_a_running_match_are_folded_from_its_events() -> None:
    show = shown()
    game = golden("usa-2")
    show.match_listed(head("usa-2"))
    show.started("usa-2", game.start)
    show.happened("usa-2", game.events[:100])
    show.tick(0.5)
    show.happened("usa-2", game.events[100:])
    follower = Follower(show.overview)
    show.tick(1)
    follower.read()
    match = follower.matches["usa-2"]
    assert match["turn"] == game.head.turn
    result = json.loads(game.end)["result"]
    assert len(match["points"]) == 2
    assert match["points"] == [team["route_points"] for team in result["teams"]]


def test_a_match_of_rules_that_are_not_known_here_is_shown_without_points() -> None:
    show = shown()
    game = golden("usa-2")
    show.match_listed(head("usa-2"))
    show.started("usa-2", json.dumps(json.loads(game.start) | {"rules_version": 99}).encode())
    show.happened("usa-2", [b'{"type":"something_new","seat":0}'])
    show.tick(1)
    assert show.head("usa-2") == head("usa-2", began_ms_ago=1000)


def test_events_that_do_not_fit_the_rules_end_the_points_of_that_match_only() -> None:
    show = shown()
    game = golden("usa-2")
    for name in ("usa-2", "other"):
        show.match_listed(head(name))
        show.started(name, game.start)
    claim = b'{"type":"route_claimed","seat":5,"route":"nowhere-else","trains":2,"points":2,"cards":{}}'
    show.happened("usa-2", [claim])
    show.happened("usa-2", game.events[:40])
    show.happened("other", game.events[:40])
    one, other = show.head("usa-2"), show.head("other")
    assert one is not None
    assert other is not None
    assert one.points is msgspec.UNSET
    assert other.points is not msgspec.UNSET


# -- a match -----------------------------------------------------------------------------------------


def test_what_nobody_wants_is_not_asked_for() -> None:
    show = shown()
    for number in range(10):
        show.match_listed(head(f"m{number}"))
    show.tick(100)
    assert show.wanted() == []
    show.match_read("m3", 1)
    assert show.wanted() == ["m3"]
    show.match_read("m3", 0)
    assert show.wanted() == []


def test_a_match_that_begins_again_is_the_state_for_its_readers() -> None:
    """After the source was away, it brings a match from its start again."""
    show = shown()
    game = golden("usa-2")
    show.match_listed(head("usa-2"))
    channel = show.match_channel("usa-2")
    assert channel is not None
    follower = Follower(channel)
    follower.read()
    show.started("usa-2", game.start)
    show.happened("usa-2", game.events[:30])
    show.seat_changed("usa-2", 1, "lost")
    follower.read()
    show.connected(True)
    show.connected(False)
    assert follower.read()[-1] == {"connected": False}
    assert len(follower.state["events"]) == 30
    show.started("usa-2", game.start)
    show.happened("usa-2", game.events[:50])
    follower.read()
    assert len(follower.state["events"]) == 50
    assert follower.state["seats"] == {}


def test_a_new_list_forgets_all_but_what_somebody_looks_at() -> None:
    show = shown()
    game = golden("usa-2")
    for name in ("usa-2", "gone", "lost"):
        show.match_listed(head(name))
        show.started(name, game.start)
        show.happened(name, game.events[:30])
    readers = {name: show.match_channel(name) for name in ("usa-2", "lost")}
    for name in readers:
        show.match_read(name, 1)
    overview = Follower(show.overview)
    show.tick(1)
    overview.read()
    show.began_anew()
    show.match_listed(head("usa-2"))
    show.list_complete()
    show.tick(2)
    overview.read()
    assert overview.matches.keys() == {"usa-2"}
    assert overview.state["counts"] == {"running": 1, "ended": 0, "failed": 0}  # the lost one is in no list
    assert not show.is_known("gone")
    lost, kept = show.head("lost"), show.head("usa-2")
    assert lost is not None
    assert kept is not None
    assert (lost.state, kept.state) == ("failed", "running")
    channel = readers["lost"]
    assert channel is not None
    follower = Follower(channel)
    follower.read()
    assert len(follower.state["events"]) == 30


def test_a_reader_that_comes_back_soon_gets_what_it_has_missed() -> None:
    show = shown()
    game = golden("usa-2")
    show.match_listed(head("usa-2"))
    show.started("usa-2", game.start)
    first = show.match_channel("usa-2")
    show.match_read("usa-2", 1)
    show.match_read("usa-2", 0)
    show.tick(model.CHANNEL_STAYS_S - 1)
    assert show.match_channel("usa-2") is first
    show.tick(model.CHANNEL_STAYS_S + 1)
    assert show.match_channel("usa-2") is not first


# -- bounds ------------------------------------------------------------------------------------------


def test_what_is_said_of_a_match_that_nobody_listed_is_ignored() -> None:
    show = shown()
    game = golden("usa-2")
    show.started("usa-2", game.start)
    show.happened("usa-2", game.events)
    show.ended("usa-2", game.end)
    show.seat_changed("usa-2", 0, "lost")
    assert not show.is_known("usa-2")
    assert show.match_channel("usa-2") is None


def test_a_match_that_a_source_finds_again_is_known_and_in_no_list() -> None:
    """Somebody has asked for a match that is too old for the list."""
    show = shown()
    overview = Follower(show.overview)
    show.match_found(head("old", "ended"), 90)
    show.tick(1)
    overview.read()
    assert show.is_known("old")
    assert overview.matches == {}
    assert overview.state["counts"] == {"running": 0, "ended": 0, "failed": 0}
    channel = show.match_channel("old")
    assert channel is not None
    page = Follower(channel)
    page.read()
    assert page.state["head"]["match"] == "old"
    assert page.state["head"]["began_ms_ago"] == 91_000


def test_a_match_that_is_found_again_while_somebody_reads_it_stays_as_it_is() -> None:
    show = shown()
    game = golden("usa-2")
    show.match_listed(head("usa-2"))
    show.started("usa-2", game.start)
    show.happened("usa-2", game.events[:30])
    show.match_found(head("usa-2", "ended"))
    show.tick(1)
    known = show.head("usa-2")
    assert known is not None
    assert known.state == "running"
    channel = show.match_channel("usa-2")
    assert channel is not None
    page = Follower(channel)
    page.read()
    assert len(page.state["events"]) == 30


def test_of_matches_that_were_found_again_the_oldest_is_forgotten(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(model, "FOUND_KEPT", 3)
    show = shown()
    for number in range(3):
        show.match_found(head(f"old{number}", "ended"))
    show.match_read("old1", 1)
    assert all(show.is_known(f"old{number}") for number in range(3))
    for number in range(3, 6):
        show.match_found(head(f"old{number}", "ended"))
    assert [show.is_known(f"old{number}") for number in range(6)] == [False, True, False, True, True, True]


def test_a_match_that_was_found_and_then_listed_stays_as_long_as_others_of_the_list(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(model, "FOUND_KEPT", 1)
    show = shown()
    show.match_found(head("a", "ended"))
    show.match_listed(head("a", "ended"))
    show.match_found(head("b", "ended"))
    show.tick(1)
    assert show.is_known("a")
    overview = Follower(show.overview)
    overview.read()
    assert overview.matches.keys() == {"a"}


def test_memory_has_bounds_however_many_matches_there_are(monkeypatch: pytest.MonkeyPatch) -> None:
    """Ten times as many matches, each with its events, take hardly more memory."""
    monkeypatch.setattr(model, "HEADS_KEPT", 100)
    monkeypatch.setattr("stellwerk_web.show.ranking.MOST_MATCHES", 100)
    monkeypatch.setattr("stellwerk_web.show.channel.KEPT_CHANGES", 100)
    game = golden("usa-2")

    def play(show: Show, numbers: range) -> int:
        for number in numbers:
            name = f"m{number}"
            show.match_listed(head(name))
            show.started(name, game.start)
            show.happened(name, game.events[:30])
            show.match_listed(head(name, "ended"))
            show.ended(name, game.end)
            show.tick(number / 10)
        gc.collect()
        return tracemalloc.get_traced_memory()[0]

    tracemalloc.start()
    try:
        show = shown()
        few = play(show, range(400))
        many = play(show, range(400, 1600))
    finally:
        tracemalloc.stop()
    assert show.overview.after(NEWCOMER)[0].count(b'"match":') == model.ENDED_LISTED
    assert not show.is_known("m0")
    assert many < 1.25 * few


def test_the_oldest_whole_matches_are_forgotten_but_never_one_that_somebody_reads() -> None:
    show, game = shown(), golden("usa-2")
    names = [f"m{number}" for number in range(model.WHOLE_KEPT + 2)]
    fill(show, *names)
    show.match_read("m0", 1)
    for name in names:
        show.started(name, game.start)
        show.happened(name, game.events)
        show.ended(name, game.end)
    assert [name for name in names if not show.is_here(name)] == ["m1", "m2"]


def test_boards_of_others_are_kept_within_a_bound() -> None:
    show = shown()
    game = json.loads(golden("usa-2").start)
    show.match_listed(head("usa-2"))
    for number in range(model.BOARDS_KEPT + 1):
        show.started("usa-2", json.dumps(game | {"board_digest": f"{number:064x}"}).encode())
    assert show.board(f"{0:064x}") is None
    assert show.board(f"{model.BOARDS_KEPT:064x}") is not None


# -- the wall ----------------------------------------------------------------------------------------


def fill(show: Show, *names: str) -> None:
    """Let golden games end."""
    for name in names:
        show.match_listed(msgspec.structs.replace(golden("usa-2").head, match=name))


def bring(show: Show) -> None:
    """Do what a source does: bring what is wanted."""
    for name in show.wanted():
        if not show.is_here(name):
            game = golden("usa-2")
            show.started(name, game.start)
            show.happened(name, game.events)
            show.ended(name, game.end)


def test_the_wall_stands_still_while_nobody_looks() -> None:
    show = shown()
    fill(show, "a")
    show.tick(100)
    assert show.wanted() == []
    show.wall_read(1)
    show.tick(100.3)
    assert show.wanted() == ["a"]


def test_the_wall_plays_at_its_pace() -> None:
    """About two moves a second, whatever the pace of the match was."""
    show = shown(pace=2)
    fill(show, "a")
    show.wall_read(1)
    follower = Follower(show.wall)
    moves = 0
    for number in range(80):
        show.tick(number * 0.25)
        bring(show)
        for change in follower.read():
            moves += sum(bool(table.get("events")) for table in change.get("tables", ()))
    assert 34 <= moves <= 42


def test_a_match_that_is_slow_enough_is_shown_live() -> None:
    show = shown()
    game = golden("usa-2")
    show.match_listed(head("live"))
    show.wall_read(1)
    follower = Follower(show.wall)
    show.tick(1)
    assert show.wanted() == []
    show.tick(4)
    assert show.wanted() == ["live"]
    show.started("live", game.start)
    show.happened("live", game.events[:40])
    follower.read()
    show.tick(4.3)
    [change] = [change for change in follower.read() if "put" in change]
    assert change["put"][0]["is_live"]
    assert len(change["put"][0]["events"]) == 40
    show.tick(6)
    show.happened("live", game.events[40:41])
    show.tick(6.3)
    [change] = follower.read()
    assert change["tables"][0]["events"] == [json.loads(game.events[40])]


def test_what_nobody_could_watch_at_this_pace_is_dropped_and_counted() -> None:
    show = shown(tables=1)
    show.wall_read(1)
    show.tick(0)
    fill(show, *(f"m{number}" for number in range(300)))
    show.tick(1)
    follower = Follower(show.wall)
    follower.read()
    assert follower.state["waiting"] + follower.state["not_shown"] == 299
    assert follower.state["not_shown"] == 250


def test_a_table_rests_on_a_result_and_then_takes_the_next_match() -> None:
    show = shown(pace=100, tables=1)
    fill(show, "a", "b")
    show.wall_read(1)
    follower = Follower(show.wall)
    seen: list[tuple[float, str]] = []
    now = 0.0
    while now < 40:
        show.tick(now)
        bring(show)
        for change in follower.read():
            put = [table["head"]["match"] for table in change.get("put", ()) if table["head"]]
            seen += [(now, f"put {name}") for name in put]
            seen += [(now, "end") for table in change.get("tables", ()) if "end" in table]
        now += 0.25
    assert [what for _, what in seen] == ["put b", "end", "put a", "end"]
    assert 6 <= seen[2][0] - seen[1][0] <= 7


def test_a_table_gives_up_a_match_that_does_not_come() -> None:
    show = shown(tables=1)
    fill(show, "a", "b")
    show.wall_read(1)
    show.tick(0)
    show.cannot_be_watched("b")
    show.tick(1)
    bring(show)
    show.tick(2)
    follower = Follower(show.wall)
    follower.read()
    assert follower.state["tables"][0]["head"]["match"] == "a"


def test_a_match_that_does_not_come_leaves_the_queue_and_is_counted() -> None:
    show = shown(tables=1)
    fill(show, "a", "b", "c")
    show.wall_read(1)
    show.tick(0)
    show.cannot_be_watched("b")
    follower = Follower(show.wall)
    follower.read()
    assert (follower.state["waiting"], follower.state["not_shown"]) == (1, 1)


def test_the_main_table_is_the_one_where_most_happens_but_not_another_one_at_each_move() -> None:
    show = shown(pace=5, tables=3)
    fill(show, *"abcdef")
    show.wall_read(1)
    follower = Follower(show.wall)
    changes: list[float] = []
    for number in range(400):
        show.tick(number * 0.25)
        bring(show)
        changes += [number * 0.25 for change in follower.read() if "main" in change]
    assert changes
    assert all(later - earlier >= 10 for earlier, later in pairwise(changes))
