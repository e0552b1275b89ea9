"""`server/README.md` is held to the code: settings with their defaults, log events, fields of the status."""

from __future__ import annotations

import re
from pathlib import Path

import msgspec
import pytest
from msgspec import Struct
from prometheus_client.parser import text_string_to_metric_families

from stellwerk_server.net.metrics import Metrics
from stellwerk_server.net.server import is_loopback
from stellwerk_server.operate.settings import Limits, Time
from tests.server.net.test_status import KNOWN
from tests.server.serving import on_site

SERVER = Path(__file__).resolve().parents[3] / "server"
PAGE = (SERVER / "README.md").read_text(encoding="utf-8")


def rows(heading: str) -> list[list[str]]:
    """Return the table under a heading, without its head."""
    section = PAGE.split(f"{heading}\n", 1)[1].split("\n#", 1)[0]
    table = [line for line in section.splitlines() if line.startswith("|")][2:]
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in table]


def names(cell: str) -> list[str]:
    return re.findall(r"`([^`]+)`", cell)


@pytest.mark.parametrize(
    ("heading", "kind"), [("### Clocks, `[time]`", Time), ("### Limits, `[limits]`", Limits)]
)
def test_every_setting_stands_there_with_its_default(heading: str, kind: type[Struct]) -> None:
    on_the_page = {names(name)[0]: int(default) for name, default, _ in rows(heading)}
    assert on_the_page == msgspec.structs.asdict(kind())


def test_every_event_of_the_log_stands_there() -> None:
    sources = [SERVER / "stellwerk" / "serve" / "command.py", *(SERVER / "stellwerk_server").rglob("*.py")]
    code = "\n".join(path.read_text(encoding="utf-8") for path in sources)
    events = re.findall(
        r'(?:log\.(?:info|warning|error)|note_bug)\(\s*"([a-z_.]+)"(?: if [^,]* else "([a-z_.]+)")?,', code
    )
    on_the_page = {name for event, _ in rows("## The log") for name in names(event) if "." in name}
    assert {event for names_of in events for event in names_of if event} == on_the_page


def test_every_field_of_the_status_page_stands_there() -> None:
    assert {name for field, _ in rows("## The status page") for name in names(field)} == KNOWN


def test_every_metric_stands_there_with_its_type() -> None:
    metrics = Metrics()
    with on_site(listener=metrics.hear) as site:
        families = list(text_string_to_metric_families(site.do(lambda: metrics.text(site.server)).decode()))
    on_the_page = {
        name.partition("{")[0].removesuffix("_total"): kind
        for cell, kind, _ in rows("## Metrics")
        for name in names(cell)
    }
    assert {family.name: family.type for family in families} == on_the_page


@pytest.mark.parametrize(
    ("address", "is_own"),
    [
        ("127.0.0.1", True),
        ("127.9.9.9", True),
        ("::1", True),
        ("::ffff:127.0.0.1", True),
        ("10.0.0.1", False),
        ("::1234", False),
        ("::ffff:10.0.0.1", False),
        ("fe80::1%eth0", False),
    ],
)
def test_only_what_does_not_leave_the_machine_is_private(address: str, is_own: bool) -> None:
    assert is_loopback(address) is is_own
