"""`stellwerk protocol` says where the specification is; test_wheel.py asks an installed one."""

from __future__ import annotations

import pytest

from stellwerk.__main__ import main
from stellwerk.protocol.command import CONTENT
from tests.command.program import REPOSITORY

FOLDER = REPOSITORY / "protocol"


def test_it_names_the_folder_alone_for_a_shell(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["protocol", "--path"]) == 0
    assert capsys.readouterr().out == f"{FOLDER}\n"


def test_it_lists_everything_that_is_there(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["protocol"]) == 0
    head, *rows = capsys.readouterr().out.splitlines()
    assert head == f"{FOLDER}:"
    assert [row.split()[0] for row in rows] == list(CONTENT)
    listed = {name.split("/")[0] for name in CONTENT}
    assert listed == {path.name for path in FOLDER.iterdir()} - {"stellwerk_protocol", "tools", "__pycache__"}
