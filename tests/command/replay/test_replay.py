"""`stellwerk replay` shows people what happened and whether it is true, and never a traceback."""

from __future__ import annotations

import os
import pty
import re
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from stellwerk.__main__ import main
from stellwerk.replay.story import story
from stellwerk.shared.narration import Style
from stellwerk_bots.planner.policy import planner
from stellwerk_engine.knowledge.redact import redact
from stellwerk_engine.replays.reader import ReplayError, read_replay
from stellwerk_engine.replays.writer import header_of
from stellwerk_protocol.replays import Header, Line, MoveMade, Reveal, SetUp
from tests.engine.recordings import (
    bodies_of,
    by_fallback,
    edited,
    game_for,
    members,
    mixed,
    record,
    resealed,
    short_replay,
)
from tests.support import every_variant

REPOSITORY = Path(__file__).resolve().parents[3]
NAMES = ("alice", "bob", "carol", "dave", "erin", "frank")
PROGRAM = (sys.executable, "-m", "stellwerk", "replay")

Variant = tuple[str, int, tuple[str, ...]]


@dataclass(frozen=True)
class Done:
    code: int
    out: str
    err: str


@dataclass(frozen=True)
class Command:
    """`stellwerk replay` in this process, and a folder for its files."""

    folder: Path
    capsys: pytest.CaptureFixture[str]

    def run(self, *arguments: str | Path) -> Done:
        code = main(["replay", *map(str, arguments)])
        out, err = self.capsys.readouterr()
        return Done(code, out, err)

    def show(self, lines: Sequence[bytes], *arguments: str) -> Done:
        return self.run("show", write(self.folder / "game.jsonl", lines), *arguments)


@pytest.fixture
def command(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Command:
    return Command(tmp_path, capsys)


def write(path: Path, lines: Sequence[bytes]) -> Path:
    path.write_bytes(b"".join(lines))
    return path


def named(game_id: str, seats: int, options: tuple[str, ...] = (), **how: Any) -> list[bytes]:
    """Record a game whose players have names."""
    game = game_for(game_id, seats, options)
    return record(game, how.pop("choose", planner), header=header_of(game, NAMES[:seats]), **how)


# -- verify ------------------------------------------------------------------------------------------


def test_a_good_replay_gets_one_line(command: Command) -> None:
    file = write(command.folder / "game.jsonl", short_replay())
    done = command.run("verify", file)
    assert re.fullmatch(re.escape(str(file)) + r": ok, card_game, 2 players, \d+ turns\n", done.out)
    assert (done.code, done.err) == (0, "")


def test_of_several_files_each_is_told_and_one_bad_one_spoils_the_exit_code(command: Command) -> None:
    good = write(command.folder / "good.jsonl", short_replay())
    forged = write(command.folder / "forged.jsonl", [*short_replay()[:9], *short_replay()[10:]])
    others = edited(short_replay(), 1, lambda header: header.update(rules_version=7))
    foreign = write(command.folder / "foreign.jsonl", others)
    missing, folder = command.folder / "missing.jsonl", command.folder
    done = command.run("verify", forged, good, foreign, missing, folder)
    assert done.code == 1
    assert done.out.startswith(f"{good}: ok, ")
    assert done.out.count("\n") == 1
    errors = done.err.splitlines()
    assert errors[0].startswith(f"stellwerk: {forged}:10: hash: expected ")
    assert errors[1].startswith(f"stellwerk: {foreign}:1: played by version 7 of the rules of card_game")
    assert errors[2:] == [
        f"stellwerk: {missing}: cannot be read: No such file or directory",
        f"stellwerk: {folder}: cannot be read: Is a directory",
    ]


@pytest.mark.parametrize(
    "data", [b"", b"\x00\xff" * 1000, b"GIF89a\n\n", b"{" * 3_000_000, b"[" * 100_000 + b"\n"], ids=len
)
@pytest.mark.parametrize("subcommand", ["verify", "show"])
def test_what_is_no_replay_gets_one_line(data: bytes, subcommand: str, command: Command) -> None:
    file = write(command.folder / "no.jsonl", [data])
    done = command.run(subcommand, file)
    assert (done.code, done.out) == (1, "")
    assert re.fullmatch(re.escape(f"stellwerk: {file}") + r":1: no .*replay.*\n", done.err)


def test_a_file_name_cannot_obey_the_terminal(command: Command) -> None:
    file = write(command.folder / "a\x1b[31m\nb\udcff.jsonl", short_replay())
    done = command.run("verify", file, command.folder / "no\x1b[31m\n")
    assert "\x1b" not in done.out + done.err
    assert (done.out.count("\n"), done.err.count("\n")) == (1, 1)


# -- show --------------------------------------------------------------------------------------------


@every_variant
def test_every_game_is_told_to_its_end(variant: Variant, command: Command) -> None:
    game_id, seats, options = variant
    file = write(
        command.folder / "game.jsonl", named(game_id, seats, options, choose=mixed("told"), late_seats=(1,))
    )
    done = command.run("show", file)
    assert (done.code, done.err) == (0, "")
    lines = done.out.splitlines()
    assert lines[0].startswith(f"{game_id}: ")
    turns = [line for line in lines if re.match(r" {0,3}\d+  (alice|bob|carol|dave|erin|frank) ", line)]
    assert [int(line.split()[0]) for line in turns] == list(range(1, len(turns) + 1))
    assert f"The end, after {len(turns)} turns" in lines
    assert all(line.isprintable() for line in lines)
    assert all(re.search(r"  \S", line[4:]) for line in turns), "every turn has something to tell"
    assert "fallback, time_out" in done.out
    assert [option for option in options if option not in done.out] == []


def test_a_game_of_the_map_is_told_turn_by_turn(command: Command) -> None:
    out = command.show(named("usa", 2)).out
    for pattern in (
        r"^usa: North America, the base game$",
        r"^  Rules    version 1$",
        r"^  Players  0 alice, 1 bob$",
        r"^  Seed     [0-9a-f]{64}$",
        r"^Set-up$",
        r"^  alice is dealt (\d \w+, )*\d \w+$",
        r"^  bob keeps .* - .* \(\d+\), .*$",
        r"^   1  alice +\d+  \S",
        r"^ +\d+  (alice|bob  ) +\d+  claims [\w. ]+ - [\w. ]+ with \d \w+.*: \d+ points?$",
        r"^ +\d+  (alice|bob  ) +\d+  (takes|draws) \w+, ((takes|draws) )?\w+$",
        r"^ +the last round begins: 2 turns left$",
        r"^The turns are over: a player ran low on trains$",
        r"^ +alice +bob$|^ +bob +alice$",
        r"^  points  +\d+  +\d+$",
        r"^  rank  +1  +2$",
        r"^  Tickets of alice$",
        r"^    \+\d+   .+ - .+$",
    ):
        assert re.search(pattern, out, re.M), pattern


def test_the_points_of_the_last_turns_are_the_points_for_routes(command: Command) -> None:
    """In a team both partners' routes count."""
    out = command.show(named("team_asia", 4)).out
    so_far = {name: int(points) for name, points in re.findall(r"^ *\d+  (\w+) +(\d+)  ", out, re.M)}
    head = re.search(r"^ +(\w+) \+ (\w+)  (\w+) \+ (\w+)$", out, re.M)
    routes = re.search(r"^  routes +(\d+) +(\d+)$", out, re.M)
    assert head
    assert routes
    for team in (0, 1):
        partners = head.groups()[2 * team : 2 * team + 2]
        assert max(so_far[partner] for partner in partners) == int(routes.group(team + 1))


def test_where_a_card_goes_and_what_becomes_of_a_tunnel_is_told_in_few_words(command: Command) -> None:
    out = command.show(named("team_asia", 4)).out
    assert re.search(
        r"  draws \w+ (onto the holder|into the hand), (a )?\w+ (onto|into) the \w+$", out, re.MULTILINE
    )
    assert re.search(
        r"  tries the tunnel [^;]+; against [^:]+: [12345] more to pay, gives it up$", out, re.MULTILINE
    )
    assert re.search(r": (no|\d) more to pay, claims it with .*: \d+ points?$", out, re.M)


def test_what_befalls_others_stands_below_the_turn(command: Command) -> None:
    out = command.show(named("card_game", 4)).out
    assert re.search(
        r"^ +\d+  \w+ +\d+  .*lays .* in the yard\n +\w+ is raided and loses ", out, re.MULTILINE
    )


def test_several_seats_of_one_bot_are_told_apart(command: Command) -> None:
    game = game_for("card_game", 2)
    lines = record(game, by_fallback, header=header_of(game, ["twin", "twin"]))
    assert "0 twin/0, 1 twin/1" in command.show(lines).out


def test_seats_without_names_are_told_by_number(command: Command) -> None:
    out = command.show(short_replay()).out
    assert "  Players  0 seat 0, 1 seat 1\n" not in out
    assert "  Players  seat 0, seat 1\n" in out


def test_a_replay_that_breaks_off_is_told_until_there(command: Command) -> None:
    whole = command.show(short_replay()).out
    lines = [*short_replay()[:40], short_replay()[40][:30]]
    file = write(command.folder / "torn.jsonl", lines)
    done = command.run("show", file)
    assert done.code == 1
    assert done.err == f"stellwerk: {file}:41: the replay breaks off in the middle of this line\n"
    whole_lines, last_turn = done.out.splitlines()[:-1], done.out.splitlines()[-1]
    assert len(whole_lines) > 15
    assert whole.startswith("\n".join(whole_lines) + "\n" + last_turn.rstrip())


def test_a_replay_of_other_rules_is_told_as_far_as_it_is_understood(command: Command) -> None:
    lines = edited(short_replay(), 1, lambda header: header.update(rules_version=7))
    done = command.show(lines)
    assert (done.code, done.err) == (0, "")
    assert "version 7 (this program plays version 1)" in done.out

    lines = resealed([*bodies_of(lines)[:20], b'{"type":"applause"}'])
    done = command.show(lines)
    assert done.code == 1
    assert "game.jsonl:21: Invalid value 'applause'" in done.err
    assert "turn  player" in done.out


def test_of_an_unknown_game_the_header_is_told(command: Command) -> None:
    lines = edited(short_replay(), 1, lambda header: header.update(game="atlantis"))
    done = command.show(lines)
    assert done.code == 1
    assert done.out.startswith("atlantis\n  Rules    version 1\n")
    assert "the game atlantis is not known here" in done.err


def test_a_seat_that_the_game_does_not_have_is_an_error_of_the_file(command: Command) -> None:
    def edit(line: Any) -> None:
        line["events"].append({"card": "red", "place": "holder", "seat": 5, "type": "card_drawn"})

    file = write(command.folder / "game.jsonl", edited(short_replay(), 9, edit))
    done = command.run("show", file, "--seat", "0")
    assert done.code == 1
    assert done.err == f"stellwerk: {file}:9: seat 5, in a game of 2 players\n"


@pytest.mark.parametrize("viewer", [(), ("--seat", "0")])
def test_an_event_of_another_game_is_an_error_of_the_file(viewer: tuple[str, ...], command: Command) -> None:
    def edit(line: Any) -> None:
        line["events"].append({"route": "boston-miami", "seat": 0, "type": "tunnel_abandoned"})

    done = command.show(edited(short_replay(), 9, edit), *viewer)
    assert done.code == 1
    assert done.err.endswith(
        "game.jsonl:9: tunnel_abandoned, an event that the game card_game does not have\n"
    )


def test_control_characters_of_the_file_are_not_obeyed(command: Command) -> None:
    lines = record(game_for("usa", 2), planner, note="\x1b[2J\x07\x9b31m\n\u202e!")
    out = command.show(lines).out
    assert all(line.isprintable() for line in out.splitlines())
    assert 'notes "\\x1b[2J\\x07\\x9b31m\\n\\u202e!"' in out


# -- what a seat may see -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    "variant",
    [
        ("usa", 3, ()),
        ("united_kingdom", 2, ()),
        ("team_asia", 4, ()),
        ("card_game", 4, ("open_stacks",)),
        ("europe", 3, ()),
    ],
)
def test_a_seat_is_told_nothing_but_its_own_events(variant: Variant) -> None:
    """The events that the seat got make the same story when nothing is hidden from the reader."""
    game = game_for(*variant)
    lines = named(*variant, choose=mixed(str(variant)), late_seats=(1,))
    for viewer in range(game.seat_count):

        def seen(record: Line, viewer: int = viewer) -> Line:
            if isinstance(record, SetUp | MoveMade):
                events = tuple(redact(event, game, viewer) for event in record.events)
                return msgspec.structs.replace(record, events=events)
            return record

        seen_by_seat = [line.text for line in story(read_replay(lines), viewer)]
        own_events = [line.text for line in story(map(seen, read_replay(lines)))]
        assert seen_by_seat != own_events, "the seed is not shown to a seat"
        assert [line for line in seen_by_seat if "Seen by" not in line] == [
            line for line in own_events if "  Seed  " not in line
        ]


def test_a_seat_sees_its_own_notes_only_and_no_seed(command: Command) -> None:
    lines = named("usa", 2, note="psst")
    (seed,) = [line.seed for line in read_replay(lines) if isinstance(line, Reveal)]
    everything = command.show(lines).out
    own = command.show(lines, "--seat", "1").out
    assert everything.count('alice notes "psst"') > 0
    assert own.count('alice notes "psst"') == 0
    assert own.count('bob notes "psst"') == everything.count('bob notes "psst"') > 0
    assert seed in everything
    assert seed not in own
    assert re.search(r"^  alice keeps \d tickets?, puts back", own, re.MULTILINE)
    assert re.search(r"^  alice is dealt 4 cards$", own, re.MULTILINE)


@pytest.mark.parametrize("seat", ["2", "-1", "-2", "99999999999999999999"])
def test_a_seat_that_nobody_sits_at_is_refused(seat: str, command: Command) -> None:
    done = command.show(short_replay(), f"--seat={seat}")
    assert (done.code, done.out) == (2, "")
    assert done.err == f"stellwerk: there is no seat {seat}: the seats of this game are 0 to 1\n"


# -- any file ----------------------------------------------------------------------------------------

WORDS = st.sampled_from(["usa", "hand", "red", "keep_tickets", "turn_started", "nowhere", "\x1b[31m", ""])


@given(data=st.data(), seat=st.sampled_from([None, 0, 1]))
@settings(max_examples=200, deadline=None)
def test_any_sound_line_is_told_or_refused(data: st.DataObject, seat: int | None) -> None:
    """Lines that a forger made, so that nothing in them need be true."""
    number = data.draw(st.integers(2, len(short_replay())))

    def edit(line: Any) -> None:
        target = line
        while True:
            inner = members(target)
            key = data.draw(st.sampled_from(list(inner)))
            goes_deeper: bool = data.draw(st.booleans())
            if goes_deeper and members(inner[key]):
                target = inner[key]
            else:
                target[key] = data.draw(st.integers(0, 6) | WORDS | st.lists(st.integers(0, 6), max_size=7))
                return

    lines: list[str] = []
    records = read_replay(edited(short_replay(), number, edit))
    try:
        lines += [line.text for line in story(records, seat)]
    except ReplayError as error:
        lines.append(str(error))
    assert all(line.isprintable() for line in lines)


# -- terminals, pipes --------------------------------------------------------------------------------


def environment(**changes: str) -> dict[str, str]:
    roots = os.pathsep.join(str(REPOSITORY / root) for root in ("protocol", "server"))
    kept = {name: value for name, value in os.environ.items() if name not in ("NO_COLOR", "COLUMNS", "TERM")}
    return kept | {"PYTHONPATH": roots, "TERM": "xterm-256color"} | changes


def in_terminal(*arguments: str | Path, **changes: str) -> str:
    """Return what the command writes to a terminal."""
    ours, theirs = pty.openpty()
    with subprocess.Popen([*PROGRAM, *arguments], stdout=theirs, env=environment(**changes)) as process:
        os.close(theirs)
        written = b""
        while True:
            try:
                part = os.read(ours, 65536)
            except OSError:  # Linux says so at the end of a terminal
                break
            if not part:
                break
            written += part
        assert process.wait(timeout=60) == 0
    os.close(ours)
    return written.decode().replace("\r\n", "\n")


SGR = re.compile(r"\x1b\[[0-9;]*m")


def test_a_terminal_gets_colors_and_lines_that_fit_it(tmp_path: Path) -> None:
    file = write(tmp_path / "game.jsonl", named("team_asia", 4))
    colored = in_terminal("show", file, COLUMNS="80")
    assert "\x1b[32m1 green\x1b[0m" in colored
    plain = SGR.sub("", colored)
    assert "\x1b" not in plain
    assert max(map(len, plain.splitlines())) <= 80
    wide = SGR.sub("", in_terminal("show", file, COLUMNS="1000"))
    assert plain.split() == wide.split(), "the same words"
    assert len(plain.splitlines()) > len(wide.splitlines())


@pytest.mark.parametrize("changes", [{"NO_COLOR": "1"}, {"TERM": "dumb"}])
def test_colors_can_be_switched_off(changes: dict[str, str], tmp_path: Path) -> None:
    file = write(tmp_path / "game.jsonl", short_replay())
    assert "\x1b" not in in_terminal("show", file, COLUMNS="1000", **changes)
    assert "\x1b" in in_terminal("show", file, COLUMNS="1000", NO_COLOR="")


def test_a_file_gets_no_colors_and_no_broken_lines(tmp_path: Path) -> None:
    file = write(tmp_path / "game.jsonl", named("team_asia", 4))
    command = [*PROGRAM, "show", str(file)]
    done = subprocess.run(command, env=environment(COLUMNS="50"), capture_output=True, timeout=60, check=True)
    assert b"\x1b" not in done.stdout
    assert max(map(len, done.stdout.splitlines())) > 100


def test_who_closes_the_pipe_early_gets_no_traceback(tmp_path: Path) -> None:
    file = write(tmp_path / "game.jsonl", named("usa", 5))
    command = [*PROGRAM, "show", str(file)]
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment()
    ) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.close()
        assert process.stderr.read() == b""
        assert process.wait(timeout=60) == 1


def test_an_encoding_without_some_letters_gets_a_substitute(tmp_path: Path) -> None:
    file = write(tmp_path / "game.jsonl", named("usa", 2))
    command = [*PROGRAM, "show", str(file)]
    done = subprocess.run(
        command, env=environment(PYTHONIOENCODING="ascii"), capture_output=True, timeout=60, check=True
    )
    assert b"Montr\\xe9al" in done.stdout


def test_a_style_names_seats_and_paints_only_where_it_may() -> None:
    assert Style().name(3) == "seat 3"
    assert Style(("ann",)).name(0) == "ann"
    assert Style().paint("red", "31") == "red"
    assert Style(color=True).paint("red", "31") == "\x1b[31mred\x1b[0m"


def test_the_header_comes_first() -> None:
    assert isinstance(next(read_replay(short_replay())), Header)
