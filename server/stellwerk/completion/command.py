"""`stellwerk completion`: print a script that completes the command in a shell.

Exit code: 0.
"""

from __future__ import annotations

import argparse
from typing import Final

from stellwerk.command_line import whole_parser
from stellwerk.completion.shells import bash, fish, zsh
from stellwerk.completion.words import levels
from stellwerk.shared.errors import DONE
from stellwerk.shared.terminal import say

SHELLS: Final = {"bash": bash, "zsh": zsh, "fish": fish}

DESCRIPTION: Final = """\
Print a script that completes commands, options and their values in your shell.
"""

EXAMPLES: Final = """\
to use it in each new shell:
  bash   stellwerk completion bash >> ~/.bashrc
  zsh    stellwerk completion zsh >> ~/.zshrc
  fish   stellwerk completion fish > ~/.config/fish/completions/stellwerk.fish
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.description, parser.epilog = DESCRIPTION, EXAMPLES
    parser.add_argument("shell", choices=SHELLS, help="the shell")


def run(arguments: argparse.Namespace) -> int:
    """Carry out what `add_arguments` has parsed, and return the exit code."""
    say(SHELLS[arguments.shell](list(levels(whole_parser()))).removesuffix("\n"))
    return DONE
