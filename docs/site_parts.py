"""What the site has beyond its pages: the help of all commands, links to folders, a list for programs.

`llms.txt` lists every page with its title and its first sentence; beside each page is its Markdown. What
directives insert into a page (help texts, docstrings, lists of pages) is written out there.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from docutils import nodes
from docutils.statemachine import StringList
from sphinx import addnodes
from sphinx.errors import ExtensionError
from sphinx.util.docutils import SphinxDirective

from stellwerk.command_line import whole_parser
from stellwerk.completion.words import levels_with_parsers

FENCE = re.compile(r"^```\{(?P<name>[a-z-]+)\}\n.*?^```\n", re.MULTILINE | re.DOTALL)
SENTENCES = re.compile(r".{40,}?[.?](?= [A-Z`]|$)|.+[.:?]$")  # one, or two short ones
LINK = re.compile(r"(?<!!)\[(?P<text>[^\]\[]+)\]\((?P<target>[^)#\s:]+?)/?(?P<anchor>#[^)\s]*)?\)")


class CommandsDirective(SphinxDirective):
    """A section for each command with its help, as the command prints it."""

    def run(self) -> list[nodes.Node]:
        section = nodes.Element()
        lines = commands_markdown().splitlines()
        self.state.nested_parse(StringList(lines, source="commands"), 0, section, match_titles=1)
        return section.children


def commands_markdown() -> str:
    """Write the help of all commands, a heading for each."""
    lines: list[str] = []
    for level, parser in levels_with_parsers(whole_parser()):
        name = " ".join(("stellwerk", *level.path))
        depth = "#" * (2 + max(len(level.path) - 1, 0))
        lines += [f"{depth} `{name}`", "", "```text", parser.format_help().rstrip(), "```", ""]
    return "\n".join(lines)


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
        content = _twin(app.env, name)
        twin.write_text(content, "utf-8")
        lines.append(f"- [{app.env.titles[name].astext()}]({name}.md): {_first_sentence(name, content)}")
    (out / "llms.txt").write_text("\n".join(lines) + "\n", "utf-8")
    (out / "index.html").write_text(
        '<!doctype html><meta charset="utf-8"><title>Stellwerk</title>'
        '<meta http-equiv="refresh" content="0; url=docs/index.html">'
        '<a href="docs/index.html">Stellwerk</a>\n',
        "utf-8",
    )


def _twin(env: Any, name: str) -> str:
    """Return a page as Markdown, with what its directives insert."""
    source = Path(env.doc2path(name)).read_text("utf-8")
    if "```{eval-rst}" in source:
        return "\n".join(_markdown(env.get_doctree(name), 0))

    def written(fence: re.Match[str]) -> str:
        match fence["name"]:
            case "commands":
                return commands_markdown()
            case "toctree":
                folder = posixpath.dirname(name)
                pages = env.toctree_includes[name] if ":hidden:" not in fence[0] else []
                return "".join(
                    f"- [{env.titles[page].astext()}]({posixpath.relpath(page, folder or '.')}.md)\n"
                    for page in pages
                )
            case directive:
                raise ExtensionError(f"{name}: no Markdown is known for the directive {directive}")

    return FENCE.sub(written, source)


def _first_sentence(name: str, content: str) -> str:
    """Return the first sentence of a page, without links."""
    paragraphs = re.split(r"\n\s*\n", content)
    words = next((each for each in paragraphs if re.match(r"[\w*`\[]", each)), "")
    plain = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", " ".join(words.split()))
    sentence = SENTENCES.match(plain.replace("**", ""))
    if sentence is None:
        raise ExtensionError(f"{name}: begins without a sentence that llms.txt could show")
    return sentence[0]


def _markdown(node: Any, depth: int) -> Iterator[str]:
    """Yield the lines of what describes functions and classes: a heading for each, with its signature."""
    match node:
        case addnodes.index() | nodes.target() | nodes.comment():
            pass
        case nodes.document() | addnodes.desc() | addnodes.desc_content():
            for child in node.children:
                yield from _markdown(child, depth)
        case nodes.section():
            for child in node.children:
                yield from _markdown(child, depth + 1)
        case nodes.title():
            yield from (f"{'#' * depth} {node.astext()}", "")
        case addnodes.desc_signature():
            signature = node.deepcopy()
            for short_or_long in [*signature.findall(addnodes.pending_xref_condition)]:
                if short_or_long["condition"] != "resolved":
                    short_or_long.parent.remove(short_or_long)
            yield from (f"### `{' '.join(signature.astext().split())}`", "")
        case nodes.paragraph():
            yield from (_inline(node), "")
        case nodes.bullet_list():
            yield from (f"- {' '.join(map(_inline, item.children))}" for item in node.children)
            yield ""
        case nodes.literal_block():
            yield from ("```text", node.astext(), "```", "")
        case _:
            raise ExtensionError(f"no Markdown is known for {type(node).__name__}: {node.astext()[:80]}")


def _inline(node: Any) -> str:
    """Return the text of a paragraph, with its code as code."""
    texts = (
        f"`{each.astext()}`" if isinstance(each, nodes.literal) else each.astext() for each in node.children
    )
    return " ".join("".join(texts).split())
