"""The file `field.jsonl`, which only grows.

Law: a decision is on the disk before it takes effect. Whoever decides holds the lock of the file meanwhile,
and so does a runner while it draws tables. So a decision that is older than a table counts for it, and each
decision says truly how much had been played.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
from collections.abc import Callable, Generator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

import msgspec

from stellwerk_tournament.store import match_line
from stellwerk_tournament.store.field import FILE, Decision, Field, FieldError
from stellwerk_tournament.store.store import StoreError


@dataclass(frozen=True, slots=True)
class Place:
    """The place of a decision in the file: its number, when it was made, and after what."""

    number: int
    at: str
    after: int
    previous: str


def read_field(folder: Path) -> Field:
    """Read all decisions. StoreError."""
    field = Field()
    read_on(field, folder)
    return field


def read_on(field: Field, folder: Path) -> None:
    """Take in the lines that the file has more by now. A torn line is none: its decision has not been made.
    StoreError."""
    path = folder / FILE
    try:
        with open(path, "rb") as file:
            file.seek(field.size)
            text = file.read()
    except FileNotFoundError:
        text = b""
    except OSError as error:
        raise StoreError(f"{path}: cannot be read: {error.strerror or error}", is_machines=True) from None
    try:
        for line in text.splitlines(keepends=True):
            if line.endswith(b"\n"):
                field.add(line)
    except FieldError as error:
        raise StoreError(f"{folder}/{error}") from None


@contextmanager
def locked_field(folder: Path) -> Generator[int]:
    """Hold the lock of the file, whose descriptor this is: nobody else decides meanwhile. StoreError."""
    with _writing(folder):
        descriptor = os.open(folder / FILE, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o666)
    try:
        with _writing(folder):
            fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield descriptor
    finally:
        os.close(descriptor)


def decide(folder: Path, now: datetime, make: Callable[[Field, Place], Decision]) -> Decision:
    """Write a decision. `make` gets what was decided before it, and its place. What `make` raises, and a
    StoreError, leave the file as it was."""
    with locked_field(folder) as descriptor:
        field = read_field(folder)
        lines = folder / match_line.FILE
        place = Place(
            number=len(field.decisions) + 1,
            at=now.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ"),
            after=lines.stat().st_size if lines.exists() else 0,
            previous=field.head,
        )
        decision = make(field, place)
        with _writing(folder):
            try:
                os.ftruncate(descriptor, field.size)  # a torn line may follow
                os.pwrite(descriptor, msgspec.json.encode(decision) + b"\n", field.size)
                os.fsync(descriptor)
            except OSError:
                with contextlib.suppress(OSError):
                    os.ftruncate(descriptor, field.size)
                raise
    return decision


@contextmanager
def _writing(folder: Path) -> Generator[None]:
    try:
        yield
    except OSError as error:
        raise StoreError(
            f"{folder / FILE}: cannot be written: {error.strerror or error}", is_machines=True
        ) from None
