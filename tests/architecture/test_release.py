"""What a release consists of fits together: version, changelog, tag, workflows."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from tests.command.program import REPOSITORY, SECONDS
from tests.tools import needs, path_of

WORKFLOWS = sorted((REPOSITORY / ".github/workflows").glob("*.yml"))
ACTIONLINT = "github.com/rhysd/actionlint/cmd/actionlint@v1.7.9"
DEVELOPMENT = "# Changelog\n\n## [Unreleased]\n\n- New.\n\n## [0.1.0] - 2026-01-01\n"
RELEASE = "# Changelog\n\n## [Unreleased]\n\n## [0.2.0] - 2026-11-01\n\n- New.\n\n## [0.1.0] - 2026-01-01\n"


def check_version(folder: Path, *words: str) -> tuple[int, str]:
    done = subprocess.run(
        [sys.executable, REPOSITORY / ".ci/check-version", *words],
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=SECONDS,
        check=False,
    )
    return done.returncode, done.stdout + done.stderr


def test_version_and_changelog_of_this_checkout_fit_together() -> None:
    code, output = check_version(REPOSITORY)
    assert code == 0, output


def test_an_unreleased_change_takes_at_most_two_lines() -> None:
    """The page that it links to has the rest: a changelog is no second manual."""
    changelog = (REPOSITORY / "CHANGELOG.md").read_text("utf-8")
    section = changelog.partition("## [Unreleased]\n")[2].partition("\n## ")[0]
    entries = re.findall(r"^- .*(?:\n  .*)*", section, re.MULTILINE)
    assert [entry for entry in entries if entry.count("\n") > 1] == []


@pytest.mark.parametrize(
    ("version", "changelog", "tag", "problem"),
    [
        ("0.2.0.dev0", DEVELOPMENT, None, None),
        ("0.2.0", RELEASE, None, None),
        ("0.2.0", RELEASE, "v0.2.0", None),
        ("0.2.0.dev0", DEVELOPMENT, "v0.2.0", "a tag needs a release"),
        ("0.2.0", RELEASE, "v0.2.1", "expected v0.2.0"),
        ("0.2.0", RELEASE, "0.2.0", "expected v0.2.0"),
        ("0.2.0", DEVELOPMENT, None, "expected ## [0.2.0] - DATE"),
        ("0.2.0", RELEASE.replace(" - 2026-11-01", ""), None, "has no date"),
        ("0.2.0", RELEASE.replace("[Unreleased]", "[Unreleased]\n\n- Later."), None, "is not empty"),
        ("0.2.0.dev1", RELEASE, None, "has a section already"),
        ("0.2.0", RELEASE.replace("## [Unreleased]\n", ""), None, "expected ## [Unreleased]"),
    ],
)
def test_a_version_that_does_not_fit_is_named(
    tmp_path: Path, version: str, changelog: str, tag: str | None, problem: str | None
) -> None:
    (tmp_path / "pyproject.toml").write_text(f'[project]\nversion = "{version}"\n')
    (tmp_path / "CHANGELOG.md").write_text(changelog)
    code, output = check_version(tmp_path, *([] if tag is None else [tag]))
    assert code == (problem is not None)
    assert problem is None or problem in output
    assert len(output.splitlines()) == 1


@pytest.mark.parametrize("workflow", WORKFLOWS, ids=lambda path: path.name)
def test_every_action_is_pinned_by_its_hash(workflow: Path) -> None:
    used = re.findall(r"uses: (\S+)(.*)", workflow.read_text("utf-8"))
    assert used
    for action, comment in used:
        assert re.fullmatch(r"[\w./-]+@[0-9a-f]{40}", action)
        assert re.fullmatch(r" # v\d+\.\d+\.\d+", comment)


@pytest.mark.parametrize("workflow", WORKFLOWS, ids=lambda path: path.name)
def test_a_job_has_no_more_rights_than_it_names(workflow: Path) -> None:
    text = workflow.read_text("utf-8")
    assert "\npermissions: {}\n" in text
    assert text.count("    permissions:\n") == text.count("runs-on:")


def test_every_extra_is_installed_where_the_suite_runs() -> None:
    """Tests whose extra is missing would be skipped there, without a word in CI."""
    extras = tomllib.loads((REPOSITORY / "pyproject.toml").read_text("utf-8"))["project"][
        "optional-dependencies"
    ]
    makefile = re.findall(r"^EXTRAS := (.*)$", (REPOSITORY / "Makefile").read_text("utf-8"), re.MULTILINE)
    workflow = re.findall(
        r'--editable "\.\[(.*)\]"', (REPOSITORY / ".github/workflows/ci.yml").read_text("utf-8")
    )
    assert makefile == workflow == [",".join(sorted(extras))]


@pytest.mark.network
@needs("go", "package index")
def test_actionlint_finds_nothing_in_the_workflows() -> None:
    done = subprocess.run(
        [path_of("go"), "run", ACTIONLINT, *WORKFLOWS],
        cwd=REPOSITORY,
        env=os.environ | {"GOFLAGS": "-mod=mod"},
        capture_output=True,
        text=True,
        timeout=5 * SECONDS,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
