"""`tournament.toml`: what it means, and what is said of one that cannot be used."""

from __future__ import annotations

from pathlib import Path

import pytest

from stellwerk_engine.games.shipped import RULE_SETS
from stellwerk_processes.bench.local_bot import LONGEST_LINE
from stellwerk_tournament.config.machine_paths import MachinePaths
from stellwerk_tournament.config.resolved import FILE as RESOLVED
from stellwerk_tournament.config.resolved import encode, expect_same, read_resolved, resolve
from stellwerk_tournament.config.settings import (
    FILE,
    Settings,
    SettingsError,
    parse,
    settings_of,
)
from stellwerk_tournament.config.template import template
from stellwerk_tournament.config.versions import Versions

GOOD = """\
title = "cup"

[schedule]
kind = "gauntlet"
hero = "ernie"
rounds = 3

[clocks]
move_ms = 500

[[games]]
game = "usa"
players = 3

[[games]]
game = "team_asia"
weight = 2

[[bots]]
built_in = "greedy"
author = "us"

[[bots]]
name = "ernie"
cmd = "python3 bots/ernie.py --deep"
env = { THREADS = "1" }
transport = "stdio"
instances = 4

[[bots]]
name = "bert"
cmd = "true"
dir = "bots"
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "bots").mkdir()
    (tmp_path / "bots" / "ernie.py").write_text("")
    return tmp_path


def read(folder: Path, text: str) -> Settings:
    (folder / FILE).write_text(text)
    return settings_of(parse(folder), folder)


def test_a_file_says_what_is_played_and_by_whom(folder: Path) -> None:
    settings = read(folder, GOOD)
    assert (settings.kind, settings.hero, settings.rounds) == ("gauntlet", "ernie", 3)
    assert settings.names == ("greedy", "ernie", "bert")
    assert [entrant.author for entrant in settings.entrants] == ["us", None, None]
    assert [(each.choice.game_id, each.entrant_count, each.weight) for each in settings.variants] == [
        ("usa", 3, 1),
        ("team_asia", 2, 2),
    ]
    assert (settings.time.move_ms, settings.time.bank_ms) == (500, 10_000)


def test_paths_count_from_the_folder(folder: Path) -> None:
    _, ernie, bert = read(folder, GOOD).entrants
    assert ernie.bot.command == ("python3", str(folder / "bots" / "ernie.py"), "--deep")
    assert bert.bot.directory == str(folder / "bots")


def test_without_rounds_and_width_there_is_one_round(folder: Path) -> None:
    assert read(folder, GOOD.replace("rounds = 3", "")).rounds == 1
    assert read(folder, GOOD.replace("rounds = 3", "until_width = 50")).rounds is None


def test_what_init_writes_can_be_read_and_says_the_defaults(folder: Path) -> None:
    text = template(list(RULE_SETS), ["random", "greedy", "planner"])
    plain = read(folder, text)
    everything = "\n".join(
        line.removeprefix("# ") if line.startswith("# ") and " = " in line.partition("#")[2][:20] else line
        for line in text.splitlines()
        if not line.startswith(
            (
                "# hero",
                "# until_width",
                "# memory_mb",
                "# cores",
                "# tokens",
                "# name",
                "# cmd",
                "# dir",
                "# folder",
                "# require",
                "# bind",
                "# env",
            )
        )
        and not line.startswith(("# transport", "# author", "# instances", "# board", "# options", "# [["))
        and not line.startswith(("# process", "# remote =", "# token_sha256", "# version"))
    )
    assert everything != text
    assert read(folder, everything) == plain


def test_every_key_that_init_writes_is_known(folder: Path) -> None:
    """The keys are those of the two commented bots. Such a key may have another error, but it is not a
    typo."""
    lines = template(["usa"], ["random", "greedy"]).splitlines()
    begin = lines.index("# [[bots]]")
    keys = [line.removeprefix("# ").partition(" = ")[0] for line in lines[begin:] if " = " in line]
    assert {"name", "cmd", "transport", "process", "remote", "token_sha256"} <= set(keys)
    for key in keys:
        with pytest.raises(SettingsError) as refused:
            read(folder, f"{GOOD}\n[[bots]]\n{key} = []\n")
        assert "unknown key" not in str(refused.value)


HASH = "0f" * 32
REMOTE = f'[[bots]]\nname = "Anna"\nremote = true\ntoken_sha256 = "{HASH}"\n'
PAIRS = GOOD.replace('game = "team_asia"', 'game = "card_game"')


def test_a_remote_bot_is_let_in_by_its_token(folder: Path) -> None:
    """The hash is in the bot's table, or after its name in the file of tokens. Organizers are there, too."""
    (folder / "tokens").write_text(f"ANNA {'1e' * 32}\nhelga {'2d' * 32} organizer\nfranz {'3c' * 32}\n")
    *_, last = read(folder, PAIRS + REMOTE).entrants
    assert (last.name, last.is_remote) == ("Anna", True)
    assert [(login.name, login.hash) for login in last.logins] == [("Anna", HASH)]
    settings = read(folder, 'tokens = "tokens"\n' + PAIRS + REMOTE.replace("token_sha256", "# "))
    assert [login.hash for login in settings.entrants[-1].logins] == ["1e" * 32]
    assert [holder.name for holder in settings.organizers] == ["helga"]
    assert settings.remote_wait_s == 60
    assert read(folder, "remote_wait_s = 5\n" + PAIRS + REMOTE).remote_wait_s == 5


@pytest.mark.parametrize(
    ("head", "bot", "expected"),
    [
        ("", REMOTE + 'cmd = "true"', ".cmd: does not go with a remote bot"),
        ("", REMOTE + 'process = "reused"', ".process: does not go with a remote bot"),
        ("", REMOTE.replace('name = "Anna"', ""), ": a remote bot needs a name"),
        ("", REMOTE.replace("Anna", "An na"), ": bots[4].name: expected 1 to 32 of A-Z a-z 0-9"),
        ("", REMOTE.replace("token_sha256", "# "), ": expected token_sha256, or a line for Anna"),
        ("", REMOTE.replace(HASH, HASH[:-1]), ".token_sha256: expected 64 digits 0 to 9 and a to f"),
        ("", REMOTE + REMOTE.replace("Anna", "Bea"), ": somebody else has this token"),
        ('tokens = "good"\n', REMOTE.replace(HASH, "2d" * 32), ": somebody else has this token"),
        ('tokens = "no"\n', REMOTE, ":1: tokens: "),
        ('tokens = "bad"\n', REMOTE, "bad:1: expected 'NAME SHA256 [organizer]'"),
        (
            "",
            REMOTE.replace(f'"{HASH}"', f'["{HASH}", "{"1e" * 32}"]'),
            ": expected one token_sha256: no game",
        ),
        ("", f'[[bots]]\ncmd = "true"\ntoken_sha256 = "{HASH}"', ".token_sha256: goes with remote = true"),
        (
            "",
            '[[bots]]\ncmd = "true"\nprocess = "freh"',
            '.process: there is no process "freh"; did you mean "fresh"? (fresh, reused, house)',
        ),
    ],
)
def test_a_remote_bot_that_makes_no_sense_is_refused(
    folder: Path, head: str, bot: str, expected: str
) -> None:
    (folder / "good").write_text(f"helga {'2d' * 32} organizer\n")
    (folder / "bad").write_text("helga\n")
    with pytest.raises(SettingsError) as refused:
        read(folder, head + PAIRS + bot)
    assert expected in str(refused.value)


def test_only_who_wants_to_play_needs_programs_and_tokens(folder: Path) -> None:
    text = PAIRS.replace('cmd = "true"', 'cmd = "no-such-program"') + REMOTE.replace("token_sha256", "# ")
    (folder / FILE).write_text('tokens = "no"\n' + text)
    settings = settings_of(parse(folder), folder, to_play=False)
    assert settings.names == ("greedy", "ernie", "bert", "Anna")


PARTNERS = REMOTE.replace(f'"{HASH}"', f'["{HASH}", "{"1e" * 32}"]')


def test_a_remote_bot_fills_a_team_with_a_token_for_each_of_its_seats(folder: Path) -> None:
    """The hashes are in the bot's table, or after the names of the partners in the file of tokens."""
    *_, last = read(folder, GOOD + PARTNERS).entrants
    assert [(login.name, login.hash) for login in last.logins] == [("Anna.1", HASH), ("Anna.2", "1e" * 32)]
    (folder / "tokens").write_text(f"anna.2 {'2d' * 32}\nAnna.1 {'3c' * 32}\nAnna {'4b' * 32}\n")
    settings = read(folder, 'tokens = "tokens"\n' + GOOD + REMOTE.replace("token_sha256", "# "))
    partners = settings.entrants[-1].logins
    assert [(login.name, login.hash) for login in partners] == [("Anna.1", "3c" * 32), ("Anna.2", "2d" * 32)]


def test_the_matches_of_a_remote_bot_are_counted_and_not_its_seats(folder: Path) -> None:
    assert read(folder, GOOD + PARTNERS + "instances = 1").entrants[-1].instances == 1


@pytest.mark.parametrize(
    ("bot", "expected"),
    [
        (
            REMOTE,
            ': bots[4]: expected token_sha256 = ["...", "..."], or lines for Anna.1 and Anna.2 in the file',
        ),
        (REMOTE, "in team_asia it fills 2 seats, and logs in once for each of them, by these names"),
        (REMOTE.replace("token_sha256", "# "), "'stellwerk token Anna.1' draws a token"),
        (PARTNERS.replace('["', f'["{"2d" * 32}", "'), ': bots[4]: expected token_sha256 = ["...", "..."]'),
        (PARTNERS.replace("1e" * 32, HASH), ": somebody else has this token"),
        (PARTNERS.replace("1e" * 32, "1E" * 32), ".token_sha256[2]: expected 64 digits 0 to 9 and a to f"),
        (PARTNERS.replace("Anna", "a" * 31), ": bots[4].name: expected 1 to 32 of A-Z a-z 0-9"),
        (PARTNERS + '[[bots]]\nname = "anna.2"\ncmd = "true"', 'another bot of the name "anna.2"'),
        ('[[bots]]\nname = "anna.2"\ncmd = "true"\n' + PARTNERS, 'another bot of the name "Anna.2"'),
    ],
)
def test_a_remote_bot_that_cannot_fill_a_team_is_refused(folder: Path, bot: str, expected: str) -> None:
    with pytest.raises(SettingsError) as refused:
        read(folder, GOOD + bot)
    assert expected in str(refused.value)


@pytest.mark.parametrize(
    ("before", "after", "expected"),
    [
        ('title = "cup"', 'titel = "cup"', ':1: titel: unknown key; did you mean "title"?'),
        ("rounds = 3", "round = 3", ':6: schedule.round: unknown key; did you mean "rounds"?'),
        ("move_ms = 500", "move = 500", ':9: clocks.move: unknown key; did you mean "move_ms"?'),
        ("weight = 2", "wieght = 2", ':17: games[2].wieght: unknown key; did you mean "weight"?'),
        (
            "weight = 2",
            'weight = "2"',
            ":17: games[2].weight: expected a whole number, found a text in quotes",
        ),
        (
            'kind = "gauntlet"',
            'kind = "roundrobin"',
            ':4: schedule.kind: there is no kind "roundrobin"; did you mean "round_robin"? '
            "(round_robin, gauntlet, swiss, random)",
        ),
        (
            'kind = "gauntlet"',
            "kind = 3",
            ":4: schedule.kind: expected a text in quotes, found a whole number",
        ),
        ("players = 3", 'players = "3"', ":13: games[1].players: expected a whole number, found a text"),
        ("players = 3", "players = 2.5", ":13: games[1].players: expected a whole number, found a number"),
        ("weight = 2", "weight = 0", ":17: games[2].weight: expected a whole number, at least 1"),
        ("rounds = 3", "until_width = 0", ":6: schedule.until_width: expected a number, more than 0"),
        ('game = "usa"', "", ":11: games[1]: game is missing"),
        ('title = "cup"', f'title = "{201 * "x"}"', ":1: title: expected a text of at most 200 characters"),
        ('title = "cup"', "concurrency = 5000", ":1: concurrency: expected a whole number, at most 1000"),
        ('title = "cup"', "anonymous = 1", ":1: anonymous: expected true or false, found a whole number"),
        ('hero = "ernie"', 'hero = "erni"', ':5: schedule.hero: no bot has this name; did you mean "ernie"?'),
        ('game = "usa"', 'game = "use"', ':12: games[1].game: there is no game "use"; did you mean "usa"?'),
        ("players = 3", "players = 4", ":11: games[1]: 4 bots play at a table, and there are only 3"),
        ("players = 3", "players = 7", ":11: games[1]: the game usa is not played by 7"),
        ("players = 3", 'board = "no.json"', ":13: games[1].board: "),
        (
            'built_in = "greedy"',
            'built_in = "gredy"',
            ':20: bots[1].built_in: there is no built-in bot "gredy"; did you mean "greedy"?',
        ),
        ('built_in = "greedy"', "", ":19: bots[1]: expected either cmd or built_in"),
        (
            'cmd = "true"',
            'cmd = "no-such-program"',
            ':32: bots[3].cmd: there is no program "no-such-program"',
        ),
        ('dir = "bots"', 'dir = "no"', ":33: bots[3].dir: there is no folder"),
        ('title = "cup"', 'wrap = "no-such-wrap"', ':1: wrap: there is no program "no-such-wrap"'),
        ('cmd = "true"', 'cmd = ""', ":32: bots[3].cmd: expected a program and its arguments"),
        ('cmd = "true"', 'cmd = "python3 \'a"', ":32: bots[3].cmd: no closing quotation"),
        ('cmd = "true"', 'cmd = "a\\u0000"', ":32: bots[3].cmd: a null character"),
        ("env = { THREADS", "env = { 1A", ":26: bots[2].env.1A: expected the name of a variable"),
        (
            "env = { THREADS",
            "env = { STELLWERK_TOKEN",
            ":26: bots[2].env.STELLWERK_TOKEN: is set by Stellwerk itself",
        ),
        ('name = "bert"', 'name = "Ernie"', ':30: bots[3]: there is another bot of the name "Ernie"'),
        ("instances = 4", "instances = 1", ":28: bots[2].instances: team_asia needs 2 processes"),
        ("[[games]]", "[[games]", ": not TOML: "),
        ('title = "cup"', 'wrap = "\'"', ":1: wrap: no closing quotation"),
    ],
)
def test_a_file_that_cannot_be_used_is_refused_with_its_line(
    folder: Path, before: str, after: str, expected: str
) -> None:
    assert before in GOOD
    with pytest.raises(SettingsError) as refused:
        read(folder, GOOD.replace(before, after, 1))
    message = str(refused.value)
    assert message.startswith(f"{folder / FILE}{expected}")
    assert "\n" not in message
    assert "left out" not in message  # no bot was


def test_a_tournament_needs_two_bots_and_a_game(folder: Path) -> None:
    one, none = '[[games]]\ngame = "usa"\n[[bots]]\nbuilt_in = "greedy"\n', "games = []\nbots = []"
    with pytest.raises(SettingsError, match=r"toml: bots: expected at least two bots$"):
        read(folder, one)
    with pytest.raises(SettingsError, match=r":1: games: expected at least one game$"):
        read(folder, none)


def test_a_name_that_no_bot_can_have_is_refused_with_its_key(folder: Path) -> None:
    with pytest.raises(SettingsError, match=r":31: bots\[3\]\.name: expected 1 to 32 of A-Z a-z 0-9"):
        read(folder, GOOD.replace('name = "bert"', 'name = "be rt"'))


def test_a_value_of_a_bot_is_taken_as_it_is_written(folder: Path) -> None:
    """A table is not a command line: quotes and blanks in its values have a meaning only in `cmd`."""
    settings = read(folder, GOOD.replace('THREADS = "1"', r"""A = "x y", B = "it's", C = "\"" """))
    assert settings.entrants[1].bot.environment == {"A": "x y", "B": "it's", "C": '"'}


def test_a_file_that_cannot_be_executed_is_refused_with_what_to_do(folder: Path) -> None:
    with pytest.raises(SettingsError, match=r"bots\[3\]\.cmd: there is no program .* put its interpreter"):
        read(folder, GOOD.replace('cmd = "true"', 'cmd = "./ernie.py"'))


def test_what_a_tournament_was_begun_with_is_written_down_and_compared(folder: Path) -> None:
    before = resolve(read(folder, GOOD), folder, Versions("1.0"))
    (folder / RESOLVED).write_bytes(encode(before))
    assert read_resolved(folder) == before
    expect_same(
        before, resolve(read(folder, GOOD), folder, Versions("1.1")), folder
    )  # which has the same rules
    other = resolve(read(folder, GOOD.replace("move_ms = 500", "move_ms = 600")), folder, Versions("1.0"))
    with pytest.raises(SettingsError, match=r"clocks\.move_ms was 500, and is 600 now; undo that"):
        expect_same(before, other, folder)
    text = GOOD.replace('name = "bert"', 'name = "bert"\nprocess = "reused"')
    reused = resolve(read(folder, text), folder, Versions("1.0"))
    with pytest.raises(SettingsError, match=r"bots\[3\]\.process was \"fresh\", and is \"reused\" now"):
        expect_same(before, reused, folder)


def test_what_is_written_down_counts_from_the_folder(folder: Path) -> None:
    elsewhere = folder.parent / "elsewhere.py"
    elsewhere.write_text("")
    text = GOOD.replace('cmd = "true"', f'cmd = "python3 {elsewhere} {folder}/x --all"')
    resolved = resolve(read(folder, f'wrap = "env {{folder}}/bots {folder}"\n{text}'), folder, Versions(""))
    greedy, ernie, bert = resolved.bots
    assert greedy.command == ("built-in", "greedy")
    assert ernie.command == ("python3", "bots/ernie.py", "--deep")
    assert (bert.directory, bert.command) == ("bots", ("python3", ".../elsewhere.py", "x", "--all"))
    assert resolved.wrap == ("env", "bots", ".")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("{folder}/bots/ann.py: line 3", "bots/ann.py: line 3"),
        ('File "{folder}/ann.py"', 'File "ann.py"'),
        ("in {folder}.", "in .."),
        ("in {folder}: nothing", "in .: nothing"),
        ("{folder}2/x {folder}.old", ".../" + "{name}2/x .../{name}.old"),
        ("{home}/.cache/x and file://{home}/y", "~/.cache/x and file://~/y"),
        ("/usr/share/x, http://localhost/x, 3/4, /move/cards", None),
    ],
)
def test_paths_of_this_machine_are_hidden(
    folder: Path, monkeypatch: pytest.MonkeyPatch, text: str, expected: str | None
) -> None:
    monkeypatch.setenv("HOME", "/home/telltale")
    words = {"folder": str(folder), "home": "/home/telltale", "name": folder.name}
    given = text.format(**words)
    assert MachinePaths(folder).hidden(given) == (given if expected is None else expected.format(**words))


def test_a_path_that_was_cut_off_is_hidden_too(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", "/home/telltale")
    line = ("x" * 1000)[: LONGEST_LINE - 11] + "/home/tellt"
    assert MachinePaths(folder).hidden(line) == line[:-11]
    assert MachinePaths(folder).hidden('no "/home/tellta..."') == 'no "..."'
