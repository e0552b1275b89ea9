"""United Kingdom, ferries and technologies: protocol/rules/united_kingdom.md."""

from typing import Final

from stellwerk_engine.core.rule_set import Option, RuleSet, Technology
from stellwerk_engine.core.scoring import DOUBLE_HEADING, EQUALISING_BEAM, RISKY_CONTRACTS
from stellwerk_engine.parts.claiming.claim_route import ClaimRoute
from stellwerk_engine.parts.draw_cards import DrawCards
from stellwerk_engine.parts.technologies.buy_technology import BuyTechnology
from stellwerk_engine.parts.tickets import DrawTickets

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

UNITED_KINGDOM: Final = RuleSet(
    id="united_kingdom",
    title="United Kingdom, ferries and technologies",
    rules_version=1,
    board="united_kingdom",
    board_features=frozenset({"map", "ferries", "regions"}),
    seat_counts=(2, 3, 4),
    menu=(DrawCards(), ClaimRoute(), DrawTickets()),
    before_action=(BuyTechnology(),),
    locomotives_dealt=1,
    cards_dealt=4,
    tickets_dealt=5,
    tickets_kept_at_start=3,
    tickets_drawn=3,
    tickets_kept=1,
    open_tracks={2: {2: 1, 3: 1}},
    substitute=4,
    technologies=TECHNOLOGIES,
    home_regions=frozenset({"england"}),
    overseas_regions=frozenset({"overseas"}),
    home_lengths=frozenset({1, 2}),
    last_round_at_trains=2,
    options=(
        Option(
            "advanced_technologies",
            "five more technologies, few of each",
            {"technologies": TECHNOLOGIES + ADVANCED_TECHNOLOGIES},
        ),
    ),
)
