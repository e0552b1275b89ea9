"""The keys of `tournament.toml` that say how bots are confined."""

from __future__ import annotations

import json
import tomllib
from pathlib import Path

import pytest

from stellwerk_processes.bench.levels import Confinement
from stellwerk_tournament.config.resolved import encode, expect_same, resolve
from stellwerk_tournament.config.settings import FILE, Settings, SettingsError, parse, settings_of
from stellwerk_tournament.config.template import template
from stellwerk_tournament.config.versions import Versions

ANN = '[[bots]]\nname = "ann"\ncmd = "true"\n'
BOB = '[[bots]]\nname = "bob"\ncmd = "true"\n'
GAME = '\n[[games]]\ngame = "usa"\n'


def read(folder: Path, head: str, *bots: str) -> Settings:
    (folder / FILE).write_text(head + GAME + "".join(bots or (ANN, BOB)))
    return settings_of(parse(folder), folder)


def test_bots_have_the_highest_level_that_holds_unless_the_file_says_so(tmp_path: Path) -> None:
    confinement = read(tmp_path, "").confinement
    assert confinement == Confinement(level="auto", hidden=(str(tmp_path),))
    assert confinement.needs_proof
    for level in ("none", "limits"):
        assert not read(tmp_path, f'sandbox = "{level}"').confinement.needs_proof


def test_a_file_chooses_its_sandbox_with_paths_relative_to_its_folder(tmp_path: Path) -> None:
    for name in ("data", "ann"):
        (tmp_path / name).mkdir()
    head = (
        'sandbox = "auto"\nrequire = "landlock"\nbind = ["data"]\nnetwork = true\n'
        "processes = 64\ndisk_mb = 32\n"
    )
    settings = read(tmp_path, head, ANN + 'folder = "ann"\n', BOB)
    assert settings.confinement == Confinement(
        level="auto",
        require="landlock",
        bind=(str(tmp_path / "data"),),
        network=True,
        processes=64,
        disk_mb=32,
        hidden=(str(tmp_path),),
    )
    assert [entrant.bot.folder for entrant in settings.entrants] == [str(tmp_path / "ann"), None]
    assert settings.confinement.needs_proof


@pytest.mark.parametrize(
    ("head", "bots", "complaint"),
    [
        ('sandbox = "prison"', (), r":1: sandbox: .*landlock"),
        ('require = "auto"', (), r":1: require: "),
        (
            'wrap = "env"\nsandbox = "landlock"',
            (),
            ":2: sandbox: wrap takes the place of the sandbox: remove one",
        ),
        ('wrap = "env"\ndisk_mb = 9', (), ":2: disk_mb: is of the sandbox, and wrap takes its place"),
        (
            'sandbox = "limits"\nbind = ["."]',
            (),
            r':2: bind: does nothing at the level "limits": it needs "landlock" or more',
        ),
        ('sandbox = "limits"\nnetwork = true', (), ':2: network: does nothing at the level "limits"'),
        ('sandbox = "none"\nprocesses = 9', (), ':2: processes: does nothing at the level "none"'),
        ("disk_mb = 0", (), ":1: disk_mb: "),
        (
            'sandbox = "limits"\nrequire = "namespace"',
            (),
            ':2: require: the level "limits" is below it: expected sandbox = "namespace" or more, or "auto"',
        ),
        ('sandbox = "auto"\nbind = ["nowhere"]', (), ':2: bind: there is no file or folder "nowhere"'),
        ('sandbox = "auto"\nbind = [""]', (), ":2: bind: expected a path"),
        ('sandbox = "auto"\nbind = [".."]', (), ':2: bind: "..." contains the folder of the tournament'),
        ("", (ANN, BOB + 'folder = "nowhere"\n'), r':10: bots\[2\]\.folder: there is no folder "nowhere"'),
        (
            'sandbox = "landlock"',
            (ANN, BOB + 'folder = "."\n'),
            r":10: bots\[2\]\.folder: contains the tournament's folder",
        ),
        (
            'sandbox = "landlock"',
            (ANN, BOB + 'dir = "."\n'),
            r":10: bots\[2\]\.dir: contains the tournament's folder",
        ),
        ("", (ANN, BOB + 'dir = "."\n'), r':10: bots\[2\]\.dir: .* write sandbox = "limits" instead'),
        (
            "",
            (ANN, '[[bots]]\nbuilt_in = "greedy"\nfolder = "."\n'),
            r":9: bots\[2\]\.folder: does not go with a built-in bot",
        ),
    ],
)
def test_what_cannot_be_meant_is_refused_with_its_line(
    tmp_path: Path, head: str, bots: tuple[str, ...], complaint: str
) -> None:
    with pytest.raises(SettingsError, match=complaint.replace('"..."', r'"\.\."')):
        read(tmp_path, head, *bots)


def test_a_wrap_can_be_required_to_do_as_much_as_a_level(tmp_path: Path) -> None:
    assert read(tmp_path, 'wrap = "env"\nrequire = "landlock"').confinement.needs_proof
    assert not read(tmp_path, 'wrap = "env"').confinement.needs_proof


@pytest.mark.parametrize(
    ("head", "bots", "place"),
    [
        ('sandbox = "landlock"', (), 'sandbox.level was "auto", and is "landlock" now'),
        ("disk_mb = 9", (), "sandbox.disk_mb was 256, and is 9 now"),
        ("processes = 99", (), "sandbox.processes was 256, and is 99 now"),
        ("", (ANN + 'folder = "ann"\n', BOB), r'bots\[1\].folder was "", and is "ann" now'),
    ],
)
def test_a_tournament_cannot_go_on_in_another_sandbox(
    tmp_path: Path, head: str, bots: tuple[str, ...], place: str
) -> None:
    (tmp_path / "ann").mkdir()
    before = resolve(read(tmp_path, ""), tmp_path, Versions("1"))
    expect_same(before, resolve(read(tmp_path, ""), tmp_path, Versions("1")), tmp_path)
    with pytest.raises(SettingsError, match=place):
        expect_same(before, resolve(read(tmp_path, head, *bots), tmp_path, Versions("1")), tmp_path)


def test_what_is_required_can_be_added_later(tmp_path: Path) -> None:
    before = resolve(read(tmp_path, 'sandbox = "landlock"'), tmp_path, Versions("1"))
    now = resolve(read(tmp_path, 'sandbox = "landlock"\nrequire = "landlock"'), tmp_path, Versions("1"))
    expect_same(before, now, tmp_path)


def test_no_place_of_this_machine_is_written(tmp_path: Path) -> None:
    (cup := tmp_path / "cup").mkdir()
    (cup / "data").mkdir()
    (tmp_path / "elsewhere").mkdir()
    head = f'sandbox = "landlock"\nbind = ["data", "{tmp_path}/elsewhere"]\n'
    bots = (ANN + f'folder = "{tmp_path}/elsewhere"\n', BOB)
    text = encode(resolve(read(cup, head, *bots), cup, Versions("1"))).decode()
    assert json.loads(text)["sandbox"]["bind"] == ["data", ".../elsewhere"]
    assert str(tmp_path) not in text


def test_the_template_has_the_keys_with_their_defaults(tmp_path: Path) -> None:
    text = template(["usa"], ["random", "greedy"])
    keys = ("sandbox", "network", "processes", "disk_mb")
    taken = [line[2:] for line in text.splitlines() if line.startswith(tuple(f"# {key} =" for key in keys))]
    assert [line.split()[0] for line in taken] == list(keys)
    (tmp_path / FILE).write_text("\n".join(taken) + "\n" + text)
    without = read(tmp_path, "").confinement
    content = tomllib.loads("\n".join(taken))
    assert content["sandbox"] == without.level
    assert content["network"] == without.network
    assert (content["processes"], content["disk_mb"]) == (without.processes, without.disk_mb)
