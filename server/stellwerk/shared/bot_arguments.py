"""Bots on the command line: what `--bot`, `--candidate`, `--baseline` and `--wrap` mean."""

from __future__ import annotations

import os
import shlex
from collections.abc import Iterable
from dataclasses import replace
from typing import TYPE_CHECKING

from stellwerk.shared.errors import refusing, usage_error
from stellwerk.shared.terminal import own_name
from stellwerk_processes.bot_spec import BotSpec, BotSpecError, parse_bot_spec

if TYPE_CHECKING:  # a command that starts no bots needs no processes
    from stellwerk_processes.bench.levels import Confinement


def bot_of(argument: str, text: str) -> BotSpec:
    """Read the specification of a bot, or raise a usage error that names the argument."""
    with refusing(BotSpecError, where=argument):
        return with_budget(parse_bot_spec(text))


def with_budget(bot: BotSpec) -> BotSpec:
    """Give the built-in searcher the budget of our own environment, as if it were in the bot's words."""
    budget = budget_here(bot)
    return bot if budget is None else replace(bot, environment={**bot.environment, budget[0]: budget[1]})


def budget_here(bot: BotSpec) -> tuple[str, str] | None:
    """Return the variable with the searcher's budget, if it is set here, and the bot is one that has none."""
    if bot.built_in != "searcher":
        return None
    from stellwerk_bots.searcher.bot import BUDGET_VARIABLE  # which imports the engine

    if BUDGET_VARIABLE in bot.environment or BUDGET_VARIABLE not in os.environ:
        return None
    return BUDGET_VARIABLE, os.environ[BUDGET_VARIABLE]


def doctors_command(bot: BotSpec) -> str:
    """Return the command that examines a bot, as a shell reads it. It leaves out the bot's own variables,
    which may be secrets."""
    place = f"cd {shlex.quote(bot.directory)} && " if bot.directory else ""
    option = ["--transport", bot.transport] if bot.transport != "tcp" else []
    return place + shlex.join([own_name(), "kit", "doctor", *option, "--", *bot.command])


def wrap_of(text: str) -> tuple[str, ...]:
    """Split the command of `--wrap` into words as a shell does."""
    try:
        return tuple(shlex.split(text))
    except ValueError as error:
        raise usage_error(f"--wrap: {str(error).lower()}") from None


def startable_bots(named: Iterable[tuple[str, str]], confinement: Confinement) -> list[BotSpec]:
    """Read the specifications of bots, each with the argument that it comes from. CommandError if one is
    wrong, or its program does not exist."""
    bots: list[BotSpec] = []
    for argument, text in named:
        bots.append(bot_of(argument, text))
        if not bots[-1].is_plainly_built_in:
            expect_startable(argument, bots[-1], confinement)
    return bots


def expect_startable(argument: str, bot: BotSpec, confinement: Confinement) -> None:
    """Raise a usage error if the program of a bot, or of what confines it, does not exist."""
    from stellwerk_processes.bench.invitation import BotStartError, command_line

    try:
        command_line(bot, confinement, os.curdir)
    except BotStartError as error:
        where = "--wrap" if error.key == "wrap" else argument
        raise usage_error(f"{where}: {error}") from None
