"""Built-in bots that sit in the server: they play as their processes would, and need none."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from pathlib import Path
from shlex import join

import pytest
import trio

from stellwerk.shared.house_bots import house_bots
from stellwerk_tournament.config.settings import FILE, SettingsError, parse, settings_of
from stellwerk_tournament.play import blocks_in_hand
from stellwerk_tournament.play.matches_here import Conditions
from stellwerk_tournament.play.progress import BlockEnded, Ended, Progress
from stellwerk_tournament.play.runner import play_tournament
from stellwerk_tournament.store.match_line import MatchLine
from stellwerk_tournament.store.store import Finished, Judge, Store, open_store, read_matches
from tests.command.tournament.test_tournament import cup, lines_of, tournament
from tests.tournament.play.fakes import Witness

FRESH = 'process = "fresh"'
ROUND = "[schedule]\nrounds = 1"
ROUNDS = "[schedule]\nrounds = 2"


def replays(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in (folder / "replays").glob("*.jsonl")}


def processes(folder: Path) -> dict[str, str]:
    """Return how each bot ran, by the lines."""
    return {seat["bot"]: seat.get("process", "fresh") for line in lines_of(folder) for seat in line["bots"]}


@pytest.mark.parametrize("game", ['game = "usa"', 'game = "team_asia"'])
def test_the_bots_of_the_house_play_move_for_move_as_their_processes_do(game: str, tmp_path: Path) -> None:
    names = ("random", "beginner", "greedy")
    house = cup(tmp_path / "house", [f'built_in = "{name}"' for name in names], ROUND, game)
    fresh = cup(tmp_path / "fresh", [f'built_in = "{name}"\n{FRESH}' for name in names], ROUND, game)
    for folder in (house, fresh):
        tournament("run", folder, "--seed", "s")
        assert "ok, " in tournament("verify", folder)
    assert replays(house) == replays(fresh)
    assert processes(house) == dict.fromkeys(names, "house")
    assert processes(fresh) == dict.fromkeys(names, "fresh")
    assert not any("cpu_ms" in seat for line in lines_of(house) for seat in line["bots"])
    assert list((house / "logs").glob("*")) == []
    assert "built-in bots that sit in the server" in (house / "report.html").read_text()


def test_blocks_of_the_house_are_written_together_and_shown_when_they_are_on_the_disk(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Here as if all were played within a second."""
    folder = cup(tmp_path / "cup", ['built_in = "random"', 'built_in = "greedy"'], "[schedule]\nrounds = 5")
    written: list[int] = []
    complete_all = Store.complete_all

    def count(store: Store, finished: Sequence[Finished], judge: Judge) -> list[list[MatchLine]]:
        written.append(len(finished))
        return complete_all(store, finished, judge)

    monkeypatch.setattr(Store, "complete_all", count)
    monkeypatch.setattr(blocks_in_hand, "WRITE_EVERY_S", 1e6)

    class Reader(Witness):
        def match_ended(self, ended: Ended, progress: Progress) -> None:
            super().match_ended(ended, progress)
            assert len([*read_matches(folder)]) == 10
            assert progress.played <= 10

        def block_ended(self, ended: BlockEnded, progress: Progress) -> None:
            super().block_ended(ended, progress)
            assert set(ended.lines) <= {*read_matches(folder)}

    witness = Reader()
    with open_store(folder) as opened:
        settings = settings_of(parse(folder), folder)
        assert trio.run(play_tournament, settings, opened, witness, Conditions(house_bots=house_bots()))
    assert written == [5]
    assert [(ended.block.number, ended.rotation) for ended in witness.ended] == [
        (block, rotation) for block in range(5) for rotation in range(2)
    ]
    assert len(witness.blocks) == 5
    assert witness.last is not None
    assert witness.last.played == 10


def test_a_match_has_bots_of_the_house_and_a_process(tmp_path: Path) -> None:
    command = join([sys.executable, "-m", "stellwerk_bots", "random"])
    own = f'name = "own"\ncmd = {json.dumps(command)}'
    folder = cup(tmp_path / "cup", [own, 'built_in = "greedy"'], ROUNDS)
    tournament("run", folder)
    lines = lines_of(folder)
    assert processes(folder) == {"own": "fresh", "greedy": "house"}
    assert [seat["faults"] for line in lines for seat in line["bots"]] == [[], []] * len(lines)
    assert all(seat["asks"] for line in lines for seat in line["bots"])


def test_searching_bots_get_processes_that_stay(tmp_path: Path) -> None:
    """They would keep everybody waiting in the server."""
    (tmp_path / FILE).write_text(
        '[[games]]\ngame = "usa"\n[[bots]]\nbuilt_in = "planner"\n[[bots]]\nbuilt_in = "searcher"\n'
    )
    settings = settings_of(parse(tmp_path), tmp_path)
    assert [entrant.bot.process for entrant in settings.entrants] == ["reused", "reused"]


@pytest.mark.parametrize("key", ['transport = "stdio"', "instances = 2", 'env = { A = "1" }'])
def test_what_is_said_of_a_process_asks_for_one(key: str, tmp_path: Path) -> None:
    text = '[[games]]\ngame = "usa"\n[[bots]]\nbuilt_in = "random"\n[[bots]]\nbuilt_in = "greedy"\n'
    (tmp_path / FILE).write_text(text + key)
    settings = settings_of(parse(tmp_path), tmp_path)
    assert [entrant.bot.process for entrant in settings.entrants] == ["house", "reused"]
    (tmp_path / FILE).write_text(f'{text}process = "house"\n{key}')
    with pytest.raises(SettingsError, match="does nothing for a bot that sits in the server"):
        settings_of(parse(tmp_path), tmp_path)


@pytest.mark.parametrize("bot", ['built_in = "planner"', 'cmd = "true"'])
def test_no_other_bot_sits_in_the_server(bot: str, tmp_path: Path) -> None:
    text = f'[[games]]\ngame = "usa"\n[[bots]]\nbuilt_in = "random"\n[[bots]]\n{bot}\nprocess = "house"\n'
    (tmp_path / FILE).write_text(text)
    with pytest.raises(SettingsError, match="for these built-in bots only: random, beginner, greedy"):
        settings_of(parse(tmp_path), tmp_path)
