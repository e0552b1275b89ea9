"""Arguments that the commands of the kit share: patience, and for their steps games and a seed."""

from __future__ import annotations

import argparse
import signal
from collections.abc import Generator, Iterable, Mapping, Sequence
from contextlib import contextmanager
from types import FrameType
from typing import Final

from stellwerk.shared.choose_game import checked_seed, whole_number
from stellwerk.shared.errors import CommandError, infrastructure_error, usage_error
from stellwerk.shared.terminal import say
from stellwerk_base.texts import unknown
from stellwerk_engine.games.shipped import RULE_SETS
from stellwerk_kit.bot_process import CannotStartError
from stellwerk_kit.doctor.scripted_match import SCOUTED_GAMES
from stellwerk_kit.doctor.steps import Step

ALL: Final = "all"


def add_step_arguments(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add(
        "--game",
        metavar="GAME",
        action="append",
        default=[],
        help=f"may be given several times (default: all: {', '.join(RULE_SETS)})",
    )
    add_timeout(parser)
    add("--seed", metavar="S", default="doctor", help="any text; each text gives other games")


def add_timeout(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--timeout",
        metavar="SECONDS",
        type=whole_number(1, 3600),
        default=5,
        help="time for each answer; a start gets four times as much (default: 5)",
    )


def chosen_games(names: Sequence[str]) -> tuple[str, ...]:
    for name in names:
        if name not in RULE_SETS:
            raise usage_error(f"--game: {unknown('game', name, RULE_SETS)}")
    return tuple(dict.fromkeys(names)) or tuple(RULE_SETS)


def chosen_steps(option: str, kind: str, text: str, steps: Mapping[str, Step]) -> list[Step]:
    """Return the steps that are named, separated by commas, in their own order.

    `kind` is what the `option` calls each of them.
    """
    names = list(steps) if text == ALL else [name for name in text.split(",") if name]
    for name in names:
        if name not in steps:
            raise usage_error(f"{option}: {unknown(kind, name, steps)}")
    if not names:
        raise usage_error(f"{option}: a name is missing")
    return [steps[name] for name in names]


def print_steps(steps: Iterable[tuple[str, Step]]) -> None:
    """List the steps with their laws, and with the transport of those that have but one."""
    named = list(steps)
    width = max(len(name) for name, _ in named)
    for name, step in named:
        only = f" ({step.transports[0]} only)" if len(step.transports) == 1 else ""
        say(f"{name:{width}}  {step.law}{only}")


def checked_kit_seed(text: str) -> str:
    checked_seed(f"{checked_seed(text)}/{SCOUTED_GAMES}", "--seed with the number of a game")
    return text


def cannot_start(error: CannotStartError) -> CommandError:
    return (usage_error if error.wrong_command else infrastructure_error)(str(error))


@contextmanager
def ended_in_order() -> Generator[None]:
    """Treat SIGTERM as Ctrl-C, so that what the command has started ends with it."""

    def leave(number: int, _: FrameType | None) -> None:
        raise SystemExit(128 + number)  # as a shell says it

    before = signal.signal(signal.SIGTERM, leave)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)
