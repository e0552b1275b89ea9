"""The tutorials do what they say. `make tutorials` also lets the comparisons in them decide."""

from __future__ import annotations

from pathlib import Path
from typing import Final

import pytest

from tests.bots.pages import PAGES, carry_out

SHORTER: Final = {
    "matches=20": "matches=2",
    "--seed tutorial": "--seed tutorial --most 1 --jobs 1",
    "usa-tutorial-46": "usa-tutorial-0",  # of the one deal that is played
    "kit doctor": "kit doctor --steps first-ask,in-time,match",
    "DEALS = 8": "DEALS = 2",
    "GAMES = 1000": "GAMES = 2",
    "rounds = 8": "rounds = 1",
}


@pytest.mark.parametrize("page", PAGES)
def test_the_code_of_a_page_runs(page: str, tmp_path: Path) -> None:
    carry_out(page, tmp_path, SHORTER)


@pytest.mark.parametrize(
    ("block", "problem"),
    [
        ("```python\nprint(1)\n```", "this file has no name"),
        ("```sh\npython3 -c 'print(1)'\n```\n\n```\n2\n```", "expected\n2\n\nfound\n1\n"),
        ("```sh\npython3 -c 'exit(1)'\n```", "exit(1)"),
    ],
)
def test_a_page_that_is_wrong_is_found(
    block: str, problem: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "bots" / "python").mkdir(parents=True)
    (tmp_path / "bots" / "python" / "PAGE.md").write_text(block)
    monkeypatch.setattr("tests.bots.pages.REPOSITORY", tmp_path)
    with pytest.raises(AssertionError) as raised:
        carry_out("PAGE.md", tmp_path, {})
    assert problem in str(raised.value)
