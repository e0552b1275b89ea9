"""The words of the command, read off its parsers: subcommands, options, and what an option takes.

argparse has no public place for what a parser contains. `_actions` has had the same form in every version of
Python since 3.2.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from dataclasses import dataclass
from typing import cast


@dataclass(frozen=True, slots=True)
class Option:
    """`takes_value` is false for a switch. Without `values` the value is anything, such as a file."""

    flags: tuple[str, ...]
    summary: str
    takes_value: bool
    values: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Level:
    """The words that can follow some others: `path` is empty for `stellwerk` itself."""

    path: tuple[str, ...]
    subcommands: dict[str, str]
    options: tuple[Option, ...]
    values: tuple[str, ...]  # of arguments without a flag, where they are fixed


def levels(parser: argparse.ArgumentParser) -> Iterator[Level]:
    """Yield the level of a parser, then the levels of its subcommands."""
    return (level for level, _ in levels_with_parsers(parser))


def levels_with_parsers(
    parser: argparse.ArgumentParser, path: tuple[str, ...] = ()
) -> Iterator[tuple[Level, argparse.ArgumentParser]]:
    """Yield each level together with its parser."""
    subcommands: dict[str, str] = {}
    below: dict[str, argparse.ArgumentParser] = {}
    options: list[Option] = []
    values: list[str] = []
    for action in parser._actions:
        fixed = tuple(map(str, action.choices or ()))
        if isinstance(action, argparse._SubParsersAction):  # pyright: ignore[reportPrivateUsage]  see above
            below = cast("dict[str, argparse.ArgumentParser]", cast(argparse.Action, action).choices)
            subcommands = {choice.dest: _one_line(choice.help) for choice in action._choices_actions}
        elif action.help == argparse.SUPPRESS:
            continue  # as in the help: an option for other programs
        elif action.option_strings:
            takes_value = action.nargs != 0
            options.append(Option(tuple(action.option_strings), _one_line(action.help), takes_value, fixed))
        else:
            values += fixed
    yield Level(path, subcommands, tuple(options), tuple(values)), parser
    for name, subparser in below.items():
        yield from levels_with_parsers(subparser, (*path, name))


def _one_line(help: str | None) -> str:
    """Return a help text in one line, without what argparse would fill in."""
    return " ".join((help or "").split()).replace("%%", "%")
