"""Bots that travel: their files as archives, named by their SHA-256, and unpacked once.

Laws:
- what a bot may read in its sandbox is what travels: its `folder` and `dir`, or else the folders of files in
  its command. A folder that holds more than a bot, such as a home or the tournament's own, does not travel;
  then a file of the command travels alone;
- equal files make equal archives, byte for byte; what Python caches, and a repository's history, stay here;
- programs of the system, such as `python3`, do not travel: they must be on each machine.
"""

from __future__ import annotations

import gzip
import io
import os
import shlex
import shutil
import tarfile
import tempfile
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Final

import msgspec

from stellwerk_processes.bench.views import is_beneath
from stellwerk_processes.bot_spec import BotSpec
from stellwerk_tournament.config.settings import BotTable, Process, SettingsError
from stellwerk_tournament.config.versions import LEFT_OUT

FOLDER: Final = "bots"
MOST_BYTES: Final = 256_000_000  # of an archive: it is in memory, and in each file
_SYSTEM: Final = ("/usr", "/bin", "/sbin", "/lib", "/lib64", "/opt", "/nix", "/snap")


@dataclass(frozen=True, slots=True)
class Packed:
    """A file or folder that travels: its archive, and where it is then, relative to the folder of the
    block."""

    path: str
    place: str
    name: str
    content: bytes


class Archives:
    """The archives of a tournament's bots. Each file or folder is packed once."""

    def __init__(self, folder: Path) -> None:
        self._folder = os.path.abspath(folder)
        self._packed: dict[str, Packed] = {}

    def travelling(self, bot: BotSpec, table: BotTable) -> tuple[BotTable, list[Packed]]:
        """Return the table of a bot that is started from its archives. SettingsError if it cannot travel."""
        if bot.built_in:
            return msgspec.structs.replace(table, process=_process(bot)), []
        packed = [self._pack(bot.name, root) for root in self._roots(bot)]
        words = [_moved(word, packed) for word in bot.command]
        directory, folder = (
            None if path is None else _moved(path, packed) for path in (bot.directory, bot.folder)
        )
        if directory is not None:
            words = [
                os.path.relpath(word, directory) if os.path.isabs(old) and word != old else word
                for word, old in zip(words, bot.command, strict=True)
            ]
        moved = msgspec.structs.replace(
            table, cmd=shlex.join(words), dir=directory, folder=folder, process=_process(bot)
        )
        return moved, packed

    def bound(self, path: str) -> Packed:
        """Pack what every bot may read. SettingsError."""
        return self._pack("bind", path)

    def _roots(self, bot: BotSpec) -> list[str]:
        """Return what travels of a bot, none of it within another."""
        roots = [path for path in (bot.folder, bot.directory) if path is not None]
        for number, word in enumerate(bot.command):
            if os.path.isabs(word) and os.path.isfile(word) and not (number == 0 and _is_systems(word)):
                parent = os.path.dirname(word)
                roots.append(word if self._is_broad(parent) else parent)
        outer = dict.fromkeys(map(os.path.normpath, roots))
        return [root for root in outer if not is_beneath(root, (o for o in outer if o != root))]

    def _is_broad(self, folder: str) -> bool:
        """Return whether a folder holds more than a bot."""
        places = (self._folder, os.path.expanduser("~"), tempfile.gettempdir())
        real = os.path.realpath(folder)
        return any(is_beneath(os.path.realpath(place), (real,)) for place in places)

    def _pack(self, owner: str, path: str) -> Packed:
        if path not in self._packed:
            try:
                content = pack(path)
            except OSError as error:
                raise SettingsError(f"{owner}: {error.filename}: {error.strerror or error}") from None
            except ValueError as error:
                raise SettingsError(f"{owner}: cannot travel: {error}") from None
            name = sha256(content).hexdigest()
            place = f"{FOLDER}/{name}"
            if not os.path.isdir(path):
                place += f"/{os.path.basename(path)}"
            self._packed[path] = Packed(path, place, name, content)
        return self._packed[path]


def pack(path: str) -> bytes:
    """Return the archive of a file or folder. OSError, or ValueError if it cannot be packed."""
    buffer = io.BytesIO()
    with (
        gzip.GzipFile(fileobj=buffer, mode="wb", compresslevel=6, mtime=0, filename="") as zipped,
        tarfile.open(fileobj=zipped, mode="w", format=tarfile.PAX_FORMAT) as archive,
    ):
        for name, found in _members(path):
            member = archive.gettarinfo(found, name)
            member.uid = member.gid = 0
            member.uname = member.gname = ""
            member.mtime = 0
            member.mode = 0o755 if member.isdir() or member.mode & 0o100 else 0o644
            if member.isreg():
                member.pax_headers = {}
                with open(found, "rb") as file:
                    archive.addfile(member, file)
            elif member.isdir() or (member.issym() and _stays_within(path, found)):
                archive.addfile(member)
            else:
                raise ValueError(f"{found} is no file or folder, or a link that leads out of {path}")
            if buffer.tell() > MOST_BYTES:
                raise ValueError(
                    f"{path} has more than {MOST_BYTES // 1_000_000} MB: give it a folder of its own"
                )
    return buffer.getvalue()


def unpack(archives: Mapping[str, bytes], folder: Path) -> None:
    """Unpack those archives into `bots/HASH` that are not there yet. ValueError if one has been changed."""
    for name, content in archives.items():
        place = folder / FOLDER / name
        if place.exists():
            continue
        if sha256(content).hexdigest() != name:
            raise ValueError(f"the archive {name[:12]} of a bot has been changed")
        place.parent.mkdir(mode=0o755, parents=True, exist_ok=True)
        part = Path(tempfile.mkdtemp(dir=place.parent, prefix=".part-"))
        try:
            with tarfile.open(fileobj=io.BytesIO(content), mode="r:gz") as archive:
                archive.extractall(part, filter="data")
            part.chmod(0o755)
            if not place.exists():
                part.rename(place)
        except tarfile.TarError as error:
            raise ValueError(f"the archive {name[:12]} of a bot cannot be unpacked: {error}") from None
        finally:
            shutil.rmtree(part, ignore_errors=True)


def _members(path: str) -> Iterator[tuple[str, str]]:
    """Yield the names in an archive and the paths of what they stand for, always in one order."""
    if not os.path.isdir(path):
        yield os.path.basename(path), os.path.realpath(path)
        return
    for directory, folders, files in os.walk(path):
        folders[:] = sorted(each for each in folders if each not in LEFT_OUT)
        for name in sorted([*folders, *files]):
            found = os.path.join(directory, name)
            yield os.path.relpath(found, path), found


def _stays_within(root: str, link: str) -> bool:
    target = os.readlink(link)
    if os.path.isabs(target):
        return False
    return is_beneath(
        os.path.normpath(os.path.join(os.path.dirname(link), target)), (os.path.normpath(root),)
    )


def _moved(path: str, packed: Iterable[Packed]) -> str:
    for each in packed:
        if path == each.path or os.path.normpath(path) == each.path:
            return each.place
        if is_beneath(path, (each.path,)):
            return f"{each.place}/{os.path.relpath(path, each.path)}"
    return path


def _is_systems(program: str) -> bool:
    """Return whether a program was installed, so that it is to be on other machines, too."""
    return is_beneath(program, _SYSTEM) or os.path.basename(os.path.dirname(program)) == "bin"


def _process(bot: BotSpec) -> Process:
    assert bot.process != "remote"
    return bot.process
