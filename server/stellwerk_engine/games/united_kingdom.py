"""United Kingdom, ferries and technologies: protocol/rules/united_kingdom.md."""

from typing import Final

from stellwerk_engine.core.scoring import (
    DOUBLE_HEADING,
    EQUALISING_BEAM,
    RISKY_CONTRACTS,
    completed_tickets,
    longest_own_path,
)
from stellwerk_engine.core.state import Option, RuleSet, TrainCards
from stellwerk_engine.core.turn import FewTrains
from stellwerk_engine.parts.claiming.claim_route import ClaimRoute
from stellwerk_engine.parts.draw_cards import DrawCards
from stellwerk_engine.parts.technologies.buy_technology import BuyTechnology
from stellwerk_engine.parts.technologies.technology import Technology
from stellwerk_engine.parts.tickets import DrawTickets, FirstTickets

TECHNOLOGIES: Final = (
    Technology("wales_concession", supply=4, cost=1, opens_regions=("wales",)),
    Technology("ireland_france_concession", supply=4, cost=1, opens_regions=("ireland", "france")),
    Technology("scotland_concession", supply=4, cost=1, opens_regions=("scotland",)),
    Technology("mechanical_stoker", supply=4, cost=1, opens_lengths=(3,)),
    Technology("superheated_steam_boiler", supply=4, cost=2, opens_lengths=(4, 5, 6)),
    Technology("propellers", supply=4, cost=2, opens_ferries=True),
    Technology("booster", supply=4, cost=2, substitute=3),
    Technology("boiler_lagging", supply=4, cost=2, route_points=1),
    Technology("steam_turbines", supply=4, cost=2, ferry_points=2),
    Technology("double_heading", supply=4, cost=4, bonus=DOUBLE_HEADING),
    Technology("right_of_way", supply=1, cost=4, claims_taken=True),
)

ADVANCED_TECHNOLOGIES: Final = (
    Technology("thermocompressor", supply=1, cost=1, claims=2),
    Technology("water_tenders", supply=2, cost=2, draws_three=True),
    Technology("risky_contracts", supply=1, cost=2, until_shuffle=True, bonus=RISKY_CONTRACTS),
    Technology("equalising_beam", supply=1, cost=2, until_shuffle=True, bonus=EQUALISING_BEAM),
    Technology("diesel_power", supply=1, cost=3, discount=1),
)


def _buy(technologies: tuple[Technology, ...]) -> BuyTechnology:
    return BuyTechnology(
        technologies,
        substitute=4,
        home_regions=frozenset({"england"}),
        home_lengths=frozenset({1, 2}),
        overseas_regions=frozenset({"overseas"}),
    )


UNITED_KINGDOM: Final = RuleSet(
    id="united_kingdom",
    title="United Kingdom, ferries and technologies",
    rules_version=1,
    board="united_kingdom",
    board_features=frozenset({"map", "ferries", "regions"}),
    seat_counts=(2, 3, 4),
    train_cards=TrainCards(dealt=4, locomotives_dealt=1),
    set_up=(FirstTickets(5, keep=3),),
    before_action=(_buy(TECHNOLOGIES),),
    menu=(DrawCards(), ClaimRoute(open_tracks={2: {2: 1, 3: 1}}), DrawTickets(3, keep=1)),
    last_round=FewTrains(2),
    tie_breaks=(completed_tickets, longest_own_path),
    options=(
        Option(
            "advanced_technologies",
            "five more technologies, few of each",
            {"before_action": (_buy(TECHNOLOGIES + ADVANCED_TECHNOLOGIES),)},
        ),
    ),
)
