"""Generators produce types from the schema in three languages. The types compile and read the recorded
sessions.

The commands are those of `protocol/schema/README.md`, run unchanged: a line that installs, one that generates
and one that compiles. Each language has a temporary folder and, under xdist, its own worker.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, Final, TypeAlias

import pytest

from stellwerk_protocol.client_line import LineError, read_line
from stellwerk_protocol.schemas import bundle
from tests.environments import make_environment
from tests.golden.golden_games import golden_games
from tests.protocol.test_schemas import parts_of
from tests.tools import demand, go_without
from tools.specification import FOLDER, section

PAGE: Final = FOLDER / "schema" / "README.md"
READERS: Final = Path(__file__).parent / "generated_types"  # programs that read lines with the types
SECONDS: Final = 600  # far more than an installation takes: a test that hangs fails

DEFINITIONS: Final[dict[str, Any]] = bundle()["$defs"]  # Any: a schema is JSON


@dataclass(frozen=True, slots=True)
class Language:
    tools: tuple[str, ...]  # which the machine must have
    file: str  # of types
    names: str  # a pattern that finds the names of types in it


LANGUAGES: Final = {
    "Python": Language(("ensurepip",), "stellwerk_types.py", r"^(?:class )?([A-Z]\w*)(?:\(| = )"),
    "TypeScript": Language(("node", "npm"), "stellwerk.d.ts", r"^export (?:type|interface) (\w+)"),
    "Go": Language(
        ("go",), "stellwerk/types.go", r"^type (\w+) (?!map\[)"
    ),  # a map has the name of its field
}

READ_IN_PYTHON: Final = """
import sys
import stellwerk_types
from pydantic import TypeAdapter

adapters = {name: TypeAdapter(getattr(stellwerk_types, name)) for name in ("Message", "ReplayLine", "Board")}
for line in sys.stdin:
    name, _, value = line.partition("\\t")
    read = adapters[name].validate_json(value)
    print(adapters[name].dump_json(read, exclude_unset=True).decode())
"""

Value: TypeAlias = dict[str, Any]  # a JSON object
Typed: TypeAlias = tuple[str, Value]  # the name of a type, and a value of it

pytestmark = pytest.mark.network


@dataclass(frozen=True, slots=True)
class Generated:
    """The types of one language."""

    language: str
    folder: Path
    environment: dict[str, str]
    compile: str

    def done(self, command: str | Sequence[str], lines: str = "") -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            ["sh", "-c", command] if isinstance(command, str) else command,
            cwd=self.folder,
            env=self.environment,
            input=lines,
            capture_output=True,
            text=True,
            timeout=SECONDS,
            check=False,
        )

    def names(self) -> set[str]:
        """Return the names of the types."""
        language = LANGUAGES[self.language]
        text = (self.folder / language.file).read_text("utf-8")
        return set(re.findall(language.names, text, re.MULTILINE))


@pytest.fixture(
    scope="module",
    params=[pytest.param(name, marks=pytest.mark.xdist_group(f"types for {name}")) for name in LANGUAGES],
)
def generated(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Generated:
    language: str = request.param
    demand(*LANGUAGES[language].tools)
    [block] = section(PAGE, language).blocks("sh")
    install, generate, compile_ = block.splitlines()
    folder = tmp_path_factory.mktemp("types")
    types = Generated(language, folder, environment_in(folder), compile_)
    (folder / "package.json").write_text('{"type": "module"}\n')
    (folder / "go.mod").write_text("module bot\n\ngo 1.25\n")
    if language == "Python":
        make_environment(folder / "venv")
    done = types.done(install)
    if done.returncode != 0:
        print(done.stdout, done.stderr)
        go_without("generators of types")
    done = types.done(generate)
    assert done.returncode == 0, done.stdout + done.stderr
    return types


def environment_in(folder: Path) -> dict[str, str]:
    """Return the variables of a user who keeps programs in the folder, with SCHEMA as the page demands."""
    programs = [str(folder / "venv" / "bin"), str(folder / "bin"), os.environ["PATH"]]
    return {
        **{name: text for name, text in os.environ.items() if name != "PYTHONPATH"},
        "PATH": os.pathsep.join(programs),
        "GOBIN": str(folder / "bin"),
        "PIP_DISABLE_PIP_VERSION_CHECK": "1",
        "NPM_CONFIG_AUDIT": "false",
        "NPM_CONFIG_FUND": "false",
        "SCHEMA": str(PAGE.parent / "v1.schema.json"),
    }


# -- compiled ----------------------------------------------------------------------------------------


def test_the_types_compile(generated: Generated) -> None:
    done = generated.done(generated.compile)
    assert done.returncode == 0, done.stdout + done.stderr


def test_the_types_have_the_names_of_the_schema(generated: Generated) -> None:
    """So no name has a number after it."""
    names = generated.names()
    wanted = {"Stellwerk", *DEFINITIONS}
    assert names <= wanted
    # What some languages have no name for: the forms of names in an object, unions of messages that no record
    # contains, and in Go every union of lines.
    forms = {"LengthText", "SeatsText", "TracksText"}
    assert wanted - names <= forms | {"Stellwerk", "Message", "ReplayLine", "FromClient", "FromServer"}


# -- read and written --------------------------------------------------------------------------------


@cache
def messages() -> tuple[Value, ...]:
    """Return each message of the recorded sessions once, in both directions, without the lines that are not
    messages."""
    files = [*FOLDER.glob("examples/*.jsonl"), *FOLDER.glob("conformance/transcripts/*.jsonl")]
    records = [json.loads(line) for file in sorted(files) for line in file.read_bytes().splitlines()]
    lines = {json.dumps(each["line"]): each for each in records if "line" in each}
    return tuple(
        each["line"] for text, each in lines.items() if each["from"] == "server" or is_client_message(text)
    )


def is_client_message(line: str) -> bool:
    try:
        read_line(line.encode())
    except LineError:
        return False
    return True


@cache
def replay_lines() -> tuple[Value, ...]:
    """Return lines of every kind, of every game."""
    files = [game.file.read_text().splitlines() for game in golden_games()]
    return tuple(json.loads(line) for file in files for line in (*file[:4], *file[4:-1:40], file[-1]))


def test_the_types_read_and_write_every_line_of_the_recorded_sessions(generated: Generated) -> None:
    kinds = {message["type"] for message in messages()}
    assert kinds == set(DEFINITIONS["Message"]["discriminator"]["mapping"])
    values = [("Message", message) for message in messages()]
    values += [("ReplayLine", line) for line in replay_lines()]
    if generated.language == "Go":
        values = [record for name, value in values for record in records_in({"$ref": name}, value)]
    values += [("Board", message["board"]) for message in messages() if message["type"] == "start"]
    done = read(generated, values)
    assert done.returncode == 0, (done.stdout + done.stderr)[-2000:]
    assert [json.loads(line) for line in done.stdout.splitlines()] == [value for _, value in values]


def records_in(schema: Value, value: Any) -> Iterator[Typed]:
    """Yield every record of a union in a value: Go has no types for unions, and reads each of them
    separately."""
    if "$ref" in schema:
        schema = DEFINITIONS[schema["$ref"].removeprefix("#/$defs/")]
    if "oneOf" in schema:
        name = schema["discriminator"]["mapping"][value["type"]].removeprefix("#/$defs/")
        yield name, value
        schema = DEFINITIONS[name]
    if "items" in schema:
        for item in value:
            yield from records_in(schema["items"], item)
    elif "properties" in schema:
        for field, inner in value.items():
            yield from records_in(schema["properties"][field], inner)


def test_the_types_refuse_values_that_are_not_messages(generated: Generated) -> None:
    wrong: list[Typed] = [("Ready", {"type": "ready"}), ("Ping", {"type": "ping", "echo": "now"})]
    if generated.language != "Go":  # whose decoders accept unknown fields, and which has no unions
        wrong = [("Message", message) for _, message in wrong]
        wrong.append(("Message", {"type": "ping", "ecko": 1}))
        wrong.append(("Message", {"type": "act", "match": "m", "ask": 1, "move": {"type": "fly"}}))
    for value in wrong:
        assert read(generated, [value]).returncode != 0, value


def read(generated: Generated, values: Sequence[Typed]) -> subprocess.CompletedProcess[str]:
    """Run a program that reads the values with the types, and prints what the types write."""
    match generated.language:
        case "Python":
            return generated.done(["python", "-c", READ_IN_PYTHON], as_lines(values))
        case "TypeScript":
            shutil.copy(READERS / "read.ts", generated.folder)
            (generated.folder / "lines.ts").write_text(program_of_lines(values), "utf-8")
            options = "--strict --noEmitOnError --module nodenext --target es2022 --outDir out"
            return generated.done(f"npx tsc {options} lines.ts && node out/lines.js")
        case _:
            shutil.copy(READERS / "read.go", generated.folder)
            (generated.folder / "records.go").write_text(table_of_records(), "utf-8")
            return generated.done("go run .", as_lines(values))


def as_lines(values: Sequence[Typed]) -> str:
    return "".join(f"{name}\t{json.dumps(value)}\n" for name, value in values)


def program_of_lines(values: Sequence[Typed]) -> str:
    """Return a program with the values as literals: the compiler checks every one of them."""
    calls = [f"read{name}({json.dumps(value)});" for name, value in values]
    return "\n".join(['import { readBoard, readMessage, readReplayLine } from "./read.js";', *calls]) + "\n"


def table_of_records() -> str:
    """Return the names of the records for the program in Go, and every pattern of the schemas."""
    records = [name for name, definition in DEFINITIONS.items() if "properties" in definition]
    rows = [f'"{name}": func() any {{ return new(stellwerk.{name}) }},' for name in records]
    patterns = {
        part["pattern"] for each in DEFINITIONS.values() for part in parts_of(each) if "pattern" in part
    }
    return "\n".join(
        [
            'package main\n\nimport "bot/stellwerk"\n',
            *("var records = map[string]func() any{", *rows, "}\n"),
            *("var patterns = []string{", *(f"`{pattern}`," for pattern in sorted(patterns)), "}\n"),
        ]
    )
