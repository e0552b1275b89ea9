"""The vectors of `protocol/conformance/vectors/wire`: the types of their lines, and the location of the
files.

Bytes are written as base64, because many lines are not text. The folder is beside the specification.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any, TypeVar

import msgspec
from msgspec import UNSET, Struct, UnsetType

from stellwerk_protocol.error_codes import LineErrorCode
from stellwerk_protocol.pages import protocol_folder

T = TypeVar("T", bound=Struct)

JsonObject = dict[str, Any]  # Any: a JSON message of any kind


class _Vector(Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True, kw_only=True):
    id: str
    about: str


class Refusal(Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """A refusal. `pointer` is present if the specification fixes it; "" is the whole line."""

    code: LineErrorCode
    pointer: str | UnsetType = UNSET


class ClientLine(_Vector, frozen=True):
    """A client's line, without its newline. A server reads it as `message`, or refuses it with `error`."""

    base64: bytes
    message: JsonObject | UnsetType = UNSET
    error: Refusal | UnsetType = UNSET


class ServerLine(_Vector, frozen=True):
    """A server's line, without its newline. A client reads at least the fields in `message`. Without one the
    line must be `ignored` (a message of a newer server), or `refused`: no server sends it."""

    base64: bytes
    message: JsonObject | UnsetType = UNSET
    ignored: bool = False
    refused: bool = False


class Encoded(_Vector, frozen=True):
    """A message that a client may send, as any line that a server reads as this message."""

    message: JsonObject


class Stream(_Vector, frozen=True):
    """Bytes as they may arrive, and the lines in them, each without its newline."""

    pieces: tuple[bytes, ...]
    lines: tuple[bytes, ...]


class Vectors(Struct, frozen=True):
    """All vectors, in the order of their files."""

    client_lines: tuple[ClientLine, ...]
    server_lines: tuple[ServerLine, ...]
    encoded: tuple[Encoded, ...]
    streams: tuple[Stream, ...]


class VectorsMissingError(Exception):
    """A broken installation. The message, one line, names what is missing."""


def conformance_folder() -> Path:
    """Return the folder. Raise VectorsMissingError if it does not exist."""
    folder = protocol_folder() / "conformance"
    if not (folder / "vectors" / "wire").is_dir():
        raise VectorsMissingError("the vectors of the protocol are missing: this installation is incomplete")
    return folder


def wire_vectors() -> Vectors:
    """Return the vectors of the installation. Raise VectorsMissingError if one of their files is missing."""
    wire = conformance_folder() / "vectors" / "wire"
    return Vectors(
        client_lines=_read_vectors(wire / "client_lines.jsonl", ClientLine),
        server_lines=_read_vectors(wire / "server_lines.jsonl", ServerLine),
        encoded=_read_vectors(wire / "encode.jsonl", Encoded),
        streams=_read_vectors(wire / "streams.jsonl", Stream),
    )


def _read_vectors(file: Path, kind: type[T]) -> tuple[T, ...]:
    try:
        return tuple(msgspec.json.Decoder(kind).decode_lines(file.read_bytes()))
    except OSError as error:
        raise VectorsMissingError(f"{file}: cannot be read: {error.strerror or error}") from None
