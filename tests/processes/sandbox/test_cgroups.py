"""Control groups of bots: made with their limits, removed, and nothing of a killed runner stays for ever."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Final

from stellwerk_processes.sandbox.cgroups import make_cgroup, remove_cgroup
from tests.tools import needs

pytestmark = needs("control groups")

KILLED: Final = """
import os, signal, sys
sys.path[:0] = {path!r}
from stellwerk_processes.sandbox.cgroups import make_cgroup
print(*make_cgroup(64, 16).folders, flush=True)
os.kill(os.getpid(), signal.SIGKILL)
"""
NEXT: Final = """
import sys
sys.path[:0] = {path!r}
from stellwerk_processes.sandbox.cgroups import make_cgroup, remove_cgroup
remove_cgroup(make_cgroup(64, 16))
"""


def printed(program: str) -> str:
    command = [sys.executable, "-c", program.format(path=sys.path)]
    return subprocess.run(command, stdout=subprocess.PIPE, text=True, check=False).stdout


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


def test_the_groups_of_a_runner_that_was_killed_are_removed_by_the_next_one() -> None:
    folders = printed(KILLED).split()
    assert all(map(os.path.isdir, folders))
    assert len(folders) >= 1
    printed(NEXT)
    assert not any(map(os.path.exists, folders))
