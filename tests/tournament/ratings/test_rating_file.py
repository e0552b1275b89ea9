"""The pairs in a file of ratings, and the warnings of a report."""

from __future__ import annotations

from dataclasses import replace

from stellwerk_tournament.ratings.outcomes import Outcome
from stellwerk_tournament.ratings.rating_file import pairs
from stellwerk_tournament.ratings.ratings import RatingReport, Ratings, RatingWarning, rate
from stellwerk_tournament.ratings.warnings import warning_lines


def duels(better: str, other: str, wins: int, losses: int) -> list[Outcome]:
    ranks = [(1, 2)] * wins + [(2, 1)] * losses
    return [Outcome((better, other), each, block=f"{better}{other}{n}") for n, each in enumerate(ranks)]


def test_pairs_are_any_two_of_a_group_the_better_one_first() -> None:
    """Nothing compares the players of two groups."""
    ratings = rate([*duels("b", "c", 30, 18), *duels("a", "b", 30, 18), *duels("e", "d", 40, 10)])
    found = list(pairs(ratings))
    assert {(pair.better, pair.than) for pair in found} == {("a", "b"), ("a", "c"), ("b", "c"), ("e", "d")}
    assert len(found) == 4
    for pair in found:
        superiority = ratings.superiority(pair.better, pair.than)
        assert superiority is not None
        assert pair.probability == round(superiority, 4) > 0.5


def part(*messages: str) -> Ratings:
    warnings = tuple(RatingWarning("few_blocks", message) for message in messages)
    return replace(rate(duels("a", "b", 3, 2)), warnings=warnings)


def warned(**parts: Ratings) -> list[str]:
    return list(warning_lines(RatingReport(part(), {}, parts, ()), str))


def test_a_warning_names_every_part_that_it_concerns_in_the_same_words() -> None:
    assert warned(usa=part("few blocks: x, y"), europe=part("few blocks: y, x"), asia=part()) == [
        "few blocks: x, y (usa; europe)"
    ]


def test_tables_that_another_game_has_named_with_more_are_not_named_again() -> None:
    assert warned(usa=part("few tables: 2, 3"), europe=part("few tables: 3")) == ["few tables: 2, 3 (usa)"]
    assert warned(usa=part("few tables: 2, 3"), europe=part("few tables: 3, 4")) == [
        "few tables: 2, 3 (usa); 3, 4 (europe)"
    ]
