"""`report.html`: what a tournament came to, as one page that can be put anywhere.

Law: the page is a function of the lines, the settings and the ratings, to the byte; it needs no other file,
no network and no script, and lets no text from a bot become markup (`report_markup`). Its own script is the
only one that a browser will run there, because the page names its hash.
"""

from __future__ import annotations

import re
from base64 import b64encode
from collections.abc import Iterable, Sequence
from hashlib import sha256
from typing import Final

from stellwerk_protocol.figures import counted
from stellwerk_tournament.config.settings import Settings
from stellwerk_tournament.ratings.ratings import RatingError, Report
from stellwerk_tournament.report.bots import bots
from stellwerk_tournament.report.conditions import conditions
from stellwerk_tournament.report.cross_table import cross_table
from stellwerk_tournament.report.effects import effects
from stellwerk_tournament.report.faults import faults
from stellwerk_tournament.report.history import history
from stellwerk_tournament.report.markup import Html, element
from stellwerk_tournament.report.matches import matches
from stellwerk_tournament.report.ranking import ranked, ranking
from stellwerk_tournament.report.script import SCRIPT
from stellwerk_tournament.report.style import style_sheet
from stellwerk_tournament.store.match_line import MatchLine
from stellwerk_tournament.store.standings import Standings

GENERATOR: Final = re.compile(r'<meta name="generator" content="Stellwerk ([^"]*)">')


def report_html(
    settings: Settings, lines: Sequence[MatchLine], rated: Report | RatingError, version: str = ""
) -> bytes:
    """`rated` is what `rating_report` says of the same lines, or why it says nothing. `version` is that of
    the Stellwerk that makes the page."""
    played = sorted(lines, key=lambda line: (line.block, line.rotation))
    standings = Standings(settings.names, played)
    report, unrated = (None, str(rated)) if isinstance(rated, RatingError) else (rated, "")
    entrants = ranked(standings, report)
    names = [entrant.name for entrant in entrants]
    sections: tuple[tuple[str, str, Iterable[Html]], ...] = (
        ("ranking", "Ranking", ranking(entrants, standings, report, unrated)),
        ("cross-table", "Cross table", cross_table(names, standings)),
        ("bots", "Bots", bots(played, names, standings, report)),
        ("effects", "Seats and games", effects(played, names, report)),
        ("history", "Over time", history(played, names, report)),
        ("faults", "Faults", faults(played, names, standings)),
        ("matches", "Matches", matches(played)),
        ("conditions", "Conditions", conditions(settings, played)),
    )
    title = settings.title or "Tournament"
    navigation = element(
        "nav", *(element("a", name, href=f"#{id}") for id, name, _ in sections), aria_label="Sections"
    )
    lead = element("p", _lead(names, played), class_="lead")
    main = element(
        "main", *(element("section", element("h2", name), *content, id=id) for id, name, content in sections)
    )
    footer = element("footer", "Made by Stellwerk from matches.jsonl; it can be deleted and made again.")
    body = element("body", element("header", element("h1", title), lead, navigation), main, footer, _script())
    page = element("html", _head(title, version), body, lang="en")
    return f"<!DOCTYPE html>\n{page}\n".encode()


def _lead(names: Sequence[str], lines: Sequence[MatchLine]) -> str:
    blocks = len({line.block for line in lines})
    played = counted(len(lines), "match", "matches")
    return f"{counted(len(names), 'bot')}, {played} in {counted(blocks, 'block')}"


def _head(title: str, version: str) -> Html:
    digest = b64encode(sha256(SCRIPT.encode()).digest()).decode()
    policy = (
        f"default-src 'none'; style-src 'unsafe-inline'; script-src 'sha256-{digest}'; img-src data:; "
        "base-uri 'none'; form-action 'none'"
    )
    return element(
        "head",
        element("meta", charset="utf-8"),
        element("meta", http_equiv="Content-Security-Policy", content=policy),
        element("meta", name="viewport", content="width=device-width, initial-scale=1"),
        element("meta", name="color-scheme", content="light dark"),
        element("meta", name="generator", content=f"Stellwerk {version}"),
        element("link", rel="icon", href="data:,"),
        element("title", title),
        element("style", Html(style_sheet())),
    )


def _script() -> Html:
    return element("script", Html(SCRIPT))
