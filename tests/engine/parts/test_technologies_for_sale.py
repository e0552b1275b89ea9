"""What `start` says of technologies is enough to know what a route needs, and what can be bought."""

from __future__ import annotations

import pytest
from msgspec import UNSET

from stellwerk_engine.core.state import Game
from stellwerk_engine.knowledge.view import PUBLIC, view
from stellwerk_engine.parts.technologies.buy_technology import for_sale, technology_ids
from stellwerk_protocol.technologies import TechnologyForSale
from tests.support import started, table

ADVANCED = ("advanced_technologies",)


def listed(game: Game) -> tuple[TechnologyForSale, ...]:
    technologies = for_sale(game.rules)
    assert technologies is not UNSET
    return technologies


@pytest.mark.parametrize("options", [(), ADVANCED], ids=["basic", "advanced"])
def test_a_route_needs_what_names_its_regions_its_length_or_ferries(options: tuple[str, ...]) -> None:
    """UK-08, UK-11 to UK-16, by what `games/united_kingdom.md` says of these fields."""
    game = table("united_kingdom", 2, options)
    regions = {city.id: city.region for city in game.board.file.cities}
    for record in game.board.file.routes:
        ends = {regions[record.a], regions[record.b]}
        needed = [
            number
            for number, technology in enumerate(listed(game))
            if ends & {*technology.regions}
            or record.length in technology.lengths
            or (technology.ferries and record.locomotives)
        ]
        route = game.board.routes[game.board.route_ids[record.id]]
        expected = 0 if "overseas" in ends else sum(1 << number for number in needed)
        assert route.needs_mask == expected, record.id


@pytest.mark.parametrize("options", [(), ADVANCED], ids=["basic", "advanced"])
def test_their_supply_is_that_of_the_first_view(options: tuple[str, ...]) -> None:
    state = started("united_kingdom", 2, options)
    supply = {technology.technology: technology.supply for technology in listed(state.game)}
    assert view(state, PUBLIC).supply == supply
    assert [*supply] == [*technology_ids(state.game)]


def test_games_without_technologies_have_none_for_sale() -> None:
    assert for_sale(table("usa", 2).rules) is UNSET
