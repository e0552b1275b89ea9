"""`stellwerk token`, and what a server makes of it."""

from __future__ import annotations

from pathlib import Path

import pytest

from stellwerk.command_line import run
from stellwerk.shared.errors import DONE, USAGE
from stellwerk_server.lobby.tokens import read_tokens


def test_the_line_lets_the_token_in(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["token", "alice", "--organizer"]) == DONE
    first, second = capsys.readouterr().out.splitlines()
    token = first.removeprefix("token for alice: ")
    path = tmp_path / "tokens"
    path.write_text(second.removeprefix("line for the file: ") + "\n", encoding="utf-8")
    holder = read_tokens(path).holder_of(token)
    assert holder is not None
    assert (holder.name, holder.is_organizer) == ("alice", True)
    assert token not in path.read_text(encoding="utf-8")


def test_two_tokens_differ(capsys: pytest.CaptureFixture[str]) -> None:
    run(["token", "bob"])
    run(["token", "bob"])
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] != lines[2]
    assert lines[1] != lines[3]


def test_a_name_that_no_player_can_have_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["token", "no blanks"]) == USAGE
    assert "expected up to 32 letters" in capsys.readouterr().err
