"""`resolved.json`, as later commands read it."""

from __future__ import annotations

import json
from pathlib import Path

from msgspec.structs import replace

from stellwerk_tournament.config.resolved import FILE, encode, read_resolved, resolve
from stellwerk_tournament.config.versions import Versions
from tests.tournament.report.report_tournaments import settings_for


def test_a_folder_that_was_begun_before_bots_had_versions_is_read(tmp_path: Path) -> None:
    """It lists the files of its bots instead."""
    resolved = resolve(settings_for(tmp_path, ["a", "b"]), tmp_path, Versions("1"))
    content = json.loads(encode(resolved))
    del content["sha256"]
    for bot in content["bots"]:
        bot["files"] = {}
    (tmp_path / FILE).write_text(json.dumps(content))
    read = read_resolved(tmp_path)
    assert read is not None
    assert replace(read, bots=resolved.bots) == resolved
    assert [bot.files for bot in read.bots] == [{}, {}]
