"""`stellwerk boards` prints what it is asked for, and never ends in a traceback."""

import json
import os
import re
import subprocess
import sys
import unicodedata
from collections import Counter
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

import stellwerk
from stellwerk.__main__ import main
from stellwerk.boards.summary import listing, summary
from stellwerk_engine.boards.board_file import SHIPPED, BoardFile, format_board, parse_board, shipped_board
from stellwerk_page.drawing import draw_board
from stellwerk_page.position import position_of
from stellwerk_protocol.canonical import encode

REPOSITORY = Path(__file__).resolve().parents[3]
FOLDER = REPOSITORY / "server/stellwerk_engine/boards"
WITH_A_MAP = [id for id in SHIPPED if shipped_board(id).routes]
SVG = "{http://www.w3.org/2000/svg}"


def boards(*words: str) -> int:
    return main(["boards", *words])


def boards_process(*words: str, **options: Any) -> "subprocess.CompletedProcess[str]":
    """Run `stellwerk boards` in a process of its own; `options` are those of `subprocess.run`."""
    roots = os.pathsep.join(str(REPOSITORY / root) for root in ("protocol", "server"))
    environment = {**os.environ, "PYTHONPATH": roots, **options.pop("env", {})}
    return subprocess.run(
        [sys.executable, "-m", "stellwerk", "boards", *words],
        env=environment,
        text=True,
        stderr=subprocess.PIPE,
        check=False,
        timeout=60,
        **options,
    )


def columns(line: str) -> int:
    wide = sum(unicodedata.east_asian_width(character) in "WF" for character in line)
    return len(line) + wide - sum(unicodedata.combining(character) > 0 for character in line)


def small_board(**changes: object) -> BoardFile:
    content: dict[str, object] = {
        "format": "stellwerk-board/1",
        "id": "small",
        "title": "Small",
        "provenance": "Made up.",
        "cards_each_color": 1,
        "locomotives": 1,
        "trains": 9,
        "route_points": {"1": 1, "2": 2, "9": 30},
        "cities": [{"id": "a", "name": "A", "x": 0, "y": 0}, {"id": "b", "name": "B", "x": 90, "y": 40}],
        "routes": [{"id": "a-b", "a": "a", "b": "b", "length": 2, "color": "red"}],
        "tickets": [{"id": "a-b", "a": "a", "b": "b", "points": 2}],
        **changes,
    }
    return parse_board(json.dumps(content), "small.json")


# list


def test_list_has_a_row_for_every_shipped_board(capsys: pytest.CaptureFixture[str]) -> None:
    assert boards("list") == 0
    lines = capsys.readouterr().out.splitlines()
    rows = [line for line in lines if not line.startswith(" ")]
    assert rows[0].split() == ["id", "title", "cities", "routes", "tickets", "marked", "doubtful"]
    assert [row.split()[0] for row in rows[1:]] == list(SHIPPED)
    start = rows[0].index("title")
    assert all(row[start - 2 : start] == "  " and row[start] != " " for row in rows)
    assert re.search(
        r"^team_asia +Team Asia +46 +126 +60 +5 lengths, 60 tickets$", "\n".join(rows), re.MULTILINE
    )


@pytest.mark.parametrize("id", SHIPPED)
def test_list_and_show_say_where_the_facts_come_from(id: str, capsys: pytest.CaptureFixture[str]) -> None:
    for words in (("list",), ("show", id)):
        boards(*words)
        printed = " ".join(capsys.readouterr().out.split())
        assert shipped_board(id).provenance in printed


# show


@pytest.mark.parametrize("words", [("list",), *(("show", id) for id in SHIPPED)])
def test_a_terminal_of_80_columns_is_wide_enough(
    words: tuple[str, ...], capsys: pytest.CaptureFixture[str]
) -> None:
    boards(*words)
    assert max(columns(line) for line in capsys.readouterr().out.splitlines()) <= 80


def test_show_counts_routes_by_length_and_color(capsys: pytest.CaptureFixture[str]) -> None:
    boards("show", "usa")
    lines = [line.split() for line in capsys.readouterr().out.splitlines()]
    head = next(line for line in lines if line[:2] == ["length", "points"])
    routes = shipped_board("usa").routes
    for length in range(1, 7):
        row = next(line for line in lines if line and line[0] == str(length) and len(line) == len(head))
        counted = Counter(route.color for route in routes if route.length == length)
        assert row[2:] == [str(counted[color] or ".") for color in head[2:-1]] + [str(counted.total())]
    row = next(line for line in lines if line and line[0] == "all")
    assert row[1:] == [str(Counter(route.color for route in routes)[color]) for color in head[2:-1]] + ["100"]


@pytest.mark.parametrize("id", SHIPPED)
def test_show_has_every_ticket(id: str, capsys: pytest.CaptureFixture[str]) -> None:
    boards("show", id)
    text = capsys.readouterr().out
    rows = re.findall(
        r"^ +(\d+)(\??) +(\S.*?) - (.*?)(?:: (.*))?$", text.partition("\nTickets")[2], re.MULTILINE
    )
    board = shipped_board(id)
    names = {city.id: city.name for city in board.cities} | {"france": "France"}
    assert rows == [
        (
            str(ticket.points),
            "?" if ticket.doubtful else "",
            names[ticket.a],
            names[ticket.b] + (" (long)" if ticket.long else ""),
            ", ".join(f"{count} {color}" for color, count in ticket.cards.items()),
        )
        for ticket in board.tickets
    ]


@pytest.mark.parametrize(
    ("id", "lines"),
    [
        (
            "team_asia",
            ["Doubtful lengths (5)", "  Canton - Hankow: 3? gray", "  Canton - Hong Kong, always open"],
        ),
        ("team_asia", ["Triple routes (4)", "Tunnels (10)", "  Kabul - Kashgar: 3 yellow, 4 cards revealed"]),
        ("united_kingdom", ["Ferries (30)", "  New York - Southampton: 10 gray, 3 locomotives"]),
        ("united_kingdom", ["  Groups     France is France (west) or France (east)"]),
        ("team_asia", ["  Junctions  3 of the cities, on no ticket", "  Trains     27 for each player"]),
        (
            "card_game",
            ["  Cards      96: 10 of each color, 16 locomotives", "Big cities", "   15   New York"],
        ),
    ],
)
def test_show_tells_what_is_special(id: str, lines: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    boards("show", id)
    shown = capsys.readouterr().out.splitlines()
    assert [line for line in lines if line not in shown] == []


def test_show_leaves_out_what_a_board_does_not_have() -> None:
    titles = [line.split(" (")[0] for line in summary(small_board()).splitlines() if line[:1].strip()]
    assert titles == ["small: Small", "Routes", "Tickets"]
    labels = [line.split()[0] for line in summary(small_board()).split("\n\n")[0].splitlines()[1:]]
    assert labels == ["Holds", "Cards", "Trains", "Doubtful", "Source", "Digest"]
    cards = [line.split() for line in summary(shipped_board("card_game")).splitlines()]
    assert not {"Routes", "Trains"} & {words[0] for words in cards if words}


def test_routes_that_only_share_their_cities_are_not_shown_as_double() -> None:
    shown = (
        summary(shipped_board("united_kingdom")).partition("\nDouble routes (18)\n")[2].partition("\n\n")[0]
    )
    assert len(shown.splitlines()) == 18
    assert "Penzance" not in shown


def test_columns_stand_under_each_other_in_every_script() -> None:
    boards = [small_board(title=title) for title in ("Map", "\u6771\u4eac", "a\N{COMBINING ACUTE ACCENT}b")]
    rows = [line for line in listing(boards).splitlines() if not line.startswith(" ")]
    assert len({columns(row[: row.rindex("1")]) for row in rows[1:]}) == 1


@pytest.mark.parametrize("id", SHIPPED)
def test_show_json_is_the_normalized_file(id: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert boards("show", id, "--json") == 0
    assert capsys.readouterr().out == (FOLDER / f"{id}.json").read_text(encoding="utf-8")


def test_show_takes_a_file(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "usa"
    path.write_text(format_board(small_board()), encoding="utf-8")
    assert boards("show", str(path)) == 0
    assert capsys.readouterr().out.startswith("small: Small\n")


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("show", "usb"), 'usb: no such board; the shipped ones are .*, usa; did you mean "usa"\\?'),
        (("show", "./usb"), "./usb: cannot be read: No such file or directory"),
        (("show", "usb.json"), "usb.json: cannot be read: No such file or directory"),
        (
            ("show", "card_game", "--svg", "map.svg"),
            "card_game.json:1: routes: no routes to draw a map from",
        ),
    ],
)
def test_show_refuses_in_one_line(
    words: tuple[str, ...], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert boards(*words) == 2
    printed = capsys.readouterr()
    assert printed.out == ""
    assert re.fullmatch(f"stellwerk: {message}\n", printed.err)


# check


def test_check_tells_of_each_file_whether_and_in_which_games_it_can_be_played_on(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    good, bad = tmp_path / "good.json", tmp_path / "bad.json"
    text = format_board(shipped_board("usa"))
    good.write_text(text, encoding="utf-8")
    bad.write_text(text.replace('"points": 5', '"points": 0'), encoding="utf-8")
    accepted = f"{good}: ok, for usa (36 cities, 100 routes, 30 tickets)\n"
    assert boards("check", str(good)) == 0
    assert capsys.readouterr() == (accepted, "")
    assert boards("check", str(bad), str(tmp_path), str(good)) == 2
    printed = capsys.readouterr()
    assert printed.out == accepted
    fault, folder = printed.err.splitlines()
    line = text[: text.index('"points": 5')].count("\n") + 1
    place, expected = r"tickets\[\d+\].points", "expected a whole number from 1 to 200, found 0"
    assert re.fullmatch(f"stellwerk: {re.escape(str(bad))}:{line}: {place}: {expected}", fault)
    assert folder == f"stellwerk: {tmp_path}: cannot be read: Is a directory"


def test_check_names_what_a_board_lacks_for_the_game_that_it_comes_closest_to(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    small = tmp_path / "small.json"
    small.write_text(format_board(small_board()), encoding="utf-8")
    assert boards("check", str(small)) == 2
    printed = capsys.readouterr()
    assert printed.out == ""
    assert re.fullmatch(rf"stellwerk: {small}:\d+: \w+: .* usa .*\n", printed.err)


@pytest.mark.parametrize(
    "words", [(), ("check",), ("show",), ("show", "usa", "--json", "--svg", "x"), ("play",)]
)
def test_wrong_words_are_a_usage_error_in_one_line(
    words: tuple[str, ...], capsys: pytest.CaptureFixture[str]
) -> None:
    assert boards(*words) == 2
    [line] = capsys.readouterr().err.splitlines()
    assert line.startswith("stellwerk: ")


# The drawing


@pytest.mark.parametrize("id", WITH_A_MAP)
def test_the_drawing_has_every_space_and_every_name(id: str) -> None:
    board = shipped_board(id)
    drawing = ElementTree.fromstring(draw_board(board))
    for route_color in {route.color for route in board.routes}:
        spaces = sum(route.length for route in board.routes if route.color == route_color)
        tracks = [
            g for g in drawing.iter(f"{SVG}g") if f" {route_color}, " in (g.findtext(f"{SVG}title") or "")
        ]
        assert sum(len(track.findall(f"{SVG}polygon")) for track in tracks) == spaces
        assert len({track.get("fill") for track in tracks}) == 1
    written = [text.text for text in drawing.iter(f"{SVG}text")]
    assert {city.name for city in board.cities if not city.junction} <= set(written)


def test_the_drawing_marks_ferries_tunnels_and_doubts() -> None:
    asia = draw_board(shipped_board("team_asia"))
    marks = Counter(re.findall(r">([4-6?])</text>", asia))
    assert marks == {"4": 3, "5": 3, "6": 4, "?": 5 + 1}  # and one in the legend
    kingdom = draw_board(shipped_board("united_kingdom"))
    locomotives = sum(route.locomotives for route in shipped_board("united_kingdom").routes)
    assert kingdom.count("evenodd") == locomotives + 1  # and one in the legend


def test_parallel_tracks_lie_side_by_side() -> None:
    tracks = [
        {"id": f"a-b-{color}", "a": "a", "b": "b", "length": 1, "color": color, "parallel": 2}
        for color in ("red", "blue")
    ]
    drawing = ElementTree.fromstring(draw_board(small_board(routes=tracks)))
    outlines = [
        {tuple(map(float, point.split(","))) for point in polygon.get("points", "").split()}
        for polygon in drawing.iter(f"{SVG}polygon")
    ]
    assert len(outlines) == 2
    assert not outlines[0] & outlines[1]
    (x, y), (other_x, other_y) = (
        (sum(x for x, _ in outline) / len(outline), sum(y for _, y in outline) / len(outline))
        for outline in outlines
    )
    assert ((x - other_x) ** 2 + (y - other_y) ** 2) ** 0.5 == pytest.approx(17, abs=0.2)


def test_the_drawing_is_always_the_same() -> None:
    assert draw_board(shipped_board("usa")) == draw_board(shipped_board("usa"))


def test_a_name_cannot_break_out_of_the_drawing() -> None:
    name = "</text><script>\"&'"
    cities = [{"id": "a", "name": name, "x": 0, "y": 0}, {"id": "b", "name": "B", "x": 90, "y": 40}]
    drawing = ElementTree.fromstring(draw_board(small_board(cities=cities, title=name, provenance=name)))
    assert not list(drawing.iter(f"{SVG}script"))
    assert [text.text for text in drawing.iter(f"{SVG}text")].count(name) == 3


@pytest.mark.parametrize("place", [(0, 0), (1000, 1000), (0.01, 0)])
def test_cities_at_one_place_are_drawn_somehow(place: tuple[float, float]) -> None:
    cities = [{"id": id, "name": id, "x": x, "y": y} for id, (x, y) in {"a": (0, 0), "b": place}.items()]
    routes = [{"id": "a-b", "a": "a", "b": "b", "length": 9, "color": "red", "locomotives": 9, "tunnel": 3}]
    drawing = draw_board(small_board(cities=cities, routes=routes))
    assert len(list(ElementTree.fromstring(drawing).iter(f"{SVG}polygon"))) == 9
    assert "nan" not in drawing


def test_a_route_of_one_point_is_worth_one_point(capsys: pytest.CaptureFixture[str]) -> None:
    assert boards("show", "usa", "--svg", "-") == 0
    titles = [
        title.text or "" for title in ElementTree.fromstring(capsys.readouterr().out).iter(f"{SVG}title")
    ]
    routes = [title for title in titles if "point" in title]
    assert any(title.endswith("1 gray, 1 point") for title in routes)
    assert not any(title.endswith(" 1 points") for title in routes)


def test_the_drawing_is_written_to_a_file_or_to_stdout(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "usa.svg"
    assert boards("show", "usa", "--svg", str(path)) == 0
    assert boards("show", "usa", "--svg", "-") == 0
    assert capsys.readouterr().out == path.read_text(encoding="utf-8") == draw_board(shipped_board("usa"))


# A position of a match


@pytest.fixture(scope="module")
def replay(tmp_path_factory: pytest.TempPathFactory) -> str:
    [row, *_] = stellwerk.run_match(["random", "random"], seed="a", replays=tmp_path_factory.mktemp("games"))
    return row["replay"]


def test_a_position_of_a_replay_is_drawn(replay: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert boards("show", "--replay", replay, "--at", "40", "--seat", "1", "--svg", "-") == 0
    assert capsys.readouterr().out == stellwerk.positions(replay, 1)[40].svg
    assert boards("show", "--replay", replay, "--svg", "-") == 0
    assert capsys.readouterr().out == stellwerk.positions(replay)[-1].svg


def test_a_view_is_drawn_on_its_board(
    replay: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    position = stellwerk.positions(replay, 0)[30]
    file = tmp_path / "ask.json"
    file.write_bytes(b'{"type":"ask","view":%b}' % encode(position.view))
    assert boards("show", "usa", "--view", str(file), "--svg", "-") == 0
    drawn = capsys.readouterr().out
    assert ", of seat " in drawn
    assert drawn == position_of(shipped_board("usa"), encode(position.view)).svg


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (
            ("--replay", "REPLAY"),
            "--replay and --view draw a position: say where with --svg FILE, or --svg -",
        ),
        (
            ("--replay", "REPLAY", "--svg", "-", "--at", "9999"),
            "--at 9999: this match has the positions 0 .*",
        ),
        (("--replay", "REPLAY", "--svg", "-", "--seat", "2"), ".*: there is no seat 2: the seats .* 0 to 1"),
        (
            ("--replay", "absent.jsonl", "--svg", "-"),
            "absent.jsonl: cannot be read: No such file or directory",
        ),
        (("usa", "--replay", "REPLAY", "--svg", "-"), "--replay: leave GAME_OR_FILE out, .*"),
        (("--view", "REPLAY", "--svg", "-"), "--view: expected GAME_OR_FILE, and neither --at nor --seat"),
        (("usa", "--view", "REPLAY", "--svg", "-"), ".*: expected a view, or an ask with a view: .*"),
        (("--replay", __file__, "--svg", "-"), r".*test_boards\.py:1: .*"),
        (("usa", "--at", "3", "--svg", "-"), "--at and --seat: only with --replay"),
    ],
)
def test_what_is_no_position_is_refused_in_one_line(
    words: tuple[str, ...], message: str, replay: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert boards("show", *(replay if word == "REPLAY" else word for word in words)) == 2
    printed = capsys.readouterr()
    assert printed.out == ""
    assert re.fullmatch(f"stellwerk: {message}\n", printed.err)


def test_a_drawing_that_cannot_be_written_is_told(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert boards("show", "usa", "--svg", str(tmp_path)) == 2
    assert capsys.readouterr() == ("", f"stellwerk: {tmp_path}: cannot be written: Is a directory\n")


# A stdout that does not take everything


def test_a_reader_who_has_seen_enough_is_no_fault() -> None:
    reader, writer = os.pipe()
    os.close(reader)
    ended = boards_process("show", "usa", stdout=writer)
    os.close(writer)
    assert (ended.returncode, ended.stderr) == (1, "")


def test_a_full_disk_is_told() -> None:
    with open("/dev/full", "w") as full:
        ended = boards_process("show", "usa", stdout=full)
    assert (ended.returncode, ended.stderr) == (
        4,
        "stellwerk: standard output: cannot be written: No space left on device\n",
    )


@pytest.mark.parametrize("encoding", ["ascii", "latin-1", "utf-8"])
def test_every_encoding_of_a_terminal_will_do(encoding: str) -> None:
    options = {"stdout": subprocess.PIPE, "env": {"PYTHONIOENCODING": encoding}, "encoding": encoding}
    text = boards_process("show", "usa", **options)
    as_json = boards_process("show", "usa", "--json", **options)
    svg = boards_process("show", "usa", "--svg", "-", **options)
    assert (text.stderr, as_json.stderr, svg.stderr) == ("", "", "")
    assert ("Montr\\xe9al" if encoding == "ascii" else "Montréal") in text.stdout
    assert parse_board(as_json.stdout, "usa.json").digest == shipped_board("usa").digest
    names = [text.text for text in ElementTree.fromstring(svg.stdout).iter(f"{SVG}text")]
    assert "Montréal" in names
