"""The trial of bots before a tournament: real processes that start, or fail to in every way that bots do."""

from __future__ import annotations

import json
import os
import shlex
import signal
import sys
from collections import Counter
from collections.abc import Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import replace
from pathlib import Path
from typing import Final

import pytest
import trio
import trio.testing

from stellwerk_engine.boards.board_file import board_content, shipped_board
from stellwerk_processes.faults import Conduct
from stellwerk_processes.standing_server import StandingServer, StandingSetup, open_standing_server
from stellwerk_processes.started_match import (
    BotMatch,
    MatchObserver,
    MatchResult,
    NoResultError,
    play_match,
)
from stellwerk_tournament.config.settings import FILE, Settings, parse, settings_of
from stellwerk_tournament.play import preflight
from stellwerk_tournament.play.preflight import FIRST_ASKS, Preflight, Trying, try_bots
from tests.tools import needs
from tests.tournament.play.fakes import ENDED, played_match

# A bot that plays as `random`, but for what its first word says. It prints what it sees of each ask.
SCRIPT: Final = """
import os, sys, time
import stellwerk_bots.client as client
from stellwerk_bots.connection import default_address
from stellwerk_bots.players import new_player

kind = sys.argv[1]
if kind == "crash":
    sys.exit("no model.bin here")
if kind == "silent":
    time.sleep(20)
    sys.exit(0)

class Player:
    def __init__(self, start, seed):
        self.player = new_player("random")(start, seed)
        self.asks = 0

    def answer(self, ask):
        self.asks += 1
        with open(sys.argv[2], "a") as file:
            print(os.environ["STELLWERK_NAME"], self.asks, ask["match"], file=file)
        if kind == "quits" and self.asks == 2:
            print("I have seen enough", file=sys.stderr, flush=True)
            os._exit(5)
        if kind == "hangs":
            time.sleep(20)
        if kind == "clumsy" and self.asks == 1:
            return {"index": 999}
        return self.player.answer(ask)

client.Client(
    default_address(), os.environ["STELLWERK_NAME"], Player, token=os.environ["STELLWERK_TOKEN"]
).run()
"""
QUICK: Final = "[clocks]\nset_up_ms = 6000\nmove_ms = 1000\nbank_ms = 0\ngrace_ms = 0\ntries = 1"


def settings_for(
    folder: Path,
    kinds: Sequence[str],
    head: str = "",
    games: str = '[[games]]\ngame = "usa"\n',
    bot: str = "",
) -> Settings:
    """Make settings with a bot of each kind. All of them write to the file `asks` in the folder."""
    (folder / "bot.py").write_text(SCRIPT)
    words = [sys.executable, str(folder / "bot.py")]
    tables = "".join(
        f"[[bots]]\nname = {json.dumps(kind)}\n"
        f"cmd = {json.dumps(shlex.join([*words, kind, str(folder / 'asks')]))}\n{bot}\n"
        for kind in kinds
    )
    keys, bracket, rest = head.partition("[")
    sandbox = "" if "sandbox" in keys else 'sandbox = "limits"\n'
    (folder / FILE).write_text(f"{keys}\n{sandbox}{bracket}{rest}\n{games}\n{tables}")
    return settings_of(parse(folder), folder)


def tried(settings: Settings) -> Preflight:
    return trio.run(try_bots, settings, settings.names)


def asked(folder: Path) -> list[list[str]]:
    """Return the name, the number and the match of each ask."""
    return [line.split() for line in (folder / "asks").read_text().splitlines()]


def test_every_bot_that_cannot_play_is_named_with_its_cause(tmp_path: Path) -> None:
    kinds = ["good", "crash", "silent", "quits", "hangs", "clumsy"]
    found = tried(settings_for(tmp_path, kinds, QUICK))
    assert found.passed == ["good"]
    assert [each.bot for each in found.unfit] == kinds[1:]
    causes = {each.bot: each.cause for each in found.unfit}
    assert causes["crash"] == "ended with exit status 1 before it logged in"
    assert causes["silent"] == "never logged in"
    assert causes["quits"].startswith("ended with exit status 5 before the match did, in seat ")
    assert causes["quits"].endswith(f", where it had answered 1 of its first {FIRST_ASKS} asks")
    assert causes["hangs"].startswith("no answer in time once, in seat ")
    assert causes["hangs"].endswith(", where it had answered 0 of its first 3 asks")
    assert causes["clumsy"].startswith("refused moves: game.")
    assert "; no try was left once, in seat " in causes["clumsy"]
    lines = {each.bot: each.last_lines for each in found.unfit}
    assert lines["crash"] == ("no model.bin here",)
    assert lines["quits"] == ("I have seen enough",)
    hints = {each.bot: each.hints for each in found.unfit}
    assert any("it did not connect to the address in STELLWERK_ADDRESS" in hint for hint in hints["silent"])
    assert all(each.game == "usa of 2" for each in found.unfit)
    assert not found.untried


def test_a_bot_answers_its_first_asks_at_every_seat_of_every_game(tmp_path: Path) -> None:
    games = '[[games]]\ngame = "usa"\nplayers = 3\n[[games]]\ngame = "team_asia"\nweight = 2\n'
    games += '[[games]]\ngame = "team_asia"\n'
    settings = settings_for(tmp_path, ["a", "b", "c"], games=games)
    found = trio.run(try_bots, settings, ["b"])
    assert found.passed == ["b"]
    asks = asked(tmp_path)
    matches = {match for *_, match in asks}
    assert len(matches) == 2, "the same game with another weight is no other game"
    seats = {(name, match) for name, _, match in asks}
    assert {name for name, _ in seats} == {"b", "b-2", "b-3", "b.1", "b.2", "b-2.1", "b-2.2"}
    for seat in seats:
        numbers = [int(number) for name, number, match in asks if (name, match) == seat]
        assert numbers[:FIRST_ASKS] == [*range(1, FIRST_ASKS + 1)]
    assert len(asks) < 12 * len(seats), "the matches are broken off"


def test_a_bot_is_named_for_each_game_unless_it_does_not_even_log_in(tmp_path: Path) -> None:
    games = '[[games]]\ngame = "usa"\n[[games]]\ngame = "card_game"\n'
    found = tried(settings_for(tmp_path, ["crash", "quits"], games=games))
    named = [(each.bot, each.game) for each in found.unfit]
    assert named == [("crash", "usa of 2"), ("quits", "usa of 2"), ("quits", "card_game of 2")]


def test_a_bot_has_no_more_processes_than_it_may_have(tmp_path: Path) -> None:
    games = '[[games]]\ngame = "usa"\nplayers = 4\n'
    settings = settings_for(tmp_path, ["a", "b", "c", "d"], games=games, bot="instances = 2")
    assert trio.run(try_bots, settings, ["a"]).passed == ["a"]
    assert {name for name, *_ in asked(tmp_path)} == {"a", "a-2"}


def test_a_bot_that_is_used_again_is_tried_as_it_will_play(tmp_path: Path) -> None:
    settings = settings_for(tmp_path, ["a", "quits"], bot='process = "reused"\ninstances = 1')
    found = tried(settings)
    assert found.passed == ["a"]
    assert [each.bot for each in found.unfit] == ["quits"]
    assert found.unfit[0].cause.startswith("ended with exit status 5 before the match did")


@pytest.mark.parametrize(("process", "opened"), [("reused", 1), ("fresh", 0)])
def test_a_server_for_bots_that_stay_is_opened_if_one_of_them_does(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, process: str, opened: int
) -> None:
    setups: list[StandingSetup] = []

    def noting(setup: StandingSetup) -> AbstractAsyncContextManager[StandingServer]:
        setups.append(setup)
        return open_standing_server(setup)

    monkeypatch.setattr(preflight, "open_standing_server", noting)
    settings_for(tmp_path, ["a", "b"])
    with open(tmp_path / FILE, "a") as file:
        file.write(f'process = "{process}"\n')  # that of the last one
    found = tried(settings_of(parse(tmp_path), tmp_path))
    assert (found.passed, len(setups)) == (["a", "b"], opened)


def test_a_bot_that_finds_a_legal_move_at_its_second_try_can_play(tmp_path: Path) -> None:
    found = tried(settings_for(tmp_path, ["good", "clumsy"]))
    assert found.passed == ["good", "clumsy"]
    [remark] = found.remarks
    assert (remark.bot, remark.game) == ("clumsy", "usa of 2")
    assert remark.text.startswith("refused ")


def test_nothing_is_left_of_a_trial(tmp_path: Path) -> None:
    settings = settings_for(tmp_path, ["good", "crash"])
    before = {*tmp_path.iterdir()}
    tried(settings)
    assert {*tmp_path.iterdir()} - before == {tmp_path / "asks"}, "which the bot wrote itself"


def test_no_two_trials_have_the_same_deal(tmp_path: Path) -> None:
    settings = settings_for(tmp_path, ["a", "b"])
    tried(settings)
    tried(settings)
    assert len({match for *_, match in asked(tmp_path)}) == 4


def test_a_fault_of_the_machine_is_never_a_bots(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The machine fails two times of three for one bot, and always for another."""
    settings = settings_for(tmp_path, ["lucky", "luckless"])
    attempts: list[str] = []

    async def play(bot_match: BotMatch, confinement: object, observer: MatchObserver) -> object:
        name = bot_match.bots[0].name
        attempts.append(name)
        if name == "luckless" or attempts.count(name) < 3:
            raise NoResultError("the disk is full")
        return await play_match(bot_match, settings.confinement, observer)

    monkeypatch.setattr(preflight, "play_match", play)
    found = tried(settings)
    assert found.passed == ["lucky"]
    assert not found.unfit
    assert [(each.bot, each.text) for each in found.untried] == [("luckless", "the disk is full")]
    assert attempts.count("luckless") == 3


@pytest.mark.parametrize(("late_s", "is_excused"), [(0.1, False), (0.3, True)])
def test_a_late_bot_is_excused_only_by_a_runner_that_was_late_for_long(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, late_s: float, is_excused: bool
) -> None:
    settings = settings_for(tmp_path, ["hangs", "good"], QUICK)
    attempts = 0

    async def play(bot_match: BotMatch, *_: object) -> MatchResult:
        nonlocal attempts
        played = played_match(bot_match)
        if bot_match.bots[0].name == "good":
            return played
        attempts += 1
        clock.jump(0.001)
        await trio.lowlevel.checkpoint()
        clock.jump(late_s)  # within a round of work
        await trio.lowlevel.checkpoint()
        conduct = Conduct(ENDED, defaults=Counter({"time": 1}))
        return replace(played, seats=(replace(played.seats[0], conduct=conduct), *played.seats[1:]))

    clock = trio.testing.MockClock(autojump_threshold=0.02)
    monkeypatch.setattr(preflight, "play_match", play)
    found = trio.run(try_bots, settings, settings.names, clock=clock)
    assert found.passed == ["good"]
    assert [each.bot for each in found.untried] == ["hangs"] * is_excused
    assert [each.bot for each in found.unfit] == ["hangs"] * (not is_excused)
    assert attempts == (3 if is_excused else 1)


def test_a_bug_of_the_runner_is_no_bots_fault_either(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    settings = settings_for(tmp_path, ["a", "b"])

    async def play(*_: object) -> object:
        raise ValueError("a bug")

    monkeypatch.setattr(preflight, "play_match", play)
    found = tried(settings)
    assert [each.text for each in found.untried] == ["ValueError: a bug"] * 2
    assert not found.passed
    assert not found.unfit


def test_trials_run_side_by_side_as_matches_would_and_tell_how_far_they_are(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings = replace(settings_for(tmp_path, [f"bot-{n}" for n in range(5)]), concurrency=2)
    running = most = 0

    async def play(*_: object) -> object:
        nonlocal running, most
        running += 1
        most = max(most, running)
        await trio.sleep(3)
        running -= 1
        raise NoResultError("no")

    monkeypatch.setattr(preflight, "play_match", play)
    told: list[Trying] = []

    async def main() -> None:
        await try_bots(settings, settings.names, told.append)

    trio.run(main, clock=trio.testing.MockClock(autojump_threshold=0))
    assert most == 2
    assert told[0].seconds == preflight.TOLD_AFTER
    assert (told[0].done, told[0].total, len(told[0].names)) == (0, 5, 2)
    assert told[-1].done >= 4


def test_ctrl_c_ends_the_trials_and_their_bots(tmp_path: Path) -> None:
    settings = settings_for(tmp_path, ["silent", "hangs"])

    def stop(trying: Trying) -> None:
        if trying.seconds < preflight.TOLD_AFTER + 2 * preflight.TOLD_AGAIN:
            os.kill(os.getpid(), signal.SIGINT)

    found = trio.run(try_bots, settings, settings.names, stop)
    assert found.was_stopped
    assert not found.passed
    assert not found.unfit


@needs("bwrap", "namespaces")
def test_what_the_sandbox_hides_is_named_with_what_to_bind(tmp_path: Path) -> None:
    cup, odd = tmp_path / "cup", tmp_path / "odd"
    (cup / "bot").mkdir(parents=True)
    (odd / "bin").mkdir(parents=True)
    (odd / "bin" / "python").symlink_to(sys.executable)
    (cup / "bot" / "run.sh").write_text(f"exec {odd}/bin/python -m stellwerk_bots random\n")
    bot = '[[bots]]\nname = "{}"\ncmd = "sh bot/run.sh"\nfolder = "bot"\n'
    games = '[[games]]\ngame = "usa"\n' + bot.format("a") + bot.format("b")
    (cup / FILE).write_text(f'sandbox = "namespace"\n{games}')
    found = tried(settings_of(parse(cup), cup))
    assert [each.bot for each in found.unfit] == ["a", "b"]
    assert f'write bind = ["{odd}"]' in found.unfit[0].hints[-1]


def test_a_bot_on_a_small_board_may_play_to_the_end(tmp_path: Path) -> None:
    """A match that is over before all asks have come shows as much."""
    (tmp_path / "board.json").write_text(json.dumps(board_content(shipped_board("usa")) | {"trains": 3}))
    games = '[[games]]\ngame = "usa"\nboard = "board.json"\n'
    assert tried(settings_for(tmp_path, ["a", "b"], games=games)).passed == ["a", "b"]
