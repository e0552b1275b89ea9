"""`freeze` and `cores_per_bot` in `tournament.toml`."""

from __future__ import annotations

from hashlib import sha256
from pathlib import Path

import pytest

from stellwerk_tournament.config.resolved import expect_same, resolve
from stellwerk_tournament.config.settings import FILE, Settings, SettingsError, parse, settings_of
from stellwerk_tournament.config.versions import Versions

STARTED = '[[bots]]\nname = "ernie"\ncmd = "true"\n'
REUSED = '[[bots]]\nname = "bert"\ncmd = "true"\nprocess = "reused"\n'


def remote(name: str) -> str:
    return f'[[bots]]\nname = "{name}"\nremote = true\ntoken_sha256 = "{sha256(name.encode()).hexdigest()}"\n'


def read(folder: Path, head: str, *bots: str) -> Settings:
    (folder / FILE).write_text(head + '\n[[games]]\ngame = "usa"\n' + "".join(bots))
    return settings_of(parse(folder), folder)


def test_bots_are_not_frozen_and_have_no_cores_of_their_own_unless_the_file_says_so(tmp_path: Path) -> None:
    fair = read(tmp_path, "", STARTED, REUSED)
    assert not fair.freeze
    assert fair.cores_per_bot is None
    fair = read(tmp_path, "freeze = true\ncores_per_bot = 2", STARTED, remote("ann"))
    assert fair.freeze
    assert fair.cores_per_bot == 2


@pytest.mark.parametrize(
    ("head", "bots", "complaint"),
    [
        ("freeze = 1", (STARTED, REUSED), r":1: freeze: expected "),
        ("cores_per_bot = 0", (STARTED, REUSED), r":1: cores_per_bot: expected "),
        (
            "freeze = true",
            (remote("ann"), remote("bob")),
            r":1: freeze: no bot has a process on this machine",
        ),
        (
            "cores_per_bot = 1",
            (remote("ann"), '[[bots]]\nbuilt_in = "random"\n'),
            r":1: cores_per_bot: no bot has a process on this machine",
        ),
        (
            "cores_per_bot = 1",
            (STARTED, REUSED),
            r':10: bots\[2\]\.process: "reused" does not go with cores_per_bot: .* expected "fresh"',
        ),
    ],
)
def test_what_cannot_be_done_for_these_bots_is_refused(
    tmp_path: Path, head: str, bots: tuple[str, ...], complaint: str
) -> None:
    with pytest.raises(SettingsError, match=complaint):
        read(tmp_path, head, *bots)


def test_a_tournament_does_not_go_on_with_other_clocks(tmp_path: Path) -> None:
    before = resolve(read(tmp_path, "", STARTED, REUSED), tmp_path, Versions("1"))
    now = resolve(read(tmp_path, "freeze = true", STARTED, REUSED), tmp_path, Versions("1"))
    with pytest.raises(SettingsError, match="freeze was false, and is true now"):
        expect_same(before, now, tmp_path)
