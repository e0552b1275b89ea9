"""What forfeits and suspensions do to a tournament while it is played; in virtual time."""

from __future__ import annotations

import signal
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import msgspec
import pytest
import trio
from msgspec import UNSET

from stellwerk_processes.bench.levels import Confinement
from stellwerk_processes.faults import Conduct
from stellwerk_processes.started_match import BotMatch, MatchResult, NoResultError
from stellwerk_tournament.config.settings import Settings
from stellwerk_tournament.play.matches_here import Conditions
from stellwerk_tournament.play.progress import Ended, Progress
from stellwerk_tournament.play.runner import play_tournament
from stellwerk_tournament.report.scheduled import missing_blocks, wrong_draws
from stellwerk_tournament.store.conduct import Suspensions
from stellwerk_tournament.store.match_line import MatchLine
from stellwerk_tournament.store.store import look_into, open_store, read_matches
from tests.tournament.play.fakes import ENDED, FakeMatches, Witness, run_in_virtual_time, settings_with
from tests.tournament.report.report_tournaments import cup_of

NEVER = Conduct(ENDED, logged_in=False)
SIX = ("ann", "bea", "cat", "dot", "eve", "fay")


@dataclass
class Conducted(FakeMatches):
    """Matches in which some bots never start."""

    broken: Callable[[BotMatch, str], bool] = lambda _match, name: name == "cat"
    kept_away: list[tuple[str, ...]] = field(default_factory=list[tuple[str, ...]])

    async def __call__(self, bot_match: BotMatch, confinement: Confinement) -> MatchResult:
        played = await super().__call__(bot_match, confinement)
        self.kept_away.append(tuple(bot_match.bots[seat].name for seat in sorted(bot_match.suspended)))
        seats = [
            replace(seat, conduct=Conduct(ENDED, logged_in=False, suspended=True))
            if number in bot_match.suspended
            else replace(seat, conduct=NEVER)
            if self.broken(bot_match, seat.bot)
            else seat
            for number, seat in enumerate(played.seats)
        ]
        return replace(played, seats=tuple(seats))


def cup(
    folder: Path,
    bots: Sequence[str],
    *,
    kind: str = "round_robin",
    suspend_after: int = 2,
    concurrency: int = 1,
    rounds: str = "rounds = 1",
    games: str = 'game = "usa"',
) -> Settings:
    head = f'concurrency = {concurrency}\n[schedule]\nkind = "{kind}"\n{rounds}\n'
    head += f"[conduct]\nsuspend_after = {suspend_after}"
    return settings_with(folder, bots, games, head)


def play(
    folder: Path, settings: Settings, matches: FakeMatches | None = None, witness: Witness | None = None
) -> bool:
    with open_store(folder) as opened:
        return run_in_virtual_time(
            play_tournament,
            settings,
            opened,
            witness or Witness(),
            Conditions(matches or Conducted()),
            "s",
        )


def on_disk(folder: Path) -> tuple[MatchLine, ...]:
    return tuple(read_matches(folder))


def statuses(folder: Path) -> dict[int, tuple[str, tuple[str, ...]]]:
    with look_into(folder) as store:
        assert store is not None
        return {each.block.number: (each.status, each.block.entrants) for each in store.standings()}


def test_a_bot_that_never_started_ranks_last_in_each_match_and_keeps_its_points(tmp_path: Path) -> None:
    """By the rules who has the greater name wins: "cat" against "ann" and "bea"."""
    settings = cup(tmp_path, SIX[:3], suspend_after=0)
    assert play(tmp_path, settings)
    lines = on_disk(tmp_path)
    assert len(lines) == 6
    for line in lines:
        ranks = dict(zip(line.players, line.ranks, strict=True))
        by_rules = dict(zip(line.players, line.ranks_by_rules, strict=True))
        points = dict(zip(line.players, line.points, strict=True))
        if "cat" in ranks:
            assert (ranks["cat"], by_rules["cat"], points["cat"]) == (2, 1, -1)
        else:
            assert ranks == by_rules == {"ann": 2, "bea": 1}


def test_after_a_suspension_blocks_that_have_not_begun_are_called_off_for_everybody(tmp_path: Path) -> None:
    witness, matches = Witness(), Conducted()
    assert play(tmp_path, cup(tmp_path, SIX[:4]), matches, witness)
    [suspended] = witness.suspensions
    assert (suspended.suspension.bot, suspended.suspension.forfeits) == ("cat", 2)
    by_status: dict[str, list[tuple[str, ...]]] = {}
    for status, entrants in statuses(tmp_path).values():
        by_status.setdefault(status, []).append(entrants)
    assert set(by_status) == {"complete", "called_off"}
    assert len(by_status["called_off"]) == suspended.called_off == 2
    assert all("cat" in entrants for entrants in by_status["called_off"])
    assert Counter("cat" in entrants for entrants in by_status["complete"]) == {True: 1, False: 3}
    assert matches.kept_away == [()] * 8
    assert witness.last is not None
    assert (witness.last.played, witness.last.total, witness.last.called_off_blocks) == (8, 8, 2)
    assert [row.bot for row in witness.last.rows] == ["dot", "bea", "ann", "cat"]
    assert [row.out for row in witness.last.rows] == [UNSET, UNSET, UNSET, "suspended"]


def test_a_block_that_has_begun_is_finished_without_the_suspended_bot_which_forfeits_it(
    tmp_path: Path,
) -> None:
    """Two of its blocks run when "cat" is suspended. Of the second one a match still has to begin."""
    seconds = {("bea", "cat"): 1.0, ("cat", "bea"): 2.0, ("ann", "cat"): 30.0, ("cat", "ann"): 30.0}

    class Slow(Conducted):
        async def __call__(self, bot_match: BotMatch, confinement: Confinement) -> MatchResult:
            self.seconds = 0.0
            one, other = bot_match.bots
            await trio.sleep(seconds.get((one.name, other.name), 100.0))
            return await super().__call__(bot_match, confinement)

    settings = cup(tmp_path, SIX[:3], concurrency=4, suspend_after=1)
    matches = Slow()
    assert play(tmp_path, settings, matches)
    lines = [line for line in on_disk(tmp_path) if set(line.players) == {"ann", "cat"}]
    assert len(lines) == 2
    for line in lines:
        [forfeit] = line.forfeits
        assert (forfeit.bot, forfeit.reason) == ("cat", "suspended")
        assert line.ranks[forfeit.team] == 2
    assert Counter(matches.kept_away) == {(): 5, ("cat",): 1}
    kept_away = [seat for line in lines for seat in line.bots if seat.suspended]
    assert [(seat.bot, seat.faults) for seat in kept_away] == [("cat", ())]
    assert {status for status, _ in statuses(tmp_path).values()} == {"complete"}


def test_faults_of_the_machine_suspend_nobody(tmp_path: Path) -> None:
    def fail(bot_match: BotMatch, attempt: int) -> None:
        names = {bot.name for bot in bot_match.bots}
        if names == {"ann", "cat"} or attempt < 3:
            raise NoResultError("no space")

    witness = Witness()
    matches = Conducted(fails=fail, broken=lambda _match, _name: False)
    assert play(tmp_path, cup(tmp_path, SIX[:3], suspend_after=1), matches, witness)
    assert Counter(status for status, _ in statuses(tmp_path).values()) == {"complete": 2, "void": 1}
    assert witness.suspensions == []
    assert all(line.forfeits == () and line.attempt == 3 for line in on_disk(tmp_path))


def test_a_suspended_bot_does_not_stop_a_tournament_from_becoming_narrow_enough(tmp_path: Path) -> None:
    """It never wins, so its own interval would never be narrow."""

    @dataclass
    class Even(Conducted):
        async def __call__(self, bot_match: BotMatch, confinement: Confinement) -> MatchResult:
            played = await super().__call__(bot_match, confinement)
            return played if int(bot_match.plan.match[0], 16) % 2 else _upside_down(played)

    rounds = "until_width = 700"
    assert play(tmp_path, cup(tmp_path, SIX[:3], rounds=rounds), Even())
    assert "cat" not in on_disk(tmp_path)[-1].players


def _upside_down(played: MatchResult) -> MatchResult:
    from tests.tournament.play.fakes import upside_down

    return upside_down(played)


@pytest.mark.parametrize("kind", ["round_robin", "gauntlet", "swiss", "random"])
def test_a_tournament_ends_when_too_few_bots_are_left_for_a_table(tmp_path: Path, kind: str) -> None:
    """However many rounds were to be played."""
    for number, rounds in enumerate(("rounds = 1000000", "until_width = 1")):
        (folder := tmp_path / str(number)).mkdir()
        witness = Witness()
        settings = cup(folder, SIX[:3], kind=kind, rounds=rounds)
        assert play(folder, settings, Conducted(broken=lambda _match, _name: True), witness)
        assert len(Suspensions(settings.conduct, on_disk(folder)).names) >= 2
        assert len(on_disk(folder)) <= 12
        assert witness.last is not None
        assert witness.last.total in (None, witness.last.played)


# -- schedules that are drawn ------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["swiss", "random"])
@pytest.mark.parametrize("players", [2, 3])
def test_who_is_suspended_is_drawn_no_more_and_everybody_else_still_plays(
    tmp_path: Path, kind: str, players: int
) -> None:
    """Two of eight: were they still drawn, two tables of a round would be called off."""
    games = f'game = "usa"\nplayers = {players}'
    settings = cup(tmp_path, (*SIX, "gil", "hal"), kind=kind, rounds="rounds = 8", games=games)
    witness = Witness()
    assert play(tmp_path, settings, Conducted(broken=lambda _match, name: name in ("cat", "fay")), witness)
    by_round: dict[int, set[str]] = {}
    for line in on_disk(tmp_path):
        by_round.setdefault(line.round, set()).update(line.players)
    playing = {"ann", "bea", "dot", "eve", "gil", "hal"}
    assert [by_round[number] for number in range(3, 8)] == [playing] * 5
    assert Suspensions(settings.conduct, on_disk(tmp_path)).names == {"cat", "fay"}
    assert witness.last is not None
    assert witness.last.total == len(on_disk(tmp_path))


class Stopping(Witness):
    """Stops the tournament when the first match ends. Its block is still to be written then, so the runner
    hears the signal before it can end for want of blocks; Trio would raise it again otherwise."""

    def match_ended(self, ended: Ended, progress: Progress) -> None:
        super().match_ended(ended, progress)
        if len(self.ended) == 1:
            signal.raise_signal(signal.SIGINT)


@pytest.mark.parametrize(
    ("kind", "concurrency", "loses_state"),
    [
        ("round_robin", 1, False),
        ("round_robin", 7, True),
        ("swiss", 1, True),
        ("swiss", 7, False),
        ("random", 1, False),
        ("random", 7, True),
    ],
)
def test_a_tournament_that_is_stopped_again_and_again_has_the_same_suspensions_and_tables(
    tmp_path: Path, kind: str, concurrency: int, loses_state: bool
) -> None:
    """Each time after the blocks that run. One bot never starts, and one fails from some match on.

    Each two of kind, concurrency and state occur together.
    """
    settings = cup(tmp_path, SIX, kind=kind, suspend_after=3, concurrency=concurrency, rounds="rounds = 7")
    calls: list[int] = []

    def broken(_match: BotMatch, name: str) -> bool:
        calls.append(1)
        return name == "cat" or (name == "eve" and len(calls) > 20)

    before: tuple[MatchLine, ...] = ()
    suspended: frozenset[str] = frozenset()
    for _ in range(60):
        finished = play(tmp_path, settings, Conducted(broken=broken), Stopping())
        lines = on_disk(tmp_path)
        assert lines[: len(before)] == before
        now = Suspensions(settings.conduct, lines).names
        assert suspended <= now
        before, suspended = lines, now
        if finished:
            break
        if loses_state:
            for path in tmp_path.glob("state.sqlite*"):
                path.unlink()
    else:
        raise AssertionError("it does not end")
    assert suspended == {"cat", "eve"}
    out: set[str] = set()
    counts: Counter[str] = Counter()
    for line in before:
        for forfeit in line.forfeits:
            assert (forfeit.reason == "suspended") == (forfeit.bot in out)
        for name in line.players:
            counts[name] = counts[name] + 1 if name in {each.bot for each in line.forfeits} else 0
        if line.rotation + 1 == len(line.players):
            out |= {name for name in line.players if counts[name] >= 3}
    again = Conducted()
    assert play(tmp_path, settings, again)
    assert again.played == []


def test_a_block_that_was_called_off_stays_so_and_one_whose_reason_is_gone_is_played(tmp_path: Path) -> None:
    settings = cup(tmp_path, SIX[:3])
    assert play(tmp_path, settings)
    assert Counter(status for status, _ in statuses(tmp_path).values()) == {"complete": 2, "called_off": 1}
    assert play(tmp_path, settings, again := Conducted())
    assert again.played == []
    path = tmp_path / "matches.jsonl"
    kept = [line for line in path.read_bytes().splitlines(keepends=True) if b'"cat"' not in line]
    path.write_bytes(b"".join(kept))
    assert play(tmp_path, settings, Conducted(broken=lambda _match, _name: False))
    assert {status for status, _ in statuses(tmp_path).values()} == {"complete"}


# -- what can be told of it afterwards ---------------------------------------------------------------


def missing(folder: Path, settings: Settings, without: Sequence[int] = ()) -> list[str]:
    lines = tuple(line for line in on_disk(folder) if line.block not in without)
    return missing_blocks(cup_of(folder, settings, lines))


def test_blocks_that_were_called_off_are_told_from_those_that_nothing_explains(tmp_path: Path) -> None:
    settings = cup(tmp_path, SIX[:4], rounds="rounds = 2")
    assert play(tmp_path, settings)
    cats = [number for number, (_, names) in statuses(tmp_path).items() if "cat" in names]
    complete = sorted({line.block for line in on_disk(tmp_path)})
    [suspended] = Suspensions(settings.conduct, on_disk(tmp_path)).of.values()
    called_off = [number for number in cats if number not in complete and number < complete[-1]]
    found = missing(tmp_path, settings)
    assert [int(line.split()[1]) for line in found] == sorted(called_off)
    why = f"called off, since cat was suspended after block {suspended.block}"
    assert all(line.endswith(why) for line in found)

    other = next(number for number in complete if number not in cats)
    [line] = [line for line in missing(tmp_path, settings, [other]) if line not in found]
    assert line.startswith(f"block {other} (")
    assert line.endswith(") is not in matches.jsonl, and no line says why")


def test_without_the_lines_that_suspended_a_bot_nothing_explains_what_was_called_off(tmp_path: Path) -> None:
    settings = cup(tmp_path, SIX[:4], rounds="rounds = 2")
    assert play(tmp_path, settings)
    found = missing(tmp_path, settings)
    [decisive] = {line.block for line in on_disk(tmp_path) if "cat" in line.players}
    without = missing(tmp_path, settings, [decisive])
    assert len(without) == len(found) + 1
    assert all(line.endswith("and no line says why") for line in without)


@pytest.mark.parametrize("kind", ["random", "swiss"])
def test_of_a_draw_only_what_was_drawn_is_missed(tmp_path: Path, kind: str) -> None:
    settings = cup(tmp_path, SIX, kind=kind, suspend_after=4, rounds="rounds = 5")
    assert play(tmp_path, settings)
    assert missing(tmp_path, settings) == []
    first = next(line.block for line in on_disk(tmp_path) if "cat" not in line.players)
    told = f"block {first} is not in matches.jsonl, and no line says why"
    assert missing(tmp_path, settings, [first]) == [told]


def test_a_swiss_tournament_draws_nobody_who_is_suspended(tmp_path: Path) -> None:
    settings = cup(tmp_path, SIX, kind="swiss", rounds="rounds = 4")
    assert play(tmp_path, settings)
    lines = on_disk(tmp_path)
    assert list(wrong_draws(cup_of(tmp_path, settings, lines))) == []
    last = lines[-1]
    names = {name: name for name in SIX} | {last.players[0]: "cat"}
    drawn = tuple(
        msgspec.structs.replace(line, players=tuple(names[name] for name in line.players))
        if line.block == last.block
        else line
        for line in lines
    )
    [message] = wrong_draws(cup_of(tmp_path, settings, drawn))
    assert message.startswith(f"block {last.block} was drawn with cat, which was suspended after block ")
