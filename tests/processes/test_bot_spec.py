"""Specs of bots, as `--bot` takes them."""

from __future__ import annotations

import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stellwerk_processes.bot_spec import (
    BUILT_IN,
    LONGEST_NAME,
    BotSpec,
    BotSpecError,
    parse_bot_spec,
    with_unique_names,
)


def refusal(text: str) -> str:
    with pytest.raises(BotSpecError) as raised:
        parse_bot_spec(text)
    assert str(raised.value).isprintable()
    return str(raised.value)


def names(*texts: str) -> list[str]:
    return [spec.name for spec in with_unique_names(map(parse_bot_spec, texts))]


def test_every_key_is_read() -> None:
    text = "name=ernie cmd='python3 ernie.py \"two words\"' dir=/bots env.A=1 env.B=x=y transport=stdio"
    assert parse_bot_spec(text) == BotSpec(
        name="ernie",
        command=("python3", "ernie.py", "two words"),
        directory="/bots",
        environment={"A": "1", "B": "x=y"},
        transport="stdio",
    )


def test_cmd_alone_is_enough() -> None:
    assert parse_bot_spec("cmd=./ernie") == BotSpec(name="ernie", command=("./ernie",))


@pytest.mark.parametrize("name", BUILT_IN)
def test_a_built_in_is_started_by_this_python(name: str) -> None:
    command = (sys.executable, "-m", "stellwerk_bots", name)
    assert parse_bot_spec(name) == BotSpec(name=name, command=command, built_in=name)


def test_a_built_in_takes_the_other_keys() -> None:
    spec = parse_bot_spec("greedy name=first transport=stdio env.A=")
    assert (spec.name, spec.transport, spec.environment) == ("first", "stdio", {"A": ""})
    assert spec.command == parse_bot_spec("greedy").command


@pytest.mark.parametrize(
    ("command", "name"),
    [
        ("./ernie.py", "ernie"),
        ("/opt/bots/Bert", "Bert"),
        ("'my bot.sh'", "my-bot"),
        ("./.hidden", "hidden"),
        ("'???'", "bot"),
        ("x" * 50, "x" * LONGEST_NAME),
        ("./bot weights.py", "bot"),
        ("/usr/bin/python3.11 -u bots/my_bot.py policy.npz", "my_bot"),
        ("python3 -m my_bot.main", "my_bot.main"),
        ("java -jar build/bot.jar", "bot"),
        ("python3 -", "python3"),
    ],
)
def test_a_bot_without_a_name_is_called_after_its_program_or_script(command: str, name: str) -> None:
    assert parse_bot_spec(f'cmd="{command}"').name == name


def test_names_are_unique_at_a_table() -> None:
    assert names("greedy", "greedy", "random", "greedy") == ["greedy", "greedy-2", "random", "greedy-3"]


def test_names_that_differ_in_case_only_are_the_same() -> None:
    assert names("name=Ernie cmd=a", "name=ernie cmd=b") == ["Ernie", "ernie-2"]


def test_a_name_made_unique_can_be_taken_already() -> None:
    assert names("name=greedy-2 cmd=a", "greedy", "greedy") == ["greedy-2", "greedy", "greedy-3"]


def test_a_name_made_unique_is_still_a_name() -> None:
    long = "x" * LONGEST_NAME
    assert names(f"name={long} cmd=a", f"name={long} cmd=b") == [long, "x" * (LONGEST_NAME - 2) + "-2"]


@pytest.mark.parametrize(
    ("text", "place", "expected"),
    [
        ("", "empty", 'cmd="..."'),
        ("gredy", "word 1", 'did you mean "greedy"?'),
        ("greedy cmd=a", "word 2", "built-in"),
        ("cmd=a nmae=b", "word 2", 'did you mean "name"?'),
        ("name=a", "cmd is missing", "built-in"),
        ("cmd=python3 bot.py", "word 2", "in quotes"),
        ("cmd=a cmd=b", "word 2", "twice"),
        ("cmd=a env.A=1 env.A=2", "word 3", "twice"),
        ("cmd=a name=", "word 2", "1 to 32"),
        ("cmd=a name=-x", "word 2", "letter or digit"),
        ("cmd=a name=" + "x" * 33, "word 2", "1 to 32"),
        ("cmd=a transport=udp", "word 2", "tcp or stdio"),
        ("cmd=a dir=", "word 2", "a folder"),
        ("cmd=", "word 1", "a program"),
        ("cmd=\"''\"", "word 1: cmd", "a program"),
        ('cmd="python3 \'bot.py"', "word 1: cmd", "no closing quotation"),
        ("cmd='python3", "the spec", "no closing quotation"),
        ("cmd=a env.=1", "word 2: env.:", "the name of a variable"),
        ("cmd=a env.1A=1", "word 2: env.1A:", "the name of a variable"),
        ("cmd=a env.STELLWERK_TOKEN=1", "word 2", "STELLWERK_TOKEN"),
        ("cmd=a\0b", "the spec", "null"),
        ("cmd=a \x1b[2Jx", "word 2", "KEY=VALUE"),
    ],
)
def test_a_wrong_spec_is_refused_with_its_place_and_what_was_expected(
    text: str, place: str, expected: str
) -> None:
    message = refusal(text)
    assert message.startswith(place)
    assert expected in message


def test_what_stellwerk_does_not_set_can_be_set_though_its_name_begins_alike() -> None:
    spec = parse_bot_spec("searcher env.STELLWERK_BOT_BUDGET=500ms")
    assert spec.environment == {"STELLWERK_BOT_BUDGET": "500ms"}


@given(st.text(alphabet="abcmdniretvx.=_- '\"\\\0\x1b", max_size=40))
def test_any_text_is_a_spec_or_refused_in_one_line(text: str) -> None:
    message = ""
    try:
        command = parse_bot_spec(text).command
    except BotSpecError as error:
        message, command = str(error), ()
    assert message.isprintable()
    assert bool(message) is not bool(command)
