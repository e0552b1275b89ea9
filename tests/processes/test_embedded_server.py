"""What a match learns of the server that it is played on."""

from __future__ import annotations

from stellwerk_processes.embedded_server import LobbyFollower
from stellwerk_server.lobby.news import Bug


def test_a_match_is_told_of_its_own_bugs_and_of_those_of_the_whole_server_since_it_began() -> None:
    follower = LobbyFollower()
    old, others, own, whole = (Exception(word) for word in ("old", "others", "own", "whole"))
    follower.hear(Bug(old))
    begun = len(follower.bugs)
    assert follower.bug_in("m-1") is old
    follower.hear(Bug(others, "m-2"))
    assert follower.bug_in("m-1", begun) is None
    follower.hear(Bug(own, "m-1"))
    assert follower.bug_in("m-1", begun) is own
    follower.hear(Bug(whole))
    assert follower.bug_in("m-3", begun) is whole
