"""What tests of several files here share."""

from __future__ import annotations

import pytest

from tests.server import serving


@pytest.fixture(params=[pytest.param(10**9, id="own reader"), pytest.param(0, id="shared reader")])
def every_reader(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let a test run twice: each connection is read by its own task, or all of them by one."""
    monkeypatch.setattr(serving, "few_connections", request.param)
