"""The sandbox on the command line: what `--sandbox`, `--wrap` and `--memory` mean together."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from stellwerk.shared.bot_arguments import wrap_of
from stellwerk.shared.errors import infrastructure_error
from stellwerk.shared.parser import argument, whole_number
from stellwerk_processes.bench.levels import LEVELS, SandboxError, Wanted

if TYPE_CHECKING:  # a command that starts no bots needs no processes
    from stellwerk_processes.bench.levels import Confinement


LEAST_MB, MOST_MB = 16, 1_000_000


def add_sandbox_arguments(parser: argparse.ArgumentParser) -> None:
    argument(
        parser,
        "--wrap CMD",
        "put before each bot's command, in place of the sandbox; {directory} in it is the bot's own folder",
    )
    memory = whole_number(LEAST_MB, MOST_MB)
    argument(parser, "--memory MB", "most data that a process of a bot may have (default: no limit)", memory)
    argument(
        parser,
        "--sandbox",
        "how bots are confined. If the level does not hold on this machine, nothing starts; auto is the "
        "highest that holds (default: limits). `stellwerk sandbox` shows what each level refuses",
        choices=("auto", *LEVELS),
    )


def confinement_of(arguments: argparse.Namespace) -> Confinement:
    """Return the confinement that the arguments ask for. A level above `limits` is tried first: CommandError
    if it does not hold here. From now on no other process reads this one's memory."""
    import trio

    from stellwerk_processes.bench.levels import Confinement
    from stellwerk_processes.bench.resolve_sandbox import hide_memory, resolve

    hide_memory()
    level: Wanted = arguments.sandbox or "limits"
    confinement = Confinement(level=level, memory_mb=arguments.memory, wrap=wrap_of(arguments.wrap or ""))
    if not confinement.needs_proof:
        return confinement
    try:
        return trio.run(resolve, confinement).confinement
    except SandboxError as error:
        raise infrastructure_error(f"--sandbox {level}: {error}") from None
