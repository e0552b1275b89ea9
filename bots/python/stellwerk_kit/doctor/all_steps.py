"""All steps of the doctor, in the order in which they depend on each other."""

from __future__ import annotations

from typing import Final

from stellwerk_kit.doctor.login_steps import LINE_STEPS, LOGIN_STEPS
from stellwerk_kit.doctor.match_steps import ASK_STEPS, MATCH_STEPS
from stellwerk_kit.doctor.resume_steps import END_STEPS, RESUME_STEPS
from stellwerk_kit.doctor.steps import Step

STEPS: Final[tuple[Step, ...]] = (
    *LOGIN_STEPS,
    *MATCH_STEPS,
    *LINE_STEPS,
    *ASK_STEPS,
    *RESUME_STEPS,
    *END_STEPS,
)
NAMED: Final = {step.id: step for step in STEPS}
SERVED: Final = {name: step for name, step in NAMED.items() if step.served and "tcp" in step.transports}
"""The steps that can be played with any client that connects."""
