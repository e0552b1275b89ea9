"""The four games: each a rule set, a value made of parts that the others use too."""

from __future__ import annotations

from typing import Final

from stellwerk_engine.core.rule_set import Option, RuleSet, Technology
from stellwerk_engine.core.scoring import (
    ASIA_EXPLORER,
    ASIA_EXPRESS,
    DOUBLE_HEADING,
    EQUALISING_BEAM,
    LONGEST_PATH,
    RISKY_CONTRACTS,
    BigCities,
)
from stellwerk_engine.parts.claiming.claim_route import ClaimRoute
from stellwerk_engine.parts.draw_cards import DrawCards
from stellwerk_engine.parts.rail_yards.complete_tickets import ask_to_complete
from stellwerk_engine.parts.rail_yards.lay_cards import LayCards, send_cards
from stellwerk_engine.parts.technologies.buy_technology import BuyTechnology
from stellwerk_engine.parts.tickets import DrawTickets, ShareTickets

USA: Final = RuleSet(
    id="usa",
    title="North America, the base game",
    rules_version=1,
    board="usa",
    board_features=frozenset({"map"}),
    seat_counts=(2, 3, 4, 5),
    menu=(DrawCards(), ClaimRoute(), DrawTickets()),
    cards_dealt=4,
    tickets_dealt=3,
    tickets_kept_at_start=2,
    tickets_drawn=3,
    tickets_kept=1,
    exchange_at=3,
    open_tracks={2: {2: 1, 3: 1}, 3: {2: 1, 3: 1}},
    last_round_at_trains=2,
    bonuses=(LONGEST_PATH,),
)

CARD_GAME: Final = RuleSet(
    id="card_game",
    title="The card game",
    rules_version=1,
    board="card_game",
    board_features=frozenset({"big_cities"}),
    seat_counts=(2, 3, 4),
    menu=(DrawCards(), LayCards(), DrawTickets()),
    locomotives_dealt=1,
    cards_dealt=7,
    tickets_dealt=6,
    tickets_kept_at_start=1,
    shuffle_returned_tickets=True,
    start_of_turn=(send_cards,),
    tickets_drawn=4,
    tickets_kept=0,
    second_card_optional=True,
    pile_end="last_round",
    rail_yards=True,
    before_scoring=ask_to_complete,
    halves={4: 2},
    bonuses=(BigCities(),),
    tie_breaks=("completed_tickets", "bonus_cards"),
    options=(Option("open_stacks", "players may look at their own on-track stack", {"open_stacks": True}),),
)

TEAM_ASIA: Final = RuleSet(
    id="team_asia",
    title="Asia, teams of two",
    rules_version=1,
    board="team_asia",
    board_features=frozenset({"map", "tunnels"}),
    seat_counts=(4, 6),
    team_size=2,
    menu=(DrawCards(), ClaimRoute(), DrawTickets(), ShareTickets()),
    cards_dealt=4,
    tickets_dealt=5,
    tickets_kept_at_start=3,
    tickets_drawn=4,
    tickets_kept=1,
    exchange_at=3,
    holders=True,
    open_tracks={4: {2: 1, 3: 2}},
    last_round_at_trains=4,
    bonuses=(ASIA_EXPRESS, ASIA_EXPLORER),
)

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

RULE_SETS: Final = {rules.id: rules for rules in (USA, CARD_GAME, TEAM_ASIA, UNITED_KINGDOM)}
