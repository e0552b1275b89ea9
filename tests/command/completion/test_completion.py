"""The shells complete what the parsers know: tried in the shells themselves."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from stellwerk.command_line import COMMANDS, whole_parser
from stellwerk.completion.words import levels
from tests.command.program import SECONDS, refused, stellwerk
from tests.tools import needs

CASES = [
    ("stellwerk pl", {"play"}),
    ("stellwerk tournament ver", {"verify"}),
    ("stellwerk play --jo", {"--jobs"}),
    ("stellwerk play usa --bot greedy --bot random --sandbox na", {"namespace"}),
    ("stellwerk completion ", {"bash", "fish", "zsh"}),
    ("stellwerk boards sh", {"show"}),
    ("stellwerk serve --bot", set[str]()),  # an option of another command
]


def script(shell: str) -> str:
    done = stellwerk("completion", shell)
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout


def in_bash(line: str) -> set[str]:
    *_, current = words = line.split(" ")
    typed = f"COMP_WORDS=({' '.join(words)} {'' if current else repr('')}); COMP_CWORD={len(words) - 1}"
    return completed("bash", script("bash") + f'{typed}; _stellwerk; echo "${{COMPREPLY[@]}}"')


def in_fish(line: str) -> set[str]:
    return completed("fish", script("fish") + f"complete -C '{line}' | string split -f1 \\t; or true")


def completed(shell: str, program: str) -> set[str]:
    done = subprocess.run(
        [shell], input=program, capture_output=True, text=True, timeout=SECONDS, check=False, cwd="/"
    )
    assert (done.returncode, done.stderr) == (0, "")
    return set(done.stdout.split())


@needs("bash")
@pytest.mark.parametrize(("line", "expected"), CASES)
def test_bash_completes_commands_options_and_values(line: str, expected: set[str]) -> None:
    assert in_bash(line) == expected


@needs("fish")
@pytest.mark.parametrize(("line", "expected"), CASES)
def test_fish_completes_commands_options_and_values(line: str, expected: set[str]) -> None:
    assert in_fish(line) == expected


@needs("zsh")
def test_zsh_takes_its_script(tmp_path: Path) -> None:
    file = tmp_path / "script"
    file.write_text(script("zsh"))
    done = subprocess.run(
        ["zsh", "-f", "-c", 'source "$0" && print ${+functions[_stellwerk]} ${_comps[stellwerk]}', file],
        capture_output=True,
        text=True,
        timeout=SECONDS,
        check=False,
        env={"PATH": "/usr/bin:/bin", "HOME": str(tmp_path)},
    )
    assert done.stdout.split() == ["1", "_bash_complete", "-o", "default", "-F", "_stellwerk"], done.stderr


def test_every_command_and_each_of_its_options_is_known() -> None:
    known = {level.path: level for level in levels(whole_parser())}
    assert known[()].subcommands.keys() == COMMANDS.keys()
    for name in COMMANDS:
        assert (name,) in known
        assert any("--help" in option.flags for option in known[(name,)].options)


def test_an_option_that_the_help_hides_is_not_completed() -> None:
    flags = {flag for level in levels(whole_parser()) for option in level.options for flag in option.flags}
    assert "--parent" not in flags  # of `watch`, for the commands that start it
    assert not any(
        "SUPPRESS" in option.summary for level in levels(whole_parser()) for option in level.options
    )


def test_another_shell_is_refused() -> None:
    assert 'there is no command "tcsh" (bash, zsh, fish)' in refused("completion", "tcsh")
