"""The action in `tournament/ci` works as its users run it: its steps in order, as a runner starts them."""

from __future__ import annotations

import os
import re
import subprocess
import venv
from pathlib import Path
from typing import Any

import pytest
import yaml

from stellwerk.bots.starters import BY_LANGUAGE, copy_starter
from tests.command.program import REPOSITORY, SECONDS
from tests.tools import needs

ACTION = REPOSITORY / "tournament" / "ci"

pytestmark = [
    pytest.mark.network,
    pytest.mark.xdist_group("wheel"),  # one worker installs after the other
    needs("bash", "ensurepip", "package index"),
]


@pytest.fixture(scope="module")
def machine(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Run the first step, which installs Stellwerk for a Python where an earlier step of the job installed
    a package. Return the folder of both."""
    machine = tmp_path_factory.mktemp("machine")
    venv.create(machine / "python", symlinks=True)
    [packages] = (machine / "python" / "lib").glob("python*/site-packages")
    (packages / "worths.py").write_text("WORTH = 1\n")
    (machine / "temp").mkdir()
    done = run_step(0, machine, machine, python=str(machine / "python" / "bin" / "python"))
    assert done.returncode == 0, done.stdout + done.stderr
    return machine


def outcome(
    machine: Path, place: Path, **inputs: str
) -> tuple[subprocess.CompletedProcess[str], dict[str, str], str]:
    """Run the last step in the folder `work`: its process, the action's outputs, the job's summary."""
    done = run_step(1, machine, place, **inputs)
    outputs = dict(line.split("=", 1) for line in (place / "output").read_text().splitlines())
    return done, outputs, (place / "summary").read_text()


def run_step(number: int, machine: Path, place: Path, **inputs: str) -> subprocess.CompletedProcess[str]:
    action: Any = yaml.safe_load((ACTION / "action.yml").read_text("utf-8"))  # Any: YAML knows no types
    assert len(action["runs"]["steps"]) == 2
    step = action["runs"]["steps"][number]
    assert step["shell"] == "bash"
    all_inputs = {name: each.get("default", "") for name, each in action["inputs"].items()} | inputs
    (place / "work").mkdir(exist_ok=True)
    job = {
        **{name: text for name, text in os.environ.items() if name.startswith("PIP_")},
        "CI": "true",
        "GITHUB_ACTIONS": "true",
        "GITHUB_ACTION_PATH": str(ACTION),
        "GITHUB_OUTPUT": str(place / "output"),
        "GITHUB_STEP_SUMMARY": str(place / "summary"),
        "GITHUB_WORKSPACE": str(place / "work"),
        "HOME": str(place),
        "PATH": os.environ["PATH"],
        "RUNNER_TEMP": str(machine / "temp"),
    }
    return subprocess.run(
        ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", step["run"]],
        cwd=place / "work",
        env=job | {name: filled(text, all_inputs) for name, text in step.get("env", {}).items()},
        capture_output=True,
        text=True,
        timeout=5 * SECONDS,
        check=False,
    )


def filled(text: str, inputs: dict[str, str]) -> str:
    return re.sub(r"\$\{\{ inputs\.(\w+) \}\}", lambda found: inputs[found[1]], text)


def test_a_new_bot_in_python_passes_with_what_earlier_steps_installed(machine: Path, tmp_path: Path) -> None:
    copy_starter(BY_LANGUAGE["python"], tmp_path / "work", "mine")
    bot = tmp_path / "work" / "bot.py"
    source = bot.read_text("utf-8")
    bot.write_text(source.replace("import argparse\n", "import argparse\nimport worths\n"))
    done, outputs, summary = outcome(
        machine,
        tmp_path,
        candidate='name=mine cmd="python3 bot.py"',
        baselines="random\n",
        games="usa\n",
        arguments="--blocks=10\n--elo1=1\n--seed=1\n",
    )
    assert (done.returncode, outputs.get("verdict")) == (0, "passed"), done.stdout + done.stderr
    reports = tmp_path / "work" / outputs["reports"]
    assert {file.name for file in reports.iterdir()} == {"gate.json", "gate.md", "gate.xml"}
    assert summary.startswith("## Stellwerk gate: passed\n")
    assert "::notice title=Stellwerk gate%3A passed::" in done.stdout


def test_a_bot_that_cannot_start_fails_and_the_run_says_why(machine: Path, tmp_path: Path) -> None:
    (tmp_path / "work").mkdir()
    (tmp_path / "work" / "bot.py").write_text("import no_such_module\n")
    done, outputs, summary = outcome(
        machine,
        tmp_path,
        candidate='name=mine cmd="python3 bot.py"',
        baselines="random\n",
        games="card_game\n",
    )
    assert (done.returncode, outputs.get("verdict")) == (1, "failed"), done.stdout + done.stderr
    assert "::error title=Stellwerk gate%3A failed::the doctor's step 'connects' failed: " in done.stdout
    assert "No module named 'no_such_module'" in summary
