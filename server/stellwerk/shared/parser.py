"""The parser of the command line, and arguments that are written as the usage shows them: `--seat N`.

Law: a default is named in the help of its argument by `argument`, and in no text.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Collection, Sequence
from typing import TYPE_CHECKING, Any, NoReturn, TypeVar

from stellwerk.shared.errors import USAGE, usage_error
from stellwerk.shared.terminal import complain, say
from stellwerk_base.texts import quoted, suggestion, unknown

if TYPE_CHECKING:
    from argparse import _ActionsContainer  # pyright: ignore[reportPrivateUsage]  parsers and their groups

_Number = TypeVar("_Number", int, float)


class Parser(argparse.ArgumentParser):
    """A parser that prints its errors in one line, as the commands do, and takes no abbreviations. Its texts
    keep their lines, if they have more than one. The parsers of its subcommands are the same."""

    def __init__(self, **settings: Any) -> None:  # Any: as argparse has them
        usual: dict[str, Any] = {"allow_abbrev": False, "formatter_class": _HelpFormatter}
        super().__init__(**(usual | settings))

    def _check_value(self, action: argparse.Action, value: object) -> None:
        """Suggest the nearest choice, which argparse has no public place for before Python 3.14."""
        if action.choices is not None and value not in action.choices:
            what = "/".join(action.option_strings) or "command"
            raise usage_error(unknown(what, str(value), [str(choice) for choice in action.choices]))

    def parse_known_args(  # type: ignore[override]  # argparse has overloads for other namespaces
        self, args: Sequence[str] | None = None, namespace: None = None
    ) -> tuple[argparse.Namespace, list[str]]:
        """Refuse options that this parser does not know, each with the nearest one."""
        found, rest = super().parse_known_args(args, namespace)
        for word in rest:
            option = word.partition("=")[0]
            if option.startswith("-") and option not in self._option_string_actions:
                known = [name for name in self._option_string_actions if name.startswith("--")]
                self.error(f"there is no option {quoted(option)}{suggestion(option, known)}")
        return found, rest

    def error(self, message: str) -> NoReturn:
        complain(f"{message} (see '{self.prog} --help')")
        raise SystemExit(USAGE)

    def print_help(self, file: object = None) -> None:
        """Print to standard output, with an error if that fails, where argparse would be silent."""
        say(self.format_help().removesuffix("\n"))


class _HelpFormatter(argparse.HelpFormatter):
    def _fill_text(self, text: str, width: int, indent: str) -> str:
        return text if "\n" in text else super()._fill_text(text, width, indent)


def argument(
    parser: _ActionsContainer,
    usage: str,
    help: str | None = None,
    type: Callable[[str], object] | None = None,
    **settings: Any,  # as argparse has them
) -> None:
    """Add an argument: a switch `--json`, an option `--seed S` or `-o, --out FILE`, one with two values
    `--play-off A B`, one that may be given several times `--bot SPEC ...`; or words without a flag: `FILE`,
    `[FILE]`, `FILE ...`, `[FILE ...]`."""
    is_optional = usage.startswith("[")
    words = usage.strip("[]" if is_optional else "").split()
    flags = [word.rstrip(",") for word in words if word.startswith("-")]
    values = [word for word in words if not word.startswith("-") and word != "..."]
    is_repeated = "..." in words
    if flags and not values and "choices" not in settings:
        settings = {"action": "store_true", **settings}
    elif flags and is_repeated:
        settings = {"action": "append", "default": [], **settings}
    elif not flags:
        settings.setdefault("dest", values[0].lower())
        if is_repeated or is_optional:
            settings["nargs"] = "*" if is_repeated and is_optional else "+" if is_repeated else "?"
    if values:
        settings["metavar"] = values[0] if len(values) == 1 else tuple(values)
    if len(values) > 1:
        settings["nargs"] = len(values)
    if type is not None:
        settings["type"] = type
    default: object = settings.get("default")
    if help is not None and default not in (None, []):
        help += f" (default: {f'{default:g}' if isinstance(default, float) else default})"
    parser.add_argument(*flags, help=help, **settings)


def options_of(arguments: argparse.Namespace, *, without: Collection[str]) -> list[str]:
    """Return the options that a command line has, for one that does the same again."""
    words: list[str] = []
    for name, value in vars(arguments).items():
        flag = f"--{name.replace('_', '-')}"
        if value is True:
            words.append(flag)
        elif name not in without and value not in (None, False):
            words.append(f"{flag}={f'{value:g}' if isinstance(value, float) else value}")
    return words


def whole_number(low: int, high: int) -> Callable[[str], int]:
    """Return a function for the `type` of an argument."""
    return _number(int, "a whole number", low, high)


def decimal(low: float, high: float) -> Callable[[str], float]:
    """Return a function for the `type` of an argument."""
    return _number(float, "a number", low, high)


def _number(
    convert: Callable[[str], _Number], what: str, low: _Number, high: _Number
) -> Callable[[str], _Number]:
    def read(text: str) -> _Number:
        try:
            number = convert(text)
        except ValueError:
            number = None
        if number is None or not low <= number <= high:
            raise argparse.ArgumentTypeError(f"expected {what} from {low} to {high}, not {quoted(text)}")
        return number

    return read
