"""The files of a bot that travel, and their form."""

from __future__ import annotations

import io
import tarfile
from pathlib import Path

import pytest

from stellwerk_processes.bot_spec import BotSpec
from stellwerk_tournament.blocks.archives import Archives, pack
from stellwerk_tournament.config.settings import BotTable


def members(content: bytes) -> dict[str, tarfile.TarInfo]:
    with tarfile.open(fileobj=io.BytesIO(content), mode="r:gz") as archive:
        return {member.name: member for member in archive.getmembers()}


@pytest.fixture
def bot(tmp_path: Path) -> Path:
    """Make a program with a file beside it."""
    folder = tmp_path / "ann"
    folder.mkdir()
    (folder / "main.py").write_text("print()")
    (folder / "weights.txt").write_text("heavy")
    return folder


def test_a_program_travels_with_its_folder(tmp_path: Path, bot: Path) -> None:
    spec = BotSpec("ann", ("python3", str(bot / "main.py")))
    table, [packed] = Archives(tmp_path / "cup").travelling(spec, BotTable())
    assert sorted(members(packed.content)) == ["main.py", "weights.txt"]
    assert packed.place == f"bots/{packed.name}"
    assert table.cmd == f"python3 {packed.place}/main.py"


def test_a_program_in_a_folder_that_holds_more_than_a_bot_travels_alone(bot: Path) -> None:
    """Such as that of the tournament."""
    spec = BotSpec("ann", ("python3", str(bot / "main.py")))
    table, [packed] = Archives(bot).travelling(spec, BotTable())
    assert list(members(packed.content)) == ["main.py"]
    assert table.cmd == f"python3 bots/{packed.name}/main.py"


@pytest.mark.parametrize(
    ("mode", "expected"), [(0o700, 0o755), (0o100, 0o755), (0o644, 0o644), (0o610, 0o644)]
)
def test_everybody_may_read_what_travels_and_run_what_its_owner_may(
    bot: Path, mode: int, expected: int
) -> None:
    """Bots may run as users of their own. Equal files make equal archives, whatever their other bits."""
    (bot / "data").mkdir(mode=0o700)
    (bot / "main.py").chmod(mode | 0o400)
    (bot / "weights.txt").chmod(0o640)
    modes = {name: member.mode for name, member in members(pack(str(bot))).items()}
    assert modes == {"data": 0o755, "main.py": expected, "weights.txt": 0o644}
