"""Editors and type checkers know the messages: they complain of what a message does not have, and of nothing
else."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Final

from tests.bots.pages import REPOSITORY
from tests.tools import needs

FOLDER: Final = REPOSITORY / "bots" / "python"
SECONDS: Final = 300  # far more than a check takes: a test that hangs fails

RIGHT: Final = """\
from stellwerk_bots.bot import Answer
from stellwerk_bots.messages import Ask, Start
from stellwerk_bots.reading import own_view


class Mine:
    def __init__(self, start: Start, seed_text: str) -> None:
        self.points = {ticket["id"]: ticket["points"] for ticket in start["board"]["tickets"]}

    def answer(self, ask: Ask) -> Answer:
        held = own_view(ask["view"])["hand"]
        for index, move in enumerate(ask["legal"]):
            match move["type"]:
                case "take_card":
                    if held.get(move["card"], 0) > 2:
                        return {"index": index, "note": move["card"]}
                case "claim_route":
                    return {"move": {"type": "claim_route", "route": move["route"], "cards": {"red": 1}}}
                case _:
                    pass
        return {"index": 0}
"""


def pyright(folder: Path) -> list[tuple[str, int, str, str]]:
    """Return the complaints: file, line, rule, and the last line of the text."""
    command = [sys.executable, "-m", "pyright", "--outputjson", "--pythonpath", sys.executable, "."]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False, timeout=SECONDS)
    return [
        (Path(each["file"]).name, each["range"]["start"]["line"] + 1, each["rule"], each["message"])
        for each in json.loads(done.stdout)["generalDiagnostics"]
    ]


@needs("pyright")
def test_pyright_complains_of_a_wrong_field_of_an_ask_and_of_an_answer(tmp_path: Path) -> None:
    wrong = RIGHT.replace('own_view(ask["view"])', 'own_view(ask["vieww"])')
    wrong = wrong.replace('        return {"index": 0}', '        return {"indx": 0}')
    (tmp_path / "wrong.py").write_text(wrong)
    (tmp_path / "right.py").write_text(RIGHT)
    [field, answer] = pyright(tmp_path)
    assert field[:3] == ("wrong.py", 11, "reportGeneralTypeIssues")
    assert '"vieww" is not a defined key in "Ask"' in field[3]
    assert answer[:3] == ("wrong.py", 21, "reportReturnType")
    assert '"dict[str, int]" is not assignable to "IndexAnswer"' in answer[3]


@needs("pyright")
def test_pyright_has_no_complaint_of_the_bots_of_our_pages(tmp_path: Path) -> None:
    """The card game has no routes: even so a bot for maps needs no more than `get`."""
    (tmp_path / "bot.py").write_bytes((FOLDER / "starter" / "bot.py").read_bytes())
    for page in ("README.md", "TUTORIAL.md", "SEARCH.md"):
        blocks = re.findall(r"^```python\n(.*?)^```$", (FOLDER / page).read_text(), re.DOTALL | re.MULTILINE)
        bots = [block for block in blocks if "def answer(" in block]
        assert bots
        for number, block in enumerate(bots):
            assert "ask: Ask" in block
            (tmp_path / f"{page.removesuffix('.md').lower()}_{number}.py").write_text(block)
    assert pyright(tmp_path) == []


@needs("mypy")
def test_mypy_complains_of_the_same(tmp_path: Path) -> None:
    wrong = RIGHT.replace('own_view(ask["view"])', 'own_view(ask["vieww"])')
    wrong = wrong.replace('        return {"index": 0}', '        return {"indx": 0}')
    (tmp_path / "wrong.py").write_text(wrong)
    (tmp_path / "right.py").write_text(RIGHT)
    command = [sys.executable, "-m", "mypy", "--strict", "--no-error-summary", "right.py", "wrong.py"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False, timeout=SECONDS)
    assert done.stdout.splitlines() == [
        'wrong.py:11: error: TypedDict "Ask" has no key "vieww"  [typeddict-item]',
        'wrong.py:11: note: Did you mean "view"?',
        'wrong.py:21: error: Incompatible return value type (got "dict[str, int]", expected '
        '"IndexAnswer | MoveAnswer")  [return-value]',
    ]
