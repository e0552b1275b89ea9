"""`resolved.json`, as later commands read it."""

from __future__ import annotations

import json
from pathlib import Path

from stellwerk_tournament.config.resolved import FILE, encode, read_resolved, resolve
from tests.tournament.report.report_tournaments import settings_for


def test_a_folder_that_says_more_of_its_bots_is_read(tmp_path: Path) -> None:
    """Folders begun before bots had versions list their files there."""
    resolved = resolve(settings_for(tmp_path, ["a", "b"]), tmp_path, "1")
    content = json.loads(encode(resolved))
    del content["sha256"]
    for bot in content["bots"]:
        bot["files"] = {}
    (tmp_path / FILE).write_text(json.dumps(content))
    assert read_resolved(tmp_path) == resolved
