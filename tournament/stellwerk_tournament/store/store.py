"""A tournament's folder on disk.

The truth is in `matches.jsonl` and the replays. `state.sqlite` knows what else is to be played, and keeps
what has been played of blocks that are not complete: their seeds, lines and replays, which nobody else may
see yet. If it is lost, only the matches of the blocks that were running are lost, and they are played again.

Laws, whenever the power goes: a match that was played is kept (its row is committed to disk before anything
depends on it). When the last match of a block has been kept, its replays are written, then its lines, then
its row is marked; each step can be done again, and is, when the tournament is resumed. No line is
twice in `matches.jsonl`, for a block whose lines are there is complete, whatever its row says.

Blocks of house bots alone come out the same again, byte for byte, if their seeds are kept. So the seeds are
stored before any such block begins (`enqueue`), and nothing else before many are over (`complete_all`).

Every call may wait for the disk: from Trio, in a thread. They must not overlap.
"""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
import sqlite3
from collections.abc import Callable, Container, Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, field
from hashlib import sha256
from io import BytesIO
from pathlib import Path
from typing import BinaryIO, Final, Literal, TypeAlias

import msgspec

from stellwerk_base.files import PRIVATE, sync_all, sync_folder, write_whole
from stellwerk_protocol.answer_times import times_beside
from stellwerk_server.journal.journal import revealed
from stellwerk_tournament.schedule.deal import salt
from stellwerk_tournament.schedule.schedule import Block
from stellwerk_tournament.store import match_line
from stellwerk_tournament.store.match_line import (
    MatchLine,
    MatchLinesError,
    WholeBlocks,
    line_of,
)
from stellwerk_tournament.store.results import Results

STATE: Final = "state.sqlite"
LOCK: Final = ".lock"
REPLAYS: Final = "replays"
LOGS: Final = "logs"
LOG_BYTES: Final = 1_000_000  # of each bot; then its older half goes
NO_SEEDS: Final[Mapping[int, bytes]] = {}

_OVER: Final = "over"
_YES: Final = "yes"

Status: TypeAlias = Literal["queued", "running", "complete", "void", "called_off"]
Judge: TypeAlias = Callable[[Sequence[MatchLine]], Sequence[MatchLine]]

_TABLES: Final = """
CREATE TABLE IF NOT EXISTS facts (name TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT;
CREATE TABLE IF NOT EXISTS blocks (
    number INTEGER PRIMARY KEY,
    stage INTEGER NOT NULL,
    round INTEGER NOT NULL,
    variant INTEGER NOT NULL,
    entrants TEXT NOT NULL,
    status TEXT NOT NULL CHECK (status IN ('queued', 'running', 'complete', 'void', 'called_off')),
    seed BLOB,
    cause TEXT
) STRICT;
CREATE INDEX IF NOT EXISTS blocks_by_status ON blocks (status);
CREATE TABLE IF NOT EXISTS matches (  -- of blocks that are not complete
    block INTEGER NOT NULL,
    rotation INTEGER NOT NULL,
    line BLOB NOT NULL,
    replay BLOB NOT NULL,
    PRIMARY KEY (block, rotation)
) STRICT;
CREATE TABLE IF NOT EXISTS times (  -- of their answers, which are published with their replays
    block INTEGER NOT NULL,
    rotation INTEGER NOT NULL,
    file BLOB NOT NULL,
    PRIMARY KEY (block, rotation)
) STRICT;
CREATE TABLE IF NOT EXISTS failures (  -- of the machine, not of a bot; made last, so that it tells of all
    block INTEGER NOT NULL,
    rotation INTEGER NOT NULL,
    bots TEXT NOT NULL,
    cause TEXT NOT NULL,
    machine TEXT  -- where it failed, if that was not here
) STRICT;
"""


class StoreError(Exception):
    """A folder that cannot be used or written; one line says why. `is_machines`: no user's fault."""

    def __init__(self, message: str, *, is_machines: bool = False) -> None:
        super().__init__(message)
        self.is_machines = is_machines


@dataclass(frozen=True, slots=True)
class Failure:
    """Something that went wrong with a machine while a match was to be played. `machine` is its name, unless
    that was this one."""

    block: int
    rotation: int
    bots: tuple[str, ...]
    cause: str
    machine: str = ""


@dataclass(frozen=True, slots=True)
class Finished:
    """A block all of whose matches were played, and none was kept: their lines, replays and times."""

    block: Block
    seed: bytes = field(repr=False)
    matches: tuple[tuple[MatchLine, bytes, bytes], ...]


@dataclass(frozen=True, slots=True)
class KnownBlock:
    """A block and how far it has come. `kept` are the rotations that have been played, `seed` is there while
    it runs, or if it was drawn before, `cause` says why it is void."""

    block: Block
    status: Status
    kept: tuple[int, ...] = ()
    seed: bytes | None = None
    cause: str | None = None


class Store:
    """A store, made by `open_store`. `results` grow with the blocks that are completed;
    without them, a store can only be asked."""

    def __init__(self, folder: Path, database: sqlite3.Connection, results: Results | None = None) -> None:
        self.folder = folder
        self._results = results
        self._database = database
        self._is_together = False

    # -- what is there -------------------------------------------------------------------------------

    def standings(self) -> list[KnownBlock]:
        """Return all blocks, in their order."""
        kept: dict[int, list[int]] = {}
        with _database_errors(self.folder):
            for block, rotation in self._database.execute(
                "SELECT block, rotation FROM matches ORDER BY 1, 2"
            ):
                kept.setdefault(block, []).append(rotation)
            rows = self._database.execute(
                "SELECT number, stage, round, variant, entrants, status, seed, cause FROM blocks ORDER BY 1"
            ).fetchall()
        return [_standing(row, kept.get(row[0], [])) for row in rows]

    def counts(self) -> dict[Status, int]:
        """Return how many blocks there are in each status."""
        with _database_errors(self.folder):
            return dict(self._database.execute("SELECT status, count(*) FROM blocks GROUP BY status"))

    def running(self) -> list[Block]:
        """Return the blocks that have begun and are not over, in their order."""
        with _database_errors(self.folder):
            rows = self._database.execute(
                "SELECT number, stage, round, variant, entrants FROM blocks"
                " WHERE status = 'running' ORDER BY 1"
            ).fetchall()
        return [
            Block(number, stage, round, variant, tuple(json.loads(entrants)))
            for number, stage, round, variant, entrants in rows
        ]

    def failures(self) -> list[Failure]:
        with _database_errors(self.folder):
            rows = self._database.execute("SELECT * FROM failures").fetchall()
        return [
            Failure(block, rotation, tuple(json.loads(bots)), cause, machine or "")
            for block, rotation, bots, cause, machine in rows
        ]

    def failed_on(self, block: Block, rotation: int) -> list[str]:
        """Return where a match has failed up to now: the name of a machine each time, empty if it was this
        one."""
        with _database_errors(self.folder):
            rows = self._database.execute(
                "SELECT machine FROM failures WHERE block = ? AND rotation = ?", (block.number, rotation)
            ).fetchall()
        return [machine or "" for (machine,) in rows]

    def fact(self, name: str) -> str | None:
        with _database_errors(self.folder):
            row = self._database.execute("SELECT value FROM facts WHERE name = ?", (name,)).fetchone()
        return None if row is None else str(row[0])

    def is_over(self) -> bool | None:
        """Return whether all has been played. None if nobody has noted that."""
        fact = self.fact(_OVER)
        return None if fact is None else fact == _YES

    # -- what happens --------------------------------------------------------------------------------

    @contextmanager
    def together(self) -> Generator[None]:
        """Write all rows of the block that follows to the disk at its end, at once: all of them, or none."""
        with self._writing_rows():
            self._is_together = True
            try:
                yield
            finally:
                self._is_together = False

    def note_over(self, is_over: bool) -> None:
        """Note whether all has been played: from then on it can be shown who played whom."""
        self.note(_OVER, _YES if is_over else "no")

    def note(self, name: str, value: str) -> None:
        with self._writing_rows():
            self._database.execute("INSERT OR REPLACE INTO facts VALUES (?, ?)", (name, value))

    def write(self, name: str, content: bytes) -> None:
        """Write a file of the folder anew."""
        with _writing(self.folder / name):
            write_whole(self.folder / name, content)

    def enqueue(
        self, blocks: Sequence[Block], status: Status = "queued", seeds: Mapping[int, bytes] = NO_SEEDS
    ) -> None:
        """Add blocks, some of them with the seeds that they will have, by their numbers."""
        rows = [
            (b.number, b.stage, b.round, b.variant, json.dumps(b.entrants), status, seeds.get(b.number))
            for b in blocks
        ]
        with self._writing_rows():
            self._database.executemany("INSERT INTO blocks VALUES (?, ?, ?, ?, ?, ?, ?, NULL)", rows)

    def begin(self, block: Block, seed: bytes) -> None:
        with self._writing_rows():
            self._database.execute(
                "UPDATE blocks SET status = 'running', seed = ? WHERE number = ?", (seed, block.number)
            )

    def keep(self, line: MatchLine, replay: bytes, times: bytes) -> None:
        """Keep a match that has been played. After the last one of its block, call `complete`. StoreError if
        the block does not run: it may be void."""
        self._expect_running(line.block)
        with self._writing_rows():
            self._database.execute(
                "INSERT INTO matches VALUES (?, ?, ?, ?)",
                (line.block, line.rotation, match_line.encode(line), replay),
            )
            self._database.execute("INSERT INTO times VALUES (?, ?, ?)", (line.block, line.rotation, times))

    def fail(self, block: Block, rotation: int, cause: str, machine: str = "") -> int:
        """Record that a match failed, here or on the machine that is named. Return how often it has failed by
        now."""
        bots = json.dumps(block.teams(rotation))
        with self._writing_rows():
            self._database.execute(
                "INSERT INTO failures VALUES (?, ?, ?, ?, ?)",
                (block.number, rotation, bots, cause, machine or None),
            )
        return len(self.failed_on(block, rotation))

    def give_up(self, block: Block, cause: str) -> None:
        """Make the block void: nothing of it counts."""
        with self._writing_rows():
            self._database.execute(
                "UPDATE blocks SET status = 'void', seed = NULL, cause = ? WHERE number = ?",
                (cause, block.number),
            )
            _delete_matches(self._database, [block.number])

    def call_off(self, blocks: Iterable[Block]) -> None:
        """Note that blocks will not be played, because one of their bots is suspended."""
        with self._writing_rows():
            self._database.executemany(
                "UPDATE blocks SET status = 'called_off' WHERE number = ?", [(b.number,) for b in blocks]
            )

    def complete(self, block: Block, seed: bytes, judge: Judge = tuple) -> list[MatchLine]:
        """Make the matches of a block known, once all have been kept. Reveal those of one deal now; those
        with a deal of their own were revealed when they ended. `judge` adds the forfeits. StoreError if the
        block does not run: it may be void."""
        self._expect_running(block.number)
        with _database_errors(self.folder):
            rows = self._database.execute(
                "SELECT line, replay, file FROM matches JOIN times USING (block, rotation)"
                " WHERE block = ? ORDER BY rotation",
                (block.number,),
            ).fetchall()
        matches = ((msgspec.json.decode(each, type=MatchLine), *rest) for each, *rest in rows)
        lines = [self._write_replay(seed, *match, sync=True) for match in matches]
        with _writing(self.folder / REPLAYS):
            sync_folder(self.folder / REPLAYS)
        lines = [*judge(lines)]
        self._write_lines([lines])
        self._forget([block.number])
        return lines

    def complete_all(self, finished: Sequence[Finished], judge: Judge = tuple) -> list[list[MatchLine]]:
        """Make the matches of many blocks known at once, of which nothing was kept. `judge` is called for one
        block after the other."""
        lines = [
            [self._write_replay(each.seed, *match, sync=False) for match in each.matches] for each in finished
        ]
        with _writing(self.folder / REPLAYS):
            sync_all(self.folder / REPLAYS)
        judged = [[*judge(of_block)] for of_block in lines]
        self._write_lines(judged)
        self._forget([each.block.number for each in finished])
        return judged

    def _write_replay(
        self, seed: bytes, line: MatchLine, content: bytes, times: bytes, *, sync: bool
    ) -> MatchLine:
        """Write the replay of a match, and the times of its answers. Return the line that names it."""
        if line.deal == "same_in_block":
            content = revealed(content, seed, salt(seed, line.rotation))
            line = msgspec.structs.replace(line, seed=seed.hex())
        name = f"{REPLAYS}/{line.block:05}-{line.rotation}-{line.match}.jsonl"
        with _writing(self.folder / name):
            write_whole(times_beside(self.folder / name), times)
            write_whole(self.folder / name, content, sync=sync, sync_name=False)
        return msgspec.structs.replace(line, replay=name, replay_sha256=sha256(content).hexdigest())

    def log(self, bot: str, heading: str, printed: Sequence[str]) -> None:
        """Append what a bot printed in a match to its log. Only the newest part of the log is kept."""
        if not printed:
            return
        path = self.folder / LOGS / f"{bot}.log"
        entry = "\n".join([f"== {heading}", *printed, ""]).encode("utf-8", "backslashreplace")
        with _writing(path):
            with open(path, "ab", opener=_private) as file:
                file.write(entry)
                size = file.tell()
            if size > LOG_BYTES:
                newest = path.read_bytes()[-LOG_BYTES // 2 :].partition(b"\n== ")[2]
                write_whole(path, b"== " + newest)

    # -- helpers -------------------------------------------------------------------------------------

    @contextmanager
    def _writing_rows(self) -> Generator[None]:
        """Commit what is written in the block that follows, unless that is done `together` with more."""
        with _database_errors(self.folder), nullcontext() if self._is_together else self._database:
            yield

    def _write_lines(self, blocks: Sequence[Sequence[MatchLine]]) -> None:
        assert self._results is not None
        texts = [b"".join(map(line_of, matches)) for matches in blocks]
        self._append(b"".join(texts))
        for matches, text in zip(blocks, texts, strict=True):
            self._results.add(matches, text)

    def _append(self, text: bytes) -> None:
        path = self.folder / match_line.FILE
        with _writing(path), open(path, "ab") as file:
            size = file.tell()
            try:
                file.write(text)
                file.flush()
                os.fsync(file.fileno())
            except OSError:
                with contextlib.suppress(OSError):
                    os.truncate(path, size)  # what was written of it; what stays will be cut when it is read
                raise

    def _expect_running(self, number: int) -> None:
        with _database_errors(self.folder):
            row = self._database.execute("SELECT status FROM blocks WHERE number = ?", (number,)).fetchone()
        status = "unknown" if row is None else row[0]
        if status != "running":
            raise StoreError(f"{self.folder / STATE}: block {number} is {status}", is_machines=True)

    def _forget(self, numbers: Sequence[int]) -> None:
        with self._writing_rows():
            self._database.executemany(
                "UPDATE blocks SET status = 'complete', seed = NULL WHERE number = ?",
                [(number,) for number in numbers],
            )
            _delete_matches(self._database, numbers)


@dataclass(frozen=True, slots=True)
class Opened:
    """An opened folder. `notices` say what had to be put right, one line each."""

    store: Store
    results: Results
    notices: tuple[str, ...]


@contextmanager
def open_store(folder: Path) -> Generator[Opened]:
    """Open the folder for a runner. StoreError if another one plays in it, or if it is damaged."""
    try:
        for name in (REPLAYS, LOGS):
            (folder / name).mkdir(mode=0o700 if name == LOGS else 0o777, exist_ok=True)
        (folder / STATE).touch(mode=PRIVATE)
        lock = os.open(folder / LOCK, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, PRIVATE)
    except OSError as error:
        raise StoreError(f"{folder}: cannot be written: {error.strerror or error}") from None
    with contextlib.ExitStack() as stack:
        stack.callback(os.close, lock)
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise StoreError(f"{folder}: this tournament is being played by another process") from None
        opened = _opened(folder, stack)
        size = opened.results.size
        yield opened
        if opened.results.size > size:
            opened.results.write_checkpoint(folder)


def read_matches(folder: Path) -> Iterator[MatchLine]:
    """Yield the matches of any tournament, also while it is played. StoreError if the file is damaged."""
    with lines_in(folder) as file:
        for block in WholeBlocks(file):
            yield from block.matches


def read_results(folder: Path, *, anew: bool = False) -> Results:
    """Read the results of any tournament, also while it is played: with `anew`, from all lines. StoreError if
    the file is damaged."""
    with lines_in(folder) as file:
        results = Results() if anew else Results.from_checkpoint(folder, file)
        results.read_on(file)
        return results


@contextmanager
def lines_in(folder: Path) -> Generator[BinaryIO]:
    """Open the file of lines, or an empty one if there is none. StoreError if it is damaged."""
    path = folder / match_line.FILE
    try:
        with open(path, "rb") if path.exists() else BytesIO() as file:
            yield file
    except OSError as error:
        raise StoreError(f"{path}: cannot be read: {error.strerror or error}") from None
    except MatchLinesError as error:
        raise StoreError(f"{path}: {error}") from None
    except msgspec.DecodeError:
        raise StoreError(f"{path}: has changed while it was read") from None


@contextmanager
def look_into(folder: Path) -> Generator[Store | None]:
    """Open the store only to ask it, also while somebody else plays in it; None if nobody has played yet."""
    path = folder / STATE
    if not path.is_file():
        yield None
        return
    with contextlib.closing(_connect(path, read_only=True)) as database:
        with _database_errors(folder):
            made = database.execute("SELECT 1 FROM sqlite_master WHERE name = 'failures'").fetchone()
        yield None if made is None else Store(folder, database)


# -- opening -----------------------------------------------------------------------------------------


def _opened(folder: Path, stack: contextlib.ExitStack) -> Opened:
    path = folder / match_line.FILE
    notices: list[str] = []
    with lines_in(folder) as file:
        results = Results.from_checkpoint(folder, file)
        size = results.size
        cut = results.read_on(file)
    if cut:
        with _writing(path):
            os.truncate(path, results.size)
        notices.append(f"{path}: cut off {cut}, which a runner that did not end had left")
    if results.size > size:
        results.write_checkpoint(folder)
    database = stack.enter_context(contextlib.closing(_connect(folder / STATE)))
    again = _reconcile(folder, database, results)
    if again:
        notices.append(f"{path}: holds no more what was played of {len(again)} blocks; they are played again")
    return Opened(Store(folder, database, results), results, tuple(notices))


def _connect(path: Path, *, read_only: bool = False) -> sqlite3.Connection:
    """Connect to the database. Any thread may use the connection, one at a time."""
    mode = "ro" if read_only else "rw"
    with _database_errors(path.parent):
        database = sqlite3.connect(
            f"{path.absolute().as_uri()}?mode={mode}", uri=True, check_same_thread=False
        )
        if not read_only:
            database.execute("PRAGMA journal_mode = WAL")
            database.execute("PRAGMA synchronous = FULL")
            database.executescript(_TABLES)
    return database


def _reconcile(folder: Path, database: sqlite3.Connection, played: Container[int]) -> list[int]:
    """Mark the blocks in `matches.jsonl` as complete, and no others. Return the blocks to play again."""
    with _database_errors(folder), database:
        complete = database.execute("SELECT number FROM blocks WHERE status = 'complete'")
        again = [number for (number,) in complete if number not in played]
        others = database.execute("SELECT number FROM blocks WHERE status != 'complete'")
        done = [number for (number,) in others if number in played]
        database.executemany("UPDATE blocks SET status = 'queued' WHERE number = ?", [(n,) for n in again])
        mark = "UPDATE blocks SET status = 'complete', seed = NULL WHERE number = ?"
        database.executemany(mark, [(n,) for n in done])
        _delete_matches(database, done)
    return again


def _delete_matches(database: sqlite3.Connection, blocks: Iterable[int]) -> None:
    """Delete what was kept of the matches of blocks."""
    for table in ("matches", "times"):
        database.executemany(f"DELETE FROM {table} WHERE block = ?", [(number,) for number in blocks])


# -- helpers -----------------------------------------------------------------------------------------


def _standing(
    row: tuple[int, int, int, int, str, Status, bytes | None, str | None], kept: list[int]
) -> KnownBlock:
    number, stage, round, variant, entrants, status, seed, cause = row
    block = Block(number, stage, round, variant, tuple(json.loads(entrants)))
    return KnownBlock(block, status, tuple(kept), seed, cause)


def _private(path: str, flags: int) -> int:
    return os.open(path, flags, PRIVATE)


@contextmanager
def _database_errors(folder: Path) -> Generator[None]:
    try:
        yield
    except sqlite3.Error as error:
        raise StoreError(f"{folder / STATE}: {error}", is_machines=True) from None


@contextmanager
def _writing(path: Path) -> Generator[None]:
    try:
        yield
    except OSError as error:
        raise StoreError(f"{path}: cannot be written: {error.strerror or error}", is_machines=True) from None
