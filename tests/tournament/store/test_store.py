"""The folder of a tournament, whatever moment the power goes at."""

from __future__ import annotations

import os
import signal
import sqlite3
from collections.abc import Sequence
from contextlib import closing
from hashlib import sha256
from pathlib import Path

import msgspec
import pytest
from msgspec.structs import replace

from stellwerk_engine.replays.writer import ReplayWriter, header_of
from stellwerk_processes.started_match import BotMatch
from stellwerk_protocol.answer_times import AnswerTimes, times_beside
from stellwerk_server.journal.journal import revealed
from stellwerk_server.match.plan import MatchPlan
from stellwerk_server.operate.settings import clocks_of
from stellwerk_tournament.config.settings import Settings
from stellwerk_tournament.play.courier import PlayedMatch
from stellwerk_tournament.play.keep import keep_match
from stellwerk_tournament.report.machines import Machines
from stellwerk_tournament.schedule.deal import bot_seed, match_id, salt
from stellwerk_tournament.schedule.schedule import Block
from stellwerk_tournament.store.match_line import (
    MachineRecord,
    MatchLine,
    MatchLinesError,
    WholeBlocks,
    line_of,
    line_of_result,
)
from stellwerk_tournament.store.store import (
    LOG_BYTES,
    Store,
    StoreError,
    look_into,
    open_store,
    read_matches,
)
from tests.tournament.play.fakes import played_match, settings_with

SEED = bytes(range(32))
BLOCKS = (Block(0, 0, 0, 0, ("ann", "bea")), Block(1, 1, 1, 0, ("ann", "bea")))


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    return settings_with(tmp_path, ("ann", "bea"))


def match_of(settings: Settings, block: Block, rotation: int) -> tuple[MatchLine, bytes, bytes]:
    """Return the line of a match as the store keeps it, its replay, and the times of its answers."""
    game = settings.variants[0].game
    bots = {entrant.name: entrant.bot for entrant in settings.entrants}
    names = block.teams(rotation)
    bot_match = BotMatch(
        MatchPlan(
            match=match_id(SEED, rotation),
            game=game,
            names=names,
            seed=SEED,
            salt=salt(SEED, rotation),
            clocks=clocks_of(settings.time),
            reveal_later=True,
        ),
        bots=tuple(bots[name] for name in names),
        bot_seeds=tuple(bot_seed(SEED, rotation, seat) for seat in range(2)),
    )
    played = played_match(bot_match)
    line = line_of_result(block, rotation, played, "none", 1.0)
    return line, played.replay, played.times


def keep_all(store: Store, settings: Settings, block: Block) -> None:
    store.begin(block, SEED)
    for rotation in block.rotations:
        store.keep(*match_of(settings, block, rotation))


def test_a_block_becomes_known_when_it_is_complete(tmp_path: Path, settings: Settings) -> None:
    with open_store(tmp_path) as opened:
        store = opened.store
        store.enqueue(BLOCKS)
        keep_all(store, settings, BLOCKS[0])
        assert [*read_matches(tmp_path)] == []
        assert list((tmp_path / "replays").iterdir()) == []
        lines = store.complete(BLOCKS[0], SEED)
    assert [*read_matches(tmp_path)] == lines
    for line in lines:
        replay = (tmp_path / line.replay).read_bytes()
        assert sha256(replay).hexdigest() == line.replay_sha256
        assert SEED.hex() in replay.decode().splitlines()[-1]


def test_a_match_that_failed_elsewhere_keeps_the_names_of_those_machines(
    tmp_path: Path, settings: Settings
) -> None:
    """Where it failed here, there is no name."""
    with open_store(tmp_path) as opened:
        store = opened.store
        store.enqueue(BLOCKS)
        store.begin(BLOCKS[0], SEED)
        store.fail(BLOCKS[0], 1, "no memory")
        assert store.fail(BLOCKS[0], 1, "hangs", "m-1") == 2
        for rotation in BLOCKS[0].rotations:
            line, replay, times = match_of(settings, BLOCKS[0], rotation)
            line = replace(line, machine=MachineRecord("m-2", 10.0))
            keep_match(store, BLOCKS[0], PlayedMatch(line, replay, times))
        first, second = store.complete(BLOCKS[0], SEED)
    assert first.machine == MachineRecord("m-2", 10.0)
    assert second.machine == MachineRecord("m-2", 10.0, failed_on=("m-1",))
    assert (first.attempt, second.attempt) == (1, 3)
    by_machine = Machines()
    for line in (first, second):
        by_machine.add(line)
    rows = [(row.name, row.matches, row.failed, row.engine_ms) for row in by_machine.rows]
    assert rows == [("m-1", 0, 1, None), ("m-2", 2, 0, 10.0)]
    with look_into(tmp_path) as looked:
        assert looked is not None
        assert [each.machine for each in looked.failures()] == ["", "m-1"]


def test_beside_the_replays_of_a_block_are_the_times_of_their_answers(
    tmp_path: Path, settings: Settings
) -> None:
    with open_store(tmp_path) as opened:
        opened.store.enqueue(BLOCKS)
        keep_all(opened.store, settings, BLOCKS[0])
        lines = opened.store.complete(BLOCKS[0], SEED)
    files = sorted((tmp_path / "replays").iterdir())
    assert [file.name for file in files if file.suffix == ".json"] == [
        line.replay.removeprefix("replays/").replace(".jsonl", ".times.json") for line in lines
    ]
    times = msgspec.json.decode(times_beside(tmp_path / lines[0].replay).read_bytes(), type=AnswerTimes)
    assert times == AnswerTimes("stellwerk-times/1", lines[0].match, ((4, 8, None), (4, 8, None)))


def test_nobody_else_may_read_what_is_secret_while_a_block_runs(tmp_path: Path, settings: Settings) -> None:
    with open_store(tmp_path) as opened:
        opened.store.enqueue(BLOCKS)
        keep_all(opened.store, settings, BLOCKS[0])
        holding_the_seed = [
            path for path in tmp_path.rglob("*") if path.is_file() and SEED in path.read_bytes()
        ]
        assert holding_the_seed
        assert all(path.stat().st_mode & 0o077 == 0 for path in holding_the_seed)


def test_a_block_that_is_complete_keeps_no_seed_in_the_state(tmp_path: Path, settings: Settings) -> None:
    with open_store(tmp_path) as opened:
        opened.store.enqueue(BLOCKS)
        keep_all(opened.store, settings, BLOCKS[0])
        opened.store.complete(BLOCKS[0], SEED)
        first, second = opened.store.standings()
    assert (first.status, first.seed, first.kept) == ("complete", None, ())
    assert (second.status, second.seed) == ("queued", None)


def test_of_a_block_that_is_void_nothing_is_kept(tmp_path: Path, settings: Settings) -> None:
    with open_store(tmp_path) as opened:
        store = opened.store
        store.enqueue(BLOCKS)
        store.begin(BLOCKS[0], SEED)
        store.keep(*match_of(settings, BLOCKS[0], 0))
        store.give_up(BLOCKS[0], "no space")
        with pytest.raises(StoreError, match="block 0 is void"):
            store.keep(*match_of(settings, BLOCKS[0], 1))
        with pytest.raises(StoreError, match="block 0 is void"):
            store.complete(BLOCKS[0], SEED)
        void, _ = store.standings()
    assert (void.status, void.kept) == ("void", ())
    assert [*read_matches(tmp_path)] == []


class Dying(Store):
    """The process is killed within `complete`: before the lines are written, in the middle of them, or
    behind them, before the row of the block is marked."""

    moment = ""

    def _append(self, text: bytes) -> None:
        if self.moment == "before":
            _die()
        super()._append(text[: len(text) * 2 // 3] if self.moment == "within" else text)
        if self.moment == "within":
            _die()

    def _forget(self, numbers: Sequence[int]) -> None:
        _die()


def _die() -> None:
    os.kill(os.getpid(), signal.SIGKILL)


@pytest.mark.parametrize("moment", ["before", "within", "behind"])
def test_a_runner_killed_while_a_block_becomes_complete_loses_nothing(
    tmp_path: Path, settings: Settings, moment: str
) -> None:
    child = os.fork()
    if child == 0:
        with open_store(tmp_path) as opened:
            opened.store.enqueue(BLOCKS)
            for block in BLOCKS:
                keep_all(opened.store, settings, block)
            opened.store.complete(BLOCKS[0], SEED)
            dying = Dying(tmp_path, opened.store._database, opened.results)  # pyright: ignore[reportPrivateUsage]
            dying.moment = moment
            dying.complete(BLOCKS[1], SEED)
        os._exit(0)
    _, status = os.waitpid(child, 0)
    assert os.waitstatus_to_exitcode(status) == -signal.SIGKILL

    with open_store(tmp_path) as opened:
        assert bool(opened.notices) is (moment == "within")
        first, second = opened.store.standings()
        assert first.status == "complete"
        if moment == "behind":
            assert (second.status, second.kept) == ("complete", ())
        else:
            assert (second.status, second.kept, second.seed) == ("running", (0, 1), SEED)
            opened.store.complete(BLOCKS[1], SEED)
    lines = [(line.block, line.rotation) for line in read_matches(tmp_path)]
    assert lines == [(0, 0), (0, 1), (1, 0), (1, 1)]


def test_a_block_whose_lines_are_gone_is_played_again(tmp_path: Path, settings: Settings) -> None:
    with open_store(tmp_path) as opened:
        opened.store.enqueue(BLOCKS)
        keep_all(opened.store, settings, BLOCKS[0])
        opened.store.complete(BLOCKS[0], SEED)
    (tmp_path / "matches.jsonl").write_bytes(b"")
    with open_store(tmp_path) as opened:
        assert "1 blocks; they are played again" in opened.notices[0]
        assert [each.status for each in opened.store.standings()] == ["queued", "queued"]


def test_what_a_bot_prints_is_kept_up_to_a_limit(tmp_path: Path) -> None:
    with open_store(tmp_path) as opened:
        count = 3 * LOG_BYTES // 10_000
        for number in range(count):
            opened.store.log("ann", f"match {number}", ["x" * 99] * 100)
    log = tmp_path / "logs" / "ann.log"
    text = log.read_text()
    assert len(text) <= LOG_BYTES + 20_000
    assert text.startswith("== match ")
    assert f"== match {count - 1}\n" in text
    assert "== match 0\n" not in text


def test_a_folder_that_cannot_be_written_is_refused() -> None:
    with pytest.raises(StoreError, match="cannot be written"), open_store(Path("/dev/null/cup")):
        pass


def test_a_state_that_is_no_database_is_refused(tmp_path: Path) -> None:
    (tmp_path / "state.sqlite").write_bytes(b"this is no database" * 100)
    with pytest.raises(StoreError, match="not a database"), open_store(tmp_path):
        pass


def test_a_state_that_is_just_being_made_is_none_yet(tmp_path: Path) -> None:
    """A reader that looks while the first runner starts finds a file without tables."""
    with closing(sqlite3.connect(tmp_path / "state.sqlite")) as database:
        database.execute("PRAGMA journal_mode = WAL")
        with look_into(tmp_path) as store:
            assert store is None
    with look_into(tmp_path / "nowhere") as store:
        assert store is None
    with open_store(tmp_path) as opened:
        opened.store.enqueue(BLOCKS)
        with look_into(tmp_path) as store:
            assert store is not None
            assert len(store.standings()) == 2


# -- matches.jsonl -----------------------------------------------------------------------------------


@pytest.fixture
def content(settings: Settings) -> bytes:
    """Return the lines of two complete blocks."""
    return b"".join(
        line_of(match_of(settings, block, rotation)[0]) for block in BLOCKS for rotation in (0, 1)
    )


def test_wherever_a_file_is_torn_its_complete_blocks_are_read(content: bytes) -> None:
    ends = [index + 1 for index, byte in enumerate(content) if byte == ord("\n")]
    assert len(ends) == 4
    for size in range(len(content) + 1):
        read = WholeBlocks(content[:size].splitlines(keepends=True))
        complete = sum(end <= size for end in ends) // 2
        assert len([*read]) == complete
        assert read.size == (ends[2 * complete - 1] if complete else 0)
        assert bool(read.cut) is (size > read.size)


@pytest.mark.parametrize(
    ("kept", "expected"),
    [
        ((0, 2, 3), "line 1: block 0 is not complete"),
        ((0, 0, 2, 3), "line 2: block 0 is there twice; are these two tournaments"),
        ((1, 0), "line 1: block 0 does not have each"),
        ((0, 1, 2, 3, 0, 1), "line 5: block 0 is there twice; are these two tournaments"),
        ((0, 1, 0, 1), "line 3: block 0 is there twice; are these two tournaments"),
        ((0, 4, 2, 3), "line 2: no record of a match"),
        ((0, 5, 2, 3), "line 2: no record of a match"),
    ],
    ids=["missing", "twice", "turned round", "block twice", "only block twice", "empty", "not UTF-8"],
)
def test_a_file_that_is_damaged_otherwise_is_refused(
    content: bytes, kept: tuple[int, ...], expected: str
) -> None:
    lines = [*content.splitlines(keepends=True), b"{}\n", b"\xff\n"]
    with pytest.raises(MatchLinesError, match=expected):
        list(WholeBlocks([lines[number] for number in kept]))


def test_a_replay_is_revealed_by_one_more_line_of_its_chain(settings: Settings) -> None:
    writer = ReplayWriter()
    replay = writer.header(header_of(settings.variants[0].game))
    whole = replay + writer.reveal(SEED, salt(SEED, 0))
    assert revealed(replay, SEED, salt(SEED, 0)) == whole
