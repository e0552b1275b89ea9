"""Each rule on the pages of `protocol/rules` has a test that cites its id, and no test cites another id.

A test cites a rule by writing the id into its docstring. Tests are read here, not run, so a rule whose only
test is left out of a run counts as tested.
"""

import ast
import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

REPOSITORY = Path(__file__).resolve().parents[2]
PAGES = REPOSITORY / "protocol" / "rules"
TESTS = REPOSITORY / "tests" / "rules"

PREFIX_OF_A_PAGE = {
    "README.md": "GEN",
    "usa.md": "USA",
    "card_game.md": "CARD",
    "team_asia.md": "ASIA",
    "united_kingdom.md": "UK",
    "europe.md": "EUR",
}

DEFINITION = re.compile(r"^- \*\*([A-Z]+-\d\d)\*\* \S", re.MULTILINE)
CITATION = re.compile(r"\b[A-Z]+-\d\d\b")
RULE_LIKE = re.compile(rf"\b(?:{'|'.join(PREFIX_OF_A_PAGE.values())})-\d+\b")


@dataclass(frozen=True)
class RuleTest:
    """A test function below `tests/rules`, and the rules that its docstring cites."""

    file: str
    name: str
    cited: frozenset[str]

    @property
    def of_a_game(self) -> bool:
        """Whether it lies in a folder of `tests/rules`, and so has to prove a rule."""
        return "/" in self.file

    def __str__(self) -> str:
        return f"{self.file}::{self.name}"


# -- the project -------------------------------------------------------------------------------------


def test_every_rule_has_a_test() -> None:
    assert untested(rules_of_the_pages(), all_tests()) == []


def test_every_test_cites_rules_that_exist() -> None:
    assert citing_unknown_rules(rules_of_the_pages(), all_tests()) == []


def test_every_test_of_a_game_cites_a_rule() -> None:
    assert citing_no_rule(all_tests()) == []


def test_every_rule_has_one_id_of_its_own() -> None:
    counted = Counter(rules_of_the_pages())
    assert [rule for rule, count in counted.items() if count > 1] == []


@pytest.mark.parametrize(("page", "prefix"), PREFIX_OF_A_PAGE.items())
def test_the_ids_of_a_page_begin_with_its_prefix_and_leave_no_number_out(page: str, prefix: str) -> None:
    ids = sorted(rules_on((PAGES / page).read_text("utf-8")))
    assert ids == numbered(ids, prefix)


@pytest.mark.parametrize("folder", ["protocol", "server"])
def test_texts_and_sources_cite_rules_that_exist(folder: str) -> None:
    rules = set(rules_of_the_pages())
    files = [*(REPOSITORY / folder).rglob("*.md"), *(REPOSITORY / folder).rglob("*.py")]
    unknown = {
        f"{file.relative_to(REPOSITORY)}: {rule}"
        for file in files
        for rule in RULE_LIKE.findall(file.read_text("utf-8"))
        if rule not in rules
    }
    assert files
    assert sorted(unknown) == []


# -- the checker -------------------------------------------------------------------------------------


def test_a_rule_is_defined_at_the_beginning_of_a_list_item() -> None:
    page = """
# A page

- **USA-01** The first rule, as in UK-07.
  It goes on; see **USA-03** too.
- **USA-02** The second.
- USA-04 is only spoken of, like **USA-05** here.
- **USA-06**
"""
    assert rules_on(page) == ["USA-01", "USA-02"]


def test_the_docstrings_of_test_functions_cite_rules() -> None:
    source = '''
"""USA-01: a module proves nothing."""

CONSTANT = "USA-02"

def test_one() -> None:
    """USA-03, USA-04: said in the docstring."""
    assert "USA-05"

async def test_another() -> None:
    """A sentence first, and then (GEN-03)."""

def test_without_docstring() -> None:
    pass

def helper() -> None:
    """USA-06"""

class TestTogether:
    """USA-07"""

    def test_in_a_class(self) -> None:
        """UK-30, SHA-256, UTF-8, XUK-301."""
'''
    cited_by = {test.name: test.cited for test in read_tests("usa/test_claims.py", source)}
    assert cited_by == {
        "test_one": {"USA-03", "USA-04"},
        "test_another": {"GEN-03"},
        "test_without_docstring": frozenset(),
        "test_in_a_class": {"UK-30"},
    }


def test_the_checker_names_a_rule_without_a_test() -> None:
    tests = [rule_test("usa/test_claims.py", "test_one", "USA-01", "USA-03")]
    assert untested(["USA-01", "USA-02", "USA-03"], tests) == ["USA-02"]
    assert untested(["USA-01", "USA-03"], tests) == []


def test_the_checker_names_a_test_that_cites_an_unknown_rule() -> None:
    tests = [rule_test("test_top.py", "test_one", "USA-01", "USA-99"), rule_test("usa/test_a.py", "test_two")]
    assert citing_unknown_rules(["USA-01"], tests) == ["test_top.py::test_one cites USA-99"]
    assert citing_unknown_rules(["USA-01", "USA-99"], tests) == []


def test_the_checker_names_a_test_of_a_game_that_cites_nothing() -> None:
    tests = [
        rule_test("usa/test_claims.py", "test_one"),
        rule_test("usa/test_claims.py", "test_two", "USA-10"),
        rule_test("test_top.py", "test_three"),
    ]
    assert citing_no_rule(tests) == ["usa/test_claims.py::test_one"]


def test_the_checker_names_numbers_that_a_page_leaves_out() -> None:
    assert numbered(["USA-01", "USA-03"], "USA") == ["USA-01", "USA-02"]
    assert numbered(["USA-01", "UK-02"], "USA") == ["USA-01", "USA-02"]


# -- reading -----------------------------------------------------------------------------------------


def rules_of_the_pages() -> list[str]:
    return [rule for page in PREFIX_OF_A_PAGE for rule in rules_on((PAGES / page).read_text("utf-8"))]


def rules_on(page: str) -> list[str]:
    """Return the ids that a page defines, in its order."""
    return DEFINITION.findall(page)


def numbered(ids: Collection[str], prefix: str) -> list[str]:
    """Make as many ids as these, from 01 on."""
    return [f"{prefix}-{number:02}" for number in range(1, len(ids) + 1)]


def all_tests() -> list[RuleTest]:
    return [
        test
        for file in sorted(TESTS.rglob("test_*.py"))
        for test in read_tests(file.relative_to(TESTS).as_posix(), file.read_text("utf-8"))
    ]


def read_tests(file: str, source: str) -> Iterator[RuleTest]:
    for node in ast.walk(ast.parse(source, file)):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node.name.startswith("test"):
            cited = CITATION.findall(ast.get_docstring(node) or "")
            yield RuleTest(file, node.name, frozenset(cited))


def rule_test(file: str, name: str, *cited: str) -> RuleTest:
    return RuleTest(file, name, frozenset(cited))


# -- judging -----------------------------------------------------------------------------------------


def untested(rules: Iterable[str], tests: Iterable[RuleTest]) -> list[str]:
    tested = frozenset[str]().union(*(test.cited for test in tests))
    return [rule for rule in rules if rule not in tested]


def citing_unknown_rules(rules: Collection[str], tests: Iterable[RuleTest]) -> list[str]:
    return [f"{test} cites {rule}" for test in tests for rule in sorted(test.cited - set(rules))]


def citing_no_rule(tests: Iterable[RuleTest]) -> list[str]:
    return [str(test) for test in tests if test.of_a_game and not test.cited]
