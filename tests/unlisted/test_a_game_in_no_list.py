"""A game that no list names is served, judged, learned and played: its parts and its board are enough."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import trio

from stellwerk import run_matches
from stellwerk.bots.starters import Starter
from stellwerk_bots.imagined import game_of
from stellwerk_engine.boards.board_file import format_board
from stellwerk_engine.games.described import parts_of
from stellwerk_engine.games.shipped import RULE_SETS
from stellwerk_engine.replays.verify import verify
from stellwerk_learn import HouseEnv, SeatsEnv
from stellwerk_processes.bench.levels import UNCONFINED
from stellwerk_processes.bot_spec import BotSpec, built_in_command
from stellwerk_processes.seat_report import seat_reports
from stellwerk_processes.started_match import BotMatch, MatchResult, play_match
from stellwerk_protocol.canonical import encode
from stellwerk_server.lobby.rooms import GameShelf
from stellwerk_server.match.audience import start_line
from stellwerk_server.match.plan import MatchPlan
from stellwerk_server.operate.settings import Time, clocks_of
from tests.bots.starters import WITH_OWN_CLIENT, built
from tests.engine.recordings import edited, game_for, record
from tests.unlisted.alps import ALPS, alps, alps_board

SECONDS = 120  # far more than any match takes: a test that hangs should say so
Json = dict[str, Any]  # Any: a JSON value


def plan(*names: str) -> MatchPlan:
    clocks = clocks_of(Time(move_ms=60_000))
    return MatchPlan("alpine", alps(len(names)), names, bytes(32), bytes(32), clocks)


def played_by(*bots: BotSpec) -> MatchResult:
    names = tuple(bot.name for bot in bots)

    async def play() -> MatchResult:
        with trio.fail_after(SECONDS):
            return await play_match(BotMatch(plan(*names), bots, names), UNCONFINED)

    return trio.run(play)


def assert_played_well(played: MatchResult) -> None:
    for report in seat_reports(played.result, played.seats):
        assert (report.faults, report.defaults) == ((), 0)
    assert verify(played.replay.splitlines(keepends=True)).fault is None


def start_of(match: MatchPlan) -> Json:
    start: Json = json.loads(start_line(match, "0" * 64, 0))
    return start


def test_it_is_in_no_list() -> None:
    assert ALPS.id not in RULE_SETS


@pytest.mark.parametrize("bots", [("random", "greedy", "planner"), ("searcher", "beginner")])
def test_it_is_played_by_the_house_bots_over_tcp(bots: tuple[str, ...]) -> None:
    assert_played_well(played_by(*(BotSpec(bot, built_in_command(bot)) for bot in bots)))


@pytest.mark.parametrize("starter", WITH_OWN_CLIENT, ids=lambda starter: starter.language)
def test_it_is_played_by_every_starter(starter: Starter) -> None:
    bot = built(starter.language)
    first, last = starter.bots[0], starter.bots[-1]
    assert_played_well(
        played_by(
            BotSpec("first", tuple(bot.command(first)), transport="tcp"),
            BotSpec("last", tuple(bot.command(last)), transport="stdio"),
        )
    )


def test_a_server_that_is_given_it_offers_it() -> None:
    shelf = GameShelf({ALPS.id: alps_board()}, [ALPS])
    assert [offer.game for offer in shelf.offered] == [*RULE_SETS, ALPS.id]
    assert shelf.game(ALPS.id, 3, ()).rules.title == ALPS.title


def test_a_server_is_given_no_other_game_by_the_name_of_a_shipped_one() -> None:
    with pytest.raises(ValueError, match="another id than usa"):
        GameShelf(own_games=[replace(ALPS, id="usa")])


def test_it_is_played_in_the_laboratory_in_several_processes(tmp_path: Path) -> None:
    board = tmp_path / "alps.json"
    board.write_text(format_board(alps_board()))
    rows = run_matches(["greedy", "random"], ALPS, matches=4, board=board, seed="lab", jobs=2)
    assert [row["game"] for row in rows] == [ALPS.id] * 8
    assert len({row["match"] for row in rows}) == 4


def test_its_start_and_its_header_have_its_parts() -> None:
    parts = json.loads(encode(parts_of(ALPS)))
    assert start_of(plan("a", "b"))["parts"] == parts
    assert json.loads(record(alps())[0])["parts"] == parts


@pytest.mark.parametrize("game", RULE_SETS)
def test_those_of_a_shipped_game_have_none(game: str) -> None:
    assert "parts" not in json.loads(record(game_for(game, min(RULE_SETS[game].seat_counts)))[0])


def test_a_client_makes_it_from_its_start() -> None:
    start: Any = start_of(plan("a", "b"))
    game = game_of(start)
    assert parts_of(game.rules) == parts_of(ALPS)
    assert game.board.file.digest == alps_board().digest


def test_it_is_learned_in_the_environments() -> None:
    env = SeatsEnv(alps(3))
    env.reset(seed=1)
    dice = np.random.default_rng(1)
    for _agent in env.agent_iter():
        observation, _, terminated, _, _ = env.last()
        assert observation is not None
        env.step(None if terminated else int(dice.choice(np.flatnonzero(observation["action_mask"]))))
    assert env.table.state.result is not None


def test_it_is_learned_against_house_bots() -> None:
    env = HouseEnv(alps(), opponents="greedy")
    observation, _ = env.reset(seed=2)
    dice, is_over = np.random.default_rng(2), False
    while not is_over:
        choice = int(dice.choice(np.flatnonzero(observation["action_mask"])))
        observation, _, is_over, _, _ = env.step(choice)
    assert env.table.state.result is not None


# -- descriptions from outside -----------------------------------------------------------------------


def without(name: str) -> Any:
    def edit(parts: Json) -> None:
        parts["menu"] = [part for part in parts["menu"] if part["part"] != name]

    return edit


def setting(*path: str | int, to: object) -> Any:
    def edit(parts: Any) -> None:
        for step in path[:-1]:
            parts = parts[step]
        parts[path[-1]] = to

    return edit


def technologies(kinds: object) -> Any:
    return setting("before_action", to=[{"part": "buy_technology", "substitute": 4, "technologies": kinds}])


LARGE = [
    {"id": f"t{number:031}", "supply": 1, "cost": 1, "opens_regions": [f"r{at:031}" for at in range(8)]}
    for number in range(16)
]
ROPE = {"id": "rope", "supply": 1, "cost": 1}
MOST = {"part": "for_the_most", "name": "guide", "points": 7, "amount": "completed_tickets"}
WRONG = [
    (setting("menu", 0, "part", to="teleport"), "teleport"),
    (setting("train_cards", "dealt", to=1_000), "<= 100"),
    (setting("set_up", 0, "number", to=9), "<= 7"),
    (setting("bonus", to=[]), "unknown field"),
    (without("claim_route"), "the board feature map needs claim_route"),
    (without("build_station"), "fewest_stations needs build_station"),
    (setting("menu", 1, to={"part": "draw_cards"}), "a part occurs twice"),
    (setting("set_up", 0, "keep", to=5), "5 tickets to keep of 4"),
    (setting("team_size", to=2), "a team_size above 1 needs holders"),
    (setting("team_size", to=3), "expected a divisor of 2"),
    (setting("set_up", 0, "share", to="ask_to_share"), "ask_to_share needs share_tickets"),
    (setting("set_up", 0, "reject", to="remove_tickets"), "remove_tickets needs long_tickets"),
    (setting("set_up", to=[{"part": "holders"}]), "expected first_tickets at the end"),
    (setting("train_cards", "dealt", to=60), "train cards; alps with 2 players needs"),
    (technologies(LARGE), "a description has at most 4000"),
    (technologies([ROPE | {"substitute": 1}]), "a substitute of 1 card"),
    (technologies([ROPE | {"bonus": MOST}]), "for_the_most"),
]


@pytest.mark.parametrize(("edit", "problem"), WRONG, ids=[problem for _, problem in WRONG])
def test_a_replay_of_a_wrong_description_is_refused(edit: Any, problem: str) -> None:
    lines = record(alps())
    verdict = verify(edited(lines, 1, lambda header: edit(header["parts"])))
    assert verdict.fault is not None
    assert verdict.line == 1
    assert problem in verdict.message


def test_a_shipped_game_has_no_parts_in_a_replay() -> None:
    verdict = verify(edited(record(alps()), 1, setting("game", to="usa")))
    assert (verdict.fault, verdict.line) == ("differs", 1)
    assert "a shipped one" in verdict.message
