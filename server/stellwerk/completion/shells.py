"""Scripts for shells, made of the command's words.

Each script is complete: completing a word starts no process. Where no word fits, the shell completes files.
"""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Sequence

from stellwerk.completion.words import Level, Option

PROGRAM = "stellwerk"


def bash(levels: Sequence[Level]) -> str:
    """Return a script for bash."""
    return "\n".join(
        [
            "_stellwerk() {",
            "  local word path= words=",
            '  local current="${COMP_WORDS[COMP_CWORD]}" before="${COMP_WORDS[COMP_CWORD-1]}"',
            '  for word in "${COMP_WORDS[@]:1:COMP_CWORD-1}"; do',
            '    case "$path $word" in',
            f'      {_either(_key(level.path) for level in levels if level.path)}) path="$path $word" ;;',
            "    esac",
            "  done",
            '  case "$path $before" in',
            *_bash_values(levels),
            '    *) case "$path $current" in',
            *(line for level in reversed(levels) for line in _bash_words(level)),  # the longest path first
            "    esac ;;",
            "  esac",
            '  COMPREPLY=($(compgen -W "$words" -- "$current"))',
            "}",
            f"complete -o default -F _stellwerk {PROGRAM}",
            "",
        ]
    )


def zsh(levels: Sequence[Level]) -> str:
    """Return a script for zsh, which understands the script for bash."""
    return "autoload -U +X compinit bashcompinit && compinit && bashcompinit\n" + bash(levels)


def fish(levels: Sequence[Level]) -> str:
    """Return a script for fish."""
    lines = [
        "function __stellwerk_at",
        "  set -l path",
        "  for word in (commandline -opc)[2..]",
        '    switch "$path $word"',
        f"      case {' '.join(shlex.quote(_plain_key(level.path)) for level in levels if level.path)}",
        '        set path "$path $word"',
        "    end",
        "  end",
        '  test "$path" = "$argv[1]"',
        "end",
    ]
    for level in levels:
        here = (
            f"complete -c {PROGRAM} -n {shlex.quote(f'__stellwerk_at {shlex.quote(_plain_key(level.path))}')}"
        )
        lines += [
            f"{here} -f -a {shlex.quote(name)} -d {_fish(text)}" for name, text in level.subcommands.items()
        ]
        if level.values:
            lines.append(f"{here} -f -a {shlex.quote(' '.join(level.values))}")
        lines += [f"{here} {_fish_option(option)}" for option in level.options]
    return "\n".join([*lines, ""])


def _key(path: Sequence[str]) -> str:
    """Return how a path is written as a pattern of a `case`."""
    return f'"{_plain_key(path)}"'


def _plain_key(path: Sequence[str]) -> str:
    return "".join(f" {word}" for word in path)


def _either(keys: Iterator[str]) -> str:
    return "|".join(keys)


def _bash_words(level: Level) -> Iterator[str]:
    """Yield the options of a level, for a word that begins with a dash, and its other words."""
    options = " ".join(flag for option in level.options for flag in option.flags)
    others = " ".join([*level.subcommands, *level.values])
    yield f"      {_key((*level.path, '-'))}*) words={shlex.quote(options)} ;;"
    yield f"      {_key((*level.path, ''))}*) words={shlex.quote(others)} ;;"


def _bash_values(levels: Sequence[Level]) -> Iterator[str]:
    """Yield what may follow an option: its values, or files if these are not fixed."""
    for level in levels:
        for option in level.options:
            if option.takes_value:
                patterns = _either(_key((*level.path, flag)) for flag in option.flags)
                yield f"    {patterns}) words={shlex.quote(' '.join(option.values))} ;;"


def _fish_option(option: Option) -> str:
    words = [f"-l {flag[2:]}" if flag.startswith("--") else f"-s {flag[1:]}" for flag in option.flags]
    if option.values:
        words.append(f"-x -a {shlex.quote(' '.join(option.values))}")
    elif option.takes_value:
        words.append("-r")
    return " ".join([*words, f"-d {_fish(option.summary)}"])


def _fish(text: str) -> str:
    """Quote for fish, in which a backslash escapes within quotes."""
    return "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'"
