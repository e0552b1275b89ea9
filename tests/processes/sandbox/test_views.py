"""What a bot may see: what its program needs, wherever that is, and nothing by accident."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Final

import pytest

from stellwerk_processes.bench.bubblewrap import call_of_bubblewrap
from stellwerk_processes.bench.views import is_beneath, system_paths, view_of
from tests.tools import needs

PYTHON: Final = sys.executable


def seen(
    *argv: str, path: str = os.defpath, folder: str | None = None, hidden: tuple[str, ...] = ()
) -> set[str]:
    view = view_of(argv, path, folder=folder, directory=None, built_in=False, hidden=hidden)
    return set(view.paths)


def program(path: Path, first_line: str = "#!/bin/sh") -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"{first_line}\n")
    path.chmod(0o755)
    return path


def test_the_folder_of_a_file_in_the_command_is_seen(tmp_path: Path) -> None:
    bot = program(tmp_path / "bots" / "ann.py")
    assert str(tmp_path / "bots") in seen(PYTHON, str(bot))


def test_a_folder_in_the_command_is_not_seen_with_what_is_beside_it(tmp_path: Path) -> None:
    (tmp_path / "bots" / "weights").mkdir(parents=True)
    assert str(tmp_path / "bots") not in seen(PYTHON, "-m", "bot", str(tmp_path / "bots" / "weights"))


def test_a_program_sees_the_folder_that_it_is_in_unless_that_has_all_kinds_of_programs(
    tmp_path: Path,
) -> None:
    bot, installed = program(tmp_path / "bots" / "ann"), program(tmp_path / "bin" / "ann")
    assert str(tmp_path / "bots") in seen(str(bot), "greedy")
    found = seen(str(installed), "greedy")
    assert str(installed) in found
    assert str(tmp_path / "bin") not in found


def test_a_folder_of_its_own_is_all_that_a_bot_sees_of_its_neighbors(tmp_path: Path) -> None:
    bot = program(tmp_path / "bots" / "ann" / "main.py")
    found = seen(PYTHON, str(bot), folder=str(tmp_path / "bots" / "ann"))
    assert str(tmp_path / "bots" / "ann") in found
    assert not is_beneath(str(tmp_path / "bots" / "bert"), found)


def test_a_file_beside_the_secrets_of_the_tournament_is_seen_alone(tmp_path: Path) -> None:
    bot = program(tmp_path / "ann.py")
    found = seen(PYTHON, str(bot), hidden=(str(tmp_path),))
    assert str(bot) in found
    assert not is_beneath(str(tmp_path / "state.sqlite"), found)


def test_a_home_is_never_seen(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    bot = program(tmp_path / "ann.py")
    (tmp_path / "lib").mkdir()
    tool = program(tmp_path / "bin" / "tool")
    found = seen(str(tool), str(bot))
    assert {str(bot), str(tool)} <= found
    assert not is_beneath(str(tmp_path / ".ssh"), found)


def test_a_folder_that_leads_to_the_home_is_not_seen_either(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path / "people" / "ann"))
    bot = program(tmp_path / "bot.py")
    assert not is_beneath(str(tmp_path / "people"), seen(PYTHON, str(bot)))


def test_a_virtual_environment_is_seen_with_the_python_that_it_was_made_of(tmp_path: Path) -> None:
    base = program(tmp_path / "pythons" / "3.11" / "bin" / "python3")
    (tmp_path / "pythons" / "3.11" / "lib").mkdir()
    environment = tmp_path / "somewhere" / "venv"
    (environment / "bin").mkdir(parents=True)
    (environment / "bin" / "python").symlink_to(base)
    (environment / "pyvenv.cfg").write_text(f"home = {base.parent}\nversion = 3.11\n")
    found = seen(str(environment / "bin" / "python"))
    assert {str(environment), str(tmp_path / "pythons" / "3.11")} <= found


def test_packages_that_an_environment_only_names_are_seen(tmp_path: Path) -> None:
    environment = tmp_path / "venv"
    program(environment / "bin" / "python")
    (environment / "pyvenv.cfg").touch()
    (tmp_path / "mine").mkdir()
    packages = environment / "lib" / "python3.11" / "site-packages"
    packages.mkdir(parents=True)
    (packages / "mine.pth").write_text(f"{tmp_path / 'mine'}\nimport os\n")
    assert str(tmp_path / "mine") in seen(str(environment / "bin" / "python"))


def test_the_interpreter_of_a_script_is_seen_with_its_libraries(tmp_path: Path) -> None:
    """As with nvm: the program is a link, and its script names `node` by `env`."""
    node = program(tmp_path / "node" / "v20" / "bin" / "node")
    (tmp_path / "node" / "v20" / "lib").mkdir()
    script = program(tmp_path / "bots" / "ann.js", "#!/usr/bin/env -S node --no-warnings")
    found = seen(str(script), path=f"{node.parent}:{os.defpath}")
    assert {str(script), str(tmp_path / "node" / "v20")} <= found


def test_a_shim_is_seen_with_all_that_it_chooses_from(tmp_path: Path) -> None:
    shim = program(tmp_path / "pyenv" / "shims" / "python3")
    assert str(tmp_path / "pyenv") in seen("python3", path=f"{shim.parent}:{os.defpath}")


@needs("bwrap", "namespaces")
def test_a_link_at_the_root_and_folders_in_folders_can_be_shown_together(tmp_path: Path) -> None:
    """Each mount needs its place, and none may hide another one."""
    (tmp_path / "a" / "b").mkdir(parents=True)
    (tmp_path / "a" / "b" / "file").write_text("found")
    paths = [*system_paths(network=False, users=False), str(tmp_path / "a"), str(tmp_path / "a" / "b")]
    descriptors: list[int] = []

    def opened(path: str) -> int:
        descriptors.append(os.open(path, os.O_RDONLY))
        return descriptors[-1]

    call = call_of_bubblewrap(
        paths, is_root=os.geteuid() == 0, network=False, disk_mb=16, files=(), opened=opened
    )
    done = subprocess.run(
        [*call, "/bin/cat", str(tmp_path / "a" / "b" / "file")],
        capture_output=True,
        text=True,
        check=False,
        pass_fds=descriptors,
    )
    for number in descriptors:
        os.close(number)
    assert (done.stdout, done.stderr) == ("found", "")


def test_the_supervisor_imports_nothing_that_takes_long() -> None:
    """It is started as often as bots are: `typing` alone takes longer than all the rest."""
    slow = (
        "typing",
        "enum",
        "contextlib",
        "socket",
        "signal",
        "json",
        "collections",
        "re",
        "trio",
        "msgspec",
    )
    source = (
        "import sys; before = set(sys.modules);"
        f"sys.path.insert(0, {str(Path(__file__).parents[3] / 'server')!r});"
        "from stellwerk_processes.bench import supervise;"
        "print(*set(sys.modules) - before)"
    )
    done = subprocess.run([PYTHON, "-I", "-S", "-c", source], capture_output=True, text=True, check=True)
    assert not set(done.stdout.split()) & set(slow)
