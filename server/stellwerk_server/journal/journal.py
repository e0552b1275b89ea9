"""A match on disk while it is played, so that a server can continue it after a crash.

Law: every accepted act is written before a client learns of it, and a record is there whole or not at all. A
journal is the match's replay being written, with private records in between (seed, clocks, who sits where,
choices not yet shown). When the match is over, the replay is made: the same without them. The journal is kept
for as long as a client may ask for the end, under another name.

A changed byte is noticed: the lines of the replay have their chain of hashes, and a private record ends with
its own checksum.
"""

from __future__ import annotations

import contextlib
import errno
import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Annotated, Final
from zlib import crc32

import msgspec
import trio
from msgspec import UNSET, Meta, Struct, UnsetType

from stellwerk_base.files import sync_folder, write_whole
from stellwerk_engine.replays.writer import ReplayWriter
from stellwerk_protocol.answer_times import times_beside
from stellwerk_protocol.messages import Clocks, DefaultReason, Id, Wants
from stellwerk_protocol.moves import Move
from stellwerk_protocol.names import Digits64, PlayerName, Seat
from stellwerk_protocol.replays import MAX_LINE_BYTES

VERSION: Final = 2  # in 1, private records had no checksum
SUFFIX: Final = ".journal"
ENDED_SUFFIX: Final = ".ended"
LOOK_EVERY: Final = 16  # appends: to ask the kernel whether the file still has its name costs half a `write`
_PRIVATE: Final = b'{"journal":'  # how no line of a replay begins
_CHECKED: Final = b',"crc":"%08x"}\n'  # how a private record ends
_CHECKED_SIZE: Final = len(_CHECKED % 0)


class _Record(Struct, frozen=True, tag_field="journal", forbid_unknown_fields=True, omit_defaults=True):
    pass


class SeatedPlayer(Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """The player of a seat: a house bot, a session, or none, if no client came."""

    name: PlayerName
    house: PlayerName | UnsetType = UNSET
    session: Id | UnsetType = UNSET
    login_name: PlayerName | UnsetType = UNSET
    key_hash: Digits64 | UnsetType = UNSET
    token_hash: Digits64 | UnsetType = UNSET
    seat_token_hash: Digits64 | UnsetType = UNSET
    wants: Wants = Wants()


class MatchRecord(_Record, frozen=True, tag="match"):
    """The first record: what the replay's header must not show yet."""

    version: int
    match: Id
    seed: Digits64
    salt: Digits64
    reveal_later: bool
    clocks: Clocks
    players: tuple[SeatedPlayer, ...]


class SeatRecord(_Record, frozen=True, tag="seat"):
    """A seat's clock and counters after an act; `move` is its choice while others still owe theirs."""

    seat: Seat
    ask: int
    bank_ms: int
    strikes: int
    defaults: int
    defaults_in_a_row: int
    by_default: bool = False
    left: bool = False
    move: Move | UnsetType = UNSET
    reason: DefaultReason | UnsetType = UNSET
    note: Annotated[str, Meta(max_length=500)] = ""


class SessionRecord(_Record, frozen=True, tag="session"):
    """The new resume key of a seat's session: the last of those that are valid now."""

    seat: Seat
    key_hashes: tuple[Digits64, ...]
    wants: Wants = Wants()


Record = MatchRecord | SeatRecord | SessionRecord

_encode = msgspec.json.Encoder().encode
_decode: Callable[[bytes], Record] = msgspec.json.Decoder(Record).decode


def record_line(record: Record) -> bytes:
    content = _encode(record)[:-1]
    return content + _CHECKED % crc32(content)


def read_record(line: bytes) -> Record | None:
    """Return the private record of a line, or None for a line of the replay; msgspec.DecodeError for
    neither, and for a record that was changed."""
    if not line.startswith(_PRIVATE):
        return None
    content = line[:-_CHECKED_SIZE]
    if line != content + _CHECKED % crc32(content):
        raise msgspec.DecodeError("its checksum is wrong")
    return _decode(content + b"}")


def replay_of(journal: bytes) -> bytes:
    """Return the replay in a journal of whole lines: those that are not private. There are few private ones,
    so the others are not looked at one by one."""
    first, *others = (b"\n" + journal).split(b"\n" + _PRIVATE)
    kept = [first]
    for text in others:
        _, newline, after = text.partition(b"\n")  # the rest of the private line comes first
        kept += newline, after
    return b"".join(kept)[1:]


def revealed(replay: bytes, seed: bytes, salt: bytes) -> bytes:
    """Return a replay with the seed of its deal appended, which may be known now."""
    last = replay[:-1].rpartition(b"\n")[2]
    hash: str = msgspec.json.decode(last)["hash"]
    return replay + ReplayWriter(hash).reveal(seed, salt)


class Journal:
    """The place that a match is written to while it is played. This one keeps nothing: it is for matches that
    no client can ask for again."""

    __slots__ = ()

    def append(self, lines: bytes) -> None:
        """Append whole lines, all of them or none. OSError if they cannot be written now."""

    def finish(self, times: bytes) -> Path | None:
        """Make the replay of the journal, once the match is over, and return its path. OSError if that fails;
        then it can be called again. The journal is kept until `forget`. `times` go into a file beside the
        replay, if that can be written: nothing depends on it."""
        return None

    def leave(self) -> Path | None:
        """Keep the journal of a match that is over, because its replay could not be made: the next server can
        make it. Return the journal's path, if it still exists."""
        return None

    def discard(self) -> None:
        """Remove the journal of a match that no client has seen."""

    def abandon(self) -> None:
        """Keep the journal of a match that ends without a result, so that the organizer can look into it."""

    def read(self) -> bytes:
        """Return all that was written of a match that is over. OSError if it cannot be read."""
        raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT))

    def note(self, lines: bytes) -> None:
        """Append to what is kept of a match that is over. OSError if that cannot be done."""

    def forget(self) -> None:
        """Remove what is kept: no client can ask for the end of the match any more."""


class MemoryJournal(Journal):
    """The journal of a program that plays matches itself: it becomes a replay, and never a file.

    Law: no file says during the match what a bot must not know.
    """

    __slots__ = ("_lines",)

    def __init__(self) -> None:
        self._lines = bytearray()

    def append(self, lines: bytes) -> None:
        self._lines += lines

    def discard(self) -> None:
        self._lines.clear()

    def abandon(self) -> None:
        self._lines.clear()

    def read(self) -> bytes:
        return bytes(self._lines)

    def replay(self) -> bytes:
        """Return the replay: the journal without its private records."""
        return replay_of(bytes(self._lines))


class Journals:
    """The folder of a server: `running/` for journals, `replays/` for what became of them."""

    def __init__(self, folder: Path, *, sync: bool = False) -> None:
        self.running = folder / "running"
        self.replays = folder / "replays"
        self.is_synced = sync
        self.unsynced: list[FileJournal] = []
        """With `sync`: the journals that were appended to since this list was last taken and synced."""
        self.on_removed: Callable[[str], object] = lambda match: None
        """Called when another program has removed the journal of a running match."""
        self.running.mkdir(parents=True, exist_ok=True)
        self.replays.mkdir(exist_ok=True)
        self.running.chmod(0o700)

    def hold(self) -> None:
        """Keep other servers off the folder, as long as this process lives. BlockingIOError if one has it:
        two would both continue what one of them is playing."""
        import fcntl  # here, because a match in memory needs no Unix

        descriptor = os.open(self.running, os.O_RDONLY | os.O_CLOEXEC)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            os.close(descriptor)
            raise

    def open(self, match: str) -> FileJournal:
        return FileJournal(self, self.running / f"{match}{SUFFIX}", os.O_CREAT | os.O_EXCL)

    async def sync(self, journal: FileJournal) -> None:
        """Wait until the disk has what was appended before. OSError if it has not."""
        await trio.to_thread.run_sync(journal.sync)

    def left_over(self, suffix: str = SUFFIX) -> list[Path]:
        """Return the journals that an earlier server has left, oldest first: of matches that go on or, with
        ENDED_SUFFIX, of ended ones that a client may still ask for."""
        paths = self.running.glob(f"*{suffix}")
        return sorted(paths, key=lambda path: (path.stat().st_mtime_ns, path.name))

    def reopen(self, path: Path, size: int) -> FileJournal:
        """Open a left-over journal, to continue after its first `size` bytes, and cut off the rest."""
        os.truncate(path, size)
        return FileJournal(self, path, 0)

    def kept(self, path: Path, size: int) -> FileJournal:
        """Return the journal of an ended match, and cut off what follows its first `size` bytes."""
        os.truncate(path, size)
        return FileJournal(self, path, None)


class FileJournal(Journal):
    __slots__ = (
        "_appends",
        "_descriptor",
        "_has_notes",
        "_is_entered",
        "_is_kept",
        "_is_listed",
        "_is_removed",
        "_is_torn",
        "_journals",
        "_path",
        "_size",
    )

    def __init__(self, journals: Journals, path: Path, flags: int | None) -> None:
        """Open it with more `flags`. With None it belongs to a match that is over, and is not opened."""
        self._journals = journals
        self._path = path
        self._descriptor = -1
        self._size = 0
        self._appends = 0
        self._is_kept = flags is None
        self._is_entered = flags is None or not flags & os.O_CREAT  # whether the disk knows of the file
        self._has_notes = False  # that the disk may not have
        if flags is not None:
            self._descriptor = os.open(path, os.O_RDWR | os.O_APPEND | os.O_CLOEXEC | flags, 0o600)
            self._size = os.fstat(self._descriptor).st_size
        self._is_listed = False
        self._is_removed = False
        self._is_torn = False

    def append(self, lines: bytes) -> None:
        if self._is_torn:
            self._cut_torn()
        written = os.write(self._descriptor, lines)
        if written < len(lines):
            self._is_torn = True
            with contextlib.suppress(OSError):
                self._cut_torn()
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        self._size += len(lines)
        self._list_unsynced()
        self._appends += 1
        if self._appends % LOOK_EVERY == 0:
            self._look_for_file()

    def _list_unsynced(self) -> None:
        if self._journals.is_synced and not self._is_listed:
            self._is_listed = True
            self._journals.unsynced.append(self)

    def _look_for_file(self) -> None:
        """Report once that another program has removed the file."""
        if not self._is_removed and self._is_gone():
            self._is_removed = True
            self._journals.on_removed(self.match)

    def _is_gone(self) -> bool:
        """Return whether the file has lost its name. It can be written and read as long as it is open."""
        return os.fstat(self._descriptor).st_nlink == 0

    def _cut_torn(self) -> None:
        """Remove the part of a record, so that the next one does not follow it."""
        os.ftruncate(self._descriptor, self._size)
        self._is_torn = False

    @property
    def match(self) -> str:
        return self._path.stem

    def sync(self) -> None:
        """Wait until the disk has it. May be called in another thread."""
        self._is_listed = False
        descriptor = self._descriptor  # it may be closed meanwhile
        if descriptor < 0:
            self._sync_notes()
            return
        os.fdatasync(descriptor)
        if not self._is_entered:
            sync_folder(self._path.parent)
            self._is_entered = True

    def _sync_notes(self) -> None:
        if not self._has_notes:
            return
        self._has_notes = False
        with contextlib.suppress(FileNotFoundError), open(self._path, "rb") as kept:  # or it was forgotten
            os.fdatasync(kept.fileno())

    def finish(self, times: bytes) -> Path:
        """Make the replay of the open file, so that it exists even if somebody has removed its folder
        meanwhile."""
        self._look_for_file()
        replay = self._replay_path
        content = replay_of(os.pread(self._descriptor, self._size, 0))
        replay.parent.mkdir(parents=True, exist_ok=True)
        with contextlib.suppress(OSError):
            write_whole(times_beside(replay), times)  # first: whoever sees the replay sees them, too
        write_whole(replay, content, sync=self._journals.is_synced)
        if self._journals.is_synced:
            os.fdatasync(self._descriptor)  # the name says from now on that the end is in it
        ended = self._path.with_suffix(ENDED_SUFFIX)
        with contextlib.suppress(FileNotFoundError):
            self._path.replace(ended)
            self._path = ended
            self._is_kept = True
        self.close()
        return replay

    @property
    def _replay_path(self) -> Path:
        return self._journals.replays / f"{self._path.stem}.jsonl"

    def leave(self) -> Path | None:
        path = None if self._is_gone() else self._path
        self.close()
        return path

    def discard(self) -> None:
        with contextlib.suppress(OSError):
            self._path.unlink()
        self.close()

    def abandon(self) -> None:
        with contextlib.suppress(OSError):
            self._path.rename(self._path.with_suffix(".failed"))
        self.close()

    def read(self) -> bytes:
        """Read the journal or, if it is gone, its replay, which has the same events."""
        try:
            return self._path.read_bytes()
        except FileNotFoundError:
            return self._replay_path.read_bytes()

    def note(self, lines: bytes) -> None:
        """Append without keeping a descriptor: there may be many of these."""
        with open(self._path, "r+b", buffering=0) as kept:
            size = kept.seek(0, os.SEEK_END)
            if (kept.write(lines) or 0) < len(lines):
                kept.truncate(size)
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        self._has_notes = True
        self._list_unsynced()

    def forget(self) -> None:
        if self._is_kept:
            with contextlib.suppress(OSError):
                self._path.unlink()

    def close(self) -> None:
        if self._descriptor >= 0:
            os.close(self._descriptor)
            self._descriptor = -1


def reveal(replay: Path, seed: bytes, salt: bytes) -> None:
    """Add the seed to the replay of a match whose deal was to be played again."""
    write_whole(replay, revealed(replay.read_bytes(), seed, salt))


def whole_lines(path: Path) -> Iterator[tuple[bytes, int]]:
    """Yield the lines of a journal, each with the offset behind it, except a last one that breaks off. One
    whose newline became another byte does not break off: it was changed."""
    offset = 0
    with open(path, "rb") as journal:
        while line := journal.readline(MAX_LINE_BYTES + 1):
            if not line.endswith(b"\n") and not _is_json(line[:-1]):
                return
            offset += len(line)
            yield line, offset


def _is_json(text: bytes) -> bool:
    try:
        msgspec.json.decode(text)
    except (msgspec.DecodeError, UnicodeDecodeError):
        return False
    return True
