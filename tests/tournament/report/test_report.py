"""The report as a text: what it says, what it must never let through, and that nothing else is needed."""

from __future__ import annotations

import csv
import re
from base64 import b64encode
from dataclasses import dataclass, field, replace
from hashlib import sha256
from html.parser import HTMLParser
from itertools import chain, pairwise
from pathlib import Path
from typing import get_args
from xml.etree import ElementTree

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from stellwerk_base.texts import MINUS_SIGN, counted
from stellwerk_base.texts import signed as signed_in_text
from stellwerk_processes.bench.levels import SandboxRecord
from stellwerk_processes.faults import Fault, FaultKind
from stellwerk_protocol.names import EndReason
from stellwerk_tournament.config.settings import Settings
from stellwerk_tournament.play.progress import rows_of
from stellwerk_tournament.ratings.deal_worth import gain_in_words, worth_range
from stellwerk_tournament.ratings.game_words import tables_of
from stellwerk_tournament.ratings.ratings import RatingError
from stellwerk_tournament.report.cross_table import STEPS, step_of
from stellwerk_tournament.report.derived import cross_table, junit, report_page
from stellwerk_tournament.report.effects import ENDS
from stellwerk_tournament.report.faults import KINDS
from stellwerk_tournament.report.history import BOTS_AND_FITS, FEWEST_FITS, MOST_FITS, NAMED, course
from stellwerk_tournament.report.markup import Html, element, grouped, signed, tenths
from stellwerk_tournament.report.matches import MOST_MATCHES
from stellwerk_tournament.report.plot import PlottedInterval, Scale, apart, scale_of
from stellwerk_tournament.report.template import file_text
from stellwerk_tournament.store.match_line import MatchLine, blocks_of
from stellwerk_tournament.store.standings import Standings
from tests.tournament.play.fakes import settings_with
from tests.tournament.report.report_tournaments import (
    Played,
    columns_of,
    cup_of,
    line,
    played,
    rating_report,
    settings_for,
)

VOID = {"meta", "link", "input", "br"}


@dataclass
class Node:
    tag: str
    attributes: dict[str, str]
    children: list[Node] = field(default_factory=list["Node"])
    texts: list[str] = field(default_factory=list[str])

    def all(self, tag: str, class_: str = "") -> list[Node]:
        found = [self] if self.tag == tag and class_ in ("", *self.classes) else []
        return found + [each for child in self.children for each in child.all(tag, class_)]

    def part(self, id: str) -> Node:
        [found] = [each for each in self.all("section") if each.attributes["id"] == id]
        return found

    @property
    def classes(self) -> tuple[str, ...]:
        return tuple(self.attributes.get("class", "").split())

    @property
    def text(self) -> str:
        return "".join(self.texts) + "".join(child.text for child in self.children)


class _Reader(HTMLParser):
    """Strict: what is opened is closed, in its order."""

    def __init__(self) -> None:
        super().__init__()
        self.open = [Node("", {})]

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        node = Node(tag, {name: value or "" for name, value in attrs})
        self.open[-1].children.append(node)
        if tag not in VOID:
            self.open.append(node)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.open[-1].children.append(Node(tag, {name: value or "" for name, value in attrs}))

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop().tag == tag

    def handle_data(self, data: str) -> None:
        self.open[-1].texts.append(data)


def read(page: bytes) -> Node:
    reader = _Reader()
    reader.feed(page.decode())
    reader.close()
    [root] = reader.open
    return root


@pytest.fixture(scope="module")
def cup(tmp_path_factory: pytest.TempPathFactory) -> Played:
    return played(tmp_path_factory.mktemp("cup"), 6, 6, (("usa", 2), ("card_game", 3), ("team_asia", 4)))


@pytest.fixture(scope="module")
def settings(tmp_path_factory: pytest.TempPathFactory) -> Settings:
    return settings_for(tmp_path_factory.mktemp("settings"), ["a", "b"])


# -- the page ----------------------------------------------------------------------------------------


def test_a_report_is_a_function_of_the_matches_whatever_their_order(cup: Played) -> None:
    blocks = [*blocks_of(cup.lines)]
    backwards = replace(cup, lines=tuple(chain.from_iterable(blocks[::-1])))
    assert cup.report() == backwards.report()


def test_a_report_needs_nothing_from_elsewhere(cup: Played) -> None:
    text = cup.report().decode()
    root = read(cup.report())
    assert not re.search(r"https?:|@import|url\(|\ssrc=", text)
    [icon] = root.all("link")
    assert icon.attributes == {"rel": "icon", "href": "data:,"}
    targets = [link.attributes["href"] for link in root.all("a")]
    assert all(re.match(r"#|\./|[a-z]+(\.[a-z]+)?$|replays/$", target) for target in targets)


def test_every_link_within_the_page_has_its_target(cup: Played) -> None:
    root = read(cup.report())
    ids = re.findall(r' id="([^"]*)"', cup.report().decode())
    assert len(ids) == len(set(ids))
    for tag in ("a", "use"):
        inner = [each.attributes["href"][1:] for each in root.all(tag) if each.attributes["href"][0] == "#"]
        assert inner
        assert set(inner) <= set(ids)


def test_the_policy_lets_the_one_script_run_and_no_other(cup: Played) -> None:
    root = read(cup.report())
    [script] = root.all("script")
    digest = b64encode(sha256(script.text.encode()).digest()).decode()
    [policy] = [m.attributes["content"] for m in root.all("meta") if "http-equiv" in m.attributes]
    assert f"script-src 'sha256-{digest}';" in policy
    assert policy.startswith("default-src 'none';")
    assert not re.search(r"\son[a-z]+=", cup.report().decode())


def test_every_table_has_heads_for_its_columns_and_rows(cup: Played) -> None:
    tables = read(cup.report()).all("table")
    assert len(tables) >= 9
    for table in tables:
        [head] = table.all("thead")
        assert {cell.attributes["scope"] for cell in head.all("th")} == {"col"}
        for body in table.all("tbody"):
            for row in body.all("tr"):
                [row_head] = row.all("th")
                assert row_head.attributes["scope"] in ("row", "rowgroup")


def test_every_row_is_as_wide_as_its_table(cup: Played) -> None:
    for table in read(cup.report()).all("table"):
        widths = {
            sum(int(cell.attributes.get("colspan", "1")) for cell in row.children) for row in table.all("tr")
        }
        assert len(widths) == 1


def test_no_seed_is_in_a_report(cup: Played) -> None:
    assert cup.lines[0].seed.encode() not in cup.report()


def test_two_hundred_bots_make_a_page_of_less_than_three_megabytes(tmp_path: Path) -> None:
    """Each against each other, which is 39,800 matches; without ratings, which take their time."""
    cup = played(tmp_path, 200, 1)
    page = report_page(cup_of(tmp_path, cup.settings, cup.lines, RatingError("not rated")))
    assert len(page) < 3_000_000
    [cross] = [table for table in read(page).all("table") if "cross" in table.classes]
    assert len([cell for cell in cross.all("td") if "data-n" in cell.attributes]) == 200 * 199


def test_each_table_with_bots_of_one_author_is_named(tmp_path: Path) -> None:
    """They could play as one. The schedule avoids such tables, and cannot always."""
    settings = settings_for(tmp_path, ["a", "b", "c"])
    of_authors = zip(settings.entrants, ("Ann", "Bob", "Ann"), strict=True)
    entrants = (replace(entrant, author=author) for entrant, author in of_authors)
    settings = replace(settings, entrants=tuple(entrants))
    tables = [("a", "b"), ("a", "c"), ("b", "c"), ("a", "c")]
    lines = [line(block, 0, table, [1, 2]) for block, table in enumerate(tables)]
    page = read(Played(settings, tuple(lines)).report())
    facts = zip((e.text for e in page.all("dt")), (e.text for e in page.all("dd")), strict=True)
    named = [fact for title, fact in facts if title == "one author"]
    assert named == ["a, c: bots of Ann, at the table of a, c: blocks 1, 3"]


# -- what bots say -----------------------------------------------------------------------------------

ATTACK = "</pre></style><script>alert(1)</script><img src=x onerror=alert(1)>\x1b[31m\u202e'\""


def test_no_text_from_a_bot_or_an_organizer_becomes_markup(tmp_path: Path) -> None:
    settings = settings_for(tmp_path, ["a", "b"])
    authors = tuple(replace(entrant, author=ATTACK) for entrant in settings.entrants)
    match = line(0, 0, ("a", "b"), [1, 2], faults=(Fault("crash", 1, ATTACK, (ATTACK,)),), replay=ATTACK)
    root = read(Played(replace(settings, title=ATTACK, entrants=authors), (match,)).report())
    assert len(root.all("script")) == 1
    assert root.all("img") == []
    seen = "</pre></style><script>alert(1)</script><img src=x onerror=alert(1)>\\x1b[31m\\u202e'\""
    [title], [heading], [printed] = root.all("title"), root.all("h1"), root.all("pre")
    assert (title.text, heading.text, printed.text) == (seen, seen, f"{seen}\n")


@given(st.text(st.characters(codec=None)), st.text(st.characters(codec=None)))
def test_any_text_reads_back_as_itself_or_with_visible_escapes(text: str, value: str) -> None:
    page = element("p", text, title=value)
    root = read(page.encode())
    [paragraph] = root.children
    assert [child.tag for child in paragraph.children] == []
    assert set(paragraph.attributes) == {"title"}
    for put_in, found in ((text, paragraph.text), (value, paragraph.attributes["title"])):
        assert found.isprintable()
        assert found == put_in or not put_in.isprintable()


@given(title=st.text(st.characters(codec=None), min_size=1))
def test_any_text_in_a_template_reads_back_as_itself_or_with_visible_escapes(
    settings: Settings, title: str
) -> None:
    root = read(report_page(cup_of(Path(), replace(settings, title=title), (), RatingError("not rated"))))
    [heading] = root.all("h1")
    assert heading.children == []
    assert heading.text.isprintable()
    assert heading.text == title or not title.isprintable()


def test_a_sum_of_markup_and_text_is_text_again() -> None:
    """A mistake in the report shows up as visible tags, and not as a hole."""
    assert element("p", Html("<b>") + "<i>") == "<p>&lt;b&gt;&lt;i&gt;</p>"


@pytest.mark.parametrize(
    ("replay", "target"),
    [
        ("replays/1-0.jsonl", "./replays/1-0.jsonl"),
        ("javascript:alert(1)", "./javascript%3Aalert%281%29"),
        ("//elsewhere/x", ".///elsewhere/x"),
        ("a b#c?d", "./a%20b%23c%3Fd"),
    ],
)
def test_a_link_to_a_replay_stays_in_the_folder(tmp_path: Path, replay: str, target: str) -> None:
    match = line(0, 0, ("a", "b"), [1, 2], replay=replay)
    root = read(Played(settings_for(tmp_path, ["a", "b"]), (match,)).report())
    links = [a.attributes["href"] for a in root.part("matches").all("a") if a.text == "replay"]
    assert links == [target]


# -- ranking -----------------------------------------------------------------------------------------


def test_the_ranking_is_that_of_the_ratings_with_their_intervals(cup: Played) -> None:
    [table] = read(cup.report()).part("ranking").all("table")
    rows = [[cell.text for cell in row.children] for body in table.all("tbody") for row in body.all("tr")]
    pooled = rating_report(cup.lines).pooled
    assert [(row[1], row[2]) for row in rows] == [(each.name, signed(each.elo)) for each in pooled.entrants]
    for row, rating in zip(rows, pooled.entrants, strict=True):
        assert rating.low is not None
        assert rating.high is not None
        assert row[3].startswith(f"{signed(rating.low)} to {signed(rating.high)}")
    assert all(each.all("svg", "interval") for each in table.all("td", "plot")[:-1])


def test_a_bot_with_one_limit_says_so_in_words_and_with_another_mark(tmp_path: Path) -> None:
    names = ["winner", "one", "two"]
    lines = [
        line(deal, 0, table, points)
        for deal in range(12)
        for table, points in (
            (("winner", "one"), [9, 1]),
            (("winner", "two"), [9, 1]),
            (("one", "two"), [5, 6] if deal % 2 else [6, 5]),
        )
    ]
    ranking = read(Played(settings_for(tmp_path, names), tuple(lines)).report()).part("ranking")
    rows = {row.children[1].text: row for row in ranking.all("tbody")[0].all("tr")}
    assert re.fullmatch(r"\(\+\d+\)", rows["winner"].children[2].text)
    assert rows["winner"].children[3].text.startswith("at least ")
    [hollow], [dot] = rows["winner"].all("path", "bounded"), rows["one"].all("path", "point")
    assert hollow.attributes["d"] != dot.attributes["d"]
    assert not rows["winner"].all("path", "point")
    [box] = ranking.all("aside")
    assert "only a lower limit is known: winner" in box.text


def test_too_few_blocks_are_marked_at_each_bot_and_said_once(tmp_path: Path) -> None:
    few, many = (read(played(tmp_path, 4, deals, faulty=False).report()) for deals in (3, 20))
    ranking = few.part("ranking")
    assert [mark.text for mark in ranking.all("sup")] == 4 * ["\N{DAGGER}"]
    assert ranking.text.count("too few blocks") == 1
    assert "\N{DAGGER} few blocks" in ranking.text
    assert "few blocks" not in many.part("ranking").text
    assert many.part("ranking").all("sup") == []


def test_each_warning_is_said_once_with_the_games_it_concerns_by_their_titles(tmp_path: Path) -> None:
    cup = played(tmp_path, 2, 3, (("usa", 2), ("team_asia", 4)), faulty=False)
    root = read(cup.report())
    [box] = root.all("aside")
    warnings = [item.text for item in box.all("li")]
    stems = [each.partition(": ")[0] for each in warnings]
    assert len(stems) == len(set(stems))
    assert any("fewer than 16" in each for each in warnings)
    assert "team_asia" not in box.text


def test_tables_are_named_in_words() -> None:
    assert tables_of("team_asia", 2) == "tables of two teams (Asia, teams of two)"
    assert tables_of("card_game", 3) == "tables of three players (The card game)"
    assert (tables_of("go", 2), tables_of("", 7)) == ("tables of two players (go)", "tables of 7 players")


def test_no_line_breaks_before_per_cent(cup: Played) -> None:
    effects = read(cup.report()).part("effects").all("table")[0].text
    assert re.search("\\d\N{NO-BREAK SPACE}%", effects)
    assert not re.search(r"\d %", effects)


def test_the_score_is_the_mean_over_matches_everywhere(tmp_path: Path) -> None:
    """A match of three counts as much as one of two, in the ranking, the ratings and the progress."""
    names = ["a", "b", "c"]
    lines = (line(0, 0, ("a", "b", "c"), [9, 5, 1]), line(1, 0, ("a", "b"), [1, 2]))
    settings = settings_for(tmp_path, names)
    standings = Standings(names, lines)
    plain = {each.name: each.score for each in rating_report(lines).plain_scores}
    assert plain == {name: standings.of[name].mean_score for name in names} == {"a": 0.5, "b": 0.75, "c": 0}
    assert {row.bot: row.score for row in rows_of(standings, None)} == plain
    table = csv.DictReader(cross_table(cup_of(tmp_path, settings, lines)).decode().splitlines())
    assert {row["bot"]: float(row["mean score of matches"]) for row in table} == plain


def test_nobody_is_called_better_with_certainty(tmp_path: Path) -> None:
    settings = settings_for(tmp_path, ["a", "b"])
    lines = tuple(line(deal, 0, ("a", "b"), [5, 4 if deal % 10 else 6]) for deal in range(60))
    [table] = read(Played(settings, lines).report()).part("ranking").all("table")
    assert table.all("tbody")[0].all("tr")[0].children[5].text == "> 99.9\N{NO-BREAK SPACE}%"


def test_bots_that_never_met_are_ranked_apart_and_a_bot_without_a_match_last(tmp_path: Path) -> None:
    settings = settings_for(tmp_path, ["a", "b", "x", "y", "idle"])
    lines = [
        line(number, 0, table, [5, 4 if number % 3 else 6])
        for number, table in enumerate([("a", "b")] * 6 + [("x", "y")] * 6)
    ]
    ranking = read(Played(settings, tuple(lines)).report()).part("ranking")
    groups = [
        (body.all("tr")[0].text, {row.children[1].text for row in body.all("tr")[1:]})
        for body in ranking.all("tbody")
    ]
    assert [names for _, names in groups[:2]] == [{"a", "b"}, {"x", "y"}]
    assert groups[2] == ("Without a rating: 1 bot", {"idle"})
    assert "no match yet" in ranking.all("tbody")[2].text
    assert "cannot be compared" in ranking.all("aside")[0].text


def test_a_tournament_without_a_match_has_a_report_that_says_so(tmp_path: Path) -> None:
    root = read(Played(settings_for(tmp_path, ["a", "b"]), ()).report())
    assert "there is no match to rate" in root.part("ranking").text
    assert root.all("p", "lead")[0].text == "2 bots, 0 matches in 0 blocks"


# -- the other parts ---------------------------------------------------------------------------------


def test_a_cell_of_the_cross_table_is_the_score_of_its_row_with_the_number_of_matches(tmp_path: Path) -> None:
    names = ["a", "b", "c"]
    lines = (line(0, 0, ("a", "b"), [9, 3]), line(0, 1, ("b", "a"), [5, 5]), line(1, 0, ("a", "c"), [1, 2]))
    [cross] = read(Played(settings_for(tmp_path, names), lines).report()).part("cross-table").all("table")
    order = [cell.all("span")[0].attributes["title"] for cell in cross.all("thead")[0].all("th")]
    found = {
        (name, other): (cell.text, cell.attributes.get("data-n"))
        for name, row in zip(order, cross.all("tbody")[0].all("tr"), strict=True)
        for other, cell in zip(order, row.children[1:], strict=True)
    }
    assert found["a", "b"] == ("75", "2")
    assert found["b", "a"] == ("25", "2")
    assert found["a", "c"] == ("0", "1")
    assert found["b", "c"] == found["a", "a"] == ("", None)


def test_seats_and_each_game_have_their_figures(cup: Played) -> None:
    effects = read(cup.report()).part("effects")
    games, seats, deals, by_game, by_size = effects.all("table")
    assert [row.children[2].text for row in games.all("tbody")[0].all("tr")] == [
        f"{sum(match.game == game for match in cup.lines):,}" for game in ("usa", "card_game", "team_asia")
    ]
    rows = [[cell.text for cell in row.children] for row in seats.all("tbody")[0].all("tr")]
    assert [(row[1], row[5]) for row in rows] == [
        *((str(seat), "3") for seat in (0, 1, 2)),
        *((str(seat), "2 teams") for seat in (0, 1)),
        *((str(seat), "2") for seat in (0, 1)),
    ]
    report = rating_report(cup.lines)
    assert [[cell.text for cell in row.children] for row in deals.all("tbody")[0].all("tr")] == [
        [
            tables_of(deal.game, deal.players),
            f"{deal.blocks}",
            f"{deal.worth:.2f}",
            worth_range(deal),
            gain_in_words(deal),
        ]
        for deal in report.deals
    ]
    assert [len(table.all("thead")[0].all("th")) for table in (by_game, by_size)] == [4, 3]
    planner = next(each for each in report.by_game["usa"].entrants if each.name == "planner")
    row = next(row for row in by_game.all("tr") if row.children[0].text == "planner")
    assert any(cell.texts == [signed(planner.elo)] for cell in row.children)


def test_matches_with_a_remote_bot_say_nothing_of_a_deal_in_every_seat(tmp_path: Path) -> None:
    """Each of them has a deal of its own."""
    settings = settings_for(tmp_path, ["a", "b"])
    lines = [
        line(number, rotation, ("a", "b"), [5, 4 if (number + rotation * (number % 3)) % 2 else 6])
        for number in range(40)
        for rotation in (0, 1)
    ]
    assert "One deal in every seat" in read(Played(settings, tuple(lines)).report()).part("effects").text
    a, b = settings.entrants
    remote = replace(settings, entrants=(replace(a, bot=replace(a.bot, process="remote")), b))
    assert "One deal" not in read(Played(remote, tuple(lines)).report()).part("effects").text


def test_the_course_ends_with_the_figures_of_the_ranking(cup: Played) -> None:
    report = read(cup.report())
    ratings = {row.children[1].text: row.children[2].text for row in report.part("ranking").all("tr")[1:-1]}
    [table] = report.part("history").all("table")
    now = {row.children[0].text: row.children[2].text for row in table.all("tbody")[0].all("tr")}
    assert now == ratings
    assert "running" not in report.part("history").text.lower()


def test_a_point_of_the_course_is_the_rating_of_the_matches_up_to_its_round(cup: Played) -> None:
    after = course(columns_of(cup.lines), rating_report(cup.lines).pooled)
    assert list(after) == [0, 1, 2, 3, 4, 5]
    until = rating_report([match for match in cup.lines if match.round <= 2]).pooled
    assert after[2] == pytest.approx({rating.name: rating.elo for rating in until.entrants})


def test_the_course_begins_when_all_can_be_compared(tmp_path: Path) -> None:
    tables = [("a", "b"), ("c", "d"), ("b", "c"), ("a", "d"), ("b", "d")]
    lines = tuple(
        line(number, rotation, table, [5, 4 if rotation else 6], round=number)
        for number, table in enumerate(tables)
        for rotation in (0, 1)
    )
    assert list(course(columns_of(lines), rating_report(lines).pooled)) == [2, 3, 4]
    page = read(Played(settings_for(tmp_path, "abcd"), lines).report()).part("history")
    assert "From left to right: after round 3 to round 5." in page.text
    few = read(Played(settings_for(tmp_path, "abcd"), lines[:6]).report()).part("history")
    assert "too few rounds" in few.text


@pytest.mark.parametrize(
    ("bots", "rounds", "fits"), [(2, MOST_FITS + 6, MOST_FITS), (BOTS_AND_FITS // 3, 6, FEWEST_FITS)]
)
def test_of_many_rounds_or_bots_the_course_has_some_points_and_always_the_last(
    bots: int, rounds: int, fits: int
) -> None:
    names = [f"bot-{number}" for number in range(bots)]
    pairs = list(pairwise([*names, names[0]]))
    lines = [
        line(round, 0, pair, [5, 4 + round % 3], round=round) for round in range(rounds) for pair in pairs
    ]
    after = course(columns_of(lines), rating_report(lines).pooled)
    assert len(after) == fits
    assert max(after) == rounds - 1


def test_every_bot_has_a_section_to_which_the_cells_of_the_cross_table_lead(tmp_path: Path) -> None:
    names = ["a", "b", "c"]
    lines = (line(0, 0, ("a", "b"), [9, 3]), line(0, 1, ("b", "a"), [5, 5]), line(1, 0, ("a", "c"), [-1, 2]))
    page = read(Played(settings_for(tmp_path, names), lines).report())
    rows = {row.attributes["id"]: row for row in page.part("bots").all("tr") if "id" in row.attributes}
    [cross] = page.part("cross-table").all("table")
    order = [cell.all("span")[0].attributes["title"] for cell in cross.all("thead")[0].all("th")]
    led = {
        (name, other): rows[cell.all("a")[0].attributes["href"][1:]]
        for name, row in zip(order, cross.all("tbody")[0].all("tr"), strict=True)
        for other, cell in zip(order, row.children[1:], strict=True)
        if cell.all("a")
    }
    assert set(led) == {("a", "b"), ("b", "a"), ("a", "c"), ("c", "a")}
    found = {pair: [cell.text for cell in row.children] for pair, row in led.items()}
    assert found["b", "a"][:2] == ["a", "25.0\N{NO-BREAK SPACE}%"]
    assert found["b", "a"][3:9] == ["2", "0", "1", "1", "4.0", "7.0"]
    assert [link.text for link in led["b", "a"].all("a")] == ["a", "0.0", "0.1"]
    assert found["a", "c"][3:9] == ["1", "0", "0", "1", f"{MINUS_SIGN}1.0", "2.0"]
    assert [link.attributes["href"] for link in led["a", "c"].all("a")[1:]] == ["./replays/00001-0.jsonl"]
    ranking = page.part("ranking").all("tbody")[0]
    targets = [link.attributes["href"][1:] for link in ranking.all("a")]
    assert targets == [section.attributes["id"] for section in page.part("bots").all("details")]


def test_very_many_bots_have_no_sections_and_the_page_says_where_to_look(tmp_path: Path) -> None:
    cup = played(tmp_path, 41, 1)
    page = read(report_page(cup_of(tmp_path, cup.settings, cup.lines, RatingError("not rated"))))
    assert page.part("bots").all("table") == []
    assert "crosstable.csv" in page.part("bots").text
    assert page.part("cross-table").all("a") == page.part("ranking").all("a") == []


def test_the_processor_time_of_a_remote_bot_is_unknown_and_not_nothing(tmp_path: Path) -> None:
    """Version 0.1 wrote a 0 for it."""
    match = line(0, 0, ("a", "b"), [1, 2])
    far = [msgspec.structs.replace(match.bots[0], process="remote", cpu_ms=cpu) for cpu in (0, msgspec.UNSET)]
    for seat in far:
        remote = msgspec.structs.replace(match, bots=(seat, match.bots[1]))
        [table] = (
            read(Played(settings_for(tmp_path, ["a", "b"]), (remote,)).report()).part("faults").all("table")
        )
        rows = {row.children[0].text: row.children[-1].text for row in table.all("tbody")[0].all("tr")}
        assert rows == {"a": "", "b": "210 ms"}


def test_faults_are_counted_by_cause_and_shown_with_their_replay(tmp_path: Path) -> None:
    crash = Fault("crash", 1, "ended with exit status 3 before the match did", ("first", "last"))
    late = Fault("time", 7, "no answer in time 7 times")
    lines = (
        line(0, 0, ("a", "b"), [1, 2], faults=(crash, late)),
        line(0, 1, ("b", "a"), [1, 2]),
        line(1, 0, ("a", "b"), [1, 2], faults=(Fault("time", 8, "no answer in time 8 times"),)),
        line(1, 1, ("b", "a"), [1, 2]),
    )
    tournament = cup_of(tmp_path, settings_for(tmp_path, ["a", "b"]), lines)
    part = read(report_page(tournament)).part("faults")
    [table] = part.all("table")
    heads = [cell.text for cell in table.all("thead")[0].all("th")]
    rows = {
        row.children[0].text: dict(zip(heads, (cell.text for cell in row.children), strict=True))
        for row in table.all("tbody")[0].all("tr")
    }
    assert heads[3:5] == ["crashed", "too late"]
    assert (rows["b"]["with faults"], rows["b"]["crashed"], rows["b"]["too late"]) == (
        "2 (50.0\N{NO-BREAK SPACE}%)",
        "1",
        "2",
    )
    assert (rows["a"]["with faults"], rows["a"]["crashed"]) == ("0", "0")
    [failure] = ElementTree.fromstring(junit(tournament)).iter("failure")
    assert (failure.text or "").split() == ["|", "first", "|", "last"]
    first, second = part.all("details")
    assert first.all("pre")[0].text == "first\nlast\n"
    assert first.all("a")[0].attributes["href"] == "./replays/00000-0.jsonl"
    assert "no answer in time 7 times" in second.text


def test_every_cause_and_every_end_has_its_words() -> None:
    assert set(KINDS) == set(get_args(FaultKind))
    assert set(ENDS) == set(get_args(EndReason))


def test_of_many_matches_the_last_are_listed(tmp_path: Path) -> None:
    lines = tuple(line(number, 0, ("a", "b"), [1, 2]) for number in range(MOST_MATCHES + 1))
    cup = settings_for(tmp_path, ["a", "b"])
    part = read(report_page(cup_of(tmp_path, cup, lines, RatingError("not rated")))).part("matches")
    rows = part.all("tbody")[0].all("tr")
    assert len(rows) == MOST_MATCHES
    assert rows[0].children[0].text == "1"
    assert f"the last {MOST_MATCHES:,} of {MOST_MATCHES + 1:,} matches" in part.text


def test_the_conditions_name_clocks_isolation_and_the_blocks_that_are_missing(tmp_path: Path) -> None:
    settings = settings_for(tmp_path, ["a", "b"])
    lines = (
        line(0, 0, ("a", "b"), [1, 2]),
        msgspec.structs.replace(line(3, 0, ("a", "b"), [1, 2]), isolation="namespace"),
    )
    part = read(Played(settings, lines).report()).part("conditions")
    facts = dict(zip((e.text for e in part.all("dt")), (e.text for e in part.all("dd")), strict=True))
    assert facts["clocks"].startswith("30.0 s to get ready, 1,000 ms for each answer")
    assert "(1 match); a sandbox of namespaces (1 match)" in facts["isolation"]
    assert facts["missing"].endswith(": 1, 2")
    assert facts["length"] == "1 round"


def conditions_of(folder: Path, lines: tuple[MatchLine, ...], head: str = "") -> dict[str, str]:
    part = read(Played(settings_with(folder, ["a", "b"], head=head), lines).report()).part("conditions")
    return dict(zip((e.text for e in part.all("dt")), (e.text for e in part.all("dd")), strict=True))


def test_the_conditions_have_the_sandbox_as_it_was_tried(tmp_path: Path) -> None:
    refused = SandboxRecord("landlock", "auto", refused=("read_files", "read_other_bots"), allowed=("udp",))
    lines = (msgspec.structs.replace(line(0, 0, ("a", "b"), [1, 2]), sandbox=refused),)
    (tmp_path / "data").mkdir()
    facts = conditions_of(tmp_path, lines, 'sandbox = "auto"\nbind = ["data"]\nnetwork = true')
    assert facts["sandbox"] == "landlock: bots ran as the runner's own user; a bot could send over UDP"
    assert facts["more files"] == "every bot could read data"
    assert facts["network"] == "bots had the network of the machine"
    assert "secrets" not in facts


def test_the_conditions_say_that_bots_could_read_secrets(tmp_path: Path) -> None:
    one = line(0, 0, ("a", "b"), [1, 2])
    said = "bots could read one another's tokens, and the runner's files"
    facts = conditions_of(tmp_path, (one,), 'sandbox = "limits"')
    assert (facts["sandbox"], facts["secrets"]) == (
        "limits; what it refuses on this machine was not tried",
        said,
    )
    wrapped = SandboxRecord("limits", "limits", allowed=("read_files",), wrapped=True)
    tried = (msgspec.structs.replace(one, sandbox=wrapped),)
    assert conditions_of(tmp_path, tried, 'wrap = "env"')["secrets"] == said
    assert "secrets" not in conditions_of(tmp_path, (one,), 'wrap = "env"'), "nobody knows"


# -- drawings and figures ----------------------------------------------------------------------------


@given(st.lists(st.floats(0, 100), max_size=15))
def test_labels_stand_apart_in_their_order(places: list[float]) -> None:
    found = list(apart(places, 5))
    assert all(-0.001 <= place <= 100.001 for place in found)
    order = sorted(range(len(places)), key=lambda i: places[i])
    for one, other in pairwise(order):
        assert found[other] - found[one] > 4.999


@given(st.floats(-4000, 4000), st.floats(1, 9000))
def test_ticks_are_few_and_within_their_scale(low: float, width: float) -> None:
    scale = Scale(low, low + width)
    ticks = scale.ticks()
    assert 2 <= len(ticks) <= 8
    assert all(-1e-9 <= scale.share(tick) <= 1 + 1e-9 for tick in ticks)


def test_one_very_wide_interval_does_not_make_the_others_small() -> None:
    usual = [PlottedInterval(10.0 * i, 10.0 * i - 20, 10.0 * i + 20) for i in range(10)]
    scale = scale_of([*usual, PlottedInterval(50, -5000, None)])
    assert scale.low > -200
    assert all(0 < scale.share(interval.middle) < 1 for interval in usual)


@pytest.mark.parametrize(
    ("elo", "text"),
    [(12.4, "+12"), (-0.4, "0"), (-1234.5, f"{MINUS_SIGN}1,234"), (0.0, "0"), (1000.0, "+1,000")],
)
def test_elo_has_its_sign(elo: float, text: str) -> None:
    assert signed(elo) == text
    assert signed_in_text(elo) == text.replace(MINUS_SIGN, "-")  # on terminals and in files


def test_a_negative_figure_has_the_sign_that_the_script_reads() -> None:
    assert [tenths(value) for value in (-1234.56, 0.0, 12.04)] == [f"{MINUS_SIGN}1,234.6", "0.0", "12.0"]
    assert [grouped(value) for value in (-1234, 0)] == [f"{MINUS_SIGN}1,234", "0"]


def test_one_is_one_and_two_are_several() -> None:
    assert [counted(n, "match", "matches") for n in (0, 1, 2000)] == ["0 matches", "1 match", "2,000 matches"]


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_every_text_stands_out_from_its_ground(scheme: str) -> None:
    """WCAG 2.2 asks for 4.5 to 1 for text, and for 3 to 1 for the lines of a drawing."""
    light, _, rest = file_text("report.css").partition("@media (prefers-color-scheme: dark)")
    text = light if scheme == "light" else rest.partition("}")[0]
    colors = dict(re.findall(r"--([a-z0-9-]+): (#[0-9a-f]{6});", text))
    heat = [colors[f"h{step}"] for step in range(STEPS + 1)]
    lines = [colors[f"c{number}"] for number in range(NAMED)]
    for ground in ("paper", "card", "band", "caution"):
        assert contrast(colors["ink"], colors[ground]) >= 4.5
    for ground in ("paper", "card", "band"):
        assert contrast(colors["quiet"], colors[ground]) >= 4.5
        assert contrast(colors["accent"], colors[ground]) >= 4.5
    assert all(contrast(colors["ink"], ground) >= 4.5 for ground in heat)
    assert all(contrast(line, colors["paper"]) >= 4.5 for line in lines)
    assert contrast(colors["caution-edge"], colors["caution"]) >= 3


def contrast(one: str, other: str) -> float:
    dark, light = sorted((luminance(one), luminance(other)))
    return (light + 0.05) / (dark + 0.05)


def luminance(color: str) -> float:
    """Return the relative luminance, as WCAG defines it."""
    parts = [int(color[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


@given(st.floats(0, 1))
def test_every_score_has_a_color_and_the_opposite_one_the_opposite(score: float) -> None:
    assert 0 <= step_of(score) <= STEPS
    if abs(STEPS * score % 1 - 0.5) > 1e-6:
        assert step_of(1 - score) == STEPS - step_of(score)
