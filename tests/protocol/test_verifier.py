"""The second implementation, in `protocol/verifiers`, judges replays as the engine does: the pages are
sufficient.

One program judges all the replays of a test, because starting it takes longer than judging a game.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
from collections.abc import Callable, Sequence
from functools import cache
from hashlib import sha256
from pathlib import Path
from random import Random
from typing import Any, Final

import msgspec
import pytest

from stellwerk_bots.planner.policy import planner
from stellwerk_engine.boards.board_file import BoardFile, board_content, parse_board, shipped_board
from stellwerk_engine.core.state import Move, Seat, State
from stellwerk_engine.games.shipped import RULE_SETS
from stellwerk_engine.replays.verify import verify
from stellwerk_engine.replays.writer import header_of
from stellwerk_protocol.replays import Reveal, commitment
from tests.bots.starters import in_folder
from tests.engine.forms import lines_with_a_default
from tests.engine.recordings import (
    Choose,
    bodies_of,
    by_fallback,
    canonical_json,
    edited,
    game_for,
    mixed,
    record,
    resealed,
)
from tests.support import VARIANTS
from tests.tools import needs

pytestmark = needs("node")

REPOSITORY: Final = Path(__file__).resolve().parents[2]
FOLDER: Final = REPOSITORY / "protocol" / "verifiers" / "javascript"
BOARDS: Final = sorted((REPOSITORY / "server" / "stellwerk_engine" / "boards").glob("*.json"))
SECONDS: Final = 180
SALT: Final = bytes(range(32))

GOOD, UNTRUE, WRONG_USAGE, UNJUDGED = range(4)  # exit codes

Lines = Sequence[bytes]
Variant = tuple[str, int, tuple[str, ...]]


def judged(folder: Path, replays: Sequence[Lines]) -> tuple[int, list[str]]:
    """Return the exit code, and the verdict on each replay: `: ok` or `:7: not true: ...`."""
    files = [folder / f"{number}.jsonl" for number in range(len(replays))]
    for file, lines in zip(files, replays, strict=True):
        file.write_bytes(b"".join(lines))
    boards = [word for board in BOARDS for word in ("--board", str(board))]
    command = ["node", str(FOLDER / "verify.mjs"), *boards, *map(str, files)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=SECONDS, check=False)
    assert done.stderr == ""
    verdicts = done.stdout.splitlines()
    assert len(verdicts) == len(files)
    return done.returncode, [line.removeprefix(str(file)) for line, file in zip(verdicts, files, strict=True)]


# -- good ones ---------------------------------------------------------------------------------------


def with_taste(seed: str, **weights: float) -> Choose:
    """Return a random listed move, with some kinds more likely than others."""
    chance = Random(seed)

    def choose(state: State, seat: Seat, moves: list[Move]) -> Move:
        tags = [str(move.wire.__struct_config__.tag) for move in moves]
        return chance.choices(moves, [weights.get(tag, 1.0) for tag in tags])[0]

    return choose


def policies(seed: str) -> list[Choose]:
    """Return policies with which claims, tickets, long hands and empty piles all occur."""
    return [
        planner,
        mixed(seed),
        with_taste(seed, claim_route=0.05, draw_tickets=0.2),
        with_taste(seed, draw_card=20.0),
        with_taste(seed, take_card=30.0, claim_route=0.01),
        with_taste(seed, draw_tickets=0.01, claim_route=5.0),
    ]


def small_board(seed: str) -> BoardFile:
    """Return a board with few cards and many locomotives: exchanges, empty piles and passes are rare on the
    shipped one."""
    chance = Random(seed)
    cities = [f"c{number}" for number in range(chance.randint(4, 7))]
    pairs = [(city, cities[chance.randrange(number)]) for number, city in enumerate(cities) if number]
    colors = ["gray", "purple", "blue", "orange", "white", "green", "yellow", "black", "red"]
    routes: list[dict[str, object]] = []
    for a, b in pairs:
        length, tracks = chance.randint(1, 4), chance.choice([1, 1, 2])
        double: dict[str, object] = {"parallel": 2} if tracks == 2 else {}
        for track in range(tracks):
            color = chance.choice(colors)
            routes.append(
                {"id": f"{a}-{b}-{track}", "a": a, "b": b, "length": length, "color": color} | double
            )
    chance.shuffle(routes)
    ends = [chance.sample(cities, 2) for _ in range(16)]
    numbers = chance.sample(range(100), len(ends))
    content = {
        "format": "stellwerk-board/1",
        "id": "small",
        "title": "Small",
        "provenance": "Made up for a test.",
        "cards_each_color": chance.randint(3, 5),
        "locomotives": chance.randint(5, 25),
        "trains": chance.randint(6, 16),
        "route_points": {"1": 1, "2": 2, "3": 4, "4": 7},
        "cities": [{"id": city, "name": city.upper()} for city in cities],
        "routes": routes,
        "tickets": [
            {"id": f"t{number}", "a": a, "b": b, "points": chance.randint(1, 9)}
            for number, (a, b) in zip(numbers, ends, strict=True)
        ],
    }
    return parse_board(json.dumps(content), "small.json")


def test_recorded_games_are_good(tmp_path: Path) -> None:
    replays: list[list[bytes]] = []
    for number in range(60):
        seats = 2 + number % 4
        board = small_board(f"{number}") if number % 3 == 2 else None
        choose = policies(f"{number}")[number % 6]
        late = (number % seats,) if number % 4 == 1 else ()
        seed = sha256(b"%d" % number).digest()
        game = game_for("usa", seats, board=board)
        replays.append(record(game, choose, seed=seed, late_seats=late, reveal_at_end=number % 5 == 0))
    code, printed = judged(tmp_path, replays)
    assert [line for line in printed if line != ": ok"] == []
    assert code == GOOD
    text = b"".join(line for lines in replays for line in lines)
    for rare in (
        b'"by":"fallback"',
        b'"market_exchanged"',
        b'"reason":"all_passed"',
        b'"passed"',
        b'"bonus"',
    ):
        assert text.count(rare) > 5, rare
    assert {len(json.loads(lines[0])["seats"]) for lines in replays} == {2, 3, 4, 5}


def test_recorded_games_of_every_variant_are_good(tmp_path: Path) -> None:
    replays: list[list[bytes]] = []
    for number, (game_id, seats, options) in enumerate(VARIANTS):
        game = game_for(game_id, seats, options)
        for at_end in (False, True):
            choose = policies(f"{number}")[1 + (2 * number + at_end) % 5]
            late = (0,) if at_end else ()
            seed = sha256(b"%d" % number).digest()
            replays.append(record(game, choose, seed=seed, late_seats=late, reveal_at_end=at_end))
    assert judged(tmp_path, replays) == (GOOD, [": ok"] * len(replays))


def test_names_notes_and_a_commitment_are_good(tmp_path: Path) -> None:
    code, printed = judged(tmp_path, [committed(reveal_at_end=at_end) for at_end in (False, True)])
    assert (code, printed) == (GOOD, [": ok", ": ok"])


def test_its_dice_keep_to_the_vectors() -> None:
    done = in_folder(("node", "--test"), FOLDER, SECONDS)
    assert done.returncode == 0, done.stdout


def test_modules_that_a_browser_loads_need_nothing_of_node() -> None:
    texts = {file.name: file.read_text() for file in FOLDER.glob("*.mjs") if ".test." not in file.name}
    commands = {name for name, text in texts.items() if text.startswith("#!")}
    assert commands >= {"verify.mjs", "keep_views.mjs", "compare_games.mjs"}
    for name, text in texts.items():
        if name not in commands:
            assert re.findall(r'"node:|\b(?:Buffer|process|require)\b[.(]', text) == [], name
            imported = re.findall(r'from "\./(.+?)"', text)
            assert not commands.intersection(imported), name


# -- forged ones -------------------------------------------------------------------------------------


@cache
def committed(*, reveal_at_end: bool) -> tuple[bytes, ...]:
    """Return a match of three as a server records it, in which one seat is always late."""
    game = game_for("usa", 3)
    header = header_of(game, ["Alice", "bob-2", "C"], match="k3v9TzQw")
    seed = sha256(b"committed").digest()
    fixed = commitment(header, Reveal(seed.hex(), SALT.hex()))
    header = msgspec.structs.replace(header, commitment=fixed)
    choose = with_taste("committed", draw_tickets=0.3)
    return tuple(
        record(
            game,
            choose,
            seed=seed,
            salt=SALT,
            header=header,
            reveal_at_end=reveal_at_end,
            late_seats=(1,),
            note="über \u001b[2J",
        )
    )


SEED_REVEALED = pytest.mark.parametrize(
    "reveal_at_end", [False, True], ids=["revealed-first", "revealed-last"]
)


Edit = Callable[[Any], object]  # Any: the JSON of a line, to be made wrong in any way


def line_with(lines: Lines, holds: Callable[[Any], object]) -> int:
    """Return the number of the first line with such JSON."""
    return next(number for number, line in enumerate(lines, 1) if holds(json.loads(line)))


def event_in(line: Any, kind: str) -> Any:
    return next((event for event in line.get("events", []) if event["type"] == kind), None)


def own_move(lines: Lines, kind: str) -> int:
    return line_with(lines, lambda line: line.get("move", {}).get("type") == kind and "by" not in line)


def the(lines: Lines, kind: str) -> int:
    return line_with(lines, lambda line: line["type"] == kind)


def put(path: str, value: object) -> Edit:
    """Set `value` at a path of names and positions."""
    *places, last = [int(part) if part.isdigit() else part for part in path.split("/")]

    def edit(line: Any) -> None:
        for place in places:
            line = line[place]
        line[last] = value

    return edit


def in_event(lines: Lines, kind: str, edit: Edit) -> tuple[int, Edit]:
    return line_with(lines, lambda line: event_in(line, kind)), lambda line: edit(event_in(line, kind))


def in_team(lines: Lines, seat: int, edit: Edit) -> tuple[int, Edit]:
    return the(lines, "end"), lambda line: edit(line["result"]["teams"][seat])


def add(field: str, number: int = 1) -> Edit:
    return lambda value: value.__setitem__(field, value[field] + number)


def swap_tickets(event: Any) -> None:
    event["tickets"][0], event["tickets"][1] = event["tickets"][1], event["tickets"][0]


FORGERIES: Final[dict[str, Callable[[Lines], tuple[int, Edit]]]] = {
    "another seed": lambda lines: (the(lines, "reveal"), put("seed", "0" * 64)),
    "another salt": lambda lines: (the(lines, "reveal"), put("salt", "0" * 64)),
    "no salt": lambda lines: (the(lines, "reveal"), lambda line: line.pop("salt")),
    "another name": lambda lines: (1, put("seats/0/name", "Bob")),
    "a match that is none": lambda lines: (1, put("match", "k3 v9")),
    "another match": lambda lines: (1, put("match", "k3v9TzQx")),
    "another commitment": lambda lines: (1, put("commitment", "0" * 64)),
    "an option": lambda lines: (1, put("options", ["open_stacks"])),
    "a sixth seat": lambda lines: (1, lambda line: line["seats"].extend([{}, {}, {}])),
    "a field too many": lambda lines: (1, put("server", "mine")),
    "a name that is none": lambda lines: (1, put("seats/0/name", "two words")),
    "another card dealt": lambda lines: in_event(lines, "cards_dealt", put("cards", {"locomotive": 4})),
    "another market": lambda lines: in_event(lines, "cards_laid_open", put("cards", {"red": 5})),
    "other tickets offered": lambda lines: in_event(lines, "tickets_offered", swap_tickets),
    "another card drawn": lambda lines: in_event(
        lines, "card_drawn", lambda event: put("card", "red" if event["card"] != "red" else "blue")(event)
    ),
    "a card that is not open": lambda lines: (own_move(lines, "take_card"), put("move/card", "gold")),
    "a claim of a route that is taken": lambda lines: (
        own_move(lines, "claim_route") + 20,
        put("move", first_claim(lines)),
    ),
    "a claim with too few cards": lambda lines: (
        own_move(lines, "claim_route"),
        put("move/cards", {"locomotive": 1}),
    ),
    "a claim with no cards": lambda lines: (
        own_move(lines, "claim_route"),
        lambda line: line["move"].pop("cards"),
    ),
    "a pass": lambda lines: (own_move(lines, "draw_card"), put("move", {"type": "pass"})),
    "too few tickets kept": lambda lines: (
        own_move(lines, "keep_tickets"),
        lambda line: line["move"]["tickets"].clear(),
    ),
    "tickets kept in another order": lambda lines: (
        line_with(lines, lambda line: len(line.get("move", {}).get("tickets", [])) > 1 and "by" not in line),
        lambda line: line["move"]["tickets"].reverse(),
    ),
    "a move of another seat": lambda lines: (own_move(lines, "draw_card"), add("seat")),
    "a move that is no fallback": lambda lines: (own_move(lines, "claim_route"), put("by", "fallback")),
    "a reason for no fallback": lambda lines: (own_move(lines, "draw_card"), put("reason", "time")),
    "a reason that is none": lambda lines: (
        line_with(lines, lambda line: "by" in line),
        put("reason", "Time"),
    ),
    "a note that is too long": lambda lines: (own_move(lines, "draw_card"), put("note", "x" * 201)),
    "an event less": lambda lines: (own_move(lines, "draw_card"), lambda line: line["events"].pop()),
    "an event twice": lambda lines: (
        own_move(lines, "draw_card"),
        lambda line: line["events"].append(line["events"][0]),
    ),
    "points for a route": lambda lines: in_event(lines, "route_claimed", add("points")),
    "trains for a route": lambda lines: in_event(lines, "route_claimed", add("trains", -1)),
    "another pile": lambda lines: in_event(lines, "pile_shuffled", add("count")),
    "a turn too many": lambda lines: in_event(lines, "turn_started", add("turn")),
    "a last round that is longer": lambda lines: in_event(lines, "last_round", add("turns_left")),
    "points": lambda lines: in_team(lines, 0, add("points")),
    "a ticket completed": lambda lines: in_team(
        lines, 1, lambda team: put("completed", True)(incomplete(team))
    ),
    "a longest path": lambda lines: in_team(lines, 2, add("longest_path")),
    "a bonus": lambda lines: in_team(
        lines,
        0,
        lambda team: put("bonuses", [{"bonus": "longest_path", "points": 10}] * (not team["bonuses"]))(team),
    ),
    "ranks": lambda lines: (the(lines, "end"), lambda line: line["result"]["ranks"].reverse()),
    "a reason of the end": lambda lines: (the(lines, "end"), put("result/reason", "idle")),
    "a number as text": lambda lines: (own_move(lines, "draw_card"), put("seat", "0")),
    "a seat that is not there": lambda lines: (own_move(lines, "draw_card"), put("seat", 7)),
}


def first_claim(lines: Lines) -> Any:
    return json.loads(lines[own_move(lines, "claim_route") - 1])["move"]


def incomplete(team: Any) -> Any:
    return next(ticket for ticket in team["tickets"] if not ticket["completed"])


def respelled(lines: Lines, number: int, old: bytes, new: bytes) -> list[bytes]:
    """Write one line in another form of JSON, and repair the chain."""
    bodies = bodies_of(lines)
    assert old in bodies[number - 1]
    bodies[number - 1] = bodies[number - 1].replace(old, new, 1)
    return resealed(bodies)


def with_a_seat_flipped(lines: Lines, number: int) -> list[bytes]:
    """Change the first seat in one line, as a forger would who knows nothing of the chain."""

    def flipped(seat: re.Match[bytes]) -> bytes:
        return b'"seat":%d' % (1 - min(int(seat[1]), 1))

    line, count = re.subn(rb'"seat":(\d)', flipped, lines[number - 1], count=1)
    assert count == 1
    return [*lines[: number - 1], line, *lines[number:]]


def raw_forgeries(sound: Lines) -> dict[str, Lines]:
    lines, bodies = list(sound), bodies_of(sound)
    reveal, set_up, end = (the(sound, kind) - 1 for kind in ("reveal", "set_up", "end"))
    return {
        **{f"a seat flipped in line {line}": with_a_seat_flipped(lines, line) for line in (3, 10, 20, 50)},
        "a changed byte": [*lines[:9], lines[9].replace(b"move", b"hove", 1), *lines[10:]],
        "a line less": [*lines[:14], *lines[15:]],
        "lines in another order": [*lines[:9], lines[10], lines[9], *lines[11:]],
        "a blank": respelled(lines, 10, b":", b": "),
        "a name twice": respelled(lines, 10, b'"type"', b'"type":"move","type"'),
        "a number with a point": respelled(lines, own_move(lines, "draw_card"), b'"seat":0', b'"seat":0.0'),
        "an escape": respelled(lines, 10, b'"move"', b'"mov\\u0065"'),
        "no UTF-8": respelled(lines, 10, "über".encode(), b"\xfcber"),
        "a move less": resealed([*bodies[:30], *bodies[31:]]),
        "a move twice": resealed([*bodies[:31], *bodies[30:]]),
        "an end too early": resealed([*bodies[:40], *bodies[end:]]),
        "a line behind the end": resealed([*bodies, bodies[end]]),
        "the seed revealed twice": resealed([*bodies[: reveal + 1], *bodies[reveal:]]),
        "no set-up": resealed([*bodies[:set_up], *bodies[set_up + 1 :]]),
        "another ending of a line": [*lines[:-1], lines[-1][:-1] + b"\r\n"],
        "another label of the chain": [
            lines[0].replace(b'"hash":"', b'"hash":"0')[:-4] + b'"}\n',
            *lines[1:],
        ],
    }


@SEED_REVEALED
def test_a_forgery_is_found_at_the_line_at_which_the_engine_finds_it(
    tmp_path: Path, reveal_at_end: bool
) -> None:
    lines = committed(reveal_at_end=reveal_at_end)
    forged = raw_forgeries(lines)
    for name, tampering in FORGERIES.items():
        number, edit = tampering(lines)
        forged[name] = edited(lines, number, edit)
        assert forged[name] != list(lines), name
    code, printed = judged(tmp_path, list(forged.values()))
    assert code == UNTRUE
    wrong_lines: dict[str, int] = {}
    for name, line in zip(forged, printed, strict=True):
        match = re.fullmatch(r":(\d+): not true: .+", line)
        assert match, (name, line)
        wrong_lines[name] = int(match[1])
    verdicts = {name: verify(lines) for name, lines in forged.items()}
    assert {name: verdict.fault for name, verdict in verdicts.items()} == dict.fromkeys(forged, "differs")
    assert wrong_lines == {name: verdict.line for name, verdict in verdicts.items()}


def test_a_default_that_is_written_out_is_found_by_both(tmp_path: Path) -> None:
    """What both say of other texts of a line is compared by the oracle, too."""
    replays = lines_with_a_default()
    code, printed = judged(tmp_path, [lines for _, lines in replays.values()])
    assert code == UNTRUE
    found = {field: int(line.split(":")[1]) for field, line in zip(replays, printed, strict=True)}
    assert found == {field: number for field, (number, _) in replays.items()}
    verdicts = {field: verify(lines) for field, (_, lines) in replays.items()}
    assert {field: (verdict.fault, verdict.line) for field, verdict in verdicts.items()} == {
        field: ("differs", number) for field, number in found.items()
    }


@SEED_REVEALED
def test_a_replay_that_cannot_be_judged_is_not_called_a_forgery(tmp_path: Path, reveal_at_end: bool) -> None:
    lines = committed(reveal_at_end=reveal_at_end)
    own = {"id": "usa", "digest": "0" * 64}
    foreign: dict[str, Lines] = {
        "another game": edited(lines, 1, put("game", "monorail")),
        "another format": edited(lines, 1, put("format", "stellwerk-replay/2")),
        "other rules": edited(lines, 1, put("rules_version", 99)),
        "another board": edited(lines, 1, put("board", own)),
        "broken off": lines[:-1],
        "broken off behind the header": lines[:1],
        "broken off behind a move": lines[:30],
        "broken off within a move": [*lines[:30], lines[30][:40]],
        "broken off within the last line": [*lines[:-1], lines[-1][:-1]],
    }
    code, printed = judged(tmp_path, list(foreign.values()))
    assert code == UNJUDGED
    wrong_lines: dict[str, int] = {}
    for name, line in zip(foreign, printed, strict=True):
        match = re.fullmatch(r":(\d+): cannot be judged: .+", line)
        assert match, (name, line)
        wrong_lines[name] = int(match[1])
    verdicts = {name: verify(foreign[name]) for name in wrong_lines}
    assert [name for name, verdict in verdicts.items() if verdict.fault in (None, "differs")] == []
    assert wrong_lines == {name: verdict.line for name, verdict in verdicts.items()}


def test_a_board_in_the_replay_is_the_one_that_its_digest_names(tmp_path: Path) -> None:
    content = json.loads(json.dumps(board_content(shipped_board("usa"))))
    content["route_points"]["1"] = 3
    lines = record(game_for("usa", 2, board=parse_board(json.dumps(content), "mine.json")), planner)
    assert "content" in json.loads(lines[0])["board"]
    own = canonical_json(content).decode()
    other = edited(lines, 1, put("board/content", own.replace('"1":3', '"1":4')))
    loose = edited(lines, 1, put("board/content", own.replace('"1":3', '"1": 3')))
    code, printed = judged(tmp_path, [lines, other, loose])
    assert code == UNTRUE
    assert [line[: len(":1: not true")] for line in printed] == [": ok", ":1: not true", ":1: not true"]


def test_a_game_takes_the_boards_that_it_takes_in_the_engine(tmp_path: Path) -> None:
    boards = {game: board_content(shipped_board(rules.board)) for game, rules in RULE_SETS.items()}
    plain = {game: json.loads(json.dumps(content)) for game, content in boards.items()}
    replays: dict[str, Lines] = {}
    for game, rules in RULE_SETS.items():
        contents = dict(plain)
        for number in (8, 14, 15, 19, 20, 23, 24, 29, 30):
            short = plain[rules.board] | {"tickets": plain[rules.board]["tickets"][:number]}
            contents[f"{game} with {number} tickets"] = short
        for each, locomotives in ((3, 1), (3, 2), (3, 5), (3, 6), (4, 3), (4, 4), (4, 5), (4, 6), (5, 3)):
            few = {"cards_each_color": each, "locomotives": locomotives}
            contents[f"{game} with {each} and {locomotives} cards"] = plain[rules.board] | few
        lines = record(game_for(game, rules.seat_counts[0]), by_fallback)
        for name, content in contents.items():
            text = canonical_json(content)
            own = {"id": content["id"], "digest": sha256(text).hexdigest(), "content": text.decode()}
            replays[f"{game} on {name}"] = edited(lines[:3], 1, put("board", own))
    _, printed = judged(tmp_path, list(replays.values()))
    taken = {name: not line.startswith(":1:") for name, line in zip(replays, printed, strict=True)}
    expected = {name: verify(lines).line != 1 for name, lines in replays.items()}
    assert taken == expected
    assert {True, False} == set(expected.values())


def test_a_wrong_command_line_is_refused() -> None:
    for words in ([], ["--board"], ["--board", "nowhere.json", "game.jsonl"], ["--seed", "1"]):
        done = subprocess.run(
            ["node", str(FOLDER / "verify.mjs"), *words],
            capture_output=True,
            text=True,
            timeout=SECONDS,
            check=False,
        )
        assert (done.returncode, done.stdout, done.stderr.count("\n")) == (WRONG_USAGE, "", 1)


def test_it_ends_quietly_when_nobody_reads_its_output(tmp_path: Path) -> None:
    file = tmp_path / "game.jsonl"
    file.write_bytes(b"".join(committed(reveal_at_end=True)))
    reading, writing = os.pipe()
    os.close(reading)
    done = subprocess.run(
        ["node", str(FOLDER / "verify.mjs"), "--board", str(BOARDS[-1]), str(file)],
        stdout=writing,
        stderr=subprocess.PIPE,
        timeout=SECONDS,
        check=False,
    )
    os.close(writing)
    assert (done.returncode, done.stderr) == (GOOD, b"")
