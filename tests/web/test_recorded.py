"""A replay as a spectator would have got it."""

from __future__ import annotations

from msgspec.structs import replace

from stellwerk_engine.replays.reader import read_replay
from stellwerk_engine.replays.verify import game_of
from stellwerk_protocol.replays import End, Header
from stellwerk_web.sources.recorded import Summary, head_of
from tests.engine.recordings import by_fallback, game_for, record


def test_a_team_that_a_forged_result_leaves_out_has_no_points() -> None:
    """A list reads the beginning and the end of a replay, and checks nothing in between."""
    records = list(read_replay(record(game_for("card_game", 2), by_fallback)))
    header, end = records[0], records[-1]
    assert isinstance(header, Header)
    assert isinstance(end, End)
    points = tuple(team.points for team in end.result.teams)
    assert head_of(Summary(header, end.result, game_of(header)), "m").points == points
    forged = replace(end.result, teams=end.result.teams[:1])
    assert head_of(Summary(header, forged, game_of(header)), "m").points == (points[0], 0)
