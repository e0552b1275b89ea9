"""The card game: protocol/rules/card_game.md."""

from typing import Final

from stellwerk_engine.core.scoring import BigCities, bonus_cards, completed_tickets
from stellwerk_engine.core.state import Option, RuleSet, TrainCards
from stellwerk_engine.core.turn import EmptyPile
from stellwerk_engine.parts.draw_cards import DrawCards
from stellwerk_engine.parts.rail_yards.lay_cards import LayCards, send_cards
from stellwerk_engine.parts.rail_yards.rail_yards import RailYards
from stellwerk_engine.parts.tickets import DrawTickets, FirstTickets

CARD_GAME: Final = RuleSet(
    id="card_game",
    title="The card game",
    rules_version=1,
    board="card_game",
    board_features=frozenset({"big_cities"}),
    seat_counts=(2, 3, 4),
    train_cards=TrainCards(dealt=7, locomotives_dealt=1, reshuffled=False),
    set_up=(FirstTickets(6, keep=1, shuffle_returned=True),),
    start_of_turn=(send_cards,),
    menu=(DrawCards(second_optional=True), LayCards(), DrawTickets(4, keep=0)),
    other_parts=(RailYards(halves={4: 2}),),
    last_round=EmptyPile(),
    bonuses=(BigCities(),),
    tie_breaks=(completed_tickets, bonus_cards),
    options=(
        Option(
            "open_stacks",
            "players may look at their own on-track stack",
            {"other_parts": (RailYards(halves={4: 2}, open_stacks=True),)},
        ),
    ),
)
