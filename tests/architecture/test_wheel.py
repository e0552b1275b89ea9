"""The wheel is the whole program: in an empty environment, far from the repository, its command works.

A checkout hides what a wheel forgets: a package that nobody listed, a board that is not package data, a
dependency that only the tests declare. So these tests install what a user installs, and nothing else.
"""

import os
import subprocess
import tomllib
import zipfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from stellwerk.bots.starters import BY_LANGUAGE, copy_starter
from stellwerk_engine.games.shipped import RULE_SETS
from stellwerk_page.one_file import page_of
from tests.environments import make_environment
from tests.tools import needs

REPOSITORY = Path(__file__).resolve().parents[2]

# One worker builds and installs for all; the package index serves hatchling and the dependencies.
pytestmark = [pytest.mark.network, pytest.mark.xdist_group("wheel"), needs("ensurepip", "package index")]


@dataclass(frozen=True)
class Installed:
    """A wheel, and an environment that holds it and its dependencies and nothing more."""

    wheel: Path
    environment: Path
    elsewhere: Path

    def stellwerk(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        return self._run("stellwerk", *arguments)

    def python(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        return self._run("python", *arguments)

    def _run(self, program: str, *arguments: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [self.environment / "bin" / program, *arguments],
            cwd=self.elsewhere,
            env=clean_environment(),
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )


def project_file() -> dict[str, Any]:  # Any: that is how a TOML document is read
    return tomllib.loads((REPOSITORY / "pyproject.toml").read_text("utf-8"))


def clean_environment() -> dict[str, str]:
    """Return the environment without the variables that could lead Python back to the repository."""
    return {
        name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "VIRTUAL_ENV"))
    }


def pip(python: Path, *arguments: str) -> None:
    command = [str(python), "-m", "pip", "--quiet", "--disable-pip-version-check", *arguments]
    done = subprocess.run(
        command,
        cwd=python.parent,
        env=clean_environment(),
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Installed:
    environment = tmp_path_factory.mktemp("environment")
    wheels = tmp_path_factory.mktemp("wheels")
    python = make_environment(environment)
    pip(python, "wheel", "--no-deps", "--wheel-dir", str(wheels), str(REPOSITORY))
    [wheel] = wheels.iterdir()
    pip(python, "install", str(wheel))
    return Installed(wheel, environment, tmp_path_factory.mktemp("elsewhere"))


def test_the_wheel_holds_every_file_of_its_packages(installed: Installed) -> None:
    packages: list[str] = project_file()["tool"]["hatch"]["build"]["targets"]["wheel"]["packages"]
    sources = {
        path.relative_to(folder.parent).as_posix()
        for folder in (REPOSITORY / package for package in packages)
        for path in folder.rglob("*")
        if path.is_file() and path.parent.name != "__pycache__" and not path.name.startswith(".")
    }

    with zipfile.ZipFile(installed.wheel) as archive:
        packed = set(archive.namelist())

    assert sorted(sources - packed) == []
    assert any(name.startswith("stellwerk_engine/boards/") and name.endswith(".json") for name in packed)


def test_the_wheel_holds_the_whole_specification(installed: Installed) -> None:
    """Pages, schema, examples and vectors, where `stellwerk protocol` says."""
    done = installed.stellwerk("protocol")
    assert (done.returncode, done.stderr) == (0, "")
    folder = Path(done.stdout.splitlines()[0])
    assert folder.is_relative_to(installed.environment)
    elsewhere = {
        "stellwerk_base",
        "stellwerk_protocol",
        "tools",
        "__pycache__",
    }  # a package, and what is not installed
    for source in (REPOSITORY / "protocol").rglob("*"):
        name = source.relative_to(REPOSITORY / "protocol")
        if source.is_file() and elsewhere.isdisjoint(name.parts):
            assert (folder / name).read_bytes() == source.read_bytes(), name
    assert (folder / "schema" / "v1.schema.json").is_file()


def test_live_pages_of_a_wheel_have_every_module_that_they_import(installed: Installed) -> None:
    """Pages import modules of two other rooms, which a wheel has in other places than a checkout."""
    code = (
        "import posixpath, re\n"
        "from stellwerk_web.files import read_files\n"
        "files = read_files({'version': '1', 'protocol': '1'})\n"
        'find = re.compile(r\'^(?:import|export)\\b[^"]*?"(\\.[^"\\n]+)"\', re.MULTILINE)\n'
        "for path, file in files.modules.items():\n"
        "    for name in find.findall(file.body.decode()) if path.endswith('.mjs') else ():\n"
        "        target = posixpath.normpath(posixpath.join(posixpath.dirname(path), name))\n"
        "        assert target in files.modules, (path, name)\n"
        "print(len(files.modules), sorted(files.pages))\n"
    )
    done = installed.python("-c", code)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.endswith("['about', 'bot', 'match', 'overview', 'pair', 'wall']\n")


def test_an_installed_command_shows_live_pages_without_an_extra(installed: Installed) -> None:
    """It gets as far as its source: all that the pages are made by is there."""
    done = installed.stellwerk("watch", "nowhere-at-all")
    assert done.returncode == 2
    assert "nowhere-at-all" in done.stderr
    assert installed.python("-c", "import stellwerk_web.site").returncode == 0


def test_the_installed_command_tells_the_version_of_the_project(installed: Installed) -> None:
    done = installed.stellwerk("--version")

    assert (done.returncode, done.stderr) == (0, "")
    assert project_file()["project"]["version"] in done.stdout


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (("boards", "list"), tuple(RULE_SETS)),
        (("bots", "list"), ("python", "javascript", "go", "rust", "java", "cpp", "c", "shell")),
        (("kit", "codec", "--list"), ("encode-ping", "message-pong-largest", "many", "refused-null")),
    ],
    ids=lambda value: " ".join(value),
)
def test_an_installed_command_works_outside_the_repository(
    installed: Installed, arguments: tuple[str, ...], expected: tuple[str, ...]
) -> None:
    done = installed.stellwerk(*arguments)

    assert (done.returncode, done.stderr) == (0, "")
    for word in expected:
        assert word in done.stdout


@pytest.mark.parametrize("language", BY_LANGUAGE)
def test_a_starter_from_the_wheel_is_that_of_the_repository(
    installed: Installed, tmp_path: Path, language: str
) -> None:
    done = installed.stellwerk("bots", "new", language, str(tmp_path / "installed"))
    assert (done.returncode, done.stderr) == (0, "")
    copy_starter(BY_LANGUAGE[language], tmp_path / "own", "installed")
    assert contents(tmp_path / "installed") == contents(tmp_path / "own")


def contents(folder: Path) -> dict[str, bytes]:
    return {
        path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*") if path.is_file()
    }


def test_a_new_bot_plays_at_once_outside_the_repository(installed: Installed, tmp_path: Path) -> None:
    folder = tmp_path / "ernie"
    output = installed.stellwerk("bots", "new", "python", str(folder))
    assert (output.returncode, output.stderr) == (0, "")
    command = f"{installed.environment / 'bin' / 'python'} {folder / 'bot.py'}"
    bots = [f"name=ernie cmd='{command}'", f"name=bert cmd='{command}' transport=stdio"]
    played = installed.stellwerk("play", "usa", "--bot", bots[0], "--bot", bots[1])
    assert (played.returncode, played.stderr) == (0, "")
    assert "ernie" in played.stdout


def test_the_installed_command_makes_pages_of_its_own_files(installed: Installed, tmp_path: Path) -> None:
    """The page's modules and the verifier's are in the wheel, and nothing of the checkout is used."""
    game = REPOSITORY / "tests" / "golden" / "games" / "europe-3.jsonl"
    page = tmp_path / "game.html"
    done = installed.stellwerk("replay", "page", str(game), "-o", str(page))
    assert (done.returncode, done.stderr) == (0, "")
    version = str(project_file()["project"]["version"])
    assert page.read_text("utf-8") == page_of(game.read_bytes(), game.name, version)


def test_without_its_extra_an_installed_environment_says_what_to_install(installed: Installed) -> None:
    """A plain installation is light, and what plays a trained policy works with it."""
    done = installed.python("-c", "import stellwerk_learn.bot; stellwerk_learn.HouseEnv")
    assert done.returncode == 1
    assert "needs gymnasium, which is not installed: pip install 'stellwerk[learn]'" in done.stderr
    assert installed.python("-c", "import stellwerk_learn.example.policy").returncode == 0


def test_the_installed_program_comes_from_the_wheel(installed: Installed) -> None:
    """Without this, an import that finds its way back to the checkout would let everything above pass."""
    packages = "stellwerk, stellwerk_engine, stellwerk_protocol"
    code = f"import {packages}; print(*(package.__file__ for package in ({packages})), sep='\\n')"
    done = installed.python("-c", code)

    assert done.returncode == 0, done.stderr
    assert len(done.stdout.splitlines()) == 3
    assert all(Path(path).is_relative_to(installed.environment) for path in done.stdout.splitlines())
