"""`stellwerk protocol` says where the specification is, and prints schemas.

`tests/architecture/test_wheel.py` asks an installed one.
"""

from __future__ import annotations

import json
import re

import pytest

from stellwerk.__main__ import main
from stellwerk.protocol.command import CONTENT
from stellwerk_protocol.schemas import bundle, definition_names
from tests.command.program import REPOSITORY

FOLDER = REPOSITORY / "protocol"


def test_it_lists_everything_that_is_there_below_the_folder(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["protocol"]) == 0
    head, *rows = capsys.readouterr().out.splitlines()
    assert head == str(FOLDER)
    assert [row.split()[0] for row in rows] == list(CONTENT)
    listed = {name.split("/")[0] for name in CONTENT}
    assert listed == {path.name for path in FOLDER.iterdir()} - {
        "stellwerk_base",
        "stellwerk_protocol",
        "tools",
        "__pycache__",
    }


def test_the_schema_without_a_name_is_the_file_of_the_repository(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["protocol", "schema"]) == 0
    assert capsys.readouterr().out == (FOLDER / "schema" / "v1.schema.json").read_text("utf-8")


def test_each_message_and_each_definition_has_a_schema_that_needs_no_other_file(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = bundle()
    monkeypatch.setattr("stellwerk.protocol.command.bundle", lambda: whole)  # made once, not for each name
    for name, definition in definition_names(whole).items():
        assert main(["protocol", "schema", name]) == 0
        printed = capsys.readouterr().out
        schema = json.loads(printed)
        inside = schema.pop("$defs", {})
        assert schema.pop("$schema") == whole["$schema"]
        assert schema.pop("$id") == f"stellwerk/v1/{definition}"
        assert schema == whole["$defs"][definition]
        assert {*re.findall(r'"#/\$defs/(\w+)"', printed)} <= {*inside}
        assert inside.items() <= whole["$defs"].items()


@pytest.mark.parametrize(
    ("name", "hint"),
    [("aks", '; did you mean "ask"?'), ("Veiw", '; did you mean "View"?'), ("\x1b[2J", "")],
)
def test_an_unknown_name_is_refused_with_the_nearest_one(
    name: str, hint: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["protocol", "schema", name]) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    quoted = json.dumps(name)
    assert captured.err == f"stellwerk: there is no message or definition {quoted}{hint}\n"
