"""The requirements that a case tests, read from `protocol/conformance/REQUIREMENTS.md`.

The law: the page is the only list of requirements and their cases. A test holds it to the cases of the kit.
"""

from __future__ import annotations

import re
from fnmatch import fnmatchcase
from functools import cache
from typing import Final, Literal

from msgspec import Struct

from stellwerk_protocol.pages import protocol_folder

Side = Literal["S", "C"]  # a server or a client

PAGE: Final = "conformance/REQUIREMENTS.md"
_ROW: Final = re.compile(r"^\| ([SC]\d+) \| (MUST|SHOULD) \| (.*?) \|[^|]*\| (.*) \|$", re.MULTILINE)


class Requirement(Struct, frozen=True):
    """A requirement. `cases` are patterns such as `codec: refused-*`."""

    number: str
    duty: str
    text: str
    cases: tuple[str, ...]


@cache
def requirements() -> tuple[Requirement, ...]:
    page = (protocol_folder() / PAGE).read_text(encoding="utf-8")
    return tuple(
        Requirement(number, duty, text, tuple(re.findall(r"`([^`]+)`", cases)))
        for number, duty, text, cases in _ROW.findall(page)
    )


def requirements_of(case: str, side: Side) -> tuple[Requirement, ...]:
    """Return the requirements for one side that a case tests, such as `doctor: first-ask`."""
    return tuple(
        each
        for each in requirements()
        if each.number.startswith(side) and any(fnmatchcase(case, pattern) for pattern in each.cases)
    )
