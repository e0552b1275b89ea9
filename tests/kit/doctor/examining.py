"""The helpers of the doctor's tests: bots as commands, and doctors with more or less patience."""

from __future__ import annotations

import sys
import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from stellwerk_kit.bot_process import Transport
from stellwerk_kit.doctor.all_steps import STEPS
from stellwerk_kit.doctor.doctor import Finding, examine
from stellwerk_kit.doctor.patient import Patience
from stellwerk_kit.doctor.steps import Examination, Step
from tests.kit.doctor.bots import Good

SECONDS = 120.0  # far more than any test needs: a test that hangs fails
FOLDER = Path(__file__).parent
SMALL_BOT = (sys.executable, str(FOLDER / "small_bot.py"))

# Far more than anything takes if a message must come, and little if none should.
PATIENT = Patience(start=60, answer=60, leave=60, come_back=60, quiet=0.1, away=0.1)
IMPATIENT = replace(PATIENT, answer=1, leave=0.2)


def command(bot: type[Good], *words: str) -> tuple[str, ...]:
    return (sys.executable, str(FOLDER / "bots.py"), bot.__name__, *words)


def doctor(
    bot: Sequence[str],
    patience: Patience = PATIENT,
    transport: Transport = "tcp",
    *,
    require_resume: bool = False,
) -> Examination:
    return Examination(tuple(bot), transport, patience, "doctor", require_resume)


def step(name: str) -> Step:
    [match] = [step for step in STEPS if step.name == name]
    return match


def findings(examination: Examination, steps: Sequence[Step] = STEPS, game: str = "usa") -> list[Finding]:
    return list(examine(examination, (game,), steps))


def ends(process: int) -> bool:
    """Test whether a killed process is gone."""
    deadline = time.monotonic() + SECONDS
    while time.monotonic() < deadline:
        if not _runs(process):
            return True
        time.sleep(0.02)
    return False


def _runs(process: int) -> bool:
    """Test whether a process runs. A dead one whose status nobody has read is still listed, but does not
    run."""
    try:
        state = Path(f"/proc/{process}/stat").read_text("utf-8").rpartition(")")[2].split()[0]
    except (FileNotFoundError, ProcessLookupError):
        return False
    return state != "Z"
