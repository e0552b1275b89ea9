"""The card game: protocol/rules/card_game.md."""

from typing import Final

from stellwerk_engine.core.rule_set import Option, RuleSet
from stellwerk_engine.core.scoring import BigCities
from stellwerk_engine.parts.draw_cards import DrawCards
from stellwerk_engine.parts.rail_yards.complete_tickets import ask_to_complete
from stellwerk_engine.parts.rail_yards.lay_cards import LayCards, send_cards
from stellwerk_engine.parts.tickets import DrawTickets

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
