"""What the site has beyond its pages: the help of all commands, links to folders, a list for programs.

`llms.txt` lists every page with its title; beside each page is its Markdown.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from docutils import nodes
from docutils.statemachine import StringList
from sphinx.util.docutils import SphinxDirective

from stellwerk.command_line import whole_parser
from stellwerk.completion.words import levels_with_parsers

LINK = re.compile(r"(?<!!)\[(?P<text>[^\]\[]+)\]\((?P<target>[^)#\s:]+?)/?(?P<anchor>#[^)\s]*)?\)")


class CommandsDirective(SphinxDirective):
    """A section for each command with its help, as the command prints it."""

    def run(self) -> list[nodes.Node]:
        lines: list[str] = []
        for level, parser in levels_with_parsers(whole_parser()):
            name = " ".join(("stellwerk", *level.path))
            depth = "#" * (2 + max(len(level.path) - 1, 0))
            lines += [f"{depth} `{name}`", "", "```text", parser.format_help().rstrip(), "```", ""]
        section = nodes.Element()
        self.state.nested_parse(
            StringList("\n".join(lines).splitlines(), source="commands"), 0, section, match_titles=1
        )
        return section.children


def plain_links(repository: Path, name: str, source: list[str]) -> None:
    """Lead links to a folder to its page; where it has none, leave the words alone."""
    folder = (repository / name).parent

    def page(found: re.Match[str]) -> str:
        target = folder / found["target"]
        if not target.is_dir():
            return found[0]
        if (target / "README.md").is_file():
            return f"[{found['text']}]({found['target']}/README.md{found['anchor'] or ''})"
        return found["text"]

    source[0] = LINK.sub(page, source[0]).replace("```jsonl", "```json")


def markdown_twins(app: Any) -> None:
    """Write the Markdown beside each page, and the list of all pages."""
    out = Path(app.outdir)
    lines = [
        "# Stellwerk",
        "",
        "> A headless game server for bots that play the Zug um Zug / Ticket to Ride family: exact rules,"
        " an open protocol of JSON lines, tournaments with honest ratings.",
        "",
        "## Pages",
        "",
    ]
    for name in sorted(app.env.found_docs, key=lambda name: (name != "README", name.count("/"), name)):
        twin = out / f"{name}.md"
        twin.parent.mkdir(parents=True, exist_ok=True)
        twin.write_text(Path(app.env.doc2path(name)).read_text("utf-8"), "utf-8")
        lines.append(f"- [{app.env.titles[name].astext()}]({name}.md)")
    (out / "llms.txt").write_text("\n".join(lines) + "\n", "utf-8")
    (out / "index.html").write_text(
        '<!doctype html><meta charset="utf-8"><title>Stellwerk</title>'
        '<meta http-equiv="refresh" content="0; url=docs/index.html">'
        '<a href="docs/index.html">Stellwerk</a>\n',
        "utf-8",
    )
