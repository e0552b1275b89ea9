"""`report.html`: the results of a tournament, as one page that can be put anywhere.

Law: the page is a function of the lines, the settings, the ratings and which matches have pages, to the byte.
It needs no other file, no network and no script, and lets no text from a bot become markup (`template.py`).
Its own script is the only one that a browser will run there, because the page names its hash.
"""

from __future__ import annotations

from base64 import b64encode
from hashlib import sha256
from typing import Final

from stellwerk_tournament.ratings.ratings import RatingError
from stellwerk_tournament.report.blind_draws import blind_file
from stellwerk_tournament.report.bots import MOST_BOTS, LastMatches, bots
from stellwerk_tournament.report.conditions import ConditionsSeen, conditions
from stellwerk_tournament.report.cross_table import cross_table
from stellwerk_tournament.report.decisions import decisions
from stellwerk_tournament.report.effects import GamesPlayed, effects
from stellwerk_tournament.report.fairness import MeasuredClocks
from stellwerk_tournament.report.faults import FirstFaults, faults
from stellwerk_tournament.report.forfeits import forfeits
from stellwerk_tournament.report.history import NAMED, history
from stellwerk_tournament.report.machines import Machines
from stellwerk_tournament.report.match_pages import NO_PAGES, Paged, page_path
from stellwerk_tournament.report.matches import ListedMatches
from stellwerk_tournament.report.ranking import ranked, ranking
from stellwerk_tournament.report.template import file_text, rendered
from stellwerk_tournament.store.cup import Cup

SECTIONS: Final = (
    ("ranking", "Ranking"),
    ("cross-table", "Cross table"),
    ("bots", "Bots"),
    ("effects", "Seats and games"),
    ("history", "Over time"),
    ("faults", "Faults"),
    ("forfeits", "Forfeits"),
    ("decisions", "Decisions"),
    ("fairness", "Fair clocks"),
    ("blind-draws", "Blind draws"),
    ("matches", "Matches"),
    ("conditions", "Conditions"),
)
"""Their ids, which are also the names of their templates, and their titles."""


def report_html(cup: Cup, paged: Paged = NO_PAGES) -> bytes:
    """Write the page. `paged` are the matches that have pages."""
    settings, standings, out = cup.settings, cup.standings, cup.out
    report, unrated = (None, str(cup.rated)) if isinstance(cup.rated, RatingError) else (cup.rated, "")
    entrants = ranked(standings, report, out)
    names = [entrant.name for entrant in entrants]
    games, first_faults, by_machine = GamesPlayed(), FirstFaults(), Machines()
    clocks, last, listed, surroundings = MeasuredClocks(), LastMatches(), ListedMatches(), ConditionsSeen()
    sums = (games, first_faults, by_machine, clocks, last, listed, surroundings)
    for line in cup.lines(sorted(cup.results.blocks)):
        for each in sums:
            each.add(line)
    script = file_text("report.js")
    page = rendered(
        "page.html",
        title=settings.title or "Tournament",
        version=cup.version,
        style=file_text("report.css"),
        script=script,
        script_digest=b64encode(sha256(script.encode()).digest()).decode(),
        sections=SECTIONS,
        bot_count=len(names),
        ranked_count=sum(name not in out for name in names),
        match_count=len(cup.results),
        block_count=len(cup.results.blocks),
        ranking=ranking(entrants, standings, report, unrated),
        cross_table=cross_table(names, standings),
        bots=bots(names, standings, last, report),
        most_bots=MOST_BOTS,
        effects=effects(games, names, report),
        history=history([*cup.results.by_number()], names, report),
        named=NAMED,
        faults=faults(first_faults, names, standings),
        machines=by_machine.rows,
        fairness=clocks,
        measured=clocks.measured(names),
        blind=blind_file(cup.results.blind, names),
        forfeits=forfeits(cup, names),
        decisions=decisions(cup, names),
        matches=listed,
        paged=paged,
        pages={line.match: page_path(line) for line in paged.lines(cup)},
        conditions=conditions(cup, surroundings, clocks.sentence),
    )
    return f"{page}\n".encode()
