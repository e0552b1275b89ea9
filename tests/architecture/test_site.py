"""The site that `make docs` makes, as programs read it: `llms.txt`, and a Markdown file beside each page."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

import stellwerk
from tests.tools import demand

REPOSITORY = Path(__file__).resolve().parents[2]
LINE = re.compile(r"- \[(?P<title>[^\]]+)\]\((?P<page>[^)]+)\.md\): (?P<words>.+)")


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    demand("Sphinx")
    folder = tmp_path_factory.mktemp("site")
    words = ["--quiet", "--fail-on-warning", "-d", str(folder / "doctrees"), "-c", "docs", "-b", "html"]
    subprocess.run(
        [sys.executable, "-m", "sphinx", *words, ".", str(folder / "html")], cwd=REPOSITORY, check=True
    )
    return folder / "html"


def test_the_list_for_programs_has_a_line_on_each_page(site: Path) -> None:
    _, pages = (site / "llms.txt").read_text("utf-8").split("## Pages\n\n")
    lines = [LINE.fullmatch(line) for line in pages.splitlines()]
    found = {line["page"]: line["words"] for line in lines if line is not None}
    assert len(found) == len(lines)
    html = {str(path.relative_to(site).with_suffix("")) for path in site.rglob("*.html")}
    assert html - {"index", "genindex", "search", "py-modindex"} == set(found)
    for words in found.values():
        assert len(words) > 20
        assert not re.search(r"\]\(|\*\*", words)


def test_every_page_has_its_content_as_markdown(site: Path) -> None:
    twins = [path for path in site.rglob("*.md") if "_static" not in path.parts]
    assert len(twins) > 50
    for path in twins:
        content = path.read_text("utf-8")
        assert "```{" not in content, path
        assert len(content.split()) > 20, path


def test_the_help_of_commands_and_the_docstrings_of_functions_are_in_the_markdown(site: Path) -> None:
    commands = (site / "docs/commands.md").read_text("utf-8")
    assert commands.count("usage: stellwerk ") > 30
    assert "## `stellwerk boards show`\n\n```text\nusage: stellwerk boards show" in commands
    functions = (site / "docs/python.md").read_text("utf-8")
    documented = re.findall(r"auto(?:function|class):: ([\w.]+)", (REPOSITORY / "docs/python.md").read_text())
    for name in documented:
        assert re.search(rf"^### `(class )?{re.escape(name)}\(", functions, re.MULTILINE), name
    first_line, *_ = str(stellwerk.run_matches.__doc__).splitlines()
    assert first_line in functions


def test_pages_that_list_others_link_their_markdown(site: Path) -> None:
    games = (site / "docs/games.md").read_text("utf-8")
    links = re.findall(r"\(([^)]+\.md)\)", games)
    assert len(links) == 5
    for link in links:
        assert (site / "docs" / link).resolve().is_file()
