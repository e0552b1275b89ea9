"""One browser for all tests of the match page: they name the group `match page`, and run in one worker."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests import tools
from tests.browser import Browser, started


@pytest.fixture(scope="session")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    with started(tools.browser(), tmp_path_factory.mktemp("profile")) as browser:
        yield browser
