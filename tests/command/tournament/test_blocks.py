"""Blocks that travel: `export`, `block` and `merge`, as an organizer and a machine elsewhere use them."""

from __future__ import annotations

import json
import os
import shlex
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, Final

import msgspec
import pytest
from msgspec import UNSET

from stellwerk.__main__ import main
from stellwerk.tournament.merge import MOST_NAMED
from stellwerk_processes.bench.levels import SandboxRecord
from stellwerk_processes.faults import Fault
from stellwerk_tournament.blocks.files import (
    BlockResult,
    decode_order,
    decode_result,
    encode_order,
    encode_result,
)
from tests.command.program import REPOSITORY, SECONDS, environment
from tests.command.tournament.travelling import (
    HOUSE,
    MEASURED,
    cup,
    did,
    exported,
    outcome,
    played_by_many,
    replays,
)

pytestmark = pytest.mark.xdist_group("travelling blocks")

PROGRAM = """
import pathlib, runpy, sys
sys.path.insert(0, {path!r})
sys.argv = ["bot", "greedy"]
assert pathlib.Path(__file__).with_name("weights.txt").read_text() == "heavy"
print("here I am", file=sys.stderr)
runpy.run_module("stellwerk_bots", run_name="__main__")
"""


@dataclass(frozen=True)
class Travelled:
    """The same tournament played by one process, and by blocks that travelled but are not merged yet."""

    one: Path
    cup: Path
    orders: list[Path]
    results: list[Path]

    def copy(self, folder: Path) -> Path:
        shutil.copytree(self.cup, folder)
        return folder

    def order_of(self, result: Path) -> bytes:
        return (self.orders[0].parent / result.with_suffix(".block").name).read_bytes()


@pytest.fixture(scope="module")
def travelled(tmp_path_factory: pytest.TempPathFactory) -> Travelled:
    folder = tmp_path_factory.mktemp("travelled")
    one = cup(folder / "one")
    did("run", one, "--seed", "s", "--progress", "none")
    played = cup(folder / "cup")
    orders = exported(played, folder / "orders", "--seed", "s")
    return Travelled(one, played, orders, played_by_many(orders, folder / "results"))


def tampered(travelled: Travelled, result: Path, change: Callable[[BlockResult], BlockResult]) -> bytes:
    """Return a result that was changed by who has the order, and so can seal it."""
    secret = bytes.fromhex(decode_order(travelled.order_of(result)).secret)
    read, _, _ = decode_result(result.read_bytes())
    return encode_result(change(read), secret)


# -- the same, wherever it is played -----------------------------------------------------------------


def test_replays_and_ratings_are_the_same_byte_for_byte_by_one_process_and_by_blocks_that_travelled(
    travelled: Travelled, tmp_path: Path
) -> None:
    merged = travelled.copy(tmp_path / "cup")
    did("merge", merged, *reversed(travelled.results))
    assert replays(merged) == replays(travelled.one)
    assert (merged / "ratings.json").read_bytes() == (travelled.one / "ratings.json").read_bytes()
    assert outcome(merged) == outcome(travelled.one)
    did("verify", merged)
    assert "6 complete" in did("status", merged).stdout


def test_the_page_lists_every_field_of_a_line_that_is_measured() -> None:
    page = (REPOSITORY / "tournament" / "MACHINES.md").read_text()
    section = page.partition("\n## ")[0]
    assert [name for name in sorted(MEASURED) if f"`{name}`" not in section] == []


def test_the_files_of_a_block_are_private(travelled: Travelled) -> None:
    for path in (*travelled.orders, *travelled.results):
        assert path.stat().st_mode & 0o777 == 0o600


def test_an_order_tells_the_secret_of_no_other_block(travelled: Travelled) -> None:
    secrets = [decode_order(path.read_bytes()).secret for path in travelled.orders]
    assert len(set(secrets)) == len(secrets)
    for path, own in zip(travelled.orders, secrets, strict=True):
        assert [secret for secret in secrets if secret.encode() in path.read_bytes()] == [own]


def test_exporting_again_writes_the_same_files_until_they_are_merged(
    travelled: Travelled, tmp_path: Path
) -> None:
    folder = travelled.copy(tmp_path / "cup")
    again = exported(folder, tmp_path / "again", "--seed", "s")
    assert [path.read_bytes() for path in again] == [path.read_bytes() for path in travelled.orders]
    did("merge", folder, *travelled.results[:4])
    left = exported(folder, tmp_path / "left", "--seed", "s")
    assert [path.name for path in left] == [path.name for path in travelled.orders[4:]]


def test_resume_plays_the_blocks_that_have_not_come_back(travelled: Travelled, tmp_path: Path) -> None:
    folder = travelled.copy(tmp_path / "cup")
    did("merge", folder, *travelled.results[1:5])
    did("run", folder, "--seed", "s", "--no-preflight")
    assert outcome(folder) == outcome(travelled.one)
    refused = did("merge", folder, *travelled.results).stderr.splitlines()
    assert len(refused) == 6
    assert all("already: ignored" in line for line in refused)
    assert replays(folder) == replays(travelled.one)


# -- what merge takes in, and what it does not -------------------------------------------------------


def test_a_result_that_comes_twice_counts_once(travelled: Travelled, tmp_path: Path) -> None:
    folder = travelled.copy(tmp_path / "cup")
    first = travelled.results[0]
    done = did("merge", folder, first, first)
    assert "1 block taken in, with 2 matches; 1 ignored, 0 refused" in done.stdout
    assert "block 0 is in matches.jsonl already: ignored" in done.stderr
    before = (folder / "matches.jsonl").read_bytes()
    did("merge", folder, first)
    assert (folder / "matches.jsonl").read_bytes() == before


def test_a_result_of_another_tournament_is_refused(travelled: Travelled, tmp_path: Path) -> None:
    other = cup(tmp_path / "other")
    exported(other, tmp_path / "orders", "--seed", "s")
    assert "is of another tournament" in did("merge", other, travelled.results[0], code=1).stderr
    assert not (other / "matches.jsonl").exists()


DAMAGES: Final[Sequence[tuple[Callable[[bytes], bytes], str]]] = (
    (lambda text: text[: len(text) // 2], "is torn: its end is missing"),
    (lambda text: text[:-1], "is torn: its end is missing"),
    (lambda text: text + b"more\n", "is torn: its end is missing, or something follows it"),
    (lambda text: text.replace(b'"turns":', b'"turns":1', 1), "has been changed since its block was played"),
    (lambda _: b"", "is not a result: expected a file of 'stellwerk tournament block'"),
    (lambda _: b"\x00\xff\n", "is not a result"),
)


def expect_refused(travelled: Travelled, place: Path, bad: Sequence[tuple[bytes, str]]) -> None:
    """Merge results that are all refused, each for its reason, and a good one, which is taken in."""
    place.mkdir(exist_ok=True)
    folder = travelled.copy(place / "cup")
    paths = [place / f"{number}.result" for number in range(len(bad))]
    for path, (content, _) in zip(paths, bad, strict=True):
        path.write_bytes(content)
    done = did("merge", folder, *paths, travelled.results[1], code=1)
    assert f"1 block taken in, with 2 matches; 0 ignored, {len(bad)} refused" in done.stdout
    for path, line, (_, expected) in zip(paths, done.stderr.splitlines(), bad, strict=True):
        assert line.startswith(f"stellwerk: {path}: ")
        assert expected in line
    did("verify", folder)


def test_a_torn_or_changed_result_is_refused(travelled: Travelled, tmp_path: Path) -> None:
    text = travelled.results[0].read_bytes()
    expect_refused(travelled, tmp_path, [(damage(text), expected) for damage, expected in DAMAGES])


def _first(result: BlockResult, **changes: Any) -> BlockResult:
    match, *others = result.matches
    line = msgspec.structs.replace(match.line, **changes)
    return msgspec.structs.replace(result, matches=(msgspec.structs.replace(match, line=line), *others))


def _seat(result: BlockResult, **changes: Any) -> BlockResult:  # any value, right or wrong
    one, *others = result.matches[0].line.bots
    return _first(result, bots=(msgspec.structs.replace(one, **changes), *others))


def _negative(name: str, result: BlockResult) -> BlockResult:
    return _seat(result, **{name: -1})


def _machine(result: BlockResult, **changes: Any) -> BlockResult:
    machine = result.matches[0].line.machine
    assert machine is not UNSET
    return _first(result, machine=msgspec.structs.replace(machine, **changes))


def _swapped(result: BlockResult) -> BlockResult:
    one, other = result.matches
    return msgspec.structs.replace(
        result,
        matches=(
            msgspec.structs.replace(one, replay=other.replay),
            msgspec.structs.replace(other, replay=one.replay),
        ),
    )


def _with_printed(result: BlockResult) -> BlockResult:
    match, *others = result.matches
    printed = tuple((bot, ("x" * 1_000_000,)) for bot, _ in match.printed)
    return msgspec.structs.replace(result, matches=(msgspec.structs.replace(match, printed=printed), *others))


def _without_replay(result: BlockResult) -> BlockResult:
    match, *others = result.matches
    return msgspec.structs.replace(result, matches=(msgspec.structs.replace(match, replay=b"{}"), *others))


def _with_times(result: BlockResult, times: bytes) -> BlockResult:
    match, *others = result.matches
    return msgspec.structs.replace(result, matches=(msgspec.structs.replace(match, times=times), *others))


HIGHER: Final = SandboxRecord("namespace", "limits")
TIMES: Final = (
    *("asks", "used_ms", "slowest_ms", "cpu_ms", "answer_cpu_ms", "slowest_answer_cpu_ms", "waited_ms"),
    *("stolen_ms", "max_rss_kb"),
)
LIES: Final[Sequence[tuple[Callable[[BlockResult], BlockResult], str]]] = (
    (lambda result: msgspec.structs.replace(result, matches=result.matches[:1]), "is incomplete: rotation 1"),
    (
        lambda result: msgspec.structs.replace(result, matches=result.matches[:1] * 2),
        "each match of block 0 once",
    ),
    (lambda result: _first(result, points=(1, 2)), "records of team 0 and of its seats differ"),
    (lambda result: _first(result, turns=1), "its replay: end: its line"),
    (lambda result: _first(result, match="0" * 18), "it was dealt otherwise"),
    (lambda result: _first(result, players=("random", "greedy")), "its line is of another block"),
    (lambda result: _first(result, game="europe"), "its line is of another game"),
    (_swapped, "its replay"),
    (lambda result: _first(result, sandbox=HIGHER), "sandbox.level: expected limits, not namespace"),
    (
        lambda result: _first(result, sandbox=SandboxRecord("limits", "full")),
        "sandbox.asked: its order asks for limits, not full",
    ),
    (lambda result: _first(result, isolation="namespace"), "isolation: expected none, not namespace"),
    (lambda result: _first(result, machine=UNSET), "does not name the machine that played it"),
    (lambda result: _machine(result, name="m" * 1_000_000), "machine.name: expected 1 to 100 characters"),
    (lambda result: _machine(result, name=""), "machine.name: expected 1 to 100 characters"),
    (lambda result: _machine(result, name="m\n\x1b[31m"), "machine.name: expected 1 to 100 characters"),
    (lambda result: _machine(result, engine_ms=-1.0), "machine.engine_ms: expected 0 to"),
    (lambda result: _first(result, late_ms=-1), "late_ms: expected 0 to"),
    (lambda result: _first(result, seconds=-0.001), "seconds: expected 0 to"),
    (lambda result: _first(result, seconds=1e300), "seconds: expected 0 to"),
    (lambda result: _first(result, rules_version=2), "its replay: game: its line"),
    (lambda result: _first(result, seats=((5,), (1,))), "seats: those of the teams are [[0], [1]]"),
    (lambda result: _first(result, seats=((0,), ())), "seats: those of the teams are [[0], [1]]"),
    (lambda result: _first(result, points=()), "expected 2 players, ranks and points"),
    (lambda result: _first(result, ranks=(1, 2, 3)), "expected 2 players, ranks and points"),
    (lambda result: _seat(result, seat=1), "bots: expected one for each seat"),
    (lambda result: _seat(result, team=1), "bots: expected one for each seat"),
    (lambda result: _seat(result, process="remote"), "is house, and it says remote"),
    (lambda result: _seat(result, transport="tcp"), "transport: is there for remote bots only"),
    (lambda result: _seat(result, frozen=True), "frozen: this tournament stops no bots"),
    (lambda result: _seat(result, processors=3), "processors: expected 0, not 3"),
    (lambda result: _seat(result, suspended=True), "was kept away as suspended, and is not suspended"),
    (lambda result: _seat(result, log="/etc/passwd"), "names a file with what"),
    *((partial(_negative, name), f"bots[1].{name}: expected 0 to") for name in TIMES),
    (
        lambda result: _seat(result, faults=(Fault("garbage", -1, "refused lines"),)),
        "bots[1].faults[1].count: expected 0 to",
    ),
    (
        lambda result: _seat(result, faults=(Fault("garbage", 1, "x" * 1_000_000),)),
        "its line has more than 262,144 bytes",
    ),
    (
        lambda result: msgspec.structs.replace(result, failures=((0, "x"),) * 6),
        "says that matches of block 0 failed 6 times",
    ),
    (_without_replay, "its replay cannot be read"),
    (_with_printed, "its bots printed more than"),
    (lambda result: _with_times(result, b"{}"), "the times of its answers cannot be read"),
)


def test_a_result_that_says_what_its_replays_do_not_is_refused_though_its_seal_is_good(
    travelled: Travelled, tmp_path: Path
) -> None:
    bad = [(tampered(travelled, travelled.results[0], change), expected) for change, expected in LIES]
    for first in range(0, len(bad), MOST_NAMED):
        expect_refused(travelled, tmp_path / str(first), bad[first : first + MOST_NAMED])


_KILLED = """
import os, signal
from stellwerk_tournament.store import store
from stellwerk.__main__ import main
kept, count = getattr({owner}, {name!r}), [0]
def counted(*words, **named):
    count[0] += 1
    if count[0] == {at}:
        os.kill(os.getpid(), signal.SIGKILL)
    return kept(*words, **named)
setattr({owner}, {name!r}, counted)
main(["tournament", "merge", {folder!r}, *{results!r}])
"""


@pytest.mark.parametrize(
    ("owner", "name", "at"),
    [
        ("store.Store", "keep", 4),
        ("store", "write_whole", 3),
        ("store.Store", "_append", 2),
        ("store.Store", "_forget", 2),
    ],
)
def test_a_merge_that_is_killed_loses_nothing_and_doubles_nothing(
    travelled: Travelled, tmp_path: Path, owner: str, name: str, at: int
) -> None:
    folder = travelled.copy(tmp_path / "cup")
    results = [*map(str, travelled.results)]
    code = _KILLED.format(owner=owner, name=name, at=at, folder=str(folder), results=results)
    done = subprocess.run([sys.executable, "-c", code], env=environment(), check=False, timeout=SECONDS)
    assert done.returncode == -signal.SIGKILL
    did("merge", folder, *travelled.results)
    assert outcome(folder) == outcome(travelled.one)
    assert replays(folder) == replays(travelled.one)


# -- the machine elsewhere ---------------------------------------------------------------------------


def with_program(folder: Path) -> Path:
    """Write a cup with a bot that has files of its own, in a folder beside the cup's."""
    bot = folder / "ann"
    bot.mkdir(parents=True)
    (bot / "main.py").write_text(PROGRAM.format(path=str(REPOSITORY / "bots" / "python")))
    (bot / "weights.txt").write_text("heavy")
    bots = (
        f'name = "ann"\ncmd = "{shlex.quote(sys.executable)} ../ann/main.py"\nprocess = "reused"',
        HOUSE[2],
    )
    return cup(folder / "cup", bots, rounds=1)


def test_a_block_is_played_with_nothing_but_its_file(tmp_path: Path) -> None:
    folder = with_program(tmp_path / "here")
    [order] = exported(folder, tmp_path / "orders")
    os.rename(tmp_path / "here", tmp_path / "away")
    [result] = played_by_many([order], tmp_path / "results")
    os.rename(tmp_path / "away", tmp_path / "here")
    did("merge", folder, result)
    did("verify", folder)
    lines = [json.loads(line) for line in (folder / "matches.jsonl").read_bytes().splitlines()]
    seats = [seat for line in lines for seat in line["bots"] if seat["bot"] == "ann"]
    assert [(seat["process"], seat["faults"]) for seat in seats] == [("reused", [])] * 2
    assert "here I am" in (folder / "logs" / "ann.log").read_text()
    assert str(tmp_path) not in (folder / "matches.jsonl").read_text()


@pytest.mark.parametrize("end", [signal.SIGKILL, signal.SIGINT])
def test_nothing_of_a_block_can_be_read_before_it_is_complete(tmp_path: Path, end: signal.Signals) -> None:
    folder = with_program(tmp_path / "here")
    main = tmp_path / "here" / "ann" / "main.py"
    main.write_text(f"{main.read_text()}\n".replace("print(", "import time; time.sleep(3600); print("))
    [order] = exported(folder, tmp_path / "orders")
    temporary = tmp_path / "temporary"
    temporary.mkdir()
    command = [sys.executable, "-m", "stellwerk", "tournament", "block", str(order), "-o", f"{tmp_path}/out/"]
    with subprocess.Popen(
        command, env=environment(TMPDIR=str(temporary)), stderr=subprocess.PIPE, text=True
    ) as process:
        while not list(temporary.glob("stellwerk-block-*/bots/*/main.py")):
            assert process.poll() is None
        process.send_signal(end)
        _, complaints = process.communicate(timeout=SECONDS)
    if end == signal.SIGINT:
        assert process.returncode == 130
        assert complaints == f"stellwerk: {order}: stopped; no result was written\n"
    secret = decode_order(order.read_bytes()).secret
    seen = [path for path in temporary.rglob("*") if path.is_file()]
    assert [path for path in seen if secret.encode() in path.read_bytes() or "replay" in path.name] == []
    assert list((tmp_path / "out").iterdir()) == []


def test_a_block_that_has_its_result_is_not_played_again(travelled: Travelled, tmp_path: Path) -> None:
    before = travelled.results[0].read_bytes()
    done = did("block", travelled.orders[0], "-o", travelled.results[0])
    assert "has the result of block 0 already" in done.stdout
    assert travelled.results[0].read_bytes() == before
    refused = did("block", travelled.orders[1], "-o", travelled.results[0], code=2)
    assert "remove it, or choose another name" in refused.stderr


def _ordered(**changes: Any) -> Callable[[bytes], bytes]:
    return lambda text: encode_order(msgspec.structs.replace(decode_order(text), **changes))


UNPLAYABLE: Final[Sequence[tuple[Callable[[bytes], bytes], str]]] = (
    (lambda text: text[:-9], "is torn"),
    (
        lambda text: text.replace(b'"round":0', b'"round":1', 1),
        "is torn or has been changed: export it again",
    ),
    (lambda _: b"[[bots]]\n", "is not an order: expected a file of 'stellwerk tournament export'"),
    (_ordered(stellwerk="0.0.1"), "was written by Stellwerk 0.0.1, and this is "),
    (_ordered(rules_version=99), "has other rules of usa than are installed here"),
    (_ordered(board_digest="0" * 64), "is for another board than the one that is installed here"),
)


def test_a_file_that_cannot_be_played_here_is_refused(
    travelled: Travelled, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    bad, out = tmp_path / "bad.block", tmp_path / "result"
    for change, expected in UNPLAYABLE:
        bad.write_bytes(change(travelled.orders[0].read_bytes()))
        assert main(["tournament", "block", str(bad), "-o", str(out)]) == 2
        assert f"{bad}: {expected}" in capsys.readouterr().err
        assert not out.exists()


def test_a_machine_that_lacks_a_bots_program_refuses_its_blocks(tmp_path: Path) -> None:
    folder = with_program(tmp_path / "here")
    [order] = exported(folder, tmp_path / "orders")
    read = decode_order(order.read_bytes())
    bots = tuple(
        msgspec.structs.replace(bot, cmd=bot.cmd.replace(sys.executable, "/opt/nowhere/python"))
        if bot.cmd
        else bot
        for bot in read.settings.bots
    )
    settings = msgspec.structs.replace(read.settings, bots=bots)
    order.write_bytes(encode_order(msgspec.structs.replace(read, settings=settings)))
    done = did("block", order, "-o", tmp_path / "result", code=2)
    assert "cannot be played on this machine: bots[1].cmd" in done.stderr


def test_remote_bots_do_not_travel(tmp_path: Path) -> None:
    remote = f'name = "far"\nremote = true\ntoken_sha256 = "{"0" * 64}"'
    folder = cup(tmp_path / "cup", (HOUSE[0], remote))
    done = did("export", folder, "-o", tmp_path / "out", "--no-preflight", code=2)
    assert "far is a remote bot, which connects to the runner itself" in done.stderr
    assert not (folder / "resolved.json").exists()


# -- the schedule and the conduct --------------------------------------------------------------------


def test_a_swiss_tournament_exports_a_stage_when_the_one_before_it_has_been_merged(tmp_path: Path) -> None:
    one, folder = (cup(tmp_path / name) for name in ("one", "cup"))
    for each in (one, folder):
        text = (each / "tournament.toml").read_text().replace("rounds = 2", 'rounds = 2\nkind = "swiss"')
        (each / "tournament.toml").write_text(text)
    did("run", one, "--seed", "s", "--progress", "none")
    for number in range(2):
        [order] = exported(folder, tmp_path / f"orders-{number}", "--seed", "s")
        did("merge", folder, *played_by_many([order], tmp_path / f"results-{number}"))
    assert exported(folder, tmp_path / "none", "--seed", "s") == []
    assert outcome(folder) == outcome(one)


def test_forfeits_and_suspensions_follow_from_the_lines_in_the_order_in_which_they_were_merged(
    tmp_path: Path,
) -> None:
    bad = 'name = "bad"\ncmd = "false"'
    folder = cup(tmp_path / "cup", (bad, HOUSE[1], HOUSE[2]), rounds=3)
    text = (folder / "tournament.toml").read_text()
    (folder / "tournament.toml").write_text(
        f"{text}\n[conduct]\nsuspend_after = 3\n[clocks]\nset_up_ms = 5000\n"
    )
    results = played_by_many(exported(folder, tmp_path / "orders"), tmp_path / "results")
    other = tmp_path / "other"
    shutil.copytree(folder, other)
    for each, brought in ((folder, results), (other, results[::-1])):
        done = did("merge", each, *brought)
        assert done.stderr.count("bad is suspended after block ") == 1
        did("verify", each)
        lines = [json.loads(line) for line in (each / "matches.jsonl").read_bytes().splitlines()]
        reasons = [forfeit["reason"] for line in lines for forfeit in line.get("forfeits", ())]
        assert reasons == ["never_started"] * 4 + ["suspended"] * 8
    assert outcome(folder) != outcome(other)  # in other blocks


def test_a_machine_gets_no_name_that_a_line_may_not_have(
    travelled: Travelled, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["tournament", "block", str(travelled.orders[0]), "-o", str(tmp_path / "out.result")]
    for name in ("m" * 101, "", "m\n"):
        assert main([*words, "--machine", name]) == 2
        assert "--machine: expected 1 to 100 characters that can be printed" in capsys.readouterr().err
