"""What pages show of results: the figures of a tournament's own files."""

from __future__ import annotations

import json
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path

import pytest
from msgspec import UNSET
from msgspec.structs import replace

from stellwerk_protocol.messages import Player
from stellwerk_tournament.config.settings import FILE as SETTINGS
from stellwerk_tournament.config.settings import parse, settings_of
from stellwerk_tournament.ratings.ratings import RatingError
from stellwerk_tournament.report.derived import ratings_json
from stellwerk_tournament.report.ranking import ranked
from stellwerk_tournament.store.conduct import judged
from stellwerk_tournament.store.cup import Cup
from stellwerk_tournament.store.field import Announced, Disqualified, Ruled
from stellwerk_tournament.store.field_file import decide
from stellwerk_tournament.store.match_line import FILE as LINES
from stellwerk_tournament.store.match_line import MatchLine, blocks_of, line_of
from stellwerk_web.show.forms import Head, Ranking, encode
from stellwerk_web.show.ranking import SeenMatches
from stellwerk_web.show.results import LISTED, Rated, rated
from stellwerk_web.sources.tournament_book import Book, FolderReader
from tests.tournament.report.report_tournaments import CRASH, cup_of, line, played, settings_for

GAMES = {
    "two": (("usa", 2),),
    "several": (("usa", 2), ("europe", 3)),
    "teams": (("team_asia", 4),),
}


def looked_into(folder: Path, lines: Sequence[MatchLine]) -> tuple[Book, list[Head]]:
    """Return the book of a folder with these lines, and the heads of their matches."""
    (folder / LINES).write_bytes(b"".join(map(line_of, lines)))
    book, reader = Book(folder), FolderReader(folder)
    heads: list[Head] = []
    while True:
        look = reader.look()
        heads += book.take(look)
        if not look.has_more:
            return book, heads


def ranking_of(book: Book) -> tuple[Ranking, Rated]:
    ratings = rated(book.rated_matches())
    return book.ranking(ratings), ratings


def expect_figures_of(tournament: Cup, ranking: Ranking) -> None:
    """Expect what `ratings.json` says, in the order of the report."""
    written = json.loads(ratings_json(tournament))
    rows = {row.bot: row for row in ranking.rows}
    for entrant in written["entrants"]:
        row = rows[entrant["name"]]
        assert (row.elo, row.low, row.high) == (entrant["elo"], entrant["low"], entrant["high"])
        assert row.matches == entrant["matches"]
    for score in written["not_ratings"]:
        assert rows[score["name"]].score == score["score"]
    report = None if isinstance(tournament.rated, RatingError) else tournament.rated
    order = ranked(tournament.standings, report, tournament.out)
    assert [row.bot for row in ranking.rows] == [entrant.name for entrant in order]
    assert [row.out for row in ranking.rows] == [entrant.out or UNSET for entrant in order]
    for row in ranking.rows:
        assert row.faults == tournament.standings.of[row.bot].faulty
        assert row.forfeits == tournament.standings.of[row.bot].forfeits.total()


@pytest.mark.parametrize("games", GAMES.values(), ids=GAMES)
def test_a_ranking_has_the_figures_of_the_ratings_file_in_the_order_of_the_report(
    tmp_path: Path, games: Sequence[tuple[str, int]]
) -> None:
    cup = played(tmp_path, 6, deals=6, games=games)
    book, heads = looked_into(tmp_path, cup.lines)
    ranking, _ = ranking_of(book)
    expect_figures_of(cup_of(tmp_path, cup.settings, cup.lines), ranking)
    assert ranking.over == f"{len([*blocks_of(cup.lines)])} complete blocks"
    assert [head.match for head in heads] == [each.match for each in cup.lines]
    assert {row.group for row in ranking.rows} == {UNSET}


def test_the_order_of_blocks_in_the_file_changes_no_figure(tmp_path: Path) -> None:
    cup = played(tmp_path, 5, deals=4)
    blocks = [*blocks_of(cup.lines)]
    shuffled = [each for block in (*blocks[1::2], *blocks[::2]) for each in block]
    one, _ = ranking_of(looked_into(tmp_path, cup.lines)[0])
    other, _ = ranking_of(looked_into(tmp_path, shuffled)[0])
    assert one == other


def test_suspended_bots_are_last_and_bots_that_cannot_be_compared_are_in_groups(tmp_path: Path) -> None:
    settings_for(tmp_path, ["ann", "bea", "cid", "dov", "eve"])
    text = (tmp_path / SETTINGS).read_text()
    (tmp_path / SETTINGS).write_text(text.replace("[[games]]", "[conduct]\nsuspend_after = 2\n[[games]]", 1))
    settings = settings_of(parse(tmp_path), tmp_path)
    lines: list[MatchLine] = []
    for number in range(8):
        pair = ("ann", "bea") if number % 2 else ("cid", "dov")
        teams = (pair, pair[::-1])
        block = [line(number, rotation, teams[rotation], [90, 80 + 7 * number]) for rotation in (0, 1)]
        lines += judged(map(crashed_dov, block) if number >= 6 else block, settings.conduct, ())
    book, _ = looked_into(tmp_path, lines)
    ranking, _ = ranking_of(book)
    expect_figures_of(cup_of(tmp_path, settings, tuple(lines)), ranking)
    assert [row.bot for row in ranking.rows][-1] == "dov"
    assert [row.bot for row in ranking.rows if row.elo is UNSET] == ["eve"]
    assert len({row.group for row in ranking.rows} - {UNSET}) == 2
    assert [each.bot for each in book.state().suspended] == ["dov"]


def test_decisions_of_the_organizer_count_as_in_the_report(tmp_path: Path) -> None:
    cup = played(tmp_path, 5, deals=6)
    out, unrated = cup.lines[0].players[0], cup.lines[-1].block
    now = datetime(2026, 3, 1, tzinfo=UTC)
    decide(tmp_path, now, lambda _, at: Disqualified(at.number, at.at, at.after, at.previous, out, "x"))
    decide(tmp_path, now, lambda _, at: Ruled(at.number, at.at, at.after, at.previous, (unrated,), "x"))
    decide(tmp_path, now, lambda _, at: Announced(at.number, at.at, at.after, at.previous, "Hello."))
    book, _ = looked_into(tmp_path, cup.lines)
    ranking, _ = ranking_of(book)
    written = json.loads(ratings_json(cup_of(tmp_path, cup.settings, cup.lines)))
    assert [row.bot for row in ranking.rows] == [entrant["name"] for entrant in written["entrants"]]
    assert [row.elo for row in ranking.rows] == [entrant["elo"] for entrant in written["entrants"]]
    assert (ranking.rows[-1].bot, ranking.rows[-1].out) == (out, "disqualified")
    assert len(book.rated_matches()) == written["matches"] < len(cup.lines)
    state = book.state()
    assert (state.disqualified, state.announcements, state.paused) == ((out,), ("Hello.",), False)


def crashed_dov(match: MatchLine) -> MatchLine:
    bots = tuple(replace(seat, faults=(CRASH,) if seat.bot == "dov" else ()) for seat in match.bots)
    return replace(match, bots=bots)


def test_a_bots_page_adds_up_to_its_row(tmp_path: Path) -> None:
    cup = played(tmp_path, 6, deals=30, games=(("usa", 2), ("europe", 3)))
    book, _ = looked_into(tmp_path, cup.lines)
    ranking, ratings = ranking_of(book)
    tournament = cup_of(tmp_path, cup.settings, cup.lines)
    for place, row in enumerate(ranking.rows, 1):
        page = book.bot_page(row.bot, ranking, ratings)
        assert page is not None
        assert (page.rank, page.of, page.row) == (place, 6, row)
        assert (
            sum(part.matches for part in page.seats)
            == sum(part.matches for part in page.games)
            == row.matches
        )
        for part in page.against:
            versus = tournament.standings.pairs[row.bot, part.bot]
            assert (part.score, part.matches) == (round(versus.score, 4), versus.matches)
            assert (part.better, part.equal, part.worse) == (versus.better, versus.equal, versus.worse)
        assert [part.bot for part in page.against] == [r.bot for r in ranking.rows if r.bot != row.bot]
        sums = tournament.standings.of[row.bot]
        assert page.times is not UNSET
        assert (page.times.answers, page.times.slowest_ms) == (sums.asks, sums.slowest_ms)
        assert {reason.kind: reason.matches for reason in page.faults} == dict(sums.faults)
        own = [each for each in cup.lines if row.bot in each.players]
        assert [head.match for head in page.matches] == [each.match for each in reversed(own)][:LISTED]
        json.loads(encode(page))
    assert book.bot_page("nobody", ranking, ratings) is None


def test_a_pairs_page_mirrors_the_one_of_the_other(tmp_path: Path) -> None:
    cup = played(tmp_path, 4, deals=10, games=(("usa", 2), ("europe", 3)))
    book, _ = looked_into(tmp_path, cup.lines)
    ranking, ratings = ranking_of(book)
    one, other = (row.bot for row in ranking.rows[:2])
    page, mirror = (book.pair_page(*each, ranking, ratings) for each in ((one, other), (other, one)))
    assert page is not None
    assert mirror is not None
    assert (page.row.better, page.row.worse) == (mirror.row.worse, mirror.row.better)
    assert page.row.points == mirror.row.others_points
    assert sum(part.matches for part in page.games) == page.row.matches
    likely = ratings.ratings.superiority(one, other) if ratings.ratings else None
    assert likely is not None
    assert page.row.likely_better == round(likely, 4)
    met = [each.match for each in cup.lines if {one, other} <= {*each.players}]
    assert [head.match for head in page.matches] == met[::-1][:LISTED]
    assert book.pair_page(one, "nobody", ranking, ratings) is None
    assert book.pair_page(one, one, ranking, ratings) is None


# -- a plain server ----------------------------------------------------------------------------------


def ended(match: int, names: Sequence[str], ranks: Sequence[int], teams: Sequence[int] = (0, 1)) -> Head:
    return Head(
        match=f"m{match}",
        state="ended",
        game="usa",
        options=(),
        players=tuple(
            Player(seat, team, name) for seat, (team, name) in enumerate(zip(teams, names, strict=True))
        ),
        ranks=tuple(ranks),
        points=tuple(100 - rank for rank in ranks),
    )


def test_the_ranking_of_a_server_says_what_it_is_made_of_and_knows_no_faults() -> None:
    seen = SeenMatches()
    for number in range(40):
        seen.add(ended(number, ("ann", "bea"), (1, 2) if number % 3 else (2, 1)))
    seen.take(rated(seen.counted()))
    ranking = seen.ranking()
    assert ranking.over == "40 matches seen"
    assert "drew" in str(ranking.note)
    assert [row.bot for row in ranking.rows] == ["ann", "bea"]
    assert all(row.low is not UNSET for row in ranking.rows)
    assert {row.forfeits for row in ranking.rows} == {UNSET}


def test_a_name_that_plays_itself_and_partners_count_as_what_they_are() -> None:
    seen = SeenMatches()
    seen.add(ended(0, ("ann", "ann"), (1, 2)))
    seen.add(ended(1, ("ann", "bea", "cid", "dov"), (1, 2, 1, 2), (0, 1, 0, 1)))
    assert seen.count == 2
    assert [row.bot for row in seen.ranking().rows] == ["ann + cid", "bea + dov"]


def test_only_the_last_matches_of_a_server_count(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("stellwerk_web.show.ranking.MOST_MATCHES", 10)
    seen = SeenMatches()
    for number in range(100):
        seen.add(ended(number, ("ann", f"bot{number}"), (1, 2)))
    assert len(seen.counted()) <= 12
    assert seen.ranking().over == f"{len(seen.counted())} of 100 matches seen"
    assert len(seen.ranking().rows) <= 13
