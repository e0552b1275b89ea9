"""`stellwerk kit doctor --listen`: takes the steps with any client that connects."""

from __future__ import annotations

import contextlib
import os
import subprocess
import sys
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from types import MappingProxyType

import pytest

from stellwerk.__main__ import main
from stellwerk_kit.doctor.all_steps import SERVED
from stellwerk_kit.doctor.callers import Door
from stellwerk_kit.doctor.doctor import Finding, examine_clients
from stellwerk_kit.doctor.patient import Patience
from stellwerk_kit.doctor.steps import Examination, cases_of
from tests.command.program import COMMAND, REPOSITORY, SECONDS, environment
from tests.kit.doctor import bots
from tests.kit.doctor.bots import Good
from tests.kit.doctor.examining import IMPATIENT, PATIENT, SMALL_BOT, command

ROOTS = os.pathsep.join(
    str(REPOSITORY / root) for root in ("protocol", "server", "bots/python", "tournament")
)


def connect(client: Sequence[str], address: str, **more: str) -> subprocess.CompletedProcess[str]:
    """Run a client as its author does, until it ends."""
    invitation = {"STELLWERK_ADDRESS": address, "STELLWERK_NAME": "mine", **more}
    return subprocess.run(
        client,
        env={**os.environ, "PYTHONPATH": ROOTS, **invitation},
        capture_output=True,
        text=True,
        check=False,
        timeout=SECONDS,
    )


def served(
    names: str,
    client: Sequence[str],
    game: str = "usa",
    more: Mapping[str, str] = MappingProxyType({}),
    patience: Patience = PATIENT,
) -> tuple[list[Finding], list[subprocess.CompletedProcess[str]]]:
    """Start the client again and again until all cases are over. Return the findings and all its runs."""
    steps = list(SERVED.values()) if names == "all" else [SERVED[name] for name in names.split(",")]
    begun: list[str] = []
    ended: list[subprocess.CompletedProcess[str]] = []
    door = Door()

    def play() -> list[Finding]:
        with contextlib.closing(door):  # who comes too late is refused
            examination = Examination((), "tcp", patience, "doctor", door=door)
            return list(examine_clients(examination, cases, lambda name, _: begun.append(name)))

    cases = cases_of(steps, [game])
    with ThreadPoolExecutor(1) as thread:
        judged = thread.submit(play)
        while not judged.done():
            ended.append(connect(client, f"tcp://{door.host}:{door.port}", **more))
        assert begun == [name for name, _, _ in cases]
        return judged.result(), ended


WITH_TOKEN = {"STELLWERK_TOKEN": "any"}


def test_every_case_can_be_passed_by_a_client_that_is_started_again_and_again() -> None:
    findings, _ = served("all", command(Good), more=WITH_TOKEN)
    possible = [step for step in SERVED.values() if step.cases(["usa"])]
    assert [finding.step.partition(":")[0] for finding in findings] == [step.name for step in possible]
    assert {finding.verdict for finding in findings} == {"ok"}


def test_a_client_is_told_that_a_case_is_over_and_leaves_in_peace() -> None:
    findings, ended = served("first-ask,error", SMALL_BOT, more=WITH_TOKEN)
    assert [finding.verdict for finding in findings] == ["ok", "ok"]
    assert [done.returncode for done in ended[:2]] == [0, 0]


def test_a_wrong_client_fails_its_case_and_the_next_case_goes_on() -> None:
    findings, _ = served("first-ask,ready", command(bots.WrongAsk), more=WITH_TOKEN)
    assert [finding.verdict for finding in findings] == ["FAIL", "ok"]
    assert findings[0].failure is not None
    assert "act for ask 1 (usa, keep_tickets)" in findings[0].failure.expected
    assert findings[0].failure.printed == ()


def test_a_client_that_is_always_late_fails_a_case_that_says_so() -> None:
    [finding], _ = served("in-time", command(bots.AlwaysLate), patience=IMPATIENT, more=WITH_TOKEN)
    assert finding.failure is not None
    assert finding.failure.came.endswith("the clock of this ask gave 0.5 s and 0.0 s of the bank")


@pytest.mark.parametrize(
    ("game", "players", "against"),
    [("usa", 2, ()), ("usa", 2, ("random",)), ("team_asia", 4, ("greedy", "random", "planner"))],
)
def test_a_client_without_a_token_joins(game: str, players: int, against: tuple[str, ...]) -> None:
    client = [sys.executable, "-m", "stellwerk_bots", "random", "--game", game, "--players", str(players)]
    client += ["--against", ",".join(against)] if against else []
    [finding], _ = served("first-ask", client, game)
    assert finding.verdict == "ok"


def test_a_client_that_joins_another_game_is_told_and_fails() -> None:
    client = [sys.executable, "-m", "stellwerk_bots", "random", "--game", "usa"]
    [finding], [refused, *_] = served("first-ask", client, "card_game")
    assert "protocol.wrong_value at /game: card_game" in refused.stderr
    assert finding.failure is not None
    assert "`join` for card_game with 2 players" in finding.failure.expected


def test_the_fifteen_line_bot_of_the_protocol_is_served(tmp_path: Path) -> None:
    page = (REPOSITORY / "protocol" / "README.md").read_text("utf-8")
    code = page.partition("```python\n")[2].partition("```")[0]
    address = 'os.environ["STELLWERK_ADDRESS"].rpartition(":")[2]'
    bot = tmp_path / "bot.py"
    bot.write_text(code.replace("import json", "import json, os").replace("7878", f"int({address})"), "utf-8")
    [finding], _ = served("many-lines-at-once", [sys.executable, str(bot)])
    assert finding.verdict == "ok"


def test_a_client_that_resumes_a_session_of_an_earlier_case_is_told_to_forget_it() -> None:
    """It is cut off in the first case, and comes back for the second one."""
    findings, ended = served("end,ready", command(bots.FightsForItsSeat), more=WITH_TOKEN)
    assert [finding.verdict for finding in findings] == ["ok", "ok"]
    assert len(ended) == 1


# -- the command -------------------------------------------------------------------------------------


def test_the_command_says_where_it_listens_and_ends_with_the_last_case() -> None:
    words = ["kit", "doctor", "--listen=0", "--steps=login,first-ask,stale-ask", "--game=card_game"]
    with subprocess.Popen(
        [*COMMAND, *words], env=environment(PYTHONPATH=ROOTS), stdout=subprocess.PIPE, text=True
    ) as server:
        assert server.stdout is not None
        listening, _, address = server.stdout.readline().rstrip().rpartition(" ")
        assert listening == "listening on"
        assert main(["kit", "doctor", "--listen", address.rpartition(":")[2]]) == 2  # the port is taken
        for client in (command(Good), command(bots.WrongAsk), command(Good)):
            connect(client, f"tcp://{address}", **WITH_TOKEN)
        lines = server.stdout.read().splitlines()
        assert server.wait(SECONDS) == 1
    assert [line for line in lines if not line.startswith("      ")] == [
        "next  login (card_game, 2 players)",
        "ok    login",
        "next  first ask (card_game, 2 players)",
        "FAIL  first ask",
        "next  stale ask (card_game, 2 players)",
        "ok    stale ask",
        "2 ok, 1 failed",
    ]
    assert not any("printed" in line for line in lines)


def test_what_needs_a_process_is_no_case(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["kit", "doctor", "--listen=0", "--list"]) == 0
    lines = capsys.readouterr().out.splitlines()
    names = [line.split()[0] for line in lines]
    assert names == list(SERVED)
    assert {"first-ask", "server-going-down", "end"} <= set(names)
    assert not {"another-match", "takeover", "end-of-input"} & set(names)


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (("--steps", "login,frist-ask"), 'there is no step "frist-ask"; did you mean "first-ask"?'),
        (("--steps", ","), "a name is missing"),
        (("--steps", "decision-pay_tunnel", "--game", "usa"), "no such decision in usa"),
        (("--transport", "stdio"), "--listen: goes with neither a command nor --transport stdio"),
        (("--", "./bot"), "--listen: goes with neither a command nor --transport stdio"),
        (("--game", "use"), 'did you mean "usa"?'),
    ],
)
def test_wrong_use_is_told_in_one_line(
    words: tuple[str, ...], expected: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["kit", "doctor", "--listen", "0", *words]) == 2
    printed = capsys.readouterr()
    assert printed.out == ""
    [line] = printed.err.splitlines()
    assert expected in line
