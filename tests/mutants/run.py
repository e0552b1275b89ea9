"""Break the rules one by one, and see that the tests notice.

A rule's test is worth something only if it fails when the rule is broken. Each entry of `usa.toml`,
`general.toml`, `card_game.toml`, `team_asia.toml`, `united_kingdom.toml` and `europe.toml` beside this file
is a *mutant*: one small change of a source or a board file that breaks one rule.

    [[mutant]]
    rule = "USA-05"
    why = "an open locomotive may be taken as the second card"
    within = "SecondCard.check"
    find = '''code of the engine'''
    replace = '''the code in its place'''

`within` names the function, class or constant around the code. The code is found by its words (`places.py`),
so a mutant goes on fitting when lines are wrapped, indented or moved to another file. A mutant of a board has
`file` instead, and its text occurs once in it.

For each mutant, in a copy of the repository, only those tests run whose docstring names the rule
(`\"""USA-05.\"""`), and one of them has to fail. Every rule needs a mutant.

    make mutants                      all of them
    make mutants ARGS='USA-05 GEN-03' of these rules
    make mutants ARGS=team_asia       of this file

Exit code: 0 all were killed; 1 one survived or a rule has none; 2 the mutants or the tests are unfit: a text
not found, a mutant that cannot even be imported, no test that names the rule, or tests that fail unbroken.
"""

from __future__ import annotations

import argparse
import ast
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import tomllib
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from queue import SimpleQueue
from typing import Final, Literal

from tests.mutants.places import Place, changed, places

REPOSITORY: Final = Path(__file__).resolve().parents[2]
MUTANTS: Final = Path(__file__).resolve().parent
RULES: Final = REPOSITORY / "protocol" / "rules"
SOURCE_ROOTS: Final = ("protocol", "server", "bots/python", "tournament")
COPIED: Final = (*SOURCE_ROOTS, "tests")
NOT_COPIED: Final = shutil.ignore_patterns("__pycache__", ".*", "node_modules", "target", "build", "dist")
JOBS: Final = 2  # at a time; each is one Python process
TIME_LIMIT: Final = 180.0  # seconds; a mutant that makes a game endless is noticed by it
RULE_ID: Final = re.compile(r"\b(?:GEN|USA|CARD|ASIA|UK|EUR)-\d\d\b")
RULE_LINE: Final = re.compile(r"^- \**((?:GEN|USA|CARD|ASIA|UK|EUR)-\d\d)\b", re.MULTILINE)
MUTANT_FIELDS: Final = {"rule", "why", "find", "replace"}
SOURCES: Final = "server/stellwerk_engine/**/*.py"
TESTS_FAILED: Final = 1  # pytest's exit code; higher ones mean that it could not run them

Outcome = Literal["killed", "survived", "unfit"]


@dataclass(frozen=True, slots=True)
class Mutant:
    rule: str
    why: str
    find: str
    replace: str
    source: str  # the file of mutants that has it, without its ending
    within: str | None = None  # the function, class or constant around the code
    file: str | None = None  # of a board


@dataclass(frozen=True, slots=True)
class Verdict:
    outcome: Outcome
    text: str


def main(arguments: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(prog="run.py", description="Break the rules one by one.")
    parser.add_argument("selected", nargs="*", metavar="rule-or-file", help="USA-05, team_asia; default: all")
    selected: list[str] = parser.parse_args(arguments).selected
    rules = {rule: name for rule, name in rule_ids().items() if not selected or {rule, name} & set(selected)}
    unknown = set(selected) - set(rules) - set(rules.values())
    if unknown:
        parser.error(f"neither a rule nor a file of mutants: {', '.join(sorted(unknown))}")
    mutants = [mutant for mutant in read_mutants() if mutant.rule in rules]
    tests = find_tests(REPOSITORY / "tests")

    problems = [problem for mutant in mutants if (problem := unfitness(mutant))]
    problems += [f"{rule}: no test names it" for rule in rules if rule not in tests]
    if problems:
        print("\n".join(problems))
        return 2
    without = [rule for rule in rules if rule not in {mutant.rule for mutant in mutants}]
    with tempfile.TemporaryDirectory(prefix="mutants-") as folder:
        copies = [copy_repository(Path(folder) / str(number)) for number in range(JOBS)]
        failures = unbroken_failures(copies[0], {test for mutant in mutants for test in tests[mutant.rule]})
        if failures:
            print(f"the tests fail before anything is broken:\n{failures}")
            return 2
        verdicts = [
            report(mutant, verdict)
            for mutant, verdict in zip(mutants, run_all(mutants, tests, copies), strict=True)
        ]
    for rule in without:
        print(f"{rule:8} NO MUTANT")
    count = {outcome: verdicts.count(outcome) for outcome in ("killed", "survived", "unfit")}
    print(
        f"{len(mutants)} mutants of {len(rules)} rules: {count['killed']} killed, "
        f"{count['survived']} survived, {count['unfit']} unfit; {len(without)} rules without a mutant"
    )
    if count["unfit"]:
        return 2
    return 1 if count["survived"] or without else 0


def rule_ids() -> dict[str, str]:
    """Return every rule, and the file of mutants that it belongs to."""
    file_of_rule: dict[str, str] = {}
    for path in sorted(RULES.glob("*.md")):
        name = "general" if path.stem == "README" else path.stem
        file_of_rule.update((rule, name) for rule in RULE_LINE.findall(path.read_text(encoding="utf-8")))
    return file_of_rule


def read_mutants() -> list[Mutant]:
    """Read all mutants, file by file. ValueError names an entry that is not a mutant."""
    mutants: list[Mutant] = []
    for path in sorted(MUTANTS.glob("*.toml")):
        entries: list[dict[str, str]] = tomllib.loads(path.read_text(encoding="utf-8"))["mutant"]
        for number, entry in enumerate(entries, start=1):
            if not MUTANT_FIELDS <= set(entry) <= MUTANT_FIELDS | {"file", "within"}:
                raise ValueError(
                    f"{path.name}, mutant {number}: expected {sorted(MUTANT_FIELDS)}, and within or file"
                )
            mutants.append(Mutant(**entry, source=path.stem))
    return mutants


def unfitness(mutant: Mutant) -> str | None:
    """Return why the mutant cannot be applied, if so."""
    name = f"{mutant.source}.toml, {mutant.rule}, {mutant.why!r}"
    if mutant.file is not None and not (REPOSITORY / mutant.file).is_file():
        return f"{name}: there is no file {mutant.file}"
    count = len(places_of(mutant, REPOSITORY))
    if count != 1:
        return f"{name}: its text occurs {count} times in {mutant.file or mutant.within or SOURCES}"
    if mutant.find == mutant.replace:
        return f"{name}: it changes nothing"
    return None


def places_of(mutant: Mutant, root: Path) -> list[Place]:
    """Return every place that the mutant could change; a fit one has exactly one."""
    return places(root, mutant.file or SOURCES, mutant.find, mutant.within)


def find_tests(folder: Path) -> dict[str, list[str]]:
    """Find, for each rule, the pytest ids of the test functions whose docstring names it, those of rules
    first."""
    tests: dict[str, list[str]] = {}
    files = sorted(path.relative_to(folder) for path in folder.rglob("test_*.py"))
    for file in sorted(files, key=lambda file: file.parts[0] != "rules"):
        for node in ast.parse((folder / file).read_text(encoding="utf-8")).body:
            if isinstance(node, ast.FunctionDef) and node.name.startswith("test_"):
                for rule in sorted(set(RULE_ID.findall(ast.get_docstring(node) or ""))):
                    tests.setdefault(rule, []).append(f"{folder.name}/{file.as_posix()}::{node.name}")
    return tests


def copy_repository(copy: Path) -> Path:
    for name in COPIED:
        if (REPOSITORY / name).is_dir():
            shutil.copytree(REPOSITORY / name, copy / name, ignore=NOT_COPIED)
    shutil.copy(REPOSITORY / "pyproject.toml", copy)
    # By default Python trusts compiled code by size and second of its source, which a mutant may share
    # with what it replaces; by hash it notices every change. See PYTHONDONTWRITEBYTECODE below.
    compile_all = [sys.executable, "-m", "compileall", "-q", "--invalidation-mode", "checked-hash", "."]
    subprocess.run(compile_all, cwd=copy, check=True)
    return copy


def unbroken_failures(copy: Path, tests: Iterable[str]) -> str:
    finished = run_pytest(copy, sorted(tests), None) if tests else None
    return finished.stdout if finished is not None and finished.returncode else ""


def run_all(mutants: Sequence[Mutant], tests: dict[str, list[str]], copies: list[Path]) -> Iterator[Verdict]:
    """Return the verdicts in the order of the mutants. As many run at a time as there are copies."""
    free: SimpleQueue[Path] = SimpleQueue()
    for copy in copies:
        free.put(copy)

    def run(mutant: Mutant) -> Verdict:
        copy = free.get()
        try:
            return judge(mutant, tests[mutant.rule], copy)
        finally:
            free.put(copy)

    with ThreadPoolExecutor(len(copies)) as executor:
        yield from executor.map(run, mutants)


def judge(mutant: Mutant, tests: Sequence[str], copy: Path) -> Verdict:
    """Break the copy, run the rule's tests in it, and mend it."""
    (place,) = places_of(mutant, copy)
    path = place.path
    sound = path.read_text(encoding="utf-8")
    path.write_text(changed(sound, place, mutant.find, mutant.replace), encoding="utf-8")
    try:
        finished = run_pytest(copy, tests, TIME_LIMIT)
    except subprocess.TimeoutExpired:
        return Verdict("killed", f"no end within {TIME_LIMIT:.0f} seconds")
    finally:
        path.write_text(sound, encoding="utf-8")
    if finished.returncode == 0:
        return Verdict("survived", f"SURVIVED {len(tests)} tests")
    if finished.returncode != TESTS_FAILED:
        return Verdict("unfit", f"UNFIT\n{finished.stdout}")
    failed = re.search(r"^(?:FAILED|ERROR) \S+::(.+?)(?: - .*)?$", finished.stdout, re.MULTILINE)
    return Verdict("killed", failed[1] if failed else "a test")


def run_pytest(
    copy: Path, tests: Sequence[str], limit: float | None, python: str = sys.executable
) -> subprocess.CompletedProcess[str]:
    environment = dict(os.environ)
    environment["PYTHONPATH"] = os.pathsep.join(str(copy / root) for root in SOURCE_ROOTS)
    environment["PYTHONDONTWRITEBYTECODE"] = "1"
    # Plain assertions: rewriting them, without a cache, would take most of the time.
    options = ["-x", "-q", "-p", "no:cacheprovider", "--assert=plain", "--tb=short", "-rfE"]
    command = [python, "-m", "pytest", *options, *tests]
    # No pipe: a process that a broken program leaves behind would hold it open.
    with tempfile.TemporaryFile("w+") as output, open(os.devnull) as nothing:
        process = subprocess.Popen(
            command,
            cwd=copy,
            env=environment,
            stdin=nothing,
            stdout=output,
            stderr=output,
            start_new_session=True,
        )
        try:
            code = process.wait(limit)
        finally:
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()
        output.seek(0)
        return subprocess.CompletedProcess(command, code, output.read())


def report(mutant: Mutant, verdict: Verdict) -> Outcome:
    print(f"{mutant.rule:8} {mutant.why:90} {verdict.text}", flush=True)
    return verdict.outcome


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
