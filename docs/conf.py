"""The documentation as a site: the Markdown pages where they are, and what is read off the program.

Law: no page exists twice. The sources are the pages of the repository, in place, with links that also work
there. Anything that Sphinx warns of is an error (`make docs`), so every link within the site leads somewhere.
"""

import re
import sys
import tomllib
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
REPOSITORY = HERE.parent
sys.path.insert(0, str(HERE))

from site_parts import CommandsDirective, markdown_twins, plain_links  # noqa: E402  it is beside this file

project = "Stellwerk"
version = release = tomllib.loads((REPOSITORY / "pyproject.toml").read_text("utf-8"))["project"]["version"]
author = "The Stellwerk authors"

extensions = ["myst_parser", "sphinx.ext.autodoc"]
root_doc = "docs/index"
include_patterns = [
    "*.md",
    "docs/**.md",
    "protocol/**.md",
    "server/*.md",
    "bots/**.md",
    "tournament/**.md",
]
exclude_patterns = [".*", "**/node_modules", "build", "dist", "protocol/tools"]

myst_heading_anchors = 4
myst_enable_extensions = ["colon_fence"]
highlight_language = "text"

default_role = "code"  # docstrings write `code` as Markdown does
autodoc_member_order = "bysource"
# A union of forty events is called as in the source.
autodoc_type_aliases = {
    "Events": "Events",
    "ev.Event": "Event",
    "wire_moves.Move": "wire.Move",
    "Line": "Line",
}
python_use_unqualified_type_names = True

html_theme = "furo"
html_title = f"Stellwerk {version}"
html_copy_source = False  # the Markdown is beside each page instead
html_show_copyright = False
html_static_path = ["static"]
html_css_files = ["site.css"]
html_theme_options = {"navigation_with_keys": True}


def _plain_names(*described: Any) -> tuple[str, str] | None:
    """Write a name of `autodoc_type_aliases` as it is, not as Sphinx represents it."""
    _, what, *_, arguments, returned = described
    if what not in ("function", "class", "method"):
        return None
    represented = re.compile(r"TypeAliasForwardRef\('([\w.]+)'\)")
    return represented.sub(r"\1", arguments or ""), represented.sub(r"\1", returned or "")


def setup(app: Any) -> None:  # Sphinx without its types: they are no part of what `make lint` checks
    app.add_directive("commands", CommandsDirective)
    app.connect("autodoc-process-signature", _plain_names)
    app.connect("source-read", lambda app, name, source: plain_links(REPOSITORY, name, source))
    app.connect("build-finished", lambda app, error: error or markdown_twins(app))
