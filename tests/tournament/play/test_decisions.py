"""What the organizer's decisions do to a tournament while it is played; in virtual time."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path

import trio

from stellwerk_processes.bench.levels import Confinement
from stellwerk_processes.started_match import BotMatch, MatchResult
from stellwerk_tournament.play.progress import BlockEnded, Progress
from stellwerk_tournament.play.scheduled import matches_in_all
from stellwerk_tournament.report.scheduled import missing_blocks, wrong_draws
from stellwerk_tournament.store.field import Announced, Decision, Disqualified, Paused, Unpaused
from stellwerk_tournament.store.field_file import Place, decide
from stellwerk_tournament.store.store import look_into
from tests.tournament.play.fakes import FakeMatches, Witness
from tests.tournament.play.test_conduct import SIX, cup, on_disk, play, statuses
from tests.tournament.report.report_tournaments import cup_of

NOW = datetime(2026, 3, 1, 12, 0, tzinfo=UTC)


def disqualify(folder: Path, bot: str) -> None:
    decide(folder, NOW, lambda _, place: Disqualified(*common(place), bot, "plays for ann"))


def common(place: Place) -> tuple[int, str, int, str]:
    return place.number, place.at, place.after, place.previous


@dataclass
class Organizer(Witness):
    """Decides when so many blocks have ended, and remembers which decisions were shown."""

    acts: dict[int, Callable[[], object]] = field(default_factory=dict[int, Callable[[], object]])
    shown: list[Decision] = field(default_factory=list[Decision])

    def block_ended(self, ended: BlockEnded, progress: Progress) -> None:
        super().block_ended(ended, progress)
        if act := self.acts.get(len(self.blocks)):
            act()

    def decided(self, decision: Decision, progress: Progress) -> None:
        self.shown.append(decision)
        self.last = progress


def test_blocks_of_a_disqualified_bot_are_called_off_and_what_was_played_stays(tmp_path: Path) -> None:
    organizer = Organizer(acts={2: lambda: disqualify(tmp_path, "cat")})
    settings = cup(tmp_path, SIX[:4], rounds="rounds = 3")
    assert play(tmp_path, settings, FakeMatches(), organizer)
    by_status = statuses(tmp_path)
    called_off = [entrants for status, entrants in by_status.values() if status == "called_off"]
    assert called_off
    assert all("cat" in entrants for entrants in called_off)
    played = [line for line in on_disk(tmp_path) if "cat" in line.players]
    assert played
    assert all(not line.forfeits for line in played)  # it did nothing wrong in a match
    assert all(line.block < 6 for line in played)  # no table of a later round has it
    assert (
        sum(entrants.count("cat") for _, entrants in by_status.values()) == len(called_off) + len(played) // 2
    )
    assert organizer.last is not None
    assert {row.bot: row.out for row in organizer.last.rows}["cat"] == "disqualified"
    assert organizer.last.disqualified == ("cat",)
    assert organizer.last.total == organizer.last.played == len(on_disk(tmp_path))


def test_stages_without_any_table_are_no_matches_to_come(tmp_path: Path) -> None:
    """Two bots are left: they meet in the game of two, and the stages of the game of three are empty."""

    def decide_both() -> None:
        disqualify(tmp_path, "ann")
        disqualify(tmp_path, "bea")

    organizer = Organizer(acts={2: decide_both})
    games = 'game = "usa"\nplayers = 2\n[[games]]\ngame = "usa"\nplayers = 3'
    settings = cup(tmp_path, SIX[:4], kind="random", rounds="rounds = 4", games=games)
    assert play(tmp_path, settings, FakeMatches(), organizer)
    with look_into(tmp_path) as store:
        assert store is not None
        standings = store.standings()
    played = len(on_disk(tmp_path))
    assert matches_in_all(settings, standings, {"ann", "bea"}) == played
    assert organizer.last is not None
    assert organizer.last.total == played


def test_a_block_that_has_begun_is_played_to_its_end_with_the_disqualified_bot(tmp_path: Path) -> None:
    @dataclass
    class Decided(FakeMatches):
        async def __call__(self, bot_match: BotMatch, confinement: Confinement) -> MatchResult:
            if not self.played:
                disqualify(tmp_path, bot_match.bots[0].name)
            return await super().__call__(bot_match, confinement)

    matches = Decided(seconds=10.0)
    assert play(tmp_path, cup(tmp_path, SIX[:2], rounds="rounds = 2"), matches)
    lines = on_disk(tmp_path)
    assert [(line.block, line.rotation) for line in lines] == [(0, 0), (0, 1)]
    assert not any(line.forfeits for line in lines)


def test_a_round_that_is_drawn_after_a_disqualification_is_without_the_bot(tmp_path: Path) -> None:
    settings = cup(tmp_path, SIX, kind="swiss", rounds="rounds = 3")
    organizer = Organizer(acts={3: lambda: disqualify(tmp_path, "fay")})  # the first round has three blocks
    assert play(tmp_path, settings, FakeMatches(), organizer)
    by_round: dict[int, set[str]] = {}
    for line in on_disk(tmp_path):
        by_round.setdefault(line.round, set()).update(line.players)
    assert "fay" in by_round[0]
    assert all("fay" not in names for round, names in by_round.items() if round)
    tournament = cup_of(tmp_path, settings, on_disk(tmp_path))
    assert list(wrong_draws(tournament)) == []


def test_verify_names_a_block_that_was_drawn_with_a_bot_that_was_disqualified_before(tmp_path: Path) -> None:
    settings = cup(tmp_path, SIX, kind="swiss", rounds="rounds = 3")
    assert play(tmp_path, settings, FakeMatches())
    lines = (tmp_path / "matches.jsonl").read_bytes()
    (tmp_path / "matches.jsonl").write_bytes(b"")
    disqualify(tmp_path, "fay")  # as if it had been before the first match
    (tmp_path / "matches.jsonl").write_bytes(lines)
    tournament = cup_of(tmp_path, settings, on_disk(tmp_path))
    wrong = list(wrong_draws(tournament))
    assert len(wrong) == 2  # of the first round nothing shows whether it was drawn before
    assert all("fay, which was disqualified before by decision 1" in each for each in wrong)


def test_a_missing_block_is_explained_by_the_disqualification(tmp_path: Path) -> None:
    organizer = Organizer(acts={1: lambda: disqualify(tmp_path, "cat")})
    settings = cup(tmp_path, SIX[:4])
    assert play(tmp_path, settings, FakeMatches(), organizer)
    tournament = cup_of(tmp_path, settings, on_disk(tmp_path))
    missing = list(missing_blocks(tournament))
    assert missing
    assert all("called off, since cat is disqualified" in each for each in missing)


def test_during_a_pause_no_block_begins_and_those_that_have_begun_end(tmp_path: Path) -> None:
    """The matches of the fakes take a second each, and the pause a minute."""
    began: list[float] = []

    @dataclass
    class Timed(FakeMatches):
        async def __call__(self, bot_match: BotMatch, confinement: Confinement) -> MatchResult:
            began.append(trio.current_time())
            return await super().__call__(bot_match, confinement)

    paused_at: list[float] = []

    def pause() -> None:
        decide(tmp_path, NOW, lambda _, place: Paused(*common(place), "an alarm"))
        paused_at.append(trio.current_time())

        async def go_on() -> None:
            await trio.sleep(60)
            decide(tmp_path, NOW, lambda _, place: Unpaused(*common(place)))

        trio.lowlevel.spawn_system_task(go_on)

    organizer = Organizer(acts={2: pause})
    settings = cup(tmp_path, SIX[:4], rounds="rounds = 3")
    assert play(tmp_path, settings, Timed(), organizer)
    assert len(on_disk(tmp_path)) == 36
    [start] = paused_at
    block_s, notice_s = 2.0, 1.0  # a runner looks for decisions once a second
    assert not [time for time in began if start + block_s + notice_s < time < start + 60]
    assert [type(each).__name__ for each in organizer.shown] == ["Paused", "Unpaused"]


def test_a_runner_that_is_resumed_knows_what_was_decided_before(tmp_path: Path) -> None:
    settings = cup(tmp_path, SIX[:4], rounds="rounds = 2")
    decide(tmp_path, NOW, lambda _, place: Announced(*common(place), "Welcome."))
    disqualify(tmp_path, "dot")
    organizer = Organizer()
    assert play(tmp_path, settings, FakeMatches(), organizer)
    assert {name for line in on_disk(tmp_path) for name in line.players} == {"ann", "bea", "cat"}
    assert organizer.shown == []
