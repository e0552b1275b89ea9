"""What comes with the server for its operators runs as the pages say: the unit for systemd, the container."""

from __future__ import annotations

import json
import re
import shlex
import signal
import subprocess
import urllib.request
from pathlib import Path

from tests.command.program import REPOSITORY, SECONDS, refused, started
from tests.tools import needs

DEPLOY = REPOSITORY / "server/deploy"
CONTAINERFILE = (DEPLOY / "Containerfile").read_text("utf-8")
UNIT = (DEPLOY / "stellwerk.service").read_text("utf-8")


@needs("systemd-analyze")
def test_the_unit_is_as_hardened_as_the_page_says() -> None:
    done = subprocess.run(
        ["systemd-analyze", "security", "--offline=true", "--no-pager", DEPLOY / "stellwerk.service"],
        capture_output=True,
        text=True,
        timeout=SECONDS,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    [level] = re.findall(r"Overall exposure level for stellwerk.service: (\S+) OK", done.stdout)
    assert float(level) <= 1.2
    assert f"rates it {level} " in (REPOSITORY / "server/README.md").read_text("utf-8")


def test_the_server_takes_the_command_line_of_the_unit() -> None:
    [command] = re.findall(r"^ExecStart=/opt/stellwerk/bin/stellwerk (.+)$", UNIT, re.MULTILINE)
    problem = refused(*shlex.split(command.replace("/etc/stellwerk/server.toml", "/nonexistent/server.toml")))
    assert "/nonexistent/server.toml" in problem  # all before it was understood


def test_the_command_of_the_container_serves_and_its_health_check_reads_the_status_page(
    tmp_path: Path,
) -> None:
    words: list[str]
    [words] = [json.loads(line) for line in re.findall(r"^CMD (\[.+\])$", CONTAINERFILE, re.MULTILINE)]
    [check] = re.findall(r'^  CMD \["python", "-c", "(.+)"\]$', CONTAINERFILE, re.MULTILINE)
    changed: dict[str, str] = {"/data": str(tmp_path), "0.0.0.0:7878": "0", "7879": "0"}
    with started(*[changed.get(word, word) for word in words]) as server:
        assert server.stdout is not None
        assert server.stderr is not None
        assert server.stdout.readline().startswith("listening on ")
        events = (json.loads(line) for line in server.stderr)
        page = next(event["url"] for event in events if event["event"] == "status.listening")
        assert "http://127.0.0.1:7879/" in check  # the address that the command gives the page
        assert "7879" in words
        with urllib.request.urlopen(page, timeout=SECONDS) as answer:
            assert answer.status == 200
        server.send_signal(signal.SIGTERM)
        assert server.wait(SECONDS) == 0
