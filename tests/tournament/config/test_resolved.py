"""`resolved.json`, as later commands read it."""

from __future__ import annotations

from pathlib import Path

import pytest

from stellwerk_tournament.config.resolved import FILE, encode, read_resolved, resolve
from stellwerk_tournament.config.settings import SettingsError
from stellwerk_tournament.config.versions import Versions
from tests.tournament.report.report_tournaments import settings_for


def test_a_file_that_was_changed_or_has_lost_its_seal_is_refused(tmp_path: Path) -> None:
    resolved = resolve(settings_for(tmp_path, ["a", "b"]), tmp_path, Versions("1"))
    content = encode(resolved)
    (tmp_path / FILE).write_bytes(content)
    assert read_resolved(tmp_path) == resolved
    unsealed = content[: content.index(b',\n  "sha256"')] + b"\n}\n"
    for changed in (content.replace(b'"usa"', b'"uk"'), unsealed, b""):
        assert changed != content
        (tmp_path / FILE).write_bytes(changed)
        with pytest.raises(SettingsError, match=r"is not what Stellwerk wrote there: its sha256 is another"):
            read_resolved(tmp_path)
