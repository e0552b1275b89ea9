"""No module knows a game by its name: it asks for the game's parts (`protocol/PARTS.md`), in Python as in
JavaScript. The rule sets themselves are the exception.

A game that a tournament invents is judged and shown like a shipped one only as long as this holds.
"""

from __future__ import annotations

import ast
import re
from pathlib import Path
from typing import Final

import pytest

from stellwerk_engine.games.shipped import RULE_SETS

REPOSITORY: Final = Path(__file__).resolve().parents[2]
MODULES: Final = sorted(
    file
    for root in ("protocol", "server")
    for file in (REPOSITORY / root).rglob("*.mjs")
    if not file.name.endswith((".test.mjs", ".json.mjs"))  # tests, and the generated list
)
COMMENTS: Final = re.compile(r"^\s*//.*$|/\*.*?\*/|\s//\s.*$", re.MULTILINE | re.DOTALL)
NAMES: Final = sorted({*RULE_SETS, *(option.id for rules in RULE_SETS.values() for option in rules.options)})
A_NAME: Final = re.compile(rf"""["'`](?:{"|".join(NAMES)})["'`]|[{{,]\s*(?:{"|".join(NAMES)})\s*:""")


def names_in(source: str) -> list[str]:
    """Return the names of games and of options that stand in the code as a text or as a key."""
    return A_NAME.findall(COMMENTS.sub("", source))


def test_no_module_compares_with_or_lists_the_name_of_a_game() -> None:
    assert len(MODULES) > 50
    found = {str(module): names_in(module.read_text("utf-8")) for module in MODULES}
    assert {module: names for module, names in found.items() if names} == {}


@pytest.mark.parametrize(
    "source", ['start.game === "europe"', "const TRACKS = { usa: 1 };", "x.includes('open_stacks')"]
)
def test_a_name_in_the_code_is_found(source: str) -> None:
    assert len(names_in(source)) == 1
    assert names_in(f"// {source}\n/** {source} */\nnext(1); // {source}") == []


PYTHON: Final = sorted(
    file
    for root in ("server", "bots/python", "tournament", "protocol")
    for file in (REPOSITORY / root).rglob("*.py")
    if "stellwerk_engine/games" not in file.as_posix()
    and file.name != "rule_signs.py"  # how to recognize the rules of each page of rules
)


def names_asked_for(source: str) -> list[str]:
    """Return the names of games and options that Python code compares with, or has a table or a list of."""
    found: list[str] = []
    for node in ast.walk(ast.parse(source)):
        match node:
            case ast.Compare(left=left, comparators=others):
                asked = [left, *others]
            case ast.Dict(keys=keys):
                asked = [key for key in keys if key is not None]
            case ast.Tuple(elts=members) | ast.List(elts=members) | ast.Set(elts=members):
                asked = members
            case ast.MatchValue(value=value) | ast.Subscript(slice=value):
                asked = [value]
            case _:
                continue
        names = [each.value for each in asked if isinstance(each, ast.Constant) and each.value in NAMES]
        is_list = isinstance(node, ast.Tuple | ast.List | ast.Set)
        found += [str(name) for name in names if not is_list or len(names) > 1]
    return found


def test_no_python_compares_with_or_lists_the_name_of_a_game() -> None:
    assert len(PYTHON) > 300
    found = {str(module): names_asked_for(module.read_text("utf-8")) for module in PYTHON}
    assert {module: names for module, names in found.items() if names} == {}


@pytest.mark.parametrize(
    "source",
    ['game == "europe"', 'TRACKS = {"usa": 1}', 'ROUNDS = ("europe", "usa")', 'RULES["usa"]'],
)
def test_a_name_that_python_asks_for_is_found(source: str) -> None:
    assert names_asked_for(source)
    assert names_asked_for('play("usa")') == []
