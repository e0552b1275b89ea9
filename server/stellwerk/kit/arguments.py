"""Arguments that the commands of the kit share, lists of laws, and an orderly end."""

from __future__ import annotations

import argparse
import signal
from collections.abc import Generator, Iterable
from contextlib import contextmanager
from types import FrameType

from stellwerk.shared.errors import infrastructure_error, usage_error
from stellwerk.shared.parser import argument, whole_number
from stellwerk.shared.terminal import say
from stellwerk_kit.bot_process import CannotStartError
from stellwerk_kit.vectors import VectorsMissingError


def add_timeout(parser: argparse.ArgumentParser) -> None:
    argument(
        parser,
        "--timeout SECONDS",
        "time for each answer; a start gets four times as much",
        whole_number(1, 3600),
        default=5,
    )


def add_output_arguments(parser: argparse.ArgumentParser, things: str) -> None:
    """Add the arguments of a command that takes one of these things after the other."""
    argument(parser, "--list", f"list the {things} and their laws, and do nothing else")
    argument(parser, "--junit FILE", "write the findings there too, a test case for each")
    argument(parser, "--json", "all findings as one JSON object")


def print_laws(laws: Iterable[tuple[str, str]]) -> None:
    """List names with their laws."""
    listed = list(laws)
    width = max(len(name) for name, _ in listed)
    for name, law in listed:
        say(f"{name:{width}}  {law}")


@contextmanager
def ended_in_order(what: str) -> Generator[None]:
    """Treat SIGTERM as Ctrl-C, so that what the command has started ends with it. Raise a CommandError for a
    program that cannot be started, and for a machine on which `what` runs cannot continue."""

    def leave(number: int, _: FrameType | None) -> None:
        raise SystemExit(128 + number)  # as a shell says it

    before = signal.signal(signal.SIGTERM, leave)
    try:
        yield
    except CannotStartError as error:
        raise (usage_error if error.wrong_command else infrastructure_error)(str(error)) from None
    except VectorsMissingError as error:
        raise infrastructure_error(str(error)) from None
    except OSError as error:  # no more file descriptors, no more ports
        raise infrastructure_error(f"{what} cannot go on: {error.strerror or error}") from None
    finally:
        signal.signal(signal.SIGTERM, before)
