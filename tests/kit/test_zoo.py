"""The zoo of bad bots: each costs only itself, and is detected as `protocol/conformance/zoo` says."""

from __future__ import annotations

import json
import re
import shlex
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

import pytest

from stellwerk.__main__ import main
from stellwerk_kit import zoo
from stellwerk_kit.bot_process import Transport
from stellwerk_processes.faults import BREAKDOWNS
from tests.command.program import REPOSITORY
from tests.kit.doctor.examining import IMPATIENT, PATIENT, doctor, findings, step

FILE: Final = Path(zoo.__file__)
PAGE: Final = REPOSITORY / "protocol" / "conformance" / "zoo" / "README.md"

# What the page promises of each: the faults that `play` reports, and the doctor's verdict and step.
FAULTS: Final[dict[str, set[str]]] = {
    "silent": {"hang"},
    "slow": {"time"},
    "thinker": {"hang"},
    "splitter": set(),
    "flooder": {"hang", "garbage"},
    "liar": {"illegal"},
    "deep": {"garbage"},
    "duplicate": {"garbage"},
    "half-closer": {"disconnect"},
    "crasher": {"crash"},
}
VERDICTS: Final[dict[str, tuple[str, str, str]]] = {
    "silent": ("first ask", "FAIL", "within 1 s nothing"),
    "slow": ("match", "FAIL", "late answer number 3 of this match"),
    "thinker": ("in time", "FAIL", "late answer number 3 of this match"),
    "splitter": ("match", "warn", "lines came in pieces"),
    "flooder": ("many lines at once", "FAIL", '{"type":"ping"}'),
    "liar": ("many lines at once", "FAIL", "atlantis-utopia"),
    "deep": ("match", "FAIL", "wire.too_deep"),
    "duplicate": ("first ask", "FAIL", '"act"'),
    "half-closer": ("match", "FAIL", "the end of the connection; it still runs"),
    "crasher": ("many lines at once", "FAIL", "the end of the connection; it exited with status 3"),
}


PLENTY: Final = 60_000  # ms; nobody uses them up, so no load makes a bot late
LITTLE: Final = 800  # ms; some bot uses them up


def command(name: str) -> tuple[str, ...]:
    return (sys.executable, str(FILE), name)


def played(
    capsys: pytest.CaptureFixture[str], game: str, *names: str, transport: str = "tcp", bank: int = PLENTY
) -> Any:
    """Return a match of them against `random`, as `play --json` reports it. It exits with 1 if one breaks
    down."""
    breaks_down = any(FAULTS[name] & BREAKDOWNS for name in names)
    words = ["play", game, "--bot", "random"]
    for name in names:
        quoted = shlex.quote(shlex.join(command(name)))
        words += ["--bot", f"name={name} transport={transport} cmd={quoted}"]
    assert main([*words, "--json", "--seed", "zoo", "--move-time", "100", "--bank", str(bank)]) == breaks_down
    [match] = json.loads(capsys.readouterr().out)["matches"]
    return match


def faults(match: Any) -> dict[str, set[str]]:
    return {seat["bot"]: {fault["kind"] for fault in seat.get("faults", ())} for seat in match["seats"]}


@pytest.mark.parametrize(
    "names",
    [("silent", "slow", "splitter", "flooder"), ("liar", "deep", "half-closer", "crasher"), ("thinker",)],
)
def test_a_bad_bot_costs_only_itself(names: tuple[str, ...], capsys: pytest.CaptureFixture[str]) -> None:
    """The times are short here, because some bots use them up. On a loaded machine any bot may be late, and a
    bot that is late often is not waited for."""
    match = played(capsys, "usa", *names, bank=LITTLE)
    assert sorted(seat["rank"] for seat in match["seats"])[0] == 1
    assert match["reason"] == "trains"
    kinds_of = faults(match)
    assert set(kinds_of) == {"random", *names}
    for name, kinds in kinds_of.items():
        promised = FAULTS.get(name, set())
        assert promised <= kinds | ({"time"} if "hang" in kinds else set()), name
        assert kinds - promised <= {"time", "hang"}, name


def test_an_act_sent_twice_costs_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    """Except that, if answers come fast, it sends more lines than allowed."""
    match = played(capsys, "card_game", "duplicate")
    kinds = faults(match)
    assert kinds["random"] == set()
    assert kinds["duplicate"] <= FAULTS["duplicate"]
    [seat] = [seat for seat in match["seats"] if seat["bot"] == "duplicate"]
    assert seat["defaults"] == 0


def test_the_zoo_plays_over_stdio_too(capsys: pytest.CaptureFixture[str]) -> None:
    match = played(capsys, "card_game", "splitter", "half-closer", transport="stdio")
    assert faults(match) == {"random": set(), "splitter": set(), "half-closer": {"disconnect"}}


@pytest.mark.parametrize("name", zoo.ZOO)
def test_the_doctor_finds_each_vice_at_its_step(name: str) -> None:
    where, verdict, came = VERDICTS[name]
    patience = {"silent": IMPATIENT, "thinker": IMPATIENT, "slow": replace(PATIENT, answer=3)}.get(
        name, PATIENT
    )
    [finding] = findings(doctor(command(name), patience), [step(where)])
    assert finding.verdict == verdict
    assert came in (finding.warning or (finding.failure.came if finding.failure else ""))


@pytest.mark.parametrize("transport", ["tcp", "stdio"])
def test_apart_from_its_fault_a_bot_of_the_zoo_behaves_well(transport: Transport) -> None:
    """`slow` is slow for the first time at its eighth ask."""
    steps = [step(name) for name in ("connects", "login", "first ask", "any text and number", "error", "end")]
    results = findings(doctor(command("slow"), transport=transport), steps)
    assert {finding.step: finding.verdict for finding in results} == {step.name: "ok" for step in steps}


def test_the_page_names_every_bot_with_its_fault_and_its_step() -> None:
    rows = re.findall(
        r"^\| `(.+?)` \|.*\| (.+?) \| `(.+?)`: (.+?) \|$", PAGE.read_text("utf-8"), re.MULTILINE
    )
    promised = {name: (set(re.findall("`(.+?)`", kinds)), where, how) for name, kinds, where, how in rows}
    words = {"FAIL": "failed", "warn": "a warning"}
    assert promised == {
        name: (FAULTS[name], where, words[verdict]) for name, (where, verdict, _) in VERDICTS.items()
    }
    assert list(promised) == list(zoo.ZOO)


def test_a_zoo_bot_that_no_server_started_gets_a_message(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "argv", ["zoo", "liar"])
    monkeypatch.delenv("STELLWERK_ADDRESS", raising=False)
    with pytest.raises(SystemExit) as ended:
        zoo.main()
    assert ended.value.code == 2
    assert "STELLWERK_ADDRESS is not set" in capsys.readouterr().err
