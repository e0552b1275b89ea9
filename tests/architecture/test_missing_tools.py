"""`make test` ends well whatever a machine lacks: tests that need it are skipped, and the end lists why.

`.ci/bare-machine` runs the whole suite with nothing but Python, make, git and the base system.
"""

from __future__ import annotations

import ast
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from stellwerk.bots.starters import BY_LANGUAGE
from tests import tools
from tests.command.program import REPOSITORY, SECONDS
from tests.tools import NEEDS, TOOLS, VARIABLE, needs

TESTS = REPOSITORY / "tests"
NEW = "#!/bin/sh\necho 99.0\n"  # what answers like this will do
OLD = "#!/bin/sh\necho 0.1\n"
OF_PYTHON = {"ensurepip", "Python headers"}  # wherever this Python is installed
PROGRAMS = sorted(name for name, need in TOOLS.items() if need.package and name not in OF_PYTHON)
LIBRARIES = {"C library": "stdio.h", "cJSON": "cJSON.h", "nlohmann-json": "json.hpp"}
LOOKS = {"which", "skip", "skipif", "importorskip"}
BY_ITSELF = {"shutil.which", "pytest.skip", "pytest.mark.skipif", "pytest.importorskip"}
COMPILED = {"cc": {"C library", "cJSON"}, "c++": {"nlohmann-json"}}


@pytest.fixture
def machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a folder, the whole PATH, that contains every tool."""
    for name in set(PROGRAMS) - set(LIBRARIES):
        put(tmp_path / name, NEW)
    monkeypatch.setenv("PATH", str(tmp_path))
    return tmp_path


def put(program: Path, script: str) -> None:
    program.write_text(script)
    program.chmod(0o755)


def missing() -> dict[str, str]:
    looked = {name: NEEDS[name].look() for name in PROGRAMS}
    return {name: words for name, words in looked.items() if words is not None}


def test_on_a_machine_that_has_every_tool_nothing_is_missing(machine: Path) -> None:
    assert missing() == {}


@pytest.mark.parametrize("name", sorted(set(PROGRAMS) - set(LIBRARIES)))
def test_a_tool_that_is_missing_alone_is_named(machine: Path, name: str) -> None:
    (machine / name).unlink()
    lacking = missing()
    assert lacking.keys() == {name} | COMPILED.get(name, set())
    assert lacking[name].split()[0] == name


@pytest.mark.parametrize("name", LIBRARIES)
def test_a_header_that_is_missing_alone_is_named(machine: Path, name: str) -> None:
    script = f'#!/bin/sh\ncase "$*" in *{LIBRARIES[name]}*) exit 1; esac\n'
    for compiler in COMPILED:
        put(machine / compiler, script)
    assert missing() == {name: name}


@pytest.mark.parametrize("name", ["bash", "cargo", "go", "javac", "node"])
def test_a_tool_that_is_too_old_is_missing(machine: Path, name: str) -> None:
    put(machine / name, OLD)
    lacking = missing()
    assert lacking.keys() == {name}
    assert lacking[name].endswith(" (0.1 is there)")


def test_python_without_ensurepip_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    assert NEEDS["ensurepip"].look() is None
    nothing: dict[str, object] = {}
    monkeypatch.setattr("tests.tools.find_spec", nothing.get)
    assert NEEDS["ensurepip"].look() == "Python's ensurepip"


def test_every_tool_that_a_starter_needs_is_a_need() -> None:
    for language in BY_LANGUAGE:
        assert set(tools.of_starter(language)) <= TOOLS.keys()


def test_a_need_that_is_in_no_table_is_refused() -> None:
    with pytest.raises(AssertionError, match="nodejs"):
        needs("nodejs")


# -- a run of pytest ---------------------------------------------------------------------------------

SUITE = """
import pytest
from stellwerk.bots.starters import BY_LANGUAGE
from tests import tools

tools.CIRCUMSTANCES["rain"] = tools.NEEDS["rain"] = tools.Need(lambda: "rain today")

@tools.needs("node")
def test_one(): pass

@pytest.fixture(scope="module")
def compiled():
    tools.demand("node", "cargo")

def test_two(compiled): pass

@pytest.mark.xdist_group("tools")
def test_three(compiled): pass

@tools.needs("rain")
def test_four(): pass

def test_five():
    tools.go_without("what cargo fetches")

def test_six(): pass
"""


def run(folder: Path, *words: str, **variables: str) -> tuple[int, str]:
    """Run pytest over the small suite on a machine without programs."""
    file = folder / "test_small.py"
    file.write_text(SUITE)
    (folder / "no programs").mkdir(exist_ok=True)
    options = ["-p", "tests.conftest", "-p", "no:cacheprovider", "-c", str(REPOSITORY / "pyproject.toml")]
    inherited = {name: text for name, text in os.environ.items() if not name.startswith(("PYTEST", VARIABLE))}
    done = subprocess.run(
        [sys.executable, "-m", "pytest", *options, f"--rootdir={folder}", str(file), *words],
        cwd=REPOSITORY,
        env=inherited | {"PATH": str(folder / "no programs")} | variables,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=SECONDS,
        check=False,
    )
    return done.returncode, done.stdout


@pytest.mark.parametrize("workers", ["0", "2"])
def test_what_is_missing_is_listed_with_its_package_and_a_second_run_takes_what_was_skipped(
    tmp_path: Path, workers: str
) -> None:
    skipped = tmp_path / "skipped.txt"
    code, output = run(tmp_path, "-n", workers, "--dist=loadgroup", f"--skipped-to={skipped}")
    assert code == 0, output
    section = output.partition(" missing on this machine, and how many tests were skipped for it ")[2]
    _, *lines, last = filter(None, section.splitlines())
    assert lines == [
        "    3  node 18.3 (Debian: nodejs)",
        "    2  cargo 1.86 (Debian: cargo)",
        "    1  rain today",
        "    1  what cargo fetches",
    ]
    assert "1 passed, 5 skipped" in last
    names = {line.rpartition("::")[2].removesuffix("@tools") for line in skipped.read_text().splitlines()}
    assert names == {"test_one", "test_two", "test_three", "test_four", "test_five"}
    code, output = run(
        tmp_path, "-n", workers, "--dist=loadgroup", f"--only-in={skipped}", STELLWERK_ALL_TOOLS="1"
    )
    assert code == 1
    assert re.search("1 failed, 1 skipped, (1 deselected, )?3 errors", output.splitlines()[-1])  # by rain


@pytest.mark.parametrize("workers", ["0", "2"])
def test_a_list_of_tests_with_one_that_does_not_exist_is_refused(tmp_path: Path, workers: str) -> None:
    listed = tmp_path / "listed.txt"
    listed.write_text("test_small.py::test_one\ntest_small.py::test_gone\n")
    code, output = run(tmp_path, "-n", workers, f"--only-in={listed}")
    assert code != 0
    assert "no tests ran" in output
    assert workers != "0" or "1 of these tests do not exist, such as test_small.py::test_gone" in output


def test_where_all_tools_are_demanded_a_missing_one_is_a_failure(tmp_path: Path) -> None:
    """What nobody can install is not."""
    code, output = run(tmp_path, "-n", "0", **{VARIABLE: "1"})
    assert code == 1
    assert "missing: node 18.3 (Debian: nodejs); cargo 1.86 (Debian: cargo)" in output
    assert re.search(r"1 failed, 1 passed, 1 skipped, 3 errors", output)


def test_no_test_looks_for_tools_by_itself() -> None:
    """One place knows how, and says what is missing."""
    look_ups = [
        f"{file.relative_to(TESTS)}:{node.lineno}: {ast.unparse(node)}"
        for file in TESTS.rglob("*.py")
        if file.name != "tools.py"
        for node in ast.walk(ast.parse(file.read_text("utf-8")))
        if isinstance(node, ast.Attribute) and node.attr in LOOKS and ast.unparse(node) in BY_ITSELF
    ]
    assert look_ups == []
