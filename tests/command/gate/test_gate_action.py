"""The action in `tournament/ci` works as its users run it: its steps in order, as a runner starts them."""

from __future__ import annotations

import os
import re
import subprocess
import sys
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


def outcome(place: Path, **inputs: str) -> tuple[subprocess.CompletedProcess[str], dict[str, str], str]:
    """Run the steps in the folder `work`: the last one's process, the action's outputs, the job's summary."""
    action: Any = yaml.safe_load((ACTION / "action.yml").read_text("utf-8"))  # Any: YAML knows no types
    all_inputs = {name: each.get("default", "") for name, each in action["inputs"].items()} | inputs
    output, summary = place / "output", place / "summary"
    job = {
        **{name: text for name, text in os.environ.items() if name.startswith("PIP_")},
        "CI": "true",
        "GITHUB_ACTIONS": "true",
        "GITHUB_ACTION_PATH": str(ACTION),
        "GITHUB_OUTPUT": str(output),
        "GITHUB_STEP_SUMMARY": str(summary),
        "GITHUB_WORKSPACE": str(place / "work"),
        "HOME": str(place),
        "PATH": os.environ["PATH"],
        "RUNNER_TEMP": str(place / "temp"),
    }
    (place / "temp").mkdir()
    done = None
    for step in action["runs"]["steps"]:
        assert step["shell"] == "bash"
        done = subprocess.run(
            ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", step["run"]],
            cwd=place / "work",
            env=job | {name: filled(text, all_inputs) for name, text in step.get("env", {}).items()},
            capture_output=True,
            text=True,
            timeout=5 * SECONDS,
            check=False,
        )
        if done.returncode != 0:
            break
    assert done is not None
    outputs = dict(line.split("=", 1) for line in output.read_text().splitlines()) if output.exists() else {}
    return done, outputs, summary.read_text() if summary.exists() else ""


def filled(text: str, inputs: dict[str, str]) -> str:
    return re.sub(r"\$\{\{ inputs\.(\w+) \}\}", lambda found: inputs[found[1]], text)


@pytest.fixture
def python(tmp_path: Path) -> Path:
    """Make a Python like that of a job: an earlier step has installed a package there, but not Stellwerk."""
    venv.create(tmp_path / "python", symlinks=True, with_pip=True)
    [packages] = (tmp_path / "python" / "lib").glob("python*/site-packages")
    (packages / "worths.py").write_text("WORTH = 1\n")
    return tmp_path / "python" / "bin" / "python"


def test_a_new_bot_in_python_passes_with_what_earlier_steps_installed(tmp_path: Path, python: Path) -> None:
    copy_starter(BY_LANGUAGE["python"], tmp_path / "work", "mine")
    bot = tmp_path / "work" / "bot.py"
    source = bot.read_text("utf-8")
    bot.write_text(source.replace("import argparse\n", "import argparse\nimport worths\n"))
    done, outputs, summary = outcome(
        tmp_path,
        candidate='name=mine cmd="python3 bot.py"',
        baselines="random\n",
        games="usa\n",
        python=str(python),
        arguments="--blocks=10\n--elo1=1\n--seed=1\n",
    )
    assert (done.returncode, outputs.get("verdict")) == (0, "passed"), done.stdout + done.stderr
    reports = tmp_path / "work" / outputs["reports"]
    assert {file.name for file in reports.iterdir()} == {"gate.json", "gate.md", "gate.xml"}
    assert summary.startswith("## Stellwerk gate: passed\n")
    assert "::notice title=Stellwerk gate%3A passed::" in done.stdout


def test_a_bot_that_cannot_start_fails_and_the_run_says_why(tmp_path: Path) -> None:
    (tmp_path / "work").mkdir()
    (tmp_path / "work" / "bot.py").write_text("import no_such_module\n")
    done, outputs, summary = outcome(
        tmp_path,
        candidate='name=mine cmd="python3 bot.py"',
        baselines="random\n",
        games="card_game\n",
        python=sys.executable,
    )
    assert (done.returncode, outputs.get("verdict")) == (1, "failed"), done.stdout + done.stderr
    assert "::error title=Stellwerk gate%3A failed::the doctor's step 'connects' failed: " in done.stdout
    assert "No module named 'no_such_module'" in summary
