"""The doctor's steps for a bot as a match would start it: with its environment, its folder, its sandbox.

The doctor by itself gives a bot all that it finds in its own environment. A candidate of a gate is a
stranger's program, and the environment of CI holds secrets: so it gets only what it would get in a match.
"""

from __future__ import annotations

import os
import secrets
import tempfile
from collections.abc import Generator, Sequence
from pathlib import Path
from typing import Final

from stellwerk_kit.doctor.doctor import Finding, examine
from stellwerk_kit.doctor.patient import patience
from stellwerk_kit.doctor.steps import Examination
from stellwerk_processes.bot_process import Confinement, Invitation, command_line, environment_of
from stellwerk_processes.bot_spec import BotSpec

SECONDS: Final = 5  # for each answer, as `stellwerk kit doctor` waits by default
SEED: Final = "gate"
_SHELL: Final = "/bin/sh"

# Change to $1 and clear the environment, except for what the doctor passes to the bot.
_FORGET: Final = (
    'cd "$1" && shift && exec env -i STELLWERK_ADDRESS="$STELLWERK_ADDRESS"'
    ' STELLWERK_TOKEN="$STELLWERK_TOKEN" STELLWERK_BOT_SEED="$STELLWERK_BOT_SEED"'
    ' STELLWERK_NAME="$STELLWERK_NAME" "$@"'
)
# Limits its data to $1 kilobytes, if that is any, and becomes the bot.
_LIMIT: Final = (
    'ulimit -c 0 && if [ "$1" ]; then ulimit -d "$1"; fi && shift && unset PWD OLDPWD && exec "$@"'
)


def findings(bot: BotSpec, confinement: Confinement, games: Sequence[str]) -> Generator[Finding]:
    """Yield the findings as they are made.

    BotStartError if there is no such program, CannotStartError or OSError if the machine fails.
    """
    with tempfile.TemporaryDirectory(prefix="stellwerk-", ignore_cleanup_errors=True) as root:
        directory = Path(root).resolve() / secrets.token_hex(16)
        directory.mkdir(mode=0o700)
        if confinement.isolation == "user":  # another user, whom we do not know
            os.chmod(root, 0o711)
            directory.chmod(0o777)
        examination = Examination(
            command=_command(bot, confinement, str(directory)),
            transport=bot.transport,
            patience=patience(SECONDS),
            seed=SEED,
        )
        yield from examine(examination, games)


def _command(bot: BotSpec, confinement: Confinement, directory: str) -> tuple[str, ...]:
    environment = environment_of(bot, Invitation("", "", "", ""), directory, os.environ)
    assignments = [
        f"{name}={value}" for name, value in environment.items() if not name.startswith("STELLWERK_")
    ]
    kilobytes = "" if confinement.memory_mb is None else str(confinement.memory_mb * 1024)
    return (
        *(_SHELL, "-c", _FORGET, "sh", os.path.abspath(bot.directory or directory), *assignments),
        *(_SHELL, "-c", _LIMIT, "sh", kilobytes),
        *command_line(bot, confinement, directory),
    )
