"""The files that browsers get: pages, their modules, and those that they import from other rooms.

Law: the list of files is made once, at the start, and nothing else can be asked for. The folders keep the
places that they have in the repository, so that the modules' relative imports work as they are. A hash of
all files is in each address, so browsers may keep what they have got.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Final

import stellwerk_page
from stellwerk_protocol.pages import protocol_folder

_KINDS: Final = {
    ".mjs": b"text/javascript; charset=utf-8",
    ".css": b"text/css; charset=utf-8",
    ".svg": b"image/svg+xml",
}
_SLOT: Final = re.compile(r"\{\{(\w+)\}\}")


@dataclass(frozen=True, slots=True)
class WebFile:
    kind: bytes
    body: bytes


@dataclass(frozen=True, slots=True)
class WebFiles:
    """`modules` are by path, with `digest`, the hash of all; `pages` by name, such as `match`."""

    digest: str
    modules: Mapping[str, WebFile]
    pages: Mapping[str, bytes]
    favicon: bytes


def read_files(words: Mapping[str, str]) -> WebFiles:
    """Read all files. `words` fill the slots of pages, such as `{{version}}`."""
    folders = {
        "server/stellwerk_page/content": Path(stellwerk_page.__file__).with_name("content"),
        "server/stellwerk_web/content": Path(__file__).with_name("content"),
        "protocol/verifiers/javascript": protocol_folder() / "verifiers" / "javascript",
    }
    files: dict[str, WebFile] = {}
    for place, folder in folders.items():
        for path in folder.rglob("*"):
            kind = _KINDS.get(path.suffix)
            if kind is not None and path.is_file():
                name = f"{place}/{path.relative_to(folder).as_posix()}"
                files[name] = WebFile(kind, path.read_bytes())
    digest = sha256()
    for name in sorted(files):
        digest.update(f"{name} {len(files[name].body)}\n".encode() + files[name].body)
    version = digest.hexdigest()[:16]
    begin = f"/modules/{version}/"
    filled = {**words, "modules": begin}
    own = folders["server/stellwerk_web/content"]
    return WebFiles(
        digest=version,
        modules={begin + name: file for name, file in files.items()},
        pages={
            path.stem: _SLOT.sub(lambda slot: filled[slot[1]], path.read_text("utf-8")).encode()
            for path in sorted(own.glob("*.html"))
        },
        favicon=(own / "favicon.svg").read_bytes(),
    )
