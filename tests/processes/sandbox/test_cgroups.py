"""Control groups of bots: made with their limits, removed, and nothing of a killed runner stays for ever."""

from __future__ import annotations

import errno
import os
import subprocess
import sys
from pathlib import Path
from typing import Final

import pytest

from stellwerk_processes.bench import cgroups
from stellwerk_processes.bench.cgroups import make_cgroup, remove_cgroup
from tests.tools import needs

KILLED: Final = """
import os, signal, sys
sys.path[:0] = {path!r}
from stellwerk_processes.bench.cgroups import make_cgroup
print(*make_cgroup(64, 16).folders, flush=True)
os.kill(os.getpid(), signal.SIGKILL)
"""
NEXT: Final = """
import sys
sys.path[:0] = {path!r}
from stellwerk_processes.bench.cgroups import make_cgroup, remove_cgroup
remove_cgroup(make_cgroup(64, 16))
"""


def printed(program: str) -> str:
    command = [sys.executable, "-c", program.format(path=sys.path)]
    return subprocess.run(command, stdout=subprocess.PIPE, text=True, check=False).stdout


@needs("control groups")
def test_a_group_has_its_limits_and_is_removed() -> None:
    cgroup = make_cgroup(64, 16)
    try:
        limits = [
            Path(folder, name).read_text().strip()
            for folder in cgroup.folders
            for name in ("pids.max", "memory.max", "memory.limit_in_bytes")
            if Path(folder, name).exists()
        ]
        assert sorted(limits) == ["16", str(64 * 1024 * 1024)]
    finally:
        remove_cgroup(cgroup)
    assert not any(map(os.path.exists, cgroup.folders))


@needs("control groups")
def test_the_groups_of_a_runner_that_was_killed_are_removed_by_the_next_one() -> None:
    folders = printed(KILLED).split()
    assert all(map(os.path.isdir, folders))
    assert len(folders) >= 1
    printed(NEXT)
    assert not any(map(os.path.exists, folders))


# -- a delegated group of version 2 --------------------------------------------------------------------


class Delegated:
    """A group of version 2 that is delegated to this process, as the kernel behaves: a group with processes
    has no controllers for its children."""

    def __init__(self, folder: Path, patch: pytest.MonkeyPatch) -> None:
        self.folder, self.own = folder, folder
        (folder / "cgroup.controllers").write_text("cpu memory pids")
        patch.setattr(cgroups, "_read_text", self.read)
        patch.setattr(cgroups, "_write_file", self.write)
        patch.setattr(os, "geteuid", lambda: 1000)

    def read(self, path: str) -> str:
        if path == "/proc/self/cgroup":
            return f"0::/{self.own.relative_to(self.folder.parent)}\n"
        if path == "/proc/self/mountinfo":
            return f"30 20 0:26 / {self.folder.parent} rw - cgroup2 cgroup2 rw\n"
        return Path(path).read_text() if Path(path).exists() else ""

    def write(self, folder: str, name: str, value: str) -> None:
        if name == "cgroup.procs":
            self.own = Path(folder)
        elif name == "cgroup.subtree_control":
            if self.own == Path(folder):
                raise OSError(errno.EBUSY, os.strerror(errno.EBUSY))
            value = value.replace("+", "")
        (Path(folder) / name).write_text(value)


def test_all_bots_get_groups_beside_that_of_the_runner(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    group = tmp_path / "scope"
    group.mkdir()
    kernel = Delegated(group, monkeypatch)
    made = [make_cgroup(64, 16) for _ in range(3)]
    assert kernel.own == group / f"stellwerk-{os.getpid()}"
    for cgroup in made:
        assert cgroup.version == 2
        assert Path(cgroup.folders[0]).parent == group
        assert Path(cgroup.folders[0], "memory.max").read_text() == str(64 * 1024 * 1024)
        assert Path(cgroup.folders[0], "pids.max").read_text() == "16"
