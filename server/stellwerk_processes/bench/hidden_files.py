"""Files that the sandbox hides from a bot that may need them: an interpreter, a library or data in an odd
place.

Law: a hint rests on evidence: a path that the bot was given or printed, that is there, and that the bot
cannot see. A bot can print lies, so the hint leaves it to the organizer whether the bot needs the file.
"""

from __future__ import annotations

import json
import os
import re
import tempfile
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Final

from stellwerk_processes.bench.invitation import BotStartError, command_line
from stellwerk_processes.bench.launch import view_of_bot
from stellwerk_processes.bench.views import OF_THE_KERNEL, is_beneath, system_paths

if TYPE_CHECKING:
    from stellwerk_processes.bench.levels import Confinement
    from stellwerk_processes.bot_spec import BotSpec

MOST_NAMED: Final = 3

_PATH: Final = re.compile(r"(?<![\w./-])/[^\s'\"`:;,()<>\[\]]+")
_LACKS: Final = re.compile(
    r"No such file|not found|cannot open shared object|Cannot find module|No module named|ImportError"
    r"|ENOENT|EACCES|Permission denied|cannot load such file|Unable to access|Could not find",
    re.IGNORECASE,
)


def hidden_hint(spec: BotSpec, confinement: Confinement, printed: Sequence[str]) -> str:
    """Return what to bind for a bot that could not play and printed these lines, or an empty text."""
    if confinement.own_level == "auto" or not confinement.measures.hides_files:
        return ""
    paths = list(_find_hidden(spec, confinement, printed))[:MOST_NAMED]
    if paths:
        bind = ", ".join(map(json.dumps, paths))
        which = paths[0] if len(paths) == 1 else f"{', '.join(paths[:-1])} and {paths[-1]}"
        return f"the sandbox hides {which} from it; if it needs that, write bind = [{bind}]"
    if any(map(_LACKS.search, printed)):
        return (
            f"at the level {confinement.own_level} it sees its own folder and the programs of the system: "
            "name what else it needs in bind = [...]"
        )
    return ""


def _find_hidden(spec: BotSpec, confinement: Confinement, printed: Sequence[str]) -> Iterator[str]:
    """Yield the files and folders to bind, each once."""
    try:
        argv = command_line(spec, confinement, "")
    except BotStartError:
        return
    view = view_of_bot(spec, argv, confinement)
    temporary = tempfile.gettempdir()
    seen = [*view.paths, *system_paths(network=True, users=True), *OF_THE_KERNEL]
    visible = {*seen, *map(os.path.realpath, seen)}  # by name: a link that leads there is not seen itself
    broad = set(map(os.path.realpath, ("/", temporary, os.path.expanduser("~"), *confinement.hidden)))
    found: set[str] = set()
    texts = (*spec.command, *spec.environment.values(), *printed)
    for each in (os.path.normpath(match[0].rstrip(".")) for text in texts for match in _PATH.finditer(text)):
        is_private = each.startswith(os.path.join(temporary, "stellwerk-"))  # as bots' own folders are
        if is_beneath(each, visible) or is_private or not os.path.exists(each):
            continue
        to_bind = _choose_what_to_bind(each, broad)
        if to_bind and not is_beneath(to_bind, found):
            found.add(to_bind)
            yield to_bind


def _choose_what_to_bind(path: str, broad: set[str]) -> str:
    """Return what has to be shown so that the path can be used, without showing more than that: a program
    needs what is installed with it, and a file the others of its folder."""

    def is_broad(folder: str) -> bool:
        real = os.path.realpath(folder)
        return any(is_beneath(each, (real,)) for each in broad)

    if os.path.isdir(path):
        return "" if is_broad(path) else path
    folder, name = os.path.split(os.path.dirname(path))
    if name == "bin" and not is_broad(folder):
        return folder
    if not is_broad(os.path.dirname(path)):
        return os.path.dirname(path)
    # Beside the tournament's own files, or in a home: those are no bot's.
    return ""
